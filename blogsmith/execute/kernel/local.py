"""A Jupyter kernel on this machine, a child of the bridge."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from ...base.diagnostics.extras import install_extra
from ..session.process import describe_exit

TRIES = 3
"""Ports are chosen before the kernel binds them; somebody else may be faster."""
_TAKEN = "Address already in use"
_END_S = 2.0
_STACK_S = 1.0
_PIECE_S = 0.05


class CannotStart(Exception):
    """Why a kernel cannot run, in words."""


class LocalKernel:
    """Started by name; its connection file, its log and IPython's own files lie in a temporary folder."""

    def __init__(self, name: str, folder: Path, temporary: Path) -> None:
        self.name = name
        self.id = ""
        self._log = temporary / "kernel.log"
        self._stack = temporary / "kernel.stack"
        manager = _manager(name, temporary)
        with self._log.open("wb") as log:
            # own IPython folder: neither the user's startup files nor a history
            environment = {**os.environ, "IPYTHONDIR": str(temporary / "ipython")}
            if environment.get("MPLBACKEND") == "agg":
                # what the worker needs; kernels of Python have a backend that shows figures
                del environment["MPLBACKEND"]
            try:
                manager.start_kernel(cwd=str(folder), env=environment, stdout=log, stderr=log)
            except (OSError, ValueError, RuntimeError) as error:
                raise CannotStart(f"the kernel {name} cannot be started: {error}") from error
        self._process: subprocess.Popen[bytes] = manager.provisioner.process
        self.client: Any = manager.client()
        # a cell may show more than a queue holds
        self.client.context.rcvhwm = 0
        self.client.start_channels(stdin=False, hb=False)

    @property
    def can_be_tried_again(self) -> bool:
        """Whether it found its ports taken."""
        return _TAKEN in _text_of(self._log)

    def interrupt(self) -> None:
        """As Ctrl-C in a terminal: the kernel and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGCONT)
            os.killpg(self._process.pid, signal.SIGINT)

    def death_reason(self) -> str:
        """Why it is gone; empty while it lives."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"its kernel left with exit code {code}" if code >= 0 else describe_exit(code)

    def why_not_ready(self) -> str:
        """The last that it said, for a kernel that died before it was ready."""
        lines = [line.strip() for line in _text_of(self._log).splitlines() if line.strip()]
        return lines[-1] if lines else self.death_reason()

    @property
    def stack_file(self) -> str:
        """Where a kernel may write where it stands."""
        return str(self._stack)

    def stack(self) -> str:
        """Where it stood when it ended badly, as far as it has said so."""
        return _text_of(self._stack)

    def request_stack(self) -> None:
        """Let it write where it stands; one that cannot is ended by this."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR2)
        end = time.monotonic() + _STACK_S
        while time.monotonic() < end and not self._stack_begins() and self._process.poll() is None:
            time.sleep(_PIECE_S)
        # it comes in pieces
        time.sleep(_PIECE_S)

    def _stack_begins(self) -> bool:
        return self._stack.is_file() and self._stack.stat().st_size > 0

    def end(self) -> None:
        """Kill its process group; children that have left it are found by the mark of the session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)


def _manager(name: str, temporary: Path) -> Any:
    try:
        kernelspec: Any = import_module("jupyter_client.kernelspec")
        manager: Any = import_module("jupyter_client.manager")
    except ImportError as error:
        missing = f"the package jupyter-client is not installed: {install_extra('jupyter')}"
        raise CannotStart(missing) from error
    specs = kernelspec.KernelSpecManager()
    try:
        specs.get_kernel_spec(name)
    except kernelspec.NoSuchKernel as error:
        raise CannotStart(no_such_kernel(name, specs.find_kernel_specs())) from error
    return manager.KernelManager(
        kernel_name=name, kernel_spec_manager=specs, connection_file=str(temporary / "kernel.json")
    )


def no_such_kernel(name: str, installed: Iterable[str]) -> str:
    """What to say of a name that means nothing. installed: those that do."""
    names = ", ".join(sorted(installed))
    return f'there is no Jupyter kernel "{name}"; installed: {names or "none"}'


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
