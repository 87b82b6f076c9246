"""Numbers of equations, theorems, figures, tables and listings; each kind has its own counter per page.

Labels are collected at the same time, so that this page and other posts can refer to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from markdown_it.token import Token
from msgspec.structs import replace

from ..base.diagnostics.model import Place
from ..base.patterns import lazy_pattern
from ..model.cells import Cell
from ..model.tex_macros import Macro
from .headings import begins_appendix, has_class
from .math.equations import begin_subequations, end_subequations, number_display, read_inline
from .records import (
    Callout,
    Fence,
    Figure,
    Heading,
    Math,
    NumberedLine,
    Shortcode,
    TableRecord,
    Withheld,
    attach_record,
    get_record,
)
from .references.labels import BY_SECTION, Label, PageNumbers, is_figure_id, label_hint
from .references.references import label_id
from .solutions import WITHHELD
from .state import PageState

MAX_TAG = 500
"""Maximum length of a tag, in characters. Tags that contain each other could otherwise grow without limit."""
_REFERENCE = lazy_pattern(r"\\(?:eqref|ref)\s*\{\s*([^{}]*?)\s*\}")


@dataclass(eq=False, slots=True)
class _Tagged:
    """A row whose tag refers to other equations."""

    token: Token
    row: int
    is_filled: bool = False
    is_open: bool = False
    """Whether this tag waits until the tags that it refers to are filled in."""

    @property
    def math(self) -> Math:
        return get_record(self.token, Math)

    @property
    def id(self) -> str:
        return self.math.rows[self.row].id

    @property
    def names(self) -> list[str]:
        """The labels that the tag refers to, as written."""
        return _REFERENCE.findall(self.math.rows[self.row].number)


def fill_tags(displays: Sequence[Token], numbers: PageNumbers) -> None:
    """Replace the references in tags with the numbers of their targets."""
    waiting = [
        _Tagged(token, row)
        for token in displays
        for row, mark in enumerate(get_record(token, Math).rows)
        if "ref" in mark.number and _REFERENCE.search(mark.number)
    ]
    by_id = {tagged.id: tagged for tagged in waiting if tagged.id}
    for first in waiting:
        stack = [first]
        while stack:
            needed = _next_required(stack[-1], by_id, numbers)
            if needed:
                needed.is_open = True
                stack.append(needed)
            else:
                _fill(stack.pop(), numbers)


def _next_required(tagged: _Tagged, by_id: Mapping[str, _Tagged], numbers: PageNumbers) -> _Tagged | None:
    """Return another tag that must be filled in before this one, or None. Report circular references."""
    tagged.is_open = True
    for name in () if tagged.is_filled else tagged.names:
        other = by_id.get(label_id(name))
        if other and other.is_open and not other.is_filled:
            message = "this tag refers to itself, directly or through another tag"
            hint = f"remove the reference to `{name}` from the tag"
            numbers.page.reporter.error("math-syntax", message, _tag_place(name, tagged.math), hint)
            other.is_filled = True
        elif other and not other.is_filled:
            return other
    return None


def _fill(tagged: _Tagged, numbers: PageNumbers) -> None:
    math = tagged.math
    tagged.is_filled = True
    for name in tagged.names:
        if label_id(name) not in numbers.labels:
            _report_undefined(name, math, numbers)
    mark = math.rows[tagged.row]
    number = _REFERENCE.sub(lambda found: _number(numbers.labels.get(label_id(found[1]))), mark.number)
    if len(number) > MAX_TAG:
        message = f"this tag is longer than {MAX_TAG} characters"
        place = _tag_place(tagged.names[0], math)
        numbers.page.reporter.error("math-limit", message, place, "write a shorter tag")
        number = "?"
    rows = [*math.rows]
    rows[tagged.row] = replace(mark, number=number)
    attach_record(tagged.token, replace(math, rows=tuple(rows)))
    if mark.id in numbers.labels:
        numbers.labels[mark.id] = replace(numbers.labels[mark.id], number=number)


def _number(label: Label | None) -> str:
    # An equation whose tag refers to itself has no number yet.
    return label.number if label and not _REFERENCE.search(label.number) else "?"


def _report_undefined(name: str, math: Math, numbers: PageNumbers) -> None:
    near = numbers.page.reporter.nearest(label_id(name), numbers.labels)
    near = near.replace("-", ":", 1) if near and ":" in name else near
    hint = f"did you mean `{near}`?" if near else label_hint(name)
    numbers.page.reporter.error("ref-undefined", f'label not found: "{name}"', _tag_place(name, math), hint)


def _tag_place(name: str, math: Math) -> Place:
    found = next((f for f in _REFERENCE.finditer(math.tex) if f[1] == name), None)
    return math.origin.place(found.start(), len(found[0])) if found else math.origin.place(0)


_NUMBERED_INLINE = frozenset({"math_display", "math_inline", "shortcode"})
"""Inline tokens that can have a number or label."""
_SECTION_LEVEL = 2
_WITHHELD_END = "withheld_end"
"""Type of the token after the tokens of a solution that is left out."""


def number_page(
    tokens: Sequence[Token],
    page: PageState,
    numbering: str,
    macros: Mapping[str, str | Macro],
    head: Sequence[Token] = (),
    title: Label | None = None,
) -> dict[str, Label]:
    """Assign all numbers in reading order. Return the labels of the page by id.

    numbering: Value of `math.numbering`.
    head: Inline tokens of title and description.
    title: Label of the heading that is the title.
    """
    by_section = numbering.endswith(BY_SECTION)
    numbers = PageNumbers(page, numbering.removesuffix(BY_SECTION), by_section, macros)
    if title:
        numbers.add(title)
    renumbered: dict[int, Callout | Figure] = {}
    found = [token for token in _flat(tokens) if token.type in _RULES or token.meta]
    for token in (*(t for t in head if t.type == "math_inline"), *found):
        if token.type in _RULES:
            _RULES[token.type](token, numbers)
        elif token.type == "callout_open":
            renumbered |= _number_callout(token, numbers)
        elif token.type in ("figure_open", "gallery_open") and "figure" in token.meta:
            renumbered |= _number_figure(token, numbers)
        # Title, body and end of a block share its record.
        for record in (token.meta.get("callout"), token.meta.get("figure")):
            if id(record) in renumbered:
                attach_record(token, renumbered[id(record)])
    fill_tags([token for token in found if token.type == "math_display"], numbers)
    return numbers.labels


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        if token.type == WITHHELD:
            yield from _flat(get_record(token, Withheld).tokens)
            yield Token(_WITHHELD_END, "", 0)
        for child in token.children or ():
            if child.type in _NUMBERED_INLINE:
                yield child


def _number_callout(token: Token, numbers: PageNumbers) -> dict[int, Callout | Figure]:
    """Return a map with one entry: `id()` of the callout's record → a copy of the record with its number. The
    map is empty if the callout has no id."""
    callout = get_record(token, Callout)
    if not callout.id:
        return {}
    kind = numbers.page.options.kinds.get(callout.kind)
    number = numbers.next_statement(kind.counter or kind.name) if kind and kind.numbered else ""
    place = _place(token, numbers, callout.id)
    label = Label(callout.id, "thm", callout.title, number or callout.title, place)
    return {id(callout): replace(callout, number=number, id=numbers.add(label))}


def _number_figure(token: Token, numbers: PageNumbers) -> dict[int, Callout | Figure]:
    """Return a map with one entry: `id()` of the figure's record → a copy of the record with its number."""
    figure = get_record(token, Figure)
    if not figure.id:
        return {}
    name, number = numbers.number_figure(figure.id, _place(token, numbers, figure.id))
    return {id(figure): replace(figure, number=number, id=name)}


