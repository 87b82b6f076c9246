r"""Backslashes that authors wrote to protect TeX from Markdown: `\_`, `\*`, `\\{` and `\\\\`.

Other generators remove one of the backslashes. In our formulas nothing is Markdown: `\_` is a literal
underscore, `\*` is an unknown command, and `\\` starts a new row.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from ...base.patterns import lazy_pattern
from .lexer import Token, commands, read_argument, skip_spaces, tokenize
from .scan import PlacedToken

_ESCAPED = "*<>@.+-=~`'\"/?"
_BACKSLASHED = "{}#%&_$|,;:!"
_TEXT = commands(
    "text textrm textbf textit textsf texttt textsc textsl textnormal textup textmd emph mbox hbox fbox "
    "mathrm mathit mathsf mathtt mathnormal mathup operatorname operatornamewithlimits label tag ref eqref "
    "cref Cref autoref href url class htmlClass htmlId cssId color ce pu begin end hspace intertext "
    "shortintertext"
)
r"""Commands whose argument is text or a name. In such an argument, the author means an underscore by `\_`."""


def escape_hint(token: str, tex: str) -> str:
    """Return a hint if `token`, where an error was found, is one of these escapes; otherwise ""."""
    if len(token) == 2 and token[0] == "\\" and token[1] in _ESCAPED:
        return f"write `{token[1]}`: a formula needs no escape"
    if isinstance(token, PlacedToken):
        start = token.offset - 2 if token in ("{", "}") else token.offset
        sign = tex[start + 2 : start + 3]
        if start >= 0 and tex.startswith("\\\\", start) and sign and sign in _BACKSLASHED:
            return f"write `\\{sign}`: a formula needs no second backslash"
    return ""


def literal_underscore(tex: str, macros: Container[str]) -> int:
    r"""Return the offset of the first `\_` outside of text and names; -1 if there is none.

    macros: commands of the author, whose arguments may be text.
    """
    tokens = tokenize(tex)
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text == "\\_":
            return tokens[index].offset
        index += 1
        if text in _TEXT or text in macros:
            index = _skip_arguments(tokens, index)
    return -1


def doubled_row_end(tex: str) -> int:
    r"""Return the offset of the first `\\\\` in a table whose rows all end in `\\\\`; -1 if there is none. In
    other tables, the author intends an empty row."""
    if "\\\\\\\\" not in tex:
        return -1
    for table in _TABLE.finditer(tex):
        ends = [found for found in _ROW_END.finditer(table[0])]
        if ends and all(len(found[0]) == 2 * len("\\\\") for found in ends):
            return table.start() + ends[0].start()
    return -1


_TABLE = lazy_pattern(
    r"\\begin\{(?P<name>[bBpvV]?matrix\*?|smallmatrix|array|d?cases|aligned|align\*?|split|gathered?)\}"
    r"(?:(?!\\begin\{|\\end\{)[\s\S])*\\end\{(?P=name)\}"
)
"""Matches a table that contains no other table."""
_ROW_END = lazy_pattern(r"(?:\\\\)+")


def _skip_arguments(tokens: list[Token], index: int) -> int:
    while True:
        at = skip_spaces(tokens, index)
        if at < len(tokens) and tokens[at].text == "*":
            at = skip_spaces(tokens, at + 1)
        if at >= len(tokens) or tokens[at].text != "{":
            return index
        argument = read_argument(tokens, at)
        if argument is None:
            return index
        index = argument.end


class Slip(NamedTuple):
    """Part of a formula that is valid TeX, but probably not what the author meant."""

    offset: int
    written: str
    meant: str
    message: str
    hint: str


_COMMENT = lazy_pattern(r"(?<!\\)(?:\\\\)*(?P<sign>%)(?P<rest>[^\n]*)(?P<end>\n?)")
_NO_COMMENT = lazy_pattern(r"\\(?:href|url)\s*\{[^{}\n]*\}|\\verb\*?([^A-Za-z*\s])[^\n]*?\1")
r"""Matches URLs and `\verb`, where a percent sign starts no comment."""
_DOUBLED = lazy_pattern(r"(?<!\\)\\(\\[A-Za-z]{2,})")
_LITERAL = lazy_pattern(r"\\(?:text[a-z]*|[mh]box|href|url)\s*\{[^{}\n]*\}")
_ENTITY = lazy_pattern(r"&(?:lt|gt|amp|le|ge|ne|nbsp|quot|times|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def dropped_comments(tex: str, *, display: bool) -> Iterator[Slip]:
    """Yield a slip for each percent sign that hides the rest of its line, as in `95%`.

    Comments that authors intend are not included: one that fills its line, one after a space in display math,
    and a `%` at the end of a line of code.
    """
    masked = _NO_COMMENT.sub(lambda found: "x" * len(found[0]), tex)
    for found in _COMMENT.finditer(masked):
        at = found.start("sign")
        before = masked[masked.rfind("\n", 0, at) + 1 : at]
        rest = found["rest"].strip()
        is_amount = before[-1:].isdigit() or before.endswith("\\ ")
        is_intended = not before.strip() or (
            display and (before[-1].isspace() if rest else bool(found["end"]))
        )
        if is_amount or not is_intended:
            lost = "hides the rest of the line" if rest else "is not shown"
            yield Slip(at, "%", "\\%", f'"%" starts a comment and {lost}', "write `\\%` for a percent sign")


def doubled_commands(tex: str, is_known: Callable[[str], bool]) -> Iterator[Slip]:
    r"""Yield a slip for each `\\alpha`, which TeX reads as a new row and the letters "alpha".

    is_known: returns whether a command such as `\alpha` exists.
    """
    for found in _DOUBLED.finditer(tex):
        if is_known(found[1]):
            message = f'"\\{found[1]}" is a new row and the letters "{found[1][1:]}"'
            yield Slip(found.start(), found[0], found[1], message, f"write `{found[1]}`")


def find_entity(tex: str) -> Slip | None:
    """Return the first HTML entity in a formula, or None. Text and URLs are not searched."""
    found = _ENTITY.search(_LITERAL.sub(lambda group: "x" * len(group[0]), tex))
    if found is None:
        return None
    meant = {"&nbsp;": "~"}.get(found[0], html.unescape(found[0]))
    return Slip(found.start(), found[0], meant, f'HTML entity "{found[0]}" in a formula', f"write `{meant}`")
