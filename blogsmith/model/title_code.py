"""Code in the title in front matter, as in ``title: On `einsum` ``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base.patterns import lazy_pattern

_CODE = lazy_pattern(r"(?<![`\\])(`+)(?!`)(.*?[^`])\1(?!`)")


def find_code(title: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of each code span in a title."""
    for found in _CODE.finditer(title):
        yield found.start(), found.end(), _content(found)


def title_without_marks(title: str) -> str:
    """Return a title without the backticks of its code."""
    return _CODE.sub(_content, title) if "`" in title else title


def _content(found: re.Match[str]) -> str:
    """Return the content of a code span without the spaces next to its backticks, if it has one on each
    side."""
    written = found[2]
    is_padded = written[:1] == written[-1:] == " " and written.strip()
    return written[1:-1] if is_padded else written
