"""Layout of a diagram: where its cells, arrows and labels are.

Heights of cells are estimated from their MathML and the heights of glyphs in STIX Two Math. The estimates
only have to keep arrows off the content of cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.etree import ElementTree

from msgspec import Struct
from msgspec.structs import replace

from ..mathml.atoms import group_fragments
from ..mathml.widths import measure
from ..parse.errors import ParseError
from ..parse.parser import Parser
from ..parse.scan import text_of
from ..parse.state import DISPLAY, SCRIPT
from .curves import Curve, Rectangle, along, angle, crossings, hidden_range, left, line, unit
from .records import EMPTY, Arrow, ArrowDiagram, ArrowLabel, End, SizedFormula

AXIS = 0.26
"""Height of fraction bars and horizontal arrows above the baseline."""
SCRIPT_SCALE = 0.71
_LOW = frozenset("acemnorsuvwxzαεικνοπστυω.,:…⋯·∙•−=~∼→←")
_DEEP = frozenset("gjpqyβγζημξρφχψςQ,;()[]{}|∥⟨⟩/∫")
_LARGE: Mapping[str, tuple[float, float]] = MappingProxyType(
    {**dict.fromkeys("∑∏∐⋃⋂⨁⨂⨆⋁⋀", (0.95, 0.45)), **dict.fromkeys("∫∬∭∮", (1.36, 0.86))}
)
"""Operator in display style → height and depth in em."""
_LENGTH_OF_EM = "em"


def typeset(parser: Parser, tokens: Sequence[str], style: int, color: str = "") -> SizedFormula:
    """Return the tokens as MathML with its size. style: TeX style of the content, as in `parse/state.py`."""
    if all(token == " " for token in tokens):
        return EMPTY
    parser.spend(len(tokens))
    xml = group_fragments(parser.parse_group(list(tokens), style))
    is_script, is_display = style >= SCRIPT, style == DISPLAY
    ascent, descent = _extents(ElementTree.fromstring(f"<mrow>{xml}</mrow>"), is_display)
    width = measure(xml, is_display=is_display)
    # `\displaystyle` in a label makes it as large as a cell
    scale = SCRIPT_SCALE if is_script and 'scriptlevel="0"' not in xml else 1.0
    level = ' scriptlevel="1"' if is_script else ""
    level += f' mathcolor="{color}"' if color else ""
    styled = f'<mstyle displaystyle="{str(is_display).lower()}"{level}>{xml}</mstyle>'
    return SizedFormula(styled, width * scale, ascent * scale, descent * scale, text_of(tokens).strip())


def measure_formula(mathml: str) -> tuple[float, float]:
    """Return the width and the height of a `<math>` element in text style, in em. mathml: its XML."""
    ascent, descent = _extents(ElementTree.fromstring(mathml), is_display=False)
    return measure(mathml, is_display=False), ascent + descent


def _extents(element: ElementTree.Element, is_display: bool) -> tuple[float, float]:
    """Return the height above and the depth below the baseline, in em."""
    name, children = element.tag, list(element)
    if name in ("mi", "mn", "mo", "mtext", "a", "span", "code"):
        text = "".join(element.itertext())
        if not text.strip():
            return 0.0, 0.0
        is_large = name == "mo" and is_display
        tall, low = _LARGE.get(text, (0.0, 0.0)) if is_large else (0.0, 0.0)
        return max(tall, 0.48 if set(text) <= _LOW else 0.72), max(
            low, 0.22 * (text == "f" or any(c in _DEEP for c in text))
        )
    if name == "mspace":
        return _length(element, "height"), _length(element, "depth")
    is_display = {"true": True, "false": False}.get(element.get("displaystyle", ""), is_display)
    sizes = [_extents(child, is_display and name != "mfrac") for child in children] or [(0.0, 0.0)]
    up, down = max(size[0] for size in sizes), max(size[1] for size in sizes)
    if name == "mpadded":
        return _length(element, "height", up), _length(element, "depth", down)
    if name == "mfrac":
        # STIX Two Math: FractionNumeratorShiftUp and related constants
        small, up, down = (1.0, 0.68, 0.69) if is_display else (SCRIPT_SCALE, 0.46, 0.4)
        (above, over), (below, under) = sizes[0], sizes[-1]
        up, down = max(up, AXIS + 0.12 + small * over), max(down, 0.12 - AXIS + small * below)
        return up + small * above, down + small * under
    if name in ("msub", "msup", "msubsup", "mmultiscripts"):
        base, scripts = sizes[0], [(SCRIPT_SCALE * a, SCRIPT_SCALE * b) for a, b in sizes[1:]]
        has_low, has_high = name != "msup", name != "msub"
        raised = max((0.36 + a for a, _ in scripts), default=0.0) if has_high else 0.0
        lowered = max((0.16 + b for _, b in scripts), default=0.0) if has_low else 0.0
        return max(base[0], raised), max(base[1], lowered)
    if name in ("mover", "munder", "munderover"):
        extra = [SCRIPT_SCALE * sum(size) + 0.1 for size in sizes[1:]]
        if element.get("accent") == "true":
            return sizes[0][0] + 0.22, sizes[0][1]
        over, under = extra[-1] if name != "munder" else 0.0, extra[0] if name != "mover" else 0.0
        return sizes[0][0] + over, sizes[0][1] + under
    if name in ("msqrt", "mroot"):
        return up + 0.16, down + 0.04
    if name == "mtable":
        total = sum(max(up_down[0], 0.7) + max(up_down[1], 0.3) for up_down in sizes) + 0.1 * (len(sizes) - 1)
        return total / 2 + AXIS, max(0.0, total / 2 - AXIS)
    return up, down


def _length(element: ElementTree.Element, name: str, default: float = 0.0) -> float:
    value = element.get(name, "")
    try:
        return float(value.removesuffix(_LENGTH_OF_EM)) if value else default
    except ValueError:
        return default


LABEL_GAP = 0.17
"""Space between a label and its arrow."""
_WIDTH_ERROR = 1.06
"""An estimated label width, multiplied by this factor, is seldom less than the real width."""
_ROOM = 0.1
"""Space around a label in a gap of its arrow."""
_CLEARANCE = 0.16
"""Half of the gap in an arrow where another arrow crosses over it."""
_WIDE_LABEL = 1.1
"""Minimum distance of two columns, in addition to a label between them, if labels widen gaps."""
_MIN_LENGTH, _MIN_LOOP = 0.4, 1.4
"""Minimum length of a straight arrow, and minimum distance of the control points of a loop."""
_TIP_ROOM = 0.22
"""Space for tips beside an arrow."""
_BENT_WORK, _MAX_WORK = 100, 20_000
"""Cost of one crossing with a bent arrow, in crossings of straight arrows, and maximum cost of a diagram."""
_PUSHES = 30
"""Maximum number of attempts to move a label off a bent arrow."""
_FIXED: Mapping[str, complex] = MappingProxyType({"above": -1j, "below": 1j, "west": -1 + 0j, "east": 1 + 0j})

_Nodes = Mapping[tuple[int, int], Rectangle]
_Ends = tuple[complex | None, complex | None]


class PlacedBox(Struct, frozen=True):
    """Content of a cell or a label with its position."""

    box: SizedFormula
    x: float
    """Left edge of the content before the rotation."""
    baseline: float
    rotation: float = 0.0
    """Rotation of the content in degrees, anticlockwise."""

    @property
    def rectangle(self) -> Rectangle:
        """Return the border of the rotated content."""
        half, high = _extent(self.box, self.rotation)
        middle = self.baseline - (self.box.ascent - self.box.descent) / 2
        return Rectangle(complex(self.x + self.box.width / 2, middle), half, high, high)


class PlacedArrow(Struct, frozen=True):
    """An arrow with its position."""

    arrow: Arrow
    curve: Curve
    """Line of the arrow from border to border, including its tips."""
    labels: tuple[PlacedBox, ...]
    gaps: tuple[tuple[float, float], ...] = ()
    """Ranges of the curve's parameter, from 0 to 1, where the arrow is not drawn."""


