"""Checks of the stylesheets of a site, of its theme and of its plugins.

Only files that the author can change are checked: the stylesheets of the site's own theme, those named in the
settings or in a template, and colours set by theme options. (Tests check the bundled themes.) Findings that
depend on these files only are cached; a site without these files does no work.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from math import floor
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import (
    Diagnostic,
    Place,
    Severity,
    confirm_typo,
    did_you_mean,
    format_suggestion,
    nearest,
)
from ..base.patterns import lazy_pattern
from ..base.storage.site_cache import CacheInterface, Row
from ..config.load import CONFIG_NAME
from ..config.schema import Config
from ..model.documents import Document
from ..project.bundled_folders import bundled_folder
from ..project.context import SiteContext
from ..render.policy.sources import SELF, source_of
from ..render.templates.style_sheets import StyleSheet, file_version
from ..render.templates.theme_options import SCHEMES, option_variables
from ..render.templates.theme_settings import ColorPair
from ..rows.page_rows import digest_values
from .site_options import Assets, option_files, site_path

if TYPE_CHECKING:
    from ..render.templates.color_contrast import Color
    from ..render.templates.stylesheet_facts import StylesheetFacts, StylesheetName

_KIND: Final = "stylesheet checks"
_NAME = "all"
_PROPERTY = lazy_pattern(r"(?<![\w-])--[\w-]+")
_SET_PROPERTY = lazy_pattern(r"(--[\w-]+)(?:\s|/\*.*?\*/)*:", re.DOTALL)
_ON_PAGES = frozenset(("--first-line",))
"""Custom properties that are set in `style` attributes of pages."""
_NOTHING = frozenset((SELF, "", "data:", "blob:", "mailto:"))
"""Sources of URLs that load nothing from another host."""


class _Stylesheet(Struct, frozen=True):
    """A stylesheet that the author can change."""

    file: Path
    path: str
    """Path of the stylesheet for messages."""
    output: str
    """Path in the finished site."""
    text: str


class _Use(Struct, frozen=True, array_like=True):
    """A URL or a custom property that a stylesheet uses."""

    name: str
    place: Place
    path: str
    output: str
    line: str

    def problem(
        self, code: str, message: str, hint: str, severity: Severity, near: str | None = None
    ) -> Diagnostic:
        """Return a diagnostic. near: similar name to suggest, or None. hint: hint that is used if `near` is
        None."""
        meant = confirm_typo(self.name, near)
        at = self.line.find(self.name, self.place.column - 1)
        fix = make_replacement(self.place.line, at + 1, self.name, meant) if meant and at >= 0 else None
        hint = format_suggestion(near) or hint
        return Diagnostic(code, message, self.path, self.place, self.line, hint, severity, fix=fix)


class _Findings(Struct, frozen=True, array_like=True):
    """Results that depend only on stylesheets and settings."""

    diagnostics: tuple[Diagnostic, ...] = ()
    urls: tuple[_Use, ...] = ()
    unknown: tuple[tuple[_Use, str | None], ...] = ()
    """Custom properties that neither a stylesheet nor a script of the theme sets, each with a similar name or
    None."""


def check_stylesheets(
    context: SiteContext,
    assets: Assets,
    outputs: Collection[str],
    documents: Iterable[Document],
    rows: CacheInterface,
) -> list[Diagnostic]:
    """Return the problems in stylesheets. outputs: paths of all files of the finished site."""
    sheets = _author_stylesheets(context, assets)
    options = context.theme.files.options
    chosen = option_variables(context.config.theme_options, options)
    has_colors = any(options[name].property for name in context.config.theme_options)
    if not sheets and not has_colors and not _theme_yaml(context):
        return []
    static = [(name, one.version) for name, one in context.theme.files.static.items()]
    key = digest_values(
        rows.program,
        [(one.path, one.output, file_version(one.text.encode()), len(one.text)) for one in sheets],
        static,
        sorted(context.theme.unused),
        [
            (sheet.group, [str(part.asset.path) for part, _ in sheet.parts])
            for sheet in _whole_sheets(context)
        ],
        [msgspec.to_builtins(pair) for pair in context.theme.files.contrast],
        chosen,
        dict(context.config.theme_options),
        [str(_option_location(context, name)) for name in options],
    ).hex()
    row = rows.get(_KIND, _NAME)
    findings = _decode(row.data) if row and row.key == key else None
    if findings is None:
        findings = _find(context, sheets, chosen)
        rows.put(_KIND, _NAME, Row(key, msgspec.msgpack.encode(findings)))
    return [
        *findings.diagnostics,
        *_url_problems(findings.urls, context.config, outputs),
        *_unknown_properties(findings.unknown, context, documents),
    ]


def check_generated(path: str, data: bytes, config: Config, outputs: Collection[str]) -> list[Diagnostic]:
    """Return the syntax errors and URL problems in a stylesheet that a plugin generates."""
    from ..render.templates.stylesheet_facts import read_stylesheet

    sheet = _Stylesheet(Path(path), path, path, data.decode("utf-8-sig", "replace"))
    facts = read_stylesheet(sheet.text)
    return [*_syntax_errors(sheet, facts), *_url_problems(_uses(sheet, facts.urls), config, outputs)]


def _decode(data: bytes) -> _Findings | None:
    try:
        return msgspec.msgpack.decode(data, type=_Findings)
    except msgspec.MsgspecError:
        return None


def _author_stylesheets(context: SiteContext, assets: Assets) -> list[_Stylesheet]:
    """Return the stylesheets to check: those of the theme in the theme's order, then those of the site."""
    root, bundled = context.root.resolve(), bundled_folder("themes").resolve()
    found: dict[Path, tuple[str, str]] = {}
    for one in context.theme.files.static.values():
        file = one.asset.file
        if file.suffix == ".css" and not file.is_relative_to(bundled):
            label = (
                file.relative_to(root).as_posix() if file.is_relative_to(root) else "/".join(file.parts[-3:])
            )
            found[file] = (label, str(one.asset.path))
    named = {site_path(value) for _, value in option_files(context)}
    templates = [template.text for template in context.theme.files.templates.values()]
    for path, (asset, url) in assets.items():
        if asset.path.suffix == ".css" and (url in named or any(url in text for text in templates)):
            found[asset.file] = (path, url.lstrip("/"))
    sheets = []
    for file, (label, output) in found.items():
        try:
            sheets.append(_Stylesheet(file, label, output, file.read_text("utf-8-sig", errors="replace")))
        except OSError:
            # the error is reported when the file is copied
            continue
    return sheets


