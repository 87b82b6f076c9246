"""`blogsmith.yaml` → `Config`: reading, typing, and an error with its place for every mistake.

Typing walks the structs of `schema.py` field by field instead of converting the whole at once, so
that all mistakes are found in one run; what is wrong keeps its default. What a value must be beyond
its type stands in `validate.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from ..diagnostics.model import Diagnostic, Place, Reporter, SiteError, did_you_mean
from ..model.decode import decode, one_line_end
from ..strict_yaml.loader import MAX_BYTES, MAX_REPORTS, Located, YamlPath, load
from ..text.characters import find_hidden, name_of
from .schema import Config
from .validate import check_config

CONFIG_NAME = "blogsmith.yaml"
_PROSE = re.compile(r"\s*(?:- +)?(?:title|description|author|prefix) *:")
"""A line whose value is a text for readers, which may need invisible characters."""

_WORDS: tuple[tuple[type[inspect.Type], str], ...] = (
    (inspect.StrType, "a text"),
    (inspect.BoolType, "true or false"),
    (inspect.IntType, "a whole number"),
    (inspect.FloatType, "a number"),
    (inspect.StructType, "settings as `key: value`"),
    (inspect.DictType, "a mapping of `key: value`"),
)


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The settings of a site, and what is wrong with their file."""

    config: Config
    """Usable even with errors: settings that are wrong have their defaults."""
    diagnostics: tuple[Diagnostic, ...]
    places: Mapping[YamlPath, Place]
    """Path of a setting, e.g. `("math", "macros", "\\R")` → where its value stands."""
    lines: tuple[str, ...] = ()
    """The file's lines, to quote under a caret."""


def load_config(root: Path) -> LoadedConfig:
    """The settings of the site at `root`. Reads one file; never raises."""
    file = root / CONFIG_NAME
    try:
        if not file.is_file():
            return _failed(_missing(file))
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            message = f"the file is larger than {MAX_BYTES // 1024} kB"
            return _failed(Diagnostic("file-too-large", message, CONFIG_NAME))
        text = decode(data, CONFIG_NAME)
    except SiteError as error:
        return _failed(*error.diagnostics)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return _failed(Diagnostic("unreadable", message, CONFIG_NAME))
    return parse_config(text)


def parse_config(text: str, path: str = CONFIG_NAME) -> LoadedConfig:
    """The settings in the text of a `blogsmith.yaml`. Pure."""
    text = one_line_end(text.removeprefix("\ufeff"))
    reporter = Reporter(path, text.split("\n"))
    located = load(text, reporter)
    _warn_of_hidden(reporter)
    if located is None or located.value is None:
        return LoadedConfig(Config(), tuple(reporter.diagnostics), {})
    converted = _Converter(reporter, located).convert(located.value, inspect.type_info(Config), ())
    config = check_config(converted, located, reporter) if isinstance(converted, Config) else Config()
    return LoadedConfig(config, tuple(reporter.diagnostics), located.places, tuple(reporter.lines))


def _warn_of_hidden(reporter: Reporter) -> None:
    """Warn of invisible characters in settings and comments."""
    for number, line in enumerate(reporter.lines, 1):
        found = None if _PROSE.match(line) else find_hidden(line)
        if found:
            message = f"this line holds the invisible character {name_of(found[0])}"
            reporter.warn("hidden-character", message, Place(number, found.start() + 1), "take it out")


def _failed(*diagnostics: Diagnostic) -> LoadedConfig:
    return LoadedConfig(Config(), diagnostics, {})


def _missing(file: Path) -> Diagnostic:
    if file.is_dir() or file.is_symlink() or file.exists():
        return Diagnostic("unreadable", "is not a regular file", CONFIG_NAME)
    hint = "run blogsmith in the folder of a site; `blogsmith new site` makes one"
    return Diagnostic("config-missing", f"there is no {CONFIG_NAME} here", CONFIG_NAME, hint=hint)


class _Wrong:
    """The type of `_WRONG`, which stands for a value that has been reported."""


_WRONG = _Wrong()


