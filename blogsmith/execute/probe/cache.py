"""What the probe said, kept in the cache of the site: to ask torch for its device takes seconds.

An answer holds as long as the Python, every folder it imports from, the variables that choose devices and
the driver are as they were. What may be otherwise the next time is not kept: no answer at all, a device that
torch does not see although its driver is there, modules inside of packages. A row that is broken or of
another version counts as none, and one that cannot be written costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, TypeGuard

import msgspec

from ...base.storage.site_cache import Row, open_site_cache
from ...base.storage.stamps import stamp_at
from .program import folder_stamp

SCHEMA = 1
"""Of the row, and of what the probe means by its words."""
_NAME = "pythons"
MOST_PYTHONS = 8
"""Kept at once; the oldest goes first."""
_PREFIXES = ("CUDA", "NVIDIA", "HIP", "ROCR", "TORCH", "PYTORCH", "PYTHON", "LD_", "DYLD_")
_NAMES = ("PATH", "HOME", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables, with those that begin so, on which it depends what a Python finds."""

Answer = Mapping[str, Any]
"""As the probe gives it: `packages`, `cuda`, `path`."""


class CacheEntry(TypedDict):
    """What is kept of one Python."""

    path: Mapping[str, str]
    """Folder → stamp."""
    state: str
    """Digest of what the rest depends on."""
    packages: Mapping[str, str | None]
    """Import name → version; None: it is not there."""
    cuda: Mapping[str, str]
    """As the probe gives it; empty: unknown."""


@dataclass(frozen=True, slots=True)
class ProbeCache:
    """The answers of the Pythons that one site uses."""

    root: Path
    """Of the site."""
    machine: Path = Path("/")
    """Where `dev/` and `proc/` are."""

    def lookup(self, names: Collection[str], python: str, environ: Mapping[str, str]) -> Answer | None:
        """What is known to hold still of all `names`; None if the probe must be asked."""
        entry = self._entries().get(python)
        if entry is None or not all(_is_in(name, entry) for name in names):
            return None
        path = {folder: folder_stamp(folder) for folder in entry["path"]}
        if entry["state"] != self._state(python, environ, path):
            return None
        packages = {name: version for name, version in entry["packages"].items() if version is not None}
        return {"packages": packages, "cuda": entry["cuda"]}

    def keep(self, names: Collection[str], python: str, environ: Mapping[str, str], answer: Answer) -> None:
        """Keep what lasts of an answer to `names`."""
        path, found, cuda = answer.get("path"), answer.get("packages"), answer.get("cuda")
        if not (path and _is_words(path) and _is_words(found)):
            return
        entry: CacheEntry = {
            "path": path,
            "state": self._state(python, environ, path),
            # what was not found is known too
            "packages": {name: found.get(name) for name in names if name != "cuda" and "." not in name},
            "cuda": cuda if _is_device(cuda) and _lasts(cuda) else {},
        }
        entries = self._entries()
        old = entries.pop(python, None)
        if old and old["state"] == entry["state"]:
            entry["packages"] = {**old["packages"], **entry["packages"]}
            entry["cuda"] = entry["cuda"] or old["cuda"]
        entries[python] = entry
        self._write(dict(list(entries.items())[-MOST_PYTHONS:]))

    def _state(self, python: str, environ: Mapping[str, str], path: Mapping[str, str]) -> str:
        """Digest of everything an answer depends on."""
        real, bin_folder = os.path.realpath(python), Path(python).parent
        chosen = {n: v for n, v in environ.items() if n in _NAMES or n.startswith(_PREFIXES)}
        parts = {
            "python": [python, real, _stamp_of(Path(real))],
            "environment": [_stamp_of(folder / "pyvenv.cfg") for folder in (bin_folder, bin_folder.parent)],
            "variables": chosen,
            # a relative folder in it is another one elsewhere
            "here": str(Path.cwd()) if "PYTHONPATH" in environ else "",
            "path": list(path.items()),
            "driver": self._driver(),
        }
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _driver(self) -> list[str]:
        """The devices and the driver of the machine, as far as files tell."""
        found = [str(file) for pattern in ("nvidia*", "nvidia-caps/*", "dxg") for file in self._dev(pattern)]
        try:
            version = (self.machine / "proc/driver/nvidia/version").read_text(errors="replace")
        except OSError:
            version = ""
        return [*found, version]

    def _dev(self, pattern: str) -> list[Path]:
        return sorted((self.machine / "dev").glob(pattern))

    def _entries(self) -> dict[str, CacheEntry]:
        """Python → what is kept of it, the oldest first."""
        with open_site_cache(self.root) as rows:
            row = rows.get("probe", _NAME)
        if row is None or row.key != str(SCHEMA):
            return {}
        try:
            return msgspec.msgpack.decode(row.data, type=dict[str, CacheEntry])
        except msgspec.MsgspecError:
            return {}

    def _write(self, entries: Mapping[str, CacheEntry]) -> None:
        # in the order they came, which tells the oldest
        # names of folders may be no text
        with suppress(UnicodeError), open_site_cache(self.root) as rows:
            rows.put("probe", _NAME, Row(str(SCHEMA), msgspec.msgpack.encode(entries)))


def _is_in(name: str, entry: CacheEntry) -> bool:
    return bool(entry["cuda"]) if name == "cuda" else name in entry["packages"]


def _is_device(found: Any) -> TypeGuard[Mapping[str, str]]:
    return _is_words(found) and ("capability" in found or "problem" in found)


def _lasts(device: Mapping[str, str]) -> bool:
    return "capability" in device or "lasting" in device


def _is_words(found: Any) -> TypeGuard[Mapping[str, str]]:
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def _stamp_of(file: Path) -> tuple[int, int] | None:
    """Not the inode: in a container a file that stays the same has another one at each start."""
    stamp = stamp_at(file)
    return stamp and stamp.written
