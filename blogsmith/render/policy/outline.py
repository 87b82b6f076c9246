"""What of a body the policy of its page asks about: a few of its thousands of tags.

A body is looked through once, when it is kept; its page is then guarded by its outline and by what stands
around it. That gives the same policy only where body and page do not reach into each other: where a comment,
a script or a tag may be open between them there is no outline, and the whole page is read.
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
"""Before an outline: where it is read as a tag, nothing is open, and no quote that the body would close."""
_STYLED = b'<i style="">'
_REACHING = frozenset(("script", "style", "textarea", "title", "meta"))
"""Elements that say how to read the rest of a page, or where its policy goes."""
_ENDS = lazy_pattern(rb"</(?:s(?:cript|tyle)|t(?:extarea|itle))")
_BODY = lazy_pattern(rb"<body(?:\s[^>]*+)?>", re.IGNORECASE)


class PageOutline(Struct, frozen=True):
    """A page with the outline of its body in place of the body."""

    html: bytes
    low: bytes
    """The same in lower case."""
    tags: tuple[PageTag, ...]
    """`page_tags` of it."""


def body_outline(data: bytes, low: bytes | None = None) -> bytes:
    """What a policy asks about; empty where that depends on what stands around the body.

    low: what `lower_allowed` gives for it, where that is at hand.
    """
    low = low or lower_allowed(data)
    if low is None or not low.startswith(b"<") or not low.rstrip().endswith(b">"):
        return b""
    # a sign alone is found much quicker than two
    if (b"!" in low and b"<!" in low) or b"-->" in low or _ENDS.search(low):
        return b""
    found = tuple(page_tags(data + _MARK, low + _MARK))
    tags = found[:-1]
    if not found or found[-1].start != len(data) or any(tag.name in _REACHING for tag in tags):
        return b""
    sources = page_sources(tags, low)
    styled = _STYLED if "style-src-attr" in sources else b""
    kept = b"".join((_MARK, styled, *(data[tag.start : tag.end] for tag in tags)))
    again = tuple(page_tags(kept))
    is_same = page_sources(again, kept.lower()) == sources and has_target(again) == has_target(tags)
    return kept + b"\n" if is_same else b""


def page_outline(parts: PageParts) -> PageOutline | None:
    """The outline of a page; None where only the page itself says what its policy is."""
    if not parts.body.outline or not _BODY.search(parts.before) or not parts.after.lstrip().startswith(b"<"):
        return None
    html = b"".join((parts.before, parts.body.outline, parts.after))
    low = lower_allowed(html)
    if low is None:
        return None
    tags = tuple(page_tags(html, low))
    rest = [tag for tag in tags if tag.start >= len(parts.before)]
    is_read = bool(rest) and rest[0].start == len(parts.before)
    # behind an encoding that comes so late there would be the policy too
    has_encoding = any(tag.name == "meta" for tag in rest)
    return PageOutline(html, low, tags) if is_read and not has_encoding else None
