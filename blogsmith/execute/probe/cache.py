"""Results of the probe, stored in the site cache, because torch takes seconds to report its device.

A result is valid while all of these are unchanged: the Python, every folder that it imports from, the
variables that choose devices, and the driver. Some facts may differ next time and are not stored: a probe
without a result, a device that torch does not see although its driver is installed, and modules inside
packages. A cache entry that is damaged or has another version is ignored. If an entry cannot be written, the
probe only runs again.
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
from ...base.storage.stamps import read_stamp
from .program import folder_stamp

SCHEMA = 1
"""Version of the cache entries and of the probe's output format."""
_NAME = "pythons"
MAX_PYTHONS = 8
"""Maximum number of Pythons whose results are stored. The oldest is removed first."""
_PREFIXES = ("CUDA", "NVIDIA", "HIP", "ROCR", "TORCH", "PYTORCH", "PYTHON", "LD_", "DYLD_")
_NAMES = ("PATH", "HOME", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Environment variables, by name or prefix, that affect which modules a Python finds."""

Answer = Mapping[str, Any]
"""Output of the probe: `packages`, `cuda`, `path`."""


class CacheEntry(TypedDict):
    """Stored probe result for one Python."""

    path: Mapping[str, str]
    """Absolute path of each folder in the `sys.path` of this Python → its stamp from `folder_stamp`."""
    state: str
    """Digest of everything else that the result depends on."""
    packages: Mapping[str, str | None]
    """Import name of a package → its version; None if the package is not installed."""
    cuda: Mapping[str, str]
    """Fields that the probe printed for `cuda`. Empty if unknown."""


@dataclass(frozen=True, slots=True)
class ProbeCache:
    """Stored probe results for the Pythons that a site uses."""

    root: Path
    """Site root."""
    machine: Path = Path("/")
    """Root of the file system, which contains `dev/` and `proc/`."""

    def lookup(self, names: Collection[str], python: str, environ: Mapping[str, str]) -> Answer | None:
        """Return the stored result for `names` of packages. None if it does not contain all of them or is no
        longer valid; the probe must then run."""
        entry = self._entries().get(python)
        if entry is None or not all(_has_answer(name, entry) for name in names):
            return None
        path = {folder: folder_stamp(folder) for folder in entry["path"]}
        if entry["state"] != self._state(python, environ, path):
            return None
        packages = {name: version for name, version in entry["packages"].items() if version is not None}
        return {"packages": packages, "cuda": entry["cuda"]}

    def store(self, names: Collection[str], python: str, environ: Mapping[str, str], answer: Answer) -> None:
        """Store those parts of a probe result that remain valid."""
        path, found, cuda = answer.get("path"), answer.get("packages"), answer.get("cuda")
        if not (path and _is_words(path) and _is_words(found)):
            return
        entry: CacheEntry = {
            "path": path,
            "state": self._state(python, environ, path),
            # missing packages are stored too
            "packages": {name: found.get(name) for name in names if name != "cuda" and "." not in name},
            "cuda": cuda if _is_device(cuda) and _is_permanent(cuda) else {},
        }
        entries = self._entries()
        old = entries.pop(python, None)
        if old and old["state"] == entry["state"]:
            entry["packages"] = {**old["packages"], **entry["packages"]}
            entry["cuda"] = entry["cuda"] or old["cuda"]
        entries[python] = entry
        self._write(dict(list(entries.items())[-MAX_PYTHONS:]))

    def _state(self, python: str, environ: Mapping[str, str], path: Mapping[str, str]) -> str:
        """Return a digest of everything that a result depends on, apart from folders."""
        real, bin_folder = os.path.realpath(python), Path(python).parent
        chosen = {n: v for n, v in environ.items() if n in _NAMES or n.startswith(_PREFIXES)}
        parts = {
            "python": [python, real, _file_stamp(Path(real))],
            "environment": [_file_stamp(folder / "pyvenv.cfg") for folder in (bin_folder, bin_folder.parent)],
            "variables": chosen,
            # PYTHONPATH may contain a relative folder, so the current folder matters
            "here": str(Path.cwd()) if "PYTHONPATH" in environ else "",
            "path": list(path.items()),
            "driver": self._driver(),
        }
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _driver(self) -> list[str]:
        """Return the GPU devices and the driver version of the machine, read from files of the system."""
        found = [str(file) for pattern in ("nvidia*", "nvidia-caps/*", "dxg") for file in self._dev(pattern)]
        try:
            version = (self.machine / "proc/driver/nvidia/version").read_text(errors="replace")
        except OSError:
            version = ""
        return [*found, version]

    def _dev(self, pattern: str) -> list[Path]:
        return sorted((self.machine / "dev").glob(pattern))

    def _entries(self) -> dict[str, CacheEntry]:
        """Return the stored entry of each Python, oldest first."""
        with open_site_cache(self.root) as rows:
            row = rows.get("probe", _NAME)
        if row is None or row.key != str(SCHEMA):
            return {}
        try:
            return msgspec.msgpack.decode(row.data, type=dict[str, CacheEntry])
        except msgspec.MsgspecError:
            return {}

    def _write(self, entries: Mapping[str, CacheEntry]) -> None:
        # Order matters: the first entry is the oldest. Folder names may not be valid Unicode.
        with suppress(UnicodeError), open_site_cache(self.root) as rows:
            rows.put("probe", _NAME, Row(str(SCHEMA), msgspec.msgpack.encode(entries)))


def _has_answer(name: str, entry: CacheEntry) -> bool:
    return bool(entry["cuda"]) if name == "cuda" else name in entry["packages"]


def _is_device(found: Any) -> TypeGuard[Mapping[str, str]]:
    return _is_words(found) and ("capability" in found or "problem" in found)


def _is_permanent(device: Mapping[str, str]) -> bool:
    return "capability" in device or "lasting" in device


def _is_words(found: Any) -> TypeGuard[Mapping[str, str]]:
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def _file_stamp(file: Path) -> tuple[int, int] | None:
    """Return the size and the modification time of a file; None if it cannot be read. The inode is not
    included, because in a container it changes at each start."""
    stamp = read_stamp(file)
    return stamp and stamp.written
