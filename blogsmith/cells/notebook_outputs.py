"""Outputs that a notebook contains, shown on its page until its cells run here."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import SiteError
from ..base.diagnostics.notebook_cells import NOTEBOOK
from ..base.storage.folder import open_real_file
from ..freeze.imported import imported_record
from ..freeze.record import PageRecord
from ..model.decode import decode


def read_notebook_outputs(root: Path, path: PurePosixPath) -> PageRecord:
    """Return the outputs stored in the notebook at `path` as a record. The record is empty for all other
    posts, and for a notebook that cannot be read, which another module reports."""
    if path.suffix.lower() != NOTEBOOK:
        return PageRecord()
    # most sites have no notebooks
    from ..read.notebooks.markdown import notebook_text
    from ..read.notebooks.notebook import NotebookError, read_notebook

    try:
        with open_real_file(root / path) as stream:
            notebook = read_notebook(decode(stream.read(), str(path)))
    except (OSError, SiteError, NotebookError):
        return PageRecord()
    found = notebook_text(notebook, lambda *_: "")
    return imported_record((cell.code, cell.outputs) for cell in found.cells)
