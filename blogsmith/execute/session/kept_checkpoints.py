"""Checkpoints that outlive a build, so that the next build can continue before an edited cell.

Each checkpoint waits at a Unix socket in the temporary folder of the run that made it. A file beside the
socket contains the results so far. Only this user can enter the folder, and cells in a sandbox cannot write
to it. A checkpoint that is not used for some time ends by itself. It is valid while everything that its
session has seen is unchanged: the checkpoint compares the files that Python opened, and the builder compares
all other states.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ...base.storage.folder import open_folder
from .checkpoints import Checkpoint, ResumedWorker, SessionProgress
from .reaper import Mark, end_survivors, find_marked, memory_of_marks
from .working_folder import SOCKET, SessionFolder, lock_folder, note_use, run_folders

STATE = ".state"
MAX_KEPT = 24
"""Maximum number of waiting checkpoints of this user."""
_KEY = 16
"""Number of digits of a key that file names contain. It is limited because the path of a socket has at most
107 bytes."""
_NAME = re.compile(rf"([0-9a-f]{{{_KEY}}})-([0-9a-f]{{13}}){re.escape(SOCKET)}")
_CONNECT_S = 10.0
_WAITING_BUILDERS = 16


class KeptState(Struct, frozen=True):
    """Content of the file beside the socket of a checkpoint."""

    key: str
    progress: SessionProgress
    folder: str
    """Name of the temporary folder of the session."""
    states: dict[str, str] | None
    """States as returned by `UsedFiles.current_states`; None if nothing has run."""


class _SharedFolder(SessionFolder):
    """Temporary folder of a session that several builders use in turn. It is removed with its run's folder,
    not by this class."""

    def begin_turn(self, wait_s: float) -> bool:
        """Start to use the folder. Return False if another builder still uses it after `wait_s` seconds."""
        if not self.path.is_dir() or (held := lock_folder(str(self.path))) is None:
            return False
        if not super().begin_turn(wait_s):
            os.close(held)
            return False
        self._held = held
        self.empty()  # a builder that was killed left its files
        return True

    def end_turn(self) -> None:
        """Empty the folder after a session, so that the next one can use it."""
        super().end_turn()
        os.close(self._held)


class KeptCheckpoints:
    """Checkpoints left by earlier builds, and those that this build leaves. seconds: time without use after
    which a checkpoint ends. max_bytes: maximum memory of all waiting checkpoints in bytes."""

    def __init__(self, seconds: int, max_bytes: int) -> None:
        self._seconds, self._max_bytes = seconds, max_bytes
        self._locks = ExitStack()

    def close(self) -> None:
        """Allow other builders to remove the folders that this one has used."""
        self._locks.close()

    def resume(self, keys: Sequence[str], stack: ExitStack) -> ResumedWorker | None:
        """Return a worker that resumes from the valid checkpoint whose key is last in `keys`. None if there
        is none. stack: resources to release when the worker is gone."""
        kept = {name[:_KEY]: (folder, name) for folder, name in _waiting()}
        for key in reversed(keys):
            if key[:_KEY] not in kept:
                continue
            folder, name = kept[key[:_KEY]]
            if (checkpoint := self._open(folder, name, key)) is None:
                continue
            try:
                worker = checkpoint.resume(stack)
            except TimeoutError:
                return None
            if worker is not None:
                note_use(folder / f"{name}{STATE}")
                return worker
            checkpoint.close()
        return None

    def keep(self, checkpoints: Iterable[tuple[str, Checkpoint]]) -> None:
        """Leave checkpoints, each with its key, for later builds. Close those that cannot be left."""
        for key, checkpoint in checkpoints:
            if not self._leave(key, checkpoint):
                checkpoint.close()
        self._trim()

    def _open(self, folder: Path, name: str, key: str) -> Checkpoint | None:
        """Return a waiting checkpoint, or None if it is gone or no longer valid."""
        with suppress(OSError):
            held = lock_folder(str(folder), shared=True)
            if held is None:
                return None
            self._locks.callback(os.close, held)
        mark = Mark(int(name[_KEY + 1 :], 16), in_limits=True)
        with ExitStack() as undo:
            remove = ExitStack()
            remove.callback(_remove_files, folder, name)
            undo.push(remove)
            undo.callback(end_survivors, mark)
            connection = self._locks.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(_CONNECT_S)
            try:
                with open_folder(folder) as opened:
                    state = _decode(opened.read(f"{name}{STATE}"))
                connection.connect(str(folder / f"{name}{SOCKET}"))
            except (OSError, msgspec.DecodeError):
                return None
            used = state.progress.used
            pids = find_marked(mark)
            if not pids or state.key != key or (used and used.current_states() != state.states):
                return None
            undo.pop_all()
            own = _SharedFolder(folder / state.folder)
            return Checkpoint(state.progress, pids[0], connection, mark, own, remove, _wait=None)

    def _leave(self, key: str, checkpoint: Checkpoint) -> bool:
        """Make a checkpoint wait for later builds. Return whether that was possible."""
        own = checkpoint.folder.path
        used = checkpoint.progress.used
        states = used.current_states() if used else None
        if used and states is None:
            return False
        name = f"{key[:_KEY]}-{checkpoint.mark_number:013x}"
        data = msgspec.msgpack.encode(KeptState(key, checkpoint.progress, own.name, states), enc_hook=str)
        with ExitStack() as undo:
            undo.callback(_remove_files, own.parent, name)
            try:
                with open_folder(own.parent) as opened, opened.create(f"{name}{STATE}", 0o600) as file:
                    file.write(data)
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(str(own.parent / f"{name}{SOCKET}"))
                    listener.listen(_WAITING_BUILDERS)
                    if not checkpoint.outlive(listener, self._seconds):
                        return False
            except OSError:  # also if the path is too long for a socket
                return False
            undo.pop_all()
        return True

    def _trim(self) -> None:
        """End the least recently used checkpoints until the limits are met."""
        kept = sorted(_waiting(), key=_last_use, reverse=True)
        marks = [int(name[_KEY + 1 :], 16) for _, name in kept]
        sizes = memory_of_marks(marks)
        total = 0
        for count, ((folder, name), mark) in enumerate(zip(kept, marks, strict=True), 1):
            total += sizes.get(mark, 0)
            if count > MAX_KEPT or total > self._max_bytes:
                end_survivors(Mark(mark, in_limits=True))
                _remove_files(folder, name)


def _waiting() -> Iterator[tuple[Path, str]]:
    """Yield each waiting checkpoint as its folder and the name of its files without suffix."""
    for folder in run_folders():
        with suppress(OSError):
            for entry in list(folder.iterdir()):
                if _NAME.fullmatch(entry.name):
                    yield folder, entry.name.removesuffix(SOCKET)


def _last_use(waiting: tuple[Path, str]) -> int:
    folder, name = waiting
    try:
        return (folder / f"{name}{STATE}").stat().st_mtime_ns
    except OSError:
        return 0


def _remove_files(folder: Path, name: str) -> None:
    with suppress(OSError), open_folder(folder) as opened:
        for suffix in (SOCKET, STATE):
            with suppress(FileNotFoundError):
                opened.remove(f"{name}{suffix}")


def _decode(data: bytes) -> KeptState:
    return msgspec.msgpack.decode(data, type=KeptState, dec_hook=lambda kind, value: kind(value))
