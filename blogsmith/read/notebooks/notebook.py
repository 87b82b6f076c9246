"""Reader for notebook files of nbformat 3 or 4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...base.patterns import lazy_pattern
from ...base.schema.data_loaders import describe_error
from ...model.decode import normalize_line_ends

CellKind = Literal["markdown", "code", "raw"]
_OLD_TYPES: Mapping[str, str] = {
    **{"text": "text/plain", "html": "text/html", "latex": "text/latex", "svg": "image/svg+xml"},
    **{"png": "image/png", "jpeg": "image/jpeg", "javascript": "application/javascript"},
    "json": "application/json",
}
"""Names of output parts in nbformat 3 → MIME types."""

_SOURCE = lazy_pattern(r'"(?:source|input)"\s*:\s*\[?\s*"?')
_POST = lazy_pattern(
    r'[\s\S]*?"cells"\s*:\s*\[\s*\{(?:(?!"(?:source|input)"\s*:)[\s\S])*"(?:source|input)"\s*:\s*(?:\[\s*)?'
    r'"(?:\\n|\s)*---\s*(?:\\n|")'
)
MAX_HEAD = 65_536
"""Number of characters at the start of a file that show whether it is a post."""
_SURROGATE = lazy_pattern("[\ud800-\udfff]")


class NotebookError(Exception):
    """Error in a notebook file; `line` is 1-based."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def is_post(head: str) -> bool:
    """Return whether the first cell of the notebook starts with front matter. head: its first `MAX_HEAD`
    characters."""
    return _POST.match(head) is not None


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell of a notebook."""

    kind: CellKind
    source: str
    line: int
    """1-based line of the file where its text begins."""
    number: int = 1
    """Number of the cell in the notebook, from 1."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Mapping[str, Any], ...] = ()
    """Outputs in the form of nbformat 4."""
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """File name of an attachment → MIME type → content in base64."""
    was_run: bool = False

    @property
    def tags(self) -> frozenset[str]:
        """Return the tags, with each `_` replaced by `-`."""
        tags = self.metadata.get("tags")
        return frozenset(str(tag).replace("_", "-") for tag in (tags if isinstance(tags, list) else ()))


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook."""

    cells: tuple[NotebookCell, ...]
    metadata: Mapping[str, Any]
    language: str = "python"
    """Language in lower case."""
    kernel: str = ""
    """Name of the kernel; may be empty."""


def read_notebook(text: str) -> Notebook:
    """Parse the text of a notebook file. Raise NotebookError if it is invalid."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotebookError(f"invalid JSON: {describe_error(error).message}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise NotebookError("invalid notebook: nested too deeply, or a number is too long") from error
    if not isinstance(data, dict):
        raise NotebookError("invalid notebook: expected a JSON object")
    written, sheets = data.get("cells"), data.get("worksheets")
    if written is None and isinstance(sheets, list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        written = [cell for cells in lists if isinstance(cells, list) for cell in cells]
    if not isinstance(written, list):
        raise NotebookError('invalid notebook: missing "cells"')
    metadata = _mapping(data.get("metadata"))
    kernel = str(_mapping(metadata.get("kernelspec")).get("name") or "")
    return Notebook(tuple(_cells(written, text)), metadata, _language(metadata), kernel)


def _cells(written: list[Any], text: str) -> Iterator[NotebookCell]:
    position, line = 0, 1
    for number, cell in enumerate(written, 1):
        if not isinstance(cell, dict):
            continue
        kind = str(cell.get("cell_type"))
        source = normalize_line_ends(join_lines(cell.get("source", cell.get("input"))))
        found = _find_source(text, source.partition("\n")[0], position)
        line, position = line + text.count("\n", position, found), found
        if kind == "heading":
            level = cell.get("level")
            marks = "#" * (level if isinstance(level, int) and 0 < level < 7 else 1)
            kind, source = "markdown", f"{marks} {source}"
        outputs = cell.get("outputs")
        yield NotebookCell(
            kind="code" if kind == "code" else "raw" if kind == "raw" else "markdown",
            source=source,
            line=line,
            number=number,
            metadata=_mapping(cell.get("metadata")),
            outputs=tuple(map(_output, filter(_is_mapping, outputs))) if isinstance(outputs, list) else (),
            attachments={name: _mapping(data) for name, data in _mapping(cell.get("attachments")).items()},
            was_run=isinstance(cell.get("execution_count", cell.get("prompt_number")), int) or bool(outputs),
        )


def _find_source(text: str, first: str, start: int) -> int:
    """Return the offset of the next cell's text, after `start`; `start` if it is not found.

    first: first line of the text.
    """
    forms = {json.dumps(first, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True)}
    for found in _SOURCE.finditer(text, start):
        if any(text.startswith(form, found.end()) for form in forms):
            return found.end()
    return start


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _output(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert an output to nbformat 4."""
    kind = output.get("output_type")
    if kind == "stream":
        return {**output, "name": output.get("name", output.get("stream", "stdout"))}
    if kind in ("error", "pyerr"):
        named = {key: join_lines(output.get(key)) for key in ("ename", "evalue")}
        return {**output, **named, "output_type": "error"}
    if kind in ("pyout", "display_data", "execute_result") and "data" not in output:
        data = {mime: output[name] for name, mime in _OLD_TYPES.items() if name in output}
        return {"output_type": "execute_result" if kind == "pyout" else str(kind), "data": data}
    return output


def join_lines(value: Any) -> str:
    """Return a string that is written as one string or as a list of lines. Halves of surrogate pairs, which
    JSON can contain, become �."""
    text = "".join(str(each) for each in value) if isinstance(value, list) else value
    if not isinstance(text, str):
        return ""
    if _SURROGATE.search(text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _mapping(value: Any) -> dict[str, Any]:
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _language(metadata: Mapping[str, Any]) -> str:
    info, kernel = _mapping(metadata.get("language_info")), _mapping(metadata.get("kernelspec"))
    name = info.get("name") or kernel.get("language") or metadata.get("language") or "python"
    name = str(name).lower()
    return "python" if name.startswith(("python", "ipython", "sage")) else name
