"""The callout kinds: one row each. A site adds rows under `callouts:` in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .state import KindRow

THEOREM = "theorem"
"""The kind that counts for all others where they share one count."""

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
"""Each kind with the other names it goes by (GitHub's, Obsidian's, LaTeX's)."""


MARGIN = KindRow("margin", "")
"""A note in the margin, unless a site has a kind of that name: no box, and no title but the author's."""


def kind_table(
    own: Iterable[tuple[KindRow, tuple[str, ...]]] = (),
) -> Mapping[str, KindRow]:
    """Every name → its kind; rows in `own` come last and win."""
    table: dict[str, KindRow] = {}
    for row, names in (*ROWS, *own):
        for name in (row.name, *names):
            table[name.casefold()] = row
    return MappingProxyType(table)
