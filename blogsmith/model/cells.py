"""What authors ask to run: cells, values in the text, and how a page wants them run.

Made by `syntax/`, run by `execute/`, shown by `render/`; nothing here computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct, field

from ..base.diagnostics.model import Place, TextMap
from .sweeps import Scalar, Sweep

Freeze = Literal["auto", "always", "never"]
"""What becomes of a recorded result: judged by what it was made from, kept whatever changes, or not kept."""
ProvenanceStyle = Literal["once", "full", "short", "none"]
"""What stands below a result about where it comes from: all of it for the first of a session and what is
different for the others, all of it, the day and the device, or nothing."""


class FigureSettings(Struct, frozen=True):
    """How figures of cells are drawn."""

    format: Literal["svg", "png"] = "svg"
    """File format of matplotlib's figures."""
    dark: bool = False
    """Draw each figure once more for dark pages."""


class Need(Struct, frozen=True):
    """Something a cell cannot run without."""

    name: str
    """A module as one imports it (`torch`), or `cuda`."""
    version: str = ""
    """At least this version; for `cuda` the compute capability. Empty: any."""

    def __str__(self) -> str:
        return f"{self.name}>={self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class PageExecution:
    """Which fences of the page are cells, `off`, `marked` or `all`, or a mapping with defaults for them.

    Of each field None means: as the site says.
    """

    mode: Literal["off", "marked", "all"] | None = None
    """Which fences are cells: none, those that are marked as one, or every `python` fence."""
    echo: bool | None = None
    """Show the code of cells that do not say otherwise."""
    warning: bool | None = None
    """Show what cells write to standard error, where they do not say otherwise."""
    error: bool | None = None
    """An exception is a result where the cell does not say otherwise; else it fails the build."""
    freeze: Freeze | None = None
    """`true`: no change makes results stale; `false`: they always are, where cells may run."""
    timeout_s: float | None = None
    """How long a cell may take: seconds, `90 s`, `5 min`; else as the site says."""
    memory_bytes: int | None = None
    """How much a session may use: `4 GB`, `512 MiB`; else as the site says."""
    seed: int | None = None
    """Set once, before the first cell of every session."""
    shapes: bool | None = None
    """`check`: check the shapes written in comments; else as the site says."""
    tolerance: float | None = None
    """Runs whose numbers differ from the recorded ones by no more than this part of them are not recorded."""
    provenance: ProvenanceStyle | None = None
    """What stands below results about where they come from: as in `execute.provenance`."""
    depends: tuple[str, ...] = ()
    """Files that all cells of the page depend on, relative to the post, `*` and `**` allowed."""
    engine: Literal["worker", "jupyter"] | None = None
    """What runs the cells: blogsmith's own worker, or a Jupyter kernel; else as the site says."""
    kernel: str | None = None
    """Name of the Jupyter kernel, as `jupyter kernelspec list` shows it."""


class CellOptions(Struct, frozen=True):
    """The `#|` lines of a cell, page and site defaults applied.

    A field is the option of its name, read by its type unless a row of `syntax/cells/option_values.py` says
    otherwise; editors show its docstring.
    """

    eval: bool = True
    """False: shown, never run."""
    echo: bool = True
    """Show the code."""
    output: bool = True
    """Show what it printed and drew."""
    error: bool = False
    """An exception is a result; else it fails the build."""
    warning: bool = True
    """Show what went to standard error."""
    include: bool = True
    """False: run, show neither code nor output."""
    label: str = ""
    """Name of the cell and anchor to link to; `fig-…` makes a numbered figure, `tbl-…` a table."""
    fig_cap: str = ""
    """Caption of its figure; may hold formulas."""
    fig_alt: str = ""
    """The figure in words, for those who cannot see it."""
    tbl_cap: str = ""
    """Caption of its table; may hold formulas."""
    lst_cap: str = ""
    """Caption of its code; may hold formulas."""
    lst_label: str = ""
    """Makes its code a numbered listing, `lst-…`."""
    layout: Literal["", "side"] = ""
    """`side`: what comes out stands beside the code where there is room."""
    code_fold: str = ""
    """Fold the code; `show` starts open; a text is the label of the fold."""
    code_summary: str = ""
    """Label of the fold, as Quarto writes it."""
    fold_open: bool = False
    """The fold starts open."""
    freeze: Freeze = "auto"
    """`true`: no change makes the result stale; `false`: it always is, where cells may run."""
    needs: tuple[Need, ...] = ()
    """What the machine must have: a module, `torch` or `torch>=2.5`, or `cuda>=8.0`."""
    fallback: str = "error"
    """Where a need is not met and nothing is recorded: label of the cell shown instead, `skip` or `error`."""
    session: str = "main"
    """Cells of one session share a process and its variables."""
    depends: tuple[str, ...] = ()
    """Files the cell depends on, relative to the post, `*` and `**` allowed."""
    timeout_s: float | None = None
    """How long it may take: seconds, `90 s`, `5 min`; else as the page or site says."""
    memory_bytes: int | None = None
    """How much the session may use while it runs: `4 GB`, `512 MiB`; else as the page or site says."""
    seed: int | None = None
    """Set for `random`, NumPy and torch before the cell runs."""
    run_in: Literal["build", "browser", "both"] = "build"
    """Where it is meant to run: when the site is built, in the reader's browser, or in both."""
    claim: str = ""
    """What the value of the last expression means, in words; a false one fails the build."""
    fig_format: Literal["", "svg", "png"] = ""
    """File format of matplotlib's figures; else as `execute.figures` says."""
    fig_dark: bool | None = None
    """Draw each figure once more for dark pages; else as `execute.figures` says."""
    shapes: bool = False
    """`check`: check the shapes written in comments."""
    tolerance: float = 0.0
    """A run whose numbers differ from the recorded ones by no more than this part of them is not recorded."""
    provenance: ProvenanceStyle = "once"
    """What stands below the result about where it comes from: as in `execute.provenance`."""
    sweep: Sweep | None = None
    """Values with which the cell runs, one after another: `{d: [4, 16, 64]}`."""
    sweep_default: tuple[Scalar, ...] = ()
    """Which values of the sweep other cells and readers without scripts see."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Key as written → where its value stands."""
    texts: Mapping[str, TextMap] = field(default_factory=dict)
    """`fig-cap`, `fig-alt`, `tbl-cap`, `claim` → where their text stands, for what is wrong in them."""


class Cell(Struct, frozen=True):
    """A fence that is marked as a cell, or any python fence in mode `all`."""

    number: int
    """1-based among all cells of the page."""
    code: str
    """Without the `#|` lines in front; ends in a newline unless empty."""
    first_line: int
    """1-based line of the file on which `code` starts."""
    place: Place
    """Of the language in the info string, or of the fence."""
    label: str = ""
    """As `label_id` gives it; empty if the author gave none."""
    options: CellOptions = CellOptions()
    language: str = "python"
    figure_number: str = ""
    """For a label `fig-…`; filled by `numbering.py`."""
    table_number: str = ""
    """The same for `tbl-…`."""
    file: str = ""
    """Path of the file that its code stands in, relative to the site root; empty: it stands in the post.

    `first_line` is a line of that file then."""
    indent: str = ""
    """What stands in front of all lines of its code in that file, and is left out."""

    @property
    def name(self) -> str:
        """How messages call it: its label, else `cell 3`."""
        return self.label or f"cell {self.number}"

    @property
    def runs(self) -> bool:
        """Whether the build runs it."""
        return self.options.eval and self.options.run_in != "browser"


class Value(Struct, frozen=True):
    """A `{= expression =}` in the text, computed in the session `main`."""

    number: int
    """1-based among all values of the page."""
    expression: str
    origin: TextMap
    """Where the whole `{= … =}` stands."""
    conversion: str = ""
    """`r`, `s` or `a` as behind `!` in an f-string."""
    spec: str = ""
    """Format spec as behind `:` in an f-string."""
    after: int = 0
    """How many cells of the page stand before it; it sees what they left."""


class PageCells(Struct, frozen=True):
    """Everything of one page that runs."""

    path: PurePosixPath
    """Of the source, relative to the site root."""
    cells: tuple[Cell, ...] = ()
    """In reading order, those that do not run included."""
    values: tuple[Value, ...] = ()
    depends: tuple[str, ...] = ()
    """Of the page."""
    timeout_s: float | None = None
    """For values, as the page says; None: as the site says. Likewise the next one; cells have theirs."""
    memory_bytes: int | None = None
    engine: Literal["worker", "jupyter"] = "worker"
    """Page and site considered; likewise the next."""
    kernel: str = ""

    def sessions(self) -> tuple[str, ...]:
        """Names of the sessions that run, in order of first use."""
        names = [cell.options.session for cell in self.cells if cell.runs]
        return tuple(dict.fromkeys([*names, *(["main"] if self.values else [])]))

    def session_cells(self, session: str) -> tuple[Cell, ...]:
        """The cells of one session that run, in order."""
        return tuple(cell for cell in self.cells if cell.runs and cell.options.session == session)
