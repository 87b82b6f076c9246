"""Process between builder and kernel. The builder sees it as a worker, the kernel as a front end.

It runs in blogsmith's own Python. It answers messages of the builder as `worker/main.py` does, but cannot
report the files that cells read.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from ..worker import versions
from ..worker.frames import without_surrogates
from ..worker.sweeps import changed_in_place
from . import python
from .local import MAX_ATTEMPTS, KernelStartError, LocalKernel
from .outputs import Frame, Outputs, end_fields, read_failure
from .requests import POLL_S, KernelReply, Requests
from .server import ServerKernel
from .session import SERVER_VARIABLES, end_server_kernel, uses_server

_NO_EXPRESSIONS: Mapping[str, str] = {}
_ASK_AGAIN_S = 1.0
_Kernel = LocalKernel | ServerKernel


def serve(descriptor: int) -> NoReturn:
    """Run one session and exit. descriptor: our end of the socket to the builder."""
    signals = _Signals()
    builder = _Builder(descriptor)
    start = builder.receive()
    if start is None:
        os._exit(1)
    signals.temporary = Path(start["writable"][0])
    try:
        kernel, info = _start_ready_kernel(start, signals)
    except KernelStartError as error:
        builder.send({"event": "ready", "problem": str(error)})
        signals.end()
    session = _Session(builder.send, Requests(kernel, signals.consume), info, start)
    session.prepare()
    builder.send({"event": "ready", "problem": ""})
    _loop(builder, session)
    signals.end(0)


def _loop(builder: _Builder, session: _Session) -> None:
    while message := builder.receive():
        operation = message["op"]
        if operation == "cell":
            builder.send(session.cell(message))
        elif operation == "value":
            builder.send(session.value(message))
        elif operation == "machine":
            builder.send(session.machine())
        elif operation == "end":
            return


def _start_ready_kernel(start: Mapping[str, Any], signals: _Signals) -> tuple[_Kernel, Mapping[str, Any]]:
    """Return a kernel and its `kernel_info` reply. Raises `KernelStartError` if there is no kernel."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        kernel = signals.kernel = _start_kernel(start)
        try:
            return kernel, _kernel_info(kernel, float(start["ready_s"]))
        except KernelStartError:
            if attempt == MAX_ATTEMPTS or not kernel.can_retry:
                raise
            kernel.end()
    raise AssertionError("unreachable")


def _start_kernel(start: Mapping[str, Any]) -> _Kernel:
    name, temporary = start["kernel"] or "python3", Path(start["writable"][0])
    if uses_server(os.environ):
        url, token = (os.environ[variable] for variable in SERVER_VARIABLES)
        return ServerKernel(url, token, name, start["path"], temporary)
    return LocalKernel(name, Path(start["folder"]), temporary)


class _Builder:
    """Connection to the builder. Each message is a length of four bytes, big-endian, followed by JSON."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.set_inheritable(False)
        self._stream = self._socket.makefile("rb")

    def send(self, frame: Frame) -> None:
        data = without_surrogates(json.dumps(frame, ensure_ascii=False)).encode("utf-8")
        self._socket.sendall(len(data).to_bytes(4, "big") + data)

    def receive(self) -> dict[str, Any] | None:
        """Return the next message. None if the builder is gone."""
        head = self._stream.read(4)
        body = self._stream.read(int.from_bytes(head, "big")) if len(head) == 4 else b""
        message: dict[str, Any] | None = json.loads(body) if body else None
        return message


class _Signals:
    """Signal handlers. Interrupts are forwarded to the kernel; a signal that ends this process also ends the
    kernel."""

    def __init__(self) -> None:
        self.kernel: _Kernel | None = None
        self.temporary = Path()
        """Temporary folder of the session. `Path()` until the builder has sent its path."""
        self._interrupted = False
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGIO, lambda number, frame: self._end_orphan())
        for number in (signal.SIGTERM, signal.SIGUSR2):
            signal.signal(number, lambda number, frame: self.end())

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True

    def consume(self) -> bool:
        """Return whether an interrupt has arrived since the last call."""
        taken, self._interrupted = self._interrupted, False
        return taken

    def _end_orphan(self) -> NoReturn:
        """End the kernel, which may be on a server, and exit. Called when the builder was killed and so
        cannot end the kernel."""
        end_server_kernel(self.temporary)
        self.end()

    def end(self, code: int = 1) -> NoReturn:
        """End the kernel, and exit with the status `code`."""
        if self.kernel is not None:
            self.kernel.end()
        os._exit(code)


def _kernel_info(kernel: _Kernel, limit_s: float) -> Mapping[str, Any]:
    """Wait until the kernel is ready and its outputs arrive here. Return its `kernel_info` reply."""
    from queue import Empty

    end, next_ask = time.monotonic() + limit_s, 0.0
    while (now := time.monotonic()) < end:
        if now > next_ask:
            next_ask = now + _ASK_AGAIN_S
            kernel.client.kernel_info()
        try:
            message = kernel.client.get_shell_msg(timeout=POLL_S)
            if message["header"]["msg_type"] == "kernel_info_reply":
                # Also wait for its status message: if that does not arrive, outputs would not arrive either.
                kernel.client.get_iopub_msg(timeout=_ASK_AGAIN_S)
                content: Mapping[str, Any] = message["content"]
                return content
        except Empty:
            pass
        if kernel.death_reason():
            raise KernelStartError(f'kernel "{kernel.name}" died at start: {kernel.startup_error()}')
    raise KernelStartError(f'kernel "{kernel.name}" was not ready after {limit_s:g} s')


def _language_version(kernel: str, info: Mapping[str, Any]) -> dict[str, str]:
    """Map the name of the kernel's language to the version of the language. If the version is unknown, map
    the name of the kernel's implementation to the version of the implementation."""
    language = info.get("language_info") or {}
    says, version = language.get("name"), language.get("version")
    if not version and info.get("implementation_version"):
        says, version = info.get("implementation"), info["implementation_version"]
    return {"-".join(str(says or kernel).split()): str(version or "")}


