"""Severity levels of diagnostics: the settings may change the level of a code, for all files or for some.

Levels are applied only where diagnostics are collected. The cache of a page stores them unchanged.
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
    """Severity that the settings give a diagnostic code, in some files."""

    level: Level
    paths: tuple[str, ...] = ()
    """Globs of files, relative to the site root or to `content`; empty: all files."""

    def covers(self, path: str) -> bool:
        """Return whether the rule applies to a file. path: relative to the site root."""
        names = (path, path.removeprefix(_CONTENT))
        return not self.paths or any(_pattern(glob).fullmatch(name) for glob in self.paths for name in names)


class DiagnosticLevels(Struct, frozen=True):
    """Levels that the settings give to codes. For each diagnostic the first rule of its code that covers the
    file applies."""

    rules: Mapping[str, tuple[LevelRule, ...]] = {}
    """Diagnostic code → rules that may set its level, in the order they are tried."""

    def apply(self, found: Diagnostic) -> Diagnostic | None:
        """Return a diagnostic with the severity that the settings give it, or None if they silence it. Errors
        are never silenced. They become warnings only in content files, and only for codes in `LOWERABLE`."""
        rule = next((one for one in self.rules.get(found.code, ()) if one.covers(found.path)), None)
        if rule is None or rule.level == found.severity:
            return found
        if found.severity == "warning":
            return None if rule.level == "off" else replace(found, severity="error")
        is_lower = rule.level == "warning" and found.code in LOWERABLE and found.path.startswith(_CONTENT)
        return replace(found, severity="warning") if is_lower else found


NO_LEVELS = DiagnosticLevels()


def silencing_rules(codes: Iterable[str]) -> Mapping[str, tuple[LevelRule, ...]]:
    return {code: (LevelRule("off"),) for code in codes}


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob: `**` matches any number of folders; `*` and `?` match characters within one name."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob.removeprefix("./"))
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part) or re.escape(part) for part in parts), re.DOTALL)
