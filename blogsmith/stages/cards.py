"""Social cards (preview images of links): which pages have one, their content and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from unicodedata import category

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Place, Reporter, find_word_range
from ..config.load import CONFIG_NAME
from ..config.schema import Config, SocialCards
from ..languages.language import Language
from ..model.documents import Document
from ..model.generated_files import GeneratedFile
from ..model.social_cards import CardFace, CardStyle, SocialCard, card_name
from ..model.template_views import PageView
from ..project.bundled_folders import bundled_folder
from ..project.context import SiteContext
from ..project.trust.consent import is_trusted
from ..site.cards.faces import drawn_faces, find_faces, list_fonts, machine_folders
from ..site.cards.fonts import CardFonts, missing_characters
from ..site.cards.title import title_pieces


def add_site_cards(views: Sequence[PageView], plan: CardPlan, context: SiteContext) -> list[PageView]:
    """Return the pages with the URLs of their cards."""
    planned = plan.cards
    style, folder = card_style(context), f"{context.config.base_path}/{FOLDER}"
    return [
        replace(view, card=f"{folder}/{card_name(found.card, style, found.faces)}.png")
        if (found := planned.get(view.url))
        else view
        for view in views
    ]


def card_style(context: SiteContext) -> CardStyle:
    """Return the colours and font of the site's cards. The font of a site's own theme is used only if the
    site is trusted, because fonts contain programs, which run in code that is not memory-safe."""
    style = context.theme.files.card
    return replace(style, font=None, font_digest="") if _is_foreign(style.font, context) else style


def card_problems(
    plan: CardPlan, documents: Mapping[str, Document], context: SiteContext
) -> list[Diagnostic]:
    """Return warnings about fonts that are not used or not found, and about titles with letters that no font
    has.

    documents: by source path.
    """
    settings = context.config.card_settings
    if settings is None:
        return []
    found = []
    if _is_foreign(context.theme.files.card.font, context):
        name = context.theme.name
        message = f'font of social cards in theme "{name}" is not used because the site is not trusted'
        found.append(
            _font_warning(message, "run `blogsmith trust`, or write `social_cards: false` in blogsmith.yaml")
        )
    for font in settings.fonts:
        path = _site_font(font, context)
        if path is None:
            message = f'font of social cards not found: "{font}"'
            found.append(_font_warning(message, "add the file, or write its path from the site root"))
        elif _is_foreign(path, context):
            message = f'font of social cards "{font}" is not used because the site is not trusted'
            found.append(_font_warning(message, "run `blogsmith trust`"))
    return [*found, *_letter_problems(plan, documents)]


def _font_warning(message: str, hint: str) -> Diagnostic:
    return Diagnostic("card-font", message, CONFIG_NAME, severity="warning", hint=hint)


def _letter_problems(plan: CardPlan, documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Yield at most two warnings: for the first page without a card, and for the first line of text that a
    card leaves out."""
    if plan.pages:
        view, letters = plan.pages[0]
        document = documents.get(view.path)
        reporter, place = Reporter(CONFIG_NAME), None
        if document:
            reporter = Reporter(view.path, document.source.text.split("\n"))
            title = document.front.places.get("title") or _find_title_heading(reporter.lines)
            place = find_word_range(letters[0], title, reporter.lines)
        count = f" and {len(plan.pages) - 1:,} more" if len(plan.pages) > 1 else ""
        message = (
            f'missing character "{letters[0]}" in the fonts of social cards: no card for this page{count}'
        )
        reporter.warn("card-letters", message, place, _LETTER_HINT)
        yield from reporter.diagnostics
    elif plan.labels:
        message = f'missing character "{plan.labels[0]}" in the fonts of social cards, which omit it'
        yield Diagnostic("card-letters", message, CONFIG_NAME, severity="warning", hint=_LETTER_HINT)


def _find_title_heading(lines: Sequence[str]) -> Place | None:
    """Return the place of the first heading that may be the title of a page; None if there is none."""
    found = (Place(number) for number, line in enumerate(lines, 1) if line.startswith("# "))
    return next(found, None)


def _site_font(written: str, context: SiteContext) -> Path | None:
    """Return the path of a font that the settings name, or None if the site does not have the file."""
    root = context.root.resolve()
    path = (root / written).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None


