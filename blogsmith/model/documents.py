"""The records that the pipeline passes on, one per stage, all frozen.

Source → Document → Parsed (in `syntax/`) → Body → Page → Output. A module that creates a record sets every
field. Nobody changes the content of `Mapping` fields. A document and the records of its front matter are
dataclasses, because plugins change them with `dataclasses.replace`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, Place
from ..base.storage.stamps import FileStamp
from .cells import PageCells, PageExecution
from .courses import Change, Series, Solutions
from .pictures import ImageVariant
from .remote_images import RemoteImages
from .scopes import OfPage, OfSite
from .texts import PageText, read_on_demand

# Numbered statements and equations of a page, and references to them.


class Statement(Struct, frozen=True, array_like=True):
    """A numbered item that a proof may use: a theorem or similar statement, or an equation."""

    id: str
    name: str
    """Name in the language of its page: `Theorem 1` or `Equation (2)`."""
    title: str = ""
    """The author's title as plain text."""
    title_html: str = ""
    """The title with formulas typeset; empty if it has none."""
    parent: str = ""
    """For an equation: id of the statement that contains it."""
    is_equation: bool = False
    is_exercise: bool = False


class StatementUse(Struct, frozen=True, array_like=True):
    """A reference to a label, with its location."""

    url: str
    """URL of the page of the label, as printed; empty for the same page."""
    target: str
    """Id of the label."""
    anchor: str
    """Id to link to: the statement that contains the reference, otherwise the heading above it; empty if
    there is neither."""
    section: str = ""
    """Heading above the reference, as plain text."""
    statement: str = ""
    """Id of the statement that contains the reference; for a reference in a proof, of the proved
    statement."""
    in_proof: bool = False
    place: Place | None = None
    """Location of the reference if it is inside a proof, for error messages; otherwise None."""


class PageStatements(Struct, frozen=True, array_like=True):
    """Statements of a page, and its references to statements."""

    statements: tuple[Statement, ...] = ()
    uses: tuple[StatementUse, ...] = ()


# Formulas that the converter chosen by a page could not convert.


class ConverterFallback(Struct, frozen=True):
    """A formula that blogsmith typeset because the converter (a plugin) that the page chooses could not."""

    converter: str
    """Name of the plugin."""
    reason: str
    """Reason, as a clause that a message ends with."""
    place: Place | None = None
    """Start of the formula; None if a cell produced it."""


# Settings for formulas and citations in front matter. Other values are those of the site.


@dataclass(frozen=True, slots=True)
class PageMath:
    """How formulas of the page are read and numbered."""

    macros: Mapping[str, str] = field(default_factory=dict)
    r"""Macro name with backslash → TeX, in addition to the macros of the site: `\R: \mathbb{R}`."""
    numbering: str = ""
    """Display formulas that are numbered. Defaults to the site's setting."""
    packages: tuple[str, ...] | None = None
    """LaTeX packages that change the meaning of commands, such as `physics`. Defaults to the site's setting.
    """
    converter: str = ""
    """Converter of formulas: a plugin, or `blogsmith`. Defaults to the site's setting."""
    wide: str = ""
    """Allowed changes of displays that are wider than the screen. Defaults to the site's setting."""


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """Syntax that the text of the page may contain."""

    latex: bool | None = None
    """Read LaTeX in the text. Defaults to the site's setting."""


@dataclass(frozen=True, slots=True)
class PageCitations:
    """How citations look on the page."""

    style: Literal["", "numeric", "author-year"] = ""
    """`numeric`: `[1]`; `author-year`: `(Vaswani et al., 2017)`. Defaults to the site's setting."""


@dataclass(frozen=True)
class Source:
    """One text file of the site, as read from disk."""

    path: PurePosixPath
    """Path relative to the site root, e.g. `content/posts/a/index.md`."""
    text: str
    r"""Markdown of the file, with `\n` as line ends. May be set to a function that reads it when needed."""
    digest: str
    """SHA-256 of the bytes in hex; the cache key of everything that depends on this file alone."""


read_on_demand(Source, "text")


class Asset(Struct, frozen=True):
    """A file that is copied unchanged."""

    path: PurePosixPath
    """Path relative to the site root (or to the theme's root for theme files)."""
    file: Path
    """File to read, inside the site or theme, with symbolic links resolved."""
    size: int
    """Size in bytes."""


