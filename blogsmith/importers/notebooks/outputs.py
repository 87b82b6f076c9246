"""Outputs of a notebook's cells, as records marked as imported, or as text of the page."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import (
    Blob,
    CellOutput,
    CellRecord,
    CellRun,
    Display,
    Failure,
    Origin,
    PageRecord,
    SessionRecord,
    Stream,
    code_digest,
    lazy_pattern,
    list_page_files,
    start_key,
)
from ..model import ImportedData
from ..text.containers import fence_marks
from .notebook import NotebookCell, join_lines

IMAGE_TYPES = ("image/png", "image/jpeg", "image/svg+xml")
_TEXTS = ("text/plain", "text/html", "text/latex", "text/markdown")
_MAX_CHARACTERS = 1024 * 1024
"""Maximum number of characters of a text output, as for cells that run."""
_ORIGIN = Origin(imported=True)
_STEP = lazy_pattern(r"^[^\n]*\r(?!\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CellOutputs:
    """A Python cell and its outputs."""

    code: str
    """Code as shown in the page, without option lines."""
    outputs: tuple[CellOutput, ...]


def read_outputs(cell: NotebookCell) -> tuple[CellOutput, ...]:
    """Return the outputs of a cell that a page can show."""
    return tuple(_outputs(cell.outputs))


def _outputs(written: Iterable[Mapping[str, Any]]) -> Iterator[CellOutput]:
    for output in written:
        kind = output.get("output_type")
        if kind == "stream":
            text = _STEP.sub("", join_lines(output.get("text")))
            dropped = max(0, len(text) - _MAX_CHARACTERS)
            yield Stream(
                "stderr" if output.get("name") == "stderr" else "stdout", text[:_MAX_CHARACTERS], dropped
            )
        elif kind == "error":
            text = "\n".join(str(line) for line in output.get("traceback") or [])
            yield Failure(str(output.get("ename", "")), str(output.get("evalue", "")), text)
        elif data := _data(output.get("data")):
            yield Display("value" if kind == "execute_result" else "display", data)


def _data(written: Any) -> dict[str, str | Blob]:
    found: dict[str, str | Blob] = {}
    for mime, part in written.items() if isinstance(written, dict) else ():
        if mime == "image/svg+xml":
            found[mime] = _blob(join_lines(part).encode())
        elif mime in IMAGE_TYPES:
            if picture := decode_base64(join_lines(part)):
                found[mime] = _blob(picture)
        elif mime in _TEXTS:
            found[mime] = join_lines(part)[:_MAX_CHARACTERS]
    return found


def unsupported_types(cell: NotebookCell) -> list[str]:
    """Return the types of outputs that cannot be shown at all, such as widgets and scripted plots."""
    found = []
    for output in cell.outputs:
        data = output.get("data")
        if isinstance(data, dict) and data and not set(data) - {"text/plain"} <= {*IMAGE_TYPES, *_TEXTS}:
            others = sorted(set(data) - {*IMAGE_TYPES, *_TEXTS})
            if not set(data) & {*IMAGE_TYPES, "text/html", "text/latex"}:
                found.extend(others)
    return list(dict.fromkeys(found))


def decode_base64(text: str) -> bytes:
    """Decode base64; return empty bytes for invalid input."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _blob(data: bytes) -> Blob:
    return Blob(hashlib.sha256(data).hexdigest(), data)


def record_files(path: PurePosixPath, cells: Iterable[CellOutputs]) -> tuple[ImportedData, ...]:
    """Return the record of a page's cells as `blogsmith execute` writes it, but marked as imported."""
    records = tuple(_record(cell) for cell in cells)
    if not records:
        return ()
    # keys of real runs are digests, so no run can have these keys
    session = SessionRecord(start_key("notebook", {}, ()), records, origin=_ORIGIN)
    files = list_page_files(path, PageRecord({"main": session}))
    return tuple(ImportedData(PurePosixPath(name), data) for name, data in files.items())


def _record(cell: CellOutputs) -> CellRecord:
    digest = code_digest(cell.code)
    is_error = any(isinstance(output, Failure) for output in cell.outputs)
    run = CellRun("error" if is_error else "ok", cell.outputs)
    return CellRecord(key=digest, code=digest, run=run, origin=_ORIGIN)


_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg", "image/gif": "gif"}
_COLOR = lazy_pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_SCRIPT = lazy_pattern(r"<script\b", re.IGNORECASE)
_TABLE = lazy_pattern(r"<table\b[\s\S]*</table\s*>", re.IGNORECASE)


class OutputWriter:
    """Outputs of one page as Markdown, with their image files."""

    def __init__(self, page: PurePosixPath) -> None:
        """Create a writer without outputs. page: path of the page in the new site. Image files go to a folder
        next to it."""
        self._folder = page.parent / f"{page.stem}-files"
        self.files: list[ImportedData] = []

    def file(self, name: str, data: bytes, mime: str) -> str:
        """Add an image file. Return its path relative to the page."""
        name = re.sub(r"[^\w.-]+", "-", name.replace("%20", "-")).strip(".-") or "picture"
        if "." not in name:
            name = f"{name}.{_SUFFIXES.get(mime, 'bin')}"
        stem, _, suffix = name.rpartition(".")
        known = {file.path: file.data for file in self.files}
        number = 1
        while known.get(self._folder / name, data) != data:
            number += 1
            name = f"{stem}-{number}.{suffix}"
        if self._folder / name not in known:
            self.files.append(ImportedData(self._folder / name, data))
        return f"{self._folder.name}/{name}"

    def to_markdown(self, outputs: Iterable[CellOutput]) -> list[str]:
        """Return each output as a block of Markdown. Outputs that no page can show are omitted."""
        return [text for output in outputs if (text := self._text(output))]

    def _text(self, output: CellOutput) -> str:
        if isinstance(output, Stream):
            return code_fence("text", strip_colors(output.text)) if output.text.strip() else ""
        if isinstance(output, Failure):
            return code_fence("text", strip_colors(output.text or f"{output.name}: {output.message}"))
        return self._display(output)

    def _display(self, output: Display) -> str:
        for mime, part in output.data.items():
            if isinstance(part, Blob) and part.data is not None:
                name = f"output.{_SUFFIXES.get(mime, 'bin')}"
                return f"![]({self.file(part.name or name, part.data, mime)})"
        for mime in ("text/latex", "text/markdown", "text/html", "text/plain"):
            text = output.data.get(mime)
            if not isinstance(text, str) or not text.strip():
                continue
            if mime == "text/html":
                table = _TABLE.search(text)
                if not table or _SCRIPT.search(text):
                    continue
                # a blank line would end the HTML
                return "\n".join(line for line in table[0].split("\n") if line.strip())
            return code_fence("text", strip_colors(text)) if mime == "text/plain" else text
        return ""


def code_fence(language: str, code: str) -> str:
    """Return the code in a fence that is longer than any fence in it."""
    marks = fence_marks(code)
    return f"{marks}{language}\n{code.rstrip()}\n{marks}"


def strip_colors(text: str) -> str:
    """Remove the color codes of a terminal from a text."""
    return _COLOR.sub("", text).strip("\n")
