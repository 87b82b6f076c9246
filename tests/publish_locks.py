"""A package index for tests of publishing: simulated, or with the packages of this environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from blogsmith import __version__
from blogsmith.publish import package_wheel, pip_resolver
from blogsmith.publish.dependency_lock import LockedPackage

DIGEST = "a" * 64
PACKAGES = (LockedPackage("click", "8.3.0", (DIGEST,)), LockedPackage("jinja2", "3.1.6", ("b" * 64,)))
FILES = {
    "blogsmith/__init__.py": f'__version__ = "{__version__}"\n'.encode(),
    f"blogsmith_site-{__version__}.dist-info/METADATA": b"Metadata-Version: 2.4\nName: blogsmith-site\n",
    f"blogsmith_site-{__version__}.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
}


class MadeUpIndex:
    """Answers like pip, without a process, and records requests."""

    def __init__(self) -> None:
        self.packages: tuple[LockedPackage, ...] = PACKAGES
        self.requests: list[tuple[Sequence[str], str, bool]] = []

    def resolve(
        self, requirements: Sequence[str], python: str, *, is_for_host: bool
    ) -> tuple[LockedPackage, ...]:
        """Resolve as `pip_resolver.resolve_packages` does."""
        self.requests.append((requirements, python, is_for_host))
        return (*self.packages, LockedPackage("blogsmith-site", __version__, (DIGEST,)))


def use_made_up_index(monkeypatch: pytest.MonkeyPatch) -> MadeUpIndex:
    """Let `publish setup` resolve without pip, and pack a wheel of one file."""
    index = MadeUpIndex()
    installed = {one.name: one.version for one in PACKAGES} | {"merman": "0.9.2"}
    monkeypatch.setattr(pip_resolver, "resolve_packages", index.resolve)
    monkeypatch.setattr(pip_resolver, "installed_version", lambda name: installed.get(name, ""))
    monkeypatch.setattr(pip_resolver, "own_platform", lambda: pip_resolver.HOST_PLATFORM)
    monkeypatch.setattr(package_wheel, "installed_files", lambda: FILES)
    return index


def pack_installed(folder: Path) -> None:
    """Write a wheel of each package that blogsmith needs into a folder, made of its installed files."""
    for found in needed_distributions():
        files = {
            file.as_posix(): Path(str(file.locate())).read_bytes()
            for file in found.files or ()
            if not file.as_posix().startswith("..") and not file.as_posix().endswith((".pyc", "/RECORD"))
        }
        (folder / f"{_stem(found)}.whl").write_bytes(package_wheel.pack_wheel(dict(sorted(files.items()))))


def needed_distributions() -> list[metadata.Distribution]:
    """Return the dependencies of blogsmith including indirect ones, and Mermaid's renderer if it is
    installed.
    """
    extras = frozenset({"diagrams"} if pip_resolver.installed_version("merman") else ())
    waiting: list[tuple[str, frozenset[str]]] = [("blogsmith-site", extras)]
    found: dict[str, metadata.Distribution] = {}
    while waiting:
        name, extras = waiting.pop()
        found[name] = metadata.distribution(name)
        for one in map(Requirement, found[name].requires or ()):
            is_needed = one.marker is None or any(
                one.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            )
            if is_needed and (one.name not in found or one.extras):
                waiting.append((one.name, frozenset(one.extras)))
    del found["blogsmith-site"]
    return list(found.values())


def _stem(found: metadata.Distribution) -> str:
    """Return the file name of a wheel that pip accepts for a host as well as here."""
    tags = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    tag = next((tag for tag in reversed(tags) if tag.endswith("-any")), "")
    if not tag:
        python, abi, _ = tags[0].split("-")
        tag = f"{python}-{abi}-manylinux_2_17_x86_64"
    return f"{re.sub(r'[-.]+', '_', found.metadata['Name'])}-{found.version}-{tag}"
