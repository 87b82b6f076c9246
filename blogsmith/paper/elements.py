"""The HTML of a page as a tree of elements.

The body of a page is well formed, but authors may write HTML of their own. End tags without an element are
ignored, and open elements end with their parent, as in browsers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from ..api.books import VOID_ELEMENTS, name_set, scan_html

_CLOSED_BY: Mapping[str, frozenset[str]] = {
    "li": name_set("li"),
    **dict.fromkeys(("dt", "dd"), name_set("dt dd")),
    **dict.fromkeys(("td", "th"), name_set("td th")),
    "tr": name_set("tr td th"),
    **dict.fromkeys(("tbody", "tfoot"), name_set("thead tbody tr td th")),
}
"""Element → open elements that its start tag closes."""
_CLOSES_PARAGRAPH = name_set(
    "aside blockquote details div dl figure h1 h2 h3 h4 h5 h6 hr ol p pre section table ul"
)
_MAX_DEPTH = 40
"""Maximum depth of elements, which is limited by Typst. A deeper element follows its parent instead of being
inside it."""
_MAX_MATH_DEPTH = 150
"""Maximum depth of the elements of a formula."""


class HtmlElement(Struct, frozen=True):
    """An element with its content."""

    name: str
    """Name in lower case; empty for the root."""
    attributes: Mapping[str, str]
    children: tuple[HtmlElement | str, ...]
    source: str = ""
    """HTML of an `svg`, `math` or `mtd` element; otherwise empty."""
    is_cut: bool = False
    """Whether the element is a formula whose elements are nested more deeply than `_MAX_MATH_DEPTH`."""

    @property
    def classes(self) -> list[str]:
        """Class names."""
        return self.attributes.get("class", "").split()

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute, or `default` if it is missing."""
        return self.attributes.get(name, default)

    @property
    def elements(self) -> tuple[HtmlElement, ...]:
        """Child elements."""
        return tuple(child for child in self.children if isinstance(child, HtmlElement))

    @property
    def text(self) -> str:
        """All text in the element."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def find(self, *names: str) -> Iterator[HtmlElement]:
        """Yield the descendants that have one of the names or classes. Skip descendants of a yielded
        element."""
        for child in self.elements:
            if child.name in names or any(f".{name}" in names for name in child.classes):
                yield child
            else:
                yield from child.find(*names)


class _Open(Struct):
    name: str
    attributes: Mapping[str, str]
    start: int
    children: list[HtmlElement | str]
    is_cut: bool = False


def read_elements(html: str) -> HtmlElement:
    """Return the root of the elements in `html`."""
    stack = [_Open("", {}, 0, [])]
    for part in scan_html(html):
        if isinstance(part, str):
            stack[-1].children.append(part)
        elif part.is_end:
            index = next((i for i in range(len(stack) - 1, 0, -1) if stack[i].name == part.name), 0)
            while index and len(stack) > index:
                _close(stack, html, part.end)
        else:
            if part.name in _CLOSES_PARAGRAPH and stack[-1].name == "p":
                _close(stack, html, part.start)
            while stack[-1].name in _CLOSED_BY.get(part.name, ()):
                _close(stack, html, part.start)
            formula = next((element for element in stack if element.name == "math"), None)
            is_deep = len(stack) > (_MAX_MATH_DEPTH if formula else _MAX_DEPTH)
            if formula and is_deep:
                formula.is_cut = True
            if part.name in VOID_ELEMENTS or part.is_closed or is_deep:
                stack[-1].children.append(HtmlElement(part.name, part.attributes, ()))
            else:
                stack.append(_Open(part.name, part.attributes, part.start, []))
    while len(stack) > 1:
        _close(stack, html, len(html))
    return HtmlElement("", {}, tuple(stack[0].children))


def _close(stack: list[_Open], html: str, end: int) -> None:
    closed = stack.pop()
    source = html[closed.start : end] if closed.name in ("svg", "math", "mtd") else ""
    stack[-1].children.append(
        HtmlElement(closed.name, closed.attributes, tuple(closed.children), source, closed.is_cut)
    )
