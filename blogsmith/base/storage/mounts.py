"""Which file systems several machines share: what needs memory that processes have in common fails there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_SHARED = ("nfs", "cifs", "smb", "afs", "9p", "lustre", "ceph", "gpfs", "beegfs", "glusterfs", "fuse.sshfs")
"""How the names of such file systems begin."""
_MOUNTS = "/proc/self/mountinfo"
_PLACE, _AFTER_DASH = 4, 1
"""Fields of a line: where it is mounted, and, after a lone dash, the kind of file system (proc(5))."""


def is_shared(file: Path, mounts: str = _MOUNTS) -> bool:
    """Whether a file lies on a drive of the network, as far as this system tells."""
    if sys.platform != "linux":
        return False
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
            lines = [line.split(" ") for line in stream]
    except OSError:
        return False
    path, best, kind = os.path.realpath(file), "", ""
    for fields in lines:
        place = fields[_PLACE].replace("\\040", " ")
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, fields[fields.index("-") + _AFTER_DASH]
    return kind.startswith(_SHARED)
