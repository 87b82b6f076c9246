"""Atoms: a class and one MathML element, with the space that TeX puts around it.

TeX determines the space between two atoms by their classes (TeXbook, appendix G and chapter 18). MathML
determines it by each operator's entry in the operator dictionary (MathML Core, appendix B). A symbol whose
entry differs from TeX therefore gets explicit spaces. In scripts TeX omits the spaces: `remove_spaces`.

Source of the attributes `intent` and `arg`: MathML 4, section 5,
https://www.w3.org/TR/mathml4/#mixing_intent, with the names of its lists of concepts. Only meanings that TeX
itself states are written.

`space_atom` puts TeX's space between two atoms. MathML's operators include their own space. Where TeX has
less, the piece is changed; where it has more, a space is inserted before the next piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from .alphabets import letters
from .glyph_widths import FOOTED, LEANING


def join_fragments(pieces: Sequence[str]) -> str:
    """Return `pieces` as one element."""
    return pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>"


def group_fragments(pieces: Sequence[str]) -> str:
    """Return `pieces` as one element of class ORD. An operator alone gets no spaces."""
    if len(pieces) == 1:
        return remove_spaces(pieces[0]) if is_embellished(pieces[0]) else pieces[0]
    return f"<mrow>{''.join(pieces)}</mrow>"


# Only the first tag may get the attribute, so the markup must be one element.
_NAME = lazy_pattern(r"<m[a-z]+")
_TAKEN = lazy_pattern(r"<[^<>]* (?:intent|arg)=")
_BOLD_CAPITAL = lazy_pattern("<mi>[\U0001d400-\U0001d419\U0001d468-\U0001d481]</mi>")
_INVERTIBLE = frozenset(
    f"<mi>{name}</mi>"
    for name in "sin cos tan cot sec csc sinh cosh tanh coth".split()  # noqa: SIM905
)
_MINUS_ONE = '<mrow><mo lspace="0" rspace="0">−</mo><mn>1</mn></mrow>'
_TRANSPOSED = frozenset(("<mi>⊤</mi>", "<mi>⊺</mi>"))


def add_intent(xml: str, intent: str) -> str:
    """Return the element `xml` with an intent."""
    return _add(xml, f'intent="{intent}"')


def add_argument(xml: str, name: str) -> str:
    """Return the element `xml`, marked as the argument `$name` of the intent of an element around it."""
    return _add(xml, f'arg="{name}"')


def _add(xml: str, attribute: str) -> str:
    if not xml.startswith("<m") or _TAKEN.match(xml):
        xml = f"<mrow>{xml}</mrow>"
    return _NAME.sub(lambda found: f"{found[0]} {attribute}", xml, count=1)


def superscript_intent(base: str, upper: str) -> tuple[str, str]:
    r"""Return the base of a superscript, marked as an argument, and the `intent` attribute for base and
    superscript together. If the meaning is not certain, return the base unchanged and "".

    `^\top` is a transpose; `^{-1}` is an inverse only of a bold capital letter or a trigonometric function,
    because elsewhere it may be a reciprocal.
    """
    if upper in _TRANSPOSED:
        return add_argument(base, "a"), ' intent="transpose($a)"'
    if upper == _MINUS_ONE and (base in _INVERTIBLE or _BOLD_CAPITAL.fullmatch(base)):
        return add_argument(base, "a"), ' intent="inverse($a)"'
    return base, ""


# The order matters: two neighbours with `left | right <= NONE` need no spacing rules.
ORD, OPEN, CLOSE, NONE, BIN, REL, PUNCT, INNER, INTEGRAL, LIMITS, FUNCTION, LIMIT_FUNCTION = range(12)
"""Atom classes. NONE: there is no atom before. INTEGRAL and all later classes are operators."""
GLUE = -1
"""Class of an element that is only space. The atoms at its sides count as neighbours."""

Atom = tuple[int, str]
"""Class, and one MathML element."""

THIN, MEDIUM, THICK = ".1667em", ".2222em", ".2778em"
SIDES: Mapping[int, tuple[str, str]] = MappingProxyType(
    {BIN: (MEDIUM, MEDIUM), REL: (THICK, THICK), PUNCT: ("0", THIN)}
)
"""Atom class → space before and after an atom of this class, outside of scripts."""

# symbols whose entry in the dictionary has TeX's spaces
DICTIONARY_BINARY = frozenset("+−±∓∩∪∧∨")
DICTIONARY_RELATIONS = frozenset("=<>∈∉∋≈≃≅≡≤≥≪≫∼∝≠⊂⊃⊆⊇≺≻⊢")
DICTIONARY_OPENING = frozenset("([{⌈⌊⟨⟦⟪⟮")
DICTIONARY_CLOSING = frozenset(")]}⌉⌋⟩⟧⟫⟯!")
_ARROWS = lazy_pattern("[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f]")
_LARGE_IN_FIREFOX = frozenset("⊕⊖⊗⊙⊎")
"""Binary operators that Firefox would draw as large as a summation sign in display math."""
UPRIGHT = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ∇")
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_FIRST_MO = lazy_pattern(r"<mo(?=[ >])([^>]*)>")
_EMBELLISHED = lazy_pattern(r"(?:<m(?:sub|sup|subsup|over|under|underover)(?: [^<>]*)?>)*<mo[ >]")
_SPACED = lazy_pattern(r' [lr]space="[^"]*"')
# output of `add_spaces`; explicit spaces of authors are written with a leading zero
_ROW_SPACE = r'<mspace width="\.(?:1667|2222|2778)em"/>'
_SPACED_ROW = lazy_pattern(rf"<mrow>(?>({_ROW_SPACE})?)(.*?)(?>({_ROW_SPACE})?)</mrow>", re.DOTALL)
_MAX_CACHED_LENGTH = 200
"""Maximum length of markup whose result is cached, in characters."""


def escape(text: str) -> str:
    """Return `text` escaped for the content of an element."""
    return text.translate(_ESCAPES)


def is_operator(xml: str) -> bool:
    """Return whether `xml` is an `<mo>` element."""
    return xml.startswith(("<mo>", "<mo "))


def is_embellished(xml: str) -> bool:
    """Return whether `xml` is an operator, with or without scripts (MathML Core, 3.2.4.2)."""
    return _EMBELLISHED.match(xml) is not None


def add_attribute(xml: str, attribute: str) -> str:
    """Return the operator `xml` with one more attribute, or unchanged if it has the attribute already."""
    return xml if attribute in xml.partition(">")[0] else xml.replace("<mo", f"<mo {attribute}", 1)


def remove_spaces(xml: str) -> str:
    """Return `xml`, an operator with or without scripts, without the space at its sides."""
    return _tight(xml) if len(xml) < _MAX_CACHED_LENGTH else _tight.__wrapped__(xml)


@lru_cache(4096)
def _tight(xml: str) -> str:
    if row := _spaced_row(xml):
        return row[2]
    return _FIRST_MO.sub(lambda m: f'<mo{_SPACED.sub("", m[1])} lspace="0" rspace="0">', xml, count=1)


def remove_space(xml: str, side: str) -> str:
    """Return `xml`, an operator with or without scripts, without the space at one side. side: `l` or `r`."""
    return (
        _without_space(xml, side) if len(xml) < _MAX_CACHED_LENGTH else _without_space.__wrapped__(xml, side)
    )


@lru_cache(4096)
def _without_space(xml: str, side: str) -> str:
    if row := _spaced_row(xml):
        start, end = ("", row[3]) if side == "l" else (row[1], "")
        return f"<mrow>{start or ''}{row[2]}{end or ''}</mrow>" if start or end else row[2]
    name = f"{side}space"
    pattern = re.compile(rf' {name}="[^"]*"')
    return _FIRST_MO.sub(lambda m: f'<mo{pattern.sub("", m[1])} {name}="0">', xml, count=1)


def _spaced_row(xml: str) -> re.Match[str] | None:
    """Match an `<mrow>` with a space before its content, after it, or both; None for other markup."""
    row = _SPACED_ROW.fullmatch(xml) if xml.startswith("<mrow>") else None
    return row if row and (row[1] or row[3]) else None


def add_spaces(kind: int, xml: str) -> str:
    """Return `xml`, which is more than one symbol, with the spaces of its class `kind` on both sides."""
    if kind not in SIDES:
        return xml
    before, behind = SIDES[kind]
    start = f'<mspace width="{before}"/>' if before != "0" else ""
    return f'<mrow>{start}{xml}<mspace width="{behind}"/></mrow>'


def operator(kind: int, sign: str) -> str:
    """Return `sign` as an operator of a class, with TeX's spaces outside scripts."""
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
    if sign in _LARGE_IN_FIREFOX:
        attributes += ' largeop="false"'
    if (kind in (OPEN, CLOSE) and sign not in "!?") or _ARROWS.match(sign) or (kind == REL and sign in "∣∥|"):
        attributes += ' stretchy="false"'
    return f"<mo{attributes}>{escape(sign)}</mo>"


