"""URLs on other hosts that a page contains, and the locations where the author wrote them.

The URLs are read from the published HTML, so that links in Markdown, HTML, shortcodes and citations are all
included. Their locations are found by searching the author's files for the URL or its DOI.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...base.diagnostics.model import Place
from ...base.html_tags import find_visible, parse_start_tag
from ...base.patterns import lazy_pattern
from ...model.remote_images import normalize_remote_url

_ELEMENT = lazy_pattern(
    r"<(?:a|area|audio|blockquote|embed|iframe|image|img|q|source|track|video)(?=\s)", re.IGNORECASE
)
_ATTRIBUTES = ("href", "src", "poster", "cite", "data-src")
_URL = lazy_pattern(r"(?:https?:)?//[^\s<>\"'`\\]+|\b10\.\d{4,9}/[^\s<>\"'`\\,{}]+", re.IGNORECASE)
_TRAILING_CHARACTERS = ")]}.,;:!?*_|>"
"""Characters that belong to the sentence instead of the URL, if they are at its end."""
_MAX_TRAILING = 8
_DOI = "https://doi.org/"
MAX_URL_LENGTH = 2000
"""Maximum number of characters of a URL. Longer ones are not checked."""


class LinkUse(Struct, frozen=True):
    """A location where a URL is written."""

    path: str
    place: Place | None
    line: str = ""
    """Line of the author's file that contains the URL."""
    fragment: str = ""
    date: str = ""
    """Date of the page, as `20260301`; empty if it has none."""


def find_urls(html: str) -> dict[str, set[str]]:
    """Return URL → fragments, for all URLs in published HTML. URLs are normalized by
    `normalize_remote_url`."""
    found: dict[str, set[str]] = {}
    for match in find_visible(_ELEMENT, html):
        tag = parse_start_tag(html, match.start())
        for name in _ATTRIBUTES if tag else ():
            written = tag.get(name).strip() if tag else ""
            if written[:2] == "//" or written[:4].lower() == "http":
                address = normalize_remote_url(written)
                if address and len(address) <= MAX_URL_LENGTH:
                    found.setdefault(address, set()).add(unquote(urlsplit(written).fragment))
    return found


class UrlIndex:
    """Locations of all URLs in a file."""

    def __init__(self, path: str, text: str) -> None:
        """Index a file.

        path: relative to the site root.
        """
        self.path = path
        self._text = text
        self._spans: dict[str, dict[int, list[int]]] = {}
        """URL → offset → possible lengths of the URL at this offset, including its fragment."""
        for match in _URL.finditer(text):
            written = match[0][: MAX_URL_LENGTH + _MAX_TRAILING]
            for _ in range(_MAX_TRAILING):
                # only the page shows whether the last character belongs to the URL
                address = normalize_remote_url(_DOI + written if written[:3] == "10." else written)
                if address:
                    self._spans.setdefault(address, {}).setdefault(match.start(), []).append(len(written))
                if not written or written[-1] not in _TRAILING_CHARACTERS:
                    break
                written = written[:-1]

    def uses(self, address: str, fragments: Collection[str], date: str) -> list[LinkUse]:
        """Return the locations of a URL in this file; empty if the file does not contain it."""
        spans = self._spans.get(address, {})
        return [self._use(offset, lengths, fragments, date) for offset, lengths in spans.items()]

    def _use(self, offset: int, lengths: list[int], fragments: Collection[str], date: str) -> LinkUse:
        text = self._text
        start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
        named = {length: unquote(urlsplit(text[offset : offset + length]).fragment) for length in lengths}
        length = next((length for length in lengths if named[length] in fragments), lengths[-1])
        fragment = named[length]
        place = Place(text.count("\n", 0, offset) + 1, offset - start + 1, length)
        line = text[start : end if end >= 0 else len(text)]
        # a fragment that no link of the page has belongs to another URL
        return LinkUse(self.path, place, line, fragment if fragment in fragments else "", date)


def find_uses(
    page: UrlIndex, named: Mapping[str, set[str]], others: Sequence[UrlIndex] = (), date: str = ""
) -> Iterator[tuple[str, LinkUse]]:
    """Yield (URL, location) for the URLs in the page. If the page's source does not contain a URL, search the
    other files that the page is made from. named: URL → fragments."""
    for address, fragments in named.items():
        found = next((uses for file in (page, *others) if (uses := file.uses(address, fragments, date))), ())
        for use in found:
            yield address, use
        if not found:
            for fragment in sorted(fragments):
                yield address, LinkUse(page.path, None, fragment=fragment, date=date)
