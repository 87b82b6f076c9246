"""Sends one request to a Jupyter kernel, receives its outputs and its reply, and detects whether the kernel
has died.

A request is done when both its reply and the message that the kernel is idle have arrived. Outputs use
another channel than replies and may arrive later. A kernel that dies sends neither of the two, so its process
is also monitored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from queue import Empty
from typing import Any, Literal, Protocol

POLL_S = 0.05
INTERRUPT_TIMEOUT_S = 0.5
"""Seconds to wait for a kernel after an interrupt. It is less than the builder's grace time, so that the
bridge, and not the builder, ends the kernel and reports it."""
_IDLE_TIMEOUT_S = 5.0
_DRAIN_S = 0.2

Message = Mapping[str, Any]
"""Message as returned by jupyter_client."""


class Kernel(Protocol):
    """Running kernel, on this machine or on a Jupyter server."""

    name: str
    id: str
    """Id of the kernel on its server. Empty if the kernel runs on this machine."""
    client: Any
    """Blocking client of jupyter_client or jupyter_kernel_client."""

    def interrupt(self) -> None: ...

    def death_reason(self) -> str:
        """Return why the kernel is gone, as a message. Empty while it is alive."""

    @property
    def stack_file(self) -> str:
        """File where a Python kernel writes its stack if it crashes. Empty if there is no such file."""

    def stack(self) -> str:
        """Return the stack of a kernel that crashed. May be incomplete or empty."""

    def request_stack(self) -> None:
        """Make the kernel write its stack before it is ended."""

    def end(self) -> None:
        """End the kernel immediately."""


@dataclass(frozen=True, slots=True)
class KernelReply:
    """Outcome of one request."""

    status: Literal["ok", "error", "died"]
    content: Mapping[str, Any] = field(default_factory=dict)
    """Content of the reply message."""
    problem: str = ""
    """Reason why the kernel is gone, as a message."""


@dataclass(slots=True)
class Requests:
    """Sends requests to one kernel, one after the other."""

    kernel: Kernel
    is_interrupted: Callable[[], bool]
    """Function that returns whether an interrupt has arrived since its last call."""
    death_reason: str = ""
    """Reason why the kernel is gone. Empty while it is alive."""
    _output_requests: set[str] = field(default_factory=set)
    """Ids of requests whose outputs are forwarded. Earlier ones are included, since threads continue
    printing."""

    def run(
        self, code: str, on_message: Callable[[Message], None], expressions: Mapping[str, str]
    ) -> KernelReply:
        """Run a cell, and return the kernel's reply. on_message: called with every message about the cell.
        expressions: expressions to evaluate after the cell."""
        return self._request(code, on_message, expressions, silent=False)

    def compute(self, expressions: Mapping[str, str], code: str = "") -> KernelReply:
        """Run `code`, which is not the author's, evaluate expressions, and return the kernel's reply. Outputs
        are ignored."""
        return self._request(code, lambda message: None, expressions, silent=True)

    def _request(
        self, code: str, hear: Callable[[Message], None], expressions: Mapping[str, str], *, silent: bool
    ) -> KernelReply:
        if self.death_reason:
            return KernelReply("died", problem=self.death_reason)
        self.is_interrupted()
        client = self.kernel.client
        request = client.execute(
            code,
            silent=silent,
            store_history=not silent,
            user_expressions=dict(expressions),
            allow_stdin=False,
            stop_on_error=False,
        )
        heard = hear if silent else self._cell_handler(request, hear)
        return self._listen(client, request, heard)

    def _cell_handler(self, request: str, hear: Callable[[Message], None]) -> Callable[[Message], None]:
        self._output_requests.add(request)

        def hear_own(message: Message) -> None:
            if _parent(message) in self._output_requests:
                hear(message)

        return hear_own

    def _listen(self, client: Any, request: str, hear: Callable[[Message], None]) -> KernelReply:
        reply: Mapping[str, Any] | None = None
        idle, patience, late = False, float("inf"), float("inf")
        while True:
            # Some kernels report that they are idle before they reply.
            message = _next_message(client.get_iopub_msg, 0 if idle and reply is None else POLL_S)
            now = time.monotonic()
            if message is not None:
                hear(message)
                idle = idle or _is_idle(message, request)
                late = now + _IDLE_TIMEOUT_S
            if self.is_interrupted():
                self.kernel.interrupt()
                patience = now + INTERRUPT_TIMEOUT_S
            if reply is None:
                reply, late = self._reply(client, request, POLL_S if idle else 0), now + _IDLE_TIMEOUT_S
            if reply is not None and (idle or now > late):
                return KernelReply("ok" if reply.get("status") == "ok" else "error", reply)
            if now > patience:
                self.kernel.request_stack()
                self.kernel.end()
                return self._report_death("it did not stop when it was interrupted", client, hear)
            if reply is None and message is None and (why := self.kernel.death_reason()):
                return self._report_death(why, client, hear)

    @staticmethod
    def _reply(client: Any, request: str, timeout_s: float) -> Mapping[str, Any] | None:
        while message := _next_message(client.get_shell_msg, timeout_s):
            if _parent(message) == request:
                content: Mapping[str, Any] = message["content"]
                return content
        return None

    def _report_death(self, why: str, client: Any, hear: Callable[[Message], None]) -> KernelReply:
        self.death_reason = why
        end = time.monotonic() + _DRAIN_S
        while (left := end - time.monotonic()) > 0 and (message := _next_message(client.get_iopub_msg, left)):
            hear(message)
        return KernelReply("died", problem=why)


def _next_message(get: Callable[..., Any], timeout_s: float) -> Message | None:
    try:
        message: Message = get(timeout=timeout_s)
    except Empty:
        return None
    return message


def _parent(message: Message) -> str:
    return str((message.get("parent_header") or {}).get("msg_id") or "")


def _is_idle(message: Message, request: str) -> bool:
    is_status = message["header"]["msg_type"] == "status" and _parent(message) == request
    return is_status and message["content"].get("execution_state") == "idle"
