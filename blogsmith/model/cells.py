"""Code that authors ask to run: cells, values in the text, and the execution settings of a page.

`syntax/` creates these records, `execute/` runs them, `render/` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, field

from ..base.diagnostics.model import Place, TextMap
from .sweeps import Scalar, Sweep

DRAWINGS = frozenset({"tikz", "circuitikz", "pgfplots", "feynman", "chemfig"})
"""Languages of fences that LaTeX draws. Each of them is a cell in a session of its own."""
PROGRAMS: Mapping[str, str] = MappingProxyType({"c": "cc", "cpp": "c++", "cuda": "nvcc"})
"""Languages of cells that a compiler translates → the compiler. Each cell is a program, in a session of its
own."""
SYNTAX_HINT = "correct the code, or write `#| eval: false` to show it without running it"
"""Hint for a cell that is not valid Python."""
TEX = "latex"
"""Name of the requirement that all drawings have: the programs `latex` and `dvisvgm`."""
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {TEX: ("latex", "dvisvgm"), **{compiler: (compiler,) for compiler in PROGRAMS.values()}}
)
"""Requirement that blogsmith itself adds to a cell → the programs that must be installed to meet it."""
INSTALL_HINTS: Mapping[str, str] = MappingProxyType(
    {
        TEX: "run `apt install texlive-pictures dvisvgm`",
        "cc": "run `apt install gcc`",
        "c++": "run `apt install g++`",
        "nvcc": "install the CUDA Toolkit",
    }
)
"""Requirement that blogsmith itself adds to a cell → how to install its programs on Debian and Ubuntu."""
Freeze = Literal["auto", "always", "never"]
"""When a recorded result is used. `auto`: until its inputs change; `always`: whatever changes; `never`: not
at all."""
ProvenanceStyle = Literal["once", "full", "short", "none"]
"""Content of the line about the run below a result. `full`: everything; `short`: date and device; `none`:
nothing; `once`: everything for the first result of a session, only the differences for the others."""


class FigureSettings(Struct, frozen=True):
    """Settings for drawing figures of cells."""

    format: Literal["svg", "png"] = "svg"
    """File format of matplotlib's figures."""
    dark: bool = False
    """Draw each figure a second time for dark pages."""


class Need(Struct, frozen=True):
    """A requirement of a cell."""

    name: str
    """Name of a module in an `import` (`torch`), or `cuda`."""
    version: str = ""
    """Minimum version; for `cuda` the compute capability. Empty: any."""

    def __str__(self) -> str:
        return f"{self.name}>={self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class PageExecution:
    """How the cells of a page run and are shown. In front matter: `off`, `marked`, `all`, or a mapping.

    In a field, None means that the site's setting applies.
    """

    mode: Literal["off", "marked", "all"] | None = None
    """Fences that are cells: none, those marked as cells, or every `python` fence."""
    echo: bool | None = None
    """Show the code of cells that do not set `echo`."""
    warning: bool | None = None
    """Show the standard error output of cells that do not set `warning`."""
    error: bool | None = None
    """Show an exception as a result, for cells that do not set `error`; otherwise it fails the build."""
    freeze: Freeze | None = None
    """`true`: no change makes results stale; `false`: they always are stale where cells may run."""
    timeout_s: float | None = None
    """Time limit of a cell: seconds, `90 s`, `5 min`. Defaults to the site's setting."""
    memory_bytes: int | None = None
    """Memory limit of a session: `4 GB`, `512 MiB`. Defaults to the site's setting."""
    seed: int | None = None
    """Random seed, set once before the first cell of every session."""
    shapes: bool | None = None
    """`check`: check the shapes written in comments. Defaults to the site's setting."""
    tolerance: float | None = None
    """Relative tolerance. A new run is not recorded if all its numbers differ from the recorded ones by no
    more than this."""
    provenance: ProvenanceStyle | None = None
    """Provenance line below results: values as in `execute.provenance`."""
    depends: tuple[str, ...] = ()
    """Files that all cells of the page depend on, relative to the post; `*` and `**` are allowed."""
    engine: Literal["worker", "jupyter"] | None = None
    """Engine that runs the cells: blogsmith's own worker, or a Jupyter kernel. Defaults to the site's
    setting."""
    kernel: str | None = None
    """Name of the Jupyter kernel, as `jupyter kernelspec list` shows it."""


