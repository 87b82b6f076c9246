"""HTML in Markdown. Reads tags and attributes, and finds the ends of elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape

from ...api.importing import VOID_ELEMENTS, lazy_pattern, name_set

_NAME = lazy_pattern(r"<\s*(/?)\s*([A-Za-z][\w:-]*)")
_ATTRIBUTE = lazy_pattern(r"([^\s=<>\"'/]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?")
_NUMBER = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(px|%|em|rem)?")
_SAFE_ADDRESS = lazy_pattern(r"[^\s()<>]+")


def tag_name(tag: str) -> str:
    """Return the name of a tag in lower case, such as `img` for `<img …>` and `/a` for `</a>`. Empty if `tag`
    is not a tag."""
    found = _NAME.match(tag)
    return (found[1] + found[2]).lower() if found else ""


def tag_attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag, with names in lower case and entities decoded."""
    found = _NAME.match(tag)
    rest = tag[found.end() :].rstrip().removesuffix(">").rstrip().removesuffix("/") if found else ""
    values: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(rest):
        values.setdefault(name.lower(), unescape(value.strip("\"'")))
    return values


def image(
    address: str, alt: str = "", *, caption: str = "", width: str = "", name: str = "", title: str = ""
) -> str:
    """Return a Markdown image. The caller must put an image with a caption in a paragraph of its own. width:
    width as in HTML or CSS; omitted if it is not a length, or 100 % or more. name: id."""
    shown = f' "{_quoted(caption_text(caption or title))}"' if caption or title else ""
    attributes = attribute_list(name, {"width": parse_length(width)})
    return f"![{alt_text(alt)}]({link_destination(address)}{shown}){attributes}"


def caption_text(text: str) -> str:
    """Convert a caption in HTML to Markdown, because blogsmith shows tags in captions as text.

    Links, emphasis and code become Markdown; superscripts and subscripts become formulas. Other known tags
    are removed and their content stays.
    """
    if "<" not in text:
        return text
    text = _SCRIPT.sub(_script, code_spans(text))
    text = _LINK.sub(_link, _EMPHASIS.sub(_emphasis, text))
    return _BREAK.sub(" ", _CAPTION_TAG.sub("", text))


def code_spans(text: str) -> str:
    """Replace `<code>`, `<tt>` and `<samp>` elements with code spans."""
    return _CODE.sub(lambda found: f"`{unescape(found[2])}`", text)


def _script(found: re.Match[str]) -> str:
    mark, inner = "_" if found[1][2] in "bB" else "^", found[2]
    # `\text` keeps a word from being typeset as a product of letters
    is_word = len(inner) > 1 and inner.isalpha()
    return f"${mark}{{\\text{{{inner}}}}}$" if is_word else f"${mark}{{{inner}}}$"


def _emphasis(found: re.Match[str]) -> str:
    mark = "**" if found[1].lower() in ("b", "strong") else "*"
    return f"{mark}{found[2]}{mark}"


def _link(found: re.Match[str]) -> str:
    address = tag_attributes(found[1]).get("href", "")
    return f"[{found[2]}]({link_destination(address)})" if address and found[2].strip() else found[2]


_LINK = lazy_pattern(r"(<a\s[^<>]*>)([^<>\[\]]*)</a\s*>", re.IGNORECASE)
_SCRIPT = lazy_pattern(r"<(su[bp])\b[^<>]*>([\w+−-]{1,20})</\1\s*>", re.IGNORECASE)
_CODE = lazy_pattern(r"<(code|tt|samp)\b[^<>]*>(?![\s`])([^<>`]+)(?<!\s)</\1\s*>", re.IGNORECASE)
_EMPHASIS = lazy_pattern(r"<(b|strong|i|em)\b[^<>]*>(?![\s*_])([^<>*_]+)(?<![\s*_])</\1\s*>", re.IGNORECASE)
_BREAK = lazy_pattern(r"\s*<br\b[^<>]*>\s*", re.IGNORECASE)
_CAPTION_TAG = lazy_pattern(
    r"(?i)</?(?:span|font|small|big|u|center|p|div|a|b|i|em|strong|cite|ins|mark|sub|sup|label|figcaption)"
    r"(?:\s[^<>]*)?>"
)


