"""Compiled templates in the cache: compiled again if any input has changed."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from unittest.mock import patch

import msgspec
import pytest

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import NullCache, Row
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.program import open_rows
from blogsmith.render.templates import environment
from blogsmith.rows.template_rows import TemplateRows
from tests.build_scripts import compare
from tests.cached_rows import change_cache, change_row, read_row
from tests.preview_sites import built
from tests.site_files import build, put, put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\ntext {% note %}\n"
FILES = {"blogsmith.yaml": "title: S\n", "content/a.md": POST, "shortcodes/note.inline.html": "<i>n</i>"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the first site of a user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = put_bare(tmp_path / "site", FILES)
    build(root, use_cache=True, output=root / "public")
    return root


@pytest.fixture
def compiled() -> Iterator[list[str | None]]:
    """Yield the names of the templates that are compiled, as in a fresh process."""
    names: list[str | None] = []
    original = environment._code.__wrapped__

    def compile_template(source: str, name: str | None, filename: str | None) -> CodeType:
        names.append(name)
        return original(source, name, filename)

    with patch.object(environment, "_code", compile_template):
        yield names


def stored(root: Path) -> dict[str, tuple[str, bytes]]:
    row = read_row(root, "templates", "theme")
    return msgspec.msgpack.decode(row.data, type=dict[str, tuple[str, bytes]])


def test_templates_are_compiled_once(site: Path, compiled: list[str | None]) -> None:
    first = built(site / "public")
    names = set(stored(site))
    assert {"layouts/page.html", "layouts/home.html"} <= names
    put(site, {"content/a.md": POST.replace("text", "another text")})
    build(site, use_cache=True, output=site / "public")
    assert compiled == []
    assert built(site / "public") != first
    # those that this build did not need still exist
    assert set(stored(site)) == names


def test_a_template_that_changes_is_compiled_alone(site: Path, compiled: list[str | None]) -> None:
    put(site, {"shortcodes/note.inline.html": "<b>another</b>"})
    build(site, use_cache=True, output=site / "public")
    assert compiled == ["shortcodes/note.inline.html"]
    assert b"<b>another</b>" in (site / "public/a/index.html").read_bytes()
    compare(site)


def test_a_template_that_moves_is_compiled_again(site: Path, compiled: list[str | None]) -> None:
    """Its path is in messages about it."""
    lesser, own = site / "themes/bare/layouts/page.html", site / "layouts/page.html"
    own.parent.mkdir()
    lesser.rename(own)
    put(site, {"content/a.md": POST.replace("text", "another text")})
    build(site, use_cache=True, output=site / "public")
    assert "layouts/page.html" in compiled


def test_templates_that_are_gone_are_not_kept(site: Path) -> None:
    assert "shortcodes/note.inline.html" in stored(site)
    (site / "shortcodes/note.inline.html").unlink()
    put(site, {"content/a.md": "text\n"})
    compare(site)
    assert "shortcodes/note.inline.html" not in stored(site)


def test_mistakes_have_the_same_place(site: Path) -> None:
    layout = site / "layouts/page.html"
    put(
        site,
        {"layouts/page.html": "<p>\n{% if page.series %}{{ page.nothing }}{% endif %}"},
    )
    compare(site)
    text = layout.read_text().replace("page.series", "page.title")
    put(site, {"layouts/page.html": text})
    first, again = build(site, use_cache=True), build(site, use_cache=True)
    assert again.diagnostics == first.diagnostics == build(site).diagnostics
    assert first.diagnostics[0].place is not None


@pytest.mark.parametrize("data", [b"", b"[" * 50, msgspec.msgpack.encode({"layouts/page.html": 1})])
def test_a_row_that_is_damaged(data: bytes, site: Path, compiled: list[str | None]) -> None:
    build_with_row(site, data)
    assert "layouts/page.html" in compiled
    compare(site)


@pytest.mark.parametrize(
    "code", [b"", b"\xff" * 9, marshal.dumps("text"), marshal.dumps(compile("1", "x", "exec"))[:-9]]
)
def test_code_that_is_damaged(code: bytes, site: Path, compiled: list[str | None]) -> None:
    damaged = {name: (digest, code) for name, (digest, _) in stored(site).items()}
    build_with_row(site, msgspec.msgpack.encode(damaged))
    assert "layouts/page.html" in compiled
    compare(site)


def build_with_row(root: Path, data: bytes) -> None:
    """Build a page again, with this cached row of templates."""
    with open_rows(root) as rows:
        rows.put("templates", "theme", Row(rows.program, data))
    put(root, {"content/a.md": POST.replace("text", "another text")})
    assert build(root, use_cache=True, output=root / "public").ok


def test_code_of_another_program_is_not_taken(site: Path, compiled: list[str | None]) -> None:
    with open_rows(site) as rows:
        row = rows.get("templates", "theme")
        assert row is not None
        rows.put("templates", "theme", Row("another one", row.data))
        templates = TemplateRows(rows)
    (digest, _) = stored(site)["layouts/page.html"]
    assert templates.get("layouts/page.html", digest) is None


def test_a_build_from_nothing_compiles(site: Path, compiled: list[str | None]) -> None:
    assert build(site).ok
    assert "layouts/page.html" in compiled
    for _ in range(2):
        templates = TemplateRows(NullCache())
        assert templates.get("a", "digest") is None
        templates.put("a", "digest", compile("1", "a", "exec"))
        templates.save({"a"})
    assert "a" not in stored(SHARED)


def test_a_new_site_begins_with_what_its_user_has_compiled(site: Path, compiled: list[str | None]) -> None:
    other = put_bare(site.with_name("other"), FILES)
    assert build(other, use_cache=True, output=other / "public").ok
    assert "layouts/page.html" not in compiled
    assert stored(other)["layouts/page.html"] == stored(site)["layouts/page.html"]
    compare(other)


SHARED = bundled_folder("themes")
"""Path of the cache that all sites of a user share."""


def build_other(root: Path) -> Path:
    other = put_bare(root.with_name("other"), FILES)
    assert build(other, use_cache=True, output=other / "public").ok
    compare(other)
    return other


@pytest.mark.parametrize("data", [b"", b"[" * 50, msgspec.msgpack.encode({"layouts/page.html": 1})])
def test_templates_of_the_user_that_are_damaged(data: bytes, site: Path, compiled: list[str | None]) -> None:
    change_row(SHARED, "templates", "theme", Row(read_row(SHARED, "templates", "theme").key, data))
    build_other(site)
    assert "layouts/page.html" in compiled


def test_a_cache_of_the_user_that_is_damaged(site: Path, compiled: list[str | None]) -> None:
    """It is replaced; no site is affected."""
    cache_path(SHARED).write_bytes(b"no database")
    build_other(site)
    assert "layouts/page.html" in compiled
    assert "layouts/page.html" in stored(SHARED)


def test_templates_of_the_user_for_another_program(site: Path, compiled: list[str | None]) -> None:
    assert change_cache(SHARED, "UPDATE rows SET key = 'another program'") == 1
    build_other(site)
    assert "layouts/page.html" in compiled
    assert read_row(SHARED, "templates", "theme").key == read_row(site, "templates", "theme").key


def test_templates_of_a_site_that_was_built_before_are_its_own(site: Path) -> None:
    """Only a site without any starts with those of the user."""
    with open_rows(SHARED) as rows:
        rows.put("templates", "theme", Row(rows.program, msgspec.msgpack.encode({"never": ("used", b"")})))
    compare(site)
    assert "never" not in stored(site)
