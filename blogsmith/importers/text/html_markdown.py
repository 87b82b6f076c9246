"""Conversion of HTML to Markdown: images, figures, image rows, videos, emphasis and links.

Other HTML stays unchanged. All functions expect masked text, with code and formulas hidden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from ...api.importing import lazy_pattern
from .html import (
    Element,
    alt_text,
    caption_text,
    image,
    image_width,
    link_destination,
    parse_elements,
    tag_attributes,
)

_WRAPPERS = frozenset(("figure", "center", "div", "p", "picture", "a", "span", "section", "td"))
_CAPTION_CLASSES = frozenset(("caption", "figcaption", "image-caption", "img-caption", "fig-caption"))
_VIDEO = lazy_pattern(
    r"(?:https?:)?//(?:www\.)?(?:youtube(?:-nocookie)?\.com/embed/([\w-]{6,})|player\.vimeo\.com/video/(\d+))"
)
_PAIRS: Mapping[str, str] = {
    **{"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~", "mark": "=="}
}
_WORD = lazy_pattern(r"\w")


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image of a page."""

    address: str
    alt: str = ""
    caption: str = ""
    """Caption as inline Markdown; empty if there is none."""
    width: str = ""
    name: str = ""
    """HTML id."""
    link: str = ""
    """Target URL if the image is a link; otherwise empty."""

    def markdown(self) -> str:
        """Return the image in Markdown. The link is omitted if there is a caption."""
        shown = image(self.address, self.alt, caption=self.caption, width=self.width, name=self.name)
        return f"[{shown}]({link_destination(self.link)})" if self.link and not self.caption else shown


def read_image(tag: Element, caption: str = "") -> PageImage | None:
    """Return the image of an `<img>` tag. Return None if the tag has no URL."""
    values = tag.attributes
    address = values.get("src") or values.get("data-src") or ""
    if not address.strip():
        return None
    alt, title = values.get("alt", ""), values.get("title", "")
    title = "" if title == alt else title
    return PageImage(address.strip(), alt, caption or title, image_width(values), values.get("id", ""))


def read_figure(element: Element) -> PageImage | None:
    """Return the image and its caption if an element contains one image and nothing else. Return None for any
    other element."""
    if element.name == "img":
        return read_image(element)
    if element.name not in _WRAPPERS:
        return None
    images = list(element.descendants("img"))
    if len(images) != 1 or not _has_only_image(element):
        return None
    links = [each for each in (element, *element.descendants("a")) if each.name == "a"]
    found = read_image(images[0], read_caption(element))
    if found is None:
        return None
    link = links[0].attributes.get("href", "") if links else ""
    link = "" if link.endswith(found.address) else link
    width = found.width or _width_around(element, images[0])
    return PageImage(found.address, found.alt, found.caption, width, found.name or first_id(element), link)


def first_id(element: Element) -> str:
    """Return the id of the element. If it has none, return the first id inside the element; empty if there is
    none."""
    return element.attributes.get("id", "") or next(filter(None, map(first_id, element.elements)), "")


def _width_around(element: Element, picture: Element) -> str:
    """Return the width set on the element or on a child that wraps the image; empty if there is none."""
    for each in (element, *element.elements):
        is_around = each is not picture and each.name in ("figure", "div", "p")
        if is_around and (width := image_width(each.attributes)):
            return width
    return ""


def _has_only_image(element: Element) -> bool:
    """Return whether the element contains only images with their captions and wrappers, and comments."""
    for child in element.children:
        if isinstance(child, str):
            if child.strip() and not child.strip().startswith("<!--"):
                return False
        elif not (
            child.name in ("img", "source", "br")
            or _is_caption(child)
            or (child.name in _WRAPPERS and _has_only_image(child))
        ):
            return False
    return True


def _is_caption(element: Element) -> bool:
    is_caption = element.name in ("figcaption", "small", "em", "i") or element.classes & _CAPTION_CLASSES
    return bool(is_caption) and not any(True for _ in element.descendants("img"))


def read_caption(element: Element) -> str:
    """Return the text of the captions in the element, as inline Markdown on one line."""
    parts = []
    for child in element.elements:
        if _is_caption(child):
            parts.append(inline_markdown(child.inner_source()))
        elif child.name != "img":
            parts.append(read_caption(child))
    return " ".join(" ".join(filter(None, parts)).split())


def read_image_row(element: Element) -> Sequence[PageImage]:
    """Return the images of an element that contains several images and nothing else; empty for any other
    element."""
    if element.name not in ("div", "p", "center", "figure", "section", "swiper-container"):
        return ()
    found: list[PageImage] = []
    for child in element.children:
        if isinstance(child, str):
            if child.strip() and not child.strip().startswith("<!--"):
                return ()
            continue
        if _is_caption(child) or child.name == "br":
            continue
        if one := read_figure(child):
            found.append(one)
        elif more := read_image_row(child):
            found.extend(more)
        elif "".join(child.inner_source().split()):
            return ()
    return found if len(found) > 1 else ()


