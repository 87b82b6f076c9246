"""The scripts of pages that need several of them: one file for each group of pages.

A browser asks for every file anew, so five small scripts cost a page more time than one with all of them.
A theme says of a script which groups it belongs to, and a layout takes the address of a group's file from
`head.bundles`. There each script stands in a block: its names are its own, and where it fails the others run,
as with separate modules. Statements that import or export cannot stand there: the group then has no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .style_sheets import StaticFile, joined_path

_RECIPE = "1"
"""Changes when other text is made of the same files."""
_ALONE = lazy_pattern(rb"\b(?:import\b(?!\s*\()|export\b)")


class ScriptEntry(Struct, frozen=True):
    """A line under `scripts` in a theme.yaml."""

    file: str
    """Its name under `static/`."""
    groups: tuple[str, ...] = ()
    """None: every page has it, by itself."""


class ScriptBundle(Struct, frozen=True):
    """One script made of many: the module of a group of pages."""

    group: str
    theme: str
    parts: tuple[StaticFile, ...]

    def path(self) -> PurePosixPath:
        """Where it lies in the finished site; another place when it is made of other files."""
        files = (f"{part.asset.path} {part.version}" for part in self.parts)
        return joined_path(self.theme, self.group, ".js", (_RECIPE, *files))

    def text(self) -> bytes:
        """What stands in it, of the files as they are now."""
        blocks = (part.asset.file.read_bytes().strip() for part in self.parts)
        return b"".join(b"try{%b\n}catch(e){reportError(e)}\n" % block for block in blocks)


def join_scripts(
    declared: Iterable[ScriptEntry], static: Mapping[str, StaticFile], theme: str
) -> dict[str, ScriptBundle]:
    """Group → its bundle. declared: parents' before children's; of one file the last."""
    last = {entry.file: entry for entry in declared}.values()
    groups = dict.fromkeys(group for entry in last for group in entry.groups)
    found = (
        ScriptBundle(group, theme, tuple(static[entry.file] for entry in last if group in entry.groups))
        for group in groups
    )
    return {bundle.group: bundle for bundle in found if all(map(_is_joinable, bundle.parts))}


def _is_joinable(part: StaticFile) -> bool:
    return not _ALONE.search(part.asset.file.read_bytes())
