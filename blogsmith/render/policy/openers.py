"""Links to a new window, which must not hand their page over to it.

Browsers of today keep `window.opener` from a page behind `target="_blank"`; `rel="noopener"` says so to all.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .tags import PageTag, page_tags

_LEADING = frozenset(("a", "area", "form"))
_WORD = "noopener"
# who writes `opener` asks for the contrary
_SETTLED = frozenset((_WORD, "opener"))


def with_openers(html: bytes, tags: Iterable[PageTag] | None = None) -> bytes:
    """The HTML with `noopener` at every link to a new window. tags: `page_tags` of it."""
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
