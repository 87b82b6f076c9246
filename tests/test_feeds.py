"""Files made from views: feeds, sitemap, robots.txt, pagination, archive and series pages."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.config.schema import Config, Feeds
from blogsmith.model.template_views import Feed, Link, Pager, PageView, SeriesPart
from blogsmith.model.texts import PageText
from blogsmith.site.archive import (
    archive_pages,
    page_count,
    page_number_url,
    paginate,
    plan_archive,
    series_pages,
    series_path,
)
from blogsmith.site.feeds import atom, feed_files, feed_html, json_feed, site_feeds, with_feed
from blogsmith.site.frame import ViewContext
from blogsmith.site.site_view import site_view
from blogsmith.site.sitemap import SitemapLimits, robots, sitemap, sitemap_files
from tests.check import render
from tests.rows import each_row, examples

CONFIG = Config(title="Notes", author="A", base_url="https://example.org/blog")
FRAME = ViewContext(CONFIG, lambda url: "/blog" + url, lambda path, document: "")
ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def post(number: int, content: str = "<p>Text</p>", **fields: object) -> PageView:
    url = f"/blog/posts/p{number}/"
    view = PageView(
        "post",
        f"content/posts/p{number}.md",
        url,
        f"https://example.org{url}",
        f"Post {number}",
        f"Post {number}",
        PageText.from_string(content),
        date=dt.datetime(2026, 1, number, tzinfo=dt.UTC),
        authors=("A",),
    )
    return replace(view, **fields)


@each_row(
    ("html", "expected"),
    [
        ('<a href="/blog/x/">x</a>', '<a href="https://example.org/blog/x/">x</a>'),
        ('<a href="#fn-1">1</a>', '<a href="https://example.org/blog/posts/p1/#fn-1">1</a>'),
        ('<a href="https://other.org/">x</a>', '<a href="https://other.org/">x</a>'),
        (
            '<img src="/blog/a.png" loading="lazy" alt="">',
            '<img src="https://example.org/blog/a.png" alt="">',
        ),
        ('<h2 id="a">A <a class="heading-anchor" href="#a" aria-label="x"></a></h2>', '<h2 id="a">A</h2>'),
        ("<details><summary>S</summary></details>", "<details open><summary>S</summary></details>"),
        ('<details class="x" open>y', '<details class="x" open>y'),
        ('a<input type="range" value="1">b<button class="run">R</button>', "ab"),
        (
            '<img src="https://x/a.png"><img class="for-paper" hidden src="/a.png">',
            '<img src="https://x/a.png">',
        ),
        ("a\x01b", "a\ufffdb"),
        ('<pre tabindex="0">href="/x"</pre>', '<pre>href="/x"</pre>'),
    ],
)
def test_bodies_work_far_from_their_site(html: str, expected: str) -> None:
    assert feed_html(post(1, html), CONFIG) == expected


MARKS = ('<a class="eq-anchor" href="#a"></a>', "<button>", "</button>", '<input type="range">', "<inputs>")


@given(st.lists(st.sampled_from((*MARKS, "a", " ", "\n", "\u2003", "\x1c", "<")), max_size=12).map("".join))
def test_what_is_left_out_takes_the_space_before_it_along(html: str) -> None:
    pattern = r'\s*<a class="eq-anchor"[^>]*></a>|\s*<button\b[^>]*>.*?</button>|\s*<input\b[^>]*>'
    expected = re.sub(pattern, "", html, flags=re.DOTALL).replace("\x1c", "\ufffd")
    assert feed_html(post(1, html), CONFIG) == expected


def feeds_of(settings: Feeds, posts: int = 12) -> tuple[bytes, bytes]:
    """Return the Atom feeds of a site and of its only tag."""
    config = msgspec.structs.replace(CONFIG, feeds=settings)
    pages = tuple(post(number, description=f"About {number}.") for number in range(posts, 0, -1))
    tag = PageView("tag", "", "/blog/tags/t/", "", "t", "t", pages=pages)
    files = feed_files([replace(tag, kind="archive"), tag], config)
    return files[PurePosixPath("atom.xml")](), files[PurePosixPath("tags/t/atom.xml")]()


def test_the_feed_of_a_term_has_few_posts_and_their_descriptions() -> None:
    of_site, _ = feeds_of(Feeds())
    assert of_site.count(b"<entry>") == 10
    of_site, of_tag = feeds_of(Feeds(entries=30))
    assert (of_site.count(b"<entry>"), of_tag.count(b"<entry>")) == (12, 10)
    assert b"<content" in of_site and b"<content" not in of_tag
    assert b"<summary>About 12.</summary>" in of_tag


def test_how_much_feeds_hold_is_a_setting() -> None:
    of_site, of_tag = feeds_of(Feeds(entries=3, term_entries=3, term_text="full"))
    assert of_site.count(b"<entry>") == 3
    assert of_site.partition(b"<entry>")[2] == of_tag.partition(b"<entry>")[2]


def test_terms_may_have_no_feeds() -> None:
    config = msgspec.structs.replace(CONFIG, feeds=Feeds(term_entries=0))
    tag = PageView("tag", "", "/blog/tags/t/", "", "t", "t", pages=(post(1),))
    assert PurePosixPath("tags/t/atom.xml") not in feed_files([tag], config)
    assert with_feed(tag, config).feeds == ()


TAGS = (
    "<a",
    "<img",
    "</p>",
    ">",
    "<",
    " href=",
    " src=",
    "\nposter=",
    " data-src=",
    '"',
    '"/x"',
    '"#y"',
    '"/',
    " a",
)


@given(st.lists(st.sampled_from((*TAGS, ' href="/b/"', ' src="https://o.org/"')), max_size=14).map("".join))
@examples(1000)
def test_the_first_address_of_a_tag_becomes_absolute(html: str) -> None:
    def absolute(found: re.Match[str]) -> str:
        page = "https://example.org/blog/posts/p1/" if found[2].startswith("#") else "https://example.org"
        return f'{found[1]}{page}{found[2]}"'

    expected = re.sub(r'(<[^<>]*?\s(?:href|src|poster)=")([/#][^"]*)"', absolute, html)
    assert feed_html(post(1, html), CONFIG) == expected


def test_atom_is_well_formed_and_complete() -> None:
    posts = [
        post(
            2, "<p>a & b < c</p>", tags=(Link("t & u", "/x"),), updated=dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
        ),
        post(1),
    ]
    feed = ElementTree.fromstring(atom("Notes <b>", "/", posts, CONFIG))
    assert feed.findtext(f"{ATOM}title") == "Notes <b>"
    assert feed.findtext(f"{ATOM}updated") == "2026-03-01T00:00:00Z"
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {"alternate": "https://example.org/blog/", "self": "https://example.org/blog/atom.xml"}
    first, second = feed.findall(f"{ATOM}entry")
    assert first.findtext(f"{ATOM}content") == "<p>a & b < c</p>"
    assert [c.get("term") for c in first.findall(f"{ATOM}category")] == ["t & u"]
    assert second.findtext(f"{ATOM}id") == "https://example.org/blog/posts/p1/"


@each_row("content", ["<p>a ]]> b</p>", "]]>", "]]>]]>", "<![CDATA[x]]>", '<content type="html" />'])
def test_content_is_read_back_as_it_was(content: str) -> None:
    title = '<content type="html" />'
    feed = ElementTree.fromstring(atom("N", "/", [replace(post(1, content), title=title)], CONFIG))
    entry = feed.find(f"{ATOM}entry")
    assert entry is not None
    assert (entry.findtext(f"{ATOM}content"), entry.findtext(f"{ATOM}title")) == (content, title)


def test_json_feed_says_the_same() -> None:
    feed = json.loads(json_feed("Notes", "/", [post(1, "<p>x</p>")], CONFIG))
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["items"][0]["content_html"] == "<p>x</p>"
    assert feed["items"][0]["date_published"] == "2026-01-01T00:00:00Z"
    assert json.loads(json_feed("Notes", "/", [], CONFIG))["items"] == []


def test_the_same_posts_give_the_same_bytes() -> None:
    assert atom("N", "/", [post(1)], CONFIG) == atom("N", "/", [post(1)], CONFIG)


def test_a_site_without_base_url_has_an_atom_feed_with_site_paths() -> None:
    config = Config(title="N")
    page = replace(post(1, '<a href="/x/">x</a><a href="#y">y</a>'), url="/posts/p1/", canonical_url="")
    assert [feed.url for feed in site_feeds(config)] == ["/atom.xml"]
    files = feed_files([*archive_pages([page], FRAME)], config)
    assert [str(path) for path in files] == ["atom.xml"]
    feed = ElementTree.fromstring(files[PurePosixPath("atom.xml")]())
    (entry,) = feed.findall(f"{ATOM}entry")
    links = [link.get("href") for parent in (feed, entry) for link in parent.findall(f"{ATOM}link")]
    assert links == ["/", "/atom.xml", "/posts/p1/"]
    assert entry.findtext(f"{ATOM}content") == '<a href="/x/">x</a><a href="/posts/p1/#y">y</a>'


def test_ids_of_a_feed_without_base_url_are_absolute_and_unique() -> None:
    """RFC 4287, 4.2.6: an id is an IRI with a scheme, and no two entries have the same one."""
    pages = [replace(post(n), url=f"/posts/p{n}/", canonical_url="") for n in (2, 1)]
    ids = [
        id_.text or ""
        for title in ("N", "M")
        for id_ in ElementTree.fromstring(atom(title, "/", pages, Config(title=title))).iter(f"{ATOM}id")
    ]
    assert len({*ids}) == 6
    assert all(re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", id_) for id_ in ids)


def test_feeds_can_be_switched_off() -> None:
    config = Config(base_url="https://x.org", feeds=False)
    assert site_feeds(config) == ()
    assert feed_files([*archive_pages([post(1)], FRAME)], config) == {}


def test_every_tag_has_a_feed_of_its_own() -> None:
    tag = replace(post(1), kind="tag", url="/blog/tags/a/", title="a", pages=(post(3), post(2)))
    files = feed_files([*archive_pages([post(3)], FRAME), tag], CONFIG)
    assert [str(path) for path in files] == ["atom.xml", "feed.json", "tags/a/atom.xml"]
    assert b"<title>Notes: a</title>" in files[PurePosixPath("tags/a/atom.xml")]()
    assert with_feed(tag, CONFIG).feeds == (
        Feed("Notes: a", "/blog/tags/a/atom.xml", "application/atom+xml"),
    )
    assert with_feed(post(1), CONFIG).feeds == ()


def test_sitemap_and_robots() -> None:
    pages = [post(2), post(1), replace(post(3), canonical_url="")]
    text = sitemap(pages).decode()
    assert text.index("p1/") < text.index("p2/")
    assert "p3" not in text
    assert "<lastmod>2026-01-02</lastmod>" in text
    assert b"Sitemap: https://example.org/blog/sitemap.xml" in robots(CONFIG)
    assert b"Sitemap" not in robots(Config())


def test_a_small_site_has_one_sitemap() -> None:
    pages = [post(2), post(1), replace(post(3), canonical_url="")]
    files = sitemap_files(pages, CONFIG, SitemapLimits(urls=2))
    assert {str(path): make() for path, make in files.items()} == {"sitemap.xml": sitemap(pages)}
    assert sitemap_files(pages, Config()) == {}


@pytest.mark.parametrize("limits", [SitemapLimits(urls=2), SitemapLimits(size=600)])
def test_a_large_site_has_an_index_of_sitemaps(limits: SitemapLimits) -> None:
    pages = [post(number) for number in range(5, 0, -1)]
    files = {str(path): make() for path, make in sitemap_files(pages, CONFIG, limits).items()}
    assert list(files) == ["sitemap.xml", "sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml"]
    assert all(len(file) <= 600 for name, file in files.items() if name != "sitemap.xml")
    index = ElementTree.fromstring(files.pop("sitemap.xml"))
    assert index.tag == f"{SITEMAP}sitemapindex"
    assert [(entry[0].text, entry[1].text) for entry in index] == [
        ("https://example.org/blog/sitemap-1.xml", "2026-01-02"),
        ("https://example.org/blog/sitemap-2.xml", "2026-01-04"),
        ("https://example.org/blog/sitemap-3.xml", "2026-01-05"),
    ]
    addresses = [
        url.findtext(f"{SITEMAP}loc") for file in files.values() for url in ElementTree.fromstring(file)
    ]
    assert addresses == [page.canonical_url for page in reversed(pages)]


def test_sitemaps_hold_what_the_protocol_allows() -> None:
    pages = [replace(post(1), canonical_url=f"https://example.org/{n:06}") for n in range(50_001)]
    assert list(map(str, sitemap_files(pages[1:], CONFIG))) == ["sitemap.xml"]
    assert [str(path) for path in sitemap_files(pages, CONFIG)][1:] == ["sitemap-1.xml", "sitemap-2.xml"]


@pytest.mark.parametrize(("entries", "per_page", "pages"), [(0, 20, 1), (20, 20, 1), (21, 20, 2), (99, 0, 1)])
def test_page_count(entries: int, per_page: int, pages: int) -> None:
    assert page_count(entries, per_page) == pages


def test_long_lists_are_divided_and_nothing_is_lost() -> None:
    posts = tuple(post(number) for number in range(5, 0, -1))
    view = replace(
        post(1),
        kind="section",
        url="/blog/posts/",
        canonical_url="https://example.org/blog/posts/",
        pages=posts,
    )
    first, second, third = paginate([view], 2)
    assert (*first.pages, *second.pages, *third.pages) == posts
    assert [page.url for page in (first, second, third)] == [
        "/blog/posts/",
        "/blog/posts/page/2/",
        "/blog/posts/page/3/",
    ]
    assert second.canonical_url == "https://example.org/blog/posts/page/2/"
    assert first.content
    assert not second.content
    assert second.pager is not None
    assert (second.pager.previous_url, second.pager.next_url) == (
        "/blog/posts/",
        page_number_url("/blog/posts/", 3),
    )
    assert paginate([view], 0) == [view]


def test_the_archive_goes_by_year() -> None:
    old = replace(post(1), date=dt.datetime(2024, 5, 1, tzinfo=dt.UTC))
    undated = replace(post(4), date=None)
    (page,) = archive_pages([post(3), post(2), old, undated], FRAME)
    assert [(group.title, len(group.pages)) for group in page.page_groups] == [("2026", 2), ("2024", 1)]
    assert archive_pages([undated], FRAME) == []


def test_a_long_archive_takes_several_pages() -> None:
    old = [replace(post(number), date=dt.datetime(2024, 5, 1, tzinfo=dt.UTC)) for number in (3, 2, 1)]
    posts = [post(5), post(4), *old]
    config = msgspec.structs.replace(CONFIG, archive_pagination=3)
    pages = archive_pages(posts, replace(FRAME, config=config))
    assert [page.url for page in pages] == ["/blog/archive/", "/blog/archive/page/2/"]
    years = [[(group.title, len(group.pages)) for group in page.page_groups] for page in pages]
    assert years == [[("2026", 2), ("2024", 1)], [("2024", 2)]]
    assert pages[0].pager == Pager(1, 2, "", "/blog/archive/page/2/")
    assert pages[1].canonical_url == "https://example.org/blog/archive/page/2/"
    # undated pages are neither in the feed nor in the menu
    assert feed_files(pages, CONFIG)[PurePosixPath("atom.xml")]().count(b"<entry>") == 5
    assert site_view(CONFIG, pages, str, "").indexes == (Link("Archive", "/blog/archive/"),)
    whole = msgspec.structs.replace(CONFIG, archive_pagination=0)
    assert len(archive_pages(posts * 200, replace(FRAME, config=whole))) == 1


def test_a_series_has_a_page_in_the_order_of_its_parts() -> None:
    parts = (
        SeriesPart("Post 1", "/blog/posts/p1/", 1, False),
        SeriesPart("Later", "", 2, False),
        SeriesPart("Post 2", "/blog/posts/p2/", 3, False),
    )
    fields: dict[str, Any] = {
        "series_name": "By hand",
        "series": parts,
        "series_url": "/blog/series/by-hand/",
    }
    overview, page = series_pages([post(2, **fields), post(1, **fields)], FRAME)
    assert [entry.title for entry in page.pages] == ["Post 1", "Post 2"]
    assert page.url == "/blog/series/by-hand/"
    assert overview.groups == (Link("By hand", "/blog/series/by-hand/", count=3),)
    assert series_path("!!!", Config()) == ""
    assert plan_archive([], {}, Config()) == {}


def test_a_diagram_is_its_text_and_its_source() -> None:
    page = render('$$\\begin{tikzcd} A \\arrow[r,"f"] & B \\end{tikzcd}$$ and $x<y$').html
    shown = feed_html(post(1, page), CONFIG)
    assert "f: A → B <code>\\begin{tikzcd} A \\arrow[r,&quot;f&quot;] &amp; B \\end{tikzcd}</code>" in shown
    assert "<svg" not in shown and shown.count("<math") == 1
