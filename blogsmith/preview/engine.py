"""The preview's one worker: takes what happens, a thing at a time, and keeps the site as it is on disk.

A save of a post is answered at once by rendering that page alone; a look at the whole site follows in small
steps, between which everything else goes first. So the page being written is never kept waiting, and what is
shown in the end is exactly what a build would write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import InvalidStateError
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

from ..errors import SiteError
from .answer import Answer
from .line.line import Asked as Look
from .line.line import Line
from .line.present import Present
from .messages import Asked, AskedVersion, CellsEnded, Message, Over, Saved, Sent
from .news import News
from .saves import Saves
from .shown import Shown

REST_S = 0.08
"""After a save the look at the whole site waits so long: the browser fetches the page meanwhile."""
_MANY = 3
"""So many posts saved at once are answered one by one; more by a look at the whole site."""


class Engine:
    """Works in the thread that calls `run`; the other methods may be called from any."""

    def __init__(
        self,
        root: Path,
        line: Line,
        shown: Shown,
        news: News,
        clock: Callable[[], float],
        rested: Callable[[], None],
        report_bug: Callable[[Exception], None],
    ) -> None:
        """clock: seconds that only run forward. rested: called whenever there is nothing left to do.

        report_bug: told of exceptions that are ours.
        """
        self._root = root
        self._line = line
        self._shown = shown
        self._news = news
        self._clock = clock
        self._rested = rested
        self._report_bug = report_bug
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._waiting: list[Asked | AskedVersion] = []
        self._saves = Saves(root)
        self._work: Iterator[None] | None = None
        self._resume_s = 0.0
        self._is_over = False

    # -- from any thread --

    def tell(self, message: Message) -> None:
        """Something has happened; it is taken in turn."""
        self._messages.put(message)

    def answer(self, path: str) -> Answer:
        """What is at a path, as soon as it is made."""
        asked = Asked(path)
        self._ask(asked)
        return asked.answer.result()

    def version(self, path: str) -> str:
        """As `Site.version`."""
        asked = AskedVersion(path)
        self._ask(asked)
        return asked.answer.result()

    def _ask(self, asked: Asked | AskedVersion) -> None:
        self.tell(asked)
        if self._is_over:
            # perhaps nobody takes it any more
            self._refuse_all()

    def sent(self, path: str, version: str) -> None:
        """A page of the last preview was sent."""
        self.tell(Sent(path, version))

    # -- in its own --

    def run(self) -> None:
        """Work until `Over` is told, or until a signal raises."""
        self._work = self._settle()
        try:
            while not self._is_over:
                message = self._next()
                try:
                    if message is not None:
                        self._take(message)
                    else:
                        self._go_on()
                except Exception as error:
                    # a bug of ours; the next save gives another chance
                    self._work = None
                    self._report_bug(error)
                    self._answer_waiting()
        finally:
            self._is_over = True
            self._refuse_all()

    def _next(self) -> Message | None:
        """What has happened; None when it is time to go on with the work."""
        if self._work is None:
            return self._messages.get()
        wait_s = self._resume_s - self._clock()
        try:
            return self._messages.get(timeout=wait_s) if wait_s > 0 else self._messages.get_nowait()
        except Empty:
            return None

    def _take(self, message: Message) -> None:
        if isinstance(message, Over):
            self._is_over = True
        elif isinstance(message, Asked | AskedVersion):
            if self._shown.present is None and not self._news.broken:
                # the look that is under way answers them
                self._waiting.append(message)
            else:
                self._answer(message)
        elif isinstance(message, Sent):
            self._shown.sent(message.path, message.version)
        elif isinstance(message, Saved):
            self._saved(message)
        elif isinstance(message, CellsEnded):
            self._ended(message)

    def _go_on(self) -> None:
        assert self._work is not None, "there is work to go on with"
        try:
            next(self._work)
        except StopIteration:
            self._work = None

    def _answer(self, asked: Asked | AskedVersion) -> None:
        try:
            if isinstance(asked, AskedVersion):
                asked.answer.set_result(self._shown.version(asked.path))
            else:
                asked.answer.set_result(self._shown.answer(asked.path))
        except Exception as error:
            # a bug of ours: the server tells of it
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
            if isinstance(message, Asked | AskedVersion):
                with suppress(InvalidStateError):
                    message.answer.set_exception(RuntimeError("the preview has ended"))

    # -- what happens --

    def _saved(self, saved: Saved) -> None:
        save = self._saves.add(saved.changes)
        self._news.edited(save.paths)
        present = self._shown.present
        pages: dict[str, str] = {}
        lines: dict[str, int] = {}
        if present is not None and not self._news.broken:
            self._news.style_sheets(present, save.paths)
            if len(save.paths) <= _MANY and not save.everything:
                lines = self._render_edited(present, save.paths)
                pages = self._compare(lines)
                if any(self._has_cells(path) for path in lines):
                    self._news.run_cells(self._shown)
        self._news.saved(saved.at_s, save.paths, len(pages))
        self._start_again()

    def _render_edited(self, present: Present, paths: tuple[str, ...]) -> dict[str, int]:
        """Posts that were saved → their first changed line; what is more than a post is left to the look."""
        lines = {}
        for path in paths:
            known = present.arranged.documents.get(path)
            if known is None:
                continue
            edited = self._guarded(partial(self._line.edited, present, path, self._look((path,))))
            if edited is not None:
                self._shown.present = present = edited
                text = edited.arranged.documents[path].source.text
                lines[path] = first_difference(known.source.text, text)
        return lines

    def _has_cells(self, path: str) -> bool:
        present = self._shown.present
        document = present.arranged.documents.get(path) if present else None
        return bool(present and document and present.arranged.cells(document).page)

    def _ended(self, ended: CellsEnded) -> None:
        post = ended.outcome.post
        self._news.ran(ended.outcome)
        present = self._shown.present
        if present is None:
            return
        record = self._saves.add_record(post)
        again = self._guarded(lambda: self._line.again(present, post, self._look((record,))))
        if again is not None:
            self._shown.present = again
            self._compare({})
        self._start_again()

    def _compare(self, lines: Mapping[str, int]) -> dict[str, str]:
        """Tell browsers which of the pages they show are others now. lines: source path → edited line."""
        found = self._shown.changed()
        self._news.pages(self._shown.present, found, lines)
        self._news.problems(self._shown)
        return found

    def _start_again(self) -> None:
        self._work = self._settle()
        self._resume_s = self._clock() + REST_S

    # -- the look at the whole site --

    def _look(self, changed: tuple[str, ...] | None = None) -> Look:
        paths = self._saves.paths if changed is None else changed
        everything = self._saves.everything if changed is None else False
        return Look(paths, everything, self._shown.open_sources(), self._news.finished)

    def _settle(self) -> Iterator[None]:
        """The work that follows a change: the whole site, then all its pages."""
        before = self._shown.present
        began_s = self._clock()
        look = self._look()
        try:
            for present in self._line.settle(before, look):
                if present is not None:
                    self._shown.present = present
                    self._news.broken = ()
                    self._answer_waiting()
                yield
        except SiteError as error:
            self._news.broken = error.diagnostics
            # whatever is mended, the settings are to be read again
            self._saves.everything = True
            self._answer_waiting()
            self._news.problems(self._shown)
            return
        touched = self._saves.done()
        self._news.files(before, self._shown.present, touched)
        self._compare({})
        self._news.run_cells(self._shown)
        yield
        for _ in self._shown.sweep():
            yield
        self._news.problems(self._shown)
        self._news.whole(self._shown, self._clock() - began_s)
        self._rested()

    def _guarded(self, make: Callable[[], Present | None]) -> Present | None:
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
