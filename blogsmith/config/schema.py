"""The settings of a site as typed, frozen structs.

Each struct's field docstring is quoted by the manual. Unknown keys are errors with a suggestion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..base.diagnostics.levels import DiagnosticLevels, LevelRule, silence
from ..model.cells import FigureSettings
from ..model.remote_images import RemoteRuleName
from ..model.scopes import OfPage, OfSite

# Settings of what is looked at on request: links to other hosts, weights of pages, keys of front matter.


class ExternalLinks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `blogsmith check --links` asks for addresses at other hosts."""

    ignore: tuple[str, ...] = ()
    """Addresses that are not asked for; `*` stands for any text: `https://example.org/*`."""
    timeout: float = 15.0
    """Seconds that a host may take to answer."""
    pause: float = 1.0
    """Seconds between two questions to one host."""
    hosts: int = 8
    """Hosts that are asked at the same time, each over one connection at a time."""
    days: int = 7
    """Days for which a good answer counts; one that tells of a fault counts for one day."""
    private: bool = False
    """Ask machines of a private network too, on a site that is trusted on this machine."""
    archive: Literal["suggest", "ask"] = "suggest"
    """For a dead link, hint at the Internet Archive, or ask the archive which copy it has."""


class SectionBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What pages of a section may weigh, where that is something else than elsewhere."""

    page: str | None = None
    """As `budget.page`; what is left out, here and below, is as elsewhere."""
    styles: str | None = None
    """As `budget.styles`."""
    scripts: str | None = None
    """As `budget.scripts`."""
    fonts: str | None = None
    """As `budget.fonts`."""
    pictures: str | None = None
    """As `budget.pictures`."""
    total: str | None = None
    """As `budget.total`."""
    requests: int | None = None
    """As `budget.requests`."""
    hosts: int | None = None
    """As `budget.hosts`."""


class PageBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a page may weigh before a reader does anything; for `blogsmith check --budget`."""

    page: str = "150 kB"
    """Its HTML, packed as servers send it; empty, here and below: no limit."""
    styles: str = "60 kB"
    """Its style sheets, packed."""
    scripts: str = "60 kB"
    """Its scripts, packed."""
    fonts: str = "300 kB"
    """All fonts that its sheets name."""
    pictures: str = "2 MB"
    """Its pictures, each in the largest size that a browser may choose."""
    total: str = "2.5 MB"
    """All of it."""
    requests: int = 60
    """Files that a browser may ask for, the page among them."""
    hosts: int = 0
    """Other hosts that are asked before a click."""
    sections: Mapping[str, SectionBudget] = {}
    """Path of a section → what is something else for its pages: `photos: {pictures: 20 MB, total: 21 MB}`."""


class SectionRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the front matter of a section's pages holds."""

    require: tuple[str, ...] = ()
    """Keys that each page has."""
    allow: tuple[str, ...] = ()
    """Keys that a page may have besides; empty: any."""
    values: Mapping[str, tuple[str, ...]] = {}
    """Key → its values, or those of its list: `tags: [attention, numerics]`."""
    types: Mapping[str, str] = {}
    """Key of your own → `text`, `number`, `boolean`, `date`, `list` or `mapping`."""


# Settings of what readers say and of how many there are: comments, counting of visits.


class Comments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Comments below posts; nothing is loaded before a reader asks for them."""

    provider: Literal["none", "giscus", "utterances"] = "none"
    """`giscus` keeps them as discussions on GitHub, `utterances` as issues."""
    repo: str = ""
    """Repository, `owner/name`."""
    repo_id: str = ""
    """Its id, as giscus.app shows it."""
    category: str = ""
    """Category of discussions; for giscus."""
    category_id: str = ""
    """Its id, as giscus.app shows it."""
    label: str = ""
    """Label of issues; for utterances."""


class Analytics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Counting of visits by another host."""

    provider: Literal["none", "goatcounter", "plausible", "umami"] = "none"
    """Who counts."""
    site: str = ""
    """What the site is called there: GoatCounter's code, Plausible's domain, Umami's id."""
    host: str = ""
    """`https://` and the host of an installation of your own; empty: the provider's."""
    consent: Literal["none", "ask"] = "none"
    """`ask`: nothing is sent before the reader says yes."""


