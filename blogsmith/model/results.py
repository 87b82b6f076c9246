"""Results of cells: outputs, how each cell ended, and on what machine.

Text may refer to a cell as `<cell 2>`, counted from 1 in its session, and to a line of that cell. When it is
shown, this becomes the line of the post, so that edits of prose do not make a recorded result outdated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Struct, field

Status = Literal["ok", "error", "exit", "timeout", "memory", "died", "skipped"]
"""How a cell ended. `skipped`: a need was not met, or an earlier cell of the session failed."""

DARK = ";scheme=dark"
"""Suffix of the MIME type of an image for dark pages."""
SDPA = r"[a-z][a-z0-9-]{0,31} [A-Za-z_][A-Za-z0-9_:.]{0,79}( cpu)?"
"""Regular expression of one entry of `CellRun.sdpa`."""
MAX_SDPA = 16
"""Maximum number of entries of one cell; no machine has as many backends."""
CHANGED_DIGEST = "0" * 64
"""Used instead of the digest of a file that changed after a cell had read it. No file has this digest."""

ImportName = Annotated[str, msgspec.Meta(pattern=r"^[^\s\x00-\x1f\x7f]+\Z")]


class Blob(Struct, frozen=True):
    """Bytes of an image."""

    digest: str
    """SHA-256 in hex."""
    data: bytes | None = None
    """Bytes; None once the image is recorded: they are in the file `name`."""
    name: str = ""
    """File in the folder of the record; empty before it is recorded."""


class Stream(Struct, frozen=True):
    """Consecutive output to one stream."""

    name: Literal["stdout", "stderr"]
    text: str
    dropped: int = 0
    """Number of bytes after `text` that were over the limit and are lost."""


class Display(Struct, frozen=True):
    """A value or an image."""

    kind: Literal["value", "display"]
    """`value`: value of the last expression; `display`: shown by `display()` or drawn."""
    data: Mapping[str, str | Blob]
    """MIME type → string, or bytes for images (SVG too). `image/png;scheme=dark` is an image for dark pages.
    """


class Failure(Struct, frozen=True):
    """An exception."""

    name: str
    """Name of its class, e.g. `ZeroDivisionError`."""
    message: str
    text: str
    """Traceback as Python prints it, without frames of blogsmith, with cells named `<cell 2>`."""
    cell: int = 0
    """Cell of the innermost frame in the author's code, numbered in its session; 0: none."""
    line: int = 0
    """1-based line in that cell."""


CellOutput = Stream | Display | Failure


class ShapeMismatch(Struct, frozen=True):
    """A shape comment that is not true."""

    line: int
    """1-based line in the cell."""
    written: str
    """Shape in the comment, e.g. `(n, d_k)`."""
    expected: str
    """Shape with the sizes filled in, e.g. `(4, 8)`."""
    got: str
    cell: int = 0
    """Cell of the comment, numbered in its session; a function may be in an earlier cell. 0: the cell that
    ran."""


class UndecidedClaim(Struct, frozen=True):
    """Value at the end of a claim that is neither true nor false."""

    kind: str
    """Kind, as named by the worker: `tuple`, `array`, `number`…; `none`: the cell does not end with an
    expression."""
    detail: str = ""
    """The value as a string."""
    part: str = ""
    """Part of the expression that has this value; empty: all of it."""


class CellRun(Struct, frozen=True):
    """How one cell ended."""

    status: Status
    outputs: tuple[CellOutput, ...] = ()
    """Outputs in the order they were emitted."""
    seconds: float = 0.0
    """Wall time."""
    problem: str = ""
    """Message that says why it failed; empty for `ok`."""
    line: int = 0
    """1-based line of the cell where it failed; 0: unknown."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Files of the site that it read, relative to the site root → SHA-256 in hex, or `CHANGED_DIGEST`.

    Files that earlier cells read are left out.
    """
    modules: Mapping[str, str] = field(default_factory=dict)
    """Python files of the site that it imported → SHA-256, as in `reads`."""
    device: str = "cpu"
    """`cpu` or `cuda`: whether the process had used CUDA when the cell ended."""
    packages: tuple[str, ...] = ()
    """Import names of the packages that the code up to here imports itself."""
    shapes: tuple[ShapeMismatch, ...] = ()
    claim: str = ""
    """For a false claim: the two sides, e.g. `left: 3.9, right: 4`."""
    sdpa: tuple[str, ...] = ()
    """Backends of scaled dot-product attention that were observed, with the operator that proves it.

    Example: `flash aten::_scaled_dot_product_flash_attention_for_cpu`. ` cpu` follows an operator that has
    the same name on every device, if it ran on the CPU. Sorted, without duplicates.
    """
    unjudged: UndecidedClaim | None = None
    """Set for a claim that is neither true nor false."""
    absent: tuple[str, ...] = ()
    """Paths without `.py` of site modules that do not exist, and would hide a module that it imported."""
    others: Mapping[str, CellRun] = field(default_factory=dict)
    """For a cell with a sweep: key of a point → how it ended. Files and modules used are recorded with the
    cell."""

    def has_succeeded(self, *, error: bool) -> bool:
        """Return whether the cell did not fail. error: an exception is a result of this cell."""
        return self.status in ("ok", "skipped") or (error and self.status == "error")


