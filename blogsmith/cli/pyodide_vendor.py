"""Copy of Pyodide in a folder of the site: its core, and the packages that pages need.

The SHA-256 of every file is checked before anything is written. The digests of the core are constants; those
of packages come from the lock file of the release. The new folder is written next to the old one and renamed
when it is complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.folder import open_folder
from ..model.units import format_size
from ..project.report import Progress, no_progress
from ..pyodide.distribution import MAX_LOCK_BYTES, Lock, LockError, Package, damaged_files, read_lock
from ..pyodide.names import MODULES
from ..pyodide.release import CORE, LOCK, LOCK_SHA256, PYTHON, SOURCE_URL, VERSION
from ..pyodide.source import FolderSource, PyodideSource, ReleaseSource, ReportProgress, SourceError
from ..write.stage import retired_name, staged_name, swap
from .site_folder import format_path

NOTICE = "NOTICE.txt"
MAX_PACKAGE_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class VendorResult:
    """Content of a folder after copying."""

    files: Mapping[str, int]
    """Size of each file in bytes, by name, in the order they were copied."""
    changed: bool
    """False if the folder already had the same content."""
    unknown: tuple[str, ...]
    """Modules that pages import and that no package contains."""


def vendor(
    root: Path,
    target: Path,
    source: PyodideSource,
    packages: Sequence[str],
    modules: Sequence[str],
    progress: Progress = no_progress,
) -> VendorResult:
    """Copy Pyodide to `target`, a folder below `root`: the core, `packages`, the packages that provide
    `modules`, and all packages that these need.

    Raise SiteError `pyodide-vendor` and leave `target` unchanged if a file is missing, damaged or of another
    release, or if `target` contains other files.
    """
    _reject_other_files(target)
    try:
        lock = _read_lock(source)
        wanted, unknown = select_packages(lock, packages, modules)
        if missing := [name for name in unknown if name in MODULES]:
            listed = ", ".join(f'"{name}"' for name in missing)
            raise LockError(f"missing package for {listed}, which pages import")
        needed = lock.with_dependencies(wanted)
        files = _read_files(source, needed, target, progress)
    except (SourceError, LockError) as problem:
        hint = "run the command again, or name another source with `--from`; nothing was changed"
        raise vendor_error(_format_problem(problem, source), hint) from problem
    files[LOCK] = lock.prune(needed)
    files[NOTICE] = notice(needed).encode()
    changed = file_contents(target) != files
    if changed:
        replace_folder(root, target, files)
    return VendorResult({name: len(data) for name, data in files.items()}, changed, unknown)


def vendor_error(message: str, hint: str = "") -> SiteError:
    """Return the error to raise when copying cannot continue."""
    return SiteError(Diagnostic("pyodide-vendor", message, hint=hint))


def _format_problem(problem: Exception, source: PyodideSource) -> str:
    if isinstance(problem, LockError):
        return f'invalid {LOCK} in "{source.name}": {problem}'
    return str(problem)


def complete_copy(target: Path, packages: Sequence[str], modules: Sequence[str]) -> PyodideSource | None:
    """Return `target` as a source if it is complete and undamaged, so that nothing is downloaded again.
    Otherwise return None."""
    source = FolderSource(target)
    try:
        lock = _read_lock(source)
        wanted, unknown = select_packages(lock, packages, modules)
        needed = lock.with_dependencies(wanted)
    except (SourceError, LockError):
        return None
    missing = [name for name in unknown if name in MODULES]
    here = Lock(needed, lock.content)
    return None if missing or damaged_files(target, here) else source


def select_packages(
    lock: Lock, packages: Sequence[str], modules: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the requested packages, sorted, and the modules that no package in `lock` contains. A package is
    requested by its name in `packages`, or by a module in `modules`."""
    found = {module: lock.find_package(module) for module in modules}
    wanted = sorted({*packages, *filter(None, found.values())})
    return wanted, tuple(module for module, package in found.items() if not package)


def _read_lock(source: PyodideSource) -> Lock:
    data = source.read(LOCK, MAX_LOCK_BYTES, lambda done: None)
    if isinstance(source, ReleaseSource) and sha256(data) != LOCK_SHA256:
        raise LockError(f"it is not the lock of Pyodide {VERSION}")
    return read_lock(data)


