"""Whole Jekyll sites: settings, URLs, front matter, lists, and the check after the import."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.jekyll.settings import convert_pattern, expand
from blogsmith.importers.jekyll.system import SYSTEM
from blogsmith.importers.model import ImportedPage, SiteImport
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.rows import each_row
from tests.site_files import NOW

POST = "---\ntitle: A post\n---\n\nText with $$x$$.\n"


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def read(root: Path, files: Mapping[str, str]) -> SiteImport:
    return SYSTEM.read(write(root, files), no_progress)


def page(site: SiteImport, path: str) -> ImportedPage:
    return next(each for each in site.pages if each.path == PurePosixPath(path))


def whole_import(tmp_path: Path, files: Mapping[str, str]) -> ImportResult:
    source = write(tmp_path / "old", files)
    return import_site(source, tmp_path / "new", ImportOptions(now=NOW), no_progress)


def test_settings(tmp_path: Path) -> None:
    config = (
        "title: Notes & more\ndescription: >\n  About\n  things\nurl: https://example.org\nbaseurl: /blog/\n"
        "author: {name: Ada}\ntimezone: Europe/Vienna\npermalink: /:year/:title/\nlang: en_GB\n"
    )
    head = "<script>MathJax = {tex: {macros: {R: '\\\\mathbb{R}', norm: ['\\\\|#1\\\\|', 1]}}}</script>"
    site = read(
        tmp_path, {"_config.yml": config, "_posts/2024-01-02-a.md": POST, "_includes/head.html": head}
    )
    assert site.settings == {
        **{"title": "Notes & more", "description": "About things", "author": "Ada"},
        **{"base_url": "https://example.org/blog", "lang": "en-GB", "timezone": "Europe/Vienna"},
        "permalinks": {"posts": "/:year/:slug/"},
        **{"markup": {"smart_quotes": True}, "slugs": "github"},
        **{"images": {"remote": "warn"}, "embeds": {"remote": "warn"}},
        "math": {"macros": {"\\R": "\\mathbb{R}", "\\norm": "\\|#1\\|"}},
    }


def test_front_matter(tmp_path: Path) -> None:
    head = (
        "---\nlayout: post\ntitle: 'One: two'\ndate: 2024-01-02 10:00:00 +0100\n"
        "last_modified_at: 2024-02-01\ncategories: math notes\ntags: [a, b]\nexcerpt: Short.\n"
        "redirect_from: /old/one\npublished: false\nsearch_exclude: true\n---\n"
    )
    site = read(tmp_path, {"_config.yml": "title: T\npermalink: pretty\n", "_posts/2024-01-02-one.md": head})
    assert page(site, "content/posts/2024-01-02-one.md").front == {
        **{"title": "One: two", "description": "Short.", "date": "2024-01-02 10:00:00 +0100"},
        **{
            "updated": "2024-02-01",
            "categories": ["math", "notes"],
            "tags": ["a", "b"],
            "draft": True,
            "search": False,
        },
        **{"aliases": ["/old/one"], "permalink": "/math/notes/2024/01/02/one/"},
    }


@each_row(
    ("pattern", "address"),
    [
        ("/:categories/:year/:month/:day/:title:output_ext", "/x/2024/03/01/A-Title.html"),
        ("/:year/:i_month/:slug/", "/2024/3/a-title/"),
        ("/blog/:title", "/blog/A-Title"),
        ("/:short_year/:y_day/:title/", "/24/061/A-Title/"),
        ("/:collection/:path/", "/posts/x/2024-03-01-A-Title/"),
    ],
)
def test_permalinks(pattern: str, address: str) -> None:
    date = dt.date(2024, 3, 1)
    path = "x/2024-03-01-A-Title"
    found = expand(pattern, title="A-Title", date=date, categories=["x"], collection="posts", path=path)
    assert found == address


def test_own_patterns() -> None:
    assert convert_pattern("/:year/:month/:title.html") == "/:year/:month/:slug/"
    assert convert_pattern("/:collection/:path/") == ""


def test_every_old_address_answers(tmp_path: Path) -> None:
    done = whole_import(
        tmp_path,
        {
            "_config.yml": "title: T\n"
            "collections:\n  notes: {output: true, permalink: '/:collection/:path'}\n",
            "_posts/2024-01-02-One-Two.md": POST,
            "_drafts/later.md": POST,
            "_notes/deep/index.md": POST,
            "_notes/deep/part.md": POST,
            "about.md": "---\npermalink: /me/\n---\n\nText.\n",
            "blog.html": "---\n---\n{% for post in site.posts %}{{ post.title }}{% endfor %}\n",
            "notes.md": "---\npermalink: /notes/\n---\n\nMy notes.\n",
        },
    )
    assert not done.check.differences, done.check.differences
    assert done.check.errors == 0, done.check.diagnostics
    addresses = {each.path.as_posix(): each.front.get("permalink", "") for each in done.site.pages}
    assert addresses["content/posts/2024-01-02-One-Two.md"] == "/2024/01/02/One-Two.html"
    assert page(done.site, "content/about.md").front["slug"] == "me"
    assert "content/notes/_index.md" in addresses
    assert page(done.site, "content/_index.md").front["aliases"] == ["/blog.html"]


def test_a_front_page_without_front_matter_stands_beside_ours(tmp_path: Path) -> None:
    files = {"_config.yml": "title: T\n", "index.html": "<p>Hello</p>\n", "_posts/2024-01-02-a.md": POST}
    done = whole_import(tmp_path, files)
    assert done.check.errors == 0, done.check.diagnostics
    assert "static/home.html" in {each.path.as_posix() for each in done.site.files}
    assert [notice.source for notice in done.site.all_notices] == ["index.html"]


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    files = {"_config.yml": "title: T\n", "_posts/2024-01-02-a.md": "---\n---\n\nKept $$x$$.\n"}
    source = write(tmp_path / "old", files)
    published = write(
        tmp_path / "public", {"2024/01/02/a.html": "<main><p>Kept, and forgotten \\(y\\).</p></main>"}
    )
    options = ImportOptions(now=NOW, against=published)
    done = import_site(source, tmp_path / "new", options, no_progress)
    found = [(each.what, each.text) for each in done.check.differences]
    assert found == [("published formulas", "y"), ("published words", "and forgotten")]


def test_mistakes_of_the_old_site_do_not_stop_the_new_one(tmp_path: Path) -> None:
    body = "---\n---\n\n[gone](/nowhere/) and $$\\nothing$$ and ![a](/missing.png)\n"
    done = whole_import(tmp_path, {"_config.yml": "title: T\n", "_posts/2024-01-02-a.md": body})
    assert not done.check.differences, done.check.differences
    assert done.check.errors == 0
    assert done.site.settings["diagnostics"] == {"image-missing": "warning", "link-missing": "warning"}
    assert done.site.settings["math"] == {"on_error": "render"}
    assert [notice.kind for each in done.site.pages for notice in each.notices] == ["missing"]


def test_output_of_terminals_is_compared_as_code(tmp_path: Path) -> None:
    """Indented code with names in angle brackets and colour codes; similar text in lists is not code."""
    body = """Text.

