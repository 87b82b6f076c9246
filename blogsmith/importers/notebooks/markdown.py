"""Conversion of notebook cells to Markdown with code cells, with their images as files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ...api.importing import Notebook, NotebookNotes, NotebookText, translate_cells
from ..model import ImportedData
from ..text.containers import import_comment
from .outputs import OutputWriter


@dataclass(slots=True)
class ImportedText(NotebookText):
    """A notebook as text."""

    files: list[ImportedData] = field(default_factory=list)
    """Images of the notebook."""


def notebook_text(notebook: Notebook, path: PurePosixPath, note: NotebookNotes) -> ImportedText:
    """Convert the cells to Markdown.

    path: path of the page in the new site. Images go to a folder next to it.
    """
    images = OutputWriter(path)
    found = translate_cells(notebook, images.file, note, import_comment, has_own_options=False)
    return ImportedText(found.parts, found.cells, images.files)
