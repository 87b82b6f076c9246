"""Lexing of source code to classified pieces with Pygments, each fence within a time limit.

A lexer can hang inside a regular expression, where no other thread can run. In the main thread, an interval
timer stops it: `re` checks for signals during a search, and the handler raises an exception. Other threads
get no signals. There, short code is lexed with a check of the clock between tokens, and longer code in a
child process that can be killed (about 0.1 s each).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.timeout import alarm, has_alarm
from ..syntax.code_languages import HANGING_LEXERS, lexer_class

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Piece = tuple[str, str]
"""CSS class (empty for plain text) and text. A plain tuple, because a page has tens of thousands."""

Lex = Callable[[str, str, float], Sequence[Piece]]
"""Function such as `lex_in_time`. Arguments: source, Pygments' name of the language, and time limit in
seconds."""

# Measured with every Pygments 2.21 lexer on 33 repetitive inputs: up to this size, only the lexers in
# `HANGING_LEXERS` needed more than 0.3 s, and those were still busy after 1 s.
_TAME_LINE = 200
_TAME_SIZE = 20_000

_CHILD_S = 5.0
"""Seconds added to the time limit of a child process, for its start and for waiting on a busy machine."""
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
    """The lexer returned other text than the source."""


def lex(source: str, alias: str) -> list[Piece]:
    """Return the pieces of `source`, without a time limit. Their joined text is exactly `source`. alias: name
    of the language in Pygments. LexerError if the text differs from the source; a faulty lexer may raise any
    other error."""
    from .lexer_dispatch import DispatchLexer, css_class

    lexer, text = _open(source, alias)
    # a lexer with a loop of its own calls that of Pygments
    if type(lexer).get_tokens_unprocessed is DispatchLexer.get_tokens_unprocessed:
        assert isinstance(lexer, DispatchLexer)
        return _trim_pieces(source, lexer.pieces(text))
    found = lexer.get_tokens_unprocessed(text)
    return _trim_pieces(source, [(css_class(kind), value) for _, kind, value in found])


def lex_in_time(source: str, alias: str, deadline_s: float) -> list[Piece]:
    """Return the result of `lex`, or raise LexTimeout after `deadline_s` seconds of processor time. Waiting
    does not count, so a busy machine builds the same page."""
    deadline_s = max(deadline_s, 0.001)  # a timer of 0 would mean that there is no limit
    if has_alarm():
        with alarm(deadline_s, LexTimeout, is_cpu_time=True):
            return lex(source, alias)
    if _is_tame(source, alias):
        return _lex_watching_clock(source, alias, deadline_s)
    return _lex_in_child(source, alias, deadline_s)


def _open(source: str, alias: str) -> tuple[Lexer, str]:
    """Return the lexer of a language, and the source with a line end. LookupError for an unknown language."""
    kind = lexer_class(alias)
    if kind is None:
        raise LookupError(alias)
    from .lexer_dispatch import dispatch_class

    # a PHP fence rarely starts with `<?php`; without the option, it would be plain text
    lexer = dispatch_class(kind)(startinline="<?" not in source)
    # many rules need a line end; `get_tokens` would also strip and replace characters
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
    if kind is None or kind.__name__ in HANGING_LEXERS or len(source) > _TAME_SIZE:
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
    # `-P` and a folder outside the site, so that nothing is imported from the site, even if PYTHONPATH has an
    # empty entry
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
