r"""Formulas of a Jekyll site.

kramdown reads `$$…$$` itself: a display where it is a block of its own, else a formula in the line. What
stands between other delimiters is Markdown to it, so escapes are taken away before MathJax or KaTeX sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ...patterns import lazy_pattern
from ..text.math import (
    display,
    escape_underscores,
    has_rows,
    inline,
    is_display,
    pair_braces,
    split_formula,
    unescape_tex,
)
from ..text.segments import Dialect, Segment, divide
from ..text.tags import tag_attributes, tag_name
from .config import JekyllConfig

DIALECT = Dialect(blank_dollar=True, escaped_brackets=True)
_HTML_BLOCKS = frozenset(
    ("div", "center", "table", "figure", "figcaption", "details", "section", "aside", "p", "dl", "article")
)
_STARTS_BLOCK = lazy_pattern(
    r"(?:\A|\n[ \t>]*\n|\n[ \t>]*\{:[^}\n]*\}[ \t]*\n|\A[ \t]*(?:[-*+]|\d+\.)[ \t]+"
    r"|\n[ \t]*(?:[-*+]|\d+\.)[ \t]+)[ \t>]*\Z"
)
_ENDS_BLOCK = lazy_pattern(r"[ \t]*(?:\Z|\n[ \t>]*(?:\n|\Z)|\n[ \t>]*\{:)")


def rewrite_formulas(text: str, config: JekyllConfig, colours: Mapping[str, str] | None = None) -> str:
    """Every formula in our delimiters. colours: name → `#rrggbb`, of those that the page defines."""
    segments = divide(text, DIALECT)
    parts: list[str] = []
    depth = 0
    for segment in segments:
        if segment.kind == "tag":
            depth = _depth(depth, segment.text)
        if segment.kind != "math":
            parts.append(segment.text)
            continue
        end = segment.start + len(segment.text)
        formula = segment if not colours else replace(segment, text=_with_colours(segment.text, colours))
        parts.append(_rewrite(formula, text[: segment.start], text[end:], config, is_html=depth > 0))
    return "".join(parts)


def _with_colours(tex: str, colours: Mapping[str, str]) -> str:
    """A formula with the colours that a page defines written out: here a definition counts for its formula
    alone."""

    def put(found: re.Match[str]) -> str:
        return f"{found[1]}{{{colours.get(found[2].strip(), found[2])}}}"

    return _COLOURED.sub(put, tex)


_COLOURED = lazy_pattern(r"(\\(?:color|textcolor|colorbox))\s*\{([^{}]*)\}")


def _depth(depth: int, tag: str) -> int:
    """How many blocks of raw HTML are open behind a tag."""
    name = tag_name(tag)
    if name.removeprefix("/") not in _HTML_BLOCKS or tag.endswith("/>"):
        return depth
    if name.startswith("/"):
        return max(0, depth - 1)
    return depth if "markdown" in tag_attributes(tag) else depth + 1


def _rewrite(segment: Segment, before: str, after: str, config: JekyllConfig, *, is_html: bool) -> str:
    opener, written = split_formula(segment.text)
    if not written.strip():
        return segment.text
    closer = segment.text[len(opener) + len(written) :]
    tex = pair_braces(escape_underscores(written))
    plain = f"{opener}{tex}{closer}"
    if opener == "$$":
        if is_html or config.sets_dollars_as_display or has_rows(tex) or _is_block(before, after):
            return plain
        return inline(tex, after[:1])
    if not opener:
        return unescape_tex(tex) if "\\\\\\\\" in tex else tex
    if opener in (r"\(", r"\["):
        return plain
    tex = unescape_tex(tex)
    return display(tex) if is_display(opener) else inline(tex, after[:1])


def _is_block(before: str, after: str) -> bool:
    """Whether a formula is a block of its own for kramdown."""
    tail = before[before.rfind("\n", 0, before.rfind("\n")) + 1 :] if before.count("\n") > 1 else before
    starts = _STARTS_BLOCK.search("\n" + tail if tail is not before else tail)
    return bool(starts) and _ENDS_BLOCK.match(after) is not None