def _other_fonts(context: SiteContext) -> tuple[Path, ...]:
    """Return the fonts for letters that the theme's font lacks, in the order they are tried."""
    settings = context.config.card_settings or SocialCards()
    own = (_site_font(written, context) for written in settings.fonts)
    named = tuple(path for path in own if path and not _is_foreign(path, context))
    return named + (list_fonts(machine_folders()) if settings.installed else ())


def _is_foreign(font: Path | None, context: SiteContext) -> bool:
    """Return whether a font is a file of this site, and the site is not trusted."""
    root = context.root.resolve()
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
    language = context.theme.language
    plan: CardPlan | None = None
    fonts: dict[tuple[CardFace, ...], CardFonts] = {}
    done: set[str] = set()
    for view in views:
        card = make_card(view, context.config, language) if view.card and view.card not in done else None
        if card is None:
            continue
        done.add(view.card)
        path = PurePosixPath(view.card.removeprefix(base_path).strip("/"))
        planned = PlannedCard(card)
        if path.stem != card_name(card, style):
            # planning reads all titles, so it is repeated only for cards that need other fonts
            plan = plan or plan_cards(views, context)
            planned = plan.cards.get(view.url, planned)
        drawing = fonts.setdefault(planned.faces, CardFonts(style, planned.faces))
        origin = f"the social card of {view.path or view.url}"
        drawn = partial(_draw, planned.card, style, drawing)
        yield path, origin, GeneratedFile(drawn, (), key=path.stem)


def _draw(card: SocialCard, style: CardStyle, fonts: CardFonts) -> bytes:
    # most builds draw no card, because all cards exist already
    from ..site.cards.drawing import draw_card

    return draw_card(card, style, fonts)


# Which pages have a social card, and its content.


KINDS = ("home", "page", "post")
FOLDER = "assets/cards"
"""Path of the folder of cards in the finished site."""
_SEPARATOR = " · "


_LETTER_HINT = "write `social_cards: {fonts: [fonts/NAME.ttf]}` in blogsmith.yaml, with a font that has it"


class PlannedCard(Struct, frozen=True):
    """A card, and the fonts that it needs in addition to that of its style."""

    card: SocialCard
    faces: tuple[CardFace, ...] = ()


class CardPlan(Struct, frozen=True):
    """The cards of a site."""

    cards: Mapping[str, PlannedCard] = {}
    """URL of a page → its card."""
    pages: tuple[tuple[PageView, str], ...] = ()
    """Pages without a card, with the letters of their titles that no font has."""
    labels: str = ""
    """Letters in site titles and bylines that no font has. Cards leave out lines with these letters."""


def plan_cards(views: Iterable[PageView], context: SiteContext) -> CardPlan:
    """Return the cards of pages without an image of their own."""
    config, style = context.config, card_style(context)
    if config.card_settings is None:
        return CardPlan()
    made = [(view, make_card(view, config, context.theme.language)) for view in views]
    lines = [(view, card, _missing_by_line(card, style)) for view, card in made if card is not None]
    missing = frozenset(char for _, _, texts in lines for text in texts for char in text)
    faces = find_faces(missing, _other_fonts(context)) if missing else ()
    planned, pages, labels = {}, [], set[str]()
    for view, card, texts in lines:
        if not any(texts):
            planned[view.url] = PlannedCard(card)
            continue
        title, site, byline = (_letters(drawn_faces(text, faces)[1]) for text in texts)
        if title:
            pages.append((view, title))
            continue
        labels |= {*site, *byline}
        card = replace(card, site="" if site else card.site, byline="" if byline else card.byline)
        used, _ = drawn_faces("".join(_missing_by_line(card, style)), faces)
        planned[view.url] = PlannedCard(card, used)
    return CardPlan(
        planned,
        tuple(sorted(pages, key=lambda page: (not page[0].path, page[0].path))),
        "".join(sorted(labels)),
    )


def _missing_by_line(card: SocialCard, style: CardStyle) -> tuple[str, str, str]:
    """Return the characters that the font of a style lacks in the title (without formulas), the site name and
    the byline."""
    words = "".join(piece.text for piece in title_pieces(card.title_html) if not piece.mathml)
    title, site, byline = (missing_characters(text, style) for text in (words, card.site, card.byline))
    return title, site, byline


def _letters(text: str) -> str:
    """Return the letters, marks and digits of `text`. A card may leave out other symbols, such as emoji."""
    return "".join(char for char in text if category(char)[0] in "LMN")


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
