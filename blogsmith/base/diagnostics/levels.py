"""How heavy findings weigh: what a site says of a code, for all of its files or for some.

Applied where findings are collected and nowhere else: what is kept of a page from one build to the next holds
its findings as they were made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from .codes import LOWERABLE
from .model import Diagnostic

Level = Literal["error", "warning", "off"]
_CONTENT = "content/"


class LevelRule(Struct, frozen=True):
    """How heavy findings of one code weigh in some files."""

    level: Level
    paths: tuple[str, ...] = ()
    """Globs of files, relative to the site or to `content`; empty: all."""

    def covers(self, path: str) -> bool:
        """Whether it holds for a file, given relative to the site."""
        names = (path, path.removeprefix(_CONTENT))
        return not self.paths or any(_pattern(glob).fullmatch(name) for glob in self.paths for name in names)


class DiagnosticLevels(Struct, frozen=True):
    """What a site says of codes; of each code the first rule counts that covers the file."""

    rules: Mapping[str, tuple[LevelRule, ...]] = {}
    """By code."""

    def apply(self, found: Diagnostic) -> Diagnostic | None:
        """A finding as heavy as the site wants it; None if it is silenced.

        Errors are never silenced, and lowered only where codes allow it, in files of content.
        """
        rule = next((one for one in self.rules.get(found.code, ()) if one.covers(found.path)), None)
        if rule is None or rule.level == found.severity:
            return found
        if found.severity == "warning":
            return None if rule.level == "off" else replace(found, severity="error")
        is_lower = rule.level == "warning" and found.code in LOWERABLE and found.path.startswith(_CONTENT)
        return replace(found, severity="warning") if is_lower else found


NO_LEVELS = DiagnosticLevels()


def silence(codes: Iterable[str]) -> Mapping[str, tuple[LevelRule, ...]]:
    """Rules that silence the warnings of codes."""
    return {code: (LevelRule("off"),) for code in codes}


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """`**` stands for folders, as many as there are; `*` and `?` stand for signs of one name."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob.removeprefix("./"))
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part) or re.escape(part) for part in parts), re.DOTALL)
