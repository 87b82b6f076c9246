"""An image for the light and one for the dark colour scheme: browsers load the one for the page's scheme, and
print the light one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.patterns import lazy_pattern
from ..model.pictures import ImageInfo
from .context import PageRendering
from .variants import picture_parts, source_tags

DARK_MEDIA = "screen and (prefers-color-scheme: dark)"
"""Media query for the dark image. Print is left out, because paper is light whatever the reader's system
prefers."""
_NAMES = lazy_pattern(r' (?:class|id)="[^"]*"')
FOR_PAPER = '<img class="for-paper" hidden'
"""Start of an image tag that stylesheets show only in print."""


def scheme_pair(
    rendering: PageRendering,
    light: ImageInfo,
    dark: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
    own: str = "",
) -> str:
    """Return a `<picture>` of both images, followed by the light one for print. Without the latter, Chromium
    would print the image that it chose for the screen. Browsers load the image for print only when they
    print. own: attributes of the `<picture>`."""
    rendering.widgets.add("pictures")
    sources, image = picture_parts(rendering, light, light, alt, classes=classes, attrs=attrs)
    if not light.url or not dark.url:
        # an image that is missing has been reported already
        return image
    dark_sources = source_tags(rendering, dark, (attrs or {}).get("style", ""), DARK_MEDIA)
    # values are escaped, so they contain no quotes
    paper = _NAMES.sub("", image.removeprefix("<img"))
    return f"<picture{own}>{dark_sources}{sources}{image}</picture>{FOR_PAPER}{paper}"
