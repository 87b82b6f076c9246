"""Line breaks in long inline formulas: after relations and binary operators, as in TeX.

Browsers never break a row. Therefore pieces that belong together become rows of their own, and the theme
allows breaks between these. The result is still one `<math>` with the same symbols in the same order. TeX
chooses breaks by penalties; browsers use the last one that fits. A worse kind of break is therefore added
only if the better ones leave a piece that does not fit a phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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

_TAG = lazy_pattern(r"<(/?)([a-z]+)([^<>]*?)(/?)>")
_OPERATOR = lazy_pattern(r"(?:<m(?:sub|sup|subsup|over|under|underover)( [^<>]*)?>)*<mo([^<>]*)>([^<]*)</mo>")
_SPACED_ROW = lazy_pattern(rf'<mrow><m.*<mspace width="({re.escape(THICK)}|{re.escape(MEDIUM)})"/></mrow>')
_GLUE = lazy_pattern(r'<mspace width="|<mrow style="margin-left|<mtext>\u00a0</mtext>')
_SPACE_LIKE = ("<mtext", "<mspace", '<mrow style="margin-left')
_SPACE = lazy_pattern(r'width="(-?[\d.]+)em"')
_SCRIPT = 0.7
_LETTERS_AN_EM = 2
_TOLERANCE = 1.25
"""Maximum width of a piece, as a multiple of the width that certainly fits."""
_SPACES: Mapping[int, float] = MappingProxyType({BIN: 1, REL: 1, PUNCT: 0.5})
"""Class → width in letters of the space around it."""
_FLAT = ("mi", "mn", "mtext")
_STACKS = ("mfrac", "munder", "mover", "munderover")
_SCRIPTS = ("msub", "msup", "msubsup", "mmultiscripts")


class _Piece(Struct, frozen=True):
    xml: str
    kind: int
    depth: int
    """Number of brackets open at its right end."""
    letters: float
    """Approximate width in letters."""


def group_lines(mathml: str, narrow: int) -> str:
    """Return `mathml` with rows between possible line breaks; empty if a piece is too wide.

    mathml: `<math>`, inside its link if it has one. narrow: approximate number of letters that certainly fit
    a phone.
    """
    start = mathml.find("<math ")
    end = mathml.rfind("</math>")
    inside = mathml.index(">", start) + 1
    groups = _groups(list(_read_pieces(mathml[inside:end])), narrow)
    if len(groups) < 2 or max(map(_width, groups)) > _TOLERANCE * narrow:
        return ""
    rows = "".join(f"<mrow>{''.join(_end_with_space(group))}</mrow>" for group in groups)
    opening = mathml[start:inside].replace("<math ", '<math class="math-lines" ', 1)
    return f"{mathml[:start]}{opening}{rows}{mathml[end:]}"


def _groups(pieces: list[_Piece], narrow: int) -> list[list[_Piece]]:
    """Return the pieces between breaks. Each level of `_LEVELS` breaks pieces that are still too wide."""
    groups = _split(pieces, (REL,), is_deep=False)
    for kinds, is_deep in _LEVELS:
        is_whole = len(groups) == 1
        groups = [
            part
            for group in groups
            for part in (_split(group, kinds, is_deep) if is_whole or _width(group) > narrow else [group])
        ]
    return groups


_LEVELS: Sequence[tuple[tuple[int, ...], bool]] = (
    ((BIN,), False),
    ((REL, BIN), True),
    ((PUNCT,), True),
)
"""Worse breaks than after a relation: classes before the break, and whether it may be inside brackets."""


def _split(pieces: list[_Piece], kinds: tuple[int, ...], is_deep: bool) -> list[list[_Piece]]:
    groups: list[list[_Piece]] = [[]]
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


def _width(pieces: Sequence[_Piece]) -> float:
    return sum(piece.letters for piece in pieces)


def _end_with_space(group: list[_Piece]) -> list[str]:
    """Return the pieces of a row as markup. An operator after text alone gets explicit spaces.

    MathML treats text as space and would place the operator next to it without a gap.
    """
    row = [piece.xml for piece in group]
    for index, piece in enumerate(group):
        if piece.kind in (BIN, REL) and all(xml.startswith(_SPACE_LIKE) for xml in row[:index]):
            row[index] = add_spaces(piece.kind, remove_spaces(piece.xml))
            break
    return row


def _read_pieces(markup: str) -> Iterator[_Piece]:
    depth = 0
    for xml in _children(markup):
        kind = _piece_class(xml)
        depth = max(0, depth + (kind == OPEN) - (kind == CLOSE))
        yield _Piece(xml, kind, depth, _letters(xml))


def _children(markup: str) -> Iterator[str]:
    """Yield the top-level elements of `markup`."""
    depth = start = 0
    for tag in _TAG.finditer(markup):
        closing, _, _, empty = tag.groups()
        if not depth:
            start = tag.start()
        depth += -1 if closing else 0 if empty else 1
        if not depth:
            yield markup[start : tag.end()]


def _piece_class(xml: str) -> int:
    """Return the class of a piece, derived from its spaces: operators made ordinary have none."""
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
    """Return the approximate width of an element in letters."""
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
    parts = [_letters(child) for child in _children(text)]
    if name in _STACKS:
        return max(parts, default=0)
    if name in _SCRIPTS and parts:
        return parts[0] + _SCRIPT * max(parts[1:], default=0)
    return max(parts, default=0) if name == "mtable" else sum(parts)
