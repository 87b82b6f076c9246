"""Notes about the dependencies of a session, from its own process and from forked children.

A forked child cannot send messages to the builder. It writes its notes to an unnamed file that it has
inherited. The session reads this file at the end of the cell.
"""

from __future__ import annotations

import os
from collections import deque
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Notes:
    """Notes since the last call of `take`, each only once. temporary: folder for the shared file, on systems
    that cannot create files in memory."""

    def __init__(self, temporary: str) -> None:
        self._temporary = temporary
        self._new: deque[tuple[str, ...]] = deque()
        self._known: set[tuple[str, ...]] = set()
        self.file = -1
        """Descriptor of the shared file; -1 if there is none."""
        self._position = 0
        self._rest = b""
        self.is_child = False
        """Whether this is a forked child."""

    def install(self) -> None:
        """Recognize forked children from now on. They inherit this object."""
        os.register_at_fork(after_in_child=self._become_child)

    def add(self, *note: str) -> None:
        """Add a note, unless it was added before."""
        if note not in self._known:
            self._known.add(note)
            self.add_again(*note)

    def add_again(self, *note: str) -> None:
        """Add a note, whether or not it was added before."""
        if not self.is_child:
            self._new.append(note)
        elif self.file >= 0:
            _write_all(self.file, JSONEncoder().encode(note).encode("ascii") + b"\n")

    def is_known(self, *note: str) -> bool:
        """Return whether a note was added before."""
        return note in self._known

    def forget(self, kind: str) -> None:
        """Allow notes of a kind to be added again."""
        self._known = {note for note in self._known if note[0] != kind}

    def share(self) -> None:
        """Create the file that children write to, before the first one is forked."""
        if self.file < 0 and not self.is_child:
            self.file = _nameless_file(self._temporary)

    def take(self) -> Iterator[tuple[str, ...]]:
        """Yield and remove all notes, including those of children so far."""
        while self._new:
            yield self._new.popleft()
        while self.file >= 0:
            data = os.pread(self.file, 1024 * 1024, self._position)
            if not data:
                return
            self._position += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                yield from _decoded(line)

    def become_session(self) -> None:
        """Continue as the session, in a process that was forked from a checkpoint."""
        self.is_child = False

    def _become_child(self) -> None:
        self.is_child = True
        self._new.clear()


def _decoded(line: bytes) -> Iterator[tuple[str, ...]]:
    try:
        note = JSONDecoder().decode(line.decode("ascii"))
    except (ValueError, RecursionError):  # the child ended in the middle of a line, or a cell wrote the line
        return
    yield tuple(map(str, note))


def _write_all(descriptor: int, data: bytes) -> None:
    try:
        # All processes share one position, so the system appends each write as a whole.
        os.write(descriptor, data)
    except OSError:
        return


def _nameless_file(folder: str) -> int:
    try:
        return os.memfd_create("blogsmith-notes")
    except (AttributeError, OSError):
        pass
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=folder or None) as file:
            return os.dup(file.fileno())
    except OSError:
        return -1
