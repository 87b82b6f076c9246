"""One site while it is edited: the incremental pipeline with the texts that an editor has open.

A keystroke is answered as a save is in the preview: the edited page alone is made anew, and a look at the
whole site follows in small steps when nothing happens for a moment. Nothing is run and nothing is written:
cells show what is recorded of them, and code of a site is loaded where `blogsmith check` would load it.
"""

from __future__ import annotations

import datetime as dt
import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from ..api.editing import (
    CONFIG_NAME,
    BuildLog,
    BuildOptions,
    ChangedFiles,
    Diagnostic,
    IncrementalPipeline,
    PageGivenUp,
    Parsed,
    PendingChanges,
    SiteError,
    SiteSnapshot,
    Source,
    UpdateRequest,
    is_of_site,
    lint_page,
    no_progress,
    normalize_line_ends,
    open_rows,
)
from .site_files import is_page, read_site_text
from .text_buffer import TextBuffer

DEBOUNCE_S = 0.05
"""So long after a keystroke the page is looked at, unless another one comes before."""
MAX_DELAY_S = 0.25
"""Who types on and on is shown something this often."""
REST_S = 0.3
"""So long after the last keystroke the rest of the site is looked at."""
PATIENCE_S = 2.0
"""As in `preview.loop.event_loop`."""
STEP_S = 0.004
"""Between two looks at what the editor asks."""
SLOW_S = 1.0
"""What is edited and takes so long to make is not made for a question."""
SLOW_FACTOR = 2.0
"""A page that takes long to make is looked at after a pause of this many times what it took."""

_BESIDE_PAGES = (".bib", ".csl", ".json")
"""Ends of files that pages are made from, wherever they lie."""

Publish = Callable[[str, tuple[Diagnostic, ...], TextBuffer], None]
"""(Path in the site, what is wrong in it, its text) → told to the editor."""


