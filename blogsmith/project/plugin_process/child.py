"""Program of the process that runs the plugins of a site.

The process runs in no folder of the site, and no folder of the site is on its search path. The import guard
is active until the process ends. When blogsmith closes the pipe, the process ends without calling `atexit`
functions.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import msgspec

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.timeout import alarm, has_alarm
from ...hooks import Hooks, Plugins, combine_hooks
from ...hooks.calls import CodeLine, guard_imports
from ...hooks.loader import register_plugins
from ...model.documents import Document
from .messages import (
    HookAnswer,
    HookCall,
    PageReadResult,
    PluginSetup,
    Registered,
    RemoteFailure,
    pack,
    pack_document,
    read_frame,
    write_frame,
)

_KEPT_RESULTS = 2
"""Maximum number of results of `site_outputs` per plugin whose functions can still be called. More than one
is needed, because the preview may write files of the site before its last change."""


class PluginTimeout(BaseException):
    """A call exceeded its limit. Not an Exception, because libraries catch those."""


def main() -> NoReturn:
    """Load plugins and answer calls until the pipe is closed."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # plugins and their programs must neither read requests nor write between answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    data = read_frame(requests)
    if data is not None:
        setup: PluginSetup = pickle.loads(data)
        with guard_imports(setup.code):
            _serve(setup, requests, answers)
    os._exit(0)


def _serve(setup: PluginSetup, requests: BinaryIO, answers: BinaryIO) -> None:
    functions: dict[str, _Functions] = {}

    def load() -> bytes:
        if problem := _enter_sandbox(setup.sandbox):
            message = f"missing sandbox for plugins: {problem}"
            hint = "remove the plugins, or run blogsmith on a system with the sandbox"
            raise SiteError(Diagnostic("plugin", message, "blogsmith.yaml", hint=hint))
        found = []
        for hooks in register_plugins(setup.names, (), setup.code):
            plugins = combine_hooks([hooks])
            functions[plugins.names[0]] = _Functions(plugins)
            found.append(_describe(plugins, hooks))
        return msgspec.msgpack.encode(found)

    _answer(answers, load)
    document: Document | None = None
    while data := read_frame(requests):
        call: HookCall = pickle.loads(data)
        if not call.has_same_document:
            document = call.document
        _answer(answers, partial(functions[call.plugin].call, call, document))


def _enter_sandbox(sandbox: str) -> str:
    """Restrict this process in the same way as a cell: it may write only in its temporary folder, which is
    the current one. Return the reason if that failed, as a message; otherwise an empty string."""
    if sandbox == "off":
        return ""
    from ...execute.worker.landlock import restrict
    from ...execute.worker.seccomp import restrict_sockets

    return restrict((str(Path.cwd()),)) or restrict_sockets(has_network=sandbox != "offline")


def _answer(answers: BinaryIO, work: Callable[[], bytes]) -> None:
    try:
        answer = HookAnswer(work())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        answer = HookAnswer(failure=_describe_failure(error))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    write_frame(answers, msgspec.msgpack.encode(answer))


def _describe_failure(error: BaseException) -> RemoteFailure:
    location: tuple[str, int | None, int | None] = ("", None, None)
    text = str(error)
    if isinstance(error, SyntaxError):
        text, location = error.msg or "", (error.filename or "", error.lineno, error.offset)
    return RemoteFailure(
        kind=type(error).__name__,
        bases=tuple(base.__name__ for base in type(error).__mro__),
        text=text.encode("utf-8", "backslashreplace").decode(),
        frames=tuple(CodeLine(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__)),
        location=location,
        diagnostics=error.diagnostics if isinstance(error, SiteError) else (),
    )


def _describe(plugins: Plugins, hooks: Hooks) -> Registered:
    converter = next(iter(plugins.converters.values()), None)
    if plugins.markdown_rules:
        message = f'missing call "hooks.markdown" in plugin "{plugins.names[0]}", which changes the parser'
        hint = "write the call in the file of the plugin, so that blogsmith runs this plugin inside itself"
        raise SiteError(Diagnostic("plugin", message, f"plugins/{plugins.names[0]}.py", hint=hint))
    return Registered(
        plugin=plugins.names[0],
        file=next(iter(plugins.files)),
        kinds=plugins.kinds,
        block_divs=dict(plugins.block_divs),
        shortcodes=tuple(plugins.shortcode_data),
        diagrams={name: (one.trusted, one.formulas) for name, one in plugins.diagrams.items()},
        outputs={mime: form.trusted for mime, form in plugins.cell_outputs.items()},
        converter=(tuple(sorted(converter.commands)), converter.trusted) if converter else None,
        page_readers=len(plugins.page_readers),
        page_filters=len(plugins.page_filters),
        site_outputs=len(plugins.outputs),
    )


class _Functions:
    """Functions of one plugin."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._results: deque[dict[int, Callable[[], Any]]] = deque(maxlen=_KEPT_RESULTS)
        self._stored = 0

    def call(self, call: HookCall, document: Document | None) -> bytes:
        """Call a function. Return its packed result. document: the document that the function receives, if
        any."""
        limited = call.limit_s and has_alarm()
        with alarm(call.limit_s, PluginTimeout, is_cpu_time=True) if limited else nullcontext():
            if call.hook == "read":
                return self._read(call, document)
            if call.hook == "file":
                return pack(self._stored_function(int(call.key))())
            if call.hook == "outputs":
                self._results.append({})
                return pack(self._function(call)(*call.arguments), self._store)
            given = (*call.arguments, document) if call.hook in ("data", "filter") else call.arguments
            return pack(self._function(call)(*given))

    def _function(self, call: HookCall) -> Callable[..., Any]:
        plugins, key = self._plugins, call.key
        tables: Mapping[str, Callable[[], Callable[..., Any]]] = {
            "data": lambda: plugins.shortcode_data[str(key)][1],
            "diagram": lambda: plugins.diagrams[str(key)].draw,
            "output": lambda: plugins.cell_outputs[str(key)].show,
            "convert": lambda: plugins.converters[str(key)].convert,
            "read": lambda: plugins.page_readers[int(key)][1],
            "filter": lambda: plugins.page_filters[int(key)][1],
            "outputs": lambda: plugins.outputs[int(key)][1],
        }
        return tables[call.hook]()

    def _read(self, call: HookCall, document: Document | None) -> bytes:
        """Call a `page_read` function. Return its packed changes; empty bytes if it returns the document
        itself."""
        assert document is not None, "the request has it"
        made: object = self._function(call)(document)
        if made is document:
            return b""
        changed = None
        if isinstance(made, Document) and made.source is document.source:
            changed = pack_document(made, document)
        return msgspec.msgpack.encode(PageReadResult(changed))

    def _store(self, function: Callable[[], Any]) -> int:
        self._stored += 1
        self._results[-1][self._stored] = function
        return self._stored

    def _stored_function(self, number: int) -> Callable[[], Any]:
        return next(stored[number] for stored in self._results if number in stored)
