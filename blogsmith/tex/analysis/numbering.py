"""Environment and rows of display math, to be numbered.

Only the outermost environment matters: `aligned` inside an equation is one row. Macros are expanded if one of
them produces a row, a label or a tag. The caller decides which rows are numbered, and how; this module does
not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from types import MappingProxyType

from msgspec import Struct, field

from ...base.patterns import lazy_pattern
from ..errors import TAG_TWICE
from ..parse.lexer import (
    ROW_BREAKS,
    Token,
    join_tokens,
    read_argument,
    read_name,
    skip_spaces,
    tokenize,
    tokenize_without_positions,
)
from ..parse.reader import Macro
from .portable import DEFINES, expand_formula

MAX_LENGTH = 64_000
"""Maximum number of characters of a formula; a longer one is rejected before it is typeset."""
ROW_ENVIRONMENTS = frozenset(
    name + star
    for name in ("align", "gather", "alignat", "xalignat", "flalign", "eqnarray", "IEEEeqnarray")
    for star in ("", "*")
) | {"numcases", "subnumcases"}
"""Environments numbered row by row."""
SINGLE_ENVIRONMENTS = frozenset(
    name + star for name in ("equation", "multline", "displaymath", "math") for star in ("", "*")
)
"""Environments numbered as a whole."""
_NUMBERED = ROW_ENVIRONMENTS | SINGLE_ENVIRONMENTS | {"subequations", "spreadlines", "empheq"}
_WITH_ARGUMENT = frozenset(
    ("alignat", "alignat*", "xalignat", "xalignat*", "IEEEeqnarray", "IEEEeqnarray*")
) | {"numcases", "subnumcases"}
"""Environments whose name is followed by an argument, for example the number of columns."""
_UNNUMBERED = ("\\notag", "\\nonumber", "\\IEEEnonumber")
_COMMANDS = frozenset(("\\label", "\\tag", *_UNNUMBERED))
_STRUCTURAL = _COMMANDS | {*ROW_BREAKS, "\\begin", "\\end"}
"""Commands that change the numbering; if a macro produces one, macros are expanded."""
_STRUCTURE = lazy_pattern(r"\\(?:begin|label|tag|notag|nonumber|IEEEnonumber)|%")
"""Matches a command or comment that may change rows or numbers. A formula without one is a single row."""
_NEEDS_TOKENS = lazy_pattern(r"\\(?:label|tag|notag|nonumber|IEEEnonumber|verb)|%|(?<!\\)(?:\\\\)*\\\s")
r"""Matches source whose rows must be read token by token: commands that affect numbers, comments, and `\verb`
and `\ `, whose spaces count."""
_FIRST = lazy_pattern(r"\s*+\\begin\{([A-Za-z]+)\}")
_PLACED = lazy_pattern(r"\\(?:label|tag)")
_CALL = lazy_pattern(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_NO_MACROS: Mapping[str, str | Macro] = MappingProxyType({})


class RowProblem(Struct, frozen=True):
    """An error in the labels and tags of a row."""

    code: str
    message: str
    hint: str
    offset: int
    """Offset in the author's formula."""
    length: int


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a display that may have its own number; the whole display if it is numbered as a whole."""

    label: str | None = None
    r"""Argument of `\label{…}`; None if there is none."""
    label_offset: int = 0
    """Offset of this argument in the author's formula; 0 without a label."""
    label_length: int = 0
    tag: str | None = None
    r"""TeX of `\tag{…}`, to print instead of a number; None if there is none."""
    bare_tag: bool = False
    r"""Whether the tag is a `\tag*`, whose text is printed without parentheses."""
    notag: bool = False
    r"""Whether the row contains `\notag` or `\nonumber`."""
    content: str = data_field(default="", compare=False)
    """TeX of the row, without its spaces and its numbering commands."""
    mistakes: tuple[RowProblem, ...] = ()


class RowStructure(Struct, frozen=True):
    """Environment and rows of display math."""

    environment: str
    """`align`, `equation*`, …; empty for plain `$$ … $$`."""
    rows: tuple[SourceRow, ...]
    """Rows of the display, at least one."""
    macros: Mapping[str, str | Macro] = field(default_factory=dict)
    """Macros known after the formula: those passed to `split_rows`, and those that the formula defines."""


