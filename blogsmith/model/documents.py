"""The records that travel along the line, one per stage, all frozen.

Source → Document → Parsed (in `syntax/`) → Body → Page → Output. Nothing here computes; a module that
makes a record fills every field. `Mapping` fields are read-only by agreement. A document and what stands in
front of it are dataclasses: plugins change them by `dataclasses.replace`.
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
from .pictures import PictureVariant
from .remote_images import RemoteImages
from .scopes import OfPage, OfSite
from .texts import PageText, read_on_demand

# Numbered statements and equations of a page, and where pages refer to any of them.


class Statement(Struct, frozen=True, array_like=True):
    """Something with a number that a proof may use: a theorem and its like, or an equation."""

    id: str
    name: str
    """`Theorem 1` or `Equation (2)`, in the language of its page."""
    title: str = ""
    """The author's, as plain text."""
    title_html: str = ""
    """The same with formulas typeset; empty if it has none."""
    parent: str = ""
    """Of an equation: the statement in which it stands."""
    is_equation: bool = False


class StatementUse(Struct, frozen=True, array_like=True):
    """A reference to a label, and what it stands in."""

    url: str
    """Page of the label, as printed; empty for the same page."""
    target: str
    """Id of the label."""
    anchor: str
    """Nearest id around or above the reference."""
    section: str = ""
    """Heading above it, as plain text."""
    statement: str = ""
    """Id of the statement that it stands in, or whose proof it stands in."""
    in_proof: bool = False
    place: Place | None = None
    """Of one in a proof, which may be a mistake."""


class PageStatements(Struct, frozen=True, array_like=True):
    """What a page states, and what it refers to."""

    statements: tuple[Statement, ...] = ()
    uses: tuple[StatementUse, ...] = ()


# Formulas that the converter a page asks for has left to us.


class ConverterFallback(Struct, frozen=True):
    """A formula that stays blogsmith's although the page asks for the converter of a plugin."""

    converter: str
    """Name of the plugin."""
    reason: str
    """Why, as a clause."""
    place: Place | None = None
    """Where the formula begins; None: it is made by a cell."""


# What a page's head says of formulas and citations; all else as the site says.


@dataclass(frozen=True, slots=True)
class PageMath:
    """How formulas of the page are read and numbered."""

    macros: Mapping[str, str] = field(default_factory=dict)
    """Macro name with backslash → TeX, besides those of the site: `\\R: \\mathbb{R}`."""
    numbering: str = ""
    """Which display formulas get a number; else as the site says."""
    packages: tuple[str, ...] | None = None
    """LaTeX packages that change what commands mean: `physics`; else those of the site."""
    converter: str = ""
    """What typesets: a plugin, or `blogsmith`; else as the site says."""


@dataclass(frozen=True, slots=True)
class PageCitations:
    """How citations look on the page."""

    style: Literal["", "numeric", "author-year"] = ""
    """`[1]`, or `(Vaswani et al., 2017)`; else as the site says."""


@dataclass(frozen=True)
class Source:
    """One text file of the site as read from disk."""

    path: PurePosixPath
    """Relative to the site root, e.g. `content/posts/a/index.md`."""
    text: str
    """Decoded as UTF-8, without BOM, newlines are \\n. Of a site there are thousands, so what reads it may be
    given in its place."""
    digest: str
    """Hex SHA-256 of the bytes; the cache key of everything made from this file alone."""


read_on_demand(Source, "text")


class Asset(Struct, frozen=True):
    """One file that is copied as it is: an image, a data file, something under `static/`."""

    path: PurePosixPath
    """Relative to the site root (or to the theme's root for theme files)."""
    file: Path
    """Where to read it from; inside the site or theme, symbolic links resolved."""
    size: int
    """Bytes."""


class SiteFiles(Struct, frozen=True):
    """Everything found under a site root, sorted by path."""

    sources: tuple[Source, ...]
    """Markdown files under `content/`."""
    assets: tuple[Asset, ...]
    """Other files under `content/`."""
    static: tuple[Asset, ...]
    """Files under `static/`, copied to the root of the output."""
    diagnostics: tuple[Diagnostic, ...] = ()
    stamps: Mapping[str, FileStamp] = msgspec.field(default_factory=dict)
    """Of every file by its path: while it stays the same, the file is read once."""
    remote: RemoteImages = RemoteImages()


