"""Kernel data about a server and its child processes; Linux only."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_IDLE = 0.05
"""Share of a core that timers of an idle server may use."""


def processes(pid: int) -> tuple[int, ...]:
    """Return the ids of a process and all its descendants, oldest first."""
    parents = dict(_parents())
    family = [pid]
    for member in family:
        family += sorted(child for child, parent in parents.items() if parent == member)
    return tuple(family)


def _parents() -> Iterator[tuple[int, int]]:
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            yield int(folder.name), int(fields[1])


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on; empty if the process has ended."""
    try:
        # The second field is the program's name in parentheses, which may itself contain spaces and
        # parentheses.
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    return _stat(pid)[:1] not in ([], ["Z"])


def resident_bytes(pid: int) -> int:
    """Return the resident memory of one process; 0 if it has ended."""
    return 1024 * _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    return 1024 * _status(pid, "VmHWM")


def threads(pid: int) -> int:
    return _status(pid, "Threads")


def open_files(pid: int) -> int:
    """Return the number of open file descriptors of one process."""
    try:
        return len(list((_PROC / str(pid) / "fd").iterdir()))
    except OSError:
        return 0


def _status(pid: int, name: str) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def cpu_seconds(pids: tuple[int, ...]) -> float:
    """Return the CPU seconds of processes that still run."""
    return sum(sum(map(int, fields[11:13])) for pid in pids if (fields := _stat(pid))) / _TICKS


def wait_until_idle(pid: int, patience_s: float, look_s: float = 0.4) -> None:
    """Wait until a server has been nearly idle for three samples, when all its pages are built."""
    deadline = time.monotonic() + patience_s
    quiet = 0
    while quiet < 3 and time.monotonic() < deadline:
        family = processes(pid)
        before = cpu_seconds(family)
        time.sleep(look_s)
        quiet = quiet + 1 if cpu_seconds(family) - before <= _IDLE * look_s else 0


class MemoryWatch:
    """The peak memory of a server and its children together, sampled five times a second."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stop = Event()
        self._thread = Thread(target=self._watch)
        self.peak_bytes = 0

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            self.peak_bytes = max(self.peak_bytes, self.now())

    def now(self) -> int:
        """Return the current number of bytes."""
        return sum(resident_bytes(pid) for pid in processes(self._pid))

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.peak_bytes = max(self.peak_bytes, peak_bytes(self._pid))
