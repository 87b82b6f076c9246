"""Statements of a page, such as theorems, and its references to statements, in text order.

A proof belongs to the statement that its title refers to, otherwise to the one that contains it, otherwise to
the last one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from ..model.documents import PageStatements, Statement, StatementUse
from ..syntax.headings import plain_text
from ..syntax.kinds import EXERCISES
from ..syntax.records import Callout, Heading, Math, XRef, get_record
from ..syntax.references.labels import Label
from ..syntax.references.references import label_id
from .context import PageRendering
from .notes import label_text
from .numbers import html_within_links

_REFERENCE = lazy_pattern(r"\\(?:eq)?ref\s*\{\s*([^{}]*?)\s*\}")
_STATEMENT_KINDS = frozenset({"thm", "eq"})


def page_statements(rendering: PageRendering) -> PageStatements:
    """Return the numbered statements and equations of the page, and its references to those of all pages."""
    labels = rendering.parsed.labels
    refers = any(token.type == "xref" for token in _inlines(rendering.parsed.tokens))
    if not refers and not any(label.kind in _STATEMENT_KINDS for label in labels.values()):
        return PageStatements()
    reader = _StatementCollector(rendering)
    reader.read(rendering.parsed.tokens)
    return PageStatements(tuple(reader.statements), tuple(reader.uses))


def _inlines(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


class _StatementCollector:
    """Collector of statements and references, in one pass over a page."""

    def __init__(self, rendering: PageRendering) -> None:
        self._rendering = rendering
        self._labels = rendering.parsed.labels
        self.statements: list[Statement] = []
        self.uses: list[StatementUse] = []
        self._section = self._anchor = ""
        self._open: list[tuple[str, bool]] = []
        """For each open callout: id of the statement that it is, proves or is part of, and whether it is in a
        proof."""
        self._last = ""
        """Id of the last statement that has ended; empty before the first."""

    def read(self, tokens: Sequence[Token]) -> None:
        """Collect the statements and references in all tokens of a page."""
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                heading = get_record(token, Heading)
                self._anchor, self._section = heading.id, heading.text
            elif token.type == "callout_open":
                self._begin(get_record(token, Callout), tokens[index + 1 : index + 3])
            elif token.type == "callout_close":
                statement, in_proof = self._open.pop()
                self._last = statement if statement and not in_proof else self._last
            elif token.type == "math_display":
                self._formula(get_record(token, Math))
            for child in token.children or ():
                if child.type == "xref":
                    self._refer(get_record(child, XRef))
                elif child.type in ("math_inline", "math_display"):
                    self._formula(get_record(child, Math))

    def _begin(self, callout: Callout, behind: Sequence[Token]) -> None:
        title = (
            next((token for token in behind if token.type == "inline"), None) if callout.has_title else None
        )
        outer, in_proof = self._open[-1] if self._open else ("", False)
        if callout.kind == "proof":
            named = (
                get_record(child, XRef)
                for child in (title.children or () if title else ())
                if child.type == "xref"
            )
            target = next((ref.target for ref in named if not ref.page), "")
            self._open.append((target or (outer if not in_proof else "") or self._last, True))
            return
        label = self._labels.get(callout.id)
        if label is None or label.kind != "thm":
            self._open.append((outer, in_proof))
            return
        words = plain_text(title.children or (), self._rendering.parsed.page) if title else ""
        name = label_text(self._rendering, label)
        is_exercise = callout.kind in EXERCISES
        typeset, words = self._typeset(title), " ".join(words.split())
        self.statements.append(Statement(label.id, name, words, typeset, is_exercise=is_exercise))
        self._open.append((label.id, False))

    def _typeset(self, title: Token | None) -> str:
        """Return a statement's title as HTML; empty if it contains no formula, because plain text is enough
        then."""
        children = (title.children or ()) if title else ()
        if not any(child.type == "math_inline" for child in children):
            return ""
        return html_within_links(self._rendering.copy_without_report(), children)

    def _formula(self, math: Math) -> None:
        statement, in_proof = self._open[-1] if self._open else ("", False)
        for row in math.rows:
            label = self._labels.get(row.id)
            if label is not None and label.number:
                parent = "" if in_proof else statement
                name = label_text(self._rendering, label)
                self.statements.append(Statement(row.id, name, parent=parent, is_equation=True))
        if "ref" in math.tex:
            for found in _REFERENCE.finditer(math.tex):
                page, _, name = found[1].rpartition("#")
                place = math.origin.place(found.start(), len(found[0]))
                self._refer(XRef(label_id(name), page, "number", place, found[1]))

    def _refer(self, ref: XRef) -> None:
        rendering = self._rendering
        url = rendering.tools.post_url(ref.page, rendering.document) if ref.page else ""
        label = self._label(ref)
        if label is None or label.kind not in _STATEMENT_KINDS:
            return
        statement, in_proof = self._open[-1] if self._open else ("", False)
        if not url and ref.target == statement:
            # leave out the reference in a proof's title, and one from a statement to itself
            return
        place = ref.place if in_proof else None
        anchor = statement or self._anchor
        self.uses.append(StatementUse(url, label.id, anchor, self._section, statement, in_proof, place))

    def _label(self, ref: XRef) -> Label | None:
        tools = self._rendering.tools
        labels = tools.labels(ref.page, self._rendering.document) if ref.page else self._rendering.labels
        return labels.get(ref.target) if labels else None
