"""The records that travel along the line, one per stage, all frozen.

Source → Document → Parsed (in `syntax/`) → Body → Page → Output. Nothing here computes; whoever
makes a record fills every field. `Mapping` fields are read-only by agreement.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import Diagnostic, Place


@dataclass(frozen=True, slots=True)
class Source:
    """One text file of the site as read from disk."""

    path: PurePosixPath
    """Relative to the site root, e.g. `content/posts/a/index.md`."""
    text: str
    """Decoded as UTF-8, without BOM, newlines are \\n."""
    digest: str
    """Hex SHA-256 of the bytes; the cache key of everything made from this file alone."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file that is copied as it is: an image, a data file, something under `static/`."""

    path: PurePosixPath
    """Relative to the site root (or to the theme's root for theme files)."""
    file: Path
    """Where to read it from; inside the site or theme, symbolic links resolved."""
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """Everything found under a site root, sorted by path."""

    sources: tuple[Source, ...]
    """Markdown files under `content/`."""
    assets: tuple[Asset, ...]
    """Other files under `content/`."""
    static: tuple[Asset, ...]
    """Files under `static/`, copied to the root of the output."""
    diagnostics: tuple[Diagnostic, ...] = ()


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
    place: Place | None = None
    """Where the entry starts in the author's file."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a post, typed; see vocabulary section 2 and the manual."""

    title: str = ""
    """Markdown-free except for `$…$`; empty means: taken from the first H1, else the file name."""
    subtitle: str = ""
    description: str = ""
    date: dt.datetime | None = None
    """Time zone of the site if the author gives none; midnight for a bare date."""
    updated: dt.datetime | None = None
    slug: str = ""
    """Empty means: from the file name."""
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    series: Series | None = None
    authors: tuple[str, ...] = ()
    template: str = ""
    """Layout name without `.html`; empty means: by kind of page."""
    draft: bool = False
    aliases: tuple[str, ...] = ()
    toc: bool | None = None
    """None means: as the site says."""
    image: str = ""
    lang: str = ""
    comments: bool | None = None
    status: str = ""
    """`wip` or empty."""
    math_macros: Mapping[str, str] = field(default_factory=dict)
    """Name with backslash → TeX body."""
    math_numbering: str = ""
    """`all`, `labelled`, `none`; empty means: as the site says."""
    execute: str = ""
    """`off`, `marked`, `all`; empty means: as the site says."""
    references: tuple[Reference, ...] = ()
    bibliography: str = ""
    numbering: bool | None = None
    """Number headings; None means: as the site says."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept for the theme."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Key → where its value stands, for later stages' diagnostics."""


@dataclass(frozen=True, slots=True)
class Document:
    """A source split into head and body."""

    source: Source
    front: FrontMatter
    body: str
    """Markdown after the front matter."""
    first_line: int
    """1-based line of the file on which `body` starts."""

    @property
    def path(self) -> PurePosixPath:
        """The source's path, relative to the site root."""
        return self.source.path


@dataclass(frozen=True, slots=True)
class TocEntry:
    """One line of a table of contents."""

    level: int
    """2 to 6."""
    id: str
    html: str
    """Inline HTML of the heading, without the anchor link."""
    text: str
    """The same as plain text."""
    children: tuple[TocEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """An image of the site as a page may use it."""

    url: str
    """Absolute path with the base path applied."""
    width_px: int | None
    """None for a vector image without a size of its own."""
    height_px: int | None


@dataclass(frozen=True, slots=True)
class Weight:
    """How much there is to read, for the reading time."""

    words: int = 0
    """Words of prose."""
    formulas: int = 0
    """Formulas, inline and display."""
    code_lines: int = 0
    code_blocks: int = 0
    images: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """The rendered content of one page."""

    html: str
    title_html: str
    """Inline HTML of the title (formulas typeset)."""
    title_text: str
    """The title as plain text, for `<title>` and lists."""
    description_html: str = ""
    description_text: str = ""
    """The author's description as plain text; empty if there is none."""
    toc: tuple[TocEntry, ...] = ()
    text: str = ""
    """Plain text of the whole body, for descriptions and search."""
    weight: Weight = Weight()
    widgets: frozenset[str] = frozenset()
    """Scripts the page needs: `compare`, `embed`, `runnable`."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A titled link as templates use it."""

    title: str
    """Plain text."""
    url: str
    """With base path; empty if there is no page to link to (an unpublished part of a series)."""


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """One line of a series' list of parts."""

    title: str
    url: str
    """Empty while the part is unpublished."""
    part: int
    """1-based."""
    current: bool


@dataclass(frozen=True, slots=True)
class Output:
    """One file of the finished site."""

    path: PurePosixPath
    """Relative to the output folder."""
    data: bytes | None = None
    """Its bytes, or None if it is copied from `file`."""
    file: Path | None = None
    """Where to copy it from when `data` is None."""


@dataclass(frozen=True, slots=True)
class PageView:
    """One page as templates see it (`page`). Every field is ready to print; nothing is computed there."""

    kind: str
    """`home`, `section`, `post`, `page`, `tags`, `tag`, `not_found`."""
    path: str
    """Source file relative to the site root; empty for generated pages."""
    url: str
    """Site path with base path, e.g. `/blog/posts/attention/`."""
    canonical_url: str
    """Absolute address, or empty if the site has no `base_url`."""
    title: str
    """Plain text."""
    title_html: str
    """Inline HTML (formulas typeset); safe."""
    content: str = ""
    """The rendered body; safe HTML."""
    subtitle: str = ""
    description: str = ""
    """Plain text; the author's, else the first words of the body."""
    description_html: str = ""
    """The author's description with formulas typeset; empty if there is none."""
    date: dt.datetime | None = None
    updated: dt.datetime | None = None
    authors: tuple[str, ...] = ()
    tags: tuple[Link, ...] = ()
    categories: tuple[Link, ...] = ()
    series_name: str = ""
    series: tuple[SeriesPart, ...] = ()
    toc: tuple[TocEntry, ...] = ()
    """Empty when the page shows none."""
    reading_minutes: int = 0
    """At least 1 for a post; 0 for lists."""
    lang: str = "en"
    status: str = ""
    draft: bool = False
    section: Link | None = None
    """Back link target."""
    previous: Link | None = None
    """The older neighbour in the section (or the series)."""
    next: Link | None = None
    """The newer neighbour."""
    pages: tuple[PageView, ...] = ()
    """For lists: the pages listed, newest first."""
    groups: tuple[Link, ...] = ()
    """For the tags overview: every tag."""
    widgets: frozenset[str] = frozenset()
    """Scripts this page needs: `compare`, `embed`, `runnable`."""
    image: str = ""
    """URL of the page's picture with base path, or empty."""
    layout: str = ""
    """Layout name without `.html`."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown front matter keys."""


@dataclass(frozen=True, slots=True)
class SiteView:
    """The site as templates see it (`site`)."""

    title: str
    description: str
    author: str
    lang: str
    base_path: str
    """`/blog`, or empty at a host's root; never ends in a slash."""
    base_url: str
    menu: tuple[Link, ...]
    """URLs carry the base path."""
    sections: tuple[Link, ...]
    options: Mapping[str, Any]
    """`theme_options` of the configuration."""
    generator: str
    """Name and version of blogsmith."""
