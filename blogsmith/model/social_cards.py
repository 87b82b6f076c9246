"""What a card shows and how a theme wants it to look: plain records, from which its file is named.

A card is a PNG of 1200 × 630 px, as the readers of Open Graph recommend; they take no SVG. It depends on
nothing but these records and the font, so its name holds a digest of them: a network that has kept the
picture of an address asks for another one when there is one, and a build draws only cards that are new.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

WIDTH_PX = 1200
HEIGHT_PX = 630
_RECIPE = "2"
"""Changes when the same card is drawn in another way."""


class CardStyle(Struct, frozen=True):
    """Colours and font of a theme's cards; colours as `#rrggbb`."""

    font: Path | None = None
    """TTF, OTF or WOFF2; None: the one that comes with Pillow."""
    font_digest: str = ""
    """Hex SHA-256 of the file."""
    weight: int = 600
    """Of the title, where the font has weights to choose from."""
    paper: str = "#ffffff"
    ink: str = "#1a1a1a"
    muted: str = "#666666"
    accent: str = "#1a4f8a"


class SocialCard(Struct, frozen=True):
    """One card."""

    title_html: str
    """With formulas as MathML."""
    site: str
    """Title of the site."""
    byline: str
    """Who and when; may be empty."""
    direction: Literal["ltr", "rtl"] = "ltr"
    """In which the language of the page is written."""


def card_name(card: SocialCard, style: CardStyle) -> str:
    """File name without suffix: a digest of all that the picture depends on."""
    # where the font lies says nothing about the picture
    plain = msgspec.structs.replace(style, font=None)
    parts = msgspec.msgpack.encode((_RECIPE, msgspec.structs.astuple(card), msgspec.structs.astuple(plain)))
    return hashlib.sha256(parts).hexdigest()[:16]