def _place(token: Token, numbers: PageNumbers, name: str) -> Place:
    """Return the position of the id `name` in the lines of a block or in the line before it. Return the start
    of the block if the id is not found."""
    page = numbers.page
    first, end = token.map or (0, 1)
    pattern = re.escape(name).replace(r"\-", "[:-]", 1).replace("tbl", "ta?bl?")
    written = re.compile(rf"(?:#|\\label\{{)({pattern})(?![\w-])")
    for line in (*range(first, min(end, len(page.lines))), first - 1):
        found = written.search(page.lines[line]) if line >= 0 else None
        if found:
            return page.line_place(page.line_starts[line] + found.start(1), len(found[1]))
    return page.line_place(page.line_starts[first])


def _number_shortcode(token: Token, numbers: PageNumbers) -> None:
    call = get_record(token, Shortcode)
    if call.id:
        name, number = numbers.number_figure(call.id, call.place)
        attach_record(token, replace(call, number=number, id=name))


def _number_table(token: Token, numbers: PageNumbers) -> None:
    table = get_record(token, TableRecord)
    ordinal = numbers.count("table")
    number = ""
    if table.id:
        number = numbers.next_number("tbl")
        name = numbers.add(Label(table.id, "tbl", "Table", number, _place(token, numbers, table.id)))
        table = replace(table, id=name)
    attach_record(token, replace(table, ordinal=ordinal, number=number))