def attribute_list(name: str = "", values: Mapping[str, str] | None = None) -> str:
    """Return an attribute list such as `{#name key=value}`; empty without name and values."""
    parts = [f"#{name}"] if name else []
    parts += [f"{key}={value}" for key, value in (values or {}).items() if value]
    return "{" + " ".join(parts) + "}" if parts else ""


def parse_length(text: str) -> str:
    """Convert a width to the form of blogsmith's attribute lists, such as `60%` or `300` (pixels).

    Return an empty string for `auto`, zero, 100 % or more, and anything that is not a length.
    """
    found = _NUMBER.match(text.strip())
    if not found or not float(found[1]):
        return ""
    number, unit = found[1], found[2] or ""
    if unit == "%" and float(number) >= 100:
        return ""
    return number if unit == "px" else number + unit


def style_length(style: str) -> str:
    """Return the width in a `style` attribute; empty if it has none."""
    found = re.search(r"(?:^|;)\s*width\s*:\s*([^;]+)", style)
    return parse_length(found[1]) if found else ""


def image_width(values: Mapping[str, str]) -> str:
    """Return the width of an image from its `width` or `style` attribute; empty if neither sets one."""
    return parse_length(values.get("width", "")) or style_length(values.get("style", ""))


def alt_text(text: str) -> str:
    """Return the text as alternative text of an image, on one line and with brackets escaped."""
    return re.sub(r"(?<!\\)([\[\]])", r"\\\1", " ".join(text.split()))


def link_destination(address: str) -> str:
    """Return the URL as the destination of a Markdown link, in angle brackets where necessary."""
    address = address.strip()
    if _SAFE_ADDRESS.fullmatch(address):
        return address
    return f"<{address.replace('<', '%3C').replace('>', '%3E')}>"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return line.replace("\\", "\\\\").replace('"', '\\"') if '"' in text else line


def replace_elements(text: str, name: str, replace: Callable[[Mapping[str, str], str], str | None]) -> str:
    """Replace every element `<name …>…</name>` that does not contain another element with the same name.

    replace: function that gets the attributes and the inner text, and returns the new text, or None to keep
    the element. text: masked text, where code cannot look like a tag.
    """
    pattern = re.compile(rf"(<{name}\b[^>]*>)((?:(?!<{name}\b)[\s\S])*?)</{name}\s*>", re.IGNORECASE)

    def substitute(found: re.Match[str]) -> str:
        if found[1].endswith("/>"):
            return found[0]
        replaced = replace(tag_attributes(found[1]), found[2])
        return found[0] if replaced is None else replaced

    return pattern.sub(substitute, text)


_TAG = lazy_pattern(r"<!--[\s\S]*?-->|</?[A-Za-z][\w:-]*(?:\s+(?:\"[^\"]*\"|'[^']*'|[^\"'<>])*)?\s*/?>")
BLOCKS = name_set(
    "address article aside blockquote center details dialog div dl fieldset figure footer form header hr "
    "iframe main nav ol p picture section table ul video audio h1 h2 h3 h4 h5 h6 swiper-container"
)
"""Names of elements that are block elements if they begin a line."""


@dataclass(frozen=True, slots=True)
class Element:
    """An HTML element; `tag` is its opening tag as written, from `<` to `>`."""

    name: str
    """Element name in lower case."""
    attributes: Mapping[str, str]
    tag: str
    children: tuple[Element | str, ...] = field(default=())

    @property
    def classes(self) -> frozenset[str]:
        """Return the class names."""
        return frozenset(self.attributes.get("class", "").split())

    @property
    def elements(self) -> tuple[Element, ...]:
        """Return the children that are elements."""
        return tuple(child for child in self.children if isinstance(child, Element))

    @property
    def own_text(self) -> str:
        """Return the text of the element, without that of its child elements."""
        return "".join(child for child in self.children if isinstance(child, str))

    def descendants(self, name: str) -> Iterator[Element]:
        """Yield all descendants with this name, in document order."""
        for child in self.elements:
            if child.name == name:
                yield child
            yield from child.descendants(name)

    def source(self) -> str:
        """Return the element as HTML source."""
        if self.name in VOID_ELEMENTS or self.tag.endswith("/>"):
            return self.tag
        return f"{self.tag}{self.inner_source()}</{self.name}>"

    def inner_source(self) -> str:
        """Return the content of the element as HTML source."""
        return "".join(child if isinstance(child, str) else child.source() for child in self.children)


