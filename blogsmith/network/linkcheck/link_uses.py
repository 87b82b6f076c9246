"""Which addresses at other hosts a page names, and where its author wrote them.

What counts is the published HTML: so links of Markdown, of raw HTML, of shortcodes and of citations are all
there. Their places are looked for in the author's files, by the text of the address or of its DOI.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...base.diagnostics.model import Place
from ...base.html_tags import hidden_spans, start_tag
from ...base.patterns import lazy_pattern
from ...model.remote_images import remote_address

_ELEMENT = lazy_pattern(
    r"<(?:a|area|audio|blockquote|embed|iframe|image|img|q|source|track|video)(?=\s)", re.IGNORECASE
)
_ATTRIBUTES = ("href", "src", "poster", "cite", "data-src")
_WRITTEN = lazy_pattern(r"(?:https?:)?//[^\s<>\"'`\\]+|\b10\.\d{4,9}/[^\s<>\"'`\\,{}]+", re.IGNORECASE)
_ENDS = ")]}.,;:!?*_|>"
"""Signs behind an address that may belong to the sentence."""
_MOST_ENDS = 8
_DOI = "https://doi.org/"
MAX_ADDRESS = 2000
"""Characters; a longer one is not asked for."""


class LinkUse(Struct, frozen=True):
    """A place that names an address."""

    path: str
    place: Place | None
    line: str = ""
    """The author's line."""
    fragment: str = ""
    date: str = ""
    """Day of the page, `20260301`; empty if it has none."""


def addresses_in(html: str) -> dict[str, set[str]]:
    """Address in the form of `remote_address` → fragments behind it, of all that published HTML names."""
    found: dict[str, set[str]] = {}
    hidden = iter(hidden_spans(html))
    start, end = next(hidden, (len(html), len(html)))
    for match in _ELEMENT.finditer(html):
        while end <= match.start():
            start, end = next(hidden, (len(html), len(html) + 1))
        if start <= match.start():
            continue
        tag = start_tag(html, match.start())
        for name in _ATTRIBUTES if tag else ():
            written = tag.get(name).strip() if tag else ""
            if written[:2] == "//" or written[:4].lower() == "http":
                address = remote_address(written)
                if address and len(address) <= MAX_ADDRESS:
                    found.setdefault(address, set()).add(unquote(urlsplit(written).fragment))
    return found


class AddressIndex:
    """Where addresses are written in a file; looked for once."""

    def __init__(self, path: str, text: str) -> None:
        """path: relative to the site root."""
        self.path = path
        self._text = text
        self._spans: dict[str, dict[int, list[int]]] = {}
        """Address → offset → lengths of what may be the address there, with a fragment."""
        for match in _WRITTEN.finditer(text):
            written = match[0][: MAX_ADDRESS + _MOST_ENDS]
            for _ in range(_MOST_ENDS):
                # whether a sign at the end belongs to the address, only the page knows
                address = remote_address(_DOI + written if written[:3] == "10." else written)
                if address:
                    self._spans.setdefault(address, {}).setdefault(match.start(), []).append(len(written))
                if not written or written[-1] not in _ENDS:
                    break
                written = written[:-1]

    def uses(self, address: str, fragments: Collection[str], date: str) -> list[LinkUse]:
        """Each place of an address; none if it is not written here."""
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
        # a fragment that no link has is one of another address
        return LinkUse(self.path, place, line, fragment if fragment in fragments else "", date)


def uses_in(
    page: AddressIndex, named: Mapping[str, set[str]], others: Sequence[AddressIndex] = (), date: str = ""
) -> Iterator[tuple[str, LinkUse]]:
    """Each place that names one of the addresses, in the page or else in a file that it is made from."""
    for address, fragments in named.items():
        found = next((uses for file in (page, *others) if (uses := file.uses(address, fragments, date))), ())
        for use in found:
            yield address, use
        if not found:
            for fragment in sorted(fragments):
                yield address, LinkUse(page.path, None, fragment=fragment, date=date)
