"""Content and style of social cards: plain records that determine the file name.

A card is a PNG of 1200 × 630 px, as the consumers of Open Graph recommend; they do not accept SVG. It
depends only on these records and the font, and its name contains a digest of them. A network that caches the
image of a URL therefore requests a new one when the card changes, and a build draws only new cards.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

WIDTH_PX = 1200
HEIGHT_PX = 630
_DRAWING_VERSION = "2"
"""Changes when the same card is drawn in another way."""


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


def card_name(card: SocialCard, style: CardStyle) -> str:
    """Return the file name without suffix: a digest of everything that the image depends on."""
    # the path of the font does not affect the image
    plain = msgspec.structs.replace(style, font=None)
    parts = msgspec.msgpack.encode(
        (_DRAWING_VERSION, msgspec.structs.astuple(card), msgspec.structs.astuple(plain))
    )
    return hashlib.sha256(parts).hexdigest()[:16]