def _number_fence(token: Token, numbers: PageNumbers) -> None:
    """Assign a number to a fence that is a listing or drawing, and to its cell's output if that is a figure
    or table."""
    fence = token.meta.get("fence")
    if isinstance(fence, Fence) and fence.language in numbers.page.options.diagram_languages:
        _number_diagram(token, fence, numbers)
    elif isinstance(fence, Fence):
        _number_listing(token, fence, numbers)
    _number_cell(token, numbers)


def _number_diagram(token: Token, fence: Fence, numbers: PageNumbers) -> None:
    if fence.id:
        name, number = numbers.number_figure(fence.id, _place(token, numbers, fence.id))
        attach_record(token, replace(fence, number=number, id=name))


def _number_listing(token: Token, fence: Fence, numbers: PageNumbers) -> None:
    own = fence.listing or fence.id or str(token.attrs.get("id", ""))
    if not own.startswith("lst-") or _is_hidden(token):
        return
    number = numbers.next_number("lst")
    place = fence.listing_place or _place(token, numbers, own)
    name = numbers.add(Label(own, "lst", "Listing", number, place))
    attach_record(token, replace(fence, listing=name, number=number, id="" if own == fence.id else fence.id))


def _is_hidden(token: Token) -> bool:
    """Return whether a cell's code is hidden."""
    cell = token.meta.get("cell")
    return isinstance(cell, Cell) and not (cell.options.include and cell.options.echo)


def _number_cell(token: Token, numbers: PageNumbers) -> None:
    """Assign a number to the output of a cell with a label `fig-…` or `tbl-…`, if it can show any."""
    cell = token.meta.get("cell")
    if not isinstance(cell, Cell) or not (cell.is_run and cell.options.include and cell.options.output):
        return
    place = cell.options.places.get("label", cell.place)
    if is_figure_id(cell.label):
        name, number = numbers.number_figure(cell.label, place)
        if name:
            attach_record(token, replace(cell, figure_number=number))
    elif cell.label.startswith("tbl-"):
        number = numbers.next_number("tbl")
        if numbers.add(Label(cell.label, "tbl", "Table", number, place)):
            attach_record(token, replace(cell, table_number=number))


def _label_heading(token: Token, numbers: PageNumbers) -> None:
    heading = get_record(token, Heading)
    if begins_appendix(token):
        numbers.begin_appendix()
    if heading.level == _SECTION_LEVEL and not has_class(token, "unnumbered"):
        numbers.begin_section()
    if "id" in token.attrs:
        place = _place(token, numbers, heading.id)
        is_text = not heading.number
        label = Label(heading.id, "sec", "Section", heading.number or heading.text, place, is_text=is_text)
        numbers.add(label)


def _label_line(token: Token, numbers: PageNumbers) -> None:
    if "numberedline" in token.meta:
        line = get_record(token, NumberedLine)
        place = _place(token, numbers, line.id)
        numbers.add(Label(line.id, "line", "Line", str(line.number), place))


def _begin_withheld(token: Token, numbers: PageNumbers) -> None:
    numbers.is_withheld = token.type == WITHHELD


_RULES: Mapping[str, Callable[[Token, PageNumbers], None]] = MappingProxyType(
    {
        "math_display": number_display,
        "math_inline": read_inline,
        "subequations_open": begin_subequations,
        "subequations_close": end_subequations,
        "shortcode": _number_shortcode,
        "fence": _number_fence,
        "table_open": _number_table,
        "heading_open": _label_heading,
        "list_item_open": _label_line,
        **dict.fromkeys((WITHHELD, _WITHHELD_END), _begin_withheld),
    }
)
