"""State of one site while it is edited. Its incremental pipeline reads open files from the editor.

After a keystroke, only the edited page is rendered, as the preview does after a save. When the author pauses,
the whole site is updated in small steps. No code runs and nothing is written: pages show the recorded results
of cells. Plugins of the site load under the same conditions as in `blogsmith check`.
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
    PageCancelled,
    Parsed,
    PendingChanges,
    SiteError,
    SiteSnapshot,
    Source,
    UpdateRequest,
    is_site_source,
    lint_page,
    no_progress,
    normalize_line_ends,
    open_rows,
)
from .site_files import is_page, read_site_text
from .text_buffer import TextBuffer

DEBOUNCE_S = 0.05
"""Seconds from the last keystroke to the update of the page."""
MAX_DELAY_S = 0.25
"""Maximum delay in seconds of page updates during continuous typing."""
SITE_DELAY_S = 0.3
"""Seconds from the last keystroke to the update of the rest of the site."""
MAX_OUTDATED_S = 2.0
"""Maximum number of seconds that an update of the site is delayed, as in `preview.loop.event_loop`."""
STEP_S = 0.004
"""Maximum number of seconds between two checks for requests of the editor."""
SLOW_S = 1.0
"""Rendering time in seconds above which an edited page is called slow. Requests do not wait for a slow
page."""
SLOW_FACTOR = 2.0
"""The update of a slow page is delayed by its rendering time multiplied by this factor."""

_DEPENDENCY_SUFFIXES = (".bib", ".csl", ".json", ".tex", ".sty")
"""Suffixes of files that pages may depend on, in any folder."""

Publish = Callable[[str, tuple[Diagnostic, ...], TextBuffer], None]
"""Function that sends the diagnostics of a file to the editor. Arguments: path in the site, diagnostics,
content of the file."""


class SiteSession:
    """State of one site, used by one thread."""

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
        """Open the site, without updating it yet.

        clock: monotonic clock, in seconds. is_urgent: function that returns whether other work must run
        first. If so, the rendering of a slow page is interrupted, and repeated after a pause. say: function
        that logs a line.
        """
        self.root = root
        self.snapshot: SiteSnapshot | None = None
        self.buffers: dict[str, TextBuffer] = {}
        """Content of open editors, by path in the site."""
        self.site_errors: tuple[Diagnostic, ...] = ()
        """Errors that prevent updates of the whole site."""
        self._encoding = encoding
        self._clock = clock
        self._publish = publish
        options = BuildOptions(now=now(), drafts=True, future=True, write=False)
        self._is_urgent = is_urgent
        self._stack = ExitStack()
        rows = self._stack.enter_context(open_rows(root.resolve()))
        self._rows, self._say = rows, say
        self._log_cache_note()
        self._line = IncrementalPipeline(
            root.resolve(), options, now, rows=rows, is_urgent=self._can_interrupt
        )
        self._folder = root.resolve()
        self._changes = PendingChanges(self._folder)
        self._published: dict[str, tuple[Diagnostic, ...]] = {}
        self._lints: dict[str, tuple[Diagnostic, ...]] = {}
        self._edited: dict[str, None] = {}
        """Pages edited since they were last updated, in order. A dict serves as an ordered set."""
        self._waits_since_s = 0.0
        self._page_due_s: float | None = None
        self._cost_s = 0.0
        self._work: Iterator[None] | None = None
        self._site_due_s: float | None = clock()
        self._is_under_way = False
        self._outdated_since_s: float | None = None

    # -- what happens --

    def edit(self, path: str, buffer: TextBuffer | None) -> None:
        """Handle a file that an editor has opened or changed. buffer: its content; None if the editor has
        closed it."""
        if buffer is None:
            self.buffers.pop(path, None)
            self._lints.pop(path, None)
        else:
            self.buffers[path] = buffer
        if not (is_site_source(path) or path.lower().endswith(_DEPENDENCY_SUFFIXES)):
            return
        now_s = self._clock()
        self._changes.add(ChangedFiles(frozenset({self._folder / path})))
        if self.snapshot is not None and path in self.snapshot.resolved.documents:
            if not self._edited:
                self._waits_since_s = now_s
            self._edited[path] = None
            pause_s = max(DEBOUNCE_S, SLOW_FACTOR * self._cost_s)
            self._page_due_s = min(now_s + pause_s, max(self._waits_since_s + MAX_DELAY_S, now_s))
            if self._cost_s > MAX_DELAY_S:
                self._page_due_s = now_s + pause_s
            self._plan_site(SITE_DELAY_S)
        else:
            self._plan_site(DEBOUNCE_S)

    def handle_changes(self, changes: ChangedFiles) -> None:
        """Handle files that changed on disk. For an open file, the content in the editor is used instead."""
        save = self._changes.add(changes)
        if save.everything or save.paths:
            self._plan_site(DEBOUNCE_S)

    def _plan_site(self, rest_s: float) -> None:
        """Schedule an update of the site after a pause of `rest_s` seconds. Interrupt a running update,
        unless updates have already been delayed too long."""
        now_s = self._clock()
        if self._outdated_since_s is None:
            self._outdated_since_s = now_s
        if self._is_under_way and (self.snapshot is None or now_s - self._outdated_since_s > MAX_OUTDATED_S):
            self._site_due_s = now_s + rest_s
            return
        self.interrupt()
        self._site_due_s = now_s + rest_s

    def interrupt(self) -> None:
        """Interrupt the running update."""
        if self._is_under_way:
            self._changes.abort()
        self._is_under_way, self._work = False, None

    # -- work --

    @property
    def due_s(self) -> float | None:
        """Time of the next step on the clock; None if there is nothing to do."""
        if self._is_under_way:
            return self._clock()
        return min((due for due in (self._page_due_s, self._site_due_s) if due is not None), default=None)

    def step(self) -> None:
        """Run the work that is due, for some milliseconds at most."""
        now_s = self._clock()
        if self._page_due_s is not None and self._page_due_s <= now_s:
            self.flush()
        elif self._is_under_way or (self._site_due_s is not None and self._site_due_s <= now_s):
            self._continue_update()

    def flush(self) -> None:
        """Update the edited pages immediately."""
        if not self._edited:
            return
        began_s = self._clock()
        paths, self._edited, self._page_due_s = tuple(self._edited), {}, None
        for path in paths:
            try:
                is_made = self._update_page(path)
            except PageCancelled:
                self._edited = dict.fromkeys(paths) | self._edited
                self._cost_s = max(self._cost_s, self._clock() - began_s, 2 * SLOW_S)
                self._page_due_s = self._clock() + SLOW_FACTOR * self._cost_s
                return
            if is_made:
                self._lints[path] = self._lint(path)
            elif not self.site_errors:
                # The page now has another path, so only an update of the whole site finds its diagnostics.
                self._plan_site(0.0)
        self._cost_s = self._clock() - began_s
        self._publish_all()

    def _can_interrupt(self) -> bool:
        # All answers wait for the first update of a site, so it is not interrupted.
        return self.snapshot is not None and self._is_urgent()

    def _update_page(self, path: str) -> bool:
        present = self.snapshot
        if present is None or self.site_errors:
            return False
        try:
            found = self._line.update_page(present, path, self._request((path,), everything=False))
        except SiteError:
            # The update of the whole site reports this error.
            return False
        if found is not None:
            self.snapshot = found
        return found is not None

    def _request(self, paths: tuple[str, ...], *, everything: bool) -> UpdateRequest:
        texts = {path: buffer.text for path, buffer in self.buffers.items()}
        return UpdateRequest(paths, everything, tuple(self.buffers), open_files=texts)

    def _continue_update(self) -> None:
        if self._work is None:
            self._work, self._site_due_s = self._update_site(), None
            self._is_under_way = True
        end_s = self._clock() + STEP_S
        while self._work is not None and self._clock() < end_s:
            try:
                next(self._work)
            except StopIteration:
                self._work = None
            except PageCancelled:
                self.interrupt()
                self._plan_site(SLOW_FACTOR * SLOW_S)
            except Exception:
                # an internal error; the next edit tries again
                self.interrupt()
                raise

    def _update_site(self) -> Iterator[None]:
        before = self.snapshot
        taken = self._changes.begin()
        found: SiteSnapshot | None = None
        try:
            for found in self._line.update_site(
                before, self._request(taken.paths, everything=taken.everything)
            ):
                if found is not None and before is None and self.snapshot is None:
                    yield from self._update_open_pages(found)
                yield
        except SiteError as error:
            self._end_update()
            self.site_errors = error.diagnostics
            # The error may be in the settings, so read them again next time.
            self._changes.abort(everything=True)
            self._publish_all()
            return
        assert found is not None, "the last step gives the site"
        self.snapshot, self.site_errors = found, ()
        self._end_update()
        self._changes.finish()
        for path in [path for path in self._changes.paths if path in found.resolved.documents]:
            # edited during the update
            self._update_page(path)
        if before is None:
            # These objects stay alive, so the garbage collector need not scan them again and again.
            gc.collect()
            gc.freeze()
        self._line.keep_files(found)
        self._log_cache_note()
        self._lints = {path: self._lint(path) for path in self.buffers}
        self._publish_all()

    def _update_open_pages(self, found: SiteSnapshot) -> Iterator[None]:
        self.snapshot, self.site_errors = found, ()
        for path in tuple(self.buffers):
            if path in found.resolved.documents and self._update_page(path):
                self._publish_all()
            yield

    def _end_update(self) -> None:
        self._is_under_way, self._work = False, None
        self._outdated_since_s = None if self._site_due_s is None else self._clock()

    # -- what is known --

    def parse(self, path: str) -> Parsed | None:
        """Return the parsed page, with the content in the editor if the page is open there. Return None if
        `path` is not a page of the site. Also return None while a slow page is being edited, because the
        answer would come too late."""
        if not self._edited or self._cost_s <= SLOW_S:
            self.flush()
        elif path in self._edited:
            return None
        present = self.snapshot
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
        """Return the content of a file. If the file is open in the editor, return the content there;
        otherwise the content that was last read. Return an empty buffer if the file cannot be read."""
        known = self.buffers.get(path)
        if known is not None:
            return known
        document = self.snapshot.resolved.documents.get(path) if self.snapshot else None
        text = document.source.text if document else read_site_text(self.root, path)
        return TextBuffer(text, self._encoding)

    @property
    def manual_url(self) -> str:
        """URL of the manual that the site's settings name; empty if there is none."""
        return self.snapshot.config.diagnostics.documentation if self.snapshot else ""

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a file that the editor shows, which are those last sent."""
        return self._published.get(path, ())

    def _lint(self, path: str) -> tuple[Diagnostic, ...]:
        """Return the lint warnings about an open page. Leave out those that depend on other pages."""
        present = self.snapshot
        document = present.resolved.documents.get(path) if present else None
        if present is None or document is None:
            return ()
        log = BuildLog(no_progress, present.config.diagnostics.as_levels)
        log.add(lint_page(self._line.parse(present, document.source), present.config.math).diagnostics)
        if path in present.rendered:
            log.add(present.rendered[path].body.check_diagnostics)
        return log.report()

    def _group_by_file(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        present = self.snapshot
        found: dict[str, dict[Diagnostic, None]] = {}
        if present is not None:
            lints = (self._lints.get(path, ()) for path in self.buffers)
            for group in (present.site_diagnostics, *present.page_diagnostics.values(), *lints):
                for one in group:
                    found.setdefault(one.path, {})[one] = None
        if self.site_errors:
            found.pop(CONFIG_NAME, None)
            for one in self.site_errors:
                found.setdefault(one.path or CONFIG_NAME, {})[one] = None
        return {path: tuple(ones) for path, ones in found.items()}

    def _publish_all(self) -> None:
        """Send the diagnostics of each file for which they have changed."""
        found = self._group_by_file()
        for path in {*found, *self._published}:
            told = found.get(path, ())
            if told != self._published.get(path, ()):
                self._publish(path or CONFIG_NAME, told, self.buffer(path or CONFIG_NAME))
        self._published = dict(found)

    def _log_cache_note(self) -> None:
        if note := self._rows.take_note():
            self._say(note)

    def close(self) -> None:
        """Remove all diagnostics from the editor and close the site."""
        for path in self._published:
            self._publish(path or CONFIG_NAME, (), TextBuffer("", self._encoding))
        self._published = {}
        self.end()

    def end(self) -> None:
        """Close the cache, without changing diagnostics in the editor."""
        self._stack.close()
        # Without it the collector never looks at the frozen objects of this site.
        gc.unfreeze()
