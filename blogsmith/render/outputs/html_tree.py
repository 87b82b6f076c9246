"""Third-party HTML as a tree of allowed elements, nested according to HTML's content models.

Unlike a browser's parser it may repair input differently, but the result is valid and contains all text.
Other modules check the values of attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...base.html_tags import scan_html
from ...model.names import name_set
from .ansi import plain_output

_TEXT_ONLY = frozenset({"iframe", "noscript", "script", "style", "textarea", "title"})
"""Elements whose content is text up to their own end tag."""
VOID = frozenset({"br", "hr", "img", "wbr"})
_INLINE = name_set("a abbr b bdi cite code del em i ins kbd mark q s samp small span strong sub sup u var")
_BLOCKS = name_set(
    "blockquote caption dd details div dl dt hr li ol p pre summary table tbody td tfoot th thead tr ul"
)
_RENAMED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("article", "aside", "center", "figure", "footer", "header", "main"), "div"),
        **dict.fromkeys(("nav", "section", "address", "dir", "fieldset", "form"), "div"),
        # a heading in an output would be part of the post's outline, so it becomes a paragraph
        **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "p"),
        **{"figcaption": "p", "legend": "p", "listing": "pre", "xmp": "pre"},
        **{"tt": "code", "strike": "s", "acronym": "abbr", "big": "strong", "dfn": "em"},
    }
)
_UNSEEN = frozenset({"head", "noscript", "style", "template", "title"})
"""Elements that are removed silently with their content, because browsers never show them."""
_REFUSED = name_set(
    "applet audio button canvas embed frameset iframe math object script select svg textarea video"
)
"""Elements that are removed with their content, which a warning reports."""
_SECTIONS = frozenset({"tbody", "tfoot", "thead"})
_TABLE_ONLY = frozenset({"table", "tr", *_SECTIONS})
"""Elements that contain no text, but only certain other elements of tables."""
_BOUNDARIES = frozenset({"caption", "table", "td", "th"})
"""Elements that end tags cannot cross: an end tag inside one never closes an element outside it."""
_TABLE_PARTS = frozenset({"caption", "td", "th", "tr", *_SECTIONS})
_LISTS: Mapping[str, str] = MappingProxyType({"ul": "li", "ol": "li", "dl": "dd"})
"""List element → element that is added around text in it."""
_PHRASING = frozenset({"p", "pre", "summary"})
"""Elements that cannot contain blocks."""
MAX_DEPTH = 60
"""Maximum depth. The tags of deeper elements are dropped, but not their text."""


@dataclass(slots=True)
class Node:
    """An element."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    parent: Node | None = None
    children: list[Node | str] = field(default_factory=list)

    def is_inside(self, tag: str, up_to: str = "") -> bool:
        """Return whether an element named `tag` is an ancestor, not searching beyond the nearest element
        `up_to`."""
        node = self.parent
        while node is not None and node.tag != up_to:
            if node.tag == tag:
                return True
            node = node.parent
        return False

    def text(self) -> str:
        """Return all text in the element."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


class _Builder:
    """Builder of the tree for one output."""

    def __init__(self) -> None:
        self.root = Node("")
        self.open = [self.root]
        self.dropped: set[str] = set()

    def text(self, text: str) -> None:
        """Add text to the current element. In a list, add it to a new item; in a table outside its cells,
        before the table."""
        shown = plain_output(text)
        current = self.open[-1]
        if current.tag in _TABLE_ONLY or current.tag in _LISTS:
            if not shown.strip():
                return
            if current.tag in _LISTS:
                self._push(_LISTS[current.tag], {})
        if shown:
            self._add(shown)

    def start(self, name: str, attributes: Mapping[str, str], *, closed: bool) -> None:
        """Open an element, or ignore its tag if it is not allowed here. closed: whether the tag ends in
        `/>`."""
        if name in _UNSEEN or name in _REFUSED:
            self._hide(name, closed=closed)
            return
        name = _RENAMED.get(name, name)
        if len(self.open) >= MAX_DEPTH or not (name in _INLINE or name in _BLOCKS or name in VOID):
            return
        if name in _TABLE_PARTS:
            self._table_part(name, attributes)
        elif name in _BLOCKS:
            self._block(name, attributes)
        elif name != "a" or self._may_link():
            self._fill_list(name)
            self._push(name, attributes)

    def end(self, name: str) -> None:
        """Close the innermost open element `name` and all elements inside it. Ignore an end tag that matches
        none."""
        name = _RENAMED.get(name, name)
        walls = _BOUNDARIES if name not in _TABLE_PARTS and name != "table" else {"table"}
        for index in range(len(self.open) - 1, 0, -1):
            tag = self.open[index].tag
            if tag == name:
                del self.open[index:]
                return
            if tag in walls and name != "table":
                return

    def _add(self, child: Node | str) -> None:
        """Append `child` to the current element. If a table cannot contain it, insert it before the table."""
        current = self.open[-1]
        if current.tag not in _TABLE_ONLY or (isinstance(child, Node) and child.tag in _TABLE_PARTS):
            parent, at = current, len(current.children)
        else:
            table = next(node for node in reversed(self.open) if node.tag == "table")
            parent = table.parent or self.root
            # an open table is the last child of its parent
            at = len(parent.children) - 1
        if isinstance(child, Node):
            child.parent = parent
        parent.children.insert(at, child)

    def _push(self, name: str, attributes: Mapping[str, str]) -> None:
        node = Node(name, attributes)
        self._add(node)
        if name not in VOID:
            self.open.append(node)

    def _hide(self, name: str, *, closed: bool) -> None:
        """Open an element whose content is left out of the tree."""
        if name in _REFUSED:
            self.dropped.add(name)
        if not closed and name != "embed":
            self.open.append(Node(name, {}, self.open[-1]))

    def _fill_list(self, name: str) -> None:
        """If the current element is a list and `name` is not an item, open an item around the new element
        `name`."""
        item = _LISTS.get(self.open[-1].tag)
        if item and name not in ("li", "dt", "dd"):
            self._push(item, {})

    def _may_link(self) -> bool:
        """Close an open link. Return whether a new link is allowed here: not inside a summary."""
        tags = [node.tag for node in self.open]
        if "a" in tags:
            self.end("a")
        return "summary" not in tags

    def _block(self, name: str, attributes: Mapping[str, str]) -> None:
        while self.open[-1].tag in _INLINE or self.open[-1].tag == "p":
            self.open.pop()
        if name in ("li", "dt", "dd"):
            name = self._item(name)
        current = self.open[-1]
        if name == "summary" and (current.tag != "details" or _has_content(current)):
            name = "p"
        if current.tag in _PHRASING or (name == "table" and self._is_in_caption()):
            return
        self._fill_list(name)
        self._push(name, attributes)

    def _is_in_caption(self) -> bool:
        return any(node.tag == "caption" for node in self.open)

    def _item(self, name: str) -> str:
        """Close the elements that are open in the nearest list, to open its next item. Return the name of the
        element to open: `name`, or outside lists `div`."""
        lists = ("ul", "ol") if name == "li" else ("dl",)
        for index in range(len(self.open) - 1, 0, -1):
            tag = self.open[index].tag
            if tag in lists:
                del self.open[index + 1 :]
                return name
            if tag in _BOUNDARIES or tag in _LISTS:
                break
        return "div"

    def _table_part(self, name: str, attributes: Mapping[str, str]) -> None:
        """Open a part of the nearest table, and a row and body around it if needed. Ignore the tag outside
        tables."""
        tables = [index for index, node in enumerate(self.open) if node.tag == "table"]
        if not tables:
            return
        del self.open[self._open_index(name, tables[-1]) + 1 :]
        if name == "caption" and _has_content(self.open[-1]):
            return
        if name in ("tr", "td", "th") and self.open[-1].tag == "table":
            self._push("tbody", {})
        if name in ("td", "th") and self.open[-1].tag != "tr":
            self._push("tr", {})
        self._push(name, attributes)

    def _open_index(self, name: str, table: int) -> int:
        """Return the index of the innermost open element that may contain a table part called `name`. table:
        index of the nearest open table."""
        wanted = {"tr": _SECTIONS, "td": {"tr", *_SECTIONS}, "th": {"tr", *_SECTIONS}}.get(name, frozenset())
        inner = [index for index in range(table, len(self.open)) if self.open[index].tag in wanted]
        return inner[-1] if inner else table


def read_html(html: str) -> tuple[Node, frozenset[str]]:
    """Return the root of the tree, and the names of removed elements that would have shown or done
    something."""
    builder = _Builder()
    for piece in scan_html(html, _TEXT_ONLY):
        if isinstance(piece, str):
            builder.text(piece)
        elif piece.is_end:
            builder.end(piece.name)
        else:
            builder.start(piece.name, piece.attributes, closed=piece.is_closed)
    _mend(builder.root)
    return builder.root, frozenset(builder.dropped)


def _has_content(node: Node) -> bool:
    return any(isinstance(child, Node) or child.strip() for child in node.children)


def _mend(node: Node) -> None:
    """Repair an element and all elements in it: empty rows, incomplete pairs of terms and descriptions,
    missing summaries."""
    for child in node.children:
        if isinstance(child, Node):
            _mend(child)
    inner = [child for child in node.children if isinstance(child, Node)]
    if node.tag == "tr":
        node.children = list(inner)
    elif node.tag in _SECTIONS:
        rows = [row for row in inner if row.children]
        node.children = list(rows)
        for left, row in enumerate(reversed(rows), 1):
            _clip_spans(row, left)
    elif node.tag == "table":
        _mend_sections(inner)
    elif node.tag == "dl" and not _is_list_of_pairs([child.tag for child in inner]):
        for item in (node, *inner):
            item.tag = "div"
    elif node.tag == "details" and not (inner and inner[0].tag == "summary"):
        node.children.insert(0, Node("summary", {}, node, ["Details"]))


def _clip_spans(row: Node, rows: int) -> None:
    """Limit the row spans of the cells in `row` to `rows`, the number of rows from this one to the end."""
    for cell in row.children:
        if isinstance(cell, Node) and cell.attributes.get("rowspan", "").isdecimal():
            span = min(int(cell.attributes["rowspan"][:6]), rows)
            cell.attributes = {**cell.attributes, "rowspan": str(span)}


def _mend_sections(sections: list[Node]) -> None:
    """Keep one head at the start and one foot at the end of a table; make all other sections bodies."""
    sections = [section for section in sections if section.tag in _SECTIONS]
    for index, section in enumerate(sections):
        misplaced = (section.tag == "thead" and index > 0) or (
            section.tag == "tfoot" and index + 1 < len(sections)
        )
        if misplaced:
            section.tag = "tbody"


def _is_list_of_pairs(tags: list[str]) -> bool:
    return re.fullmatch("(?:(?:dt )+(?:dd )+)*", " ".join([*tags, ""])) is not None
