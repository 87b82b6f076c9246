"""Space between two atoms, by TeX's table (TeXbook, chapter 18).

MathML's operators bring their own space. Where TeX has less the piece is changed, where it has more a space
is put in front of the next one.
"""

from __future__ import annotations

from .atoms import (
    BIN,
    CLOSE,
    FUNCTION,
    INNER,
    INTEGRAL,
    LIMITS,
    NONE,
    OPEN,
    ORD,
    PUNCT,
    REL,
    THIN,
    Atom,
    tight,
    without_space,
)

THIN_SPACE = f'<mspace width="{THIN}"/>'
_APPLY = "<mo>\u2061</mo>"
"""Between a function and what it is applied to: invisible, read aloud as "of"."""


def trimmed(out: list[str], last: int) -> list[str]:
    """`out` without the space behind its last piece, which has the class `last`."""
    if out:
        if last == BIN:
            out[-1] = tight(out[-1])
        elif last in (REL, PUNCT, INTEGRAL, LIMITS):
            out[-1] = without_space(out[-1], "r")
    return out


def spaced(out: list[str], previous: int, atom: Atom, in_script: bool) -> Atom:
    """`atom` with class and space as they are behind `out`, whose last piece has the class `previous`."""
    kind, xml = atom
    if kind == BIN:
        if previous == OPEN or (previous >= NONE and previous != INNER):
            kind, xml = ORD, tight(xml)
    elif previous == BIN and kind in (REL, CLOSE, PUNCT):
        out[-1] = tight(out[-1])
    if previous >= INTEGRAL:
        return kind, _behind_operator(out, previous, kind, xml)
    if kind == REL:
        if previous == REL:
            out[-1] = without_space(out[-1], "r")
        if previous in (REL, NONE, OPEN):
            xml = without_space(xml, "l")
    elif previous == REL and kind in (CLOSE, PUNCT):
        out[-1] = without_space(out[-1], "r")
    elif kind >= FUNCTION:
        if previous in (ORD, CLOSE, INNER):
            out.append(THIN_SPACE)
    elif kind >= INTEGRAL:
        if previous not in (ORD, CLOSE, INNER):
            xml = without_space(xml, "l")
    elif not in_script and (
        (kind == INNER and previous in (ORD, CLOSE, INNER)) or (previous == INNER and kind in (ORD, OPEN))
    ):
        out.append(THIN_SPACE)
    return kind, xml


def _behind_operator(out: list[str], previous: int, kind: int, xml: str) -> str:
    if previous >= FUNCTION:
        if kind in (ORD, OPEN, INNER) or kind >= INTEGRAL:
            out.append(_APPLY)
        if kind in (ORD, INNER) or kind >= INTEGRAL:
            out.append(THIN_SPACE)
    elif kind in (OPEN, CLOSE, REL, PUNCT):
        out[-1] = without_space(out[-1], "r")
    return without_space(xml, "l") if kind in (INTEGRAL, LIMITS) else xml
