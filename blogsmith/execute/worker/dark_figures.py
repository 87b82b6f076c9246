"""Figure colours for dark pages: black becomes light, white backgrounds are removed, colours stay.

Colours with a hue are the author's choice and stay. Greys of drawn elements, from black text to a light grey
grid, are mirrored between the text and background colours of a dark page. Elements on a background that
stays, such as numbers on a heat map or text in a coloured box, are not changed. The same is true of data
shown by a colour map and of elements with path effects (text with a halo is readable anywhere).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Color = tuple[float, float, float, float]
    """Red, green, blue and opacity, from 0 to 1."""

_INK = (0xD8 / 255, 0xD6 / 255, 0xD0 / 255)
_BACKGROUND = (0x1A / 255, 0x19 / 255, 0x17 / 255)
_NO_HUE = 0.06
_WHITE = 0.97
_LIGHT = 0.9
_OPAQUE = 0.5
_FIELDS = frozenset(("QuadMesh", "PolyQuadMesh", "PolyCollection"))
_CLEAR: Color = (0.0, 0.0, 0.0, 0.0)


def has_own_background(figure: Any) -> bool:
    """Return whether the figure has a background of its own, as in dark styles. If so, the figure is not
    changed for dark pages."""
    return _is_kept(figure.patch) or not _is_light(_face_color(figure.patch))


@contextmanager
def repaint_figure(figure: Any, *, dark: bool) -> Iterator[None]:
    """Remove white backgrounds of the figure, and use light colours for dark pages. Restore the figure
    afterwards."""
    before: list[tuple[Any, dict[str, Any]]] = []
    artists = _artists(figure)
    grounds = [artist.patch for artist in artists if _is_patch(getattr(artist, "patch", None))]
    kept = {id(artist) for artist in _artists_on_grounds(artists)}
    try:
        for artist in artists:
            if id(artist) not in kept:
                before.append((artist, vars(artist).copy()))
                is_ground = any(artist is ground for ground in grounds)
                with suppress(Exception):  # a third-party artist whose colours are unknown keeps them
                    _repaint(artist, is_ground, dark)
        yield
    finally:
        for artist, state in before:
            vars(artist).clear()
            vars(artist).update(state)


def _artists(figure: Any) -> list[Any]:
    """Return every artist once, including those that matplotlib does not list as children."""
    found: dict[int, Any] = {}
    for artist in figure.findobj():
        arrow, pane = getattr(artist, "arrow_patch", None), getattr(artist, "pane", None)
        for one in (artist, _text_box(artist), arrow, pane, _cell_text(artist)):
            if one is not None:
                found.setdefault(id(one), one)
    return list(found.values())


def _artists_on_grounds(artists: list[Any]) -> Iterator[Any]:
    """Yield the artists in front of a background that is not changed."""
    for artist in artists:
        box = _text_box(artist)
        if box is not None and _is_kept(box):
            yield artist
        if hasattr(artist, "get_axisbelow") and (_is_kept(artist.patch) or _has_picture(artist)):
            inside = [*artist.lines, *artist.patches, *artist.collections, *artist.texts, artist.get_legend()]
            for one in filter(None, inside):
                yield from _artists(one)


def _has_picture(axes: Any) -> bool:
    """Return whether an image or a field of coloured cells fills the axes."""
    if axes.images:
        return True
    mapped = [one for one in axes.collections if one.get_array() is not None]
    return any(type(one).__name__ in _FIELDS or getattr(one, "filled", False) for one in mapped)


def _repaint(artist: Any, is_ground: bool, dark: bool) -> None:
    """Set the colours of one artist (element of a figure) for light or dark pages. is_ground: whether the
    artist is a background."""
    kinds = sys.modules
    if is_ground and _lightness(_face_color(artist)) >= _WHITE:
        artist.set_facecolor(_CLEAR)
        return
    if not dark or artist.get_path_effects():
        return
    if isinstance(artist, kinds["matplotlib.text"].Text):
        _mirror_properties(artist, "color")
    elif isinstance(artist, kinds["matplotlib.lines"].Line2D):
        _mirror_properties(artist, "color", "markerfacecolor", "markeredgecolor")
    elif _is_patch(artist):
        _mirror_properties(artist, "facecolor", "edgecolor")
    elif isinstance(artist, kinds["matplotlib.collections"].Collection):
        _repaint_many(artist)


def _repaint_many(artist: Any) -> None:
    """Set the colours of a collection of elements. matplotlib reports contour lines as coloured by data even
    if the author named their colours."""
    if artist.get_array() is None:
        _mirror_properties(artist, "facecolor", "edgecolor")
    elif getattr(artist, "colors", None) is not None and not getattr(artist, "filled", True):
        artist.set_array(None)
        _mirror_properties(artist, "edgecolor")


def _mirror_properties(artist: Any, *names: str) -> None:
    """Mirror colour properties of an artist. All properties are read before one is set, because they may
    depend on each other."""
    to_rgba_array = import_module("matplotlib.colors").to_rgba_array
    is_many = hasattr(artist, "get_array")
    found = {name: to_rgba_array(getattr(artist, f"get_{name}")()).tolist() for name in names}
    for name, colors in found.items():
        mirrored = [_mirror_color(tuple(color)) for color in colors]
        if mirrored != [tuple(color) for color in colors]:
            getattr(artist, f"set_{name}")(mirrored if is_many else mirrored[0])


def _mirror_color(color: Color) -> Color:
    """Map black to the text colour, white to the background, and greys in between. Keep other colours."""
    value, opacity = _lightness(color), color[3]
    if value < 0 or opacity == 0:
        return color
    red, green, blue = (ink + value * (ground - ink) for ink, ground in zip(_INK, _BACKGROUND))  # noqa: B905 - 3.9
    return red, green, blue, opacity


def _lightness(color: Color) -> float:
    """Return the lightness from 0 (black) to 1 (white), or -1 for a colour with a hue."""
    red, green, blue = color[:3]
    return (red + green + blue) / 3 if max(red, green, blue) - min(red, green, blue) <= _NO_HUE else -1.0


def _is_light(color: Color) -> bool:
    return color[3] < _OPAQUE or _lightness(color) >= _LIGHT


def _is_kept(patch: Any) -> bool:
    """Return whether a background has a hue. If so, it is not changed."""
    face = _face_color(patch)
    return bool(patch.get_visible()) and face[3] >= _OPAQUE and _lightness(face) < 0


def _face_color(patch: Any) -> Color:
    color: Color = patch.get_facecolor()
    return color


def _text_box(artist: Any) -> Any:
    """Return the box around a text."""
    return artist.get_bbox_patch() if hasattr(artist, "get_bbox_patch") else None


def _cell_text(artist: Any) -> Any:
    """Return the text in a cell of a table."""
    tables = sys.modules.get("matplotlib.table")
    return artist.get_text() if tables and isinstance(artist, tables.Cell) else None


def _is_patch(artist: Any) -> bool:
    return isinstance(artist, sys.modules["matplotlib.patches"].Patch)
