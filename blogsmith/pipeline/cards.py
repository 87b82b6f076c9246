"""The social cards of the site: the pages that have one, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from ..cards.drawing import draw_card
from ..cards.fonts import CardFonts, missing_signs
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..site.generated import GeneratedFile
from ..site.social_cards import add_cards, card_of


def with_cards(views: Sequence[PageView], context: SiteContext) -> list[PageView]:
    """The pages with the addresses of their cards."""
    theme = context.theme
    return add_cards(views, theme.files.card, context.config, missing_signs, theme.language)


def card_files(
    views: Iterable[PageView], context: SiteContext
) -> Iterator[tuple[PurePosixPath, str, GeneratedFile]]:
    """Path, origin and content of each card, drawn when asked for; pages that say the same share one."""
    base_path, style = context.config.base_path, context.theme.files.card
    fonts = CardFonts(style)
    planned: set[str] = set()
    for view in views:
        is_new = view.card and view.card not in planned
        card = card_of(view, context.config, context.theme.language) if is_new else None
        if card is not None:
            planned.add(view.card)
            path = PurePosixPath(view.card.removeprefix(base_path).strip("/"))
            origin = f"the social card of {view.path or view.url}"
            yield path, origin, GeneratedFile(partial(draw_card, card, style, fonts), (), key=path.stem)
