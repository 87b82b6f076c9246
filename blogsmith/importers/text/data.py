"""Data as TOML, YAML or JSON, and front matter in any of the three; dates stay texts."""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, Literal

from ...base.patterns import lazy_pattern
from ...base.schema.data_text import is_too_deep
from .loose_yaml import DataTextError, load_mapping, split_head

DataForm = Literal["toml", "yaml", "json"]
_TOML_HEAD = lazy_pattern(r"\s*\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MOST_BITS = 4000
_TOML_LINE = lazy_pattern(r"\(at line (\d+)")


@dataclass(frozen=True, slots=True)
class FrontText:
    """A text divided into front matter and the rest."""

    form: DataForm
    head: str
    """Front matter as it is written, without its marks; empty if there is none."""
    body: str
    first_line: int
    """1-based line on which the body starts."""


def split_front(text: str) -> FrontText:
    """Front matter between `---` or `+++`, or as one JSON object, and the text behind it."""
    if found := _TOML_HEAD.match(text):
        return FrontText("toml", found[1], text[found.end() :], text.count("\n", 0, found.end()) + 1)
    if text.startswith("{") and (end := _json_end(text)):
        rest = text[end:].removeprefix("\n")
        return FrontText("json", text[:end], rest, text.count("\n", 0, len(text) - len(rest)) + 1)
    head, body, first_line = split_head(text)
    return FrontText("yaml", head, body, first_line)


def _json_end(text: str) -> int:
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return end if isinstance(data, dict) else 0


def load_data(text: str, form: DataForm) -> dict[str, Any]:
    """The mapping that a text holds; empty if it holds nothing. Raises DataTextError."""
    if form == "toml":
        return _load_toml(text)
    if form == "json":
        return _load_json(text)
    return load_mapping(text)


def _load_toml(text: str) -> dict[str, Any]:
    if is_too_deep(text):
        raise DataTextError("values are nested too deep", 1)
    try:
        data = tomllib.loads(text)
    # a number of thousands of digits is a ValueError of another kind
    except (ValueError, RecursionError) as error:
        line = _TOML_LINE.search(str(error))
        raise DataTextError(str(error).partition(" (at")[0], int(line[1]) if line else 1) from error
    plain = _plain(data)
    return plain if isinstance(plain, dict) else {}


def _load_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise DataTextError("it is no JSON", line) from error
    if not isinstance(data, dict):
        raise DataTextError("it is no mapping", 1)
    return data


def _plain(value: Any) -> Any:
    """TOML's dates as texts: what they mean depends on the site's time zone; so are numbers that are too long
    to be printed."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value
