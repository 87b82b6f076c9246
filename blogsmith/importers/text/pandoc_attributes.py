"""Pandoc's attribute lists, `{#id .class key="value"}`, and which of them ours can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...base.patterns import lazy_pattern

_ITEM = lazy_pattern(
    r"\s*(?:#(?P<id>[^\s{}#]+)|\.(?P<class>[^\s{}.=]+)|(?P<key>[\w:.-]+)\s*=\s*"
    r"(?:\"(?P<quoted>(?:\\.|[^\"\\])*)\"|'(?P<single>(?:\\.|[^'\\])*)'|(?P<bare>[^\s{}]+))"
    r"|(?P<dash>-)(?=[\s}]|\Z)|=(?P<raw>\w+)|(?P<word>[\w+#-]+))"
)
_END = lazy_pattern(r"\s*\}")
_SAFE = lazy_pattern(r"[^\s\"'}<>]+")
_NAME = lazy_pattern(r"[^\w.:-]+")
ALLOWED = frozenset(("width", "height", "title", "lang", "dir", "loading", "rel", "download"))
"""Attributes of our lists, besides `data-…` and `aria-…`."""


@dataclass(frozen=True, slots=True)
class PandocAttributes:
    """An attribute list."""

    id: str = ""
    classes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""
    """Format of raw text: `html` of `{=html}`."""
    words: tuple[str, ...] = ()
    """Bare words: the language of `{python}`."""

    def get(self, *keys: str) -> str:
        """Value of the first of these attributes that is there; empty if none is."""
        return next((self.pairs[key] for key in keys if key in self.pairs), "")

    def has(self, *names: str) -> bool:
        """Whether one of these classes is there."""
        return not set(names).isdisjoint(self.classes)


def read_pandoc_attributes(text: str, start: int = 0) -> tuple[PandocAttributes, int] | None:
    """The list whose brace opens at `start`, and the index behind it; None if none opens there."""
    if not text.startswith("{", start):
        return None
    position, name, raw = start + 1, "", ""
    classes: list[str] = []
    pairs: dict[str, str] = {}
    words: list[str] = []
    while not _END.match(text, position):
        found = _ITEM.match(text, position)
        if not found or found.end() == position:
            return None
        position = found.end()
        if found["key"]:
            pairs.setdefault(found["key"], _value(found.groupdict()))
        elif found["class"]:
            classes.append(found["class"])
        elif found["dash"]:
            classes.append("unnumbered")
        elif found["word"]:
            words.append(found["word"])
        else:
            name, raw = found["id"] or name, found["raw"] or raw
    end = _END.match(text, position)
    if end is None:
        return None
    return PandocAttributes(name, tuple(classes), pairs, raw, tuple(words)), end.end()


def _value(groups: Mapping[str, str | None]) -> str:
    quoted = groups["quoted"] if groups["quoted"] is not None else groups["single"]
    if quoted is None:
        return groups["bare"] or ""
    return quoted.replace('\\"', '"').replace("\\'", "'")


def attribute_text(attributes: PandocAttributes, dropped: frozenset[str] = frozenset()) -> str:
    """The list as ours: what ours cannot hold is left out, and classes that are `dropped`; may be empty."""
    parts = [f"#{fit_id(attributes.id)}"] if attributes.id else []
    parts += [f".{_NAME.sub('-', name)}" for name in attributes.classes if name not in dropped]
    for key, value in attributes.pairs.items():
        if key in ALLOWED or key.startswith(("data-", "aria-")):
            parts.append(f"{key}={quoted_value(value)}")
    return "{" + " ".join(parts) + "}" if parts else ""


def quoted_value(value: str) -> str:
    """A value in an attribute list, in quotes where it needs them."""
    if _SAFE.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value and "'" not in value else '"' + value.replace('"', "”") + '"'


def fit_id(name: str) -> str:
    """An id as our lists can hold it."""
    return _NAME.sub("-", name)
