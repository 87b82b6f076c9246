"""HTML that is the value of a cell, converted to HTML that is safe in a page.

`html_tree.py` parses it into a tree of allowed elements, which this module writes. Tables get the markup of
Markdown tables, numbers are right-aligned, and images must be `data:` URLs.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...languages.language import ENGLISH, Language
from ...model.pictures import ImageInfo
from ...syntax.number_columns import Padding, column_paddings, split_at_sign
from ..blocks import table_caption
from ..images import img_tag
from .html_tree import VOID, Node, read_html

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters that are read. Nobody reads a longer table."""

_NUMBER = lazy_pattern(
    r"\s*[+\-−]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?:\s*±\s*[\d.,]+)?\s*%?\s*|\s*(?:NaN|nan|-?inf)\s*",
    re.I,
)
_PICTURE = lazy_pattern(r"data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/=\s]+)")
_ALIGN = lazy_pattern(r"text-align\s*:\s*(left|center|right)")
_LINK = lazy_pattern(r"(?:https?://|mailto:)[^\s\"<>\\]*", re.IGNORECASE)


class TableSettings(Struct, frozen=True):
    """The author's settings for a table."""

    id: str = ""
    number: str = ""
    caption: str = ""
    """Caption as HTML; if empty, the table keeps its own caption."""


class CleanHtml(Struct, frozen=True):
    """The sanitized HTML of a value."""

    html: str
    """The HTML; empty if nothing visible remains."""
    dropped: tuple[str, ...] = ()
    """Names of removed elements that would have shown or done something, such as `script`."""
    has_head: bool = False
    """Whether the HTML had a table that the argument `head` of `clean_html` was applied to."""


@dataclass(slots=True)
class _Writer:
    name: str
    head: TableSettings | None = None
    """Settings for the first table."""
    language: Language = ENGLISH
    tables: int = 0
    dropped: set[str] = field(default_factory=set)
    paddings: dict[int, Padding | None] = field(default_factory=dict)
    """`id` of a cell's node → invisible text that aligns the cell's number; None if no text is needed."""


def clean_html(
    html: str, name: str, head: TableSettings | None = None, language: Language = ENGLISH
) -> CleanHtml:
    """Return `html` with only those elements and attributes that are safe and valid in a page.

    name: accessible name of the output, for the scroll regions of its tables. head: settings for its first
    table.
    """
    if len(html) > MAX_CHARACTERS:
        return CleanHtml("", ("more than a million characters",))
    tree, dropped = read_html(html)
    writer = _Writer(name, head, language, dropped=set(dropped))
    shown = "".join(_children(writer, tree)).strip()
    if not tree.text().strip() and "<img" not in shown:
        shown = ""
    has_head = bool(head and writer.tables and shown)
    return CleanHtml(shown, tuple(sorted(writer.dropped)), has_head)


def _children(writer: _Writer, node: Node) -> Iterator[str]:
    for child in node.children:
        yield escape(child, quote=False) if isinstance(child, str) else _element(writer, child)


def _element(writer: _Writer, node: Node) -> str:
    if node.tag == "img":
        return _image(writer, node)
    if node.tag == "table":
        return _table(writer, node)
    if node.tag in ("th", "td"):
        return _cell(writer, node)
    opening = f"<{node.tag}{_attributes(node)}>"
    return opening if node.tag in VOID else f"{opening}{''.join(_children(writer, node))}</{node.tag}>"


def _attributes(node: Node) -> str:
    found: dict[str, str] = {}
    written = node.attributes
    if node.tag == "a" and _LINK.fullmatch(written.get("href", "").strip()):
        found["href"] = written["href"].strip()
    if node.tag == "ol" and re.fullmatch(r"-?\d{1,6}", written.get("start", "")):
        found["start"] = written["start"]
    if written.get("title", "").strip():
        found["title"] = written["title"]
    if written.get("dir", "").lower() in ("ltr", "rtl"):
        found["dir"] = written["dir"].lower()
    side = alignment(node)
    if side and node.tag in ("p", "div"):
        found["class"] = f"align-{side}"
    flags = " open" if node.tag == "details" and "open" in written else ""
    return _format_attributes(found) + flags


def _format_attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())


def alignment(node: Node) -> str:
    """Return `left`, `center`, `right` or an empty string, from the style or attribute `align`."""
    found = _ALIGN.search(node.attributes.get("style", "").lower())
    side = found[1] if found else node.attributes.get("align", "").strip().lower()
    return side if side in ("left", "center", "right") else ""


def _image(writer: _Writer, node: Node) -> str:
    """Return an image with a `data:` URL. Any other image is dropped, because browsers would load it from
    elsewhere."""
    found = _PICTURE.fullmatch(node.attributes.get("src", "").strip())
    size = _picture_size(found[1]) if found else None
    if not found or size is None:
        writer.dropped.add("img")
        return ""
    address = "".join(found[0].split())
    return img_tag(ImageInfo(address, *size), " ".join(node.attributes.get("alt", "").split()))


