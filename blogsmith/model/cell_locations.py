"""Places in cells, as recorded texts name them, and as lines of the post."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..patterns import lazy_pattern

_PLACE = lazy_pattern(r'File "<cell (\d{1,6})>", line (\d{1,9})|<cell (\d{1,6})>:(\d{1,9})')


def locate_in_post(text: str, path: str, first_lines: Sequence[int]) -> str:
    """`text` with its places in cells as lines of the post at `path`.

    first_lines: line of the post on which the code of each cell of the session starts, in order.
    """
    if "<cell " not in text:
        return text

    def place(match: re.Match[str]) -> str:
        number, line = int(match[1] or match[3]), int(match[2] or match[4])
        if not 0 < number <= len(first_lines):
            return match[0]
        line += first_lines[number - 1] - 1
        return f'File "{path}", line {line}' if match[1] else f"{path}:{line}"

    return _PLACE.sub(place, text)
