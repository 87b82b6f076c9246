"""A build after an edit rebuilds the edited pages, and gives the result of a clean build."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.build import load
from blogsmith.project import context as context_module
from blogsmith.project.context import SiteContext
from blogsmith.project.report import BuildReport
from tests.build_scripts import unchanged
from tests.preview_sites import built
from tests.site_files import build, put_bare
from tests.test_preview_line import POSTS, write

A = "content/posts/a.md"
B = "content/posts/b.md"
ABOUT = "content/about.md"
TICK_S = 0.06
"""Longer than a tick of the clock, so that stamps show later saves."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site of a few posts that was built long enough ago for stamps to be reliable."""
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    time.sleep(TICK_S)
    build_whole(root)
    return root


def build_whole(root: Path) -> BuildReport:
    """Build as the command does, with the cache."""
    report = build(root, use_cache=True, request_digest="the same", output=root / "public")
    time.sleep(TICK_S)
    return report


def expect_edit(root: Path, *paths: str) -> None:
    """Check that only these pages are rebuilt, and that the site equals that of a clean build."""
    report = build_whole(root)
    assert set(report.rebuilt) == set(paths)
    expect_clean(root, report)


def expect_clean(root: Path, report: BuildReport) -> None:
    """Check that a clean build reports and writes the same."""
    clean = build(root, output=root.with_name("fresh"))
    assert report.diagnostics == clean.diagnostics
    assert not report.ok or built(root / "public") == built(root.with_name("fresh"))
    for name in ("pages", "formulas", "code_blocks", "images", "drafts", "scheduled", "cells"):
        assert getattr(report, name) == getattr(clean, name), name


def expect_build(root: Path) -> tuple[Diagnostic, ...]:
    """Build; more than one page may change. Return the diagnostics of the build."""
    assert unchanged(root) is None
    report = build_whole(root)
    expect_clean(root, report)
    return report.diagnostics


def add(root: Path, path: str, text: str) -> None:
    write(root / path, (root / path).read_text(encoding="utf-8") + text)


def test_texts_of_pages(site: Path) -> None:
    write(site / B, POSTS[B].replace("title: B", "title: B\ndescription: b"))
    time.sleep(TICK_S)
    build_whole(site)
    add(site, ABOUT, "\nA sentence with `code`.\n")
    expect_edit(site, ABOUT)
    # the site that this has left is one to edit again
    time.sleep(TICK_S)
    add(site, ABOUT, "\nAnother one.\n")
    add(site, B, "\nThat is $x = 11$.\n")
    add(site, A, "\n> A quotation.\n")
    expect_edit(site, ABOUT, A, B)


def test_posts_in_feeds(site: Path) -> None:
    add(site, A, "\nOne more sentence.\n")
    expect_edit(site, A)
    assert "One more sentence" in (site / "public/atom.xml").read_text(encoding="utf-8")
    assert "One more sentence" in (site / "public/feed.json").read_text(encoding="utf-8")


def test_posts_in_feeds_beside_formulas_and_cards(tmp_path: Path) -> None:
    """The math font and the social card belong to the page, not to its entry in feeds."""
    root = tmp_path / "site"
    write(root / "blogsmith.yaml", "title: S\nbase_url: https://example.org/sub\n")
    for name in ("a", "b"):
        write(root / f"content/posts/{name}.md", f"---\ntitle: {name}\ndate: 2026-01-02\n---\nIt is $x$.\n")
    time.sleep(TICK_S)
    build_whole(root)
    add(root, "content/posts/a.md", "\nOne more sentence.\n")
    expect_edit(root, "content/posts/a.md")
    assert "One more sentence" in (root / "public/atom.xml").read_text(encoding="utf-8")


