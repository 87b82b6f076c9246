"""Publisher of events to browsers and the terminal, called by the event loop."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ...base.diagnostics.format import format_diagnostic, printable
from ...base.diagnostics.levels import NO_LEVELS
from ...base.diagnostics.listing import choose_first
from ...base.diagnostics.model import Diagnostic
from ...base.diagnostics.notebook_cells import NOTEBOOK
from ...build.site import count_contents
from ...build.snapshot import SiteSnapshot
from ...project.report import BuildLog, no_progress
from ..cells.messages import PageOutcome
from ..options import ServeOptions
from ..pages.script_tag import browser_path
from ..pages.site import ServedSite
from ..protocol import Publish
from .terminal import ChangeLine, change_line, format_complete, new_problems, problem_lines


class EventPublisher:
    """Publisher of events for one event loop. Other threads may call `hello`."""

    def __init__(
        self,
        options: ServeOptions,
        publish: Publish,
        say: Callable[[str], None],
        running: Callable[[], Sequence[Mapping[str, object]]],
        clock: Callable[[], float],
    ) -> None:
        """Create a publisher. say: function that prints a line for the author. running: function that returns
        the events of running cells. clock: monotonic clock of the event loop, in seconds."""
        self._options = options
        self._publish = publish
        self._say = say
        self._running = running
        self._clock = clock
        self.site_errors: tuple[Diagnostic, ...] = ()
        """Errors in settings, plugins or theme that prevented an update of the site."""
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self._printed_diagnostics: tuple[Diagnostic, ...] = ()
        self._problems: Mapping[str, object] = problems_event((), (), None)
        self._outcomes: dict[str, PageOutcome] = {}
        self._finished: set[str] = set()
        self._pending_saves: tuple[float, set[str]] | None = None
        """Time of the first save whose result has not been printed, and all files saved since then; None if
        every result has been printed."""
        self._is_whole = False

    def hello(self) -> Mapping[str, object]:
        """Return the first event for a page that connects."""
        return {"problems": self._problems, "running": self._running()}

    @property
    def finished(self) -> frozenset[str]:
        """Source paths of posts whose cells have finished, used for `UpdateRequest.finished`."""
        return frozenset(self._finished)

    # -- to browsers --

    def style_sheets(self, present: SiteSnapshot, paths: tuple[str, ...]) -> None:
        """Report saved stylesheets to open pages, which then load them again."""
        files = style_sheets(present, paths)
        if files:
            self._publish({"kind": "css", "files": files})

    def files(self, before: SiteSnapshot | None, now: SiteSnapshot | None, paths: tuple[str, ...]) -> None:
        """Report saved images and other files that are copied unchanged. before, now: the site before and
        after the save; if one is None, nothing is reported."""
        found = changed_files(now, paths) if before and now else []
        if found:
            self._publish({"kind": "files", "files": found})

    def pages(self, present: SiteSnapshot | None, found: Mapping[str, str], lines: Mapping[str, int]) -> None:
        """Report open pages that have new HTML. found: URL path of a page → new version. lines: source path
        of a post → line that was edited."""
        if not found or present is None:
            return
        views = {path: present.views.get(path) for path in found}
        told = {
            browser_path(path): {"version": version, "line": lines.get(view.path) if view else None}
            for (path, version), view in zip(found.items(), views.values(), strict=True)
        }
        self._publish({"kind": "pages", "pages": told})

    def problems(self, shown: ServedSite) -> None:
        """Publish the diagnostics of the site if they have changed."""
        ran = (found for outcome in self._outcomes.values() for found in outcome.diagnostics)
        found = all_problems(shown.snapshot, self.site_errors, [*shown.pages.problems(shown.snapshot), *ran])
        if found == self._diagnostics:
            return
        new = new_problems(self._diagnostics, found)
        self._diagnostics = found
        # first update the result of `hello`, so that a page that connects now misses nothing
        self._problems = problems_event(found, (), shown.snapshot)
        self._publish(problems_event(found, new, shown.snapshot))

    # -- cells --

    def on_edit(self, paths: Sequence[str]) -> None:
        """Record that files were saved. Mark the cells of each saved post as not finished. If any other file
        was saved, mark the cells of all posts as not finished, because they may read that file."""
        if all(path.startswith("content/") and path.endswith((".md", NOTEBOOK)) for path in paths):
            self._finished.difference_update(paths)
        else:
            self._finished.clear()

    def on_outcome(self, outcome: PageOutcome) -> None:
        """Handle the outcome of the cells of a page."""
        self._outcomes[outcome.post] = outcome
        if not outcome.diagnostics and not outcome.has_more:
            self._finished.add(outcome.post)

    def keep_outcomes(self, posts: Container[str]) -> None:
        """Drop the outcomes of posts that no longer exist."""
        self._outcomes = {post: one for post, one in self._outcomes.items() if post in posts}

    # -- on the terminal --

    def on_save(self, at_s: float, paths: tuple[str, ...], pages: int) -> None:
        """Print the saved files and the number of open pages that changed. If this number is 0, wait for the
        update of the whole site before printing. at_s: time of the save."""
        told = tuple(path for path in paths if not path.startswith("_freeze/"))
        if pages:
            self._print_change(at_s, told, pages)
        elif told:
            first_s, known = self._pending_saves or (at_s, set())
            self._pending_saves = (first_s, known | set(told))

    def on_complete(self, shown: ServedSite, seconds: float) -> None:
        """Print that the whole site is up to date. seconds: duration of the update."""
        present, pages = shown.snapshot, shown.pages.take_count()
        if present and not self._is_whole:
            self._is_whole = True
            cells = (count_cells(present, path) for path in present.resolved.documents)
            counts = count_contents(
                list(present.rendered.values()), len(present.views), present.resolved.loaded
            )
            counts = replace(counts, cells=sum(cells))
            self._report(format_complete(counts, seconds, self._diagnostics))
        elif self._pending_saves:
            self._print_change(self._pending_saves[0], tuple(sorted(self._pending_saves[1])), pages)
        self._pending_saves = None
        self.print_problems()

    def print_problems(self) -> None:
        """Print new diagnostics, and a line about earlier ones that are fixed."""
        now = self._diagnostics
        if self._options.quiet:
            now = tuple(found for found in now if found.severity == "error")
        for text in problem_lines(self._printed_diagnostics, now, color=self._options.color):
            self._say(text)
        self._printed_diagnostics = now

    def _print_change(self, at_s: float, paths: tuple[str, ...], pages: int) -> None:
        seconds = self._clock() - at_s
        at = self._options.now().astimezone() - dt.timedelta(seconds=seconds)
        self._report(change_line(ChangeLine(at, paths, pages, seconds, self._diagnostics)))

    def _report(self, line: str) -> None:
        if not self._options.quiet:
            self._say(line)


def count_cells(present: SiteSnapshot, path: str) -> int:
    """Return the number of cells of a post, without those that never run."""
    page = present.resolved.cells(present.resolved.documents[path]).page
    return sum(cell.is_run for cell in page.cells.cells) if page else 0


# Diagnostics of the site as events for pages of the preview.


MAX_ITEMS = 100
"""Maximum number of diagnostics in an event."""


def all_problems(
    present: SiteSnapshot | None, broken: Sequence[Diagnostic], others: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """Return all diagnostics of `present` and the other arguments, sorted, without duplicates and ignored
    warnings. broken: errors that prevent an update of the whole site. others: diagnostics of templates and
    running cells."""
    log = BuildLog(no_progress, present.config.diagnostics.as_levels if present else NO_LEVELS)
    log.add(broken)
    if present:
        log.add(present.site_diagnostics)
        for own in present.page_diagnostics.values():
            log.add(own)
    log.add(others)
    return log.report()


def problems_event(
    found: Sequence[Diagnostic], new: Sequence[Diagnostic], present: SiteSnapshot | None
) -> Mapping[str, object]:
    """Return the event with the first `MAX_ITEMS` diagnostics, errors first. new: diagnostics that the
    previous event did not contain."""
    first = choose_first(found, MAX_ITEMS, lambda one: one.severity)
    fresh = set(new)
    return {
        "kind": "problems",
        "errors": sum(one.severity == "error" for one in found),
        "warnings": sum(one.severity == "warning" for one in found),
        "items": [_item(one, one in fresh, present) for one in first],
    }


def _item(found: Diagnostic, is_new: bool, present: SiteSnapshot | None) -> Mapping[str, object]:
    place = found.place
    where = f"{found.path}:{place.line}:{place.column}" if place else found.path
    item = present.rendered.get(found.path) if present else None
    pages = [browser_path(present.config.base_path + item.url)] if present and item else []
    return {
        "severity": found.severity,
        "code": found.code,
        "where": printable(where),
        "path": found.path,
        "line": place.line if place else 1,
        "column": place.column if place else 1,
        "message": printable(found.message),
        "text": format_diagnostic(found, color=False),
        "pages": pages,
        "new": is_new,
    }


# Files that are copied into the site unchanged, whose URLs change when they are saved.


_VERSION_DIGITS = 8
"""Number of hex digits in the version of a file, as in the URLs of theme files."""


def style_sheets(present: SiteSnapshot, paths: Iterable[str]) -> dict[str, str]:
    """Return URL → new version of each stylesheet among the saved files."""
    found = {}
    for path in paths:
        if path.endswith(".css"):
            file = present.context.root / path
            for url in _addresses(present, path, file):
                if version := _version(file):
                    found[url] = version
    return found


def changed_files(present: SiteSnapshot, paths: Iterable[str]) -> list[str]:
    """Return the URLs of saved files that are copied unchanged, except stylesheets."""
    urls = present.resolved.loaded.asset_urls
    base_path = present.config.base_path
    return [
        browser_path(base_path + urls[path]) for path in paths if path in urls and not path.endswith(".css")
    ]


def _addresses(present: SiteSnapshot, path: str, file: Path) -> Iterator[str]:
    context, urls = present.context, present.resolved.loaded.asset_urls
    base_path = context.config.base_path
    if path in urls:
        yield browser_path(base_path + urls[path])
    for static in context.theme.files.static.values():
        if static.asset.file == file:
            yield browser_path(f"{base_path}/{static.asset.path.as_posix()}")
    joined = [sheet for sheet in context.theme.sheets.values() if sheet.is_made_of(file)]
    for font in {view.math_font for view in present.views.values()} if joined else ():
        yield from (browser_path(f"{base_path}/{sheet.path(font)}") for sheet in joined)


def _version(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:_VERSION_DIGITS]
    except OSError:
        return ""
