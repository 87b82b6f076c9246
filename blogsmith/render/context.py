"""State of the rendering of one page: what it needs from the site, and what it collects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import Place, Reporter, SiteError
from ..base.patterns import lazy_pattern
from ..hooks import FormulaConverter
from ..languages.language import ENGLISH, Language
from ..model.documents import ConverterFallback, Document
from ..model.letters import ALPHABETIC, UNSPACED, WORD_PATTERN, remove_invisible
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo, ImageVariant
from ..model.remote_images import REMOTE_HINT, format_remote_message, is_remote, normalize_remote_url
from ..model.results import PageResults
from ..syntax.parser import Parsed
from ..syntax.references.labels import Label
from ..tex.parse.macros import MacroTable, read_macros
from .tools import SiteAccess

if TYPE_CHECKING:
    from ..tex.parse.reader import Macro
    from .outputs.provenance import RunLine

# Reading time counts prose by words, and formulas and code in seconds. Scripts without spaces between words
# are counted by letters. Content that is folded initially does not count, because few readers open all of it.
# Images and cell results do not count either: a glance at a table and a study of it are minutes apart.


WORDS_PER_MINUTE = 220
SYLLABLES_PER_MINUTE = 400
"""Reading speed in characters of Han and Kana. An estimate: passages of equal content are read about as fast
as in English (IReST, doi:10.1167/iovs.11-8284, table 2), and 238 English words (M. Brysbaert,
doi:10.1016/j.jml.2019.104047) are about 400 characters."""
LETTERS_PER_MINUTE = 860
"""Reading speed in letters of Thai, Lao, Khmer and Burmese: the mean of 17 languages (IReST,
doi:10.1167/iovs.11-8284)."""
SECONDS_PER_FORMULA = 3
SECONDS_PER_DISPLAY = 6
SECONDS_PER_CODE_LINE = 1.5

_WORD = lazy_pattern(rf"{WORD_PATTERN}(?:['’.-]{WORD_PATTERN})*")
_PLAIN_WORD = lazy_pattern(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SPECIAL = lazy_pattern(
    "[^\x00-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u205f\u20a0-\u20bf\u2100-\u2bff]"
)
"""Regular expression of a character that is not Latin, Greek or Cyrillic. For text without one, `_PLAIN_WORD`
is twice as fast."""
_UNSPACED = lazy_pattern(f"[{UNSPACED}]+")
_ALPHABETIC = lazy_pattern(f"[{ALPHABETIC}]+")
_LETTER, _JOINT, _GAP = b"a", b"-", b" "
_CHARACTER_CLASSES = bytes(
    ord(_LETTER)
    if chr(code).isascii() and chr(code).isalnum()
    else ord(_JOINT if chr(code) in "'.-" else _GAP)
    for code in range(256)
)
"""Translation table that replaces each ASCII character by its class, to count words as `_WORD` does."""
_JOINED, _WORD_START = _LETTER + _JOINT + _LETTER, _GAP + _LETTER
_DETAILS = lazy_pattern(r"<(/?)details(?=[\s>/])((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_OPEN = lazy_pattern(r"(?:^|\s)open(?=[\s=/]|$)", re.IGNORECASE)


@dataclass
class ReadingTime:
    """Reading time of the part of a page rendered so far."""

    seconds: float = 0.0
    _folds: list[bool] = field(default_factory=list)
    """For each foldable element around the current position: whether it starts folded."""

    def enter(self, *, is_folded: bool) -> None:
        """Record that the text enters a foldable element. Folded text adds no reading time."""
        self._folds.append(is_folded)

    def leave(self) -> None:
        """Leave the innermost foldable element. Ignore an end tag without a start, which is an error in raw
        HTML."""
        if self._folds:
            self._folds.pop()

    def pass_html(self, html: str) -> None:
        """Process raw HTML, which may start and end `<details>`."""
        if "details" not in html.lower():
            return
        for closing, attributes in _DETAILS.findall(html):
            if closing:
                self.leave()
            else:
                self.enter(is_folded=not _OPEN.search(attributes))

    def add_words(self, text: str) -> None:
        """Add the reading time of printed prose."""
        if text.isascii():
            self._add(_count_ascii(text) * 60 / WORDS_PER_MINUTE)
            return
        if not _SPECIAL.search(text):
            self._add(len(_PLAIN_WORD.findall(text)) * 60 / WORDS_PER_MINUTE)
            return
        text = remove_invisible(text)
        if unspaced := "".join(_UNSPACED.findall(text)):
            text = _UNSPACED.sub(" ", text)
            syllables = _ALPHABETIC.sub("", unspaced)
            letters = "".join(_ALPHABETIC.findall(unspaced))
            self._add(_count_letters(syllables) * 60 / SYLLABLES_PER_MINUTE)
            self._add(_count_letters(letters) * 60 / LETTERS_PER_MINUTE)
        self._add(len(_WORD.findall(text)) * 60 / WORDS_PER_MINUTE)

    def add_formula(self, *, display: bool) -> None:
        """Add the reading time of a printed formula."""
        self._add(SECONDS_PER_DISPLAY if display else SECONDS_PER_FORMULA)

    def add_code(self, lines: int) -> None:
        """Add the reading time of printed code."""
        self._add(lines * SECONDS_PER_CODE_LINE)

    def _add(self, seconds: float) -> None:
        if not self._folds or not any(self._folds):
            self.seconds += seconds


def _count_letters(text: str) -> int:
    """Return the number of letters and digits, without marks and punctuation."""
    return sum(map(str.isalnum, text))


def _count_ascii(text: str) -> int:
    """Return the number of matches of `_WORD` in ASCII text, in a tenth of the time that the pattern
    needs."""
    signs = _GAP + text.encode("ascii").translate(_CHARACTER_CLASSES)
    if _JOINED in signs:
        # done twice: of two joints around one letter the first pass matches only the first
        signs = signs.replace(_JOINED, 2 * _LETTER).replace(_JOINED, 2 * _LETTER)
    return signs.replace(_JOINT, _GAP).count(_WORD_START)


MOST_BYTES, MOST_MOVING_BYTES = 10_000_000, 5_000_000
"""Maximum size in bytes of an image, and of an animated image."""


class GalleryFrame(msgspec.Struct, frozen=True):
    """The gallery that is being rendered."""

    columns: int
    has_lightbox: bool
    """Whether all its images link to large versions."""


class OpenLink(NamedTuple):
    """A link that the page has opened and not closed yet."""

    is_raw: bool
    """Whether the author wrote the link as `<a>`."""
    end: str = ""
    """End tag to print; empty for a link inside another one, which is only text."""


@cache
def _stock_renderer() -> RendererHTML:
    """Return markdown-it's renderer, shared by all pages, because it has no page state and is slow to
    create."""
    return RendererHTML()


@dataclass
class PageRendering:
    """The rendering of one page."""

    parsed: Parsed
    tools: SiteAccess
    reporter: Reporter
    macros: MacroTable
    """TeX macros defined so far: those of the site and the page, and those that formulas of the page
    define."""
    render: Callable[[PageRendering, Sequence[Token]], str]
    """`html.render_tokens`, for rules whose HTML contains other tokens. A field, because that module imports
    the rules."""
    results: PageResults
    """Results of the page's cells and values."""
    language: Language = ENGLISH
    """Language of the page."""
    converter: FormulaConverter | None = None
    """Plugin that typesets the formulas; None for our own converter."""
    fallbacks: dict[ConverterFallback, None] = field(default_factory=dict)
    """Formulas that our converter typesets because the plugin could not, as an ordered set."""
    cell_images: dict[str, Path | bytes] = field(default_factory=dict)
    """Images of the page's cells: name in the page's folder → file to copy or content."""
    default_renderer: RendererHTML = field(default_factory=_stock_renderer)
    """Renders tokens without a rule of ours."""
    gallery: GalleryFrame | None = None
    open_links: list[OpenLink] = field(default_factory=list)
    """Links that contain the current position, the outermost first."""
    is_title: bool = False
    """Whether the current tokens are a title, or the text of a link that is rendered later. If so, their
    formulas get accessible names."""
    heading_name: str = ""
    """Plain text of the current heading."""
    is_framed: bool = False
    """Whether the current tokens are inside a figure."""
    frame_caption: str = ""
    """Caption of the current figure as plain text."""
    variants: set[ImageVariant] = field(default_factory=set)
    """Smaller copies of images that the page refers to."""
    widgets: set[str] = field(default_factory=set)
    failed_shortcodes: set[str] = field(default_factory=set)
    """Names of shortcodes whose templates exceeded a limit, so that further calls print nothing."""
    unknown_shortcodes: set[str] = field(default_factory=set)
    """Names of unknown shortcodes that were already reported."""
    browser_packages: dict[str, list[str]] = field(default_factory=dict)
    """Browser session → packages that its code requires so far."""
    has_unmet_note: bool = False
    """Whether the page already has a note that some of its code was not run."""
    last_run_line: RunLine | None = None
    """Most recent run whose details the page printed in full after a result."""
    tab_labels: set[str] = field(default_factory=set)
    """Labels of all tabs rendered so far."""
    links: set[str] = field(default_factory=set)
    """URLs in this site that the text links to."""
    citations: object = None
    """Citation plan of the page; None until `citations/html.py` creates it."""
    reading: ReadingTime = field(default_factory=ReadingTime)
    check_reporter: Reporter = field(default_factory=lambda: Reporter(""))
    """For warnings that only checks and editors show."""
    fragments: dict[bytes, str] = field(default_factory=dict)
    """HTML of formulas and code that depends only on their source and settings, by `fragment_key`."""
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

    def copy_without_report(self) -> PageRendering:
        """Return a copy that reports nothing, to render tokens a second time."""
        return replace(
            self,
            reporter=Reporter(self.reporter.path),
            widgets=set(),
            fallbacks={},
            check_reporter=Reporter(self.reporter.path),
            reading=ReadingTime(),
            open_links=[],
        )

    def define(self, macros: Mapping[str, str | Macro]) -> None:
        """Add macros that a formula defines for later formulas."""
        if macros:
            self.macros = self.macros.extend(macros)

    def use_macros(self, macros: Mapping[str, str | Macro]) -> None:
        """Replace the macros by those of another page, to render a title of that page."""
        self.macros = read_macros(macros)

    @property
    def is_in_link(self) -> bool:
        """Whether the current tokens are inside a link."""
        return bool(self.open_links)

    def kind_name(self, kind: str) -> str:
        """Return the name of a callout kind in the page's language. The site's kinds are not translated."""
        is_own = any(row.title == kind for row in self.tools.config.callouts.values())
        return kind if is_own else self.language.translate(kind)

    def report_target(self, target: LinkTarget, place: Place | None) -> None:
        """Report the problem of a link target, if it has one. If the target is in the site, record that the
        page links to it."""
        if target.url.startswith("/"):
            self.links.add(target.url.partition("#")[0].partition("?")[0])
        if target.problem:
            fix = target.fix(self.reporter, place)
            self.reporter.error(target.code, target.problem, place, target.hint, fix)

    def report_nested(self, written: str, place: Place | None, fix: Fix | None = None) -> None:
        """Warn that `written`, a link, reference or note, is inside the text of a link and is printed as text
        only."""
        message = f'"{written}" is not allowed in the text of a link'
        self.reporter.warn("link-nested", message, place, f"write `{written}` after the link", fix)

    def find_image(self, path: str, place: Place | None) -> ImageInfo:
        """Return the image for a path as the author wrote it.

        If it is not found, report an error and return an image without a URL.
        """
        found = self.tools.image(path, self.document)
        if not isinstance(found, ImageInfo):
            self.report_target(found, place)
            found = ImageInfo(found.local_url, None, None)
            if not found.url and is_remote(path):
                found = msgspec.structs.replace(found, remote_url=normalize_remote_url(path))
        settings = self.tools.config.images
        if found.is_remote and settings.remote == "warn":
            self.reporter.warn("image-remote", format_remote_message(path), place, REMOTE_HINT)
        if found.bytes > MOST_BYTES or (found.is_animated and found.bytes > MOST_MOVING_BYTES):
            self._report_large(path, found, place)
        if found.has_location and settings.metadata == "keep":
            # the place where an image was taken is often a home
            message = f'image "{path}" contains the location where it was taken'
            hint = "remove the location, or write `images: {metadata: clean}` in blogsmith.yaml"
            self.reporter.warn("image-location", message, place, hint)
        return found

    def _report_large(self, path: str, found: ImageInfo, place: Place | None) -> None:
        size = f"{found.bytes / 1e6:.1f} MB"
        if found.is_animated:
            message = f'animated image "{path}" is too large: {size} is sent to each reader'
            hint = "use a video, which is ten times smaller: write `![caption](clip.mp4){.loop}`"
        elif found.digest and self.tools.config.images.responsive:
            message = f'image "{path}" is too large: {size} is published in addition to smaller copies'
            hint = "scale it to a width of 2400 pixels, which is enough for any page"
        else:
            message = f'image "{path}" is too large: {size} is sent to each reader'
            hint = "scale it to a width of 1600 pixels, which is enough for most pages"
        self.reporter.warn("image-large", message, place, hint)

    def add_diagnostics(self, error: SiteError) -> None:
        """Add the diagnostics of a SiteError that another stage raised."""
        for diagnostic in error.diagnostics:
            self.reporter.add(diagnostic)


Rule = Callable[[PageRendering, Sequence[Token], int], str]
"""Function that maps (rendering, tokens, index) to the HTML of `tokens[index]`."""
