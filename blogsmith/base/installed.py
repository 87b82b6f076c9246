"""Commands, importers, plugins and themes that installed packages add to blogsmith, found by entry points.

Source: the specification of entry points of the Python Packaging User Guide.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

COMMANDS = "blogsmith.commands"
"""Entry point group of commands. Each entry names a `click.Command`."""
IMPORTERS = "blogsmith.importers"
"""Entry point group of importers. Each entry names an object with the members of
`importers.systems.System`."""
PAGE_FILES = "blogsmith.page_files"
"""Entry point group of objects that make a file of a page. The entry `pdf` names an object with the members
of `build.page_files.PageFileMaker`."""
PLUGINS = "blogsmith.plugins"
"""Entry point group of plugins. Each entry names a module with a function `register(hooks)`."""
THEMES = "blogsmith.themes"
"""Entry point group of themes. Each entry names the package whose folder contains `theme.yaml`."""
OWN_PACKAGE = "blogsmith-site"


class InstalledPart(NamedTuple):
    """An entry point of an installed package."""

    name: str
    value: str
    """`package.module`, or `package.module:attribute`."""
    package: str
    """Name of the distribution."""
    version: str

    @property
    def module(self) -> str:
        """Dotted name of the module."""
        return self.value.partition(":")[0].strip()

    @property
    def attribute(self) -> str:
        """Name inside the module; empty if the entry point names the module itself."""
        return self.value.partition(":")[2].strip()

    @property
    def package_part(self) -> InstalledPart:
        """This entry point, with its value reduced to the top-level package or module."""
        return self._replace(value=self.module.partition(".")[0])

    @property
    def label(self) -> str:
        """Name, package and version for messages, such as `arrows (arrows-plugin 1.2.0)`."""
        return f"{self.name} ({self.package} {self.version})"


@cache
def installed_parts(group: str) -> Mapping[str, InstalledPart]:
    """Map names to the entry points of a group. If two packages use the same name, blogsmith's own entry
    applies, otherwise the first. The list is read once in a process, so a new package needs a restart."""
    # most commands need no entry points, and the import takes longer than a build without changes
    from importlib.metadata import entry_points

    found = [
        InstalledPart(point.name, point.value, point.dist.name, point.dist.version)
        for point in entry_points(group=group)
        if point.dist
    ]
    found.sort(key=lambda part: (part.package != OWN_PACKAGE, part.package, part.name))
    return MappingProxyType({part.name: part for part in reversed(found)})


def part_path(part: InstalledPart) -> Path | None:
    """Return the folder of the package or the file of the module; None if it cannot be found. Nothing is
    imported, so no code of the package runs."""
    first, *rest = part.module.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    if not folders:
        return Path(spec.origin) if spec.origin and not rest else None
    for folder in folders:
        found = folder.joinpath(*rest)
        if found.is_dir():
            return found
        if (file := found.with_name(f"{found.name}.py")).is_file():
            return file
    return None


def part_digest(part: InstalledPart) -> str:
    """Return the hex SHA-256 of every file of the top-level package; empty if it cannot be found."""
    path = part_path(part.package_part)
    if path is None:
        return ""
    total = hashlib.sha256()
    for file in _files(path):
        total.update(f"{file.relative_to(path.parent).as_posix()}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and "__pycache__" not in file.relative_to(path).parts:
            yield file
