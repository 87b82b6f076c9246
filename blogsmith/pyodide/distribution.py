"""Where readers' browsers get Python from: the CDN, or a folder of the site with what its pages need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from ..base.diagnostics.counts import first_names
from ..base.patterns import lazy_pattern
from ..base.storage.stamps import file_digest
from .names import MODULES
from .release import CDN_URL, CORE, CORE_TRANSFER_BYTES, LOCK, VERSION

# The lock file of a Pyodide distribution: its packages, what each needs, and the SHA-256 of each file.
#
# It is data from strangers: names that would lead out of the folder are refused.


_FILE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}\.(?:whl|zip|tar|tar\.gz|tar\.bz2)")
_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")


class LockProblem(Exception):
    """Why a text is no lock file that can be used."""


class Package(Struct, frozen=True):
    """One package of a distribution."""

    name: str
    version: str
    file: str
    """Plain name of its file, which lies beside the lock."""
    sha256: str
    depends: tuple[str, ...]
    """Names of packages that are loaded with it."""
    modules: tuple[str, ...]
    """What can be imported when it is loaded."""


class Lock(Struct, frozen=True):
    """A lock file as read."""

    packages: Mapping[str, Package]
    """By the name under which others depend on it."""
    content: Mapping[str, Any]
    """The whole of it, to write it again."""

    def package_of(self, module: str) -> str:
        """Name of the package that holds the top-level `module`; empty if none does."""
        found = (name for name, package in self.packages.items() if module in package.modules)
        return next(found, "")

    def with_dependencies(self, names: Iterable[str]) -> dict[str, Package]:
        """These packages and all that they need, sorted by name; LockProblem if one is not listed."""
        found: dict[str, Package] = {}
        waiting = [(name, "") for name in names]
        while waiting:
            name, wanted_by = waiting.pop()
            package = self.packages.get(name)
            if package is None:
                why = f", which {wanted_by} needs" if wanted_by else ""
                raise LockProblem(f"it lists no package {name}{why}")
            if name not in found:
                found[name] = package
                waiting += ((needed, name) for needed in package.depends)
        return dict(sorted(found.items()))

    def prune(self, names: Iterable[str]) -> bytes:
        """A lock of these packages only, as bytes; what it says of the distribution is kept."""
        kept = set(names)
        packages = {name: entry for name, entry in self.content["packages"].items() if name in kept}
        content = {**self.content, "packages": dict(sorted(packages.items()))}
        return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def read_lock(data: bytes) -> Lock:
    """The lock in `data`; LockProblem if it is none, or names files that do not lie beside it."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LockProblem("it is not JSON") from error
    packages = content.get("packages") if isinstance(content, dict) else None
    if not isinstance(packages, dict) or not isinstance(content.get("info"), dict):
        raise LockProblem("it has no packages and no info")
    return Lock({name: _package(name, entry) for name, entry in packages.items()}, content)


def _package(name: str, entry: object) -> Package:
    if not _NAME.fullmatch(name) or not isinstance(entry, dict):
        raise LockProblem(f"{name!r} is no name of a package")
    file, digest = entry.get("file_name"), entry.get("sha256")
    if not isinstance(file, str) or not _FILE.fullmatch(file) or file in CORE:
        raise LockProblem(f"the file {file!r} of {name} is no plain name of a package's file")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise LockProblem(f"{name} has no SHA-256")
    depends, modules = _name_list(name, entry, "depends"), _name_list(name, entry, "imports")
    return Package(name, str(entry.get("version", "")), file, digest, depends, modules)


