"""A Jupyter kernel on a server, over its HTTP and WebSocket interface.

A server starts a kernel anew that has died, and says so in a message of its own; the state of the kernel is
asked for besides, since a connection that is cut brings no message at all. The builder ends the kernel.
"""

from __future__ import annotations

import contextlib
import time
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...base.diagnostics.extras import install_extra
from .local import CannotStart, no_such_kernel
from .session import note_on_server

_POLL_S = 2.0
_TIMEOUT_S = 10.0
_SHORT_S = 0.5
_DIED = ("restarting", "autorestarting", "dead")


class ServerKernel:
    """Started by name, in the folder that the path means to the server."""

    def __init__(self, url: str, token: str, name: str, path: str, temporary: Path) -> None:
        """temporary: folder of the session here, for what the builder must know. Raises CannotStart."""
        try:
            library: Any = import_module("jupyter_kernel_client.manager")
        except ImportError as error:
            missing = "the package jupyter-kernel-client is not installed"
            raise CannotStart(f"{missing}: {install_extra('jupyter')}") from error
        self.name = name
        url = url.rstrip("/")
        try:
            asked = library.fetch(f"{url}/api/kernelspecs", token=token, timeout=_TIMEOUT_S)
            known = asked.json()["kernelspecs"]
            if name not in known:
                raise CannotStart(f"on the server {format_address(url)}: {no_such_kernel(name, known)}")
            self._manager = library.KernelHttpManager(server_url=url, token=token)
            self.id = str(self._manager.start_kernel(name=name, path=path)["id"])
            note_on_server(temporary, self.id)
        except (OSError, ValueError, KeyError) as error:
            raise CannotStart(
                f"the Jupyter server {format_address(url)} starts no kernel: {_format_error(error)}"
            ) from error
        self.client = _watch_states(self._manager.client)
        self.client.start_channels(stdin=False, hb=False)
        self._next_poll = time.monotonic() + _POLL_S

    @property
    def can_be_tried_again(self) -> bool:
        """Servers see to that."""
        return False

    def interrupt(self) -> None:
        """Ask the server to."""
        with contextlib.suppress(OSError):
            self._manager.interrupt_kernel(timeout=_SHORT_S)

    def death_reason(self) -> str:
        """Why it is gone; empty while it lives."""
        if self.client.states & set(_DIED):
            return "its kernel died on the server"
        if time.monotonic() < self._next_poll:
            return ""
        self._next_poll = time.monotonic() + _POLL_S
        try:
            model = self._manager.refresh_model(timeout=_TIMEOUT_S)
        except OSError as error:
            return f"as for the server, {_format_error(error)}"
        if model is None:
            return "the server has ended its kernel"
        lost = not self.client.channels_running
        return "the connection to the server is lost" if lost else ""

    def why_not_ready(self) -> str:
        """What is known of a kernel that was never ready."""
        return self.death_reason()

    @property
    def stack_file(self) -> str:
        """Of files on a server nothing is known."""
        return ""

    def stack(self) -> str:
        """As above."""
        return ""

    def request_stack(self) -> None:
        """As above."""

    def end(self) -> None:
        """Left to the builder, which tells the server also if there is no bridge any more."""


def _watch_states(client: Any) -> Any:
    """The client, which notes the states of the kernel that belong to no request: `client.states`."""
    client.states = set()
    get = client.get_iopub_msg

    def get_iopub_msg(*arguments: Any, **more: Any) -> Any:
        message = get(*arguments, **more)
        if message["header"]["msg_type"] == "status" and not message.get("parent_header"):
            client.states.add(message["content"].get("execution_state"))
        return message

    client.get_iopub_msg = get_iopub_msg
    return client


def format_address(url: str) -> str:
    """The address for messages: a user, a password or a token that somebody wrote into it stays out."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "in JUPYTER_BASE_URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _format_error(error: Exception) -> str:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if status in (401, 403):
        return "it refuses the token in JUPYTER_TOKEN"
    return f"it answers with status {status}" if status else f"it is not reached ({type(error).__name__})"
