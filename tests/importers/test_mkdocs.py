"""MkDocs: the conversion of its constructs, without losses."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.importers.mkdocs.config import MkDocsConfig, read_config
from blogsmith.importers.mkdocs.independent import render_python_markdown
from blogsmith.importers.mkdocs.links import link_table
from blogsmith.importers.mkdocs.page import MkDocsPageTranslator
from blogsmith.importers.mkdocs.source import MkDocsDocument
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.rows import examples


@pytest.mark.parametrize("path", text_files("mkdocs"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts mkdocs"
    assert not done.check.differences, done.check.differences
    assert run_import(text, tmp_path).files == done.files


def test_settings_are_read_and_never_run(tmp_path: Path) -> None:
    text = 'site_name: !ENV [NAME, Fallback]\nhooks: !!python/object/apply:os.system ["touch gone"]\n'
    (tmp_path / "mkdocs.yml").write_text(text, encoding="utf-8")
    assert read_config(tmp_path).text("site_name") == "Fallback"
    assert [each.name for each in tmp_path.iterdir()] == ["mkdocs.yml"]


_MARKS = (
    '!!! note "T"',
    "??? tip",
    "???+ a",
    '=== "Tab"',
    "/// tip | T",
    "///",
    "```",
    "``` { .py }",
    "++a+b++",
)
_REST = (
    "{ .md-button }",
    "{++a++}",
    "<div markdown>",
    "</div>",
    "\\[",
    "\\]",
    "    ",
    "\n",
    "\n\n",
    "# h",
    "- ",
    "a",
)


@examples(80)
@given(st.lists(st.sampled_from((*_MARKS, *_REST)), max_size=30).map("".join))
def test_any_text_is_translated(text: str) -> None:
    config = MkDocsConfig(PurePosixPath("mkdocs.yml"))
    pages = MkDocsPageTranslator(config, lambda _: None, link_table([], config))
    pages.translate(MkDocsDocument(PurePosixPath("a.md"), "docs/a.md", {}, text, 1))
    render_python_markdown(text)
