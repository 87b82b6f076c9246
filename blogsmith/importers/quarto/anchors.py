"""Ids of headings: where Pandoc's are not ours they are written out, so that old links to them work."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...base.patterns import lazy_pattern
from ...model.slugs import slugify

_HEADING = lazy_pattern(r"^([ \t>]*#{1,6}[ \t]+)([^\n]*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_OPENING = lazy_pattern(r"^[ \t>]*:{3,}[ \t]*[\w{][^\n]*\n[\s>]*\Z", re.MULTILINE)
"""The first line of a div, of which a heading right behind it is the title."""
_LONGEST = 500
_LINK = lazy_pattern(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKUP = lazy_pattern(r"\[\^[^\]]*\]|\^\[[^\]]*\]|<[^<>]*>|[*`$~]+|\{[^{}]*\}|\\(?=\W)")
_UNFIT = lazy_pattern(r"[^\w\s.-]")


def pandoc_id(text: str) -> str:
    """The id that Pandoc gives a heading of plain text: `2. Markov's A & B` → `markovs-a-b`; may be empty."""
    kept = re.sub(r"\s+", "-", _UNFIT.sub("", text).strip().lower())
    return re.sub(r"^[\W\d_]+", "", kept)


def _is_title(text: str, start: int) -> bool:
    """Whether the heading at `start` stands right behind the first line of a div, whose title it is."""
    before = text[max(0, start - _LONGEST) : start]
    return _OPENING.search(before) is not None


def name_headings(text: str, reveal: Callable[[str], str]) -> str:
    """Every heading of a masked text without an id of its own, with the one it had where ours differs.

    reveal: gives a text back with all that is hidden in it.
    """
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}

    def substitute(found: re.Match[str]) -> str:
        if re.search(r"\{[^{}]*#[^{}]*\}$", found[2]) or _is_title(text, found.start()):
            return found[0]
        plain = _MARKUP.sub("", _LINK.sub(r"\1", reveal(re.sub(r"\{[^{}]*\}$", "", found[2]))))
        own, old = slugify(plain), pandoc_id(plain) or "section"
        ours[own] = ours.get(own, 0) + 1
        theirs[old] = theirs.get(old, 0) + 1
        wanted = old if theirs[old] == 1 else f"{old}-{theirs[old] - 1}"
        is_same = own == wanted and ours[own] == 1
        if is_same or not re.fullmatch(r"[\w.-]+", wanted) or old == "section":
            return found[0]
        base, brace, rest = found[2].rpartition("{") if found[2].endswith("}") else (found[2], "", "")
        return f"{found[1]}{base.rstrip()} {{#{wanted}{' ' + rest if brace else '}'}"

    return _HEADING.sub(substitute, text)