@dataclass(frozen=True, slots=True)
class Series:
    """A post's place in a series."""

    name: str
    part: int | None = None
    """1-based; None orders by date."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of a bibliography (CSL names, flattened)."""

    key: str
    """What `[@key]` names."""
    title: str = ""
    authors: tuple[str, ...] = ()
    """As written, e.g. `Vaswani, A.`"""
    year: str = ""
    venue: str = ""
    """Journal, conference or publisher."""
    url: str = ""
    """http(s) only; a DOI is turned into its URL."""
    note: str = ""
    is_named: bool = True
    """False: its key is one that blogsmith gave it, and nothing is expected to cite it."""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    """`5998–6008`, as printed."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The other fields, as written; no page shows them."""
    place: Place | None = None
    """Where the entry starts in the author's file."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a post, typed.

    A field is the key of its name, read by its type unless a row of `read/head.py` says otherwise. Editors
    show its docstring. `OfSite`: the page may stand elsewhere in the site when it changes.
    """

    title: OfPage[str] = ""
    """Title of the page, plain but for formulas `$…$`; else the first heading, or the name of the file."""
    subtitle: OfPage[str] = ""
    """A second line under the title, plain text."""
    description: OfPage[str] = ""
    """One or two sentences: shown under the title, in lists and to search engines; may hold formulas."""
    date: OfSite[dt.datetime | None] = None
    """When the page was written: `2026-11-21`, `2026-11-21 09:30 +01:00`; without a zone in the site's."""
    updated: OfPage[dt.datetime | None] = None
    """When it last changed in a way worth telling; `git`: when the last commit changed the file."""
    publish_date: OfSite[dt.datetime | None] = None
    """The page is not published before it, nor before its `date`."""
    expiry_date: OfSite[dt.datetime | None] = None
    """From then on the page is a draft."""
    slug: OfSite[str] = ""
    """Last part of the address; else from the name of the file."""
    permalink: OfSite[str] = ""
    """Whole address of the page, `/a/b/`; else by its folder and slug."""
    tags: OfSite[tuple[str, ...]] = ()
    """Topics, each with a page that lists its posts."""
    categories: OfSite[tuple[str, ...]] = ()
    """The broad subject."""
    series: OfSite[Series | None] = None
    """Name of the series that the post is a part of, or `{name, part}`."""
    authors: OfPage[tuple[str, ...]] = ()
    """Who wrote it: a name, or a list; `{name, orcid}` for one with an ORCID iD; else the site's author."""
    template: OfPage[str] = ""
    """Layout of the theme, without `.html`; else by the kind of page."""
    draft: OfSite[bool] = False
    """Built only with `--drafts`."""
    aliases: OfSite[tuple[str, ...]] = ()
    """Old addresses of the page, which lead here."""
    toc: OfPage[bool | None] = None
    """Show a table of contents; else as the site says."""
    reading_time: OfPage[bool | None] = None
    """Show how long the page takes to read; else only posts with a date do."""
    listing: OfSite[bool] = True
    """In `_index.md`: list the posts of the section below its text."""
    unlisted: OfSite[bool] = False
    """Publish the page and name it in no list, feed, search or sitemap."""
    search: OfSite[bool] = True
    """The page can be found by the search of the site; `false` keeps it out."""
    image: OfPage[str] = ""
    """Path of a picture that stands for the page."""
    lightbox: OfPage[bool | None] = None
    """Figures lead to large versions of their pictures; else as the site says."""
    lang: OfSite[str] = ""
    """Language of the page; else as the name of its file or folder says, or the site's."""
    translation_key: OfSite[str] = ""
    """Pages with the same one are translations of each other; else by the names of their files."""
    comments: OfPage[bool | str | None] = None
    """Whether the page has comments, or the address of their thread at Mastodon or Bluesky."""
    status: OfPage[Literal["", "wip"]] = ""
    """`wip`: a post that is public and not finished."""
    math: OfPage[PageMath] = field(default_factory=PageMath)
    execution: OfPage[PageExecution] = field(default_factory=PageExecution)
    references: OfPage[tuple[Reference, ...]] = ()
    """Works to cite: a list of entries with `id`, or key → entry."""
    bibliography: OfPage[tuple[str, ...]] = ()
    """Paths of bibliographies, `.bib` or CSL-JSON, beside the page or from the site root."""
    publications: OfPage[tuple[str, ...]] = ()
    """Bibliographies all of whose entries are listed below the text, by year."""
    citations: OfPage[PageCitations] = field(default_factory=PageCitations)
    csl: OfPage[str] = ""
    """Style of citations: the name of one that is shipped, or a `.csl` file; else as the site says."""
    citable: OfPage[bool | None] = None
    """Say how to cite the page; else as the site says, and yes with a `doi`."""
    doi: OfPage[str] = ""
    """DOI of the page itself: `10.59350/abcde`."""
    license: OfPage[str] = ""
    """Licence of the page: `CC-BY-4.0` or its like, an address, or a name; else the site's."""
    orcids: OfPage[Mapping[str, str]] = field(default_factory=dict)
    """Author → ORCID iD, of authors given as `{name, orcid}`."""
    is_dated_by_git: OfPage[bool] = False
    """`updated: git`: when the last commit changed the file."""
    nocite: OfPage[tuple[str, ...]] = ()
    """Works that are listed though nothing cites them; `*`: all."""
    numbering: OfPage[bool | None] = None
    """Number headings; else as the site says."""
    extra: OfPage[Mapping[str, Any]] = field(default_factory=dict)
    """Unknown keys, kept for the theme."""
    places: OfPage[Mapping[str, Place]] = field(default_factory=dict)
    """Key → where its value stands, for later stages' diagnostics."""

    @property
    def publish_start(self) -> dt.datetime | None:
        """The moment before which the page is not published; None if there is none."""
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
"""Keys as other generators name them → ours, which are the fields of `FrontMatter`."""


