"""Names of siunitx: units with their symbols, prefixes, abbreviations.

Sources: SI brochure, 9th edition, tables 2, 4, 7 and 8; IEC 80000-13 for the binary prefixes; siunitx itself
for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class UnitName(NamedTuple):
    """The meaning of one command."""

    prefix: str
    """Prefix printed before the symbol; empty if the name has none."""
    symbol: str
    """Upright text, or TeX if it contains a backslash, brace or script."""


def _pairs(table: str) -> dict[str, str]:
    """Return command → symbol, from entries `symbol name name …` separated by semicolons."""
    entries = (entry.split() for entry in table.split(";"))
    return {"\\" + name: symbol for symbol, *names in entries for name in names}


PREFIXES: Mapping[str, str] = MappingProxyType(
    _pairs(
        "q quecto; r ronto; y yocto; z zepto; a atto; f femto; p pico; n nano; μ micro; m milli; c centi;"
        "d deci; da deca deka; h hecto; k kilo; M mega; G giga; T tera; P peta; E exa; Z zetta; Y yotta;"
        "R ronna; Q quetta;"
        "Ki kibi; Mi mebi; Gi gibi; Ti tebi; Pi pebi; Ei exbi; Zi zebi; Yi yobi"
    )
)

_UNITS = MappingProxyType(
    _pairs(
        "A ampere; cd candela; K kelvin; g gram; m metre meter; mol mole; s second;"
        "Bq becquerel; °C degreeCelsius celsius; C coulomb; F farad; Gy gray; Hz hertz; H henry; J joule;"
        "lm lumen; kat katal; lx lux; N newton; Ω ohm; Pa pascal; rad radian; S siemens; Sv sievert;"
        "sr steradian; T tesla; V volt; W watt; Wb weber;"
        "au astronomicalunit; B bel; Da dalton; d day; dB decibel; ° degree arcdegree; eV electronvolt;"
        "ha hectare; h hour; L litre liter; ′ arcminute arcmin; min minute; ″ arcsecond arcsec; Np neper;"
        "t tonne; \\% percent; ‰ permille; ppm ppm;"
        "Å angstrom AA; bar bar; b barn; kn knot; mmHg mmHg; M nauticalmile; u atomicmassunit amu; gon gon;"
        "a are annum; yr year; Gal gal; rem rem; R roentgen; Ci curie; cal calorie; bit bit; B byte;"
        "rpm rpm; atm atmosphere; Torr torr;"
        "a_{0} bohr; c_{0} clight; m_{\\mathrm{e}} electronmass; e elementarycharge;"
        "E_{\\mathrm{h}} hartree; \\hbar planckbar"
    )
)

# letter of a prefix in abbreviations → symbol; letters of the units → prefixes that they may have
_LETTERS = MappingProxyType({letter: letter for letter in "afpnmcdhkMGT"} | {"u": "μ", "": ""})
_ABBREVIATED = (
    ("m", "m", "f p n u m c d k"),
    ("g", "g", "f p n u m c k M"),
    ("s", "s", "a f p n u m k"),
    ("mol", "mol", "f p n u m k"),
    ("A", "A", "f p n u m k M"),
    ("K", "K", "n u m k"),
    ("l", "l", "n u m c d h"),
    ("L", "L", "n u m c d h"),
    ("Hz", "Hz", "u m k M G T"),
    ("N", "N", "n u m k M"),
    ("Pa", "Pa", "u m h k M G T"),
    ("ohm", "Ω", "u m k M G"),
    ("V", "V", "p n u m k M"),
    ("W", "W", "f p n u m k M G T"),
    ("J", "J", "n u m k M G T"),
    ("eV", "eV", "u m k M G T"),
    ("F", "F", "f p n u m"),
    ("H", "H", "f p n u m"),
    ("C", "C", "f p n u m"),
    ("T", "T", "n u m"),
    ("B", "B", "d"),
    ("Bq", "Bq", "m k M G T"),
    ("S", "S", "n u m k"),
    ("Wh", "Wh", "k M G T"),
)


def _abbreviations() -> dict[str, UnitName]:
    r"""Return the units with short names: `\km`, `\mL`, `\kHz`, and single letters such as `\m`."""
    names: dict[str, UnitName] = {}
    for ending, symbol, letters in _ABBREVIATED:
        for letter in ["", *letters.split()]:
            names[f"\\{letter}{ending}"] = UnitName(_LETTERS[letter], symbol)
    return names


UNITS: Mapping[str, UnitName] = MappingProxyType(
    {
        **_abbreviations(),
        **{name: UnitName("", symbol) for name, symbol in _UNITS.items()},
        "\\kilogram": UnitName("k", "g"),
    }
)
"""Command of a unit → its prefix and symbol."""
