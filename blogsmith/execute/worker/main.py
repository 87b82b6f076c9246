"""Main loop of the worker: one session over one socket, message by message.

`serve` creates everything it needs, so a forked child of a server can call it too. Importing has no side
effects.
"""

from __future__ import annotations

import atexit
import builtins
import faulthandler
import os
import signal
import sys
from os import _exit
from typing import TYPE_CHECKING

from . import figures, ipython, streams
from .cell import WorkerSession
from .file_access import FileAccess
from .frames import Channel
from .limits import Interrupts, MemoryLimit
from .seeds import Seeds
from .streams import StreamOutput
from .tracebacks import Tracebacks
from .values import Values

if TYPE_CHECKING:
    from socket import socket
    from typing import Any, NoReturn

    from typing_extensions import Buffer

    from .programs import Programs


def serve(control: int | socket) -> NoReturn:
    """Run one session and exit the process. control: the worker's end of the socket; the caller must not use
    it afterwards."""
    interrupts = Interrupts()
    interrupts.install()
    channel = Channel(control if isinstance(control, int) else control.detach(), interrupts)
    start = channel.receive()
    if start is None:
        _exit(1)
    sandbox = _prepare(start)
    session = _session(start, channel, interrupts)
    python = ".".join(map(str, sys.version_info[:3]))
    channel.send({"event": "ready", "python": python, "sandbox": sandbox})
    code = _loop(channel, session)
    _leave(code)


def _prepare(start: dict[str, Any]) -> str:
    """Set up the process. Return why the sandbox failed, as a message; empty if the sandbox works."""
    os.chdir(start["folder"])
    sys.path[:0] = start["sys_path"]
    faulthandler.enable(file=2, all_threads=False)
    # With this signal, the builder requests the stack of a cell that cannot be interrupted.
    faulthandler.register(signal.SIGUSR2, file=2, all_threads=False)
    if start["sandbox"] == "off":
        return ""
    from .landlock import restrict
    from .seccomp import restrict_sockets

    return restrict(start["writable"]) or restrict_sockets(has_network=start["sandbox"] != "offline")


def _session(start: dict[str, Any], channel: Channel, interrupts: Interrupts) -> WorkerSession:
    text_bytes = start["limits"]["text_bytes"]
    sources: dict[str, str] = {}
    output = StreamOutput(channel, interrupts, text_bytes)

    def foreign_code() -> None:
        output.flush_c = _flush_c

    observed = FileAccess(start["root"], start["exclude"], output.sync, foreign_code, start["folder"])
    if f"{__package__}.fork_server" in sys.modules:
        foreign_code()  # C code was loaded before the hook was installed.
    tracebacks = Tracebacks(start["root"], sources)
    values = Values(output, text_bytes)
    memory = MemoryLimit(start["limits"]["data_bytes"])
    session = WorkerSession(
        output=output,
        interrupts=interrupts,
        memory=memory,
        observed=observed,
        tracebacks=tracebacks,
        values=values,
        seeds=Seeds(),
        sources=sources,
        programs=_programs(start) if start.get("language") else None,
    )
    streams.install(output)
    tracebacks.install()
    figures.install(output.emit)
    builtins.display = values.display  # type: ignore[attr-defined]
    ipython.install(values.display)
    observed.install()
    _watch_below(output)
    if start.get("checkpoints"):
        from .checkpoints import Checkpoints

        session.checkpoints = Checkpoints(channel, output, observed)
    return session


def _programs(start: dict[str, Any]) -> Programs:
    from .programs import Programs  # imported by few sessions

    return Programs(start)


def _watch_below(output: StreamOutput) -> None:
    """Replace `os.write` and `os._exit`, which bypass the worker's streams. Output of `os.write` then appears
    after earlier output. If a cell calls `os._exit`, its output still arrives, with a stack on stderr as
    after a crash."""
    write = os.write

    def watched_write(fd: int, data: Buffer) -> int:
        if fd in (1, 2):
            output.sync()
        return write(fd, data)

    def watched_exit(status: int) -> NoReturn:
        if output.is_in_cell:
            output.sync()
            faulthandler.dump_traceback(file=2, all_threads=False)
        _exit(status)

    os.write, os._exit = watched_write, watched_exit


def _loop(channel: Channel, session: WorkerSession) -> int:
    """Answer requests until the builder ends the session. Return the exit code."""
    while message := channel.receive():
        operation = message["op"]
        if operation == "cell":
            ended = session.run_cell(message)
            if channel.is_closed:
                return _end_of_child(ended)
            channel.send(ended)
        elif operation == "value":
            channel.send(session.compute(message))
        elif operation == "machine":
            channel.send({"event": "machine", **session.machine()})
        elif operation == "checkpoint" and session.checkpoints:
            # A worker that resumes from the checkpoint also gets here, and must not answer.
            taken = session.checkpoints.create(message)
            if taken:
                channel.send(taken)
        elif operation == "resume":
            channel.send({"event": "ready"})
        elif operation == "end":
            return 0
    return 1


def _end_of_child(ended: dict[str, Any]) -> int:
    """Return the exit code of a forked child that has reached the end of its cell, as if it were a separate
    program."""
    if ended["failure"] is None:
        return 0
    sys.stderr.write(ended["failure"]["text"])
    return 1


def _leave(code: int) -> NoReturn:
    """Run exit handlers and exit, without waiting for busy threads or for the interpreter's clean-up."""
    try:
        atexit._run_exitfuncs()
    finally:
        _exit(code)


def _flush_c() -> None:
    """Flush the buffers of `printf`."""
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, AttributeError):
        return
