"""What templates see: the page, the site, and the links between pages. Frozen, ready to print."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from .documents import FaqEntry, TocEntry
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


class Translation(Struct, frozen=True):
    """A page in one of the languages that it is there in."""

    lang: str
    """BCP 47 tag."""
    name: str
    """How the language calls itself: `Deutsch`."""
    url: str
    """With base path."""
    canonical_url: str = ""
    """Absolute address, or empty if the site has no `base_url`."""
    is_own: bool = False
    """Whether it is in the site's own language."""
    is_current: bool = False
    """Whether it is the page that shows the links."""


class Pager(Struct, frozen=True):
    """Where a page of a long list stands among the pages of that list."""

    number: int
    """1-based."""
    total: int
    previous_url: str = ""
    """The page of newer entries; empty on the first."""
    next_url: str = ""
    """The page of older entries; empty on the last."""


class Discussion(Struct, frozen=True):
    """Where the comments of a page are."""

    provider: str
    """`giscus`, `utterances`, `mastodon` or `bluesky`."""
    host: str
    """What comments are loaded from, as readers are told: `giscus.app`."""
    url: str
    """Where people read and write them."""
    link_host: str
    """The host of that."""
    frame_url: str = ""
    """Address of a frame that shows them; empty if they come as data."""
    connect_url: str = ""
    """`https://` and the host they come from as data."""
    request: str = ""
    """Path and query there."""


class Counting(Struct, frozen=True):
    """Who counts visits, as pages tell their script."""

    provider: str
    """`goatcounter`, `plausible` or `umami`."""
    site: str
    """What the site is called there."""
    connect_url: str
    """`https://` and the host that is told."""
    host: str
    """The host as readers are told it."""
    asks: bool
    """Nothing is sent before the reader says yes."""


class PageGroup(Struct, frozen=True):
    """Pages under a heading of a list, such as those of a year."""

    title: str
    pages: tuple[PageView, ...]


class UsedStatement(Struct, frozen=True):
    """A numbered statement or equation, and where it is used."""

    link: Link
    """`Theorem 1 (Spread)`, and where it stands in the page."""
    uses: tuple[Link, ...]
    """In the page, then in others by title."""


class PageAuthor(Struct, frozen=True):
    """Somebody who wrote a page."""

    name: str
    orcid: str = ""
    """`0000-0002-1825-0097`; empty if none is known."""


class CitableView(Struct, frozen=True):
    """What a page says of itself to who cites it (`page.citation`)."""

    bibtex: str = ""
    """Empty for a page that does not ask to be cited."""
    text: str = ""
    """One sentence to cite it by; as `bibtex`."""
    authors: tuple[PageAuthor, ...] = ()
    doi: str = ""
    """`10.59350/abcde`."""
    license: str = ""
    """Its name: `CC BY 4.0`."""
    license_url: str = ""


