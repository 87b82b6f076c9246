"""Options of a build, from the command line, and its results: diagnostics, counts and times."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from ..base.diagnostics.codes import SITE_CODES
from ..base.diagnostics.levels import NO_LEVELS, DiagnosticLevels
from ..base.diagnostics.model import Diagnostic, as_errors, sort_key

if TYPE_CHECKING:
    from ..execute.session.session import SessionObserver
    from ..model.documents import ConverterFallback

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]
"""Function that is called often. Arguments: stage, number of finished items, total number of items."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Ignore the progress."""


class ExecutionOptions(Struct, frozen=True):
    """Options of the command line for running cells."""

    execute: Literal["", "stale", "all"] = ""
    """Cells to run even if the site is not trusted: `stale` for those without a valid result, or `all`. If
    empty, the settings and the user's trust decide."""
    frozen: bool = False
    """Whether cells never run, and a missing or stale result is an error."""
    strict_versions: bool = False
    """Whether results recorded with other versions of packages are treated as stale."""
    jobs: int = 0
    """Number of parallel sessions; 0 means the setting of the site."""
    needs: tuple[str, ...] = ()
    """Names of needs. Only sessions with a cell that has one of these needs run; if empty, all sessions
    run."""
    watch: SessionObserver | None = None
    """Observer that is notified of running cells; None if there is none."""


class BuildOptions(Struct, frozen=True):
    """Options of the command line for one build."""

    now: dt.datetime
    """Current time with a time zone. Posts with a later date are scheduled."""
    drafts: bool = False
    future: bool = False
    include: tuple[str, ...] = ()
    """Source paths of pages to build even if they are drafts, scheduled or expired."""
    focus: tuple[str, ...] = ()
    """Files and folders to check; if there are any, the finished pages of other files are not made."""
    strict: bool = False
    """Whether warnings are treated as errors."""
    base_url: str | None = None
    """URL used instead of the setting `base_url`; None to use the setting."""
    output: Path | None = None
    """Folder used instead of the setting `output`; None to use the setting."""
    write: bool = True
    """Whether to write the site. If False, only report problems, including lint warnings."""
    keep_going: bool = False
    """Whether to write all pages that can be made, even if other pages have errors."""
    use_cache: bool = False
    """Whether to use cached results of earlier builds, and store those of this build."""
    request_digest: str = ""
    """Digest of the options of the command line. The report of the last build is used if that build had the
    same digest, and no stamps of files have changed. If empty, the build always runs."""
    inspections: tuple[Callable[[Any, BuildLog], str], ...] = ()
    """Functions that inspect the finished `SiteSnapshot`. Each may add to the log, and returns lines to
    print."""
    execution: ExecutionOptions = ExecutionOptions()
    start_method: Literal["", "fork", "spawn"] = ""
    """Start method of processes that make pages. If empty, fork where that is safe, otherwise spawn."""


class Counts(Struct, frozen=True, kw_only=True):
    """Numbers of items in a site."""

    pages: int = 0
    formulas: int = 0
    code_blocks: int = 0
    images: int = 0
    scheduled: tuple[str, ...] = ()
    """Source paths of posts that are not built because of a date in the future."""
    drafts: int = 0
    """Number of posts that are not built because they are drafts."""
    expired: int = 0
    """Number of posts that are not built because their `expiry_date` has passed."""
    cells: int = 0
    """Number of cells in posts that may run, whether they ran now or earlier."""
    executed_cells: int = 0
    """Number of cells that ran in this build."""
    pending_results: int = 0
    """Number of results that a build would compute; a check runs nothing."""
    unmet: int = 0
    """Number of cells without a result because a need was not met."""
    missing: tuple[str, ...] = ()
    """Names of the needs that this machine does not meet; empty if no code had to run."""
    outside: bool = False
    """Whether a recorded result depends on files outside the site or on environment variables."""