def _whole_sheets(context: SiteContext) -> list[StyleSheet]:
    return [sheet for sheet in context.theme.sheets.values() if sheet.is_standalone]


def _find(
    context: SiteContext, sheets: Sequence[_Stylesheet], chosen: Sequence[tuple[str, str]]
) -> _Findings:
    from ..render.templates.stylesheet_facts import read_stylesheet

    facts = {sheet.file: read_stylesheet(sheet.text) for sheet in sheets}
    errors: list[Diagnostic] = []
    urls: list[_Use] = []
    used: list[_Use] = []
    theme = context.theme
    unused = {theme.files.static[name].asset.file for name in theme.unused} - {
        part.asset.file for joined in theme.sheets.values() for part, _ in joined.parts
    }
    for sheet in sheets:
        errors += _syntax_errors(sheet, facts[sheet.file])
        # what an unused stylesheet of the theme loads is not copied either
        urls += _uses(sheet, facts[sheet.file].urls) if sheet.file not in unused else []
        used += _uses(sheet, facts[sheet.file].used)
    known = (
        {name for one in facts.values() for name in one.defined} | {name for name, _ in chosen} | _ON_PAGES
    )
    known.update(option.property for option in context.theme.files.options.values())
    if any(use.name not in known for use in used):
        for one in context.theme.files.static.values():
            if one.asset.file not in facts and one.asset.file.suffix in (".css", ".js"):
                known.update(_PROPERTY.findall(_read(one.asset.file)))
    unknown = tuple((use, nearest(use.name, sorted(known))) for use in used if use.name not in known)
    checker = _ContrastChecker(context, sheets, facts)
    return _Findings((*errors, *checker.check(chosen)), tuple(urls), unknown)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig", errors="replace")
    except OSError:
        return ""


def _uses(sheet: _Stylesheet, names: Iterable[StylesheetName]) -> list[_Use]:
    from ..render.templates.stylesheet_facts import css_lines

    lines = css_lines(sheet.text)
    return [_Use(one.name, one.place, sheet.path, sheet.output, lines[one.place.line - 1]) for one in names]


def _syntax_errors(sheet: _Stylesheet, facts: StylesheetFacts) -> Iterator[Diagnostic]:
    from ..render.templates.stylesheet_facts import css_lines

    lines = css_lines(sheet.text)
    for error in facts.errors:
        line = lines[error.place.line - 1]
        yield Diagnostic(
            "style-syntax", error.message, sheet.path, error.place, line, error.hint, "warning", fix=error.fix
        )


# Checks of URLs that have no file, or that load from another host.


def _url_problems(urls: Iterable[_Use], config: Config, outputs: Collection[str]) -> Iterator[Diagnostic]:
    for use in urls:
        source = source_of(use.name) if use.name.strip() else ""
        if source not in _NOTHING:
            yield from _remote_problem(use, source, config)
        elif source == SELF:
            yield from _file_problem(use, config.base_path, outputs)


