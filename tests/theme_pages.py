"""Pages to test theme paper, and helpers to inspect the result."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
from msgspec.structs import replace

from blogsmith.model.documents import TocEntry
from blogsmith.model.template_views import Feed, Link, PageGroup, Pager, PageView, SeriesPart, SiteView
from blogsmith.model.texts import PageText
from blogsmith.render.templates.theme import Theme, load_theme

ROOT = Path(__file__).parent.parent
DAY = dt.datetime(2026, 3, 3, tzinfo=dt.UTC)

BARE = PageView("page", "content/about.md", "/b/about/", "", "About", "About")
FULL = PageView(
    kind="post",
    path="content/posts/a.md",
    url="/b/posts/a/",
    canonical_url="https://example.org/b/posts/a/",
    title="Why x?",
    title_html="Why <math><mi>x</mi></math>?",
    body=PageText.from_string("<h2 id='one'>One</h2><p>Text</p>"),
    subtitle="A subtitle",
    description="Why, in words",
    description_html="Why, in <em>words</em>",
    date=DAY,
    updated=DAY.replace(month=4),
    authors=("Ada", "Bo"),
    tags=(Link("Linear algebra", "/b/tags/linear-algebra/"), Link("NumPy", "/b/tags/numpy/")),
    categories=(Link("Essays", "/b/categories/essays/"), Link("Loose", "")),
    series_name="Basics",
    series_url="/b/series/basics/",
    series=(
        SeriesPart("First", "/b/f/", 1, False),
        SeriesPart("Why", "/b/posts/a/", 2, True, "Why <math><mi>x</mi></math>"),
        SeriesPart("Last", "", 3, False),
    ),
    toc=(TocEntry(2, "one", "<em>One</em>", "One", (TocEntry(3, "two", "Two", "Two"),)),),
    reading_minutes=7,
    status="wip",
    draft=True,
    section=Link("Posts", "/b/posts/"),
    previous=Link("Older", "/b/posts/o/", "Older <math><mi>o</mi></math>"),
    next=Link("Newer", "/b/posts/n/"),
    groups=(Link("NumPy", "/b/tags/numpy/"),),
    image="/b/posts/a/a.png",
)
LISTING = replace(
    FULL,
    pages=(FULL, replace(BARE, kind="post")),
    page_groups=(PageGroup("2026", (FULL, BARE)),),
    pager=Pager(2, 3, "/b/posts/", "/b/posts/page/3/"),
    feeds=(Feed("Tag", "/b/tags/x/atom.xml", "application/atom+xml"),),
)
SITE = SiteView(
    title="Notes",
    description="",
    author="Ada",
    lang="en",
    base_path="/b",
    base_url="https://example.org/b",
    menu=(Link("Posts", "/b/posts/"), Link("Elsewhere", "https://example.org/")),
    sections=(),
    options={},
    generator="blogsmith 0.1.0",
    feeds=(Feed("Notes", "/b/atom.xml", "application/atom+xml"),),
    indexes=(Link("Archive", "/b/archive/"),),
)
LAYOUTS = (
    "archive",
    "author",
    "base",
    "home",
    "landing",
    "manual",
    "not_found",
    "page",
    "post",
    "search",
    "section",
    "series",
    "slides",
    "tag",
    "tags",
)


EVIL = "\"><script>alert(1)</script><b x='"


def load_paper(folder: Path) -> Theme:
    """Return theme paper for a site in `folder`, under the base path `/b`."""
    return load_theme("paper", folder, ROOT / "themes", base_path="/b")


def parse(html: str) -> Element:
    """Parse the document; html5lib in strict mode raises on any parse error."""
    tree: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)
    return tree


def fragment(html: str) -> Element:
    tree: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(html)
    return tree


def having(tree: Element, css_class: str) -> list[Element]:
    return [item for item in tree.iter() if css_class in (item.get("class") or "").split()]


def scripts(tree: Element) -> list[Element]:
    """Return executable scripts, without JSON-LD."""
    return [item for item in tree.iter("script") if item.get("type") != "application/ld+json"]


def text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
