"""Theme paper: the page frame and shortcodes promised to authors, valid HTML."""

from __future__ import annotations

import re

import pytest
from markupsafe import Markup
from msgspec.structs import replace

from blogsmith.model.template_views import Feed, Link, PageGroup, PageView, SeriesPart
from blogsmith.model.texts import PageText
from blogsmith.render.templates.theme import Theme
from tests.rows import each_row

from .theme_pages import (
    BARE,
    EVIL,
    FULL,
    LAYOUTS,
    LISTING,
    SITE,
    fragment,
    having,
    load_paper,
    parse,
    scripts,
    text,
)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Theme:
    return load_paper(tmp_path_factory.mktemp("site"))


def test_layouts(paper: Theme) -> None:
    assert paper.layouts() == LAYOUTS


@each_row("layout", LAYOUTS)
@each_row("page", [BARE, FULL, LISTING], ids=["bare", "full", "listing"])
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


DISPLAY = '<div class="math-display"><math display="block"><mi>x</mi></math></div>'
REFERENCE = '<p><a class="xref" href="#eq-x">(1)</a></p>'
NOTE = '<p><sup><a role="doc-noteref" href="#fn-1">1</a></sup></p>'
CITATION = '<p><a role="doc-biblioref" href="#ref-x">1</a></p>'
BUNDLE = "three or more of copy, selection, scroll, preview and spy"
SCRIPTS = [
    (set(), "", {}, []),
    ({"runnable"}, "", {}, ["run"]),
    ({"compare", "embed"}, "", {}, ["compare", "embed"]),
    ({"code"}, "", {}, ["copy"]),
    ({"code"}, "", {"copy": False}, []),
    (set(), "", {"switch": True}, ["switch"]),
    ({"code"}, "", {"switch": True}, ["switch", "copy"]),
    (set(), "<p><math><mi>x</mi></math></p>", {}, []),
    (set(), '<p><math class="math-lines"><mi>x</mi></math></p>', {}, ["selection"]),
    ({"code"}, "<p><math><mi>x</mi></math></p>", {}, ["copy", "selection"]),
    (set(), DISPLAY, {}, [BUNDLE]),
    (set(), DISPLAY, {"copy": False}, ["scroll"]),
    (set(), DISPLAY, {"preview": False}, ["copy", "selection", "scroll"]),
    (set(), DISPLAY + REFERENCE, {}, [BUNDLE]),
    ({"code", "tabs"}, DISPLAY + REFERENCE, {"switch": True}, ["switch", "tabs", BUNDLE]),
    (set(), REFERENCE, {}, ["preview"]),
    (set(), CITATION, {}, ["preview"]),
    (set(), NOTE, {}, ["preview"]),
    (set(), CITATION + NOTE, {"preview": False}, []),
    (set(), DISPLAY + REFERENCE, {"copy": False, "preview": False}, ["scroll"]),
    (set(), '<div class="table-wrap"></div>', {}, ["scroll"]),
    (set(), "<pre>x</pre>", {}, ["scroll"]),
]
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
    @pytest.mark.parametrize(("subtitle", "absent"), [(FULL.subtitle, ""), ("", "post-subtitle")])
    def test_frame(self, paper: Theme, subtitle: str, absent: str) -> None:
        """The title is followed by the subtitle and the description."""
        tree = parse(paper.render("post", replace(FULL, subtitle=subtitle), SITE))
        assert {name: [item.tag for item in having(tree, name)] for name in FRAME} == {
            name: [tag] if name != absent else [] for name, tag in FRAME.items()
        }

    def test_a_series_with_parts_to_be_written_has_no_total(self, paper: Theme) -> None:
        tree = parse(
            paper.render("post", replace(FULL, series=(SeriesPart("Second", "/b/s/", 2, True),)), SITE)
        )
        assert text(having(tree, "series-place")[0]) == "Basics, part 2"
        assert text(having(tree, "series-part")[0]) == "part 2"

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
        assert text(series) == "Basics part 2 of 3 First Why x Last (to come)"
        assert [item.get("href") for item in series.iter("a")] == ["/b/f/"]

    def test_neighbours_and_contents(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        (nav,) = having(tree, "post-nav")
        neighbours = {item.get("rel"): (item.get("href"), text(item)) for item in nav.iter("a")}
        assert neighbours == {
            "prev": ("/b/posts/o/", "Previous Older o"),
            "next": ("/b/posts/n/", "Next Newer"),
        }
        entries = [(item.get("href"), text(item)) for item in having(tree, "toc")[0].iter("a")]
        assert entries == [("#one", "One"), ("#two", "Two")]

    def test_the_next_post_is_shown_with_its_picture(self, paper: Theme) -> None:
        figure = '<figure class="figure" id="fig-a"><img src="/b/a.png" alt="A" id="i"></figure>'
        following = replace(
            BARE, kind="post", description="What follows", body=PageText.from_string(figure), cover=""
        )
        tree = parse(paper.render("post", replace(FULL, next_post=following), SITE))
        (card,) = having(tree, "next-post")
        assert text(card) == "Next Newer What follows"
        assert [(item.get("src"), item.get("id")) for item in card.iter("img")] == [("/b/a.png", None)]

    def test_the_panel_names_each_page_once(self, paper: Theme) -> None:
        assert FULL.next
        one, other, many = Link("One", "/b/1/"), Link("Other", "/b/2/"), Link("Alike", "/b/3/")
        page = replace(FULL, builds_on=(FULL.next, one), backlinks=(one, other), related=(many,))
        (panel,) = having(parse(paper.render("post", page, SITE)), "post-end")
        rows = {name: text(having(panel, name)[0]) for name in ("builds-on", "backlinks", "related")}
        assert rows == {
            "builds-on": "Builds on One",
            "backlinks": "Used by Other",
            "related": "Related Alike",
        }
        assert not list(having(panel, "backlinks")[0].iter("details"))
        page = replace(page, backlinks=tuple(Link(f"{n}", f"/b/p{n}/") for n in range(4)))
        (panel,) = having(parse(paper.render("post", page, SITE)), "post-end")
        assert [text(item) for item in having(panel, "backlinks")[0].iter("summary")] == ["Used by (4)"]

    def test_head(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        meta = {item.get("name"): item.get("content") for item in tree.iter("meta")}
        assert text(tree.find(".//title")) == "Why x? · Notes"  # type: ignore[arg-type]
        assert meta["description"] == "Why, in words"
        assert meta["color-scheme"] == "light dark"
        links = {item.get("rel"): item.get("href") for item in tree.iter("link")}
        assert links["canonical"] == "https://example.org/b/posts/a/"

    @each_row(("widgets", "content", "options", "shipped"), SCRIPTS)
    def test_scripts_only_where_needed(
        self, paper: Theme, widgets: set[str], content: str, options: dict[str, bool], shipped: list[str]
    ) -> None:
        page = replace(FULL, widgets=frozenset(widgets), body=PageText.from_string(content), toc=())
        tree = parse(paper.render("post", page, replace(SITE, options=options)))
        found = [(item.get("src") or "").partition("?")[0] for item in scripts(tree)]
        bundle = f"/b/{paper.bundles['posts'].path()}"
        assert found == [bundle if name == BUNDLE else f"/b/assets/paper/{name}.js" for name in shipped]
        assert len(having(tree, "theme-switch")) == ("switch" in shipped)

    def test_contents_bring_the_script_that_follows_the_reader(self, paper: Theme) -> None:
        found = [scripts(parse(paper.render("post", page, SITE))) for page in (FULL, replace(FULL, toc=()))]
        assert [[(script.get("src") or "").partition("?")[0] for script in page] for page in found] == [
            ["/b/assets/paper/spy.js"],
            [],
        ]

    @pytest.mark.parametrize(
        ("content", "sheet"),
        [
            ("<p>Text</p>", ""),
            ('<figure class="diagram"></figure>', "extras"),
            ("<p><video></video></p>", "extras"),
            ("<p><math><mi>x</mi></math></p>", "fonts/m-1.woff2"),
        ],
    )
    def test_files_only_where_needed(self, paper: Theme, content: str, sheet: str) -> None:
        page = replace(FULL, body=PageText.from_string(content), math_font="/b/assets/paper/fonts/m-1")
        tree = parse(paper.render("post", page, SITE))
        found = {(item.get("href") or "").removeprefix("/b/assets/paper/") for item in tree.iter("link")}
        assert f"posts-{paper.sheets['posts'].path(page.math_font).stem[-10:]}.css" in found
        names = {name.rpartition("-")[0] if name.endswith(".css") else name for name in found}
        assert names & {"extras", "lists", "fonts/m-1.woff2"} == {sheet} - {""}

    def test_pages_without_a_text_have_a_lighter_sheet(self, paper: Theme) -> None:
        def sheets(page: PageView) -> list[str]:
            links = parse(paper.render("section", page, SITE)).iter("link")
            return [item.get("href") or "" for item in links if item.get("rel") == "stylesheet"]

        plain = replace(LISTING, kind="section", body=PageText.from_string(""))
        assert sheets(plain) == [f"/b/{paper.sheets['lists'].path('')}"]
        assert sheets(replace(LISTING, kind="section")) == [f"/b/{paper.sheets['posts'].path('')}"]

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
    assert text(having(tree, "site-footer")[0]) == "A & B Archive Feed"


@each_row("layout", LAYOUTS)
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
    feed = Feed(EVIL, "/b/atom.xml", EVIL)
    listed = replace(page, pages=(page,), page_groups=(PageGroup(EVIL, (page,)),), feeds=(feed,))
    site = replace(SITE, title=EVIL, author=EVIL, menu=(link,), feeds=(feed,), indexes=(link,))
    tree = parse(paper.render(layout, listed, site))
    names = ["spy.js", "slides.js"] if layout == "slides" else ["spy.js"]
    assert [script.get("src", "").partition("?")[0] for script in scripts(tree)] == [
        f"/b/assets/paper/{name}" for name in names
    ]
    assert not list(tree.iter("b"))


IMAGE = Markup('<img src="/a.png" alt="A" width="2" height="1">')
VIDEO = {
    **{"provider": "youtube", "url": "https://y/x", "embed_url": "https://n/x", "host": "youtube.com"},
    **{"local": None, "spoken": ""},
}
FILM = '<video controls><source src="/v.mp4"></video>'
CAPTION = Markup("<figcaption><em>c</em></figcaption>")
FIGURE = {"attributes": Markup(' id="fig-a"'), "caption": CAPTION, "poster": ""}
NO_FIGURE = {"attributes": "", "caption": "", "poster": ""}
ONE = f'<figure class="figure">{IMAGE}</figure>'
SHORTCODES = [
    (
        "img",
        {"images": [{"img": IMAGE, "caption": ""}], "cols": 1, "figure": NO_FIGURE},
        f'<figure class="figure">{IMAGE}</figure>',
    ),
    (
        "img",
        {
            "images": [{"img": IMAGE, "caption": Markup("<em>c</em>")}],
            "cols": 1,
            "figure": FIGURE,
        },
        f'<figure class="figure" id="fig-a">{IMAGE}<figcaption><em>c</em></figcaption></figure>',
    ),
    (
        "img",
        {
            "images": [{"img": IMAGE, "caption": "<c>"}, {"img": IMAGE, "caption": ""}],
            "cols": 2,
            "figure": NO_FIGURE,
        },
        f'<div class="image-grid cols-2"><figure class="figure">{IMAGE}<figcaption>&lt;c&gt;</figcaption>'
        f'</figure><figure class="figure">{IMAGE}</figure></div>',
    ),
    (
        "img",
        {"images": [{"img": IMAGE, "caption": ""}] * 2, "cols": 2, "figure": FIGURE},
        '<figure class="figure-group" id="fig-a">'
        f'<div class="image-grid cols-2">{ONE}{ONE}</div>{CAPTION}</figure>',
    ),
    (
        "image-compare",
        {
            **{"before": IMAGE, "after": IMAGE, "before_label": "B<", "after_label": "A"},
            **{"label": 'Compare "x"', "figure": FIGURE},
        },
        f'<figure class="image-compare" id="fig-a">{IMAGE}{IMAGE}'
        '<span class="compare-label-before">B&lt;</span><span class="compare-label-after">A</span>'
        '<input type="range" class="compare-slider" min="0" max="100" value="50" step="1" '
        f'aria-label="Compare &#34;x&#34;">{CAPTION}</figure>',
    ),
    (
        "video-embed",
        {**VIDEO, "title": "T", "figure": {**FIGURE, "poster": IMAGE}},
        '<figure class="video-embed" data-provider="youtube" data-embed-url="https://n/x" id="fig-a">'
        f'<a class="embed-link" href="https://y/x">{IMAGE}<span class="embed-title">T</span> '
        '<span class="embed-host">youtube.com</span></a><figcaption><em>c</em></figcaption></figure>',
    ),
    (
        "video-embed",
        {"local": {"video": Markup(FILM)}, "figure": NO_FIGURE},
        f'<figure class="video-embed" data-provider="local">{FILM}</figure>',
    ),
]


@each_row(("name", "context", "html"), SHORTCODES)
def test_shortcode(paper: Theme, name: str, context: dict[str, object], html: str) -> None:
    shown = paper.render_shortcode(name, context)
    fragment(shown)
    assert re.sub(r">\n+<", "><", shown.strip()) == html


class TestLists:
    @pytest.mark.parametrize("layout", ["home", "section", "tag", "archive"])
    def test_pager(self, layout: str, paper: Theme) -> None:
        tree = parse(paper.render(layout, LISTING, SITE))
        (pager,) = having(tree, "pager")
        assert text(pager) == "Newer Page 2 of 3 Older"
        found = {item.get("rel"): item.get("href") for item in pager.iter("a")}
        assert found == {"prev": "/b/posts/", "next": "/b/posts/page/3/"}
        assert "page 2" in text(tree.find(".//title"))  # type: ignore[arg-type]

    def test_archive(self, paper: Theme) -> None:
        (group,) = having(parse(paper.render("archive", LISTING, SITE)), "list-group")
        assert text(group) == "2026 2 Why x? 3 March 2026 About"

    def test_series_names_what_is_to_come(self, paper: Theme) -> None:
        tree = parse(paper.render("series", replace(LISTING, kind="series"), SITE))
        (parts,) = having(tree, "part-list")
        assert [text(item) for item in parts] == [
            "First (to come)",
            "Why x? Why, in words 3 March 2026 7 min read draft work in progress",
            "Last (to come)",
        ]

    def test_an_automatic_description_does_not_repeat_the_text(self, paper: Theme) -> None:
        page = replace(
            BARE, kind="section", description="Text of", body=PageText.from_string("<p>Text of the page</p>")
        )
        assert not having(parse(paper.render("section", page, SITE)), "page-description")
