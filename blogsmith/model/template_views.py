"""What templates see: the page, the site, and the links between pages. Frozen, ready to print."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from .documents import TocEntry
from .scopes import OfPage, OfSite
from .texts import NO_TEXT, PageText


class Link(Struct, frozen=True):
    """A titled link as templates use it."""

    title: str
    """Plain text."""
    url: str
    """With base path; empty if there is no page to link to (an unpublished part of a series)."""
    title_html: str = ""
    """The title with formulas typeset; safe. Empty where it would be the plain one."""
    count: int = 0
    """Posts on the page, where an overview of tags, categories or series links to it."""


class SeriesPart(Struct, frozen=True):
    """One line of a series' list of parts."""

    title: str
    url: str
    """Empty while the part is unpublished."""
    part: int
    """1-based."""
    current: bool
    title_html: str = ""
    """As in `Link`."""


class Feed(Struct, frozen=True):
    """A feed a page points feed readers to."""

    title: str
    url: str
    """With base path."""
    type: str
    """Media type."""


class Pager(Struct, frozen=True):
    """Where a page of a long list stands among the pages of that list."""

    number: int
    """1-based."""
    total: int
    previous_url: str = ""
    """The page of newer entries; empty on the first."""
    next_url: str = ""
    """The page of older entries; empty on the last."""


class PageGroup(Struct, frozen=True):
    """Pages under a heading of a list, such as those of a year."""

    title: str
    pages: tuple[PageView, ...]


class PageView(Struct, frozen=True):
    """One page as templates see it (`page`). Every field is ready to print; nothing is computed there.

    `OfPage`: it comes from the page's own document.
    """

    kind: OfPage[str]
    """`home`, `section`, `post`, `page`, `tags`, `tag`, `archive`, `series`, `not_found`."""
    path: OfPage[str]
    """Source file relative to the site root; empty for generated pages."""
    url: OfPage[str]
    """Site path with base path, e.g. `/blog/posts/attention/`."""
    canonical_url: OfPage[str]
    """Absolute address, or empty if the site has no `base_url`."""
    title: OfPage[str]
    """Plain text."""
    title_html: OfPage[str]
    """Inline HTML (formulas typeset); safe."""
    body: OfPage[PageText] = NO_TEXT
    """What `content` is read from; templates do not see it."""
    subtitle: OfPage[str] = ""
    """Plain text, printed under the title."""
    description: OfPage[str] = ""
    """Plain text; the author's, else the first words of the body."""
    description_html: OfPage[str] = ""
    """The author's description with formulas typeset; empty if there is none."""
    date: OfPage[dt.datetime | None] = None
    """First published, with a time zone."""
    updated: OfPage[dt.datetime | None] = None
    """Last changed, with a time zone."""
    authors: OfPage[tuple[str, ...]] = ()
    """The post's, else the site's author."""
    tags: OfPage[tuple[Link, ...]] = ()
    """Each with the page that lists its posts."""
    categories: OfPage[tuple[Link, ...]] = ()
    """As `tags`."""
    series_name: OfSite[str] = ""
    """Empty if the post belongs to no series."""
    series_url: OfSite[str] = ""
    """The page of the series."""
    series: OfSite[tuple[SeriesPart, ...]] = ()
    """Every part in order, unpublished ones without a URL."""
    toc: OfPage[tuple[TocEntry, ...]] = ()
    """Empty when the page shows none."""
    reading_minutes: OfPage[int] = 0
    """At least 1 for a post with a date; 0 where no time is shown: lists, posts without a date."""
    lang: OfPage[str] = "en"
    """BCP 47 tag."""
    status: OfPage[str] = ""
    """`wip` or empty."""
    draft: OfPage[bool] = False
    """True only when drafts are built."""
    section: OfSite[Link | None] = None
    """Back link target: the list of a post's section, the overview of a tag or series."""
    previous: OfSite[Link | None] = None
    """The older neighbour in the section (or the series)."""
    next: OfSite[Link | None] = None
    """The newer neighbour."""
    backlinks: OfSite[tuple[Link, ...]] = ()
    """Posts and pages whose text links here, by title."""
    related: OfSite[tuple[Link, ...]] = ()
    """Posts that share tags or categories, the most alike first."""
    pages: OfSite[tuple[PageView, ...]] = ()
    """For lists: the pages listed, newest first. For the page of missing addresses: the last few posts."""
    groups: OfSite[tuple[Link, ...]] = ()
    """For overviews: every tag, category or series. For a section: the sections right below it."""
    page_groups: OfSite[tuple[PageGroup, ...]] = ()
    """For the archive: the pages of each year, newest first."""
    pager: OfSite[Pager | None] = None
    """For a list that takes several pages."""
    feeds: OfSite[tuple[Feed, ...]] = ()
    """Feeds about this page's subject besides the site's own, such as a tag's."""
    widgets: OfPage[frozenset[str]] = frozenset()
    """What this page has that needs a script or a sheet of its own: `compare`, `embed`, `runnable`,
    `lightbox`, `gallery`, `loop`, `film`, `schemes` (images for one scheme), `pictures` (pairs of them)."""
    image: OfPage[str] = ""
    """URL of the page's picture with base path, or empty."""
    card: OfSite[str] = ""
    """URL of the picture drawn for links to the page, with base path; empty where it has one of its own."""
    layout: OfPage[str] = ""
    """Layout name without `.html`."""
    math_font: OfSite[str] = ""
    """Address of the font for formulas, without `.woff2` or `.css`; empty on a site without formulas."""
    extra: OfPage[Mapping[str, Any]] = field(default_factory=dict)
    """Unknown front matter keys."""

    @property
    def content(self) -> str:
        """The rendered body; safe HTML."""
        return self.body.read()


class Ground(Struct, frozen=True):
    """The colour that pages stand on, for frames that browsers draw around them."""

    light: str = ""
    """In the light scheme; empty if the style sheets do not say it plainly."""
    dark: str = ""
    """In the dark one."""


class SiteView(Struct, frozen=True):
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
    feeds: tuple[Feed, ...] = ()
    """The site's own; empty for a site without `base_url`."""
    indexes: tuple[Link, ...] = ()
    """Lists over the whole site, those that exist: archive, tags, categories, series."""
    ground: Ground = Ground()
    """The colour of pages, `--paper`, as `light` and `dark`."""