class CellOptions(Struct, frozen=True):
    """The `#|` lines of a cell, with the defaults of page and site applied.

    Each field is the option of the same name. Its type decides how it is read, unless
    `syntax/cells/option_values.py` has a row for it. Editors show its docstring.
    """

    eval: bool = True
    """False: show the code and never run it."""
    echo: bool = True
    """Show the code."""
    output: bool = True
    """Show printed output, values and figures."""
    error: bool = False
    """Show an exception as a result; otherwise it fails the build."""
    warning: bool = True
    """Show output to standard error."""
    include: bool = True
    """False: run the cell, but show neither code nor output."""
    label: str = ""
    """Name of the cell and anchor for links; `fig-…` makes a numbered figure, `tbl-…` a table."""
    fig_cap: str = ""
    """Caption of the figure; may contain formulas."""
    fig_alt: str = ""
    """Text alternative of the figure, for readers who cannot see it."""
    tbl_cap: str = ""
    """Caption of the table; may contain formulas."""
    lst_cap: str = ""
    """Caption of the code; may contain formulas."""
    lst_label: str = ""
    """Label `lst-…` that makes the code a numbered listing."""
    layout: Literal["", "side"] = ""
    """`side`: show the output next to the code where there is room."""
    code_fold: str = ""
    """Fold the code; `show` starts open; any other string is the label of the fold."""
    code_summary: str = ""
    """Label of the fold, as in Quarto."""
    fold_open: bool = False
    """Whether the fold starts open."""
    freeze: Freeze = "auto"
    """`true`: no change makes the result stale; `false`: it always is stale where cells may run."""
    needs: tuple[Need, ...] = ()
    """Requirements of the cell: a module, `torch` or `torch>=2.5`, or `cuda>=8.0`."""
    flags: str = ""
    """Options of the compiler for a cell in C, C++ or CUDA: `-O3 -march=native`."""
    fallback: str = "error"
    """If a need is not met and nothing is recorded: label of the cell shown instead, `skip` or `error`."""
    session: str = "main"
    """Session of the cell. Cells of one session share a process and its variables."""
    depends: tuple[str, ...] = ()
    """Files that the cell depends on, relative to the post; `*` and `**` are allowed."""
    timeout_s: float | None = None
    """Time limit: seconds, `90 s`, `5 min`. Defaults to the setting of the page or site."""
    memory_bytes: int | None = None
    """Memory limit of the session while the cell runs: `4 GB`, `512 MiB`. Defaults to that of the page or
    site."""
    seed: int | None = None
    """Seed for `random`, NumPy and torch, set before the cell runs."""
    run_in: Literal["build", "browser", "both"] = "build"
    """Where the cell runs: when the site is built, in the reader's browser, or in both."""
    claim: str = ""
    """Statement that the value of the last expression proves. A false value fails the build."""
    counter_check: bool = False
    """Run the cell of a claim again with other constants, to see that the claim can be false."""
    fig_format: Literal["", "svg", "png"] = ""
    """File format of matplotlib's figures. Defaults to `execute.figures`."""
    fig_dark: bool | None = None
    """Draw each figure a second time for dark pages. Defaults to `execute.figures`."""
    shapes: bool = False
    """`check`: check the shapes written in comments."""
    tolerance: float = 0.0
    """Relative tolerance. A new run is not recorded if all its numbers differ from the recorded ones by no
    more than this."""
    repeatable: bool = True
    """False: another run may give another result, for example because the cell reads the clock."""
    provenance: ProvenanceStyle = "once"
    """Provenance line below the result: values as in `execute.provenance`."""
    sweep: Sweep | None = None
    """Values for a variable; the cell runs once with each: `{d: [4, 16, 64]}`."""
    sweep_default: tuple[Scalar, ...] = ()
    """Values of the sweep that other cells use, and that readers without scripts see."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Key as written → location of its value."""
    texts: Mapping[str, TextMap] = field(default_factory=dict)
    """Option with text (`fig-cap`, `fig-alt`, `tbl-cap` or `claim`) → map of that text to the file, for
    diagnostics."""


