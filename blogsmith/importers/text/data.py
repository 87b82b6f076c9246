"""Reader for TOML, YAML, JSON, plain Python and JavaScript in the forms that other systems accept. Also a
writer for YAML.

In YAML, anchors work, and `yes` and `no` are booleans. Dates stay strings, because their meaning depends on
the time zone of the site.
"""

from __future__ import annotations

import ast
import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any, Literal

import yaml

from ...api.importing import Diagnostic, Place, SiteError, is_too_deep, lazy_pattern
from ...api.importing import resolve_yaml_scalar as resolve

_MAX_CHARACTERS = 200_000
_TOKEN = lazy_pattern(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\$])*`)"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)|(?P<number>-?\d[\w.]*)|(?P<mark>[{}\[\]():,])",
    re.DOTALL,
)
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_WORDS: dict[str, Any] = {"true": True, "false": False}
_CLOSERS = frozenset("}])")


class Expression(str):
    """A list item that is not a literal, but the name of a variable or of a called function."""


def read_literals(text: str) -> dict[str, Any]:
    """Return path → value for the strings, numbers, booleans and lists of strings in JavaScript objects. A
    path consists of keys joined by dots, such as `docs.path`.

    Lists and calls add nothing to a path. If a path has several values, the first one is returned.
    """
    found: dict[str, Any] = {}
    frames: list[tuple[str, str]] = []
    key = ""
    tokens = [token for token in _TOKEN.finditer(text[:_MAX_CHARACTERS]) if token.lastgroup]
    for token, after in zip_longest(tokens, tokens[1:]):
        mark, opener = token["mark"] or "", frames[-1][0] if frames else ""
        is_key = after is not None and after["mark"] == ":" and opener == "{"
        if mark and mark in "{[(":
            path = ".".join(filter(None, [frames[-1][1] if frames else "", key]))
            frames.append((mark, path))
            if mark == "[":
                found.setdefault(path, [])
            key = ""
        elif mark in _CLOSERS:
            del frames[-1:]
            key = ""
        elif mark == ",":
            key = ""
        elif is_key and not key:
            key = _value(token)
        elif not mark and key and opener == "{":
            value = _value(token)
            if token["name"] is None or value in (True, False):
                found.setdefault(f"{frames[-1][1]}.{key}".lstrip("."), value)
        elif not mark and opener == "[" and isinstance(found.get(frames[-1][1]), list):
            found[frames[-1][1]].append(Expression(token["name"]) if token["name"] else _value(token))
    return {path: value for path, value in found.items() if value != []}


def _value(token: re.Match[str]) -> Any:
    """Return the value of a token, which is a string without quotes and escapes, the source text of a number,
    a boolean, or a name."""
    if token["string"]:
        return _ESCAPE.sub(r"\1", token["string"][1:-1])
    return _WORDS.get(token["name"] or "", token["name"] or token["number"])


def one_line(value: Any) -> str:
    """Return a string or number on one line; empty for any other value."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_plain else ""


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value as a list with one item."""
    return value if isinstance(value, list) else [value]


def read_strings(value: Any) -> list[str]:
    """Return the distinct strings in a list, or in a single value."""
    return list(dict.fromkeys(text for each in as_list(value) if (text := one_line(each))))


def read_names(value: Any) -> list[str]:
    """Return the distinct strings in a list, or the distinct comma-separated names in a string."""
    return read_strings(value.split(",") if isinstance(value, str) else value)


_ISO = lazy_pattern(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)(?:[T ]+(\d{1,2}:\d{2}(?::\d{2})?)\S*)?.*")
_AMERICAN = lazy_pattern(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_NAMED = lazy_pattern(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([A-Za-z]{3,9})\.?\s*(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})"
)
_YEAR = lazy_pattern(r"(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def iso_date(text: str) -> str:
    """Convert a date to ISO form, for example `2024-03-01`, with its time if it has one.

    Return an empty string if `text` is not a date. A month or year alone becomes its first day. `a/b/year` is
    read as month/day (American order) if possible, otherwise as day/month.
    """
    text = " ".join(text.split())
    if found := _ISO.fullmatch(text):
        date = _date(int(found[1]), int(found[2]), int(found[3] or 1))
        return f"{date} {found[4]}" if date and found[4] else date
    if found := _AMERICAN.fullmatch(text):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        return _date(year, first, second) or _date(year, second, first)
    if found := _NAMED.fullmatch(text):
        month = found[2][:3].lower()
        if month in _MONTHS:
            return _date(int(found[4]), _MONTHS.index(month) + 1, int(found[1] or found[3] or 1))
        return ""
    return f"{text}-01-01" if _YEAR.fullmatch(text) else ""


def _date(year: int, month: int, day: int) -> str:
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return ""


_HEAD = lazy_pattern(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_VALUES = 500_000
"""Maximum number of values in a document; the values of an anchor count again at each alias."""
_MAX_DIGITS = 1000
_TIME = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """Loader for plain data. Dates stay strings, because their meaning depends on the site's time zone."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in every if tag != _TIME]
    for first, every in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _integer(loader: _Loader, node: yaml.ScalarNode) -> Any:
    """Return the integer. If it has too many digits for Python to print, return its source text."""
    return node.value if len(node.value) > _MAX_DIGITS else loader.construct_yaml_int(node)


def _set(loader: _Loader, node: yaml.MappingNode) -> Iterator[dict[Any, Any]]:
    """Yield a mapping for a YAML set. Its keys are the members of the set, in the order of the source."""
    return loader.construct_yaml_map(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:set", _set)


class DataTextError(Exception):
    """The text is not valid in the expected format.

    `line` is the 1-based line in that text.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def settings_error(text: str, path: PurePosixPath, error: DataTextError) -> SiteError:
    """Return the error for unreadable settings. text: content of the settings file."""
    lines = text.split("\n")
    line = lines[error.line - 1] if error.line <= len(lines) else ""
    message = f"invalid settings: {error}"
    hint = "correct this line in the source"
    return SiteError(Diagnostic("import-source", message, path.as_posix(), Place(error.line), line, hint))


def load_yaml(text: str) -> Any:
    """Return the data in a YAML text. Raise DataTextError if it is invalid."""
    # YAML rejects tabs as indentation, but Ruby's reader accepts them between key and value
    text = text.replace("\t", "    ")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > _MAX_VALUES:
            raise DataTextError("too many values after its anchors are expanded", 1)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DataTextError(error.problem or "unreadable YAML", line) from error
    # constructors of explicit tags do not catch errors of their parts
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise DataTextError("unreadable YAML", 1) from error


def _size(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Return the number of values below a node, including the node, with aliases expanded. If a node contains
    itself, return more than `_MAX_VALUES`. known: node → number of its values, extended by this function."""
    if node not in known:
        known[node] = _MAX_VALUES + 1
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        known[node] = 1 + sum(_size(part, known) for part in parts)
    return known[node]


def load_mapping(text: str) -> dict[str, Any]:
    """Return the mapping in a YAML text, with keys as strings; empty for an empty text.

    Raise DataTextError if the text is invalid or not a mapping.
    """
    data = load_yaml(text)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise DataTextError("expected a mapping", 1)
    return {str(key): value for key, value in data.items()}


def split_yaml_front_matter(text: str) -> tuple[str, str, int]:
    """Return the front matter between `---` lines, the text after it, and the 1-based line where this text
    starts."""
    found = _HEAD.match(text)
    if not found:
        return "", text, 1
    return found[1], text[found.end() :], text.count("\n", 0, found.end()) + 1


DataForm = Literal["toml", "yaml", "json"]
_TOML_HEAD = lazy_pattern(r"\s*\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_BITS = 4000
_TOML_LINE = lazy_pattern(r"\(at line (\d+)")


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text that is split into front matter and body."""

    form: DataForm
    front_matter: str
    """Front matter as written, without its delimiters; empty if there is none."""
    body: str
    first_line: int
    """1-based line where the body starts."""


def split_front_matter(text: str) -> SplitText:
    """Return the front matter and the body of a text. Front matter is between lines `---` or `+++`, or is one
    JSON object."""
    if found := _TOML_HEAD.match(text):
        return SplitText("toml", found[1], text[found.end() :], text.count("\n", 0, found.end()) + 1)
    if text.startswith("{") and (end := _json_end(text)):
        rest = text[end:].removeprefix("\n")
        return SplitText("json", text[:end], rest, text.count("\n", 0, len(text) - len(rest)) + 1)
    head, body, first_line = split_yaml_front_matter(text)
    return SplitText("yaml", head, body, first_line)


def _json_end(text: str) -> int:
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return end if isinstance(data, dict) else 0


def load_data(text: str, form: DataForm) -> dict[str, Any]:
    """Return the mapping in a text of this format; empty for an empty text. Raise DataTextError if the text
    is invalid."""
    if form == "toml":
        return _load_toml(text)
    if form == "json":
        return _load_json(text)
    return load_mapping(text)


def _load_toml(text: str) -> dict[str, Any]:
    if is_too_deep(text):
        raise DataTextError("values are nested too deeply", 1)
    try:
        data = tomllib.loads(text)
    # a number with thousands of digits raises a plain ValueError
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
        raise DataTextError("unreadable JSON", line) from error
    if not isinstance(data, dict):
        raise DataTextError("expected a mapping", 1)
    return data


def load_python(text: str) -> dict[str, Any]:
    """Return variable name → value, for assignments of literals in a Python file. Return an empty mapping if
    the text is not Python. The file is never executed."""
    values: dict[str, Any] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return values
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                values[node.targets[0].id] = ast.literal_eval(node.value)
    return values


def _plain(value: Any) -> Any:
    """Convert TOML values to plain data.

    Dates become strings, because their meaning depends on the site's time zone. Numbers that are too long to
    be printed become hexadecimal strings.
    """
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return hex(value)
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value


_PLAIN = lazy_pattern(r"[^\W_](?:[^\n:#\[\]{},&*!|>'\"%@`\\]|:(?=\S)|(?<=\S)#)*(?<!\s)(?<!:)")
_INLINE = lazy_pattern(r"[^\n,\[\]{}:#]+")
_INVALID_CHARACTER = lazy_pattern(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_MAX_LINE_LENGTH = 100
"""Maximum number of characters of a line that contains a list in brackets."""


def format_yaml(data: Mapping[str, Any]) -> str:
    """Return the mapping as YAML with its keys in order; an empty string for an empty mapping."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def _mapping(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _entry(f"{indent}{_scalar(str(key))}:", value, indent + "  ")


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent)
    elif isinstance(value, (list, tuple)) and value:
        flow = _flow(value)
        if flow and len(head) + len(flow) < _MAX_LINE_LENGTH:
            yield f"{head} {flow}"
            return
        yield head
        yield from _items(value, indent)
    else:
        yield f"{head} {_scalar(value)}"


def _items(values: Sequence[Any], indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping) and value:
            lines = list(_mapping(value, indent + "  "))
            yield f"{indent}- {lines[0].strip()}"
            yield from lines[1:]
        else:
            yield from _entry(f"{indent}-", value, indent + "  ")


def _flow(values: Sequence[Any]) -> str:
    """Return a list of scalars in brackets on one line; empty if an item is a collection or contains line
    breaks."""
    if any(isinstance(value, (Mapping, list, tuple)) for value in values):
        return ""
    # readers differ on a plain `?` in a flow sequence
    scalars = [
        json.dumps(each, ensure_ascii=False) if "?" in each and each[0] not in "'\"" else each
        for each in map(_scalar, values)
    ]
    return f"[{', '.join(scalars)}]" if all("\n" not in each for each in scalars) else ""


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    text = _INVALID_CHARACTER.sub(" ", str(value))
    if _PLAIN.fullmatch(text) and isinstance(resolve(text), str) and not text.endswith((" ", "-")):
        return text
    if ("\n" not in text and "\t" not in text and '"' in text) or ("\\" in text and "\n" not in text):
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=False)