HostName = Literal["none", "github-pages", "gitlab", "cloudflare", "netlify", "rsync", "nginx", "caddy"]
"""Hosts that a site can be published at, as settings and commands name them."""


class Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all settings: frozen, by keyword, unknown keys refused."""


class MenuItem(Struct, frozen=True):
    """One entry of the site's menu."""

    title: str
    """Text of the link."""
    url: str
    """Site path (`/posts/`), or an http(s) address."""


class SiteLanguage(Struct, frozen=True):
    """One of the languages of a site that has several."""

    title: str = ""
    """Name of the site in this language; empty: `title`."""
    description: str = ""
    """One sentence about the site in this language."""
    name: str = ""
    """What links to its pages call it; empty: as it calls itself, `Deutsch`."""
    path: str = ""
    """First part of its addresses; empty: its tag. The site's own language, `lang`, has none."""
    menu: tuple[MenuItem, ...] = ()
    """Links of the header on its pages; empty: its sections."""


class Markup(Struct, frozen=True):
    """How Markdown is read."""

    untrusted: bool = False
    """Treat raw HTML as text: for posts by people you do not trust."""
    smart_quotes: bool = False
    """Turn straight quotes, `--` and `...` in prose into typographic ones."""
    linkify: bool = True
    """Turn bare web addresses into links (GFM autolinks)."""


class Symbol(Struct, frozen=True):
    """How one quantity is written throughout the site; for `blogsmith check`."""

    use: str
    """TeX of the symbol, e.g. `\\mathcal{L}`."""
    avoid: tuple[str, ...] = ()
    """Other TeX that would mean the same and is warned of, e.g. `\\mathscr{L}`."""


class MathSettings(Struct, frozen=True):
    """How formulas are read, numbered and reported."""

    macros: Mapping[str, str] = {}
    """Macro name with backslash → TeX, e.g. `\\R: \\mathbb{R}`; `#1` … `#9` are arguments."""
    packages: tuple[str, ...] = ()
    """LaTeX packages that change what commands mean: `physics`; a page may say otherwise."""
    converter: str = ""
    """What typesets formulas: a plugin that can, or `blogsmith`; a page may say otherwise. Empty: the plugin
    under `plugins:` that can."""
    symbols: Mapping[str, Symbol] = {}
    """Name of a quantity → its notation, which `blogsmith check` holds all formulas to."""
    double_dollar: Literal["display", "kramdown"] = "display"
    """`$$…$$`: `display` wherever it stands; `kramdown`: only alone in its paragraph, else in the line."""
    numbering: Literal["all", "labelled", "none", "all by section", "labelled by section"] = "labelled"
    """Which display formulas get a number; `by section` counts anew behind each H2: (2.1)."""
    on_error: Literal["error", "render"] = "error"
    """`error` fails the build; `render` shows the TeX source and warns."""


class Theorems(Struct, frozen=True):
    """How statements are numbered, and what is shown of how they hang together."""

    numbering: Literal["each", "shared", "each by section", "shared by section"] = "each"
    """What counts: each kind by itself, or one count for all; `by section` counts anew behind each H2."""
    used_in: bool = False
    """Below a post, list where its numbered statements and equations are used, in other posts too."""
    map: bool = False
    """Draw which statements the proofs of others use, by series, at `/map/`."""


class Code(Struct, frozen=True):
    """How code is shown."""

    line_numbers: bool = False
    """Number the lines of every fence."""
    deadline_s: float = 2.0
    """Seconds of the processor the highlighter may take for one fence before it is shown plain."""
    max_line: int = 10_000
    """Longest line in characters that is highlighted; a longer one makes the fence plain."""


