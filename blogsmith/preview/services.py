"""The parts that make the pages of a preview: watcher, pipeline, runner of cells, and event loop. The event
loop connects the others."""

from __future__ import annotations

import gc
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from ..base.diagnostics.counts import plural
from ..base.diagnostics.format import printable
from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.changed_files import ChangedFiles
from ..build.incremental import IncrementalPipeline
from ..build.snapshot import SiteSnapshot
from ..build.write import OutputKeys
from ..config.load import load_config
from ..model.generated_files import GeneratedFile, OutputFile, PageInputs
from ..model.units import format_duration
from ..project.program import open_rows
from ..project.report import ExecutionOptions
from ..project.trust.consent import is_trusted
from ..project.trust.place import record_file
from ..watch.watcher import Watcher
from .cells.messages import BACKGROUND, FOREGROUND, CellWork, RequestedPage
from .cells.runner import CellRunner
from .editors import editor_link
from .events.publisher import EventPublisher
from .gateway import SiteGateway
from .loop.event_loop import EventLoop
from .loop.messages import CellsEnded, FilesSaved, PageSent
from .options import ServeOptions
from .page_store import StoredPage, StoredPages
from .pages.script_tag import ScriptTag, browser_path
from .pages.site import FindPage, Page, ServedSite
from .protocol import Publish