class SiteSession:
    """Belongs to one site; used by one thread."""

    def __init__(
        self,
        root: Path,
        *,
        now: Callable[[], dt.datetime],
        clock: Callable[[], float],
        publish: Publish,
        encoding: str = "utf-16",
        is_urgent: Callable[[], bool] = lambda: False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """clock: seconds that only run forward. is_urgent: whether something else is to be done first.

        Then a page that takes long is given up, and looked at again after a pause. say: logs a line.
        """
        self.root = root
        self.present: SiteSnapshot | None = None
        self.buffers: dict[str, TextBuffer] = {}
        """Path in the site → text that an editor has open."""
        self.broken: tuple[Diagnostic, ...] = ()
        """Why there is no site, or only one of before."""
        self._encoding = encoding
        self._clock = clock
        self._publish = publish
        options = BuildOptions(now=now(), drafts=True, future=True, write=False)
        self._is_urgent = is_urgent
        self._stack = ExitStack()
        rows = self._stack.enter_context(open_rows(root.resolve()))
        self._rows, self._say = rows, say
        self._tell_of_cache()
        self._line = IncrementalPipeline(root.resolve(), options, now, rows=rows, is_urgent=self._may_give_up)
        self._folder = root.resolve()
        self._changes = PendingChanges(self._folder)
        self._published: dict[str, tuple[Diagnostic, ...]] = {}
        self._lints: dict[str, tuple[Diagnostic, ...]] = {}
        self._edited: dict[str, None] = {}
        """Pages that are not looked at since their last edit."""
        self._waits_since_s = 0.0
        self._page_due_s: float | None = None
        self._cost_s = 0.0
        self._work: Iterator[None] | None = None
        self._site_due_s: float | None = clock()
        self._is_under_way = False
        self._behind_since_s: float | None = None

    # -- what happens --

    def edit(self, path: str, buffer: TextBuffer | None) -> None:
        """An editor has opened or changed a file; None: closed it."""
        if buffer is None:
            self.buffers.pop(path, None)
            self._lints.pop(path, None)
        else:
            self.buffers[path] = buffer
        if not _is_of_site(path):
            return
        now_s = self._clock()
        self._changes.add(ChangedFiles(frozenset({self._folder / path})))
        if self.present is not None and path in self.present.resolved.documents:
            if not self._edited:
                self._waits_since_s = now_s
            self._edited[path] = None
            pause_s = max(DEBOUNCE_S, SLOW_FACTOR * self._cost_s)
            self._page_due_s = min(now_s + pause_s, max(self._waits_since_s + MAX_DELAY_S, now_s))
            if self._cost_s > MAX_DELAY_S:
                self._page_due_s = now_s + pause_s
            self._plan_site(REST_S)
        else:
            self._plan_site(DEBOUNCE_S)

    def take_changes(self, changes: ChangedFiles) -> None:
        """Files have changed on disk; those that an editor has open count as they stand there."""
        save = self._changes.add(changes)
        if save.everything or save.paths:
            self._plan_site(DEBOUNCE_S)

    def _plan_site(self, rest_s: float) -> None:
        """Look at the whole site after a rest; a look under way is broken off, unless that happens always."""
        now_s = self._clock()
        if self._behind_since_s is None:
            self._behind_since_s = now_s
        if self._is_under_way and (self.present is None or now_s - self._behind_since_s > PATIENCE_S):
            self._site_due_s = now_s + rest_s
            return
        self.break_off()
        self._site_due_s = now_s + rest_s

    def break_off(self) -> None:
        """Do no more of the look under way."""
        if self._is_under_way:
            self._changes.abort()
        self._is_under_way, self._work = False, None

    # -- work --

    @property
    def due_s(self) -> float | None:
        """When there is something to do, on the clock; None: nothing is left."""
        if self._is_under_way:
            return self._clock()
        return min((due for due in (self._page_due_s, self._site_due_s) if due is not None), default=None)

    def step(self) -> None:
        """Do what is due, at most for some milliseconds."""
        now_s = self._clock()
        if self._page_due_s is not None and self._page_due_s <= now_s:
            self.flush()
        elif self._is_under_way or (self._site_due_s is not None and self._site_due_s <= now_s):
            self._go_on()

    def flush(self) -> None:
        """Look at the edited pages now."""
        if not self._edited:
            return
        began_s = self._clock()
        paths, self._edited, self._page_due_s = tuple(self._edited), {}, None
        for path in paths:
            try:
                is_made = self._update_page(path)
            except PageGivenUp:
                self._edited = dict.fromkeys(paths) | self._edited
                self._cost_s = max(self._cost_s, self._clock() - began_s, 2 * SLOW_S)
                self._page_due_s = self._clock() + SLOW_FACTOR * self._cost_s
                return
            if is_made:
                self._lints[path] = self._lint(path)
            elif not self.broken:
                # the page stands elsewhere in the site now: only a look at all of it tells what is wrong
                self._plan_site(0.0)
        self._cost_s = self._clock() - began_s
        self._publish_all()

    def _may_give_up(self) -> bool:
        # the first look at a site is what all answers wait for
        return self.present is not None and self._is_urgent()

    def _update_page(self, path: str) -> bool:
        present = self.present
        if present is None or self.broken:
            return False
        try:
            found = self._line.update_page(present, path, self._request((path,), everything=False))
        except SiteError:
            # the look at the whole site tells of it
            return False
        if found is not None:
            self.present = found
        return found is not None

    def _request(self, paths: tuple[str, ...], *, everything: bool) -> UpdateRequest:
        texts = {path: buffer.text for path, buffer in self.buffers.items()}
        return UpdateRequest(paths, everything, tuple(self.buffers), texts=texts)

    def _go_on(self) -> None:
        if self._work is None:
            self._work, self._site_due_s = self._look(), None
            self._is_under_way = True
        end_s = self._clock() + STEP_S
        while self._work is not None and self._clock() < end_s:
            try:
                next(self._work)
            except StopIteration:
                self._work = None
            except PageGivenUp:
                self.break_off()
                self._plan_site(SLOW_FACTOR * SLOW_S)
            except Exception:
                # a bug; the next edit gives another chance
                self.break_off()
                raise

    def _look(self) -> Iterator[None]:
        before = self.present
        taken = self._changes.begin()
        found: SiteSnapshot | None = None
        try:
            for found in self._line.update_all(
                before, self._request(taken.paths, everything=taken.everything)
            ):
                if found is not None and before is None and self.present is None:
                    yield from self._begin(found)
                yield
        except SiteError as error:
            self._end_look()
            self.broken = error.diagnostics
            # whatever is mended, the settings are to be read again
            self._changes.abort(everything=True)
            self._publish_all()
            return
        assert found is not None, "the last step gives the site"
        self.present, self.broken = found, ()
        self._end_look()
        self._changes.finish()
        for path in [path for path in self._changes.paths if path in found.resolved.documents]:
            # edited meanwhile
            self._update_page(path)
        if before is None:
            # what there is now stays; the collector would look at all of it again and again
            gc.collect()
            gc.freeze()
        self._line.keep_files(found)
        self._tell_of_cache()
        self._lints = {path: self._lint(path) for path in self.buffers}
        self._publish_all()

    def _begin(self, found: SiteSnapshot) -> Iterator[None]:
        """What is open is looked at before the rest of the site."""
        self.present, self.broken = found, ()
        for path in tuple(self.buffers):
            if path in found.resolved.documents and self._update_page(path):
                self._publish_all()
            yield

    def _end_look(self) -> None:
        self._is_under_way, self._work = False, None
        self._behind_since_s = None if self._site_due_s is None else self._clock()

    # -- what is known --

    def parse(self, path: str) -> Parsed | None:
        """The tokens of a page, of its text as it is open; None if it is no page of the site.

        None also while a page is edited that takes long to make: nobody waits so long for an answer.
        """
        if not self._edited or self._cost_s <= SLOW_S:
            self.flush()
        elif path in self._edited:
            return None
        present = self.present
        if present is None:
            return None
        document = present.resolved.documents.get(path)
        buffer = self.buffers.get(path)
        if buffer is None:
            return self._line.parse(present, document.source) if document else None
        if not is_page(path):
            return None
        text = normalize_line_ends(buffer.text.removeprefix("\ufeff"))
        if document is not None and document.source.text == text:
            return self._line.parse(present, document.source)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return self._line.parse(present, Source(PurePosixPath(path), text, digest))

    def buffer(self, path: str) -> TextBuffer:
        """The text of a file of the site, as it is open or was read last; empty if it cannot be read."""
        known = self.buffers.get(path)
        if known is not None:
            return known
        document = self.present.resolved.documents.get(path) if self.present else None
        text = document.source.text if document else read_site_text(self.root, path)
        return TextBuffer(text, self._encoding)

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """What the editor was told of a file last."""
        return self._published.get(path, ())

    def _lint(self, path: str) -> tuple[Diagnostic, ...]:
        """What `check` finds doubtful in an open page alone."""
        present = self.present
        document = present.resolved.documents.get(path) if present else None
        if present is None or document is None:
            return ()
        log = BuildLog(no_progress, present.config.diagnostics.as_levels)
        log.add(lint_page(self._line.parse(present, document.source), present.config.math).found)
        return log.report()

    def _group_by_file(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        """Path of a file → all that is wrong in it."""
        present = self.present
        found: dict[str, dict[Diagnostic, None]] = {}
        if present is not None:
            lints = (self._lints.get(path, ()) for path in self.buffers)
            for group in (present.shared, *present.own.values(), *lints):
                for one in group:
                    found.setdefault(one.path, {})[one] = None
        if self.broken:
            found.pop(CONFIG_NAME, None)
            for one in self.broken:
                found.setdefault(one.path or CONFIG_NAME, {})[one] = None
        return {path: tuple(ones) for path, ones in found.items()}

    def _publish_all(self) -> None:
        """Tell the editor of all files of which something else is to be told than before."""
        found = self._group_by_file()
        for path in {*found, *self._published}:
            told = found.get(path, ())
            if told != self._published.get(path, ()):
                self._publish(path or CONFIG_NAME, told, self.buffer(path or CONFIG_NAME))
        self._published = dict(found)

    def _tell_of_cache(self) -> None:
        if note := self._rows.take_note():
            self._say(note)

    def withdraw(self) -> None:
        """Take back all that the editor was told: the site is closed."""
        for path in self._published:
            self._publish(path or CONFIG_NAME, (), TextBuffer("", self._encoding))
        self._published = {}
        self._stack.close()


def _is_of_site(path: str) -> bool:
    """Whether pages may be made from a file, by its name."""
    return is_of_site(path) or path.lower().endswith(_BESIDE_PAGES)
