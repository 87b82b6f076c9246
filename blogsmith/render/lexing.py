"""Source code → classed pieces by Pygments, each fence within a time limit.

A lexer can be stuck inside one regular expression, holding the interpreter. In the main thread an
interval timer ends that: `re` looks for signals while it searches, and a raising handler stops it.
Other threads get no signals; there, short code is lexed with a look at the clock between tokens
and the rest goes to a child process that can be killed (about 0.1 s each).
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
"""CSS class (empty for plain text) and text; a bare tuple because a page has tens of thousands."""

Lex = Callable[[str, str, float], Sequence[Piece]]
"""(source, Pygments' name of the language, seconds) → its pieces, as `lex_in_time` gives them."""

# Measured with every Pygments 2.21 lexer on 33 repetitive inputs: up to this size only the lexers
# of `_WILD` needed more than 0.3 s, and those were still busy after 1 s.
_TAME_LINE = 200
_TAME_SIZE = 20_000
_WILD = frozenset({"TNTLexer", "MCSchemaLexer"})

_CHILD_S = 5.0
"""A child's start does not count against the deadline, nor what it waits for a busy machine."""
_CHILD = """
import json, sys
# the builder's own, whichever else is installed; what lies beside it is not to be found before anything else
sys.path.insert(0, sys.argv[1])
import blogsmith
del sys.path[0]
from blogsmith.render.lexing import lex
job = json.load(sys.stdin)
json.dump(lex(job["source"], job["alias"]), sys.stdout)
"""
_PACKAGE = Path(__file__).parents[2]


class TooSlow(BaseException):
    """The deadline passed. Not an Exception: lexers of third parties catch those."""


class Unfaithful(Exception):
    """The lexer did not give the source back unchanged."""


def lex(source: str, alias: str) -> list[Piece]:
    """The pieces of `source`, whose texts joined are `source` exactly, without a time limit.

    alias: a name Pygments knows. Raises Unfaithful; a broken lexer may raise anything.
    """
    from .lexer_dispatch import DispatchLexer, css_class

    lexer, text = _open(source, alias)
    # those with a loop of their own call the stock one
    if type(lexer).get_tokens_unprocessed is DispatchLexer.get_tokens_unprocessed:
        assert isinstance(lexer, DispatchLexer)
        return _trim_pieces(source, lexer.pieces(text))
    found = lexer.get_tokens_unprocessed(text)
    return _trim_pieces(source, [(css_class(kind), value) for _, kind, value in found])


def lex_in_time(source: str, alias: str, deadline_s: float) -> list[Piece]:
    """`lex`, or TooSlow once it has worked for `deadline_s` seconds: a busy machine shows the same page."""
    deadline_s = max(deadline_s, 0.001)  # a timer of 0 would mean no limit
    if has_alarm():
        with alarm(deadline_s, TooSlow, working=True):
            return lex(source, alias)
    if _is_tame(source, alias):
        return _lex_watching_clock(source, alias, deadline_s)
    return _lex_in_child(source, alias, deadline_s)


@lru_cache(maxsize=128)
def lexer_class(alias: str) -> type[Lexer] | None:
    """Pygments' lexer for a name it knows, else None. Remembered: Pygments looks through all of them."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(alias)
    except ClassNotFound:
        return None


def _open(source: str, alias: str) -> tuple[Lexer, str]:
    """The lexer of a language, and the text that it is to read."""
    kind = lexer_class(alias)
    if kind is None:
        raise LookupError(alias)
    from .lexer_dispatch import dispatching

    # a PHP fence rarely opens with `<?php`; without the option all of it would be text
    lexer = dispatching(kind)(startinline="<?" not in source)
    # many rules want a line end; `get_tokens` would also strip and replace characters
    return lexer, source if source.endswith("\n") else source + "\n"


def _trim_pieces(source: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces without the line end that was added for the lexer."""
    text = "".join([value for _, value in pieces])
    if text == source:
        return pieces
    if text != source + "\n":
        raise Unfaithful
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
            raise TooSlow
    return _trim_pieces(source, pieces)


def _lex_in_child(source: str, alias: str, deadline_s: float) -> list[Piece]:
    import subprocess

    job = json.dumps({"source": source, "alias": alias})
    # -P, and far from the site: nothing is imported from there, also with an empty entry in PYTHONPATH
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
        raise TooSlow from error
    return [(css, text) for css, text in json.loads(done.stdout)]
