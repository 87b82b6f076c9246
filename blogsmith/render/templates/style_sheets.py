"""The style sheets of pages: of all that a theme lists under `styles`, one file for each group of pages.

A page waits for every sheet it names, so it should name few; what is one file for many pages is loaded once.
A theme says of each of its files which groups it belongs to, and a layout takes the address of a group from
`head.styles`. In a joined sheet stand: the font for formulas, the files of the theme and of those that it
extends, the parents' first; what the site has chosen by options; then what holds for some screens or for
paper alone, so that it still overrides the rest. What a theme declares for some options alone is left out
where a site has others. The name of the file changes with all it is made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...base.diagnostics.model import Diagnostic, SiteError
from ...model.documents import Asset
from .css_text import drop_overridden, statements

GROUPS = ("posts", "lists")
"""Groups that a file belongs to whose theme says nothing else."""
_RECIPE = "2"
"""Changes when other text is made of the same files."""
_DIGITS = 10
_FIRST = ("@import", "@namespace")
"""Statements that count only before all rules."""


OptionValue = str | bool


class StaticFile(Struct, frozen=True):
    """One file of a theme's `static/` folder."""

    asset: Asset
    """Its path is the one in the output: `assets/<theme>/theme.css`."""
    version: str
    """8 hex digits of its SHA-256, for the address."""


class SheetEntry(Struct, frozen=True):
    """A line under `styles` in a theme.yaml."""

    file: str
    """Its name under `static/`."""
    groups: tuple[str, ...] = GROUPS
    media: str = ""
    """The media query it holds for; empty: always."""
    when: tuple[tuple[str, tuple[OptionValue, ...]], ...] = ()
    """Options of the theme, and the values with which sites have it; empty: always."""

    def is_wanted(self, options: Mapping[str, Any]) -> bool:
        """Whether a site with these options has it."""
        return all(options.get(name) in values for name, values in self.when)


class StyleSheet(Struct, frozen=True, cache_hash=True):
    """One file made of many: the sheet of a group of pages."""

    group: str
    theme: str
    parts: tuple[tuple[StaticFile, str], ...]
    """Files in order, each with its media query; those without one come first."""
    is_whole: bool = True
    """Whether pages have it alone; else it stands beside another one."""
    variables: tuple[tuple[str, str], ...] = ()
    """Custom properties that options of the site set."""

    def path(self, math_font: str) -> PurePosixPath:
        """Where it lies in the finished site. math_font: as in `PageView`."""
        return _path_of(self, math_font.rpartition("/")[2] if self.is_whole else "")

    def is_made_of(self, file: Path) -> bool:
        """Whether a file of the disk is part of it."""
        return any(part.asset.file == file for part, _ in self.parts)

    def is_current(self) -> bool:
        """Whether its files are still those that it is named by."""
        return all(version_of(file.asset.file.read_bytes()) == file.version for file, _ in self.parts)

    def text(self, font_face: str = "") -> str:
        """What stands in it, of the files as they are now; SiteError for one that is no text.

        font_face: the rule by which it knows the font for formulas.
        """
        chosen = ";".join(f"{name}:{value}" for name, value in self.variables)
        rules = list(statements(font_face)) if self.is_whole else []
        for file, media in self.parts:
            rules += [] if media else _statements(file)
        rules += [f":root{{{chosen}}}"] if chosen else []
        rules = drop_overridden(rules)
        for file, media in self.parts:
            if media:
                rules += _conditional(_statements(file), media)
        first = [one for one in rules if one.startswith(_FIRST)]
        return "\n".join((*first, *(one for one in rules if not one.startswith(_FIRST)), ""))


@lru_cache(maxsize=64)
def _path_of(sheet: StyleSheet, font: str) -> PurePosixPath:
    """Remembered, for every page asks for those of its sheets."""
    chosen = [f"{name}:{value}" for name, value in sheet.variables]
    files = [f"{file.asset.path} {file.version} {media}" for file, media in sheet.parts]
    return joined_path(sheet.theme, sheet.group, ".css", (_RECIPE, font, *files, *chosen))


def joined_path(theme: str, group: str, suffix: str, made_of: Iterable[str]) -> PurePosixPath:
    """Where the file of a group of pages lies in the finished site: it is named by all it is made of."""
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:_DIGITS]
    return PurePosixPath("assets", theme, f"{group}-{digest}{suffix}")


def version_of(data: bytes) -> str:
    """What the address of a file carries, so that it changes with the file."""
    return hashlib.sha256(data).hexdigest()[:8]


def join_sheets(
    declared: Iterable[SheetEntry],
    static: Mapping[str, StaticFile],
    theme: str,
    variables: Sequence[tuple[str, str]] = (),
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, StyleSheet]:
    """Group → its sheet, with these options of the site.

    declared: in the order in which they override each other; of one file the last.
    """
    last = {sheet.file: sheet for sheet in declared}
    wanted = [sheet for sheet in last.values() if sheet.is_wanted(options)]
    ordered = sorted(wanted, key=lambda sheet: bool(sheet.media))
    groups = dict.fromkeys(group for sheet in ordered for group in sheet.groups)
    # what stands beside another sheet would set variables again, behind what holds for paper
    whole = ordered[0].groups if ordered else ()
    return {
        group: StyleSheet(
            group,
            theme,
            tuple((static[sheet.file], sheet.media) for sheet in ordered if group in sheet.groups),
            group in whole,
            tuple(variables) if group in whole else (),
        )
        for group in groups
    }


def _statements(file: StaticFile) -> Sequence[str]:
    asset = file.asset
    try:
        css = asset.file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not valid UTF-8 at byte {error.start}"
        raise SiteError(Diagnostic("encoding", message, "/".join(asset.file.parts[-4:]))) from error
    folder = "/".join(asset.path.parts[2:-1])
    return [one for one in statements(css, folder) if not one.startswith("@charset")]


def _conditional(found: Sequence[str], media: str) -> list[str]:
    """The statements under a media query; an import carries it itself."""
    first = [f"{one.rstrip(';')} {media};" for one in found if one.startswith(_FIRST)]
    rest = "".join(one for one in found if not one.startswith(_FIRST))
    return [*first, f"@media {media}{{{rest}}}"]
