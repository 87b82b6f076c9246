r"""Conversion of a formula to TeX that works elsewhere: macros are expanded, definitions and labels removed.

If the formula uses colours that other formulas of the page define, their definitions are put before it. The
author's spaces and lines are preserved. The expansion of a macro is put in braces if TeX would otherwise use
only its first token. Commands of packages are not changed, nor is `\ref`, whose number is not known here
(`render/formulas.py` knows it).

Nothing is typeset or reported: `convert_formula` reports invalid definitions. Unlike in TeX, a definition
inside a group stays valid after it, because hardly any author defines a macro with a label differently in two
groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ..parse.colors import color_definitions, define_color
from ..parse.document_commands import DEFINERS
from ..parse.errors import ParseError
from ..parse.lexer import Token
from ..parse.macros import read_macros
from ..parse.reader import Macro, TokenReader
from ..parse.scan import PlacedToken, split, split_with_positions, text_of

_NEW = ("\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand")
_DEF = ("\\def", "\\gdef", "\\edef", "\\xdef")
_DEFINERS = frozenset((*_NEW, *_DEF, *DEFINERS, "\\DeclareMathOperator", "\\let"))
DEFINES = lazy_pattern(rf"(?:{'|'.join(re.escape(name) for name in sorted(_DEFINERS))})(?![A-Za-z])")


class ExpandedFormula(Struct, frozen=True):
    """The result of expanding a formula."""

    tokens: list[Token]
    macros: Mapping[str, str | Macro]
    """Macros known after the formula: earlier ones and those that it defines."""


def expand_formula(tex: str, macros: Mapping[str, str | Macro]) -> ExpandedFormula | None:
    """Return `tex` with its macros expanded, or None if a macro or a definition is invalid.

    Tokens from a macro have the position of its call.
    """
    reader = TokenReader(split_with_positions(tex), read_macros(macros))
    tokens: list[Token] = []
    try:
        while reader.stack:
            token = reader.stack.pop()
            if token in _DEFINERS:
                reader.command = token
                define(reader, token)
            elif token in reader.macros:
                reader.peek()  # TeX ignores spaces after a control word
                reader.expand(token)
            else:
                tokens.append(_place_token(token))
    except ParseError:
        return None
    return ExpandedFormula(
        tokens, {name: macro for name, macro in reader.macros.items() if isinstance(macro, Macro)}
    )


def _place_token(token: str) -> Token:
    assert isinstance(token, PlacedToken)
    return Token(str(token), token.offset, token.length)


def find_definitions(tex: str, macros: Mapping[str, str | Macro]) -> dict[str, Macro]:
    """Return the macros that `tex` defines, even if it has errors. The last definition of a name applies."""
    given = read_macros(macros)
    reader = TokenReader(split(tex), given)
    while reader.stack:
        token = reader.stack.pop()
        if token not in _DEFINERS and token != "\\definecolor":
            continue
        reader.command = token
        try:
            _define_for_page(reader, token)
        except ParseError:
            continue
    found = {name: macro for name, macro in reader.macros.items() if isinstance(macro, Macro)}
    return {name: macro for name, macro in found.items() if given.get(name) is not macro}


def _define_for_page(reader: TokenReader, command: str) -> None:
    if command == "\\definecolor":
        define_color(reader, command)
    elif command == "\\DeclareMathOperator":
        define_operator(reader)
    else:
        define(reader, command)


def define_operator(reader: TokenReader) -> None:
    r"""Read the arguments of `\DeclareMathOperator`, and define the operator."""
    star = ("*",) if reader.star() else ()
    name = "".join(reader.argument()).strip()
    shown = ("\\operatorname", *star, "{", *map(str, reader.argument()), "}")
    reader.define(name, Macro(0, None, shown), everywhere=True)


def is_definition(token: str) -> bool:
    """Return whether `token` begins a definition."""
    return token in _DEFINERS


def define(reader: TokenReader, command: str) -> None:
    """Read the definition after `command`, and apply it to the rest of the formula."""
    if command in DEFINERS:
        defined, macro = DEFINERS[command](reader)
        reader.define(defined, macro, everywhere=True)
    elif command in _DEF:
        name = reader.pop()
        delimiters = _delimiters(reader)
        body = _body(reader)
        delimited = delimiters if any(delimiters) else ()
        reader.define(name, Macro(len(delimiters) - 1, None, body, delimited), everywhere=True)
    elif command == "\\let":
        name = reader.pop()
        if reader.peek() == "=":
            reader.pop()
        target = reader.last = reader.pop()
        known = reader.macros.get(target)
        macro = known if isinstance(known, Macro) else Macro(0, None, (target,))
        reader.define(name, macro, everywhere=True)
    else:
        _define_by_latex(reader, command)


def _body(reader: TokenReader) -> tuple[str, ...]:
    """Read the body of a definition. Its tokens lose their positions; a call gives them its own."""
    return tuple(str(token) for token in reader.argument())


def _define_by_latex(reader: TokenReader, command: str) -> None:
    reader.star()
    name = "".join(token for token in reader.argument() if token != " ")
    if command == "\\DeclareMathOperator":
        reader.argument()
        reader.define(name, None, everywhere=True)
        return
    arity = "".join(reader.optional() or ()).strip()
    default = reader.optional() if arity else None
    body = _body(reader)
    if command == "\\providecommand" and name in reader.macros:
        return
    count = int(arity) if arity.isdecimal() and len(arity) == 1 else 0
    macro = Macro(count, None if default is None else tuple(str(token) for token in default), body)
    reader.define(name, macro, everywhere=True)


def _delimiters(reader: TokenReader) -> tuple[tuple[str, ...], ...]:
    r"""Read the tokens between the name and the body of a `\def`. Return them split at `#1`, `#2`, …"""
    parts: list[list[str]] = [[]]
    while reader.stack and reader.stack[-1] != "{":
        token = reader.stack.pop()
        if token == "#" and reader.stack:
            follower = reader.stack.pop()
            parts.append([follower[1:]] if len(follower) > 1 else [])
        else:
            parts[-1].append(token)
    if parts[-1][-1:] == [" "]:
        parts[-1].pop()
    return tuple(tuple(part) for part in parts)


_CALL = lazy_pattern(r"\\(?:[A-Za-z]+|.)", 0)
_LABEL = "\\label"
_OPERATOR = "\\DeclareMathOperator"
_WORD_END = lazy_pattern(r"\\[A-Za-z]+\Z")
_TAKES_ONE = lazy_pattern(
    r"(?:\\(?:[dtc]?frac|[dt]?binom|sqrt|overset|underset|stackrel|hat|bar|tilde|vec|dot|ddot"
    r"|wide(?:hat|tilde)|overline|underline|math(?:bf|rm|cal|bb|sf|it|frak|scr|tt)|boldsymbol|bm))\s*\Z"
)
"""Matches at the end of a text: a command whose argument is a group or the next token."""
_SCRIPT = lazy_pattern(r"[_^]\s*\Z")
"""Matches at the end of a text: `_` or `^`. After one of them, TeX expands macros and uses one command or
character."""
_LINE_END = lazy_pattern(r"[ \t]*\n")


def portable_tex(tex: str, macros: Mapping[str, str | Macro]) -> str:
    """Return `tex` with its macros expanded, after definitions of the colours that it uses.

    If `tex` calls or defines a macro, labels and definitions are removed. If a macro is invalid, return `tex`
    unchanged.
    """
    calls_none = not macros or not any(call in macros for call in _CALL.findall(tex))
    if calls_none and not DEFINES.search(tex):
        opened = tex
    else:
        try:
            opened = _MacroExpansion(tex, macros).read()
        except ParseError:
            return tex
    return f"{color_definitions(opened, macros)}{opened}" if macros else opened


class _MacroExpansion:
    """Copies a formula, with its macros replaced by their expansions."""

    def __init__(self, tex: str, macros: Mapping[str, str | Macro]) -> None:
        self._tex = tex
        self._reader = TokenReader(split_with_positions(tex), read_macros(macros))
        self._text = ""
        self._at = 0
        """Offset in the formula. Everything before this offset has been copied or replaced."""

    def read(self) -> str:
        """Return the whole formula with its macros replaced."""
        reader = self._reader
        while reader.stack:
            token = reader.stack.pop()
            if is_definition(token) or token == _LABEL:
                self._copy_until(token)
                self._leave_out(token)
            elif token in reader.macros:
                self._copy_until(token)
                self._expand_call(token)
        return (self._text + self._tex[self._at :]).strip()

    def _copy_until(self, token: str) -> None:
        assert isinstance(token, PlacedToken)
        self._text += self._tex[self._at : token.offset]
        self._at = token.offset + token.length

    def _finish_argument(self) -> None:
        """Move `_at` to the end of the last argument that was read."""
        last = self._reader.last
        if isinstance(last, PlacedToken) and not last.macro:
            self._at = max(self._at, last.offset + last.length)

    def _leave_out(self, token: str) -> None:
        self._text = self._text.rstrip(" \t")
        self._skip(token)
        rest = _LINE_END.match(self._tex, self._at)
        if rest and (not self._text or self._text.endswith("\n")):
            self._at = rest.end()

    def _skip(self, token: str) -> None:
        """Read a label or a definition, without copying it. The definition applies to the rest of the
        formula."""
        reader = self._reader
        reader.command = token
        if token == _LABEL:
            reader.argument()
        elif token == _OPERATOR:
            define_operator(reader)
        else:
            define(reader, token)
        self._finish_argument()

    def _expand_call(self, call: str) -> None:
        """Write the expansion of the macro call `call`."""
        made = self._read_expansion(call)
        text = text_of(made)
        if len(made) > 1 and self._is_one(made) and not _is_group(made):
            text = f"{{{text}}}"
        if text[:1].isalpha() and _WORD_END.search(self._text):
            text = f" {text}"
        if self._tex[self._at : self._at + 1].isalpha() and _WORD_END.search(text):
            text += " "
        self._text += text

    def _is_one(self, made: list[str]) -> bool:
        """Return whether the expansion `made` follows a script or command that would use only its first
        token, so that it needs braces."""
        if _SCRIPT.search(self._text):
            return made[0].startswith("\\")
        return _TAKES_ONE.search(self._text) is not None

    def _read_expansion(self, call: str) -> list[str]:
        reader = self._reader
        made: list[str] = []
        rest = self._expand(call)
        while len(reader.stack) > rest:
            token = reader.stack.pop()
            if token in reader.macros:
                rest = min(rest, self._expand(token))
            elif is_definition(token) or token == _LABEL:
                self._skip(token)
            else:
                made.append(str(token))
            rest = min(rest, len(reader.stack))
        return made

    def _expand(self, call: str) -> int:
        """Push the expansion of the macro call `call`. Return the number of tokens below it on the stack."""
        budget = self._reader.budget
        self._reader.peek()  # TeX ignores spaces after a control word
        self._reader.expand(call)
        self._finish_argument()
        return len(self._reader.stack) - (budget - self._reader.budget - 1)


def _is_group(made: list[str]) -> bool:
    """Return whether the tokens are a single group in braces."""
    depth = 0
    for index, token in enumerate(made):
        depth += (token == "{") - (token == "}")
        if not depth:
            return made[0] == "{" and index == len(made) - 1
    return False