def _name_list(name: str, entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    words = entry.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise LockProblem(f"{key} of {name} is no list of names")
    return tuple(words)


CDN = "cdn"
DEFAULT_FOLDER = "static/pyodide"
MAX_LOCK_BYTES = 8 << 20


class Distribution(Struct, frozen=True):
    """What pages say about the Python that they run in the browser."""

    url: str = CDN_URL
    """Of the folder that holds its files, with a slash at the end and the base path applied."""
    folder: str = ""
    """In the site, as the settings name it; empty for the CDN."""
    lock: Lock | None = None
    """Of the folder; None for the CDN, or if it cannot be read."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """File of the folder → bytes."""
    problems: tuple[str, ...] = ()
    """What is wrong with the folder."""

    def package_of(self, module: str) -> str:
        """Package that holds the top-level `module`; empty if Pyodide has none."""
        return (self.lock.package_of(module) if self.lock else "") or MODULES.get(module, "")

    def has(self, package: str) -> bool:
        """Whether `package` can be loaded from here; said of every one where the folder is unreadable."""
        return self.lock is None or package in self.lock.packages

    def transfer_bytes(self, packages: Iterable[str]) -> int:
        """What a browser loads before it can run code that needs `packages`.

        From the CDN: the compressed core, for it does not tell how large packages are. From a folder: the
        files as they lie there, which a host that compresses them makes fewer.
        """
        if self.lock is None:
            return CORE_TRANSFER_BYTES
        known = [package for package in packages if package in self.lock.packages]
        files = {package.file for package in self.lock.with_dependencies(known).values()}
        return sum(self.sizes.get(name, 0) for name in (*CORE, LOCK, *files))


def cdn_distribution() -> Distribution:
    """Pyodide as its own project publishes it."""
    return Distribution()


def setting_problem(setting: str) -> str:
    """Why `setting` is neither `cdn` nor a folder that readers can load from; empty if it is."""
    path = PurePosixPath(setting)
    if setting == CDN:
        return ""
    if path.is_absolute() or re.search(r"[\\:?#\x00-\x1f]", setting) or "//" in setting:
        return "is no path in the site"
    if len(path.parts) < 2 or path.parts[0] != "static" or ".." in path.parts:
        return "is no folder below static/"
    return "is hidden and would not be published" if any(p.startswith(".") for p in path.parts) else ""


def open_distribution(setting: str, root: Path, base_path: str) -> Distribution:
    """What `browser.pyodide` means: `cdn`, or a folder below `static/` of the site at `root`.

    Sizes tell whether the core is the pinned one; `damaged_files` reads all bytes.
    """
    if setting == CDN:
        return cdn_distribution()
    folder = root / setting
    url = f"{base_path}/{quote(setting.rstrip('/').removeprefix('static/'))}/"
    if not folder.is_dir():
        return Distribution(url, setting, problems=(f"there is no folder {setting}",))
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}
    lock, problem = _lock(folder, setting)
    files = {package.file for package in lock.packages.values()} if lock else set()
    missing = [name for name in (*CORE, LOCK, *sorted(files)) if name not in sizes]
    others = [name for name in CORE if name in sizes and sizes[name] != CORE[name].size]
    problems = [
        f"{setting} lacks {first_names(missing, 3)}" if missing else "",
        f"{setting} is not of Pyodide {VERSION}, by the size of {first_names(others, 3)}" if others else "",
        problem,
    ]
    return Distribution(url, setting, lock, sizes, tuple(filter(None, problems)))


def _lock(folder: Path, setting: str) -> tuple[Lock | None, str]:
    file = folder / LOCK
    try:
        if file.stat().st_size > MAX_LOCK_BYTES:
            raise LockProblem("it is too large")
        lock = read_lock(file.read_bytes())
        lock.with_dependencies(lock.packages)
    except FileNotFoundError:
        # told with the other files
        return None, ""
    except OSError as error:
        return None, f"{setting}/{LOCK} cannot be read: {error.strerror}"
    except LockProblem as problem:
        return None, f"{setting}/{LOCK} cannot be used: {problem}"
    return lock, ""


def damaged_files(folder: Path, lock: Lock) -> list[str]:
    """Names of files of the core and of `lock` that are missing in `folder` or have other bytes."""
    expected = {name: core.sha256 for name, core in CORE.items()}
    expected |= {package.file: package.sha256 for package in lock.packages.values()}
    return [name for name, digest in sorted(expected.items()) if file_digest(folder / name) != digest]