def _picture_size(data: str) -> tuple[int, int] | None:
    """Return width and height in pixels, or None if the data are not an image."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore"):
            size = Image.open(
                io.BytesIO(base64.b64decode("".join(data.split()), validate=True)),
                formats=("PNG", "JPEG", "GIF", "WEBP"),
            ).size
    except Exception:  # damaged data make the parsers raise nearly any error
        return None
    return size


def _table(writer: _Writer, node: Node) -> str:
    for column in _number_columns(node):
        paddings = column_paddings([cell.text() for cell in column])
        writer.paddings.update(zip(map(id, column), paddings, strict=True))
    parts = list(_children(writer, node))
    if not any("</tr>" in part for part in parts):
        return ""
    if node.is_inside("table"):
        return f"<table>{''.join(parts)}</table>"
    writer.tables += 1
    language, name = writer.language, ""
    text = "Table {number} in {output}" if writer.tables > 1 else "Table in {output}"
    label = language.translate(text, number=writer.tables, output=writer.name)
    head = writer.head if writer.tables == 1 else None
    if head:
        parts = _with_caption(writer, node, parts, head)
        name = f' id="{escape(head.id)}"' if head.id else ""
        label = language.translate("Table {number}", number=head.number) if head.number else label
    classes = "table-wrap wide" if is_wide(node) else "table-wrap"
    wrap = f'<div class="{classes}" role="region" tabindex="0" aria-label="{escape(label)}">'
    return f"{wrap}<table{name}>{''.join(parts)}</table></div>"


def _with_caption(writer: _Writer, node: Node, parts: list[str], head: TableSettings) -> list[str]:
    """Return `parts`, the HTML of the table's parts, with the caption in `head`. Without one, the table's own
    caption gets the number in `head`."""
    first = node.children[0]
    own = first if isinstance(first, Node) and first.tag == "caption" else None
    text = head.caption or ("".join(_children(writer, own)).strip() if own else "")
    return [table_caption(writer.language, head.number, text), *parts[1 if own else 0 :]]


def _cell(writer: _Writer, node: Node) -> str:
    side = alignment(node) or (alignment(node.parent) if node.parent else "")
    if not side and node.tag == "td" and _NUMBER.fullmatch(node.text()):
        side = "right"
    padding = writer.paddings.get(id(node)) if side == "right" else None
    inside = _padded(node, padding) or "".join(_children(writer, node))
    # a header cell without text would be reported by checkers
    tag = "th" if node.tag == "th" and inside.strip() else "td"
    found = {"scope": "col" if _heads_a_column(node) else "row"} if tag == "th" else {}
    for name, most in (("colspan", 1000), ("rowspan", 65_534)):
        span = node.attributes.get(name, "").strip()
        if span.isascii() and span.isdigit() and 1 < int(span[:6]) <= most:
            found[name] = str(int(span[:6]))
    if side:
        found["class"] = f"align-{side}"
    if padding is not None:
        found["data-pad"] = padding.end
    return f"<{tag}{_format_attributes(found)}>{inside}</{tag}>"


def _padded(node: Node, padding: Padding | None) -> str:
    """Return the text of a cell with invisible text beside its `±`. Empty if the cell needs none."""
    text = node.children[0] if len(node.children) == 1 else None
    found = split_at_sign(text) if padding and padding.is_inside and isinstance(text, str) else None
    if padding is None or found is None:
        return ""
    start, sign, end = (escape(part, quote=False) for part in found)
    spans = (
        f'<span data-pad="{escape(pad)}"></span>' if pad else "" for pad in (padding.before, padding.after)
    )
    return f"{start}{next(spans)}{sign}{next(spans)}{end}"


def _number_columns(table: Node) -> Iterator[list[Node]]:
    """Yield the body cells of each column of a table; nothing if a cell spans rows. A cell that spans columns
    belongs to no column."""
    rows = [
        cells
        for row in _rows(table)
        if (cells := [child for child in row.children if isinstance(child, Node)])
        and not all(cell.tag == "th" for cell in cells)
    ]
    if any("rowspan" in cell.attributes for cells in rows for cell in cells):
        return
    lines = [[one for cell in cells for one in _grid_cells(cell)] for cells in rows]
    yield from (
        [cell for cell in column if cell is not None and cell.tag == "td"] for column in zip_longest(*lines)
    )


def _grid_cells(cell: Node) -> list[Node | None]:
    """Return the cell as a list of one item. For a cell that spans columns, return None once for each
    column."""
    span = cell.attributes.get("colspan", "").strip()
    if not span:
        return [cell]
    return [None] * (int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1)


def _heads_a_column(node: Node) -> bool:
    """Return whether a header cell belongs to a column: it is in the table head, or in a row of header cells
    only."""
    row = node.parent.children if node.parent else []
    return node.is_inside("thead", "table") or all(isinstance(c, Node) and c.tag == "th" for c in row)


def format_dropped(dropped: Sequence[str]) -> str:
    """Return the names of removed elements as a list such as `"<script>" and "<svg>"`."""
    names = [f'"<{name}>"' if name.isalnum() else name for name in dropped]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


# Estimates from the text whether a table from code is wider than a text column. Themes let a wide table, with
# its code, extend into the margin. CSS alone cannot detect this.


_COLUMN = 80
"""Number of characters of a table that fit into the text column of the paper theme."""
_GAP = 3
"""Width of the gap between two columns of a table, in characters."""


def is_wide(table: Node) -> bool:
    """Return whether lines of the table, which do not wrap, are longer than a text column. Cells that span
    several columns do not count, because the cells below them are seldom narrower."""
    widest: dict[int, int] = defaultdict(int)
    for row in _rows(table):
        at = 0
        for cell in row.children:
            if isinstance(cell, Node) and cell.tag in ("td", "th"):
                span = cell.attributes.get("colspan", "").strip()
                if span in ("", "1"):
                    widest[at] = max(widest[at], len(" ".join(cell.text().split())))
                at += int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1
    return sum(widest.values()) + _GAP * len(widest) > _COLUMN


def _rows(node: Node) -> Iterator[Node]:
    for child in node.children:
        if isinstance(child, Node) and child.tag == "tr":
            yield child
        elif isinstance(child, Node) and child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)
