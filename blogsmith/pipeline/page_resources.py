"""What a browser loads for a page before its reader does anything, by the HTML, the sheets and the modules.

What a browser may choose counts with its largest choice: of a picture in several sizes the largest. Films
are loaded by a click, and what scripts ask for later is not seen.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from posixpath import join, normpath
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..base.html_tags import StartTag, hidden_spans, start_tag
from ..base.patterns import lazy_pattern

Kind = Literal["styles", "scripts", "fonts", "pictures"]

_TAG = lazy_pattern(r"<(?:/picture|(?:embed|iframe|img|link|object|picture|script|source|video)(?=[\s>]))")
_RELATIONS: dict[str, Kind] = {"stylesheet": "styles", "modulepreload": "scripts", "icon": "pictures"}
_PRELOADS: dict[str, Kind] = {"font": "fonts", "style": "styles", "script": "scripts", "image": "pictures"}
_IN_SHEET = lazy_pattern(r"@import\s+[\"']([^\"']+)[\"']|url\(\s*[\"']?([^\"')\s]+)")
_IMPORT = lazy_pattern(r"^\s*(?:import|export)\b[^;\"'()]*?[\"']([^\"'\n]+)[\"']", re.MULTILINE)
_FONTS = (".woff2", ".woff", ".ttf", ".otf")


class Resource(Struct, frozen=True):
    """A file that is loaded: one of some, of which the browser takes one."""

    kind: Kind
    choices: tuple[str, ...]
    """Addresses as they are written."""


def resources_of(html: str) -> Iterator[Resource]:
    """What the HTML of a page names, in order; some of it may come twice."""
    hidden, sources, is_picture = deque(hidden_spans(html)), list[tuple[str, ...]](), False
    for found in _TAG.finditer(html):
        while hidden and hidden[0][1] <= found.start():
            hidden.popleft()
        if hidden and hidden[0][0] <= found.start():
            continue
        tag = start_tag(html, found.start())
        if tag is None or tag.name == "picture":
            is_picture, sources = tag is not None, []
        elif tag.name == "source":
            if is_picture and tag.get("srcset"):
                sources.append(_candidates(tag.get("srcset")))
        elif tag.name == "img":
            # of several formats the first one that is known is taken
            choices = sources[0] if sources else _candidates(tag.get("srcset")) or (tag.get("src"),)
            yield Resource("pictures", choices)
        else:
            yield from _of_tag(tag)


def _of_tag(tag: StartTag) -> Iterator[Resource]:
    if tag.name == "link":
        words = tag.get("rel").lower().split()
        kinds = [_RELATIONS[word] for word in words if word in _RELATIONS]
        kind = _PRELOADS.get(tag.get("as")) if "preload" in words else next(iter(kinds), None)
        if kind and tag.get("href"):
            yield Resource(kind, (tag.get("href"),))
    elif tag.name == "script":
        if tag.get("src"):
            yield Resource("scripts", (tag.get("src"),))
    elif tag.name == "video":
        if tag.get("poster"):
            yield Resource("pictures", (tag.get("poster"),))
    elif address := tag.get("data" if tag.name == "object" else "src"):
        yield Resource("pictures", (address,))


def _candidates(srcset: str) -> tuple[str, ...]:
    return tuple(part.split()[0] for part in srcset.split(", ") if part.strip())


def resources_in(kind: Kind, text: str) -> Iterator[Resource]:
    """What a style sheet or a module names in its turn."""
    if kind == "styles":
        for found in _IN_SHEET.finditer(text):
            address = found[1] or found[2]
            if found[1]:
                yield Resource("styles", (address,))
            elif not address.startswith("data:"):
                is_font = urlsplit(address).path.lower().endswith(_FONTS)
                yield Resource("fonts" if is_font else "pictures", (address,))
    elif kind == "scripts":
        for found in _IMPORT.finditer(text):
            yield Resource("scripts", (found[1],))


def local_path(address: str, base: str) -> str:
    """The path that an address means where it stands in the file at `base`; empty if it is elsewhere."""
    parts = urlsplit(address.strip())
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    return normpath(join(base.rpartition("/")[0] or "/", unquote(parts.path)))


def host_of(address: str) -> str:
    """The other host that an address leads to; empty for none."""
    parts = urlsplit(address.strip())
    return parts.netloc.lower() if parts.scheme in ("", "http", "https") else ""
