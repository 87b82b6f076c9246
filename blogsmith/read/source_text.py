"""The text of a source: Markdown as it is, notebooks and Python files in the percent format as Markdown."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..base.diagnostics.model import Diagnostic, Place, SiteError
from ..base.diagnostics.notebook_cells import NOTEBOOK, PYTHON
from ..model.decode import decode

MAX_TEXT_BYTES = 10_000_000
MAX_NOTEBOOK_BYTES = 50_000_000
"""Maximum size of a notebook, which contains images too."""


def source_text(path: PurePosixPath, data: bytes) -> str:
    """Return the Markdown of a file. Raise SiteError if it is not UTF-8, or not a notebook."""
    text = decode(data, str(path))
    suffix = path.suffix.lower()
    if suffix not in (NOTEBOOK, PYTHON):
        return text
    # most sites have no notebooks
    from .notebooks.notebook import NotebookError, read_notebook
    from .notebooks.page import page_text
    from .notebooks.percent import read_percent

    try:
        found = page_text(read_percent(text) if suffix == PYTHON else read_notebook(text))
    except NotebookError as error:
        hint = "correct the JSON in a text editor, or save the notebook again in Jupyter"
        line = text.split("\n", error.line)[: error.line][-1]
        place = Place(error.line)
        raise SiteError(Diagnostic("notebook", str(error), str(path), place, line[:200], hint)) from error
    if len(found) > MAX_TEXT_BYTES:
        message = f"too many characters in the notebook: more than {MAX_TEXT_BYTES // 1_000_000} million"
        advice = "move its attachments to files beside it"
        raise SiteError(Diagnostic("file-too-large", message, str(path), hint=advice))
    return found
