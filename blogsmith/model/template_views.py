"""Records that templates read: the page, the site, and the links between pages. Frozen and ready to print."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from .documents import FaqEntry, TocEntry
from .list_pictures import list_picture
from .profiles import ProfileView
from .scopes import OfPage, OfSite
from .texts import NO_TEXT, PageText


class Link(Struct, frozen=True):
    """A link with a title."""

    title: str
    """Title as plain text."""
    url: str
    """URL with base path; empty if there is no page to link to (an unpublished part of a series)."""
    title_html: str = ""
    """Title with formulas typeset; safe HTML. Empty if it would equal the plain title."""
    count: int = 0
    """Number of posts on the page, in an overview of tags, categories or series."""


class SeriesPart(Struct, frozen=True):
    """One line in the list of a series' parts."""

    title: str
    url: str
    """URL with base path; empty while the part is unpublished."""
    part: int
    """1-based number of the part."""
    current: bool
    title_html: str = ""
    """Title with formulas typeset, as in `Link`."""


class Download(Struct, frozen=True):
    """A file with the content of a page."""

    kind: Literal["pdf", "notebook"]
    url: str
    """URL with base path."""


class Feed(Struct, frozen=True):
    """A feed that a page offers to feed readers."""

    title: str
    url: str
    """URL with base path."""
    type: str
    """Media type of the feed."""


class Translation(Struct, frozen=True):
    """A page in one of its languages."""

    lang: str
    """BCP 47 tag of this language."""
    name: str
    """Name of the language in that language: `Deutsch`."""
    url: str
    """URL with base path."""
    canonical_url: str = ""
    """Absolute URL; empty if the site has no `base_url`."""
    is_own: bool = False
    """Whether it is in the site's own language."""
    is_current: bool = False
    """Whether it is the page that shows the links."""


class Pager(Struct, frozen=True):
    """Position of a page among the pages of a long list."""

    number: int
    """1-based number of the page in the list."""
    total: int
    previous_url: str = ""
    """URL of the page of newer entries; empty on the first."""
    next_url: str = ""
    """URL of the page of older entries; empty on the last."""


class Discussion(Struct, frozen=True):
    """The service that hosts the comments of a page."""

    provider: str
    """`giscus`, `utterances`, `mastodon` or `bluesky`."""
    host: str
    """Host that comments are loaded from, as shown to readers: `giscus.app`."""
    url: str
    """URL where people read and write comments."""
    link_host: str
    """Host of `url`."""
    frame_url: str = ""
    """URL of a frame that shows the comments; empty if they are loaded as data."""
    connect_url: str = ""
    """`https://` and the host, if comments are loaded as data."""
    request: str = ""
    """Path and query at that host."""


class Counting(Struct, frozen=True):
    """The service that counts visits; settings for the script that pages load."""

    provider: str
    """`goatcounter`, `plausible` or `umami`."""
    site: str
    """Name of the site at the service."""
    connect_url: str
    """`https://` and the host that receives visits."""
    host: str
    """Host as shown to readers."""
    asks: bool
    """Whether nothing is sent before the reader agrees."""


class PageGroup(Struct, frozen=True):
    """Pages under one heading of a list, such as those of a year."""

    title: str
    pages: tuple[PageView, ...]
    url: str = ""
    """URL of the list of all pages of the group; empty if there is none."""


class ManualGroup(Struct, frozen=True):
    """A group of pages in the tree of a manual."""

    title: str
    """Title of the group; empty for pages that belong to no group."""
    pages: tuple[Link, ...]


class ManualView(Struct, frozen=True):
    """The manual that a page belongs to."""

    link: Link
    """Link to its index."""
    groups: tuple[ManualGroup, ...]
    """All its pages, in order."""
    group: str = ""
    """Title of the group that contains the page; empty if none does."""


class UsedStatement(Struct, frozen=True):
    """A numbered statement or equation, and its uses."""

    link: Link
    """Link to it, with a title such as `Theorem 1 (Spread)`."""
    uses: tuple[Link, ...]
    """Links to uses: first those in the same page, then those in others by title."""


class PageAuthor(Struct, frozen=True):
    """An author of a page."""

    name: str
    orcid: str = ""
    """ORCID iD, `0000-0002-1825-0097`; empty if not known."""
    url: str = ""
    """URL of the author's page on this site or elsewhere; empty if there is none."""
    affiliation: str = ""


class CitableView(Struct, frozen=True):
    """Citation data of a page (`page.citation`)."""

    bibtex: str = ""
    """BibTeX entry; empty for a page without citation data."""
    text: str = ""
    """Citation as one sentence; empty in the same cases as `bibtex`."""
    authors: tuple[PageAuthor, ...] = ()
    doi: str = ""
    """DOI, `10.59350/abcde`."""
    license: str = ""
    """Name of the licence: `CC BY 4.0`."""
    license_url: str = ""


