"""MathML of other converters, parsed as XML and rewritten as markup that passes the allowlist of our own
formulas.

Only known markup is written: elements of MathML Core that typeset something, with the right number of
children, and attributes that `core_attributes` accepts. If there is anything else, the formula is rejected
with the reason. The XML parser receives no declarations, no custom entities and no unlimited depth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from html.entities import html5
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..errors import UnusableMathmlError
from ..mathml.alphabets import MathAlphabet, letters
from ..parse.colors import NAMES
from ..parse.lengths import css

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_MARKUP = 1_000_000
"""Maximum number of characters in one formula's markup."""
MAX_DEPTH = 150
"""Maximum depth of nested elements, lower than the limit for our own markup."""
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_ENTITY = lazy_pattern(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")
_LEADING = lazy_pattern(r"<(/?)[A-Za-z][^<>]*?(/?)>")
_WHITESPACE = lazy_pattern(r"[ \t\r\n]+")
"""White space of XML; a no-break space is a visible character."""
_TOKENS = frozenset({"mi", "mn", "mo", "mtext"})
_ROWS = frozenset({"mrow", "mstyle", "mpadded", "mphantom", "msqrt"})
_COUNTS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
        **dict.fromkeys(("msubsup", "munderover"), 3),
    }
)
"""Element → number of its children."""
_MATH_ATTRIBUTES = frozenset({"display", "alttext", "overflow", "altimg", "dir"})
"""Attributes of `<math>` that are dropped, because we write our own."""
_SIDES: Mapping[str, str] = MappingProxyType(
    {
        "left": ' style="text-align:left;justify-items:left"',
        "right": ' style="text-align:right;justify-items:right"',
        "center": "",
        "": "",
    }
)


class ForeignTable(Struct, frozen=True):
    """A formula that consists of one table."""

    css_class: str
    """CSS class, which determines the spacing in the theme."""
    rows: tuple[str, ...]
    """Markup of each row: its `<mtd>` elements."""


class ForeignFormula(Struct, frozen=True):
    """A formula of another converter, in markup that a page may contain."""

    content: str
    """Markup of the content of `<math>`."""
    table: ForeignTable | None = None
    """The content as a table, so that its rows can have numbers; None if it is not a single table."""


def read_mathml(markup: str) -> ForeignFormula:
    """Return the formula in `markup`, one `<math>` element.

    UnusableMathmlError if a page may not contain it.
    """
    root = _parse(markup)
    if _name(root) != "math":
        raise UnusableMathmlError("it is not a <math> element")
    _attributes(root, leave_out=_MATH_ATTRIBUTES)
    children = list(_content(root))
    # a row around the whole formula is redundant, and would prevent line breaks
    while len(children) == 1 and _name(children[0]) == "mrow" and not children[0].attrib:
        children = list(_content(children[0]))
    if len(children) == 1 and _name(children[0]) == "mtable":
        table = _read_table(children[0], 1)
        return ForeignFormula(_print_table(children[0], table), table)
    content = "".join(_write(child, 1) for child in children)
    if not content:
        raise UnusableMathmlError("it is empty")
    return ForeignFormula(content)


def _parse(markup: str) -> Element:
    if len(markup) > MAX_MARKUP:
        raise UnusableMathmlError(f"its markup is too long: {len(markup):,} characters")
    if "<!" in markup or "<?" in markup:
        raise UnusableMathmlError("its markup contains declarations or comments")
    _check_depth(markup)
    from xml.etree import ElementTree

    try:
        return ElementTree.fromstring(_ENTITY.sub(_named_sign, markup))
    except (ElementTree.ParseError, ValueError) as error:
        # omit line and column, which differ from formula to formula
        raise UnusableMathmlError(f"its markup is not valid XML: {str(error).partition(':')[0]}") from None


def _check_depth(markup: str) -> None:
    depth = 0
    for closing, empty in _LEADING.findall(markup):
        depth += -1 if closing else 0 if empty else 1
        if depth > MAX_DEPTH:
            raise UnusableMathmlError("it is nested too deeply")


def _named_sign(found: re.Match[str]) -> str:
    return html5.get(found[1], found[0]).replace("&", "&amp;").replace("<", "&lt;")


