"""Ids of headings. If blogsmith would generate another id for a heading than the old system, the import
writes the old id to the heading."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ...api.importing import github_slug, lazy_pattern, slugify

_HEADING = lazy_pattern(r"^([ \t>]*#{1,6}[ \t]+)([^\n]*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_OPENING = lazy_pattern(r"^[ \t>]*:{3,}[ \t]*[\w{][^\n]*\n[\s>]*\Z", re.MULTILINE)
"""Matches the first line of a div. A heading directly after it is the title of the div."""
_MAX_LINE_LENGTH = 500
_LINK = lazy_pattern(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKUP = lazy_pattern(r"\[\^[^\]]*\]|\^\[[^\]]*\]|<[^<>]*>|[*`$~]+|\{[^{}]*\}|\\(?=\W)")
_TAG = lazy_pattern(r"<[^<>]*>|[*`$]+|\\(?=[()])")
_UNFIT = lazy_pattern(r"[^\w\s.-]")
_ATTRIBUTES = lazy_pattern(r"\{[^{}]*\}$")
_EXPLICIT = lazy_pattern(r"\{[^{}]*#[^{}]*\}$")


@dataclass(frozen=True, slots=True)
class HeadingIds:
    """Rules of an old system and of blogsmith for ids of headings."""

    old: Callable[[str], str]
    """Function that returns the old id of a heading for its source; empty if the heading had no id."""
    separator: str = "-"
    """Text that the old system puts between a repeated id and the number after it, which is 1, 2, …"""
    is_github: bool = True
    """Whether the import sets `slugs: github` in the new site."""

    def own(self, written: str) -> str:
        """Return the id that blogsmith generates for a heading."""
        return github_slug(_plain(written)) if self.is_github else slugify(_plain(written))


def _plain(written: str) -> str:
    return _MARKUP.sub("", _LINK.sub(r"\1", written)).strip()


def pandoc_id(text: str) -> str:
    """Return Pandoc's id for a heading in plain text, such as `markovs-a-b` for `2. Markov's A & B`. Empty if
    the heading has no letters."""
    # Pandoc reads two hyphens as a dash, which it removes
    kept = re.sub(r"\s+", "-", _UNFIT.sub("", re.sub("-{2,3}", "", text)).strip().lower())
    return re.sub(r"^[\W\d_]+", "", kept)


def python_markdown_id(written: str) -> str:
    """Return Python-Markdown's id for a heading; empty if the heading has no letters. Source:
    `toc.slugify`."""
    text = _TAG.sub("", _LINK.sub(r"\1", written))
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    made = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_text).strip().lower())
    return made if re.search("[a-z]", made) else ""


_QUOTES = lazy_pattern("['‘’\"“”]+")


def mystmd_id(written: str) -> str:
    """Return mystmd's id for a heading: `[BONUS] $R^2$` → `id-bonus-r-2`. Source: `createHtmlId` in
    `myst-common`."""
    text = _QUOTES.sub("", _TAG.sub("", _LINK.sub(r"\1", written))).strip().lower()
    made = re.sub(r"[^a-z0-9-]", "-", text)
    return re.sub("-{2,}", "-", f"id-{made}" if re.match("[0-9-]", made) else made).strip("-")


PANDOC = HeadingIds(lambda written: pandoc_id(_plain(written)), is_github=False)
PYTHON_MARKDOWN = HeadingIds(python_markdown_id, "_")
UNICODE_MARKDOWN = HeadingIds(lambda written: github_slug(_TAG.sub("", _LINK.sub(r"\1", written))), "_")
"""Python-Markdown with a slug function of pymdownx."""
MYSTMD = HeadingIds(mystmd_id)
HUGO = HeadingIds(lambda written: github_slug(written.strip()))
"""goldmark, whose ids are made from the source of a heading, including URLs of links."""


def add_heading_ids(text: str, reveal: Callable[[str], str], ids: HeadingIds, title: str = "") -> str:
    """Add the old id to each heading without an explicit id, if blogsmith's id would differ.

    reveal: function that returns a text with its hidden segments restored. title: removed heading of the
    page, whose id is already used; empty if there is none.
    """
    ours, theirs = Counter[str](), Counter([ids.old(title)] if title else ())

    def substitute(found: re.Match[str]) -> str:
        if _EXPLICIT.search(found[2]) or _is_title(text, found.start()):
            return found[0]
        written = reveal(_ATTRIBUTES.sub("", found[2]))
        own, old = ids.own(written), ids.old(written)
        ours[own] += 1
        theirs[old] += 1
        wanted = old if theirs[old] == 1 else f"{old}{ids.separator}{theirs[old] - 1}"
        is_same = own == wanted and ours[own] == 1
        is_same = is_same or (ids.is_github and wanted == f"{own}-{ours[own] - 1}")
        if is_same or not old or not re.fullmatch(r"[\w.-]+", wanted):
            return found[0]
        base, brace, rest = found[2].rpartition("{") if found[2].endswith("}") else (found[2], "", "")
        return f"{found[1]}{base.rstrip()} {{#{wanted}{' ' + rest if brace else '}'}"

    return _HEADING.sub(substitute, text)


def _is_title(text: str, start: int) -> bool:
    """Return whether the heading at offset `start` is the title of a div, because it directly follows the
    first line of the div."""
    before = text[max(0, start - _MAX_LINE_LENGTH) : start]
    return _OPENING.search(before) is not None