def grid(pictures: Sequence[PageImage], caption: str = "", name: str = "") -> str:
    """Return a shortcode that shows images side by side. If an image without caption has a link, return a
    paragraph of linked images instead.

    caption: caption of the whole group. name: id of the group.
    """
    if any(each.link and not each.caption for each in pictures):
        return " ".join(each.markdown() for each in pictures) + (f"\n\n{caption}" if caption else "")
    sources = ", ".join(each.address.replace(",", "\\,") for each in pictures)
    arguments = [f'src="{sources}"']
    for key, values in (("alt", [p.alt for p in pictures]), ("cap", [p.caption for p in pictures])):
        if any(values):
            arguments.append(f'{key}="{", ".join(map(_argument, values))}"')
    arguments.append(f'cols="{min(len(pictures), 4)}"')
    arguments += [f'id="{name}"'] if name else []
    return f"{{% include img.html {' '.join(arguments)} %}}" + (f"\n\n{caption}" if caption else "")


def _argument(text: str) -> str:
    """Return the text as one value of a comma-separated shortcode argument."""
    return " ".join(caption_text(text).split()).replace('"', "”").replace(",", "\\,")


def convert_video(element: Element) -> str:
    """Return a blogsmith video block for a YouTube or Vimeo frame; empty for any other element."""
    found = _VIDEO.match(element.attributes.get("src", "")) if element.name == "iframe" else None
    if not found:
        return ""
    address = f"https://www.youtube.com/watch?v={found[1]}" if found[1] else f"https://vimeo.com/{found[2]}"
    title = element.attributes.get("title", "")
    is_title = title and title not in ("YouTube video player", "vimeo-player")
    caption = f' data-caption="{title}"' if is_title and '"' not in title else ""
    return f'<div class="video-embed" data-src="{address}"{caption}></div>'


def inline_markdown(html: str) -> str:
    """Convert inline HTML to Markdown. Tags without a counterpart in Markdown stay."""
    parts: list[str] = []
    children = parse_elements(html)
    for index, child in enumerate(children):
        before = parts[-1][-1:] if parts and parts[-1] else ""
        after = _first_character(children[index + 1] if index + 1 < len(children) else "")
        parts.append(child if isinstance(child, str) else _inline_element(child, before, after))
    return "".join(parts)


def _first_character(child: Element | str) -> str:
    return child[:1] if isinstance(child, str) else "<"


def _inline_element(element: Element, before: str, after: str) -> str:
    name, inner = element.name, inline_markdown(element.inner_source())
    if name == "img":
        found = read_image(element)
        return found.markdown() if found else ""
    if name == "br":
        return "<br>"
    if not inner.strip():
        return element.source()
    is_free = inner == inner.strip() and "\n\n" not in inner
    if name == "a":
        return _link(element, inner) or f"{element.tag}{inner}</a>"
    if name in _PAIRS and is_free and _may_emphasise(inner, before, after) and not element.attributes:
        return f"{_PAIRS[name]}{inner}{_PAIRS[name]}"
    if name == "kbd" and is_free and "]" not in inner:
        return f"[[{inner}]]"
    return f"{element.tag}{inner}</{name}>"


def _may_emphasise(inner: str, before: str, after: str) -> bool:
    """Return whether CommonMark recognizes emphasis around `inner` between the characters `before` and
    `after`."""
    starts = bool(_WORD.match(inner)) or not _WORD.match(before or " ")
    ends = bool(_WORD.match(inner[-1])) or not _WORD.match(after or " ")
    return starts and ends and not inner.startswith(("*", "_", "~")) and not inner.endswith(("*", "\\", "~"))


def _link(element: Element, inner: str) -> str:
    """Return the link in Markdown; empty if it has no URL, or if its content cannot be a link text."""
    address = element.attributes.get("href", "").strip()
    kept = set(element.attributes) - {"href", "target", "rel", "title", "style", "class"}
    if not address or kept or "\n\n" in inner or re.search(r"(?<!!)\[[^\]]*\]\(", inner):
        return ""
    title = element.attributes.get("title", "")
    shown = f' "{alt_text(title)}"' if title and '"' not in title else ""
    return f"[{inner.strip()}]({link_destination(unescape(address))}{shown})"


def single_images(text: str) -> str:
    """Replace every `<img>` tag with a Markdown image."""

    def substitute(found: re.Match[str]) -> str:
        tag = Element("img", tag_attributes(found[0]), found[0])
        picture = read_image(tag)
        return picture.markdown() if picture else found[0]

    return re.sub(r"<img\b(?:\"[^\"]*\"|'[^']*'|[^\"'<>])*>", substitute, text, flags=re.IGNORECASE)
