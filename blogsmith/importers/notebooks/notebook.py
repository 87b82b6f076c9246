"""Notebooks with front matter, which other systems read from the first cell or the metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...api.importing import Notebook, NotebookCell, NotebookError
from ...api.importing import read_notebook as read_cells
from ..protection import add_restrictions
from ..text.data import DataTextError, load_mapping, split_yaml_front_matter


@dataclass(frozen=True, slots=True)
class NotebookDocument(Notebook):
    """A notebook whose front matter is separate from its cells."""

    front: Mapping[str, Any] = field(default_factory=dict)
    """Front matter of the notebook, with title and authors from the metadata if the front matter has none."""


def read_notebook(text: str) -> NotebookDocument:
    """Parse the content of a notebook file. Raise NotebookError if it is invalid."""
    found = read_cells(text)
    front, cells = _split_front_matter(list(found.cells))
    front = {**_metadata_front_matter(found.metadata), **front}
    return NotebookDocument(tuple(cells), found.metadata, found.language, found.kernel, front)


def _split_front_matter(cells: list[NotebookCell]) -> tuple[dict[str, Any], list[NotebookCell]]:
    """Return the front matter and the other cells, if the first non-empty cell contains only front matter.
    Otherwise, return an empty mapping and all cells."""
    first = next((cell for cell in cells if cell.source.strip()), None)
    if first is None or first.kind == "code":
        return {}, cells
    head, rest, _ = split_yaml_front_matter(first.source.lstrip() + "\n")
    if not head or rest.strip():
        return {}, cells
    try:
        front = add_restrictions(load_mapping(head), head)
    except DataTextError as error:
        raise NotebookError(f"invalid YAML in the front matter: {error}", first.line + error.line) from error
    return front, [cell for cell in cells if cell is not first]


def _metadata_front_matter(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return title and authors in the notebook's metadata, as front matter."""
    front: dict[str, Any] = {}
    if isinstance(title := metadata.get("title"), str) and title.strip():
        front["title"] = title.strip()
    authors = metadata.get("authors")
    every = authors if isinstance(authors, list) else []
    if names := [str(each["name"]) for each in every if isinstance(each, dict) and each.get("name")]:
        front["author"] = names
    return front
