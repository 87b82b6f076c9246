"""`{{< include file >}}`: the text of other files in that of a page, and the macros of TeX files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...base.patterns import lazy_pattern
from ..macros import tex_macros
from ..source_files import read_text
from ..text.loose_yaml import split_head
from .cells import Note
from .source import resolve

_INCLUDE = lazy_pattern(r"\{\{<\s*include\s*([^\s>][^>\n]*?)\s*>\}\}")
_DEEPEST = 10
_LARGEST = 1_000_000
"""Characters of all files that a page includes; those that include each other double with each step."""
_MARKUP = (".tex", ".ltx")


@dataclass(slots=True)
class IncludedText:
    """A text with what it includes."""

    text: str
    own: str
    """The text without what it includes, line by line as it was."""
    inserted: list[str] = field(default_factory=list)
    """Texts of other files that are in it."""
    size: int = 0
    """Characters of all files that were put in."""
    macros: dict[str, str] = field(default_factory=dict)
    """Of included TeX files that hold nothing else."""


def expand_includes(text: str, path: PurePosixPath, root: Path, note: Note) -> IncludedText:
    """A document's text with all files it includes, also those that these include."""
    found = IncludedText(text, text)
    found.text = _expand(text, path, root, note, found, 0)
    found.own = _INCLUDE.sub(lambda match: match[0] if _file(match[1], path, root) is None else "", text)
    return found


def _file(name: str, path: PurePosixPath, root: Path) -> tuple[PurePosixPath, str] | None:
    target = resolve(name.strip("\"'"), path)
    file = (root / target).resolve()
    text = read_text(file) if file.is_relative_to(root.resolve()) else None
    return None if text is None else (target, text)


def _expand(text: str, path: PurePosixPath, root: Path, note: Note, found: IncludedText, depth: int) -> str:
    def substitute(match: re.Match[str]) -> str:
        file = _file(match[1], path, root) if depth < _DEEPEST else None
        found.size += len(file[1]) if file else 0
        if file is not None and found.size > _LARGEST:
            note("left", f"{match[1]} is included, and makes the page too long", match[0])
            return match[0]
        if file is None:
            note("missing", f"{match[1]} is included, and not there", match[0])
            return "" if match[1].endswith(_MARKUP) else match[0]
        target, inner = file
        macros = tex_macros(inner)
        if target.suffix in _MARKUP or (macros and not _without_macros(inner)):
            found.macros |= macros
            return ""
        _, body, _ = split_head(inner)
        found.inserted.append(_INCLUDE.sub("", body))
        return _expand(body.strip("\n"), target, root, note, found, depth + 1)

    return _INCLUDE.sub(substitute, text)


def _without_macros(text: str) -> str:
    """What a text holds besides definitions, comments and marks of displays."""
    text = re.sub(r"<!--[\s\S]*?-->|^:{3,}.*$|\$\$|^%.*$", "", text, flags=re.MULTILINE)
    kept = [
        line
        for line in text.split("\n")
        if line.strip() and not re.match(r"\s*\\(?:new|renew|provide|def|Declare|let)", line)
    ]
    return "\n".join(kept)
