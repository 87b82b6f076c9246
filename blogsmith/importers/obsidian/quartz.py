"""Quartz: which notes of a vault it publishes. Its settings are TypeScript, of which only these are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..source_files import read_text
from ..text.path_patterns import matches_gitignore

_CONFIG = "quartz.config.ts"
_CONTENT = "content"
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
_PATTERNS = re.compile(r"\bignorePatterns\s*:\s*\[([^\]]*)\]")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
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
        inner = path.relative_to(_CONTENT) if path.parts[0] == _CONTENT else path
        return matches_gitignore(inner.as_posix(), self.patterns, is_anchored=True)


def read_quartz(root: Path) -> QuartzFilter | None:
    """Return what the Quartz site around a vault leaves out; None if there is none."""
    text = read_text(root / _CONFIG)
    if text is None:
        return None
    text = _COMMENT.sub("", text)
    written = _PATTERNS.search(text)
    # without a list that can be read it is not known which folders are private
    patterns = ["".join(found) for found in _STRING.findall(written[1])] if written else _DEFAULT
    return QuartzFilter(tuple(patterns), "ExplicitPublish(" in text)
