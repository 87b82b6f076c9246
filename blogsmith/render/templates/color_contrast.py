"""Contrast of colours that a theme sets as custom properties, as WCAG 2.2 defines it.

Values may use `var()`, `light-dark()`, `color-mix(in srgb, …)` and all plain colours of CSS Color 4. The
colour of any other value, such as a mixture in another colour space, is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tinycss2
from msgspec import Struct
from tinycss2.color4 import parse_color

MIN_CONTRAST = 4.5
"""Minimum contrast of text: WCAG 2.2, 1.4.3."""
_MAX_DEPTH = 20
"""Maximum depth of properties that refer to each other, possibly in a circle."""
_STEPS = 50


class Color(Struct, frozen=True):
    """A colour in sRGB, with parts from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    @property
    def hex(self) -> str:
        """The colour as `#rrggbb`, without its alpha."""
        return "#" + "".join(f"{round(part * 255):02x}" for part in self.parts)

    @property
    def parts(self) -> tuple[float, float, float]:
        """Red, green and blue."""
        return self.red, self.green, self.blue

    @property
    def luminance(self) -> float:
        """Relative luminance, from 0 to 1."""
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in self.parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


_BLACK, _WHITE = Color(0, 0, 0), Color(1, 1, 1)


def contrast(text: Color, background: Color) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((mix(text, background, text.alpha).luminance, background.luminance))
    return (lighter + 0.05) / (darker + 0.05)


def mix(one: Color, other: Color, share: float) -> Color:
    """Return a mixture of two colours without alpha. share: share of `one` in the mixture, from 0 to 1."""
    pairs = zip(one.parts, other.parts, strict=True)
    return Color(*(first * share + second * (1 - share) for first, second in pairs))


def readable_color(text: Color, background: Color) -> Color:
    """Return the nearest colour to `text` with enough contrast to `background`; if none, black or white."""
    end = max((_BLACK, _WHITE), key=lambda color: contrast(color, background))
    shades = (mix(end, text, step / _STEPS) for step in range(1, _STEPS + 1))
    return next((color for color in shades if contrast(color, background) >= MIN_CONTRAST), end)


def resolve_color(value: str, scheme: str, find: Callable[[str], str | None]) -> Color | None:
    """Return the colour of a CSS value, or None if unknown. scheme: `light` or `dark`. find: function that
    returns the value of a custom property, or None."""
    return _ColorReader(scheme, find).read(tinycss2.parse_component_value_list(value), 0)


class _ColorReader:
    def __init__(self, scheme: str, find: Callable[[str], str | None]) -> None:
        self._scheme = scheme
        self._find = find

    def read(self, tokens: Sequence[Any], depth: int) -> Color | None:
        written = [one for one in tokens if one.type not in ("whitespace", "comment")]
        if len(written) != 1 or depth > _MAX_DEPTH:
            return None
        token = written[0]
        if token.type == "function":
            arguments = _split(token.arguments)
            if token.lower_name == "var":
                return self._read_variable(arguments, depth)
            if token.lower_name == "light-dark" and len(arguments) == 2:
                return self.read(arguments[self._scheme == "dark"], depth + 1)
            if token.lower_name == "color-mix" and len(arguments) == 3:
                return self._read_mixture(arguments, depth)
        return _plain_color(token)

    def _read_variable(self, arguments: Sequence[Sequence[Any]], depth: int) -> Color | None:
        name = next((one.value for one in arguments[0] if one.type == "ident"), "")
        value = self._find(name)
        if value is not None:
            return self.read(tinycss2.parse_component_value_list(value), depth + 1)
        return self.read(arguments[1], depth + 1) if len(arguments) == 2 else None

    def _read_mixture(self, arguments: Sequence[Sequence[Any]], depth: int) -> Color | None:
        if tinycss2.serialize(arguments[0]).split() != ["in", "srgb"]:
            return None
        colors, shares = [], []
        for argument in arguments[1:]:
            shares.append(next((one.value / 100 for one in argument if one.type == "percentage"), None))
            colors.append(self.read([one for one in argument if one.type != "percentage"], depth + 1))
        one, other = colors
        first, second = shares
        if first is None:
            first = 1 - second if second is not None else 0.5
        if one is None or other is None or one.alpha < 1 or other.alpha < 1 or first > 1:
            return None
        total = first + (1 - first if second is None else second)
        return mix(one, other, first / total) if total == 1 else None


def _split(tokens: Sequence[Any]) -> list[list[Any]]:
    """Return the arguments of a CSS function, each as its tokens."""
    found: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _plain_color(token: Any) -> Color | None:
    found = parse_color(token)
    try:
        is_ok = found.space in ("oklab", "oklch")
        parts = _from_xyz(*found.to("xyz-d65").coordinates) if is_ok else found.to("srgb").coordinates
    except (AttributeError, NotImplementedError):
        # not a colour, `currentcolor`, or a colour space that the library does not convert
        return None
    red, green, blue = (min(1.0, max(0.0, part)) for part in parts)
    return Color(red, green, blue, found.alpha)


def _from_xyz(x: float, y: float, z: float) -> tuple[float, ...]:
    """Return red, green and blue in sRGB for a colour in XYZ with white D65, as in CSS Color 4."""
    linear = (
        3.2409699 * x - 1.5373832 * y - 0.4986108 * z,
        -0.9692436 * x + 1.8759675 * y + 0.0415551 * z,
        0.0556301 * x - 0.2039770 * y + 1.0569715 * z,
    )
    return tuple(12.92 * one if one <= 0.0031308 else 1.055 * one ** (1 / 2.4) - 0.055 for one in linear)
