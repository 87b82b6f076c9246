"""Smaller copies of an image, and the `<img>` or `<picture>` that refers to them.

The markup depends only on the size and the bytes of the file, so it is known before any copy exists, and a
page in the preview never waits for an image. If a copy would not be smaller, its file contains the original.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..config.schema import Images
from ..model.pictures import IMAGE_COPIES_FOLDER, ImageFormat, ImageInfo, ImageVariant
from .images import img_tag

if TYPE_CHECKING:
    from .context import PageRendering

LARGE_BYTES = 300_000
"""File size in bytes above which readers who only view a page get a copy instead of the original."""
RECIPE = 1
"""Version in the names of copies. Increase it when the same image gives copies with other pixels."""
_MIN_WIDTH_RATIO = 1.2
"""Minimum ratio between the largest width and the next smaller one."""
MAX_SHOWN_PX = 740
"""Maximum displayed width of an image in pixels, on a large screen: text and part of the margin."""
_THUMBNAIL_WIDTHS = (160, 320)
_NARROW = "48em"
_STYLE_WIDTH = lazy_pattern(r"width:([0-9.]{1,8})(%|px|em|rem|ch)(?:;|$)")
_NO_NAME = lazy_pattern(r"[^a-z0-9]+")
_EXTENSIONS: Mapping[ImageFormat, str] = MappingProxyType({"webp": "webp", "avif": "avif", "jpeg": "jpg"})
_OWN_SIZES = ("srcset", "sizes")


def picture_tag(
    rendering: PageRendering,
    natural: ImageInfo,
    shown: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
    columns: int = 1,
) -> str:
    """Return the tag of an image, with its smaller copies if there are any. natural: image with the size of
    the file. shown: image with the size to print as attributes. columns: number of images beside each
    other."""
    sources, image = picture_parts(
        rendering, natural, shown, alt, classes=classes, attrs=attrs, columns=columns
    )
    return f"<picture>{sources}{image}</picture>" if sources else image


def picture_parts(
    rendering: PageRendering,
    natural: ImageInfo,
    shown: ImageInfo,
    alt: str,
    *,
    classes: Sequence[str] = (),
    attrs: Mapping[str, str] | None = None,
    columns: int = 1,
) -> tuple[str, str]:
    """Return the `<source>` elements for all formats except the last one, and the `<img>` for the last
    format. Arguments are as in `picture_tag`."""
    given = dict(attrs or {})
    variants = () if given.keys() & set(_OWN_SIZES) else use_variants(rendering, natural)
    if not variants:
        return "", img_tag(shown, alt, classes=classes, attrs=given)
    base = rendering.tools.config.base_path
    sizes = _sizes(natural, shown, given.get("style", ""), columns)
    *better, last = dict.fromkeys(one.format for one in variants)
    if natural.bytes > LARGE_BYTES:
        shown = replace(shown, url=f"{base}/{middle_variant(variants, last).path}")
    own = {"srcset": srcset_of(variants, last, base), "sizes": sizes}
    image = img_tag(shown, alt, classes=classes, attrs={**given, **own})
    return "".join(_source(srcset_of(variants, kind, base), sizes, kind) for kind in better), image


def cover_tag(rendering: PageRendering) -> str:
    """Return the `<img>` of the page's image, for the top of the page; empty without an image, or if the site
    shows no images of posts. `build/relate.py` reports errors."""
    front, config = rendering.document.front, rendering.tools.config
    found = (
        rendering.tools.image(front.image, rendering.document)
        if front.image and config.shows_pictures
        else None
    )
    if not isinstance(found, ImageInfo) or not found.url:
        return ""
    return picture_tag(rendering, found, found, "", attrs={"loading": "eager", "fetchpriority": "high"})


def thumbnail_tag(rendering: PageRendering, info: ImageInfo) -> str:
    """Return the `<img>` of a small image beside an entry of a list, with copies up to a few times the
    displayed width."""
    settings = rendering.tools.config.images
    variants = variants_of(info, replace(settings, widths=_THUMBNAIL_WIDTHS, formats=settings.formats[-1:]))
    if not variants:
        return img_tag(info, "")
    rendering.variants.update(variants)
    base = rendering.tools.config.base_path
    own = {"srcset": srcset_of(variants, variants[0].format, base), "sizes": "8rem"}
    return img_tag(replace(info, url=f"{base}/{variants[-1].path}"), "", attrs=own)


def source_tags(rendering: PageRendering, info: ImageInfo, style: str, media: str) -> str:
    """Return the `<source>` elements of an image that browsers use if the media query applies. style: CSS of
    the image."""
    variants, base = use_variants(rendering, info), rendering.tools.config.base_path
    known = info.width_px and info.height_px
    size = f' width="{info.width_px}" height="{info.height_px}"' if known else ""
    rest = f' media="{media}"{size}'
    if not variants:
        return f'<source srcset="{escape(info.url)}"{rest}>'
    sizes = _sizes(info, info, style, 1)
    kinds = dict.fromkeys(one.format for one in variants)
    return "".join(_source(srcset_of(variants, kind, base), sizes, kind, rest) for kind in kinds)


def _source(srcset: str, sizes: str, kind: ImageFormat, rest: str = "") -> str:
    return f'<source srcset="{escape(srcset)}" sizes="{sizes}" type="image/{kind}"{rest}>'


def use_variants(rendering: PageRendering, info: ImageInfo) -> tuple[ImageVariant, ...]:
    """Return the copies of an image, and record that the page uses them."""
    found = variants_of(info, rendering.tools.config.images)
    rendering.variants.update(found)
    return found


def variants_of(info: ImageInfo, settings: Images) -> tuple[ImageVariant, ...]:
    """Return the copies of an image, sorted by format and width; empty for images that are small, animated or
    without a known size."""
    if not settings.responsive or not info.digest or not info.width_px or not info.height_px:
        return ()
    widths = _widths(info.width_px, settings.widths)
    return tuple(variant_of(info, width, kind) for kind in settings.formats for width in widths)


def variant_of(info: ImageInfo, width_px: int, kind: ImageFormat) -> ImageVariant:
    """Return one copy of an image with known size."""
    assert info.width_px and info.height_px, "an image of unknown size has no copies"
    height_px = max(1, round(info.height_px * width_px / info.width_px))
    digest = hashlib.sha256(f"{RECIPE} {info.digest}".encode()).hexdigest()[:12]
    path = f"{IMAGE_COPIES_FOLDER}/{_stem(info.url)}-{digest}-{width_px}.{_EXTENSIONS[kind]}"
    return ImageVariant(path, info.url, width_px, height_px, kind)


def middle_variant(variants: Sequence[ImageVariant], kind: ImageFormat) -> ImageVariant:
    """Return the copy for readers whose program cannot choose: the smallest one that fills a text column."""
    own = [one for one in variants if one.format == kind]
    return next((one for one in own if one.width_px >= MAX_SHOWN_PX), own[-1])


def srcset_of(variants: Sequence[ImageVariant], kind: ImageFormat, base_path: str) -> str:
    """Return the copies of one format with their widths, as a value of `srcset`."""
    own = (one for one in variants if one.format == kind)
    return ", ".join(f"{base_path}/{one.path} {one.width_px}w" for one in own)


def _widths(natural: int, wanted: Sequence[int]) -> list[int]:
    largest = min(natural, max(wanted))
    smaller = [width for width in sorted(set(wanted)) if width * _MIN_WIDTH_RATIO <= largest]
    return [*smaller, largest]


def _sizes(natural: ImageInfo, shown: ImageInfo, style: str, columns: int) -> str:
    """Return the displayed width of the image as a value of `sizes`: the whole screen on a phone, otherwise a
    part of the column. style: CSS of the image, which may contain a width that the author set."""
    assert natural.width_px, "an image of unknown size has no copies"
    asked = _STYLE_WIDTH.match(style)
    if asked and asked[2] == "%":
        share = min(100.0, max(1.0, float(asked[1])))
        return f"(min-width: {_NARROW}) {round(MAX_SHOWN_PX * share / 100)}px, {round(share)}vw"
    if asked:
        return f"{asked[1]}{asked[2]}"
    if shown.width_px and shown.width_px != natural.width_px:
        return f"{shown.width_px}px"
    return f"(min-width: {_NARROW}) {min(natural.width_px, MAX_SHOWN_PX // columns)}px, 100vw"


def _stem(url: str) -> str:
    name = unquote(url).rpartition("/")[2].rpartition(".")[0]
    return _NO_NAME.sub("-", name.lower())[:40].strip("-") or "picture"
