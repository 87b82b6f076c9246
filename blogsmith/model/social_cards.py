"""Content and style of social cards (preview images of links): records that determine the file name of a
card.

A card is a PNG of 1200 × 630 px, the size that Open Graph consumers recommend; they do not accept SVG. It
depends only on these records and the fonts, and its file name contains a digest of them. When a card changes,
so does its URL, and social networks cannot show an outdated image from their cache. A build draws only cards
whose file does not exist yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..base.patterns import lazy_pattern
from .letters import UNSPACED

WIDTH_PX = 1200
HEIGHT_PX = 630
_DRAWING_VERSION = "2"
"""Version of the drawing code. Increase it when the same content is drawn in another way."""
_WRAPPING_VERSION = "1"
"""Version of the line breaking of titles in scripts that write no spaces between words. Increase it when
their lines are broken in another way."""
_UNSPACED = lazy_pattern(f"[{UNSPACED}]")


class CardStyle(Struct, frozen=True):
    """Colours and font of a theme's cards; colours as `#rrggbb`."""

    font: Path | None = None
    """TTF, OTF or WOFF2 file; None: the font included in Pillow."""
    font_digest: str = ""
    """SHA-256 of the file in hex."""
    weight: int = 600
    """Weight of the title, if the font has several weights."""
    paper: str = "#ffffff"
    ink: str = "#1a1a1a"
    muted: str = "#666666"
    accent: str = "#1a4f8a"


class CardFace(Struct, frozen=True):
    """A font for characters that the font of a style lacks."""

    path: Path
    digest: str
    """SHA-256 of the file in hex."""


class SocialCard(Struct, frozen=True):
    """The content of one card."""

    title_html: str
    """Title, with formulas as MathML."""
    site: str
    """Title of the site."""
    byline: str
    """Author and date; may be empty."""
    direction: Literal["ltr", "rtl"] = "ltr"
    """Writing direction of the language of the page."""


def card_name(card: SocialCard, style: CardStyle, faces: Sequence[CardFace] = ()) -> str:
    """Return the file name without suffix: a digest of everything that the image depends on. faces: fonts for
    characters that the style's font lacks."""
    # leave out the path of the font, which does not affect the image
    plain = msgspec.structs.replace(style, font=None)
    more = [face.digest for face in faces]
    if _UNSPACED.search(card.title_html):
        more.append(_WRAPPING_VERSION)
    parts = msgspec.msgpack.encode(
        (_DRAWING_VERSION, msgspec.structs.astuple(card), msgspec.structs.astuple(plain), *more)
    )
    return hashlib.sha256(parts).hexdigest()[:16]
