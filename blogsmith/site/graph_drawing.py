"""Acyclic graphs as SVG: boxes in layers, arrows pointing down, in the colours of the page.

Three steps: assign layers by the longest path from the top, order each layer by the mean position of
neighbours, and move boxes as close to their neighbours as possible. Source: Sugiyama, Tagawa, Toda, "Methods
for Visual Understanding of Hierarchical System Structures", IEEE Trans. SMC 11 (1981).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

_SWEEPS = 8
_LETTER = 7.4
"""Mean width of a letter at a font size of 14 px, in px."""
_FONT_SIZE = 14
_LINE_HEIGHT = 19
_PADDING = 11
_GAP_X = 26
_GAP_Y = 46
_ARROW = 5


class GraphNode(Struct, frozen=True):
    """A node, drawn as a box."""

    lines: tuple[str, ...]
    url: str
    is_own: bool = True
    """Whether the frame of the box is solid. If not, the frame is dashed."""


class GraphDrawing(Struct, frozen=True):
    """A finished drawing."""

    svg: str
    width_px: float


class _Box(Struct):
    """A node in its layer, or a point where an arrow passes through a layer."""

    node: int
    """Index of the node; -1 for an arrow that passes through."""
    width: float
    layer: int
    x: float = 0.0
    """Horizontal centre of the box."""


def draw_graph(nodes: Sequence[GraphNode], edges: Iterable[tuple[int, int]], label: str) -> GraphDrawing:
    """Draw boxes and arrows.

    edges: index pairs, from upper to lower node; those that close a cycle are dropped. label: ARIA label.
    """
    kept = _remove_cycles(len(nodes), sorted(set(edges)))
    layers, chains = _layers(nodes, kept)
    _order(layers, chains)
    _place(layers, chains)
    return _svg(nodes, layers, chains, label)


def _remove_cycles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the edges in order, except those that would close a cycle with earlier edges."""
    below: list[set[int]] = [set() for _ in range(count)]
    kept = []
    for first, second in edges:
        if first != second and not _has_path(below, second, first):
            below[first].add(second)
            kept.append((first, second))
    return kept


def _has_path(below: Sequence[set[int]], start: int, end: int) -> bool:
    known, stack = {start}, [start]
    while stack:
        node = stack.pop()
        if node == end:
            return True
        stack += below[node] - known
        known |= below[node]
    return False