def _name(element: Element) -> str:
    """Return the element's name without the MathML namespace. A name in another namespace is returned with
    it, and is therefore unknown."""
    return element.tag.removeprefix(_NAMESPACE)


def _content(element: Element) -> Iterator[Element]:
    """Yield the child elements. UnusableMathmlError if there is text between them."""
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise UnusableMathmlError(f"its {_format_name(_name(element))} contains text")
    for child in element:
        if _name(child) == "semantics" and len(child):
            # annotations repeat the formula in another notation
            yield from [child[0]]
        else:
            yield child


def _attributes(element: Element, leave_out: frozenset[str] = frozenset()) -> str:
    given = [pair for pair in element.items() if pair[0] not in leave_out and pair[0] != "mathvariant"]
    return core_attributes(_name(element), given)


def _write(element: Element, depth: int) -> str:
    name = _name(element)
    if depth > MAX_DEPTH:
        raise UnusableMathmlError("it is nested too deeply")
    if name in _TOKENS:
        if len(element):
            raise UnusableMathmlError(
                f"its {name} contains {_format_name(_name(element[0]))} instead of text"
            )
        text = _WHITESPACE.sub(" ", element.text or "").strip(" ")
        return write_token(name, _attributes(element), text, element.get("mathvariant", ""))
    if "mathvariant" in element.attrib:
        raise UnusableMathmlError(f"MathML Core has no mathvariant for {_format_name(name)}")
    if name == "mspace":
        return _write_space(element)
    if name == "mtable":
        return _print_table(element, _read_table(element, depth))
    if name not in _ROWS and name not in _COUNTS:
        raise UnusableMathmlError(f"{_format_name(name)} is not a supported element of MathML Core")
    children = [_write(child, depth + 1) for child in _content(element)]
    if name in _COUNTS and len(children) != _COUNTS[name]:
        raise UnusableMathmlError(f"its {name} has {len(children)} children, expected {_COUNTS[name]}")
    return f"<{name}{_attributes(element)}>{''.join(children)}</{name}>"


def _write_space(element: Element) -> str:
    if len(element) or (element.text or "").strip():
        raise UnusableMathmlError("its mspace is not empty")
    width = _negative(element.get("width", ""))
    if width and len(element.attrib) == 1:
        # Chromium ignores a negative `mspace`
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
            raise UnusableMathmlError(f"its table contains {_format_name(_name(row))}")
        _attributes(row)
        own = row.get("columnalign", "").split() or sides
        cells = list(_content(row))
        aligned.append([_side(cell, own, column) for column, cell in enumerate(cells)])
        rows.append("".join(_cell(cell, side, depth) for cell, side in zip(cells, aligned[-1], strict=True)))
    return ForeignTable(_look(aligned), tuple(rows))


def _side(cell: Element, sides: Sequence[str], column: int) -> str:
    """Return the alignment of a cell: its own alignment, or the alignment of its column."""
    return cell.get("columnalign", "") or (sides[min(column, len(sides) - 1)] if sides else "")


def _cell(cell: Element, side: str, depth: int) -> str:
    if _name(cell) != "mtd":
        raise UnusableMathmlError(f"a row of its table contains {_format_name(_name(cell))}")
    style = _SIDES.get(side)
    if style is None:
        raise UnusableMathmlError(f'its table has the unknown alignment "{side[:40]}"')
    content = "".join(_write(child, depth + 2) for child in _content(cell))
    return f"<mtd{_attributes(cell)}{style}>{content}</mtd>"


def _look(aligned: Sequence[Sequence[str]]) -> str:
    """Return the CSS class of a table, derived from the alignment of its cells."""
    sides = {(column % 2, side) for row in aligned for column, side in enumerate(row)}
    if sides <= {(0, "right"), (1, "left")} and sides:
        return "math-align"
    if {side for _, side in sides} <= {"left"} and max(map(len, aligned), default=0) == 2:
        return "math-cases"
    return "math-matrix" if {side for _, side in sides} <= {""} else ""


def _print_table(element: Element, table: ForeignTable) -> str:
    look = f' class="{table.css_class}"' if table.css_class else ""
    rows = "".join(f"<mtr>{row}</mtr>" for row in table.rows)
    return f"<mtable{look}{_attributes(element)}>{rows}</mtable>"


def _format_name(name: str) -> str:
    return f"<{name.rpartition('}')[2][:40]}>"


