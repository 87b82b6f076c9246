r"""Formulas of a Hugo site.

With the extension passthrough goldmark hands the formulas between its delimiters on as they are. Without it
they are Markdown first: authors write `\_` for an index and `\\\\` for a row, or forget it.
"""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from ..text.literals import literal_brackets
from ..text.math import display, has_rows, inline, is_display, split_formula, unescape_entities, unescape_tex
from ..text.segments import Dialect, Segment, divide
from .config import HugoConfig

_BAR = lazy_pattern(r"(?<!\\)(?:\\\\)*\\\|")
_SPACED_ROW = lazy_pattern(r"(?<!\\)\\\\(?=\[-?[\d.]+(?:pt|em|ex|mm|cm|px|mu)\])")
_TEXT = lazy_pattern(r"\\(?:text|textbf|textit|textrm|textsf|texttt|mbox)\{[^{}$]*\}")
"""Where MathJax takes an underscore for one."""
_ENVIRONMENT = lazy_pattern(
    r"\\\\begin\{(?P<name>(?:align|equation|gather|eqnarray|multline)\*?)\}[\s\S]*?"
    r"(?P<end>\\\\end\{(?P=name)\})"
)
r"""An environment whose backslashes are written twice: `\\\\begin{align}`."""
_REFERENCE = lazy_pattern(r"\\(\\(?:eq)?ref\{[\w:.-]+\})")
_GITLAB = lazy_pattern(r"`([^`]+)`")
"""The inside of a formula that is a code span in dollars, so that Markdown leaves it alone."""
_ROW_KEPT, _BAR_KEPT = "\ue014", "\ue015"


def dialect_of(config: HugoConfig) -> Dialect:
    """Where formulas begin and end on this site."""
    delimiters = config.passthrough
    if delimiters is None:
        # Markdown takes the backslash of a bracket away, and what is left is no formula
        return Dialect(blank_dollar=True, escaped_brackets=True, brackets=False)
    has_dollar = "$" in delimiters or not any("(" in each for each in delimiters)
    return Dialect(dollar=has_dollar, blank_dollar=has_dollar, escaped_brackets=True, brackets=True)


def rewrite_formulas(text: str, config: HugoConfig) -> str:
    """Every formula in our delimiters."""
    dialect = dialect_of(config)
    parts = []
    for segment in divide(text, dialect):
        if segment.kind == "math":
            end = segment.start + len(segment.text)
            parts.append(_rewrite(segment, text, text[end : end + 1], is_raw=config.passthrough is not None))
        elif segment.kind == "prose":
            parts.append(_prose(segment.text, dialect))
        else:
            parts.append(segment.text)
    return "".join(parts)


def _prose(text: str, dialect: Dialect) -> str:
    """Signs that mean nothing on this site and open a formula in ours."""
    if not dialect.brackets:
        text = literal_brackets(text)
        text = _ENVIRONMENT.sub(
            lambda found: _plain_tex(found[0][1 : -len(found["end"])] + found["end"][1:], is_cell=False), text
        )
        text = _REFERENCE.sub(r"\1", text)
    if not dialect.dollar and "$" in text:
        text = re.sub(r"(?<!\\)\$", r"\\$", text)
    return text


def _rewrite(segment: Segment, text: str, after: str, *, is_raw: bool) -> str:
    opener, tex = split_formula(segment.text)
    if not tex.strip():
        return segment.text
    if found := _GITLAB.fullmatch(tex):
        return display(found[1]) if is_display(opener) else inline(found[1], after)
    if not is_raw or opener.startswith("\\\\"):
        is_cell = text[text.rfind("\n", 0, segment.start) + 1 : segment.start].lstrip().startswith("|")
        tex = _plain_tex(tex, is_cell=is_cell)
    else:
        tex = unescape_entities(tex)
    tex = _TEXT.sub(lambda found: re.sub(r"(?<!\\)_", r"\\_", found[0]), tex)
    if not opener:
        return tex
    if is_display(opener) or has_rows(tex):
        # its lines stay as they are: they may begin with the marks of a list or quote around it
        return f"$${tex}$$" if "\n" in tex else display(tex)
    return inline(tex, after)


def _plain_tex(tex: str, *, is_cell: bool) -> str:
    r"""TeX behind Markdown's escapes.

    `\|` stays outside of tables, and `\\[2pt]` anywhere: Markdown would take a backslash away, and who wrote
    it meant a norm or a row.
    """
    if not is_cell:
        tex = _BAR.sub(lambda found: found[0][:-2] + _BAR_KEPT if len(found[0]) == 2 else found[0], tex)
    tex = unescape_tex(_SPACED_ROW.sub(_ROW_KEPT, tex))
    return tex.replace(_ROW_KEPT, r"\\").replace(_BAR_KEPT, r"\|")