class Layout(Struct, frozen=True):
    """A diagram with the positions of all parts. The middle of its rows is at y = 0."""

    cells: tuple[PlacedBox, ...]
    arrows: tuple[PlacedArrow, ...]
    left: float
    right: float
    top: float
    bottom: float


def lay_out(diagram: ArrowDiagram) -> Layout:
    """Return the diagram with the positions of all parts. ParseError if an arrow starts or ends outside the
    diagram, or at an unknown name."""
    halves = _halves(diagram)
    xs, ys = _centers(diagram, halves)
    nodes: dict[tuple[int, int], Rectangle] = {}
    for row, y in enumerate(ys):
        for column, x in enumerate(xs):
            node = _node(_cell(diagram, row, column), x, y, diagram.padding)
            moved = diagram.sides.get(column, 0) * (halves[column] - node.half)
            nodes[row, column] = replace(node, center=node.center - moved)
    cells = tuple(
        PlacedBox(box, nodes[row, column].center.real - box.width / 2, ys[row] + AXIS)
        for row, boxes in enumerate(diagram.cells)
        for column, box in enumerate(boxes)
        if box.mathml
    )
    arrows = _with_crossings(_place_arrows(diagram, nodes))
    return _bounded(cells, arrows, nodes)


def _cell(diagram: ArrowDiagram, row: int, column: int) -> SizedFormula:
    boxes = diagram.cells[row]
    return boxes[column] if column < len(boxes) else EMPTY


