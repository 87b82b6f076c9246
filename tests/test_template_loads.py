"""A finished page depends exactly on the templates that were looked up while it was made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from blogsmith.build.plan import OutputPlan
from blogsmith.render.policy.policy import GuardedPage
from tests.build_scripts import compare
from tests.site_files import build, put, put_bare

POST = "---\ntitle: {}\ndate: 2026-01-0{}\ntags: [one]\n---\nA text.\n"
LAYOUT = """<!DOCTYPE html><html lang=en><title>{{ page.title }}</title>
{% from "partials/outer.html" import mark %}
{{ mark() }}{% include "partials/late.html" ignore missing %}
{% include ["partials/first.html", "partials/second.html"] %}
"""
FILES = {
    "blogsmith.yaml": "title: S\n",
    "content/posts/a.md": POST.format("A", 1),
    "content/posts/b.md": POST.format("B", 2),
    "layouts/post.html": LAYOUT,
    "partials/outer.html": (
        '{% from "partials/inner.html" import sign %}{% macro mark() %}<i>{{ sign() }}</i>{% endmacro %}'
    ),
    "partials/inner.html": "{% macro sign() %}old{% endmacro %}",
    "partials/second.html": "<b>second</b>",
    "partials/unused.html": "nobody includes it",
}
POSTS = {"/posts/a/", "/posts/b/"}


@pytest.fixture
def made() -> Iterator[set[str]]:
    """Yield the URLs of the pages whose templates are filled."""
    urls: set[str] = set()
    page = OutputPlan.page

    def fill(self: OutputPlan, view: object) -> GuardedPage:
        urls.add(view.url)  # type: ignore[attr-defined]
        return page(self, view)  # type: ignore[arg-type]

    with patch.object(OutputPlan, "page", fill):
        yield urls


EDITS = {
    "layouts/post.html": (LAYOUT + "{# other #}", POSTS),
    "partials/inner.html": ("{% macro sign() %}new{% endmacro %}", POSTS),
    "partials/late.html": ("<b>late</b>", POSTS),
    "partials/first.html": ("<b>first</b>", POSTS),
    "partials/unused.html": ("still nobody", set[str]()),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_remakes_who_looked_for_the_template(name: str, tmp_path: Path, made: set[str]) -> None:
    text, expected = EDITS[name]
    root = put_bare(tmp_path / "site", FILES)
    build(root, use_cache=True, output=root / "public")
    put(root, {name: text})
    made.clear()
    build(root, use_cache=True, output=root / "public")
    assert made == expected
    assert (expected != POSTS) or compare(root).ok


def test_a_template_that_goes(tmp_path: Path, made: set[str]) -> None:
    root = put_bare(tmp_path / "site", {**FILES, "partials/late.html": "<b>late</b>"})
    build(root, use_cache=True, output=root / "public")
    (root / "partials/late.html").unlink()
    made.clear()
    build(root, use_cache=True, output=root / "public")
    assert made == POSTS
    compare(root)
    assert "late" not in (root / "public/posts/a/index.html").read_text("utf-8")


def test_each_page_that_imports_depends_on_what_the_macros_took(tmp_path: Path, made: set[str]) -> None:
    """Macros are made once for all pages: the second page loads none of their templates."""
    root = put_bare(tmp_path / "site", FILES)
    build(root, use_cache=True, output=root / "public")
    put(root, {"content/posts/b.md": POST.format("B", 2) + "\nMore.\n"})
    build(root, use_cache=True, output=root / "public")
    put(root, {"partials/inner.html": "{% macro sign() %}new{% endmacro %}"})
    compare(root)
    pages = [(root / f"public/posts/{name}/index.html").read_text("utf-8") for name in "ab"]
    assert all("<i>new</i>" in page for page in pages)


BARE_STATIC = "themes/bare/static/own.css"
EDITED = {"partials/unused.html": "another one", BARE_STATIC: "a { color: red }"}


@pytest.mark.parametrize(
    ("shortcode", "edited", "is_anew"),
    [
        ("<b>plain</b>", "partials/unused.html", False),
        ("<b>plain</b>", BARE_STATIC, False),
        ('{% include "partials/unused.html" %}', "partials/unused.html", True),
        ('{% set name = "partials/unused.html" %}{% include name %}', "partials/unused.html", True),
        ('{% set address = asset %}{{ address("own.css") }}', BARE_STATIC, True),
    ],
)
def test_texts_depend_on_what_shortcodes_may_load(
    shortcode: str, edited: str, is_anew: bool, tmp_path: Path
) -> None:
    text = POST.format("A", 1) + "\n{% own %}\n"
    files = {**FILES, BARE_STATIC: "a { color: blue }", "shortcodes/own.html": shortcode}
    root = put_bare(tmp_path / "site", {**files, "content/posts/a.md": text})
    assert build(root, use_cache=True, output=root / "public").ok
    put(root, {edited: EDITED[edited]})
    found = build(root, use_cache=True, output=root / "public").rebuilt
    assert set(found) == ({"content/posts/a.md"} if is_anew else set())
    compare(root)
