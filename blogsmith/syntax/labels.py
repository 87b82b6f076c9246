"""Numbers: equations, theorem-like callouts, figures and tables, each counted through the page.

A display is numbered when it carries a label or `\\tag` (`labelled`), always for the numbered
environments too (`all`), or never (`none`). Labels are collected so that other pages can refer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it.token import Token

from ..errors import Place
from .records import Callout, Figure, Heading, Math, RowMark, Shortcode, Table, get, put
from .refs import label_id
from .state import PageState, Row

_SINGLE = ("equation", "displaymath", "math", "multline")


@dataclass(frozen=True, slots=True)
class Label:
    """Something a reference can point to."""

    id: str
    kind: str
    """`eq`, `fig`, `tbl`, `thm`, `sec`."""
    name: str
    """Word before the number: `Equation`, `Theorem`."""
    number: str
    """As printed, without parentheses; the heading's text for an unnumbered section."""
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

    def add(self, label: Label) -> None:
        """Remember a label; the second use of an id is an error."""
        first = self.labels.get(label.id)
        if first:
            self.page.reporter.error(
                "label-twice", f"label {label.id} is used on line {first.place.line} already", label.place
            )
            return
        self.labels[label.id] = label


def number_page(tokens: Sequence[Token], page: PageState, numbering: str) -> dict[str, Label]:
    """Number everything in reading order; the labels of the page by id."""
    numbers = Numbers(page, numbering)
    for token in _flat(tokens):
        if token.type == "math_display":
            _number_math(token, numbers)
        elif token.type == "callout_open":
            _number_callout(token, tokens, numbers)
        elif token.type == "figure_open":
            _number_figure(token, tokens, numbers)
        elif token.type == "shortcode":
            _number_shortcode(token, numbers)
        elif token.type == "table_open":
            _number_table(token, numbers)
        elif token.type == "heading_open":
            _label_heading(token, numbers)
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
    rows = list(structure.rows)
    # `equation` and `multline` are one unit whatever their rows
    single = structure.environment.rstrip("*") in ("", *_SINGLE)
    marks = [_mark(row, structure.environment, math, numbers) for row in rows]
    if single:
        marks = [next((m for m in marks if m.number), RowMark())]
    if math.label:
        marks = _label_block(marks, math, numbers)
    put(token, replace(math, rows=tuple(marks)))


def _mark(row: Row, environment: str, math: Math, numbers: Numbers) -> RowMark:
    automatic = numbers.numbering == "all" and environment and not environment.endswith("*")
    wanted = bool(row.tag or row.label or (automatic and not row.notag))
    if numbers.numbering == "none" and not row.tag:
        wanted = bool(row.label)
    if not wanted:
        return RowMark()
    number = row.tag or numbers.next("eq")
    name = label_id(row.label) if row.label else ""
    if name:
        place = math.origin.place(row.label_offset, row.label_length)
        numbers.add(Label(name, "eq", "Equation", number, place))
    return RowMark(number, name)


def _label_block(marks: list[RowMark], math: Math, numbers: Numbers) -> list[RowMark]:
    """`{#eq:x}` behind a display names its first numbered row, else numbers it as a whole."""
    at = next((i for i, mark in enumerate(marks) if mark.number and not mark.id), None)
    place = math.origin.place(0)
    if at is None:
        at = 0 if not marks or not marks[0].id else None
    if at is None:
        place = math.origin.place(0)
        numbers.page.reporter.error(
            "label-twice", f"this formula has a label already, besides {math.label}", place
        )
        return marks
    marks = marks or [RowMark()]
    number = marks[at].number or numbers.next("eq")
    numbers.add(Label(math.label, "eq", "Equation", number, place))
    return [*marks[:at], RowMark(number, math.label), *marks[at + 1 :]]


def _number_callout(token: Token, tokens: Sequence[Token], numbers: Numbers) -> None:
    callout = get(token, Callout)
    if not callout.id:
        return
    kind = numbers.page.options.kinds.get(callout.kind)
    number = numbers.next(callout.kind) if kind and kind.numbered else ""
    place = numbers.page.line_place(numbers.page.line_starts[(token.map or [0])[0]])
    numbers.add(Label(callout.id, "thm", callout.title, number or callout.title, place))
    changed = replace(callout, number=number)
    for other in tokens:
        if other.meta.get("callout") is callout:
            put(other, changed)


def _number_figure(token: Token, tokens: Sequence[Token], numbers: Numbers) -> None:
    figure = get(token, Figure)
    if figure.id:
        place = numbers.page.line_place(numbers.page.line_starts[(token.map or [0])[0]])
        number = numbers.next("fig")
        numbers.add(Label(figure.id, "fig", "Figure", number, place))
        put(token, replace(figure, number=number))
        closing = next(t for t in tokens[tokens.index(token) :] if t.type == "figure_close")
        put(closing, replace(figure, number=number))


def _number_shortcode(token: Token, numbers: Numbers) -> None:
    call = get(token, Shortcode)
    if call.id:
        number = numbers.next("fig")
        numbers.add(Label(call.id, "fig", "Figure", number, call.place))
        put(token, replace(call, number=number))


def _number_table(token: Token, numbers: Numbers) -> None:
    table = get(token, Table)
    ordinal = int(numbers.next("table"))
    number = ""
    if table.id:
        place = numbers.page.line_place(numbers.page.line_starts[(token.map or [0])[0]])
        number = numbers.next("tbl")
        numbers.add(Label(table.id, "tbl", "Table", number, place))
    put(token, replace(table, ordinal=ordinal, number=number))


def _label_heading(token: Token, numbers: Numbers) -> None:
    heading = get(token, Heading)
    if "id" in token.attrs:
        place = numbers.page.line_place(numbers.page.line_starts[(token.map or [0])[0]])
        numbers.add(Label(heading.id, "sec", "Section", heading.number or heading.text, place))
