"""Sources in a Content-Security-Policy for everything that a finished page loads and runs.

An inline script is represented by its SHA-256, a URL by its host. URLs that a script creates at run time, or
that are in files of the site, cannot be detected here; sites list them under `security.csp`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

from ...base.patterns import lazy_pattern
from .tags import PageTag, page_tags, read_tag

SELF = "'self'"
Sources = dict[str, set[str]]
"""Directive of a Content-Security-Policy → its sources."""

_URL_ATTRIBUTES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "img": (("src", "img-src"),),
        "image": (("href", "img-src"), ("xlink:href", "img-src")),
        "input": (("src", "img-src"), ("formaction", "form-action")),
        "button": (("formaction", "form-action"),),
        "source": (("src", "media-src"),),
        "video": (("src", "media-src"), ("poster", "img-src")),
        "audio": (("src", "media-src"),),
        "track": (("src", "media-src"),),
        "iframe": (("src", "frame-src"),),
        "frame": (("src", "frame-src"),),
        # the frame may show a page that opens windows itself
        "embed": (("src", "object-src"), ("src", "frame-src")),
        "object": (("data", "object-src"), ("data", "frame-src")),
        "base": (("href", "base-uri"),),
    }
)
"""Name of an element → its attributes with a URL, each with the directive that must allow the URL."""
_LINKS: Mapping[str, str] = MappingProxyType(
    {
        "stylesheet": "style-src",
        "icon": "img-src",
        "apple-touch-icon": "img-src",
        "mask-icon": "img-src",
        "manifest": "manifest-src",
        "modulepreload": "script-src",
    }
)
_PRELOADED: Mapping[str, str] = MappingProxyType(
    {
        "script": "script-src",
        "style": "style-src",
        "font": "font-src",
        "image": "img-src",
        "fetch": "connect-src",
    }
)
_SCRIPT_HOST_DIRECTIVES = ("connect-src", "frame-src", "style-src", "img-src", "font-src", "media-src")
"""Directives that allow the hosts of all scripts of the page. These hosts are trusted, because their scripts
can do anything in the page."""
_FONTS: Mapping[str, str] = MappingProxyType({"https://fonts.googleapis.com": "https://fonts.gstatic.com"})
"""Stylesheet host → host of its fonts."""
_PROGRAM = lazy_pattern(
    r"(?:|module|importmap|speculationrules|(?:text|application)/(?:x-)?(?:java|ecma)script)", re.IGNORECASE
)
_HOST = lazy_pattern(r"(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?")
_SCHEMES = frozenset(("http", "https", "ws", "wss"))
_PATH = lazy_pattern(r"[\w/.~!$&*+@=%-]*", re.ASCII)
_IN_SCRIPT = lazy_pattern(
    r"""(\b(?:import|from|importScripts)\b[\s(]*)?["'`]((?:https?:|wss?:)?//[^"'`\s\\]+)["'`]"""
)
_IN_STYLE = lazy_pattern(
    r"""(?:(@import\s*(?:url\(\s*)?)|url\(\s*)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE
)
_STYLE = lazy_pattern(rb"style\s*+=")
_MAX_DEPTH = 3
"""Maximum depth of nested pages in `srcdoc`."""


def page_sources(tags: Iterable[PageTag], low: bytes, depth: int = 0) -> Sources:
    """Return the sources that a page needs. tags: result of `page_tags` for the page. low: the page in lower
    case. depth: number of pages around this one, if it is in a `srcdoc`."""
    found: Sources = {}

    def add(directive: str, *sources: str) -> None:
        found.setdefault(directive, set()).update(source for source in sources if source)

    if _STYLE.search(low):
        add("style-src-attr", "'unsafe-inline'")
    for tag in tags:
        for directive, source in _tag_sources(tag) if tag.text or not tag.code else _plain_sources(tag.code):
            add(directive, source)
        inner = (
            tag.attributes.get("srcdoc", "").encode() if tag.name == "iframe" and depth < _MAX_DEPTH else b""
        )
        if inner:
            # a frame with `srcdoc` obeys the policy of the page around it
            for directive, sources in page_sources(page_tags(inner), inner.lower(), depth + 1).items():
                add(directive, *sources)
    if found.get("style-src") or found.get("script-src"):
        add("img-src", SELF, "data:")
        add("font-src", SELF, "data:")
    return found


@lru_cache(maxsize=1024)
def _plain_sources(code: bytes) -> tuple[tuple[str, str], ...]:
    """Return the sources that a tag without text needs. code: its `PageTag.code`."""
    tag = read_tag(code, 0)
    return tuple(_tag_sources(tag)) if tag else ()


def _tag_sources(tag: PageTag) -> Iterator[tuple[str, str]]:
    """Yield (directive, source) for everything that one tag loads or runs."""
    own = tag.attributes
    for name, directive in _URL_ATTRIBUTES.get(tag.name, ()):
        if own.get(name):
            yield directive, source_of(own[name])
    for name in ("srcset", "imagesrcset"):
        for candidate in re.split(r",\s+|\s+", own.get(name, "")):
            if "/" in candidate or "." in candidate:
                yield "img-src", source_of(candidate)
    for name, value in own.items():
        if name.startswith("on") and value:
            yield "script-src", hash_of(value.encode())
            yield "script-src", "'unsafe-hashes'"
    if "url(" in own.get("style", "").lower():
        yield from _style_addresses(own["style"])
    if "data-embed-url" in own:
        yield "frame-src", source_of(own["data-embed-url"])
    if "data-frame-url" in own:
        yield "frame-src", source_of(own["data-frame-url"])
    if "data-connect-url" in own:
        yield "connect-src", source_of(own["data-connect-url"])
    if "data-pyodide" in own:
        # Python runs in a worker, where the policy of the page does not apply; its images are blobs
        yield "worker-src", SELF
        yield "img-src", "blob:"
    special = _SPECIAL.get(tag.name)
    if special is not None:
        yield from special(tag)


def _script_sources(tag: PageTag) -> Iterator[tuple[str, str]]:
    if not _PROGRAM.fullmatch(tag.attributes.get("type", "").strip().partition(";")[0]):
        # data, which browsers do not run
        return
    address = tag.attributes.get("src")
    if address is None:
        text = tag.text
        yield "script-src", hash_of(text)
        yield from _script_addresses(
            text.decode("utf-8", "replace"), is_map="importmap" in tag.attributes.get("type", "")
        )
        return
    source = source_of(address)
    yield "script-src", folder_of(address)
    if source == SELF:
        if "data-wasm" in tag.attributes:
            # the script queries the index of Pagefind
            yield "script-src", "'wasm-unsafe-eval'"
            yield "worker-src", SELF
        yield "connect-src", SELF
        # scripts insert parts of other pages, with their attributes, into this page
        yield "style-src-attr", "'unsafe-inline'"
        return
    for directive in _SCRIPT_HOST_DIRECTIVES:
        yield directive, source


def _style_sources(tag: PageTag) -> Iterator[tuple[str, str]]:
    yield "style-src", hash_of(tag.text)
    yield from _style_addresses(tag.text.decode("utf-8", "replace"))


def _link_sources(tag: PageTag) -> Iterator[tuple[str, str]]:
    address = tag.attributes.get("href", "")
    words = tag.attributes.get("rel", "").lower().split()
    kinds = [_LINKS[word] for word in words if word in _LINKS]
    if "preload" in words:
        kinds.append(_PRELOADED.get(tag.attributes.get("as", "").lower(), ""))
    for directive in kinds if address else ():
        source = source_of(address)
        yield directive, folder_of(address) if directive == "script-src" else source
        if directive == "style-src" and source != SELF:
            yield "img-src", source
            yield "font-src", source
            yield "font-src", _FONTS.get(source, "")


def _form_sources(tag: PageTag) -> Iterator[tuple[str, str]]:
    # a form without a URL is sent to the page itself
    yield "form-action", source_of(tag.attributes.get("action") or ".")


_SPECIAL: Mapping[str, Callable[[PageTag], Iterator[tuple[str, str]]]] = MappingProxyType(
    {"script": _script_sources, "style": _style_sources, "link": _link_sources, "form": _form_sources}
)


def _script_addresses(text: str, *, is_map: bool) -> Iterator[tuple[str, str]]:
    """Yield (directive, source) for the URLs in a script: of its modules, and of requests that it may make.
    is_map: whether the script is an import map."""
    if "import" in text or is_map:
        yield "script-src", SELF
    yield "connect-src", SELF
    for found in _IN_SCRIPT.finditer(text):
        if found[1] or is_map:
            yield "script-src", folder_of(found[2])
        else:
            yield "connect-src", source_of(found[2])
            yield "img-src", source_of(found[2])


def _style_addresses(text: str) -> Iterator[tuple[str, str]]:
    for found in _IN_STYLE.finditer(text):
        source = source_of(found[2])
        yield ("style-src" if found[1] else "img-src"), source
        yield "font-src", source
        yield "font-src", _FONTS.get(source, "")


def script_imports(text: str) -> list[str]:
    """Return the URLs of modules on other hosts that a script imports statically."""
    return [found[2] for found in _IN_SCRIPT.finditer(text) if found[1]]


def style_urls(text: str) -> list[str]:
    """Return the URLs on other hosts that a stylesheet loads."""
    return [found[2] for found in _IN_STYLE.finditer(text)]


def hash_of(text: bytes) -> str:
    """Return the source that allows a script or stylesheet with exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


def source_of(address: str) -> str:
    """Return the source of a URL: a host, `'self'` or a scheme; empty if nothing is loaded."""
    address = re.sub(r"[\t\n\r]", "", address.strip())
    scheme, colon, rest = address.partition(":")
    if not colon or re.search(r"[^A-Za-z0-9+.-]", scheme) or not scheme[:1].isalpha():
        scheme, rest = "", address
    scheme = scheme.lower()
    if scheme in ("data", "blob", "mailto"):
        return f"{scheme}:"
    if scheme and scheme not in _SCHEMES:
        return ""
    if not rest.startswith("//"):
        return SELF
    host = _ascii_host(rest)
    return (f"{scheme}://{host}" if scheme else host) if host else ""


def folder_of(address: str) -> str:
    """Return the source that allows a third-party script: the URL of its folder, because the script may load
    modules from there."""
    source = source_of(address)
    if source in (SELF, "") or source.endswith(":"):
        return source
    path = urlsplit(address.strip()).path.rpartition("/")[0] + "/"
    return source + path if path != "/" and _PATH.fullmatch(path) else source


def _ascii_host(rest: str) -> str:
    """Return host and port of `//user@host:port/path` in the form of a policy, or an empty string."""
    host = re.split(r"[/\\?#]", rest.lstrip("/\\"), maxsplit=1)[0].rpartition("@")[2].lower()
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return ""
    return host if _HOST.fullmatch(host) else ""
