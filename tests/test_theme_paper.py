"""Theme paper: the page frame and shortcodes promised to authors, valid HTML, readable colours."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest
from markupsafe import Markup

from blogsmith.model import TocEntry
from blogsmith.page_view import Link, PageView, SeriesPart, SiteView
from blogsmith.render.theme import Theme, load_theme

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "themes" / "paper" / "static"
DAY = dt.datetime(2026, 3, 3, tzinfo=dt.UTC)

BARE = PageView("page", "content/about.md", "/b/about/", "", "About", "About")
FULL = PageView(
    kind="post",
    path="content/posts/a.md",
    url="/b/posts/a/",
    canonical_url="https://example.org/b/posts/a/",
    title="Why x?",
    title_html="Why <math><mi>x</mi></math>?",
    content="<h2 id='one'>One</h2><p>Text</p>",
    subtitle="A subtitle",
    description="Why, in words",
    description_html="Why, in <em>words</em>",
    date=DAY,
    updated=DAY.replace(month=4),
    authors=("Ada", "Bo"),
    tags=(Link("Linear algebra", "/b/tags/linear-algebra/"), Link("NumPy", "/b/tags/numpy/")),
    categories=(Link("Essays", "/b/categories/essays/"), Link("Loose", "")),
    series_name="Basics",
    series=(
        SeriesPart("First", "/b/f/", 1, False),
        SeriesPart("Why", "/b/posts/a/", 2, True),
        SeriesPart("Last", "", 3, False),
    ),
    toc=(TocEntry(2, "one", "<em>One</em>", "One", (TocEntry(3, "two", "Two", "Two"),)),),
    reading_minutes=7,
    status="wip",
    draft=True,
    section=Link("Posts", "/b/posts/"),
    previous=Link("Older", "/b/posts/o/"),
    next=Link("Newer", "/b/posts/n/"),
    groups=(Link("NumPy", "/b/tags/numpy/"),),
)
LISTING = replace(FULL, pages=(FULL, replace(BARE, kind="post")))
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
)
LAYOUTS = ("base", "home", "not_found", "page", "post", "section", "tag", "tags")


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Theme:
    return load_theme("paper", tmp_path_factory.mktemp("site"), ROOT / "themes", base_path="/b")


def parse(html: str) -> Element:
    """The document; html5lib in strict mode raises on any parse error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)


def fragment(html: str) -> Element:
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(html)


def having(tree: Element, css_class: str) -> list[Element]:
    return [item for item in tree.iter() if css_class in (item.get("class") or "").split()]


def text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_layouts(paper: Theme) -> None:
    assert paper.layouts() == LAYOUTS


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("page", [BARE, FULL, LISTING], ids=["bare", "full", "listing"])
def test_every_layout_gives_a_valid_page(paper: Theme, layout: str, page: PageView) -> None:
    html = paper.render(layout, page, SITE)
    tree = parse(html)
    assert html.startswith("<!DOCTYPE html>\n<html lang=")
    ids = [item.get("id") for item in tree.iter() if item.get("id")]
    assert len(ids) == len(set(ids))
    assert tree.find(".//main[@id='content']") is not None
    assert tree.find(".//a[@class='skip-link'][@href='#content']") is not None
    assert len(list(tree.iter("h1"))) == (0 if layout == "base" else 1)
    assert paper.render(layout, page, SITE) == html


FRAME = {
    "post": "article",
    "post-header": "header",
    "post-title": "h1",
    "post-subtitle": "p",
    "post-description": "p",
    "post-meta": "div",
    "reading-time": "span",
    "post-authors": "span",
    "post-categories": "span",
    "back-link": "a",
    "series": "nav",
    "post-nav": "nav",
    "toc": "nav",
}