class SiteFiles(Struct, frozen=True):
    """All files found in a site, sorted by path."""

    sources: tuple[Source, ...]
    """Pages under `content/`: Markdown, notebooks and Python files in the percent format."""
    assets: tuple[Asset, ...]
    """Other files under `content/`."""
    static: tuple[Asset, ...]
    """Files under `static/`, which are copied to the root of the output."""
    diagnostics: tuple[Diagnostic, ...] = ()
    stamps: Mapping[str, FileStamp] = msgspec.field(default_factory=dict)
    """Path of a file → its stamp. While the stamp is unchanged, the file is not read again."""
    remote: RemoteImages = RemoteImages()
    unread: tuple[str, ...] = ()
    """Paths of files outside these folders that look like pages or templates."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of a bibliography, with the names of CSL fields in a flat record."""

    key: str
    """Key in `[@key]`."""
    title: str = ""
    authors: tuple[str, ...] = ()
    """Names as written, e.g. `Vaswani, A.`"""
    year: str = ""
    venue: str = ""
    """Journal, conference or publisher."""
    url: str = ""
    """http(s) only; a DOI is converted to its URL."""
    note: str = ""
    is_named: bool = True
    """Whether the author gave the key. If not, blogsmith chose it."""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    """Page numbers as printed: `5998–6008`."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The other fields, as written. No page shows them."""
    place: Place | None = None
    """Start of the entry in the author's file."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a post, typed.

    Each field is the key of the same name. Its type decides how it is read, unless `read/head.py` has a row
    for it. Editors show its docstring. `OfSite`: a change may affect where the page appears in the site.
    """

    title: OfPage[str] = ""
    """Title of the page, plain except for formulas `$…$`. Defaults to the first heading, or the file name."""
    subtitle: OfPage[str] = ""
    """A second line under the title, plain text."""
    description: OfPage[str] = ""
    """One or two sentences, shown under the title, in lists and to search engines; may contain formulas."""
    date: OfSite[dt.datetime | None] = None
    """When the page was written: `2026-11-21`, `2026-11-21 09:30 +01:00`. The site has a default zone."""
    updated: OfPage[dt.datetime | None] = None
    """Date of the last significant change; `git`: date of the last commit that changed the file."""
    changes: OfPage[tuple[Change, ...]] = ()
    """Changes of the post, listed at its end: `{date, text}` each. `updated` defaults to the newest date."""
    publish_date: OfSite[dt.datetime | None] = None
    """The page is not published before this date, nor before its `date`."""
    expiry_date: OfSite[dt.datetime | None] = None
    """From this date on the page is a draft."""
    slug: OfSite[str] = ""
    """Last part of the URL. Defaults to a slug of the file name."""
    permalink: OfSite[str] = ""
    """Whole path of the URL, `/a/b/`. Defaults to folder and slug."""
    tags: OfSite[tuple[str, ...]] = ()
    """Topics, each with a page that lists its posts."""
    categories: OfSite[tuple[str, ...]] = ()
    """Broad subjects, each with a page that lists its posts."""
    series: OfSite[Series | None] = None
    """Name of the series that the post is a part of, or `{name, part}`."""
    authors: OfPage[tuple[str, ...]] = ()
    """Authors: a name, a key of `authors` in the settings, or `{name, orcid, url, affiliation}`; or a list of
    these. Defaults to the site's author."""
    template: OfSite[str] = ""
    """Layout of the theme, without `.html`. `manual` in an `_index.md` also applies to its section."""
    tree: OfSite[Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """In the `_index.md` of a manual, groups of its pages: `Guides: [install.md, text.md]`."""
    draft: OfSite[bool] = False
    """Build the page only with `--drafts`."""
    aliases: OfSite[tuple[str, ...]] = ()
    """Old URLs of the page, which redirect to it."""
    toc: OfPage[bool | None] = None
    """Show a table of contents. Defaults to the site's setting."""
    reading_time: OfPage[bool | None] = None
    """Show the reading time. By default it is shown for posts with a date."""
    listing: OfSite[bool] = True
    """In `_index.md`: list the posts of the section below its text."""
    unlisted: OfSite[bool] = False
    """Publish the page, but omit it from all lists, feeds, search and sitemap."""
    search: OfSite[bool] = True
    """Include the page in the site's search; `false` excludes it."""
    image: OfPage[str] = ""
    """Path of an image that represents the page."""
    lightbox: OfPage[bool | None] = None
    """Link figures to large versions of their images. Defaults to the site's setting."""
    lang: OfSite[str] = ""
    """Language of the page. Defaults to the language in its file or folder name, otherwise to the site's."""
    translation_key: OfSite[str] = ""
    """Pages with the same key are translations of each other. By default file names decide."""
    comments: OfPage[bool | str | None] = None
    """Whether the page has comments, or the URL of their thread at Mastodon or Bluesky."""
    status: OfPage[Literal["", "wip"]] = ""
    """`wip`: the post is public but unfinished."""
    markup: OfPage[PageMarkup] = field(default_factory=PageMarkup)
    math: OfPage[PageMath] = field(default_factory=PageMath)
    execution: OfPage[PageExecution] = field(default_factory=PageExecution)
    references: OfPage[tuple[Reference, ...]] = ()
    """Works to cite: a list of entries with `id`, or key → entry."""
    bibliography: OfPage[tuple[str, ...]] = ()
    """Paths of bibliographies, `.bib` or CSL-JSON, relative to the page or from the site root."""
    publications: OfPage[tuple[str, ...]] = ()
    """Bibliographies whose entries are all listed below the text, by year."""
    selected: OfPage[bool] = False
    """Whether only the entries of `publications` with `selected = {true}` are listed."""
    cv: OfPage[str] = ""
    """Path of a file in the format JSON Resume. The page shows the file as a CV below the text."""
    citations: OfPage[PageCitations] = field(default_factory=PageCitations)
    csl: OfPage[str] = ""
    """Citation style: name of a bundled style, or a `.csl` file. Defaults to the site's setting."""
    citable: OfPage[bool | None] = None
    """Show how to cite the page. Defaults to true with a `doi`, otherwise to the site's setting."""
    notebook: OfPage[bool | None] = None
    """Offer a page with cells as a Jupyter notebook. Defaults to the site's setting."""
    pdf: OfPage[bool | None] = None
    """Offer the page as a PDF. Defaults to the site's setting."""
    doi: OfPage[str] = ""
    """DOI of the page itself: `10.59350/abcde`."""
    license: OfPage[str] = ""
    """Licence of the page: an identifier such as `CC-BY-4.0`, a URL, or a name. Defaults to the site's
    setting."""
    orcids: OfPage[Mapping[str, str]] = field(default_factory=dict)
    """Name of an author → ORCID iD, for authors given as `{name, orcid}`."""
    author_urls: OfPage[Mapping[str, str]] = field(default_factory=dict)
    """Name of an author → URL, for authors given as `{name, url}`."""
    affiliations: OfPage[Mapping[str, str]] = field(default_factory=dict)
    """Name of an author → affiliation, for authors given as `{name, affiliation}`."""
    is_dated_by_git: OfPage[bool] = False
    """Whether `updated: git` is set: the date of the last commit that changed the file."""
    nocite: OfPage[tuple[str, ...]] = ()
    """Works that are listed although nothing cites them; `*`: all."""
    numbering: OfPage[bool | Literal["by part"] | None] = None
    """Number headings. `by part`: every number starts with the `part` of the series. Defaults to the setting
    of the series, otherwise of the site."""
    solutions: OfPage[Solutions] = field(default_factory=Solutions)
    """Place and date of solutions of exercises."""
    extra: OfPage[Mapping[str, Any]] = field(default_factory=dict)
    """Unknown keys, available to the theme."""
    places: OfPage[Mapping[str, Place]] = field(default_factory=dict)
    """Key → location of its value, for diagnostics of later stages."""

    @property
    def publish_start(self) -> dt.datetime | None:
        """Time before which the page is not published; None if there is none."""
        return max((day for day in (self.date, self.publish_date) if day), default=None)


KEY_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "category": "categories",
        "layout": "template",
        "author": "authors",
        "url": "permalink",
        **dict.fromkeys(("publishDate", "publishdate"), "publish_date"),
        **dict.fromkeys(("expiryDate", "expirydate", "unpublishdate"), "expiry_date"),
    }
)
"""Key of another generator → key of blogsmith, which is a field of `FrontMatter`."""


