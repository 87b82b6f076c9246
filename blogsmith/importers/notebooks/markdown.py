"""Conversion of notebook cells to Markdown that contains code cells. Their images become files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ...api.importing import Notebook, NotebookNotes, NotebookText, translate_cells
from ..model import ImportedData
from ..text.containers import import_comment
from .outputs import OutputWriter


@dataclass(slots=True)
class ImportedText(NotebookText):
    """A notebook as Markdown, with its images as files."""

    files: list[ImportedData] = field(default_factory=list)
    """Files for the images in the notebook."""


def notebook_text(notebook: Notebook, path: PurePosixPath, note: NotebookNotes) -> ImportedText:
    """Convert the cells of a notebook to Markdown. path: path of the page in the new site; images go to a
    folder next to it. note: function that records a notice about a cell."""
    images = OutputWriter(path)
    found = translate_cells(notebook, images.file, note, import_comment, has_own_options=False)
    return ImportedText(found.parts, found.cells, images.files)
