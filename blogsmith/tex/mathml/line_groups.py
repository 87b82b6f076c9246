"""Line breaks in long inline formulas: after relations and binary operators, as in TeX.

Browsers never break a row. Therefore pieces that belong together become rows of their own, and the theme
allows breaks between these. The result is still one `<math>` with the same symbols in the same order. TeX
chooses breaks by penalties; browsers use the last one that fits. A worse kind of break is therefore added
only if the better ones leave a piece that does not fit a phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from types import MappingProxyType

from msgspec import Struct

from ...base.patterns import lazy_pattern
from .atoms import (
    BIN,
    CLOSE,
    DICTIONARY_BINARY,
    DICTIONARY_CLOSING,
    DICTIONARY_OPENING,
    DICTIONARY_RELATIONS,
    MEDIUM,
    OPEN,
    ORD,
    PUNCT,
    REL,
    THICK,
    THIN,
    add_spaces,
    remove_spaces,
)
from .widths import MeasuredElement

_LEAF = r"<m[ion](?: [^<>]*)?>[^<]*+</m[ion]>|<mspace[^<>]*/>"
_FLAT_ROW = rf"<m[a-z]+(?>(?: [^<>]*)?)(?<!/)>(?>(?:{_LEAF})*)</m[a-z]+>"
# an element that contains no others or only flat ones, or one tag
_PART = lazy_pattern(
    rf"{_LEAF}|<m[a-z]+(?>(?: [^<>]*)?)(?<!/)>(?>(?:{_LEAF}|{_FLAT_ROW})*)</m[a-z]+>|<(/)?[^<>]*?(/)?>"
)
_TAG = lazy_pattern(r"<(/?)([a-z]+)([^<>]*?)(/?)>")
_OPERATOR = lazy_pattern(
    r"(?:<m(?:sub|sup|subsup|over|under|underover)( [^<>]*)?>(?:<mrow>(?=<mo[^<>]*>[^<]*</mo></mrow>))?)*"
    r"<mo([^<>]*)>([^<]*)</mo>"
)
_SPACED_ROW = lazy_pattern(rf'<mrow><m.*<mspace width="({re.escape(THICK)}|{re.escape(MEDIUM)})"/></mrow>')
_GLUE = lazy_pattern(r'<mspace width="|<mrow style="margin-left|<mtext>\u00a0</mtext>')
_SPACE_LIKE = ("<mtext", "<mspace", '<mrow style="margin-left')
_SPACE = lazy_pattern(r'width="(-?[\d.]+)em"')
_SCRIPT = 0.7
_LETTERS_AN_EM = 2
_TOLERANCE = 1.25
"""Maximum width of a piece, as a multiple of the width that certainly fits a phone."""
_SPACES: Mapping[int, float] = MappingProxyType({BIN: 1, REL: 1, PUNCT: 0.5})
"""Atom class → width of the space around an atom of this class, in letters."""
_FLAT = ("mi", "mn", "mtext")
_STACKS = ("mfrac", "munder", "mover", "munderover")
_SCRIPTS = ("msub", "msup", "msubsup", "mmultiscripts")


class LinePiece(Struct, frozen=True, gc=False):
    """An element of a formula that stays on one line."""

    xml: str
    kind: int
    depth: int
    """Number of brackets that are open after the element."""
    width: float
    """Approximate width: in letters for inline formulas, in em for displays."""
    children: Sequence[MeasuredElement] = ()
    """Child elements; empty in inline formulas."""


def group_lines(mathml: str, narrow: int) -> str:
    """Return `mathml` with rows between possible line breaks; empty if a piece is too wide.

    mathml: `<math>`, inside its link if it has one. narrow: approximate number of letters that certainly fit
    a phone.
    """
    start = mathml.find("<math ")
    end = mathml.rfind("</math>")
    inside = mathml.index(">", start) + 1
    elements = [MeasuredElement(xml, _letters(xml)) for xml in children(mathml[inside:end])]
    groups = split_wide(split_relations(list(read_pieces(elements))), narrow)
    if len(groups) < 2 or max(map(group_width, groups)) > _TOLERANCE * narrow:
        return ""
    rows = "".join(map(print_group, groups))
    opening = mathml[start:inside].replace("<math ", '<math class="math-lines" ', 1)
    return f"{mathml[:start]}{opening}{rows}{mathml[end:]}"


def split_relations(pieces: list[LinePiece]) -> list[list[LinePiece]]:
    """Split the pieces after each relation that is outside brackets."""
    return _split(pieces, (REL,), is_deep=False)


def split_wide(groups: Sequence[list[LinePiece]], narrow: float) -> list[list[LinePiece]]:
    """Split the groups that are wider than `narrow`, by each level of `_LEVELS` in turn."""
    found = list(groups)
    for kinds, is_deep in _LEVELS:
        is_whole = len(found) == 1
        found = [
            part
            for group in found
            for part in (
                _split(group, kinds, is_deep) if is_whole or group_width(group) > narrow else [group]
            )
        ]
    return found


_LEVELS: Sequence[tuple[tuple[int, ...], bool]] = (((BIN,), False), ((REL, BIN), True), ((PUNCT,), True))
"""Breaks worse than after a relation: classes of atoms to break after; whether also inside brackets."""


def _split(pieces: list[LinePiece], kinds: tuple[int, ...], is_deep: bool) -> list[list[LinePiece]]:
    groups: list[list[LinePiece]] = [[]]
    is_at_break = False
    for piece in pieces:
        if is_at_break and not _GLUE.match(piece.xml):
            groups.append([])
            is_at_break = False
        groups[-1].append(piece)
        # a relation alone at the start stays with the following piece
        if piece.kind in kinds and (is_deep or not piece.depth) and len(groups[-1]) > 1:
            is_at_break = True
    return groups


def group_width(pieces: Sequence[LinePiece]) -> float:
    """Return the width of pieces in a row."""
    return sum([piece.width for piece in pieces])


def print_group(group: list[LinePiece]) -> str:
    """Return the row that contains the pieces."""
    return _print_row([piece.xml for piece in group], (piece.kind for piece in group))


def print_elements(elements: Sequence[MeasuredElement]) -> str:
    """Return the row that contains the elements, without breaks."""
    row = [element.xml for element in elements]
    return _print_row(row, map(_piece_class, row))


def _print_row(row: list[str], kinds: Iterable[int]) -> str:
    """Return a row of markup. An operator after text alone gets explicit spaces.

    MathML treats text as space and would place the operator next to it without a gap.
    """
    for index, kind in enumerate(kinds):
        if kind in (BIN, REL):
            row[index] = add_spaces(kind, remove_spaces(row[index]))
            break
        if not row[index].startswith(_SPACE_LIKE):
            break
    return f"<mrow>{''.join(row)}</mrow>"


def read_pieces(elements: Iterable[MeasuredElement]) -> Iterator[LinePiece]:
    """Yield the elements of a row with their classes and the depth of brackets."""
    depth = 0
    for element in elements:
        kind = _piece_class(element.xml)
        depth = max(0, depth + (kind == OPEN) - (kind == CLOSE))
        yield LinePiece(element.xml, kind, depth, element.width, element.children)


def children(markup: str) -> Iterator[str]:
    """Yield the top-level elements of `markup`."""
    depth = start = 0
    for found in _PART.finditer(markup):
        if not depth:
            start = found.start()
        if found[1]:
            depth -= 1
        elif not found[2] and "</" not in found[0]:
            depth += found[0][-2:] != "/>"
        if not depth:
            yield markup[start : found.end()]


@lru_cache(4096)
def _piece_class(xml: str) -> int:
    """Return the atom class of a piece, derived from its spaces. An operator made ordinary has none."""
    found = _OPERATOR.match(xml)
    if found is None:
        row = _SPACED_ROW.fullmatch(xml)
        return ORD if row is None else REL if row[1] == THICK else BIN
    look, attributes, sign = found[1] or "", found[2], unescape(found[3])
    if 'form="prefix"' in attributes or sign in DICTIONARY_OPENING:
        return OPEN
    if ('form="postfix"' in attributes or sign in DICTIONARY_CLOSING) and sign not in "!?":
        return CLOSE
    if 'rspace="0"' in attributes:
        return ORD
    if sign in DICTIONARY_RELATIONS or f'rspace="{THICK}"' in attributes or "math-xarrow" in look:
        return REL
    if sign in DICTIONARY_BINARY or f'rspace="{MEDIUM}"' in attributes:
        return BIN
    return PUNCT if sign in ",;" or f'rspace="{THIN}"' in attributes else ORD


def _letters(xml: str) -> float:
    opening = _TAG.match(xml)
    if opening is None:
        return 0
    name = opening[2]
    if name == "mspace":
        width = _SPACE.search(xml)
        return _LETTERS_AN_EM * float(width[1]) if width else 0
    text = xml[opening.end() : xml.rfind("</")]
    if name == "mo":
        return len(unescape(text)) + _SPACES.get(_piece_class(xml), 0)
    if name in _FLAT:
        return len(unescape(_TAG.sub("", text)))
    parts = [_letters(child) for child in children(text)]
    if name in _STACKS:
        return max(parts, default=0)
    if name in _SCRIPTS and parts:
        return parts[0] + _SCRIPT * max(parts[1:], default=0)
    return max(parts, default=0) if name == "mtable" else sum(parts)
