"""Table of the systems that the common importer reads, with their files, folders, URLs and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Calls = Literal["", "mdx", "zola", "hexo", "nikola", "franklin"]
"""Syntax of shortcodes in pages, which are MDX components, or shortcodes or tags of one system; empty if
there are none."""


SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "title": "title sitename website_title blog_title sitemetadata.title integrations.title",
        "description": "description subtitle tagline website_descr blog_description sitesubtitle "
        "sitemetadata.description",
        "author": "author author_name blog_author sitemetadata.author.name sitemetadata.author",
        "url": "url base_url site siteurl site_url website_url sitemetadata.siteurl",
        "base": "baseurl base basepath pathprefix root prepath",
        "lang": "language default_language default_lang lang i18n.defaultlocale",
    }
)
"""Setting of the new site → its names in the systems, in lower case."""


@dataclass(frozen=True, slots=True)
class Section:
    """A folder with pages. In the strings, `{a|b}` stands for the value of the setting `a`, or for `b` if `a`
    is not set."""

    folder: str
    """Path relative to the site. `*` at the end stands for each subfolder."""
    target: str
    """Path below `content/` of the new site; `*` stands for the name of the subfolder."""
    address: str = ""
    """Pattern of URLs. It may contain `:folders`, `:name` (of the file), `:slug` (in the front matter,
    otherwise the name), `:year`, `:month`, `:day` and `:category`. Empty if the system does not determine
    URLs."""
    dated: str = ""
    """Pattern for pages with a date in the file name and no slug; if empty, `address` is used."""
    is_draft: bool = False
    """Whether all pages in the folder are drafts."""
    is_static: bool = False
    """Whether files other than pages are copied to the root of the new site, instead of next to the pages."""


@dataclass(frozen=True, slots=True)
class MarkdownSystem:
    """A system whose pages are Markdown."""

    name: str
    title: str
    marks: tuple[str, ...]
    """Files that identify the system, as `path` or `path: text in the file`. One of them must exist, and that
    one is the settings file."""
    sections: tuple[Section, ...]
    needs: tuple[str, ...] = ()
    """Additional paths, written like `marks`; at least one of them must exist."""
    unless: tuple[str, ...] = ()
    """Paths that identify another system with the same `marks`; if one exists, the site is not of this
    system."""
    statics: Mapping[str, str] = field(default_factory=dict)
    """Folder with files to copy → path below `static/` of the new site."""
    excluded: tuple[str, ...] = ()
    """Gitignore patterns of files in the sections that the system does not publish."""
    dates_in_names: bool = False
    """Whether a date at the start of a file name is not part of the name."""
    calls: Calls = ""
    escapes_formulas: bool = False
    """Whether the system applies Markdown to formulas, so that authors escape characters in formulas."""
    smart_quotes: bool = False
    line_breaks: bool = False
    """Whether the system shows line breaks inside paragraphs, unless a setting turns this off."""
    keeps_case: bool = False
    """Whether URLs keep the case and the characters of file names."""
    guesses_addresses: bool = False
    """Whether the patterns in `sections` are only a guess, because code of the site determines the URLs."""


REPOSITORY = ("README*", "LICENSE*", "CHANGELOG*", "CONTRIBUTING*", "CODE_OF_CONDUCT*", "SECURITY*")
_OUTPUT = ("dist", "build", "__site", "_site", "public", "output", "cache")
_PLAIN = "/:folders/:slug/"
_FILE = "/:folders/:name/"


def _script(name: str) -> tuple[str, ...]:
    return tuple(f"{name}.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts"))


ROWS: tuple[MarkdownSystem, ...] = (
    MarkdownSystem(
        name="docusaurus",
        title="Docusaurus",
        marks=_script("docusaurus.config"),
        sections=(
            Section("{docs.path|docs}", "{docs.routebasepath|docs}", "/{docs.routebasepath|docs}" + _PLAIN),
            Section(
                "{blog.path|blog}",
                "{blog.routebasepath|blog}",
                "/{blog.routebasepath|blog}/:slug/",
                dated="/{blog.routebasepath|blog}/:year/:month/:day/:name/",
            ),
            Section("src/pages", "", _FILE),
        ),
        statics={"static": ""},
        excluded=("_*", "*.test.*", "__tests__"),
        dates_in_names=True,
        calls="mdx",
        keeps_case=True,
    ),
    MarkdownSystem(
        name="astro",
        title="Astro",
        marks=_script("astro.config"),
        sections=(
            Section("src/content/docs", "", _PLAIN),
            Section("src/content/*", "*", "/*" + _PLAIN),
            Section("src/data/*", "*", "/*" + _PLAIN),
            Section("src/pages", "", _FILE),
        ),
        statics={"public": "", "src/assets": "assets"},
        excluded=("_*",),
        calls="mdx",
        smart_quotes=True,
        guesses_addresses=True,
    ),
    MarkdownSystem(
        name="gatsby",
        title="Gatsby",
        marks=_script("gatsby-config"),
        sections=(
            Section("content/blog", "blog", _PLAIN),
            Section("content/posts", "posts", _PLAIN),
            Section("content", "", _PLAIN),
            Section("src/pages", "", _FILE),
            Section("blog", "blog", "/blog" + _PLAIN),
            Section("posts", "posts", _PLAIN),
        ),
        statics={"static": "", "src/images": "images"},
        calls="mdx",
        guesses_addresses=True,
    ),
    MarkdownSystem(
        name="next",
        title="Next.js",
        marks=_script("next.config"),
        sections=(
            *(Section(name, "", _FILE) for name in ("pages", "src/pages", "app", "src/app")),
            *(Section(name, "posts", "/posts" + _PLAIN) for name in ("_posts", "posts", "src/posts")),
            *(Section(name, "blog", "/blog" + _PLAIN) for name in ("data/blog", "blog", "content/blog")),
            *(Section(name, "", _PLAIN) for name in ("content", "src/content")),
        ),
        statics={"public": ""},
        excluded=("_meta*",),
        calls="mdx",
        guesses_addresses=True,
    ),
    MarkdownSystem(
        name="hexo",
        title="Hexo",
        marks=("_config.yml",),
        needs=("source/_posts", "source/_drafts", "scaffolds", "package.json: hexo"),
        unless=("Gemfile", "Rakefile", "_layouts"),
        sections=(
            Section("{source_dir|source}/_posts", "posts", "/{permalink|:year/:month/:day/:title/}"),
            Section("{source_dir|source}/_drafts", "posts", is_draft=True),
            Section("{source_dir|source}", "", "/:folders/:name.html", is_static=True),
        ),
        excluded=("_*", "#*", "~*"),
        dates_in_names=True,
        calls="hexo",
        escapes_formulas=True,
        smart_quotes=True,
        line_breaks=True,
        keeps_case=True,
    ),
    MarkdownSystem(
        name="zola",
        title="Zola",
        marks=("zola.toml", "config.toml: base_url"),
        needs=("content",),
        sections=(Section("content", "", _PLAIN),),
        statics={"static": ""},
        dates_in_names=True,
        calls="zola",
        escapes_formulas=True,
    ),
    MarkdownSystem(
        name="pelican",
        title="Pelican",
        marks=("pelicanconf.py",),
        sections=(
            Section("{path|content}/pages", "pages", "/{page_url|pages/:slug.html}", is_static=True),
            Section("{path|content}", "posts", "/{article_url|:slug.html}", is_static=True),
        ),
    ),
    MarkdownSystem(
        name="nikola",
        title="Nikola",
        marks=("conf.py: BLOG_TITLE",),
        sections=(),
        statics={"files": "", "images": "images"},
        calls="nikola",
    ),
    MarkdownSystem(
        name="franklin",
        title="Franklin",
        marks=("config.md",),
        needs=("_layout",),
        sections=(Section("", "", _FILE),),
        statics={"_assets": "assets"},
        excluded=("_*", "config.md", "node_modules", *REPOSITORY, *_OUTPUT),
        calls="franklin",
        keeps_case=True,
    ),
    MarkdownSystem(
        name="vitepress",
        title="VitePress",
        marks=(*_script(".vitepress/config"), *_script(".vuepress/config")),
        sections=(Section("", "", "/:folders/:name.html"),),
        statics={"public": "", ".vuepress/public": ""},
        excluded=(*REPOSITORY[1:], *_OUTPUT),
        keeps_case=True,
    ),
    MarkdownSystem(
        name="eleventy",
        title="Eleventy",
        marks=(".eleventy.js", *_script("eleventy.config")),
        sections=(Section("{dir.input|}", "", _FILE),),
        excluded=("_*", "node_modules", *REPOSITORY, *_OUTPUT),
        keeps_case=True,
        guesses_addresses=True,
    ),
    MarkdownSystem(
        name="folder",
        title="folder of Markdown",
        marks=(),
        sections=(Section("", ""),),
        excluded=("_*", "drafts", "private", "templates", *REPOSITORY[1:]),
    ),
)
"""All systems, in the order of detection."""
