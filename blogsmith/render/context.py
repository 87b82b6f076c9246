"""What rendering one page needs from the rest of the site, and what it collects on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from ..base.diagnostics.model import Diagnostic, Place, Reporter, SiteError
from ..config.schema import Config
from ..hooks import FormulaConverter, Plugins
from ..languages.bundled import find_language
from ..languages.language import ENGLISH, Language
from ..model.documents import Document
from ..model.fallbacks import ConverterFallback
from ..model.links import LinkTarget
from ..model.media import MediaFile
from ..model.pictures import ImageInfo, PictureVariant
from ..model.publications import CslStyle, FoundPublication
from ..model.remote_images import REMOTE_HINT, is_remote, remote_address, remote_message
from ..model.results import PageResults
from ..syntax.parser import Parsed
from ..syntax.references.labels import Label
from ..tex.on_demand import convert_formula
from .converters import ForeignConvert, convert_foreign
from .lexing import Lex, lex_in_time
from .reading_time import ReadingTime

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution
    from ..tex.convert import Convert
    from ..tex.parse.reader import Macro
    from .outputs.provenance import RunLine


MOST_BYTES, MOST_MOVING_BYTES = 10_000_000, 5_000_000
"""Of a picture, and of one that moves."""


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
    md: MarkdownIt
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
    nearest_slug: Callable[[str], str | None] = lambda slug: None
    """A slug that names no post → one that may be meant."""
    slug_hint: Callable[[str], str] = lambda slug: "write the post's slug before the #"
    """A slug that names no post → what to do."""
    media: Callable[[str, Document], MediaFile | LinkTarget] = _no_media
    """Path of a film or of captions written in a post → the file, or what is wrong with it."""
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
    lex: Lex = lex_in_time
    """Source code → its pieces; a function of its arguments, so it may remember what it has seen."""
    formula: Convert = convert_formula
    """A formula → MathML; it too may remember, see `tex.cache`."""
    foreign: ForeignConvert = convert_foreign
    """The same by the converter of a plugin; it may remember likewise."""
    language: Callable[[str], Language] = lambda tag: find_language(tag, {})
    """BCP 47 tag of a page → the words that are printed on it."""
    mark_lines: bool = False
    """Blocks say on which line of the file they start, cells which they are: see `marks.py`."""


class GalleryFrame(msgspec.Struct, frozen=True):
    """The gallery that is being rendered."""

    columns: int
    has_lightbox: bool
    """All its images lead to large versions."""


@cache
def _stock_renderer() -> RendererHTML:
    """One for all pages: it holds nothing of a page, and is slow to make."""
    return RendererHTML()


@dataclass
class Rendering:
    """One page being rendered."""

    parsed: Parsed
    tools: Tools
    reporter: Reporter
    macros: dict[str, str | Macro]
    """TeX macros known so far: the site's, the page's, then those its formulas define."""
    render: Callable[[Rendering, Sequence[Token]], str]
    """`html.render_tokens`: for rules whose HTML holds other tokens."""
    results: PageResults
    """What its cells and values came to."""
    language: Language = ENGLISH
    """Of the page."""
    converter: FormulaConverter | None = None
    """The plugin that typesets its formulas; None: they are ours."""
    fallbacks: dict[ConverterFallback, None] = field(default_factory=dict)
    """Formulas that stay ours all the same."""
    files: dict[str, Path | bytes] = field(default_factory=dict)
    """Pictures of its cells: name beside the page → what to copy there."""
    stock: RendererHTML = field(default_factory=_stock_renderer)
    """Prints what no rule of ours does."""
    gallery: GalleryFrame | None = None
    is_framed: bool = False
    """What is rendered stands in a figure."""
    frame_caption: str = ""
    """Caption of that figure as text."""
    variants: set[PictureVariant] = field(default_factory=set)
    """Copies of pictures that the page names."""
    widgets: set[str] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    """Shortcodes whose templates never end."""
    unknown: set[str] = field(default_factory=set)
    """Names of shortcodes that there are not, as far as they were reported."""
    loaded: dict[str, list[str]] = field(default_factory=dict)
    """Session in the reader's browser → packages that its code needs so far."""
    told_run: RunLine | None = None
    """The last run that was told in full below a result."""
    tab_labels: set[str] = field(default_factory=set)
    """Of all tabs so far."""
    links: set[str] = field(default_factory=set)
    """Addresses in this site that the text links to."""
    citations: object = None
    """What the page cites, once `citations/` has found it."""
    reading: ReadingTime = field(default_factory=ReadingTime)
    formulas: int = 0
    code_blocks: int = 0
    images: int = 0
    diagrams: int = 0

    @property
    def document(self) -> Document:
        """The document being rendered."""
        return self.parsed.document

    @property
    def labels(self) -> Mapping[str, Label]:
        """Labels of this page."""
        return self.parsed.labels

    def copy_without_report(self) -> Rendering:
        """The same page for a second look at tokens that were reported on already."""
        return replace(
            self,
            reporter=Reporter(self.reporter.path),
            macros=dict(self.macros),
            widgets=set(),
            fallbacks={},
            reading=ReadingTime(),
        )

    def name_of(self, kind: str) -> str:
        """The English name of a kind of callout in the page's language; one of the site's own as it is."""
        is_own = any(row.title == kind for row in self.tools.config.callouts.values())
        return kind if is_own else self.language.translate(kind)

    def problem(self, target: LinkTarget, place: Place | None) -> None:
        """Report a target that leads nowhere; remember one that stays in the site."""
        if target.url.startswith("/"):
            self.links.add(target.url.partition("#")[0].partition("?")[0])
        if target.problem:
            fix = target.fix(self.reporter, place)
            self.reporter.error(target.code, target.problem, place, target.hint, fix)

    def find_image(self, path: str, place: Place | None) -> ImageInfo:
        """The image for a path as the author wrote it; without an address after a report if there is none."""
        found = self.tools.image(path, self.document)
        if not isinstance(found, ImageInfo):
            self.problem(found, place)
            found = ImageInfo(found.local_url, None, None)
            if not found.url and is_remote(path):
                found = msgspec.structs.replace(found, address=remote_address(path))
        settings = self.tools.config.images
        if found.is_remote and settings.remote == "warn":
            self.reporter.warn("image-remote", remote_message(path), place, REMOTE_HINT)
        if found.bytes > MOST_BYTES or (found.is_animated and found.bytes > MOST_MOVING_BYTES):
            self._report_large(path, found, place)
        if found.located and settings.metadata == "keep":
            # it tells every reader where it was taken, often a home
            message = f"image {path} tells where it was taken"
            hint = "take the position out, or write images: {metadata: clean} in blogsmith.yaml"
            self.reporter.warn("image-location", message, place, hint)
        return found

    def _report_large(self, path: str, found: ImageInfo, place: Place | None) -> None:
        size = f"{found.bytes / 1e6:.1f} MB"
        if found.is_animated:
            message = f"image {path} moves and has {size}, all of which is sent to each reader"
            hint = "make a video of it, which has a tenth of that: ![caption](clip.mp4){.loop}"
        elif found.digest and self.tools.config.images.responsive:
            message = f"image {path} has {size}; pages show smaller copies, and the site publishes it as well"
            hint = "make it smaller before: 2400 pixels across are enough for any page"
        else:
            message = f"image {path} has {size}, all of which is sent to each reader"
            hint = "make it smaller: 1600 pixels across are enough for most pages"
        self.reporter.warn("image-large", message, place, hint)

    def absorb(self, error: SiteError) -> None:
        """Keep the diagnostics of a stage below that could not go on."""
        for diagnostic in error.diagnostics:
            self.reporter.add(diagnostic)


Rule = Callable[[Rendering, Sequence[Token], int], str]
"""(rendering, tokens, index) → HTML of `tokens[index]`."""
