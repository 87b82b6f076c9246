"""TOML front matter, as Hugo has it: the data and the place of every value.

The standard library reads it; of a text with a mistake the lines before it are read.
"""

from __future__ import annotations

import re
from typing import Any

from ..diagnostics.fixes import exchange
from ..diagnostics.model import Place, Reporter
from ..patterns import lazy_pattern
from .data_places import DataWalker, is_too_deep, is_value_too_deep, text_map
from .yaml_errors import TOO_DEEP
from .yaml_loader import MAX_BYTES, Located, YamlPath

_WHERE = lazy_pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_PAIR = lazy_pattern(r"([ \t]*[A-Za-z0-9_-]+)[ \t]*[:=][ \t]*(\S.*)")
_PLAIN = lazy_pattern(r"[^\W\d][^\"'#\[\]{}=\\]*")
"""A text without quotes that can be nothing else."""
_ESCAPED = lazy_pattern(r"(?s)(?!\A)'|\\[\"\\]")
_QUOTES = "use single quotes, in which a backslash is a backslash"
_TEXTS = 'a text stands in quotes: title = "…"'
_WORDINGS: tuple[tuple[str, str, str], ...] = (
    ("Expected '=' after a key", "a key and its value are joined by =", "YAML stands between lines ---"),
    ("Unescaped '\\'", "a backslash in double quotes begins an escape", _QUOTES),
    (
        "Illegal character '\\n'",
        "the quote is not closed on this line",
        "long texts stand between three quotes",
    ),
    ("Unterminated string", "the quote is never closed", ""),
    ("Invalid value", "this is no value of TOML", _TEXTS),
    ("Expected newline or end of document", "text follows the value", _TEXTS),
    ("Unclosed array", "the list is not closed, or a comma is missing", "end it with ]"),
    ("Unclosed inline table", "the table is not closed, or a comma is missing", "end it with }"),
    ("Cannot overwrite a value", "a key is given twice", "keep one of them"),
    ("Cannot declare", "a table is given twice", "keep one of them"),
    ("Duplicate inline table key", "a key is given twice", "keep one of them"),
    ("Invalid initial character for a key", "a key is missing here", "a key is of letters, digits, - and _"),
)
"""How the library's message begins → ours, and a hint."""


def load_toml(text: str, reporter: Reporter, *, first_line: int = 1) -> Located | None:
    """The data of a TOML text that starts on line `first_line` of the reporter's file.

    As `yaml_loader.load`: every problem is reported, None only if the text is too large to be looked at.
    """
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error("yaml-feature", f"TOML is longer than {MAX_BYTES // 1024} kB", Place(first_line))
        return None
    is_deep = is_too_deep(text)
    sound, value = ("", {}) if is_deep else _read(text, reporter, first_line)
    if is_deep or is_value_too_deep(value):
        reporter.error("yaml-feature", TOO_DEEP, Place(first_line))
        return None
    walker = DataWalker(text_map(sound, first_line), reporter, _QUOTES)
    _walk_document(walker)
    return walker.located(value, _plain)


def _plain(value: Any, spelling: str) -> Any:
    """Dates and times stay texts, as in YAML."""
    return value if isinstance(value, int | float) else spelling or str(value)


def _read(text: str, reporter: Reporter, first_line: int) -> tuple[str, dict[str, Any]]:
    """As much of the text as can be read, from its start, and what it holds."""
    import tomllib

    try:
        return text, tomllib.loads(text)
    except ValueError as error:
        line = _report(error, text, reporter, first_line)
    before = "\n".join(text.split("\n")[: line - 1])
    try:
        return before, tomllib.loads(before)
    except ValueError:
        return "", {}


def _report(error: ValueError, text: str, reporter: Reporter, first_line: int) -> int:
    """Report the mistake; its line, counted in the text."""
    lines = text.split("\n")
    found = _WHERE.search(str(error))
    line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), 1)
    line, column = _start_of_mistake(lines, line, column)
    said = _WHERE.sub("", str(error))
    message, hint = next(
        ((ours, hint) for begin, ours, hint in _WORDINGS if said.startswith(begin)),
        (f"TOML cannot be read here: {said[:1].lower()}{said[1:]}", ""),
    )
    length = len(lines[line - 1][column - 1 :].rstrip())
    place, fix = Place(line + first_line - 1, column, max(1, length)), None
    if (meant := _meant_pair(lines[line - 1])) is not None:
        fix = exchange(place.line, 1, lines[line - 1], meant, title=f"write {meant.strip()}", is_safe=True)
    reporter.error("toml-syntax", message, place, hint, fix)
    return line


def _meant_pair(line: str) -> str | None:
    """A line of a key and a value as TOML has it, where the author wrote it as YAML or Python would."""
    pair = _PAIR.fullmatch(line)
    if pair is None:
        return None
    key, value = pair[1], pair[2].strip()
    quoted = f"'{value[1:-1]}'" if value[:1] == value[-1:] == '"' and not _ESCAPED.search(value) else value
    for meant in (value, {"True": "true", "False": "false"}.get(value, quoted), f'"{value}"'):
        if _is_pair(found := f"{key} = {meant}") and (meant != f'"{value}"' or _PLAIN.fullmatch(value)):
            return found
    return None


def _is_pair(line: str) -> bool:
    import tomllib

    try:
        return len(tomllib.loads(line)) == 1
    except (ValueError, RecursionError):
        return False


def _start_of_mistake(lines: list[str], line: int, column: int) -> tuple[int, int]:
    """The place that the library names, or, where that is behind the end of a line, the line's start."""
    while line > 1 and not lines[line - 1].strip():
        line, column = line - 1, 1
    shown = lines[line - 1]
    if column > len(shown.rstrip()):
        column = len(shown) - len(shown.lstrip()) + 1
    return line, column


def _walk_document(walker: DataWalker) -> None:
    """Statements line by line: pairs, and headers `[table]` and `[[list of tables]]`."""
    counts: dict[YamlPath, int] = {}
    path: YamlPath = ()
    walker.places[()] = walker.origin.place(0)
    at = walker.skip(0)
    while at < len(walker.text):
        if walker.text[at] == "[":
            path, at = _header(walker, at, counts)
        else:
            at = walker.pair(at, path)
        at = walker.skip(at)


def _header(walker: DataWalker, at: int, counts: dict[YamlPath, int]) -> tuple[YamlPath, int]:
    is_list = walker.text.startswith("[[", at)
    start = walker.skip(at + 1 + is_list)
    names, end = walker.key(start)
    place = walker.origin.place(start, end - start)
    path: YamlPath = ()
    for position, name in enumerate(names):
        path = (*path, name)
        walker.places.setdefault(path, place)
        walker.key_places.setdefault(path, place)
        if position == len(names) - 1 and is_list:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
            walker.places.setdefault(path, place)
    closing = re.compile(r"\s*\]{1,2}").match(walker.text, end)
    return path, closing.end() if closing else end + 1
