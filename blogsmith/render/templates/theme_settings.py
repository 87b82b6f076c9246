"""The settings in a `theme.yaml`, with checks of all keys and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ...base.diagnostics.model import Place, Reporter, did_you_mean, format_suggestion, list_choices, nearest
from ...base.patterns import lazy_pattern
from ...base.schema import yaml_loader as loader
from ...model.social_cards import CardStyle
from .script_bundles import ScriptEntry
from .style_sheets import GROUPS, OptionValue, SheetEntry
from .theme_options import ThemeOption, read_options

_COLORS = ("paper", "ink", "muted", "accent")
_CARD_KEYS = ("font", "weight", *_COLORS)
_COLOR = lazy_pattern(r"#[0-9a-fA-F]{6}")

THEME_KEYS: tuple[tuple[str, type, str], ...] = (
    ("name", str, "a string"),
    ("description", str, "a string"),
    ("extends", str, "a theme name"),
    ("math_font", str, "a file path"),
    ("card", dict, "a mapping"),
    ("styles", list, "a list of stylesheets"),
    ("scripts", list, "a list of scripts"),
    ("options", dict, "a mapping"),
    ("contrast", dict, "a mapping"),
)
_Entry = TypeVar("_Entry", SheetEntry, ScriptEntry)


class _EntryKind(Struct, Generic[_Entry], frozen=True):
    """Description of one kind of entry in a list of a theme.yaml."""

    key: str
    """Key of the list in the theme.yaml."""
    keys: tuple[str, ...]
    """Allowed keys of an entry that is a mapping."""
    read: Callable[[Any], _Entry | None]
    """Function that converts an entry as written; it returns None for an invalid one."""
    expected: str
    """Description of a valid entry, for the message about an invalid one."""
    hint: str


class ColorPair(Struct, frozen=True):
    """Custom properties of a text colour and its background, from `contrast` in a theme.yaml."""

    text: str
    background: str
    path: str
    """Path of the theme.yaml for messages."""
    place: Place | None
    line: str
    """Text of the line at `place`."""


class ThemeSettings(Struct, frozen=True):
    """The settings of a theme.yaml."""

    description: str = ""
    extends: str = ""
    math_font: str = ""
    options: Mapping[str, ThemeOption] = {}
    styles: tuple[SheetEntry, ...] = ()
    scripts: tuple[ScriptEntry, ...] = ()
    card: CardStyle | None = None
    """Style of social cards; None if there is none. The path of its font is as written."""
    contrast: tuple[ColorPair, ...] = ()
    located: loader.Located | None = None
    """The parsed file with positions; None if it is empty."""


def read_settings(text: str, name: str, reporter: Reporter) -> ThemeSettings:
    """Return the settings in the theme.yaml of theme `name`. Report invalid settings and leave them out."""
    located = loader.load(text, reporter)
    if located is None or located.value is None:
        return ThemeSettings()
    if not isinstance(located.value, dict):
        reporter.error(
            "theme-value",
            "invalid theme.yaml: expected `key: value` lines",
            located.places.get(()),
            "write lines such as `extends: paper`",
        )
        return ThemeSettings()
    kinds = {key: (kind, words) for key, kind, words in THEME_KEYS}
    right: dict[str, Any] = {}
    for key, value in located.value.items():
        place = located.places.get((key,))
        if key not in kinds:
            key_place = located.key_places.get((key,))
            near = nearest(str(key), kinds)
            hint = format_suggestion(near) or list_choices(kinds)
            fix = reporter.correct(key_place, str(key), near)
            reporter.error("theme-value", f'unknown key "{key}"', key_place, hint, fix)
        elif not isinstance(value, kinds[key][0]):
            reporter.error(
                "theme-value",
                f'invalid "{key}": expected {kinds[key][1]}',
                place,
                _form_hint(key, kinds[key][0]),
            )
        elif key == "name" and value != name:
            reporter.error(
                "theme-value",
                f'invalid theme name "{value}": expected "{name}", the name of the folder',
                place,
                f"write `name: {name}`",
            )
        else:
            right[key] = value
    return ThemeSettings(
        right.get("description", ""),
        right.get("extends", ""),
        right.get("math_font", ""),
        read_options(right.get("options", {}), located.places, reporter),
        tuple(_read_entries(_SHEETS, right.get("styles", []), located, reporter)),
        tuple(_read_entries(_SCRIPTS, right.get("scripts", []), located, reporter)),
        read_card(right.get("card", {}), located, reporter),
        tuple(_read_pairs(right.get("contrast", {}), located, reporter)),
        located,
    )


def _read_entries(
    kind: _EntryKind[_Entry], entries: list[Any], located: loader.Located, reporter: Reporter
) -> Iterator[_Entry]:
    """Yield the entries of `styles` or `scripts`. Report invalid ones and leave them out."""
    for index, written in enumerate(entries):
        entry = kind.read(written)
        if _has_known_keys(written, (kind.key, index), kind.keys, located, reporter):
            if entry is not None:
                yield entry
                continue
            place = located.places.get((kind.key, index))
            reporter.error(
                "theme-value", f'invalid entry of "{kind.key}": expected {kind.expected}', place, kind.hint
            )


def _sheet(entry: Any) -> SheetEntry | None:
    if isinstance(entry, str):
        return SheetEntry(entry)
    if not isinstance(entry, dict):
        return None
    file, groups, media = entry.get("file"), _groups(entry.get("for", list(GROUPS))), entry.get("media", "")
    when = _when(entry.get("when", {}))
    if not isinstance(file, str) or not isinstance(media, str) or not groups or when is None:
        return None
    return SheetEntry(file, groups, media, when)


def _when(written: Any) -> tuple[tuple[str, tuple[OptionValue, ...]], ...] | None:
    """Return (option, its values) for each item of a mapping such as `{font: paper, toc: [right, none]}`, or
    None if the mapping is invalid."""
    if not isinstance(written, dict):
        return None
    found = {
        str(name): tuple(value) if isinstance(value, list) else (value,) for name, value in written.items()
    }
    if not all(isinstance(value, OptionValue) for values in found.values() for value in values):
        return None
    return tuple(found.items())


def _form_hint(key: str, kind: type) -> str:
    """Return a hint on how to write a key of a theme.yaml. kind: type of the key's value."""
    form = "[…]" if kind is list else "{key: value}" if kind is dict else "NAME"
    return f"write `{key}: {form}`"


def report_conditions(
    settings: ThemeSettings, options: Mapping[str, ThemeOption], reporter: Reporter
) -> None:
    """Report stylesheets that `when` restricts to unknown options, or to values that an option cannot have.
    options: options of the theme and of the themes that it extends."""
    located = settings.located
    for index, sheet in enumerate(settings.styles):
        for name, values in sheet.when:
            path = ("styles", index, "when", name)
            if name not in options:
                place = located.key_places.get(path) if located else None
                hint = did_you_mean(name, options) or list_choices(options)
                reporter.error("theme-value", f'unknown theme option "{name}"', place, hint)
                continue
            wrong = next((found for value in values if (found := options[name].problem(value))), "")
            if wrong:
                place = located.places.get(path) if located else None
                reporter.error(
                    "theme-value",
                    f'invalid value of option "{name}": {wrong}',
                    place,
                    "write a value that the option allows",
                )


def _script(entry: Any) -> ScriptEntry | None:
    if isinstance(entry, str):
        return ScriptEntry(entry)
    if not isinstance(entry, dict):
        return None
    file, groups = entry.get("file"), _groups(entry.get("for", []))
    is_right = isinstance(file, str) and (groups or "for" not in entry)
    return ScriptEntry(str(file), groups) if is_right else None


def _groups(value: Any) -> tuple[str, ...]:
    """Return the groups of pages under `for` in an entry. Empty if the value is neither a name nor a list of
    names."""
    names = [value] if isinstance(value, str) else value
    is_right = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if is_right else ()


def _has_known_keys(
    entry: Any, path: tuple[str, int], keys: tuple[str, ...], located: loader.Located, reporter: Reporter
) -> bool:
    unknown = [key for key in entry if key not in keys] if isinstance(entry, dict) else []
    for key in unknown[:1]:
        hint = did_you_mean(key, keys) or list_choices(keys)
        reporter.error("theme-value", f'unknown key "{key}"', located.key_places.get((*path, key)), hint)
    return not unknown


_SHEETS = _EntryKind(
    "styles",
    ("file", "for", "media", "when"),
    _sheet,
    "a stylesheet",
    "write `- own.css`, or `- {file: own.css, for: posts, media: print}`",
)
_SCRIPTS = _EntryKind(
    "scripts",
    ("file", "for"),
    _script,
    "a script file",
    "write `- own.js`, or `- {file: own.js, for: posts}`",
)


def read_card(written: Mapping[str, Any], located: loader.Located, reporter: Reporter) -> CardStyle | None:
    """Return the style of social cards under `card` in a theme.yaml; None if it is missing. Report invalid
    settings and leave them out. The path of the font is as written."""
    right: dict[str, Any] = {}
    for key, value in written.items():
        place = located.places.get(("card", key))
        if key not in _CARD_KEYS:
            hint = did_you_mean(str(key), _CARD_KEYS) or list_choices(_CARD_KEYS)
            key_place = located.key_places.get(("card", key))
            reporter.error("theme-value", f'unknown key "{key}"', key_place, hint)
        elif key in _COLORS and not _is_color(value):
            reporter.error(
                "theme-value",
                f'invalid "{key}": expected a colour',
                place,
                'write a colour such as `"#1a2b3c"`',
            )
        elif key == "font" and not isinstance(value, str):
            reporter.error(
                "theme-value", 'invalid "font": expected a file path', place, "write `font: fonts/NAME.ttf`"
            )
        elif key == "weight" and (not isinstance(value, int) or not 1 <= value <= 1000):
            reporter.error(
                "theme-value",
                'invalid "weight": expected a number from 1 to 1000',
                place,
                "write `weight: 600`",
            )
        else:
            right[key] = Path(value) if key == "font" else value
    return CardStyle(**right) if written else None


def _read_pairs(
    written: Mapping[str, Any], located: loader.Located, reporter: Reporter
) -> Iterator[ColorPair]:
    """Yield the pairs of colours under `contrast` in a theme.yaml. Report invalid pairs and leave them
    out."""
    for background, texts in written.items():
        names = texts if isinstance(texts, list) else [texts]
        for index, name in enumerate(names):
            path = ("contrast", background, index)
            place = located.places.get(path) or located.places.get(path[:2])
            if all(isinstance(one, str) and one.startswith("--") for one in (background, name)):
                line = reporter.lines[place.line - 1] if place else ""
                yield ColorPair(name, background, reporter.path, place, line)
            else:
                message = 'invalid "contrast": expected custom properties'
                hint = "write a background with its text colours, such as `--paper: [--ink, --accent]`"
                reporter.error("theme-value", message, place, hint)


def _is_color(value: object) -> bool:
    return isinstance(value, str) and _COLOR.fullmatch(value) is not None
