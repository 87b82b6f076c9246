"""The systems whose pages are Markdown: settings, URLs, and the conversion of their constructs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.main import main
from blogsmith.importers.markdown_sites.calls import (
    CALLS,
    convert_calls,
    convert_containers,
    convert_franklin,
    convert_mdx,
    dedent_components,
)
from blogsmith.importers.markdown_sites.independent import render_page
from blogsmith.importers.source_files import source_root
from blogsmith.importers.systems import find_system, load_system, system_names
from blogsmith.importers.text.data import read_literals
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.rows import each_row, examples
from tests.site_files import build, put


@pytest.mark.parametrize("path", text_files("markdown_sites"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert done.site.system == path.stem
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts markdown_sites"
    assert not done.check.differences
    assert build(tmp_path / "new").ok
    assert run_import(text, tmp_path).files == done.files


_UNREAD: Mapping[str, Mapping[str, str]] = {
    "sphinx": {"docs/conf.py": "project='X'\n", "docs/index.rst": "T\n=\n", "demo.ipynb": "{}"},
    "distill": {"_site.yml": "output: distill::distill_article\n", "_posts/a/a.Rmd": "---\ntitle: A\n---\n"},
    "wordpress": {"export.xml": '<rss xmlns:wp="http://wordpress.org/export/1.2/"></rss>'},
    "org": {"posts/a.org": "#+title: A\n", "README.md": "The sources.\n"},
    "rst": {"a.rst": "A\n=\n"},
    "hugo": {"hugo.toml": "title = 'X'\n", "content/posts/a.org": "#+title: A\n"},
    "pelican": {"pelicanconf.py": "SITENAME = 'X'\n", "content/a.rst": "A\n=\n"},
}


@pytest.mark.parametrize("name", _UNREAD)
def test_a_system_that_is_not_read_is_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "old", _UNREAD[name])
    assert find_system(source_root(tmp_path / "old")) is load_system(name)
    assert main(["import", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    out, err = capsys.readouterr()
    assert "imported" not in out
    assert "hint: " in err
    assert not (tmp_path / "new").exists()


def test_an_export_of_wordpress_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, _UNREAD["wordpress"])
    assert main(["import", str(tmp_path / "export.xml"), str(tmp_path / "new")]) == 1
    assert 'missing importer for "WordPress"' in capsys.readouterr().err


@each_row(
    ("file", "name"),
    [("a.adoc", "AsciiDoc"), ("content/contents.lr", "Lektor"), ("index.html", "HTML"), ("a.typ", "Typst")],
)
def test_pages_of_another_format_are_named(file: str, name: str) -> None:
    with TemporaryDirectory() as folder:
        put(Path(folder), {file: "Text.\n"})
        with pytest.raises(SiteError) as error:
            find_system(source_root(Path(folder)))
    (found,) = error.value.diagnostics
    assert found.message == f'missing importer for "{name}": no page can be imported'
    assert "--from folder" in found.hint


def test_the_manual_names_every_system() -> None:
    manual = Path("content/docs/moving.md").read_text("utf-8")
    assert [name for name in system_names() if load_system(name).title not in manual] == []


@each_row(
    ("text", "expected"),
    [
        ("x = {a: 'b', \"c\": `d`}", {"a": "b", "c": "d"}),
        ("f({a: {b: [1, 'two', x.y], c: true}, d: g})", {"a.b": ["1", "two", "x.y"], "a.c": True}),
        ("/* a: 'b' */ ({a: /* no */ 'it\\'s', // b: 'c'\n})", {"a": "it's"}),
        ("{a: cond ? 'b' : 'c'}}}])", {"a": "b"}),
        ("{" * 500 + "a: 'b'", {"a": "b"}),
        ("", {}),
        ("// nothing\n", {}),
    ],
)
def test_literals_of_scripts(text: str, expected: dict[str, object]) -> None:
    assert read_literals(text) == expected


_PIECES = (
    ":::",
    ":::note[",
    "]\n",
    ":::\n",
    "<Tab",
    "<A b={",
    "}",
    "/>",
    "</A>",
    ">",
    "import x from 'y'\n",
    "\n",
)
_MORE = (
    "export const a = ",
    "{%",
    "%}",
    "{{",
    "}}",
    " note ",
    "end",
    "@@note\n",
    "@@\n",
    "~~~\n",
    "```\n",
    "$",
    "a",
)


@examples(60)
@given(st.lists(st.sampled_from((*_PIECES, *_MORE, *("  ", "- ", "\t"))), max_size=30).map("".join))
def test_any_text_is_converted(text: str) -> None:
    convert_containers(dedent_components(convert_franklin(text)))
    convert_mdx(text, lambda *_: None)
    for name, pattern in CALLS.items():
        convert_calls(text, pattern, {}, lambda *_: None)
        render_page(text, text, name)
    render_page(text, text, "mdx")
