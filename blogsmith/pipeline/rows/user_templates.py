"""Compiled templates of the last new site of this user, with which the next one begins.

Most sites share the templates of a bundled theme, and compiling them is a fifth of the first build of a small
site. They lie beside the user's key, where no site can write, and carry a seal like rows of a site do.
"""

from __future__ import annotations

from contextlib import suppress

from ...base.storage.folder import open_folder
from ...project.trust.place import state_folder
from ...project.trust.seal import make_sealer, read_sealer

FILE = "templates.bin"
_PURPOSE = "templates 1"
_SEAL_BYTES = 32
_MOST_BYTES = 1 << 24


def read_user_templates(program: str) -> bytes:
    """What `keep_user_templates` was given last for this program; empty if there is nothing of ours."""
    sealer = read_sealer(_PURPOSE) if program else None
    if sealer is None:
        return b""
    with suppress(OSError, RuntimeError), open_folder(state_folder()) as folder:
        kept = folder.read(FILE, _MOST_BYTES)
        seal, data = kept[:_SEAL_BYTES], kept[_SEAL_BYTES:]
        if sealer.holds(seal, program.encode(), data):
            return data
    return b""


def keep_user_templates(program: str, data: bytes) -> None:
    """Keep this for new sites, if the user's folder can be written to."""
    if not program or len(data) > _MOST_BYTES - _SEAL_BYTES:
        return
    with suppress(OSError, RuntimeError):
        seal = make_sealer(_PURPOSE).seal(program.encode(), data)
        with open_folder(state_folder()) as folder:
            # what a power cut leaves of it has another seal
            folder.replace(FILE, data, mode=0o600, head=seal, is_durable=False)
