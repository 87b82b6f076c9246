r"""Line breaks of wide displays, which browsers use where a display does not fit.

A display stays one `<math>` with the same symbols in the same order, so copying, searching and screen readers
see it once. Elements that belong together become rows, and the theme lays these out as words of a paragraph.
Chromium and Firefox do so for children of `<math>` and of table cells; flex containers lose the baselines in
Firefox, and several `<math>` elements would be several formulas.

A display breaks at wide spaces first, then after relations, then after binary operators, and only then inside
brackets. TeX has the same order in lines of text (TeXbook, chapter 18: `\relpenalty` 500, `\binoppenalty`
700, no breaks inside braces and `\left…\right`). The second and following lines are indented, as in
amsmath's `multline`. A table of lines such as `align` keeps its rows and cells. Its rows break between cells,
so that the relation leads the line.

A display that fits a phone is printed as it is. A wider one has line breaks, and attributes with its widths.
With them `wide.css` computes three steps: it shrinks to `LEAST_SCALE` at least, then breaks, then scrolls.
Its number moves to a line of its own if it does not fit beside the formula. Widths are in em of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ..displays import ESTIMATE_ERROR, LEAST_SCALE, DisplayRoom, FittedDisplay
from .atoms import ORD, PUNCT
from .line_groups import (
    LinePiece,
    group_width,
    print_elements,
    print_group,
    read_pieces,
    split_relations,
    split_wide,
)
from .widths import MeasuredElement, measure, read_elements

STEPS_EM = (14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 29, 32, 35, 39, 43, 48)
"""Widths of boxes in em for which `wide.css` has a rule: lines and tables break in a narrower box."""
_MARKUP = lazy_pattern(r"<[^<>]*>")
_MAX_CHARACTER_EM = 1.0
_DIAGRAM = 'class="math-diagram"'
"""Attribute of a diagram, which has the width that it states and cannot break."""
_NUMBER_GAP_EM = 0.6
_GROWING = lazy_pattern('<mo fence="true" (?:form|maxsize)=')
_CELL_SPARE = 1.06
"""Factor for tables in Firefox, whose cells have room for the widest form of each bracket that grows;
`--spare` of `wide.css` is the same."""


def fit_display(mathml: str, room: DisplayRoom) -> FittedDisplay:
    """Return the display with line breaks if it needs them."""
    if room.wide == "scroll" or not mathml.startswith("<math "):
        return FittedDisplay(mathml)
    inside, end = mathml.index(">") + 1, mathml.rindex("</math>")
    content = mathml[inside:end]
    beside = room.number + _NUMBER_GAP_EM if room.number else 0.0
    if _is_short(content, room.width - beside):
        return FittedDisplay(mathml)
    elements = read_elements(content)
    width = sum(element.width for element in elements)
    spare = _CELL_SPARE if "<mtd" in content and _GROWING.search(content) else 1.0
    if spare * width + beside <= room.width:
        return FittedDisplay(mathml)
    kind, widest = "shrink", width
    if room.wide != "shrink" and width > room.width and _DIAGRAM not in mathml:
        broken = break_display(mathml, elements, room.width)
        mathml, widest = broken.mathml, broken.widest
        kind = _kind(broken, room.wide)
    style = f"--ems:{ESTIMATE_ERROR * width:.1f}"
    if ESTIMATE_ERROR * widest > room.width:
        style += f";--part:{ESTIMATE_ERROR * widest:.1f}"
    if room.number:
        style += f";--number:{room.number:.1f}"
    if room.wide == "break":
        style += ";--least:1"
    return FittedDisplay(mathml, f' data-fit="{kind}" style="{style}"')


def _is_short(content: str, room: float) -> bool:
    """Return whether the display certainly fits into `room` em, by its number of characters."""
    is_text = 'em"/>' not in content and _DIAGRAM not in content
    return is_text and len(_MARKUP.sub("", content)) * _MAX_CHARACTER_EM < room


def _kind(broken: DisplayLines, wide: str) -> str:
    """Return how a display changes, as words for selectors of `wide.css`. wide: see `DisplayRoom`."""
    if not broken.is_table and broken.widest >= broken.width:
        return "shrink"
    whole = broken.width * (1.0 if wide == "break" else LEAST_SCALE)
    step = _step(ESTIMATE_ERROR * (broken.with_table or whole))
    return step if broken.is_table else f"lines {step}"


def _step(width: float) -> str:
    return str(next((step for step in STEPS_EM if step >= width), STEPS_EM[-1]))


INDENT = 1.0
"""Indent of the second and following lines, in em."""
_WIDE_SPACE = lazy_pattern(r'<mspace width="[1-9]\d*(?:\.\d+)?em"/>')
_FENCED = lazy_pattern(r'<mrow(?: intent="[^"]*")?><mo fence="true"')
_SCRIPTED = lazy_pattern(r'<(msu[a-z]+)[^<>]*><mrow(?: (?:intent|arg)="[^"]*")*><mo fence="true"')
_FENCE = lazy_pattern(r'(?:<msu[^<>]*><mrow>)?<mo fence="true"')
_MATRIX = lazy_pattern(r'(?:<msu[^<>]*>)?<mrow(?: arg="a")?><mo fence="true"[^<>]*>[^<]*</mo><mtable')
_ROW = ("<mrow>", "<mrow intent=", "<mrow arg=")
"""Start tags of rows that may be broken. Parts on several lines lose the meaning that the row has as a whole.
A row with a class has a frame or a line through it, and is never broken."""
_TALL = lazy_pattern(r"<(?:mfrac|munder|munderover|mtable)[ >]")
_NO_BREAK_SPACE = "\u00a0"
_BIGG = 'minsize="2.4em" maxsize="2.4em"'
r"""Size of `\bigg`, for a delimiter whose tall content is partly on another line."""
_LINES = lazy_pattern(
    r'<mtable class="math-(?:align|alignat|eqnarray)(?: math-multline)?" displaystyle="true"'
)

_CASES = lazy_pattern(r'<mtable class="math-cases"')
_INNER_LINES = lazy_pattern(r'<mtable class="math-(?:cases|align|alignat)"')


class DisplayLines(Struct, frozen=True):
    """A display with possible line breaks."""

    mathml: str
    width: float
    """Width of the display without breaks, in em."""
    widest: float
    """Width of the widest part between breaks, with its indent, in em."""
    is_table: bool
    """Whether the lines of the display are rows of a table."""
    with_table: float = 0.0
    """Width of the widest part if the tables in the display are not broken; 0 if no table needs a break."""


def _is_lines(element: MeasuredElement) -> bool:
    """Return whether the element is a table of lines, such as `align`, or an array of one column."""
    if element.xml.startswith("<mtable><"):
        return all(len(row.children) == 1 for row in element.children)
    return _LINES.match(element.xml) is not None


def _open_rows(elements: Sequence[MeasuredElement]) -> Sequence[MeasuredElement]:
    """Return the elements of a display. If a single row contains all of them, return its children instead."""
    while len(elements) == 1 and elements[0].xml.startswith("<mrow>") and not _FENCED.match(elements[0].xml):
        elements = elements[0].children
    return elements


def break_display(mathml: str, elements: Sequence[MeasuredElement], room: float) -> DisplayLines:
    """Return a display with possible line breaks. mathml: the `<math>` element. elements: its content. room:
    width of a line, in em."""
    inside, end = mathml.index(">") + 1, mathml.rindex("</math>")
    width = sum(element.width for element in elements)
    elements = _open_rows(elements)
    if len(elements) == 1 and _is_lines(elements[0]):
        broken, widest = _break_table(elements[0], room - INDENT)
        return DisplayLines(f"{mathml[:inside]}{broken}{mathml[end:]}", width, widest + INDENT, True)
    groups = _break_row(elements, room - INDENT)
    whole = max(map(group_width, groups)) + INDENT
    if whole > room:
        groups = [[_break_inner(piece, room - INDENT) for piece in group] for group in groups]
    widest = max(map(group_width, groups)) + INDENT
    if len(groups) < 2 and widest == whole:
        return DisplayLines(mathml, width, width, False)
    rows = "".join(map(print_group, groups))
    with_table = whole if widest < whole else 0.0
    return DisplayLines(f"{mathml[:inside]}{rows}{mathml[end:]}", width, widest, False, with_table)


def _break_inner(piece: LinePiece, room: float) -> LinePiece:
    """Return the element with line breaks in a table (cases or lines) between its growing delimiters. Return
    it unchanged if it fits or contains no table of this kind."""
    if piece.width <= room or not _FENCED.match(piece.xml):
        return piece
    printed, width = "", 0.0
    for child in piece.children:
        xml = child.xml
        if _CASES.match(xml) or (_is_lines(child) and (xml[:8] != "<mtable>" or child is piece.children[-1])):
            around = piece.width - child.width
            xml, widest = _break_table(child, room - around - INDENT)
            width += widest + around + INDENT
        # Rows that are blocks are not centred around the height of a minus sign.
        is_fence = xml.startswith("<mo fence")
        printed += xml.replace("<mo ", '<mo symmetric="false" ', 1) if is_fence else xml
    return replace(piece, xml=f"{_start(piece.xml)}{printed}</mrow>", width=width) if width else piece


def _break_row(elements: Sequence[MeasuredElement], room: float) -> list[list[LinePiece]]:
    """Return the groups between possible breaks. The worst breaks are used only if `room` requires them."""
    groups = _split_at_spaces(list(read_pieces(elements)))
    for starts, limit in _OPENED:
        groups = [
            part
            for group in groups
            for part in (_split_group(group, starts, room) if group_width(group) > limit * room else [group])
        ]
    return [
        part
        for group in groups
        for part in (_split_matrices(group) if group_width(group) > room else [group])
    ]


_OPENED: Sequence[tuple[tuple[str, ...], float]] = (
    ((), 1.0),
    (("<mstyle", *_ROW), 1.0),
    (("<mstyle", *_ROW, "<mtext", "<msu"), 1.2),
)
"""Start tags of elements to break inside a group, and the multiple of the line's width that the group must
exceed. Tried in this order."""


def _split_group(group: list[LinePiece], starts: tuple[str, ...], room: float) -> list[list[LinePiece]]:
    if starts:
        opened = [part for piece in group for part in _open(piece, starts, room)]
        if len(opened) == len(group):
            return [group]
        group = opened
    parts = split_relations(group)
    return split_wide(parts, room) if max(map(group_width, parts)) > room else parts


def _split_matrices(group: list[LinePiece]) -> list[list[LinePiece]]:
    """Return the pieces, separated between the matrices of a product, where there is no operator."""
    parts: list[list[LinePiece]] = [[]]
    was_matrix = False
    for piece in group:
        is_matrix = _MATRIX.match(piece.xml) is not None
        if was_matrix and is_matrix:
            parts.append([])
        was_matrix = is_matrix or (was_matrix and piece.xml.startswith("<mspace"))
        parts[-1].append(piece)
    return parts


def _open(piece: LinePiece, starts: tuple[str, ...], room: float) -> Iterator[LinePiece]:
    """Yield the children of an element that is wide and may be broken; otherwise the element itself. starts:
    start tags of elements that may be broken."""
    start = _start(piece.xml)
    if not start.startswith(starts) or ' class="' in start or piece.width <= room / 2:
        yield piece
        return
    scripted = _SCRIPTED.match(piece.xml)
    is_fenced = scripted or _FENCED.match(piece.xml)
    opens = _may_open_fence(piece, starts) if is_fenced else not start.startswith("<msu")
    if not opens:
        yield piece
        return
    if start.startswith("<mtext"):
        yield from _open_words(piece, start)
        return
    children = _open_scripts(piece, scripted[1]) if scripted else piece.children
    is_tall = _TALL.search(piece.xml, len(start))
    for child in read_pieces(children):
        if is_tall and _FENCE.match(child.xml):
            child = replace(child, xml=child.xml.replace("<mo ", f"<mo {_BIGG} ", 1))
        for part in _open(replace(child, depth=child.depth + piece.depth), starts, room):
            yield _styled(part, start) if start.startswith("<mstyle") else part


def _may_open_fence(piece: LinePiece, starts: tuple[str, ...]) -> bool:
    """Return whether content between growing delimiters may be broken. It may not if it is a matrix or
    contains cases or lines, or if `starts` are not those of the last step in `_OPENED`."""
    return "<mtext" in starts and not _INNER_LINES.search(piece.xml) and not _MATRIX.match(piece.xml)


def _styled(piece: LinePiece, start: str) -> LinePiece:
    """Return the piece inside an element with the start tag `start`, an `<mstyle>`."""
    inside = MeasuredElement(piece.xml, piece.width, piece.children)
    return replace(piece, xml=f"{start}{piece.xml}</mstyle>", children=(inside,))


def _open_scripts(piece: LinePiece, name: str) -> Sequence[MeasuredElement]:
    """Return the parts of a base between delimiters, with the scripts at the last one. name: scripts' tag."""
    base, *scripts = piece.children
    *inside, last = base.children
    # alone in a row, because browsers give no base of scripts its size
    xml = f"<{name}><mrow>{last.xml}</mrow>{''.join([script.xml for script in scripts])}</{name}>"
    return [*inside, MeasuredElement(xml, last.width + piece.width - base.width)]


