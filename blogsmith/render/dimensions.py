"""Displayed size of an image, from the author's `width` and `height` and the aspect ratio."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.pictures import ImageInfo

_LENGTH = lazy_pattern(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)(%|px|em|rem|ch)?")
HINT = "write a length such as `60%`, `320px` or `20em`"


class Length(Struct, frozen=True):
    """A width or a height as written by the author."""

    amount: str
    """Digits, with an optional decimal point."""
    unit: str
    """`%`, `px`, `em`, `rem` or `ch`."""

    @property
    def css(self) -> str:
        """The length as CSS text."""
        return f"{self.amount}{self.unit}"

    @property
    def pixels(self) -> int | None:
        """Whole pixels; None for another unit."""
        return round(float(self.amount)) if self.unit == "px" else None


class Dimensions(Struct, frozen=True):
    """Size attributes and style of an `<img>`."""

    info: ImageInfo
    """The image, with the width and height to print as attributes."""
    style: str
    """CSS for sizes that attributes cannot express."""


def parse_length(text: str) -> Length | None:
    """Return the length, or None if it is invalid. A number without a unit is in pixels."""
    found = _LENGTH.fullmatch(text.strip())
    return Length(found[1], found[2] or "px") if found else None


def nearest_length(text: str) -> str | None:
    """Return the valid length that an invalid one probably means, such as `50%` for `50 Percent`. None if
    there is none."""
    meant = "".join(text.split()).lower().replace("percent", "%").replace("pixels", "px").replace("pct", "%")
    return meant if meant != text and parse_length(meant) else None


def fit_attributes(info: ImageInfo, width: Length | None, height: Length | None) -> Dimensions:
    """Return the size of an image whose author wrote the HTML attributes `width` and `height`; None means
    that an attribute is missing. Sizes in pixels stay attributes, others become CSS. As in browsers, one
    attribute alone determines the other by the aspect ratio."""
    lengths = [length for length in (width, height) if length]
    if not lengths:
        return Dimensions(info, "")
    if any(length.pixels is None for length in lengths):
        return Dimensions(info, _style(width, height))
    across, down = _fill(info, width.pixels if width else None, height.pixels if height else None)
    # otherwise the theme's `height: auto` would override an attribute without the other one
    style = _style(None, height) if across is None else ""
    return Dimensions(replace(info, width_px=across, height_px=down), style)


def fit_style(info: ImageInfo, width: Length | None, height: Length | None) -> str:
    """Return the CSS for an image with a size in Markdown attributes. Its HTML attributes keep the size of
    the file."""
    pixels = height.pixels if height else None
    if width is None and pixels is not None and info.width_px and info.height_px:
        # the width, not the height, so that the image keeps its aspect ratio on a narrower screen
        return f"width:{_scale(pixels, info.width_px, info.height_px)}px"
    return _style(width, height)


def _style(width: Length | None, height: Length | None) -> str:
    parts = [f"width:{width.css}" if width else "width:auto" if height else ""]
    parts.append(f"height:{height.css}" if height else "")
    return ";".join(part for part in parts if part)


def _fill(info: ImageInfo, across: int | None, down: int | None) -> tuple[int | None, int | None]:
    if info.width_px and info.height_px:
        if down is None and across is not None:
            return across, _scale(across, info.height_px, info.width_px)
        if across is None and down is not None:
            return _scale(down, info.width_px, info.height_px), down
    return across, down


def _scale(length: int, own: int, other: int) -> int:
    return round(length * own / other)