class PreviewServices:
    """The parts of one preview."""

    def __init__(
        self,
        root: Path,
        options: ServeOptions,
        tag: ScriptTag,
        stored: StoredPages,
        publish: Publish,
        say: Callable[[str], None],
        report_bug: Callable[[Exception], None],
    ) -> None:
        self._root = root
        self._stored = stored
        self._is_frozen = False
        self._front: SiteGateway | None = None
        lines = RunPrinter(_discard_line if options.quiet else say, time.monotonic, loud=options.verbose)

        def publish_run(event: Mapping[str, object]) -> None:
            publish(event)
            lines.on_event(event)

        self.runner = CellRunner(
            root, publish_run, lambda outcome: self._engine.send(CellsEnded(outcome)), options.now
        )
        self._stack = ExitStack()
        self._rows = self._stack.enter_context(open_rows(root))
        self._say = say
        self._log_cache_note()
        line = self._line = IncrementalPipeline(root, options.build, options.now, rows=self._rows)
        self._site = ServedSite(line, tag)
        self._site.open_earlier = self._make_page_finder
        self._publisher = EventPublisher(
            options, publish, say, running=self.runner.current, clock=time.monotonic
        )
        self._engine = EventLoop(
            root,
            line,
            self._site,
            self._publisher,
            clock=time.monotonic,
            request_cells=partial(
                request_cells, self._site, self._publisher, self.runner.update, options.build.execution
            ),
            rested=self._on_idle,
            report_bug=report_bug,
        )
        self._output = ""
        self._new_watcher = partial(Watcher, root, changed=self._on_change, poll_s=options.poll_s, say=say)
        self._watcher = self._new_watcher()

    def hello(self) -> Mapping[str, object]:
        """Return the first event of a stream to a browser; see `EventPublisher.hello`."""
        return self._publisher.hello()

    def run(self, front: SiteGateway, check: Callable[[], None]) -> None:
        """Keep the site up to date with the files on disk, until a signal arrives or `check` raises an
        exception."""
        self._front = front
        # start to watch first, so that no save is missed
        self._watch(load_config(self._root).config.output)
        for path, version in front.use_loop(self._engine):
            self._engine.send(PageSent(path, version))
        self._engine.run(check)

    def close(self) -> None:
        """Stop everything that was started."""
        self._watcher.stop()
        self.runner.close()
        if self._is_frozen:
            self._store()
        self._stack.close()

    def _watch(self, output: str) -> None:
        """Watch the site except for its output, and the user's record of trusted sites."""
        self._watcher.stop()
        self._output = output
        self._watcher = self._new_watcher(output=[self._root / output])
        self._watcher.start()
        self._watcher.watch_also([record_file()])

    def _on_change(self, changes: ChangedFiles) -> None:
        self._engine.send(FilesSaved(changes, time.monotonic()))

    def _on_idle(self) -> None:
        """Do the work that must wait until the whole site is up to date: for example, store its pages."""
        if self._front:
            self._front.mark_complete()
            self._renew_editor(self._front)
        present = self._site.snapshot
        if present and present.config.output != self._output:
            self._watch(present.config.output)
            self._on_change(ChangedFiles(frozenset(), everything=True))
        if not self._is_frozen:
            # these objects stay alive, so the garbage collector must not scan them again and again
            self._is_frozen = True
            gc.collect()
            gc.freeze()
            self._store()

    def _store(self) -> None:
        if present := self._site.snapshot:
            self._line.keep_files(present)
            paths = [path for path, _ in self._site.finished_pages()]
            sheets = list(self._style_sheets(present))
            pages = chain(self._pages(present), sheets)
            self._stored.save(pages, {*paths, *(sheet.path for sheet in sheets)}, self._files(present))
            self._log_cache_note()

    def _make_page_finder(self, present: SiteSnapshot) -> FindPage:
        """Return a function that finds a page of the previous preview. The page must have the same inputs as
        the page of `present`."""
        stored = {**self._stored.all_pages()}
        keys = OutputKeys(present.plan, self._rows)

        def find(path: str, planned: OutputFile) -> tuple[Page, tuple[Diagnostic, ...]] | None:
            page = stored.pop(path, None)
            key = keys.key(planned) if page and page.key else ""
            if page is None or not key or page.key != key or not keys.is_current(page.inputs):
                return None
            return Page(page.version, page.compressed, page.source), page.problems

        return find

    def _log_cache_note(self) -> None:
        if note := self._rows.take_note():
            self._say(note)

    def _renew_editor(self, front: SiteGateway) -> None:
        """Read the editor again, because the setting or the user's trust in the site may have changed."""
        present = self._site.snapshot
        if present:
            config = present.config
            front.editor = editor_link(config.editor, os.environ, self._root, is_trusted(self._root, config))
            self._site.tag = replace(self._site.tag, editor=front.editor.template)

    def _pages(self, present: SiteSnapshot) -> Iterator[StoredPage]:
        """Yield the pages rendered in this preview, to be stored for the next one."""
        keys = OutputKeys(present.plan, self._rows)
        for path, page in self._site.finished_pages():
            made_of = self._site.pages.page_origin(path)
            if made_of is None:
                continue
            document = present.resolved.documents.get(page.source)
            inputs = keys.inputs(made_of.texts, made_of.templates)
            yield StoredPage(
                path,
                page.version,
                page.source,
                document.source.digest if document else "",
                page.packed,
                keys.key(present.files_by_url[path]) if inputs else "",
                inputs or PageInputs({}),
                made_of.problems,
            )

    def _style_sheets(self, present: SiteSnapshot) -> Iterator[StoredPage]:
        """Yield the stylesheets, to be stored with the pages, because a page must not be shown without its
        stylesheet."""
        for path, planned in present.files_by_url.items():
            if path.endswith(".css") and isinstance(planned.content, partial | GeneratedFile):
                with suppress(SiteError):
                    yield StoredPage(path, "", "", "", zlib.compress(planned.content()))

    def _files(self, present: SiteSnapshot) -> Iterator[tuple[str, Path]]:
        for path, planned in present.files_by_url.items():
            if isinstance(planned.content, Path):
                yield path, planned.content


def _discard_line(line: str) -> None:
    """Ignore a line, in a preview that prints only errors."""


# Choice of the cells to run: first those of open pages, then those of all other pages.


def request_cells(
    site: ServedSite, publisher: EventPublisher, want: Callable[[CellWork], None], asked: ExecutionOptions
) -> None:
    """Request the cells that must run. want: function that passes the complete input to the runner, replacing
    earlier input. asked: options from the command line."""
    present = site.snapshot
    if present is not None:
        publisher.keep_outcomes(present.resolved.documents)
        want(_work(present, site, asked))


