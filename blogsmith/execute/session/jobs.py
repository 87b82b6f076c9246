"""What running one session takes: its cells and values in reading order, and what the site says.

A `SessionJob` holds plain data only, so that it can be run anywhere a checkout of the site stands.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from ...config.schema import Execution
from ...model.cell_locations import CodeStart
from ...model.cells import Cell, Need, PageCells, Value
from ...model.execution_values import BYTES_HINT, parse_bytes
from ...model.sweeps import ALL_SWEEPS, Scalar, SweepRuns
from .engine import WORKER, Engine
from .environment import cell_environment, threads_per_job

TEXT_BYTES = 1024 * 1024
"""Text that is kept of one cell."""


@dataclass(frozen=True, slots=True)
class CellStep:
    """One cell to run."""

    number: int
    """1-based in its session."""
    name: str
    """How messages call it."""
    code: str
    timeout_s: float
    memory_bytes: int
    """Of the whole session while this cell runs."""
    seed: int | None = None
    claim: bool = False
    shapes: bool = False
    error: bool = False
    """An exception does not end the session."""
    figure_format: Literal["svg", "png"] = "svg"
    figure_dark: bool = False
    skip: str = ""
    """Why it is not run, in words; empty if it is."""
    first_line: int = 1
    """Line of its file on which its code starts, for who watches."""
    file: str = ""
    """Path of that file, relative to the site root; empty: the post."""
    binding: Mapping[str, Scalar] = field(default_factory=dict)
    """Variables that it finds: of a sweep, those that others see."""
    others: tuple[SweepStep, ...] = ()
    """Of a sweep, runs before it, which leave nothing behind."""
    only_others: bool = False
    """It is not run itself: its result is recorded."""


@dataclass(frozen=True, slots=True)
class SweepStep:
    """One more run of a cell, whose variables do not stay."""

    key: str
    """As `SweepPoint.key`."""
    binding: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class ValueStep:
    """One `{= … =}` to compute."""

    number: int
    """1-based in the page."""
    expression: str
    conversion: str
    spec: str
    timeout_s: float
    memory_bytes: int


Step = CellStep | ValueStep


@dataclass(frozen=True, slots=True)
class SessionJob:
    """One session of one post."""

    post: PurePosixPath
    """Relative to the site root."""
    session: str
    steps: tuple[Step, ...]
    """In reading order."""
    python: str
    """Path of the Python that runs it."""
    root: Path
    """Of the site, absolute."""
    folder: Path
    """Working folder, absolute."""
    env: Mapping[str, str]
    """The whole environment; its TMPDIR is where the session gets a folder of its own."""
    text_bytes: int = TEXT_BYTES
    """Text kept of each cell."""
    sandbox: Literal["off", "landlock"] = "off"
    exclude: tuple[Path, ...] = ()
    """Folders, absolute, whose files are never noted as read."""
    cuda: bool = False
    """A cell needs CUDA: no limit on address space, no fork server."""
    threads: int = 1
    """For BLAS; said in `env` too."""
    engine: Engine = WORKER
    needs: tuple[Need, ...] = ()
    """Of its cells that are not skipped, for who chooses a machine."""
    only_sweeps: bool = False
    """Only further runs of cells with a sweep are due: all else runs for them, and is not recorded."""

    @property
    def program(self) -> str:
        """What runs the cells, for messages."""
        return self.engine.program(self.python)

    @property
    def code_starts(self) -> list[CodeStart]:
        """Where the code of each cell starts, in order."""
        steps = (step for step in self.steps if isinstance(step, CellStep))
        return [CodeStart(step.file or str(self.post), step.first_line) for step in steps]

    @property
    def memory_bytes(self) -> int:
        """The most any of its cells may use."""
        return max((step.memory_bytes for step in self.steps), default=0)


@dataclass(frozen=True, slots=True)
class ExecutionSetting:
    """What a site says about running code, ready for use."""

    root: Path
    """Absolute."""
    python: str
    """Path of the Python that runs cells."""
    timeout_s: float
    memory_bytes: int
    env: Mapping[str, str]
    """As `cell_environment` gives it."""
    threads: int
    sandbox: Literal["off", "landlock"] = "off"
    figure_format: Literal["svg", "png"] = "svg"
    figure_dark: bool = False
    exclude: tuple[Path, ...] = ()


def setting_of(
    execution: Execution,
    root: Path,
    environ: Mapping[str, str],
    *,
    temporary: Path,
    exclude: tuple[Path, ...] = (),
) -> ExecutionSetting:
    """The site's settings with paths resolved and sizes read; ValueError in words for a size that is none.

    environ: the builder's own. exclude: folders that hold output, not sources.
    """
    # not of `--jobs`: other threads sum in another order, and no option may change a result
    threads = threads_per_job(execution.jobs)
    return ExecutionSetting(
        root=root,
        python=resolve_python(execution.python, root),
        timeout_s=execution.timeout,
        memory_bytes=parse_memory(execution.memory),
        env=cell_environment(environ, execution.env, threads, temporary),
        threads=threads,
        sandbox=execution.sandbox,
        figure_format=execution.figures.format,
        figure_dark=execution.figures.dark,
        exclude=(root / "_freeze", root / ".blogsmith", *exclude),
    )


def resolve_python(written: str, root: Path) -> str:
    """Path of a Python named in the settings; links stay, since a virtual environment's Python is one."""
    return str(root / Path(written).expanduser()) if written else sys.executable


