"""Galleries and lightboxes: images in a grid, and links to large versions that a script shows over the page.

Without the script, the link opens the image. An image with the class `lightbox` has a link. If the setting
`lightbox` is on, or in a gallery with that class, each image in a figure that is larger than displayed has
one too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

from markdown_it.token import Token

from ..model.pictures import ImageInfo
from ..syntax.blocks import IMAGES_HINT, NO_IMAGES
from ..syntax.records import Figure, LinkTargetPlace, get_record
from .context import GalleryFrame, PageRendering, Rule
from .figure_frame import figure_attributes, figure_caption
from .prose import attributes
from .variants import LARGE_BYTES, MAX_SHOWN_PX, use_variants

MAX_COLUMNS = 6
ASKED, REFUSED = "lightbox", "no-lightbox"
"""Classes of an image with which the author requests or refuses a lightbox."""


def columns_for(count: int) -> int:
    """Return the default number of columns of a gallery with `count` images."""
    return 2 if count in (2, 4) else min(3, max(1, count))


def large_url(rendering: PageRendering, info: ImageInfo) -> str:
    """Return the URL of an image's large version: the original file, or the largest copy if the original is
    too large."""
    variants = use_variants(rendering, info)
    if not variants or info.bytes <= LARGE_BYTES:
        return info.url
    largest = max(variants, key=lambda one: (one.width_px, one.format == "webp"))
    return f"{rendering.tools.config.base_path}/{largest.path}"


def has_lightbox(
    rendering: PageRendering, info: ImageInfo, classes: Sequence[str], *, is_framed: bool
) -> bool:
    """Return whether an image links to its large version. is_framed: whether the image is in a figure."""
    # browsers do not open `data:` URLs as pages
    if not info.url or info.url.startswith("data:") or REFUSED in classes:
        return False
    gallery, own = rendering.gallery, rendering.document.front.lightbox
    is_on = rendering.tools.config.images.lightbox if own is None else own
    if not (is_on or (gallery and gallery.has_lightbox)):
        return ASKED in classes
    is_small = info.width_px is not None and info.width_px <= MAX_SHOWN_PX // (
        gallery.columns if gallery else 1
    )
    return ASKED in classes or (is_framed and not is_small)


def lightbox_link(rendering: PageRendering, tag: str, light: ImageInfo, dark: ImageInfo | None = None) -> str:
    """Return `tag`, the tag of an image, inside a link to the image's large version."""
    rendering.widgets.add("lightbox")
    twin = f' data-dark="{escape(large_url(rendering, dark))}"' if dark and dark.url else ""
    # a link around an image without alternative text would have no accessible name
    name = f' aria-label="{escape(rendering.language.translate("Picture"))}"' if ' alt=""' in tag else ""
    return f'<a class="lightbox" href="{escape(large_url(rendering, light))}"{twin}{name}>{tag}</a>'


def _gallery_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    classes = str(token.attrs.get("class", "")).split()
    columns = _columns(rendering, token, _count_figures(tokens, index))
    rendering.gallery = GalleryFrame(columns, has_lightbox=ASKED in classes)
    rendering.widgets.add("gallery")
    names = " ".join(["gallery", "image-grid", f"cols-{columns}", *_other_classes(classes)])
    own = attributes(token, "class", "data-cols", "data-caption", "data-alt")
    return f'{_group_opening(token)}<div class="{escape(names)}"{own}>\n'


def _group_opening(token: Token) -> str:
    """Return the start tag of the figure around a gallery; empty if the gallery is not a figure."""
    if "figure" not in token.meta:
        return ""
    own = figure_attributes(get_record(token, Figure).id, str(token.attrs.get("data-alt", "")))
    return f'<figure class="figure-group"{own}>\n'


def _other_classes(classes: Sequence[str]) -> list[str]:
    return [name for name in classes if name not in ("gallery", ASKED)]


def _gallery_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    rendering.gallery = None
    token = tokens[index]
    if "figure" not in token.meta:
        return "</div>\n"
    text = rendering.render(rendering, token.children or ())
    caption = figure_caption(rendering, get_record(token, Figure).number, text).lstrip("\n")
    return f"</div>\n{caption}</figure>\n"


def _count_figures(tokens: Sequence[Token], start: int) -> int:
    count = 0
    for index in range(start, len(tokens)):
        if tokens[index].type == "gallery_close":
            break
        count += tokens[index].type == "figure_open"
    return count


def _columns(rendering: PageRendering, token: Token, count: int) -> int:
    text = str(token.attrs.get("data-cols", ""))
    if text.isascii() and text.isdigit() and len(text) < 3 and 1 <= int(text) <= MAX_COLUMNS:
        return int(text)
    place = get_record(token, LinkTargetPlace).place
    if text:
        message = f'invalid value "{text}" of "data-cols": expected a number from 1 to {MAX_COLUMNS}'
        rendering.reporter.error("gallery", message, place, 'write `data-cols="3"`')
    if not count:
        rendering.reporter.warn("gallery", NO_IMAGES, place, IMAGES_HINT)
    return columns_for(count)


RULES: Mapping[str, Rule] = MappingProxyType({"gallery_open": _gallery_open, "gallery_close": _gallery_close})
