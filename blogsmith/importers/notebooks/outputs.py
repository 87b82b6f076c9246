"""What cells of a notebook gave, as recorded results that say they were never run here."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern
from ...freeze.keys import code_digest, start_key
from ...freeze.record import CellRecord, PageRecord, SessionRecord
from ...freeze.record_form import Origin
from ...freeze.store import page_files
from ...model.results import Blob, CellOutput, CellRun, Display, Failure, Stream
from ..model import ImportedData
from .notebook import NotebookCell, join_lines

PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
_TEXTS = ("text/plain", "text/html", "text/latex", "text/markdown")
_LARGEST = 1024 * 1024
"""Characters of a text that are kept, as of a cell that runs."""
_ORIGIN = Origin(imported=True)
_STEP = lazy_pattern(r"^[^\n]*\r(?!\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CellOutputs:
    """A cell of Python and what it gave."""

    code: str
    """As it stands in the page, options left out."""
    outputs: tuple[CellOutput, ...]


def read_outputs(cell: NotebookCell) -> tuple[CellOutput, ...]:
    """The outputs of a cell, as far as a page can show them."""
    return tuple(_outputs(cell.outputs))


def _outputs(written: Iterable[Mapping[str, Any]]) -> Iterator[CellOutput]:
    for output in written:
        kind = output.get("output_type")
        if kind == "stream":
            text = _STEP.sub("", join_lines(output.get("text")))
            dropped = max(0, len(text) - _LARGEST)
            yield Stream("stderr" if output.get("name") == "stderr" else "stdout", text[:_LARGEST], dropped)
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
        elif mime in PICTURES:
            if picture := decode_base64(join_lines(part)):
                found[mime] = _blob(picture)
        elif mime in _TEXTS:
            found[mime] = join_lines(part)[:_LARGEST]
    return found


def unshown_types(cell: NotebookCell) -> list[str]:
    """Types of outputs of which no part can be shown: widgets, plots that need a script."""
    found = []
    for output in cell.outputs:
        data = output.get("data")
        if isinstance(data, dict) and data and not set(data) - {"text/plain"} <= {*PICTURES, *_TEXTS}:
            others = sorted(set(data) - {*PICTURES, *_TEXTS})
            if not set(data) & {*PICTURES, "text/html", "text/latex"}:
                found.extend(others)
    return list(dict.fromkeys(found))


def decode_base64(text: str) -> bytes:
    """Bytes of base64; empty for what is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _blob(data: bytes) -> Blob:
    return Blob(hashlib.sha256(data).hexdigest(), data)


def record_files(path: PurePosixPath, cells: Iterable[CellOutputs]) -> tuple[ImportedData, ...]:
    """The record of a page's cells, as `blogsmith execute` would write it, but for its origin."""
    records = tuple(_record(cell) for cell in cells)
    if not records:
        return ()
    # the keys are none that a run could have: what they stand for has never run
    session = SessionRecord(start_key("notebook", {}, ()), records, origin=_ORIGIN)
    files = page_files(path, PageRecord({"main": session}))
    return tuple(ImportedData(PurePosixPath(name), data) for name, data in files.items())


def _record(cell: CellOutputs) -> CellRecord:
    digest = code_digest(cell.code)
    is_error = any(isinstance(output, Failure) for output in cell.outputs)
    run = CellRun("error" if is_error else "ok", cell.outputs)
    return CellRecord(key=digest, code=digest, run=run, origin=_ORIGIN)
