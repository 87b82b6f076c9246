"""Pipes in the code of a table: GFM reads them as borders of cells, Pandoc and Python-Markdown do not."""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from .segments import Dialect, divide

_RULE = lazy_pattern(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_BARE = lazy_pattern(r"(?<!\\)\|")


def escape_table_code(text: str, dialect: Dialect) -> str:
    """A text in which every pipe of a code span that stands in a table has a backslash in front."""
    if "|" not in text or "`" not in text or not _RULE.search(text):
        return text
    parts = []
    for segment in divide(text, dialect):
        is_row = segment.kind == "span" and "|" in segment.text and _is_in_table(text, segment.start)
        parts.append(_BARE.sub(r"\\|", segment.text) if is_row else segment.text)
    return "".join(parts)


def _is_in_table(text: str, position: int) -> bool:
    """Whether a line stands in a block whose second line is the rule of a table."""
    start = text.rfind("\n\n", 0, position) + 1
    end = text.find("\n\n", position)
    block = text[start : end if end >= 0 else len(text)].strip("\n")
    rule = _RULE.search(block)
    return rule is not None and "|" in rule[0] and block.count("\n", 0, rule.start()) > 0