def parse_elements(text: str) -> tuple[Element | str, ...]:
    """Parse HTML into text and elements, in order.

    A closing tag without an opening tag becomes text. An element without a closing tag ends with its parent.
    """
    stack: list[tuple[str, str, list[Element | str]]] = [("", "", [])]
    opened: Counter[str] = Counter()
    position = 0
    for found in _TAG.finditer(text):
        if found.start() > position:
            stack[-1][2].append(text[position : found.start()])
        position = found.end()
        name = tag_name(found[0])
        if name.startswith("/"):
            if opened[name[1:]]:
                while stack[-1][0] != name[1:]:
                    opened[stack[-1][0]] -= 1
                    _close(stack)
                opened[name[1:]] -= 1
                _close(stack)
            else:
                stack[-1][2].append(found[0])
        elif name in VOID_ELEMENTS or (name and found[0].endswith("/>")):
            stack[-1][2].append(Element(name, tag_attributes(found[0]), found[0]))
        elif name:
            stack.append((name, found[0], []))
            opened[name] += 1
        else:
            stack[-1][2].append(found[0])
    stack[-1][2].append(text[position:])
    while len(stack) > 1:
        _close(stack)
    return tuple(child for child in stack[0][2] if child != "")


def _close(stack: list[tuple[str, str, list[Element | str]]]) -> None:
    name, tag, children = stack.pop()
    kept = tuple(child for child in children if child != "")
    stack[-1][2].append(Element(name, tag_attributes(tag), tag, kept))


_START = lazy_pattern(rf"(?mi)^(?P<indent>[ \t>]*)<(?P<name>{'|'.join(sorted(BLOCKS))})\b[^<>]*>")


def replace_blocks(text: str, replace: Callable[[Element, str], str]) -> str:
    """Replace every outermost block element that begins a line.

    replace: function that gets the element and the indentation of its line, and returns the new text. text:
    masked text, where code cannot look like a tag. An element without a closing tag stays unchanged.
    """
    parts: list[str] = []
    position = 0
    ends = ElementEnds(text)
    while found := _START.search(text, position):
        end = ends.find_end(found.start("name") - 1)
        if end is None:
            parts.append(text[position : found.end()])
            position = found.end()
            continue
        start = found.end("indent")
        (element, *_) = parse_elements(text[start:end])
        parts.append(text[position:start])
        parts.append(replace(element, found["indent"]) if isinstance(element, Element) else text[start:end])
        position = end
    parts.append(text[position:])
    return "".join(parts)


class ElementEnds:
    """End offsets of the elements in one text, found in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, int | None] | None = None

    def find_end(self, start: int) -> int | None:
        """Return the offset after the element whose opening tag starts at `start`; None if the element is not
        closed."""
        if self._ends is None:
            self._ends = _all_ends(self._text, 0)
        # a tag may be hidden in a comment or attribute value when the text is read from its start
        return self._ends[start] if start in self._ends else _all_ends(self._text, start).get(start)


def _all_ends(text: str, position: int) -> dict[int, int | None]:
    """Return offset of an opening tag → offset after its element, for all tags from `position` on. The value
    is None if the element is not closed."""
    ends: dict[int, int | None] = {}
    opened: dict[str, list[int]] = {}
    for found in _TAG.finditer(text, position):
        name = tag_name(found[0])
        if not name:
            continue
        if name.startswith("/"):
            if starts := opened.get(name[1:]):
                ends[starts.pop()] = found.end()
        elif name in VOID_ELEMENTS or found[0].endswith("/>"):
            ends[found.start()] = found.end()
        else:
            ends[found.start()] = None
            opened.setdefault(name, []).append(found.start())
    return ends
