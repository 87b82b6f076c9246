"""What a cell gave, as part of a page's text: for code that no session here could run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from ...base.patterns import lazy_pattern
from ...model.results import Blob, CellOutput, Display, Failure, Stream
from ..model import ImportedData

_SUFFIXES: Mapping[str, str] = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "image/gif": "gif",
}
_COLOR = lazy_pattern(r"\x1b\[[0-9;]*[A-Za-z]")
_SCRIPT = lazy_pattern(r"<script\b", re.IGNORECASE)
_TABLE = lazy_pattern(r"<table\b[\s\S]*</table\s*>", re.IGNORECASE)


class ShownOutputs:
    """Outputs of one page as Markdown, and the pictures among them."""

    def __init__(self, page: PurePosixPath) -> None:
        """page: in the new site; pictures stand in a folder beside it."""
        self._folder = page.parent / f"{page.stem}-files"
        self.files: list[ImportedData] = []

    def file(self, name: str, data: bytes, mime: str) -> str:
        """The address of a new picture."""
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

    def texts(self, outputs: Iterable[CellOutput]) -> list[str]:
        """Each output as a block of Markdown, those that no page can show left out."""
        return [text for output in outputs if (text := self._text(output))]

    def _text(self, output: CellOutput) -> str:
        if isinstance(output, Stream):
            return code_fence("text", without_colors(output.text)) if output.text.strip() else ""
        if isinstance(output, Failure):
            return code_fence("text", without_colors(output.text or f"{output.name}: {output.message}"))
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
            return code_fence("text", without_colors(text)) if mime == "text/plain" else text
        return ""


def code_fence(language: str, code: str) -> str:
    """Code in a fence that is longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{language}\n{code.rstrip()}\n{mark}"


def without_colors(text: str) -> str:
    """A text without the colours of a terminal."""
    return _COLOR.sub("", text).strip("\n")