# Converts attributes of foreign MathML to attributes of MathML Core. Each value is parsed and written again.
# Nothing is passed through: a value is a flag, a number, a length, a colour, or one of a few keywords.
# Attributes that no page shows are omitted. Attributes that Core cannot express, such as lines in a table,
# make the formula unusable, because a page would show something else. Source: MathML Core (W3C), sections 2.1
# to 3.5; MathML 3 for omitted attributes.


Read = Callable[[str], str | None]
"""Function from the value of an attribute to the value that we write. "" omits the attribute; None means that
MathML Core cannot express the value."""

_LENGTH = lazy_pattern(r"([-+]?)(\d+\.?\d*|\.\d+)(em|ex|px|pt|pc|cm|mm|in|mu|%|)")
_HEX = lazy_pattern(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_LEVEL = lazy_pattern(r"[-+]?\d")
_COUNT = lazy_pattern(r"[1-9]\d?")
_SPACE_NAMES = ("veryverythin", "verythin", "thin", "medium", "thick", "verythick", "veryverythick")
_SPACES: Mapping[str, int] = MappingProxyType(
    {
        f"{prefix}{name}mathspace": sign * eighteenths
        for prefix, sign in (("", 1), ("negative", -1))
        for eighteenths, name in enumerate(_SPACE_NAMES, 1)
    }
)
"""Named spaces, MathML 3 section 2.1.5.2 → eighteenths of an em."""
_DANGEROUS = name_set("action actiontype class formaction href id src style target")


def _flag(value: str) -> str | None:
    return value if value in ("true", "false") else None


def _color(value: str) -> str | None:
    """Return a colour as a hexadecimal CSS colour; None if it is unknown. Capitalised names are those of
    dvips, other names those of CSS."""
    return value.lower() if _HEX.fullmatch(value) else NAMES.get(value) or NAMES.get(value.lower())


def length(value: str) -> str | None:
    """Return a length as CSS, also a negative one; None if it is invalid or relative to another length."""
    if value in _SPACES:
        return css(_SPACES[value] / 18)
    found = _LENGTH.fullmatch(value)
    # with a plus sign, `mpadded` of MathML 3 adds to the existing size
    if found is None or found[1] == "+" or len(value) > 12:
        return None
    sign, number, unit = found.groups()
    if not float(number):
        return "0"
    if unit == "mu":
        return sign + css(float(number) / 18)
    return f"{sign}{number}{unit}" if unit else None


def _size(value: str) -> str | None:
    """Return a length as CSS; None if it is invalid or negative."""
    found = length(value)
    return None if found is None or found.startswith("-") else found


def _omit(value: str) -> str:
    """Return an empty string, which omits an attribute without visible effect."""
    return ""


def _no_lines(value: str) -> str | None:
    return "" if set(value.split()) <= {"none"} else None


_GLOBAL_ATTRIBUTES: Mapping[str, Read] = MappingProxyType(
    {
        "displaystyle": _flag,
        "scriptlevel": lambda value: value if _LEVEL.fullmatch(value) else None,
        "mathcolor": _color,
        "mathbackground": _color,
        "mathsize": _size,
        # `movablelimits` of the operator decides instead
        "movablelimits": _omit,
    }
)
_SCRIPT_ATTRIBUTES: Mapping[str, Read] = MappingProxyType({"accent": _flag, "accentunder": _flag})
_ELEMENT_ATTRIBUTES: Mapping[str, Mapping[str, Read]] = MappingProxyType(
    {
        "mo": {
            **dict.fromkeys(("fence", "stretchy", "symmetric", "largeop", "movablelimits"), _flag),
            **dict.fromkeys(("lspace", "rspace"), length),
            **dict.fromkeys(("minsize", "maxsize"), _size),
            **dict.fromkeys(("accent", "separator"), _omit),
            "form": lambda value: value if value in ("prefix", "infix", "postfix") else None,
        },
        "mspace": dict.fromkeys(("width", "height", "depth"), _size),
        "mpadded": {
            **dict.fromkeys(("width", "height", "depth"), _size),
            **dict.fromkeys(("lspace", "voffset"), length),
        },
        "mfrac": {"linethickness": _size},
        **dict.fromkeys(("munder", "mover", "munderover"), _SCRIPT_ATTRIBUTES),
        "mtable": {
            **dict.fromkeys(("rowspacing", "columnspacing", "columnalign"), _omit),
            **dict.fromkeys(("rowlines", "columnlines", "frame"), _no_lines),
        },
        "mtr": {"columnalign": _omit},
        "mtd": {"columnspan": lambda value: value if _COUNT.fullmatch(value) else None, "columnalign": _omit},
    }
)


def core_attributes(element: str, given: Iterable[tuple[str, str]]) -> str:
    """Return the attributes of an element as written to a page, each with a space before it.

    given: all attributes except `mathvariant`, in any order. UnusableMathmlError if one is unsafe, or not in
    MathML Core.
    """
    known = {**_GLOBAL_ATTRIBUTES, **_ELEMENT_ATTRIBUTES.get(element, {})}
    written = []
    for name, value in sorted(given):
        read = known.get(name)
        if read is None:
            raise UnusableMathmlError(_attribute_problem(element, name))
        found = read(value.strip())
        if found is None:
            raise UnusableMathmlError(f'MathML Core has no {name}="{value[:40]}" for {element}')
        if found:
            written.append(f' {name}="{found}"')
    return "".join(written)


def _attribute_problem(element: str, name: str) -> str:
    plain = name.rpartition("}")[2].lower()
    if "}" in name or plain in _DANGEROUS or plain.startswith(("on", "data")):
        return f'its {element} has the attribute "{plain}", which is not allowed'
    return f"MathML Core has no {plain[:40]} for {element}"


# Letters, numbers, operators and text of foreign MathML, in fonts for which MathML Core has no attribute.
# Core supports `mathvariant` only with `normal`. Letters in another font are Unicode characters of their own,
# as in our formulas. Text in another font is HTML, because search engines and screen readers do not read math
# letters as words.


_FACES: Mapping[str, MathAlphabet] = MappingProxyType(
    {
        "bold": "bf",
        "italic": "it",
        "bold-italic": "bi",
        "double-struck": "bb",
        "script": "cal",
        "bold-script": "bcal",
        "fraktur": "frak",
        "bold-fraktur": "bfrak",
        "sans-serif": "sf",
        "bold-sans-serif": "bsf",
        "sans-serif-italic": "sfit",
        "sans-serif-bold-italic": "bsfit",
        "monospace": "tt",
    }
)
_SLANTED = frozenset({"it", "bi", "sfit", "bsfit"})
_TEXT_ELEMENTS: Mapping[str, str] = MappingProxyType({"bold": "b", "italic": "i", "monospace": "code"})
_COMMAND = lazy_pattern(r"\\(?:[A-Za-z]+|[^\sA-Za-z])")
"""Matches a TeX command that the other converter did not understand and prints as text."""


def write_token(name: str, attributes: str, text: str, variant: str) -> str:
    """Return a token element such as `<mi>`. variant: its `mathvariant`, or empty.

    UnusableMathmlError if MathML Core cannot express it.
    """
    if raw := _COMMAND.search(text):
        raise UnusableMathmlError(f"it prints {raw[0][:40]} as text")
    shown = escape(text, quote=False)
    if variant in ("", "normal"):
        # `normal` keeps a single letter upright; for other text it has no effect
        upright = ' mathvariant="normal"' if variant and name == "mi" and len(text) == 1 else ""
        return f"<{name}{upright}{attributes}>{shown}</{name}>"
    if name == "mtext":
        html = _TEXT_ELEMENTS.get(variant)
        if html is None:
            raise _no_face(variant)
        return f"<mtext{attributes}><{html}>{shown}</{html}></mtext>"
    face = _FACES.get(variant)
    if face is None:
        raise _no_face(variant)
    shown = "".join(_letters(face).get(sign, sign) for sign in shown)
    is_plain = name == "mi" and shown == text and len(text) == 1 and face not in _SLANTED
    upright = ' mathvariant="normal"' if is_plain else ""
    return f"<{name}{upright}{attributes}>{shown}</{name}>"


@lru_cache(maxsize=32)
def _letters(face: MathAlphabet) -> Mapping[str, str]:
    return MappingProxyType(letters(face))


def _no_face(variant: str) -> UnusableMathmlError:
    return UnusableMathmlError(f'MathML Core has no mathvariant="{variant[:40]}"')
