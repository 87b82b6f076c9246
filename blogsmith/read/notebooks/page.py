"""The text of a page that is written as a notebook: Markdown, with each cell at its line in the file.

Locations in diagnostics are therefore lines of the file, if each line of a cell is a line of the file, as
Jupyter writes notebooks.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from ...base.diagnostics.notebook_cells import make_marker
from .markdown import NotebookPart, notebook_text, own_metadata
from .notebook import Notebook


def page_text(notebook: Notebook, *, is_aligned: bool = True) -> str:
    """Return the text of the page. Images in it are `data:` URLs.

    is_aligned: add empty lines, and markers before cells. Without these lines, a notebook that was made from
    a post has exactly the text of the post.
    """
    parts = [part for part in notebook_text(notebook, _data_url).parts if part.text.strip()]
    if is_aligned:
        return _align(parts)
    joined = "".join(part.before + part.text if number else part.text for number, part in enumerate(parts))
    return joined + (own_metadata(notebook.metadata, "after") or "\n")


def _data_url(_name: str, data: bytes, mime: str) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"


def _align(parts: Iterable[NotebookPart]) -> str:
    lines: list[str] = []
    for part in parts:
        start = max(len(lines) + 1, part.line + part.offset - part.first - 1)
        lines += [""] * (start - len(lines) - 1)
        lines += [make_marker(part.cell, part.first - part.offset), *part.text.split("\n")]
    return "\n".join([*lines, ""])
