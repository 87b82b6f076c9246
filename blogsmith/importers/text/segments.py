"""Markdown divided into prose, code, formulas and tags; and a mask that hides some of these from rewrites.

The pieces of a text, put together again, are the text. Which lines are code says markdown-it, for indentation
means code in some places and a list in others; the other lines `inline_scan` divides.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from .inline_scan import PLAIN, Dialect, SegmentKind, inline_ranges

__all__ = ["CODE", "MARK", "TEX", "Dialect", "Lines", "MaskedText", "Segment", "SegmentKind"]
__all__ += ["divide", "mask", "rewrite", "rewrite_segments"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text."""

    kind: SegmentKind
    text: str
    start: int
    """Where it begins, in characters."""


def divide(text: str, dialect: Dialect = PLAIN) -> list[Segment]:
    """The segments of a text, in order; joined they are the text."""
    found: list[Segment] = []
    position = 0
    for kind, start, end in _code_ranges(text):
        found.extend(_divide_prose(text, position, start, dialect))
        found.append(Segment(kind, text[start:end], start))
        position = end
    found.extend(_divide_prose(text, position, len(text), dialect))
    return found


def _divide_prose(text: str, start: int, end: int, dialect: Dialect) -> Iterator[Segment]:
    prose = start
    for kind, first, last in inline_ranges(text, start, end, dialect):
        if first > prose:
            yield Segment("prose", text[prose:first], prose)
        yield Segment(kind, text[first:last], first)
        prose = last
    if prose < end:
        yield Segment("prose", text[prose:end], prose)


@lru_cache(maxsize=4)
def _code_ranges(text: str) -> Sequence[tuple[SegmentKind, int, int]]:
    """Return where fenced and indented code is, whole lines, fences included.

    Cached, because most rewrites of a page leave its text as it is for the next one.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    env: dict[str, object] = {}
    # HTML in a list in a quote at the very end of a text is too much for markdown-it
    tokens = _block_parser().parse(f"{text}\n", env)
    ranges: list[tuple[SegmentKind, int, int]] = []
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            first, last = token.map
            # markdown-it counts the blank lines behind indented code to it
            kind: SegmentKind = "block" if token.type == "fence" else "indented"
            ranges.append((kind, starts[first], starts[min(last, len(starts) - 1)]))
    return tuple(ranges)


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # further paragraphs of a note or a definition are indented, and are no code
    parser.use(footnote_plugin).use(deflist_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    # what looks like a list or like code inside a display is TeX
    parser.block.ruler.before("code", "display", _display, {"alt": ["paragraph", "reference", "blockquote"]})
    return parser


_DISPLAY_END = {"$$": "$$", r"\\[": r"\\]", r"\[": r"\]"}


def _display(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A display formula that begins a line, up to the line that ends it, blank lines included."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    opener = next((each for each in _DISPLAY_END if state.src.startswith(each, start)), "")
    if not opener:
        return False
    ends = state.env.setdefault("display ends", {})
    closer = _DISPLAY_END[opener]
    if closer not in ends:
        # all of them once: each opening would else look through the whole text
        ends[closer] = [found.start() for found in re.finditer(f"(?={re.escape(closer)})", state.src)]
    at = bisect_left(ends[closer], start + len(opener))
    if at == len(ends[closer]):
        return False
    line = bisect_right(state.bMarks, ends[closer][at]) - 1
    if line == start_line or line >= end_line:
        # of one line: CommonMark cannot mistake it
        return False
    # what follows the formula in its line belongs to it: it is no code
    if not silent:
        state.line = line + 1
        state.push("display", "", 0).map = [start_line, line + 1]
    return True


_OPEN, _CLOSE = MARK = "\ue000", "\ue001"
"""Stand around the number of a hidden segment."""
_MASKED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text in which some segments are replaced by marks of private characters."""

    text: str
    hidden: tuple[str, ...]
    kinds: tuple[SegmentKind, ...] = ()
    """Of each hidden segment."""

    def restore(self, text: str) -> str:
        """`text`, made from `self.text`, with every mark replaced by what it stands for."""

        def piece(found: re.Match[str]) -> str:
            number = int(found[1][:9])
            # the text of an entity or an escape may forge a mark
            return self.hidden[number] if number < len(self.hidden) else "\ufffd"

        return _MASKED.sub(piece, text)


CODE: frozenset[SegmentKind] = frozenset({"block", "indented", "span", "opaque", "comment"})
TEX: frozenset[SegmentKind] = CODE | {"math"}


def mask(text: str, dialect: Dialect = PLAIN, kinds: Collection[SegmentKind] = TEX) -> MaskedText:
    """`text` with segments of `kinds` hidden; a mark for a block keeps its line end."""
    # the marks' own characters mean nothing in any text, and a stray one would be taken for a mark
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
    dialect: Dialect = PLAIN,
    kinds: Collection[SegmentKind] = TEX,
) -> str:
    """`replace` applied to a text in which segments of `kinds` are hidden."""
    masked = mask(text, dialect, kinds)
    return masked.restore(replace(masked.text))


def rewrite_segments(text: str, kind: SegmentKind, replace: Callable[[str], str], dialect: Dialect) -> str:
    """`replace` applied to every segment of one kind."""
    return "".join(
        replace(segment.text) if segment.kind == kind else segment.text for segment in divide(text, dialect)
    )


class Lines:
    """Finds the line on which a piece of a source stands, however the text was rewritten since."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        """first_line: of `text` in its file."""
        self._text = text
        self._first = first_line
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, offset: int) -> int:
        """The line of a character of the text."""
        return self._first + bisect_right(self._ends, offset - 1)

    def find(self, piece: str) -> int:
        """The line on which `piece` first stands; 0 if it does not."""
        offset = self._text.find(piece.strip()) if piece.strip() else -1
        return self.at(offset) if offset >= 0 else 0

    def search(self, pattern: str) -> int:
        """The line on which a match of an expression, whatever its case, begins; 0 if there is none."""
        found = re.search(pattern, self._text, re.IGNORECASE)
        return self.at(found.start()) if found else 0
