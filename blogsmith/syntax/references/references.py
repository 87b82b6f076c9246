r"""References to labels in prose: `\eqref{eq:x}`, `\ref{eq:x}`, `{@eq:x}`, `@eq-x`, MyST's `[](#eq-x)`.

A label of another post is written with its slug: `{@attention#eq:score}`. What a label's number is,
and whether it exists, is settled when the page is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ...diagnostics.model import Reporter, TextMap
from ...patterns import lazy_pattern
from ..records import XRef, put
from ..state import inline_place, page_of
from .labels import normal_id

PREFIXES = ("eq", "fig", "tbl", "tab", "thm", "lem", "cor", "prp", "def", "sec", "lst")
_KIND = "|".join(PREFIXES)
_COMMAND = lazy_pattern(r"\\(eqref|ref)\{\s*([^{}\s][^{}]*?)\s*\}")
_BRACED = lazy_pattern(rf"\{{@(?:([\w./-]+)#)?((?:{_KIND})[:-][\w.:-]+)\}}")
_WRITTEN = lazy_pattern(f"{_COMMAND.pattern}|{_BRACED.pattern}")
_EMPTY = lazy_pattern(rf"\[\]\(#((?:{_KIND})[:-][\w.:-]+)\)")
_BARE = lazy_pattern(rf"@(?:([\w-]+)#)?((?:{_KIND})[:-][\w-]*\w)")


def command(state: StateInline, silent: bool) -> bool:
    r"""Inline rule: `\eqref{eq:x}` gives (1), `\ref{eq:x}` gives (1) for an equation too.

    In LaTeX `\ref` gives 1; so `(\ref{eq:x})` is (1) and not ((1)).
    """
    found = find_command(state.src, state.pos, state.posMax)
    if not found:
        return False
    page, _, target = found[2].rpartition("#")
    is_enclosed = state.pending.endswith("(") and state.src.startswith(")", found.end())
    takes_both = is_enclosed and found[1] == "ref" and label_id(target).startswith("eq-") and not silent
    if takes_both:
        state.pending = state.pending[:-1]
    _push(state, found, page, target, "number", silent)
    state.pos += takes_both
    return True


def find_command(text: str, pos: int, end: int) -> re.Match[str] | None:
    r"""`\eqref{…}` or `\ref{…}` at `pos`: its name and its label."""
    return _COMMAND.match(text, pos, end)


def braced_reference(state: StateInline, silent: bool) -> bool:
    """Inline rule: `{@eq:x}` gives "Equation (1)"."""
    found = _BRACED.match(state.src, state.pos, state.posMax)
    return bool(found) and _push(state, found, found[1] or "", found[2], "full", silent)  # type: ignore[index,arg-type]


def empty_link(state: StateInline, silent: bool) -> bool:
    """Inline rule: `[](#eq-x)` gives "Equation (1)"."""
    found = _EMPTY.match(state.src, state.pos, state.posMax)
    return bool(found) and _push(state, found, "", found[1], "full", silent)  # type: ignore[index,arg-type]


def bare(state: StateInline, silent: bool) -> bool:
    """Inline rule: `@eq-x` gives (1), `@fig-x` gives "Figure 1"; `a@eq-x` is text, a citation stays one."""
    found = _BARE.match(state.src, state.pos, state.posMax)
    before = state.src[state.pos - 1 : state.pos]
    if not found or before.isalnum() or before in tuple("_/."):
        return False
    if found[0][1:] in page_of(state.env).references:
        return False
    form = "number" if found[2].startswith("eq") else "full"
    return _push(state, found, found[1] or "", found[2], form, silent)


def _push(state: StateInline, found: re.Match[str], page: str, target: str, form: str, silent: bool) -> bool:
    if not silent:
        token = state.push("xref", "a", 0)
        place = inline_place(state, found.start(), found.end())
        put(token, XRef(label_id(target), page, form, place, found[0]))
    state.pos = found.end()
    return True


def warn_of_unread(tokens: Iterable[Token], origin: TextMap, reporter: Reporter) -> None:
    """Warn of references in a title or description, in which nothing but formulas has a meaning."""
    cursor = 0
    for token in tokens:
        if token.type != "text":
            cursor = max(cursor, origin.text.find(token.content, cursor) + len(token.content))
            continue
        for found in _WRITTEN.finditer(token.content):
            cursor = max(cursor, origin.text.find(found[0], cursor))
            message = f"{found[0]} has no meaning here and is text"
            place = origin.place(cursor, len(found[0]))
            reporter.warn("foreign-syntax", message, place, "refer to it in the text of the post")
            cursor += len(found[0])


def label_id(label: str) -> str:
    """The id a label has in the page: `tab:x` and `tbl:x` are the same."""
    return re.sub(r"^tab-", "tbl-", normal_id(label))


def ref_rules(md: MarkdownIt) -> None:
    """Register the rules; `\\eqref` before escapes, the others before citations and links."""
    md.inline.ruler.before("escape", "ref_command", command)
    md.inline.ruler.before("link", "ref_braced", braced_reference)
    md.inline.ruler.before("link", "ref_empty_link", empty_link)
    md.inline.ruler.before("link", "ref_bare", bare)