class CalloutKind(Struct, frozen=True):
    """A callout kind of the site's own, or a change to a built-in one."""

    title: str = ""
    """Default title; empty means the kind's name, capitalised."""
    icon: str = ""
    """Name of a theme icon."""
    color: str = ""
    """Name of one of the theme's colours: `blue green amber red purple grey teal`."""
    alias: tuple[str, ...] = ()
    """Other names that mean this kind."""
    numbered: bool = False
    """Number it like a theorem when it carries an id."""
    counter: str = ""
    """Kind that counts for it, e.g. `theorem`; its own name: it counts by itself where others share."""
    prefix: str = ""
    """A paragraph opening with this text becomes the callout, e.g. `💡 Key insight:`."""


class Feeds(Struct, frozen=True):
    """How much the feeds hold."""

    entries: int = 10
    """Newest posts in the feeds of the site, with their whole text."""
    term_entries: int = 10
    """Newest posts in the feed of each tag and category; 0: these have none."""
    term_text: Literal["summary", "full"] = "summary"
    """What the feed of a tag or category has of a post: its description, or its whole text."""


class Search(Struct, frozen=True):
    """How readers search the site."""

    engine: Literal["own", "pagefind"] = "own"
    """What finds words: `own`, its own index, or Pagefind, for thousands of pages (extra `search`)."""
    dialog: bool = True
    """Open search by `/` and Ctrl-K over any page; `false`: a link to its page, and no script for it."""


class Images(Struct, frozen=True):
    """What becomes of pictures."""

    metadata: Literal["clean", "keep"] = "clean"
    """`clean` publishes pictures without what cameras write into them (place, owner); `keep` as they are."""

    remote: RemoteRuleName = "error"
    """Pictures of other hosts: `error`, `warn` and `allow` show them from there, `fetch` shows a copy."""
    responsive: bool = True
    """Large pictures are also published smaller, and each reader's browser takes the size that it needs."""
    widths: tuple[int, ...] = (480, 800, 1200, 1600)
    """Widths of the smaller copies in pixels; none is wider than the picture."""
    formats: tuple[Literal["webp", "avif"], ...] = ("webp",)
    """Formats of the copies, the best first: `avif` is a quarter smaller and takes four times as long."""
    lightbox: bool = False
    """Figures lead to large versions of their pictures, which open over the page."""


class Citations(Struct, frozen=True):
    """How citations look."""

    style: Literal["numeric", "author-year"] = "numeric"
    """`[1]` in the order of citation, or `(Vaswani et al., 2017)` in that of names; `csl` goes before it."""


class Embeds(Struct, frozen=True):
    """What posts may show from other hosts."""

    allow: tuple[str, ...] = ("youtube", "vimeo")
    """Providers: `youtube`, `vimeo`."""
    remote: Literal["error", "warn", "allow"] = "error"
    """HTML of posts that loads a script, frame, style sheet or film from another host before a click."""


class Diagnostics(Struct, frozen=True):
    """What is reported."""

    ignore: tuple[str, ...] = ()
    """Codes of warnings to keep silent about; errors cannot be silenced."""
    levels: Mapping[str, tuple[LevelRule, ...]] = {}
    """How heavy findings of a code weigh; with `{level: …, in: glob}` only in some files."""

    @property
    def as_levels(self) -> DiagnosticLevels:
        """All that the settings say of codes."""
        return DiagnosticLevels({**self.levels, **silence(self.ignore)})


class Dask(Struct, frozen=True):
    """The cluster of `executor: dask`, under `execute` and under `build`."""

    scheduler: str = ""
    """Address of the scheduler, `tcp://10.0.0.5:8786`; empty: a cluster here, while a command runs."""
    cuda: Mapping[str, float] = msgspec.field(default_factory=lambda: {"GPU": 1})
    """What a session with `needs: cuda` asks of a worker that was started with `dask worker --resources`."""


