"""Sentences about results of cells, in the language of a page.

Why a result is out of date, or a cell was not run, is said in English where it is found out: terminals print
it so, and records hold it. A page in another language says it more briefly, by the texts of that language. A
sentence without a row, such as the message of an author's own program, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .language import Language

_BETWEEN = "; "
_LONGEST = 1_000
"""Characters of a sentence that is compared with the rows."""

# English sentence, its places as in a text of a language → the text that says it
_ROWS: tuple[tuple[str, str], ...] = (
    ("it was never run", "it was never run"),
    ("it was never run where {needs} is", "it was never run where {needs} is"),
    ("it needs {needs}, and was not run where that is", "it was never run where {needs} is"),
    ("it could not run when the rest of its session last changed", "it was recorded under other conditions"),
    ("it was recorded under other conditions", "it was recorded under other conditions"),
    ("the session was recorded in another order", "it was recorded under other conditions"),
    ("its code has changed", "its code has changed"),
    ("it now depends on {what}", "{what} is new"),
    ("it now needs {needs}", "it was never run where {needs} is"),
    ("its `{what}` was {old} and is {new}", "{what} has changed"),
    ("the environment variable {what} is now set", "{what} is new"),
    ("the environment variable {what} has changed", "{what} has changed"),
    ("the environment variable {what} is no longer set", "{what} is gone"),
    ("`{what}` of the page has changed", "{what} has changed"),
    ("the kernel or `{what}` of the page has changed", "{what} has changed"),
    ("{what} before it is new", "{what} is new"),
    ("{what} before it has changed", "{what} has changed"),
    ("{what} before it is gone", "{what} is gone"),
    ("{what} before it ended badly", "{what} ended in an error"),
    ("{what}, which {user}, has changed", "{what} has changed"),
    ("{what}, which {user}, is gone", "{what} is gone"),
    ("{what}, which {user}, is new", "{what} is new"),
    ("it ended in an error, and `error: true` is gone", "it ended in an error"),
    ("`freeze: false` keeps no result", "its result is not kept"),
    ("and {count} more", "and {count} more"),
    ("this is the output of {what}", "this is the output of {what}"),
    ("it ran longer than {limit}", "it was stopped at the limit of {limit}"),
    ("it used {size}, more than the limit of {limit}", "it was stopped at the limit of {limit}"),
    ("it started more than {limit} processes", "its program ended early"),
    ("it closed its connection to blogsmith, or became another program", "its program ended early"),
    ("it left with os._exit({code})", "its program ended early"),
    ("it calls sys.exit({code})", "its program ended early"),
    ("it ends its kernel", "its program ended early"),
    ("its kernel left with exit code {code}", "its program ended early"),
    ("killed by signal {code}", "its program ended early"),
)
_NAMES: tuple[tuple[str, str], ...] = (("a cell", "a cell"), ("cell {number}", "cell {number}"))
"""What may stand in `{what}`."""


def translate_sentences(language: Language, text: str) -> str:
    """Sentences that `; ` separates, as they are found out, without a full stop at the end."""
    if not language.texts or len(text) > _LONGEST:
        return text
    return _BETWEEN.join(_translate(language, sentence) for sentence in text.split(_BETWEEN))


def _translate(language: Language, sentence: str) -> str:
    for pattern, text in _compiled(_ROWS):
        if found := pattern.fullmatch(sentence):
            places = {name: _name(language, value) for name, value in found.groupdict().items()}
            return _fill(language, text, places)
    return sentence


def _name(language: Language, value: str) -> str:
    for pattern, text in _compiled(_NAMES):
        if found := pattern.fullmatch(value):
            return _fill(language, text, found.groupdict())
    return value


def _fill(language: Language, text: str, places: Mapping[str, str]) -> str:
    parts, _ = language.parts(text, "", places)
    return "".join(parts)


@lru_cache(maxsize=2)
def _compiled(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(_expression(sentence)), text) for sentence, text in rows)


def _expression(sentence: str) -> str:
    pieces = re.split(r"\{(\w+)\}", sentence)
    names = (f"(?P<{piece}>.+)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    return "".join(names)