def _read_files(
    source: PyodideSource, needed: Mapping[str, Package], target: Path, progress: Progress
) -> dict[str, bytes]:
    """Return file name → content for all files except the lock. Check their digests. Take valid files from
    `target` instead of `source`."""
    expected = {name: core.sha256 for name, core in CORE.items()}
    expected |= {package.file: package.sha256 for package in needed.values()}
    files: dict[str, bytes] = {}
    for number, (name, digest) in enumerate(expected.items()):
        progress(name, number, len(expected))
        limit = CORE[name].size if name in CORE else MAX_PACKAGE_BYTES
        data = read_valid_file(target / name, digest)
        if data is None:
            data = source.read(name, limit, _size_progress(progress, name, number, len(expected)))
        if sha256(data) != digest:
            whose = f"Pyodide {VERSION}" if name in CORE else "the lock"
            raise SourceError(f'"{name}" from "{source.name}" does not match {whose}: its SHA-256 differs')
        files[name] = data
    return files


def _size_progress(progress: Progress, name: str, number: int, total: int) -> ReportProgress:
    """Return a function that shows how many bytes of the file `name` have arrived. number: index of the file
    among `total` files."""
    return lambda done: progress(f"{name} {format_size(done)}", number, total)


def read_valid_file(file: Path, digest: str) -> bytes | None:
    """Return the content of `file` if it matches the digest, otherwise None."""
    data = file.read_bytes() if file.is_file() else b""
    return data if sha256(data) == digest else None


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_contents(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in `folder` by name; empty if it does not exist."""
    return {path.name: path.read_bytes() for path in _files(folder)}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _reject_other_files(target: Path) -> None:
    """Raise SiteError if `target` is a link or contains files that are not from a Pyodide distribution."""
    hint = "or name another folder with `--to`"
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise vendor_error(f'"{format_path(target)}" is a link or a file, not a folder', f"remove it, {hint}")
    files, listed = _files(target), _listed_files(target)
    ours = {*CORE, LOCK, NOTICE, *(listed or ())}
    # If the copy has no lock, the names of its wheels are unknown, so we accept all wheels.
    has_lost_lock = listed is None and any(path.name in ours for path in files)
    for path in files:
        is_ours = path.name in ours or (has_lost_lock and path.name.endswith(".whl"))
        if path.is_symlink() or not path.is_file() or not is_ours:
            message = f'"{format_path(target)}" contains "{path.name}", which is not a file of Pyodide'
            raise vendor_error(message, f"move the file away, {hint}")


def _listed_files(target: Path) -> set[str] | None:
    """Return the files that the lock in `target` names, or None if there is no readable lock."""
    try:
        lock = read_lock(FolderSource(target).read(LOCK, MAX_LOCK_BYTES, lambda done: None))
    except (SourceError, LockError):
        return None
    return {package.file for package in lock.packages.values()}


def replace_folder(root: Path, target: Path, files: Mapping[str, bytes]) -> None:
    """Replace the content of `target` by these files in one step."""
    above = target.parent.relative_to(root).as_posix()
    with open_folder(root) as site, site.enter(above, make=True) as parent:
        stage, retired = staged_name(target.name), retired_name(target.name)
        # An interrupted run may have left these folders, which would block the next one.
        for left in (stage, retired):
            if parent.status(left) is not None:
                parent.remove_tree(left)
        try:
            with parent.make(stage) as folder:
                for name, data in files.items():
                    folder.replace(name, data)
            old = swap(parent, stage, target.name)
        except BaseException:
            with suppress(OSError):
                parent.remove_tree(stage)
            raise
        if old is not None:
            with suppress(OSError):
                parent.remove_tree(old)


def notice(packages: Mapping[str, Package]) -> str:
    """Return the notice that the licences require next to the files."""
    lines = [
        f"Pyodide {VERSION}, Python {PYTHON} for browsers.",
        "Pyodide is under the Mozilla Public License 2.0, https://www.mozilla.org/MPL/2.0/",
        f"Its source: {SOURCE_URL}",
        "Python is under the PSF License, https://docs.python.org/3/license.html",
    ]
    if packages:
        lines += ["", "Packages, each with its licence inside its file:"]
        lines += [f"{package.name} {package.version}: {package.file}" for package in packages.values()]
    return "\n".join([*lines, ""])
