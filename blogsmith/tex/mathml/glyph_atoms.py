"""Atoms of all symbols that print themselves, for each font, in and out of scripts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from . import symbols
from .alphabets import MathAlphabet, letters
from .atoms import (
    BIN,
    CLOSE,
    INNER,
    INTEGRAL,
    LIMITS,
    NONE,
    OPEN,
    ORD,
    PUNCT,
    REL,
    UPRIGHT,
    Atom,
    identifier,
    operator,
    remove_spaces,
    upright,
)

_SYMBOL = lazy_pattern(r"(?:<mpadded>)?<m([in])(?: [^<>]*)?>([^<]*)</m[in]>(?:</mpadded>)?")
"""Matches a letter or a digit. Groups: its element's name without the `m`, and its character."""
_STRUCTURE = frozenset("&{}\\_^#$%~'′″‴⁗")
# class → characters that authors type and TeX reads that way
_TYPED: Mapping[int, str] = MappingProxyType(
    {
        BIN: "+±∓×÷·∘∙⊕⊖⊗⊙∪∩∧∨∖†‡⋆",
        REL: "=:≔",
        PUNCT: ",;",
        OPEN: "([",
        CLOSE: ")]!?",
        ORD: '/|.@"§¶©®…∀∃∄∅∞∂∇ℓℏ¬⊤⊥°√',
    }
)
_SUPERSCRIPTS = dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ", "0123456789+-=()abcdefghijklmnoprstuvwxyzT", strict=True)
)
_SUBSCRIPTS = dict(
    zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", "0123456789+-=()aehijklmnoprstuvxβγρφχ", strict=True)
)
SCRIPT_CHARACTERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {c: ("^", plain) for c, plain in _SUPERSCRIPTS.items()}
    | {c: ("_", plain) for c, plain in _SUBSCRIPTS.items()}
)
"""Superscript or subscript character of Unicode → script marker and plain character."""


def _make_atom(kind: int, sign: str) -> Atom:
    return kind, identifier(sign) if kind in (ORD, INNER) else operator(kind, sign)


def entries(table: str) -> list[tuple[str, list[str]]]:
    """Return symbol and names of each entry in a table of `symbols`."""
    return [(words[0], words[1:]) for words in (entry.split() for entry in table.split(";"))]


# TeX has no commands for these capitals: they are upright Latin letters, unless a font has the Greek ones
_LATIN_CAPITALS = """
A Α Alpha; B Β Beta; E Ε Epsilon; Z Ζ Zeta; H Η Eta; I Ι Iota; K Κ Kappa; M Μ Mu; N Ν Nu; O Ο Omicron;
P Ρ Rho; T Τ Tau; X Χ Chi
"""
_GREEK: Mapping[str, str] = MappingProxyType(
    {"\\" + names[1]: names[0] for _, names in entries(_LATIN_CAPITALS)}
)
# symbols that the tables cannot describe
_SPECIAL_ATOMS: Mapping[str, Atom] = MappingProxyType(
    {
        "-": _make_atom(BIN, "−"),
        "−": _make_atom(BIN, "−"),
        "*": _make_atom(BIN, "∗"),
        "`": _make_atom(ORD, "‘"),
        "’": _make_atom(ORD, "’"),
        "<": _make_atom(REL, "<"),
        ">": _make_atom(REL, ">"),
        "\\lt": _make_atom(REL, "<"),
        "\\gt": _make_atom(REL, ">"),
        "\\{": _make_atom(OPEN, "{"),
        "\\lbrace": _make_atom(OPEN, "{"),
        "\\}": _make_atom(CLOSE, "}"),
        "\\rbrace": _make_atom(CLOSE, "}"),
        "\\|": _make_atom(ORD, "‖"),
        "\\colon": (PUNCT, '<mo lspace=".1111em" rspace=".3333em">:</mo>'),
        # TeX's dots include room above them, as high as the row that they represent
        "\\vdots": (ORD, '<mpadded voffset=".15em" height="1.5em" depth="0"><mi>⋮</mi></mpadded>'),
        "\\ddots": (INNER, '<mpadded height="1.5em"><mi>⋱</mi></mpadded>'),
        "\\iddots": (INNER, '<mpadded height="1.5em"><mi>⋰</mi></mpadded>'),
        "\\smallint": (INTEGRAL, '<mo largeop="false">∫</mo>'),
        "\\intop": (LIMITS, "<mo>∫</mo>"),
        "\\ointop": (LIMITS, "<mo>∮</mo>"),
    }
)


@cache
def _plain_atoms() -> Mapping[str, Atom]:
    atoms: dict[str, Atom] = {}
    atoms.update({digit: (ORD, f"<mn>{digit}</mn>") for digit in "0123456789"})
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        atoms[letter] = (ORD, identifier(letter))
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
            atom = _make_atom(kind, sign)
            if sign not in _STRUCTURE:
                atoms.setdefault(sign, atom)
            atoms.update({"\\" + name: atom for name in names})
    for kind, signs in _TYPED.items():
        atoms.update({sign: _make_atom(kind, sign) for sign in signs})
    atoms.update({"\\" + sign: _make_atom(ORD, sign) for sign in "%#&$_"})
    for latin, names in entries(_LATIN_CAPITALS):
        atoms["\\" + names[1]] = (ORD, upright(latin))
    atoms.update(_SPECIAL_ATOMS)
    return MappingProxyType(atoms)


@cache
def atoms(face: MathAlphabet, in_script: bool) -> Mapping[str, Atom]:
    """Return token → atom in a font. in_script: without the spaces of relations and similar symbols."""
    made = dict(_plain_atoms())
    if face:
        made.update(_face_atoms(face, made))
    if in_script:
        made.update(
            {
                # class NONE: neither the symbol nor an adjacent operator gets space
                token: (NONE, remove_spaces(xml) if "<mo" in xml else xml)
                for token, (kind, xml) in made.items()
                if kind in (BIN, REL, PUNCT)
            }
        )
    return made  # a read-only proxy would cost a tenth of the total time; nobody may change the dict


def _face_atoms(face: MathAlphabet, plain: Mapping[str, Atom]) -> dict[str, Atom]:
    """Return token → atom for the letters and digits of a font; in `rm`, only for letters, made upright."""
    if face == "rm":
        return {
            token: (kind, upright(found[2]))
            for token, (kind, xml) in plain.items()
            if kind == ORD and (found := _SYMBOL.fullmatch(xml)) and found[1] == "i" and found[2].isalpha()
        }
    faced = letters(face)
    bold = letters("bf") if face == "bi" else {}
    made: dict[str, Atom] = {}
    for token, (kind, xml) in plain.items():
        if kind == ORD and (found := _SYMBOL.fullmatch(xml)):
            name, sign = found.groups()
            letter = faced.get(_GREEK.get(token, sign))
            # \mathit slants capital Greek letters, \boldsymbol does not
            if sign in UPRIGHT and len(token) > 1 and (face == "bi" or (face, sign) == ("it", "∇")):
                letter = bold.get(sign)
            if letter:
                made[token] = (ORD, identifier(letter) if name == "i" else f"<mn>{letter}</mn>")
    return made
