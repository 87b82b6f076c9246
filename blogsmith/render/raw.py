"""Addresses in the author's raw HTML: links and images are checked and get the base path too.

Only tags the browser would load or follow are touched; everything else stays to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from markdown_it.token import Token

from ..diagnostics.model import Place, TextMap
from ..model.documents import ImageInfo
from ..patterns import lazy_pattern
from ..syntax.records import LinkAt, get
from ..syntax.tags import Attribute, StartTag, start_tag
from .context import Rendering
from .images import img_tag
from .policy.openers import with_openers

ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"a": "href", "video": "src", "audio": "src", "source": "src", "track": "src"}
)
"""Tag → the attribute that holds a site path."""

_TAG = lazy_pattern(r"<(?:a|img|video|audio|source|track)(?=[\s>/])", re.IGNORECASE)


def rewrite_raw(rendering: Rendering, token: Token) -> str:
    """The token's HTML with its addresses resolved; problems are reported at their tag."""
    text = token.content
    rendering.reading.pass_html(text)
    hidden = _comments(text)
    pieces, at = [], 0
    for found in _TAG.finditer(text):
        if found.start() < at or any(start <= found.start() < end for start, end in hidden):
            continue
        tag = start_tag(text, found.start())
        if tag is None:
            continue
        pieces.append(text[at : found.start()])
        pieces.append(_rewrite(rendering, token, text, found.start(), tag))
        at = tag.end
    rewritten = "".join(pieces) + text[at:]
    # last: what is reported above has its place in the author's text
    return with_openers(rewritten.encode()).decode() if "target" in rewritten.lower() else rewritten


def _comments(text: str) -> list[tuple[int, int]]:
    """(start, end) of each comment; one that never closes reaches to the end."""
    found, end = [], 0
    while (start := text.find("<!--", end)) >= 0:
        closing = text.find("-->", start)
        end = closing + 3 if closing >= 0 else len(text)
        found.append((start, end))
    return found


def _rewrite(rendering: Rendering, token: Token, text: str, start: int, tag: StartTag) -> str:
    place = _place(rendering, token, text, start, tag.end - start)
    if tag.name == "img" and tag.get("src"):
        return _image(rendering, tag, place)
    name = ADDRESSES.get(tag.name, "")
    item = next((a for a in tag.attributes if a.name == name and a.value), None)
    if item is None:
        return text[start : tag.end]
    return _with_address(rendering, text, start, tag, item, place)


def _with_address(
    rendering: Rendering, text: str, start: int, tag: StartTag, item: Attribute, place: Place
) -> str:
    target = rendering.tools.link(item.value, rendering.document)
    rendering.problem(target, place)
    value = target.url.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    begin, end = item.start, item.end
    if text[begin - 1] in "\"'":
        begin, end = begin - 1, end + 1
    return f'{text[start:begin]}"{value}"{text[end : tag.end]}'


def _image(rendering: Rendering, tag: StartTag, place: Place) -> str:
    found = rendering.tools.image(tag.get("src"), rendering.document)
    if not isinstance(found, ImageInfo):
        rendering.problem(found, place)
        found = ImageInfo(found.local_url, None, None)
    rendering.warn_of_location(found, tag.get("src"), place)
    own = {
        a.name: a.value
        for a in tag.attributes
        if a.name not in ("src", "alt", "width", "height", "loading", "decoding")
    }
    rendering.images += 1
    width, height = tag.get("width"), tag.get("height")
    if width.isdigit() and height.isdigit():
        found = ImageInfo(found.url, int(width), int(height))
    return img_tag(found, tag.get("alt"), attrs=own)


def _place(rendering: Rendering, token: Token, text: str, start: int, length: int) -> Place:
    if "linkat" in token.meta:
        return get(token, LinkAt).place
    if "textmap" in token.meta:
        # a piece of a block with formulas in it
        return get(token, TextMap).place(start, length)
    page = rendering.parsed.page
    line = page.first_line + (token.map or [0])[0] + text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Place(line, column, max(1, min(length, (text + "\n").find("\n", start) - start)))