def parse_memory(text: str) -> int:
    """Bytes for `4 GB` or `512 MiB`; ValueError in words."""
    size = parse_bytes(text)
    if size is None:
        raise ValueError(f'"{text}" is no amount of memory; {BYTES_HINT}')
    return size


def session_job(
    page: PageCells,
    session: str,
    setting: ExecutionSetting,
    skipped: Mapping[int, str],
    *,
    engine: Engine,
    sweeps: SweepRuns = ALL_SWEEPS,
) -> SessionJob:
    """The job of one session of a page.

    engine: the one that the page names. skipped: `Cell.number` → why the cell cannot run here. sweeps: what
    is to run of cells with a sweep.
    """
    cells = page.session_cells(session)
    placed: list[tuple[tuple[int, int, int], Step]] = [
        ((cell.number, 0, 0), _cell_step(number, cell, setting, skipped.get(cell.number, ""), sweeps))
        for number, cell in enumerate(cells, 1)
    ]
    if session == "main" and not sweeps.last:
        placed += [((v.after, 1, v.number), _value_step(v, page, setting)) for v in page.values]
    needed = (need for cell in cells if cell.number not in skipped for need in cell.options.needs)
    needs = tuple(dict.fromkeys(needed))
    return SessionJob(
        post=page.path,
        session=session,
        steps=tuple(step for _, step in sorted(placed, key=lambda pair: pair[0])),
        python=setting.python,
        root=setting.root,
        folder=setting.root / page.path.parent,
        env=setting.env,
        sandbox=setting.sandbox,
        exclude=setting.exclude,
        cuda=any(need.name == "cuda" for need in needs),
        threads=setting.threads,
        engine=engine,
        needs=needs,
        only_sweeps=bool(sweeps.last),
    )


def _cell_step(number: int, cell: Cell, setting: ExecutionSetting, skip: str, sweeps: SweepRuns) -> CellStep:
    options = cell.options
    sweep = options.sweep
    points = [point for point in sweep.other_points() if sweeps.has(cell.number, point)] if sweep else []
    if sweeps.last and cell.number > sweeps.last:
        skip = skip or "no run of it is due"
    return CellStep(
        number=number,
        name=cell.name,
        code=cell.code,
        timeout_s=setting.timeout_s if options.timeout_s is None else options.timeout_s,
        memory_bytes=setting.memory_bytes if options.memory_bytes is None else options.memory_bytes,
        seed=options.seed,
        claim=bool(options.claim),
        shapes=options.shapes,
        error=options.error,
        figure_format=options.fig_format or setting.figure_format,
        figure_dark=setting.figure_dark if options.fig_dark is None else options.fig_dark,
        skip=skip,
        first_line=cell.first_line,
        file=cell.file,
        binding=sweep.default_point.binding if sweep else {},
        others=tuple(SweepStep(point.key, point.binding) for point in points),
        only_others=cell.number == sweeps.last,
    )


def _value_step(value: Value, page: PageCells, setting: ExecutionSetting) -> ValueStep:
    return ValueStep(
        number=value.number,
        expression=value.expression,
        conversion=value.conversion,
        spec=value.spec,
        timeout_s=setting.timeout_s if page.timeout_s is None else page.timeout_s,
        memory_bytes=setting.memory_bytes if page.memory_bytes is None else page.memory_bytes,
    )
