"""Settings of a site as typed, frozen structs.

The manual quotes the docstring of each field. An unknown key is an error with a suggestion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..base.diagnostics.levels import DiagnosticLevels, LevelRule, silencing_rules
from ..model.cells import FigureSettings
from ..model.courses import Numbering, SeriesRules, Solutions
from ..model.remote_images import RemoteRuleName
from ..model.scopes import OfPage, OfSite
from ..model.tex_macros import Macro
from .checks import ExternalLinks, PageBudget, SectionRules
from .lists import Lists, ListStyle
from .page_services import Analytics, Comments
from .people import Profile

HostName = Literal["none", "github-pages", "gitlab", "cloudflare", "netlify", "rsync", "nginx", "caddy"]
"""Names of the supported hosts, in settings and commands."""


class Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all settings: frozen, keyword-only, rejects unknown keys."""


class MenuItem(Struct, frozen=True):
    """An entry of the site's menu."""

    title: str
    """Text of the link."""
    url: str
    """Path on the site, such as `/posts/`, or an http(s) URL."""


class SiteLanguage(Struct, frozen=True):
    """A language of a multilingual site."""

    title: str = ""
    """Name of the site in this language. Empty: `title`."""
    description: str = ""
    """One sentence about the site, in this language."""
    name: str = ""
    """Name of the language in links to its pages. Empty: its native name, such as `Deutsch`."""
    path: str = ""
    """First segment of its URLs. Empty: its tag. Not used for the default language, `lang`."""
    menu: tuple[MenuItem, ...] = ()
    """Header links on pages in this language. Empty: its sections."""


class Markup(Struct, frozen=True):
    """How Markdown is parsed."""

    untrusted: bool = False
    """Show raw HTML as text. Use this for posts by people you do not trust."""
    smart_quotes: bool = False
    """Turn straight quotes, `--` and `...` in prose into typographic characters."""
    line_breaks: bool = False
    """Show line breaks inside paragraphs of the source as line breaks, instead of as spaces."""
    linkify: bool = True
    """Turn URLs in prose into links (GFM autolinks)."""
    latex: bool = False
    """Read LaTeX in the text of posts: environments, sections, references, lists. A page can override
    this."""


class Symbol(Struct, frozen=True):
    """Notation for one quantity throughout the site, checked by `blogsmith check`."""

    use: str
    r"""TeX of the symbol, e.g. `\mathcal{L}`."""
    avoid: tuple[str, ...] = ()
    r"""Other TeX for the same quantity, which causes a warning, e.g. `\mathscr{L}`."""


class MathSettings(Struct, frozen=True):
    """How formulas are parsed, typeset and numbered."""

    macros: Mapping[str, str | Macro] = {}
    r"""TeX macros: name with backslash → replacement, e.g. `\R: \mathbb{R}`; `#1` … `#9` are arguments. Or a
    list of LaTeX files and of such mappings: `[preamble.tex, {\R: …}]`."""
    packages: tuple[str, ...] = ()
    """LaTeX packages that change the meaning of commands: `physics`. A page can override this."""
    converter: str = ""
    """Converter for formulas: `blogsmith` or the name of a plugin. A page can override this. Empty: the
    converter plugin listed under `plugins`, if there is one."""
    symbols: Mapping[str, Symbol] = {}
    """Notation by name of the quantity. `blogsmith check` warns about formulas that use other notation."""
    double_dollar: Literal["display", "kramdown"] = "display"
    """Meaning of `$$…$$`. `display`: always display math. `kramdown`: display math only in a paragraph of its
    own, otherwise inline math."""
    numbering: Literal["all", "labelled", "none", "all by section", "labelled by section"] = "labelled"
    """Display formulas that get a number. `by section` restarts the numbers at each H2: (2.1)."""
    wide: Literal["fit", "shrink", "break", "scroll"] = "fit"
    """How a display fits a narrow screen: it may `shrink`, `break`, both (`fit`), or neither (`scroll`)."""
    on_error: Literal["error", "render"] = "error"
    """For an invalid formula, `error` fails the build; `render` shows the TeX source and warns."""


