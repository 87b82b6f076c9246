"""Lexing of source code to classified pieces with Pygments, each fence within a time limit.

A lexer can hang inside a regular expression while it holds the interpreter. In the main thread, an interval
timer stops this: `re` checks for signals during a search, and the handler raises an exception. Other threads
get no signals. There, short code is lexed with a check of the clock between tokens. All other code is sent
to a child process that can be killed (about 0.1 s each).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.timeout import alarm, has_alarm

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Piece = tuple[str, str]
"""CSS class (empty for plain text) and text; a plain tuple because a page has tens of thousands."""

Lex = Callable[[str, str, float], Sequence[Piece]]
"""Function that maps (source, Pygments' name of the language, seconds) to pieces, as `lex_in_time` does."""

# Measured with every Pygments 2.21 lexer on 33 repetitive inputs: up to this size, only the lexers in
# `_WILD` needed more than 0.3 s, and those were still busy after 1 s.
_TAME_LINE = 200
_TAME_SIZE = 20_000
_WILD = frozenset({"TNTLexer", "MCSchemaLexer"})

_CHILD_S = 5.0
"""Extra seconds for a child process: neither its start nor waiting on a busy machine counts."""
_CHILD = """
import json, sys
# import the builder's own package; its folder must not come first for other imports
sys.path.insert(0, sys.argv[1])
import blogsmith
del sys.path[0]
from blogsmith.render.lexing import lex
job = json.load(sys.stdin)
json.dump(lex(job["source"], job["alias"]), sys.stdout)
"""
_PACKAGE = Path(__file__).parents[2]


class LexTimeout(BaseException):
    """The time limit was exceeded. Not an Exception, because third-party lexers catch those."""


class LexerError(Exception):
    """The lexer changed the source."""


def lex(source: str, alias: str) -> list[Piece]:
    """Return the pieces of `source`, without a time limit. Their joined text is exactly `source`.

    alias: A language name that Pygments knows. Raise Unfaithful if the lexer changes the source. A faulty
        lexer may raise any error.
    """
    from .lexer_dispatch import DispatchLexer, css_class

    lexer, text = _open(source, alias)
    # Lexers with a loop of their own call the stock one.
    if type(lexer).get_tokens_unprocessed is DispatchLexer.get_tokens_unprocessed:
        assert isinstance(lexer, DispatchLexer)
        return _trim_pieces(source, lexer.pieces(text))
    found = lexer.get_tokens_unprocessed(text)
    return _trim_pieces(source, [(css_class(kind), value) for _, kind, value in found])


def lex_in_time(source: str, alias: str, deadline_s: float) -> list[Piece]:
    """Return `lex`, or raise LexTimeout after `deadline_s` seconds of work, not of elapsed time.

    A busy machine therefore builds the same page.
    """
    deadline_s = max(deadline_s, 0.001)  # A timer of 0 would mean no limit.
    if has_alarm():
        with alarm(deadline_s, LexTimeout, is_cpu_time=True):
            return lex(source, alias)
    if _is_tame(source, alias):
        return _lex_watching_clock(source, alias, deadline_s)
    return _lex_in_child(source, alias, deadline_s)


@lru_cache(maxsize=128)
def lexer_class(alias: str) -> type[Lexer] | None:
    """Return Pygments' lexer for a name, or None. Cached, because Pygments searches all lexers."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(alias)
    except ClassNotFound:
        return None


def _open(source: str, alias: str) -> tuple[Lexer, str]:
    """Return the lexer of a language, and the text for it."""
    kind = lexer_class(alias)
    if kind is None:
        raise LookupError(alias)
    from .lexer_dispatch import dispatch_class

    # A PHP fence rarely starts with `<?php`. Without the option, all of it would be plain text.
    lexer = dispatch_class(kind)(startinline="<?" not in source)
    # Many rules require a line end. `get_tokens` would also strip and replace characters.
    return lexer, source if source.endswith("\n") else source + "\n"


def _trim_pieces(source: str, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces without the line end that was added for the lexer."""
    text = "".join([value for _, value in pieces])
    if text == source:
        return pieces
    if text != source + "\n":
        raise LexerError
    while pieces and not pieces[-1][1]:
        pieces.pop()
    css, value = pieces.pop()
    return [*pieces, (css, value[:-1])]


def _is_tame(source: str, alias: str) -> bool:
    kind = lexer_class(alias)
    if kind is None or kind.__name__ in _WILD or len(source) > _TAME_SIZE:
        return False
    return all(len(line) <= _TAME_LINE for line in source.split("\n"))


def _lex_watching_clock(source: str, alias: str, deadline_s: float) -> list[Piece]:
    from .lexer_dispatch import css_class

    end = time.thread_time() + deadline_s
    pieces = []
    lexer, text = _open(source, alias)
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        pieces.append((css_class(kind), value))
        if time.thread_time() > end:
            raise LexTimeout
    return _trim_pieces(source, pieces)


def _lex_in_child(source: str, alias: str, deadline_s: float) -> list[Piece]:
    import subprocess

    job = json.dumps({"source": source, "alias": alias})
    # `-P`, and far from the site: nothing is imported from there, even with an empty entry in PYTHONPATH.
    command = [sys.executable, "-P", "-c", _CHILD, str(_PACKAGE)]
    try:
        done = subprocess.run(
            command,
            input=job,
            capture_output=True,
            text=True,
            timeout=deadline_s + _CHILD_S,
            check=True,
            cwd="/",
        )
    except subprocess.TimeoutExpired as error:
        raise LexTimeout from error
    return [(css, text) for css, text in json.loads(done.stdout)]
