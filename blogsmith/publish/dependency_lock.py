"""The lock of a published site: blogsmith and all its dependencies, each with the SHA-256 of its files.

It is a requirements file that pip reads with `--require-hashes`, so a host installs exactly these files or
fails. pip has no stable command for pylock.toml yet, and hosts have older versions of pip. Source: the
requirements file format of pip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..api.publishing import DISTRIBUTION, lazy_pattern

LOCK = "publish/requirements.txt"
"""Path of the lock, relative to the site."""
WHEELS = "publish"
"""Folder of the wheel of blogsmith, relative to the site."""
HEADER = "# blogsmith and its dependencies, each with the SHA-256 of its files."
_NOTE = """\
# Written by `blogsmith publish setup`. Do not edit: run it again after an update of blogsmith.
"""
_INPUTS = "# for: "
_PLATFORMS = "# platforms: "
_GIT = lazy_pattern(r"(?:ssh://(?:[\w.-]+@)?|https://)[^\s@'\"\\$`]+@[0-9a-f]{40}")
"""Matches the URL of a repository with a commit. A user name or password in an https URL is not allowed,
because the file is public."""
_REQUIREMENT = lazy_pattern(r"(\S+?)(?:\[([a-z,]+)\])?(?:==([^\s\\]+))?\s*\\?")
_DIGEST = lazy_pattern(r"--hash=sha256:([0-9a-f]{64})")

Kind = Literal["wheel", "git", "index"]


class InstallSource(Struct, frozen=True):
    """Source of blogsmith itself for the host's installation."""

    kind: Kind = "wheel"
    """Where the host finds blogsmith. wheel: a file in the site; git: a commit of a repository; index: the
    package index."""
    url: str = ""
    """URL@COMMIT of a repository; empty for the other kinds."""

    @property
    def requirement(self) -> str:
        """Requirement of pip (PEP 508) for blogsmith in a repository; empty for the other kinds."""
        return f"{DISTRIBUTION} @ git+{self.url}" if self.kind == "git" else ""


class LockInputs(Struct, frozen=True):
    """Everything that determines the content of a lock, apart from the package index."""

    version: str
    """Version of blogsmith."""
    extras: tuple[str, ...]
    """Optional parts of blogsmith that the site needs, sorted."""
    python: str
    """Version of Python on the host, such as 3.13."""
    source: InstallSource = InstallSource()

    def format(self) -> str:
        """Return the line of the lock file that describes the inputs."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        place = {"wheel": "its wheel", "index": "the package index"}.get(self.source.kind, self.source.url)
        return f"{DISTRIBUTION}{extras} {self.version} from {place}, Python {self.python}"


class LockedPackage(Struct, frozen=True):
    """One requirement of a lock."""

    name: str
    """Normalized name of a package, or the path of a wheel relative to the site."""
    version: str
    """Version; empty for a wheel in the site."""
    digests: tuple[str, ...]
    """SHA-256 in hex of each file that may be installed, one file for each platform; sorted."""
    extras: tuple[str, ...] = ()
    line: int = 0
    """Line in the file, from 1; 0 if not read from a file."""


class DependencyLock(Struct, frozen=True):
    """A lock that was read from its file."""

    inputs: str
    """Result of `LockInputs.format`; empty if blogsmith did not write the file."""
    platforms: tuple[str, ...]
    """Platforms whose files are in the lock, such as linux-x86_64."""
    packages: tuple[LockedPackage, ...]

    @property
    def wheel(self) -> LockedPackage | None:
        """blogsmith's own wheel in the site, if the lock installs one."""
        return next((one for one in self.packages if one.name.endswith(".whl")), None)

    @property
    def versions(self) -> Mapping[str, str]:
        """Name → version, for each package from the index."""
        return {one.name: one.version for one in self.packages if one.version}


def parse_git_source(text: str) -> InstallSource | None:
    """Return the source for a string of the form `URL@COMMIT`; None if it has another form."""
    return InstallSource("git", text) if _GIT.fullmatch(text) else None


def lock_source(lock: DependencyLock | None) -> InstallSource:
    """Return the source of blogsmith in a lock; the wheel if there is no lock."""
    if lock is None:
        return InstallSource()
    place = lock.inputs.partition(" from ")[2].rpartition(", Python ")[0]
    return parse_git_source(place) or InstallSource("index" if place == "the package index" else "wheel")


def format_lock(
    inputs: LockInputs, platforms: Iterable[str], packages: Iterable[LockedPackage], install: str
) -> str:
    """Return the content of a lock file. install: the command that installs it."""
    parts = [f"{HEADER}\n{_NOTE}# To install: {install}\n"]
    parts.append(f"{_INPUTS}{inputs.format()}\n{_PLATFORMS}{', '.join(sorted(platforms))}\n")
    # the wheel first, then names in order
    for one in sorted(packages, key=lambda one: (bool(one.version), one.name)):
        extras = f"[{','.join(one.extras)}]" if one.extras else ""
        version = f"=={one.version}" if one.version else ""
        digests = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(one.digests))
        parts.append(f"{one.name}{extras}{version}{digests}\n")
    return "".join(parts)


def parse_lock(text: str) -> DependencyLock:
    """Parse a lock file. Lines of another form are ignored."""
    inputs = platforms = ""
    packages: list[LockedPackage] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_INPUTS):
            inputs = line.removeprefix(_INPUTS)
        elif line.startswith(_PLATFORMS):
            platforms = line.removeprefix(_PLATFORMS)
        elif (found := _DIGEST.search(line)) and line.startswith(" ") and packages:
            packages[-1] = replace(packages[-1], digests=(*packages[-1].digests, found[1]))
        elif line and line[0] not in "# " and (found := _REQUIREMENT.fullmatch(line)):
            extras = tuple(found[2].split(",")) if found[2] else ()
            packages.append(LockedPackage(found[1], found[3] or "", (), extras, number))
    return DependencyLock(
        inputs if text.startswith(HEADER) else "", tuple(filter(None, platforms.split(", "))), tuple(packages)
    )


def merge_digests(
    new: Iterable[LockedPackage], *others: Iterable[LockedPackage]
) -> tuple[LockedPackage, ...]:
    """Return the new packages. If one of `others` has the same version of a package, its digests are added.
    So a lock that was written on two systems can be installed on both."""
    known: dict[tuple[str, str], set[str]] = {}
    for one in (package for other in others for package in other):
        known.setdefault((one.name, one.version), set()).update(one.digests)
    return tuple(
        LockedPackage(
            one.name,
            one.version,
            tuple(sorted({*one.digests, *(known.get((one.name, one.version), ()) if one.version else ())})),
            one.extras,
        )
        for one in new
    )