class PageView(Struct, frozen=True):
    """A page as templates see it (`page`). Every field is ready to print; templates compute nothing.

    `OfPage`: the value comes from the page's own document.
    """

    kind: OfPage[str]
    """`home`, `section`, `post`, `page`, `tags`, `tag`, `author`, `archive`, `series`, `search` or
    `not_found`."""
    path: OfPage[str]
    """Source file relative to the site root; empty for generated pages."""
    url: OfPage[str]
    """URL path with base path, e.g. `/blog/posts/attention/`."""
    canonical_url: OfPage[str]
    """Absolute URL; empty if the site has no `base_url`."""
    title: OfPage[str]
    """Title as plain text."""
    title_html: OfPage[str]
    """Inline HTML with formulas typeset; safe."""
    body: OfPage[PageText] = NO_TEXT
    """Source of `content`; not visible to templates."""
    title_id: OfPage[str] = ""
    """Id of the title, for links to it; empty for none."""
    heading_html: OfPage[str] = ""
    """`title_html` with number and footnote marks, for the page's own `<h1>`; empty if it has neither;
    safe."""
    subtitle: OfPage[str] = ""
    """Plain text, printed under the title."""
    description: OfPage[str] = ""
    """Plain text: the author's description, or the first words of the body."""
    description_html: OfPage[str] = ""
    """The author's description with formulas typeset; empty if there is none."""
    summary_html: OfPage[str] = ""
    """First words of the body with formulas typeset, for lists; empty if they contain no formula, or if the
    author wrote a description; safe."""
    date: OfPage[dt.datetime | None] = None
    """Date of first publication, with a time zone."""
    updated: OfPage[dt.datetime | None] = None
    """Date of the last change, with a time zone."""
    authors: OfPage[tuple[str, ...]] = ()
    """Authors of the post; by default the site's author."""
    people: OfPage[tuple[PageAuthor, ...]] = ()
    """Authors with pages and affiliations; empty if no author has a page or an affiliation."""
    tags: OfPage[tuple[Link, ...]] = ()
    """Links to the pages that list the posts of each tag."""
    categories: OfPage[tuple[Link, ...]] = ()
    """Links to the pages that list the posts of each category."""
    series_name: OfSite[str] = ""
    """Name of the series; empty if the post belongs to none."""
    series_url: OfSite[str] = ""
    """URL of the page of the series."""
    series: OfSite[tuple[SeriesPart, ...]] = ()
    """All parts in order; unpublished ones have no URL."""
    toc: OfPage[tuple[TocEntry, ...]] = ()
    """Entries of the table of contents; empty if the page shows none."""
    reading_minutes: OfPage[int] = 0
    """At least 1 for a post with a date; 0 if no time is shown: lists, posts without a date."""
    lang: OfPage[str] = "en"
    """BCP 47 tag of the page's language."""
    direction: OfPage[Literal["ltr", "rtl"]] = "ltr"
    """Writing direction of its language."""
    edition: OfSite[str] = ""
    """Language version whose lists contain the page, a key of `languages`; empty for the site's own language.
    """
    translations: OfSite[tuple[Translation, ...]] = ()
    """The page in every language, itself included; empty if there is only one."""
    status: OfPage[str] = ""
    """`wip` for a post that is public but unfinished; otherwise empty."""
    draft: OfPage[bool] = False
    """Whether it is a draft. Pages can be drafts only if drafts are built."""
    unlisted: OfPage[bool] = False
    """Whether no list contains it, and a tag forbids search engines to index it."""
    section: OfSite[Link | None] = None
    """Target of the back link: the list of a post's section, the overview of a tag or series."""
    previous: OfSite[Link | None] = None
    """The older neighbour in the section (or the series)."""
    next: OfSite[Link | None] = None
    """The newer neighbour in the section (or the series)."""
    next_post: OfSite[PageView | None] = None
    """The page of `next` as in lists, with `picture` and `description`; it has no relations of its own."""
    builds_on: OfSite[tuple[Link, ...]] = ()
    """Posts and pages that the page's text links to, by title."""
    manual: OfSite[ManualView | None] = None
    """Tree of the manual that the page belongs to; None for other pages."""
    backlinks: OfSite[tuple[Link, ...]] = ()
    """Posts and pages whose text links to this page, by title."""
    used_in: OfSite[tuple[UsedStatement, ...]] = ()
    """Statements and equations of the page that are referred to, in text order, if the site lists them."""
    related: OfSite[tuple[Link, ...]] = ()
    """Posts that share tags or categories, most similar first, without neighbours, parts of the series,
    `builds_on` and `backlinks`."""
    pages: OfSite[tuple[PageView, ...]] = ()
    """For lists: the pages listed, newest first. For the page of missing URLs: the last few posts."""
    groups: OfSite[tuple[Link, ...]] = ()
    """For overviews: every tag, category or series. For a section: the sections directly below it."""
    page_groups: OfSite[tuple[PageGroup, ...]] = ()
    """For the archive: the pages of each year, newest first. For the search: the pages of each section, each
    with its whole `toc`. For the front page: the newest pages of each section with news."""
    list_style: OfSite[str] = "text"
    """For lists: `text`, `compact`, `cards`, `featured` or `notes`."""
    profile: OfSite[ProfileView | None] = None
    """Person that the front page or the page of an author is about."""
    pager: OfSite[Pager | None] = None
    """For a list with several pages; otherwise None."""
    feeds: OfSite[tuple[Feed, ...]] = ()
    """Feeds about this page's subject, such as a tag's, in addition to the site's own."""
    faq: OfPage[tuple[FaqEntry, ...]] = ()
    """Folded questions with their answers, for structured data: each has `question` and `answer`."""
    widgets: OfPage[frozenset[str]] = frozenset()
    """Features of the page that need a script or stylesheet of their own: `compare`, `embed`, `runnable`,
    `lightbox`, `gallery`, `loop`, `film`, `people` (a CV, selected works or abstracts), `schemes` (images
    for one colour scheme), `pictures` (pairs of them)."""
    image: OfPage[str] = ""
    """URL of the page's image with base path, or empty."""
    cover: OfPage[str] = ""
    """The page's image as `<img>`, for its top, if the site shows images of posts; safe HTML."""
    downloads: OfPage[tuple[Download, ...]] = ()
    """The page as PDF and as notebook, if it offers them: each has `kind`, `pdf` or `notebook`, and `url`."""
    citation: OfPage[CitableView | None] = None
    """How to cite the page, its DOI and licence; None for a page without this data."""
    card: OfSite[str] = ""
    """URL of the social card drawn for the page, with base path; empty if the page has an image of its own.
    """
    layout: OfSite[str] = ""
    """Layout name without `.html`."""
    math_font: OfSite[str] = ""
    """URL of the math font, without `.woff2` or `.css`; empty on a site without formulas."""
    comments: OfPage[Discussion | None] = None
    """Service that hosts the comments of the page; None if the page has no comments."""
    extra: OfPage[Mapping[str, Any]] = field(default_factory=dict)
    """Unknown front matter keys."""

    @property
    def alternates(self) -> tuple[tuple[str, str], ...]:
        """Language tag → absolute URL, as pairs for `hreflang`, for a page in several languages.

        `x-default` is the page in the site's own language, or the first.
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
    def picture(self) -> str:
        """Picture of the page in lists: its image, otherwise its first figure or display; safe HTML."""
        return list_picture(self.cover, self.body)

    @property
    def features(self) -> frozenset[str]:
        """Features in `content` that layouts load resources for: `math`, `pre`, `video`, classes such as
        `math-display` and `table-wrap`, roles such as `doc-noteref`."""
        return self.body.features()


class Ground(Struct, frozen=True):
    """Background colours of pages, for the frames that browsers draw around them."""

    light: str = ""
    """Colour in the light scheme; empty if the stylesheets do not state it directly."""
    dark: str = ""
    """Colour in the dark scheme."""


class SearchView(Struct, frozen=True):
    """The search of the site as templates see it."""

    url: str
    """URL of its page, with base path."""
    dialog: bool
    """Whether it opens as a dialog on any page."""
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
    """Links of the menu. Their URLs include the base path."""
    sections: tuple[Link, ...]
    options: Mapping[str, Any]
    """`theme_options` of the configuration."""
    generator: str
    """Name and version of blogsmith."""
    feeds: tuple[Feed, ...] = ()
    """Feeds of the site; empty if `feeds` is false."""
    indexes: tuple[Link, ...] = ()
    """Existing lists of the whole site: archive, tags, categories, series."""
    has_markdown: bool = False
    """Whether the output contains the Markdown of each page as `index.md`."""
    counting: Counting | None = None
    """Service that counts visits; None if there is none."""
    share: tuple[str, ...] = ()
    """Links for sharing a post: `mastodon`, `bluesky`, `email`, `link`."""
    covers: bool = False
    """Whether posts show their image above their text."""
    host: str = ""
    """Host of `base_url`, as browsers show it; empty without one."""
    home_url: str = ""
    """URL of the home page, with base path."""
    editions: Mapping[str, SiteView] = {}
    """Language → the site as its pages see it."""

    def edition(self, name: str) -> SiteView:
        """Return the site as pages of a language version see it."""
        return self.editions.get(name, self)

    search: SearchView | None = None
    """The search of the site; None for a site without search."""
    ground: Ground = Ground()
    """Background colours of pages, `--paper`, as `light` and `dark`."""
