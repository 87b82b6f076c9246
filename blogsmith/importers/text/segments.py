"""Splits Markdown into prose, code, formulas and tags. Also hides some of these from rewrites.

The segments of a text, joined, are the text. markdown-it finds the lines of code, because indentation means
code in some positions and a list in others. In all other lines, one regular expression finds where a segment
may open. For each kind of closing delimiter, the position of the next one, or its absence, is cached. So a
text is read only a few times, even if it has many opening delimiters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

SegmentKind = Literal["prose", "block", "indented", "span", "math", "tag", "comment", "opaque"]
"""Kind of a segment. `block` is fenced code, `indented` is indented code, `span` is a code span, `tag` is one
HTML tag. `opaque` is an HTML element whose content is not Markdown, from `<pre>` to `</pre>`."""


@dataclass(frozen=True, slots=True)
class FormulaDelimiters:
    """Delimiters of formulas in one system."""

    dollar: bool = True
    """Whether `$x$` is a formula."""
    spaced_dollar: bool = False
    """Whether `$ x $`, and `$x$` before a digit, are formulas too, as in MathJax."""
    escaped_brackets: bool = False
    r"""Whether `\\(x\\)` and `\\[x\\]` are formulas. Markdown removes one backslash, so that MathJax sees the
    other."""
    brackets: bool = True
    r"""Whether `\(x\)` and `\[x\]` are formulas."""
    environments: bool = True
    r"""Whether `\begin{align} … \end{align}` is a formula without dollars."""


PLAIN = FormulaDelimiters()
# Dollars in an argument of `\text` do not end the formula around it. The expression has limits and is
# atomic, so that an argument that is not closed is scanned only once.
_TEXT_ARGUMENT = (
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|[hm]box)\s*\{(?=[^}]{0,200}\$)"
    r"(?>(?:\\[\s\S]|[^\\{}]|\{(?:\\[\s\S]|[^\\{}]){0,200}\}){0,200})\}"
)
_PLAIN_BODY = rf"(?:(?!{_TEXT_ARGUMENT})\\[\s\S]|[^\\$])"
_TEXT_BODY = rf"(?>{_TEXT_ARGUMENT}){_PLAIN_BODY}"
_DOLLARS = r"\$\$(?:\\[\s\S]|(?!\$\$)[^\\])+?\$\$"
ENVIRONMENT_NAMES = (
    r"(?:align|alignat|flalign|equation|gather|eqnarray|multline)\*?|(?:aligned|gather)(?:at|ed)?|split"
    r"|(?:[bBpvV]?|small)matrix\*?|d?cases\*?|array|subarray|CD"
)
"""Regular expression for the names of environments that MathJax and Pandoc typeset without delimiters."""
_ENVIRONMENT = rf"\\begin\{{(?P<name>{ENVIRONMENT_NAMES})\}}"
_TAG = r"</?[A-Za-z][\w:-]*(?:\s+[^\s=<>\"'/]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*\s*/?>"
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")
_ITEM_LINE = re.compile(r"\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]")
_TICKS = re.compile("`+")
_LONE_DOLLAR = re.compile(rf"(?P<text>{_TEXT_ARGUMENT})|(?<!\$)\$(?!\$)")
_PREFIX_CHARACTERS = " \t>-*+0123456789."
_MAX_PREFIX = 1000
"""Maximum number of characters between the start of a line and display math that are searched for list and
quote markers."""


@lru_cache(maxsize=16)
def _openers(dialect: FormulaDelimiters) -> re.Pattern[str]:
    # another formula may follow directly, but a third dollar may not
    closing = r"(?<![\s\\])\$(?!\d|\$(?![^\s$]))"
    dollars = [rf"\$(?![\s$]){_PLAIN_BODY}*?(?:{_TEXT_BODY}*?){{0,8}}{closing}"] if dialect.dollar else []
    if dialect.spaced_dollar:
        # a dollar before a digit is money, unless it is closed like a formula
        dollars += [rf"(?<!\$)\$\s*(?![$\s\d]){_PLAIN_BODY}*?(?:{_TEXT_BODY}*?){{0,8}}\$(?!\$)"]
    parts = [
        r"(?P<comment><!--)",
        r"(?P<opaque><(?P<element>pre|code|script|style|textarea|svg)\b)",
        rf"(?P<display>{_DOLLARS})",
        *([r"(?P<escaped>\\\\[(\[])"] if dialect.escaped_brackets else []),
        *([r"(?P<bracket>(?<!\\)\\[(\[])"] if dialect.brackets else []),
        *([rf"(?P<environment>{_ENVIRONMENT})"] if dialect.environments else []),
        *([rf"(?P<dollar>{'|'.join(dollars)})"] if dollars else []),
        r"(?P<escape>\\[\s\S])",
        r"(?P<span>`+)",
        rf"(?P<tag>{_TAG})",
    ]
    # without the lookahead, every alternative is tried at every position, which is eight times as slow
    return re.compile(rf"(?=[<$`\\])(?:{'|'.join(parts)})", re.IGNORECASE)


def inline_ranges(
    text: str, start: int, end: int, dialect: FormulaDelimiters
) -> Iterator[tuple[SegmentKind, int, int]]:
    """Yield (kind, start, end) for the segments of `text[start:end]` that are not prose, in order."""
    ends = _Ends(text, start, end)
    pattern, position = _openers(dialect), start
    while found := pattern.search(text, position, end):
        opener = found.lastgroup if found.lastgroup not in ("element", "name") else None
        opener = opener or ("opaque" if found["opaque"] else "environment")
        first = found.start()
        last = ends.find_end(opener, found)
        if last < 0:
            tag = _compiled(_TAG).match(text, first, end) if opener == "opaque" else None
            last, opener = (tag.end(), "tag") if tag else (-1, opener)
        if last < 0:
            position = first + 1 if opener in ("comment", "opaque") else found.end()
            continue
        kind = _KINDS[opener]
        if kind in ("span", "math", "tag") and ends.has_blank_line(first, last):
            # a span ends with its paragraph
            if kind != "math" or not ends.begins_line(first, last):
                position = found.end() if opener == "span" else first + 1
                continue
        elif opener == "dollar" and (_crosses_blocks(text, first, last) or ends.cuts_code(first, last)):
            position = first + 1
            continue
        yield kind, first, last
        position = last


_KINDS: dict[str, SegmentKind] = {
    **{"comment": "comment", "opaque": "opaque", "span": "span", "tag": "tag"},
    **dict.fromkeys(("display", "escaped", "bracket", "environment", "dollar"), "math"),
}


def _crosses_blocks(text: str, start: int, end: int) -> bool:
    """Return whether the text between two dollars crosses blocks. It is then not a formula. Blocks are two
    rows of a table or, if there are spaces next to the dollars, two items of a list."""
    if "\n" not in (formula := text[start:end]):
        return False
    if "\n|" in formula and text.startswith("|", text.rfind("\n", 0, start) + 1):
        return True
    has_blank = formula[1].isspace() or formula[-2].isspace()
    return has_blank and _ITEM_LINE.search(formula) is not None


class _Ends:
    """Finder of the ends of segments in a range of a text. If called with increasing positions, it reads the
    range once for each kind of closing delimiter."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end
        self._next: dict[str, tuple[int, int]] = {}
        """Pattern → (start, end) of the last match found. If there was none: an offset after the text, and
        -1."""
        self._runs: dict[int, list[int]] | None = None

    def find_end(self, opener: str, found: re.Match[str]) -> int:
        """Return the end offset of the segment that the match `found` opens; -1 if it opens no segment.
        opener: kind of the opening delimiter."""
        if opener in ("display", "dollar", "tag"):
            return found.end()
        if opener == "escape":
            return -1
        if opener == "span":
            return self._end_of_span(found.start(), found.end() - found.start())
        if opener == "comment":
            return self._find("-->", found.end())[1]
        if opener == "opaque":
            head = self._find(">", found.end())[1]
            return self._find(rf"</{found['element']}\s*>", head)[1] if head >= 0 else -1
        if opener == "environment":
            return self._find(rf"\\end\{{{re.escape(found['name'])}\}}", found.end())[1]
        closer = found[0][:-1] + {"(": ")", "[": "]"}[found[0][-1]]
        first, last = self._find(re.escape(closer), found.end())
        # empty delimiters are not a formula
        return -1 if first == found.end() else last

    def _find(self, pattern: str, position: int) -> tuple[int, int]:
        """Return start and end of the first match from `position` on; (-1, -1) if there is none."""
        known = self._next.get(pattern)
        if known is None or known[0] < position:
            found = _compiled(pattern).search(self._text, position, self._end)
            known = found.span() if found else (len(self._text) + 1, -1)
            self._next[pattern] = known
        return known if known[1] >= 0 else (-1, -1)

    def _end_of_span(self, start: int, length: int) -> int:
        if self._text.startswith("`", start - 1) and start:
            # the first backtick of the run is escaped
            return -1
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text, self._start, self._end):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        same = self._runs.get(length, [])
        at = bisect_left(same, start + 1)
        return same[at] + length if at < len(same) else -1

    def cuts_code(self, start: int, end: int) -> bool:
        """Return whether a code span starts in the range and ends after it. If so, the range is not a
        formula."""
        position = start
        while run := _TICKS.search(self._text, position, end):
            last = self._end_of_span(run.start(), run.end() - run.start())
            if last > end and not self.has_blank_line(run.start(), last):
                return True
            position = last if run.end() < last <= end else run.end()
        return False

    def has_blank_line(self, start: int, end: int) -> bool:
        """Return whether the range contains a blank line."""
        last = self._find(_BLANK_LINE.pattern, start)[1]
        return 0 <= last <= end

    def begins_line(self, start: int, end: int) -> bool:
        """Return whether the range is display math that begins its line, so that it may contain blank lines.
        Return False if it contains a single dollar, because then a delimiter probably lacks one of its two
        dollars."""
        if not self._text.startswith(("$$", "\\[", "\\\\[", "\\begin"), start):
            return False
        line = self._text.rfind("\n", max(0, start - _MAX_PREFIX), start) + 1
        if (line == 0 and start > _MAX_PREFIX) or self._text[line:start].strip(_PREFIX_CHARACTERS):
            return False
        found = _LONE_DOLLAR.finditer(self._text, start, end)
        return all(one["text"] for one in found)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


