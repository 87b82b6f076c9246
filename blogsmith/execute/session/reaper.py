"""Finds all processes that a session has started, measures their memory, and ends them.

A process group is not enough, because a child may leave it. On Linux, the worker of each session carries a
mark that all its descendants inherit, whatever they do to their group, parents and environment. The mark is a
number set as the limit on file locks. The kernel stores this limit for every process and has not enforced it
since 2.4.25. The same number is in the environment, for kernels that do not allow setting the limit. The
builder also becomes the parent of orphaned processes, so that they can be counted while the session runs and
leave no zombies. On other systems, only the group is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import signal
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from .environment import count_cores
from .process import Process

MARK_NAME = "BLOGSMITH_SESSION"
"""Environment variable that contains the mark."""
_MAX_PROCESSES = 128
_MAX_STEP = 1 << 24
"""Largest difference between the numbers of two marks. A session can be forked from another one 16 million
times."""

_LINUX = sys.platform == "linux"
_RLIMIT_LOCKS = 10
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_END_S = 5.0
_CHILD_WAIT_S = 1.0
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """Processes and memory that a session uses at one moment."""

    processes: int
    memory_bytes: int
    """Resident memory in bytes; 0 if the system is not Linux. Memory that several processes share is counted
    once only if the plain sum exceeds the limit."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark that all processes of one session share."""

    number: int
    """Number that no other session has."""
    in_limits: bool
    """Whether the kernel stores the number as a limit of each process. If not, the number is only in the
    environment variable."""


def new_number(below: int | None = None) -> int:
    """Return a number for a mark. It must be in the worker's environment before the worker starts. below:
    mark of the process to fork from. The result is smaller, because without privileges a limit can only
    decrease."""
    if below is not None:
        return below - 1 - secrets.randbelow(_MAX_STEP)
    return secrets.randbits(48) | 1 << 48


