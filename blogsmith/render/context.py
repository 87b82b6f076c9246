"""What rendering one page needs from the rest of the site, and what it collects on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from ..base.diagnostics.model import Place, Reporter, SiteError
from ..base.patterns import lazy_pattern
from ..hooks import FormulaConverter
from ..languages.language import ENGLISH, Language
from ..model.documents import ConverterFallback, Document
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo, PictureVariant
from ..model.remote_images import REMOTE_HINT, is_remote, remote_address, remote_message
from ..model.results import PageResults
from ..syntax.parser import Parsed
from ..syntax.references.labels import Label
from .fragments import fragment_key
from .tools import Tools

if TYPE_CHECKING:
    from ..tex.parse.reader import Macro
    from .outputs.provenance import RunLine

# How long a page takes to read: prose by the word, formulas and code in seconds.
#
# What is folded when the page opens counts nothing, for few readers unfold all of it. Pictures and results of
# cells count nothing either: a glance and a study of the same table are minutes apart.


WORDS_PER_MINUTE = 220
SECONDS_PER_FORMULA = 3
SECONDS_PER_DISPLAY = 6
SECONDS_PER_CODE_LINE = 1.5

_WORD = lazy_pattern(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER, _JOINT, _GAP = b"a", b"-", b" "
_SIGNS = bytes(
    ord(_LETTER)
    if chr(code).isascii() and chr(code).isalnum()
    else ord(_JOINT if chr(code) in "'.-" else _GAP)
    for code in range(256)
)
"""What a character of ASCII is for `_WORD`."""
_JOINED, _WORD_START = _LETTER + _JOINT + _LETTER, _GAP + _LETTER
_DETAILS = lazy_pattern(r"<(/?)details(?=[\s>/])((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_OPEN = lazy_pattern(r"(?:^|\s)open(?=[\s=/]|$)", re.IGNORECASE)


@dataclass
class ReadingTime:
    """Of the part of a page that was rendered so far."""

    seconds: float = 0.0
    _folds: list[bool] = field(default_factory=list)
    """Of each element around the place that can be folded, whether it starts folded."""

    def enter(self, *, is_folded: bool) -> None:
        """An element that can be folded starts."""
        self._folds.append(is_folded)

    def leave(self) -> None:
        """The innermost such element ends; more ends than starts are the author's mistake, and harmless."""
        if self._folds:
            self._folds.pop()

    def pass_html(self, html: str) -> None:
        """Raw HTML, which may start and end `<details>`."""
        if "details" not in html.lower():
            return
        for closing, attributes in _DETAILS.findall(html):
            if closing:
                self.leave()
            else:
                self.enter(is_folded=not _OPEN.search(attributes))

    def add_words(self, text: str) -> None:
        """Prose that is printed."""
        words = _count_ascii(text) if text.isascii() else len(_WORD.findall(text))
        self._add(words * 60 / WORDS_PER_MINUTE)

    def add_formula(self, *, display: bool) -> None:
        """A formula that is printed."""
        self._add(SECONDS_PER_DISPLAY if display else SECONDS_PER_FORMULA)

    def add_code(self, lines: int) -> None:
        """Code that is printed."""
        self._add(lines * SECONDS_PER_CODE_LINE)

    def _add(self, seconds: float) -> None:
        if not self._folds or not any(self._folds):
            self.seconds += seconds


def _count_ascii(text: str) -> int:
    """As many as `_WORD` finds in a text of ASCII, in a tenth of the time."""
    signs = _GAP + text.encode("ascii").translate(_SIGNS)
    if _JOINED in signs:
        # twice, for of two joints around one letter only the first is found
        signs = signs.replace(_JOINED, 2 * _LETTER).replace(_JOINED, 2 * _LETTER)
    return signs.replace(_JOINT, _GAP).count(_WORD_START)


MOST_BYTES, MOST_MOVING_BYTES = 10_000_000, 5_000_000
"""Of a picture, and of one that moves."""


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
    is_in_link: bool = False
    """What is rendered stands in a link."""
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
    has_unmet_note: bool = False
    """Whether the page says already that some of its code was not run."""
    told_run: RunLine | None = None
    """The last run that was told in full below a result."""
    tab_labels: set[str] = field(default_factory=set)
    """Of all tabs so far."""
    links: set[str] = field(default_factory=set)
    """Addresses in this site that the text links to."""
    citations: object = None
    """What the page cites, once `citations/` has found it."""
    reading: ReadingTime = field(default_factory=ReadingTime)
    fragments: dict[bytes, str] = field(default_factory=dict)
    """Formulas and code that say nothing but what they are: `fragment_key` → HTML."""
    formulas: int = 0
    code_blocks: int = 0
    images: int = 0
    diagrams: int = 0
    _macros_key: bytes = b""
    """Empty: nobody has asked since the last of them was defined."""

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

    def define(self, macros: Mapping[str, Macro]) -> None:
        """Macros that a formula has defined for those after it."""
        if macros:
            self.macros.update(macros)
            self._macros_key = b""

    @property
    def macros_key(self) -> bytes:
        """Names the macros known so far."""
        if not self._macros_key:
            self._macros_key = fragment_key(*self.macros.items())
        return self._macros_key

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
