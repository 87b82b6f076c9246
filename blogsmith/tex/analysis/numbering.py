"""What of a display can carry a number: its environment and the rows in it.

Only the outermost environment counts: `aligned` inside an equation is one row. Macros are opened where
one of them makes a row, a label or a tag. Which rows get a number, and which, is decided by the
caller; this module does not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from types import MappingProxyType

from msgspec import Struct, field

from ...base.patterns import lazy_pattern
from ..parse.lexer import (
    ROW_BREAKS,
    Token,
    read_argument,
    read_name,
    skip_spaces,
    text_of,
    tokenize,
    tokenize_unplaced,
)
from ..parse.reader import Macro
from .expansion import DEFINES, expand_formula

MAX_LENGTH = 64_000
"""Characters of a formula; a longer one is refused before it is typeset."""
ROW_ENVIRONMENTS = frozenset(
    name + star
    for name in ("align", "gather", "alignat", "xalignat", "flalign", "eqnarray")
    for star in ("", "*")
)
"""Numbered row by row."""
SINGLE_ENVIRONMENTS = frozenset(
    name + star for name in ("equation", "multline", "displaymath", "math") for star in ("", "*")
)
"""Numbered as a whole."""
_NUMBERED = ROW_ENVIRONMENTS | SINGLE_ENVIRONMENTS | {"subequations"}
_COUNTED = frozenset(("alignat", "alignat*", "xalignat", "xalignat*"))
"""Their number of columns stands behind the name."""
_COMMANDS = frozenset(("\\label", "\\tag", "\\notag", "\\nonumber"))
_MATTERS = _COMMANDS | {*ROW_BREAKS, "\\begin", "\\end"}
"""A macro that makes one of these changes what is numbered."""
_STRUCTURE = lazy_pattern(r"\\(?:begin|label|tag|notag|nonumber)|%")
"""What a formula without environment, label and tag does not hold; `%` begins a comment."""
_UNPLAIN = lazy_pattern(r"\\(?:label|tag|notag|nonumber|verb)|%|(?<!\\)(?:\\\\)*\\\s")
"""What tells of numbers, or is otherwise in the content of a row than in the text."""
_FIRST = lazy_pattern(r"\s*+\\begin\{([A-Za-z]+)\}")
_PLACED = lazy_pattern(r"\\(?:label|tag)")
_CALL = lazy_pattern(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_NO_MACROS: Mapping[str, str | Macro] = MappingProxyType({})


class RowMistake(Struct, frozen=True):
    """What is wrong with the labels and tags of a row."""

    code: str
    message: str
    hint: str
    offset: int
    """In the author's formula."""
    length: int


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One stretch of a display that may have a number of its own."""

    label: str | None = None
    """Text of `\\label{…}`."""
    label_offset: int = 0
    """Of the label's text in the author's formula."""
    label_length: int = 0
    tag: str | None = None
    """TeX of `\\tag{…}`, to print in place of a number."""
    bare_tag: bool = False
    """`\\tag*`: printed without parentheses."""
    notag: bool = False
    """`\\notag` or `\\nonumber` stands in it."""
    content: str = data_field(default="", compare=False)
    """TeX of the row without spaces and without what is said about its number."""
    mistakes: tuple[RowMistake, ...] = ()


class RowStructure(Struct, frozen=True):
    """A display as numbering sees it."""

    environment: str
    """`align`, `equation*`, …; empty for plain `$$ … $$`."""
    rows: tuple[SourceRow, ...]
    """At least one."""
    macros: Mapping[str, str | Macro] = field(default_factory=dict)
    """Those known behind the formula: the given ones and its own."""


def split_rows(tex: str, macros: Mapping[str, str | Macro] = _NO_MACROS) -> RowStructure:
    """Environment and rows of the display `tex`; never raises, whatever is wrong is one row.

    macros: as for `convert_formula`.
    """
    if len(tex) > MAX_LENGTH:
        return RowStructure("", (SourceRow(),), macros)
    found = expand_formula(tex, macros) if DEFINES.search(tex) or _makes_rows(tex, macros) else None
    if found:
        macros = found.macros
    elif (content := _plain_content(tex)) is not None:
        return RowStructure("", (SourceRow(content=content),), macros)
    # places are asked for where a label or tag stands, or is wrong
    read = tokenize if _PLACED.search(tex) else tokenize_unplaced
    tokens = unwrap(found.tokens if found else read(tex), "subequations")
    name = outer_environment(tokens)
    if name in ROW_ENVIRONMENTS:
        rows = _split(_without_count(name, unwrap(tokens, name)))
        return RowStructure(name, tuple(_row(row, "row") for row in rows), macros)
    if name in SINGLE_ENVIRONMENTS:
        return RowStructure(name, (_row(unwrap(tokens, name), "formula"),), macros)
    return RowStructure("", (_row(tokens, "formula"),), macros)


def _plain_content(tex: str) -> str | None:
    """Content of a formula that is one row by what it holds; None where its tokens have to be looked at."""
    if not _STRUCTURE.search(tex):
        return "".join(tex.split())
    if _UNPLAIN.search(tex):
        return None
    if tex.lstrip().startswith("\\begin"):
        first = _FIRST.match(tex)
        if not first or first[1] in _NUMBERED:
            return None
    content = "".join(tex.split())
    return content if content.isprintable() else None


def _makes_rows(tex: str, macros: Mapping[str, str | Macro]) -> bool:
    """Whether a macro called in `tex` makes something that counts here, be it through another one."""
    seen: set[str] = set()
    pending = {call for call in _CALL.findall(tex) if call in macros} if macros else set()
    while pending:
        name = pending.pop()
        seen.add(name)
        macro = macros[name]
        calls = set(_CALL.findall(macro) if isinstance(macro, str) else macro.body)
        if calls & _MATTERS:
            return True
        pending |= {call for call in calls if call in macros} - seen
    return False


def trim(tokens: Sequence[Token]) -> list[Token]:
    """`tokens` without spaces at both ends."""
    start = skip_spaces(tokens, 0)
    end = len(tokens)
    while end > start and tokens[end - 1].text == " ":
        end -= 1
    return list(tokens[start:end])


def outer_environment(tokens: Sequence[Token]) -> str:
    """Name of the environment that holds all of `tokens`, or empty."""
    tokens = trim(tokens)
    if not tokens or tokens[0].text != "\\begin":
        return ""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == "\\begin") - (token.text == "\\end")
        if depth == 0:
            begin, end = read_name(tokens, 0), read_name(tokens, index)
            return begin.text if begin and end and end.end == len(tokens) else ""
    return ""


def unwrap(tokens: Sequence[Token], *names: str) -> list[Token]:
    """`tokens` without an outermost environment of one of `names`."""
    if outer_environment(tokens) not in names:
        return list(tokens)
    inner = trim(tokens)
    begin = read_name(inner, 0)
    last = max((index for index, token in enumerate(inner) if token.text == "\\end"), default=len(inner))
    return inner[begin.end : last] if begin else inner


def _without_count(name: str, tokens: list[Token]) -> list[Token]:
    count = read_argument(tokens, 0) if name in _COUNTED else None
    return tokens[count.end :] if count else tokens


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut at each `\\\\` outside groups and inner environments; an empty last row is dropped."""
    rows: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        text = token.text
        depth += (text in ("{", "\\begin")) - (text in ("}", "\\end"))
        if text in ROW_BREAKS and depth == 0:
            rows.append([])
        else:
            rows[-1].append(token)
    if len(rows) > 1 and not trim(rows[-1]):
        rows.pop()
    return rows


