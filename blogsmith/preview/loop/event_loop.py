"""The one worker of the preview: takes events in order, renders saved pages first, then updates the site.

A save of a post is answered at once by rendering that page alone; a look at the whole site follows in small
steps, between which everything else goes first. So the page being written is never kept waiting, and what is
shown in the end is exactly what a build would write.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

from ...base.diagnostics.model import SiteError
from ...build.incremental import IncrementalPipeline, UpdateRequest
from ...build.snapshot import SiteSnapshot
from ...watch.pending_changes import PendingChanges, Save, is_of_site
from ..events.publisher import EventPublisher
from ..pages.site import ServedSite, awaited_sources
from ..protocol import Response
from .messages import AskedPage, AskedVersion, CellsEnded, Message, Over, Saved, Sent

COLLECT = 32
"""Saves between two times that memory is collected."""
LISTEN_S = 0.25
"""While nothing happens it is looked this often whether the preview is to end."""


class EventLoop:
    """Works in the thread that calls `run`; the other methods may be called from any."""

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
        """clock: seconds that only run forward. request_cells: has cells run that are to be run.

        rested: called whenever there is nothing left to do.

        report_bug: told of exceptions that are ours.
        """
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
        self._waiting: list[AskedPage | AskedVersion] = []
        self._is_over = False
        self._count = 0

    # -- from any thread --

    def send(self, message: Message) -> None:
        """Something has happened; it is taken in turn."""
        self._messages.put(message)

    def answer(self, path: str) -> Response:
        """What is at a path, as soon as it is made."""
        asked = AskedPage(path)
        self._answer_request(asked)
        return asked.answer.result()

    def version(self, path: str) -> str:
        """As `Site.version`."""
        asked = AskedVersion(path)
        self._answer_request(asked)
        return asked.answer.result()

    def _answer_request(self, asked: AskedPage | AskedVersion) -> None:
        self.send(asked)
        if self._is_over:
            # perhaps nobody takes it any more
            self._refuse_all()

    def page_sent(self, path: str, version: str) -> None:
        """A page of the last preview was sent."""
        self.send(Sent(path, version))

    # -- in its own --

    def run(self, check: Callable[[], None] = lambda: None) -> None:
        """Work until `Over` is told, or until a signal or `check` raises. check: called often."""
        self._full_update.begin(rest_s=0.0)
        try:
            while not self._is_over:
                message = self._next_message(check)
                check()
                try:
                    if message is not None:
                        self._handle(message)
                    else:
                        self._full_update.go_on()
                    if self._is_answering():
                        self._answer_waiting()
                except Exception as error:
                    # an internal error; the next save gives another chance
                    self._full_update.break_off()
                    self._report_bug(error)
                    self._answer_waiting()
        finally:
            self._is_over = True
            self._refuse_all()

    def _next_message(self, check: Callable[[], None]) -> Message | None:
        """What has happened; None when it is time to go on with the work."""
        while (wait_s := self._full_update.wait_s) is None:
            # the system may have given Ctrl-C to another thread: that alone wakes nobody here
            with suppress(Empty):
                return self._messages.get(timeout=LISTEN_S)
            check()
        try:
            return self._messages.get(timeout=wait_s) if wait_s > 0 else self._messages.get_nowait()
        except Empty:
            return None

    def _handle(self, message: Message) -> None:
        if isinstance(message, Over):
            self._is_over = True
        elif isinstance(message, AskedPage | AskedVersion):
            if self._is_answering():
                self._answer(message)
            else:
                # until the look under way knows what there is
                self._waiting.append(message)
        elif isinstance(message, Sent):
            self._site.page_sent(message.path, message.version)
        elif isinstance(message, Saved):
            self._on_save(message)
        elif isinstance(message, CellsEnded):
            self._on_cells_end(message)

    def _is_answering(self) -> bool:
        """Whether there is a site, or it is known why there is none."""
        return self._site.present is not None or bool(self._publisher.broken)

    def _answer(self, asked: AskedPage | AskedVersion) -> None:
        try:
            if isinstance(asked, AskedVersion):
                asked.answer.set_result(self._site.version(asked.path))
            else:
                asked.answer.set_result(self._site.answer(asked.path))
        except Exception as error:
            # an internal error: the server tells of it
            asked.answer.set_exception(error)

    def _answer_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for asked in waiting:
            self._answer(asked)

    def _refuse_all(self) -> None:
        """Nobody is left waiting for an engine that has ended."""
        left: list[Message] = list(self._waiting)
        while True:
            try:
                left.append(self._messages.get_nowait())
            except Empty:
                break
        for message in left:
            if isinstance(message, AskedPage | AskedVersion):
                with suppress(InvalidStateError):
                    message.answer.set_exception(RuntimeError("the preview has ended"))

    # -- what happens --

    def _on_save(self, saved: Saved) -> None:
        save = self._changes.add(saved.changes)
        self._count += 1
        if self._count % COLLECT == 0:
            # rendering leaves circles behind, and what is kept for ever no longer makes Python look for them
            gc.collect()
        if self._fast_path.concern_us(save):
            self._publisher.on_edit(save.paths)
            self._publisher.on_save(saved.at_s, save.paths, self._fast_path.show(save))
            self._full_update.begin()

    def _on_cells_end(self, ended: CellsEnded) -> None:
        self._publisher.on_outcome(ended.outcome)
        self._fast_path.results(ended.outcome.post, self._changes.add_record(ended.outcome.post))
        self._full_update.begin()


# Looks at the whole site: after every change one, in small steps, exact at its end.


REST_S = 0.08
"""After a save the look waits so long: the browser fetches the edited page meanwhile."""
PATIENCE_S = 1.0
"""So long a look may be begun anew by further saves; then it comes to its end, and another one follows."""


class FullUpdate:
    """Belongs to one engine. What is left to do is done step by step, by `go_on`."""

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
        """awaited_paths: what browsers have asked for that is not answered yet.

        request_cells: has cells run. rested: called whenever there is nothing left to do.
        """
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
        self._is_under_way = False
        self._another = False
        """Files have changed that the look under way does not know of."""
        self._behind_since_s: float | None = None
        """When the first file changed that no look has come to its end with."""

    @property
    def wait_s(self) -> float | None:
        """How long until there is something to do, 0 or less: now; None: nothing is left."""
        return None if self._work is None else self._resume_s - self._clock()

    def begin(self, rest_s: float = REST_S) -> None:
        """Something has changed. A look under way is broken off, unless that happens all the time."""
        now_s = self._clock()
        if self._behind_since_s is None:
            self._behind_since_s = now_s
        is_late = self._site.present is None or now_s - self._behind_since_s > PATIENCE_S
        if self._is_under_way and is_late:
            self._another = True
            return
        self.break_off()
        self._work = self._update()
        self._resume_s = now_s + rest_s

    def break_off(self) -> None:
        """Do no more of the look under way; what it knew of is to be looked at again."""
        if self._is_under_way:
            self._changes.abort()
        self._is_under_way, self._work = False, None

    def go_on(self) -> None:
        """Take a step."""
        if self._work is None:
            return
        try:
            next(self._work)
        except StopIteration:
            self._work = None
            retry_s = self._changes.unreported.retry_s
            if self._another:
                self._another = False
                self.begin()
            elif retry_s is not None:
                self.begin(rest_s=retry_s)

    def _update(self) -> Iterator[None]:
        before = self._site.present
        began_s = self._clock()
        taken = self._changes.begin()
        self._is_under_way = True
        request = replace(
            self._fast_path.request_for(taken.paths, everything=taken.everything),
            awaited=lambda resolved: awaited_sources(resolved, self._awaited_paths()),
        )
        try:
            for present in self._line.update_all(before, request):
                if present is not None:
                    self._site.present = present
                    self._publisher.broken = ()
                yield
        except SiteError as error:
            self._is_under_way, self._behind_since_s = False, None
            self._publisher.broken = error.diagnostics
            # whatever is mended, the settings are to be read again
            self._changes.abort(everything=True)
            self._publisher.problems(self._site)
            self._publisher.print_problems()
            return
        self._is_under_way, self._behind_since_s = False, None
        self._changes.finish()
        if before is not None and self._site.present is not None:
            old, new = (site.resolved.files.stamps for site in (before, self._site.present))
            self._changes.unreported.note(old, new, {*taken.paths, *self._changes.paths})
        if self._another:
            # what was saved meanwhile is not in what this look has found
            self._fast_path.render(self._changes.paths[:MANY])
        self._publisher.files(before, self._site.present, taken.paths)
        self._fast_path.compare({})
        if self._another:
            return
        self._request_cells()
        yield
        for _ in self._site.sweep():
            yield
        self._publisher.problems(self._site)
        self._publisher.on_complete(self._site, self._clock() - began_s)
        self._rested()


# What is saved is shown at once: the edited post alone is made anew, and tabs that show it are told.


MANY = 3
"""So many posts saved at once are shown one by one; more by a look at the whole site."""


class FastPath:
    """Belongs to one engine."""

    def __init__(
        self,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        saves: PendingChanges,
        request_cells: Callable[[], None],
    ) -> None:
        """request_cells: has cells run that are to be run."""
        self._line = line
        self._site = site
        self._publisher = publisher
        self._changes = saves
        self._request_cells = request_cells

    def concern_us(self, save: Save) -> bool:
        """Whether pages may be others after a save: files elsewhere count only where code may read them."""
        present = self._site.present
        if save.everything or present is None or not present.is_whole or any(map(is_of_site, save.paths)):
            return True
        documents = present.resolved.documents
        saved = {path.removeprefix("/") for path in save.paths}
        included = (found for document in documents.values() for found in document.included.values())
        if any(not saved.isdisjoint(found.looked_at) for found in included):
            return True
        return any(self._has_cells(path) for path in documents)

    def show(self, save: Save) -> int:
        """Show what was saved as far as that is quick; how many open pages are others now."""
        present = self._site.present
        if present is None:
            return 0
        self._publisher.style_sheets(present, save.paths)
        if len(save.paths) > MANY or save.everything:
            return 0
        lines = self.render(save.paths)
        count = self.compare(lines)
        # with settings or plugins the consent to run may have ended
        if self._changes.only_pages() and any(self._has_cells(path) for path in lines):
            self._request_cells()
        return count

    def render(self, paths: tuple[str, ...]) -> dict[str, int]:
        """Posts that were saved → their first changed line; what is more than a post is left to a look."""
        lines = {}
        for path in paths:
            present = self._site.present
            known = present.resolved.documents.get(path) if present else None
            if present is None or known is None:
                continue
            edited = _without_site_error(
                partial(self._line.update_page, present, path, self.request_for((path,)))
            )
            if edited is not None:
                self._site.present = edited
                lines[path] = first_difference(known.source.text, edited.resolved.documents[path].source.text)
        return lines

    def results(self, post: str, record: str) -> None:
        """Show new results of a post's cells. record: path of what is recorded of them."""
        present = self._site.present
        if present is not None:
            again = _without_site_error(
                partial(self._line.refresh_results, present, post, self.request_for((record,)))
            )
            if again is not None:
                self._site.present = again
                self.compare({})

    def compare(self, lines: Mapping[str, int]) -> int:
        """Tell browsers which of the pages they show are others now. lines: source path → edited line."""
        found = self._site.changed_pages()
        self._publisher.pages(self._site.present, found, lines)
        self._publisher.problems(self._site)
        return len(found)

    def request_for(self, changed: tuple[str, ...], *, everything: bool = False) -> UpdateRequest:
        """What the line is asked for after these files have changed."""
        return UpdateRequest(changed, everything, self._site.open_sources(), self._publisher.finished)

    def _has_cells(self, path: str) -> bool:
        present = self._site.present
        document = present.resolved.documents.get(path) if present else None
        return bool(present and document and present.resolved.cells(document).page)


def _without_site_error(make: Callable[[], SiteSnapshot | None]) -> SiteSnapshot | None:
    """What `make` gives; None for a mistake that the look at the whole site tells of."""
    try:
        return make()
    except SiteError:
        return None


def first_difference(before: str, after: str) -> int:
    """The first line, counted from 1, in which two texts differ; the last one if the longer goes on."""
    old, new = before.split("\n"), after.split("\n")
    for number, (one, other) in enumerate(zip(old, new, strict=False), 1):
        if one != other:
            return number
    return min(len(old), len(new))