def _file_problem(use: _Use, base_path: str, outputs: Collection[str]) -> Iterator[Diagnostic]:
    path = unquote(use.name.strip().partition("#")[0].partition("?")[0])
    folder, root = posixpath.dirname(use.output), f"{base_path}/"
    hint, near = "add the file, or remove the URL", None
    if path.startswith("/") and not path.startswith(root):
        # the URL may belong to another site on this host, unless this site has the file
        if path.lstrip("/") not in outputs:
            return
        hint = f"write `{base_path}{use.name}`"
    else:
        is_absolute = path.startswith("/")
        target = path.removeprefix(root) if is_absolute else posixpath.normpath(posixpath.join(folder, path))
        if not path or target in outputs or target.startswith("../"):
            return
        if (near := nearest(target, outputs)) is not None:
            near = f"{root}{near}" if is_absolute else posixpath.relpath(near, folder or ".")
    yield use.problem("style-file", f'file not found: "{use.name}"', hint, "warning", near)


def _remote_problem(use: _Use, source: str, config: Config) -> Iterator[Diagnostic]:
    level = config.embeds.remote
    if level == "allow" or _is_allowed(source, config.security.csp):
        return
    message = f'"{use.name}" is not allowed in this stylesheet: it is on another host'
    hint = "put a copy next to the stylesheet, or write `embeds: {remote: allow}` in blogsmith.yaml"
    yield use.problem("style-remote", message, hint, "warning" if level == "warn" else "error")


def _is_allowed(source: str, csp: str | Mapping[str, Sequence[str]]) -> bool:
    """Return whether `security.csp` names the host of a source."""
    host = source.rpartition("//")[2]
    named = [one for values in csp.values() for one in values] if not isinstance(csp, str) else []
    return any(host == (urlsplit(one).netloc or one) for one in named)


# Checks of custom properties that nothing sets.


def _unknown_properties(
    unknown: Sequence[tuple[_Use, str | None]], context: SiteContext, documents: Iterable[Document]
) -> Iterator[Diagnostic]:
    """Yield warnings for properties that no template, post or plugin mentions either."""
    if not unknown:
        return
    texts = [template.text for template in context.theme.files.templates.values()]
    texts += [document.source.text for document in documents]
    texts += [_read(file) for file in sorted((context.root / "plugins").glob("*.py"))]
    mentioned = {name for text in texts if "--" in text for name in _PROPERTY.findall(text)}
    for use, near in unknown:
        if use.name not in mentioned:
            hint = f"define `{use.name}: …` under `:root`, or write `var({use.name}, …)` with a fallback"
            message = f'unknown custom property "{use.name}"'
            yield use.problem("style-property", message, hint, "warning", near)


# Checks of the contrast of the colour pairs that the theme lists.


class _Declared(Struct, frozen=True):
    """The value that a custom property has for the whole page, and the location where the author sets the
    value."""

    value: str
    path: str = ""
    """Path for messages; empty if a bundled theme sets it."""
    place: Place | None = None
    line: str = ""