class TestPost:
    def test_frame(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        assert {name: [item.tag for item in having(tree, name)] for name in FRAME} == {
            name: [tag] for name, tag in FRAME.items()
        }

    def test_what_is_absent_leaves_no_trace(self, paper: Theme) -> None:
        tree = parse(paper.render("post", BARE, SITE))
        assert [name for name in FRAME if having(tree, name)] == ["post", "post-header", "post-title"]
        assert [text(item) for item in having(tree, "post")] == ["About"]

    def test_meta(self, paper: Theme) -> None:
        (meta,) = having(parse(paper.render("post", FULL, SITE)), "post-meta")
        assert [text(item) for item in meta] == [
            "Ada, Bo",
            "3 March 2026",
            "updated 3 April 2026",
            "7 min read",
            "Essays, Loose",
            "Linear algebra, NumPy",
            "draft",
            "work in progress",
        ]
        assert [item.get("datetime") for item in meta.iter("time")] == ["2026-03-03", "2026-04-03"]
        tags = [item.get("href") for item in meta.iter("a") if item.get("rel") == "tag"]
        assert tags == ["/b/tags/linear-algebra/", "/b/tags/numpy/"]

    def test_series_names_unpublished_parts_without_link(self, paper: Theme) -> None:
        (series,) = having(parse(paper.render("post", FULL, SITE)), "series")
        assert text(series) == "Basics part 2 of 3 First Why Last (to come)"
        assert [item.get("href") for item in series.iter("a")] == ["/b/f/"]

    def test_neighbours_and_contents(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        neighbours = {item.get("rel"): item.get("href") for item in having(tree, "post-nav")[0]}
        assert neighbours == {"prev": "/b/posts/o/", "next": "/b/posts/n/"}
        entries = [(item.get("href"), text(item)) for item in having(tree, "toc")[0].iter("a")]
        assert entries == [("#one", "One"), ("#two", "Two")]

    def test_head(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        meta = {item.get("name"): item.get("content") for item in tree.iter("meta")}
        assert text(tree.find(".//title")) == "Why x? · Notes"  # type: ignore[arg-type]
        assert meta["description"] == "Why, in words"
        assert meta["color-scheme"] == "light dark"
        links = {item.get("rel"): item.get("href") for item in tree.iter("link")}
        assert links["canonical"] == "https://example.org/b/posts/a/"

    @pytest.mark.parametrize("widgets", [(), ("compare",), ("compare", "embed"), ("runnable",)])
    def test_scripts_only_for_widgets(self, paper: Theme, widgets: tuple[str, ...]) -> None:
        tree = parse(paper.render("post", replace(FULL, widgets=frozenset(widgets)), SITE))
        scripts = [(item.get("src") or "").partition("?")[0] for item in tree.iter("script")]
        shipped = [name for name in widgets if name in ("compare", "embed")]
        assert scripts == [f"/b/assets/paper/{name}.js" for name in shipped]

    def test_no_inline_script_or_style(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        assert not list(tree.iter("style"))
        assert not [item for item in tree.iter() if item.get("style") or item.get("onclick")]


def test_every_address_of_the_page_lies_under_the_base_path(paper: Theme) -> None:
    tree = parse(paper.render("home", LISTING, SITE))
    found = [item.get("href") or item.get("src") or "" for item in tree.iter()]
    assert [url for url in found if url.startswith("/") and not url.startswith("/b/")] == []


def test_stylesheets_of_the_site_come_last(paper: Theme) -> None:
    site = replace(SITE, options={"stylesheets": ["/own.css"], "footer": "A & B"})
    tree = parse(paper.render("post", FULL, site))
    sheets = [item.get("href") for item in tree.iter("link") if item.get("rel") == "stylesheet"]
    assert sheets[-1] == "/b/own.css"
    assert text(having(tree, "site-footer")[0]) == "A & B"


EVIL = "\"><script>alert(1)</script><b x='"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hostile_text_stays_text(paper: Theme, layout: str) -> None:
    link = Link(EVIL, "/b/")
    page = replace(
        FULL,
        title=EVIL,
        title_html="",
        subtitle=EVIL,
        description=EVIL,
        description_html="",
        authors=(EVIL,),
        tags=(link,),
        categories=(link,),
        series_name=EVIL,
        series=(SeriesPart(EVIL, "", 1, False),),
        section=link,
        previous=link,
        next=link,
        groups=(link,),
        status=EVIL,
        lang=EVIL,
    )
    html = paper.render(
        layout, replace(page, pages=(page,)), replace(SITE, title=EVIL, author=EVIL, menu=(link,))
    )
    tree = parse(html)
    assert not list(tree.iter("script")) and not list(tree.iter("b"))


IMAGE = Markup('<img src="/a.png" alt="A" width="2" height="1">')
VIDEO = {"provider": "youtube", "url": "https://y/x", "embed_url": "https://n/x", "host": "youtube.com"}
SHORTCODES = [
    (
        "img",
        {"images": [{"img": IMAGE, "caption": ""}], "cols": 1},
        f'<figure class="figure">{IMAGE}</figure>',
    ),
    (
        "img",
        {
            "images": [{"img": IMAGE, "caption": Markup("<em>c</em>")}],
            "cols": 1,
            "id": "fig-a",
            "label": "Figure 1",
        },
        f'<figure class="figure" id="fig-a">{IMAGE}<figcaption><span class="figure-label">Figure 1</span> '
        "<em>c</em></figcaption></figure>",
    ),
    (
        "img",
        {"images": [{"img": IMAGE, "caption": "<c>"}, {"img": IMAGE, "caption": ""}], "cols": 2},
        f'<div class="image-grid cols-2"><figure class="figure">{IMAGE}<figcaption>&lt;c&gt;</figcaption>'
        f'</figure><figure class="figure">{IMAGE}</figure></div>',
    ),
    (
        "image-compare",
        {"before": IMAGE, "after": IMAGE, "before_label": "B<", "after_label": "A", "label": 'Compare "x"'},
        f'<figure class="image-compare">{IMAGE}{IMAGE}<span class="compare-label-before">B&lt;</span>'
        '<span class="compare-label-after">A</span><input type="range" class="compare-slider" min="0" '
        'max="100" value="50" step="1" aria-label="Compare &#34;x&#34;"></figure>',
    ),
    (
        "video-embed",
        {**VIDEO, "title": "T", "caption": Markup("<em>c</em>")},
        '<figure class="video-embed" data-provider="youtube" data-embed-url="https://n/x">'
        '<a class="embed-link" href="https://y/x"><span class="embed-title">T</span> '
        '<span class="embed-host">youtube.com</span></a><figcaption><em>c</em></figcaption></figure>',
    ),
    (
        "video-embed",
        {"local": {"src": "/v.mp4", "type": "video/mp4"}},
        '<figure class="video-embed" data-provider="local"><video controls preload="metadata">'
        '<source src="/v.mp4" type="video/mp4"><a href="/v.mp4">/v.mp4</a></video></figure>',
    ),
]


@pytest.mark.parametrize(("name", "context", "html"), SHORTCODES)
def test_shortcode(paper: Theme, name: str, context: dict[str, object], html: str) -> None:
    shown = paper.render_shortcode(name, context)
    fragment(shown)
    assert re.sub(r">\n+<", "><", shown.strip()) == html


# WCAG 2.2, 1.4.3: 4.5 : 1 for text
TEXT_ON = {
    "paper": ["ink", "soft", "muted", "accent"],
    "raised": ["ink", "soft", "muted", "accent", "red"],
    "mark": ["ink"],
    "selection": ["ink"],
}
CODE = ("ink", "comment", "keyword", "string", "number", "name", "type", "operator")
TONES = ("blue", "green", "amber", "red", "purple", "grey", "teal")
TINT = 0.09
"""The strongest tint of a callout's ground, in callouts.css."""


def colours(scheme: str) -> dict[str, str]:
    light, _, dark = (
        (STATIC / "theme.css").read_text().partition("@media screen and (prefers-color-scheme: dark)")
    )
    return {
        **dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", light)),
        **(dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", dark)) if scheme == "dark" else {}),
    }


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    """CSS `color-mix(in srgb, one share, other)`."""
    pairs = [(int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(scheme: str) -> None:
    found = colours(scheme)
    pairs = [(text, ground) for ground, texts in TEXT_ON.items() for text in texts]
    grounds = ("raised", "code-hl", "code-added", "code-removed")
    pairs += [(f"code-{part}", ground) for part in CODE for ground in grounds]
    poor = {pair: round(contrast(found[pair[0]], found[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tone", TONES)
def test_callouts_are_readable(scheme: str, tone: str) -> None:
    found = colours(scheme)
    ground = mixed(found[tone], found["paper"], TINT)
    assert f"var(--tone) {TINT:.0%}" in (STATIC / "callouts.css").read_text()
    assert min(contrast(found[name], ground) for name in (tone, "ink", "accent")) >= 4.5


@pytest.mark.parametrize("file", sorted(STATIC.glob("*.*")), ids=lambda file: file.name)
def test_static_files_load_nothing_from_other_hosts(file: Path) -> None:
    text = file.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|url\((?!\"data:)", text)
    assert text.count("{") == text.count("}")


def test_variables_are_defined() -> None:
    text = "".join(file.read_text() for file in sorted(STATIC.glob("*.css")))
    used, defined = set(re.findall(r"var\((--[\w-]+)\)", text)), set(re.findall(r"(--[\w-]+):", text))
    assert used - defined == set()
