"""`blogsmith.yaml` → `Config`: reads the file, converts its values to their types, and reports each error
with its location.

One run finds all errors. A setting with an error keeps its default. Each setting is a field of a struct
in `schema.py`; `validate.py` contains the checks that a type cannot express.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from ..base.diagnostics.characters import find_hidden, format_code_point
from ..base.diagnostics.codes import CODES, LOWERABLE, has_warnings
from ..base.diagnostics.levels import Level, LevelRule
from ..base.diagnostics.model import Diagnostic, Place, Reporter, SiteError, format_suggestion, nearest
from ..base.merge_conflicts import take_first_versions
from ..base.patterns import lazy_pattern
from ..base.schema.forms import (
    ANYTHING,
    DEFINITION,
    LAZY,
    Form,
    accepts,
    choice_form,
    get_form,
    list_form,
    union_form,
)
from ..base.schema.records import (
    QUOTE,
    TEXTS,
    Reader,
    Table,
    build_schema,
    choice,
    each,
    format_choices,
    member_of_choices,
    reject_key,
    string_list,
    type_hint,
    typed,
    words,
)
from ..base.schema.slots import LocatedMapping, Slot
from ..base.schema.yaml_loader import MAX_BYTES, YamlPath, load
from ..model.courses import NUMBERINGS
from ..model.decode import decode, normalize_line_ends
from .authors import add_people
from .page_services import Analytics, Comments
from .schema import Config, Diagnostics, SiteLanguage
from .services import ANALYTICS_HINT, COMMENTS_HINT, OTHER_ANALYTICS, OTHER_COMMENTS, OTHER_KEYS
from .validate import CHECKS, check_macro_name, check_manual_url

# The setting `diagnostics:` ignores codes or changes the level of their diagnostics:
#
#     diagnostics:
#       ignore: [citation-unused]
#       documentation: https://example.org/docs/
#       link-missing: warning
#       image-missing: {level: warning, in: posts/old/**}


_KEYS = ("level", "in")
_WORD = choice(get_args(Level))
_IGNORED = each(member_of_choices(CODES, "code"))
_OTHER_KEYS = ("ignore", "documentation")
"""Keys of `diagnostics` that are not codes."""
_MENU_HINT = "write an entry such as `- {title: Posts, url: /posts/}`"
_NOT_LOWERABLE_HINT = "remove this line; run `blogsmith build --keep-going` to write the pages without errors"


def _form() -> Form:
    codes = {code: {"description": CODES[code], **_level_form(code)} for code in sorted(CODES)}
    words = {**list_form(choice_form(sorted(CODES))), "type": ["array", "null"]}
    ignore = {"description": (Diagnostics, "ignore"), **words}
    manual = {"description": (Diagnostics, "documentation"), "type": ["string", "null"]}
    manual.update(get_form(check_manual_url))
    return {"properties": {"ignore": ignore, "documentation": manual, **codes}, "additionalProperties": False}


def _level_form(code: str) -> Form:
    """Return the schema of the setting for a diagnostic code. Its value is an allowed level, a level for
    certain files, or a list of these."""
    levels = [level for level in get_args(Level) if _is_possible(level, code)]
    name = "-".join(levels)
    word: Form = {**choice_form(levels), DEFINITION: f"level-{name}"}
    properties = {"level": word, "in": {**TEXTS, "type": [*TEXTS["type"], "null"]}}
    strict = {"required": ["level"], "additionalProperties": False}
    one = union_form(word, {"type": "object", "properties": properties, **strict}, {"type": "null"})
    one = {**one, DEFINITION: f"level-in-{name}"}
    return {**union_form(one, list_form(one)), DEFINITION: f"levels-{name}"}


@accepts({LAZY: _form})
def read_diagnostics(slot: Slot) -> Diagnostics:
    """Read the settings under `diagnostics`. Report invalid entries and skip them."""
    levels = {}
    for code in slot.value:
        if code in _OTHER_KEYS:
            continue
        if code not in CODES:
            near = nearest(code, (*_OTHER_KEYS, *CODES))
            hint = format_suggestion(near) or "write a code that messages show in brackets"
            key = slot.key(code)
            key.report(f'unknown code "{code}"', hint, code=key.mapping.key_code, fix=key.correct(near))
            continue
        item = slot.child(code)
        entries = [item.child(n) for n in range(len(item.value))] if isinstance(item.value, list) else [item]
        rules = [_read_rule(entry, code) for entry in entries if entry.value is not None]
        levels[code] = tuple(rule for rule in rules if rule)
    return Diagnostics(
        ignore=_read_ignored(slot.child("ignore")),
        levels=levels,
        documentation=_read_manual_url(slot.child("documentation")),
    )


def _read_manual_url(slot: Slot) -> str:
    if slot.value is None:
        return ""
    if not isinstance(slot.value, str):
        slot.report(f"{slot.quoted_name} must be a string", QUOTE)
        return ""
    found: str | None = check_manual_url(slot.value, slot)
    return found or ""


def _read_ignored(slot: Slot) -> tuple[str, ...]:
    if slot.value is None:
        return ()
    if not isinstance(slot.value, list):
        slot.report('"ignore" must be a list of strings', "write a list such as `[link-missing]`")
        return ()
    found: tuple[str, ...] | None = _IGNORED(string_list()(slot), slot)
    return found or ()


def _read_rule(slot: Slot, code: str) -> LevelRule | None:
    """Read a level, or a mapping with a level and the files that it applies to. Return None after an
    error."""
    if not isinstance(slot.value, dict):
        found = typed(str, _WORD, f'{format_choices(get_args(Level))}, or a mapping with "level" and "in"')(
            slot
        )
        return LevelRule(found) if found and _check_level(found, slot, code) else None
    for key in slot.value:
        if key not in _KEYS:
            reject_key(slot.key(key), _KEYS)
    word = slot.child("level")
    if word.value is None:
        # a misspelled key is both an unknown key and a missing one; one diagnostic is enough
        if slot.value.keys() <= {*_KEYS}:
            slot.report('missing key "level"', f"write `{{level: warning, in: …}}` or `{code}: warning`")
        return None
    level = _WORD(word)
    paths = string_list()(slot.child("in")) if slot.child("in").value is not None else ()
    return LevelRule(level, paths) if level and _check_level(level, word, code) else None


def _check_level(level: Level, slot: Slot, code: str) -> bool:
    """Return whether a code may be set to this level. If not, report an error."""
    if _is_possible(level, code):
        return True
    if level == "warning":
        slot.report(f'"{code}" cannot be lowered to a warning', _NOT_LOWERABLE_HINT)
    else:
        hint = "write `warning`" if code in LOWERABLE else _NOT_LOWERABLE_HINT
        slot.report(f'"{code}" cannot be "off": errors cannot be silenced', hint)
    return False


def _is_possible(level: Level, code: str) -> bool:
    return {"warning": code in LOWERABLE, "off": has_warnings(code)}.get(level, True)


CONFIG_NAME = "blogsmith.yaml"
_PROSE = lazy_pattern(r"\s*(?:- +)?(?:title|description|author|prefix) *:")
"""Regular expression of a line whose value is prose for readers, which may need invisible characters."""

_TYPE_NAMES: Mapping[type, str] = MappingProxyType(
    {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}
)
_FORMS: Mapping[type, Form] = MappingProxyType(
    {
        # A key without a value is an empty string.
        str: {"type": ["string", "null"]},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
    }
)


class LoadedConfig(Struct, frozen=True):
    """Settings of a site, and the diagnostics of their file."""

    config: Config
    """Settings, usable even if the file has errors: invalid settings have their defaults."""
    diagnostics: tuple[Diagnostic, ...]
    locations: Mapping[YamlPath, Place]
    r"""Maps the path of a setting, such as `("math", "macros", "\R")`, to the location of its value."""
    key_locations: Mapping[YamlPath, Place] = MappingProxyType({})
    """Maps the same paths to the locations of their keys."""
    lines: tuple[str, ...] = ()
    """Lines of the file, for the excerpt in error messages."""


def load_config(root: Path, text: str | None = None) -> LoadedConfig:
    """Load the settings of the site at `root`. Errors become diagnostics, never exceptions. text: content of
    the file in an open editor, used instead of the file on disk."""
    if text is not None and len(text) <= MAX_BYTES:
        return parse_config(text)
    file = root / CONFIG_NAME
    try:
        if not file.is_file():
            return _failed_load(_missing_diagnostic(file))
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            message = f"more than {MAX_BYTES // 1024} kB in the settings"
            hint = "move data to files of their own"
            return _failed_load(Diagnostic("file-too-large", message, CONFIG_NAME, hint=hint))
        text = decode(data, CONFIG_NAME)
    except SiteError as error:
        return _failed_load(*error.diagnostics)
    except OSError as error:
        message = f"cannot read the settings: {error.strerror or error}"
        return _failed_load(Diagnostic("unreadable", message, CONFIG_NAME, hint="check its permissions"))
    return parse_config(text)


def parse_config(text: str, path: str = CONFIG_NAME) -> LoadedConfig:
    """Parse the settings in the content of a `blogsmith.yaml`. Pure function."""
    text = normalize_line_ends(text.removeprefix("\ufeff"))
    reporter = Reporter(path, text.split("\n"))
    located = load(take_first_versions(text, reporter), reporter)
    _warn_of_hidden(reporter)
    if located is None or located.value is None:
        return LoadedConfig(Config(), tuple(reporter.diagnostics), {})
    root = LocatedMapping(located, reporter, code="config-value", key_code="config-key").root()
    if isinstance(root.value, dict):
        config = add_people(SETTINGS.read(root))
    else:
        config = Config()
        root.report("the file must contain `key: value` lines", "write lines such as `title: My site`")
    places = (located.places, located.key_places)
    return LoadedConfig(config, tuple(reporter.diagnostics), *places, tuple(reporter.lines))


def _warn_of_hidden(reporter: Reporter) -> None:
    """Warn about invisible characters in settings and comments."""
    for number, line in enumerate(reporter.lines, 1):
        found = None if _PROSE.match(line) else find_hidden(line)
        if found:
            message = f"this line contains the invisible character {format_code_point(found[0])}"
            place = Place(number, found.start() + 1)
            fix = reporter.substitute(place, found[0], "", title="remove the character")
            reporter.warn("hidden-character", message, place, "remove it", fix)


def _failed_load(*diagnostics: Diagnostic) -> LoadedConfig:
    return LoadedConfig(Config(), diagnostics, {})


def _missing_diagnostic(file: Path) -> Diagnostic:
    if file.is_dir() or file.is_symlink() or file.exists():
        return Diagnostic(
            "unreadable", "this path is not a regular file", CONFIG_NAME, hint="replace it by a file"
        )
    hint = "run blogsmith in the folder of a site, or create one with `blogsmith new site`"
    return Diagnostic("config-missing", f'file not found: "{CONFIG_NAME}"', CONFIG_NAME, hint=hint)


def _convert_scalar(kind: Any, slot: Slot) -> Any:
    """Check that a YAML scalar is a string, number or boolean as `kind` requires, and return it. Nothing is
    converted."""
    if kind is str and slot.value is None:
        return ""
    try:
        return msgspec.convert(slot.value, kind)
    except msgspec.ValidationError:
        return slot.report(f"{slot.quoted_name} must be {_TYPE_NAMES[kind]}", type_hint(_TYPE_NAMES[kind]))


_MACROS: Form = {"propertyNames": get_form(check_macro_name), "additionalProperties": _FORMS[str]}


@accepts(
    union_form(
        {**_MACROS, "type": "object"}, list_form(union_form(_FORMS[str], {**_MACROS, "type": "object"}))
    )
)
def _read_macros(slot: Slot) -> dict[str, str] | None:
    """Read a mapping of macros, or a list of LaTeX files and mappings. A LaTeX file becomes a key without a
    value. Return None after an error."""
    if not isinstance(slot.value, list):
        return _read_macro_bodies(slot)
    found: dict[str, str] = {}
    for number, entry in enumerate(slot.value):
        source = slot.child(number)
        if isinstance(entry, str) and entry and not entry.startswith("\\"):
            found[entry] = ""
        elif isinstance(entry, dict):
            found |= _read_macro_bodies(source) or {}
        else:
            return source.report(  # type: ignore[no-any-return]
                f"{source.quoted_name} must be a file of LaTeX or a mapping of macros",
                "write a path such as `preamble.tex`, or a macro as in `\\R: \\mathbb{R}`",
            )
    return found


def _read_macro_bodies(slot: Slot) -> dict[str, str] | None:
    if not isinstance(slot.value, dict):
        hint = f"write `macros: [{slot.value}]`" if isinstance(slot.value, str) else ""
        slot.report(f"{slot.quoted_name} must be a mapping of `key: value` or a list of files", hint)
        return None
    names = [check_macro_name(name, slot.key(name)) for name in slot.value]
    bodies = {name: _convert_scalar(str, slot.child(name)) for name in slot.value}
    return None if None in names else {name: body for name, body in bodies.items() if body is not None}


@accepts(ANYTHING)
def _read_unchanged(slot: Slot) -> Any:
    """Return the YAML value unchanged; other code interprets it."""
    return slot.value


def _describe_type(kind: Any) -> str:
    """Return the name of a type, as messages to authors use it."""
    # an empty keyword means that the setting is absent
    parts = tuple(filter(None, get_args(kind)))
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(sorted(parts))}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_describe_type(one) for one in parts)
    if get_origin(kind) is tuple:
        return "a list of strings" if parts[0] is str else "a list"
    return "a mapping of `key: value`" if get_origin(kind) is Mapping else "settings as `key: value`"


@accepts({"type": "null"})
def _read_empty_language(slot: Slot) -> SiteLanguage | None:
    """Return the default settings for `de:` without a value. Report any other value and return None."""
    if slot.value is None:
        return SiteLanguage()
    hint = f"write `{slot.name}: {{title: {slot.value}}}`" if isinstance(slot.value, str) else ""
    slot.report(f"{slot.quoted_name} must be settings as `key: value`", hint)
    return None


def _provider_reader(kind: Any, hints: Mapping[str, str]) -> Reader:
    """Return a reader for the name of a provider. hints: provider of other systems → advice on what to use
    instead."""
    hint = get_type_hints(kind)["provider"]
    return words({word: word for word in get_args(hint)}, _describe_type(hint), hints=hints)


_TABLE = Table(
    types={
        **{kind: accepts(_FORMS[kind])(partial(_convert_scalar, kind)) for kind in _TYPE_NAMES},
        Mapping[str, Any]: typed(dict, _read_unchanged, _describe_type(Mapping[str, Any])),
    },
    choice=lambda choices, kind: words({word: word for word in choices}, kind, suggest=False),
    readers={
        "diagnostics": typed(dict, read_diagnostics, "settings as `key: value`"),
        "bibliography": string_list(),
        "math.macros": _read_macros,
        **dict.fromkeys(("numbering", "series.numbering"), words(NUMBERINGS, 'true, false or "by part"')),
        "analytics.provider": _provider_reader(Analytics, OTHER_ANALYTICS),
        "comments.provider": _provider_reader(Comments, OTHER_COMMENTS),
    },
    checks=CHECKS,
    short={"languages": _read_empty_language},
    hints={
        "analytics": ANALYTICS_HINT,
        "comments": COMMENTS_HINT,
        **dict.fromkeys(
            ("menu", "languages.menu"), "write an entry such as `- {title: Posts, url: /posts/}`"
        ),
    },
    foreign_key_hints=OTHER_KEYS,
    describe_type=_describe_type,
)
SETTINGS = build_schema(Config, _TABLE)
