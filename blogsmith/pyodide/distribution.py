"""Where readers' browsers get Python from: the CDN, or a folder of the site with what its pages need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from msgspec import Struct, field

from ..base.diagnostics.counts import first_names
from ..base.storage.digests import file_digest
from .lock import Lock, LockProblem, read_lock
from .names import MODULES
from .release import CDN_URL, CORE, CORE_TRANSFER_BYTES, LOCK, VERSION

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
