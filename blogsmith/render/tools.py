"""The site as one page sees it while it is rendered.

Every build asks the site what its pages asked before, so what only rendering needs is imported with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..config.schema import Config
from ..hooks import Plugins
from ..languages.bundled_languages import find_language
from ..languages.language import ENGLISH, Language
from ..model.documents import Document
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo, MediaFile
from ..model.publications import CslStyle, FoundPublication
from ..model.results import PageResults
from ..syntax.references.labels import Label
from ..tex.on_demand import convert_formula
from .converters import ForeignConvert, convert_foreign
from .lexing import Lex, lex_in_time

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from ..pyodide.distribution import Distribution
    from ..tex.convert import Convert


class Shortcodes(Protocol):
    """The part of a theme that renders shortcodes."""

    def render_shortcode(
        self, name: str, context: Mapping[str, Any], page_path: str = "", language: Language = ENGLISH
    ) -> str:
        """HTML of a shortcode."""

    def has_shortcode(self, name: str) -> bool:
        """Whether there is a template for it."""

    def shortcode_names(self) -> tuple[str, ...]:
        """All of them."""


def _no_results(document: Document) -> PageResults:
    return PageResults()


def _no_picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
    return f"there is no place for the picture {name}"


def _no_media(written: str, document: Document) -> MediaFile | LinkTarget:
    return LinkTarget("", f"there is no place for the film {written}")


def _from_cdn() -> Distribution:
    from ..pyodide.distribution import cdn_distribution

    return cdn_distribution()


class Tools(msgspec.Struct, frozen=True):
    """The site as one page sees it; functions, so that a test can hand in its own."""

    config: Config
    parser: Callable[[], MarkdownIt]
    """Makes the parser, or gives the one there is; a site whose pages are all known needs none."""
    theme: Shortcodes
    plugins: Plugins
    link: Callable[[str, Document], LinkTarget]
    """Address written in a post → where it leads."""
    image: Callable[[str, Document], ImageInfo | LinkTarget]
    """Path written in a post → the image, or what is wrong with it."""
    labels: Callable[[str, Document], Mapping[str, Label] | None]
    """Slug of a post as a document names it → its labels; None if there is no such post."""
    post_url: Callable[[str, Document], str]
    """The same → its URL with base path."""
    page_title: Callable[[str], str] = lambda path: path
    """Source path of a page → its title as plain text."""
    nearest_slug: Callable[[str], str | None] = lambda slug: None
    """A slug that names no post → one that may be meant."""
    slug_hint: Callable[[str], str] = lambda slug: "write the post's slug before the #"
    """A slug that names no post → what to do."""
    media: Callable[[str, Document], MediaFile | LinkTarget] = _no_media
    """Path of a film or of captions written in a post → the file, or what is wrong with it."""
    poster: Callable[[str, Document], ImageInfo | LinkTarget | None] = lambda url, document: None
    """URL of a video at another host → the copy of its still picture; None if the site has none."""
    results: Callable[[Document], PageResults] = _no_results
    """What the cells and values of a page came to."""
    picture: Callable[[Document, str, Path | bytes], ImageInfo | str] = _no_picture
    """A picture of a cell, under its name beside the page → its URL and size, or what is wrong with it."""
    python: Callable[[], Distribution] = _from_cdn
    """Where readers' browsers get Python; asked for only by pages with code that runs there."""
    work: Callable[[str, Document], FoundPublication] = lambda key, document: FoundPublication()
    """Key of a citation → what the bibliographies of a page have under it."""
    work_keys: Callable[[Document], tuple[str, ...]] = lambda document: ()
    """All keys that the page may cite, in the order of its files."""
    publication_keys: Callable[[Document], tuple[str, ...]] = lambda document: ()
    """Keys of the bibliographies that the page lists as a whole."""
    work_hint: Callable[[str, Document], str] = lambda key, document: ""
    """A key that no bibliography has → what to do."""
    work_place: Callable[[str, Document], Diagnostic | None] = lambda key, document: None
    """Key → where its entry stands, as a finding without words."""
    bibliography_problems: Callable[[Document], tuple[Diagnostic, ...]] = lambda document: ()
    """What is wrong with the bibliographies of a page themselves."""
    citation_style: Callable[[Document], CslStyle] = lambda document: CslStyle()
    """The style of citations that the page asks for."""
    templates: Callable[..., bytes] = lambda *names: b""
    """Names of templates and other files of the theme → a digest of them, see `ThemeFiles.digest`."""
    lex: Lex = lex_in_time
    """Source code → its pieces; a function of its arguments, so it may remember what it has seen."""
    formula: Convert = convert_formula
    """A formula → MathML; it too may remember, see `tex.cache`."""
    foreign: ForeignConvert = convert_foreign
    """The same by the converter of a plugin; it may remember likewise."""
    kept: Mapping[bytes, str] = MappingProxyType({})
    """Formulas and code of this page as it was made last: `fragment_key` → HTML."""
    language: Callable[[str], Language] = lambda tag: find_language(tag, {})
    """BCP 47 tag of a page → the words that are printed on it."""
    mark_lines: bool = False
    """Blocks say on which line of the file they start, cells which they are: see `marks.py`."""

    @property
    def md(self) -> MarkdownIt:
        """The parser."""
        return self.parser()