class Execution(Struct, frozen=True):
    """How the code of posts is run."""

    mode: Literal["off", "marked", "all"] = "marked"
    """Which fences are cells: none, those that are marked as one, or every `python` fence."""
    python: str = ""
    """Python that runs them, relative to the site root or absolute; empty: the one blogsmith runs in."""
    env: tuple[str, ...] = ()
    """Environment variables that cells may see; a result is stale when one of them changes."""
    timeout: float = 60.0
    """Seconds a cell or value may take."""
    memory: str = "4 GB"
    """Memory the processes of a session may use together."""
    jobs: int = 0
    """Sessions that run at once, which share the cores for BLAS; 0: as many as there are cores."""
    preload: tuple[str, ...] = ()
    """Modules imported once and shared by all sessions: `numpy`, `torch`. Linux and macOS, CPU only."""
    shapes: Literal["off", "check"] = "off"
    """Check the shapes written in comments while cells run."""
    provenance: Literal["once", "full", "short", "none"] = "once"
    """The line below results on when and on what they were computed: `once` a session, in `full` or `short`
    below each, or `none`."""
    sandbox: Literal["off", "landlock"] = "off"
    """Refuse writing outside a temporary folder and TCP, where the Linux kernel can."""
    figures: FigureSettings = FigureSettings()
    engine: Literal["worker", "jupyter"] = "worker"
    """What runs cells: blogsmith's own worker, for Python, or a Jupyter kernel, for any language."""
    kernel: str = ""
    """Name of the Jupyter kernel, as `jupyter kernelspec list` shows it; empty: `python3`."""
    executor: Literal["local", "dask"] = "local"
    """Where sessions run: on this machine, or on the workers of a Dask cluster."""
    dask: Dask = Dask()


class Build(Struct, frozen=True):
    """Where pages are made."""

    executor: Literal["local", "dask"] = "local"
    """What makes them: processes of this machine, or of the Dask cluster that `execute.dask` names."""


class Security(Struct, frozen=True):
    """What pages may load and run in readers' browsers."""

    csp: Literal["on", "off"] | Mapping[str, tuple[str, ...]] = "on"
    """Content-Security-Policy of pages: `on`, `off`, or directive → sources that are added to it."""


class Browser(Struct, frozen=True):
    """Code that readers run in their browser."""

    pyodide: str = "cdn"
    """Where Python for the browser comes from: `cdn`, or a folder under `static/` of the site."""
    packages: tuple[str, ...] = ()
    """Packages that are loaded besides those that the code imports itself."""
    timeout: float = 30.0
    """Seconds a cell may take in the browser."""


