"""The text alternative of a diagram: `f: A → B; g: B → C`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

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
"""Tail and head → sign of the arrow."""


def describe(diagram: ArrowDiagram, read: Callable[[str], str]) -> str:
    """Return the arrows as text. read: Converts TeX to text."""
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
