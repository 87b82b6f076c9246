"""What came out of cells: outputs, how each cell ended, and on what machine.

A text may name a place in a cell as `<cell 2>`, counted from 1 in its session, and a line of that cell.
It becomes the line of the post when it is shown, so that a recorded result does not age with the prose.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Struct, field

Status = Literal["ok", "error", "exit", "timeout", "memory", "died", "skipped"]
"""How a cell ended; `skipped`: a need was not met, or an earlier cell of the session failed."""

DARK = ";scheme=dark"
"""Added to the type of a picture that is drawn for dark pages."""
SDPA = r"[a-z][a-z0-9-]{0,31} [A-Za-z_][A-Za-z0-9_:.]{0,79}( cpu)?"
"""Form of one entry of `CellRun.sdpa`, as a regular expression."""
MOST_SDPA = 16
"""Entries of one cell; no machine has as many backends."""
CHANGED = "0" * 64
"""In place of the digest of a file that was saved anew after a cell had read it: no file has this one."""

ImportName = Annotated[str, msgspec.Meta(pattern=r"^[^\s\x00-\x1f\x7f]+\Z")]


class Blob(Struct, frozen=True):
    """Bytes of a picture."""

    digest: str
    """Hex SHA-256."""
    data: bytes | None = None
    """None once it is recorded: the bytes are in the file `name`."""
    name: str = ""
    """File in the folder of the record; empty before it is recorded."""


class Stream(Struct, frozen=True):
    """Text printed in one go, to one stream."""

    name: Literal["stdout", "stderr"]
    text: str
    dropped: int = 0
    """Bytes behind `text` that were over the limit and are lost."""


class Display(Struct, frozen=True):
    """A value or a picture."""

    kind: Literal["value", "display"]
    """`value`: of the last expression; `display`: shown by `display()` or drawn."""
    data: Mapping[str, str | Blob]
    """MIME type → text, or bytes for pictures (SVG too); `image/png;scheme=dark` is one for dark pages."""


class Failure(Struct, frozen=True):
    """An exception."""

    name: str
    """Its class, e.g. `ZeroDivisionError`."""
    message: str
    text: str
    """The traceback as Python prints it, frames of ours cut, cells named `<cell 2>`."""
    cell: int = 0
    """In its session, of the innermost frame that is the author's; 0: none."""
    line: int = 0
    """1-based in that cell."""


CellOutput = Stream | Display | Failure


class ShapeMismatch(Struct, frozen=True):
    """A shape comment that is not true."""

    line: int
    """1-based in the cell."""
    written: str
    """The comment's shape, e.g. `(n, d_k)`."""
    expected: str
    """With the sizes filled in, e.g. `(4, 8)`."""
    got: str
    cell: int = 0
    """In its session, of the comment: a function may stand in an earlier cell; 0: the cell that ran."""


class Unjudged(Struct, frozen=True):
    """What a claim ends with if that is neither true nor false."""

    kind: str
    """As the worker calls it: `tuple`, `array`, `number`…; `none`: the cell ends with no expression."""
    detail: str = ""
    """The value as text."""
    part: str = ""
    """The part of the expression that has it; empty: all of it."""


