"""One image in two colour schemes: browsers load the one for the page's scheme; the light one is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.patterns import lazy_pattern
from ..model.pictures import ImageInfo
from .context import PageRendering
from .variants import picture_parts, source_tags

DARK_MEDIA = "screen and (prefers-color-scheme: dark)"
"""Paper is light, whatever the reader's system setting."""
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
    """Return a `<picture>` of both images, followed by the light one for print.

    Chromium prints the source that it chose for the screen. The print image is not loaded before printing.
    own: Attributes of the `<picture>`.
    """
    rendering.widgets.add("pictures")
    sources, image = picture_parts(rendering, light, light, alt, classes=classes, attrs=attrs)
    if not light.url or not dark.url:
        # The missing image was already reported.
        return image
    dark_sources = source_tags(rendering, dark, (attrs or {}).get("style", ""), DARK_MEDIA)
    # Quotes in values are escaped.
    paper = _NAMES.sub("", image.removeprefix("<img"))
    return f"<picture{own}>{dark_sources}{sources}{image}</picture>{FOR_PAPER}{paper}"
