"""Checks of front matter by the rules of a section: required and allowed keys, and their values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import (
    Diagnostic,
    Place,
    Reporter,
    find_word_range,
    format_suggestion,
    list_choices,
)
from ..config.checks import SectionRules
from ..config.languages import file_language
from ..config.schema import Config
from ..model.documents import KEY_ALIASES, Document
from ..read.front_matter import find_key_place

_CODE = "front-matter-rule"
_OTHERS = "/"
_INDEX = "_index"
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "text": "a string",
        "number": "a number",
        "boolean": "true or false",
        "date": "a date",
        "list": "a list",
        "mapping": "a mapping of `key: value`",
    }
)
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "text": '"text"',
        "number": "4",
        "boolean": "true",
        "date": "2026-03-14",
        "list": "[a, b]",
        "mapping": "{key: value}",
    }
)
_ALWAYS_ALLOWED = frozenset(("title", "draft"))
"""Keys that every page may have, regardless of the rules of its section."""


def check_sections(documents: Sequence[Document], config: Config) -> Iterator[Diagnostic]:
    """Yield warnings for pages that violate the rules of their section."""
    if not config.sections:
        return
    sections = {name.strip("/") or _OTHERS: rules for name, rules in config.sections.items()}
    for document in documents:
        name = rule_section(document.path, sections, config)
        if name:
            yield from _PageCheck(document, name, sections[name]).run()


def rule_section(path: PurePosixPath, sections: Mapping[str, object], config: Config) -> str:
    """Return the folder whose rules apply to a page: of the folders above the page, the nearest one with
    rules.

    The result is empty if no folder has rules, or if the page is the index of a section.
    """
    path = file_language(path, config).path
    if path.stem == _INDEX:
        return ""
    folder = PurePosixPath(*path.parts[1:-1])
    names = (one.as_posix() for one in (folder, *folder.parents))
    return next((name for name in names if name in sections), _OTHERS if _OTHERS in sections else "")


class _PageCheck:
    """The check of one page. The page is split into lines only if it violates a rule."""

    def __init__(self, document: Document, section: str, rules: SectionRules) -> None:
        self._document = document
        self._of_section = f'section "{section}"' if section != _OTHERS else "this site"
        self._rules = rules
        self._reporter: Reporter | None = None
        front = document.front
        self._keys = {**dict.fromkeys(front.places), **dict.fromkeys(front.extra)}

    def run(self) -> list[Diagnostic]:
        """Return warnings for all violations of the rules."""
        self._check_required()
        self._check_allowed()
        for key, choices in self._rules.values.items():
            self._check_values(KEY_ALIASES.get(key, key), choices)
        for key, kind in self._rules.types.items():
            self._check_type(key, kind)
        return self._reporter.diagnostics if self._reporter else []

    def _value(self, key: str) -> Any:
        front = self._document.front
        return (
            front.extra[key]
            if key in front.extra
            else getattr(front, "execution" if key == "execute" else key, None)
        )

    def _is_missing(self, key: str) -> bool:
        if key == "title" and "title" not in self._keys:
            # the first H1 counts as the title
            return not self._document.body.lstrip().startswith("# ")
        if key == "date":
            # the date may be in the file name
            return self._value(key) is None
        return key not in self._keys or self._value(key) in (None, "", ())

    def _check_required(self) -> None:
        missing = [key for key in self._rules.require if self._is_missing(KEY_ALIASES.get(key, key))]
        if missing:
            names = ", ".join(f'"{key}"' for key in missing)
            message = (
                f"missing {'key' if len(missing) == 1 else 'keys'} {names}: required in {self._of_section}"
            )
            self._warn(message, Place(1), f"add `{missing[0]}: …` to the front matter")

    def _check_allowed(self) -> None:
        if not self._rules.allow:
            return
        written = (*self._rules.require, *self._rules.allow, *self._rules.values, *self._rules.types)
        allowed = {KEY_ALIASES.get(key, key) for key in written} | _ALWAYS_ALLOWED
        for key in self._keys:
            if key not in allowed:
                # a key that blogsmith knows is not a misspelling of another key
                near = "" if key in self._document.front.places else self._report().did_you_mean(key, allowed)
                hint = near or f"remove it, or {list_choices(sorted(allowed))}"
                self._warn(f'"{key}" is not allowed in {self._of_section}', self._key_place(key), hint)

    def _check_values(self, key: str, choices: Sequence[str]) -> None:
        value = self._value(key) if key in self._keys else None
        words = value if isinstance(value, list | tuple) else [] if value is None else [value]
        for word in map(str, words):
            if word not in choices:
                reporter = self._report()
                place = find_word_range(word, self._place(key), reporter.lines)
                near = reporter.nearest(word, choices)
                hint = format_suggestion(near) or list_choices(choices[:12])
                fix = reporter.correct(place, word, near)
                self._warn(f'unknown value "{word}" for "{key}" in {self._of_section}', place, hint, fix)

    def _check_type(self, key: str, kind: str) -> None:
        value = self._document.front.extra.get(key)
        if value is not None and not _is_of_type(value, kind):
            hint = f"write a value such as `{_EXAMPLES[kind]}`"
            place = find_word_range(str(value), self._place(key), self._report().lines)
            self._warn(f'"{key}" must be {_WORDS[kind]} in {self._of_section}', place, hint)

    def _report(self) -> Reporter:
        # few pages have violations; only their lines are split
        if self._reporter is None:
            source = self._document.source
            self._reporter = Reporter(str(source.path), source.text.split("\n"))
        return self._reporter

    def _warn(self, message: str, place: Place | None, hint: str = "", fix: Fix | None = None) -> None:
        self._report().warn(_CODE, message, place, hint, fix)

    def _place(self, key: str) -> Place | None:
        """Return the position of the value of a key, or of the key if the value has none."""
        return self._document.front.places.get(key) or self._key_place(key)

    def _key_place(self, key: str) -> Place | None:
        """Return the position of a key or of its alias in the file; None if neither is found."""
        return find_key_place((key, *_alias_keys(key)), self._report().lines[: self._document.first_line])


def _alias_keys(key: str) -> list[str]:
    return [other for other, name in KEY_ALIASES.items() if name == key]


def _is_of_type(value: object, kind: str) -> bool:
    if kind == "date":
        is_written = isinstance(value, str) and _is_date(value)
        return is_written or isinstance(value, dt.date)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds: Mapping[str, type] = {"text": str, "boolean": bool, "list": list, "mapping": dict}
    return isinstance(value, kinds[kind])


def _is_date(text: str) -> bool:
    try:
        return dt.datetime.fromisoformat(text) is not None
    except ValueError:
        return False