class IncludedFile(Struct, frozen=True):
    """A file of the site that a post includes in part."""

    path: str = ""
    """Path relative to the site root; empty if there is no file."""
    text: str = ""
    digest: str = ""
    """SHA-256 of the bytes in hex."""
    looked_at: tuple[str, ...] = ()
    """Paths in the site where the file was searched for."""
    problem: str = ""
    """Reason why the file cannot be shown, in the author's terms; empty if it can be shown."""
    hint: str = ""


@dataclass(frozen=True)
class Document:
    """A source split into front matter and body."""

    source: Source
    front: FrontMatter
    body: str
    """Markdown after the front matter. May be set to a function that reads it when needed."""
    first_line: int
    """1-based line of the file where `body` starts."""
    included: Mapping[str, IncludedFile] = field(default_factory=dict)
    """Value of `file=` in the text → the file that it names, as it was when the post was read."""
    solutions: Literal["", "withheld", "early"] = ""
    """State of solutions before their date: `withheld`, or `early` in a preview, which shows them."""

    @property
    def path(self) -> PurePosixPath:
        """Path of the source, relative to the site root."""
        return self.source.path

    @property
    def digest(self) -> str:
        """Digest of the source, the included files, and the state of the solutions."""
        if not (self.included or self.solutions):
            return self.source.digest
        total = hashlib.sha256(f"{self.source.digest}{self.solutions}".encode())
        for name, found in sorted(self.included.items()):
            total.update(repr((name, found.path, found.digest, found.problem)).encode())
        return total.hexdigest()