class CellRun(Struct, frozen=True):
    """How one cell ended."""

    status: Status
    outputs: tuple[CellOutput, ...] = ()
    """In order of emission."""
    seconds: float = 0.0
    """Wall time."""
    problem: str = ""
    """Why it did not end well, in words; empty for `ok`."""
    line: int = 0
    """1-based line in the cell where it ended badly; 0: unknown."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Files of the site it read, relative to the site root → hex SHA-256, or `CHANGED`; those read before it
    left out."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """Python files of the site it imported, likewise."""
    device: str = "cpu"
    """`cpu` or `cuda`: whether the process had touched CUDA when the cell ended."""
    packages: tuple[str, ...] = ()
    """Packages the code up to here imports itself, by their import names."""
    shapes: tuple[ShapeMismatch, ...] = ()
    claim: str = ""
    """For a claim that is false: the two sides, e.g. `left: 3.9, right: 4`."""
    sdpa: tuple[str, ...] = ()
    """Backends of scaled dot-product attention that were seen to run, with the operator that proves it:
    `flash aten::_scaled_dot_product_flash_attention_for_cpu`. Behind an operator that has the same name on
    every device stands ` cpu` if it ran there. Sorted, each once."""
    unjudged: Unjudged | None = None
    """For a claim that is neither true nor false."""
    absent: tuple[str, ...] = ()
    """Modules of the site that are not there and would hide what it imported: paths without `.py`."""
    others: Mapping[str, CellRun] = field(default_factory=dict)
    """Of a cell with a sweep: key of a point → how it ended; what they used is noted with the cell."""

    def ended_well(self, *, error: bool) -> bool:
        """Whether it is no failure. error: an exception is a result of this cell."""
        return self.status in ("ok", "skipped") or (error and self.status == "error")


class ValueRun(Struct, frozen=True):
    """How one `{= … =}` ended."""

    status: Literal["ok", "error", "skipped"]
    text: str = ""
    """As `format` gives it."""
    latex: str = ""
    """TeX without dollars, if the value has `_repr_latex_` and no format spec is given."""
    failure: Failure | None = None
    shapes: tuple[ShapeMismatch, ...] = ()
    """Found while it was computed; then it is an error."""


class Machine(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where a session ran. Empty means unknown: nothing is guessed. A record holds it as it is."""

    python: str = ""
    """Version, `3.11.7`."""
    platform: str = ""
    """`Linux x86_64`."""
    cpu: str = ""
    """Model name."""
    gpu: str = ""
    """Model name of the CUDA device that was used; of several, `2 × NVIDIA H200`."""
    capability: str = ""
    """Its compute capability, `9.0`."""
    driver: str = ""
    cuda: str = ""
    """Version of CUDA that torch was built with."""
    threads: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    """Threads BLAS may use; 0: unknown."""
    packages: dict[ImportName, str] = {}
    """Import name → version, of the packages the code imports itself."""


class SessionRun(Struct, frozen=True):
    """What running one session gave."""

    session: str
    cells: tuple[CellRun, ...]
    """One for each cell of the session that runs, in order."""
    values: Mapping[int, ValueRun] = field(default_factory=dict)
    """Number of the value in the page → its result."""
    machine: Machine = field(default_factory=Machine)
    problem: str = ""
    """Why the session could not start at all, in words."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """What values used before any cell ran, as in `CellRun`; likewise the next two."""
    modules: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    only_sweeps: bool = False
    """As in the job: nothing of it is a result but `CellRun.others`."""
    python: str = ""
    """Path of the program that ran it here; empty: a kernel's, or another machine's."""
    resumed: int = 0
    """So many cells ran in an earlier run, from whose checkpoint this one went on."""


class CellResult(Struct, frozen=True):
    """What the page shows of a cell."""

    status: Status | Literal["off", "pending"]
    """`off`: not to be run; `pending`: never run yet."""
    outputs: tuple[CellOutput, ...] = ()
    seconds: float = 0.0
    device: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Import name → version."""
    machine: Machine | None = None
    date: str = ""
    """Of the run, `2026-11-21`."""
    stale: str = ""
    """What has changed since, in words; empty if nothing has."""
    problem: str = ""
    """Why it was skipped or did not end well, in words."""
    sdpa: tuple[str, ...] = ()
    """As in `CellRun`."""
    unmet: tuple[str, ...] = ()
    """Needs for which it never ran, such as `torch>=2.6`; empty if it has a result."""
    shown_for: str = ""
    """Why another cell's output stands here, in words; empty if it is the cell's own."""
    has_gap: bool = False
    """Whether a cell before it in its session never ran: it does not follow from what readers see."""
    imported: bool = False
    """Whether it comes from a notebook and was never run here."""
    others: Mapping[str, CellResult] = field(default_factory=dict)
    """Of a cell with a sweep: key of a point → its result; the default's is this one."""


class ValueResult(Struct, frozen=True):
    """What the page shows of a `{= … =}`."""

    text: str = ""
    latex: str = ""
    pending: bool = False
    """Never run yet."""
    stale: str = ""


class PageResults(Struct, frozen=True):
    """What a page shows of everything that runs in it."""

    cells: Mapping[int, CellResult] = field(default_factory=dict)
    """By `Cell.number`; a cell that is missing counts as `pending`."""
    values: Mapping[int, ValueResult] = field(default_factory=dict)
    folder: Path | None = None
    """Where the files of its pictures are."""