def mark_process(process: Process, number: int) -> Mark:
    """Set the mark of a worker that has not run anything yet, and return the mark."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process.pid, _RLIMIT_LOCKS, (number, number))
            return Mark(number, resource.prlimit(process.pid, _RLIMIT_LOCKS)[1] == number)
    return Mark(number, False)


@contextlib.contextmanager
def orphan_adoption() -> Iterator[None]:
    """In the `with` block, become the parent of descendants whose own parent dies, if the system supports
    it."""
    before = _adopts()
    adopt_orphans(True)
    try:
        yield
    finally:
        adopt_orphans(before)


def adopt_orphans(wanted: bool) -> None:
    """Set whether this process becomes the parent of descendants whose own parent dies."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def hide_memory() -> None:
    """Prevent other processes of this user, such as cells, from reading the memory and the environment of
    this process. Processes of root can still read both."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _adopts() -> bool:
    flag = ctypes.c_int(0)
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(flag), 0, 0, 0)
    return bool(flag.value)


def usage(process: Process, mark: Mark, limit_bytes: int) -> Usage:
    """Return the number of processes of a session and their memory. Memory shared by processes is counted
    once only if the plain sum exceeds `limit_bytes`, because that is slow."""
    if not _LINUX:
        return Usage(1, 0)
    if process.is_adopted:
        adopted = [pid for pid in _children(os.getpid()) if _is_marked(pid, mark)]
    else:
        adopted = find_marked(mark)
    pids = _with_descendants([process.pid, *adopted])
    resident = sum(map(resident_bytes, pids))
    if 0 < limit_bytes < resident:
        resident = sum(resident_bytes(pid, shared=True, alone=len(pids) == 1) for pid in pids)
    return Usage(len(pids), resident)


def end_session(process: Process, mark: Mark) -> int | None:
    """Kill and reap all remaining processes of a session. Return the worker's exit code, or minus its signal
    number; None if unknown."""
    # The group number is not reused while one of its processes lives, nor soon after.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pgid, signal.SIGKILL)
    code = process.wait(_END_S)
    end_survivors(mark)
    return code


def end_survivors(mark: Mark) -> None:
    """Kill and reap all processes that carry a mark."""
    end = time.monotonic() + _END_S
    while (left := find_marked(mark)) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def find_marked(mark: Mark) -> list[int]:
    """Return all processes on the machine that carry a mark, except zombies of other parents."""
    if not _LINUX:
        return []
    pids = [int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdigit()]
    return [pid for pid in pids if _is_marked(pid, mark) and not _is_foreign_zombie(pid)]


def memory_of_marks(numbers: Collection[int]) -> dict[int, int]:
    """Map each mark to the memory in bytes of the processes that have it as a resource limit. Shared memory
    is counted in part."""
    found: dict[int, int] = {}
    if sys.platform == "linux" and numbers:
        import resource

        for pid in [int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdigit()]:
            with contextlib.suppress(OSError, ValueError):
                number = resource.prlimit(pid, _RLIMIT_LOCKS)[1]
                if number in numbers:
                    found[number] = found.get(number, 0) + resident_bytes(pid, shared=True)
    return found


def process_with_mark(number: int, *, is_child: bool = True) -> int | None:
    """Wait for a process that carries a mark, and return its id. None if none appears for a while. is_child:
    whether the process is, or becomes, a child of this process."""
    mark = Mark(number, in_limits=True)
    end = time.monotonic() + _CHILD_WAIT_S
    while True:
        # The kernel may leave a child out of the list while others end.
        children = (pid for pid in _children(os.getpid()) if _is_marked(pid, mark))
        found = next(children if is_child else iter(find_marked(mark)), None)
        if found is not None or time.monotonic() >= end:
            return found
        time.sleep(0.001)


def _is_marked(pid: int, mark: Mark) -> bool:
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            if mark.in_limits:
                return resource.prlimit(pid, _RLIMIT_LOCKS)[1] == mark.number
            return f"{MARK_NAME}={mark.number}\0".encode() in (_PROC / str(pid) / "environ").read_bytes()
    return False


def _is_foreign_zombie(pid: int) -> bool:
    try:
        # The name, in brackets, may contain anything. State and parent follow it.
        state, parent = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return True
    return state in (b"Z", b"X") and int(parent) != os.getpid()


def process_limit() -> int:
    """Return the maximum number of processes of one session. It grows with the number of cores, since process
    pools start one per core."""
    return max(_MAX_PROCESSES, 2 * count_cores())


def _with_descendants(pids: list[int]) -> list[int]:
    found = list(dict.fromkeys(pids))
    for pid in found:
        found += [child for child in _children(pid) if child not in found]
        if len(found) > 8 * process_limit():
            break
    return found


def _children(pid: int) -> list[int]:
    """Return the ids of the children of a process, for all of its threads. Empty if the process is gone or
    the system lists none."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_bytes().split())
    return found


def resident_bytes(pid: int, *, shared: bool = False, alone: bool = False) -> int:
    """Return the resident memory of a process in bytes, or 0 if it has ended.

    shared: whether a page of memory that n processes map counts as 1/n of a page, if the kernel reports this.
    alone: whether anonymous memory counts completely even if `shared` is set. This is right for the only
    process of a session, because only checkpoints can share that memory.
    """
    try:
        if shared:
            sizes = _parse_rollup((_PROC / str(pid) / "smaps_rollup").read_bytes())
            anonymous = sizes["Anonymous"] - sizes["Pss_Anon"] if alone and "Pss_Anon" in sizes else 0
            return sizes["Pss"] + anonymous
    except (OSError, KeyError, ValueError):
        pass
    try:
        return int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _parse_rollup(rollup: bytes) -> dict[str, int]:
    """Return bytes by name from lines such as `Pss:  20 kB`. The first line is the address range."""
    lines = [line.split() for line in rollup.decode("ascii", "replace").splitlines()[1:]]
    return {line[0].rstrip(":"): int(line[1]) * 1024 for line in lines if len(line) == 3}