class IncludedFile(Struct, frozen=True):
    """A file of the site that a post shows parts of."""

    path: str = ""
    """Relative to the site root; empty if there is none."""
    text: str = ""
    digest: str = ""
    """Hex SHA-256 of its bytes."""
    looked_at: tuple[str, ...] = ()
    """Paths at which it was looked for."""
    problem: str = ""
    """Why it cannot be shown, in the author's terms; empty if it can."""
    hint: str = ""


@dataclass(frozen=True)
class Document:
    """A source split into head and body."""

    source: Source
    front: FrontMatter
    body: str
    """Markdown after the front matter; what reads it may be given in its place."""
    first_line: int
    """1-based line of the file on which `body` starts."""
    included: Mapping[str, IncludedFile] = field(default_factory=dict)
    """What stands behind `file=` in the text → the file, as it was when the source was read."""

    @property
    def path(self) -> PurePosixPath:
        """The source's path, relative to the site root."""
        return self.source.path

    @property
    def digest(self) -> str:
        """Names all that the page is made from: the digest of its source, and of files that it includes."""
        if not self.included:
            return self.source.digest
        total = hashlib.sha256(self.source.digest.encode())
        for name, found in sorted(self.included.items()):
            total.update(repr((name, found.path, found.digest, found.problem)).encode())
        return total.hexdigest()


read_on_demand(Document, "body")


def end_of(source: Source, start: int) -> str:
    """The text of a source from a character on, read when it is asked for: the body of its document."""
    # a dataclass knows no fields that take more than they give
    return cast("str", lambda: source.text[start:])


class PageFacts(Struct, frozen=True):
    """What parsing found in a document, without its tokens: these are large."""

    document: Document
    cells: PageCells
    """What of the page runs."""
    diagnostics: tuple[Diagnostic, ...]


class TocEntry(Struct, frozen=True):
    """One line of a table of contents."""

    level: int
    """2 to 6."""
    id: str
    html: str
    """Inline HTML of the heading, without the anchor link."""
    text: str
    """The same as plain text."""
    children: tuple[TocEntry, ...] = ()


class Weight(Struct, frozen=True):
    """How much there is to read."""

    seconds: float = 0.0
    """What reading it takes."""
    formulas: int = 0
    """Formulas, inline and display."""
    code_blocks: int = 0
    images: int = 0


class FaqEntry(Struct, frozen=True):
    """A folded question with its answer, as search engines read it."""

    question: str
    """Plain text."""
    answer: str
    """HTML of paragraphs and lists, formulas in linear form."""


class Body(Struct, frozen=True):
    """The rendered content of one page."""

    content: PageText
    """HTML."""
    title_html: str
    """Inline HTML of the title (formulas typeset)."""
    title_text: str
    """The title as plain text, for `<title>` and lists."""
    title_id: str = ""
    """Anchor of the title; empty for none."""
    description_html: str = ""
    description_text: str = ""
    """The author's description as plain text; empty if there is none."""
    toc: tuple[TocEntry, ...] = ()
    summary: str = ""
    """Plain text of the first paragraph, else how the text begins; for descriptions."""
    signs: str = ""
    """What the formulas of content, title and description print, as `join_signs` gives it."""
    weight: Weight = Weight()
    links: frozenset[str] = frozenset()
    """Addresses in this site that the text links to, base path included, without fragments."""
    widgets: frozenset[str] = frozenset()
    """What the page has that needs a script or a sheet of its own: `compare`, `embed`, `runnable`,
    `lightbox`, `gallery`, `loop`, `film`, `margin`, `schemes` (images for one scheme), `pictures` (pairs of
    them)."""
    files: Mapping[str, Path | bytes] = msgspec.field(default_factory=dict)
    """Pictures that its code drew: name beside the page → where to copy it from, or its bytes."""
    variants: tuple[PictureVariant, ...] = ()
    """Copies of pictures that it names, sorted."""
    stated: PageStatements = PageStatements()
    faq: tuple[FaqEntry, ...] = ()
    """In the order of the text."""
    search: bytes = b""
    """What search knows of the text, as `make_record` gives it; empty where the site has no search."""
    fallbacks: tuple[ConverterFallback, ...] = ()
    """In the order of the text; each formula once."""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def html(self) -> str:
        """The content, read."""
        return self.content.read()


class Output(Struct, frozen=True):
    """One file of the finished site."""

    path: PurePosixPath
    """Relative to the output folder."""
    data: bytes | None = None
    """Its bytes, or None if it is copied from `file` or made by `make`."""
    file: Path | None = None
    """Where to copy it from when `data` is None."""
    make: Callable[[], bytes] | None = None
    """What makes its bytes, when `data` and `file` are None."""
    digest: str = ""
    """Hex SHA-256 of what `make` gives."""
    is_cleaned: bool = False
    """What the file tells of its author is left out on the way, see `photos/`."""
    texts: frozenset[str] = frozenset()
    """Of a page: source paths of other pages whose texts were read for it."""
    templates: frozenset[str] = frozenset()
    """Of a page: names of templates that were looked for, found or not."""
