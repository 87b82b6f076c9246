"""Whether a table that code gives is wider than a column of text, as far as its words tell.

Themes set such a cell as wide as text and margin, code and all: by style alone they could not know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .html_tree import Node

_COLUMN = 80
"""Characters of a table in a column of text as wide as theme paper's."""
_GAP = 3
"""Characters that the space between two columns takes."""


def is_wide(table: Node) -> bool:
    """Whether its lines, which do not break, are longer than a column of text. Cells over several columns
    are passed over: those below them are seldom narrower.
    """
    widest: dict[int, int] = defaultdict(int)
    for row in _rows(table):
        at = 0
        for cell in row.children:
            if isinstance(cell, Node) and cell.tag in ("td", "th"):
                span = cell.attributes.get("colspan", "").strip()
                if span in ("", "1"):
                    widest[at] = max(widest[at], len(" ".join(cell.text().split())))
                at += int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1
    return sum(widest.values()) + _GAP * len(widest) > _COLUMN


def _rows(node: Node) -> Iterator[Node]:
    for child in node.children:
        if isinstance(child, Node) and child.tag == "tr":
            yield child
        elif isinstance(child, Node) and child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)
