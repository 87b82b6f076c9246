"""Which pages have a social card, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..config.schema import Config
from ..languages.language import Language
from ..model.social_cards import CardStyle, SocialCard, card_name
from ..model.template_views import PageView
from .cards.title import title_pieces

KINDS = ("home", "page", "post")
FOLDER = "assets/cards"
"""Of the finished site."""
_SEPARATOR = " · "


def add_cards(
    views: Sequence[PageView],
    style: CardStyle,
    config: Config,
    missing_signs: Callable[[str, CardStyle], str],
    language: Callable[[str], Language],
) -> list[PageView]:
    """The pages with the addresses of their cards.

    missing_signs: the characters of a text that the font of a style cannot draw; with one there is no card.
    language: language tag → its dates.
    """
    if not config.social_cards or not config.base_url:
        return list(views)
    folder = f"{config.base_path}/{FOLDER}"
    cards = {view.url: card for view in views if (card := card_of(view, config, language)) is not None}
    return [
        replace(view, card=f"{folder}/{card_name(card, style)}.png")
        if (card := cards.get(view.url)) and not missing_signs(_text_of(card), style)
        else view
        for view in views
    ]


def card_of(view: PageView, config: Config, language: Callable[[str], Language]) -> SocialCard | None:
    """What the card of a page says; None for lists, and for pages with a picture of their own."""
    if view.kind not in KINDS or view.image:
        return None
    words = language(view.lang)
    byline = [", ".join(view.authors)] if view.kind == "post" else [view.description]
    if view.date:
        byline.append(words.format_date(view.date))
    site = config.title if view.title != config.title else ""
    return SocialCard(view.title_html, site, _SEPARATOR.join(filter(None, byline)), words.direction)


def _text_of(card: SocialCard) -> str:
    """What is drawn with the font of the text."""
    words = [piece.text for piece in title_pieces(card.title_html) if not piece.mathml]
    return "".join((*words, card.site, card.byline))