def test_markdown_of_pages(tmp_path: Path) -> None:
    """A page's Markdown version is made with it; the list of all versions contains no content."""
    root = tmp_path / "site"
    write(root / "blogsmith.yaml", "title: S\nllms_txt: true\n")
    for name in ("a", "b"):
        write(root / f"content/posts/{name}.md", f"---\ntitle: {name}\ndate: 2026-01-02\n---\nIt is $x$.\n")
    time.sleep(TICK_S)
    build_whole(root)
    add(root, "content/posts/a.md", "\nOne more sentence.\n")
    expect_edit(root, "content/posts/a.md")
    assert "One more sentence" in (root / "public/posts/a/index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("host", ["netlify", "cloudflare"])
def test_files_for_hosts(host: str, tmp_path: Path) -> None:
    """They depend on URLs of pages and names of files, which no edit of content changes."""
    root = tmp_path / "site"
    write(root / "blogsmith.yaml", f"title: S\nbase_url: https://example.org\npublish: {host}\n")
    head = "---\ntitle: A\ndate: 2026-01-02\naliases: [/old/]\n---\n"
    write(root / "content/posts/a.md", f"{head}It is $x$.\n")
    time.sleep(TICK_S)
    build_whole(root)
    add(root, "content/posts/a.md", "\nOne more sentence.\n")
    expect_edit(root, "content/posts/a.md")
    assert "/old/" in (root / "public/_redirects").read_text(encoding="utf-8")
    time.sleep(TICK_S)
    write(root / "content/posts/a.md", f"{head.replace('/old/', '/older/')}It is $x$.\n")
    expect_build(root)
    assert "/older/" in (root / "public/_redirects").read_text(encoding="utf-8")


def test_texts_that_readers_search(tmp_path: Path) -> None:
    """Files of the index with unchanged bytes are not rewritten."""
    root = tmp_path / "site"
    for name in ("a", "b", "c"):
        text = f"tags: [owl]\n---\nA first sentence.\n\n## Part\n\nIt is $x + {name} = 1$.\n"
        write(root / f"content/posts/{name}.md", f"---\ntitle: {name}\n{text}")
    write(root / "content/posts/b.fr.md", "---\ntitle: b\nlang: fr\n---\nUne chouette.\n")
    write(root / "blogsmith.yaml", "title: S\nsearch: true\nlanguages: {fr: {}}\n")
    time.sleep(TICK_S)
    build_whole(root)
    unchanged = (root / "public/search/pages.json").stat().st_mtime_ns
    add(root, "content/posts/b.md", "\nOwls are wombats, sometimes.\n")
    expect_edit(root, "content/posts/b.md")
    assert "wombats" in (root / "public/search/terms-0.json").read_text()
    assert (root / "public/search/pages.json").stat().st_mtime_ns == unchanged
    time.sleep(TICK_S)
    add(root, "content/posts/a.md", "\nAnd $1 = a + x$ is another.\n")
    add(root, "content/posts/b.fr.md", "\nUn wombat.\n")
    expect_edit(root, "content/posts/a.md", "content/posts/b.fr.md")
    again = build_whole(root)
    assert (again.written, again.rebuilt) == (0, {})


def test_lines_that_move(site: Path) -> None:
    """Pages that refer to a label depend on its position, and are rebuilt, too."""
    text = POSTS[B].replace("$$x = 1$$", "A first sentence.\n\n$$x = 1$$")
    write(site / B, text)
    # a first sentence is the description of the page, which lists show
    expect_build(site)
    write(site / B, text.replace("A first sentence.", "A first sentence.\n\nA second one."))
    expect_edit(site, A, B)


def test_files_that_are_replaced(site: Path) -> None:
    """Many editors write a new file and rename it."""
    other = site / "content/.a.md.new"
    other.write_text(POSTS[A] + "\nOne more sentence.\n", encoding="utf-8")
    other.replace(site / A)
    expect_edit(site, A)


@pytest.mark.parametrize(
    "text",
    [
        POSTS[ABOUT].replace("title: About", "title: On us"),
        POSTS[ABOUT] + "\n## A heading\n",
        POSTS[ABOUT] + "\n$$y$$ {#eq-y}\n",
        POSTS[ABOUT] + "\n[b](posts/b.md)\n",
        POSTS[ABOUT] + "\n$\\aleph$\n",
        "---\ntitle: About\n---\nAnother beginning. [](posts/a.md)\n",
        POSTS[ABOUT] + "\n```python run\nprint(1)\n```\n",
    ],
    ids=["title", "anchor", "label", "link", "sign", "description", "cell"],
)
def test_what_others_see(text: str, site: Path) -> None:
    write(site / ABOUT, text)
    expect_build(site)


@pytest.mark.parametrize("text", ["[](gone.md)", "$\\wrong$", "![](gone.png)"])
def test_mistakes(text: str, site: Path) -> None:
    add(site, ABOUT, f"\n{text}\n")
    found = expect_build(site)
    assert found
    # and once more, when they are gone
    write(site / ABOUT, POSTS[ABOUT] + "\nAnother text.\n")
    assert not expect_build(site)


@pytest.mark.parametrize("what", ["new", "gone", "image", "settings", "static"])
def test_other_files(what: str, site: Path) -> None:
    add(site, A, "\nOne more sentence.\n")
    if what == "new":
        write(site / "content/posts/d.md", POSTS[A])
    elif what == "gone":
        (site / B).unlink()
    elif what == "image":
        add(site, "content/posts/c/one.svg", "<!-- -->")
    else:
        add(site, "blogsmith.yaml" if what == "settings" else "static/data.txt", "\n")
    expect_build(site)


def test_lists_that_show_texts(site: Path) -> None:
    write(site / "layouts/section.html", "{% for post in page.pages %}{{ post.content }}{% endfor %}\n")
    time.sleep(TICK_S)
    build_whole(site)
    add(site, A, "\nOne more sentence.\n")
    expect_build(site)


@pytest.mark.parametrize("what", ["a check", "a build"])
def test_rows_of_something_else(what: str, site: Path) -> None:
    """The cached data belongs to another text than the site."""
    add(site, ABOUT, "\n## A heading\n")
    build(site, use_cache=True, write=what == "a build", output=site.with_name("elsewhere"))
    time.sleep(TICK_S)
    write(site / ABOUT, (site / ABOUT).read_text(encoding="utf-8") + "\nA sentence.\n")
    expect_build(site)


def test_output_that_somebody_has_touched(site: Path) -> None:
    """The folder was changed since the last build: missing or changed files are written again."""
    add(site, A, "\nOne more sentence.\n")
    (site / "public/about/index.html").unlink()
    (site / "public/posts/b/index.html").write_text("not ours")
    expect_edit(site, A)


def test_sources_that_are_saved_at_the_same_moment(site: Path) -> None:
    """Files saved at almost the same time have unreliable stamps."""
    for text in ("One", "Two"):
        add(site, A, f"\n{text} more sentence.\n")
        report = build(site, use_cache=True, request_digest="the same", output=site / "public")
        assert set(report.rebuilt) == {A}
        expect_clean(site, report)


def fail(html: str, page: object) -> str:
    raise ValueError("wrong")


def test_a_plugin_that_fails(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its failure is reported as in a clean build."""

    def open_site(*arguments: Any, **named: Any) -> SiteContext:
        context = context_module.open_site(*arguments, **named)
        plugins = replace(context.plugins, page_filters=(("failing", fail),), files={__file__: "failing"})
        return replace(context, plugins=plugins)

    monkeypatch.setattr(load, "open_site", open_site)
    add(site, A, "\nOne more sentence.\n")
    found = expect_build(site)
    assert "failing" in found[0].message
