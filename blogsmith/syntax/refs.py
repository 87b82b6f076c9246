r"""References to labels in prose: `\eqref{eq:x}`, `\ref{eq:x}`, `{@eq:x}`, `@eq-x`.

A label of another post is written with its slug: `{@attention#eq:score}`. What a label's number is,
and whether it exists, is settled when the page is rendered.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from .math import normal_id
from .records import XRef, put
from .state import inline_place

PREFIXES = ("eq", "fig", "tbl", "tab", "thm", "lem", "cor", "prp", "def", "sec", "lst")
_KIND = "|".join(PREFIXES)
_COMMAND = re.compile(r"\\(eqref|ref)\{([^{}\s]+)\}")
_BRACED = re.compile(rf"\{{@(?:([\w./-]+)#)?((?:{_KIND})[:-][\w.:-]+)\}}")
_BARE = re.compile(rf"@(?:([\w-]+)#)?((?:{_KIND})-[\w-]*\w)")


def command(state: StateInline, silent: bool) -> bool:
    r"""Inline rule: `\eqref{eq:x}` gives (1), `\ref{eq:x}` gives (1) for an equation too."""
    found = _COMMAND.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    page, _, target = found[2].rpartition("#")
    return _push(state, found, page, target, "number", silent)


def braced(state: StateInline, silent: bool) -> bool:
    """Inline rule: `{@eq:x}` gives "Equation (1)"."""
    found = _BRACED.match(state.src, state.pos, state.posMax)
    return bool(found) and _push(state, found, found[1] or "", found[2], "full", silent)  # type: ignore[index,arg-type]


def bare(state: StateInline, silent: bool) -> bool:
    """Inline rule: `@eq-x` gives (1), `@fig-x` gives "Figure 1"; `a@eq-x` is text."""
    found = _BARE.match(state.src, state.pos, state.posMax)
    if not found or (
        state.pos > 0 and (state.src[state.pos - 1].isalnum() or state.src[state.pos - 1] in "_/.")
    ):
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


def label_id(label: str) -> str:
    """The id a label has in the page: `tab:x` and `tbl:x` are the same."""
    return re.sub(r"^tab-", "tbl-", normal_id(label))


def ref_rules(md: MarkdownIt) -> None:
    """Register the rules; `\\eqref` before escapes, the others before citations and links."""
    md.inline.ruler.before("escape", "ref_command", command)
    md.inline.ruler.before("link", "ref_braced", braced)
    md.inline.ruler.before("link", "ref_bare", bare)
