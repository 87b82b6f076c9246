"""Metadata of SVG images: the size in the root element, and title and description.

A file is read only as far as necessary, and entities and other files are not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import BinaryIO
from xml.parsers import expat

from ...base.patterns import lazy_pattern

_CHUNK = 4096
_MAX_HEAD = 1_000_000
"""Maximum number of bytes that are read to find the root element."""

_MAX_WORDS = 600
"""Maximum number of characters of title and description together."""
_SVG = "http://www.w3.org/2000/svg"

_PX_PER_UNIT: Mapping[str, float] = MappingProxyType(
    {"": 1, "px": 1, "pt": 96 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
)
_LENGTH = lazy_pattern(
    r"\+?([0-9]{0,9}\.?[0-9]{1,9}(?:e[+-]?[0-9]{1,2})?)(px|pt|pc|in|cm|mm|q)?", re.IGNORECASE
)
_MAX_PX = 1_000_000


def svg_size(stream: BinaryIO) -> tuple[int | None, int | None]:
    """Return width and height in CSS pixels. If the file lacks one, it is calculated from `viewBox`, and is
    None if that is impossible. ValueError with the reason if the file is not an SVG or declares entities."""
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
    return _whole_pixels(width), _whole_pixels(height)


def svg_description(stream: BinaryIO) -> str:
    """Return title and description of the whole image on one line; empty if it has none or the file is
    invalid. Titles inside the drawing, and titles after the first shape, are ignored."""
    reading = _DescriptionParser()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.EntityDeclHandler = _reject_entity
    try:
        for _ in range(_MAX_HEAD // _CHUNK):
            chunk = stream.read(_CHUNK)
            parser.Parse(chunk, not chunk)
            if reading.is_done or not chunk:
                break
    except (expat.ExpatError, LookupError, ValueError):
        return ""
    return reading.description()


class _DescriptionParser:
    """Collects `<title>` and `<desc>` of the root element."""

    def __init__(self) -> None:
        self.is_done = False
        self._path: list[str] = []
        self._parts = {"title": "", "desc": ""}

    def start(self, name: str, _: object) -> None:
        space, _, local = name.rpartition(" ")
        self._path.append(local if space == _SVG else "")
        if len(self._path) == 2 and self._path[1] not in ("title", "desc", "metadata", "defs", "style", ""):
            self.is_done = True

    def end(self, name: str) -> None:
        self._path.pop()
        self.is_done = self.is_done or not self._path

    def text(self, text: str) -> None:
        if not self.is_done and self._path[:1] == ["svg"] and len(self._path) > 1:
            part = self._path[1]
            if part in self._parts and len(self._parts[part]) <= _MAX_WORDS:
                self._parts[part] += text

    def description(self) -> str:
        """Return title and description as consecutive sentences."""
        title, desc = (" ".join(part.split()) for part in self._parts.values())
        end = "" if not desc or title.endswith((".", "?", "!", ":", "…")) else "."
        words = f"{title}{end} {desc}".strip() if title else desc
        return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - 1].rstrip() + "…"


def _root_attributes(stream: BinaryIO) -> Mapping[str, str]:
    roots: list[tuple[str, dict[str, str]]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if not roots:
            roots.append((name, attributes))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = _reject_entity
    try:
        for _ in range(_MAX_HEAD // _CHUNK):
            chunk = stream.read(_CHUNK)
            parser.Parse(chunk, not chunk)
            if roots or not chunk:
                break
    except LookupError as error:
        raise ValueError(f"its encoding is unknown: {error}") from error
    except expat.ExpatError as error:
        # errors after the start tag of the root, in the same block of data, do not matter
        if not roots:
            raise ValueError(f"line {error.lineno}: {expat.ErrorString(error.code)}") from error
    if not roots or roots[0][0].rpartition(":")[2] != "svg":
        raise ValueError("it has no <svg> element")
    return roots[0][1]


def _reject_entity(name: str, *_: object) -> None:
    raise ValueError(f'it declares the entity "{name}": save it without a DTD')


def _pixels(length: str) -> float | None:
    """Return a length in CSS pixels. None for percentages, units relative to the font, and invalid values."""
    found = _LENGTH.fullmatch(length.strip())
    return float(found[1]) * _PX_PER_UNIT[(found[2] or "").lower()] if found else None


def _view_box(text: str) -> tuple[float, float] | None:
    parts = [_pixels(part.lstrip("-")) for part in re.split(r"[\s,]+", text.strip())]
    if len(parts) != 4 or not parts[2] or not parts[3]:
        return None
    return parts[2], parts[3]


def _whole_pixels(length: float | None) -> int | None:
    if length is None or not 0 < length <= _MAX_PX:
        return None
    return max(1, round(length))
