"""Quartz: which notes of a vault it publishes. Its settings are TypeScript, of which only these are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..source_files import read_text, walk_files
from ..text.path_patterns import matches_gitignore

_CONFIG = "quartz.config.ts"
_CONTENT = PurePosixPath("content")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
_COMMENT = re.compile(rf"(?P<string>{_STRING.pattern})|/\*.*?\*/|//[^\n]*", re.DOTALL)
_PATTERNS = re.compile(r"\bignorePatterns\s*:\s*\[([^\]]*)\]")
_LARGEST = 30_000
"""Characters of the settings that are read."""
_DEFAULT = ("private", "templates", ".obsidian")
"""As a new Quartz site has them."""


@dataclass(frozen=True, slots=True)
class QuartzFilter:
    """What a Quartz site leaves out."""

    patterns: tuple[str, ...]
    """Globs, relative to the folder of the notes."""
    needs_publish: bool
    """Only notes with `publish: true` are published: `Plugin.ExplicitPublish()`."""

    def leaves_out(self, path: PurePosixPath) -> bool:
        """Return whether a file is no part of the site. path: relative to the vault."""
        inner = path.relative_to(_CONTENT) if path.is_relative_to(_CONTENT) else path
        return matches_gitignore(inner.as_posix(), self.patterns, is_anchored=True)


def vault_files(root: Path, quartz: QuartzFilter | None) -> Iterator[PurePosixPath]:
    """Yield the files of a vault; of a Quartz site only those in its folder of notes: all else is Quartz."""
    if quartz and (root / _CONTENT).is_dir():
        yield from (_CONTENT / path for path in walk_files(root / _CONTENT))
    else:
        yield from walk_files(root)


def read_quartz(root: Path) -> QuartzFilter | None:
    """Return what the Quartz site around a vault leaves out; None if there is none."""
    text = read_text(root / _CONFIG)
    if text is None:
        return None
    text = _COMMENT.sub(lambda found: found["string"] or "", text[:_LARGEST])
    written = _PATTERNS.search(text)
    # without a list that can be read it is not known which folders are private
    patterns = ["".join(found) for found in _STRING.findall(written[1])] if written else _DEFAULT
    return QuartzFilter(tuple(patterns), "ExplicitPublish(" in text)
