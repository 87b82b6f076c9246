"""Patterns of paths, as other systems write them in their settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_PART = re.compile(r"(/\*\*/|\*\*/|/\*\*|\*|\?|\{[^{}/]*\})")
_LARGEST = 200
_QUANTIFIER = re.compile(r"[*+?{]")
_MOST_QUANTIFIERS = 3
_MOST_WILDCARDS = 4
_MOST_PATTERNS = 500
"""More of them make a search that a hostile pattern can keep running for years."""
_FORMS = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


def matches_gitignore(path: str, patterns: Iterable[str], *, is_anchored: bool = False) -> bool:
    """Return whether patterns of gitignore's form leave a path out; the last one that matches decides.

    is_anchored: a pattern without a slash matches at the top only, as in patterns of globby. A pattern that
    may take very long matches every path, and so do too many patterns.
    """
    every = list(patterns)
    is_out = len(every) > _MOST_PATTERNS
    for pattern in every[:_MOST_PATTERNS]:
        written = pattern.strip()
        if not written or written.startswith("#"):
            continue
        is_negated = written.startswith("!")
        is_slow = len(written) > _LARGEST or len(_PART.findall(written)) > _MOST_WILDCARDS
        if (is_slow and not is_negated) or (
            not is_slow and _glob(written.lstrip("!"), is_anchored).fullmatch(path)
        ):
            is_out = not is_negated
    return is_out


@lru_cache(maxsize=_MOST_PATTERNS)
def _glob(pattern: str, is_anchored: bool) -> re.Pattern[str]:
    body = pattern.removeprefix("./").strip("/")
    is_anchored = is_anchored or "/" in pattern.rstrip("/")
    written = "".join(_FORMS.get(part) or _literal(part) for part in _PART.split(body))
    return re.compile(f"{'' if is_anchored else '(?:.*/)?'}{written}(?:/.*)?", re.DOTALL)


def _literal(part: str) -> str:
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(re.escape(each) for each in part[1:-1].split(','))})"
    return re.escape(part)


def matches_regex(path: str, pattern: str) -> bool:
    """Return whether a regular expression of a source matches the start of a path.

    One that cannot be read, or may take very long, matches every path: what it leaves out is not known.
    """
    is_simple = len(_QUANTIFIER.findall(pattern)) <= _MOST_QUANTIFIERS and ")" not in re.sub(
        r"\)(?![*+?{])", "", pattern
    )
    if len(pattern) > _LARGEST or not is_simple:
        return True
    try:
        return re.match(pattern, path) is not None
    except (re.error, RecursionError, OverflowError):
        return True