def _open_words(piece: LinePiece, start: str) -> Iterator[LinePiece]:
    """Yield the words of a text. Spaces become no-break spaces, which browsers do not drop at a line end."""
    text = piece.xml[len(start) : -len("</mtext>")]
    words = text.replace(" ", _NO_BREAK_SPACE).split(_NO_BREAK_SPACE) if "<" not in text else [text]
    for index, word in enumerate(words):
        is_last = index == len(words) - 1
        xml = f"{start}{word}{'' if is_last else _NO_BREAK_SPACE}</mtext>"
        yield LinePiece(xml, ORD if is_last else PUNCT, piece.depth, measure(xml))


def _split_at_spaces(pieces: list[LinePiece]) -> list[list[LinePiece]]:
    r"""Return the groups between spaces of at least `\quad`. A group includes the space at its end."""
    groups: list[list[LinePiece]] = [[]]
    for index, piece in enumerate(pieces):
        groups[-1].append(piece)
        if piece.xml.startswith("<mspace") and _WIDE_SPACE.fullmatch(piece.xml) and index + 1 < len(pieces):
            groups.append([])
    return groups


def _break_table(table: MeasuredElement, room: float) -> tuple[str, float]:
    """Return the table with breaks in its cells, and the width of the widest part between breaks."""
    widest = 0.0
    rows = []
    for row in table.children:
        cells = []
        indent = 0.0
        for cell in row.children:
            start = _start(cell.xml)
            if "eq-cell" in start or not cell.children:
                cells.append(cell.xml)
                # it continues the row above
                indent = INDENT if "width:50%" not in start else 0.0
                continue
            width = sum([child.width for child in cell.children])
            if width <= room - indent and not _WIDE_SPACE.search(cell.xml):
                printed = print_elements(cell.children)
            else:
                groups = _break_row(cell.children, room - indent)
                width = max(map(group_width, groups))
                printed = "".join(map(print_group, groups))
            widest = max(widest, width + indent)
            cells.append(f"{start}{printed}</mtd>")
        rows.append(f"{_start(row.xml)}{''.join(cells)}</mtr>")
    start = _start(table.xml).replace('class="', 'class="math-rows ', 1)
    start = start.replace("<mtable>", '<mtable class="math-rows">')
    return f"{start}{''.join(rows)}</mtable>", widest


def _start(element: str) -> str:
    return element[: element.index(">") + 1]
