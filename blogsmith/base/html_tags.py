"""Tags in HTML: the only scanner of blogsmith, apart from those of importers and of the
Content-Security-Policy.

`scan_html` yields the tags and text of any HTML in one pass, in linear time. `find_visible` and
`parse_start_tag` read a few tags with the locations of their attributes. Unlike a browser's parser, this
module builds no tree and repairs nothing. Malformed tags, which browsers run too, are read by
`render/policy/tags.py`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from .patterns import lazy_pattern

_ATTRIBUTE = lazy_pattern(
    r"[\s/]+(?P<name>[^\s\"'<>/=]+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'=<>`]+)))?"
)
_START = lazy_pattern(r"<([A-Za-z][A-Za-z0-9-]*)")
_HIDING = lazy_pattern(r"<!--|<(script|style|textarea|title)(?=[\s>/])", re.IGNORECASE)
_CLOSE = lazy_pattern(r"\s*/?>")
# with few quotes per tag, each failed match stays short, whatever the input
_TAG = lazy_pattern(
    r"<(?P<end>/?)(?P<name>[A-Za-z][^\s/><]{0,40})(?P<attributes>(?>(?:[^<>\"']++|\"[^\"]*\"|'[^']*'){0,200}))>"
)
_PART = lazy_pattern(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")
_MARKUP = lazy_pattern(r"<[^<>]*+>")
_SCRIPTS = frozenset(("script", "style"))


class Attribute(Struct, frozen=True):
    """One attribute of a start tag."""

    name: str
    """Name in lower case."""
    value: str
    """Value with character references resolved."""
    start: int
    """Index in the scanned string of the value, or of the name if the attribute has no value."""
    end: int
    """Index of the end of the value, before its closing quote."""
    name_start: int


class StartTag(Struct, frozen=True):
    """A start tag in a string."""

    name: str
    """Name in lower case."""
    attributes: tuple[Attribute, ...]
    start: int
    """Index of `<`."""
    end: int
    """Index after `>`."""

    def get(self, name: str, default: str = "") -> str:
        return next((a.value for a in self.attributes if a.name == name), default)

    @property
    def classes(self) -> list[str]:
        return self.get("class").split()


class Tag(Struct, frozen=True):
    """A start or end tag, as `scan_html` yields it."""

    name: str
    """Name in lower case."""
    start: int
    """Index of `<`."""
    end: int
    """Index after `>`."""
    is_end: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Attribute name in lower case → value, with character references decoded. The first of duplicates
    applies."""
    is_closed: bool = False
    """Whether the tag has a slash before `>`."""


def scan_html(text: str, text_only: Collection[str] = _SCRIPTS) -> Iterator[Tag | str]:
    """Yield the tags and the text between them, without comments and declarations. text_only: elements whose
    content is skipped up to their end tag."""
    at = 0
    while at < len(text):
        start = text.find("<", at)
        if start != at:
            yield html.unescape(text[at:] if start < 0 else text[at:start])
        if start < 0:
            return
        end = _end_of_comment(text, start)
        found = None if end else _TAG.match(text, start)
        if found:
            tag = _read_tag(found)
            yield tag
            is_hiding = not tag.is_end and not tag.is_closed and tag.name in text_only
            end = find_end_tag(text, tag.name, tag.end) if is_hiding else tag.end
        elif not end:
            yield "<"
        at = end or start + 1


def _end_of_comment(text: str, start: int) -> int:
    """Return the index after a comment or declaration at `start`, or 0 if there is none."""
    for opening, closing in (("<!--", "-->"), ("<!", ">"), ("<?", ">")):
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            return end + len(closing) if end >= 0 else len(text)
    return 0


def _read_tag(found: re.Match[str]) -> Tag:
    name = found["name"].lower()
    if found["end"]:
        return Tag(name, *found.span(), is_end=True)
    attributes: dict[str, str] = {}
    for item in _PART.finditer(found["attributes"]):
        attributes.setdefault(item[1].lower(), html.unescape(item[2] or item[3] or item[4] or ""))
    return Tag(name, *found.span(), False, attributes, found["attributes"].endswith("/"))


def remove_tags(text: str) -> str:
    """Return HTML that blogsmith generated without its tags. Character references stay."""
    return _MARKUP.sub("", text)


def read_text(text: str) -> str:
    """Return the text of HTML that blogsmith generated, with character references decoded."""
    return html.unescape(_MARKUP.sub("", text))


def find_end_tag(text: str, name: str, at: int) -> int:
    """Return the index of the next end tag of this name, or of the end of the text."""
    found = _end_tag(name).search(text, at)
    return found.start() if found else len(text)


@lru_cache(maxsize=64)
def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}(?=[\s/>])", re.IGNORECASE | re.ASCII)


def find_visible(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that start outside comments, scripts and stylesheets."""
    hidden = _tagless_spans(text)
    start, end = next(hidden, (len(text), len(text) + 1))
    for found in pattern.finditer(text):
        while end <= found.start():
            start, end = next(hidden, (len(text), len(text) + 1))
        if found.start() < start:
            yield found


def _tagless_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each comment, script or stylesheet, which contain no tags. An unclosed one
    extends to the end."""
    at = 0
    while opening := _HIDING.search(text, at):
        if opening[1]:
            tag = parse_start_tag(text, opening.start())
            start = tag.end if tag else opening.end()
            at = find_end_tag(text, opening[1], start)
        else:
            start = opening.start()
            end = text.find("-->", start)
            at = end + 3 if end >= 0 else len(text)
        yield start, at


def parse_start_tag(text: str, pos: int = 0) -> StartTag | None:
    """Return the start tag at `pos`, or None if it is not well formed."""
    found = _START.match(text, pos)
    if not found:
        return None
    at, attributes = found.end(), []
    while item := _ATTRIBUTE.match(text, at):
        group = next((g for g in ("double", "single", "bare") if item[g] is not None), "name")
        value = "" if group == "name" else html.unescape(item[group])
        name = item["name"].lower()
        attributes.append(Attribute(name, value, *item.span(group), item.start("name")))
        at = item.end()
    closing = _CLOSE.match(text, at)
    return StartTag(found[1].lower(), tuple(attributes), pos, closing.end()) if closing else None
