"""Every field that a page may depend on declares its scope, and the pipeline uses it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import msgspec
import pytest

from blogsmith.build.incremental import UpdateRequest
from blogsmith.config.schema import Config
from blogsmith.model.documents import FrontMatter
from blogsmith.model.scopes import FieldScope, OfPage, OfSite, scoped_fields
from blogsmith.model.template_views import PageView
from blogsmith.render.tools import SiteAccess
from blogsmith.rows import trace
from tests.build_scripts import compare
from tests.preview_sites import new_line, settled
from tests.site_files import build, put_bare
from tests.test_preview_line import POSTS, write

FIELDS = MappingProxyType(
    {
        Config: Config.__struct_fields__,
        PageView: PageView.__struct_fields__,
        FrontMatter: tuple(field.name for field in dataclasses.fields(FrontMatter)),
    }
)
SETTINGS = MappingProxyType(
    {
        "title": "Another",
        "description": "Another site.",
        "menu": "[{title: About, url: /about/}]",
        "theme_options": "{color_scheme: dark}",
        "pagination": "1",
        "archive_pagination": "1",
        "feeds": "false",
        "social_cards": "false",
        "llms_txt": "true",
        "toc": "false",
        "comments": "{provider: utterances, repo: a/b}",
        "analytics": "{provider: goatcounter, site: notes}",
        "share": "[email]",
        "diagnostics": "{link-missing: warning}",
        "build": "{executor: local}",
        "orcids": "{Ada: 0000-0002-1825-0097}",
        "citable": "true",
        "notebook": "true",
        "pdf": "true",
        "license": "CC-BY-4.0",
        "links": "{pause: 2}",
        "budget": "{hosts: 1}",
        "sections": "{posts: {require: [date]}}",
        "tags": "{x: Logic}",
        "publish": "netlify",
    }
)
"""Settings that do not affect content → another value."""
SHOWS_ALL = (
    "{{ site.title }}{{ site.description }}{{ site.menu }}{{ site.options }}{{ page.toc }}"
    "{{ page.citation }}{{ page.downloads }}{{ page.comments }}{{ site.counting }}{{ site.share }}\n"
)
HEADS = MappingProxyType(
    {
        "lang": "de",
        "translation_key": "other",
        "slug": "elsewhere",
        "permalink": "/else/where.html",
        "date": "2024-02-03",
        "draft": "true",
        "publish_date": "2099-01-01",
        "expiry_date": "2020-01-01",
        "series": "{name: S, part: 1}",
        "aliases": "[/old/]",
        "tags": "[new]",
        "categories": "[new]",
        "listing": "false",
        "template": "manual",
        "tree": "{Start: [a.md]}",
        "unlisted": "true",
        "search": "false",
    }
)
"""Front matter keys that move a page within its site → another value."""


@pytest.mark.parametrize("record", FIELDS, ids=lambda record: record.__name__)
def test_each_field_has_one_scope(record: type) -> None:
    found = [name for scope in FieldScope for name in scoped_fields(record, scope)]
    assert sorted(found) == sorted(FIELDS[record])


class Bare(msgspec.Struct):
    mine: OfPage[str]
    nobodys: str


class Twice(msgspec.Struct):
    both: Annotated[OfPage[int], FieldScope.SITE]


class Good(msgspec.Struct):
    mine: OfPage[str]
    ours: OfSite[tuple[str, ...]]


def test_a_field_without_a_scope_is_refused() -> None:
    assert scoped_fields(Good, FieldScope.SITE) == ("ours",)
    with pytest.raises(TypeError, match=r"Bare\.nobodys is declared with 0 scopes"):
        scoped_fields(Bare, FieldScope.PAGE)
    with pytest.raises(TypeError, match=r"Twice\.both is declared with 2 scopes"):
        scoped_fields(Twice, FieldScope.PAGE)


@pytest.mark.parametrize("name", scoped_fields(Config, FieldScope.SITE))
def test_a_setting_that_reaches_no_text(name: str, tmp_path: Path) -> None:
    """No content is regenerated for it, and the site equals that of a clean build."""
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    write(root / "themes/bare/theme.yaml", "name: bare\noptions: {color_scheme: light}\n")
    for layout in (root / "themes/bare/layouts").iterdir():
        layout.write_text(f"{layout.read_text()}{SHOWS_ALL}")
    cell = "```{python}\n1\n```\n" if name == "notebook" else ""
    write(root / "content/two.md", f"## One\n\n## Two\n{cell}")
    config = (root / "blogsmith.yaml").read_text()
    config += "" if "base_url" in config else "base_url: https://example.org\n"
    write(root / "blogsmith.yaml", config)
    build(root, use_cache=True)
    lines = [line for line in config.splitlines() if not line.startswith(f"{name}:")]
    write(root / "blogsmith.yaml", "\n".join([*lines, f"{name}: {SETTINGS[name]}", ""]))
    report = compare(root)
    assert report.ok, report.diagnostics
    # the process, diagnostics and unused authors are not visible on pages
    is_seen = name not in ("build", "diagnostics", "orcids", "links", "budget", "sections")
    assert (report.rebuilt, report.written + report.removed > 0) == ({}, is_seen)


@pytest.mark.parametrize("name", scoped_fields(FrontMatter, FieldScope.SITE))
def test_a_key_that_moves_a_page(name: str, tmp_path: Path) -> None:
    """If it changes, the page is not updated alone."""
    put_bare(tmp_path, {"content/posts/a.md": "---\ntitle: A\n---\nText.\n"})
    line = new_line(tmp_path)
    present = settled(line)
    path, head = "content/posts/a.md", f"title: A\n{name}: {HEADS[name]}"
    asked = UpdateRequest((path,), everything=False)
    write(tmp_path / path, "---\ntitle: B\n---\nAnother text.\n")
    assert line.update_page(present, path, asked) is not None
    write(tmp_path / path, f"---\n{head}\n---\nText.\n")
    assert line.update_page(present, path, asked) is None


def test_what_pages_ask_of_the_site_is_written_down() -> None:
    """A function of `SiteAccess` that is not traced may depend on its arguments and on settings alone."""
    traced = {*trace._PAGE_LOOKUPS, *trace._SHARED, trace._TEMPLATES}
    plain = {"config", "parser", "theme", "plugins", "mark_lines", "cached_fragments"}
    of_arguments = {"lex_code", "formula", "plugin_formula", "language"}
    assert traced == set(SiteAccess.__struct_fields__) - plain - of_arguments
