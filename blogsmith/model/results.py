"""Results of cells: outputs, how each cell ended, and on what machine.

Recorded text refers to a cell as `<cell 2>`, counted from 1 in its session, and to a line of the cell. When
the text is shown, this reference is replaced by a line of the post. So edits of prose do not make a recorded
result stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Struct, field

from ..base.storage.path_states import STATE, STATE_KEY

Status = Literal["ok", "error", "exit", "timeout", "memory", "died", "skipped"]
"""How a cell ended. `skipped`: a need was not met, or an earlier cell of the session failed."""

DARK = ";scheme=dark"
"""Suffix of the MIME type of an image for dark pages."""
SDPA = r"[a-z][a-z0-9-]{0,31} [A-Za-z_][A-Za-z0-9_:.]{0,79}( cpu)?"
"""Regular expression of one entry of `CellRun.sdpa`, the observed backends of scaled dot-product
attention."""
MAX_SDPA = 16
"""Maximum number of entries in `CellRun.sdpa`; no machine has as many backends."""
MAX_COUNT = 2**53
"""Largest integer in a record; every JSON reader can represent it exactly."""
MAX_NOTE, MAX_NOTES = 120, 16
"""Limits of the notes about one claim: number of characters of each, and number of notes."""
CHANGED_DIGEST = "0" * 64
"""Used instead of the digest of a file that changed after a cell had read it. No file has this digest."""

REASON = (
    r"(?:clock|code|database|files|network|processes|program|random|stopwatch|system|times)"
    r"(?: [^\x00-\x1f\x7f]{1,90})?"
)
"""Regular expression of one entry of `Uses.reasons`."""

PathState = Annotated[str, msgspec.Meta(pattern=rf"^(?:{STATE})\Z")]
ImportName = Annotated[str, msgspec.Meta(pattern=r"^[^\s\x00-\x1f\x7f]+\Z")]


class Blob(Struct, frozen=True):
    """Bytes of an image that a cell drew."""

    digest: str
    """SHA-256 in hex."""
    data: bytes | None = None
    """Bytes; None after the image is recorded, because they are then in the file `name`."""
    name: str = ""
    """File name in the folder of the record; empty before the image is recorded."""


class Stream(Struct, frozen=True, tag=True):
    """Consecutive output to standard output or standard error."""

    name: Literal["stdout", "stderr"]
    text: str
    dropped: int = 0
    """Number of bytes after `text` that exceeded the limit and are lost."""


class Display(Struct, frozen=True, tag=True):
    """A value or an image."""

    kind: Literal["value", "display"]
    """`value`: value of the last expression; `display`: shown by `display()` or drawn."""
    data: Mapping[str, str | Blob]
    """MIME type → string, or bytes for images (SVG too). `image/png;scheme=dark` is an image for dark pages.
    """


class Failure(Struct, frozen=True, tag=True):
    """An exception that a cell raised."""

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
    """A comment in the code that states a shape which the tensor does not have."""

    line: int
    """1-based line in the cell."""
    written: str
    """Shape in the comment, e.g. `(n, d_k)`."""
    expected: str
    """Shape in the comment, with the names replaced by sizes, e.g. `(4, 8)`."""
    got: str
    cell: int = 0
    """Number of the cell that contains the comment, counted in its session. This may be an earlier cell if
    the comment is in a function. 0: the cell that ran."""


class UndecidedClaim(Struct, frozen=True):
    """Last value of a claim, if it is neither true nor false, so that the claim proves nothing."""

    kind: str
    """Kind, as named by the worker: `tuple`, `array`, `number`…; `none`: the cell does not end with an
    expression."""
    detail: str = ""
    """The value as a string."""
    part: str = ""
    """Part of the expression that has this value; empty: all of it."""


class Uses(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Dependencies of a cell, apart from files of the site that it reads and imports. Records store this data
    in this form."""

    states: dict[Annotated[str, msgspec.Meta(pattern=STATE_KEY)], PathState] = {}
    """Key of `base/storage/path_states.py` → the state that the cell saw. Keys are paths that it queried,
    folders and patterns that it listed, and files outside the site."""
    variables: dict[Annotated[str, msgspec.Meta(max_length=200)], str] = {}
    """Name of an environment variable that it read → short digest of the value."""
    reasons: tuple[Annotated[str, msgspec.Meta(pattern=rf"^{REASON}\Z")], ...] = ()
    """Reasons why the result may change although nothing recorded has changed, such as `clock` or `program
    ls`. Sorted, without duplicates."""


