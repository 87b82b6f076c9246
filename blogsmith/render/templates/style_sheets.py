"""Stylesheets of pages: one file for each group of pages, joined from those under `styles` of a theme.

A page waits for every stylesheet that it requests, so it should request few. A file shared by many pages is
loaded once. A theme assigns each file to groups, and a layout reads the URL of a group from `head.styles`. A
joined stylesheet contains, in order:

- the font for formulas;
- the files of the theme and of those that it extends, parents' first;
- the site's options;
- the rules for some screens or print only, so that they still override the rest.

A file declared for some options only is omitted if a site has others. The name of a joined file changes with
all its inputs.
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
from ...base.patterns import lazy_pattern
from ...model.documents import Asset
from .css_text import drop_overridden, statements

GROUPS = ("posts", "lists")
"""Groups of pages that have a stylesheet if its entry names no groups."""
_RECIPE = "2"
"""Version of the format of joined stylesheets. Increase it when the same files give other output."""
_DIGITS = 10
_MENTION = lazy_pattern(rb"""[\w.-]+\.(?:woff2?|[ot]tf|txt)\b|(?<=["'(/])[\w.-]+\.css\b""")
_LOADED = (b"@import", b".woff", b".otf", b".ttf")
_REQUEST = lazy_pattern(r"""(?:^|["'/])([\w.-]*\.(?:css|woff2?|[ot]tf))(?=["'?#]|$)""")
"""Regular expression of the file name at the end of a path in a template or a setting."""
_FIRST = ("@import", "@namespace")
"""Statements that are valid only before all rules."""


REQUESTED = (".css", ".woff", ".otf", ".ttf")
"""Suffixes, or beginnings of suffixes, of files that `unused_files` finds in a template."""
OptionValue = str | bool


class StaticFile(Struct, frozen=True):
    """A file of a theme's `static/` folder."""

    asset: Asset
    """The file; its path is that of the output, such as `assets/<theme>/theme.css`."""
    version: str
    """First 8 hex digits of its SHA-256, for the URL."""
    mentions: frozenset[str] = frozenset()
    """File names, without folders, of fonts, licences and other stylesheets that this stylesheet names. Empty
    if it loads no files."""


class SheetEntry(Struct, frozen=True):
    """An entry under `styles` in a theme.yaml."""

    file: str
    """Name of the stylesheet under `static/`."""
    groups: tuple[str, ...] = GROUPS
    media: str = ""
    """Media query; empty if the file always applies."""
    when: tuple[tuple[str, tuple[OptionValue, ...]], ...] = ()
    """(theme option, values for which the file is used). If empty, the file is always used."""

    def applies_to(self, options: Mapping[str, Any]) -> bool:
        """Return whether a site with these options uses the file."""
        return all(options.get(name) in values for name, values in self.when)


class StyleSheet(Struct, frozen=True, cache_hash=True):
    """A stylesheet made of several files, for a group of pages."""

    group: str
    theme: str
    parts: tuple[tuple[StaticFile, str], ...]
    """(file, media query; empty if there is none), in order. Files without a media query come first."""
    is_standalone: bool = True
    """Whether pages use only this stylesheet. Otherwise they use it in addition to another one."""
    variables: tuple[tuple[str, str], ...] = ()
    """(name, value) of the custom properties that options of the site set."""

    def path(self, math_font: str) -> PurePosixPath:
        """Return the path in the finished site. math_font: as in `PageView`."""
        return _sheet_path(self, math_font.rpartition("/")[2] if self.is_standalone else "")

    def is_made_of(self, file: Path) -> bool:
        """Return whether a file on disk is part of the stylesheet."""
        return any(part.asset.file == file for part, _ in self.parts)

    def is_current(self) -> bool:
        """Return whether the files on disk still have the versions that the path of this stylesheet
        contains."""
        return all(file_version(file.asset.file.read_bytes()) == file.version for file, _ in self.parts)

    def text(self, font_face: str = "") -> str:
        """Return the content, made from the current files. SiteError if a file is not valid UTF-8. font_face:
        `@font-face` rule of the math font."""
        chosen = ";".join(f"{name}:{value}" for name, value in self.variables)
        rules = list(statements(font_face)) if self.is_standalone else []
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
def _sheet_path(sheet: StyleSheet, font: str) -> PurePosixPath:
    """Return the path of a stylesheet. Cached, because every page needs it. font: name of the math font's
    file."""
    chosen = [f"{name}:{value}" for name, value in sheet.variables]
    files = [f"{file.asset.path} {file.version} {media}" for file, media in sheet.parts]
    return joined_path(sheet.theme, sheet.group, ".css", (_RECIPE, font, *files, *chosen))


def joined_path(theme: str, group: str, suffix: str, made_of: Iterable[str]) -> PurePosixPath:
    """Return the path of a group's file in the finished site. made_of: all inputs; the name has a digest of
    them."""
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:_DIGITS]
    return PurePosixPath("assets", theme, f"{group}-{digest}{suffix}")