class PageView(Struct, frozen=True):
    """One page as templates see it (`page`). Every field is ready to print; nothing is computed there.

    `OfPage`: it comes from the page's own document.
    """

    kind: OfPage[str]
    """`home`, `section`, `post`, `page`, `tags`, `tag`, `archive`, `series`, `search`, `not_found`."""
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
    title_id: OfPage[str] = ""
    """Id of the title, for links to it; empty for none."""
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
    direction: OfPage[Literal["ltr", "rtl"]] = "ltr"
    """In which direction its language is written."""
    edition: OfSite[str] = ""
    """Language of the site's `languages` to whose lists the page belongs; empty for the site's own."""
    translations: OfSite[tuple[Translation, ...]] = ()
    """The page in every language that it is there in, itself included; empty if there is only one."""
    status: OfPage[str] = ""
    """`wip` or empty."""
    draft: OfPage[bool] = False
    """True only when drafts are built."""
    unlisted: OfPage[bool] = False
    """In no list, and search engines are asked not to name it."""
    section: OfSite[Link | None] = None
    """Back link target: the list of a post's section, the overview of a tag or series."""
    previous: OfSite[Link | None] = None
    """The older neighbour in the section (or the series)."""
    next: OfSite[Link | None] = None
    """The newer neighbour."""
    backlinks: OfSite[tuple[Link, ...]] = ()
    """Posts and pages whose text links here, by title."""
    used_in: OfSite[tuple[UsedStatement, ...]] = ()
    """Statements and equations of the page that something refers to, in its order, if the site lists them."""
    related: OfSite[tuple[Link, ...]] = ()
    """Posts that share tags or categories, the most alike first."""
    pages: OfSite[tuple[PageView, ...]] = ()
    """For lists: the pages listed, newest first. For the page of missing addresses: the last few posts."""
    groups: OfSite[tuple[Link, ...]] = ()
    """For overviews: every tag, category or series. For a section: the sections right below it."""
    page_groups: OfSite[tuple[PageGroup, ...]] = ()
    """For the archive: the pages of each year, newest first. For the search: those of each section, each with
    its whole `toc`."""
    pager: OfSite[Pager | None] = None
    """For a list that takes several pages."""
    feeds: OfSite[tuple[Feed, ...]] = ()
    """Feeds about this page's subject besides the site's own, such as a tag's."""
    faq: OfPage[tuple[FaqEntry, ...]] = ()
    """Folded questions with their answers, for structured data: each has `question` and `answer`."""
    widgets: OfPage[frozenset[str]] = frozenset()
    """What this page has that needs a script or a sheet of its own: `compare`, `embed`, `runnable`,
    `lightbox`, `gallery`, `loop`, `film`, `schemes` (images for one scheme), `pictures` (pairs of them)."""
    image: OfPage[str] = ""
    """URL of the page's picture with base path, or empty."""
    citation: OfPage[CitableView | None] = None
    """How to cite the page, its DOI and licence; None for a page that says nothing of it."""
    card: OfSite[str] = ""
    """URL of the picture drawn for links to the page, with base path; empty where it has one of its own."""
    layout: OfPage[str] = ""
    """Layout name without `.html`."""
    math_font: OfSite[str] = ""
    """Address of the font for formulas, without `.woff2` or `.css`; empty on a site without formulas."""
    comments: OfPage[Discussion | None] = None
    """Where its comments are; None if it has none."""
    extra: OfPage[Mapping[str, Any]] = field(default_factory=dict)
    """Unknown front matter keys."""

    @property
    def alternates(self) -> tuple[tuple[str, str], ...]:
        """For `hreflang`: language tag → absolute address, of a page in several languages.

        `x-default` is the one in the site's own language, or the first.
        """
        known = [link for link in self.translations if link.canonical_url]
        if not known:
            return ()
        default = next((link for link in known if link.is_own), known[0])
        named = tuple((link.lang, link.canonical_url) for link in known)
        return (*named, ("x-default", default.canonical_url))

    @property
    def content(self) -> str:
        """The rendered body; safe HTML."""
        return self.body.read()

    @property
    def features(self) -> frozenset[str]:
        """What stands in `content` that layouts load something for: `math`, `pre`, `video`, classes such as
        `math-display` and `table-wrap`, roles such as `doc-noteref`.
        """
        return self.body.features()


class Ground(Struct, frozen=True):
    """The colour that pages stand on, for frames that browsers draw around them."""

    light: str = ""
    """In the light scheme; empty if the style sheets do not say it plainly."""
    dark: str = ""
    """In the dark one."""


class SearchView(Struct, frozen=True):
    """The search of the site as templates see it."""

    url: str
    """Address of its page, with base path."""
    dialog: bool
    """Whether it opens over any page."""
    engine: str
    """`own` or `pagefind`."""


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
    """The site's own; empty if `feeds` is false."""
    indexes: tuple[Link, ...] = ()
    """Lists over the whole site, those that exist: archive, tags, categories, series."""
    has_markdown: bool = False
    """Whether the Markdown of each page that is written stands beside it, as `index.md`."""
    counting: Counting | None = None
    """Who counts visits; None if nobody does."""
    share: tuple[str, ...] = ()
    """Links to pass a post on: `mastodon`, `bluesky`, `email`, `link`."""
    host: str = ""
    """The host of `base_url`, as browsers name it; empty without one."""
    home_url: str = ""
    """The front page, with base path."""
    editions: Mapping[str, SiteView] = {}
    """The site as pages of its other languages see it."""

    def edition(self, name: str) -> SiteView:
        """The site as pages of an edition see it."""
        return self.editions.get(name, self)

    search: SearchView | None = None
    """None for a site without search."""
    ground: Ground = Ground()
    """The colour of pages, `--paper`, as `light` and `dark`."""