class _Found(Struct):
    """What has been read of a row."""

    label: list[Token] = field(default_factory=list)
    tag: list[Token] = field(default_factory=list)
    bare_tag: bool = False
    notag: bool = False
    content: list[Token] = field(default_factory=list)
    mistakes: list[RowMistake] = field(default_factory=list)


def _row(tokens: Sequence[Token], what: str) -> SourceRow:
    texts = [token.text for token in tokens]
    if _COMMANDS.isdisjoint(texts):
        # nothing is said about its number, as in most rows
        return SourceRow(content=_content(texts))
    found = _Found()
    index = 0
    while index < len(tokens):
        if tokens[index].text in _COMMANDS:
            index = _read_command(tokens, index, found, what)
        else:
            found.content.append(tokens[index])
            index += 1
    label, tag = found.label, found.tag
    return SourceRow(
        label=text_of(label) if label else None,
        label_offset=_start(label) if label else 0,
        label_length=_length(label) if label else 0,
        tag=text_of(tag) if tag else None,
        bare_tag=found.bare_tag,
        notag=found.notag,
        content=_content([token.text for token in found.content]),
        mistakes=tuple(found.mistakes),
    )


def _content(texts: Sequence[str]) -> str:
    return "".join([text for text in texts if text != " "])


def _start(tokens: Sequence[Token]) -> int:
    # what a macro makes stands at its call, its arguments behind it
    return min(token.offset for token in tokens)


def _length(tokens: Sequence[Token]) -> int:
    return max(token.offset + token.length for token in tokens) - _start(tokens)


def _read_command(tokens: Sequence[Token], index: int, found: _Found, what: str) -> int:
    """Take the command at `index` into `found`; index of the token behind it."""
    command = tokens[index]
    if command.text in ("\\notag", "\\nonumber"):
        found.notag = True
        return index + 1
    after = skip_spaces(tokens, index + 1)
    star = command.text == "\\tag" and after < len(tokens) and tokens[after].text == "*"
    argument = read_argument(tokens, after + star)
    if argument is None:  # reported when the formula is typeset; what follows is not looked at
        return len(tokens)
    inside = trim(argument.tokens)
    if not inside:
        hint = "write \\notag for a row without a number" if command.text == "\\tag" else ""
        _refuse(found, "math-syntax", f"{command.text} is empty", hint, [command])
    elif command.text == "\\tag":
        if found.tag:
            # as `convert_formula` says it of a formula without rows, so that it is reported once
            _refuse(found, "math-syntax", "\\tag stands twice", "", [command])
        else:
            found.tag, found.bare_tag = inside, star
    elif found.label:
        message = f"this {what} has the label {text_of(found.label)} already"
        _refuse(found, "label-twice", message, "keep one of them", inside)
    else:
        found.label = inside
    return argument.end


def _refuse(found: _Found, code: str, message: str, hint: str, at: Sequence[Token]) -> None:
    found.mistakes.append(RowMistake(code, message, hint, _start(at), _length(at)))
