"""Checkpoints: processes that preserve a session's state after a cell, until later cells must run again.

A checkpoint is a fork of the worker and shares memory with it until one of them writes. Each time a session
resumes, the checkpoint forks again, so it can be used many times; the new fork is a worker. Both kinds of
forks fork twice and thus become children of the builder. So code of cells never sees a child process that it
has not started.

A checkpoint can outlive the builder: it then waits at a socket for later builders. In this case its workers
are its own children, and it reports how they end.

A fork shares or loses everything that is not memory of this process: threads, children, sockets, shared
memory, timers. A session with any of these gets no checkpoint. Files that the session is reading are opened
again at the same position. For files that it has read or changed, see `external_state.py`.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys
from os import _exit, fork, listdir, waitpid
from time import monotonic, sleep
from typing import TYPE_CHECKING

from .external_state import ExternalState
from .frames import receive_passed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .file_access import FileAccess
    from .frames import Channel
    from .streams import StreamOutput

_RLIMIT_LOCKS = 10
"""Number of the resource limit whose value is the mark. The builder identifies the processes of a session by
their mark."""
_PASSED = 4
"""Number of descriptors that the builder passes to a worker: its socket, two pipes for output, and a pipe
that ends the worker when the builder ends."""
_POLL_S = 0.0005
_MAX_WAIT_S = 3600.0
"""Maximum time in seconds for one wait. Every timeout of the system accepts this number."""
_STATELESS = frozenset(("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"))


class Checkpoints:
    """Factory of one session's checkpoints. Created before the first cell runs."""

    def __init__(self, channel: Channel, output: StreamOutput, observed: FileAccess) -> None:
        self._channel, self._output, self._observed = channel, output, observed
        self._external = observed.external = ExternalState(observed.absolute)
        self._external.begin_process(channel.sent_bytes)
        self._descriptors = frozenset(_descriptors())
        self._life = [number for number in self._descriptors if number > 2 and _is_pipe(number)]
        """Descriptors of pipes that end this process when the builder ends."""
        self._shared = frozenset(_shared_memory())
        self._places: dict[int, int] = {}
        """Descriptor of a file that is being read → position in the file."""

    def create(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Make a checkpoint if possible, and return the answer for the builder. The call returns again, with
        None, in each worker that later resumes from the checkpoint."""
        self._observed.is_paused = True
        try:
            connection = self._channel.receive_descriptors(1)[0]
            try:
                refusal = self._refusal(connection, message["piped"])
                if not refusal and not self._fork(connection, message["mark"]):
                    return None
            except OSError as error:
                refusal = f"the system cannot fork: {error.strerror}"
            os.close(connection)
            return {"event": "checkpoint", "refusal": refusal}
        finally:
            self._observed.is_paused = False

    def _refusal(self, connection: int, piped_bytes: int) -> str:
        """Return why a fork of this process would not behave like this process, as a message. Empty if it
        would."""
        threads = len(listdir("/proc/self/task"))  # noqa: PTH208 - pathlib costs 5 ms
        if threads > 1:
            return f"{threads - 1} other {'thread is' if threads == 2 else 'threads are'} running"
        if _has_children():
            return "a process that it started is still running"
        self._places = {}
        for number in sorted({*_descriptors()} - self._descriptors - {connection, self._observed.notes_file}):
            if _is_read_only_file(number):
                self._places[number] = os.lseek(number, 0, os.SEEK_CUR)
            elif (name := _descriptor_target(number)) not in _STATELESS:
                return f"{name} is open"
        if set(_shared_memory()) - self._shared:
            return "it shares memory with other processes"
        if signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL:
            return "it handles the signal SIGCHLD"
        if any(signal.getitimer(which)[0] for which in (0, 1, 2)):
            return "a timer is running"
        return self._external.refusal(self._channel.sent_bytes + piped_bytes)

    def _fork(self, connection: int, mark: int) -> bool:
        """Fork the checkpoint. Return True in the original process when the checkpoint exists, and False in a
        worker that resumes."""
        random, pending = _RandomState(), self._output.pending()
        child = fork()
        if child:
            waitpid(child, 0)
            return True
        try:
            _detach(mark)
            connection, descriptors = self._wait(connection)
            random.restore()
            self._become_worker(descriptors)
            self._output.adopt(pending)
            self._observed.become_session()
            self._external.begin_process(self._channel.sent_bytes)
            _send(connection, "")
            os.close(connection)
        except BaseException:
            _exit(1)
        return False

    def _wait(self, connection: int) -> tuple[int, list[int]]:
        """Wait as a checkpoint. The call returns only in a worker that resumes: the connection to the builder
        and the passed descriptors."""
        null = os.open("/dev/null", os.O_RDWR)
        for number in (1, 2, *self._life):
            os.dup2(null, number)
        os.close(null)
        kept: _KeptCheckpoint | None = None
        while True:
            data, descriptors = _receive(connection)
            if len(descriptors) == 1:
                kept = _KeptCheckpoint(descriptors[0], int.from_bytes(data, "big"))
                _send(connection, "")
                continue
            if len(descriptors) < _PASSED:
                if kept is None:
                    _exit(0)
                os.close(connection)
                connection = kept.accept()
                continue
            changed = self._external.changed()
            child = 0 if changed else fork()
            if changed:
                _send(connection, changed)
            elif not child:
                mark = int.from_bytes(data, "big")
                kept.leave(mark) if kept else _detach(mark)
                return connection, descriptors
            elif not kept:
                waitpid(child, 0)
            for number in descriptors:
                os.close(number)
            if kept and child:
                kept.report_exit(child, connection)

    def _become_worker(self, descriptors: list[int]) -> None:
        """Replace the descriptors of the forked process by the passed ones."""
        control, stdout, stderr, life = descriptors
        self._channel.reopen(control)
        for source, targets in ((stdout, [1]), (stderr, [2]), (life, self._life)):
            for number in targets:
                os.dup2(source, number)
            os.close(source)
        for number, place in self._places.items():
            _reopen(number, place)


class _KeptCheckpoint:
    """Checkpoint that has outlived its builder. listener: socket where later builders connect. seconds: time
    without a worker after which the checkpoint ends."""

    def __init__(self, listener: int, seconds: int) -> None:
        from _socket import socket

        self._listener: Any = socket(fileno=listener)
        self._seconds = seconds
        os.set_inheritable(listener, False)
        self._end = monotonic() + seconds

    def accept(self) -> int:
        """Return a connection to the next builder. End this process if none connects in time."""
        while True:
            left = self._end - monotonic()
            try:
                self._listener.settimeout(min(max(left, 0.001), _MAX_WAIT_S))
                connection: int = self._listener._accept()[0]
            except OSError:
                if left <= 0:
                    self._remove_files()
                    _exit(0)
            else:
                os.set_blocking(connection, True)
                return connection

    def leave(self, mark: int) -> None:
        """Turn a child process into a worker with its own session and mark."""
        resource.setrlimit(_RLIMIT_LOCKS, (mark, mark))
        os.setsid()
        self._listener.close()

    def report_exit(self, child: int, connection: int) -> None:
        """Wait for a worker and send how it ended."""
        code = os.waitstatus_to_exitcode(waitpid(child, 0)[1])
        _send_bytes(connection, b"e" + code.to_bytes(4, "big", signed=True))
        self._end = monotonic() + self._seconds

    def _remove_files(self) -> None:
        """Remove the socket, and the state that the builder has stored beside it. In a sandbox this fails;
        the next run of the builder then removes both."""
        name = self._listener.getsockname()
        for path in (name, name[: -len(".socket")] + ".state"):
            try:
                os.unlink(path)  # noqa: PTH108 - as everywhere in the worker
            except OSError:
                return


def _detach(mark: int) -> None:
    """Turn a child process into a child of the builder, with its own session of the system and its own
    mark."""
    resource.setrlimit(_RLIMIT_LOCKS, (mark, mark))
    # Do this before anyone knows this process: when the other process's group is ended, this one must not be
    # in it.
    os.setsid()
    parent = os.getpid()
    if fork():
        _exit(0)
    os.setsid()
    while os.getppid() == parent:
        sleep(_POLL_S)


class _RandomState:
    """Preserves the state of `random`, because Python reseeds this module in every forked process."""

    def __init__(self) -> None:
        module = sys.modules.get("random")
        self._generator: Any = getattr(module, "_inst", None)
        self._state = self._generator and self._generator.getstate()

    def restore(self) -> None:
        if self._generator is not None:
            self._generator.setstate(self._state)


def _send(connection: int, changed: str) -> None:
    # A path may contain line breaks; keep it on one line.
    _send_bytes(connection, changed.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n")


def _send_bytes(connection: int, data: bytes) -> None:
    """Send data. If the builder is gone, do nothing: the next call of `_receive` notices it."""
    from _socket import socket

    end = socket(fileno=connection)
    try:
        end.sendall(data)
    except ConnectionError:
        pass
    finally:
        end.detach()


def _receive(connection: int) -> tuple[bytes, list[int]]:
    """Wait for a message of the builder. Return its mark (8 bytes, a big-endian integer) and the file
    descriptors sent with it, at most `_PASSED`. Both are empty if the builder has disconnected."""
    return receive_passed(connection, 8, _PASSED)


def _descriptors() -> Iterator[int]:
    for name in listdir("/proc/self/fd"):  # noqa: PTH208
        number = int(name)
        try:
            os.fstat(number)
        except OSError:  # skip the descriptor by which the list itself is read
            continue
        yield number


def _is_pipe(number: int) -> bool:
    return (os.fstat(number).st_mode & 0o170000) == 0o010000


def _is_read_only_file(number: int) -> bool:
    is_file = (os.fstat(number).st_mode & 0o170000) == 0o100000
    return is_file and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


def _reopen(number: int, place: int) -> None:
    """Open a file again under the same descriptor, so that its position is no longer shared with the other
    process. place: position to continue from."""
    try:
        inherited = os.get_inheritable(number)
    except OSError:  # the file object was garbage and was collected
        return
    own = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
    os.lseek(own, place, os.SEEK_SET)
    os.dup2(own, number, inherited)
    os.close(own)


def _descriptor_target(number: int) -> str:
    return os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - as everywhere in the worker


def _has_children() -> bool:
    process = os.getpid()
    with open(f"/proc/{process}/task/{process}/children", "rb") as file:  # noqa: PTH123
        return bool(file.read().strip())


def _shared_memory() -> Iterator[bytes]:
    """Yield memory ranges that are shared with other processes and writable."""
    with open("/proc/self/maps", "rb") as file:  # noqa: PTH123
        for line in file:
            place, rights = line.split(None, 2)[:2]
            if rights[1:2] == b"w" and rights[3:4] == b"s":
                yield place
