"""Text files that pages or settings name, such as bibliographies, citation styles and LaTeX files.

They may be anywhere in the site except in the output folder. Files outside the site, hidden files and special
files are never read.
"""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..base.diagnostics.model import SiteError
from ..base.storage.folder import open_real_file
from ..model.decode import decode, normalize_line_ends

MAX_BYTES = 20_000_000


class TextFile(Struct, frozen=True):
    """The content of a file, or the reason why it could not be read."""

    text: str = ""
    digest: str = ""
    """Hex SHA-256 of the bytes of the file."""
    problem: str = ""
    """Error message; empty if the file was read."""
    is_outside: bool = False
    """Whether the file was rejected because it is outside the site."""


def open_text_file(text: str) -> TextFile:
    """Return the content of a file that is open in an editor."""
    data = text.encode("utf-8", "replace")
    return TextFile(normalize_line_ends(text.removeprefix("\ufeff")), hashlib.sha256(data).hexdigest())


def read_text_file(root: Path, output: str, path: PurePosixPath) -> TextFile | None:
    """Return the content of the file at a path relative to the root, or None if it does not exist."""
    try:
        base = root.resolve()
        file = (base / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    if not file.is_relative_to(base):
        return TextFile(problem=f'"{path}" is a link to a file outside the site', is_outside=True)
    inside = file.relative_to(base)
    if any(part.startswith(".") for part in inside.parts) or inside.is_relative_to(output):
        return TextFile(problem=f'"{path}" is hidden, or in the output folder')
    try:
        if not file.is_file():
            return TextFile(problem=f'"{path}" is not a file')
        with open_real_file(file) as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return TextFile(problem=f'"{path}" is larger than {MAX_BYTES // 1_000_000} MB')
        text = normalize_line_ends(decode(data, str(path)).removeprefix("\ufeff"))
    except SiteError as error:
        return TextFile(problem=f'"{path}": {error.diagnostics[0].message}')
    except OSError as error:
        return TextFile(problem=f'"{path}" cannot be read: {error.strerror or type(error).__name__}')
    return TextFile(text, hashlib.sha256(data).hexdigest())
