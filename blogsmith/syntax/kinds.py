"""The callout kinds, one row each. A site adds rows under `callouts:` in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .state import KindRow

THEOREM = "theorem"
"""Kind whose counter is used if all kinds share one counter."""

ROWS: tuple[tuple[KindRow, tuple[str, ...]], ...] = (
    (KindRow("note", "Note"), ()),
    (KindRow("info", "Info"), ("todo",)),
    (KindRow("tip", "Tip"), ("hint",)),
    (KindRow("important", "Important"), ()),
    (KindRow("warning", "Warning"), ("attention",)),
    (KindRow("caution", "Caution"), ()),
    (KindRow("danger", "Danger"), ("error", "bug", "fail", "failure", "missing")),
    (KindRow("critical", "Critical"), ()),
    (KindRow("success", "Success"), ("check", "done")),
    (KindRow("question", "Question"), ("help",)),
    (KindRow("faq", "FAQ", icon="question", color="teal"), ()),
    (KindRow("abstract", "Abstract"), ("summary", "tldr")),
    (KindRow("example", "Example"), ()),
    (KindRow("quote", "Quote"), ("cite",)),
    (KindRow("definition", "Definition", numbered=True), ()),
    (KindRow(THEOREM, "Theorem", numbered=True), ()),
    (KindRow("lemma", "Lemma", numbered=True), ()),
    (KindRow("corollary", "Corollary", numbered=True), ()),
    (KindRow("proposition", "Proposition", numbered=True), ()),
    (KindRow("remark", "Remark"), ()),
    (KindRow("proof", "Proof"), ()),
)
"""Each kind with its aliases (from GitHub, Obsidian and LaTeX)."""


MARGIN = KindRow("margin", "")
"""Kind of a margin note, unless the site defines a kind of that name. It has no box and no default title."""


def kind_table(
    own: Iterable[tuple[KindRow, tuple[str, ...]]] = (),
) -> Mapping[str, KindRow]:
    """Return a table of all names and their kinds. Rows in `own` override earlier ones."""
    table: dict[str, KindRow] = {}
    for row, names in (*ROWS, *own):
        for name in (row.name, *names):
            table[name.casefold()] = row
    return MappingProxyType(table)
