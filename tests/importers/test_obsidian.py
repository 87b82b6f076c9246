"""Obsidian: the conversion of its constructs, without losses."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.importers.obsidian.independent import render_note
from blogsmith.importers.obsidian.page import NoteTranslator
from blogsmith.importers.obsidian.vault import Note, Vault
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.rows import examples


@pytest.mark.parametrize("path", text_files("obsidian"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts obsidian"
    assert not done.check.differences, done.check.differences
    assert run_import(text, tmp_path).files == done.files


_LINKS = ("[[", "]]", "![[", "|", "#", "^", "a", "^a", "b.png", "%%", "[", "](", ")", "300")
_MARKS = ("$", "$$", "\\", "\n", "\n\n", "> ", "- ", "```", "# ", "#t", "==", "<div>", " ", "> [!note]", "^[")


@examples(60)
@given(st.lists(st.sampled_from((*_LINKS, *_MARKS)), max_size=30).map("".join))
def test_any_note_is_translated(text: str) -> None:
    path = PurePosixPath("a.md")
    note = Note(path, path, "", {}, text, 1)
    page = NoteTranslator(Vault("v", (note,), (PurePosixPath("b.png"),), ())).translate(note)
    assert "\ue000" not in page.text
    render_note(text)
