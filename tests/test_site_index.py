"""Resolution of links in posts: pages, anchors, files, and messages for missing targets."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.model import Place
from blogsmith.config.schema import Config
from blogsmith.model.documents import Asset, Document, Source
from blogsmith.model.links import LinkTarget, LinkTitle, TitlePart
from blogsmith.model.pictures import ImageInfo
from blogsmith.read.front_matter import read_document
from blogsmith.site.images import resolve_image
from blogsmith.site.index import SiteIndex, index_site, page_entry, resolve_link
from blogsmith.syntax.parser import make_parser, parse_document
from blogsmith.syntax.state import ParseOptions
from blogsmith.tex.analysis.linear import linear_text
from blogsmith.tex.analysis.numbering import split_rows
from tests.rows import each_row

PAGES = {
    "content/posts/a.md": ("/posts/a/", "## Setup\n\n$$ x \\label{eq:x} $$\n"),
    "content/posts/b/index.md": ("/posts/b/", "## The end\n"),
    "content/posts/_index.md": ("/posts/", ""),
    "content/über uns.md": ("/über-uns/", "<a id='raw'></a>\n"),
}
FILES = {
    "content/posts/b/fig.png": "/posts/b/fig.png",
    "content/posts/plot.svg": "/posts/plot.svg",
    "static/img/logo.png": "/img/logo.png",
    "static/a b.txt": "/a b.txt",
}
WAITING = {"content/posts/draft.md": "/posts/draft/"}


def document(path: str, text: str = "") -> Document:
    return read_document(Source(PurePosixPath(path), text, ""), Config())[0]


HERE = document("content/posts/b/index.md")


@pytest.fixture(scope="module")
def index() -> SiteIndex:
    options = ParseOptions(linear_text, split_rows)
    md = make_parser(options)
    entries = {
        path: page_entry(parse_document(document(path, text), md, options))
        for path, (_, text) in PAGES.items()
    }
    urls = {path: url for path, (url, _) in PAGES.items()}
    return index_site("/base", urls, entries, WAITING, ["/", "/tags/"], FILES)


@each_row(
    ("written", "url"),
    [
        ("https://example.org/x", "https://example.org/x"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("HTTPS://example.org", "HTTPS://example.org"),
        ("#setup", "#setup"),
        ("#eq-x", "#eq-x"),
        ("#", "#"),
        ("b/index.md", "/base/posts/b/"),
        ("b/index.md#the-end", "/base/posts/b/#the-end"),
        ("b/", "/base/posts/b/"),
        ("b", "/base/posts/b/"),
        ("../b/", "/base/posts/b/"),
        ("/posts/b", "/base/posts/b/"),
        ("/posts/b/?print=1#the-end", "/base/posts/b/?print=1#the-end"),
        ("/posts/b/index.md", "/base/posts/b/"),
        ("_index.md", "/base/posts/"),
        ("/", "/base/"),
        ("/tags", "/base/tags/"),
        ("../über%20uns.md", "/base/%C3%BCber-uns/"),
        ("../über uns.md#raw", "/base/%C3%BCber-uns/#raw"),
        ("/über-uns/", "/base/%C3%BCber-uns/"),
        ("plot.svg", "/base/posts/plot.svg"),
        ("b/fig.png", "/base/posts/b/fig.png"),
        ("/posts/plot.svg", "/base/posts/plot.svg"),
        ("/img/logo.png", "/base/img/logo.png"),
        ("/a%20b.txt", "/base/a%20b.txt"),
    ],
)
def test_links_that_lead_somewhere(index: SiteIndex, written: str, url: str) -> None:
    found = resolve_link(index, written, document("content/posts/a.md"))
    assert (found.url, found.problem) == (url, "")


def test_a_link_knows_the_title_of_its_page(index: SiteIndex) -> None:
    target = resolve_link(index, "/über-uns/", document("content/posts/a.md"))
    assert index.link_title(target.page, "") == LinkTitle((TitlePart("text", "Über uns"),))


@each_row(
    ("written", "code", "problem", "hint"),
    [
        ("#stup", "link-anchor", 'anchor not found on this page: "#stup"', "did you mean `#setup`?"),
        (
            "b/index.md#end",
            "link-anchor",
            'anchor not found in "content/posts/b/index.md": "#end"',
            "`#the-end`?",
        ),
        ("b/indx.md", "link-missing", 'page or file not found: "b/indx.md"', "did you mean `b/index.md`?"),
        ("gone.md", "link-missing", 'page or file not found: "gone.md"', "relative"),
        ("/post/b/", "link-missing", 'page or file not found: "/post/b/"', "did you mean `/posts/b/`?"),
        ("../../../x.md", "link-missing", 'page or file not found: "../../../x.md"', "relative"),
        ("draft.md", "link-unpublished", '"content/posts/draft.md" is not published', "remove `draft: true`"),
        (
            "/posts/draft/",
            "link-unpublished",
            '"content/posts/draft.md" is not published',
            "remove `draft: true`",
        ),
        ("javascript:alert(1)", "link-scheme", '"javascript:alert(1)" is not allowed in a link', "https://"),
        ("//example.org/x", "link-scheme", '"//example.org/x" is not allowed in a link', "https://"),
        ("content/posts/b/index.md", "link-missing", "page or file not found: ", ""),
    ],
)
def test_links_that_lead_nowhere(index: SiteIndex, written: str, code: str, problem: str, hint: str) -> None:
    found = resolve_link(index, written, document("content/posts/a.md"))
    assert (found.code, found.problem[: len(problem)]) == (code, problem)
    assert hint in found.hint


def test_drafts_are_not_suggested(index: SiteIndex) -> None:
    written = "/posts/drafts/"
    hint = resolve_link(index, written, document("content/posts/a.md")).hint
    assert "draft" not in hint.replace(written, "")


def images(index: SiteIndex, written: str, size: ImageInfo | str) -> ImageInfo | LinkTarget:
    assets = {path: Asset(PurePosixPath(path), Path(path), 1) for path in FILES}
    return resolve_image(index, written, document("content/posts/a.md"), assets, lambda file: size)


@each_row(
    ("written", "url"),
    [
        ("plot.svg", "/base/posts/plot.svg"),
        ("./b/fig.png", "/base/posts/b/fig.png"),
        ("/img/logo.png", "/base/img/logo.png"),
        ("/posts/b/fig.png", "/base/posts/b/fig.png"),
        ("plot.svg?v=2", "/base/posts/plot.svg"),
    ],
)
def test_images(index: SiteIndex, written: str, url: str) -> None:
    assert images(index, written, ImageInfo("", 6, 4)) == ImageInfo(url, 6, 4)


@pytest.mark.parametrize(
    ("written", "code", "problem"),
    [
        ("plto.svg", "image-missing", 'image not found: "plto.svg"'),
        ("https://example.org/a.png", "image-remote", 'image "https://example.org/a.png" is on another host'),
        ("//example.org/a.png", "image-remote", 'image "//example.org/a.png" is on another host'),
        ("plot.svg", "image-unreadable", "plot.svg is damaged"),
    ],
)
def test_images_that_cannot_be_shown(index: SiteIndex, written: str, code: str, problem: str) -> None:
    found = images(index, written, "plot.svg is damaged")
    assert isinstance(found, LinkTarget)
    assert (found.code, found.problem) == (code, problem)


def test_posts_by_slug(index: SiteIndex) -> None:
    labels = index.page_labels("a", HERE)
    assert labels is not None and labels["eq-x"].place == Place(3, 13, 4)
    assert index.page_labels("posts/a.md", HERE) == labels
    assert index.page_url("b", HERE) == "/base/posts/b/"
    assert (index.page_labels("none", HERE), index.page_url("none", HERE)) == (None, "")
    assert (
        index.slug_hint("draft")
        == "remove `draft: true` or the date in the future from content/posts/draft.md"
    )
    assert index.slug_hint("posst") == "did you mean `posts`?"
