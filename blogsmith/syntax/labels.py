"""Numbers: equations, theorem-like callouts, figures and tables, each counted through the page.

A display is numbered when it carries a label or `\\tag` (`labelled`), unless it is starred or says
`\\notag` (`all`), or only by `\\tag` (`none`). Labels are collected so that other pages can refer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it.token import Token

from ..errors import Place
from .records import Callout, Figure, Heading, Math, RowMark, Shortcode, Table, get, put
from .refs import label_id
from .state import PageState, Row


@dataclass(frozen=True, slots=True)
class Label:
    """Something a reference can point to."""

    id: str
    kind: str
    """`eq`, `fig`, `tbl`, `thm`, `sec`."""
    name: str
    """Word before the number: `Equation`, `Theorem`."""
    number: str
    """As printed, without parentheses; the heading's text for an unnumbered section, empty for an
    equation that shows no number."""
    place: Place


@dataclass(slots=True)
class Numbers:
    """The counters of one page."""

    page: PageState
    numbering: str
    counts: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)

    def next(self, kind: str) -> str:
        """The next number of `kind`."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return str(self.counts[kind])

    def add(self, label: Label) -> str:
        """Remember a label; its id, or empty for the second use of an id, which is an error."""
        first = self.labels.get(label.id)
        if first:
            self.page.reporter.error(
                "label-twice", f"label {label.id} is used on line {first.place.line} already", label.place
            )
            return ""
        self.labels[label.id] = label
        return label.id


def number_page(tokens: Sequence[Token], page: PageState, numbering: str) -> dict[str, Label]:
    """Number everything in reading order; the labels of the page by id."""
    numbers = Numbers(page, numbering)
    renumbered: dict[int, Callout | Figure] = {}
    for token in _flat(tokens):
        if token.type == "math_display":
            _number_math(token, numbers)
        elif token.type == "callout_open":
            renumbered |= _number_callout(token, numbers)
        elif token.type == "figure_open":
            renumbered |= _number_figure(token, numbers)
        elif token.type == "shortcode":
            _number_shortcode(token, numbers)
        elif token.type == "table_open":
            _number_table(token, numbers)
        elif token.type == "heading_open":
            _label_heading(token, numbers)
        # title, body and end of a block share its record
        for record in (token.meta.get("callout"), token.meta.get("figure")):
            if id(record) in renumbered:
                put(token, renumbered[id(record)])
    return numbers.labels


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        for child in token.children or ():
            if child.type in ("math_display", "shortcode"):
                yield child


def _number_math(token: Token, numbers: Numbers) -> None:
    math = get(token, Math)
    structure = numbers.page.options.split_rows(math.tex)
    marks = [_mark(row, structure.environment, math, numbers) for row in structure.rows]
    if math.label:
        marks = _label_block(marks, math, numbers)
    put(token, replace(math, rows=tuple(marks)))


def _mark(row: Row, environment: str, math: Math, numbers: Numbers) -> RowMark:
    number = row.tag or ""
    if not number and numbers.numbering != "none":
        automatic = numbers.numbering == "all" and not environment.endswith("*") and not row.notag
        number = numbers.next("eq") if row.label or automatic else ""
    name = label_id(row.label) if row.label else ""
    if name:
        place = math.origin.place(row.label_offset, row.label_length)
        name = numbers.add(Label(name, "eq", "Equation", number, place))
    return RowMark(number, name, row.bare_tag)


def _label_block(marks: list[RowMark], math: Math, numbers: Numbers) -> list[RowMark]:
    """`{#eq:x}` behind a display names its first numbered row, else numbers it as a whole."""
    place = math.label_place or math.origin.place(0)
    at = next((i for i, mark in enumerate(marks) if mark.number and not mark.id), 0)
    if marks[at].id:
        numbers.page.reporter.error(
            "label-twice", f"this formula has the label {marks[at].id} already", place, "keep one of them"
        )
        return marks
    number = marks[at].number or ("" if numbers.numbering == "none" else numbers.next("eq"))
    name = numbers.add(Label(math.label, "eq", "Equation", number, place))
    return [*marks[:at], RowMark(number, name, marks[at].bare), *marks[at + 1 :]]


def _number_callout(token: Token, numbers: Numbers) -> dict[int, Callout | Figure]:
    """Identity of the callout's record → the record with its number."""
    callout = get(token, Callout)
    if not callout.id:
        return {}
    kind = numbers.page.options.kinds.get(callout.kind)
    number = numbers.next(callout.kind) if kind and kind.numbered else ""
    place = _place(token, numbers, callout.id)
    label = Label(callout.id, "thm", callout.title, number or callout.title, place)
    return {id(callout): replace(callout, number=number, id=numbers.add(label))}


def _number_figure(token: Token, numbers: Numbers) -> dict[int, Callout | Figure]:
    """Identity of the figure's record → the record with its number."""
    figure = get(token, Figure)
    if not figure.id:
        return {}
    number = numbers.next("fig")
    label = Label(figure.id, "fig", "Figure", number, _place(token, numbers, figure.id))
    return {id(figure): replace(figure, number=number, id=numbers.add(label))}


def _place(token: Token, numbers: Numbers, name: str) -> Place:
    """Where the author wrote the id `name` on or before the lines of a block, else its first line."""
    page = numbers.page
    first, end = token.map or (0, 1)
    pattern = re.escape(name).replace(r"\-", "[:-]", 1).replace("tbl", "ta?bl?")
    written = re.compile(rf"#({pattern})(?![\w-])")
    for line in (*range(first, min(end, len(page.lines))), first - 1):
        found = written.search(page.lines[line]) if line >= 0 else None
        if found:
            return page.line_place(page.line_starts[line] + found.start(1), len(found[1]))
    return page.line_place(page.line_starts[first])


def _number_shortcode(token: Token, numbers: Numbers) -> None:
    call = get(token, Shortcode)
    if call.id:
        number = numbers.next("fig")
        name = numbers.add(Label(call.id, "fig", "Figure", number, call.place))
        put(token, replace(call, number=number, id=name))


def _number_table(token: Token, numbers: Numbers) -> None:
    table = get(token, Table)
    ordinal = int(numbers.next("table"))
    number = ""
    if table.id:
        number = numbers.next("tbl")
        name = numbers.add(Label(table.id, "tbl", "Table", number, _place(token, numbers, table.id)))
        table = replace(table, id=name)
    put(token, replace(table, ordinal=ordinal, number=number))


def _label_heading(token: Token, numbers: Numbers) -> None:
    heading = get(token, Heading)
    if "id" in token.attrs:
        place = _place(token, numbers, heading.id)
        numbers.add(Label(heading.id, "sec", "Section", heading.number or heading.text, place))
