"""Posts whose title or subtitle says that they are part of a series, although their front matter does not."""

from __future__ import annotations

import re

from ..base.diagnostics.model import Reporter, find_word_range
from ..base.patterns import lazy_pattern
from ..model.documents import FrontMatter
from ..model.letters import IN_NAMES

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_NUMBER = rf"\d{{1,2}}|{'|'.join((*sorted(_ROMANS, key=len, reverse=True), *_NUMBERS))}"
_PART = lazy_pattern(
    # must not match `Part I liked most`
    rf"(?<!\w)(?:part|teil)\s+(?P<part>{_NUMBER})(?:\s*(?:of|von|/)\s*(?P<count>{_NUMBER}))?"
    rf"(?=\s*(?:\Z|[:;,.)\]—–-]))",
    re.IGNORECASE,
)
_FRACTION = lazy_pattern(r"[(\[](?P<part>\d{1,2})\s*/\s*(?P<count>\d{1,2})[)\]]\Z")
_PLAIN = lazy_pattern(rf"[^\W\d_][{IN_NAMES} '-]*")


def report_series(front: FrontMatter, reporter: Reporter) -> None:
    """Suggest `series:` for a post whose title or subtitle contains, for example, `Part 2 of 4`."""
    if front.series is not None:
        return
    for key, text in (("subtitle", front.subtitle), ("title", front.title)):
        found = _PART.search(text) or _FRACTION.search(text.rstrip())
        part = _number(found["part"]) if found else 0
        if found and part and (not found["count"] or part <= _number(found["count"])):
            name = _series_name(text[: found.start()]) if key == "title" else ""
            place = find_word_range(found[0], front.places.get(key), reporter.lines)
            message = f'{key} contains "{found[0]}", but the post is not in a series'
            hint = f"write `series: {{name: {name or 'NAME'}, part: {part}}}`"
            reporter.warn("series-missing", message, place, hint)
            return


def _number(written: str) -> int:
    word = written.casefold()
    for names in (_NUMBERS, _ROMANS):
        if word in names:
            return names.index(word) + 1
    return int(written)


def _series_name(before: str) -> str:
    """Return the title of the series as YAML; empty if there is none. before: the text before the number of
    the part."""
    name = before.strip(" \t,:;.([—–-")
    return (
        name
        if _PLAIN.fullmatch(name)
        else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if name
        else ""
    )
