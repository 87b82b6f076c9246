"""An edit of a text that nobody else can see is built without a look at the rest of the site."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.model.scopes import FieldScope, scoped_fields
from blogsmith.model.template_views import PageView
from blogsmith.pipeline import page_edit
from blogsmith.pipeline.build_stamps import compare_build
from blogsmith.pipeline.outline_rows import PagePlace
from blogsmith.pipeline.page_edit import build_edit
from blogsmith.project import context as context_module
from blogsmith.project.context import SiteContext
from blogsmith.project.report import BuildOptions, BuildReport
from blogsmith.write import output
from tests.preview_sites import built
from tests.site_files import NOW, build, put_bare
from tests.test_preview_line import POSTS, write

A = "content/posts/a.md"
B = "content/posts/b.md"
ABOUT = "content/about.md"
TICK_S = 0.06


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of a few posts that has been built, long enough ago for stamps to tell."""
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    time.sleep(TICK_S)
    build_whole(root)
    return root


def build_whole(root: Path) -> BuildReport:
    report = build(root, remembers=True, question="the same", output=root / "public")
    time.sleep(TICK_S)
    return report


def build_edited(root: Path) -> BuildReport | None:
    last = compare_build(str(root), "the same", NOW.timestamp(), write=True)
    assert last is not None
    options = BuildOptions(now=NOW, remembers=True, question="the same", output=root / "public")
    return build_edit(root, options, last)


def expect_edit(root: Path, *paths: str) -> None:
    """These pages are made anew, and no other; the site is what a clean build gives."""
    report = build_edited(root)
    assert report is not None
    assert set(report.rebuilt) == set(paths)
    clean = build(root, output=root.with_name("fresh"))
    assert built(root / "public") == built(root.with_name("fresh"))
    assert report.diagnostics == clean.diagnostics
    for name in ("pages", "formulas", "code_blocks", "images", "drafts", "scheduled", "cells"):
        assert getattr(report, name) == getattr(clean, name), name


def expect_build(root: Path) -> tuple[Diagnostic, ...]:
    """More than a text may be another one; gives what the whole build says."""
    assert build_edited(root) is None
    report = build_whole(root)
    clean = build(root, output=root.with_name("fresh"))
    assert report.diagnostics == clean.diagnostics
    assert not report.ok or built(root / "public") == built(root.with_name("fresh"))
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
    """A font for formulas and a social card belong to the page, not to what feeds have of it."""
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
    """A page's own Markdown is made with it; the list of all of them names no text."""
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
    """They are made from the places of pages and the names of files, which no text changes."""
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
    """Of the index the files that hold what has changed are made anew, from what they were."""
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
    # what this has left is known to a whole build
    time.sleep(TICK_S)
    again = build_whole(root)
    assert (again.written, again.rebuilt) == (0, {})


def test_lines_that_move(site: Path) -> None:
    """Where labels stand matters to nobody else."""
    text = POSTS[B].replace("$$x = 1$$", "A first sentence.\n\n$$x = 1$$")
    write(site / B, text)
    # a first sentence is the description of the page, which lists show
    assert build_edited(site) is None
    build_whole(site)
    write(site / B, text.replace("A first sentence.", "A first sentence.\n\nA second one."))
    expect_edit(site, B)


def test_files_that_are_replaced(site: Path) -> None:
    """Many editors write another file and give it the old name."""
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
    last = compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert last is None or build_edited(site) is None
    assert not build_whole(site).diagnostics


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
    assert compare_build(str(site), "the same", NOW.timestamp(), write=True) is None


def test_lists_that_show_texts(site: Path) -> None:
    write(site / "layouts/section.html", "{% for post in page.pages %}{{ post.content }}{% endfor %}\n")
    time.sleep(TICK_S)
    build_whole(site)
    add(site, A, "\nOne more sentence.\n")
    expect_build(site)


@pytest.mark.parametrize("what", ["a check", "a build"])
def test_rows_of_something_else(what: str, site: Path) -> None:
    """What is kept was made of another text than the site was."""
    add(site, ABOUT, "\n## A heading\n")
    build(site, remembers=True, write=what == "a build", output=site.with_name("elsewhere"))
    time.sleep(TICK_S)
    write(site / ABOUT, (site / ABOUT).read_text(encoding="utf-8") + "\nA sentence.\n")
    expect_build(site)


def test_another_build_in_between(site: Path) -> None:
    """The folder is no longer as it was compared."""
    add(site, A, "\nOne more sentence.\n")
    last = compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert last is not None
    (site / "public/about/index.html").unlink()
    options = BuildOptions(now=NOW, remembers=True, question="the same", output=site / "public")
    build_edit(site, options, last)
    expect_whole(site)


def expect_whole(root: Path) -> None:
    """Whatever an edit has done, the next build sees that the folder was touched."""
    assert compare_build(str(root), "the same", NOW.timestamp(), write=True) is None
    build_whole(root)
    build(root, output=root.with_name("fresh"))
    assert built(root / "public") == built(root.with_name("fresh"))


def test_sources_that_are_saved_at_the_same_moment(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that stamps might not tell from the next one is waited for."""
    # a machine that is busy may take longer than a tick until it asks
    monkeypatch.setattr(page_edit, "TICK_NS", 60_000_000_000)
    add(site, A, "\nOne more sentence.\n")
    os.utime(site / A)
    waits: list[float] = []
    last = compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert last is not None

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        time.sleep(TICK_S)

    options = BuildOptions(now=NOW, remembers=True, question="the same", output=site / "public")
    assert build_edit(site, options, last, sleep)
    assert len(waits) == 1
    assert 0 < waits[0] < 61
    found = compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert found is not None
    assert found.changed == ()


def test_what_is_kept_of_a_place() -> None:
    """All of a view that comes from the rest of the site, but what only lists have."""
    lists = {"pages", "groups", "page_groups", "pager"}
    assert set(PagePlace.__struct_fields__) == {"kind", *scoped_fields(PageView, FieldScope.SITE)} - lists


def test_a_plugin_that_fails(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its failure is told by the build of the whole site."""

    def fail(html: str, page: object) -> str:
        raise ValueError("wrong")

    def open_site(*arguments: Any, **named: Any) -> SiteContext:
        context = context_module.open_site(*arguments, **named)
        plugins = replace(context.plugins, page_filters=(("failing", fail),), files={__file__: "failing"})
        return replace(context, plugins=plugins)

    monkeypatch.setattr(page_edit, "open_site", open_site)
    add(site, A, "\nOne more sentence.\n")
    assert build_edited(site) is None


def test_what_is_done_to_the_site_meanwhile(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit looks again at what it has written alone; the next build sees what others did to the rest."""
    other = site / "public/robots.txt"
    replace_output = output.replace_output

    def touching(*arguments: Any, **options: Any) -> object:
        done = replace_output(*arguments, **options)
        other.write_bytes(other.read_bytes() + b"# mine\n")
        return done

    add(site, ABOUT, "\nA sentence.\n")
    assert build_edited(site) is not None
    unchanged = compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert unchanged is not None and not unchanged.changed
    time.sleep(TICK_S)
    monkeypatch.setattr(page_edit, "replace_output", touching)
    add(site, ABOUT, "\nAnother one.\n")
    assert build_edited(site) is not None
    assert compare_build(str(site), "the same", NOW.timestamp(), write=True) is None
