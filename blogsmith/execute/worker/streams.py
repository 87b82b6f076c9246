"""`sys.stdout` and `sys.stderr` of cells: one ordered channel for text and images.

Both streams and all displays use one `StreamOutput`, so their order is exact. At first, each printed line is
sent immediately. After a cell has printed many lines, they are sent in batches: 50 MB can then be printed
fast, and a crash loses at most the last 8 kB. Output that background threads print between cells is stored
for the next cell. Output that is printed while a value is computed is dropped, since a value has no place to
show it.
"""

from __future__ import annotations

import fcntl
import io
import os
import sys
import termios
from _thread import RLock, get_ident
from os import _exit, write
from time import monotonic
from typing import TYPE_CHECKING

from .frames import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .frames import Channel
    from .limits import Interrupts

_BATCH_BYTES = 8192
_WAIT_S = 0.05
_UNBATCHED_LINES = 200
_DESCRIPTORS = (("stdout", 1), ("stderr", 2))


class StreamOutput:
    """Output of cells, in order."""

    def __init__(self, channel: Channel, interrupts: Interrupts, text_bytes: int) -> None:
        self._channel = channel
        self._interrupts = interrupts
        self._text_bytes = text_bytes
        self._lock = RLock()
        self._main = get_ident()
        self._open = False
        self._muted = False
        self._orphaned = False
        """Whether this process is a child forked by the author's code, which prints directly to the
        descriptors."""
        self._is_unsynced = False
        """Whether the builder may not have received everything yet."""
        self._kept: list[dict[str, Any]] = []
        """Frames that were sent between cells and are stored for the next cell."""
        self._parts: list[str] = []
        self._size = 0
        self._name = "stdout"
        self._since = 0.0
        self._begin_budget()
        self.flush_c: Callable[[], None] | None = None
        """Function that flushes the output buffers of C code; None while no C code is loaded."""
        os.register_at_fork(after_in_child=self._orphan)

    def _begin_budget(self) -> None:
        self._left = self._text_bytes
        self._lines = _UNBATCHED_LINES
        self._dropped = dict.fromkeys(("stdout", "stderr"), 0)

    def open(self) -> None:
        """Start a cell."""
        kept, self._kept, self._open = self._kept, [], True
        for frame in kept:
            self._deliver(frame)

    def close(self) -> None:
        """End a cell: send pending output."""
        self.flush()
        if self.flush_c:
            self.sync()
        for name, count in self._dropped.items():
            if count:
                self._channel.send({"event": "dropped", "name": name, "bytes": count})
        self._open = False
        self._begin_budget()

    @property
    def is_in_cell(self) -> bool:
        """Whether a cell is running in this process and this thread."""
        return self._open and not self._orphaned and get_ident() == self._main

    def mute(self) -> None:
        """Drop all output until `unmute` is called."""
        self.flush()
        self._muted = True

    def unmute(self) -> None:
        self._muted = False

    def write(self, name: str, text: str) -> None:
        """Accept text for one of the streams, up to the remaining limit of the cell."""
        with self._lock:
            # A loop that prints calls this a million times, so the common cases are short.
            size = len(text) if text.isascii() else len(_encode(text))
            if self._left <= 0 and not self._muted:
                self._dropped[name] += size
            elif self._muted:
                return
            elif self._orphaned:
                _write_below(name, text)
            else:
                if name != self._name:
                    self.flush()
                    self._name = name
                self._parts.append(text if size <= self._left else self._cut(name, text, size))
                self._left -= size
                self._size += size
                if self._is_due(text):
                    self.flush()

    def _is_due(self, text: str) -> bool:
        if self._lines > 0 and text[-1:] == "\n":
            self._lines -= 1
            return True
        now = monotonic()
        if len(self._parts) == 1:
            self._since = now
        return self._size >= _BATCH_BYTES or now - self._since > _WAIT_S

    def flush(self) -> None:
        """Send pending text. Store it if no cell is running."""
        self._interrupts.hold()
        try:
            with self._lock:
                if not self._parts:
                    return
                text, self._parts, self._size = "".join(self._parts), [], 0
                self._deliver({"event": "stream", "name": self._name, "text": text})
        finally:
            self._interrupts.release()

    def emit(self, frame: dict[str, Any]) -> None:
        """Send a message, after the output so far."""
        with self._lock:
            if not self._muted:
                self.flush()
                self._deliver(frame)

    def sync(self) -> None:
        """Wait until the builder has received all output so far. Call this before other code writes to the
        pipes. Threads other than the main one may not read from the socket, so they only flush."""
        if not self.is_in_cell:
            self.flush()
            return
        self._interrupts.hold()
        try:
            self.flush()
            if self._is_unsynced:
                self._is_unsynced = False
                self._channel.send({"event": "sync"})
                if self._channel.receive() is None:
                    _exit(1)
            if self.flush_c:
                self.flush_c()
        finally:
            self._interrupts.release()

    def _deliver(self, frame: dict[str, Any]) -> None:
        if self._open:
            self._is_unsynced = True
            if sys.platform == "linux":  # elsewhere, the writing end cannot see the unread bytes
                frame["below"] = [_waiting(descriptor) for _, descriptor in _DESCRIPTORS]
            self._channel.send(frame)
        else:
            self._kept.append(frame)

    def _cut(self, name: str, text: str, size: int) -> str:
        kept = _encode(text)[: self._left].decode("utf-8", "ignore")
        self._dropped[name] += size - len(kept.encode("utf-8"))
        return kept

    def pending(self) -> tuple[Any, ...]:
        """Return unsent output, to pass to `adopt` in another process."""
        return list(self._parts), self._size, self._name, list(self._kept)

    def adopt(self, pending: tuple[Any, ...]) -> None:
        """Continue with the unsent output of another process, in a forked process that becomes a worker."""
        self._parts, self._size, self._name, self._kept = pending
        self._orphaned = self._is_unsynced = False

    def _orphan(self) -> None:
        """Reset state in a forked child, because unsent output belongs to the parent, and locks held by other
        threads are never released."""
        self._lock = RLock()
        self._parts, self._kept, self._size = [], [], 0
        self._orphaned = True


