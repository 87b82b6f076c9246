"""References in titles of folds: words alone. The title is a button, and a button may hold no links.

Source: WAI-ARIA 1.2, `button`: its children are presentational, so a link in it is none to a screen reader.
"""

from __future__ import annotations

from itertools import pairwise

from markdown_it.rules_core import StateCore
from msgspec.structs import replace

from .records import Callout, XRef, attach_record, record_of


def folded_titles(state: StateCore) -> None:
    """Core rule: references in titles of folded callouts and labels of collapsibles lead nowhere."""
    for before, token in pairwise(state.tokens):
        opens = before.type == "callout_title_open" and record_of(before, Callout).fold
        if opens or before.type == "collapsible_label_open":
            for child in token.children or ():
                if child.type == "xref":
                    attach_record(child, replace(record_of(child, XRef), is_linked=False))
