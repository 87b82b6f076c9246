"""Social cards: which pages have one, their content and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic
from ..config.load import CONFIG_NAME
from ..config.schema import Config
from ..languages.language import Language
from ..model.generated_files import GeneratedFile
from ..model.social_cards import CardStyle, SocialCard, card_name
from ..model.template_views import PageView
from ..project.bundled_folders import bundled_folder
from ..project.context import SiteContext
from ..project.trust.consent import is_trusted
from ..site.cards.fonts import CardFonts, missing_characters
from ..site.cards.title import title_pieces


def add_site_cards(views: Sequence[PageView], context: SiteContext) -> list[PageView]:
    """Return the pages with the URLs of their cards."""
    return add_cards(views, card_style(context), context.config, missing_characters, context.theme.language)


def card_style(context: SiteContext) -> CardStyle:
    """Return the style of cards. The font of a site's own theme is used only if the site is trusted.

    Fonts contain programs, and they are read by code that is not memory-safe.
    """
    style = context.theme.files.card
    return replace(style, font=None, font_digest="") if _is_foreign(style, context) else style


def card_problems(context: SiteContext) -> list[Diagnostic]:
    """Warn if cards do not use the font of the theme."""
    style, config = context.theme.files.card, context.config
    if not (config.social_cards and config.base_url and _is_foreign(style, context)):
        return []
    message = (
        f'font of social cards in theme "{context.theme.name}" is not used because the site is not trusted'
    )
    hint = "run `blogsmith trust`, or write `social_cards: false` in blogsmith.yaml"
    return [Diagnostic("card-font", message, CONFIG_NAME, severity="warning", hint=hint)]


def _is_foreign(style: CardStyle, context: SiteContext) -> bool:
    font, root = style.font, context.root.resolve()
    if font is None or not font.is_relative_to(root):
        return False
    if font.is_relative_to(bundled_folder("themes").resolve()):
        return False
    return not is_trusted(context.root, context.config)


def card_files(
    views: Iterable[PageView], context: SiteContext
) -> Iterator[tuple[PurePosixPath, str, GeneratedFile]]:
    """Yield path, origin and content of each card. Cards are drawn on request. Equal cards share a file."""
    base_path, style = context.config.base_path, card_style(context)
    fonts = CardFonts(style)
    planned: set[str] = set()
    for view in views:
        is_new = view.card and view.card not in planned
        card = make_card(view, context.config, context.theme.language) if is_new else None
        if card is not None:
            planned.add(view.card)
            path = PurePosixPath(view.card.removeprefix(base_path).strip("/"))
            origin = f"the social card of {view.path or view.url}"
            yield path, origin, GeneratedFile(partial(_draw, card, style, fonts), (), key=path.stem)


def _draw(card: SocialCard, style: CardStyle, fonts: CardFonts) -> bytes:
    # most builds draw no card, because all cards exist already
    from ..site.cards.drawing import draw_card

    return draw_card(card, style, fonts)


# Which pages have a social card, and its content.


KINDS = ("home", "page", "post")
FOLDER = "assets/cards"
"""Path in the finished site."""
_SEPARATOR = " · "


def add_cards(
    views: Sequence[PageView],
    style: CardStyle,
    config: Config,
    missing_signs: Callable[[str, CardStyle], str],
    language: Callable[[str], Language],
) -> list[PageView]:
    """Return the pages with the URLs of their cards.

    missing_signs: function that returns the characters of a string that the font cannot draw. A page with
    such characters gets no card. language: function from language tag to language.
    """
    if not config.social_cards or not config.base_url:
        return list(views)
    folder = f"{config.base_path}/{FOLDER}"
    cards = {view.url: card for view in views if (card := make_card(view, config, language)) is not None}
    return [
        replace(view, card=f"{folder}/{card_name(card, style)}.png")
        if (card := cards.get(view.url)) and not missing_signs(_card_text(card), style)
        else view
        for view in views
    ]


def make_card(view: PageView, config: Config, language: Callable[[str], Language]) -> SocialCard | None:
    """Return the content of a page's card. It is None for lists and for pages with their own image."""
    if view.kind not in KINDS or view.image:
        return None
    words = language(view.lang)
    byline = [", ".join(view.authors)] if view.kind == "post" else [view.description]
    if view.date:
        byline.append(words.format_date(view.date))
    site = config.title if view.title != config.title else ""
    return SocialCard(view.title_html, site, _SEPARATOR.join(filter(None, byline)), words.direction)


def _card_text(card: SocialCard) -> str:
    """Return all text on the card, without formulas."""
    words = [piece.text for piece in title_pieces(card.title_html) if not piece.mathml]
    return "".join((*words, card.site, card.byline))
