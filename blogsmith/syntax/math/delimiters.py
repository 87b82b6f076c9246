"""Start and end of formulas: searches in a string, shared by the inline, block and table rules.

`$` follows Pandoc's rule: it opens before a non-space, and closes after a non-space and not before a digit.
The first unescaped `$` after the opening one decides, so `$5 and $10` is money. A formula never contains a
code span, because code is recognised first. The exception is GitHub's form, a code span between dollars.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ..lookahead import code_span_end, occurs_after, run_length

ENVIRONMENTS = frozenset(
    name + star
    for name in (
        *("equation", "align", "gather", "multline", "alignat", "flalign", "eqnarray", "displaymath"),
        *("IEEEeqnarray", "mathpar"),
    )
    for star in ("", "*")
) | {"math", "subequations", "tikzcd", "numcases", "subnumcases", "empheq", "spreadlines", "prooftree"}
"""Environments that are display math on their own."""

_OPENING = lazy_pattern(r"\$\$|\\[\[(]|\\begin\{")
"""Start of a formula with an unambiguous delimiter."""
_PRICE = lazy_pattern(r"\$\d[\d.,]*(?:\s|$)")
_TAG = lazy_pattern(r"<(/?)[A-Za-z][A-Za-z0-9-]*(?:[ \t\n][^<>]*)?>")
_BEGIN = lazy_pattern(r"\\begin\{([A-Za-z]+\*?)\}")
_IN_DOLLARS = lazy_pattern(r"\$\$\s*\\begin\{([A-Za-z]+\*?)\}")
# Commands with text arguments, which may contain formulas.
_GROUP = (
    r"\\(?:text(?:rm|bf|it|sf|tt|sc|sl|up|md|normal)?|emph|[mhf]box|(?:short)?intertext|[rlc]lap|tag\*?|cee?|pu"
    r"|raisebox\{[^{}$`]*\}|(?:colorbox|textcolor|fcolorbox\{[^{}$`]*\})\{[^{}$`]*\})\{"
)
_TEXT_GROUP = lazy_pattern(_GROUP)
_SKIPPED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "$": lazy_pattern(rf"(?>(?:[^$\\`]++|(?!{_GROUP})\\[\s\S])*)"),
        "$$": lazy_pattern(r"(?>(?:[^$\\`]++|\$(?!\$)|\\[\s\S])*)"),
    }
)
"""Closing delimiter → pattern for content that cannot contain it, which is skipped in one match."""
_BRACE = lazy_pattern(r"\\.|[{}]", re.DOTALL)
_MAX_TEXT_GROUP = 1000
r"""Number of characters searched for the end of a `\text{…}`."""


class FoundFormula(Struct, frozen=True):
    """A formula in a text. All fields are indices into that text."""

    start: int
    """Start of the opening delimiter."""
    inner: int
    """First character of the TeX."""
    inner_end: int
    """Index after the last character of the TeX."""
    end: int
    """Index after the closing delimiter."""
    display: bool


class RejectedFormula(Struct, frozen=True):
    """Two `$` that are text because a digit follows the second one. The text between them is parsed as
    Markdown."""

    start: int
    end: int
    """Index after the second `$`."""


def find_formula(text: str, pos: int, end: int) -> FoundFormula | RejectedFormula | None:
    """Return the formula that opens at `pos`, if its end is found before `end`; otherwise None."""
    if text[pos] == "$":
        if text.startswith("$$", pos):
            return read_delimited(text, pos, end, "$$", "$$")
        return _dollar(text, pos, end)
    if text.startswith("\\(", pos):
        return read_delimited(text, pos, end, "\\(", "\\)", display=False)
    if text.startswith("\\[", pos):
        return read_delimited(text, pos, end, "\\[", "\\]")
    return environment(text, pos, end)


def read_delimited(
    text: str, pos: int, end: int, opening: str, closing: str, *, display: bool = True
) -> FoundFormula | None:
    """Return the formula `opening … closing` at `pos`, or None. An empty formula is text."""
    inner = pos + len(opening)
    at = find_closing(text, inner, end, closing)
    if at < 0 or not text[inner:at].strip():
        return None
    return FoundFormula(pos, inner, at, at + len(closing), display)


def find_closing(text: str, pos: int, end: int, closing: str) -> int:
    """Return the index of `closing`, or -1. TeX escapes are skipped, and a code span ends the search."""
    if not occurs_after(text, closing, pos):
        return -1
    if closing in _SKIPPED and (passed := _SKIPPED[closing].match(text, pos, end)):
        pos = passed.end()
    stops = _stops(closing)
    while stop := stops.search(text, pos, end):
        pos = stop.start()
        if stop[0] == closing:
            return pos
        if stop[0] == "`":
            if code_span_end(text, pos, end) > pos:
                return -1
            pos += run_length(text, pos, end)
        else:
            pos = max(pos + 2, _text_group_end(text, pos, end) if closing == "$" else 0)
    return -1


@lru_cache(maxsize=32)
def _stops(closing: str) -> re.Pattern[str]:
    """Return a pattern for the positions that `find_closing` must inspect."""
    return re.compile(f"{re.escape(closing)}|[\\\\`]")


def _text_group_end(text: str, pos: int, end: int) -> int:
    r"""Return the index after the `\text{…}` that starts at `pos` and may contain dollars; 0 if there is
    none."""
    opening = _TEXT_GROUP.match(text, pos, end)
    if not opening:
        return 0
    depth = 1
    for found in _BRACE.finditer(text, opening.end(), min(end, opening.end() + _MAX_TEXT_GROUP)):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return 0 if "`" in text[pos : found.start()] else found.end()
    return 0


def environment(text: str, pos: int, end: int) -> FoundFormula | None:
    r"""Return `\begin{align} … \end{align}` at `pos`, or None. The TeX includes both commands."""
    begin = _BEGIN.match(text, pos, end)
    if not begin or begin[1] not in ENVIRONMENTS:
        return None
    if not occurs_after(text, f"\\end{{{begin[1]}}}", pos):
        return None
    name = re.escape(begin[1])
    depth = 0
    for found in re.compile(rf"\\(begin|end)\{{{name}\}}").finditer(text, pos, end):
        depth += 1 if found[1] == "begin" else -1
        if depth == 0:
            return FoundFormula(pos, pos, found.end(), found.end(), True)
    return None


def _dollar(text: str, pos: int, end: int) -> FoundFormula | RejectedFormula | None:
    inner = pos + 1
    if inner >= end or text[inner].isspace():
        return None
    if text[inner] == "`":
        return _in_code(text, pos, end)
    at = find_closing(text, inner, end, "$")
    if at <= inner or text[at - 1].isspace() or leaves_element(text, inner, at):
        return None
    if at + 1 < end and text[at + 1].isascii() and text[at + 1].isdigit():
        return RejectedFormula(pos, at + 1)
    return FoundFormula(pos, inner, at, at + 1, False)


def _in_code(text: str, pos: int, end: int) -> FoundFormula | None:
    """Return GitHub's form of a formula at `pos`, a code span between dollars, or None."""
    width = run_length(text, pos + 1, end)
    inner, after = pos + 1 + width, code_span_end(text, pos + 1, end)
    if after == pos + 1 or not text.startswith("$", after) or not text[inner : after - width].strip():
        return None
    return FoundFormula(pos, inner, after - width, after + 1, False)