class Theorems(Struct, frozen=True):
    """How theorems and similar statements are numbered and linked."""

    numbering: Literal["each", "shared", "each by section", "shared by section"] = "each"
    """Use a count for `each` kind of statement, or one `shared` count. `by section` restarts at each H2."""
    used_in: bool = False
    """Below a post, list where its numbered statements and equations are used, including in other posts."""
    map: bool = False
    """Draw a map of each series at `/map/`, which shows the statements that the proofs of others use."""
    exercises: bool = False
    """Write two pages for each series below `/exercises/`: its exercises, and the same with solutions."""


class Code(Struct, frozen=True):
    """How code is shown."""

    line_numbers: bool = False
    """Number the lines of every fence."""
    wrap: bool = True
    """On narrow screens, wrap long lines of code in a language. Otherwise they scroll, as plain text does."""
    deadline_s: float = 2.0
    """CPU time limit for highlighting one fence, in seconds. Then the code is shown without colours."""
    max_line: int = 10_000
    """Longest line that is highlighted, in characters. A longer line removes the colours of its fence."""


class CalloutKind(Struct, frozen=True):
    """A custom callout kind, or changes to a built-in one."""

    title: str = ""
    """Default title. Empty: the name of the kind, capitalised."""
    icon: str = ""
    """Name of an icon of the theme."""
    color: str = ""
    """Name of a colour of the theme: `blue green amber red purple grey teal`."""
    alias: tuple[str, ...] = ()
    """Other names for this kind."""
    numbered: bool = False
    """Number the callout like a theorem if it has an id."""
    counter: str = ""
    """Kind whose counter this kind uses, e.g. `theorem`. Its own name: a counter of its own, even if other
    kinds share one."""
    style: Literal["", "theorem", "definition", "remark"] = ""
    """Set it like a theorem (text in italics), a definition or a remark of a journal. Empty: a box."""
    prefix: str = ""
    """A paragraph that begins with this text becomes the callout, e.g. `💡 Key insight:`."""


class Feeds(Struct, frozen=True):
    """Content of the feeds."""

    entries: int = 10
    """Number of newest posts in the site's feeds, with their full text."""
    term_entries: int = 10
    """Number of newest posts in the feed of each tag and category. 0: no feeds for them."""
    term_text: Literal["summary", "full"] = "summary"
    """Content of a post in the feed of a tag or category: its description (`summary`) or its `full` text."""


class SocialCards(Struct, frozen=True):
    """Fonts of social cards for letters that the font of the theme lacks."""

    fonts: tuple[str, ...] = ()
    """Font files of the site (TTF, OTF, WOFF2), as paths from the site root. For each letter, the first font
    that has it is used.

    """
    installed: bool = True
    """Also use the fonts of the machine that builds. `false`: cards are the same on all machines."""


class Slugs(Struct, frozen=True):
    """How names and titles become URLs and ids."""

    ids: Literal["words", "github"] = "words"
    """Ids of headings: `words` joined by single hyphens, or as `github` makes them (`A & B` → `a--b`)."""
    marks: Literal["drop", "keep", "switch"] = "drop"
    """Combining marks in URLs, tags and ids: `keep` them with their letters (`हिन्दी`), or `drop` them
    (`ह-न-द`). `switch`: keep, for a site published with `drop`; links to old ids work, and old URLs are
    reported."""

    @property
    def keeps_marks(self) -> bool:
        """Whether combining marks belong to their letters."""
        return self.marks != "drop"


class Search(Struct, frozen=True):
    """How readers search the site."""

    engine: Literal["own", "pagefind"] = "own"
    """Search engine: `own`, the built-in index, or `pagefind`, for thousands of pages (extra `search`)."""
    dialog: bool = True
    """Open a search dialog over any page with `/` or Ctrl-K. `false`: only link to the search page, without a
    script."""


class Images(Struct, frozen=True):
    """How images are published."""

    metadata: Literal["clean", "keep"] = "clean"
    """`clean` removes private metadata of cameras, such as location and owner. `keep` publishes images
    unchanged."""

    remote: RemoteRuleName = "error"
    """Images on other hosts: `error`, `warn` and `allow` load them from there; `fetch` shows a local copy."""
    responsive: bool = True
    """Also publish large images in smaller sizes, so that each browser loads only the size it needs."""
    widths: tuple[int, ...] = (480, 800, 1200, 1600)
    """Widths of the smaller copies, in pixels. No copy is wider than the original."""
    formats: tuple[Literal["webp", "avif"], ...] = ("webp",)
    """Formats of the copies, best first. `avif` files are a quarter smaller, but encoding takes four times as
    long."""
    covers: bool = False
    """Show the `image` of a post above its text."""
    lightbox: bool = False
    """Link figures to large versions of their images, which open over the page."""