class _Session:
    """State of a session that lasts from one cell to the next."""

    def __init__(
        self,
        send: Callable[[Frame], None],
        requests: Requests,
        info: Mapping[str, Any],
        start: Mapping[str, Any],
    ) -> None:
        self._send = send
        self._requests = requests
        self._root = str(start["root"])
        self._text_bytes = int(start["limits"]["text_bytes"])
        language = info.get("language_info") or {}
        self._version = str(language.get("version") or "")
        self._is_python = str(language.get("name")).casefold() == "python"
        self._program = _language_version(requests.kernel.name, info)
        self._imports: dict[str, None] = {}
        self._packages: list[str] = []
        """Imported packages whose versions are recorded, as last reported by the kernel."""
        self._next = 1
        """Number that a Python kernel will give to the next cell."""

    def prepare(self) -> None:
        """Prepare the kernel before the first cell."""
        if self._is_python:
            setup = python.setup_expression(self._requests.kernel.stack_file)
            self._requests.compute({"setup": setup}, python.setup_code())

    def cell(self, message: Mapping[str, Any]) -> Frame:
        """Run one cell. Return the frame that ends it."""
        outputs = Outputs(self._send, self._text_bytes)
        if self._is_python:
            self._flush_before(message)
        expressions = {"state": self._state()} if self._is_python else _NO_EXPRESSIONS
        began = time.perf_counter()
        reply = self._requests.run(message["code"], outputs.add_message, expressions)
        seconds = time.perf_counter() - began
        changed = "" if message.get("leaves", True) or self._requests.death_reason else self._restore()
        if isinstance(counted := reply.content.get("execution_count"), int):
            self._next = counted + 1
        ended = end_fields(reply, outputs.error, python=self._is_python)
        ended = {**ended, **changed_in_place(changed)} if changed and ended["status"] == "ok" else ended
        line = self._crash_line(message["number"])
        return {"event": "done", **ended, "seconds": seconds, **self._usage_frame(reply), "line": line}

    def _flush_before(self, message: Mapping[str, Any]) -> None:
        self._imports.update(dict.fromkeys(python.list_imports(message["code"])))
        code = python.seed_code(message["seed"]) if message["seed"] is not None else ""
        if message["number"] != self._next:
            code = f"{python.numbering_code(message['number'])}\n{code}"
        if binding := message.get("binding"):
            code = f"{python.binding_code(binding, leaves=message['leaves'])}\n{code}"
        if code:
            self._requests.compute(_NO_EXPRESSIONS, code)

    def _restore(self) -> str:
        """Undo the bindings of a sweep run. Return the name of a variable that the run changed in place;
        empty if there is none."""
        reply = self._requests.compute({"run": python.restoring_expression()})
        computed = (reply.content.get("user_expressions") or {}).get("run") or {}
        return str(python.parse_report(computed).get("changed") or "")

    def _state(self) -> str:
        return python.state_expression(tuple(self._imports), self._root)

    def _usage_frame(self, reply: KernelReply) -> Frame:
        """Return a frame with the device and the packages that a cell used. For languages other than Python,
        the frame contains only the language."""
        if not self._is_python:
            return {"device": "", "imports": list(self._program)}
        if reply.status == "error":
            # The kernel evaluates expressions only after cells that succeed.
            reply = self._requests.compute({"state": self._state()})
        found = python.parse_report((reply.content.get("user_expressions") or {}).get("state") or {})
        self._packages = list(found.get("imports") or self._packages)
        return {"device": str(found.get("device") or ""), "imports": self._packages}

    def _crash_line(self, number: int) -> int:
        """Return the line of a cell where the kernel crashed, or 0 if the kernel did not report it."""
        stack = self._requests.kernel.stack() if self._requests.death_reason else ""
        return python.find_crash_line(stack, number)

    def value(self, message: Mapping[str, Any]) -> Frame:
        """Compute the value of one `{= … =}` in the text. Return the frame that answers the request."""
        expression = message["expression"]
        if self._is_python:
            expression = python.value_expression(expression, message["conversion"], message["spec"])
        reply = self._requests.compute({"value": expression})
        found = (reply.content.get("user_expressions") or {}).get("value")
        frame: Frame = {"event": "value", "number": message["number"], "status": "ok", "failure": None}
        if isinstance(found, dict) and found.get("status") == "ok":
            data = found.get("data") or {}
            latex = str(data.get("text/latex") or "").strip().strip("$").strip()
            return {**frame, "text": str(data.get("text/plain") or "").strip(), "latex": latex}
        if not isinstance(found, dict):
            why = reply.problem or "this kernel cannot compute inline values"
            found = {"ename": f"kernel {self._requests.kernel.name}", "evalue": why}
        return {**frame, "status": "error", "text": "", "latex": "", "failure": read_failure(found)}

    def machine(self) -> Frame:
        """Return a frame that describes the machine where the session ran. Unknown fields are missing."""
        if not self._is_python:
            here: Mapping[str, Any] = {} if self._requests.kernel.id else versions.machine(())
            known: Frame = {name: here[name] for name in ("platform", "cpu") if name in here}
            return {"event": "machine", **known, "packages": self._program}
        reply = self._requests.compute({"machine": python.machine_expression(self._packages)})
        found = (reply.content.get("user_expressions") or {}).get("machine") or {}
        return {"event": "machine", "python": self._version, **python.parse_report(found)}
