"""Outputs of a notebook's cells, as results of cells or as Markdown."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.results import Blob, CellOutput, Display, Failure, Stream
from .notebook import NotebookCell, join_lines

IMAGE_TYPES = ("image/png", "image/jpeg", "image/svg+xml")
_TEXTS = ("text/plain", "text/html", "text/latex", "text/markdown")
_MAX_CHARACTERS = 1024 * 1024
"""Maximum number of characters of a text output, as for cells that run."""
PlaceImage = Callable[[str, bytes, str], str]
"""Function that stores an image, given its name, bytes and MIME type, and returns its URL for the page."""
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
            lines = output.get("traceback")
            text = "\n".join(map(join_lines, lines)) if isinstance(lines, list) else ""
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


SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg", "image/gif": "gif"}
_COLOR = lazy_pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_SCRIPT = lazy_pattern(r"<script\b", re.IGNORECASE)
_TABLE = lazy_pattern(r"<table\b[\s\S]*</table\s*>", re.IGNORECASE)


def to_markdown(outputs: Iterable[CellOutput], place: PlaceImage) -> list[str]:
    """Return each output as a block of Markdown. Outputs that no page can show are omitted."""
    return [text for output in outputs if (text := _text(output, place))]


def _text(output: CellOutput, place: PlaceImage) -> str:
    if isinstance(output, Stream):
        return code_fence("text", strip_colors(output.text)) if output.text.strip() else ""
    if isinstance(output, Failure):
        return code_fence("text", strip_colors(output.text or f"{output.name}: {output.message}"))
    return _display(output, place)


def _display(output: Display, place: PlaceImage) -> str:
    for mime, part in output.data.items():
        if isinstance(part, Blob) and part.data is not None:
            name = part.name or f"output.{SUFFIXES.get(mime, 'bin')}"
            return f"![]({place(name, part.data, mime)})"
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
    marks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{marks}{language}\n{code.rstrip()}\n{marks}"


def strip_colors(text: str) -> str:
    """Return a text without the color codes of a terminal."""
    return _COLOR.sub("", text).strip("\n")