class Citations(Struct, frozen=True):
    """How citations look."""

    style: Literal["numeric", "author-year"] = "numeric"
    """`numeric`: `[1]`, in order of citation. `author-year`: `(Vaswani et al., 2017)`, sorted by name. `csl`
    takes precedence."""


class Embeds(Struct, frozen=True):
    """Content from other hosts that posts may show."""

    allow: tuple[str, ...] = ("youtube", "vimeo")
    """Allowed video providers: `youtube`, `vimeo`."""
    remote: Literal["error", "warn", "allow"] = "error"
    """Level for HTML and stylesheets that load a script, frame, font or video from another host."""


class Diagnostics(Struct, frozen=True):
    """Diagnostics that are reported, and their levels."""

    ignore: tuple[str, ...] = ()
    """Codes of warnings to ignore. Errors cannot be ignored."""
    levels: Mapping[str, tuple[LevelRule, ...]] = {}
    """Level for a code: a level, or `{level: …, in: glob}` for some files only."""
    documentation: str = ""
    """URL of a copy of this manual, such as `https://example.org/docs/`. Reports for programs and the
    language server then link each code to its entry. Empty: no links."""

    @property
    def as_levels(self) -> DiagnosticLevels:
        """All configured levels, with ignored codes set to `off`."""
        return DiagnosticLevels({**self.levels, **silencing_rules(self.ignore)})


class Dask(Struct, frozen=True):
    """Dask cluster for `executor: dask` under `execute` and `build`."""

    scheduler: str = ""
    """Address of the scheduler, e.g. `tcp://10.0.0.5:8786`. Empty: start a local cluster for each command."""
    cuda: Mapping[str, float] = msgspec.field(default_factory=lambda: {"GPU": 1})
    """Dask resources that a session with `needs: cuda` requires, as set by `dask worker --resources`."""


class Execution(Struct, frozen=True):
    """How the code of posts is run."""

    mode: Literal["off", "marked", "all"] = "marked"
    """Fences that are cells: none (`off`), those `marked` as cells, or `all` `python` fences."""
    python: str = ""
    """Python interpreter, relative to the site root or absolute. Empty: the one that runs blogsmith."""
    env: tuple[str, ...] = ()
    """Environment variables that cells can read. Results become stale when a value changes."""
    timeout: float = 60.0
    """Time limit for each cell or value, in seconds."""
    memory: str = "4 GB"
    """Memory limit for all processes of a session together."""
    jobs: int = 0
    """Sessions that run in parallel and share the cores for BLAS. 0: the number of cores."""
    keep: float = 600.0
    """Seconds for which the state after slow cells stays in memory (Linux). If you edit a later cell, the
    next build then need not run the slow cells again. 0: not at all."""
    preload: tuple[str, ...] = ()
    """Modules to import once for all sessions: `numpy`, `torch`. Linux and macOS, CPU only."""
    shapes: Literal["off", "check"] = "off"
    """Check the tensor shapes in code comments while cells run."""
    provenance: Literal["once", "full", "short", "none"] = "once"
    """Line with date, device and versions after results: `once` a session, in `full` or `short` form after
    each result, or `none`."""
    sandbox: Literal["off", "landlock", "offline"] = "off"
    """`landlock`: prevent cells from writing outside a temporary folder and from using TCP and Unix
    sockets, if the Linux kernel can. `offline`: also prevent cells from using any other network. The same
    applies to plugins of the site."""
    figures: FigureSettings = FigureSettings()
    engine: Literal["worker", "jupyter"] = "worker"
    """Engine that runs cells: `worker`, the built-in one for Python, or `jupyter`, for any language."""
    kernel: str = ""
    """Name of the Jupyter kernel, as shown by `jupyter kernelspec list`. Empty: `python3`."""
    executor: Literal["local", "dask"] = "local"
    """Where sessions run: on this machine, or on the workers of a Dask cluster."""
    dask: Dask = Dask()


class Build(Struct, frozen=True):
    """Where pages are rendered."""

    executor: Literal["local", "dask"] = "local"
    """Render pages in `local` processes, or on the Dask cluster of `execute.dask`."""


