"""The Pyodide distribution that readers' browsers load, either from the CDN or from a folder of the site."""

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

# The lock file of a Pyodide distribution: its packages, their dependencies, and the SHA-256 of each file.
#
# It is untrusted data: names that point outside of the folder are rejected.


_FILE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}\.(?:whl|zip|tar|tar\.gz|tar\.bz2)")
_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")


class LockError(Exception):
    """Data is not a valid lock file. The message gives the reason."""


class Package(Struct, frozen=True):
    """A package of a distribution."""

    name: str
    version: str
    file: str
    """File name, without folder; the file is next to the lock."""
    sha256: str
    depends: tuple[str, ...]
    """Names of packages that are loaded together with this one."""
    modules: tuple[str, ...]
    """Modules that can be imported after the package is loaded."""


class Lock(Struct, frozen=True):
    """A parsed lock file."""

    packages: Mapping[str, Package]
    """Name of a package, as dependencies write it → package."""
    content: Mapping[str, Any]
    """The complete content, used to write the file again."""

    def find_package(self, module: str) -> str:
        """Return the name of the package with the top-level `module`; empty if there is none."""
        found = (name for name, package in self.packages.items() if module in package.modules)
        return next(found, "")

    def with_dependencies(self, names: Iterable[str]) -> dict[str, Package]:
        """Return these packages and all their dependencies, sorted by name. Raises LockError if a package is
        missing."""
        found: dict[str, Package] = {}
        waiting = [(name, "") for name in names]
        while waiting:
            name, wanted_by = waiting.pop()
            package = self.packages.get(name)
            if package is None:
                why = f', which "{wanted_by}" needs' if wanted_by else ""
                raise LockError(f'missing package "{name}"{why}')
            if name not in found:
                found[name] = package
                waiting += ((needed, name) for needed in package.depends)
        return dict(sorted(found.items()))

    def prune(self, names: Iterable[str]) -> bytes:
        """Return a lock that contains only these packages, as bytes. It keeps the metadata of the
        distribution."""
        kept = set(names)
        packages = {name: entry for name, entry in self.content["packages"].items() if name in kept}
        content = {**self.content, "packages": dict(sorted(packages.items()))}
        return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def read_lock(data: bytes) -> Lock:
    """Parse a lock. Raises LockError if it is invalid, or if a package's file is not in the same folder as
    the lock."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LockError("it is not JSON") from error
    packages = content.get("packages") if isinstance(content, dict) else None
    if not isinstance(packages, dict) or not isinstance(content.get("info"), dict):
        raise LockError('missing "packages" or "info"')
    return Lock({name: _package(name, entry) for name, entry in packages.items()}, content)


def _package(name: str, entry: object) -> Package:
    if not _NAME.fullmatch(name) or not isinstance(entry, dict):
        raise LockError(f'invalid package name "{name}"')
    file, digest = entry.get("file_name"), entry.get("sha256")
    if not isinstance(file, str) or not _FILE.fullmatch(file) or file in CORE:
        raise LockError(f'invalid file name "{file}" of package "{name}"')
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise LockError(f'missing SHA-256 of package "{name}"')
    depends, modules = _name_list(name, entry, "depends"), _name_list(name, entry, "imports")
    return Package(name, str(entry.get("version", "")), file, digest, depends, modules)


def _name_list(name: str, entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    words = entry.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise LockError(f'invalid "{key}" of package "{name}": expected a list of names')
    return tuple(words)


CDN = "cdn"
DEFAULT_FOLDER = "static/pyodide"
MAX_LOCK_BYTES = 8 << 20


class Distribution(Struct, frozen=True):
    """The Python distribution that pages load in the browser."""

    url: str = CDN_URL
    """URL of the folder with its files, with base path and trailing slash."""
    folder: str = ""
    """Folder as written in the settings, such as `static/pyodide`; empty for the CDN."""
    lock: Lock | None = None
    """Lock of the folder; None for the CDN, or if it cannot be read."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """File name → size in bytes, for all files in the folder."""
    problems: tuple[str, ...] = ()
    """Error messages about the folder."""

    def package_of(self, module: str) -> str:
        """Return the package with the top-level `module`; empty if Pyodide has none."""
        return (self.lock.find_package(module) if self.lock else "") or MODULES.get(module, "")

    def has(self, package: str) -> bool:
        """Return whether `package` can be loaded from here. If the lock is unknown, return True. The lock is
        unknown for the CDN and for a folder that cannot be read."""
        return self.lock is None or package in self.lock.packages

    def transfer_bytes(self, packages: Iterable[str]) -> int:
        """Return the bytes that a browser loads before it can run code that needs `packages`.

        For the CDN, this is the compressed core, as the sizes of packages are unknown. For a folder, it is
        the size of the files, which a host may reduce by compression.
        """
        if self.lock is None:
            return CORE_TRANSFER_BYTES
        known = [package for package in packages if package in self.lock.packages]
        files = {package.file for package in self.lock.with_dependencies(known).values()}
        return sum(self.sizes.get(name, 0) for name in (*CORE, LOCK, *files))


def cdn_distribution() -> Distribution:
    """Return the distribution that the Pyodide project publishes."""
    return Distribution()


def setting_problem(setting: str) -> str:
    """Return the reason why `setting` is neither `cdn` nor a published folder; empty if it is valid."""
    path = PurePosixPath(setting)
    if setting == CDN:
        return ""
    if path.is_absolute() or re.search(r"[\\:?#\x00-\x1f]", setting) or "//" in setting:
        return "is not a path in the site"
    if len(path.parts) < 2 or path.parts[0] != "static" or ".." in path.parts:
        return "is not a folder below static/"
    return "is hidden and would not be published" if any(p.startswith(".") for p in path.parts) else ""


def open_distribution(setting: str, root: Path, base_path: str) -> Distribution:
    """Return the distribution for the setting `browser.pyodide`, which is `cdn` or a folder below `static/`
    of the site.

    Only sizes are compared with the pinned release; `damaged_files` reads all bytes.
    """
    if setting == CDN:
        return cdn_distribution()
    folder = root / setting
    url = f"{base_path}/{quote(setting.rstrip('/').removeprefix('static/'))}/"
    if not folder.is_dir():
        return Distribution(url, setting, problems=(f'folder not found: "{setting}"',))
    sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}
    lock, problem = _lock(folder, setting)
    files = {package.file for package in lock.packages.values()} if lock else set()
    missing = [name for name in (*CORE, LOCK, *sorted(files)) if name not in sizes]
    others = [name for name in CORE if name in sizes and sizes[name] != CORE[name].size]
    problems = [
        f'missing in "{setting}": {first_names(missing, 3)}' if missing else "",
        f'"{setting}" is not from Pyodide {VERSION}: size differs for {first_names(others, 3)}'
        if others
        else "",
        problem,
    ]
    return Distribution(url, setting, lock, sizes, tuple(filter(None, problems)))


def _lock(folder: Path, setting: str) -> tuple[Lock | None, str]:
    file = folder / LOCK
    try:
        if file.stat().st_size > MAX_LOCK_BYTES:
            raise LockError("it is too large")
        lock = read_lock(file.read_bytes())
        lock.with_dependencies(lock.packages)
    except FileNotFoundError:
        # reported with the other missing files
        return None, ""
    except OSError as error:
        return None, f'cannot read "{setting}/{LOCK}": {error.strerror}'
    except LockError as problem:
        return None, f'invalid "{setting}/{LOCK}": {problem}'
    return lock, ""


def damaged_files(folder: Path, lock: Lock) -> list[str]:
    """Return the names of files that are missing in `folder` or have other bytes than they should. The files
    are those of the core and of `lock`."""
    expected = {name: core.sha256 for name, core in CORE.items()}
    expected |= {package.file: package.sha256 for package in lock.packages.values()}
    return [name for name, digest in sorted(expected.items()) if file_digest(folder / name) != digest]