class CellRun(Struct, frozen=True):
    """How one cell ended."""

    status: Status
    outputs: tuple[CellOutput, ...] = ()
    """Outputs in the order they were emitted."""
    seconds: float = 0.0
    """Wall time in seconds."""
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
    """Import names of the packages that the session's code up to and including this cell imports itself."""
    shapes: tuple[ShapeMismatch, ...] = ()
    claim: str = ""
    """For a false claim: the two sides, e.g. `left: 3.9, right: 4`."""
    sdpa: tuple[str, ...] = ()
    """Observed backends of scaled dot-product attention, each followed by the PyTorch operator that proves
    it, as in `flash aten::_scaled_dot_product_flash_attention_for_cpu`. Sorted, without duplicates. ` cpu` is
    added if the operator has the same name on every device and ran on the CPU."""
    unjudged: UndecidedClaim | None = None
    """Last value of a claim if it is neither true nor false; None for other claims and cells."""
    compared: int = 0
    """For a claim: number of values that it compared; 0 if unknown."""
    notes: tuple[str, ...] = ()
    """For a true claim: weak points, such as `allows a difference of 100 %`."""
    absent: tuple[str, ...] = ()
    """Paths, without `.py`, of modules that do not exist in the site. If one of these files is created, it
    hides a module that the cell imported."""
    uses: Uses | None = None
    """Other dependencies; None if they are not known, as with a Jupyter kernel."""
    others: Mapping[str, CellRun] = field(default_factory=dict)
    """For a cell with a sweep: key of another point of the sweep → its run. Files and modules of these runs
    are recorded with the cell itself."""

    def has_succeeded(self, *, error: bool) -> bool:
        """Return whether the cell succeeded. error: whether an exception counts as a result of this cell."""
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
    """Shape comments found to be wrong while the value was computed. They make the value an error."""


class Machine(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The machine that a session ran on. An empty field means that the value is unknown. Records store this
    data in this form."""

    python: str = ""
    """Version, e.g. `3.11.7`."""
    platform: str = ""
    """Platform, e.g. `Linux x86_64`."""
    cpu: str = ""
    """Model name of the CPU."""
    gpu: str = ""
    """Model name of the CUDA device that was used; for several devices as in `2 × NVIDIA H200`."""
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
    """Runs of the cells of the session, in order, without cells that never run."""
    values: Mapping[int, ValueRun] = field(default_factory=dict)
    """Number of the value on the page → its result."""
    machine: Machine = field(default_factory=Machine)
    problem: str = ""
    """Message that explains why the session could not start; empty if it started."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Files that values read before any cell ran, as in `CellRun.reads`. `modules` and `absent` have the same
    meaning as in `CellRun`."""
    modules: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    uses: Uses | None = None
    only_sweeps: bool = False
    """Whether `CellRun.others` contains the only results, because just other points of sweeps were
    requested."""
    python: str = ""
    """Path of the Python program that ran it; empty for a kernel or another machine."""
    resumed: int = 0
    """Number of cells taken from an earlier run, whose checkpoint (saved process) this run continued."""


class CellResult(Struct, frozen=True):
    """The result of a cell as the page shows it."""

    status: Status | Literal["off", "pending"]
    """`off`: the cell does not run; `pending`: it has never run; otherwise how its run ended."""
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
    """Backends of scaled dot-product attention, as in `CellRun.sdpa`."""
    unmet: tuple[str, ...] = ()
    """Needs that were never met, so that the cell never ran, e.g. `torch>=2.6`; empty if it has a result."""
    shown_for: str = ""
    """Message why the output of another cell is shown instead; empty if the output is the cell's own."""
    reasons: tuple[str, ...] = ()
    """Reasons why another run may give another result, as in `Uses.reasons`."""
    has_gap: bool = False
    """Whether an earlier cell of its session never ran, so that the code on the page does not explain the
    result."""
    imported: bool = False
    """Whether it comes from a notebook and was never run here."""
    accepted: str = ""
    """Day when the author accepted it by hand although it did not match its seal; empty if never."""
    signer: str = ""
    """Name of the one who signed the record, if the signature was verified."""
    others: Mapping[str, CellResult] = field(default_factory=dict)
    """For a cell with a sweep: key of another point of the sweep → its result. This record is the result of
    the default point."""


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
    """`Cell.number` → result; a missing cell counts as `pending`."""
    values: Mapping[int, ValueResult] = field(default_factory=dict)
    folder: Path | None = None
    """Folder of the recorded images; None if no result is recorded."""
