"""Jupyter kernel on a server, reached through the server's HTTP and WebSocket interface.

A server restarts a kernel that has died, and reports this in a separate message. The state of the kernel is
also polled, because no message arrives if the connection is lost. The builder ends the kernel.
"""

from __future__ import annotations

import contextlib
import time
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...base.diagnostics.extras import extra_install_command
from .local import KernelStartError, unknown_kernel_message
from .session import store_kernel_id

_POLL_S = 2.0
_TIMEOUT_S = 10.0
_INTERRUPT_TIMEOUT_S = 0.5
_DEAD_STATES = ("restarting", "autorestarting", "dead")


class ServerKernel:
    """Kernel on a Jupyter server, started by its name in a folder of the server."""

    def __init__(self, url: str, token: str, name: str, path: str, temporary: Path) -> None:
        """Start the kernel and connect to it. Raises `KernelStartError`. path: folder on the server.
        temporary: folder of the session on this machine, for data that the builder needs."""
        try:
            library: Any = import_module("jupyter_kernel_client.manager")
        except ImportError as error:
            command = extra_install_command("jupyter")
            raise KernelStartError(f'missing package "jupyter-kernel-client": run `{command}`') from error
        self.name = name
        url = url.rstrip("/")
        try:
            asked = library.fetch(f"{url}/api/kernelspecs", token=token, timeout=_TIMEOUT_S)
            known = asked.json()["kernelspecs"]
            if name not in known:
                raise KernelStartError(
                    f"Jupyter server {format_address(url)}: {unknown_kernel_message(name, known)}"
                )
            self._manager = library.KernelHttpManager(server_url=url, token=token)
            self.id = str(self._manager.start_kernel(name=name, path=path)["id"])
            store_kernel_id(temporary, self.id)
        except (OSError, ValueError, KeyError) as error:
            raise KernelStartError(
                f'the Jupyter server "{format_address(url)}" cannot start a kernel: {_format_error(error)}'
            ) from error
        self.client = _watch_states(self._manager.client)
        self.client.start_channels(stdin=False, hb=False)
        self._next_poll = time.monotonic() + _POLL_S

    @property
    def can_retry(self) -> bool:
        """Always False, because servers retry themselves."""
        return False

    def interrupt(self) -> None:
        """Ask the server to interrupt the kernel."""
        with contextlib.suppress(OSError):
            self._manager.interrupt_kernel(timeout=_INTERRUPT_TIMEOUT_S)

    def death_reason(self) -> str:
        """Return why the kernel is gone. Empty while it is alive."""
        if self.client.states & set(_DEAD_STATES):
            return "its kernel died on the server"
        if time.monotonic() < self._next_poll:
            return ""
        self._next_poll = time.monotonic() + _POLL_S
        try:
            model = self._manager.refresh_model(timeout=_TIMEOUT_S)
        except OSError as error:
            return f"problem with the Jupyter server: {_format_error(error)}"
        if model is None:
            return "the server has ended its kernel"
        lost = not self.client.channels_running
        return "the connection to the server is lost" if lost else ""

    def startup_error(self) -> str:
        """Return why the kernel did not become ready, as a message."""
        return self.death_reason()

    @property
    def stack_file(self) -> str:
        """Always empty, because files on a server cannot be read."""
        return ""

    def stack(self) -> str:
        """Return an empty string, because files on a server cannot be read."""
        return ""

    def request_stack(self) -> None:
        """Do nothing, because files on a server cannot be read."""

    def end(self) -> None:
        """Do nothing. The builder ends the kernel, even if the bridge has died."""


def _watch_states(client: Any) -> Any:
    """Change a client so that `client.states` collects kernel states that belong to no request. Return the
    client."""
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
    """Return the URL for messages, without user, password and token."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "in JUPYTER_BASE_URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _format_error(error: Exception) -> str:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if status in (401, 403):
        return "it rejects the token in JUPYTER_TOKEN"
    return f"it responds with status {status}" if status else f"it cannot be reached ({type(error).__name__})"