__all__ = ["CODE", "MARK", "TEX", "FormulaDelimiters", "LineFinder", "MaskedText", "Segment", "SegmentKind"]
__all__ += ["divide", "is_table_cell", "mask", "rewrite", "rewrite_segments"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a text."""

    kind: SegmentKind
    text: str
    start: int
    """Offset of the first character in the text."""


def divide(text: str, dialect: FormulaDelimiters = PLAIN) -> list[Segment]:
    """Return the segments of a text, in order. Joined, they are the text."""
    found: list[Segment] = []
    position = 0
    for kind, start, end in _code_ranges(text):
        found.extend(_divide_prose(text, position, start, dialect))
        found.append(Segment(kind, text[start:end], start))
        position = end
    found.extend(_divide_prose(text, position, len(text), dialect))
    return found


def is_table_cell(text: str, position: int) -> bool:
    """Return whether a position is in a table row that begins with a pipe."""
    return text[text.rfind("\n", 0, position) + 1 : position].lstrip().startswith("|")


def _divide_prose(text: str, start: int, end: int, dialect: FormulaDelimiters) -> Iterator[Segment]:
    prose = start
    for kind, first, last in inline_ranges(text, start, end, dialect):
        if first > prose:
            yield Segment("prose", text[prose:first], prose)
        yield Segment(kind, text[first:last], first)
        prose = last
    if prose < end:
        yield Segment("prose", text[prose:end], prose)


_CODE_STARTS = ("```", "~~~", "    ", "\t")
"""A page without any of these strings contains no code, so it need not be parsed."""


@lru_cache(maxsize=4)
def _code_ranges(text: str) -> Sequence[tuple[SegmentKind, int, int]]:
    """Return the ranges of fenced and indented code as (kind, start, end). They consist of whole lines,
    including fences. The result is cached, because most rewrites do not change the text, and the next rewrite
    requests it again."""
    if not any(each in text for each in _CODE_STARTS):
        return ()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    env: dict[str, object] = {}
    # markdown-it fails on HTML in a list in a quote at the very end of a text, so add a line break
    tokens = _block_parser().parse(f"{text}\n", env)
    ranges: list[tuple[SegmentKind, int, int]] = []
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            first, last = token.map
            # markdown-it includes the blank lines after indented code
            kind: SegmentKind = "block" if token.type == "fence" else "indented"
            ranges.append((kind, starts[first], starts[min(last, len(starts) - 1)]))
    return tuple(ranges)


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # later paragraphs of a footnote or definition are indented, but are not code
    parser.use(footnote_plugin).use(deflist_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    # TeX in display math may look like a list or like code
    parser.block.ruler.before("code", "display", _display, {"alt": ["paragraph", "reference", "blockquote"]})
    return parser


_DISPLAY_END = {"$$": "$$", r"\\[": r"\\]", r"\[": r"\]"}


def _display(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read display math that begins a line and extends over several lines, even blank lines. Block rule for
    markdown-it, which returns whether it matches."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    opener = next((each for each in _DISPLAY_END if state.src.startswith(each, start)), "")
    if not opener:
        return False
    ends = state.env.setdefault("display ends", {})
    closer = _DISPLAY_END[opener]
    if closer not in ends:
        # find all ends once: otherwise each opening would scan the whole text
        ends[closer] = [found.start() for found in re.finditer(f"(?={re.escape(closer)})", state.src)]
    at = bisect_left(ends[closer], start + len(opener))
    if at == len(ends[closer]):
        return False
    line = bisect_right(state.bMarks, ends[closer][at]) - 1
    if line == start_line or line >= end_line:
        # CommonMark cannot misread display math on one line
        return False
    # text after the formula on its last line belongs to it, so it is not code
    if not silent:
        state.line = line + 1
        state.push("display", "", 0).map = [start_line, line + 1]
    return True


_OPEN, _CLOSE = MARK = "\ue000", "\ue001"
"""Delimiters of the number in the placeholder of a hidden segment."""
_MASKED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text where placeholders of private-use characters replace some of its segments."""

    text: str
    hidden: tuple[str, ...]
    kinds: tuple[SegmentKind, ...] = ()
    """Kind of each hidden segment."""

    def restore(self, text: str) -> str:
        """Replace every placeholder in `text` with its segment. text: `self.text`, possibly changed."""

        def piece(found: re.Match[str]) -> str:
            number = int(found[1][:9])
            # an entity or escape may produce a forged placeholder
            return self.hidden[number] if number < len(self.hidden) else "\ufffd"

        return _MASKED.sub(piece, text)


CODE: frozenset[SegmentKind] = frozenset({"block", "indented", "span", "opaque", "comment"})
TEX: frozenset[SegmentKind] = CODE | {"math"}


def mask(text: str, dialect: FormulaDelimiters = PLAIN, kinds: Collection[SegmentKind] = TEX) -> MaskedText:
    """Hide the segments of `kinds`. If a hidden block ends with a newline, the newline stays after its
    placeholder."""
    # the delimiters have no meaning in any text, but would be read as a placeholder
    clean = text.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd")
    hidden: list[str] = []
    every: list[SegmentKind] = []
    parts = []
    for segment in divide(clean, dialect):
        if segment.kind not in kinds:
            parts.append(segment.text)
            continue
        is_block = segment.kind in ("block", "indented")
        body = segment.text.rstrip("\n") if is_block else segment.text
        parts.append(f"{_OPEN}{len(hidden)}{_CLOSE}{segment.text[len(body) :]}")
        hidden.append(body)
        every.append(segment.kind)
    return MaskedText("".join(parts), tuple(hidden), tuple(every))


def rewrite(
    text: str,
    replace: Callable[[str], str],
    dialect: FormulaDelimiters = PLAIN,
    kinds: Collection[SegmentKind] = TEX,
) -> str:
    """Hide the segments of `kinds` in a text, apply `replace` to it, and return it with these segments
    restored."""
    masked = mask(text, dialect, kinds)
    return masked.restore(replace(masked.text))


def rewrite_segments(
    text: str, kind: SegmentKind, replace: Callable[[str], str], dialect: FormulaDelimiters
) -> str:
    """Return the text after `replace` was applied to every segment of one kind."""
    return "".join(
        replace(segment.text) if segment.kind == kind else segment.text for segment in divide(text, dialect)
    )


class LineFinder:
    """Finds the lines of fragments in the original source, even after the text was rewritten."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        """Index the lines of `text`. first_line: 1-based line of the file where `text` starts."""
        self._text = text
        self._first = first_line
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def line_of_offset(self, offset: int) -> int:
        """Return the line of the file that contains a character offset of the text."""
        return self._first + bisect_right(self._ends, offset - 1)

    def find(self, piece: str) -> int:
        """Return the line of the file where `piece` first occurs; 0 if it does not occur."""
        offset = self._text.find(piece.strip()) if piece.strip() else -1
        return self.line_of_offset(offset) if offset >= 0 else 0

    def search(self, pattern: str) -> int:
        """Return the line of the file where the first case-insensitive match of the pattern begins; 0 if
        there is none."""
        found = re.search(pattern, self._text, re.IGNORECASE)
        return self.line_of_offset(found.start()) if found else 0
