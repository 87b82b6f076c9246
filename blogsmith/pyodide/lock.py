"""The lock file of a Pyodide distribution: its packages, what each needs, and the SHA-256 of each file.

It is data from strangers: names that would lead out of the folder are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ..base.patterns import lazy_pattern
from .release import CORE

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
