"""The safe door: whatever a converter printed becomes plain MathML, or an error.

The markup is parsed as XML without DTD or entities and written again element by element from
allow-lists (MathML Core, `menclose`, and a few attributes only latex2mathml writes). An element
that is not listed goes with all it holds. No converter's `id` survives: ids are the page's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from html.entities import html5
from types import MappingProxyType
from xml.etree import ElementTree
from xml.parsers import expat

from .errors import TexError
from .lexer import clean_text, words
from .numbering import RowNumber

MAX_ELEMENT_DEPTH = 500
"""Browsers flatten what is deeper than 512 elements."""

ELEMENTS = words(
    "a annotation math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot "
    "mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"
)
ATTRIBUTES = words(
    "accent accentunder class columnalign columnlines columnspacing columnspan depth dir display "
    "displaystyle encoding fence form frame height href largeop linebreak linethickness lspace "
    "mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines "
    "rowspacing rowspan rspace scriptlevel separator stretchy style symmetric voffset width"
)
_STYLES = words(
    "background-color border border-bottom border-left border-right border-top color font-size font-style "
    "font-weight justify-items margin-left margin-right math-depth padding padding-bottom padding-left "
    "padding-right padding-top text-align vertical-align width"
)
_STYLE_VALUE = re.compile(r"[#\w.%\s+-]*")
_CLASS = re.compile(r"[\w\s-]*")
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_LAYOUT = ("displaystyle", "scriptlevel")
_STYLED: Mapping[str, frozenset[str]] = MappingProxyType(
    {"math": words("display displaystyle"), "mstyle": frozenset(_LAYOUT), "mtable": words("displaystyle")}
)
_URL = re.compile(r"(https?://|mailto:|#|/(?!/)|\.{1,2}/)[^\s\x00-\x20]*", re.IGNORECASE)


def clean_mathml(xml: str, *, display: bool = False, alttext: str | None = None) -> str:
    """`xml`, one `<math>` element, as safe markup for an HTML page; TexError if it is no XML.

    alttext: the author's TeX, set on `<math>`; None leaves the attribute out.
    """
    root = {"display": "block"} if display else {}
    if alttext is not None:
        root["alttext"] = clean_text(alttext).strip()
    writer = _Writer(root)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(_NAMED.sub(_numeric, clean_text(xml)), True)
    except (expat.ExpatError, UnicodeEncodeError):
        raise TexError("math-syntax", "formula cannot be typeset: the converter made broken markup") from None
    return "".join(writer.parts)


def _numeric(match: re.Match[str]) -> str:
    """`&ApplyFunction;` as numbers: XML without a DTD knows five names only."""
    named = html5.get(match.group(1) + ";")
    return "".join(f"&#{ord(c)};" for c in named) if named else match.group()


def _refuse_doctype(*_: object) -> None:
    raise TexError("math-syntax", "formula cannot be typeset: the converter made a document type")


class _Writer:
    """Writes what the parser reads, as far as it is allowed. One per formula."""

    def __init__(self, root: Mapping[str, str]) -> None:
        self.parts: list[str] = []
        self._root = root
        self._depth = 0
        self._dropped_at = 0
        """Depth of the outermost element being dropped; 0: none."""
        self._closings: list[str] = []
        """What ends each element that was written and is still open."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_ELEMENT_DEPTH:
            raise TexError("math-limit", "formula is nested too deep for a browser")
        if (self._depth == 1) != (name == "math"):
            self._refuse_nesting(name)
        if self._dropped_at:
            return
        if name not in ELEMENTS:
            self._dropped_at = self._depth
            return
        kept = self._root if self._depth == 1 else allowed_attributes(attributes)
        opening, closing = _tags(name, kept)
        self.parts.append(opening)
        self._closings.append(closing)

    def _refuse_nesting(self, name: str) -> None:
        if self._depth == 1:
            raise TexError("math-syntax", "formula cannot be typeset: the converter made no formula")
        if not self._dropped_at:
            self._dropped_at = self._depth

    def end(self, name: str) -> None:
        if not self._dropped_at:
            self.parts.append(self._closings.pop())
        elif self._dropped_at == self._depth:
            self._dropped_at = 0
        self._depth -= 1

    def text(self, data: str) -> None:
        if not self._dropped_at:
            self.parts.append(escape(data, quote=False))


def _tags(name: str, attributes: Mapping[str, str]) -> tuple[str, str]:
    """Opening and closing markup of an element.

    HTML's checkers know `displaystyle` and `scriptlevel` from MathML 3: on `math` and `mstyle`, and the
    first on `mtable`. Elsewhere they go to an `mstyle` around the element, or inside it for a cell.
    """
    if name == "mtable" and attributes.get("scriptlevel", "").isdigit():
        # an `mstyle` around the table would take from it the width of the line; MathML Core 2.1.6: the same
        depth = f"math-depth:{attributes['scriptlevel']}"
        style = ";".join(filter(None, (attributes.get("style", ""), depth)))
        attributes = {key: value for key, value in attributes.items() if key != "scriptlevel"} | {
            "style": style
        }
    homes = _STYLED.get(name, frozenset())
    moved = {key: attributes[key] for key in _LAYOUT if key in attributes and key not in homes}
    own = {key: value for key, value in attributes.items() if key not in moved}
    if not moved or name == "mtr":
        return _opening(name, own), f"</{name}>"
    if name == "mtd":
        return _opening(name, own) + _opening("mstyle", moved), "</mstyle></mtd>"
    return _opening("mstyle", moved) + _opening(name, own), f"</{name}></mstyle>"


def _opening(name: str, attributes: Mapping[str, str]) -> str:
    written = "".join(f' {key}="{escape(value)}"' for key, value in sorted(attributes.items()))
    return f"<{name}{written}>"


def allowed_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Those of `attributes` that may stand in a page, styles filtered."""
    kept: dict[str, str] = {}
    for key, value in attributes.items():
        if key == "style":
            value = _style(value)
        if key in ATTRIBUTES and _is_safe(key, value):
            kept[key] = value
    return kept


def _is_safe(key: str, value: str) -> bool:
    if key == "href":
        return _URL.fullmatch(value) is not None
    if key == "class":
        return _CLASS.fullmatch(value) is not None
    return key != "style" or value != ""


def _style(value: str) -> str:
    """The allowed declarations of an inline style."""
    kept = []
    for declaration in value.split(";"):
        name, _, setting = (part.strip() for part in declaration.partition(":"))
        if name in _STYLES and setting and _STYLE_VALUE.fullmatch(setting):
            kept.append(f"{name}:{setting}")
    return ";".join(kept)


# as wide as math-core's spacer in front of the row, so that the row stays centred
_SPACER = "width:50%"
_BESIDE_SPACER = f"{_SPACER};text-align:right;justify-items:end"


def number_rows(markup: str, rows: Sequence[RowNumber | None]) -> str:
    """`markup` of `clean_mathml` with a last cell in each row of its outermost table.

    A row with a number gets `id` and the number as text, the others an empty cell, and short rows are
    filled up, so that all numbers stand in one column. No link: assistive technology reads a formula
    as one thing, so nothing inside it may take the focus (ARIA, "children presentational").
    """
    root = ElementTree.fromstring(markup)
    table = root.find(".//mtable")
    if table is None:
        return markup
    _pad(list(table))
    for index, row in enumerate(table):
        _number_row(row, rows[index] if index < len(rows) else None)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _pad(rows: Sequence[ElementTree.Element]) -> None:
    """Same number of cells in all rows; math-core's trailing spacer gives its place to the number."""
    for row in rows:
        if _has_spacers(row):
            row.remove(row[-1])
    columns = max((len(row) for row in rows), default=0)
    for row in rows:
        for _ in range(columns - len(row)):
            ElementTree.SubElement(row, "mtd")


def _has_spacers(row: ElementTree.Element) -> bool:
    return len(row) > 1 and row[0].get("style") == row[-1].get("style") == _SPACER and not len(row[-1])


def _number_row(row: ElementTree.Element, mark: RowNumber | None) -> None:
    cell = ElementTree.SubElement(row, "mtd", {"class": "eq-cell"})
    if row[0].get("style") == _SPACER:
        cell.set("style", _BESIDE_SPACER)
    if mark is None or not mark.number:
        return
    if mark.id:
        row.set("id", mark.id)
    shown = ElementTree.SubElement(cell, "mtext", {"class": "eq-number"})
    shown.text = mark.number if mark.bare else f"({mark.number})"
