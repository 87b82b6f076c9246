"""MyST: the conversion of its constructs, without losses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.importers.myst.d2l import rewrite_d2l
from blogsmith.importers.myst.independent import render_myst
from blogsmith.importers.myst.page import REGISTRY
from blogsmith.importers.myst.references import BookLabels
from blogsmith.importers.myst.walker import BlockTranslator, BookState
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.rows import examples


@pytest.mark.parametrize("path", text_files("myst"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts myst"
    assert not done.check.differences, done.check.differences
    assert run_import(text, tmp_path).files == done.files


_MARKS = (
    "```",
    "````",
    ":::",
    "::::",
    "{note}",
    "{math}",
    "{figure} a.png",
    "{solution-start}",
    "{code-cell}",
)
_REST = (
    ":name: a",
    "---",
    "(a)=",
    "$$",
    "$$ (b)",
    "% x",
    "+++",
    "> ",
    "- ",
    "    ",
    "\n",
    "\n",
    "\n\n",
    "# h",
    "a",
)


@examples(80)
@given(st.lists(st.sampled_from((*_MARKS, *_REST)), max_size=30).map("".join))
def test_any_text_is_translated(text: str) -> None:
    walker = BlockTranslator("a.md", BookState(True, BookLabels(), lambda _: None), REGISTRY)
    walker.walk(rewrite_d2l(text).split("\n"), 1)
    render_myst(text)
