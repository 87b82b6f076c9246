r"""Images of a paper. PDF becomes SVG with `pdftocairo`, a program of Poppler, and EPS becomes PDF with
`gs` (Ghostscript), if the machine has them.

EPS is a program: Ghostscript runs it with `-dSAFER`, so it can open no file, and with limits of time and
memory.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import PurePosixPath

from ...api.importing import lazy_pattern, slugify
from ..model import ImportedData, ImportedFile, Notice
from ..source_files import open_file
from .source import FileReader, SourceText, locate

_IMAGE = lazy_pattern(
    r"\\(?:includegraphics|includesvg|epsfig|includestandalone)\*?\s*(?P<options>\[(?:[^\[\]{}]"
    r"|\{[^{}]*\})*\])?\s*\{(?P<file>[^{}]*)\}"
)
_FOLDERS = lazy_pattern(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)\s*\}")
_SHOWN = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_CONVERTED = (".pdf", ".eps", ".ps")
_SUFFIXES = ("", *_SHOWN, *_CONVERTED, ".PNG", ".JPG", ".PDF")
_HINTS = {
    "program": "install `pdftocairo` (Debian: `apt install poppler-utils`)",
    "ghostscript": "install `gs` (Debian: `apt install ghostscript`)",
    "format": "convert it to SVG or PNG",
    "size": "make it smaller, or convert it to PNG",
}
"""Why an image is omitted → hint for the author."""
_TIMEOUT_S = 30
_MAX_PDF_BYTES = 30_000_000
_MAX_SVG_BYTES = 5_000_000
_MAX_IMAGES = 500
_BOX = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="120" viewBox="0 0 480 120">'
    '<rect x="1" y="1" width="478" height="118" fill="none" stroke="#767676" stroke-dasharray="6 4"/>'
    '<text x="240" y="65" fill="#767676" font-family="monospace" font-size="15" text-anchor="middle">'
    "{}</text></svg>\n"
)
_GHOSTSCRIPT = (
    *("-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dEPSCrop", "-sDEVICE=pdfwrite", "-dLastPage=1"),
    *("-K500000", "-sOutputFile=-", "-"),
)
"""Options of Ghostscript; `-K` limits its memory, in kB."""


@dataclass(slots=True)
class Figures:
    """Collects the images that one paper shows."""

    reader: FileReader
    folders: Sequence[str] = ("",)
    r"""Folders in `\graphicspath`, with a slash at the end; `""` is the folder of the main file."""
    notices: list[Notice] = field(default_factory=list)
    _copied: dict[str, PurePosixPath] = field(default_factory=dict)
    """Name of a copied image in the folder of the new page → file of the source."""
    _converted: dict[str, bytes] = field(default_factory=dict)
    _boxes: dict[str, str] = field(default_factory=dict)
    """File name in the paper → name of the box that replaces the image."""
    _names: dict[PurePosixPath, str] = field(default_factory=dict)
    """File of the source → name in the folder of the new page; empty if the image cannot be shown."""

    def place(self, text: SourceText) -> SourceText:
        """Return the text with the new name of each image. Report images that are missing or cannot be
        shown. A box with their name replaces them, so that figures keep their captions and numbers."""
        edits = list[tuple[int, int, str]]()
        for found in _IMAGE.finditer(text.text):
            written = found["file"].strip().strip('"')
            path = self._find(written) if len(self._names) < _MAX_IMAGES else None
            ((source, line),) = locate(text, [found.start()])
            name = self._new_name(path, source, line) if path else ""
            if path is None:
                hint = "copy the image into the source, and import again"
                self.notices.append(Notice("missing", f'image not found: "{written}"', source, line, hint))
            options = found["options"] or ""
            name = name or self._placeholder(written)
            edits.append((*found.span(), f"\\includegraphics{options}{{{name}}}"))
        return text.edit(edits)

    def _find(self, name: str) -> PurePosixPath | None:
        for folder in ("", *self.folders):
            found = self.reader.find(f"{folder}{name}", suffixes=_SUFFIXES) if name else None
            if found:
                return found
        return None

    def _new_name(self, path: PurePosixPath, source: str, line: int) -> str:
        if path in self._names:
            return self._names[path]
        suffix = path.suffix.lower()
        name = self._free_name(path.stem, ".svg" if suffix in _CONVERTED else suffix)
        if suffix in _CONVERTED:
            svg, why = _convert(self.reader, path)
            if svg:
                self._converted[name] = svg
        elif suffix in _SHOWN:
            self._copied[name], why = path, ""
        else:
            why = "format"
        if why:
            hint = f"{_HINTS[why]}, and import again"
            self.notices.append(Notice("held", f'image not allowed on pages: "{path}"', source, line, hint))
            name = ""
        self._names[path] = name
        return name

    def _free_name(self, stem: str, suffix: str) -> str:
        taken, stem = {*self._copied, *self._converted}, slugify(stem) or "figure"
        numbered = (f"{stem}-{number}{suffix}" for number in range(2, 2 * _MAX_IMAGES + 2))
        return next((name for name in (f"{stem}{suffix}", *numbered) if name not in taken), f"{stem}{suffix}")

    def _placeholder(self, written: str) -> str:
        """Return the name of a new image that shows the name of a missing one."""
        name = self._boxes.get(written)
        if name is None:
            name = self._boxes[written] = self._free_name(PurePosixPath(written).stem, ".svg")
            self._converted[name] = _BOX.format(escape(written[-50:])).encode()
        return name

    def files(self, folder: PurePosixPath) -> list[ImportedFile]:
        """Return the images to copy to `folder`, the folder of the new page."""
        return [ImportedFile(folder / name, self.reader.root / path) for name, path in self._copied.items()]

    def made(self, folder: PurePosixPath) -> list[ImportedData]:
        """Return the converted images, as files in `folder`, the folder of the new page."""
        return [ImportedData(folder / name, data) for name, data in self._converted.items()]


def graphic_folders(preamble: str) -> tuple[str, ...]:
    r"""Return the folders in `\graphicspath`, with a slash at the end."""
    groups = [
        one
        for found in _FOLDERS.finditer(preamble)
        for one in lazy_pattern(r"\{([^{}]*)\}").findall(found[1])
    ]
    return tuple(f"{group.strip().rstrip('/')}/" for group in groups if group.strip())


def _convert(reader: FileReader, path: PurePosixPath) -> tuple[bytes, str]:
    """Convert the first page of a PDF or EPS file. Return the SVG and an empty string. If the conversion
    fails, return empty bytes and a key of `_HINTS`."""
    try:
        with open_file(reader.root / path) as stream:
            data = stream.read(_MAX_PDF_BYTES + 1)
    except (OSError, ValueError):
        return b"", "size"
    if len(data) > _MAX_PDF_BYTES:
        return b"", "size"
    if path.suffix.lower() != ".pdf":
        data, why = _run("gs", _GHOSTSCRIPT, data, "ghostscript")
        if why:
            return b"", why
    svg, why = _run("pdftocairo", ["-svg", "-f", "1", "-l", "1", "-", "-"], data, "program")
    return (b"", "size") if len(svg) > _MAX_SVG_BYTES else (svg, why)


def _run(name: str, options: Sequence[str], data: bytes, missing: str) -> tuple[bytes, str]:
    """Run an installed program with `data` as its input. Return its output and an empty string. If the run
    fails, return empty bytes and a key of `_HINTS`. missing: key if the program is not installed.

    The program reads from a pipe, so it opens no file of the source.
    """
    program = shutil.which(name)
    if program is None:
        return b"", missing
    try:
        done = subprocess.run(
            [program, *options], input=data, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return b"", "size"
    return (b"", "format") if done.returncode or not done.stdout.strip() else (done.stdout, "")
