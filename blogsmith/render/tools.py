"""The site as one page sees it while it is rendered: functions that answer the page's questions.

Every build asks these questions again for cached pages, without rendering them. Therefore modules that only
rendering needs are imported when rendering starts.
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
from ..model.links import LinkTarget, LinkTitle
from ..model.pictures import ImageInfo, MediaFile
from ..model.publications import CslStyle, PublicationLookup
from ..model.results import PageResults
from ..syntax.references.labels import Label
from ..tex.on_demand import convert_formula
from .converters import PluginConvert, convert_with_plugin
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
        """Return the HTML of a shortcode; see `Theme.render_shortcode`."""

    def has_shortcode(self, name: str) -> bool:
        """Return whether the shortcode has a template."""

    def shortcode_names(self) -> tuple[str, ...]:
        """Return the names of all shortcodes."""


def _no_results(document: Document) -> PageResults:
    return PageResults()


def _no_picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
    return f'no location for the image "{name}"'


def _no_media(written: str, document: Document) -> MediaFile | LinkTarget:
    return LinkTarget("", f'no location for the video "{written}"')


def _from_cdn() -> Distribution:
    from ..pyodide.distribution import cdn_distribution

    return cdn_distribution()


class SiteAccess(msgspec.Struct, frozen=True):
    """Functions through which a page sees the site. They are fields, so that tests can replace them."""

    config: Config
    parser: Callable[[], MarkdownIt]
    """Function that returns the parser, created at its first use; a site whose pages are all cached needs
    none."""
    theme: Shortcodes
    plugins: Plugins
    link: Callable[[str, Document], LinkTarget]
    """URL as written in a post → its target."""
    image: Callable[[str, Document], ImageInfo | LinkTarget]
    """Path as written in a post → the image, or the error."""
    labels: Callable[[str, Document], Mapping[str, Label] | None]
    """Slug of a post as written in a document → its labels; None for an unknown post."""
    post_url: Callable[[str, Document], str]
    """Slug of a post as written in a document → its URL with base path."""
    link_title: Callable[[str, str], Label | LinkTitle] = lambda path, anchor: LinkTitle()
    """Source path of a page, and an id on the page or an empty string → label or title that a link to it
    prints."""
    nearest_slug: Callable[[str], str | None] = lambda slug: None
    """Unknown slug → the nearest known slug, or None."""
    slug_hint: Callable[[str], str] = lambda slug: "write the post's slug before the `#`"
    """Unknown slug → hint for the author, which may name a similar slug."""
    media: Callable[[str, Document], MediaFile | LinkTarget] = _no_media
    """Path of a video or of captions as written in a post → the file, or the error."""
    poster: Callable[[str, Document], ImageInfo | LinkTarget | None] = lambda url, document: None
    """URL of a video on another host → local copy of its still image; None if the site has none."""
    results: Callable[[Document], PageResults] = _no_results
    """Document → results of its cells and values."""
    picture: Callable[[Document, str, Path | bytes], ImageInfo | str] = _no_picture
    """Document, file name in the page's folder, image of a cell → the URL and size of the image, or the
    error."""
    python_distribution: Callable[[], Distribution] = _from_cdn
    """Returns the distribution of Python for browsers; called only for pages with runnable code."""
    live_library: Callable[[str], tuple[str, ...]] = lambda library: ()
    """Name of a JavaScript library in `model.live_libraries` → URLs of its scripts; empty if the site has no
    complete copy."""
    find_reference: Callable[[str, Document], PublicationLookup] = lambda key, document: PublicationLookup()
    """Key of a citation → result of searching the page's bibliographies."""
    work_keys: Callable[[Document], tuple[str, ...]] = lambda document: ()
    """Document → all keys of the bibliography files that it may cite, in the order of the files."""
    publication_keys: Callable[[Document], tuple[str, ...]] = lambda document: ()
    """Document → keys in the bibliographies whose entries it lists completely."""
    work_hint: Callable[[str, Document], str] = lambda key, document: ""
    """Unknown citation key → hint."""
    work_place: Callable[[str, Document], Diagnostic | None] = lambda key, document: None
    """Citation key → location of its entry, as a diagnostic without message; None if there is none."""
    bibliography_problems: Callable[[Document], tuple[Diagnostic, ...]] = lambda document: ()
    """Document → errors in its bibliography files. Errors in its citations are not among them."""
    citation_style: Callable[[Document], CslStyle] = lambda document: CslStyle()
    """Document → its citation style."""
    templates: Callable[..., bytes] = lambda *names: b""
    """Names of templates and other theme files → a digest of them (see `ThemeFiles.digest`)."""
    lex_code: Lex = lex_in_time
    """Source code → its tokens for highlighting. The result depends on the arguments only, so it may be
    cached."""
    formula: Convert = convert_formula
    """Formula → MathML. The result depends on the arguments only, so it may be cached (see `tex.cache`)."""
    plugin_formula: PluginConvert = convert_with_plugin
    """Formula → MathML of a plugin's converter. The result may be cached."""
    cached_fragments: Mapping[bytes, str] = MappingProxyType({})
    """Key of a formula or of code (`fragment_key`) → its HTML when this page was last rendered."""
    language: Callable[[str], Language] = lambda tag: find_language(tag, {})
    """BCP 47 tag of a page → its translations."""
    mark_lines: bool = False
    """Whether to add line numbers to blocks and numbers to cells, for the live preview (see `html.py`)."""

    @property
    def md(self) -> MarkdownIt:
        """The parser."""
        return self.parser()
