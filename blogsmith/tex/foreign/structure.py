"""The structure of a formula's MathML: its content, independent of the converter.

A row is a tuple: strings for consecutive characters of the formula, and a tuple for each construct (scripts,
fractions, roots, tables). Spaces, sizes, groups, attributes and invisible operators are omitted. Two
converters that read a formula in the same way therefore give the same row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html.entities import html5
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

from ...base.patterns import lazy_pattern

Row = tuple[Any, ...]
"""Content of a row, in order: consecutive characters as one string, each construct as a tuple."""

_ROWS = frozenset(("math", "mrow", "mstyle", "mpadded", "mtd", "merror"))
_SCRIPTS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        **dict.fromkeys(("msub", "munder"), (1, 0)),
        **dict.fromkeys(("msup", "mover"), (0, 1)),
        **dict.fromkeys(("msubsup", "munderover"), (1, 2)),
    }
)
"""Element → indexes of the children that are its subscript and its superscript; 0 if it has none. Limits are
treated like scripts."""
_NAMED = lazy_pattern(r"&(?!amp;|lt;|gt;|quot;)(\w+;)")
_UNPRINTED = lazy_pattern("[\\s\u2061-\u2064\ufe00\ufe01]")
# the same accent as a spacing, a combining and a typed character
_ACCENTS = str.maketrans("\u0302^\u0303~\u0305\u0332_\u20d7", "ˆˆ˜˜‾‾‾→")
_SAME = str.maketrans("*·―^~∣", "∗⋅‾ˆ˜|")
"""Characters of latex2mathml → the characters that other converters write instead."""
_ITALIC = {0x1D434 + at: letter for at, letter in enumerate(ascii_uppercase + ascii_lowercase)} | {
    0x210E: "h"
}
"""Slanted Unicode letters → the plain letters, which MathML slants by default."""
_UPRIGHT = "upright "
"""Prefix of a single upright letter. Longer names are always upright and do not have the prefix."""
_MOST_SHOWN = 40


def read_structure(mathml: str) -> Row:
    """Return the row of one `<math>` element. It may contain character names of HTML such as `&alpha;`."""
    known = _NAMED.sub(lambda found: html5[found[1]], mathml).translate(_SAME).translate(_ITALIC)
    return _row(ElementTree.fromstring(known))


def first_difference(ours: Row, theirs: Row) -> tuple[str, str]:
    """Return the first parts of the rows `ours` and `theirs` that differ, as small as possible, as text."""
    for one, other in zip(ours, theirs, strict=False):
        if one == other:
            continue
        is_same_construct = isinstance(one, tuple) and isinstance(other, tuple) and one[0] == other[0]
        if is_same_construct and len(one) == len(other) and len(ours) == len(theirs):
            parts = zip(one[1:], other[1:], strict=True)
            return next(first_difference(a, b) for a, b in parts if a != b)
        break
    return _shown(ours), _shown(theirs)


def _shown(row: Row) -> str:
    text = _text(row)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if part and part[0] in _WRITTEN and all(isinstance(inner, tuple) for inner in part[1:]):
        return _WRITTEN[part[0]](*map(_text, part[1:]))
    return "".join(map(_text, part))


def _scripts_text(base: str, below: str, above: str) -> str:
    return base + (f"_({below})" if below else "") + (f"^({above})" if above else "")


_WRITTEN: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "scripts": _scripts_text,
        "fraction": lambda above, below: f"({above})/({below})",
        "stack": lambda above, below: f"{above} over {below}",
        "root": lambda inside, degree: f"√{f'[{degree}]' if degree else ''}({inside})",
        "table": lambda *rows: f"table({'; '.join(rows)})",
        "line": lambda *cells: ", ".join(cells),
    }
)
"""Name of a construct → function that returns it as text. Its arguments are the parts as text."""


def _row(element: ElementTree.Element) -> Row:
    """Return the row of the children of `element`."""
    return _joined([part for child in element for part in _parts(child)])


def _single(element: ElementTree.Element) -> Row:
    """Return the row that consists only of `element` itself."""
    return _joined(_parts(element))


def _joined(parts: list[Any]) -> Row:
    joined: list[Any] = []
    for part in _with_names(parts):
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _with_names(parts: list[Any]) -> Iterator[Any]:
    """Yield `parts`, with consecutive upright letters joined to one name, even if from several elements."""
    for is_upright, group in groupby(parts, lambda part: isinstance(part, str) and part.startswith(_UPRIGHT)):
        found = list(group)
        if is_upright and len(found) > 1:
            found = ["".join(letter.removeprefix(_UPRIGHT) for letter in found)]
        yield from found


def _parts(element: ElementTree.Element) -> list[Any]:
    tag, children = element.tag, list(element)
    if tag in _ROWS:
        return list(_row(element))
    if tag in _SCRIPTS:
        below, above = (_single(children[at]) if at else () for at in _SCRIPTS[tag])
        if element.get("accent") or element.get("accentunder"):
            below, above = (tuple(sign.translate(_ACCENTS) for sign in side) for side in (below, above))
        base = _single(children[0])
        return [("scripts", base, below, above)] if below or above else list(base)
    if tag == "mfrac":
        kind = "stack" if element.get("linethickness", "1")[0] == "0" else "fraction"
        return [(kind, _single(children[0]), _single(children[1]))]
    if tag == "mroot":
        return [("root", _single(children[0]), _single(children[1]))]
    if tag == "msqrt":
        return [("root", _row(element), ())]
    if tag == "mtable" and len(element) == len(element[0]) == 1:
        return list(_row(element[0][0]))
    if tag == "mtable":
        return [("table", *(("line", *(_row(cell) for cell in line)) for line in element))]
    return _sign(element)


def _sign(element: ElementTree.Element) -> list[Any]:
    text = _UNPRINTED.sub("", "".join(element.itertext()))
    is_upright = element.get("mathvariant") == "normal" and len(text) == 1 and text.isalpha()
    return [f"{_UPRIGHT}{text}" if is_upright else text] if text else []
