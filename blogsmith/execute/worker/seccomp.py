"""Seccomp filter of the sandbox, which prevents this process and its children from creating sockets.

Landlock cannot restrict Unix sockets of the file system, through which programs outside the sandbox answer,
such as ssh-agent, Docker and the session bus. A filter sees only numbers, not the path of a socket. So the
filter rejects every Unix socket, except connected pairs, which reach no other program. It can also reject all
other kinds of sockets.

Source: the kernel's `userspace-api/seccomp_filter.rst`.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_PR_CAPBSET_DROP = 24
_CAPABILITIES = (19, 21, 38)
"""`CAP_SYS_PTRACE`, `CAP_SYS_ADMIN`, `CAP_PERFMON`. With these, root can read the memory of any process."""
_CAPABILITY_VERSION = 0x20080522
_AF_UNIX, _STREAM, _SEQPACKET = 1, 1, 5
_IO_URING_SETUP = 425
_X32 = 0x4000_0000
"""Bit in the numbers of system calls with 32-bit pointers on x86-64."""
_ALLOW, _REJECT = 0x7FFF_0000, 0x0005_0000
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in `struct seccomp_data`: system call number, architecture, and the lower halves of the first two
arguments on little-endian machines."""
_MACHINES = {
    "x86_64": (0xC000_003E, 41, 53, 126),
    "aarch64": (0xC000_00B7, 198, 199, 91),
}
"""Machine → its number in audit records, and the numbers of `socket`, `socketpair` and `capset`."""


def restrict_sockets(*, has_network: bool) -> str:
    """Restrict the sockets of this process, which must have set `no_new_privs`. Return why this failed, as a
    message; empty if it worked. has_network: whether UDP and other kinds of sockets stay allowed."""
    known = _MACHINES.get(os.uname().machine)
    if known is None or sys.byteorder != "little":
        return "the sandbox needs x86-64 or ARM64"
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    _drop_tracing(library, known[3])
    program = _program(*known[:3], has_network=has_network)
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog
    header = struct.pack("=Hxxxxxx", len(program) // 8) + struct.pack("=Q", ctypes.addressof(buffer))
    if library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(header, len(header)), 0, 0):
        number = ctypes.get_errno()
        if number == errno.EINVAL:
            return "this kernel has no seccomp filters"
        return f"seccomp failed: {os.strerror(number)}"
    return ""


def _program(architecture: int, socket: int, pair: int, *, has_network: bool) -> bytes:
    """Return the filter of `restrict_sockets` in classic BPF. Each instruction consists of an operation, two
    jumps (if true, if false) and an operand. A jump is the number of instructions to skip. socket, pair:
    numbers of the system calls `socket` and `socketpair`."""
    reject, unknown = _REJECT | errno.EACCES, _REJECT | errno.ENOSYS
    steps: Sequence[tuple[int, int, int, int]] = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 14, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 12, 0, _X32),
        # requests of io_uring open sockets without these system calls; programs work without io_uring
        (_EQUAL, 11, 0, _IO_URING_SETUP),
        (_EQUAL, 2, 0, socket),
        (_EQUAL, 3, 0, pair),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST),
        (_EQUAL, 5, 4 if has_network else 5, _AF_UNIX),
        # a datagram socket of a pair can be connected to any other socket later
        (_LOAD, 0, 0, _SECOND),
        (_AND, 0, 0, 0xF),
        (_EQUAL, 1, 0, _STREAM),
        (_EQUAL, 0, 1, _SEQPACKET),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, reject),
        (_RETURN, 0, 0, unknown),
    )
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _drop_tracing(library: Any, capset: int) -> None:
    """Give up the capabilities to read the memory of other processes, such as the builder. They cannot be
    regained."""
    import ctypes

    for number in _CAPABILITIES:
        library.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    kept = ~sum(1 << number for number in _CAPABILITIES)
    head = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    data = ctypes.create_string_buffer(24)
    if library.capget(head, data) == 0:
        # two structs of effective, permitted and inheritable, with 32 capabilities each
        sets = struct.unpack("=6I", data.raw)
        low, high = kept & 0xFFFF_FFFF, kept >> 32 & 0xFFFF_FFFF
        left = [value & (low if place < 3 else high) for place, value in enumerate(sets)]
        library.syscall(ctypes.c_long(capset), head, struct.pack("=6I", *left))
