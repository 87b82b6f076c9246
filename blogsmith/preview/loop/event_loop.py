"""Event loop of the preview. It handles events in order, renders saved pages first, then updates the site.

After a save, only the page of that post is rendered. Then the whole site is updated in small steps, with all
other work between them. So the page that the author writes never waits, and the final result is identical to
that of a build.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

from msgspec.structs import replace

from ...base.diagnostics.model import SiteError
from ...build.incremental import IncrementalPipeline, UpdateRequest
from ...build.snapshot import SiteSnapshot
from ...watch.pending_changes import ChangeReport, PendingChanges, is_site_source
from ..events.publisher import EventPublisher
from ..pages.site import ServedSite, awaited_sources
from ..protocol import Response
from .messages import (
    CellsEnded,
    FilesSaved,
    Message,
    PageSent,
    PreviewPageRequest,
    StopRequest,
    VersionRequest,
)

SAVES_PER_COLLECTION = 32
"""Number of saves between two garbage collections."""
SIGNAL_CHECK_S = 0.25
"""Time in seconds between two checks whether the preview must end, while the loop is idle."""


class EventLoop:
    """The loop, run by the thread that calls `run`. Other threads may call the other methods."""

    def __init__(
        self,
        root: Path,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        *,
        clock: Callable[[], float],
        request_cells: Callable[[], None],
        rested: Callable[[], None],
        report_bug: Callable[[Exception], None],
    ) -> None:
        """Create a loop without running it. clock: monotonic clock, in seconds. request_cells: function that
        requests the cells that must run. rested: function that is called whenever nothing is left to do.
        report_bug: function that is called with internal errors."""
        self._site = site
        self._publisher = publisher
        self._report_bug = report_bug
        self._changes = PendingChanges(root)
        self._fast_path = FastPath(line, site, publisher, self._changes, request_cells)
        self._full_update = FullUpdate(
            line,
            site,
            publisher,
            self._changes,
            self._fast_path,
            clock=clock,
            awaited_paths=lambda: [asked.path for asked in self._waiting],
            request_cells=request_cells,
            rested=rested,
        )
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._waiting: list[PreviewPageRequest | VersionRequest] = []
        self._is_over = False
        self._count = 0

    # -- from any thread --

    def send(self, message: Message) -> None:
        """Queue a message."""
        self._messages.put(message)

    def answer(self, path: str) -> Response:
        """Return the response for a path. Wait until the response is available."""
        asked = PreviewPageRequest(path)
        self._answer_request(asked)
        return asked.answer.result()

    def version(self, path: str) -> str:
        """Return the version of a page; empty if there is none. Wait until the version is available."""
        asked = VersionRequest(path)
        self._answer_request(asked)
        return asked.answer.result()

    def _answer_request(self, asked: PreviewPageRequest | VersionRequest) -> None:
        self.send(asked)
        if self._is_over:
            # the loop may not read its messages any more
            self._fail_pending()

    def page_sent(self, path: str, version: str) -> None:
        """Report that a page of the previous preview was sent to a browser."""
        self.send(PageSent(path, version))

    # -- in its own --

    def run(self, check: Callable[[], None] = lambda: None) -> None:
        """Handle messages until `StopRequest` arrives, or until a signal or `check` raises an exception.
        check: function that is called often."""
        self._full_update.begin(rest_s=0.0)
        try:
            while not self._is_over:
                message = self._next_message(check)
                check()
                try:
                    if message is not None:
                        self._handle(message)
                    else:
                        self._full_update.step()
                    if self._is_answering():
                        self._answer_waiting()
                except Exception as error:
                    # an internal error; the next save starts another attempt
                    self._full_update.interrupt()
                    self._report_bug(error)
                    self._answer_waiting()
        finally:
            self._is_over = True
            self._fail_pending()

    def _next_message(self, check: Callable[[], None]) -> Message | None:
        """Return the next message, or None when it is time for the next step of the update."""
        while (wait_s := self._full_update.wait_s) is None:
            # the system may have delivered Ctrl-C to another thread, which does not wake up this one
            with suppress(Empty):
                return self._messages.get(timeout=SIGNAL_CHECK_S)
            check()
        try:
            return self._messages.get(timeout=wait_s) if wait_s > 0 else self._messages.get_nowait()
        except Empty:
            return None

    def _handle(self, message: Message) -> None:
        if isinstance(message, StopRequest):
            self._is_over = True
        elif isinstance(message, PreviewPageRequest | VersionRequest):
            if self._is_answering():
                self._answer(message)
            else:
                # wait until the running update knows the pages
                self._waiting.append(message)
        elif isinstance(message, PageSent):
            self._site.page_sent(message.path, message.version)
        elif isinstance(message, FilesSaved):
            self._on_save(message)
        elif isinstance(message, CellsEnded):
            self._on_cells_end(message)

    def _is_answering(self) -> bool:
        """Return whether requests can be answered, because the site is loaded or because an error explains
        why it is not."""
        return self._site.snapshot is not None or bool(self._publisher.site_errors)

    def _answer(self, asked: PreviewPageRequest | VersionRequest) -> None:
        try:
            if isinstance(asked, VersionRequest):
                asked.answer.set_result(self._site.version(asked.path))
            else:
                asked.answer.set_result(self._site.answer(asked.path))
        except Exception as error:
            # an internal error, which the server reports
            asked.answer.set_exception(error)

    def _answer_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for asked in waiting:
            self._answer(asked)

    def _fail_pending(self) -> None:
        """Answer all waiting requests with an error, because the loop has ended."""
        left: list[Message] = list(self._waiting)
        while True:
            try:
                left.append(self._messages.get_nowait())
            except Empty:
                break
        for message in left:
            if isinstance(message, PreviewPageRequest | VersionRequest):
                with suppress(InvalidStateError):
                    message.answer.set_exception(RuntimeError("the preview has ended"))

    # -- what happens --

    def _on_save(self, saved: FilesSaved) -> None:
        save = self._changes.add(saved.changes)
        self._count += 1
        if self._count % SAVES_PER_COLLECTION == 0:
            # rendering creates reference cycles, and Python collects them rarely because most objects are
            # long-lived
            gc.collect()
        if self._fast_path.is_relevant(save):
            self._publisher.on_edit(save.paths)
            self._publisher.on_save(saved.at_s, save.paths, self._fast_path.show(save))
            self._full_update.begin()

    def _on_cells_end(self, ended: CellsEnded) -> None:
        self._publisher.on_outcome(ended.outcome)
        self._fast_path.show_results(ended.outcome.post, self._changes.add_record(ended.outcome.post))
        self._full_update.begin()


# Updates of the whole site: after every change, in small steps, with an exact result at the end.


UPDATE_DELAY_S = 0.08
"""Time in seconds between a save and the update. Meanwhile the browser fetches the edited page."""
MAX_RESTART_S = 1.0
"""Time in seconds during which further saves restart an update. After that, the update runs to its end, and
another one follows."""


class FullUpdate:
    """Updates of the whole site for one event loop. Each call of `step` runs the next step of the current
    update."""

    def __init__(
        self,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        saves: PendingChanges,
        edits: FastPath,
        *,
        clock: Callable[[], float],
        awaited_paths: Callable[[], Sequence[str]],
        request_cells: Callable[[], None],
        rested: Callable[[], None],
    ) -> None:
        """Create an object without an update. awaited_paths: function that returns the paths of requests that
        are not answered yet. request_cells: function that requests the cells that must run. rested: function
        that is called whenever nothing is left to do."""
        self._line = line
        self._site = site
        self._publisher = publisher
        self._changes = saves
        self._fast_path = edits
        self._clock = clock
        self._awaited_paths = awaited_paths
        self._request_cells = request_cells
        self._rested = rested
        self._work: Iterator[None] | None = None
        self._resume_s = 0.0
        self._is_running = False
        self._must_repeat = False
        """Whether files have changed since the current update began."""
        self._outdated_since_s: float | None = None
        """Time of the first change that no finished update includes; None if there is none."""

    @property
    def wait_s(self) -> float | None:
        """Seconds until the next step; 0 or less if the step is due; None if there is nothing to do."""
        return None if self._work is None else self._resume_s - self._clock()

    def begin(self, rest_s: float = UPDATE_DELAY_S) -> None:
        """Start an update after a change. Interrupt a running update, unless changes have waited longer than
        `MAX_RESTART_S` for a finished update. rest_s: seconds until the first step."""
        now_s = self._clock()
        if self._outdated_since_s is None:
            self._outdated_since_s = now_s
        is_late = self._site.snapshot is None or now_s - self._outdated_since_s > MAX_RESTART_S
        if self._is_running and is_late:
            self._must_repeat = True
            return
        self.interrupt()
        self._work = self._update()
        self._resume_s = now_s + rest_s

    def interrupt(self) -> None:
        """Interrupt the running update. The next update will include its changes."""
        if self._is_running:
            self._changes.abort()
        self._is_running, self._work = False, None

    def step(self) -> None:
        """Run the next step."""
        if self._work is None:
            return
        try:
            next(self._work)
        except StopIteration:
            self._work = None
            retry_s = self._changes.unreported.retry_s
            if self._must_repeat:
                self._must_repeat = False
                self.begin()
            elif retry_s is not None:
                self.begin(rest_s=retry_s)

    def _update(self) -> Iterator[None]:
        before = self._site.snapshot
        began_s = self._clock()
        taken = self._changes.begin()
        self._is_running = True
        request = replace(
            self._fast_path.request_for(taken.paths, everything=taken.everything),
            find_first_pages=lambda resolved: awaited_sources(resolved, self._awaited_paths()),
        )
        try:
            for present in self._line.update_site(before, request):
                if present is not None:
                    self._site.snapshot = present
                    self._publisher.site_errors = ()
                yield
        except SiteError as error:
            self._is_running, self._outdated_since_s = False, None
            self._publisher.site_errors = error.diagnostics
            # the error may be in the settings, so they are read again next time
            self._changes.abort(everything=True)
            self._publisher.problems(self._site)
            self._publisher.print_problems()
            return
        self._is_running, self._outdated_since_s = False, None
        self._changes.finish()
        if before is not None and self._site.snapshot is not None:
            old, new = (site.resolved.files.stamps for site in (before, self._site.snapshot))
            self._changes.unreported.note(old, new, {*taken.paths, *self._changes.paths})
        if self._must_repeat:
            # this update does not include files that were saved while it ran
            self._fast_path.render(self._changes.paths[:MAX_FAST_POSTS])
        self._publisher.files(before, self._site.snapshot, taken.paths)
        self._fast_path.compare({})
        if self._must_repeat:
            return
        self._request_cells()
        yield
        for _ in self._site.render_all():
            yield
        self._publisher.problems(self._site)
        self._publisher.on_complete(self._site, self._clock() - began_s)
        self._rested()


# After a save of posts, the fast path renders only these posts, and notifies the tabs that show them.


MAX_FAST_POSTS = 3
"""Maximum number of posts saved together that the fast path renders. If more posts are saved together, only
the update of the whole site renders them."""


class FastPath:
    """Fast path for saved posts, for one event loop."""

    def __init__(
        self,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        saves: PendingChanges,
        request_cells: Callable[[], None],
    ) -> None:
        """Create a fast path. request_cells: function that requests the cells that must run."""
        self._line = line
        self._site = site
        self._publisher = publisher
        self._changes = saves
        self._request_cells = request_cells

    def is_relevant(self, save: ChangeReport) -> bool:
        """Return whether a save may change pages. It may do so in three cases: the site has not been read
        completely; a source of the site, a macro file or a file that a page includes was saved; or any page
        has cells, because their code can read every file."""
        present = self._site.snapshot
        if (
            save.everything
            or present is None
            or not present.is_complete
            or any(map(is_site_source, save.paths))
        ):
            return True
        if not set(save.paths).isdisjoint(present.context.macro_files.paths):
            return True
        documents = present.resolved.documents
        saved = {path.removeprefix("/") for path in save.paths}
        included = (found for document in documents.values() for found in document.included.values())
        if any(not saved.isdisjoint(found.looked_at) for found in included):
            return True
        return any(self._has_cells(path) for path in documents)

    def show(self, save: ChangeReport) -> int:
        """Render saved posts, if they are few and no other file may have changed. Return the number of open
        pages that changed."""
        present = self._site.snapshot
        if present is None:
            return 0
        self._publisher.style_sheets(present, save.paths)
        if len(save.paths) > MAX_FAST_POSTS or save.everything:
            return 0
        lines = self.render(save.paths)
        count = self.compare(lines)
        # a change of settings or plugins may end the consent to run code
        if self._changes.only_pages() and any(self._has_cells(path) for path in lines):
            self._request_cells()
        return count

    def render(self, paths: tuple[str, ...]) -> dict[str, int]:
        """Render saved posts. Return a map from the source path of each post to its first changed line. Leave
        other pages that the save changes to the update of the whole site."""
        lines = {}
        for path in paths:
            present = self._site.snapshot
            known = present.resolved.documents.get(path) if present else None
            if present is None or known is None:
                continue
            edited = _without_site_error(
                partial(self._line.update_page, present, path, self.request_for((path,)))
            )
            if edited is not None:
                self._site.snapshot = edited
                lines[path] = first_difference(known.source.text, edited.resolved.documents[path].source.text)
        return lines

    def show_results(self, post: str, record: str) -> None:
        """Render the new results of a post's cells. record: path of the file that contains these results."""
        present = self._site.snapshot
        if present is not None:
            again = _without_site_error(
                partial(self._line.refresh_results, present, post, self.request_for((record,)))
            )
            if again is not None:
                self._site.snapshot = again
                self.compare({})

    def compare(self, lines: Mapping[str, int]) -> int:
        """Find the open pages that have changed since the last call, and notify the browsers that show them.
        Return the number of these pages. lines: source path → line that was edited."""
        found = self._site.changed_pages()
        self._publisher.pages(self._site.snapshot, found, lines)
        self._publisher.problems(self._site)
        return len(found)

    def request_for(self, changed: tuple[str, ...], *, everything: bool = False) -> UpdateRequest:
        """Return the request to the pipeline after the files `changed` have changed. everything: whether
        other files may have changed, too."""
        return UpdateRequest(changed, everything, self._site.open_sources(), self._publisher.finished)

    def _has_cells(self, path: str) -> bool:
        present = self._site.snapshot
        document = present.resolved.documents.get(path) if present else None
        return bool(present and document and present.resolved.cells(document).page)


def _without_site_error(make: Callable[[], SiteSnapshot | None]) -> SiteSnapshot | None:
    """Return the result of `make`. Return None if it raises a SiteError, because the update of the whole site
    reports this error."""
    try:
        return make()
    except SiteError:
        return None


def first_difference(before: str, after: str) -> int:
    """Return the 1-based number of the first line where two strings differ. If one string is the beginning of
    the other, return the number of its last line."""
    old, new = before.split("\n"), after.split("\n")
    for number, (one, other) in enumerate(zip(old, new, strict=False), 1):
        if one != other:
            return number
    return min(len(old), len(new))
