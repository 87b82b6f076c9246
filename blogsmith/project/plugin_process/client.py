"""Functions for a build to call the plugins of a site, which run in a process of their own.

The process starts when plugins are loaded, and again if a call has ended it. It ends with the last reference
to the functions, and with blogsmith. The process and the programs that it started are one process group.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import msgspec

from ...base.diagnostics.format import printable
from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.storage.temporary import nameless_file
from ...execute.session.process import end_group_with_pipe
from ...execute.session.working_folder import working_folder
from ...hooks import Hooks, SiteOutputs
from ...hooks.calls import RemoteFrames, plugin_hint
from ...hooks.plugin_code import FOLDER
from ...hooks.plugin_imports import SiteImportGuard
from ...model.documents import Document
from ...render.converters import DEADLINE_S, ConverterTimeout
from .messages import (
    Hook,
    HookAnswer,
    HookCall,
    PageReadResult,
    PluginSetup,
    Registered,
    RemoteFailure,
    pickle_request,
    read_frame,
    search_path,
    unpack,
    unpack_document,
    write_frame,
)

LIMIT_S = 300.0
"""Time limit of one call, so that a plugin that never ends does not hang the build."""
_EXIT_S = 5
"""Seconds to wait for the exit code of a process that has closed its pipes."""
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from blogsmith.project.plugin_process.child import main; main()"
)
_MAX_PRINTED_BYTES = 10_000
Decoded = TypeVar("Decoded")
_CAUGHT: Mapping[str, type[BaseException]] = {
    kind.__name__: kind
    for kind in (SyntaxError, ValueError, FileNotFoundError, ImportError, SystemExit, Exception)
}
"""Name → class, for exceptions that the callers of hooks handle in different ways."""


def start_plugins(setup: PluginSetup) -> dict[str, Hooks]:
    """Start a process with these plugins of a site. Return plugin name → registrations. Raise SiteError if a
    plugin fails to load."""
    process = PluginProcess(setup)
    return {one.plugin: _proxies(process, one) for one in process.registered}


class PluginProcess:
    """A process that runs plugins."""

    def __init__(self, setup: PluginSetup) -> None:
        """Start the process and load the plugins. Raise SiteError if one fails to load."""
        self._setup = setup
        self._lock = threading.Lock()
        self._document: Document | None = None
        self._running: _Running | None = None
        self.registered = self._start()

    def call(
        self,
        plugin: str,
        hook: Hook,
        key: str | int,
        *arguments: Any,
        document: Document | None = None,
        limit_s: float = 0,
    ) -> bytes:
        """Call a function of a plugin. Return its packed result. Raise an exception of the same name if the
        function raises one, and SiteError if the process ends. The parameters are the fields of
        `HookCall`."""
        with self._lock:
            if self._running is None:
                self._start()
            is_known = document is not None and document is self._document
            call = HookCall(plugin, hook, key, arguments, None if is_known else document, is_known, limit_s)
            answer = self._ask(pickle_request(call), plugin)
            self._document = document
        if answer.failure:
            raise _exception(answer.failure)
        return answer.value

    def _start(self) -> list[Registered]:
        self._document = None
        self._running = _Running(self._setup)
        names = self._setup.names
        answer = self._ask(pickle_request(self._setup), names[0])
        if answer.failure:
            self._end()
            raise _exception(answer.failure)
        return _decode(answer.value, list[Registered], names[0])

    def _ask(self, request: bytes, plugin: str) -> HookAnswer:
        """Send a request, and return its answer. If the wait for the answer is interrupted, end the process,
        because its answer would be taken for that of the next request."""
        assert self._running is not None, "the caller has started it"
        running = self._running
        try:
            data = running.ask(request)
        except BaseException as error:
            code = running.wait_after_eof() if isinstance(error, (EOFError, ConnectionError)) else None
            _show(plugin, running.take_printed())
            self._end()
            if isinstance(error, TimeoutError):
                message = f'more than {LIMIT_S:g} seconds without an answer of plugin "{plugin}"'
                raise _problem(plugin, message) from None
            if code is not None:
                how = f"signal {-code}" if code < 0 else f"exit code {code}"
                message = f'missing answer of plugin "{plugin}": its process ended with {how}'
                raise _problem(plugin, message) from None
            raise
        _show(plugin, running.take_printed())
        return _decode(data, HookAnswer, plugin)

    def _end(self) -> None:
        if self._running:
            self._running.end()
        self._running = None


def _show(plugin: str, printed: str) -> None:
    """Show text that a plugin has printed on stderr, together with the name of the plugin."""
    for line in printable(printed, keep="\n\t").splitlines():
        sys.stderr.write(f'plugin "{plugin}" prints: {line}\n')


class _Running:
    """A running process with its pipes, its temporary folder, and a file for the output of plugins."""

    def __init__(self, setup: PluginSetup) -> None:
        guard = SiteImportGuard(str(setup.code.root))
        with ExitStack() as parts:
            folder = parts.enter_context(working_folder())
            self._printed = parts.enter_context(nameless_file())
            life: tuple[int, ...] = os.pipe() if os.name == "posix" else ()
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, *search_path(sys.path, guard.is_inside)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                pass_fds=life[:1],
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder)},
                start_new_session=True,
            )
            if life:
                parts.callback(os.close, life[1])
                end_group_with_pipe(life[0], self._child.pid)
                os.close(life[0])
            parts.callback(_end_process, self._child)
            self.end = weakref.finalize(self, parts.pop_all().close)
        self._seen = 0

    def ask(self, request: bytes) -> bytes:
        """Send a request, and return its answer. Raise TimeoutError, EOFError or ConnectionError if the
        process does not answer."""
        requests, answers = self._child.stdin, cast("BinaryIO", self._child.stdout)
        write_frame(cast("BinaryIO", requests), request)
        if os.name == "posix" and not select.select([answers], [], [], LIMIT_S)[0]:
            raise TimeoutError
        data = read_frame(answers)
        if data is None:
            raise EOFError
        return data

    def wait_after_eof(self) -> int:
        """Wait for the end of the process, which has closed its pipes. Return its exit code."""
        with suppress(subprocess.TimeoutExpired):
            return self._child.wait(_EXIT_S)
        return 0

    def take_printed(self) -> str:
        """Return the text that plugins have printed since the last call. Text that exceeds the limit is left
        out."""
        size = os.fstat(self._printed.fileno()).st_size
        if size <= self._seen:
            return ""
        self._printed.seek(self._seen)
        text = self._printed.read(_MAX_PRINTED_BYTES)
        # the process writes at the same position
        self._seen = self._printed.seek(0, os.SEEK_END)
        return text.decode("utf-8", "replace")


def _end_process(child: subprocess.Popen[bytes]) -> None:
    """End the process and the programs that it has started."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    with suppress(OSError), child:
        # a request may be left in the buffer of its pipe, so closing it may fail
        child.wait()