def file_version(data: bytes) -> str:
    """Return the version of a file for its URL: a digest of its content."""
    return hashlib.sha256(data).hexdigest()[:8]


def css_mentions(css: bytes) -> frozenset[str]:
    """Return the file names of fonts, licences and stylesheets in a stylesheet and its comments. Empty if it
    loads no files."""
    if not any(one in css for one in _LOADED):
        return frozenset()
    return frozenset(name.decode("utf-8", "replace") for name in _MENTION.findall(css))


def unused_files(
    static: Mapping[str, StaticFile], sheets: Iterable[StyleSheet], requesting: Iterable[str]
) -> frozenset[str]:
    """Return the stylesheets, fonts and licences of a theme that no page of the site loads, by their names
    under `static/`. A font that no stylesheet mentions is not among them, because a script may load it.

    requesting: templates and settings, which may name files.
    """
    ends = tuple(name for text in requesting for name in _REQUEST.findall(text))
    css = {name: file for name, file in static.items() if name.endswith(".css")}
    joined = {file.asset.path for sheet in sheets for file, _ in sheet.parts}
    sources = [name for name, file in css.items() if file.asset.path in joined]
    loaded = [name for name in css if name.endswith(ends)]
    # a font that a template loads needs its licence, which the stylesheet of the font mentions
    sources += loaded
    sources += [name for name, file in css.items() if any(one.endswith(ends) for one in file.mentions)]
    for source in sources:
        more = [name for name in css if name not in loaded and _last(name) in css[source].mentions]
        loaded += more
        sources += more
    mentioned = {name for file in css.values() for name in file.mentions}
    used = {name for source in sources for name in css[source].mentions}
    unused = {name for name in static if _last(name) in mentioned - used and not name.endswith(ends)}
    return frozenset((unused | css.keys()).difference(loaded))


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def join_sheets(
    declared: Iterable[SheetEntry],
    static: Mapping[str, StaticFile],
    theme: str,
    variables: Sequence[tuple[str, str]] = (),
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, StyleSheet]:
    """Return the stylesheet of each group for these options of the site. declared: entries in order of
    precedence, lowest first; if several name the same file, the last one applies. variables: as in
    `StyleSheet`."""
    last = {sheet.file: sheet for sheet in declared}
    wanted = [sheet for sheet in last.values() if sheet.applies_to(options)]
    ordered = sorted(wanted, key=lambda sheet: bool(sheet.media))
    groups = dict.fromkeys(group for sheet in ordered for group in sheet.groups)
    # in an additional stylesheet, the variables would come after the print rules and override them
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
        message, hint = f"invalid UTF-8 at byte {error.start}", "save the file as UTF-8"
        raise SiteError(
            Diagnostic("encoding", message, "/".join(asset.file.parts[-4:]), hint=hint)
        ) from error
    folder = "/".join(asset.path.parts[2:-1])
    return [one for one in statements(css, folder) if not one.startswith("@charset")]


def _conditional(found: Sequence[str], media: str) -> list[str]:
    """Return the statements `found` so that they apply only for the media query `media`."""
    first = [f"{one.rstrip(';')} {media};" for one in found if one.startswith(_FIRST)]
    rest = "".join(one for one in found if not one.startswith(_FIRST))
    return [*first, f"@media {media}{{{rest}}}"]
