"""Transport of the language server. pygls reads and sends in one thread, and `Worker` computes in the main
thread.

Only the protocol uses standard output. All other output, for example from a plugin, goes to standard error.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO, Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ..api.editing import ChangedFiles, Watcher, __version__, load_config, record_file
from .completion import TRIGGERS
from .navigation import RenameError
from .service import LanguageService
from .site_session import SiteSession
from .text_buffer import choose_encoding

Result = TypeVar("Result")

_SWITCH_S = 0.001
"""Longest time in seconds that the computing thread may delay the thread that reads and sends."""
_LOG = logging.getLogger("blogsmith.lsp")


class _Protocol(LanguageServerProtocol):
    """Protocol that leaves storing documents to `LanguageService`, and answers invalid requests with an
    error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                refused = JsonRpcInvalidParams(f'invalid parameters for "{data["method"]}"')
                self._send_response(data["id"], None, refused.to_response_error())
            raise error

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class _Server(LanguageServer):
    """Server that logs an error as one line, and does not show it to the author."""

    def report_server_error(self, error: Exception, source: Any) -> None:
        if not isinstance(error, JsonRpcInvalidParams):
            _LOG.warning("%s: %s", type(error).__name__, str(error).partition("\n")[0])


class ServerConnection:
    """Connection between one server and the worker. It passes requests to the worker and sends the worker's
    answers."""

    def __init__(self, now: Callable[[], dt.datetime], *, verbose: bool) -> None:
        self._verbose = verbose
        self.worker = Worker(time.monotonic, self._report_bug)
        self.server = _Server("blogsmith", __version__, protocol_cls=_Protocol)
        self.service = LanguageService(
            now=now,
            clock=time.monotonic,
            publish=self._publish,
            watch=self._watch,
            opened=self.worker.tasks.append,
            closed=self._forget,
            is_urgent=lambda: self.worker.has_messages,
            say=_LOG.warning,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        _register(self)

    @property
    def is_shut_down(self) -> bool:
        """Whether the editor requested a shutdown before it closed the connection."""
        return bool(self.server.protocol._shutdown)

    def post(self, act: Callable[[], None]) -> None:
        """Run a function in the worker's thread."""
        self.worker.post(act)

    async def submit(self, answer: Callable[[], Result]) -> Result | None:
        """Run a function in the worker's thread and return its result."""
        try:
            return await asyncio.wrap_future(self.worker.submit(answer, (RenameError,)))
        except RenameError as refused:
            raise JsonRpcInvalidParams(str(refused)) from None

    def initialize(self, capabilities: types.ClientCapabilities) -> None:
        """Store the event loop and negotiate the position encoding with the editor."""
        self._loop = asyncio.get_running_loop()
        offered = capabilities.general.position_encodings if capabilities.general else None
        self.service.encoding = choose_encoding(offered)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.server.text_document_publish_diagnostics, params)

    def _watch(self, root: Path, changed: Callable[[ChangedFiles], None]) -> Watcher:
        watcher = Watcher(
            root,
            output=[root / load_config(root).config.output],
            changed=lambda changes: self.post(partial(changed, changes)),
            say=_LOG.info,
        )
        watcher.start()
        # The author may trust the site in a terminal meanwhile; then plugins load.
        watcher.watch_also([record_file()])
        return watcher

    def _forget(self, session: SiteSession) -> None:
        self.worker.tasks.remove(session)

    def _report_bug(self, error: Exception) -> None:
        if self._verbose:
            _LOG.log(logging.ERROR, "".join(traceback.format_exception(error)).rstrip())
        _LOG.log(
            logging.ERROR,
            "blogsmith has a bug: %s: %s; `blogsmith lsp -v` logs more",
            type(error).__name__,
            error,
        )


def serve_editor(now: Callable[[], dt.datetime], *, verbose: bool) -> int:
    """Serve an editor over standard input and output until the connection ends. Return the exit code."""
    _prepare_log(verbose=verbose)
    wire = ServerConnection(now, verbose=verbose)
    with _reserve_stdout() as output:
        thread = threading.Thread(target=_run_transport, args=(wire, output), name="lsp wire", daemon=True)
        before_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            thread.start()
            wire.worker.run()
        except KeyboardInterrupt:
            # The transport thread may wait for input forever, and a normal exit would wait for that thread.
            os._exit(130)
        finally:
            sys.setswitchinterval(before_s)
            wire.service.end()
        thread.join()
    return 0 if wire.is_shut_down else 1


def _run_transport(wire: ServerConnection, output: BinaryIO) -> None:
    try:
        wire.server.start_io(sys.stdin.buffer, output)
    except Exception as error:
        _LOG.log(logging.ERROR, "the connection to the editor has ended: %s", error)
    finally:
        wire.worker.end()


