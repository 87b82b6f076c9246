"""Every sign that prints itself, ready as MathML, with its atom class.

TeX sets the space between two atoms by their classes (TeXbook, appendix G and chapter 18). MathML sets it
by each operator's entry in the operator dictionary (MathML Core, appendix B), so a sign whose entry says
something else than TeX gets its spaces written out. In scripts TeX leaves the spaces away: `tight`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from . import symbols
from .alphabets import Face, letters

# The order matters: two neighbours with `left | right <= NONE` need no thought.
ORD, OPEN, CLOSE, NONE, BIN, REL, PUNCT, INNER, INTEGRAL, LIMITS, FUNCTION, LIMIT_FUNCTION = range(12)
"""Atom classes; NONE: nothing stands before. From INTEGRAL on they are operators."""

Atom = tuple[int, str]
"""Class, and one MathML element."""

THIN, MEDIUM, THICK = ".1667em", ".2222em", ".2778em"

# whose entry in the dictionary has TeX's spaces
_DICTIONARY_BINARY = frozenset("+−±∓∩∪∧∨")
_DICTIONARY_RELATIONS = frozenset("=<>∈∉∋≈≃≅≡≤≥≪≫∼∝≠⊂⊃⊆⊇≺≻⊢")
_DICTIONARY_OPENING = frozenset("([{⌈⌊⟨⟦⟪⟮")
_DICTIONARY_CLOSING = frozenset(")]}⌉⌋⟩⟧⟫⟯!")
_ARROWS = re.compile("[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f]")
_UPRIGHT = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ∇")
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_FIRST_MO = re.compile(r"<mo(?=[ >])([^>]*)>")
_SPACED = re.compile(r' [lr]space="[^"]*"')

_STRUCTURE = frozenset("&{}\\_^#$%~'")
# characters that authors type → how TeX reads them
_TYPED: Mapping[int, str] = MappingProxyType(
    {
        BIN: "+±∓×÷·∘∙⊕⊖⊗⊙∪∩∧∨∖†‡⋆",
        REL: "=:≔",
        PUNCT: ",;",
        OPEN: "([",
        CLOSE: ")]!?",
        ORD: '/|.@"§¶©®…∀∃∄∅∞∂∇ℓℏ¬⊤⊥°′″‴⁗√',
    }
)
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))
SCRIPT_CHARACTERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {c: ("^", plain) for c, plain in _SUPERSCRIPTS.items()}
    | {c: ("_", plain) for c, plain in _SUBSCRIPTS.items()}
)
"""Raised and lowered characters of Unicode → script and plain character."""


def escape(text: str) -> str:
    """`text` for the inside of an element."""
    return text.translate(_ESCAPES)


@lru_cache(4096)
def tight(xml: str) -> str:
    """`xml` with no space around its operator."""
    return _FIRST_MO.sub(lambda m: f'<mo{_SPACED.sub("", m[1])} lspace="0" rspace="0">', xml, count=1)


@lru_cache(4096)
def without_space(xml: str, side: str) -> str:
    """`xml` with no space on one side of its operator. side: `l` or `r`."""
    name = f"{side}space"
    pattern = re.compile(rf' {name}="[^"]*"')
    return _FIRST_MO.sub(lambda m: f'<mo{pattern.sub("", m[1])} {name}="0">', xml, count=1)


def operator(kind: int, sign: str) -> str:
    """`sign` as an operator of that class, spaced as TeX does outside scripts."""
    attributes = ""
    if kind == BIN and sign not in _DICTIONARY_BINARY:
        attributes = f' lspace="{MEDIUM}" rspace="{MEDIUM}"'
    elif kind == REL and sign not in _DICTIONARY_RELATIONS:
        attributes = f' lspace="{THICK}" rspace="{THICK}"'
    elif kind == PUNCT and sign not in ",;":
        attributes = f' lspace="0" rspace="{THIN}"'
    elif kind == OPEN:
        attributes = "" if sign in _DICTIONARY_OPENING else ' form="prefix" lspace="0" rspace="0"'
    elif kind == CLOSE:
        attributes = "" if sign in _DICTIONARY_CLOSING else ' form="postfix" lspace="0" rspace="0"'
    if (kind in (OPEN, CLOSE) and sign not in "!?") or _ARROWS.match(sign) or (kind == REL and sign in "∣∥|"):
        attributes += ' stretchy="false"'
    return f"<mo{attributes}>{escape(sign)}</mo>"


def identifier(sign: str) -> str:
    """`sign` as a letter or a sign that has no spaces."""
    variant = ' mathvariant="normal"' if sign in _UPRIGHT else ""
    return f"<mi{variant}>{escape(sign)}</mi>"


def _made(kind: int, sign: str) -> Atom:
    return kind, identifier(sign) if kind in (ORD, INNER) else operator(kind, sign)


def entries(table: str) -> list[tuple[str, list[str]]]:
    """Sign and names of each entry of a table of `symbols`."""
    return [(words[0], words[1:]) for words in (entry.split() for entry in table.split(";"))]


@cache
def _loose() -> Mapping[str, Atom]:
    atoms: dict[str, Atom] = {}
    atoms.update({digit: (ORD, f"<mn>{digit}</mn>") for digit in "0123456789"})
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        atoms[letter] = (ORD, f"<mi>{letter}</mi>")
    for kind, table in (
        (ORD, symbols.ORDINARY),
        (BIN, symbols.BINARY),
        (REL, symbols.RELATIONS),
        (LIMITS, symbols.LARGE),
        (INTEGRAL, symbols.INTEGRALS),
        (PUNCT, symbols.PUNCTUATION),
        (INNER, symbols.ELLIPSES),
        (OPEN, symbols.OPENING),
        (CLOSE, symbols.CLOSING),
    ):
        for sign, names in entries(table):
            atom = _made(kind, sign)
            if sign not in _STRUCTURE:
                atoms.setdefault(sign, atom)
            atoms.update({"\\" + name: atom for name in names})
    for kind, signs in _TYPED.items():
        atoms.update({sign: _made(kind, sign) for sign in signs})
    atoms.update(_ODD)
    return MappingProxyType(atoms)


# what the tables cannot say
_ODD: Mapping[str, Atom] = MappingProxyType(
    {
        "-": _made(BIN, "−"),
        "−": _made(BIN, "−"),
        "*": _made(BIN, "∗"),
        "`": _made(ORD, "‘"),
        "’": _made(ORD, "’"),
        "<": _made(REL, "<"),
        ">": _made(REL, ">"),
        "\\lt": _made(REL, "<"),
        "\\gt": _made(REL, ">"),
        "\\{": _made(OPEN, "{"),
        "\\lbrace": _made(OPEN, "{"),
        "\\}": _made(CLOSE, "}"),
        "\\rbrace": _made(CLOSE, "}"),
        "\\|": _made(ORD, "‖"),
        "\\colon": (PUNCT, '<mo lspace=".1111em" rspace=".3333em">:</mo>'),
        "\\vdots": _made(ORD, "⋮"),
        "\\smallint": (INTEGRAL, '<mo largeop="false">∫</mo>'),
        "\\intop": (LIMITS, "<mo>∫</mo>"),
        "\\ointop": (LIMITS, "<mo>∮</mo>"),
        **{"\\" + sign: _made(ORD, sign) for sign in "%#&$_"},
        **{
            "\\" + name: _made(ORD, sign)
            for name, sign in zip(
                [
                    "Alpha",
                    "Beta",
                    "Chi",
                    "Epsilon",
                    "Eta",
                    "Iota",
                    "Kappa",
                    "Mu",
                    "Nu",
                    "Omicron",
                    "Rho",
                    "Tau",
                    "Zeta",
                ],
                "ABXEHIKMNOPTZ",
                strict=True,
            )
        },
    }
)
_ODD = MappingProxyType(
    {
        **_ODD,
        # TeX has no such capitals of its own: they are the upright Latin ones
        **{
            name: (ORD, atom[1].replace("<mi>", '<mi mathvariant="normal">'))
            for name, atom in _ODD.items()
            if len(name) > 2 and atom[1] in {f"<mi>{c}</mi>" for c in "ABXEHIKMNOPTZ"}
        },
    }
)


_LATIN_LOOKING: Mapping[str, str] = MappingProxyType(
    {
        "\\" + name: letter
        for name, letter in zip(
            [
                "Alpha",
                "Beta",
                "Epsilon",
                "Zeta",
                "Eta",
                "Iota",
                "Kappa",
                "Mu",
                "Nu",
                "Omicron",
                "Rho",
                "Tau",
                "Chi",
            ],
            "ΑΒΕΖΗΙΚΜΝΟΡΤΧ",
            strict=True,
        )
    }
)


@cache
def atoms(face: Face, in_script: bool) -> Mapping[str, Atom]:
    """Token → atom, in that face; in_script: without the spaces of relations and the like."""
    made = dict(_loose())
    if face:
        made.update(_faced(face, made))
    if in_script:
        made.update(
            {
                token: ((ORD if kind in (BIN, REL, PUNCT) else kind), tight(xml) if "<mo" in xml else xml)
                for token, (kind, xml) in made.items()
                if kind in (BIN, REL, PUNCT, LIMITS, INTEGRAL)
            }
        )
    return MappingProxyType(made)


def _faced(face: Face, plain: Mapping[str, Atom]) -> dict[str, Atom]:
    """Letters and digits in a face; in `rm` the letters only lose their slant."""
    if face == "rm":
        upright = {
            token: (kind, f'<mi mathvariant="normal">{xml[4:-5]}</mi>')
            for token, (kind, xml) in plain.items()
            if kind == ORD and xml.startswith("<mi>") and len(xml) == len("<mi>x</mi>") and xml[4].isalpha()
        }
        return upright
    faced = letters(face)
    upright = letters("bf") if face == "bi" else {}
    made: dict[str, Atom] = {}
    for token, (kind, xml) in plain.items():
        if kind == ORD and xml.startswith(("<mi", "<mn")):
            sign = xml[xml.index(">") + 1 : -5]
            greek = _LATIN_LOOKING.get(token, sign)
            slanted = faced.get(greek)
            if sign in _UPRIGHT and len(token) > 1 and face in ("it", "bi"):
                slanted = upright.get(sign)
            if slanted:
                made[token] = (ORD, f"{xml[:3]}>{slanted}</{xml[1:3]}>")
    return made


def typed(character: str) -> Atom:
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