read_on_demand(Document, "body")


def read_end_later(source: Source, start: int) -> str:
    """Return a function that reads the source of a document from disk, from the character `start` on."""
    # declared as str: a dataclass field cannot have a type for setting that differs from the one for reading
    return cast("str", lambda: source.text[start:])


class PageFacts(Struct, frozen=True):
    """Results of parsing a document. They leave out the tokens, which are large."""

    document: Document
    cells: PageCells
    """Cells and values of the page."""
    diagnostics: tuple[Diagnostic, ...]


class TocEntry(Struct, frozen=True):
    """One line of a table of contents."""

    level: int
    """Heading level, 2 to 6."""
    id: str
    html: str
    """Inline HTML of the heading, without the anchor link."""
    text: str
    """The heading as plain text."""
    children: tuple[TocEntry, ...] = ()


class ContentAmount(Struct, frozen=True):
    """Amount of content of a page."""

    seconds: float = 0.0
    """Reading time in seconds."""
    formulas: int = 0
    """Number of formulas, inline and display."""
    code_blocks: int = 0
    images: int = 0


class FaqEntry(Struct, frozen=True):
    """A folded question with its answer, as search engines read it."""

    question: str
    """The question as plain text."""
    answer: str
    """HTML of paragraphs and lists, with formulas in linear form."""


class Body(Struct, frozen=True):
    """The rendered content of one page."""

    content: PageText
    """HTML of the content."""
    title_html: str
    """Inline HTML of the title, with formulas typeset."""
    title_text: str
    """The title as plain text, for `<title>` and lists."""
    title_id: str = ""
    """Anchor of the title; empty for none."""
    heading_html: str = ""
    """Inline HTML of the title with number and footnote marks, for the page's own heading; empty if the title
    has neither."""
    description_html: str = ""
    description_text: str = ""
    """The author's description as plain text; may be empty."""
    toc: tuple[TocEntry, ...] = ()
    summary: str = ""
    """Plain text of the first paragraph, or else the beginning of the text; used for descriptions."""
    summary_html: str = ""
    """HTML of the first words of `summary` with formulas typeset; empty if they contain no formula."""
    signs: str = ""
    """Characters that the formulas of content, title and description print, as returned by `join_characters`;
    used to reduce fonts."""
    weight: ContentAmount = ContentAmount()
    links: frozenset[str] = frozenset()
    """URLs of this site that the text links to, with the base path and without fragments."""
    widgets: frozenset[str] = frozenset()
    """Features of the page that need a script or stylesheet of their own, as in `PageView`."""
    cell_lines: tuple[int, ...] = ()
    """1-based lines of the file where the fences of cells that run begin, except drawings and programs."""
    files: Mapping[str, Path | bytes] = msgspec.field(default_factory=dict)
    """Images that cells drew: name in the page's folder → file to copy, or bytes."""
    cover: str = ""
    """`<img>` of the page's image, if the site shows images of posts."""
    variants: tuple[ImageVariant, ...] = ()
    """Smaller copies of images that the page refers to, sorted."""
    stated: PageStatements = PageStatements()
    faq: tuple[FaqEntry, ...] = ()
    """Folded questions in text order."""
    search: bytes = b""
    """Search record of the text, as `make_record` returns it; empty if the site has no search."""
    fallbacks: tuple[ConverterFallback, ...] = ()
    """Formulas that the page's converter could not convert, in text order, without duplicates."""
    diagnostics: tuple[Diagnostic, ...] = ()
    check_diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings that only checks and editors show."""

    @property
    def html(self) -> str:
        """HTML of the content, read when needed."""
        return self.content.read()


class Output(Struct, frozen=True):
    """One file of the finished site."""

    path: PurePosixPath
    """Path relative to the output folder."""
    data: bytes | None = None
    """Bytes; None if the file is copied from `file` or created by `make`."""
    file: Path | None = None
    """File to copy if `data` is None."""
    make: Callable[[], bytes] | None = None
    """Function that returns the bytes, if `data` and `file` are None."""
    digest: str = ""
    """SHA-256 in hex of the result of `make`."""
    is_cleaned: bool = False
    """Whether data about the author, such as a photo's location, is removed from the copy."""
    texts: frozenset[str] = frozenset()
    """For a page: source paths of other pages whose text it contains or quotes."""
    templates: frozenset[str] = frozenset()
    """For a page: names of all templates that were searched for, whether found or not."""