def _work(present: SiteSnapshot, site: ServedSite, asked: ExecutionOptions) -> CellWork:
    resolved, open_posts = present.resolved, site.open_sources()
    pages = []
    for path in dict.fromkeys([*open_posts, *resolved.documents]):
        document = resolved.documents.get(path)
        page = resolved.cells(document).page if document else None
        if page:
            url = browser_path(present.config.base_path + present.rendered[path].url)
            pages.append(RequestedPage(page, url, FOREGROUND if path in open_posts else BACKGROUND))
    return CellWork(present.context, asked, resolved.may_run, tuple(pages))


# Terminal output of running cells in a preview: how many ran and, with `-v`, their output.


Say = Callable[[str], None]


class RunPrinter:
    """Printer of lines about runs of cells. Any thread may send it events, and it prints whole lines only."""

    def __init__(self, say: Say, clock: Callable[[], float], *, loud: bool) -> None:
        """Create a printer. clock: monotonic clock, in seconds. loud: whether to print also the output of
        cells."""
        self._say = say
        self._clock = clock
        self._loud = loud
        self._lock = threading.Lock()
        self._began_s: dict[str, float] = {}
        self._ran: dict[str, int] = {}
        self._open: dict[tuple[str, object], str] = {}
        """(page, cell) → line of output that is not finished."""
        self._resumed_from: dict[str, list[str]] = {}
        """Source path of a page → descriptions of the checkpoints where its sessions resumed."""
        self._reported_refusals: set[tuple[str, object]] = set()
        """(page, reason) pairs for which a missing checkpoint was reported."""

    def on_event(self, event: Mapping[str, object]) -> None:
        """Handle a run event."""
        page, state, cell = str(event["page"]), event["state"], event.get("cell")
        with self._lock:
            if state == "started":
                self._began_s.setdefault(page, self._clock())
                self._note_resumed(page, event)
            elif state == "output" and self._loud:
                self._print(page, cell, str(event["text"]))
            elif state == "ended":
                self._ran[page] = self._ran.get(page, 0) + 1
                self._flush(page, cell)
                self._note_refused(page, event)
            elif state in ("finished", "stopped"):
                self._end_run(page, "" if state == "finished" else ", stopped")

    def _note_resumed(self, page: str, event: Mapping[str, object]) -> None:
        after = event.get("after")
        if isinstance(after, int):
            session = "" if event["session"] == "main" else f" of the session {event['session']}"
            said = printable(f"after cell {after}{session}")
            self._resumed_from.setdefault(page, []).append(said)
            if self._loud:
                self._say(f"{_name(page)}: cell {after + 1} of {event['of']}, resumed {said}")

    def _note_refused(self, page: str, event: Mapping[str, object]) -> None:
        reason = event.get("refused")
        if reason and self._loud and (page, reason) not in self._reported_refusals:
            self._reported_refusals.add((page, reason))
            said = f"no checkpoint after cell {event['cell']}: {reason}"
            self._say(f"{_name(page)}: {printable(said)}")

    def _print(self, page: str, cell: object, text: str) -> None:
        *lines, rest = (self._open.pop((page, cell), "") + text).split("\n")
        for line in lines:
            self._line(page, line)
        if rest:
            self._open[page, cell] = rest

    def _flush(self, page: str, cell: object) -> None:
        if rest := self._open.pop((page, cell), ""):
            self._line(page, rest)

    def _line(self, page: str, text: str) -> None:
        self._say(f"{_name(page)} | {printable(text)}")

    def _end_run(self, page: str, note: str) -> None:
        began_s, ran = self._began_s.pop(page, None), self._ran.pop(page, 0)
        resumed = " and ".join(self._resumed_from.pop(page, ()))
        after = f", resumed {resumed}" if resumed else ""
        for key in [key for key in self._open if key[0] == page]:
            self._flush(*key)
        if began_s is not None:
            seconds = format_duration(self._clock() - began_s)
            self._say(f"{_name(page)}: {plural(ran, 'cell')} ran in {seconds}{after}{note}")


def _name(page: str) -> str:
    return printable(unquote(page))