def identifier(sign: str) -> str:
    """Return `sign` as a letter or a symbol without spaces."""
    return upright(sign) if sign in UPRIGHT else f"<mi{_corrections().get(sign, '')}>{escape(sign)}</mi>"


def upright(sign: str) -> str:
    """Return an upright letter. The `<mpadded>` prevents space in Firefox beside a slanted letter."""
    return f'<mpadded><mi mathvariant="normal">{sign}</mi></mpadded>'


@cache
def _corrections() -> Mapping[str, str]:
    """Map each letter to an attribute whose CSS classes correct the space beside its slanted form.

    Chromium and WebKit ignore the font's italic corrections of letters. Firefox separates letters by ink.
    """
    classes = {letter: f"math-lean-{value}" for value, leaning in LEANING.items() for letter in leaning}
    for letter in FOOTED.split():
        classes[letter] = f"{classes.get(letter, '')} math-foot".strip()
    plain = {letter: classes[slanted] for letter, slanted in letters("it").items() if slanted in classes}
    return MappingProxyType({letter: f' class="{name}"' for letter, name in (classes | plain).items()})


def character_atom(character: str) -> Atom:
    """Return the atom of a character that no table contains, by its Unicode category."""
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


THIN_SPACE = f'<mspace width="{THIN}"/>'
_APPLY = "<mo>\u2061</mo>"
"""Operator between a function and its argument: invisible, read aloud as "of"."""


_GLUE = ("<mspace", '<mrow style="margin-left', "<mtext>\u00a0</mtext>")


def _ending(xml: str) -> str:
    return remove_space(xml, "r")


def _change(out: list[str], how: Callable[[str], str]) -> None:
    """Replace the last atom of `out` by `how(atom)`. Space after this atom is not affected."""
    index = len(out) - 1
    while index > 0 and out[index].startswith(_GLUE):
        index -= 1
    if index >= 0:
        out[index] = how(out[index])


def infix(xml: str) -> str:
    """Return `xml` marked as an infix operator, if it is a `+` or `-` at the start of a row that continues
    other content. MathML would assume a prefix."""
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
    """Return the class and the markup of `atom` for use after `out`, and put the space before it into `out`.
    previous: class of the last piece of `out`."""
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
