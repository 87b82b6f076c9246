"""Code as it counts for its result: without comments, and laid out in any way.

The form is that of tokens, and the same in every version of Python. Code that has none, such as a line for a
shell, counts as it is written.
"""

from __future__ import annotations

import io
import token
import tokenize
from collections.abc import Iterator

from ..base.patterns import lazy_pattern

_LAYOUT = frozenset({tokenize.NL, tokenize.ENCODING, token.ENDMARKER})
_MARKS = {token.NEWLINE: "\n", token.INDENT: "\x0e", token.DEDENT: "\x0f"}
# names of Python 3.12 and later, where an f-string is several tokens
_BEGINS = frozenset(getattr(token, name, -1) for name in ("FSTRING_START", "TSTRING_START"))
_ENDS = frozenset(getattr(token, name, -1) for name in ("FSTRING_END", "TSTRING_END"))
_FOREIGN = frozenset("!?$`")
"""Signs that only some versions of Python take for tokens."""
_READS_ITSELF = lazy_pattern(r"\b(?:inspect|getsource|linecache|__doc__|tokenize)\b")
"""Code that may see how it is written."""


def plain_form(code: str) -> str:
    """The code as it is written: with \\n as line end, without what is blank behind its last line."""
    return code.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def canonical_form(code: str, *, has_shapes: bool = False) -> str:
    """Python's code without what changes nothing of what it does.

    has_shapes: comments are checked while it runs, so they count.
    """
    plain = plain_form(code)
    if _READS_ITSELF.search(plain):
        return plain
    try:
        parts = [text for text, _ in _significant(plain, has_shapes=has_shapes)]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain
    # no code can hold the separator, so that two tokens are never taken for one
    return "\x1f".join(parts) if "\x1f" not in plain and "\x00" not in plain else plain


def line_layout(code: str) -> str:
    """The line of each token: what moves when lines are put in, taken out or joined."""
    plain = plain_form(code)
    try:
        return " ".join(str(line) for _, line in _significant(plain, has_shapes=False))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return plain


def _significant(code: str, *, has_shapes: bool) -> Iterator[tuple[str, int]]:
    """Text and line of each token that counts; SyntaxError where Python knows no token."""
    lines = code.split("\n")
    depth, begin = 0, (0, 0)
    for found in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = found.type
        if kind in _BEGINS:
            begin = begin if depth else found.start
            depth += 1
        elif kind in _ENDS:
            depth -= 1
            if not depth:
                yield _between(lines, begin, found.end), begin[0]
        elif depth or kind in _LAYOUT or (kind == tokenize.COMMENT and not has_shapes):
            continue
        elif kind == token.ERRORTOKEN or found.string in _FOREIGN:
            raise SyntaxError(found.string)
        else:
            yield _MARKS.get(kind, found.string), found.start[0]


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "\n".join((lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]))
