"""Invisible characters in code: what runs, or is copied, would not be what one reads.

Prose is left alone, since languages need some of them; in code they are a mistake or an attack
(CVE-2021-42574, "Trojan Source").
"""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore

from ..errors import Place, TextMap
from .records import get
from .state import PageState, page_of

# zero-width space, marks of direction, embeddings and overrides, word joiner, isolates, byte order mark;
# the zero-width joiner is part of many emoji
_HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


def hidden_characters(state: StateCore) -> None:
    """Core rule: warn of the first such character of each line of code."""
    page = page_of(state.env)
    for token in state.tokens:
        if token.type in ("fence", "code_block") and _HIDDEN.search(token.content):
            first, end = token.map or (0, 0)
            for number in range(first, min(end, len(page.lines))):
                if found := _HIDDEN.search(page.lines[number]):
                    _warn(page, found[0], Place(page.first_line + number, found.start() + 1))
        elif token.type == "inline" and _HIDDEN.search(token.content):
            origin = get(token, TextMap)
            for child in token.children or ():
                found = _HIDDEN.search(child.content) if child.type in ("code_inline", "value") else None
                if found:
                    at = max(0, origin.text.find(child.content))
                    _warn(page, found[0], origin.place(at + found.start()))


def _warn(page: PageState, character: str, place: Place) -> None:
    name = f"{ord(character):04X}"
    hint = f"take it out, or write it as \\u{name.lower()}"
    page.reporter.warn("hidden-character", f"this code holds the invisible character U+{name}", place, hint)