class _ContrastChecker:
    def __init__(
        self,
        context: SiteContext,
        sheets: Sequence[_Stylesheet],
        facts: Mapping[Path, StylesheetFacts],
    ) -> None:
        self._context = context
        self._sheets = {sheet.file: sheet for sheet in sheets}
        self._facts = facts
        self._declared: dict[tuple[str, str], _Declared] = {}
        """Property and scheme → its value."""

    def check(self, chosen: Sequence[tuple[str, str]]) -> Iterator[Diagnostic]:
        """Yield a warning for each pair with too little contrast that the author can change."""
        pairs = self._context.theme.files.contrast
        names = {name for pair in pairs for name in (pair.text, pair.background)}
        theme = dict.fromkeys(
            part.asset.file
            for sheet in _whole_sheets(self._context)
            for part, media in sheet.parts
            if not media
        )
        for file in theme:
            self._add_file(file, names)
        for name, value in chosen:
            self._set(name, SCHEMES, self._option_declaration(name, value))
        static = {one.asset.file for one in self._context.theme.files.static.values()}
        for file in self._sheets:
            if file not in static:
                self._add_file(file, names)
        lowest: dict[tuple[str, str], tuple[float, Diagnostic]] = {}
        """(scheme, property to change) → the lowest contrast, and the warning about it."""
        for pair in pairs:
            yield from self._unknown_names(pair)
            for scheme in self._schemes():
                for name, ratio, found in self._check_pair(pair, scheme):
                    lowest[scheme, name] = min(
                        lowest.get((scheme, name), (ratio, found)), (ratio, found), key=itemgetter(0)
                    )
        yield from (found for _, found in lowest.values())

    def _unknown_names(self, pair: ColorPair) -> Iterator[Diagnostic]:
        """Yield a warning for each name in the theme.yaml of the site's theme that no stylesheet sets."""
        known = {name for name, _ in self._declared}
        for name in (pair.text, pair.background):
            if name not in known and (self._context.root / pair.path).is_file():
                hint = did_you_mean(name, sorted(known)) or f"define `{name}: …` under `:root`"
                message = f'unknown custom property "{name}"'
                yield Diagnostic("style-property", message, pair.path, pair.place, pair.line, hint, "warning")

    def _schemes(self) -> Sequence[str]:
        """Return the colour schemes that readers can see: only one if the options fix it and there is no
        switch."""
        options = {**self._context.theme.files.defaults, **self._context.config.theme_options}
        fixed = options.get("scheme")
        return (fixed,) if fixed in SCHEMES and not options.get("switch") else SCHEMES

    def _add_file(self, file: Path, names: Set[str]) -> None:
        from ..render.templates.stylesheet_facts import css_lines, read_stylesheet

        sheet = self._sheets.get(file)
        text = sheet.text if sheet else _read(file)
        if sheet is None and names.isdisjoint(_SET_PROPERTY.findall(text)):
            return
        lines = css_lines(text)
        for one in (self._facts.get(file) or read_stylesheet(text)).root:
            path, line = (sheet.path, lines[one.place.line - 1]) if sheet else ("", "")
            self._set(
                one.name,
                (one.scheme,) if one.scheme else SCHEMES,
                _Declared(one.value, path, one.place, line),
            )

    def _set(self, name: str, schemes: Iterable[str], declared: _Declared) -> None:
        for scheme in schemes:
            self._declared[name, scheme] = declared

    def _option_declaration(self, name: str, value: str) -> _Declared:
        context = self._context
        for option, declared in context.theme.files.options.items():
            if declared.property == name and option in context.config.theme_options:
                place, line = _option_location(context, option)
                return _Declared(value, CONFIG_NAME, place, line)
        return _Declared(value, _theme_yaml(context))

    def _color(self, name: str, scheme: str) -> Color | None:
        from ..render.templates.color_contrast import resolve_color

        values = {
            one: found.value for (one, of_scheme), found in self._declared.items() if of_scheme == scheme
        }
        return resolve_color(values.get(name, ""), scheme, values.get)

    def _check_pair(self, pair: ColorPair, scheme: str) -> Iterator[tuple[str, float, Diagnostic]]:
        """Yield the property to change, the contrast and a warning, if the contrast of a pair is too low."""
        from ..render.templates.color_contrast import MIN_CONTRAST, contrast, readable_color

        names = (pair.text, pair.background)
        declared = [self._declared.get((name, scheme)) for name in names]
        number = next((at for at, one in enumerate(declared) if one and one.path), None)
        if number is None:
            return
        text, background = colors = [self._color(name, scheme) for name in names]
        if text is None or background is None or background.alpha < 1:
            return
        ratio, own, name = contrast(text, background), declared[number], names[number]
        if ratio >= MIN_CONTRAST or own is None:
            return
        better = readable_color(colors[number] or text, colors[1 - number] or background)
        hint = self._contrast_hint(name, scheme, own, better.hex)
        message = (
            f'low contrast of "{pair.text}" on "{pair.background}" in {scheme} mode: '
            f"{floor(ratio * 100) / 100:.2f}, minimum {MIN_CONTRAST}"
        )
        found = Diagnostic("style-contrast", message, own.path, own.place, own.line, hint, "warning")
        yield name, ratio, found

    def _contrast_hint(self, name: str, scheme: str, own: _Declared, better: str) -> str:
        """Return the hint to replace a colour, or to add a colour for the other colour scheme."""
        is_shared = all(self._declared.get((name, one)) is own for one in SCHEMES)
        if not is_shared or "light-dark(" in own.value or len(self._schemes()) == 1:
            return f"set `{name}` to a colour such as `{better}` in {scheme} mode"
        light, dark = (better if one == scheme else own.value for one in SCHEMES)
        if own.path.endswith(".yaml"):
            return f'write a colour for each mode: `{{light: "{light}", dark: "{dark}"}}`'
        return f"write a colour for each mode: `light-dark({light}, {dark})`"


def _theme_yaml(context: SiteContext) -> str:
    """Return the path of the theme's settings; empty if the theme is not in the site."""
    path = f"themes/{context.theme.name}/theme.yaml"
    file = (context.root / path).resolve()
    return path if file.is_file() and not file.is_relative_to(bundled_folder("themes").resolve()) else ""


def _option_location(context: SiteContext, name: str) -> tuple[Place | None, str]:
    """Return the location of an option in the settings, and its line; None and "" if it is not set."""
    place = context.settings.locations.get(("theme_options", name))
    return place, context.settings.lines[place.line - 1] if place else ""
