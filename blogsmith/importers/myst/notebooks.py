"""Notebooks that are pages of a book: text in the dialect of the book, code as every notebook has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from ...base.patterns import lazy_pattern
from ..model import ImportedData
from ..notebooks.markdown import NotebookPart, notebook_text
from ..notebooks.notebook import Notebook
from ..notebooks.outputs import record_files
from ..notebooks.page import CellNotices
from .walker import Walker

_LABEL = lazy_pattern(r"^#\| label:[ \t]*[\"']?([^\s\"'][^\n\"']*?)[\"']?[ \t]*\n", re.MULTILINE)
_CAPTION = lazy_pattern(r"^#\| (fig|tbl)-cap:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BookNotebook:
    """A notebook as lines of a page, and what comes with it."""

    lines: list[str]
    made: tuple[ImportedData, ...] = ()
    """Pictures that were in it, and the record of what its cells gave."""


def walk_notebook(walker: Walker, notebook: Notebook, path: PurePosixPath) -> BookNotebook:
    """The cells in our words.

    path: of the page in the new site.
    """
    notes = CellNotices(walker.source)
    found = notebook_text(notebook, path, notes)
    walker.notices.extend(notes.found)
    lines: list[str] = []
    for part in found.parts:
        made = walker.walk(part.text.split("\n"), part.line) if part.is_prose else _cell(walker, part)
        lines += ["", *made, ""]
    return BookNotebook(lines, (*found.files, *record_files(path, found.cells)))


def _cell(walker: Walker, part: NotebookPart) -> list[str]:
    """Code in our words; its label is one of the book."""
    text = part.text
    caption = _CAPTION.search(text)

    def substitute(label: re.Match[str]) -> str:
        if caption:
            return f"#| label: {walker.add_label('fig' if caption[1] == 'fig' else 'tbl', label[1])}\n"
        walker.pending.append(label[1])
        return ""

    text = _LABEL.sub(substitute, text, count=1)
    return [*walker.anchor(), *text.split("\n")]