def _node(box: SizedFormula, x: float, y: float, padding: tuple[float, float]) -> Rectangle:
    """Return the border of a cell whose axis is at `y`."""
    up = max(0.0, box.ascent - AXIS) + padding[1]
    down = box.descent + AXIS * bool(box.mathml) + padding[1]
    return Rectangle(complex(x, y), box.width / 2 + padding[0], up, down)


def _extent(box: SizedFormula, rotation: float) -> tuple[float, float]:
    """Return half of the width, and half of the height, of a rotated box."""
    c, s = abs(along(rotation).real), abs(along(rotation).imag)
    width, height = box.width / 2, (box.ascent + box.descent) / 2
    return c * width + s * height, s * width + c * height


def _halves(diagram: ArrowDiagram) -> list[float]:
    return [
        max(_cell(diagram, row, column).width for row in range(len(diagram.cells))) / 2 + diagram.padding[0]
        for column in range(max(map(len, diagram.cells)))
    ]


def _centers(diagram: ArrowDiagram, columns: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the x of each column's center and the y of each row's axis. columns: half of their widths."""
    rows = [[_node(box, 0, 0, diagram.padding) for box in row] for row in diagram.cells]
    between_columns, between_rows = diagram.is_between_centers
    wide = _label_gaps(diagram)
    xs = [0.0]
    for column in range(1, len(columns)):
        gap = max(diagram.gaps[0], wide.get(column - 1, 0.0)) + diagram.column_gaps.get(column - 1, 0.0)
        xs.append(xs[-1] + gap + (0 if between_columns else columns[column - 1] + columns[column]))
    ys = [0.0]
    for row in range(1, len(rows)):
        below, above = max(node.down for node in rows[row - 1]), max(node.up for node in rows[row])
        gap = diagram.gaps[1] + diagram.row_gaps.get(row - 1, 0.0)
        ys.append(ys[-1] + gap + (0 if between_rows else below + above))
    return xs, [y - ys[-1] / 2 for y in ys]


def _label_gaps(diagram: ArrowDiagram) -> dict[int, float]:
    """Return column → space that labels of arrows to the next column need; empty if labels widen no gaps."""
    gaps: dict[int, float] = {}
    for arrow in diagram.arrows if diagram.has_wide_labels else ():
        first, last = sorted((arrow.source.column, arrow.target.column))
        if last == first + 1:
            widest = max((label.box.width for label in arrow.labels), default=0.0)
            gaps[first] = max(gaps.get(first, 0.0), widest + _WIDE_LABEL)
    return gaps


def _place_arrows(diagram: ArrowDiagram, nodes: _Nodes) -> list[PlacedArrow]:
    """Place the arrows and return them in the order of the diagram. If an arrow starts or ends at the label
    of a second arrow, place the second one first."""
    names = {name: nodes[place] for name, place in diagram.names.items()}
    placed: dict[int, PlacedArrow] = {}
    pending = list(enumerate(diagram.arrows))
    while pending:
        later = []
        for index, arrow in pending:
            ends = _find(arrow.source, nodes, names), _find(arrow.target, nodes, names)
            if ends[0] is None or ends[1] is None:
                later.append((index, arrow))
                continue
            placed[index] = _place_arrow(arrow, ends[0], ends[1])
            for label, box in zip(arrow.labels, placed[index].labels, strict=True):
                if label.name:
                    names[label.name] = box.rectangle.grow(0.2 if label.box.mathml else 0.0)
        if len(later) == len(pending):
            arrow = pending[0][1]
            end = arrow.target if _find(arrow.source, nodes, names) else arrow.source
            raise _unknown_end(diagram, arrow, end)
        pending = later
    return [placed[index] for index in sorted(placed)]


def _find(end: End, nodes: _Nodes, names: Mapping[str, Rectangle]) -> Rectangle | None:
    found = names.get(end.name) if end.name else nodes.get((end.row, end.column))
    return replace(found, center=found.center + complex(*end.shift)) if found else None


def _unknown_end(diagram: ArrowDiagram, arrow: Arrow, end: End) -> ParseError:
    if end.name:
        message = f'unknown name "{end.name}" at the end of an arrow'
        hint = f"write `{{name={end.name}}}` after the label where the arrow ends"
    else:
        written = end.letters or f"{end.row + 1}-{end.column + 1}"
        message = f'invalid end of an arrow: "{written}" is outside the diagram'
        columns = max(map(len, diagram.cells))
        hint = f"write a direction within the diagram of {len(diagram.cells)} × {columns} cells"
    return ParseError("math-syntax", message, arrow.token, hint=hint)


def _place_arrow(arrow: Arrow, source: Rectangle, target: Rectangle) -> PlacedArrow:
    curve = _curve(arrow, source, target).trim(*arrow.shorten)
    labels = tuple(_place_label(label, curve, arrow.lines) for label in arrow.labels)
    boxes = [box for label, box in zip(arrow.labels, labels, strict=True) if label.side == "on"]
    gaps = [hidden_range(curve, box.rectangle.grow(_ROOM)) for box in boxes]
    return PlacedArrow(arrow, curve, labels, tuple(gap for gap in gaps if gap))


def _curve(arrow: Arrow, source: Rectangle, target: Rectangle) -> Curve:
    start = source.anchor(arrow.source.anchor) if arrow.source.anchor else None
    end = target.anchor(arrow.target.anchor) if arrow.target.anchor else None
    straight = unit((end or target.center) - (start or source.center))
    move = arrow.shift * left(straight)
    is_loop = source.center == target.center
    if is_loop or arrow.bend or arrow.leaving is not None or arrow.entering is not None:
        return _bent(arrow, source, target, (start, end), is_loop).move(move, move)
    if arrow.curve:
        # quiver's controls are beside the straight line, at 35 % and 65 %
        first, last = start or source.center, end or target.center
        b, c = (first + (last - first) * t + arrow.curve * left(straight) for t in (0.35, 0.65))
        start = start or source.border(unit(b - first))
        return Curve(start, b, c, end or target.border(unit(c - last))).move(move, move)
    a = start + move if start else source.border(straight, source.center + move)
    d = end + move if end else target.border(-straight, target.center + move)
    if ((d - a) * straight.conjugate()).real < _MIN_LENGTH:
        # cells that overlap
        middle, half = (a + d) / 2, straight * _MIN_LENGTH / 2
        a, d = middle - half, middle + half
    return line(a, d)


def _bent(arrow: Arrow, source: Rectangle, target: Rectangle, ends: _Ends, is_loop: bool) -> Curve:
    """Return the curve of TikZ's `to` with angles. Its control points are in the directions of its ends."""
    leaving, entering = arrow.leaving, arrow.entering
    if leaving is None and entering is None:
        straight = angle(unit(target.center - source.center))
        leaving, entering = (105.0, 75.0) if is_loop else (straight + arrow.bend, straight + 180 - arrow.bend)
    out, into = along(45.0 if leaving is None else leaving), along(135.0 if entering is None else entering)
    start, end = ends[0] or source.border(out), ends[1] or target.border(into)
    distance = arrow.distance
    if distance is None:
        distance = max(0.3915 * arrow.looseness * abs(end - start), _MIN_LOOP if is_loop else 0.0)
    return Curve(start, start + out * distance, end + into * distance, end)


def _place_label(label: ArrowLabel, curve: Curve, lines: int) -> PlacedBox:
    box, direction, rotation = label.box, curve.direction(label.position), label.rotation
    if label.is_sloped:
        rotation += (angle(direction) + 90) % 180 - 90
    half, high = _extent(box, rotation)
    center = point = curve.at(label.position) + complex(*label.shift)
    if label.side not in ("on", "over"):
        away = _FIXED.get(label.side) or left(direction) * (-1 if label.side == "right" else 1)
        distance = _WIDTH_ERROR * abs(away.real) * half + abs(away.imag) * high
        distance += LABEL_GAP + 0.06 * (lines - 1)
        points = curve.points() if not curve.is_straight else ()
        for push in range(_PUSHES):
            center = point + away * (distance + 0.08 * push)
            border = Rectangle(center, half, high, high).grow(0.6 * LABEL_GAP)
            if not any(border.contains(p) for p in points):
                break
    return PlacedBox(box, center.real - box.width / 2, center.imag + (box.ascent - box.descent) / 2, rotation)


def _with_crossings(arrows: Sequence[PlacedArrow]) -> tuple[PlacedArrow, ...]:
    """Return the arrows with a gap wherever a later arrow crosses over an earlier one."""
    done = list(arrows)
    boxes = [_around([placed.curve.a, placed.curve.b, placed.curve.c, placed.curve.d]) for placed in arrows]
    work = 0
    for index, over in enumerate(arrows):
        for below in range(index) if over.arrow.is_crossing else ():
            placed, box, other = done[below], boxes[below], boxes[index]
            is_apart = any(box[n] > other[n + 1] or other[n] > box[n + 1] for n in (0, 2))
            if is_apart or not placed.arrow.lines:
                continue
            work += 1 if placed.curve.is_straight and over.curve.is_straight else _BENT_WORK
            if work > _MAX_WORK:
                raise ParseError("math-limit", "too many arrows cross each other", over.arrow.token)
            reach = _CLEARANCE / max(placed.curve.length(), 0.1)
            found = crossings(placed.curve, over.curve)
            gaps = ((max(0.0, t - reach), min(1.0, t + reach)) for t in found)
            done[below] = replace(placed, gaps=(*placed.gaps, *gaps))
    return tuple(done)


def _around(points: Sequence[complex], room: float = 0.0) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of the box around `points`, with `room` at each side."""
    xs, ys = [point.real for point in points], [point.imag for point in points]
    return min(xs) - room, max(xs) + room, min(ys) - room, max(ys) + room


def _bounded(cells: tuple[PlacedBox, ...], arrows: tuple[PlacedArrow, ...], nodes: _Nodes) -> Layout:
    boxes = [placed.rectangle for placed in cells]
    boxes += [box.rectangle for placed in arrows for box in placed.labels if box.box.mathml]
    corners = [
        box.center + corner
        for box in boxes or nodes.values()
        for corner in (complex(-box.half, -box.up), complex(box.half, box.down))
    ]
    bounds = [_around(corners)]
    if points := [p for placed in arrows if placed.arrow.lines for p in placed.curve.points(8)]:
        bounds.append(_around(points, _TIP_ROOM))
    lefts, rights, tops, bottoms = zip(*bounds, strict=True)
    return Layout(cells, arrows, min(lefts), max(rights), min(tops), max(bottoms))