class Config(Struct, frozen=True):
    """All settings of a site. `OfPage`: texts of pages are made anew when it changes."""

    title: OfSite[str] = "Untitled site"
    """Name of the site."""
    description: OfSite[str] = ""
    """One sentence about the site."""
    author: OfPage[str] = ""
    """Default author of posts."""
    orcids: OfSite[Mapping[str, str]] = {}
    """Name of an author → ORCID iD, for all posts: `Josiah Carberry: 0000-0002-1825-0097`."""
    citable: OfSite[bool] = False
    """Posts say how to cite them: BibTeX below the text, and data for reference managers."""
    license: OfSite[str] = ""
    """Licence of posts: `CC-BY-4.0` or its like, an address, or a name."""
    base_url: OfPage[str] = ""
    """Where the site will live, with its path: `https://example.org/blog`. Empty: at the root of any host."""
    lang: OfPage[str] = "en"
    """Language of the pages, as a BCP 47 tag."""
    languages: OfPage[Mapping[str, SiteLanguage]] = {}
    """Languages of a site that has several: tag → what differs in it, `de: {title: Notizen}`."""
    theme: OfPage[str] = "paper"
    """Name of a bundled theme or of a folder under `themes/`."""
    theme_options: OfSite[Mapping[str, Any]] = {}
    """Handed to the theme's templates as `site.options`."""
    output: OfPage[str] = "public"
    """Folder the site is written to, relative to the site root; behind no link."""
    timezone: OfPage[str] = "UTC"
    """IANA name; for dates without a zone of their own."""
    menu: OfSite[tuple[MenuItem, ...]] = ()
    """Links of the site's header; empty means the sections."""
    permalinks: OfPage[Mapping[str, str]] = {}
    """Section → pattern of `:section :slug :year :month :day`, e.g. `posts: /blog/:year/:slug/`."""
    pagination: OfSite[int] = 20
    """Posts on one page of a list; 0 puts all on one."""
    archive_pagination: OfSite[int] = 500
    """Posts on one page of the archive, which has titles only; 0 puts all on one."""
    feeds: OfSite[bool | Feeds] = True
    """Make Atom and JSON feeds. Without `base_url` the Atom feed has relative links, and there is no JSON."""
    search: OfPage[bool | Search] = False
    """Make an index of texts and formulas, the page `/search/`, and links to it."""
    social_cards: OfSite[bool] = True
    """Draw a picture for links to each post without an `image` of its own; they need `base_url`."""
    llms_txt: OfSite[bool] = False
    """Write the Markdown of each page beside it, for programs that read, and `llms.txt`, which lists them."""
    toc: OfSite[bool] = True
    """Show a table of contents on posts with two or more headings."""
    numbering: OfPage[bool] = False
    """Number headings."""
    slugs: OfPage[Literal["words", "github"]] = "words"
    """Ids of headings: words joined by single hyphens, or as GitHub makes them (`A & B` → `a--b`)."""
    plugins: OfPage[tuple[str, ...]] = ()
    """Plugins to load, by file name without `.py`; the bundled ones or those under `plugins/`."""
    tags: OfSite[Mapping[str, str]] = {}
    """Tag → name that pages print, however posts spell it: `deep-learning: Deep Learning`."""
    callouts: OfPage[Mapping[str, CalloutKind]] = {}
    """Callout kinds of the site's own."""
    markup: OfPage[Markup] = Markup()
    math: OfPage[MathSettings] = MathSettings()
    theorems: OfPage[Theorems] = Theorems()
    code: OfPage[Code] = Code()
    images: OfPage[Images] = Images()
    embeds: OfPage[Embeds] = Embeds()
    bibliography: OfPage[tuple[str, ...]] = ()
    """Bibliographies for all pages, `.bib` or CSL-JSON: paths from the site root; a text or a list."""
    citations: OfPage[Citations] = Citations()
    csl: OfPage[str] = ""
    """Style of citations: `apa`, `ieee`, `nature`, `chicago`, `acm`, `mla`, or a `.csl` file of the site."""
    comments: OfSite[Comments] = Comments()
    analytics: OfSite[Analytics] = Analytics()
    share: OfSite[tuple[str, ...]] = ()
    """Links to pass a post on, below it: `mastodon`, `bluesky`, `email`, `link`."""
    diagnostics: OfSite[Diagnostics] = Diagnostics()
    links: OfSite[ExternalLinks] = ExternalLinks()
    budget: OfSite[PageBudget] = PageBudget()
    sections: OfSite[Mapping[str, SectionRules]] = {}
    """Folder under `content/` → what the front matter of its pages holds; `/`: of all others."""
    execute: OfPage[Literal["off", "marked", "all"] | Execution] = Execution()
    """How the code of posts is run; a bare word is its `mode`."""
    build: OfSite[Build] = Build()
    browser: OfPage[Browser] = Browser()
    security: OfPage[Security] = Security()
    editor: OfPage[str] = ""
    """What opens source files from the preview: a name such as `vscode`, a URL, a command with `{file}`."""
    publish: OfSite[HostName] = "none"
    """Where the site is published; for `netlify` and `cloudflare` builds write its headers and redirects."""

    @property
    def feed_settings(self) -> Feeds:
        """`feeds` with `true` spelt out."""
        return self.feeds if isinstance(self.feeds, Feeds) else Feeds()

    @property
    def search_settings(self) -> Search | None:
        """`search` with `true` spelt out; None: there is no search."""
        return self.search if isinstance(self.search, Search) else Search() if self.search else None

    @property
    def execution(self) -> Execution:
        """`execute` with a bare word spelt out."""
        return self.execute if isinstance(self.execute, Execution) else Execution(mode=self.execute)

    @property
    def base_path(self) -> str:
        """The path of `base_url` without a trailing slash: `/blog`, or empty at a host's root."""
        rest = self.base_url.partition("://")[2]
        path = "/" + rest.partition("/")[2] if "/" in rest else ""
        return path.rstrip("/")
