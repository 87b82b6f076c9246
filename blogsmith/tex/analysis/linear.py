r"""Formulas as plain text that is suitable for reading aloud and for URLs.

`\sqrt{d_k}` → `sqrt(d_k)`, `\frac{a+b}{2}` → `(a+b)/2`, `\alpha` → `alpha`. Meant for titles, slugs,
descriptions and search. It never raises; unknown commands are spelt out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..parse.lexer import (
    Argument,
    Token,
    commands,
    is_control_word,
    read_argument,
    read_name,
    read_optional,
    skip_spaces,
    tokenize_without_positions,
)

MAX_DEPTH = 60
MAX_LENGTH = 20_000

_BINARY = """
cdot · times × pm ± div ÷ ast * circ ∘ le <= leq <= leqslant <= ge >= geq >= geqslant >= ne != neq !=
lt < gt > ll << gg >> to -> rightarrow -> Rightarrow => implies => mapsto -> leftarrow <- gets <-
iff <=> approx ≈ equiv ≡ sim ~ mid |
"""
_OTHER = """
infty infinity top T dots ... ldots ... cdots ... vert | lvert | rvert | Vert || lVert || rVert ||
langle < rangle > lbrace { rbrace } lfloor floor( rfloor ) lceil ceil( rceil ) prime ' backslash \\ | ||
"""


def _pairs(table: str) -> dict[str, str]:
    """Map commands to symbols. `table` alternates names and symbols."""
    names = table.split()
    return {"\\" + name: sign for name, sign in zip(names[::2], names[1::2], strict=True)}


_SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        **{name: f" {sign} " for name, sign in _pairs(_BINARY).items()},
        **_pairs(_OTHER),
        **{"\\" + sign: sign for sign in "{}%$&#_"},
        "\\\\": "; ",
        "&": "",
    }
)
_SPACES = commands(", : ; ! > quad qquad enspace thinspace medspace thickspace") | {"\\ ", "~"}
_DROPPED = commands(
    "left right middle big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr displaystyle textstyle "
    "scriptstyle scriptscriptstyle limits nolimits notag nonumber relax bf rm it cal hline mathstrut strut"
)
_DELIMITED = commands("left right middle")
_PLAIN = commands(
    "mathbb mathbf mathcal mathfrak mathit mathrm mathscr mathsf mathtt boldsymbol bm operatorname text "
    "textrm textbf textit textsf texttt mbox mathop mathrel mathbin mathord boxed underline overline "
    "substack Bbb frak bold emph url ce pu num si unit ang"
)
OMITTED = commands("label tag ref eqref cref Cref autoref color phantom hspace vspace vphantom hphantom")
FRACTIONS = commands("frac dfrac tfrac cfrac")
SECOND_ARGUMENT = commands("overset underset stackrel textcolor href class htmlClass htmlId cssId")
_ACCENTS = commands("hat widehat bar tilde widetilde vec dot ddot check")
_ATOM = lazy_pattern(r"[\w.]*|\w+\([^()]*\)|\([^()]*\)")


@lru_cache(maxsize=2048)
def linear_text(tex: str) -> str:
    """Return `tex` as one line of plain text; empty only if it has no readable content.

    Cached, because a page needs it for its headings, its summary and its whole text, and formulas recur.
    """
    tokens = tokenize_without_positions(tex[:MAX_LENGTH])
    text = _linear(tokens, 0) if is_readable(tokens) else _flat(tokens)
    return " ".join(text.split()).rstrip(";").strip()


def is_readable(tokens: Sequence[Token]) -> bool:
    """Return whether all braces are closed and none is nested too deep. Only then is reading a
    formula fast."""
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if not 0 <= depth <= MAX_DEPTH:
            return False
    return depth == 0


def _flat(tokens: Sequence[Token]) -> str:
    """Return the tokens as text, without backslashes and braces."""
    return "".join(token.text.strip("\\") for token in tokens if token.text not in "{}")


def _linear(tokens: Sequence[Token], depth: int) -> str:
    if depth > 2 * MAX_DEPTH:
        return _flat(tokens)
    parts: list[str] = []
    index = 0
    while index < len(tokens):
        word, index = _item(tokens, index, depth)
        _append(parts, word)
    return "".join(parts)


def _append(parts: list[str], word: str) -> None:
    """Append `word`, after a space if it follows a word and one of the two has more than one letter."""
    if not word:
        return
    before = parts[-1] if parts else ""
    if before and _is_wordy(before[-1], word[0]) and (_is_name(before) or _is_name(word)):
        parts.append(" ")
    parts.append(word)


def _is_wordy(left: str, right: str) -> bool:
    return (left.isalnum() or left == ")") and right.isalnum()


def _is_name(word: str) -> bool:
    return len(word) > 1


def _item(tokens: Sequence[Token], index: int, depth: int) -> tuple[str, int]:
    """Return the text of the token, group or command with arguments at `index`, and the index after all of
    it."""
    text = tokens[index].text
    if text in ("^", "_"):
        return _script(tokens, index, depth)
    if text == "{":
        group = read_argument(tokens, index)
        return (_linear(group.tokens, depth + 1), group.end) if group else ("", index + 1)
    if text in ("\\begin", "\\end"):
        return " ", skip_environment(tokens, index)
    if is_control_word(text):
        return _command(tokens, index, depth)
    if text in _SPACES:
        return " ", index + 1
    return _SYMBOLS.get(text, "" if text in ("}", "$") else text.strip("\\")), index + 1


def _script(tokens: Sequence[Token], index: int, depth: int) -> tuple[str, int]:
    r"""Return the text of a script, `^{n+1}` → `^(n+1)`, and the index after it."""
    argument = _argument(tokens, index + 1)
    inside = _linear(argument.tokens, depth + 1).strip()
    return (tokens[index].text + _atom(inside) if inside else ""), argument.end


def _argument(tokens: Sequence[Token], index: int) -> Argument:
    """Return the argument at `index`; empty if there is none. An argument that is a command includes its own
    argument."""
    argument = read_argument(tokens, index)
    if argument is None:
        return Argument([], skip_spaces(tokens, index))
    first = argument.tokens[0].text if argument.tokens else ""
    if len(argument.tokens) == 1 and (first in _PLAIN or first in _ACCENTS or first == "\\sqrt"):
        own = read_argument(tokens, argument.end)
        if own and tokens[argument.end - 1].text == first:
            return Argument(list(tokens[argument.end - 1 : own.end]), own.end)
    return argument


def _atom(text: str) -> str:
    return text if _ATOM.fullmatch(text) else f"({text})"


def skip_environment(tokens: Sequence[Token], index: int) -> int:
    name = read_name(tokens, index)
    if name is None:
        return index + 1
    if tokens[index].text == "\\begin" and name.text in ("array", "alignat", "alignat*", "alignedat"):
        columns = read_argument(tokens, name.end)
        return columns.end if columns else name.end
    return name.end


def _command(tokens: Sequence[Token], index: int, depth: int) -> tuple[str, int]:
    text = tokens[index].text
    if text in _SYMBOLS:
        return _SYMBOLS[text], index + 1
    if text in _SPACES:
        return " ", index + 1
    if text in _DROPPED:
        return "", _skip_delimiter(tokens, index)
    if text in FRACTIONS or text in SECOND_ARGUMENT or text == "\\binom":
        return _two(tokens, index, depth)
    if text in _PLAIN or text in _ACCENTS or text in OMITTED or text == "\\sqrt":
        return _linear_item(tokens, index, depth)
    return text[1:], index + 1


def _skip_delimiter(tokens: Sequence[Token], index: int) -> int:
    """Return the index after the command at `index`, and after a `.` that is its empty delimiter."""
    after = skip_spaces(tokens, index + 1)
    is_empty = after < len(tokens) and tokens[after].text == "." and tokens[index].text in _DELIMITED
    return after + is_empty


def _linear_item(tokens: Sequence[Token], index: int, depth: int) -> tuple[str, int]:
    text = tokens[index].text
    start = skip_spaces(tokens, index + 1)
    if start < len(tokens) and tokens[start].text == "*":
        start += 1
    degree = read_optional(tokens, start) if text == "\\sqrt" else None
    argument = _argument(tokens, degree.end if degree else start)
    inside = _linear(argument.tokens, depth + 1).strip(" " if text != "\\text" else "")
    if text == "\\sqrt":
        root = f"[{_linear(degree.tokens, depth + 1)}]" if degree else ""
        return f"sqrt{root}({inside})", argument.end
    if text in OMITTED:
        return "", argument.end
    return (f"{text[1:]} {inside}" if text in _ACCENTS else inside), argument.end


def _two(tokens: Sequence[Token], index: int, depth: int) -> tuple[str, int]:
    text = tokens[index].text
    first = _argument(tokens, index + 1)
    second = _argument(tokens, first.end)
    above = _linear(first.tokens, depth + 1).strip()
    below = _linear(second.tokens, depth + 1).strip()
    if text in SECOND_ARGUMENT:
        return below, second.end
    if text == "\\binom":
        return f"binom({above}, {below})", second.end
    return f"{_atom(above)}/{_atom(below)}", second.end
