"""Relations of pages: lists, neighbours, series, terms, collisions, menus."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from random import Random

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.config.schema import Config, MenuItem
from blogsmith.model.documents import Body, ContentAmount, Document, Source
from blogsmith.model.template_views import Link, PageView
from blogsmith.model.texts import PageText
from blogsmith.read.front_matter import read_document
from blogsmith.site.archive import check_series
from blogsmith.site.collections import page_views
from blogsmith.site.frame import RenderedDocument, UnpublishedPost, ViewContext
from blogsmith.site.pages import reading_minutes, shorten
from blogsmith.site.permalinks import output_path, redirect, redirect_path
from blogsmith.site.site_view import site_view
from blogsmith.site.terms import term_names, term_warnings
from blogsmith.site.urls import assign_urls
from tests.rows import each_row

CONFIG = Config(title="Site", base_url="https://example.org/b", author="Ada")


def documents(files: Mapping[str, str]) -> list[Document]:
    """Return documents under `content/` with the given front matter."""
    return [
        read_document(Source(PurePosixPath(f"content/{path}"), f"---\n{head}\n---\n", ""), CONFIG)[0]
        for path, head in files.items()
    ]


def views_of(files: Mapping[str, str], unpublished: Sequence[UnpublishedPost] = ()) -> dict[str, PageView]:
    """Map site paths with base path to views."""
    made = documents(files)
    urls = assign_urls(made, CONFIG)
    rendered = []
    for document in made:
        path = str(document.path)
        title = document.front.title or document.path.stem
        links = frozenset(f"/b{url}" for url in document.front.extra.get("links", ()))
        body = Body(
            PageText.from_string(f"<p>{title}</p>"), title, title, summary=f"About {title}", links=links
        )
        rendered.append(
            RenderedDocument(document, body, urls.urls[path], urls.kinds[path], urls.sections[path])
        )
    frame = ViewContext(
        CONFIG, lambda url: f"/b{url}", lambda path, document: f"/b/{path}", layouts=("wide",)
    )
    return {view.url: view for view in page_views(rendered, unpublished, frame)}


def problems(found: Sequence[Diagnostic]) -> list[str]:
    return [f"{d.code} {d.path}:{d.place.line if d.place else '-'} {d.message}" for d in found]


def titles(pages: Sequence[PageView | Link]) -> list[str]:
    return [page.title for page in pages]


def test_lists_nobody_wrote() -> None:
    views = views_of({
        "posts/a.md": "date: 2026-01-01", "posts/b.md": "date: 2026-01-02", "posts/undated.md": "",
        "about.md": "title: About",
    })  # fmt: skip
    assert {url: view.kind for url, view in views.items() if not view.path} == {
        "/b/": "home", "/b/posts/": "section", "/b/archive/": "archive", "/b/404.html": "not_found"
    }  # fmt: skip
    assert titles(views["/b/"].pages) == ["b", "a"]
    assert titles(views["/b/posts/"].pages) == ["b", "a", "undated"]
    assert views["/b/posts/"].title == "Posts"
    assert views["/b/404.html"].canonical_url == ""
    assert views["/b/posts/"].canonical_url == "https://example.org/b/posts/"
    assert views["/b/about/"].section is None


def test_the_page_of_missing_addresses_lists_the_last_posts() -> None:
    days = {f"posts/{day}.md": f"date: 2026-01-0{day}" for day in range(1, 8)}
    views = views_of({**days, "posts/undated.md": ""})
    assert titles(views["/b/404.html"].pages) == ["7", "6", "5", "4", "3"]


def test_series_of_pages_without_a_date_come_last() -> None:
    views = views_of({
        "docs/a.md": "series: {name: Manual, part: 1}",
        "posts/b.md": "series: {name: S, part: 1}\ndate: 2026-01-01",
    })  # fmt: skip
    groups = views["/b/series/"].groups
    assert [(link.title, link.count) for link in groups] == [("S", 1), ("Manual", 1)]
    assert views[groups[0].url].section == Link("Series", "/b/series/")


def test_what_links_here_and_what_is_alike() -> None:
    views = views_of({
        "posts/a.md": "tags: [x, y]\ndate: 2026-01-01",
        "posts/b.md": "tags: [x]\nlinks: [/posts/a/, /posts/b/]",
        "posts/c.md": "categories: [z]\ntags: [y]", "posts/d.md": "date: 2026-01-04\ntags: [x]",
        "posts/e.md": "date: 2026-01-03\ntags: [x, y]", "posts/f.md": "categories: [z]",
        "about.md": "links: [/posts/a/]", "_index.md": "links: [/posts/a/]",
    })  # fmt: skip
    assert titles(views["/b/posts/a/"].backlinks) == ["about", "b"]
    b = views["/b/posts/b/"]
    assert (b.backlinks, titles(b.builds_on), titles(views["/b/about/"].builds_on)) == ((), ["a"], ["a"])
    a = views["/b/posts/a/"]
    assert a.next
    assert a.next_post
    assert (a.next_post.url, a.next_post.next_post, a.builds_on) == (a.next.url, None, ())
    elsewhere = {link.title for link in (a.previous, a.next, *a.backlinks) if link}
    assert [t for t in ("e", "d", "b", "c") if t not in elsewhere][:3] == titles(a.related)
    assert titles(views["/b/posts/f/"].related) == ["c"] or "c" in {
        link.title for link in (views["/b/posts/f/"].previous, views["/b/posts/f/"].next) if link
    }
    assert views["/b/about/"].related == ()


def test_what_is_alike_among_many() -> None:
    """The result equals a comparison of every post with every other."""
    random = Random(7)
    heads = {
        f"{random.choice(('posts', 'docs'))}/p{number}.md": "\n".join((
            f"tags: [{', '.join(random.sample(('q', 'r', 's', 't'), random.randrange(4)))}]",
            f"categories: [{', '.join(random.sample(('q', 'z'), random.randrange(3)))}]",
            f"date: 2026-01-{random.randrange(1, 9):02}",
            "series: one" if random.random() < 0.2 else "",
        ))
        for number in range(60)
    }  # fmt: skip
    views = views_of(heads)
    posts = [view for view in views.values() if view.kind == "post"]
    for post in posts:
        named = {post.url, *(link.url for link in (post.previous, post.next, *post.series) if link)}
        scores = {other.url: _shared(post, other) for other in posts if other.url not in named}
        order = sorted(scores, key=lambda url: (-scores[url], -views[url].date.timestamp(), url))  # type: ignore[union-attr]
        assert [link.url for link in post.related] == [url for url in order if scores[url]][:3]


def _shared(one: PageView, other: PageView) -> int:
    return len({*one.tags} & {*other.tags}) + 2 * len({*one.categories} & {*other.categories})


def test_index_pages_of_the_author() -> None:
    views = views_of({
        "_index.md": "title: Start", "posts/_index.md": "title: All posts", "posts/a.md": "date: 2026-01-01",
        "posts/deep/_index.md": "title: Deeper", "posts/deep/x.md": "date: 2026-01-02",
    })  # fmt: skip
    assert (views["/b/"].kind, titles(views["/b/"].pages)) == ("home", ["x", "a"])
    assert titles(views["/b/posts/"].pages) == ["a"]
    assert views["/b/posts/"].groups == (Link("Deeper", "/b/posts/deep/"),)
    assert views["/b/posts/deep/"].groups == ()
    assert views["/b/posts/a/"].section == Link("All posts", "/b/posts/")
    assert views["/b/posts/deep/x/"].section == Link("Deeper", "/b/posts/deep/")


def test_neighbours_stand_by_date_then_path() -> None:
    views = views_of({
        "posts/b.md": "date: 2026-01-01", "posts/a.md": "date: 2026-01-01",
        "posts/new.md": "date: 2026-02-01",
        "notes/n.md": "date: 2026-01-15",
    })  # fmt: skip
    line = [(v.previous and v.previous.title, v.next and v.next.title) for v in
            (views[f"/b/posts/{name}/"] for name in ("a", "b", "new"))]  # fmt: skip
    assert line == [(None, "b"), ("a", "new"), ("b", None)]
    assert (views["/b/notes/n/"].previous, views["/b/notes/n/"].next) == (None, None)


def test_series_names_parts_that_are_not_out() -> None:
    views = views_of(
        {
            "posts/one.md": "date: 2026-03-01\nseries: {name: S, part: 1}",
            "posts/three.md": "date: 2026-02-01\nseries: {name: S, part: 3}",
            "posts/other.md": "date: 2026-02-15",
        },
        [UnpublishedPost("two", "S", 2), UnpublishedPost("x", "T", 1)],
    )
    one, three = views["/b/posts/one/"], views["/b/posts/three/"]
    assert [(p.part, p.title, p.url, p.current) for p in one.series] == [
        (1, "one", "/b/posts/one/", True), (2, "two", "", False), (3, "three", "/b/posts/three/", False)
    ]  # fmt: skip
    assert (one.next, three.previous) == (Link("three", three.url, "three"), Link("one", one.url, "one"))
    assert (one.series_name, views["/b/posts/other/"].series) == ("S", ())


def test_parts_without_numbers_follow_by_date() -> None:
    views = views_of({
        "posts/a.md": "date: 2026-03-01\nseries: S", "posts/b.md": "date: 2026-01-01\nseries: S",
        "posts/c.md": "date: 2026-02-01\nseries: {name: S, part: 1}",
    })  # fmt: skip
    assert [(p.part, p.title) for p in views["/b/posts/a/"].series] == [(1, "c"), (2, "b"), (3, "a")]


def test_the_same_part_twice() -> None:
    made = documents({
        "posts/b.md": "series: {name: S, part: 1}", "posts/a.md": "series: {name: S, part: 1}",
        "posts/c.md": "series: {name: T, part: 1}", "posts/d.md": "series: S",
    })  # fmt: skip
    assert problems(check_series(made)) == [
        'series-part content/posts/b.md:2 duplicate part 1 of series "S" (first in "content/posts/a.md")'
    ]


def test_terms_with_one_slug_are_one_term() -> None:
    views = views_of({
        "posts/a.md": "date: 2026-01-01\ntags: [Deep Learning, deep-learning, NumPy]",
        "posts/b.md": "date: 2026-01-02\ntags: [Deep Learning]\ncategories: [Essays]",
        "posts/c.md": "date: 2026-01-03\ntags: [deep learning]",
    })  # fmt: skip
    deep = Link("Deep Learning", "/b/tags/deep-learning/")
    assert views["/b/posts/a/"].tags == (deep, Link("NumPy", "/b/tags/numpy/"))
    assert views["/b/posts/c/"].tags == (deep,)
    assert titles(views[deep.url].pages) == ["c", "b", "a"]
    counted = (Link(deep.title, deep.url, count=3), Link("NumPy", "/b/tags/numpy/", count=1))
    assert views["/b/tags/"].groups == counted
    assert views[deep.url].section == Link("Tags", "/b/tags/")
    assert titles(views["/b/categories/essays/"].pages) == ["b"]


def test_equally_frequent_spellings_do_not_depend_on_the_order() -> None:
    files = {"a.md": "tags: [deep-learning]", "b.md": "tags: [Deep Learning]"}
    names = [
        term_names(documents(dict(order)), Config()) for order in (files.items(), reversed(files.items()))
    ]
    assert names[0] == names[1] == {"tags": {"deep-learning": "Deep Learning"}, "categories": {}}


def test_a_term_without_letters_is_shown_and_warned_of() -> None:
    files = {"posts/a.md": "tags: [x, '!!!']\ncategories: '—'"}
    assert problems(term_warnings(documents(files), Config())) == [
        'term content/posts/a.md:2 tag "!!!" has no letter or digit, so it gets no page',
        'term content/posts/a.md:3 category "—" has no letter or digit, so it gets no page',
    ]
    views = views_of(files)
    assert views["/b/posts/a/"].tags == (Link("x", "/b/tags/x/"), Link("!!!", ""))
    assert views["/b/tags/"].groups == (Link("x", "/b/tags/x/", count=1),)
    assert "/b/categories/" not in views


@each_row(
    ("files", "expected"),
    [
        ({"posts/a.md": "tags: x", "tags.md": ""},
         ['"content/tags.md" has the same URL "/tags/" as the list of all tags']),
        ({"posts/a.md": "tags: x", "tags/index.md": "", "tags/x.md": ""}, [
            '"content/tags/index.md" has the same URL "/tags/" as the list of all tags',
            '"content/tags/x.md" has the same URL "/tags/x/" as the list of tag "x"',
        ]),
        ({"posts/a.md": "tags: x", "tags/_index.md": ""},
         ['"content/tags/_index.md" has the same URL "/tags/" as the list of all tags']),
        ({"posts/a.md": "", "tags.md": ""}, []),
        ({"posts/a.md": "", "posts.md": ""},
         ['"content/posts.md" has the same URL "/posts/" as the list of section "posts"']),
        ({"posts/a.md": "", "posts/_index.md": "", "_index.md": ""}, []),
        ({"posts/a.md": "aliases: [/posts/]"},
         ['alias "/posts/" of "content/posts/a.md" is already a URL of the list of section "posts"']),
        ({"posts/a.md": "tags: X\naliases: [/Tags/x]"},
         ['alias "/Tags/x" of "content/posts/a.md" is already a URL of the list of tag "X"']),
        ({"posts/a.md": "aliases: [/404.html]"},
         ['alias "/404.html" of "content/posts/a.md" is already a URL of the 404 page']),
    ],
)  # fmt: skip
def test_addresses_of_lists_are_taken(files: Mapping[str, str], expected: list[str]) -> None:
    found = assign_urls(documents(files), CONFIG).diagnostics
    assert [d.message for d in found] == expected
    assert {d.code for d in found} <= {"duplicate-url"}


def test_what_a_page_says_about_itself() -> None:
    view = views_of({
        "posts/a.md": "title: T\ndate: 2026-01-01\nimage: x.png\nlang: de\nkey: 1\ntemplate: wide\n"
        "authors: [Bo]"
    })["/b/posts/a/"]  # fmt: skip
    assert (view.image, view.lang, view.layout, view.authors) == ("/b/x.png", "de", "wide", ("Bo",))
    assert (view.extra, view.description, view.date) == (
        {"key": 1}, "About T", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    )  # fmt: skip
    assert views_of({"a.md": ""})["/b/a/"].authors == ("Ada",)


def test_an_index_that_lists_its_posts_itself() -> None:
    files = {"posts/a.md": "date: 2026-01-01", "_index.md": "", "posts/_index.md": ""}
    assert [titles(views_of(files)[url].pages) for url in ("/b/", "/b/posts/")] == [["a"], ["a"]]
    files |= {"_index.md": "listing: false", "posts/_index.md": "listing: false"}
    assert [views_of(files)[url].pages for url in ("/b/", "/b/posts/")] == [(), ()]


def test_a_page_that_is_unlisted_is_in_no_list() -> None:
    files = {
        "posts/a.md": "date: 2026-01-01\ntags: [x]",
        "posts/b.md": "date: 2026-01-02\ntags: [x, y]\nunlisted: true",
        "posts/c.md": "date: 2026-01-03\nseries: S",
        "alone/d.md": "date: 2026-01-04\nunlisted: true",
    }
    views = views_of(files)
    assert {"/b/posts/b/", "/b/alone/d/"} <= views.keys()
    assert not {"/b/alone/", "/b/tags/y/"} & views.keys()
    for url, view in views.items():
        assert "b" not in titles(view.pages) and "d" not in titles(view.pages), url
        links = [view.previous, view.next, *view.related, *view.backlinks]
        assert not {link.url for link in links if link} & {"/b/posts/b/", "/b/alone/d/"}, url
    hidden = views["/b/posts/b/"]
    assert hidden.unlisted
    assert hidden.tags == ()
    assert hidden.section is not None and hidden.section.url == "/b/posts/"
    assert views["/b/alone/d/"].section is None


@pytest.mark.parametrize(
    ("weight", "minutes"),
    [
        (ContentAmount(), 0),
        (ContentAmount(seconds=1), 1),
        (ContentAmount(seconds=89), 1),
        (ContentAmount(seconds=91), 2),
        (ContentAmount(seconds=600), 10),
    ],
)
def test_reading_minutes(weight: ContentAmount, minutes: int) -> None:
    assert reading_minutes(Body(PageText.from_string(""), "", "", weight=weight)) == minutes


def test_shortened() -> None:
    assert shorten("one two", 7) == "one two"
    assert shorten("one, two three", 8) == "one …"


@pytest.mark.parametrize(
    ("url", "path"),
    [("/", "index.html"), ("/a/", "a/index.html"), ("/404.html", "404.html"), ("/a/b.png", "a/b.png")],
)
def test_output_paths(url: str, path: str) -> None:
    assert str(output_path(url)) == path


def test_redirects() -> None:
    page = views_of({"posts/a.md": "title: A & <b>"})["/b/posts/a/"]
    for alias, path in (("/old/", "old/index.html"), ("/old", "old/index.html"), ("/x.html", "x.html")):
        assert str(redirect_path(alias)) == path
    html = redirect(page)
    assert b'content="0; url=/b/posts/a/"' in html
    assert b"A &amp; &lt;b&gt;" in html and b"https://example.org/b/posts/a/" in html


def test_menu() -> None:
    pages = list(views_of({"posts/a.md": "", "posts/deep/_index.md": "", "notes/n.md": ""}).values())

    def menu(config: Config) -> list[tuple[str, str]]:
        view = site_view(config, pages, lambda url: f"/b{url}", "blogsmith")
        return [(link.title, link.url) for link in view.menu]

    assert menu(CONFIG) == [("Notes", "/b/notes/"), ("Posts", "/b/posts/")]
    items = (
        MenuItem("Posts", "/posts/"),
        MenuItem("A", "/posts/a.md#top"),
        MenuItem("Away", "https://example.org/"),
    )
    own = Config(base_url="https://example.org/b", menu=items)
    addresses = ["/b/posts/", "/b/posts/a/#top", "https://example.org/"]
    assert menu(own) == list(zip(("Posts", "A", "Away"), addresses, strict=True))


def test_canonical_addresses_are_ascii() -> None:
    page = views_of({"posts/wärme.md": ""})["/b/posts/wärme/"]
    assert page.canonical_url == "https://example.org/b/posts/w%C3%A4rme/"