class Security(Struct, frozen=True):
    """Content-Security-Policy of pages: limits on what browsers load and run."""

    csp: Literal["on", "off"] | Mapping[str, tuple[str, ...]] = "on"
    """Content-Security-Policy of pages: `on`, `off`, or additional sources by directive."""


class Browser(Struct, frozen=True):
    """Code that readers run in their browser."""

    pyodide: str = "cdn"
    """Source of Pyodide, Python for browsers: `cdn`, or a folder under `static/` of the site."""
    packages: tuple[str, ...] = ()
    """Packages to load in addition to those that the code imports."""
    timeout: float = 30.0
    """Time limit for a cell in the browser, in seconds."""


class Config(Struct, frozen=True):
    """All settings of a site. A change of an `OfPage` setting causes pages to be rendered again."""

    title: OfSite[str] = "Untitled site"
    """Name of the site."""
    description: OfSite[str] = ""
    """One sentence about the site."""
    author: OfPage[str] = ""
    """Default author of posts."""
    person: OfPage[Profile] = Profile()
    """Owner of the site, shown on the front page. The name is the default `author`."""
    authors: OfPage[Mapping[str, Profile]] = {}
    """Authors by key, as in `ann: {name: Ann Lee}`. Posts name the key. Each author has a page:
    `/authors/ann/`."""
    coauthors: OfPage[Mapping[str, str]] = {}
    """URLs of other people's sites by name, as in `Ben Ono: https://ono.example/`. Lists of publications link
    their names."""
    orcids: OfSite[Mapping[str, str]] = {}
    """ORCID iDs by author name, for all posts: `Josiah Carberry: 0000-0002-1825-0097`."""
    citable: OfSite[bool] = False
    """Show on each post how to cite it, as BibTeX, and include metadata for reference managers."""
    notebook: OfSite[bool] = False
    """Offer each page with cells as a Jupyter notebook for download."""
    pdf: OfSite[bool] = False
    """Offer each post and page as a PDF. Needs the extra `pdf`."""
    license: OfSite[str] = ""
    """Licence of posts: an identifier such as `CC-BY-4.0`, a URL, or a name."""
    base_url: OfPage[str] = ""
    """URL of the published site, with its path: `https://example.org/blog`. Empty: the root of any host."""
    lang: OfPage[str] = "en"
    """Default language of the pages, as a BCP 47 tag."""
    languages: OfPage[Mapping[str, SiteLanguage]] = {}
    """Languages of a multilingual site, by tag, with their settings: `de: {title: Notizen}`."""
    theme: OfPage[str] = "paper"
    """Name of a bundled theme or of a folder under `themes/`."""
    theme_options: OfSite[Mapping[str, Any]] = {}
    """Options for the templates of the theme, available as `site.options`."""
    output: OfPage[str] = "public"
    """Folder for the built site, relative to the site root. Its path must not contain a symbolic link."""
    timezone: OfPage[str] = "UTC"
    """Time zone for dates that have none, as an IANA name."""
    menu: OfSite[tuple[MenuItem, ...]] = ()
    """Links in the header of the site. Empty: the sections."""
    permalinks: OfPage[Mapping[str, str]] = {}
    """URL pattern by section, from `:section :slug :year :month :day`, e.g. `posts: /blog/:year/:slug/`."""
    pagination: OfSite[int] = 20
    """Posts per list page. 0: all on one page."""
    lists: OfPage[ListStyle | Lists] = "text"
    """How lists of posts look. `lists: cards` means `lists: {style: cards}`."""
    archive_pagination: OfSite[int] = 500
    """Posts per page of the archive, which lists titles only. 0: all on one page."""
    feeds: OfSite[bool | Feeds] = True
    """Write Atom and JSON feeds. Without `base_url`, the Atom feed has relative links and there is no JSON
    feed."""
    search: OfPage[bool | Search] = False
    """Add a search page at `/search/`, with an index of text and formulas, and links to it."""
    social_cards: OfSite[bool | SocialCards] = True
    """Draw a link preview image for each post without an `image` of its own. Requires `base_url`."""
    llms_txt: OfSite[bool] = False
    """Write each page also as Markdown, for programs, and list these files in `llms.txt`."""
    toc: OfSite[bool] = True
    """Show a table of contents on posts with two or more headings."""
    numbering: OfPage[Numbering] = False
    """Number headings. `by part`: in posts with a `part`, every number starts with the part: Theorem 3.1."""
    series: OfPage[Mapping[str, SeriesRules]] = {}
    """Settings for the posts of a series, by its name."""
    solutions: OfPage[Solutions] = Solutions()
    """Place and date of solutions of exercises."""
    slugs: OfPage[Literal["words", "github"] | Slugs] = "words"
    """How names and titles become URLs and ids. `slugs: github` means `slugs: {ids: github}`."""
    plugins: OfPage[tuple[str, ...]] = ()
    """Plugins to load, bundled or from `plugins/`, by file name without `.py`."""
    tags: OfSite[Mapping[str, str]] = {}
    """Display names of tags, for every spelling in posts: `deep-learning: Deep Learning`."""
    callouts: OfPage[Mapping[str, CalloutKind]] = {}
    """Custom callout kinds, by name."""
    markup: OfPage[Markup] = Markup()
    math: OfPage[MathSettings] = MathSettings()
    theorems: OfPage[Theorems] = Theorems()
    code: OfPage[Code] = Code()
    images: OfPage[Images] = Images()
    embeds: OfPage[Embeds] = Embeds()
    bibliography: OfPage[tuple[str, ...]] = ()
    """Bibliographies for all pages, `.bib` or CSL-JSON: one path from the site root, or a list."""
    citations: OfPage[Citations] = Citations()
    csl: OfPage[str] = ""
    """Citation style: `apa`, `ieee`, `nature`, `chicago`, `acm`, `mla`, or a `.csl` file of the site."""
    comments: OfSite[Comments] = Comments()
    analytics: OfSite[Analytics] = Analytics()
    share: OfSite[tuple[str, ...]] = ()
    """Share links below each post: `mastodon`, `bluesky`, `email`, `link`."""
    diagnostics: OfSite[Diagnostics] = Diagnostics()
    links: OfSite[ExternalLinks] = ExternalLinks()
    budget: OfSite[PageBudget] = PageBudget()
    sections: OfSite[Mapping[str, SectionRules]] = {}
    """Front matter rules by folder under `content/`. `/` applies to all other pages."""
    execute: OfPage[Literal["off", "marked", "all"] | Execution] = Execution()
    """How the code of posts is run. A single word sets `mode`."""
    build: OfSite[Build] = Build()
    browser: OfPage[Browser] = Browser()
    security: OfPage[Security] = Security()
    editor: OfPage[str] = ""
    """Editor that the preview opens: a name such as `vscode`, a URL, or a command with `{file}`."""
    publish: OfSite[HostName] = "none"
    """Host of the site. For `netlify` and `cloudflare`, builds also write headers and redirects."""

    @property
    def feed_settings(self) -> Feeds:
        """`feeds`, with `true` expanded to its settings."""
        return self.feeds if isinstance(self.feeds, Feeds) else Feeds()

    @property
    def card_settings(self) -> SocialCards | None:
        """`social_cards`, with `true` expanded to its settings; None without cards, which need `base_url`."""
        if not (self.social_cards and self.base_url):
            return None
        return self.social_cards if isinstance(self.social_cards, SocialCards) else SocialCards()

    @property
    def list_settings(self) -> Lists:
        """The setting `lists` as a mapping, also if it is written as a single style."""
        return self.lists if isinstance(self.lists, Lists) else Lists(style=self.lists)

    @property
    def shows_pictures(self) -> bool:
        """Whether a list or a post shows the `image` of posts."""
        styles = {self.list_settings.style, *self.list_settings.sections.values()}
        return self.images.covers or not styles.isdisjoint(("cards", "featured"))

    @property
    def slug_settings(self) -> Slugs:
        """`slugs`, with a single word expanded to its settings."""
        return self.slugs if isinstance(self.slugs, Slugs) else Slugs(ids=self.slugs)

    @property
    def search_settings(self) -> Search | None:
        """`search`, with `true` expanded to its settings; None if search is off."""
        return self.search if isinstance(self.search, Search) else Search() if self.search else None

    @property
    def execution(self) -> Execution:
        """`execute`, with a single word expanded to its settings."""
        return self.execute if isinstance(self.execute, Execution) else Execution(mode=self.execute)

    @property
    def base_path(self) -> str:
        """Path of `base_url` without a trailing slash: `/blog`, or empty at the root of a host."""
        rest = self.base_url.partition("://")[2]
        path = "/" + rest.partition("/")[2] if "/" in rest else ""
        return path.rstrip("/")
