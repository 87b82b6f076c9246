"""Plan of how a host installs blogsmith. It consists of the lock of a site, and the wheel next to the
lock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from ..api.publishing import (
    DISTRIBUTION,
    Config,
    Diagnostic,
    Place,
    Search,
    SiteError,
    open_folder,
    temporary_folder,
)
from . import package_wheel, pip_resolver
from .author_files import read_text
from .dependency_lock import (
    HEADER,
    LOCK,
    WHEELS,
    DependencyLock,
    LockedPackage,
    LockInputs,
    format_lock,
    merge_digests,
    parse_lock,
)
from .hosted_site import install_lock_command

_MOST_BYTES = 50_000_000
_BUILD_BACKEND = "hatchling"
"""Tool that builds blogsmith if it is installed from a commit. The lock includes it, so that a host installs
only locked packages."""
Resolve = Callable[..., tuple[LockedPackage, ...]]
"""Function with the parameters and the result of `pip_resolver.resolve_packages`."""


class InstallPlan(Struct, frozen=True):
    """The files that hosts use to install blogsmith."""

    lock: str
    """Content of the lock."""
    wheel: str = ""
    """Path of the wheel, relative to the site; empty if the site contains none."""
    data: bytes | None = None
    """Bytes of the wheel to write; None if the file exists already or the site contains no wheel."""
    old_wheel: str = ""
    """Path of the previous wheel, if it must be removed; otherwise empty."""
    problems: tuple[Diagnostic, ...] = ()


def needed_extras(config: Config) -> tuple[str, ...]:
    """Return the extras of our package that a host must install to build the same pages."""
    # not for Mermaid: without the renderer, diagrams are shown as source both here and on the host
    draws = "mermaid" in config.plugins and bool(pip_resolver.installed_version("merman"))
    extras = {"diagrams"} if draws else set()
    if isinstance(config.search, Search) and config.search.engine == "pagefind":
        extras.add("search")
    return tuple(sorted(extras))


def read_lock(root: Path) -> DependencyLock | None:
    """Return the lock of a site; None if there is none. Raises `SiteError` if the file cannot be read or
    blogsmith did not write it."""
    text = read_text(root, LOCK)
    if text is None:
        return None
    if not text.startswith(HEADER):
        hint = "move the file away, so that blogsmith can write its lock there"
        raise SiteError(Diagnostic("publish-lock", "the lock was not written by blogsmith", LOCK, hint=hint))
    return parse_lock(text)


def plan_install(root: Path, inputs: LockInputs, resolve: Resolve | None = None) -> InstallPlan:
    """Return the files to write below `root`. The index is queried only if the existing lock is out of date.
    resolve: function that queries it. Raises SiteError if a file cannot be read or the versions cannot be
    resolved."""
    resolve = resolve or pip_resolver.resolve_packages
    before = read_lock(root)
    wheel, data = _plan_wheel(root) if inputs.source.kind == "wheel" else ("", b"")
    digest = package_wheel.digest(data) if wheel else ""
    is_new = _read_wheel(root, wheel) != data if wheel else False
    if before is not None and _is_current(before, inputs, digest):
        return InstallPlan(read_text(root, LOCK) or "", wheel, data if is_new else None)
    packages, platforms, problems = _resolve(inputs, wheel, data, resolve)
    if before is not None:
        packages = merge_digests(packages, before.packages)
        # if versions are the same, digests for the other machine's platform stay in the lock
        same = {one.name: one.version for one in packages if one.version} == before.versions
        platforms = tuple({*platforms, *(before.platforms if same else ())})
    lock = format_lock(inputs, platforms, packages, install_lock_command(LOCK))
    return InstallPlan(lock, wheel, data if is_new else None, _old_wheel(root, before, wheel), problems)


def write_install(root: Path, plan: InstallPlan) -> None:
    """Write the wheel and remove the previous one. The lock is written with the author's files, not here.
    Raises `SiteError` on failure."""
    try:
        with open_folder(root) as top, top.enter(WHEELS, make=True) as folder:
            if plan.data is not None:
                folder.replace(Path(plan.wheel).name, plan.data)
            if plan.old_wheel:
                folder.remove(Path(plan.old_wheel).name)
    except OSError as error:
        message = f"cannot write the wheel: {error.strerror or error}"
        hint = "check the permissions of the folder and the free space"
        raise SiteError(Diagnostic("publish-file", message, plan.wheel, hint=hint)) from error


def lock_problems(root: Path, inputs: LockInputs) -> tuple[Diagnostic, ...]:
    """Return the errors of the existing lock: a host cannot install from it, or would install other packages
    than the site needs."""
    lock = read_lock(root)
    if lock is None:
        return ()
    if lock.inputs != inputs.format():
        message = f'the lock does not match the site: it is for "{lock.inputs}", expected "{inputs.format()}"'
        return (_lock_error(message),)
    found = lock.wheel
    if inputs.source.kind != "wheel" or found is None:
        return ()
    line = (read_text(root, LOCK) or "").split("\n")[found.line - 1]
    place = Place(found.line, 1, len(found.name))
    path = found.name.removeprefix("./")
    data = _read_wheel(root, path)
    if data is None:
        return (_lock_error(f'wheel not found: "{path}"', place, line),)
    if package_wheel.digest(data) not in found.digests:
        return (_lock_error(f'invalid wheel "{path}": its SHA-256 is not the one in the lock', place, line),)
    return ()


def _resolve(
    inputs: LockInputs, wheel: str, data: bytes, resolve: Resolve
) -> tuple[tuple[LockedPackage, ...], tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return (all packages of a lock, the platforms that can install them, warnings)."""
    extras = f"[{','.join(inputs.extras)}]" if inputs.extras else ""
    with temporary_folder() as folder:
        if inputs.source.kind == "git":
            wanted = [f"{DISTRIBUTION}{extras} @ git+{inputs.source.url}", _BUILD_BACKEND]
        elif inputs.source.kind == "index":
            wanted = [f"{DISTRIBUTION}{extras}=={inputs.version}"]
        else:
            file = folder / Path(wheel).name
            with open_folder(folder) as opened:
                opened.replace(file.name, data)
            wanted = [f"{file}{extras}"]
        if inputs.source.kind == "index":
            _check_index_wheel(wanted[0], folder)
        host = resolve(wanted, inputs.python, is_for_host=True)
        here: tuple[LockedPackage, ...] = ()
        platforms, problems = [pip_resolver.HOST_PLATFORM], []
        own = pip_resolver.own_platform()
        if own != pip_resolver.HOST_PLATFORM:
            try:
                here = resolve(wanted, inputs.python, is_for_host=False)
                platforms.append(own)
            except SiteError as error:
                hint = "publish anyway, or run `blogsmith publish check` on another machine"
                message = f"cannot install the lock on this machine: {error.diagnostics[0].message}"
                problems.append(Diagnostic("publish-install", message, LOCK, hint=hint, severity="warning"))
    packages = merge_digests(
        [one for one in host if one.name != DISTRIBUTION or inputs.source.kind == "index"], here
    )
    if wheel:
        own_wheel = LockedPackage(f"./{wheel}", "", (package_wheel.digest(data),), inputs.extras)
        packages = (own_wheel, *packages)
    return packages, tuple(platforms), tuple(problems)