def split_rows(tex: str, macros: Mapping[str, str | Macro] = _NO_MACROS) -> RowStructure:
    """Return the environment and the rows of the display `tex`; one row if `tex` is invalid.

    macros: maps a name with backslash to its body or to a macro of an earlier formula.
    """
    if len(tex) > MAX_LENGTH:
        return RowStructure("", (SourceRow(),), macros)
    found = expand_formula(tex, macros) if DEFINES.search(tex) or _makes_rows(tex, macros) else None
    if found:
        macros = found.macros
    elif (content := _plain_content(tex)) is not None:
        return RowStructure("", (SourceRow(content=content),), macros)
    # positions are needed only if there is a label or tag
    read = tokenize if _PLACED.search(tex) else tokenize_without_positions
    tokens = unwrap(found.tokens if found else read(tex), "subequations")
    if outer_environment(tokens) == "spreadlines":
        tokens = _without_argument(unwrap(tokens, "spreadlines"))
    name = outer_environment(tokens)
    if name == "empheq":
        return _boxed_rows(unwrap(tokens, name), macros)
    if name in ROW_ENVIRONMENTS:
        inner = unwrap(tokens, name)
        rows = split_token_rows(_without_argument(inner) if name in _WITH_ARGUMENT else inner)
        return RowStructure(name, tuple(_row(row, "row") for row in rows), macros)
    if name in SINGLE_ENVIRONMENTS:
        return RowStructure(name, (_row(unwrap(tokens, name), "formula"),), macros)
    return RowStructure("", (_row(tokens, "formula"),), macros)


def _boxed_rows(tokens: Sequence[Token], macros: Mapping[str, str | Macro]) -> RowStructure:
    """Return the rows of the environment inside an `empheq`."""
    start = skip_spaces(tokens, 0)
    texts = [token.text for token in tokens]
    if start < len(texts) and texts[start] == "[" and "]" in texts[start:]:
        start = texts.index("]", start) + 1
    argument = read_argument(tokens, start)
    name = join_tokens(argument.tokens).partition("=")[0].strip() if argument else ""
    rest = list(tokens[argument.end :]) if argument else list(tokens)
    if name in ROW_ENVIRONMENTS:
        return RowStructure(name, tuple(_row(row, "row") for row in split_token_rows(rest)), macros)
    return RowStructure(name if name in SINGLE_ENVIRONMENTS else "", (_row(rest, "formula"),), macros)


def _plain_content(tex: str) -> str | None:
    """Return the content of a formula if it is certainly one row; None if its tokens must be inspected."""
    if not _STRUCTURE.search(tex):
        return "".join(tex.split())
    if _NEEDS_TOKENS.search(tex):
        return None
    if tex.lstrip().startswith("\\begin"):
        first = _FIRST.match(tex)
        if not first or first[1] in _NUMBERED:
            return None
    content = "".join(tex.split())
    return content if content.isprintable() else None


def _makes_rows(tex: str, macros: Mapping[str, str | Macro]) -> bool:
    """Return whether a macro called in `tex`, directly or through another one, produces a numbering
    command."""
    seen: set[str] = set()
    pending = {call for call in _CALL.findall(tex) if call in macros} if macros else set()
    while pending:
        name = pending.pop()
        seen.add(name)
        macro = macros[name]
        calls = set(_CALL.findall(macro) if isinstance(macro, str) else macro.body)
        if calls & _STRUCTURAL:
            return True
        pending |= {call for call in calls if call in macros} - seen
    return False


def trim(tokens: Sequence[Token]) -> list[Token]:
    """Return `tokens` without spaces at both ends."""
    start = skip_spaces(tokens, 0)
    end = len(tokens)
    while end > start and tokens[end - 1].text == " ":
        end -= 1
    return list(tokens[start:end])


def outer_environment(tokens: Sequence[Token]) -> str:
    """Return the name of the environment that contains all of `tokens`, or ""."""
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
    """Return `tokens` without an outermost environment of one of `names`."""
    if outer_environment(tokens) not in names:
        return list(tokens)
    inner = trim(tokens)
    begin = read_name(inner, 0)
    last = max((index for index, token in enumerate(inner) if token.text == "\\end"), default=len(inner))
    return inner[begin.end : last] if begin else inner


