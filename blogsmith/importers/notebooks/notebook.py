"""Reader for notebook files of nbformat 3 or 4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..protection import add_restrictions
from ..text.data import DataTextError, load_mapping, split_yaml_front_matter

CellKind = Literal["markdown", "code", "raw"]
_OLD_TYPES: Mapping[str, str] = {
    **{"text": "text/plain", "html": "text/html", "latex": "text/latex", "svg": "image/svg+xml"},
    **{"png": "image/png", "jpeg": "image/jpeg", "javascript": "application/javascript"},
    "json": "application/json",
}
"""Names of output parts in nbformat 3 → MIME types."""


class NotebookError(Exception):
    """Error in a notebook file; `line` is 1-based."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell of a notebook."""

    kind: CellKind
    source: str
    line: int
    """1-based line of the file where its text begins."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Mapping[str, Any], ...] = ()
    """Outputs in nbformat 4."""
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """File name of an attachment → MIME type → content in base64."""
    was_run: bool = False

    @property
    def tags(self) -> frozenset[str]:
        """Return the tags, with hyphens."""
        tags = self.metadata.get("tags")
        return frozenset(str(tag).replace("_", "-") for tag in (tags if isinstance(tags, list) else ()))


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook."""

    cells: tuple[NotebookCell, ...]
    front: Mapping[str, Any]
    """Metadata of the notebook. Front matter in its first cell overrides them."""
    language: str = "python"
    """Language in lower case."""
    kernel: str = ""
    """Name of the kernel; may be empty."""


def read_notebook(text: str) -> Notebook:
    """Parse the text of a notebook file. Raise NotebookError if it is invalid."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotebookError(f"invalid JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise NotebookError("invalid notebook: nested too deeply, or a number is too long") from error
    if not isinstance(data, dict):
        raise NotebookError("invalid notebook: expected a JSON object")
    written, sheets = data.get("cells"), data.get("worksheets")
    if written is None and isinstance(sheets, list):
        written = [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    if not isinstance(written, list):
        raise NotebookError('invalid notebook: missing "cells"')
    metadata = _mapping(data.get("metadata"))
    cells = list(_cells(written, text))
    front, cells = _split_front_matter(cells)
    kernel = str(_mapping(metadata.get("kernelspec")).get("name") or "")
    return Notebook(tuple(cells), {**_metadata_front_matter(metadata), **front}, _language(metadata), kernel)


def _cells(written: list[Any], text: str) -> Iterator[NotebookCell]:
    position = 0
    for cell in written:
        if not isinstance(cell, dict):
            continue
        kind = str(cell.get("cell_type"))
        source = join_lines(cell.get("source", cell.get("input")))
        if kind == "heading":
            kind, source = "markdown", f"{'#' * int(cell.get('level') or 1)} {source}"
        first = json.dumps(source.partition("\n")[0], ensure_ascii=False)[1:-1]
        found = text.find(first, position) if first else -1
        if found < 0 and first:
            found = text.find(json.dumps(source.partition("\n")[0])[1:-1], position)
        position = found if found >= 0 else position
        outputs = cell.get("outputs")
        yield NotebookCell(
            kind="code" if kind == "code" else "raw" if kind == "raw" else "markdown",
            source=source,
            line=text.count("\n", 0, position) + 1,
            metadata=_mapping(cell.get("metadata")),
            outputs=tuple(map(_output, filter(_is_mapping, outputs))) if isinstance(outputs, list) else (),
            attachments={name: _mapping(data) for name, data in _mapping(cell.get("attachments")).items()},
            was_run=isinstance(cell.get("execution_count", cell.get("prompt_number")), int) or bool(outputs),
        )
        position += len(first)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _output(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert an output to nbformat 4."""
    kind = output.get("output_type")
    if kind == "stream":
        return {**output, "name": output.get("name", output.get("stream", "stdout"))}
    if kind == "pyerr":
        return {**output, "output_type": "error"}
    if kind in ("pyout", "display_data", "execute_result") and "data" not in output:
        data = {mime: output[name] for name, mime in _OLD_TYPES.items() if name in output}
        return {"output_type": "execute_result" if kind == "pyout" else str(kind), "data": data}
    return output


def join_lines(value: Any) -> str:
    """Return a string that is written as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(str(each) for each in value)
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _split_front_matter(cells: list[NotebookCell]) -> tuple[dict[str, Any], list[NotebookCell]]:
    """Return the front matter in the first non-empty cell, if that has nothing else, and the other cells."""
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
    """Return the front matter in the notebook's metadata: title and authors."""
    front: dict[str, Any] = {}
    if isinstance(title := metadata.get("title"), str) and title.strip():
        front["title"] = title.strip()
    authors = metadata.get("authors")
    every = authors if isinstance(authors, list) else []
    if names := [str(each["name"]) for each in every if isinstance(each, dict) and each.get("name")]:
        front["author"] = names
    return front


def _language(metadata: Mapping[str, Any]) -> str:
    info, kernel = _mapping(metadata.get("language_info")), _mapping(metadata.get("kernelspec"))
    name = info.get("name") or kernel.get("language") or metadata.get("language") or "python"
    name = str(name).lower()
    return "python" if name.startswith(("python", "ipython", "sage")) else name
