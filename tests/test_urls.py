"""URLs of pages and assets, and which posts are published."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.config.schema import Config
from blogsmith.model.documents import Document, Source
from blogsmith.model.slugs import alias_problem, slug_problem
from blogsmith.read.front_matter import read_document
from blogsmith.site.urls import Urls, asset_url, assign_urls, publication
from tests.rows import each_row

DECOMPOSED = unicodedata.normalize("NFD", "café")


def document(path: str, head: str = "") -> Document:
    """Return a document with this valid front matter."""
    text = f"---\n{head}\n---\n"
    found, diagnostics = read_document(Source(PurePosixPath(path), text, ""), Config())
    assert diagnostics == ()
    return found


def assign(files: Mapping[str, str], **settings: object) -> Urls:
    """Return the URLs of files given as path below `content/` → front matter."""
    documents = [document(f"content/{path}", head) for path, head in files.items()]
    return assign_urls(documents, Config(**settings))  # type: ignore[arg-type]


def faults(urls: Urls) -> list[str]:
    """Return each diagnostic as `code path:line:column message`."""
    return [
        f"{d.code} {d.path}:{d.place.line}:{d.place.column} {d.message}"
        if d.place
        else f"{d.code} {d.path} {d.message}"
        for d in urls.diagnostics
    ]


@each_row(
    ("path", "head", "url", "kind", "section"),
    [
        ("index.md", "", "/", "home", ""),
        ("_index.md", "slug: x", "/", "home", ""),
        ("about.md", "", "/about/", "page", ""),
        ("about/index.md", "", "/about/", "page", ""),
        ("posts/_index.md", "", "/posts/", "section", "posts"),
        ("posts/a.md", "", "/posts/a/", "post", "posts"),
        ("posts/a/index.md", "", "/posts/a/", "post", "posts"),
        ("posts/v1.2/index.md", "", "/posts/v1-2/", "post", "posts"),
        ("posts/v1.2.md", "", "/posts/v1-2/", "post", "posts"),
        ("posts/a.markdown", "", "/posts/a/", "post", "posts"),
        ("posts/My Post & π.md", "", "/posts/my-post-π/", "post", "posts"),
        ("My Notes/Deep Ones/x.md", "", "/my-notes/deep-ones/x/", "post", "my-notes"),
        ("posts/2026-03-14-pi.md", "", "/posts/pi/", "post", "posts"),
        ("posts/2026-03-14-pi/index.md", "", "/posts/pi/", "post", "posts"),
        ("posts/2026-03-14.md", "", "/posts/2026-03-14/", "post", "posts"),
        ("posts/a.md", "slug: Other_Name.v2", "/posts/Other_Name.v2/", "post", "posts"),
        ("posts/a.md", "slug: 1984", "/posts/1984/", "post", "posts"),
        ("posts/a.md", f"slug: {DECOMPOSED}", "/posts/café/", "post", "posts"),
        ("posts/a.md", "slug: हिन्दी", "/posts/हिन्दी/", "post", "posts"),
        ("posts/README.md", "", "/posts/readme/", "post", "posts"),
    ],
)
def test_one_file(path: str, head: str, url: str, kind: str, section: str) -> None:
    check_one_file(path, head, url, kind, section)


@each_row(
    ("head", "url"),
    [
        ("permalink: /writing/a/", "/writing/a/"),
        ("permalink: writing/a", "/writing/a/"),
        ("url: /writing/a", "/writing/a/"),
        ("permalink: //writing//a/", "/posts/pi/"),
        ("permalink: /writing/a.html", "/writing/a.html"),
        ("permalink: /writing/a/index.html", "/writing/a/"),
        ("permalink: /w/caf%C3%A9/", "/w/café/"),
        ("permalink: /:year/:month/:day/:title/", "/2026/03/14/pi/"),
        ("permalink: /:categories/:title.html\ncategories: [Deep Ones, x]", "/deep-ones/x/pi.html"),
        ("permalink: /:categories/:slug/", "/pi/"),
        ("permalink: /:section/:name/\nslug: own", "/posts/own/"),
    ],
)
def test_an_address_of_its_own(head: str, url: str) -> None:
    """It does not depend on section and kind."""
    path = "content/posts/2026-03-14-pi.md"
    read, _ = read_document(Source(PurePosixPath(path), f"---\n{head}\n---\n", ""), Config())
    urls = assign_urls([read], Config(permalinks={"posts": "/p/:slug/"} if "//w" not in head else {}))
    assert urls.diagnostics == ()
    assert (urls.urls[path], urls.kinds[path], urls.sections[path]) == (url, "post", "posts")


def test_a_page_may_be_that_of_a_list() -> None:
    files = {"about.md": "permalink: /", "notes.md": "permalink: /posts/", "posts/a.md": ""}
    urls = assign(files)
    found = [(urls.urls[path], urls.kinds[path], urls.sections[path]) for path in sorted(urls.urls)]
    assert (found, urls.diagnostics) == (
        [("/", "home", ""), ("/posts/", "section", "posts"), ("/posts/a/", "post", "posts")], (),
    )  # fmt: skip


def test_a_list_names_its_folder_by_its_permalink() -> None:
    files = {"notes/_index.md": "permalink: /Notes/", "notes/rl/index.md": "permalink: /Notes/CS224R/",
             "notes/rl/a.md": "", "notes/rl/b.md": ""}  # fmt: skip
    urls = assign(files)
    assert urls.diagnostics == ()
    assert [urls.urls[f"content/notes/rl/{name}.md"] for name in ("index", "a")] == [
        "/Notes/CS224R/", "/Notes/CS224R/a/",
    ]  # fmt: skip


def test_files_lie_under_the_address_of_their_page() -> None:
    files = {"posts/a/index.md": "permalink: /old/a.html", "posts/b/index.md": "permalink: /b"}
    urls = assign(files)
    found = [asset_url(PurePosixPath(f"content/posts/{name}/x.png"), urls, frozenset()) for name in "ab"]
    assert found == ["/old/a/x.png", "/b/x.png"]


def check_one_file(path: str, head: str, url: str, kind: str, section: str) -> None:
    urls = assign({path: head})
    key = f"content/{path}"
    assert urls.diagnostics == ()
    assert (urls.urls[key], urls.kinds[key], urls.sections[key]) == (url, kind, section)


def test_an_index_whose_folder_holds_other_pages_is_their_list() -> None:
    urls = assign(
        {"docs/index.md": "", "docs/a.md": "", "docs/guide/index.md": "", "docs/guide/deep/b.md": ""}
    )
    assert urls.kinds == {
        "content/docs/a.md": "post",
        "content/docs/guide/deep/b.md": "post",
        "content/docs/guide/index.md": "section",
        "content/docs/index.md": "section",
    }
    assert urls.sections["content/docs/guide/deep/b.md"] == "docs/guide"
    assert urls.sections["content/docs/a.md"] == "docs"


def test_a_section_may_have_a_slug_of_its_own() -> None:
    urls = assign({"Blog posts/_index.md": "slug: blog", "Blog posts/a.md": "", "Blog posts/x/b.md": ""})
    assert sorted(urls.urls.values()) == ["/blog/", "/blog/a/", "/blog/x/b/"]
    assert set(urls.sections.values()) == {"blog"}
    assert asset_url(PurePosixPath("content/Blog posts/f.png"), urls, frozenset()) == "/blog/f.png"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/:section/:year/:month/:day/:slug/", "/posts/2026/03/04/pi/"),
        ("/blog/:slug", "/blog/pi/"),
        ("/:year-:month/:slug/", "/2026-03/pi/"),
    ],
)
def test_permalinks(pattern: str, expected: str) -> None:
    urls = assign({"posts/2026-03-04-pi/index.md": "", "posts/_index.md": ""}, permalinks={"posts": pattern})
    assert urls.diagnostics == ()
    assert urls.urls["content/posts/2026-03-04-pi/index.md"] == expected
    assert urls.urls["content/posts/_index.md"] == "/posts/"
    asset = PurePosixPath("content/posts/2026-03-04-pi/fig.png")
    assert asset_url(asset, urls, frozenset()) == f"{expected}fig.png"


def test_permalinks_of_other_sections_and_dateless_posts() -> None:
    urls = assign({"posts/a.md": "", "docs/b.md": ""}, permalinks={"posts": "/:year/:slug/"})
    assert urls.urls == {"content/docs/b.md": "/docs/b/", "content/posts/a.md": "/posts/a/"}
    assert faults(urls) == [
        'date content/posts/a.md permalink "/:year/:slug/" needs a date, but this page has none'
    ]


@each_row(
    ("slug", "problem"),
    [
        ("../../x", 'must not contain "/"'),
        ("/x", 'must not contain "/"'),
        ("a/../b", 'must not contain "/"'),
        ("a\\b", 'must not contain "\\"'),
        ("%2e%2e", 'must not contain "%"'),
        ("a?b", 'must not contain "?"'),
        ("a b", "must not contain spaces"),
        ("a\x07", "must not contain U+0007"),
        ("a\u202eb", "must not contain U+202E"),
        ("..", "must not start or end with a full stop"),
        (".hidden", "must not start or end with a full stop"),
        ("end.", "must not start or end with a full stop"),
        ("--", "must contain a letter or digit"),
        ("con", "is a device name on Windows"),
        ("LPT1.x", "is a device name on Windows"),
        ("x" * 121, "is longer than 120 characters"),
        ("字" * 100, "is longer than 240 bytes"),
        ("x" * 120, ""),
        ("console", ""),
        ("a.b-c_d~e", ""),
    ],
)
def test_slugs(slug: str, problem: str) -> None:
    assert slug_problem(slug) == problem


@each_row(
    ("files", "expected"),
    [
        ({"posts/a.md": "slug: ../x"}, ['slug content/posts/a.md:2:7 slug "../x" must not contain "/"']),
        ({"con.md": ""}, [
            'slug content/con.md file name "con" cannot be part of a URL: '
            'it is a device name on Windows'
        ]),
        ({"posts/!!!.md": ""}, [
            'slug content/posts/!!!.md file name "!!!" cannot be part of a URL: '
            'it must contain a letter or digit'
        ]),
        ({"aux/a.md": ""}, [
            'slug content/aux/a.md folder name cannot be part of a URL: '
            '"aux" is a device name on Windows'
        ]),
        ({"posts/_index.md": "slug: a/b"}, [
            'slug content/posts/_index.md:2:7 slug "a/b" must not contain "/"'
        ]),
        ({"a.md": "", "a/index.md": ""}, [
            'duplicate-url content/a/index.md "content/a.md" and "content/a/index.md" have the same URL "/a/"'
        ]),
        ({"index.md": "", "_index.md": ""}, [
            'duplicate-url content/index.md "content/_index.md" and "content/index.md" have the same URL "/"'
        ]),
        ({"p/a.md": "", "p/b.md": "slug: A"}, [
            'duplicate-url content/p/b.md:2:7 "content/p/a.md" and "content/p/b.md"'
            ' have URLs that differ only in case: "/p/A/"'
        ]),
        ({"a.md": "", "b.md": "aliases: [/a]"}, [
            'duplicate-url content/b.md:2:11 alias "/a" of "content/b.md" is already a URL of "content/a.md"'
        ]),
        ({"a.md": "aliases: /x/", "b.md": "aliases: /X"}, [
            'duplicate-url content/b.md:2:10 alias "/X" of "content/b.md" is already a URL of "content/a.md"'
        ]),
        ({"a.md": "aliases: /a/"}, [
            'duplicate-url content/a.md:2:10 alias "/a/" of "content/a.md" '
            'is already a URL of "content/a.md"'
        ]),
        ({"a.md": "aliases: old"}, ['alias content/a.md:2:10 alias "old" must start with "/"']),
        ({"a.md": "aliases: /../x"}, [
            'alias content/a.md:2:10 alias "/../x" contains "..", which is not allowed'
        ]),
    ],
)  # fmt: skip
def test_mistakes(files: Mapping[str, str], expected: list[str]) -> None:
    assert faults(assign(files)) == expected


@each_row(
    "alias",
    [
        *("", "x", "/", "//", "/a/../b", "/%2e%2e/x", "/a\\b", "/a /b", "/con/x", "https://x"),
        *("/a/ b/", "/a%20b/", "/a\u00a0b/", "/a?b", "/a#b", "/a:b", "/a<b", "/a\u202eb"),
    ],
)
def test_aliases_that_are_refused(alias: str) -> None:
    assert alias_problem(alias)


@each_row(
    "alias",
    ["/a", "/2019/03/x.html", "/a/b/c/", "/a b/c d.html", "/é/", "/c++/", "/a,b;c=(d)!/", "/記事（一）"],
)
def test_aliases_that_are_accepted(alias: str) -> None:
    assert alias_problem(alias) == ""


FILES = {"posts/_index.md": "", "posts/a/index.md": "", "posts/b.md": "", "about/index.md": ""}


@each_row(
    ("path", "expected"),
    [
        ("posts/a/fig.png", "/posts/a/fig.png"),
        ("posts/a/data/Raw Data.csv", "/posts/a/data/Raw Data.csv"),
        ("posts/fig.png", "/posts/fig.png"),
        ("posts/b/fig.png", "/posts/b/fig.png"),
        ("My Files/x.pdf", "/my-files/x.pdf"),
        ("about/me.jpg", "/about/me.jpg"),
        ("fig.png", "/fig.png"),
        ("posts/draft/fig.png", ""),
        ("posts/draft/data/x.csv", ""),
    ],
)
def test_assets(path: str, expected: str) -> None:
    left_out = frozenset({"content/posts/draft/index.md", "content/posts/single.md"})
    assert asset_url(PurePosixPath("content", path), assign(FILES), left_out) == expected


NOW = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)


@each_row(
    ("head", "drafts", "future", "expected"),
    [
        ("title: x", False, False, "published"),
        ("draft: true", False, False, "draft"),
        ("draft: true", True, False, "published"),
        ("date: 2026-03-14", False, False, "published"),
        ("date: 2026-03-14 12:00Z", False, False, "published"),
        ("date: 2026-03-14 12:01Z", False, False, "scheduled"),
        ("date: 2026-03-14 12:01 +01:00", False, False, "published"),
        ("date: 2026-03-15", False, True, "published"),
        ("draft: true\ndate: 2026-03-15", True, False, "scheduled"),
        ("draft: true\ndate: 2026-03-15", False, True, "draft"),
        ("date: 0001-01-01 00:00 +14:00", False, False, "published"),
        ("publishDate: 2026-03-15", False, False, "scheduled"),
        ("publishDate: 2026-03-15", False, True, "published"),
        ("publishDate: 2026-03-15\ndate: 2026-03-01", False, False, "scheduled"),
        ("publish_date: 2026-03-01\ndate: 2026-03-15", False, False, "scheduled"),
        ("publish_date: 2026-03-01", False, False, "published"),
        ("expiryDate: 2026-03-14 12:00Z", False, False, "expired"),
        ("expiryDate: 2026-03-14 12:01Z", False, False, "published"),
        ("expiry_date: 2026-03-01", True, False, "published"),
        ("draft: true\nexpiry_date: 2026-03-01", False, False, "draft"),
        ("date: 9999-12-31 23:59 -12:00", False, False, "scheduled"),
    ],
)
def test_publication(head: str, drafts: bool, future: bool, expected: str) -> None:
    assert publication(document("content/a.md", head), NOW, drafts=drafts, future=future) == expected


NAMES = st.text(alphabet="aB.-_ ~%éπ!2", min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3), max_size=6), st.text(max_size=8))
def test_no_name_raises_and_no_address_leaves_the_site(paths: list[list[str]], slug: str) -> None:
    heads = ["", f"slug: '{slug}'" if slug.isprintable() and "'" not in slug else ""]
    files = {"/".join(path) + ".md": heads[number % 2] for number, path in enumerate(paths)}
    urls = assign(files)
    for url in urls.urls.values():
        assert url.startswith("/") and url.endswith("/") and "//" not in url
        assert not {".", ".."} & set(url.split("/"))


def test_order_of_documents_does_not_matter() -> None:
    files = {"b.md": "slug: a", "a.md": "", "c.md": "aliases: /a/", "p/x.md": ""}
    assert assign(files) == assign(dict(reversed(files.items())))