def _without_argument(tokens: list[Token]) -> list[Token]:
    argument = read_argument(tokens, skip_spaces(tokens, 0))
    return tokens[argument.end :] if argument else tokens


_BETWEEN_ROWS = ("\\intertext", "\\shortintertext")


def split_token_rows(tokens: Sequence[Token]) -> list[list[Token]]:
    r"""Split at each `\\` outside groups and inner environments, and before `\intertext`. Drop an empty last
    row."""
    rows: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        text = token.text
        depth += (text in ("{", "\\begin")) - (text in ("}", "\\end"))
        if text in ROW_BREAKS and depth == 0:
            rows.append([])
        elif text in _BETWEEN_ROWS and depth == 0 and trim(rows[-1]):
            rows.append([token])
        else:
            rows[-1].append(token)
    if len(rows) > 1 and not trim(rows[-1]):
        rows.pop()
    return rows


class _RowParts(Struct):
    """The parts of a row that have been read so far."""

    label: list[Token] = field(default_factory=list)
    tag: list[Token] = field(default_factory=list)
    bare_tag: bool = False
    notag: bool = False
    content: list[Token] = field(default_factory=list)
    mistakes: list[RowProblem] = field(default_factory=list)


def _row(tokens: Sequence[Token], what: str) -> SourceRow:
    texts = [token.text for token in tokens]
    if _COMMANDS.isdisjoint(texts):
        # no numbering command, as in most rows
        return SourceRow(content=_content(texts))
    found = _RowParts()
    index = 0
    while index < len(tokens):
        if tokens[index].text in _COMMANDS:
            index = _read_command(tokens, index, found, what)
        else:
            found.content.append(tokens[index])
            index += 1
    label, tag = found.label, found.tag
    return SourceRow(
        label=join_tokens(label) if label else None,
        label_offset=_start(label) if label else 0,
        label_length=_length(label) if label else 0,
        tag=join_tokens(tag) if tag else None,
        bare_tag=found.bare_tag,
        notag=found.notag,
        content=_content([token.text for token in found.content]),
        mistakes=tuple(found.mistakes),
    )


def _content(texts: Sequence[str]) -> str:
    return "".join([text for text in texts if text != " "])


def _start(tokens: Sequence[Token]) -> int:
    # tokens that a macro produces have the position of the call; arguments follow it
    return min(token.offset for token in tokens)


def _length(tokens: Sequence[Token]) -> int:
    return max(token.offset + token.length for token in tokens) - _start(tokens)


def _read_command(tokens: Sequence[Token], index: int, found: _RowParts, what: str) -> int:
    """Read the numbering command at `index` into `found`. Return the index after its argument. what: noun for
    messages, "row" or "formula"."""
    command = tokens[index]
    if command.text in _UNNUMBERED:
        found.notag = True
        return index + 1
    after = skip_spaces(tokens, index + 1)
    star = command.text == "\\tag" and after < len(tokens) and tokens[after].text == "*"
    argument = read_argument(tokens, after + star)
    if argument is None:  # reported when the formula is typeset; the rest is not inspected
        return len(tokens)
    inside = trim(argument.tokens)
    if not inside:
        is_tag = command.text == "\\tag"
        hint = f"write `{command.text}{{{'1' if is_tag else 'eq:name'}}}`, or remove it"
        _report(found, "math-syntax", f'"{command.text}" is empty', hint, [command])
    elif command.text == "\\tag":
        if found.tag:
            # the same message as in `convert_formula`, so that duplicates can be removed
            _report(found, "math-syntax", 'duplicate "\\tag"', TAG_TWICE, [command])
        else:
            found.tag, found.bare_tag = inside, star
    elif found.label:
        message = f'duplicate label: this {what} already has the label "{join_tokens(found.label)}"'
        _report(found, "label-twice", message, "keep only one label", inside)
    else:
        found.label = inside
    return argument.end


def _report(found: _RowParts, code: str, message: str, hint: str, at: Sequence[Token]) -> None:
    found.mistakes.append(RowProblem(code, message, hint, _start(at), _length(at)))