def _proxies(process: PluginProcess, found: Registered) -> Hooks:
    """Return registrations whose functions call the process."""
    plugin = found.plugin
    hooks = Hooks(plugin, Path(found.file))
    for kind in found.kinds:
        hooks.callout_kind(**msgspec.structs.asdict(kind))
    for name, shortcode in found.block_divs.items():
        hooks.block_div(name, shortcode)
    call = partial(process.call, plugin)

    def text(hook: Hook, key: str, source: Any) -> Any:
        limit_s = DEADLINE_S if hook == "convert" else 0
        return _unpack(plugin, call(hook, key, source, limit_s=limit_s))

    def data(name: str, args: Mapping[str, str], document: Document) -> Any:
        return _unpack(plugin, call("data", name, dict(args), document=document))

    for name in found.shortcodes:
        hooks.shortcode_data(name)(partial(data, name))
    for language, (trusted, formulas) in found.diagrams.items():
        draw = partial(text, "diagram", language)
        hooks.diagram(language, trusted=trusted, formulas=formulas)(draw)
    for mime, trusted in found.outputs.items():
        hooks.cell_output(mime, trusted=trusted)(partial(text, "output", mime))
    if found.converter:
        commands, trusted = found.converter
        hooks.formula_converter(commands=commands, trusted=trusted)(partial(text, "convert", plugin))
    _add_page_functions(hooks, call, found)
    return hooks


def _add_page_functions(hooks: Hooks, call: Any, found: Registered) -> None:
    plugin = found.plugin

    def read(key: int, document: Document) -> Any:
        packed = call("read", key, document=document)
        if not packed:
            return document
        changed = _decode(packed, PageReadResult, plugin).changed
        try:
            return unpack_document(changed, document) if changed else None
        except msgspec.DecodeError as error:
            raise _problem(plugin, f'invalid document of plugin "{plugin}": {error}') from None

    def change(key: int, html: str, document: Document) -> Any:
        return _unpack(plugin, call("filter", key, html, document=document))

    def outputs(key: int, site: SiteOutputs) -> Any:
        def content(number: int) -> Any:
            return _unpack(plugin, call("file", number))

        return _unpack(plugin, call("outputs", key, site), content)

    for key in range(found.page_readers):
        hooks.page_read(partial(read, key))
    for key in range(found.page_filters):
        hooks.page_rendered(partial(change, key))
    for key in range(found.site_outputs):
        hooks.site_outputs(partial(outputs, key))


def _exception(failure: RemoteFailure) -> BaseException:
    """Return an exception of this process that corresponds to the exception of a plugin."""
    if failure.diagnostics:
        return SiteError(*failure.diagnostics)
    if failure.kind == "PluginTimeout":
        return ConverterTimeout()
    base = next((_CAUGHT[name] for name in failure.bases if name in _CAUGHT), Exception)
    kind = type(failure.kind, (RemoteFrames, base), {"frames": failure.frames})
    location = [(*failure.location, None)] if base is SyntaxError else []
    error: BaseException = kind(failure.text, *location)
    return error


def _decode(data: bytes, kind: type[Decoded], plugin: str) -> Decoded:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (RecursionError, msgspec.DecodeError) as error:
        raise _problem(plugin, f'invalid answer of plugin "{plugin}": {error}') from None


def _unpack(plugin: str, data: bytes, call: Callable[[int], Any] | None = None) -> Any:
    try:
        return unpack(data, call)
    except (ValueError, msgspec.DecodeError) as error:
        raise _problem(plugin, f'invalid answer of plugin "{plugin}": {error}') from None


def _problem(plugin: str, message: str) -> SiteError:
    hint = plugin_hint(plugin)
    return SiteError(Diagnostic("plugin", message, f"{FOLDER}/{plugin}.py", hint=hint, subject=plugin))
