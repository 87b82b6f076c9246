r"""TeX of a formula for use elsewhere: macros expanded, without definitions and labels.

Colours that other formulas of the page have defined are defined before it. The author's spaces and lines are
preserved. The expansion of a macro is put in braces if TeX would otherwise use only its first token. Commands
of packages are not changed, nor is `\ref`, whose number is not known here (`render/formulas.py` knows it).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...base.patterns import lazy_pattern
from ..parse.colors import color_definitions
from ..parse.errors import ParseError
from ..parse.macros import read_macros
from ..parse.reader import Macro, TokenReader
from ..parse.scan import PlacedToken, split_with_positions, text_of
from .expansion import DEFINES, define, define_operator, is_definition

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
"""Matches at the end of a text: `_` or `^`. TeX expands macros there, and uses a whole command or one
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
    """Copies a formula and replaces the macros in it."""

    def __init__(self, tex: str, macros: Mapping[str, str | Macro]) -> None:
        self._tex = tex
        self._reader = TokenReader(split_with_positions(tex), read_macros(macros))
        self._text = ""
        self._at = 0
        """Offset in the formula; everything before it is copied or replaced."""

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
        """Continue after the last argument that was read."""
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
        """Write the expansion of a macro."""
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
        """Return whether the whole expansion is an argument of the text before it, and therefore needs
        braces."""
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
        """Push the expansion of a macro. Return the number of tokens below it on the stack."""
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