class Cell(Struct, frozen=True):
    """A fence marked as a cell, or in mode `all` any Python fence."""

    number: int
    """1-based number among all cells of the page."""
    code: str
    """Code without the `#|` lines before it; ends in a newline unless empty."""
    first_line: int
    """1-based line of the file where `code` starts."""
    place: Place
    """Location of the language in the info string, or of the fence."""
    label: str = ""
    """Label as `label_id` returns it; empty if the author gave none."""
    options: CellOptions = CellOptions()
    language: str = "python"
    figure_number: str = ""
    """Number for a label `fig-…`, set by `numbering.py`."""
    table_number: str = ""
    """Number for a label `tbl-…`, set by `numbering.py`."""
    file: str = ""
    """Path, relative to the site root, of the file that contains the code. `first_line` is a line of this
    file. Empty if the code is in the post."""
    indent: str = ""
    """Indentation of the code in `file`, which is removed from every line of `code`."""

    @property
    def is_drawing(self) -> bool:
        """Whether LaTeX draws the cell."""
        return self.language in DRAWINGS

    @property
    def is_program(self) -> bool:
        """Whether the cell is a program, which a compiler translates. In a cell of a Jupyter kernel, the same
        languages are not."""
        return self.language in PROGRAMS and self.options.session.startswith(f"{self.language}.")

    @property
    def is_alone(self) -> bool:
        """Whether the cell has a session of its own."""
        return self.is_drawing or self.is_program

    @property
    def option_mark(self) -> str:
        """Start of an option line, for hints."""
        return "//|" if self.is_program else "%|" if self.is_drawing else "#|"

    @property
    def name(self) -> str:
        """Name in messages: the label; `cell 3` if the cell has no label."""
        return self.label or f"cell {self.number}"

    @property
    def is_run(self) -> bool:
        """Whether the build runs the cell."""
        return self.options.eval and self.options.run_in != "browser"


class Value(Struct, frozen=True):
    """A `{= expression =}` in the text, computed in the session `main`."""

    number: int
    """1-based number among all values of the page."""
    expression: str
    origin: TextMap
    """Map of the whole `{= … =}` to the file."""
    conversion: str = ""
    """Conversion `r`, `s` or `a`, as after `!` in an f-string."""
    spec: str = ""
    """Format spec, as after `:` in an f-string."""
    after: int = 0
    """Number of cells before it on the page; the expression may use their variables."""


class PageCells(Struct, frozen=True):
    """All cells and values of one page, with the settings for running them."""

    path: PurePosixPath
    """Path of the source, relative to the site root."""
    cells: tuple[Cell, ...] = ()
    """All cells in reading order, including those that do not run."""
    values: tuple[Value, ...] = ()
    depends: tuple[str, ...] = ()
    """Patterns of files that the page depends on."""
    timeout_s: float | None = None
    """Time limit in seconds for values, set by the page; None: the site's setting. Cells have limits of their
    own. `memory_bytes` is the memory limit, set in the same way."""
    memory_bytes: int | None = None
    engine: Literal["worker", "jupyter"] = "worker"
    """Program that runs the cells, with the settings of page and site applied. `kernel` is set in the same
    way."""
    kernel: str = ""
    preamble: tuple[str, ...] = ()
    """LaTeX files of the site that precede each drawing, relative to the site root."""

    def sessions(self) -> tuple[str, ...]:
        """Return the names of the sessions that run, in order of first use."""
        names = [cell.options.session for cell in self.cells if cell.is_run]
        return tuple(dict.fromkeys([*names, *(["main"] if self.values else [])]))

    def session_cells(self, session: str) -> tuple[Cell, ...]:
        """Return the cells of one session that run, in order."""
        return tuple(cell for cell in self.cells if cell.is_run and cell.options.session == session)
