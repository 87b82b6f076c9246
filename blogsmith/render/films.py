"""Films of the site: `<video>` with a still picture, captions, and silent loops in place of moving GIFs."""

from __future__ import annotations

from html import escape

from msgspec import Struct

from ..base.diagnostics.model import Place
from ..languages.tags import language_name
from ..model.pictures import ImageInfo, MediaFile, film_type
from .context import Rendering
from .variants import LARGE_BYTES, middle_variant, use_variants


class Written(Struct, frozen=True):
    """A path as an author wrote it."""

    text: str
    place: Place


class Film(Struct, frozen=True):
    """A film as an author asks for it."""

    source: Written
    poster: Written | None = None
    captions: Written | None = None
    lang: str = ""
    """Of the captions; empty: of the page."""
    is_loop: bool = False
    """Plays over and over without sound."""
    label: str = ""
    """What it shows, for those who do not see it."""
    title: str = ""
    """Of the link for browsers that play no films; empty: its address."""
    style: str = ""


def find_media(rendering: Rendering, written: Written) -> MediaFile:
    """The file of a film or of captions; after a report what is written."""
    found = rendering.tools.media(written.text, rendering.document)
    if isinstance(found, MediaFile):
        return found
    rendering.problem(found, written.place)
    return MediaFile(found.local_url, is_captions=True)


def film_tag(rendering: Rendering, film: Film) -> str:
    """The `<video>` of a film."""
    found = find_media(rendering, film.source)
    poster = rendering.find_image(film.poster.text, film.poster.place) if film.poster else None
    size = _size(found, poster)
    # a poster of another shape would lend its own to the film, until that is loaded
    shape = f"aspect-ratio:{size[0]}/{size[1]}" if size and poster and found.width_px else ""
    style = ";".join(filter(None, (film.style, shape)))
    attributes = [
        " controls",
        " muted loop playsinline" if film.is_loop else "",
        ' preload="metadata"',
        f' poster="{escape(_poster_url(rendering, poster))}"' if poster and poster.url else "",
        f' width="{size[0]}" height="{size[1]}"' if size else "",
        f' style="{escape(style)}"' if style else "",
        f' aria-label="{escape(film.label)}"' if film.label else "",
    ]
    if film.is_loop:
        rendering.widgets.add("loop")
    url, kind = escape(found.url), film_type(film.source.text)
    parts = [
        f"<video{''.join(attributes)}>",
        f'<source src="{url}" type="{kind}">' if kind else f'<source src="{url}">',
        *_track(rendering, film),
        f'<a href="{url}">{escape(film.title or found.url, quote=False)}</a>',
    ]
    return "\n".join((*parts, "</video>"))


def _size(found: MediaFile, poster: ImageInfo | None) -> tuple[int, int] | None:
    if found.width_px and found.height_px:
        return found.width_px, found.height_px
    if poster and poster.width_px and poster.height_px:
        return poster.width_px, poster.height_px
    return None


def _poster_url(rendering: Rendering, poster: ImageInfo) -> str:
    variants = use_variants(rendering, poster) if poster.bytes > LARGE_BYTES else ()
    if not variants:
        return poster.url
    # a poster has one address; every browser that plays films of today shows WebP
    chosen = middle_variant(variants, variants[-1].format)
    return f"{rendering.tools.config.base_path}/{chosen.path}"


def _track(rendering: Rendering, film: Film) -> list[str]:
    if film.captions is None:
        return []
    found = find_media(rendering, film.captions)
    if found.url and not found.is_captions:
        message = f"{film.captions.text} holds no captions: a file of WebVTT begins with the word WEBVTT"
        hint = "of an .srt file: write WEBVTT and an empty line on top, and 00:01.500 for 00:01,500"
        rendering.reporter.error("captions", message, film.captions.place, hint)
    if not found.url:
        return []
    tag = film.lang or rendering.document.front.lang or rendering.tools.config.lang
    lang, name = escape(tag), escape(language_name(tag))
    return [f'<track kind="captions" src="{escape(found.url)}" srclang="{lang}" label="{name}" default>']
