"""Conversion of TeX source to tokens, as strings.

A token is a command, a number, any other character, or one space for a run of white space. Reading a formula
needs no positions; only an error message needs them. So if there is an error, the formula is read again with
tokens that have a position (`PlacedToken`), and the common case costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...base.patterns import lazy_pattern

# No XML may contain these characters, and no converter filters all of them.
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_BAD_CHARACTERS = lazy_pattern(f"[{_FORBIDDEN}]")

# A number is one token: 3.14, .5. A control word consists of ASCII letters. Commands of LaTeX's kernel with
# an @, such as \@ifstar, are also one token: nothing else is written like them.
_TOKEN = r"\\[A-Za-z]+|\\@[A-Za-z@]+|\\.|\d+(?:\.\d+)?|\.\d+|."
_SPLIT = lazy_pattern(_TOKEN, re.DOTALL)
_MARKS = "\u0300-\u036f\u064b-\u065f\u20d0-\u20f0"
# A character and its combining marks are one token.
_MARKED_TOKEN = rf"[^\\\s][{_MARKS}]+|{_TOKEN}"
_SPLIT_MARKED = lazy_pattern(_MARKED_TOKEN, re.DOTALL)
# The end of a `\verb` is searched only in its line and up to a limit, because a formula may contain very
# many.
_PLACED = lazy_pattern(
    rf"(?P<verb>\\verb\*?(?P<bar>[^A-Za-z*\s])[^\n]{{0,1000}}?(?P=bar))|(?P<blank>(?:\s+|%[^\n]*\n?)+)|(?P<space>\\\s+)"
    rf"|{_MARKED_TOKEN}",
    re.DOTALL,
)
_IN_FILE = lazy_pattern(
    rf"(?P<blank>(?:\s+|%[^\n]*\n?)+)|(?P<space>\\\s+)|\\[A-Za-z@]+|{_MARKED_TOKEN}", re.DOTALL
)
_BLANK_LINE = lazy_pattern(r"\n[^\S\n]*\n")
# in a URL a % does not start a comment (hyperref)
_ADDRESS = lazy_pattern(r"\\(?:href|url)\s*\{[^{}\n]{0,2000}\}")
_PERCENT = "\x1a"  # marker that cannot be in an author's text: `clean_text` removes it
_WORD = lazy_pattern(r"\\[A-Za-z]+")
_LETTER = lazy_pattern("[A-Za-z]")
_SPECIAL = lazy_pattern(r"%|\\verb")


def clean_text(text: str) -> str:
    """Return `text` without the characters that XML may not contain."""
    return _BAD_CHARACTERS.sub("", text)


class PlacedToken(str):
    """A token with its position in the author's formula; for a token from a macro, this is the position of
    the call."""

    offset: int
    """Offset of the first character in the author's formula."""
    length: int
    """Number of characters from `offset` on."""
    macro: str
    """Macro or command whose expansion contained the token; empty if the author wrote the token."""


def split(tex: str) -> list[str]:
    r"""Return the tokens of `tex`; never raises. Comments are white space; `\verb|…|` is one token."""
    if not tex.isprintable():
        tex = clean_text(tex)
    if _SPECIAL.search(tex):
        return [str(token) for token in split_with_positions(tex)]
    words = " ".join(tex.split())
    if tex[-1:].isspace() and (len(words) - len(words.rstrip("\\"))) % 2:
        words += " "  # `\ ` at the end
    return (_SPLIT if words.isascii() else _SPLIT_MARKED).findall(words)


def split_with_positions(tex: str) -> list[PlacedToken]:
    """Return the tokens of `tex` as `split` does, with positions."""
    clean = clean_text(tex)
    places = range(len(tex)) if clean == tex else [at for at, sign in enumerate(tex) if clean_text(sign)]
    tokens: list[PlacedToken] = []
    if "%" in clean:
        clean = _ADDRESS.sub(lambda found: found[0].replace("%", _PERCENT), clean)
    for match in _PLACED.finditer(clean):
        start, end = match.span()
        text = {"blank": " ", "space": "\\ "}.get(match.lastgroup or "", match.group().replace(_PERCENT, "%"))
        if text != " " or (tokens and tokens[-1] != "\\ "):
            tokens.append(place(text, places[start], places[end - 1] + 1 - places[start]))
    if tokens and tokens[-1] == " ":
        tokens.pop()
    return tokens


def split_file(tex: str) -> list[PlacedToken]:
    r"""Return the tokens of a LaTeX file. In names of commands, `@` is a letter, as in packages. A blank line
    outside braces is a `\par`, as in TeX."""
    tokens: list[PlacedToken] = []
    depth = 0
    for match in _IN_FILE.finditer(tex):
        text = {"blank": " ", "space": "\\ "}.get(match.lastgroup or "", match.group())
        depth += (text == "{") - (text == "}")
        if text == " " and not depth and _BLANK_LINE.search(match.group()):
            text = "\\par"
        tokens.append(place(text, match.start(), match.end() - match.start()))
    return tokens


def place(text: str, offset: int, length: int, macro: str = "") -> PlacedToken:
    """Return `text` as a token at a position."""
    token = PlacedToken(text)
    token.offset, token.length, token.macro = offset, length, macro
    return token


def extend_range(first: str, last: str) -> str:
    """Return the token `first`, with its range extended to the end of `last` if both have positions."""
    if not isinstance(first, PlacedToken) or not isinstance(last, PlacedToken) or first.macro or last.macro:
        return first
    return place(first, first.offset, max(first.length, last.offset + last.length - first.offset))


def move_tokens(tokens: Iterable[str], to: str, macro: str = "") -> list[str]:
    """Return the tokens. Those without a position get the position of `to`, if it has one. macro: command
    that produced these tokens."""
    if not isinstance(to, PlacedToken):
        return list(tokens)
    return [t if isinstance(t, PlacedToken) else place(t, to.offset, to.length, macro) for t in tokens]


def strip_places(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the tokens without positions, to be stored as a definition. A call of the definition gives them
    its own position."""
    return tuple(str(token) for token in tokens)


def cut_token(token: str, start: int, end: int) -> str:
    """Return `token[start:end]` with the position of that part."""
    piece = token[start:end]
    return (
        place(piece, token.offset + start, end - start, token.macro)
        if isinstance(token, PlacedToken)
        else piece
    )


def strip_mark(token: str) -> str:
    r"""Return a token bound by `\let` (`\0\frac`) without its marker, at the position of the name that it was
    bound to."""
    return (
        place(token[1:], token.offset, token.length, token.macro)
        if isinstance(token, PlacedToken)
        else token[1:]
    )


def text_of(tokens: Sequence[str]) -> str:
    """Return the tokens as TeX. A space separates a control word from a letter after it."""
    parts: list[str] = []
    for token in tokens:
        if parts and _LETTER.match(token) and _WORD.fullmatch(parts[-1]):
            parts.append(" ")
        parts.append(token)
    return "".join(parts)


def split_tokens(tokens: Sequence[str], separator: str) -> list[list[str]]:
    """Return `tokens` split at each `separator` outside braces."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token == "{") - (token == "}")
        if token == separator and not depth:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces
