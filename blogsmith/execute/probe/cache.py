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
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict, TypeGuard

import msgspec

from ...base.storage.site_cache import Row, open_site_cache
from ...base.storage.stamps import stamp_at

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


# Program, run in the author's Python (3.9 or later): which packages and which CUDA device it has.
#
# Argument: import names as a JSON list. The last line of stdout is JSON: `packages`, name → version of those
# found, empty if it is unknown; `cuda` if that name was asked for; `path`, the folders of `sys.path` with
# what they were like before anything was looked for. No package is imported but torch, and that only for
# `cuda`.


def main() -> None:
    """Answer for the names in the first argument."""
    # what lies beside this file is ours, not the author's
    here = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != here]
    names = json.loads(sys.argv[1])
    path = {os.path.abspath(folder): folder_stamp(folder) for folder in sys.path}  # noqa: PTH100
    packages = {name: version(name) for name in names if name != "cuda" and is_found(name)}
    answer: dict[str, Any] = {"path": path, "packages": packages}
    if "cuda" in names:
        answer["cuda"] = torch_device() if is_found("torch") else tool_device()
    print("\n" + json.dumps(answer))


def folder_stamp(folder: str) -> str:
    """What changes when a package in the folder comes, goes or is updated; empty if it is not there."""
    stamp: list[str] = []
    try:
        stamp.append(str(os.stat(folder).st_mtime_ns))  # noqa: PTH116
        with os.scandir(folder or ".") as entries:
            # these name further folders, and an edit of one does not touch the folder it is in
            files = sorted((entry.name, entry) for entry in entries if entry.name.endswith(".pth"))
        stamp += [f"{name} {entry.stat().st_mtime_ns}" for name, entry in files]
    except NotADirectoryError:  # a zip file
        pass
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return ""
    return "; ".join(stamp)


def is_found(name: str) -> bool:
    """Whether `import name` would find a module; no parent of it is imported either."""
    if name in sys.modules:
        return True
    top, *deeper = name.split(".")
    try:
        spec = find_spec(top)
        for part in deeper:
            # not find_spec(), which imports the parents
            inside = spec.submodule_search_locations if spec else None
            spec = PathFinder.find_spec(f"{top}.{part}", inside) if inside else None
    except (ImportError, ValueError):
        return False
    return spec is not None


def version(name: str) -> str:
    """Of the distribution that a module belongs to."""
    from importlib import metadata  # slow, and the builder imports this file too

    top = name.partition(".")[0]
    # what is called blogsmith in registries is another program
    first = "blogsmith-site" if top == "blogsmith" else top
    for distribution in (first, *distributions(top)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return ""


def distributions(top: str) -> list[str]:
    """Names of the distributions that hold a module; `PIL` is in Pillow."""
    from importlib import metadata

    find = getattr(metadata, "packages_distributions", None)  # new in Python 3.10
    return list(find().get(top, ())) if find else []


def torch_device() -> dict[str, Any]:
    """What torch sees of CUDA, tried out: a device may be too old for this torch, or taken by others."""
    try:
        torch: Any = import_module("torch")
        if not torch.cuda.is_available():
            if torch.version.cuda is None:
                # unlike a device that is not seen now, this stays
                return {"problem": "torch is built without CUDA", "lasting": "yes"}
            return {"problem": "torch sees no CUDA device"}
        torch.ones(1, device="cuda").sum().item()
        return {"capability": ".".join(map(str, torch.cuda.get_device_capability()))}
    except Exception as error:
        said = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        return {"problem": f"torch cannot use CUDA: {said}"}


def tool_device() -> dict[str, Any]:
    """What the driver's own tool sees, for code that reaches the device without torch."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return {"problem": "CUDA_VISIBLE_DEVICES hides all CUDA devices"}
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return {"problem": "neither torch nor nvidia-smi is there to find a CUDA device"}
    lines = done.stdout.split()
    if done.returncode or not lines:
        return {"problem": "nvidia-smi sees no CUDA device"}
    return {"capability": lines[0]}


if __name__ == "__main__":
    main()
