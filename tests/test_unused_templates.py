"""Templates of a site that nothing uses are reported, and no others."""

from __future__ import annotations

from pathlib import Path

from blogsmith.stages.unused_templates import KIND_LAYOUTS
from tests.conftest import ROOT
from tests.rows import each_row
from tests.site_files import build, put, put_bare

POST = "---\ntitle: A\ndate: 2026-03-01\n---\n\nText.\n"


def unused(root: Path, files: dict[str, str]) -> list[str]:
    """Return the paths of unused templates in a site with a post and these files."""
    put(root, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST, **files})
    return [found.path for found in build(root).diagnostics if found.code == "template-unused"]


def test_kinds_of_pages_have_a_layout() -> None:
    assert {file.stem for file in (ROOT / "themes/paper/layouts").iterdir()} > KIND_LAYOUTS


@each_row(
    ("tag", "expected"),
    [
        ('{% include "partials/x.html" %}', []),
        ("{%- from 'partials/x.html' import a -%}", []),
        ('{% include ["partials/y.html", "partials/x.html"] ignore missing %}', []),
        ('{% include "partials/x.html" if page.date else "partials/toc.html" %}', []),
        # the name is computed, so it may be any
        ('{% include "partials/" ~ page.kind ~ ".html" ignore missing %}', []),
        ("{% include name ignore missing %}", []),
        ('{# {% include "partials/x.html" %} #}', ["partials/x.html"]),
        ('{% include "partials/toc.html" %}', ["partials/x.html"]),
    ],
)
def test_templates_that_load_a_partial(tmp_path: Path, tag: str, expected: list[str]) -> None:
    head = '{% extends "paper/layouts/post.html" %}{% set name = "partials/toc.html" %}'
    post = f"{head}{{% block after_content %}}{tag}{{% endblock %}}"
    files = {"layouts/post.html": post, "partials/x.html": "{% macro a() %}{% endmacro %}"}
    assert unused(tmp_path, files) == expected


def test_a_theme_of_the_site_is_checked(tmp_path: Path) -> None:
    put_bare(tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST})
    put(tmp_path, {"themes/bare/layouts/search.html": "", "themes/bare/layouts/serch.html": ""})
    assert [found.path for found in build(tmp_path).diagnostics] == ["themes/bare/layouts/serch.html"]


def test_a_post_that_names_a_layout_ends_its_warning(tmp_path: Path) -> None:
    layout = {"layouts/wide.html": '{% extends "paper/layouts/post.html" %}'}
    assert unused(tmp_path, layout) == ["layouts/wide.html"]
    assert unused(tmp_path, {"content/posts/b.md": POST.replace("date", "template: wide\ndate")}) == []
    assert unused(tmp_path, {"content/posts/b.md": POST}) == ["layouts/wide.html"]