def _reserve_stdout() -> BinaryIO:
    """Return standard output for the protocol, and redirect all other output to standard error."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


class _OneLineFormatter(logging.Formatter):
    """Formatter that writes one line per record, without tracebacks."""

    def formatException(self, ei: Any) -> str:
        return ""


def _prepare_log(*, verbose: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    form = "%(levelname)s: %(message)s"
    handler.setFormatter(logging.Formatter(form) if verbose else _OneLineFormatter(form))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])
    # pygls logs whole messages, with the content of documents.
    logging.getLogger("pygls").setLevel(logging.WARNING if verbose else logging.CRITICAL)


def _register(wire: ServerConnection) -> None:
    server, service = wire.server, wire.service
    feature = server.feature

    @feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        wire.initialize(params.capabilities)

    @feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        wire.post(lambda: service.open_document(document.uri, document.text, document.version))

    @feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document, changes = params.text_document, params.content_changes
        wire.post(lambda: service.change(document.uri, changes, document.version))

    @feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        wire.post(lambda: service.close(params.text_document.uri))

    @feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        wire.post(lambda: service.handle_saved_files([params.text_document.uri]))

    @feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        wire.post(lambda: service.handle_saved_files([change.uri for change in params.changes]))

    @feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        """Ignore the notification. Many editors send it, but there is nothing to configure."""

    _register_completion(wire)
    _register_navigation(wire)
    _register_outline(wire)


def _register_completion(wire: ServerConnection) -> None:
    server, service, ask = wire.server, wire.service, wire.submit
    feature = server.feature

    @feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=list(TRIGGERS), resolve_provider=True),
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        return await ask(lambda: service.complete(params.text_document.uri, params.position))

    @feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        return await ask(lambda: service.describe(item)) or item

    @feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        known = server.client_capabilities.text_document
        formats = known.hover.content_format if known and known.hover else None
        plain = types.MarkupKind.Markdown not in (formats or [types.MarkupKind.Markdown])
        return await ask(lambda: service.hover(params.text_document.uri, params.position, plain=plain))


def _register_navigation(wire: ServerConnection) -> None:
    server, service, ask = wire.server, wire.service, wire.submit
    feature = server.feature

    @feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        return await ask(lambda: service.definitions(params.text_document.uri, params.position))

    @feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        with_own = params.context.include_declaration
        uri = params.text_document.uri
        return await ask(lambda: service.references(uri, params.position, with_declaration=with_own))

    @feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return await ask(lambda: service.prepare_rename(params.text_document.uri, params.position))

    @feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        known = server.client_capabilities.workspace
        versions = bool(known and known.workspace_edit and known.workspace_edit.document_changes)
        uri, name = params.text_document.uri, params.new_name
        return await ask(lambda: service.rename(uri, params.position, name, versions=versions))


def _register_outline(wire: ServerConnection) -> None:
    service, ask, feature = wire.service, wire.submit, wire.server.feature

    @feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await ask(lambda: service.symbols(params.text_document.uri))

    @feature(types.WORKSPACE_SYMBOL)
    async def find_symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol] | None:
        return await ask(lambda: service.find_symbols(params.query))

    @feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folds(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return await ask(lambda: service.folds(params.text_document.uri))

    @feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        return await ask(lambda: service.links(params.text_document.uri))

    @feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await ask(lambda: service.actions(params.text_document.uri, params.range))


# The thread that owns the sites: it handles messages and requests of the editor in order, and updates sites
# in between. It is the main thread, because signals can interrupt only that one if a page takes too long to
# render. Another thread reads from the editor and sends to it.


JobResult = TypeVar("JobResult")

SIGNAL_CHECK_S = 0.25
"""Seconds between two checks for signals while there is no work."""


class TimedTask(Protocol):
    """A task that runs in small steps."""

    @property
    def due_s(self) -> float | None:
        """Time of the next step; None if there is nothing to do."""

    def step(self) -> None:
        """Run one step."""


class Worker:
    """Queue of work for one thread, which calls `run`. All other methods can be called from any thread."""

    def __init__(self, clock: Callable[[], float], report_bug: Callable[[Exception], None]) -> None:
        """Create the queue. clock: monotonic clock, in seconds. report_bug: function that is called with an
        internal error, which is an exception of a queued function."""
        self._clock = clock
        self._report_bug = report_bug
        self._messages: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.tasks: list[TimedTask] = []
        """Tasks that run when no function is queued. Only queued functions may change this list."""

    def post(self, act: Callable[[], None]) -> None:
        """Queue a function."""
        self._messages.put(act)

    def submit(
        self, answer: Callable[[], JobResult], expected_errors: tuple[type[Exception], ...] = ()
    ) -> Future[JobResult | None]:
        """Queue a function and return a future of its result, which is None after an internal error.

        If the future is cancelled first, the function does not run. expected_errors: exceptions that the
        future raises to the caller.
        """
        future: Future[JobResult | None] = Future()

        def act() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(answer())
            except expected_errors as error:
                future.set_exception(error)
            except Exception as error:
                self._report_bug(error)
                future.set_result(None)

        self._messages.put(act)
        return future

    @property
    def has_messages(self) -> bool:
        """Whether messages are waiting."""
        return not self._messages.empty()

    def end(self) -> None:
        """Make `run` return."""
        self._messages.put(None)

    def run(self) -> None:
        """Process messages and tasks until `end` is called."""
        while True:
            try:
                act = self._next()
                if act is None:
                    return
                act()
            except Exception as error:
                self._report_bug(error)

    def _next(self) -> Callable[[], None] | None:
        """Return the next queued function, or the step of a task that is due. Wait until there is one. None
        is the message of `end`."""
        while True:
            due = [(task.due_s, number) for number, task in enumerate(self.tasks) if task.due_s is not None]
            first_s, number = min(due, default=(None, 0))
            wait_s = SIGNAL_CHECK_S if first_s is None else min(SIGNAL_CHECK_S, first_s - self._clock())
            try:
                return self._messages.get(timeout=wait_s) if wait_s > 0 else self._messages.get_nowait()
            except Empty:
                if first_s is not None and first_s <= self._clock():
                    return self.tasks[number].step
