"""Bytes that are expensive to make, kept in the site's `.blogsmith/` from one build to the next.

A name says everything its bytes depend on, so what is kept never grows stale; what is damaged is made again.
Nothing depends on it: without the folder, or without the right to write there, a build only takes longer.
"""

from __future__ import annotations

from contextlib import suppress

from .folder import Folder, open_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from pathlib import Path

CACHE = ".blogsmith"
"""The folder of a site for what concerns this machine only."""
MOST = 8
"""Files of one kind, if nothing else is said; the oldest go first."""


def open_cache(root: Path | str, kind: str = ".", *, make: bool = True) -> Folder:
    """`.blogsmith/` of a site, or a folder in it; made if it is missing. OSError if it cannot be entered."""
    with open_folder(root) as site:
        return site.enter(f"{CACHE}/{kind}", make=make)


def read_or_make(root: Path, kind: str, name: str, make: Callable[[], bytes], most: int = MOST) -> bytes:
    """What `make` gives, from `.blogsmith/<kind>/` of the site if it lies there under `name`.

    most: files of this kind that are kept. Two builds at once are safe: each file appears whole.
    """
    found = read_bytes(root, kind, name)
    if found is not None:
        return found
    data = make()
    keep_bytes(root, kind, name, data)
    keep_only(root, kind, (), most)
    return data


def keep_bytes(root: Path, kind: str, name: str, data: bytes) -> None:
    """Keep bytes under a name in `.blogsmith/<kind>/`, if that can be written."""
    with suppress(OSError), open_cache(root, kind) as folder:
        # what a power cut leaves of it has another checksum
        folder.replace(name, _checksum(data) + data, is_durable=False)


def keep_only(root: Path, kind: str, names: Container[str], others: int) -> None:
    """Of `.blogsmith/<kind>/`, remove what has other names, but for so many of the youngest."""
    with suppress(OSError), open_cache(root, kind, make=False) as folder:
        entries = [name for name, is_folder in folder.entries() if not is_folder and name not in names]
        # to look at each of them takes longer than to count them
        for old in _by_age(folder, entries)[others:] if len(entries) > others else ():
            with suppress(FileNotFoundError):
                folder.remove(old)


def read_bytes(root: Path, kind: str, name: str) -> bytes | None:
    """What `keep_bytes` was given; None if there is nothing, or it does not agree with its own SHA-256."""
    try:
        with open_cache(root, kind, make=False) as folder:
            stored = folder.read(name)
    except OSError:
        return None
    digest, data = stored[:32], stored[32:]
    return data if _checksum(data) == digest else None


def _checksum(data: bytes) -> bytes:
    # every start imports this module, and this loads OpenSSL
    import hashlib

    return hashlib.sha256(data).digest()


def _by_age(folder: Folder, names: Iterable[str]) -> list[str]:
    """Files, the youngest first; with those that a build which was stopped left behind."""
    found = [(folder.status(name), name) for name in names]
    return [name for _, name in sorted((-status.st_mtime_ns, name) for status, name in found if status)]
