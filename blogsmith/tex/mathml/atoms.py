"""Atoms: a class and one MathML element, with the space that TeX sets around it.

TeX sets the space between two atoms by their classes (TeXbook, appendix G and chapter 18). MathML sets it
by each operator's entry in the operator dictionary (MathML Core, appendix B), so a sign whose entry says
something else than TeX gets its spaces written out. In scripts TeX leaves the spaces away: `tight`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from ...base.patterns import lazy_pattern

# The order matters: two neighbours with `left | right <= NONE` need no thought.
ORD, OPEN, CLOSE, NONE, BIN, REL, PUNCT, INNER, INTEGRAL, LIMITS, FUNCTION, LIMIT_FUNCTION = range(12)
"""Atom classes; NONE: nothing stands before. From INTEGRAL on they are operators."""
GLUE = -1
"""Class of mere space, which does not part two atoms from each other."""

Atom = tuple[int, str]
"""Class, and one MathML element."""

THIN, MEDIUM, THICK = ".1667em", ".2222em", ".2778em"
SIDES: Mapping[int, tuple[str, str]] = MappingProxyType(
    {BIN: (MEDIUM, MEDIUM), REL: (THICK, THICK), PUNCT: ("0", THIN)}
)
"""Class → space in front and behind, outside of scripts."""

# whose entry in the dictionary has TeX's spaces
DICTIONARY_BINARY = frozenset("+−±∓∩∪∧∨")
DICTIONARY_RELATIONS = frozenset("=<>∈∉∋≈≃≅≡≤≥≪≫∼∝≠⊂⊃⊆⊇≺≻⊢")
DICTIONARY_OPENING = frozenset("([{⌈⌊⟨⟦⟪⟮")
DICTIONARY_CLOSING = frozenset(")]}⌉⌋⟩⟧⟫⟯!")
_ARROWS = lazy_pattern("[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f]")
UPRIGHT = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ∇")
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_FIRST_MO = lazy_pattern(r"<mo(?=[ >])([^>]*)>")
_EMBELLISHED = lazy_pattern(r"(?:<m(?:sub|sup|subsup|over|under|underover)(?: [^<>]*)?>)*<mo[ >]")
_SPACED = lazy_pattern(r' [lr]space="[^"]*"')
# what `with_spaces` has made; an author's own spaces are written with a zero in front
_ROW_SPACE = r'<mspace width="\.(?:1667|2222|2778)em"/>'
_SPACED_ROW = lazy_pattern(rf"<mrow>(?>({_ROW_SPACE})?)(.*?)(?>({_ROW_SPACE})?)</mrow>", re.DOTALL)
_SHORT = 200
"""Characters of markup that is kept for the next time."""


def escape(text: str) -> str:
    """`text` for the inside of an element."""
    return text.translate(_ESCAPES)


def is_operator(xml: str) -> bool:
    """Whether `xml` is an operator by itself."""
    return xml.startswith(("<mo>", "<mo "))


def is_embellished(xml: str) -> bool:
    """Whether `xml` is an operator, with scripts or not (MathML Core, 3.2.4.2)."""
    return _EMBELLISHED.match(xml) is not None


def add_attribute(xml: str, attribute: str) -> str:
    """`xml`, an operator, with one more attribute, unless it has that already."""
    return xml if attribute in xml.partition(">")[0] else xml.replace("<mo", f"<mo {attribute}", 1)


def tight(xml: str) -> str:
    """`xml` with no space around its operator."""
    return _tight(xml) if len(xml) < _SHORT else _tight.__wrapped__(xml)


@lru_cache(4096)
def _tight(xml: str) -> str:
    if row := _spaced_row(xml):
        return row[2]
    return _FIRST_MO.sub(lambda m: f'<mo{_SPACED.sub("", m[1])} lspace="0" rspace="0">', xml, count=1)


def without_space(xml: str, side: str) -> str:
    """`xml` with no space on one side of its operator. side: `l` or `r`."""
    return _without_space(xml, side) if len(xml) < _SHORT else _without_space.__wrapped__(xml, side)


@lru_cache(4096)
def _without_space(xml: str, side: str) -> str:
    if row := _spaced_row(xml):
        start, end = ("", row[3]) if side == "l" else (row[1], "")
        return f"<mrow>{start or ''}{row[2]}{end or ''}</mrow>" if start or end else row[2]
    name = f"{side}space"
    pattern = re.compile(rf' {name}="[^"]*"')
    return _FIRST_MO.sub(lambda m: f'<mo{pattern.sub("", m[1])} {name}="0">', xml, count=1)


def _spaced_row(xml: str) -> re.Match[str] | None:
    """The space in front, what stands between, and the space behind, if that is what `xml` is."""
    row = _SPACED_ROW.fullmatch(xml) if xml.startswith("<mrow>") else None
    return row if row and (row[1] or row[3]) else None


def with_spaces(kind: int, xml: str) -> str:
    """`xml`, which is more than one sign, with the spaces of its class on both sides."""
    if kind not in SIDES:
        return xml
    before, behind = SIDES[kind]
    start = f'<mspace width="{before}"/>' if before != "0" else ""
    return f'<mrow>{start}{xml}<mspace width="{behind}"/></mrow>'


def operator(kind: int, sign: str) -> str:
    """`sign` as an operator of that class, spaced as TeX does outside scripts."""
    attributes = ""
    if kind == BIN and sign not in DICTIONARY_BINARY:
        attributes = f' lspace="{MEDIUM}" rspace="{MEDIUM}"'
    elif kind == REL and sign not in DICTIONARY_RELATIONS:
        attributes = f' lspace="{THICK}" rspace="{THICK}"'
    elif kind == PUNCT and sign not in ",;":
        attributes = f' lspace="0" rspace="{THIN}"'
    elif kind == OPEN:
        attributes = "" if sign in DICTIONARY_OPENING else ' form="prefix" lspace="0" rspace="0"'
    elif kind == CLOSE:
        attributes = "" if sign in DICTIONARY_CLOSING else ' form="postfix" lspace="0" rspace="0"'
    if (kind in (OPEN, CLOSE) and sign not in "!?") or _ARROWS.match(sign) or (kind == REL and sign in "∣∥|"):
        attributes += ' stretchy="false"'
    return f"<mo{attributes}>{escape(sign)}</mo>"


def identifier(sign: str) -> str:
    """`sign` as a letter or a sign that has no spaces."""
    variant = ' mathvariant="normal"' if sign in UPRIGHT else ""
    return f"<mi{variant}>{escape(sign)}</mi>"


def atom_of_character(character: str) -> Atom:
    """A character that no table has, by what Unicode says of it."""
    category = unicodedata.category(character)
    if category == "Nd":
        return ORD, f"<mn>{character}</mn>"
    if category == "Sm" or _ARROWS.match(character):
        return REL, operator(REL, character)
    if category in ("Ps", "Pi"):
        return OPEN, operator(OPEN, character)
    if category in ("Pe", "Pf"):
        return CLOSE, operator(CLOSE, character)
    return ORD, identifier(character) if category[0] == "L" else f"<mtext>{escape(character)}</mtext>"
