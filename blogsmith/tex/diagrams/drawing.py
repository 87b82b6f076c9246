"""Drawing of a laid-out diagram: MathML with the arrows as one SVG, and a text alternative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..parse.lengths import css
from .curves import Curve, left, visible_parts
from .layout import AXIS, Layout, PlacedArrow, PlacedBox
from .records import Arrow, ArrowDiagram, End

_MAX_LENGTH = 2_000
_CORNERS = frozenset(("\\lrcorner", "\\ulcorner", "\\urcorner", "\\llcorner"))
_SIGNS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("hook", "to"): "↪",
        ("hook'", "to"): "↪",
        ("", "two heads"): "↠",
        ("tail", "to"): "↣",
        ("bar", "to"): "↦",
        ("to", ""): "←",
        ("to", "to"): "↔",
    }
)
"""Tail and head of an arrow → the character for this arrow in text."""


def describe(diagram: ArrowDiagram, read: Callable[[str], str]) -> str:
    """Return the arrows as text. read: converts TeX to text."""
    names = {
        label.name: next((other.box.tex for other in (label, *arrow.labels) if other.box.tex), "")
        for arrow in diagram.arrows
        for label in arrow.labels
        if label.name
    }
    parts: list[str] = []
    for arrow in diagram.arrows:
        source, target = (_content(diagram, names, end, read) or "·" for end in (arrow.source, arrow.target))
        labels = [text for label in arrow.labels if (text := read(label.box.tex))]
        if any(label.box.tex.strip() in _CORNERS for label in arrow.labels):
            parts.append(f"corner at {source}")
        elif arrow.lines:
            start = f"{', '.join(labels)}: " if labels else ""
            parts.append(f"{start}{source} {_sign(arrow)} {target}")
        elif labels:
            parts.append(f"{source} {' '.join(labels)} {target}")
    if not parts:
        parts = [text for row in diagram.cells for box in row if (text := read(box.tex))]
    text = "; ".join(parts)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


def _content(diagram: ArrowDiagram, names: Mapping[str, str], end: End, read: Callable[[str], str]) -> str:
    if end.name in names:
        return read(names[end.name])
    row, column = diagram.names.get(end.name, (end.row, end.column))
    cells = diagram.cells[row]
    return read(cells[column].tex) if column < len(cells) else ""


def _sign(arrow: Arrow) -> str:
    if arrow.lines > 1:
        return "⇒" if arrow.head else "⇐" if arrow.tail else "="
    return _SIGNS.get((arrow.tail, arrow.head), "→" if arrow.head else "—")


_STROKE = 0.05
_LOOK = (
    f'fill="none" stroke="currentColor" stroke-width="{_STROKE}" stroke-linecap="round" '
    'style="max-width:none" aria-hidden="true"'
)
"""Attributes of arrows without color or other style. A diagram needs the width of its labels, but themes
limit the width of images, so `max-width` is reset."""
_DASHES = MappingProxyType({"dashed": "0.26 0.16", "dotted": "0.01 0.13"})
_DOUBLE = 0.075
"""Half of the distance between the two lines of a double arrow."""
_WAVE, _WAVE_END, _AMPLITUDE = 0.16, 0.12, 0.14
"""Length of half a wave, straight part at each end, and height of a wave's control points."""

_Shape = Sequence[Sequence[complex]]
"""Cubic curves: the first point, then three points for each curve. The tip of the arrow is at 0. The real
axis points forward along the arrow, the imaginary axis to the left of the arrow."""
_TO: _Shape = [[-0.22 + 0.2j, -0.16 + 0.07j, -0.06 + 0.015j, 0j, -0.06 - 0.015j, -0.16 - 0.07j, -0.22 - 0.2j]]
_LARGE: _Shape = [
    [-0.27 + 0.27j, -0.2 + 0.11j, -0.09 + 0.03j, 0j, -0.09 - 0.03j, -0.2 - 0.11j, -0.27 - 0.27j]
]
_TAIL: _Shape = [[-0.22 - point.conjugate() for point in _TO[0]]]
_HOOK: _Shape = [[-0.12 + 0j, 0.03 + 0j, 0.03 + 0.22j, -0.12 + 0.22j]]
_BAR: _Shape = [[0.17j, 0.06j, -0.06j, -0.17j]]


def _twice(shape: _Shape) -> _Shape:
    return [*shape, *([point - 0.14 for point in curve] for curve in shape)]


def _flipped(shape: _Shape) -> _Shape:
    return [[point.conjugate() for point in curve] for curve in shape]


_ENDS: Mapping[str, tuple[_Shape, float]] = MappingProxyType(
    {
        "to": (_TO, 0.02),
        "two heads": (_twice(_TO), 0.02),
        "tail": (_TAIL, 0.22),
        "two tails": (_twice(_TAIL), 0.22),
        "harpoon": ([_TO[0][:4]], 0.02),
        "harpoon'": (_flipped([_TO[0][:4]]), 0.02),
        "hook": (_flipped(_HOOK), 0.12),
        "hook'": (_HOOK, 0.12),
        "bar": (_BAR, 0.0),
    }
)
"""Name of a head or tail → its shape, and the length by which the line must be shortened."""