def is_price(text: str, found: FoundFormula) -> bool:
    """Return whether a digit is directly before the dollar of a formula, as in `5$ and 6$`."""
    before = text[found.start - 1 : found.start]
    return not found.display and text[found.start] == "$" and before.isascii() and before.isdigit()


def leaves_element(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` closes an HTML element opened before it, as in `<kbd>$</kbd> and
    <kbd>$`."""
    found = _TAG.search(text, start, end)
    return found is not None and found[1] == "/"


def left_open(text: str, pos: int, end: int) -> str:
    """Return the closing delimiter of a formula left open in `text[pos:end]`, or an empty string."""
    # This runs for every line of a paragraph. Most lines contain no formula, or only complete ones.
    if not _OPENING.search(text, pos, end) and not _may_leave_dollar(text, pos, end):
        return ""
    literal = -1
    while pos < end:
        char = text[pos]
        if char == "`":
            pos = max(code_span_end(text, pos, end), pos + run_length(text, pos, end))
            continue
        if char in "$\\" and pos != literal:
            found = find_formula(text, pos, end)
            if isinstance(found, RejectedFormula):
                literal = found.end - 1
            elif found:
                pos = found.end
                continue
            elif closing := closing_delimiter(text, pos, end) or _inline_closing(text, pos, end):
                return closing
        pos += 2 if char == "\\" else 1
    return ""


def _may_leave_dollar(text: str, pos: int, end: int) -> bool:
    """Return whether the line may contain an unpaired `$`: if the number of `$` is odd, or a `$` is escaped
    or in code."""
    if text.find("$", pos, end) < 0:
        return False
    is_odd = text.count("$", pos, end) % 2 == 1
    return is_odd or text.find("\\", pos, end) >= 0 or text.find("`", pos, end) >= 0


def _inline_closing(text: str, pos: int, end: int) -> str:
    r"""Return the closing delimiter, `$` or `\)`, if an inline formula may open at `pos`; empty for prices
    (`$5 `, `5$`)."""
    if text.startswith("\\(", pos):
        return "\\)"
    is_opening = text[pos] == "$" and pos + 1 < end and not text[pos + 1].isspace() and text[pos + 1] != "$"
    if not is_opening or text[pos - 1 : pos].isdigit() or _PRICE.match(text, pos, end):
        return ""
    # A dollar at the end of a line opens no formula.
    return "$" if find_closing(text, pos + 1, end, "$") < 0 else ""


def contains_environment(text: str, pos: int) -> bool:
    """Return whether the `$$` at `pos` contains a display environment, which cannot be inline."""
    found = _IN_DOLLARS.match(text, pos)
    return found is not None and found[1] in ENVIRONMENTS


def closing_delimiter(text: str, pos: int, end: int) -> str:
    """Return the delimiter that would close the display that starts at `pos`, or an empty string if no
    display starts there."""
    if text.startswith("$$", pos):
        return "$$"
    if text.startswith("\\[", pos):
        return "\\]"
    begin = _BEGIN.match(text, pos, end)
    if begin and begin[1] in ENVIRONMENTS:
        return f"\\end{{{begin[1]}}}"
    return ""
