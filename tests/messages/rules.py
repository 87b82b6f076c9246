"""The rules of our style sheet that each row of the catalogue must meet.

We check the text of the source instead of its types. A type `Quoted` would have to be required at every
f-string, and mypy has no `LiteralString`: it accepts any `str` in an f-string, whose own type is `str` again.
To make an unquoted name fail in mypy, each of the 576 calls would have to give a template and its parameters
apart, at run time, in the path of every page. The check here costs the package no line, also finds names in
messages that a table, an exception or another function makes, and at the same time checks lengths, openings
and hints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .catalogue import Row, read_catalogue, shown
from .frames import Hole, Text, is_inside_quotes, literal_prefix

MAX_LENGTH = 90
OPENING = re.compile(
    r"(unknown|missing|invalid|duplicate|unsupported syntax:|too many|too long|more than)\b"
    r"|.*\b(not found|not allowed|no effect)\b"
)
"""Fixed openings of the style sheet, and those of limits."""
HINT_OPENING = re.compile(r"(did you mean|[a-z]+(-[a-z]+)?) ")
_OUR_WORDS = re.compile(
    r".*\bjoin\((sorted\()?\(?\*?_?[A-Z]|[A-Z_]+$|(format|parse)_size\(|f'\{value:|.*\bquoted_name$"
    r"|((type|first_line|str)\()?error\b|signal\.Signals|stderr\b|line\.|lines\[-1\]"
)
"""Parameters that are numbers with units, names that the program defines, or messages of other programs."""
_SENTENCE_END = re.compile(r"[a-z)]\. [A-Z]")
UNQUOTED = Path(__file__).with_name("unquoted.txt")
OPEN = Path(__file__).with_name("open.txt")


def literal_length(text: Text) -> int:
    """Return the number of characters that are our own."""
    return sum(len(part) for part in text if isinstance(part, str))


def unquoted(text: Text) -> Iterator[str]:
    """Yield the parameters of a string that may be the author's text and are not in quotes or in code."""
    for index, part in enumerate(text):
        if not isinstance(part, Hole) or part.is_number or part.carriers or _OUR_WORDS.match(part.source):
            continue
        before = literal_prefix(text[:index])
        if part.elements:
            if any(True for one in part.elements for _ in unquoted(one)):
                yield part.source
        elif not is_inside_quotes(before) and not before.endswith(("did you mean ", "line ")):
            yield part.source


def unquoted_parameters() -> set[str]:
    """Return `place: parameter` of all parameters without quotes."""
    return {
        f"{row.origin}: {source}"
        for row in read_catalogue().rows
        for text in (*row.messages, *row.hints)
        for source in unquoted(text)
    }


def read_list(file: Path) -> set[str]:
    """Return the lines of a list of exceptions."""
    lines = file.read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def long_messages(rows: Iterable[Row]) -> list[str]:
    """Return the messages that exceed 90 characters without their parameters."""
    # a record such as `Editor` contains a line of the preview, not a diagnostic
    texts = (text for row in rows if not row.code.startswith("<") for text in row.messages)
    return sorted({shown(text) for text in texts if literal_length(text) > MAX_LENGTH})


def open_messages(rows: Iterable[Row]) -> set[str]:
    """Return `place: parameter` of messages that consist of one parameter: their text is not known."""
    return {
        f"{row.origin}: {text[0].source}"
        for row in rows
        for text in row.messages
        if len(text) == 1 and isinstance(text[0], Hole) and not text[0].carriers
    }


def full_stops(rows: Iterable[Row]) -> list[str]:
    """Return the messages and hints that end in a full stop."""
    texts = {shown(text) for row in rows for text in (*row.messages, *row.hints)}
    return sorted(text for text in texts if text.endswith("."))


def free_openings(rows: Iterable[Row]) -> list[str]:
    """Return the messages without a fixed opening."""
    texts = {shown(text) for row in rows for text in row.messages}
    return sorted(text for text in texts if not OPENING.match(text))


def strange_hints(rows: Iterable[Row]) -> list[str]:
    """Return the hints that do not start with a verb, or that are more than one sentence."""
    texts = {shown(text) for row in rows for text in row.hints if isinstance(text[0], str)}
    return sorted(text for text in texts if not HINT_OPENING.match(text) or _SENTENCE_END.search(text))
