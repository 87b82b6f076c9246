"""HTML that stands in Markdown as trees: where block elements begin and end, and what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ...base.patterns import lazy_pattern
from ...model.units import VOID_ELEMENTS, name_set
from .tags import tag_attributes, tag_name

_TAG = lazy_pattern(r"<!--[\s\S]*?-->|</?[A-Za-z][\w:-]*(?:\s+(?:\"[^\"]*\"|'[^']*'|[^\"'<>])*)?\s*/?>")
BLOCKS = name_set(
    "address article aside blockquote center details dialog div dl fieldset figure footer form header hr "
    "iframe main nav ol p picture section table ul video audio h1 h2 h3 h4 h5 h6 swiper-container"
)
"""Elements that are blocks of their own when they begin a line."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element; `tag` is as it is written, from `<` to `>`."""

    name: str
    """Lower case."""
    attributes: Mapping[str, str]
    tag: str
    children: tuple[Element | str, ...] = field(default=())

    @property
    def classes(self) -> frozenset[str]:
        """The words of its class."""
        return frozenset(self.attributes.get("class", "").split())

    @property
    def elements(self) -> tuple[Element, ...]:
        """Its children that are elements."""
        return tuple(child for child in self.children if isinstance(child, Element))

    @property
    def own_text(self) -> str:
        """Its text, elements left out."""
        return "".join(child for child in self.children if isinstance(child, str))

    def every(self, name: str) -> Iterator[Element]:
        """The elements of a name in it, however deep, in order."""
        for child in self.elements:
            if child.name == name:
                yield child
            yield from child.every(name)

    def source(self) -> str:
        """The element as HTML."""
        if self.name in VOID_ELEMENTS or self.tag.endswith("/>"):
            return self.tag
        return f"{self.tag}{self.inner_source()}</{self.name}>"

    def inner_source(self) -> str:
        """What is in it, as HTML."""
        return "".join(child if isinstance(child, str) else child.source() for child in self.children)


def parse_elements(text: str) -> tuple[Element | str, ...]:
    """Text and elements, in order; an end without a beginning is text, one that is missing stands at the
    end."""
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


_START = lazy_pattern(
    rf"^(?P<indent>[ \t>]*)<(?P<name>{'|'.join(sorted(BLOCKS))})\b[^<>]*>", re.MULTILINE | re.IGNORECASE
)


def replace_blocks(text: str, replace: Callable[[Element, str], str]) -> str:
    """Every block element that begins a line, outermost ones, replaced.

    replace: takes the element and the indentation of its line. Call it on masked text: what looks like a tag
    in code is none. An element that does not end is left as it is.
    """
    parts: list[str] = []
    position = 0
    ends = ElementEnds(text)
    while found := _START.search(text, position):
        end = ends.of(found.start("name") - 1)
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
    """Where the elements of one text end, found in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, int | None] | None = None

    def of(self, start: int) -> int | None:
        """As `element_end`."""
        if self._ends is None:
            self._ends = _all_ends(self._text)
        return self._ends[start] if start in self._ends else element_end(self._text, start)


def _all_ends(text: str) -> dict[int, int | None]:
    """Place of each opening tag → where its element ends; None if it does not."""
    ends: dict[int, int | None] = {}
    opened: dict[str, list[int]] = {}
    for found in _TAG.finditer(text):
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


def element_end(text: str, start: int) -> int | None:
    """Where the element whose tag begins at `start` ends; None if it does not."""
    opening = _TAG.match(text, start)
    if not opening:
        return None
    name = tag_name(opening[0])
    if name in VOID_ELEMENTS or opening[0].endswith("/>"):
        return opening.end()
    depth = 1
    for found in _TAG.finditer(text, opening.end()):
        other = tag_name(found[0])
        if other == name and not found[0].endswith("/>"):
            depth += 1
        elif other == f"/{name}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None
