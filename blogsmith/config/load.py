"""`blogsmith.yaml` → `Config`: reading, typing, and an error with its place for every mistake.

All mistakes are found in one run; what is wrong keeps its default. A setting is a field of a struct in
`schema.py`; what its value must be beyond its type stands in `validate.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from ..base.diagnostics.characters import find_hidden, name_of
from ..base.diagnostics.model import Diagnostic, Place, Reporter, SiteError
from ..base.merge_conflicts import take_first_versions
from ..base.patterns import lazy_pattern
from ..base.schema.forms import ANYTHING, Form, accepts
from ..base.schema.readers import QUOTE, Reader, of_kind, texts, words
from ..base.schema.records import Table, schema_of
from ..base.schema.slots import LocatedMapping, Slot
from ..base.schema.yaml_loader import MAX_BYTES, YamlPath, load
from ..model.decode import decode, normalize_line_ends
from .community import Analytics, Comments
from .levels import read_diagnostics
from .schema import Config, SiteLanguage
from .services import ANALYTICS_HINT, COMMENTS_HINT, OTHER_ANALYTICS, OTHER_COMMENTS, OTHER_KEYS
from .validate import CHECKS

CONFIG_NAME = "blogsmith.yaml"
_PROSE = lazy_pattern(r"\s*(?:- +)?(?:title|description|author|prefix) *:")
"""A line whose value is a text for readers, which may need invisible characters."""

_WORDS: Mapping[type, str] = MappingProxyType(
    {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
)
_FORMS: Mapping[type, Form] = MappingProxyType(
    {
        # nothing at all is an empty text
        str: {"type": ["string", "null"]},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
    }
)


class LoadedConfig(Struct, frozen=True):
    """The settings of a site, and what is wrong with their file."""

    config: Config
    """Usable even with errors: settings that are wrong have their defaults."""
    diagnostics: tuple[Diagnostic, ...]
    places: Mapping[YamlPath, Place]
    """Path of a setting, e.g. `("math", "macros", "\\R")` → where its value stands."""
    key_places: Mapping[YamlPath, Place] = MappingProxyType({})
    """The same paths → where their keys stand."""
    lines: tuple[str, ...] = ()
    """The file's lines, to quote under a caret."""


def load_config(root: Path, text: str | None = None) -> LoadedConfig:
    """The settings of the site at `root`. Reads one file; never raises.

    text: what an editor has open, which counts in place of the file.
    """
    if text is not None and len(text) <= MAX_BYTES:
        return parse_config(text)
    file = root / CONFIG_NAME
    try:
        if not file.is_file():
            return _failed_load(_missing(file))
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            message = f"the file is larger than {MAX_BYTES // 1024} kB"
            return _failed_load(Diagnostic("file-too-large", message, CONFIG_NAME))
        text = decode(data, CONFIG_NAME)
    except SiteError as error:
        return _failed_load(*error.diagnostics)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return _failed_load(Diagnostic("unreadable", message, CONFIG_NAME))
    return parse_config(text)


def parse_config(text: str, path: str = CONFIG_NAME) -> LoadedConfig:
    """The settings in the text of a `blogsmith.yaml`. Pure."""
    text = normalize_line_ends(text.removeprefix("\ufeff"))
    reporter = Reporter(path, text.split("\n"))
    located = load(take_first_versions(text, reporter), reporter)
    _warn_of_hidden(reporter)
    if located is None or located.value is None:
        return LoadedConfig(Config(), tuple(reporter.diagnostics), {})
    root = LocatedMapping(located, reporter, code="config-value", key_code="config-key").root()
    if isinstance(root.value, dict):
        config = SETTINGS.read(root)
    else:
        config = Config()
        root.wrong("the file must hold `key: value` lines")
    places = (located.places, located.key_places)
    return LoadedConfig(config, tuple(reporter.diagnostics), *places, tuple(reporter.lines))


def _warn_of_hidden(reporter: Reporter) -> None:
    """Warn of invisible characters in settings and comments."""
    for number, line in enumerate(reporter.lines, 1):
        found = None if _PROSE.match(line) else find_hidden(line)
        if found:
            message = f"this line holds the invisible character {name_of(found[0])}"
            place = Place(number, found.start() + 1)
            fix = reporter.substitute(place, found[0], "", title="take the character out")
            reporter.warn("hidden-character", message, place, "take it out", fix)


def _failed_load(*diagnostics: Diagnostic) -> LoadedConfig:
    return LoadedConfig(Config(), diagnostics, {})


def _missing(file: Path) -> Diagnostic:
    if file.is_dir() or file.is_symlink() or file.exists():
        return Diagnostic("unreadable", "is not a regular file", CONFIG_NAME)
    hint = "run blogsmith in the folder of a site; `blogsmith new site` makes one"
    return Diagnostic("config-missing", f"there is no {CONFIG_NAME} here", CONFIG_NAME, hint=hint)


def _strict(kind: Any, slot: Slot) -> Any:
    """A text, number or truth as YAML gives it."""
    if kind is str and slot.value is None:
        return ""
    try:
        return msgspec.convert(slot.value, kind)
    except msgspec.ValidationError:
        is_number = kind is str and slot.spelling is not None
        return slot.wrong(f"{slot.name} must be {_WORDS[kind]}", QUOTE if is_number else "")


@accepts(ANYTHING)
def _plain(slot: Slot) -> Any:
    """A value as YAML gives it; what it means is said elsewhere."""
    return slot.value


def _describe_type(kind: Any) -> str:
    """The type as an author would say it."""
    parts = get_args(kind)
    if kind in _WORDS:
        return _WORDS[kind]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(sorted(parts))}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_describe_type(one) for one in parts)
    if get_origin(kind) is tuple:
        return "a list of texts" if parts[0] is str else "a list"
    return "a mapping of `key: value`" if get_origin(kind) is Mapping else "settings as `key: value`"


@accepts({"type": "null"})
def _bare_language(slot: Slot) -> SiteLanguage | None:
    """`de:` with nothing behind it: all as by default."""
    if slot.value is None:
        return SiteLanguage()
    hint = f"write `{slot.name}: {{title: {slot.value}}}`" if isinstance(slot.value, str) else ""
    slot.wrong(f"{slot.name} must be settings as `key: value`", hint)
    return None


def _provider(kind: Any, hints: Mapping[str, str]) -> Reader:
    """Return a reader of the name of a provider. hints: other provider → what to do instead."""
    hint = get_type_hints(kind)["provider"]
    return words({word: word for word in get_args(hint)}, _describe_type(hint), hints=hints)


_TABLE = Table(
    types={
        **{kind: accepts(_FORMS[kind])(partial(_strict, kind)) for kind in _WORDS},
        Mapping[str, Any]: of_kind(dict, _plain, _describe_type(Mapping[str, Any])),
    },
    choice=lambda choices, kind: words({word: word for word in choices}, kind, suggest=False),
    readers={
        "diagnostics": of_kind(dict, read_diagnostics, "settings as `key: value`"),
        "bibliography": texts(),
        "analytics.provider": _provider(Analytics, OTHER_ANALYTICS),
        "comments.provider": _provider(Comments, OTHER_COMMENTS),
    },
    checks=CHECKS,
    short={"languages": _bare_language},
    hints={"analytics": ANALYTICS_HINT, "comments": COMMENTS_HINT},
    foreign=OTHER_KEYS,
    in_words=_describe_type,
)
SETTINGS = schema_of(Config, _TABLE)
