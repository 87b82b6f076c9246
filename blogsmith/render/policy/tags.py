"""Tags of a finished page that load or run something or open a new window.

They are read from the bytes of the page, so that content of templates and authors cannot be missed. This is
not an HTML parser: comments, scripts and stylesheets are skipped as in browsers, and every other tag is read
separately. A page has thousands of tags but few of these, so they are searched by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from html import escape, unescape

from msgspec import Struct, field
from msgspec.structs import replace

from ...base.patterns import lazy_pattern

# most tags belong to formulas and code, and their first letter rules them out
_NAMED = lazy_pattern(
    rb"<(?:s(?:cript|tyle|ource)|[abefilotv](?:(?<=i)(?:frame|mg|nput|mage)|(?<=f)(?:rame|orm)|(?<=v)ideo"
    rb"|(?<=a)udio|(?<=t)(?:rack|extarea|itle)|(?<=e)mbed|(?<=o)bject|(?<=l)ink|(?<=b)(?:ase|utton)))(?=[\s/>])"
    rb"|<!--"
)
# Attributes that matter on any tag, each searched by a rare part of it. Event attributes are too many to
# list.
_WORDS = (b"target", b"charset")
_PARTS = lazy_pattern(rb"-(?:(?<=data-)(?:(?:embed|frame|connect)-url|pyodide)|(?<=http-)equiv)")
_ADDRESS = lazy_pattern(rb"\((?<=url\()")
_EVENT = lazy_pattern(rb"on[a-z]{3,}+\s*+=")
_BEFORE_ATTRIBUTES = b" \n\t\r\f/\"'"
_OPENING = lazy_pattern(rb"<(?:[a-z]|!--)")
_NAME = lazy_pattern(rb"<([a-z][^\s/>]*)", re.IGNORECASE)
_ATTRIBUTE = lazy_pattern(
    rb"[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>][^\s>]*+)?))?"
)
_END = lazy_pattern(rb"[\s/]*+>")
_PLAIN = lazy_pattern(
    rb"<[a-z][a-z0-9-]*+(?>(?:\s++[a-z][a-z0-9:-]*+(?:=\"[^\"<>]*+\")?)*)\s*+/?>", re.IGNORECASE
)
"""Regular expression of a tag whose meaning does not depend on the text that follows it."""
_PLAIN_BYTES = 1000
_TEXTS = frozenset(("script", "style", "textarea", "title"))
"""Elements whose content is text without tags. In SVG a `title` may be empty."""


class PageTag(Struct, frozen=True):
    """A start tag, with the content of the element if it can only contain text."""

    name: str
    """Name in lower case."""
    attributes: Mapping[str, str]
    """Attribute in lower case → value, with character references decoded. Of duplicates, the first is
    used."""
    start: int
    end: int
    """Index after `>`."""
    text: bytes = b""
    """Text of an inline script or stylesheet."""
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Attribute → position of its value in the tag, including quotes."""
    code: bytes = b""
    """The tag itself if it can be read without the text around it; otherwise empty."""

    def span(self, attribute: str) -> tuple[int, int] | None:
        """Return the start and end of an attribute's value in the page, or None if the tag lacks the
        attribute."""
        span = self.spans.get(attribute)
        return (self.start + span[0], self.start + span[1]) if span else None


def page_tags(html: bytes, low: bytes = b"") -> Iterator[PageTag]:
    """Yield the relevant tags of a page in order. low: the page in lower case, if available."""
    low = low or html.lower()
    end = 0
    for start in _starts(low):
        if start < end:
            continue
        if low.startswith(b"<!--", start):
            closing = low.find(b"-->", start + 2)
            end = closing + 3 if closing >= 0 else len(low)
            continue
        tag = read_tag(html, start)
        if tag is None:
            # the tag has no end, so everything after it belongs to it
            return
        end = tag.end
        if tag.name in _TEXTS and not (tag.name == "title" and html[end - 2 : end] == b"/>"):
            closing = low.find(f"</{tag.name}".encode(), end)
            end = closing if closing >= 0 else len(low)
            tag = replace(tag, text=html[tag.end : end])
        yield tag


def has_target(tags: Iterable[PageTag]) -> bool:
    """Return whether a tag has the attribute `target`, so that it may open a new window."""
    return any("target" in tag.attributes for tag in tags)