def _layers(
    nodes: Sequence[GraphNode], edges: Sequence[tuple[int, int]]
) -> tuple[list[list[_Box]], list[list[_Box]]]:
    """Return the boxes of each layer; and for each edge the boxes that the edge connects or passes through,
    from its start to its end."""
    depth = [0] * len(nodes)
    for _ in nodes:
        deeper = [(second, depth[first] + 1) for first, second in edges if depth[second] <= depth[first]]
        if not deeper:
            break
        for node, layer in deeper:
            depth[node] = max(depth[node], layer)
    boxes = [_Box(number, _width(node), depth[number]) for number, node in enumerate(nodes)]
    layers: list[list[_Box]] = [[] for _ in range(max(depth) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    chains = []
    for first, second in edges:
        passed = [_Box(-1, 0.0, layer) for layer in range(depth[first] + 1, depth[second])]
        for box in passed:
            layers[box.layer].append(box)
        chains.append([boxes[first], *passed, boxes[second]])
    return layers, chains


def _width(node: GraphNode) -> float:
    return max(len(line) for line in node.lines) * _LETTER + 2 * _PADDING


def _links(chains: Sequence[Sequence[_Box]]) -> dict[int, list[_Box]]:
    """Map `id()` of each box to its neighbours: the boxes in adjacent layers that an edge connects with the
    box."""
    found: dict[int, list[_Box]] = {}
    for chain in chains:
        for upper, lower in pairwise(chain):
            found.setdefault(id(upper), []).append(lower)
            found.setdefault(id(lower), []).append(upper)
    return found


def _order(layers: Sequence[list[_Box]], chains: Sequence[Sequence[_Box]]) -> None:
    links = _links(chains)
    for layer in layers:
        _spread(layer)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            layer.sort(key=lambda box: (_mean(box, links, -1 if down else 1), box.x))
            _spread(layer)


def _mean(box: _Box, links: dict[int, list[_Box]], side: int) -> float:
    places = [other.x for other in links.get(id(box), ()) if other.layer == box.layer + side]
    return sum(places) / len(places) if places else box.x


def _spread(layer: Sequence[_Box]) -> None:
    """Place the boxes side by side, centred at 0."""
    total = sum(box.width for box in layer) + _GAP_X * (len(layer) - 1)
    left = -total / 2
    for box in layer:
        box.x = left + box.width / 2
        left += box.width + _GAP_X


def _place(layers: Sequence[list[_Box]], chains: Sequence[Sequence[_Box]]) -> None:
    """Move boxes towards their neighbours without changing their order."""
    links = _links(chains)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            wanted = [_mean_position(box, links) for box in layer]
            for box, x in zip(layer, _separate(layer, wanted), strict=True):
                box.x = x


def _mean_position(box: _Box, links: dict[int, list[_Box]]) -> float:
    places = [other.x for other in links.get(id(box), ())]
    return sum(places) / len(places) if places else box.x


def _separate(layer: Sequence[_Box], wanted: Sequence[float]) -> list[float]:
    """Return positions near the wanted ones, in order and without overlaps.

    They are the mean of packing from the left and packing from the right.
    """
    from_left: list[float] = []
    for index, x in enumerate(wanted):
        least = from_left[-1] + _distance(layer, index) if index else x
        from_left.append(max(x, least))
    from_right = [*wanted]
    for index in range(len(wanted) - 2, -1, -1):
        from_right[index] = min(wanted[index], from_right[index + 1] - _distance(layer, index + 1))
    return [(left + right) / 2 for left, right in zip(from_left, from_right, strict=True)]


def _distance(layer: Sequence[_Box], index: int) -> float:
    return (layer[index - 1].width + layer[index].width) / 2 + _GAP_X


def _svg(
    nodes: Sequence[GraphNode], layers: Sequence[Sequence[_Box]], chains: Sequence[Sequence[_Box]], label: str
) -> GraphDrawing:
    boxes = [box for layer in layers for box in layer]
    left = min(box.x - box.width / 2 for box in boxes) - 1
    right = max(box.x + box.width / 2 for box in boxes) + 1
    height = max(len(node.lines) for node in nodes) * _LINE_HEIGHT + _PADDING
    total = len(layers) * (height + _GAP_Y) - _GAP_Y + 2
    parts = [
        *_arrows(chains, left, height),
        *(_box(nodes, box, left, height) for box in boxes if box.node >= 0),
    ]
    width = f"{right - left:.0f}"
    size = (
        f'viewBox="0 0 {width} {total:.0f}" width="{width}" height="{total:.0f}" style="min-width:{width}px"'
    )
    svg = f'<svg {size} role="group" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    return GraphDrawing(svg, right - left)


def _arrows(chains: Iterable[Sequence[_Box]], left: float, height: float) -> Iterator[str]:
    for chain in chains:
        points = []
        for box in chain:
            top = 1 + box.layer * (height + _GAP_Y)
            points += [(box.x - left, top), (box.x - left, top + height)]
        points = points[1:-1]
        path = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
        for (x, y), (to_x, to_y) in pairwise(points):
            middle = (y + to_y) / 2
            path.append(f"C{_pair(x, middle)} {_pair(to_x, middle)} {_pair(to_x, to_y)}")
        x, y = points[-1]
        tip = f"M{_pair(x - _ARROW, y - 2 * _ARROW)} {_pair(x, y)} {_pair(x + _ARROW, y - 2 * _ARROW)}"
        yield f'<path d="{"".join(path)}{tip}" fill="none" stroke="currentColor" stroke-opacity=".55"/>'


def _box(nodes: Sequence[GraphNode], box: _Box, left: float, height: float) -> str:
    node = nodes[box.node]
    x, y = box.x - left, 1 + box.layer * (height + _GAP_Y)
    dashes = "" if node.is_own else ' stroke-dasharray="4 3"'
    frame = (
        f'<rect x="{_number(x - box.width / 2)}" y="{_number(y)}" width="{_number(box.width)}"'
        f' height="{_number(height)}" rx="4" fill="none" pointer-events="all" stroke="currentColor"{dashes}/>'
    )
    first = y + height / 2 - (len(node.lines) - 1) * _LINE_HEIGHT / 2 + _FONT_SIZE * 0.35
    lines = "".join(
        f'<text x="{_number(x)}" y="{_number(first + index * _LINE_HEIGHT)}" text-anchor="middle"'
        f' font-size="{_FONT_SIZE}" fill="currentColor"{_weight(index)}>{escape(line, quote=False)} </text>'
        for index, line in enumerate(node.lines)
    )
    return f'<a href="{escape(node.url)}">{frame}{lines}</a>'


def _weight(index: int) -> str:
    return "" if index else ' font-weight="600"'


def _pair(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
