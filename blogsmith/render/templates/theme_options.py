"""Options of a theme: the possible values of `theme_options`, and the custom properties that some options
set.

A theme declares each option in its theme.yaml, by its default alone or as a mapping. If no kind is given, the
type of the default determines it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...base.diagnostics.model import Place, Reporter, did_you_mean, format_suggestion, list_choices, nearest
from ...base.patterns import lazy_pattern
from ...base.schema.records import type_hint
from ...base.schema.yaml_loader import YamlPath

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "flag": "true or false",
        "text": "a string",
        "number": "a number",
        "list": "a list of strings",
        "mapping": "a mapping of `key: value`",
        "color": "a colour or `{light: …, dark: …}`",
        "length": "a length such as `34rem`",
        "file": "the site path of a file, such as `/icon.svg`",
        "files": "site paths of files, such as `[/own.css]`",
    }
)
"""Kind of an option → description of its values, for messages."""
_BY_TYPE: tuple[tuple[type, str], ...] = (
    *((bool, "flag"), (int, "number"), (float, "number")),
    *((str, "text"), (list, "list"), (dict, "mapping")),
)
_KEYS = ("default", "kind", "choices", "property")
_PROPERTY = lazy_pattern(r"--[A-Za-z0-9_-]+")
_COLOR = lazy_pattern(
    r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})"
    r"|(?:rgb|rgba|hsl|hsla|hwb|lab|lch|oklab|oklch|color|color-mix|var)"
    r"\((?:[\w\s.,%/#+-]|\([\w\s.,%/#+-]*\))*\)"
)
_SPECIAL_COLOR_NAMES = ("currentcolor", "transparent")
"""Colour keywords of CSS that name no fixed colour."""
_LENGTH = lazy_pattern(r"\d+(?:\.\d+)?(?:rem|em|ch|ex|px|pt|pc|cm|mm|in|vw|svw)")
SCHEMES = ("light", "dark")


class ThemeOption(Struct, frozen=True):
    """A theme's declaration of one option."""

    default: Any
    kind: str
    """Kind of the values, a key of `KINDS`."""
    choices: tuple[str, ...] = ()
    """Allowed strings; empty if any string is allowed."""
    property: str = ""
    """CSS custom property that the option sets; empty if none."""

    def problem(self, value: Any) -> str:
        """Return the expected kind of value as a phrase, such as `expected a number`; empty if `value` is
        valid."""
        if self.choices:
            return "" if value in self.choices else f"expected one of {', '.join(self.choices)}"
        if value in ("", None) and self.kind not in ("flag", "number"):
            return ""
        return "" if _CHECKS[self.kind](value) else f"expected {KINDS[self.kind]}"

    def hint(self) -> str:
        """Return a hint on the values that authors can write."""
        return list_choices(self.choices) or type_hint(KINDS[self.kind]) or f"write {KINDS[self.kind]}"

    def css(self, value: Any) -> str:
        """Return a valid value as CSS; empty if the value means that the theme's stylesheet decides."""
        if isinstance(value, dict):
            return f"light-dark({value['light']}, {value['dark']})"
        return "" if value in ("", None) else str(value)


def read_options(declared: Mapping[str, Any], places: Mapping[YamlPath, Place], reporter: Reporter) -> Any:
    """Return the options declared under `options` in a theme.yaml. Report invalid ones and leave them out."""
    found = {}
    for name, value in declared.items():
        option = _read_option(name, value, places, reporter)
        if option is not None:
            found[name] = option
    return found


_FORM_HINTS: Mapping[str, str] = MappingProxyType(
    {"choices": "write `choices: [a, b]`", "property": "write `property: --accent`"}
)


def _read_option(
    name: str, value: Any, places: Mapping[YamlPath, Place], reporter: Reporter
) -> ThemeOption | None:
    path: YamlPath = ("options", name)
    if not isinstance(value, dict) or not value.keys() & set(_KEYS):
        return ThemeOption(value, _default_kind(value))
    if "default" not in value:
        reporter.error(
            "theme-value", f'missing "default" of option "{name}"', places.get(path), "add `default: …`"
        )
        return None
    unknown = [key for key in value if key not in _KEYS]
    for key in unknown:
        hint = did_you_mean(str(key), _KEYS) or list_choices(_KEYS)
        reporter.error("theme-value", f'unknown key "{key}"', places.get((*path, key)), hint)
    choices, kind = value.get("choices", []), value.get("kind", _default_kind(value["default"]))
    problem = ""
    if kind not in KINDS:
        problem, key = f'unknown kind "{kind}"', "kind"
    elif not _is_list(choices):
        problem, key = 'invalid "choices": expected a list of strings', "choices"
    elif not _PROPERTY.fullmatch(str(value.get("property", "--x"))):
        problem, key = (
            f'invalid CSS property "{value["property"]}": expected a name such as `--accent`',
            "property",
        )
    if problem:
        hint = did_you_mean(str(kind), KINDS) or list_choices(KINDS) if key == "kind" else _FORM_HINTS[key]
        reporter.error("theme-value", problem, places.get((*path, key)), hint)
    if problem or unknown:
        return None
    option = ThemeOption(value["default"], kind, tuple(choices), value.get("property", ""))
    wrong = option.problem(option.default)
    if wrong:
        reporter.error(
            "theme-value",
            f'invalid default of option "{name}": {wrong}',
            places.get((*path, "default")),
            "write a default that the option allows",
        )
    return option


def merge_options(
    parents: Mapping[str, ThemeOption], own: Mapping[str, ThemeOption]
) -> dict[str, ThemeOption]:
    """Return the options of a theme: `own`, which it declares, and those of the themes that it extends. If it
    declares only the default of an inherited option, the rest of the inherited declaration stays."""
    merged = dict(parents)
    for name, option in own.items():
        before = merged.get(name)
        is_plain = option == ThemeOption(option.default, _default_kind(option.default))
        if before and is_plain and not before.problem(option.default):
            option = ThemeOption(option.default, before.kind, before.choices, before.property)
        merged[name] = option
    return merged


def report_options(
    chosen: Mapping[str, Any],
    options: Mapping[str, ThemeOption],
    reporter: Reporter,
    places: Mapping[YamlPath, Place],
    key_places: Mapping[YamlPath, Place],
    theme: str,
) -> None:
    """Report errors in `chosen`, the `theme_options` in the settings of a site. theme: name of the theme."""
    for name, value in chosen.items():
        path: YamlPath = ("theme_options", name)
        option = options.get(name)
        if option is None:
            near, place = nearest(name, options), key_places.get(path)
            hint = format_suggestion(near) or _list_options(options)
            fix = reporter.correct(place, name, near)
            reporter.error("config-key", f'unknown option "{name}" of theme "{theme}"', place, hint, fix)
        elif problem := option.problem(value):
            near, place = nearest(str(value), option.choices) if option.choices else None, places.get(path)
            fix = reporter.correct(place, str(value), near)
            reporter.error(
                "config-value",
                f'invalid value of option "{name}": {problem}',
                place,
                format_suggestion(near) or option.hint(),
                fix,
            )


def _list_options(options: Mapping[str, ThemeOption]) -> str:
    return list_choices(sorted(options)) or "declare the option in the theme.yaml of the theme"


def option_variables(
    chosen: Mapping[str, Any], options: Mapping[str, ThemeOption]
) -> tuple[tuple[str, str], ...]:
    """Return (custom property, value) of each option of a theme that sets one, sorted. Options that the site
    does not set have their defaults."""
    return tuple(sorted(_variables(chosen, options)))


def _variables(chosen: Mapping[str, Any], options: Mapping[str, ThemeOption]) -> Iterator[tuple[str, str]]:
    for name, option in options.items():
        value = chosen.get(name, option.default)
        if option.property and not option.problem(value) and (text := option.css(value)):
            yield option.property, text


def _default_kind(default: Any) -> str:
    return next((kind for type_, kind in _BY_TYPE if isinstance(default, type_)), "text")


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def is_color(value: Any) -> bool:
    """Return whether a value is a CSS colour, or a mapping with one for `light` and one for `dark`."""
    if isinstance(value, dict):
        return set(value) == set(SCHEMES) and all(map(is_color, value.values()))
    return isinstance(value, str) and (_COLOR.fullmatch(value) is not None or _is_color_name(value))


def _is_color_name(value: str) -> bool:
    # imported here for the names of colours, which few sites use
    from ...tex.parse.colors import NAMES

    return value.isalpha() and (value.lower() in NAMES or value.lower() in _SPECIAL_COLOR_NAMES)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and value == value.strip()


_CHECKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "flag": lambda value: isinstance(value, bool),
        "text": lambda value: isinstance(value, str),
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "list": _is_list,
        "mapping": lambda value: isinstance(value, dict),
        "color": is_color,
        "length": lambda value: isinstance(value, str) and _LENGTH.fullmatch(value) is not None,
        "file": _is_path,
        "files": lambda value: _is_list(value) and all(map(_is_path, value)),
    }
)