def _starts(low: bytes) -> list[int]:
    """Return the offsets where relevant tags may start, sorted. low: the page in lower case."""
    found = {match.start() for match in _NAMED.finditer(low)}
    for word in _WORDS:
        found.update(_tag_starts(low, _places(low, word)))
    for pattern in (_PARTS, _ADDRESS):
        found.update(_tag_starts(low, (match.start() for match in pattern.finditer(low))))
    events = (match.start() for match in _EVENT.finditer(low, 1))
    found.update(_tag_starts(low, (at for at in events if low[at - 1] in _BEFORE_ATTRIBUTES)))
    return sorted(start for start in found if start >= 0 and _OPENING.match(low, start))


def _tag_starts(low: bytes, places: Iterable[int]) -> Iterator[int]:
    """Yield for each position the offset of the last `<` before it, where the tag around it may start; -1 if
    there is none. places: positions in ascending order."""
    start = seen = -1
    for at in places:
        # search only from the previous position on
        start = max(start, low.rfind(b"<", max(seen, 0), at))
        seen = at
        yield start


def _places(text: bytes, word: bytes) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def read_tag(html: bytes, start: int) -> PageTag | None:
    """Return the tag that starts at `start`, or None if it has no end. Cached, because most tags of a
    `<head>` are the same on all pages."""
    end = html.find(b">", start) + 1
    if 0 < end <= start + _PLAIN_BYTES:
        known = _read_plain(html[start:end])
        if known is not None:
            return replace(known, start=start, end=end)
    return _read(html, start)


@lru_cache(maxsize=1024)
def _read_plain(tag: bytes) -> PageTag | None:
    """Return the tag with this text, or None if its meaning depends on the text around it."""
    read = _read(tag, 0) if _PLAIN.fullmatch(tag) else None
    return replace(read, code=tag) if read else None


def _read(html: bytes, start: int) -> PageTag | None:
    name = _NAME.match(html, start)
    assert name is not None, "only starts of tags are read"
    at = name.end()
    attributes: dict[str, str] = {}
    spans: dict[str, tuple[int, int]] = {}
    while found := _ATTRIBUTE.match(html, at):
        at = found.end()
        key = found[1].decode("utf-8", "replace").lower()
        if key in attributes:
            continue
        group = found.lastindex or 1
        value = found[group].decode("utf-8", "replace") if group > 1 else ""
        attributes[key] = unescape(value) if "&" in value else value
        first, last = found.span(group)
        is_quoted = group in (2, 3)
        spans[key] = (first - is_quoted - start, last + is_quoted - start)
    closing = _END.match(html, at)
    if closing is None:
        return None
    return PageTag(name[1].decode("utf-8", "replace").lower(), attributes, start, closing.end(), b"", spans)


# Links to a new window must not give it access to the page. Current browsers do not set `window.opener` for
# `target="_blank"`; `rel="noopener"` also covers older ones.


_LEADING = frozenset(("a", "area", "form"))
_WORD = "noopener"
# authors write `opener` for the opposite effect
_SETTLED = frozenset((_WORD, "opener"))


def add_noopener(html: bytes, tags: Iterable[PageTag] | None = None) -> bytes:
    """Return the HTML with `noopener` on every link to a new window. tags: result of `page_tags` for the
    HTML; None: it is computed."""
    if tags is None:
        tags = page_tags(html) if b"_blank" in html.lower() else ()
    pieces, at = [], 0
    for tag in tags:
        words = tag.attributes.get("rel", "").split()
        is_new = tag.attributes.get("target", "").lower() == "_blank"
        if tag.name not in _LEADING or not is_new or _SETTLED & {word.lower() for word in words}:
            continue
        start, end = tag.span("rel") or (0, 0)
        if words:
            text = f'"{escape(" ".join((*words, _WORD)))}"'
        elif end:
            text = f'rel="{_WORD}"' if html[start:end].lower() == b"rel" else f'"{_WORD}"'
        else:
            start = end = tag.start + tag.spans["target"][1]
            text = f' rel="{_WORD}"'
        pieces += [html[at:start], text.encode()]
        at = end
    return b"".join((*pieces, html[at:])) if pieces else html
