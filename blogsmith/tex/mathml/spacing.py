"""Space between two atoms, by TeX's table (TeXbook, chapter 18).

MathML's operators include their own space. Where TeX has less, the piece is changed; where it has more, a
space is inserted before the next piece.
"""

from __future__ import annotations

from collections.abc import Callable

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
    remove_space,
    remove_spaces,
)

THIN_SPACE = f'<mspace width="{THIN}"/>'
_APPLY = "<mo>\u2061</mo>"
"""Operator between a function and its argument: invisible, read aloud as "of"."""


_GLUE = ("<mspace", '<mrow style="margin-left', "<mtext>\u00a0</mtext>")


def _ending(xml: str) -> str:
    return remove_space(xml, "r")


def _change(out: list[str], how: Callable[[str], str]) -> None:
    """Change the last atom of `out`. Space after it is not affected."""
    index = len(out) - 1
    while index > 0 and out[index].startswith(_GLUE):
        index -= 1
    if index >= 0:
        out[index] = how(out[index])


def infix(xml: str) -> str:
    """Mark a `+` or `-` that starts a row after other content as infix: MathML assumes a prefix."""
    if xml[:4] == "<mo>" and xml[4] in "+−±∓":
        return f'<mo form="infix">{xml[4:]}'
    return xml


def trim_space(out: list[str], last: int) -> list[str]:
    """Return `out` without the space after its last piece. last: class of that piece."""
    if out:
        if last == BIN:
            _change(out, remove_spaces)
        elif last in (REL, PUNCT, INTEGRAL, LIMITS):
            _change(out, _ending)
    return out


def space_atom(out: list[str], previous: int, atom: Atom, in_script: bool) -> Atom:
    """Return `atom` with its class and space after `out`. previous: class of the last piece of `out`."""
    kind, xml = atom
    if in_script and kind in (BIN, REL, PUNCT):
        kind, xml = NONE, remove_spaces(xml)
    if kind == BIN:
        if previous == OPEN or (previous >= NONE and previous != INNER):
            kind, xml = ORD, remove_spaces(xml)
    elif previous == BIN and kind in (REL, CLOSE, PUNCT):
        _change(out, remove_spaces)
    if previous >= INTEGRAL:
        return kind, _space_after_operator(out, previous, kind, xml, in_script)
    if kind == REL:
        if previous == REL:
            _change(out, _ending)
        if previous in (REL, NONE, OPEN, PUNCT):
            xml = remove_space(xml, "l")
    elif previous == REL and kind in (CLOSE, PUNCT):
        _change(out, _ending)
    elif kind >= FUNCTION:
        if previous in (ORD, CLOSE, INNER):
            out.append(THIN_SPACE)
    elif kind >= INTEGRAL:
        if previous not in (ORD, CLOSE, INNER):
            xml = remove_space(xml, "l")
    elif not in_script and (
        (kind == INNER and previous in (ORD, CLOSE, INNER))
        or (previous == INNER and kind in (ORD, OPEN, PUNCT))
    ):
        out.append(THIN_SPACE)
    return kind, xml


def _space_after_operator(out: list[str], previous: int, kind: int, xml: str, in_script: bool) -> str:
    if previous >= FUNCTION:
        # after an invisible operator, Firefox would add its own space to ours
        if kind == ORD or kind >= INTEGRAL or (kind == INNER and not in_script):
            out.append(THIN_SPACE)
        if kind in (ORD, OPEN, INNER) or kind >= INTEGRAL:
            out.append(_APPLY)
        if kind >= FUNCTION and xml.startswith("<mi>"):
            xml = f"<mpadded>{xml}</mpadded>"  # Firefox puts space before a name in upright letters
    elif kind in (OPEN, CLOSE, NONE, REL, PUNCT) or (kind == INNER and in_script):
        _change(out, _ending)
    return remove_space(xml, "l") if kind in (INTEGRAL, LIMITS) else xml
