"""A build's account: what was asked, what was found, what was done, how long it took."""

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
"""(stage, done, total), called often; shows nothing by itself."""


def no_progress(stage: str, done: int, total: int) -> None:
    """A progress that nobody watches."""


class ExecutionOptions(Struct, frozen=True):
    """What the command line decides about running cells."""

    execute: Literal["", "stale", "all"] = ""
    """Run cells although the site may not be trusted here: those without a valid result, or all."""
    frozen: bool = False
    """Run nothing; a result that is missing or stale is an error."""
    strict_versions: bool = False
    """Results recorded with other versions of packages are stale."""
    jobs: int = 0
    """Sessions at once; 0: as the site says."""
    needs: tuple[str, ...] = ()
    """Run only sessions with a cell that needs one of these; empty: all."""
    watch: SessionObserver | None = None
    """Follows the cells while they run."""


class BuildOptions(Struct, frozen=True):
    """What the command line decides about one build."""

    now: dt.datetime
    """With a time zone: posts dated later are scheduled."""
    drafts: bool = False
    future: bool = False
    include: tuple[str, ...] = ()
    """Source paths of pages that are built although they are drafts, scheduled or expired."""
    focus: tuple[str, ...] = ()
    """Files and folders of the site that a check is about: finished pages of others are not made."""
    strict: bool = False
    """Warnings are errors."""
    base_url: str | None = None
    """In place of the setting."""
    output: Path | None = None
    """In place of the setting."""
    write: bool = True
    """False: report only, with what is doubtful beside what is wrong."""
    keep_going: bool = False
    """Write what can be made although pages have errors."""
    remembers: bool = False
    """Start from what earlier builds have kept in `.blogsmith/`, and keep what this one makes."""
    question: str = ""
    """Names what the command line asks: the same question may be answered by stamps alone. Empty: never."""
    inspections: tuple[Callable[[Any, BuildLog], str], ...] = ()
    """Look at the site, a `SiteSnapshot`, once all of it is made, tell the log, and give lines to print."""
    execution: ExecutionOptions = ExecutionOptions()
    start_method: Literal["", "fork", "spawn"] = ""
    """How processes that make pages are started; empty: as copies where that is safe, else fresh."""


class Counts(Struct, frozen=True, kw_only=True):
    """How much there is in a site."""

    pages: int = 0
    formulas: int = 0
    code_blocks: int = 0
    images: int = 0
    scheduled: tuple[str, ...] = ()
    """Source paths of posts dated in the future and left out."""
    drafts: int = 0
    """Posts left out because they are drafts."""
    expired: int = 0
    """Posts left out because their `expiry_date` has passed."""
    cells: int = 0
    """Cells of posts that run, whether in this build or an earlier one."""
    ran: int = 0
    """Cells that ran in this build."""
    waiting: int = 0
    """Results that a build would make: a check runs nothing."""
    unmet: int = 0
    """Cells without a result because something that they need was missing so far."""
    missing: tuple[str, ...] = ()
    """Names of what is missing on this machine; empty if no code was to run."""


class WrongPages(Struct, frozen=True):
    """Pages with errors in a site that was written all the same."""

    kept: int = 0
    """Stay as they were when they had none."""
    partial: int = 0
    """Show what could be made."""
    absent: int = 0
    """Are not published: they ask for protection, or it is not clear whether or where they should be."""


class BuildReport(Counts, frozen=True, kw_only=True):
    """What a build found and did."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """Sorted by file and place; silenced warnings left out."""
    ok: bool = False
    """No errors."""
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    target: Path | None = None
    """The output folder."""
    wrong_pages: WrongPages | None = None
    """What became of pages with errors, where the site was written all the same."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Stage → seconds."""
    cell_times: Mapping[str, float] = field(default_factory=dict)
    """Cell that ran → seconds."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Source path of a page that was not built → `draft`, `scheduled`, `expired` or `unclear`."""
    notes: tuple[str, ...] = ()
    """Lines to print besides: what inspections have to say of the whole, and why nothing is cached."""
    rebuilt: Mapping[str, str] = field(default_factory=dict)
    """Source path of a page → why it was made anew although builds remember, as part of a sentence."""
    fallbacks: Mapping[str, tuple[ConverterFallback, ...]] = field(default_factory=dict)
    """Source path of a page → its formulas that a chosen converter has left to us."""

    @property
    def has_only_page_errors(self) -> bool:
        """Whether a site can be made although there are errors."""
        errors = [found for found in self.diagnostics if found.severity == "error"]
        return all(found.path.startswith("content/") and found.code not in SITE_CODES for found in errors)

    @property
    def has_only_stale(self) -> bool:
        """Whether stale results under `--frozen` are all that is wrong."""
        errors = [found for found in self.diagnostics if found.severity == "error"]
        return bool(errors) and all(found.code == "freeze-stale" for found in errors)


class BuildLog(Struct):
    """Diagnostics and times of the build so far."""

    progress: Progress
    levels: DiagnosticLevels = NO_LEVELS
    """How heavy findings weigh."""
    strict: bool = False
    found: dict[Diagnostic, Diagnostic] = field(default_factory=dict)
    """By everything but hint and fix: a mistake in a template shows on every page, and counts once."""
    timings: dict[str, float] = field(default_factory=dict)
    cell_times: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Keep a line to print; nothing if it is empty."""
        if text:
            self.notes.append(text)

    def add(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep diagnostics, each once and as heavy as the site wants it, silenced warnings not at all."""
        for diagnostic in diagnostics:
            weighed = self.levels.apply(diagnostic)
            if weighed is not None:
                self.found.setdefault(replace(weighed, hint="", fix=None), weighed)

    def iterate(self, stage: str, items: Sequence[Item]) -> Iterator[Item]:
        """Go through `items`, telling progress and taking the stage's time."""
        started = time.perf_counter()
        for done, item in enumerate(items):
            self.progress(stage, done, len(items))
            yield item
        self.progress(stage, len(items), len(items))
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - started

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Take the time of one part of a stage."""
        started = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - started

    def paths_with_errors(self) -> frozenset[str]:
        """Files that errors are about, so far."""
        return frozenset(found.path for found in self.report() if found.severity == "error")

    def report(self) -> tuple[Diagnostic, ...]:
        """Everything found, sorted; warnings raised to errors if the build is strict."""
        found = as_errors(self.found.values()) if self.strict else list(self.found.values())
        return tuple(sorted(found, key=sort_key))

    def close(self, counts: Counts) -> BuildReport:
        """The report so far."""
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
        """Take the time of a stage that cannot be counted."""
        self.progress(name, 0, 1)
        started = time.perf_counter()
        yield
        self.timings[name] = time.perf_counter() - started
        self.progress(name, 1, 1)
