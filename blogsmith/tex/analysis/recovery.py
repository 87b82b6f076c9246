"""Further errors of a formula after its first one.

The part of the formula that contains an error is replaced by an empty group of the same length, and the rest
is read again. For an unknown command, only the command is replaced; for any other error, the innermost braces
or the cell around it. If an error is in neither of them, the rest of the formula is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...base.patterns import lazy_pattern
from ..errors import TexError

MAX_ERRORS = 10
"""Maximum number of errors that are reported of one formula."""
_PART = lazy_pattern(r"\\\\|\\(?P<side>begin|end)\{[^{}]*\}|\\[A-Za-z]+|\\.|[{}&]", re.DOTALL)
_ENDS = {"{": "}"}
_EMPTY = "{}"


def find_further_errors(tex: str, first: TexError, convert: Callable[[str], object]) -> Iterator[TexError]:
    """Yield the errors after `first`. convert: typesets a formula, and raises its first error."""
    error, blanks = first, list[tuple[int, int]]()
    for _ in range(MAX_ERRORS - 1):
        part = _part_with_error(tex, error)
        if part is None:
            return
        start, end = part
        blanks.append(part)
        tex = tex[:start] + _EMPTY.ljust(end - start) + tex[end:]
        try:
            convert(tex)
            return
        except TexError as found:
            error = found
        stop = error.offset + error.length
        if any(start < stop and error.offset < end for start, end in blanks):
            # It may be a consequence of the empty group.
            return
        yield error


def _part_with_error(tex: str, error: TexError) -> tuple[int, int] | None:
    """Return start and end of the characters to replace, at least two; None if the end is uncertain."""
    start, end = error.offset, error.offset + error.length
    written = tex[start:end]
    if error.kind == "math-command" and written.startswith("\\") and not written.startswith("\\begin"):
        return (start, end) if len(written) > 1 else None
    if error.kind not in ("math-command", "math-syntax", "math-brace"):
        return None
    return _smallest_part(tex, start, end)


def _smallest_part(tex: str, start: int, end: int) -> tuple[int, int] | None:
    """Return start and end offset of the smallest environment, cell, or content of braces that contains the
    range; None if nothing does."""
    found: list[tuple[int, int]] = []
    opened: list[tuple[str, int, int]] = []
    """Open braces and environments: opening token, its offset, offset of the current cell."""
    for part in _PART.finditer(tex):
        sign, at = part[0], part.start()
        if sign == "{" or part["side"] == "begin":
            opened.append((sign, at, part.end()))
        elif sign == "}" or part["side"] == "end":
            if not opened or _ENDS.get(opened[-1][0], opened[-1][0].replace("begin", "end", 1)) != sign:
                # Braces do not match, so nothing is certain after this place.
                break
            _, whole, cell = opened.pop()
            if sign != "}":
                found.append((whole, part.end()))
            found.append((cell, at))
        elif sign in ("&", "\\\\") and opened and opened[-1][0] != "{":
            name, whole, cell = opened[-1]
            found.append((cell, at))
            opened[-1] = (name, whole, part.end())
    around = [one for one in found if one[0] <= start and end <= one[1] and one[1] - one[0] >= len(_EMPTY)]
    return min(around, key=lambda one: one[1] - one[0], default=None)