def _check_index_wheel(requirement: str, folder: Path) -> None:
    """Raise SiteError if the package of our name on the index is another program, because anyone may register
    a name. requirement: name and version to download."""
    found = package_wheel.read_wheel(pip_resolver.download_wheel(requirement, folder))
    if found is None or not package_wheel.is_same_program(found, package_wheel.installed_files()):
        message = f'"{requirement}" in the package index differs from the program that runs here'
        hint = "omit `--from-index` to install from a wheel in the site"
        raise SiteError(Diagnostic("publish-install", message, hint=hint))


def _plan_wheel(root: Path) -> tuple[str, bytes]:
    """Return (path, bytes) of the wheel of the running version. If a wheel with the same files exists, return
    that wheel.

    Compression differs between versions of zlib, so two machines may compress the same files to different
    bytes.
    """
    files = package_wheel.installed_files()
    path = f"{WHEELS}/{package_wheel.wheel_name()}"
    present = _read_wheel(root, path)
    if present is not None and package_wheel.read_wheel(present) == files:
        return path, present
    return path, package_wheel.pack_wheel(files)


def _read_wheel(root: Path, path: str) -> bytes | None:
    try:
        with open_folder(root) as top, top.enter(Path(path).parent.as_posix()) as folder:
            return folder.read(Path(path).name, _MOST_BYTES)
    except OSError:
        return None


def _is_current(lock: DependencyLock, inputs: LockInputs, wheel_digest: str) -> bool:
    """Return whether the lock is up to date. It must have the inputs, wheel and versions of this machine, and
    files for this platform."""
    if lock.inputs != inputs.format() or pip_resolver.own_platform() not in lock.platforms:
        return False
    if lock.wheel is not None and wheel_digest not in lock.wheel.digests:
        return False
    return all(
        pip_resolver.installed_version(name) in ("", version) for name, version in lock.versions.items()
    )


def _old_wheel(root: Path, before: DependencyLock | None, wheel: str) -> str:
    """Return the path of the wheel of an earlier version. Return an empty string if there is none, or if its
    file has changed since the lock was written."""
    found = before.wheel if before else None
    path = found.name.removeprefix("./") if found else ""
    if found is None or path == wheel or Path(path).parent.as_posix() != WHEELS:
        return ""
    data = _read_wheel(root, path)
    is_ours = package_wheel.WHEEL_NAME.fullmatch(Path(path).name) is not None
    return path if is_ours and data is not None and package_wheel.digest(data) in found.digests else ""


def _lock_error(message: str, place: Place | None = None, line: str = "") -> Diagnostic:
    hint = "run `blogsmith publish setup` for this host again"
    return Diagnostic("publish-lock", message, LOCK, place, line, hint)