class ValueRun(Struct, frozen=True):
    """How one `{= … =}` ended."""

    status: Literal["ok", "error", "skipped"]
    text: str = ""
    """String as `format` returns it."""
    latex: str = ""
    """TeX without delimiters, if the value has `_repr_latex_` and no format spec is given."""
    failure: Failure | None = None
    shapes: tuple[ShapeMismatch, ...] = ()
    """Mismatches found while it was computed; it is then an error."""


class Machine(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The machine that a session ran on. Empty fields are unknown; nothing is guessed. Recorded as it is."""

    python: str = ""
    """Version, e.g. `3.11.7`."""
    platform: str = ""
    """Platform, e.g. `Linux x86_64`."""
    cpu: str = ""
    """Model name."""
    gpu: str = ""
    """Model name of the CUDA device that was used; of several, `2 × NVIDIA H200`."""
    capability: str = ""
    """Compute capability of the device, e.g. `9.0`."""
    driver: str = ""
    cuda: str = ""
    """CUDA version that torch was built with."""
    threads: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    """Number of threads that BLAS may use; 0: unknown."""
    packages: dict[ImportName, str] = {}
    """Import name → version, for packages that the code imports itself."""


class SessionRun(Struct, frozen=True):
    """The result of running one session."""

    session: str
    cells: tuple[CellRun, ...]
    """One for each cell of the session that runs, in order."""
    values: Mapping[int, ValueRun] = field(default_factory=dict)
    """Number of the value on the page → its result."""
    machine: Machine = field(default_factory=Machine)
    problem: str = ""
    """Message that says why the session could not start; empty if it did."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Files that values read before any cell ran, as in `CellRun`. `modules` and `absent` are used in the
    same way."""
    modules: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    only_sweeps: bool = False
    """Whether only `CellRun.others` contains results, as requested in the job."""
    python: str = ""
    """Path of the Python program that ran it; empty for a kernel or another machine."""
    resumed: int = 0
    """Number of cells that ran in an earlier run, whose checkpoint this run continued from."""


class CellResult(Struct, frozen=True):
    """The result of a cell as the page shows it."""

    status: Status | Literal["off", "pending"]
    """`off`: not to be run; `pending`: never run yet."""
    outputs: tuple[CellOutput, ...] = ()
    seconds: float = 0.0
    device: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Import name → version."""
    machine: Machine | None = None
    date: str = ""
    """Date of the run, e.g. `2026-11-21`."""
    stale: str = ""
    """Message about changes since the run; empty if there are none."""
    problem: str = ""
    """Message that says why it was skipped or failed."""
    sdpa: tuple[str, ...] = ()
    """Attention backends, as in `CellRun`."""
    unmet: tuple[str, ...] = ()
    """Unmet needs that prevented every run, e.g. `torch>=2.6`; empty if it has a result."""
    shown_for: str = ""
    """Message that says why the output of another cell is shown; empty if it is the cell's own."""
    has_gap: bool = False
    """Whether an earlier cell of its session never ran, so that the code shown does not explain the result.
    """
    imported: bool = False
    """Whether it comes from a notebook and was never run here."""
    others: Mapping[str, CellResult] = field(default_factory=dict)
    """For a cell with a sweep: key of a point → its result. The default point's result is this record."""


class ValueResult(Struct, frozen=True):
    """The result of a `{= … =}` as the page shows it."""

    text: str = ""
    latex: str = ""
    pending: bool = False
    """Whether it has never been run."""
    stale: str = ""


class PageResults(Struct, frozen=True):
    """Results of all cells and values of a page."""

    cells: Mapping[int, CellResult] = field(default_factory=dict)
    """`Cell.number` → result; a cell that is missing is treated as `pending`."""
    values: Mapping[int, ValueResult] = field(default_factory=dict)
    folder: Path | None = None
    """Folder of the recorded images."""
