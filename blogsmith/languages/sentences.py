"""Translation of sentences about results of cells.

The reason why a result is stale or a cell did not run is first written in English, because terminals print it
and records store it. A page in another language shows a shorter sentence, translated like other strings. A
sentence that no pattern here matches, such as the error message of an author's program, is not translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .language import Language

_BETWEEN = "; "
_MAX_LENGTH = 1_000
"""Length in characters above which text is not translated."""

# English sentence with placeholders → translatable text with the same meaning
_ROWS: tuple[tuple[str, str], ...] = (
    ("it was never run", "it was never run"),
    ("it was never run where {needs} is", "it was never run where {needs} is"),
    ("it needs {needs}, and was not run where that is", "it was never run where {needs} is"),
    ("it could not run when the rest of its session last changed", "it was recorded under other conditions"),
    ("it was recorded under other conditions", "it was recorded under other conditions"),
    ("the session was recorded in another order", "it was recorded under other conditions"),
    ("its code has changed", "its code has changed"),
    ('it now depends on "{what}"', "{what} is new"),
    ('it now needs "{needs}"', "it was never run where {needs} is"),
    ("its `{what}` changed from {old} to {new}", "{what} has changed"),
    ("its `{what}` is now {new}", "{what} has changed"),
    ("its `{what}` is no longer set", "{what} has changed"),
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
    ("the code ended its process with os._exit({code})", "its program ended early"),
    ("it calls sys.exit({code})", "its program ended early"),
    ("it ends its kernel", "its program ended early"),
    ("its kernel left with exit code {code}", "its program ended early"),
    ("killed by signal {code}", "its program ended early"),
)
_NAMES: tuple[tuple[str, str], ...] = (("a cell", "a cell"), ("cell {number}", "cell {number}"))
"""Values of the placeholder `{what}` that are translated. Other values, such as file names, appear in every
language as they are."""


def translate_sentences(language: Language, text: str) -> str:
    """Translate sentences that are separated by `; ` and have no full stop at the end."""
    if not language.texts or len(text) > _MAX_LENGTH:
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
