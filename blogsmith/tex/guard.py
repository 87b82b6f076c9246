"""What no formula may do before a converter sees it: be huge, deep, unbalanced or explosive.

The bounds protect the process, not the author: math-core runs over the stack on deep nesting, and
backtracks exponentially over opening brackets that are never closed (measured with 0.9.0:
twenty take 20 ms, each further one doubles it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import TexError
from .lexer import Token, commands, read_name

MAX_LENGTH = 64_000
"""Characters, of the author's formula and of the expanded one."""
MAX_DEPTH = 500
MAX_UNCLOSED = 12
"""Brackets open at once without a partner."""

_OPENERS = frozenset("([⌈⌊⟅⟦⟨⟪⟬⟮⦃⦅⦇⦉⦋⦍⦏⦑⦓⦕⦗") | commands(
    "{ lAngle lBrace lVert lang langle lbrace lbrack lceil lfloor lgroup llangle llbracket llcorner "
    "llparenthesis lmoustache lparen lvert ulcorner mathopen bigl Bigl biggl Biggl"
)
_CLOSERS = frozenset(")]⌉⌋⟆⟧⟩⟫⟭⟯⦄⦆⦈⦊⦌⦎⦐⦒⦔⦖⦘") | commands(
    "} rAngle rBrace rVert rang rangle rbrace rbrack rceil rfloor rgroup rrangle rrbracket lrcorner "
    "rrparenthesis rmoustache rparen rvert urcorner mathclose bigr Bigr biggr Biggr"
)
_DELIMITER_WORDS = commands(
    "left right middle big Big bigg Bigg bigm Bigm biggm Biggm bigl Bigl biggl Biggl bigr Bigr biggr Biggr"
)
_STRUCTURE = frozenset(("{", "}", "\\begin", "\\end", "\\left", "\\right"))


@dataclass(slots=True)
class _Group:
    """One open `{`, `\\begin` or `\\left`."""

    token: Token
    name: str
    """`{`, `\\left`, or the name of the environment."""
    unclosed: int = 0
    """Brackets open in it so far."""
    inner: int = 0
    """Most unclosed brackets in a chain of groups inside it."""


def check_length(length: int) -> None:
    """TexError if a formula has more than `MAX_LENGTH` characters."""
    if length > MAX_LENGTH:
        raise TexError("math-limit", f"formula has {length:,} characters, {MAX_LENGTH:,} are the limit")


def check_structure(tokens: Sequence[Token]) -> None:
    """TexError at the first group that does not close, or nesting that no converter survives."""
    groups = [_Group(Token("", 0, 1), "")]
    for index, token in enumerate(tokens):
        text = token.text
        if text in _STRUCTURE:
            _step(groups, tokens, index)
        elif text in _OPENERS or text in _CLOSERS:
            if index and tokens[index - 1].text in _DELIMITER_WORDS:
                continue
            _count_bracket(groups, token)
    if len(groups) > 1:
        raise _never_closed(groups[-1])
    _leave(groups)


def _step(groups: list[_Group], tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    if token.text in ("{", "\\left", "\\begin"):
        name = _environment(tokens, index) if token.text == "\\begin" else token.text
        groups.append(_Group(token, name))
        if len(groups) > MAX_DEPTH:
            raise TexError("math-limit", f"formula is nested more than {MAX_DEPTH} deep", *token[1:])
        return
    wanted = {"}": "{", "\\right": "\\left"}.get(token.text) or _environment(tokens, index)
    if len(groups) == 1 or groups[-1].name != wanted:
        raise _wrong_end(groups, token, wanted)
    _leave(groups)


def _leave(groups: list[_Group]) -> None:
    group = groups.pop()
    # math-core reads the cells of an environment without looking for the closing bracket
    is_environment = group.token.text == "\\begin"
    chain = (0 if is_environment else group.unclosed) + group.inner
    if chain > MAX_UNCLOSED:
        hint = "write \\mathord{(} or add the closing bracket"
        message = f"formula has more than {MAX_UNCLOSED} opening brackets without a closing one"
        raise TexError("math-limit", message, *group.token[1:], hint=hint)
    if groups:
        groups[-1].inner = max(groups[-1].inner, chain)


def _count_bracket(groups: list[_Group], token: Token) -> None:
    group = groups[-1]
    if token.text in _OPENERS:
        group.unclosed += 1
        if group.unclosed > MAX_DEPTH:
            raise TexError("math-limit", f"brackets are nested more than {MAX_DEPTH} deep", *token[1:])
    elif group.unclosed:
        group.unclosed -= 1


def _environment(tokens: Sequence[Token], index: int) -> str:
    """Name in the braces after `\\begin` or `\\end`."""
    name = read_name(tokens, index)
    if name is None:
        token = tokens[index]
        raise TexError("math-syntax", f"{token.text} needs the name of an environment", *token[1:])
    return name.text


def _spelled(group: _Group) -> str:
    return f"\\begin{{{group.name}}}" if group.token.text == "\\begin" else group.name


def _never_closed(group: _Group) -> TexError:
    kind = "brace" if group.name == "{" else ""
    what = f"opening {kind} {_spelled(group)}" if kind else _spelled(group)
    length = len(_spelled(group)) if group.token.text == "\\begin" else group.token.length
    return TexError("math-brace", f"{what} is never closed", group.token.offset, length)


def _wrong_end(groups: list[_Group], token: Token, wanted: str) -> TexError:
    spelled = f"\\end{{{wanted}}}" if token.text == "\\end" else token.text
    length = len(spelled) if token.text == "\\end" else token.length
    if len(groups) == 1:
        message = f"{spelled} closes nothing that is open"
    else:
        message = f"{spelled} stands where {_spelled(groups[-1])} is still open"
    return TexError("math-brace", message, token.offset, length)
