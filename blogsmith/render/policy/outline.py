"""Outline of a page body: the few tags, among thousands, that the page's policy depends on.

A body is scanned once, when it is cached. The policy is then made from the outline and the HTML around the
body. The result is right only if body and surrounding HTML do not affect how the other is parsed. If a
comment, a script or a tag may be open between them, there is no outline, and the whole page is read.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ...base.diagnostics.characters import lower_allowed
from ...base.patterns import lazy_pattern
from ...model.texts import PageParts
from .sources import page_sources
from .tags import PageTag, has_target, page_tags

_MARK = b"<img alt=\"\" id=''>"
"""Marker before an outline. If a scan of the page does not find it as a tag, something is open before the
body, such as a comment or a quote."""
_STYLED = b'<i style="">'
_AFFECTING_ELEMENTS = frozenset(("script", "style", "textarea", "title", "meta"))
"""Elements that change how the rest of a page is parsed, or where its policy must be."""
_ENDS = lazy_pattern(rb"</(?:s(?:cript|tyle)|t(?:extarea|itle))")
_BODY = lazy_pattern(rb"<body(?:\s[^>]*+)?>", re.IGNORECASE)


class PageOutline(Struct, frozen=True):
    """A page with the outline of its body instead of the body itself."""

    html: bytes
    low: bytes
    """The page in lower case."""
    tags: tuple[PageTag, ...]
    """Result of `page_tags` for the page."""


def body_outline(data: bytes, low: bytes | None = None) -> bytes:
    """Return the outline of a body. It is empty if the body alone does not determine its part of the policy.
    low: result of `lower_allowed` for the body, if available."""
    low = low or lower_allowed(data)
    if low is None or not low.startswith(b"<") or not low.rstrip().endswith(b">"):
        return b""
    # one character is found much faster than two
    if (b"!" in low and b"<!" in low) or b"-->" in low or _ENDS.search(low):
        return b""
    found = tuple(page_tags(data + _MARK, low + _MARK))
    tags = found[:-1]
    if not found or found[-1].start != len(data) or any(tag.name in _AFFECTING_ELEMENTS for tag in tags):
        return b""
    sources = page_sources(tags, low)
    styled = _STYLED if "style-src-attr" in sources else b""
    kept = b"".join((_MARK, styled, *(data[tag.start : tag.end] for tag in tags)))
    again = tuple(page_tags(kept))
    is_same = page_sources(again, kept.lower()) == sources and has_target(again) == has_target(tags)
    return kept + b"\n" if is_same else b""


def page_outline(parts: PageParts) -> PageOutline | None:
    """Return the outline of a page, or None if the policy can only be read from the full page."""
    if not parts.body.outline or not _BODY.search(parts.before) or not parts.after.lstrip().startswith(b"<"):
        return None
    html = b"".join((parts.before, parts.body.outline, parts.after))
    low = lower_allowed(html)
    if low is None:
        return None
    tags = tuple(page_tags(html, low))
    rest = [tag for tag in tags if tag.start >= len(parts.before)]
    is_read = bool(rest) and rest[0].start == len(parts.before)
    # the policy would have to come after a declaration of the encoding that is this late
    has_encoding = any(tag.name == "meta" for tag in rest)
    return PageOutline(html, low, tags) if is_read and not has_encoding else None