@dataclass(frozen=True, slots=True)
class _Converter:
    """Gives values their types. Lives as long as one file is read."""

    reporter: Reporter
    located: Located

    def convert(self, value: Any, kind: inspect.Type, path: YamlPath) -> Any:
        """The value as the type wants it, or `_WRONG` after a report."""
        if isinstance(kind, inspect.StructType):
            return self._struct(value, kind, path)
        if isinstance(kind, inspect.UnionType):
            return self._one_of(value, kind, path)
        if isinstance(kind, inspect.DictType):
            return self._mapping(value, kind, path)
        if isinstance(kind, inspect.VarTupleType):
            return self._list(value, kind, path)
        return self._scalar(value, kind, path)

    def _struct(self, value: Any, kind: inspect.StructType, path: YamlPath) -> Any:
        if not isinstance(value, dict):
            return self._wrong(kind, path)
        fields = {field.encode_name: field for field in kind.fields}
        found = {}
        for key, item in value.items():
            if key not in fields:
                self._unknown(key, tuple(fields), path)
            # an empty value (`menu:` with all entries commented out) means the default
            elif item is not None:
                found[key] = self.convert(item, fields[key].type, (*path, key))
        kept = {key: item for key, item in found.items() if item is not _WRONG}
        missing = [name for name, field in fields.items() if field.required and name not in kept]
        for name in missing:
            # a misspelt key is both unknown and missing; one report is enough
            if name not in found and value.keys() <= fields.keys():
                self.reporter.error("config-value", f"{name} is missing", self.located.places.get(path))
        return _WRONG if missing else kind.cls(**kept)

    def _one_of(self, value: Any, kind: inspect.UnionType, path: YamlPath) -> Any:
        """A setting that is either a word or a mapping of settings."""
        mappings = (inspect.StructType, inspect.DictType)
        wanted = mappings if isinstance(value, dict) else (inspect.LiteralType,)
        fitting = next(one for one in kind.types if isinstance(one, wanted))
        if isinstance(fitting, inspect.LiteralType) and value not in fitting.values:
            return self._wrong(kind, path)
        return self.convert(value, fitting, path)

    def _mapping(self, value: Any, kind: inspect.DictType, path: YamlPath) -> Any:
        if not isinstance(value, dict):
            return self._wrong(kind, path)
        items = {key: self.convert(item, kind.value_type, (*path, key)) for key, item in value.items()}
        return {key: item for key, item in items.items() if item is not _WRONG}

    def _list(self, value: Any, kind: inspect.VarTupleType, path: YamlPath) -> Any:
        if not isinstance(value, list):
            return self._wrong(kind, path)
        items = [self.convert(item, kind.item_type, (*path, index)) for index, item in enumerate(value)]
        # dropping single items would shift the places of those behind them
        return _WRONG if _WRONG in items else tuple(items)

    def _scalar(self, value: Any, kind: inspect.Type, path: YamlPath) -> Any:
        if isinstance(kind, inspect.LiteralType):
            return value if value in kind.values else self._wrong(kind, path)
        if isinstance(kind, inspect.StrType) and value is None:
            return ""
        try:
            return msgspec.convert(value, _PYTHON_TYPES.get(type(kind), Any))
        except msgspec.ValidationError:
            return self._wrong(kind, path)

    def _unknown(self, key: str, known: tuple[str, ...], path: YamlPath) -> None:
        if len(self.reporter.diagnostics) >= MAX_REPORTS:
            return
        place = self.located.key_places.get((*path, key))
        hint = did_you_mean(key, known) or f"known keys: {', '.join(known)}"
        self.reporter.error("config-key", f'unknown key "{key}"', place, hint)

    def _wrong(self, kind: inspect.Type, path: YamlPath) -> _Wrong:
        name = f"{path[-1]}" if path and isinstance(path[-1], str) else _entry(path)
        is_number = path in self.located.texts and isinstance(kind, inspect.StrType)
        hint = "put it in quotes" if is_number else ""
        message = f"{name} must be {_in_words(kind)}" if path else "the file must hold `key: value` lines"
        self.reporter.error("config-value", message, self.located.places.get(path), hint)
        return _WRONG


def _entry(path: YamlPath) -> str:
    """The list entry at `path`, counted from 1."""
    return f"entry {int(path[-1]) + 1} of {path[-2]}" if path else ""


_PYTHON_TYPES: Mapping[type[inspect.Type], type] = {
    inspect.StrType: str,
    inspect.BoolType: bool,
    inspect.IntType: int,
    inspect.FloatType: float,
}


def _in_words(kind: inspect.Type) -> str:
    """The type as an author would say it."""
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(str(value) for value in kind.values)}"
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_in_words(one) for one in kind.types)
    if isinstance(kind, inspect.VarTupleType):
        return "a list of texts" if isinstance(kind.item_type, inspect.StrType) else "a list"
    return next((words for wanted, words in _WORDS if isinstance(kind, wanted)), "another value")
