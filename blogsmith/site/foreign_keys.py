"""Warnings about front matter keys of other systems that nothing on this site reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, Reporter
from ..base.patterns import lazy_pattern
from ..config.schema import Config
from ..model.documents import Document
from ..read.foreign_keys import find_foreign_key
from ..read.front_matter import find_key_place

_COMMENT = lazy_pattern(r"\{#.*?#\}", re.DOTALL)
_EXTRA = lazy_pattern(r"\bextra\b")
_WHOLE = lazy_pattern(r"\bextra\b(?!\s*(?:\.\s*(?!items\b|keys\b|values\b)\w|\[\s*[\"']))")
_NAME = lazy_pattern(r"[\w-]+")


class ReadKeys(Struct, frozen=True):
    """Custom keys of front matter that templates, plugins and rules of a site may read."""

    names: frozenset[str] = frozenset()
    reads_all: bool = False
    """Whether a template iterates over all keys, or passes them on, so that every key may be read."""


def find_read_keys(templates: Iterable[str], code: Iterable[str], config: Config) -> ReadKeys:
    """Return the custom keys that a site may read. In a template or plugin that mentions `extra`, every word
    counts as a key, because the code may assign the mapping to another variable."""
    names: set[str] = set()
    for rules in config.sections.values():
        names.update(rules.require, rules.allow, rules.values, rules.types)
    for text in templates:
        if "extra" in text and _EXTRA.search(shown := _COMMENT.sub("", text)):
            if _WHOLE.search(shown):
                return ReadKeys(reads_all=True)
            names.update(_NAME.findall(shown))
    for text in code:
        names.update(_NAME.findall(text))
    return ReadKeys(frozenset(names))


def foreign_key_warnings(document: Document, read: ReadKeys) -> tuple[Diagnostic, ...]:
    """Return a warning for each key of another system that has no effect on this site."""
    front, reporter = document.front, Reporter(str(document.path))
    written = {*front.places, *(["date"] if front.date else []), *(["series"] if front.series else [])}
    for key, value in front.extra.items():
        row = find_foreign_key(key)
        if row is None or row.is_unambiguous or key in read.names or not row.applies_to(value):
            continue
        if row.ours and row.ours in written:
            continue
        if not reporter.lines:
            reporter.lines = document.source.text.split("\n")
        place = find_key_place([key], reporter.lines[: document.first_line])
        fix = reporter.substitute(place, key, row.ours, is_safe=True) if row.is_rename(value) else None
        written.add(row.ours)
        reporter.warn("front-matter-key", row.no_effect_message(key), place, row.advice, fix)
    return tuple(reporter.diagnostics)


def has_foreign_keys(keys: Collection[str]) -> bool:
    """Return whether some of these keys may be those of other systems."""
    return any(find_foreign_key(key) for key in keys)
