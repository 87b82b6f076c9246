"""Outputs of a notebook's cells, converted to records that are marked as imported, or to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from ...api.importing import (
    IMAGE_SUFFIXES,
    CellOutput,
    CodeOutputs,
    imported_record,
    list_page_files,
    outputs_as_markdown,
)
from ..model import ImportedData


def record_files(path: PurePosixPath, cells: Iterable[CodeOutputs]) -> tuple[ImportedData, ...]:
    """Return the files that `blogsmith execute` would write for a page's cells, marked as imported. path:
    path of the page in the new site. cells: code with its outputs."""
    record = imported_record((cell.code, cell.outputs) for cell in cells)
    files = list_page_files(path, record) if record.sessions else {}
    return tuple(ImportedData(PurePosixPath(name), data) for name, data in files.items())


class OutputWriter:
    """Converts outputs on one page to Markdown, and collects their images as files."""

    def __init__(self, page: PurePosixPath) -> None:
        """Create a writer without outputs. page: path of the page in the new site. Image files go to a folder
        next to it."""
        self._folder = page.parent / f"{page.stem}-files"
        self.files: list[ImportedData] = []

    def file(self, name: str, data: bytes, mime: str) -> str:
        """Add an image file. Return its path relative to the page. name: preferred name of the file. mime:
        media type."""
        name = re.sub(r"[^\w.-]+", "-", name.replace("%20", "-")).strip(".-") or "picture"
        if "." not in name:
            name = f"{name}.{IMAGE_SUFFIXES.get(mime, 'bin')}"
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
        return outputs_as_markdown(outputs, self.file)
