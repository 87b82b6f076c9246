"""Conversion of HTML in pages of any system to Markdown: tables, and Bootstrap's alert boxes.

A table is converted if it has one header row, rows with equally many cells, and one line of text in each
cell. A table stays HTML if a cell spans several rows or columns or contains blocks, if rows have header
cells, or if an attribute requests Markdown inside. A box with blocks other than paragraphs stays HTML too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape

from ..api.importing import lazy_pattern, name_set
from .model import ImportedPage, Notice
from .text.containers import quote_lines
from .text.html import BLOCKS, Element, ElementEnds, parse_elements, replace_blocks
from .text.html_markdown import inline_markdown
from .text.segments import MARK, FormulaDelimiters, MaskedText, mask

_BLANK_LINES = lazy_pattern(r"\n{3,}")
_KINDS: Mapping[str, str] = {
    **{"alert-info": "INFO", "alert-primary": "NOTE", "alert-secondary": "NOTE", "alert-light": "NOTE"},
    **{"alert-success": "SUCCESS", "alert-warning": "WARNING", "alert-danger": "DANGER"},
}


def convert_alert_boxes(page: ImportedPage) -> ImportedPage:
    """Convert boxes such as `<div class="alert alert-info">` to callouts."""
    if "alert-" not in page.text:
        return page
    masked = mask(page.text, FormulaDelimiters())
    text = replace_blocks(masked.text, _callout)
    if text == masked.text:
        return page
    return replace(page, text=masked.restore(_BLANK_LINES.sub("\n\n", text)))


def _callout(element: Element, indent: str) -> str:
    kind = next((_KINDS[name] for name in sorted(element.classes) if name in _KINDS), "")
    inner = element.inner_source()
    is_plain = not any(True for name in BLOCKS - {"p"} for _ in element.descendants(name))
    if element.name != "div" or "alert" not in element.classes or not kind or not is_plain or indent.strip():
        return element.source()
    if set(element.attributes) - {"class", "role", "style"}:
        return element.source()
    paragraphs = inner.replace("<p>", "\n\n").replace("</p>", "\n\n")
    # indented lines would become code
    lines = [line.strip() for line in inline_markdown(paragraphs).strip().split("\n")]
    lines = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    made = f"\n{indent}".join(quote_lines([f"[!{kind}]", "", *lines]))
    return f"\n\n{indent}{made}\n\n" if not indent else f"{made}\n"


_START = lazy_pattern(r"(?:(?<=\n\n)|\A\n*)(?P<indent> *)<table\b[^<>]*>", re.IGNORECASE)
_BLOCK_END = lazy_pattern(r"[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z)")
_HIDDEN = lazy_pattern(f"{MARK[0]}(\\d+){MARK[1]}")
_CODE = lazy_pattern(r"<code>([^<>`\n]+)</code>", re.IGNORECASE)
_SPECIAL = lazy_pattern(r"(?<!\w)_|_(?!\w)|[*`~\\]|==|::")
_ALIGN = lazy_pattern(r"text-align\s*:\s*(left|right|center)", re.IGNORECASE)
_GROUPS = frozenset(("thead", "tbody", "tfoot"))
_RULES = {"left": ":---", "right": "---:", "center": ":---:", "": "---"}
_STYLE_ATTRIBUTES = name_set("align valign border cellpadding cellspacing scope style width class height")
"""Attributes that only style a table. They are dropped, because the theme styles tables."""


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[Element, ...]
    is_head: bool


def convert_tables(page: ImportedPage) -> ImportedPage:
    """Convert HTML tables to Markdown tables, where Markdown can express them."""
    if "<table" not in page.text:
        return page
    masked = mask(page.text, FormulaDelimiters())
    notices: list[Notice] = []
    parts: list[str] = []
    ends, position = ElementEnds(masked.text), 0
    for found in _START.finditer(masked.text):
        start = found.end("indent")
        end = ends.find_end(start)
        if start < position or end is None or not _BLOCK_END.match(masked.text, end):
            continue
        (element, *_) = parse_elements(masked.text[start:end])
        lines = plain_table(element, masked) if isinstance(element, Element) else []
        if lines:
            parts += [masked.text[position:start], f"\n{found['indent']}".join(lines)]
            position = end
            if isinstance(element, Element) and _has_styles(element):
                notices.append(
                    Notice(
                        "changed", "styles of an HTML table are replaced by those of the theme", page.source
                    )
                )
    if not parts:
        return page
    text = masked.restore("".join([*parts, masked.text[position:]]))
    return replace(page, text=text, notices=(*page.notices, *notices))


def _has_styles(table: Element) -> bool:
    every = [table, *(cell for name in ("tr", "td", "th") for cell in table.descendants(name))]
    styles = (_ALIGN.sub("", each.attributes.get("style", "")).strip(" ;") for each in every)
    return any(styles) or any({"class", "bgcolor"} & set(each.attributes) for each in every)


def plain_table(table: Element, masked: MaskedText) -> list[str]:
    """Return the lines of a pipe table; empty if Markdown cannot express the table."""
    rows = list(_rows(table))
    caption = next((child for child in table.elements if child.name == "caption"), None)
    heads = [row for row in rows if row.is_head]
    width = len(rows[0].cells) if rows else 0
    is_plain = (
        len(heads) == 1
        and rows[0].is_head
        and width > 0
        and all(len(row.cells) == width for row in rows)
        and all(cell.name == "td" for row in rows[1:] for cell in row.cells)
        and not set(table.attributes) - _STYLE_ATTRIBUTES
    )
    if not is_plain:
        return []
    texts = [[_cell(cell, masked) for cell in row.cells] for row in rows]
    title = _cell(caption, masked) if caption else ""
    if title is None or any(text is None for row in texts for text in row):
        return []
    rules = [_rule([row.cells[column] for row in rows]) for column in range(width)]
    lines = [f"| {' | '.join(text or '' for text in row)} |" for row in texts]
    return [lines[0], f"|{'|'.join(rules)}|", *lines[1:], *(["", f": {title}"] if title else [])]


def _rows(table: Element) -> Iterator[_Row]:
    """Yield the rows of a table in order. Yield none if the table contains other elements."""
    found: list[_Row] = []
    for child in table.children:
        if isinstance(child, str):
            if child.strip():
                return
        elif child.name in _GROUPS:
            for row in child.children:
                if isinstance(row, str) and not row.strip():
                    continue
                if isinstance(row, str) or row.name != "tr":
                    return
                found.append(_row(row, is_head=child.name == "thead"))
        elif child.name == "tr":
            found.append(_row(child, is_head=False))
        elif child.name not in ("caption", "colgroup", "col"):
            return
    yield from found


def _row(row: Element, *, is_head: bool) -> _Row:
    cells = tuple(cell for cell in row.elements if cell.name in ("td", "th"))
    is_whole = len(cells) == len(row.elements) and not row.own_text.strip()
    return _Row(cells if is_whole else (), is_head or (bool(cells) and all(c.name == "th" for c in cells)))


def _cell(cell: Element, masked: MaskedText) -> str | None:
    """Return the Markdown of a table cell on one line; None if the cell contains blocks or cannot be
    expressed in one line."""
    if set(cell.attributes) - _STYLE_ATTRIBUTES - {"bgcolor"}:
        return None
    inner = cell
    if len(cell.elements) == 1 and cell.elements[0].name == "p" and not cell.own_text.strip():
        inner = cell.elements[0]
    if any(True for name in (*BLOCKS, "pre", "table", "script", "style") for _ in inner.descendants(name)):
        return None
    pieces = {}
    for found in _HIDDEN.finditer(inner.inner_source()):
        number = int(found[1])
        kind, text = masked.kinds[number], masked.hidden[number]
        code = _CODE.fullmatch(text)
        if kind == "math" and "\n" not in text:
            pieces[found[0]] = text
        elif code:
            pieces[found[0]] = f"`{unescape(code[1])}`".replace("|", r"\|")
        else:
            return None
    markdown = " ".join(inline_markdown(_escape_markdown(inner)).split()).replace("|", r"\|")
    for mark, text in pieces.items():
        markdown = markdown.replace(mark, text)
    return markdown


def _escape_markdown(element: Element) -> str:
    """Return the content of an element as HTML. In its text, the characters of Markdown are escaped."""
    parts = []
    for child in element.children:
        if isinstance(child, str):
            text = child if child.startswith("<!--") else _SPECIAL.sub(_character_reference, child)
            parts.append(text.replace("[", "&#91;").replace("]", "&#93;"))
        elif child.children:
            parts.append(f"{child.tag}{_escape_markdown(child)}</{child.name}>")
        else:
            parts.append(child.source())
    return "".join(parts)


def _character_reference(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(char)};" for char in found[0])


def _rule(cells: Sequence[Element]) -> str:
    """Return one cell of a pipe table's delimiter row. It sets an alignment if all cells of the column have
    the same alignment. cells: the cells of the column, header first."""
    every = {_alignment(cell) for cell in cells[1:]} or {_alignment(cells[0])}
    return _RULES[every.pop()] if len(every) == 1 else _RULES[""]


def _alignment(cell: Element) -> str:
    found = _ALIGN.search(cell.attributes.get("style", ""))
    written = found[1] if found else cell.attributes.get("align", "")
    return written.lower() if written.lower() in _RULES else ""
