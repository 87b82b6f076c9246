"""Filters of Liquid and Jekyll that give texts, numbers and lists from such."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote

from ..permalinks import slugify
from .values import Filter

_LARGEST = 5_000_000
"""Characters of a text that a filter makes."""


def text_of(value: Any) -> str:
    """A value as Liquid prints it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "".join(map(text_of, value)) if isinstance(value, (list, tuple)) else str(value)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _number(value: Any) -> int | float:
    if isinstance(value, (int, float)):
        return value
    text = str(value or 0)
    return float(text) if "." in text else int(text)


def _sorted(value: Any, key: Any = None) -> list[Any]:
    every = _list(value)
    return sorted(
        every, key=lambda each: text_of(each.get(key) if key and isinstance(each, Mapping) else each)
    )


def _where(value: Any, key: str, wanted: Any = True) -> list[Any]:
    return [each for each in _list(value) if isinstance(each, Mapping) and each.get(key) == wanted]


def _slice(value: Any, start: int, length: int = 1) -> Any:
    start = start if start >= 0 else len(value) + start
    return value[start : start + length]


def _split(value: Any, separator: str) -> list[str]:
    text = text_of(value)
    return text.split(separator) if separator.strip() else text.split() if separator else list(text)


def _replace(value: Any, what: Any, by: Any = "") -> str:
    text, old, new = text_of(value), text_of(what), text_of(by)
    if text.count(old) * len(new) > _LARGEST:
        raise ValueError("the text would be too large")
    return text.replace(old, new)


def _join(value: Any, between: Any = " ") -> str:
    parts, separator = _list(value), text_of(between)
    if len(parts) * len(separator) > _LARGEST:
        raise ValueError("the text would be too large")
    return separator.join(map(text_of, parts))


def _truncate(value: Any, length: int = 50, end: str = "...") -> str:
    text = text_of(value)
    return text if len(text) <= length else text[: max(0, length - len(end))] + end


PLAIN_FILTERS: Mapping[str, Filter] = {
    "append": lambda value, end="": text_of(value) + text_of(end),
    "prepend": lambda value, start="": text_of(start) + text_of(value),
    "capitalize": lambda value: text_of(value).capitalize(),
    "downcase": lambda value: text_of(value).lower(),
    "upcase": lambda value: text_of(value).upper(),
    "strip": lambda value: text_of(value).strip(),
    "lstrip": lambda value: text_of(value).lstrip(),
    "rstrip": lambda value: text_of(value).rstrip(),
    "strip_newlines": lambda value: text_of(value).replace("\n", ""),
    "strip_html": lambda value: re.sub(r"<[^>]*>", "", text_of(value)),
    "newline_to_br": lambda value: text_of(value).replace("\n", "<br>\n"),
    "escape": lambda value: escape(text_of(value)),
    "escape_once": lambda value: escape(text_of(value)),
    "xml_escape": lambda value: escape(text_of(value)),
    "url_encode": lambda value: quote(text_of(value), safe=""),
    "uri_escape": lambda value: quote(text_of(value), safe="/:?#[]@!$&'()*+,;=%"),
    "cgi_escape": lambda value: quote(text_of(value), safe=""),
    "slugify": lambda value, mode="": slugify(text_of(value)),
    "remove": lambda value, what: text_of(value).replace(text_of(what), ""),
    "remove_first": lambda value, what: text_of(value).replace(text_of(what), "", 1),
    "replace": _replace,
    "replace_first": lambda value, what, by="": text_of(value).replace(text_of(what), text_of(by), 1),
    "truncate": _truncate,
    "truncatewords": lambda value, count=15, end="...": " ".join(text_of(value).split()[:count]),
    "number_of_words": lambda value, mode="": len(text_of(value).split()),
    "default": lambda value, other="": other if value in (None, False, "", []) else value,
    "size": lambda value: len(value) if isinstance(value, (str, list, tuple, Mapping)) else 0,
    "first": lambda value: next(iter(_list(value)), None),
    "last": lambda value: _list(value)[-1] if _list(value) else None,
    "join": _join,
    "split": _split,
    "reverse": lambda value: _list(value)[::-1],
    "sort": _sorted,
    "uniq": lambda value: list({text_of(each): each for each in _list(value)}.values()),
    "compact": lambda value: [each for each in _list(value) if each is not None],
    "concat": lambda value, other: _list(value) + _list(other),
    "push": lambda value, other: [*_list(value), other],
    "map": lambda value, key: [each.get(key) for each in _list(value) if isinstance(each, Mapping)],
    "where": _where,
    "slice": _slice,
    "plus": lambda value, other: _number(value) + _number(other),
    "minus": lambda value, other: _number(value) - _number(other),
    "times": lambda value, other: _number(value) * _number(other),
    "divided_by": lambda value, other: _number(value) // _number(other),
    "modulo": lambda value, other: _number(value) % _number(other),
    "array_to_sentence_string": lambda value: ", ".join(map(text_of, _list(value))),
    "jsonify": lambda value: json.dumps(value, ensure_ascii=False, default=str),
    "markdownify": lambda value: text_of(value),
    "smartify": lambda value: text_of(value),
    "inspect": lambda value: text_of(value),
}
"""Name → what it makes of a value. `markdownify` is left to who reads the text as Markdown."""