class CapturedStream(io.TextIOBase):
    """The object that is `sys.stdout` or `sys.stderr` for Python code."""

    encoding = "utf-8"
    errors = "replace"
    mode = "w"
    line_buffering = True

    def __init__(self, output: StreamOutput, name: str, descriptor: int) -> None:
        self._write = output.write
        self._output = output
        self._stream = name
        self._descriptor = descriptor
        self.name = f"<{name}>"
        self.buffer = _Bytes(self, output)

    def write(self, text: str) -> int:
        """Write text. Return its number of characters."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._write(self._stream, text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:  # type: ignore[override]
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._output.flush()

    def close(self) -> None:
        """Flush, but do not close, because the next cell prints too."""
        self.flush()

    def fileno(self) -> int:
        """Return the real descriptor, for programs that a cell starts."""
        return self._descriptor

    def writable(self) -> bool:
        return True

    def reconfigure(self, **options: object) -> None:
        """Do nothing: the text is always UTF-8 and sent line by line."""


class _Bytes(io.BufferedIOBase):
    """Object for `sys.stdout.buffer`: UTF-8, with invalid bytes replaced by U+FFFD."""

    def __init__(self, stream: CapturedStream, output: StreamOutput) -> None:
        import codecs

        self._stream = stream
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: Any) -> int:
        """Write bytes, and return their number. A character may be split over two calls."""
        view = memoryview(data).cast("B")
        self._stream.write(self._decoder.decode(view))
        return view.nbytes

    def flush(self) -> None:
        self._output.flush()

    def close(self) -> None:
        self.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True


def install(output: StreamOutput) -> None:
    """Install our streams, including the names from which Python restores them."""
    sys.stdout, sys.stderr = (CapturedStream(output, name, descriptor) for name, descriptor in _DESCRIPTORS)
    # code that redirects a stream restores it from these names; typeshed declares them as constants
    sys.__dict__.update(__stdout__=sys.stdout, __stderr__=sys.stderr)


def _waiting(descriptor: int) -> int:
    """Return the number of unread bytes in a pipe. They precede every frame that is sent from now on."""
    try:
        return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)
    except OSError:
        return 0


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return without_surrogates(text).encode("utf-8")


def _write_below(name: str, text: str) -> None:
    data = memoryview(_encode(text))
    while data:
        data = data[write(dict(_DESCRIPTORS)[name], data) :]
