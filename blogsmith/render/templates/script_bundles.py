"""Script bundles: one file for each group of pages that needs several scripts.

A browser requests every file separately, so five small scripts take more time than one bundle. A theme
assigns each script to groups, and a layout reads the URL of a group's bundle from `head.bundles`. In the
bundle, each script has a block of its own: its names are local, and if it fails, the others still run, as
separate modules would. A block cannot contain `import` and `export`. A group that has a script with these
gets no bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .style_sheets import StaticFile, joined_path

_FORMAT_VERSION = "1"
"""Version of the bundle format. Increase it when the same files give other output."""
_MODULE_SYNTAX = lazy_pattern(rb"\b(?:import\b(?!\s*\()|export\b)")


class ScriptEntry(Struct, frozen=True):
    """An entry under `scripts` in a theme.yaml."""

    file: str
    """Name of the script under `static/`."""
    groups: tuple[str, ...] = ()
    """Groups of pages with the script; if empty, every page has it, as a separate file."""


class ScriptBundle(Struct, frozen=True):
    """A script for a group of pages, made of several files."""

    group: str
    theme: str
    parts: tuple[StaticFile, ...]

    def path(self) -> PurePosixPath:
        """Return the bundle's path in the finished site. It contains a digest of the files."""
        files = (f"{part.asset.path} {part.version}" for part in self.parts)
        return joined_path(self.theme, self.group, ".js", (_FORMAT_VERSION, *files))

    def text(self) -> bytes:
        """Return the content of the bundle, made from the current files."""
        blocks = (part.asset.file.read_bytes().strip() for part in self.parts)
        return b"".join(b"try{%b\n}catch(e){reportError(e)}\n" % block for block in blocks)


def join_scripts(
    declared: Iterable[ScriptEntry], static: Mapping[str, StaticFile], theme: str
) -> dict[str, ScriptBundle]:
    """Return the bundle of each group; none for a group with a script that uses `import` or `export`.
    declared: entries, those of extended themes first; if several name the same file, the last one applies."""
    last = {entry.file: entry for entry in declared}.values()
    groups = dict.fromkeys(group for entry in last for group in entry.groups)
    found = (
        ScriptBundle(group, theme, tuple(static[entry.file] for entry in last if group in entry.groups))
        for group in groups
    )
    return {bundle.group: bundle for bundle in found if all(map(_is_joinable, bundle.parts))}


def _is_joinable(part: StaticFile) -> bool:
    return not _MODULE_SYNTAX.search(part.asset.file.read_bytes())
