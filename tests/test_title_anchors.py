"""The id of the heading that is the title of a page: on the heading, and in references to it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import each_row
from tests.site_files import build, put_bare

TITLE = "# Of *rows* {#sec-rows}\n\nText.\n"


@each_row(
    ("file", "head", "page", "tag"),
    [
        ("content/posts/a.md", "", "posts/a", '<h1 class="post-title" id="sec-rows">Of <em>rows</em></h1>'),
        ("content/a.md", "", "a", '<h1 class="post-title" id="sec-rows">Of <em>rows</em></h1>'),
        ("content/a/_index.md", "", "a", '<h1 class="page-title" id="sec-rows">Of <em>rows</em></h1>'),
        (
            "content/a.md",
            "template: landing\nsubtitle: One\n",
            "a",
            '<p class="landing-name" id="sec-rows">Of <em>rows</em></p>',
        ),
    ],
)
def test_each_layout_has_it(file: str, head: str, page: str, tag: str, tmp_path: Path) -> None:
    root = tmp_path / re.sub(r"\W", "-", f"{file}{head}")
    (root / file).parent.mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: T\n", "utf-8")
    (root / file).write_text(f"---\n{head}---\n{TITLE}", "utf-8")
    assert build(root).diagnostics == ()
    html = (root / "public" / page / "index.html").read_text("utf-8")
    assert tag in html and html.count('id="sec-rows"') == 1


def test_who_refers_to_it_is_told_when_it_goes(tmp_path: Path) -> None:
    files = {
        "content/a.md": TITLE,
        "content/b.md": "---\ntitle: B\n---\n{@a#sec-rows} and [](a.md#sec-rows)\n",
    }
    root = put_bare(tmp_path, files)
    assert build(root).diagnostics == ()
    html = (root / "public/b/index.html").read_text("utf-8")
    assert html.count('href="/a/#sec-rows">Of rows</a>') == 2
    (root / "content/a.md").write_text("# Of *rows*\n\nText.\n", "utf-8")
    found = {one.code for one in build(root).diagnostics if one.path == "content/b.md"}
    assert found == {"ref-undefined", "link-anchor"}


def test_footnotes_and_code_of_titles(tmp_path: Path) -> None:
    files = {
        "blogsmith.yaml": "title: T\nbase_url: https://example.org\n",
        "content/posts/a.md": "---\ndate: 2026-01-01\n---\n# Using $x$[^1]\n\nText.\n\n[^1]: Note.\n",
        "content/posts/b.md": "---\ndate: 2026-01-02\ntitle: On `einsum`\n---\nText.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert build(tmp_path).diagnostics == ()
    public = tmp_path / "public"
    noted, code, listed, feed = (
        (public / name).read_text("utf-8")
        for name in ("posts/a/index.html", "posts/b/index.html", "posts/index.html", "atom.xml")
    )
    mark = '<sup class="footnote-ref"><a href="#fn-1" id="fnref-1" role="doc-noteref">1</a></sup></h1>'
    assert mark in noted
    assert "<title>Using x · T</title>" in noted and "footnote-ref" not in listed
    assert '<h1 class="post-title">On <code>einsum</code></h1>' in code
    assert "<title>On einsum · T</title>" in code and "<title>On einsum</title>" in feed
    assert '<a href="/posts/b/">On <code>einsum</code></a>' in listed
