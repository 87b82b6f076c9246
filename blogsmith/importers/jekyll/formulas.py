r"""Formulas of a Jekyll site.

kramdown reads `$$…$$` itself: a display where it is a block of its own, else a formula in the line. What
stands between other delimiters is Markdown to it, so escapes are taken away before MathJax or KaTeX sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...base.patterns import lazy_pattern
from ..text.math import (
    display,
    has_rows,
    inline,
    is_display,
    split_formula,
    unescape_tex,
)
from ..text.segments import MARK, Dialect, MaskedText
from .config import JekyllConfig
from .html_blocks import stands_in_html

DIALECT = Dialect(blank_dollar=True, escaped_brackets=True)
_MARK = re.compile(f"{MARK[0]}(\\d+){MARK[1]}")
_STARTS_BLOCK = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+\.)[ \t]+)*")
_BETWEEN_BLOCKS = lazy_pattern(r"[ \t>]*(?:\{[:#][^}\n]*\}[ \t]*)?")
_ENDS_ITEM = lazy_pattern(r"[ \t]*\n[ \t>]*(?:[-*+]|\d+\.)[ \t]")
_PROSE = lazy_pattern(
    r"\s*\d{1,3}\s*|[^\\^_={}+<>|/*&\d\ue000\ue010]*[^\W\d_]{2,}[^\\^_={}+<>|/*&\ue000\ue010]*"
)
"""A number, or words without a sign of TeX: around them kramdown takes the backslashes for escapes."""
_TAG = lazy_pattern(r"</?[A-Za-z][^<>]*>")
_TABLE_ROWS = lazy_pattern(
    r"(\\begin\{(?P<name>(?:[bBpvV]|small)?matrix\*?|array|d?cases)\})([\s\S]*?)(\\end\{(?P=name)\})"
)
_ENDS_BLOCK = lazy_pattern(r"[ \t]*(?:\Z|\n[ \t>]*(?:\n|\Z)|\n[ \t>]*\{:)")


def rewrite_formulas(
    prose: str, masked: MaskedText, config: JekyllConfig, colours: Mapping[str, str]
) -> MaskedText:
    """Every hidden formula in our delimiters. prose: what `masked.text` has become, which says where it
    stands.

    colours: name → `[model]{value}`, of those that the page defines.
    """
    hidden = list(masked.hidden)
    for mark in _MARK.finditer(prose):
        number = int(mark[1])
        if masked.kinds[number] == "math":
            before, after = prose[: mark.start()], prose[mark.end() :]
            written = with_colours(hidden[number], colours) if colours else hidden[number]
            hidden[number] = _rewrite(written, before, after, config)
    return MaskedText(prose, tuple(hidden), masked.kinds)


def with_colours(tex: str, colours: Mapping[str, str]) -> str:
    """A formula with the colours that a page defines written out: here a definition counts for its formula
    alone."""

    def substitute(found: re.Match[str]) -> str:
        return found[1] + colours.get(found[2].strip(), f"{{{found[2]}}}")

    return _COLOURED.sub(substitute, tex)


_COLOURED = lazy_pattern(r"(\\(?:color|textcolor|colorbox))\s*\{([^{}]*)\}")


def _rewrite(formula: str, before: str, after: str, config: JekyllConfig) -> str:
    opener, written = split_formula(formula)
    if not written.strip():
        return formula
    closer = formula[len(opener) + len(written) :]
    tex = single_row_ends(written)
    plain = f"{opener}{tex}{closer}"
    if opener == "$$":
        if stands_in_html(before) or config.sets_dollars_as_display or has_rows(tex):
            return plain
        if _is_block(before, after):
            return plain
        return inline(tex, after[:1])
    if not opener:
        return unescape_tex(tex) if "\\\\\\\\" in tex else tex
    if opener in (r"\(", r"\["):
        is_text = _is_text(formula[1], written, before) and not stands_in_html(before)
        return _bare(formula[1], written, before, after) if is_text else plain
    tex = unescape_tex(tex)
    return display(tex) if is_display(opener) else inline(tex, after[:1])


_ESCAPED_START = lazy_pattern(
    r"^(?:(?<![^\n]\n)|(?=[ \t>]*(?:[-*+]|\d+\.)[ \t]))"
    r"([ \t>]*(?:(?:[-*+]|\d+\.)[ \t]+)*)\\(?=\$\$[^$])|(?<!\\)\\(?=\$\$[^$\n]+\$\$(?!\$))",
    re.MULTILINE,
)
_IN_LINE = "\ue016"


def mark_inline(text: str) -> str:
    r"""`\$$x$$` at the beginning of a block is a formula in the line to kramdown: a mark for it instead of
    the backslash; elsewhere on a line it is meant so. The text holds no code."""
    return _ESCAPED_START.sub(lambda found: (found[1] or "") + _IN_LINE, text)


def unmark_inline(text: str) -> str:
    """The text without these marks."""
    return text.replace(_IN_LINE, "")


def _is_text(opening: str, text: str, before: str) -> bool:
    """Whether what stands between escaped brackets is no formula, as `A\\[B, D<sub>Y</sub>\\]`."""
    is_index = opening == "[" and before[-1:].isalnum()
    return is_index or _PROSE.fullmatch(text) is not None or _TAG.search(text) is not None


def _bare(opening: str, text: str, before: str, after: str) -> str:
    """A text in brackets; as entities where these would be a link or a key."""
    if opening == "(":
        return f"({text})"
    if before.endswith(("[", "]")) or after.startswith(("]", "(", "[", "{", ":")):
        return f"&#91;{text}&#93;"
    return f"[{text}]"


def _is_block(before: str, after: str) -> bool:
    """Whether a formula is a block of its own for kramdown."""
    *above, line = before.rsplit("\n", 2)[-2:]
    has_marker = bool(line.strip(" \t>"))
    is_first = has_marker or not above or _BETWEEN_BLOCKS.fullmatch(above[0]) is not None
    starts = is_first and _STARTS_BLOCK.fullmatch(line) is not None
    ends = _ENDS_BLOCK.match(after) or (has_marker and _ENDS_ITEM.match(after))
    return starts and bool(ends)


def single_row_ends(tex: str) -> str:
    r"""TeX whose tables end their rows by `\\`, not by `\\\\`, which some write for other readers of
    Markdown: to TeX there is an empty row between."""
    if "\\\\\\\\" not in tex:
        return tex
    return _TABLE_ROWS.sub(lambda found: found[1] + found[3].replace("\\" * 4, "\\" * 2) + found[4], tex)
