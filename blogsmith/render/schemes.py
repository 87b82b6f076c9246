"""One image in two schemes: browsers load the one that fits the page, and paper gets the light one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.patterns import lazy_pattern
from ..model.pictures import ImageInfo
from .context import Rendering
from .variants import picture_parts, source_tags

DARK_MEDIA = "screen and (prefers-color-scheme: dark)"
"""Paper is light whatever the reader's system says."""
_NAMES = lazy_pattern(r' (?:class|id)="[^"]*"')
FOR_PAPER = '<img class="for-paper" hidden'
"""How a picture begins that style sheets show in print only."""


def scheme_pair(
    rendering: Rendering,
    light: ImageInfo,
    dark: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
    own: str = "",
) -> str:
    """A `<picture>` of both, and the light one once more for paper.

    Chromium prints the source that it chose for the screen. Nothing is loaded for the second one before.
    own: attributes of the `<picture>`.
    """
    rendering.widgets.add("pictures")
    sources, image = picture_parts(rendering, light, light, alt, classes=classes, attrs=attrs)
    if not light.url or not dark.url:
        # reported where it was looked for
        return image
    dark_sources = source_tags(rendering, dark, (attrs or {}).get("style", ""), DARK_MEDIA)
    # quotes in values are escaped
    paper = _NAMES.sub("", image.removeprefix("<img"))
    return f"<picture{own}>{dark_sources}{sources}{image}</picture>{FOR_PAPER}{paper}"
