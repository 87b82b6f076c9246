"""The callout kinds, one row each. A site adds rows under `callouts:` in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .state import KindRow

THEOREM = "theorem"
"""Callout kind whose counter numbers all kinds, if the site sets one shared counter."""

ROWS: tuple[tuple[KindRow, tuple[str, ...]], ...] = (
    (KindRow("note", "Note"), ()),
    (KindRow("info", "Info"), ("todo",)),
    (KindRow("tip", "Tip"), ()),
    (KindRow("hint", "Hint", numbered=True, icon="tip", color="green", counter="hint"), ()),
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
    (KindRow("notes", "Speaker notes", icon="note", color="grey"), ()),
    (KindRow("definition", "Definition", numbered=True), ()),
    (KindRow(THEOREM, "Theorem", numbered=True), ()),
    (KindRow("lemma", "Lemma", numbered=True), ()),
    (KindRow("corollary", "Corollary", numbered=True), ()),
    (KindRow("proposition", "Proposition", numbered=True), ("prop",)),
    (KindRow("remark", "Remark"), ()),
    (KindRow("proof", "Proof"), ()),
    (KindRow("conjecture", "Conjecture", numbered=True, style="theorem"), ()),
    (KindRow("criterion", "Criterion", numbered=True, style="theorem"), ()),
    (KindRow("fact", "Fact", numbered=True, style="theorem"), ()),
    (KindRow("axiom", "Axiom", numbered=True, style="definition"), ()),
    (KindRow("assumption", "Assumption", numbered=True, style="definition"), ()),
    (KindRow("hypothesis", "Hypothesis", numbered=True, style="definition"), ()),
    (KindRow("property", "Property", numbered=True, style="definition"), ()),
    (KindRow("construction", "Construction", numbered=True, style="definition"), ()),
    (KindRow("claim", "Claim", numbered=True, style="remark"), ()),
    (KindRow("notation", "Notation", numbered=True, style="remark"), ()),
    (KindRow("observation", "Observation", numbered=True, style="remark"), ()),
    # A sheet of exercises counts from 1, also if the statements share one counter.
    (KindRow("exercise", "Exercise", numbered=True, style="definition", counter="exercise"), ()),
    (KindRow("problem", "Problem", numbered=True, style="definition", counter="problem"), ()),
    (KindRow("algorithm", "Algorithm", numbered=True, style="definition", counter="algorithm"), ()),
    (KindRow("solution", "Solution", numbered=True, style="remark", counter="solution"), ()),
    (KindRow("answer", "Answer", numbered=True, style="remark", counter="answer"), ()),
)
"""Each kind with its aliases (from GitHub, Obsidian and LaTeX). The styles are those of the guide to amsthm
(American Mathematical Society, *Using the amsthm package*, section 3)."""


EXERCISES = frozenset(("exercise", "problem"))
SOLUTIONS = frozenset(("solution", "answer"))
STATEMENTS = ("proof", "remark", "example", *(row.name for row, _ in ROWS if row.numbered))
"""Kinds for mathematical statements."""
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
