"""Parsing of a page's HTML into a tree, with formulas and code as leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape, unescape

from msgspec import Struct, field

from ...base.html_tags import remove_tags, scan_html
from ...base.patterns import lazy_pattern
from ...model.names import VOID_ELEMENTS
from ...syntax.code_marks import mark_comment

_MATH = lazy_pattern(r"(<math\b[^>]*>)(.*?)</math>", re.DOTALL)
_NUMBER = lazy_pattern(r'<mtext class="eq-number"[^>]*>(.*?)</mtext>', re.DOTALL)
_PRE = lazy_pattern(r'(<pre class="(?:highlight|output)[^>]*>)(.*?)</pre>', re.DOTALL)
_CODE_MARK = lazy_pattern(r'<a class="xref code-mark"[^>]* data-mark="(\d{1,3})"[^>]*></a>')
_LANGUAGE = lazy_pattern(r'<code class="language-([^"]*)')
_CHANGED = lazy_pattern(r'<(?:ins|del) class="line')
_LINE = lazy_pattern(r'<(span|ins|del) class="line[^>]*>')
_SIGNS = {"span": " ", "ins": "+", "del": "-"}
"""HTML element of a line of changed code → its change marker, as in a diff."""
_HIDDEN_ELEMENTS = frozenset({"button", "foreignobject", "noscript", "script", "style", "svg", "template"})
"""Elements that are removed with their content, because it is useless in plain text."""
_CLOSED_BY = {
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "tr": frozenset({"tr", "td", "th"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
}
"""Element → open elements that its start tag closes, as in HTML with omitted end tags."""
_MAX_DEPTH = 100
"""Maximum depth of nested elements. Deeper elements become siblings."""


class PageElement(Struct):
    """An element of a page."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[PageElement | str] = field(default_factory=list)

    @property
    def classes(self) -> frozenset[str]:
        """The classes of the element."""
        return frozenset(self.attributes.get("class", "").split())

    def elements(self) -> Iterator[PageElement]:
        """Return the child elements."""
        return (child for child in self.children if isinstance(child, PageElement))

    def find(self, tag: str, class_name: str = "") -> PageElement | None:
        """Return the first descendant with this tag and class in document order, or None."""
        stack = [*reversed(self.children)]
        while stack:
            node = stack.pop()
            if isinstance(node, PageElement):
                if node.tag == tag and (not class_name or class_name in node.classes):
                    return node
                stack.extend(reversed(node.children))
        return None

    def text(self) -> str:
        """Return all text in the element, except for the text of SVG drawings in it."""
        parts: list[str] = []
        stack: list[PageElement | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                parts.append(node)
            elif node.tag != "svg" or node is self:
                stack.extend(reversed(node.children))
        return "".join(parts)


def read_tree(html: str) -> PageElement:
    """Parse `html`. A formula has the numbers of its rows in the attribute `data-numbers`."""
    reader = _Reader()
    for part in scan_html(_PRE.sub(_plain_code, _MATH.sub(_leaf, html))):
        if isinstance(part, str):
            reader.add_text(part)
        elif part.is_end:
            reader.close(part.name)
        else:
            reader.start(part.name, part.attributes)
            if part.is_closed and part.name not in VOID_ELEMENTS:
                reader.close(part.name)
    return reader.root


def _leaf(found: re.Match[str]) -> str:
    numbers = ", ".join(remove_tags(number) for number in _NUMBER.findall(found[2]))
    data = f' data-numbers="{escape(unescape(numbers))}"' if numbers else ""
    return f"{found[1][:-1]}{data}></math>"


def _plain_code(found: re.Match[str]) -> str:
    """Return code without the markup of highlighting, which can be thousands of `span` elements on a page.
    Code annotations become comments. Changed lines get a marker, and the block gets `data-changed`."""
    opening, code = found[1], found[2]
    if "code-mark" in code:
        written = _LANGUAGE.search(code)
        language = unescape(written[1]) if written else ""
        code = _CODE_MARK.sub(lambda mark: "  " + escape(mark_comment(mark[1], language)), code)
    if _CHANGED.search(code):
        opening = f"{opening[:-1]} data-changed>"
        code = _LINE.sub(lambda line: _SIGNS[line[1]], code)
    return f"{opening}{remove_tags(code)}</pre>"


class _Reader:
    def __init__(self) -> None:
        self.root = PageElement("")
        self._open = [self.root]
        self._unseen: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "svg" and not self._unseen:
            # SVG becomes a leaf with its text
            self._open[-1].children.append(PageElement(tag, attributes))
        if tag in _HIDDEN_ELEMENTS:
            self._unseen.append(tag)
        if self._unseen:
            return
        self._close_left_open(tag)
        element = PageElement(tag, attributes)
        self._open[-1].children.append(element)
        if tag not in VOID_ELEMENTS and len(self._open) <= _MAX_DEPTH:
            self._open.append(element)

    def _close_left_open(self, tag: str) -> None:
        ended = _CLOSED_BY.get(tag)
        while ended and self._open[-1].tag in ended:
            self._open.pop()

    def close(self, tag: str) -> None:
        if self._unseen:
            if tag == self._unseen[-1]:
                self._unseen.pop()
            return
        for index in range(len(self._open) - 1, 0, -1):
            if self._open[index].tag == tag:
                del self._open[index:]
                return

    def add_text(self, data: str) -> None:
        if not self._unseen:
            self._open[-1].children.append(data)
        elif self._unseen == ["svg"] and data.strip():
            self._drawing().children.append(data)

    def _drawing(self) -> PageElement:
        """Return the SVG element that is being read."""
        last = self._open[-1].children[-1]
        assert isinstance(last, PageElement), "no element is added after it before its end"
        return last
