"""Recorded results that git is told to leave out: the machine that publishes would have none."""

from __future__ import annotations

from pathlib import Path

from ..base.diagnostics.model import Diagnostic, Place, SiteError
from ..base.patterns import lazy_pattern
from .author_files import read_text

_FILE = ".gitignore"
_PATTERN = lazy_pattern(r"/?(?:\*\*/)?_freeze(?:/\*{0,2})?\s*")


def ignored_results(site: Path, repository: Path | None) -> tuple[Diagnostic, ...]:
    """A warning for the line that leaves `_freeze/` out, in the site's folder or that of its repository."""
    found = []
    for folder in dict.fromkeys((site, repository or site)):
        try:
            lines = (read_text(folder, _FILE) or "").split("\n")
        except SiteError:
            continue
        for number, line in enumerate(lines, 1):
            if _PATTERN.fullmatch(line):
                message = "git leaves out the recorded results, so no other machine can show them"
                path = _FILE if folder == site else str(folder / _FILE)
                place = Place(number, 1, len(line.rstrip()))
                hint = "take the line out, and commit _freeze/"
                found.append(Diagnostic("publish-results", message, path, place, line, hint, "warning"))
    return tuple(found)
