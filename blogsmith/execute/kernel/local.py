"""Jupyter kernel on this machine, as a child of the bridge."""

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

from ...base.diagnostics.extras import extra_install_command
from ..session.process import describe_exit

MAX_ATTEMPTS = 3
"""Maximum number of attempts to start a kernel. Ports are chosen before the kernel binds them, so another
process may take them."""
_PORT_IN_USE = "Address already in use"
_END_S = 2.0
_STACK_S = 1.0
_POLL_S = 0.05


class KernelStartError(Exception):
    """Error raised if a kernel cannot start. The message is the reason."""


class LocalKernel:
    """Kernel on this machine, started by its name. A temporary folder contains its connection file, its log
    and IPython's files."""

    def __init__(self, name: str, folder: Path, temporary: Path) -> None:
        self.name = name
        self.id = ""
        self._log = temporary / "kernel.log"
        self._stack = temporary / "kernel.stack"
        manager = _manager(name, temporary)
        with self._log.open("wb") as log:
            # a separate IPython folder, without the user's startup files and history
            environment = {**os.environ, "IPYTHONDIR": str(temporary / "ipython")}
            if environment.get("MPLBACKEND") == "agg":
                # Kernels need another value than the worker: their own backend shows figures.
                del environment["MPLBACKEND"]
            try:
                manager.start_kernel(cwd=str(folder), env=environment, stdout=log, stderr=log)
            except (OSError, ValueError, RuntimeError) as error:
                raise KernelStartError(f'cannot start kernel "{name}": {error}') from error
        self._process: subprocess.Popen[bytes] = manager.provisioner.process
        self.client: Any = manager.client()
        # A cell may show more than a queue can store, so remove the limit.
        self.client.context.rcvhwm = 0
        self.client.start_channels(stdin=False, hb=False)

    @property
    def can_retry(self) -> bool:
        """Whether the kernel failed because its ports were in use."""
        return _PORT_IN_USE in _read_text(self._log)

    def interrupt(self) -> None:
        """Interrupt the kernel and its children, as Ctrl-C in a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGCONT)
            os.killpg(self._process.pid, signal.SIGINT)

    def death_reason(self) -> str:
        """Return why the kernel is gone. Empty while it is alive."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"its kernel left with exit code {code}" if code >= 0 else describe_exit(code)

    def startup_error(self) -> str:
        """Return the last line of the log, for a kernel that died before it was ready."""
        lines = [line.strip() for line in _read_text(self._log).splitlines() if line.strip()]
        return lines[-1] if lines else self.death_reason()

    @property
    def stack_file(self) -> str:
        """File where the kernel writes its stack if it crashes."""
        return str(self._stack)

    def stack(self) -> str:
        """Return the stack of a kernel that crashed. May be incomplete or empty."""
        return _read_text(self._stack)

    def request_stack(self) -> None:
        """Signal the kernel to write its stack to `stack_file`. If the kernel cannot do that, the signal ends
        it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR2)
        end = time.monotonic() + _STACK_S
        while time.monotonic() < end and not self._stack_begins() and self._process.poll() is None:
            time.sleep(_POLL_S)
        # The stack arrives in parts.
        time.sleep(_POLL_S)

    def _stack_begins(self) -> bool:
        return self._stack.is_file() and self._stack.stat().st_size > 0

    def end(self) -> None:
        """Kill the process group of the kernel. Child processes that have left the group carry the session's
        mark, so the builder finds them later."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)


def _manager(name: str, temporary: Path) -> Any:
    try:
        kernelspec: Any = import_module("jupyter_client.kernelspec")
        manager: Any = import_module("jupyter_client.manager")
    except ImportError as error:
        missing = f'missing package "jupyter-client": run `{extra_install_command("jupyter")}`'
        raise KernelStartError(missing) from error
    specs = kernelspec.KernelSpecManager()
    try:
        specs.get_kernel_spec(name)
    except kernelspec.NoSuchKernel as error:
        raise KernelStartError(unknown_kernel_message(name, specs.find_kernel_specs())) from error
    return manager.KernelManager(
        kernel_name=name, kernel_spec_manager=specs, connection_file=str(temporary / "kernel.json")
    )


def unknown_kernel_message(name: str, installed: Iterable[str]) -> str:
    """Return the message for an unknown kernel name. installed: names of installed kernels."""
    names = ", ".join(sorted(installed))
    return f'unknown Jupyter kernel "{name}"; installed: {names or "none"}'


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
