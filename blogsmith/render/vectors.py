"""The size of an SVG image, from its root element alone.

The file is read only up to the root's start tag, with no entity and no outside file looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import BinaryIO
from xml.parsers import expat

_CHUNK = 4096
_MAX_HEAD = 1_000_000
"""Bytes before which the root element must have started."""

_PX_PER_UNIT: Mapping[str, float] = MappingProxyType(
    {"": 1, "px": 1, "pt": 96 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
)
_LENGTH = re.compile(
    r"\+?([0-9]{0,9}\.?[0-9]{1,9}(?:e[+-]?[0-9]{1,2})?)(px|pt|pc|in|cm|mm|q)?", re.IGNORECASE
)
_MAX_PX = 1_000_000


def svg_size(stream: BinaryIO) -> tuple[int | None, int | None]:
    """Width and height in CSS pixels; `viewBox` stands in for what the root leaves out.

    Raises ValueError with the reason if the file is no SVG or declares entities.
    """
    attributes = _root_attributes(stream)
    width, height = _pixels(attributes.get("width", "")), _pixels(attributes.get("height", ""))
    box = _view_box(attributes.get("viewBox", ""))
    if box is not None:
        ratio = box[0] / box[1]
        if width is None and height is None:
            width, height = box
        elif width is None and height is not None:
            width = height * ratio
        elif width is not None and height is None:
            height = width / ratio
    return _whole(width), _whole(height)


def _root_attributes(stream: BinaryIO) -> Mapping[str, str]:
    roots: list[tuple[str, dict[str, str]]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if not roots:
            roots.append((name, attributes))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = _refuse_entity
    try:
        for _ in range(_MAX_HEAD // _CHUNK):
            chunk = stream.read(_CHUNK)
            parser.Parse(chunk, not chunk)
            if roots or not chunk:
                break
    except expat.ExpatError as error:
        # damage behind the root's start tag, in the same chunk, does not matter here
        if not roots:
            raise ValueError(f"line {error.lineno}: {expat.ErrorString(error.code)}") from error
    if not roots or roots[0][0].rpartition(":")[2] != "svg":
        raise ValueError("it has no <svg> element")
    return roots[0][1]


def _refuse_entity(name: str, *_: object) -> None:
    raise ValueError(f"it declares the entity {name}; save it without a DTD")


def _pixels(length: str) -> float | None:
    """A length in CSS pixels; None for percentages, font-relative units and nonsense."""
    found = _LENGTH.fullmatch(length.strip())
    return float(found[1]) * _PX_PER_UNIT[(found[2] or "").lower()] if found else None


def _view_box(text: str) -> tuple[float, float] | None:
    parts = [_pixels(part.lstrip("-")) for part in re.split(r"[\s,]+", text.strip())]
    if len(parts) != 4 or not parts[2] or not parts[3]:
        return None
    return parts[2], parts[3]


def _whole(length: float | None) -> int | None:
    if length is None or not 0 < length <= _MAX_PX:
        return None
    return max(1, round(length))