class FailedPages(Struct, frozen=True):
    """Numbers of pages with errors in a site that was written anyway."""

    unchanged: int = 0
    """Number of pages that remain in their last version without errors."""
    partial: int = 0
    """Number of pages that show only the parts that could be made."""
    absent: int = 0
    """Number of pages that are not published, because they request protection, or because it is unclear
    whether or where to publish them."""


class BuildReport(Counts, frozen=True, kw_only=True):
    """The results of a build."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics, sorted by file and location, without silenced warnings."""
    ok: bool = False
    """Whether there are no errors."""
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    target: Path | None = None
    """The output folder."""
    wrong_pages: FailedPages | None = None
    """Numbers of pages with errors, if the site was written anyway."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Name of a stage → its time in seconds."""
    cell_times: Mapping[str, float] = field(default_factory=dict)
    """Name of a cell that ran → time in seconds."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Source path of a page that was not built → reason: `draft`, `scheduled`, `expired` or `unclear`."""
    notes: tuple[str, ...] = ()
    """Further lines to print: results of inspections, and why nothing is cached."""
    rebuilt: Mapping[str, str] = field(default_factory=dict)
    """Source path of a page → why it was not taken from the cache, as part of a sentence."""
    fallbacks: Mapping[str, tuple[ConverterFallback, ...]] = field(default_factory=dict)
    """Source path of a page → its formulas that the chosen converter rejected."""

    @property
    def has_only_page_errors(self) -> bool:
        """Whether a site can be made despite the errors."""
        errors = [found for found in self.diagnostics if found.severity == "error"]
        return all(found.path.startswith("content/") and found.code not in SITE_CODES for found in errors)

    @property
    def has_only_stale(self) -> bool:
        """Whether stale results under `--frozen` are the only errors."""
        errors = [found for found in self.diagnostics if found.severity == "error"]
        return bool(errors) and all(found.code == "freeze-stale" for found in errors)


class BuildLog(Struct):
    """Diagnostics and times of a build that is running."""

    progress: Progress
    levels: DiagnosticLevels = NO_LEVELS
    """Severities that the settings give to diagnostics."""
    strict: bool = False
    found: dict[Diagnostic, Diagnostic] = field(default_factory=dict)
    """Diagnostic without hint and fix → the diagnostic. An error in a template occurs on every page, but is
    listed once."""
    timings: dict[str, float] = field(default_factory=dict)
    cell_times: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a line to print, unless it is empty."""
        if text:
            self.notes.append(text)

    def add(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics with the severity that the site sets. Duplicates and silenced warnings are
        dropped."""
        for diagnostic in diagnostics:
            weighed = self.levels.apply(diagnostic)
            if weighed is not None:
                self.found.setdefault(replace(weighed, hint="", fix=None), weighed)

    def iterate(self, stage: str, items: Sequence[Item]) -> Iterator[Item]:
        """Iterate over `items`, report the progress, and measure the time of the stage."""
        started = time.perf_counter()
        for done, item in enumerate(items):
            self.progress(stage, done, len(items))
            yield item
        self.progress(stage, len(items), len(items))
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - started

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Measure the time of a part of a stage."""
        started = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - started

    def paths_with_errors(self) -> frozenset[str]:
        """Return the source paths of files with errors so far."""
        return frozenset(found.path for found in self.report() if found.severity == "error")

    def report(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics, sorted. In a strict build, warnings become errors."""
        found = as_errors(self.found.values()) if self.strict else list(self.found.values())
        return tuple(sorted(found, key=sort_key))

    def close(self, counts: Counts) -> BuildReport:
        """Return the report of the build so far."""
        found = self.report()
        ok = not any(diagnostic.severity == "error" for diagnostic in found)
        return BuildReport(
            diagnostics=found,
            ok=ok,
            timings=self.timings,
            cell_times=self.cell_times,
            notes=tuple(self.notes),
            **asdict(counts),
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the time of a stage that has no items to count."""
        self.progress(name, 0, 1)
        started = time.perf_counter()
        yield
        self.timings[name] = time.perf_counter() - started
        self.progress(name, 1, 1)
