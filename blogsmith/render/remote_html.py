"""What the HTML of a post loads from other hosts before a click: scripts, frames, style sheets, films.

Held to one rule, `embeds.remote`. Pictures have their own, `images.remote`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from ..base.diagnostics.model import Place
from ..base.html_tags import StartTag, start_tag
from ..model.names import name_set
from .context import Rendering
from .policy.sources import SELF, script_imports, source_of, style_addresses

_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {
        "audio": "src",
        "embed": "src",
        "frame": "src",
        "iframe": "src",
        "link": "href",
        "object": "data",
        "script": "src",
        "source": "src",
        "track": "src",
        "video": "src",
    }
)
"""Element → attribute whose address browsers load at once."""
LOADING = frozenset((*_ADDRESSES, "style"))
"""Elements that may load something, besides those with a `style`."""
_RELATIONS = name_set(
    "stylesheet preload modulepreload prefetch preconnect dns-prefetch prerender icon apple-touch-icon "
    "mask-icon manifest"
)
"""Values of `rel` for which a `<link>` is more than a word about the page."""
_FILMS = frozenset(("audio", "source", "track", "video"))
_VIDEO_HOSTS = ("youtube.com", "youtube-nocookie.com", "youtu.be", "vimeo.com")
_MAX_DEPTH = 3
"""Of pages in `srcdoc`."""


class RemoteRule:
    """Belongs to one piece of HTML, whose tags it is shown in order."""

    def __init__(self, rendering: Rendering) -> None:
        self._rule = rendering.tools.config.embeds.remote
        self._reporter = rendering.reporter
        self._waits = False
        """The film whose sources come now is loaded on a click only."""

    def check(self, tag: StartTag, text: str, place: Place) -> None:
        """Report what the tag loads from elsewhere. text: where the tag stands, with its element's text."""
        if self._rule == "allow":
            return
        if tag.name in ("audio", "video"):
            self._waits = tag.get("preload").lower() == "none" and not _has(tag, "autoplay")
        if self._waits and tag.name in _FILMS:
            return
        for address in dict.fromkeys(_loaded(tag, text)):
            self._report(tag, address, place)

    def _report(self, tag: StartTag, address: str, place: Place) -> None:
        report = self._reporter.warn if self._rule == "warn" else self._reporter.error
        report("html-remote", f"<{tag.name}> loads {address} from another host", place, _hint(tag, address))


def _loaded(tag: StartTag, text: str, depth: int = 0) -> Iterator[str]:
    """Addresses on other hosts that browsers load for this tag."""
    name = _ADDRESSES.get(tag.name, "")
    is_word = tag.name == "link" and not _RELATIONS & set(tag.get("rel").lower().split())
    if name and not is_word and _is_remote(tag.get(name)):
        yield tag.get(name).strip()
    if "url(" in tag.get("style").lower():
        yield from style_addresses(tag.get("style"))
    if tag.name == "style":
        yield from style_addresses(_text_of(tag, text))
    if tag.name == "script" and not tag.get("src"):
        yield from script_imports(_text_of(tag, text))
    if tag.name == "iframe" and depth < _MAX_DEPTH:
        yield from _loaded_by_page(tag.get("srcdoc"), depth + 1)


def _text_of(tag: StartTag, text: str) -> str:
    closing = re.compile(rf"</{tag.name}", re.IGNORECASE).search(text, tag.end)
    return text[tag.end : closing.start() if closing else len(text)]


def _loaded_by_page(html: str, depth: int) -> Iterator[str]:
    at = html.find("<")
    while at >= 0:
        tag = start_tag(html, at)
        if tag:
            yield from _loaded(tag, html, depth)
            if tag.name == "img" and _is_remote(tag.get("src")):
                yield tag.get("src")
        at = html.find("<", at + 1)


def _is_remote(address: str) -> bool:
    source = source_of(address) if address.strip() else ""
    return source not in ("", SELF) and source not in ("data:", "blob:", "mailto:")


def _has(tag: StartTag, name: str) -> bool:
    return any(item.name == name for item in tag.attributes)


def _hint(tag: StartTag, address: str) -> str:
    if tag.name in _FILMS:
        return 'add preload="none" to the film, so that it loads on a click, or put a copy beside the post'
    allow = "allow it: embeds: {remote: allow} in blogsmith.yaml"
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    if tag.name == "iframe" and any(host == one or host.endswith(f".{one}") for one in _VIDEO_HOSTS):
        return f'write <div class="video-embed" data-src="{address}"></div>, which loads on a click'
    if tag.name in ("iframe", "frame", "embed", "object"):
        return f"link to it, or {allow}"
    return f"put a copy under static/, or {allow}"
