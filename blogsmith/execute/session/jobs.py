"""Jobs: the cells and values of one session in reading order, with the settings of the site.

A `SessionJob` contains plain data only, so it can run anywhere with a checkout of the site.
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
"""Maximum number of bytes of text stored for one cell."""


@dataclass(frozen=True, slots=True)
class CellStep:
    """One cell to run."""

    number: int
    """1-based number of the cell in its session."""
    name: str
    """Name of the cell in messages."""
    code: str
    timeout_s: float
    memory_bytes: int
    """Memory limit of the whole session while this cell runs."""
    seed: int | None = None
    claim: bool = False
    counter_check: bool = False
    shapes: bool = False
    error: bool = False
    """Whether the session continues after an exception in this cell."""
    figure_format: Literal["svg", "png"] = "svg"
    figure_dark: bool = False
    skip: str = ""
    """Reason why the cell must not run, as a message. Empty if it runs."""
    first_line: int = 1
    """Line of the file where the code of the cell starts, for observers."""
    file: str = ""
    """Path of the file with the code, relative to the site root. Empty for the post itself."""
    binding: Mapping[str, Scalar] = field(default_factory=dict)
    """Variables of the sweep that are set before the cell runs and stay for later cells."""
    sweep_steps: tuple[SweepStep, ...] = ()
    """Other runs of the cell's sweep. They run before the cell, and their variables are removed afterwards.
    """
    only_others: bool = False
    """Whether only `sweep_steps` are needed, because the result of the cell's default run is recorded."""


@dataclass(frozen=True, slots=True)
class SweepStep:
    """Run of a cell for another point of its sweep than the default. Its variables are removed afterwards."""

    key: str
    """Key of the point, as in `SweepPoint.key`."""
    binding: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class ValueStep:
    """One `{= … =}` to compute."""

    number: int
    """1-based number of the value in the page."""
    expression: str
    conversion: str
    spec: str
    timeout_s: float
    memory_bytes: int


Step = CellStep | ValueStep


@dataclass(frozen=True, slots=True)
class SessionJob:
    """The cells and values of one session of a post, and everything needed to run them."""

    post: PurePosixPath
    """Path relative to the site root."""
    session: str
    steps: tuple[Step, ...]
    """Cells and values in reading order."""
    python: str
    """Path of the Python that runs the session."""
    root: Path
    """Site root, absolute."""
    folder: Path
    """Working folder, absolute."""
    env: Mapping[str, str]
    """Complete environment of the session. Each run creates a folder of its own in the folder that TMPDIR
    names."""
    text_bytes: int = TEXT_BYTES
    """Maximum number of bytes of text stored for each cell."""
    sandbox: Literal["off", "landlock", "offline"] = "off"
    exclude: tuple[Path, ...] = ()
    """Absolute folders whose files are never recorded as read."""
    cuda: bool = False
    """Whether a cell needs CUDA. If so, there is no limit on address space, and no fork server."""
    threads: int = 1
    """Number of BLAS threads, also set in `env`."""
    engine: Engine = WORKER
    needs: tuple[Need, ...] = ()
    """Needs of those cells that are not skipped, for choosing a machine."""
    is_sweep_only: bool = False
    """Whether only runs for other sweep points than the default are needed. All cells run for them, but the
    results of the default runs are not recorded."""

    @property
    def program(self) -> str:
        """Name of the program that runs the cells, for messages."""
        return self.engine.program(self.python)

    @property
    def code_starts(self) -> list[CodeStart]:
        """Locations where the code of each cell starts, in order."""
        steps = (step for step in self.steps if isinstance(step, CellStep))
        return [CodeStart(step.file or str(self.post), step.first_line) for step in steps]

    @property
    def memory_bytes(self) -> int:
        """Largest memory limit of its cells."""
        return max((step.memory_bytes for step in self.steps), default=0)


@dataclass(frozen=True, slots=True)
class ExecutionSetting:
    """Execution settings of a site, with paths resolved."""

    root: Path
    """Site root, absolute."""
    python: str
    """Path of the Python that runs cells."""
    timeout_s: float
    memory_bytes: int
    env: Mapping[str, str]
    """Environment as returned by `cell_environment`."""
    threads: int
    sandbox: Literal["off", "landlock", "offline"] = "off"
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
    """Return the site's execution settings with paths resolved and sizes parsed.

    Raises `ValueError` with a message for an invalid size.

    environ: environment of the builder.
    exclude: folders that contain output, not sources.
    """
    # Not derived from `--jobs`: other thread counts add in another order, and no option may change a result.
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
    """Return the path of a Python named in the settings. Links are not resolved, because the Python of a
    virtual environment is a link."""
    return str(root / Path(written).expanduser()) if written else sys.executable


def parse_memory(text: str) -> int:
    """Return the number of bytes for `4 GB` or `512 MiB`. Raises `ValueError` with a message."""
    size = parse_bytes(text)
    if size is None:
        raise ValueError(f'invalid amount of memory "{text}": {BYTES_HINT}')
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
    """Return the job of one session of a page. engine: engine that the page names. skipped: `Cell.number` →
    the reason why the cell cannot run here. sweeps: sweep runs that are needed."""
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
        cuda=any(need.name in ("cuda", "nvcc") for need in needs),
        threads=setting.threads,
        engine=engine,
        needs=needs,
        is_sweep_only=bool(sweeps.last),
    )


def _cell_step(number: int, cell: Cell, setting: ExecutionSetting, skip: str, sweeps: SweepRuns) -> CellStep:
    options = cell.options
    sweep = options.sweep
    points = [point for point in sweep.other_points() if sweeps.has(cell.number, point)] if sweep else []
    if sweeps.last and cell.number > sweeps.last:
        skip = skip or "it has no run to repeat"
    return CellStep(
        number=number,
        name=cell.name,
        code=cell.code,
        timeout_s=setting.timeout_s if options.timeout_s is None else options.timeout_s,
        memory_bytes=setting.memory_bytes if options.memory_bytes is None else options.memory_bytes,
        seed=options.seed,
        claim=bool(options.claim),
        counter_check=options.counter_check,
        shapes=options.shapes,
        error=options.error,
        figure_format=options.fig_format or setting.figure_format,
        figure_dark=setting.figure_dark if options.fig_dark is None else options.fig_dark,
        skip=skip,
        first_line=cell.first_line,
        file=cell.file,
        binding=sweep.default_point.binding if sweep else {},
        sweep_steps=tuple(SweepStep(point.key, point.binding) for point in points),
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