```python
y.view(6)
```


    RuntimeError                    Traceback

    <ipython-input-18> in <module>
    ----> 3 y.view(6)


    RuntimeError: view size

Then \x1b[2K\x1b[1mfour\x1b[0m rows:

    <p>See <a href="https://example.org/x">there</a>.</p>

- item

    <em>of the item</em>

<div>

    <p>of the <a href="https://example.org/y">element</a></p>

</div>
"""
    files = {"_config.yml": "title: S\n", "_posts/2024-03-01-a.md": f"---\ntitle: A\n---\n{body}"}
    done = whole_import(tmp_path, files)
    assert done.check.differences == ()
    page = (tmp_path / "new/content/posts/2024-03-01-a.md").read_text("utf-8")
    assert "Then four rows" in page


def test_a_broken_head_is_told(tmp_path: Path) -> None:
    body = "---\ntitle: One: two: [three\ntags: x\n---\n\nText.\n"
    site = read(tmp_path, {"_config.yml": "title: T\n", "_posts/2024-01-02-a.md": body})
    (found,) = site.pages
    assert found.front["title"] == "One: two: [three"
    assert [(notice.kind, notice.line) for notice in found.notices] == [("mistake", 2)]


def test_html_that_holds_text_and_prices_is_compared(tmp_path: Path) -> None:
    """Indented text in an element without Markdown is not code; text between prices is not a formula."""
    post = (
        '---\ntitle: A post\n---\n\n<div class="box" markdown="0">\n    An indented text.\n</div>\n\n'
        'It costs <b class="x">$10</b>, not <b>$30</b>.\n'
    )
    settings = "kramdown:\n  parse_block_html: true\n"
    files = {"_config.yml": settings, "_posts/2024-03-01-a.md": post}
    assert whole_import(tmp_path, files).check.differences == ()


def test_settings_that_ask_for_markdown_in_html(tmp_path: Path) -> None:
    post = "---\ntitle: A post\n---\n\n<div>\n\nIt is **so**.\n\n    code\n\n</div>\n"
    settings = "kramdown:\n  parse_block_html: true\n"
    site = read(tmp_path, {"_config.yml": settings, "_posts/2024-03-01-a.md": post})
    (found,) = (each for each in site.pages if each.address)
    assert "It is **so**.\n\n    code" in found.text
