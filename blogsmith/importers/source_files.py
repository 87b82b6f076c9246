"""The files of a source: walked without following links out of it, and read whatever their encoding."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

SKIPPED = frozenset(
    (
        *("node_modules", "vendor", "__pycache__", "_site", ".git", ".github", ".vscode", ".idea", ".bundle"),
        *(".jekyll-cache", ".sass-cache", ".ipynb_checkpoints", ".venv", "venv"),
    )
)
"""Folders of tools and outputs, in every system."""
_LARGEST = 10_000_000
"""Bytes of a text that is read; as for our own posts."""


def walk_files(root: Path, skipped: Collection[str] = SKIPPED) -> Iterator[PurePosixPath]:
    """Every file below a folder, sorted, relative to it; folders that begin with a dot and `skipped` left
    out."""
    top = root.resolve()

    def visit(folder: Path, path: PurePosixPath, depth: int) -> Iterator[PurePosixPath]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            below = path / entry.name
            real = Path(entry.path).resolve()
            if not real.is_relative_to(top):
                continue
            if real.is_dir():
                is_wanted = entry.name not in skipped and not entry.name.startswith(".")
                if is_wanted and depth and not entry.is_symlink():
                    yield from visit(Path(entry.path), below, depth - 1)
            elif real.is_file():
                yield below

    yield from visit(top, PurePosixPath(), 50)


def read_text(file: Path) -> str | None:
    """A text with newlines as \\n; Latin-1 where it is no UTF-8; None for what is no text or cannot be
    read."""
    try:
        if file.stat().st_size > _LARGEST:
            return None
        data = file.read_bytes()
    except OSError:
        return None
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")