def draw(layout: Layout, scale: float) -> str:
    """Return the diagram as one MathML element. scale: size, relative to the text around the diagram."""
    width, height = layout.right - layout.left, layout.bottom - layout.top
    # the middle of the rows is on the axis of the formula
    up, down = AXIS - layout.top, layout.bottom - AXIS
    parts = []
    if paths := _drawing(layout):
        size = f'width="{css(width)}" height="{css(height)}" viewBox="0 0 {_number(width)} {_number(height)}"'
        drawing = f"<mtext><svg {size} {_LOOK}>{paths}</svg></mtext>"
        parts.append(f'<mpadded width="0" height="0" depth="0" voffset="{css(-down)}">{drawing}</mpadded>')
    labels = (label for arrow in layout.arrows for label in arrow.labels if label.box.mathml)
    parts += [_placed(box, layout.left) for box in (*layout.cells, *labels)]
    sizes = f'width="{css(width)}" height="{css(up)}" depth="{css(down)}"'
    content = f'<mpadded class="math-diagram" {sizes}>{"".join(parts)}</mpadded>'
    return content if scale == 1.0 else f'<mstyle mathsize="{_number(100 * scale)}%">{content}</mstyle>'


def _placed(placed: PlacedBox, start: float) -> str:
    xml = placed.box.mathml
    if round(placed.rotation) % 360:
        xml = f'<mrow style="rotate:{_number(-placed.rotation)}deg">{xml}</mrow>'
    at = f'lspace="{css(placed.x - start)}" voffset="{css(AXIS - placed.baseline)}"'
    return f'<mpadded width="0" height="0" depth="0" {at}>{xml}</mpadded>'


def _drawing(layout: Layout) -> str:
    """Return the paths of all arrows, one for each style. Heads and tails of dashed arrows are solid."""
    looks: dict[str, list[str]] = {}
    origin = complex(layout.left, layout.top)
    for placed in layout.arrows:
        arrow = placed.arrow
        look = f' stroke="{arrow.color}"' if arrow.color else ""
        if arrow.thickness != 1.0:
            look += f' stroke-width="{_number(_STROKE * max(0.2, arrow.thickness))}"'
        dash = f' stroke-dasharray="{_DASHES[arrow.dash]}"' if arrow.dash else ""
        lines, ends = _arrow(placed) if arrow.lines else ((), ())
        for attributes, paths in ((look + dash, lines), (look, ends)):
            looks.setdefault(attributes, []).extend(_data(path, origin) for path in paths)
    return "".join(f'<path d="{"".join(data)}"{look}/>' for look, data in looks.items() if data)


def _arrow(placed: PlacedArrow) -> tuple[_Shape, _Shape]:
    arrow, curve = placed.arrow, placed.curve
    (tail, tail_length), (head, head_length) = _end(arrow.tail, arrow.lines), _end(arrow.head, arrow.lines)
    inner = curve.trim(tail_length, head_length)
    lines = [
        _wave(piece) if arrow.is_squiggly else _points(piece)
        for index in range(arrow.lines)
        for piece in visible_parts(inner.offset(_DOUBLE * (2 * index - arrow.lines + 1)), placed.gaps)
    ]
    ends = [
        [at + outward * point.conjugate() for point in path]
        for shape, at, outward in (
            (tail, curve.a, -curve.direction(0.0)),
            (head, curve.d, curve.direction(1.0)),
        )
        for path in shape
    ]
    return lines, ends


def _end(name: str, lines: int) -> tuple[_Shape, float]:
    """Return the shape of a head or tail, and the length by which the line must be shortened."""
    if name == "to" and lines > 1:
        return _LARGE, 0.06 + 0.04 * lines
    return _ENDS.get(name, ((), 0.0))


def _points(curve: Curve) -> Sequence[complex]:
    return [curve.a, curve.d] if curve.is_straight else [curve.a, curve.b, curve.c, curve.d]


def _wave(curve: Curve) -> Sequence[complex]:
    length = curve.length()
    count = int((length - 2 * _WAVE_END) / _WAVE)
    if count < 1:
        return _points(curve)
    first = (length - count * _WAVE) / 2 / length
    points = [curve.a, curve.a, curve.at(first), curve.at(first)]
    for index in range(count):
        middle = first + (1 - 2 * first) * (index + 0.5) / count
        away = left(curve.direction(middle)) * _AMPLITUDE * (1 if index % 2 else -1)
        step = (1 - 2 * first) / count
        peak, end = curve.at(middle) + away, curve.at(middle + step / 2)
        start = points[-1]
        points += [start + (peak - start) * 2 / 3, end + (peak - end) * 2 / 3, end]
    return [*points, points[-1], curve.d, curve.d]


def _data(points: Sequence[complex], origin: complex) -> str:
    first, *others = (f"{_number((p - origin).real)} {_number((p - origin).imag)}" for p in points)
    return f"M{first}{'L' if len(others) == 1 else 'C'}{' '.join(others)}"


def _number(value: float) -> str:
    shown = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown
