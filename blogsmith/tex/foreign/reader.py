"""Foreign MathML read as XML, and written anew as markup that passes the door of our own formulas.

Only what is known is written: elements of MathML Core that typeset something, their children counted, and
attributes by `attributes.py`. Everything else makes the formula unusable, with the reason. No declaration, no
entity of its own and no depth without bound reaches the XML parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html.entities import html5
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .attributes import core_attributes, length
from .tokens import write_token
from .unusable import UnusableMathml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_MARKUP = 1_000_000
"""Characters of one formula's markup."""
MAX_DEPTH = 150
"""Elements around an element; ours has a limit of its own for what browsers bear."""
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_ENTITY = lazy_pattern(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")
_LEADING = lazy_pattern(r"<(/?)[A-Za-z][^<>]*?(/?)>")
_BLANKS = lazy_pattern(r"[ \t\r\n]+")
"""White space of XML: a no-break space is a sign."""
_TOKENS = frozenset({"mi", "mn", "mo", "mtext"})
_ROWS = frozenset({"mrow", "mstyle", "mpadded", "mphantom", "msqrt"})
_COUNTS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
        **dict.fromkeys(("msubsup", "munderover"), 3),
    }
)
"""Element → how many children it has."""
_MATH_ATTRIBUTES = frozenset({"display", "alttext", "overflow", "altimg", "dir"})
"""Of the whole formula: ours stand in their place."""
_SIDES: Mapping[str, str] = MappingProxyType(
    {
        "left": ' style="text-align:left;justify-items:left"',
        "right": ' style="text-align:right;justify-items:right"',
        "center": "",
        "": "",
    }
)


class ForeignTable(Struct, frozen=True):
    """A table that is all of a formula."""

    look: str
    """Its class: what the theme's spaces go by."""
    rows: tuple[str, ...]
    """The cells of each row, printed."""


class ForeignFormula(Struct, frozen=True):
    """A formula of another converter, as a page may hold it."""

    content: str
    """What stands in `<math>`."""
    table: ForeignTable | None = None
    """The same, if it is nothing but a table: rows may carry numbers."""


def read_mathml(markup: str) -> ForeignFormula:
    """The formula in `markup`, one `<math>` element; UnusableMathml if no page may hold it."""
    root = _parse(markup)
    if _name(root) != "math":
        raise UnusableMathml("it is no <math> element")
    _attributes(root, leave_out=_MATH_ATTRIBUTES)
    children = list(_content(root))
    # a row around all of it says nothing, and would keep lines from breaking
    while len(children) == 1 and _name(children[0]) == "mrow" and not children[0].attrib:
        children = list(_content(children[0]))
    if len(children) == 1 and _name(children[0]) == "mtable":
        table = _read_table(children[0], 1)
        return ForeignFormula(_print_table(children[0], table), table)
    content = "".join(_write(child, 1) for child in children)
    if not content:
        raise UnusableMathml("it is empty")
    return ForeignFormula(content)


def _parse(markup: str) -> Element:
    if len(markup) > MAX_MARKUP:
        raise UnusableMathml(f"its markup has {len(markup):,} characters, {MAX_MARKUP:,} are the limit")
    if "<!" in markup or "<?" in markup:
        raise UnusableMathml("its markup has declarations or comments")
    _check_depth(markup)
    from xml.etree import ElementTree

    try:
        return ElementTree.fromstring(_ENTITY.sub(_named_sign, markup))
    except (ElementTree.ParseError, ValueError) as error:
        # without line and column, which differ from formula to formula
        raise UnusableMathml(f"its markup is no XML: {str(error).partition(':')[0]}") from None


def _check_depth(markup: str) -> None:
    depth = 0
    for closing, empty in _LEADING.findall(markup):
        depth += -1 if closing else 0 if empty else 1
        if depth > MAX_DEPTH:
            raise UnusableMathml("it is nested too deep")


def _named_sign(found: re.Match[str]) -> str:
    return html5.get(found[1], found[0]).replace("&", "&amp;").replace("<", "&lt;")


def _name(element: Element) -> str:
    """Without the namespace of MathML; of another one it stays, and is none that is known."""
    return element.tag.removeprefix(_NAMESPACE)


def _content(element: Element) -> Iterator[Element]:
    """Its children; text between them is none of a formula's."""
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise UnusableMathml(f"text stands in its {_format_name(_name(element))}")
    for child in element:
        if _name(child) == "semantics" and len(child):
            # annotations say the same in another notation
            yield from [child[0]]
        else:
            yield child


def _attributes(element: Element, leave_out: frozenset[str] = frozenset()) -> str:
    given = [pair for pair in element.items() if pair[0] not in leave_out and pair[0] != "mathvariant"]
    return core_attributes(_name(element), given)


def _write(element: Element, depth: int) -> str:
    name = _name(element)
    if depth > MAX_DEPTH:
        raise UnusableMathml("it is nested too deep")
    if name in _TOKENS:
        if len(element):
            raise UnusableMathml(f"its {name} holds {_format_name(_name(element[0]))}, no text alone")
        text = _BLANKS.sub(" ", element.text or "").strip(" ")
        return write_token(name, _attributes(element), text, element.get("mathvariant", ""))
    if "mathvariant" in element.attrib:
        raise UnusableMathml(f"MathML Core has no mathvariant for {_format_name(name)}")
    if name == "mspace":
        return _write_space(element)
    if name == "mtable":
        return _print_table(element, _read_table(element, depth))
    if name not in _ROWS and name not in _COUNTS:
        raise UnusableMathml(f"{_format_name(name)} is no element of MathML Core that formulas may have")
    children = [_write(child, depth + 1) for child in _content(element)]
    if name in _COUNTS and len(children) != _COUNTS[name]:
        raise UnusableMathml(f"its {name} has {len(children)} children, not {_COUNTS[name]}")
    return f"<{name}{_attributes(element)}>{''.join(children)}</{name}>"


def _write_space(element: Element) -> str:
    if len(element) or (element.text or "").strip():
        raise UnusableMathml("its mspace is not empty")
    width = _negative(element.get("width", ""))
    if width and len(element.attrib) == 1:
        # Chromium draws a negative `mspace` as none
        return f'<mrow style="margin-left:{width}"></mrow>'
    return f"<mspace{_attributes(element)}/>"


def _negative(width: str) -> str:
    found = length(width.strip()) or ""
    return found if found.startswith("-") else ""


def _read_table(element: Element, depth: int) -> ForeignTable:
    sides = element.get("columnalign", "").split()
    rows, aligned = [], []
    for row in _content(element):
        if _name(row) != "mtr":
            raise UnusableMathml(f"its table holds {_format_name(_name(row))}")
        _attributes(row)
        own = row.get("columnalign", "").split() or sides
        cells = list(_content(row))
        aligned.append([_side(cell, own, column) for column, cell in enumerate(cells)])
        rows.append("".join(_cell(cell, side, depth) for cell, side in zip(cells, aligned[-1], strict=True)))
    return ForeignTable(_look(aligned), tuple(rows))


def _side(cell: Element, sides: Sequence[str], column: int) -> str:
    """Where a cell's content stands: as it says itself, else as its column does."""
    return cell.get("columnalign", "") or (sides[min(column, len(sides) - 1)] if sides else "")


def _cell(cell: Element, side: str, depth: int) -> str:
    if _name(cell) != "mtd":
        raise UnusableMathml(f"a row of its table holds {_format_name(_name(cell))}")
    style = _SIDES.get(side)
    if style is None:
        raise UnusableMathml(f"its table is aligned by {side[:40]}")
    content = "".join(_write(child, depth + 2) for child in _content(cell))
    return f"<mtd{_attributes(cell)}{style}>{content}</mtd>"


def _look(aligned: Sequence[Sequence[str]]) -> str:
    """What kind of table it is, told by where its cells stand."""
    sides = {(column % 2, side) for row in aligned for column, side in enumerate(row)}
    if sides <= {(0, "right"), (1, "left")} and sides:
        return "math-align"
    if {side for _, side in sides} <= {"left"} and max(map(len, aligned), default=0) == 2:
        return "math-cases"
    return "math-matrix" if {side for _, side in sides} <= {""} else ""


def _print_table(element: Element, table: ForeignTable) -> str:
    look = f' class="{table.look}"' if table.look else ""
    rows = "".join(f"<mtr>{row}</mtr>" for row in table.rows)
    return f"<mtable{look}{_attributes(element)}>{rows}</mtable>"


def _format_name(name: str) -> str:
    """A name for a sentence, whatever it holds."""
    return f"<{name.rpartition('}')[2][:40]}>"
