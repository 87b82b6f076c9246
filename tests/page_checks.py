"""Checks of HTML that several test modules share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import html5lib

_XHTML = "{http://www.w3.org/1999/xhtml}"
# The parser has its own URL check, which knows fewer schemes than we allow.
_ADDRESSES = ("href", "src", "action", "formaction", "poster", "data", "xlink:href")
_SCHEMES = ("", "http", "https", "mailto", "tel")
_PHRASING_PARENTS = (
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "summary",
    "span",
    "em",
    "strong",
    "a",
    "mark",
)
_BLOCKS = [
    "p",
    "div",
    "aside",
    "details",
    "figure",
    "table",
    "ul",
    "ol",
    "dl",
    "blockquote",
    "pre",
    "section",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "figcaption",
    "form",
]


def parse(html: str) -> Element:
    """Return the tree that a browser builds."""
    root: Element = html5lib.parseFragment(html, treebuilder="etree")
    return root


def elements(root: Element) -> Iterator[tuple[str, Element]]:
    """Yield (tag without namespace, element) for everything below `root`."""
    for element in root.iter():
        if isinstance(element.tag, str) and element is not root:
            yield element.tag.rpartition("}")[2].lower(), element


def markup_problems(html: str) -> list[str]:
    """Return violations of HTML rules: parse errors, blocks in inline elements, duplicate ids."""
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"))
    root = parser.parseFragment(html)
    found = [f"{code} at {position}" for position, code, _ in parser.errors if code not in _HARMLESS]
    for tag, element in elements(root):
        if tag in _PHRASING_PARENTS:
            found += [f"<{inner}> in <{tag}>" for inner, _ in elements(element) if inner in _BLOCKS]
        if tag == "a":
            found += ["<a> in <a>" for inner, _ in elements(element) if inner == "a"]
    ids = Counter(element.get("id") for _, element in elements(root) if element.get("id"))
    return found + [f"id {name} twice" for name, count in ids.items() if count > 1]


# html5lib is older than these rules: it rejects valid references and MathML attributes.
_HARMLESS = frozenset({"invalid-codepoint"})


_ID = re.compile(r"""<[^<>]*?\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_FRAGMENT = re.compile(r"""<a\b[^<>]*?\shref\s*=\s*(?:"#([^"]+)"|'#([^']+)'|#([^\s"'>]+))""", re.IGNORECASE)
_NOT_TEXT = re.compile(r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def dead_fragments(html: str) -> list[str]:
    """Return every `href="#x"` without a matching `id="x"`; `#top` means the page itself, as in browsers."""
    text = _NOT_TEXT.sub("", html)
    ids = {unescape("".join(found)) for found in _ID.findall(text)}
    named = dict.fromkeys(unquote(unescape("".join(found))) for found in _FRAGMENT.findall(text))
    return [f"#{name}" for name in named if name not in ids and name.lower() != "top"]


_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif);base64,(?!AAAA=*$)[A-Za-z0-9+/]+=*")
"""Allowed URLs of `<img>`. A few zero bytes, as tests write them, are not an image."""


def dangers(html: str) -> list[str]:
    """Return active content in `html`: scripts, handlers, URLs with other schemes, files of other hosts."""
    found = []
    for tag, element in elements(parse(html)):
        if tag in ("script", "iframe", "object", "embed", "base", "style", "meta", "link"):
            found.append(f"<{tag}>")
        for name, value in element.attrib.items():
            key = str(name).rpartition("}")[2].lower()
            if key.startswith("on"):
                found.append(f"{key}=")
            is_picture = key in ("src", "poster", "data-poster") and _PICTURE.fullmatch(value)
            if key in _ADDRESSES and _scheme(value) not in _SCHEMES and not is_picture:
                found.append(f"{key}={value}")
    return found


def _scheme(address: str) -> str:
    # browsers drop control characters and spaces before they read the scheme
    return urlsplit(re.sub(r"[\x00-\x20]", "", address)).scheme.lower()


def text_of(html: str) -> str:
    """Return the text that a reader sees or hears: formulas as TeX, images as alternative text."""
    root = parse(html)
    for tag, element in elements(root):
        if tag == "math":
            element[:] = []
            element.text = element.get("alttext")
        elif tag == "img":
            element.text = element.get("alt")
    return " ".join("".join(root.itertext()).split())
