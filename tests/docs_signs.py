"""The manual's lists of symbols: `<!-- signs: group -->`, from the tables of `blogsmith.tex`.

The group of a symbol depends on its atom class and its Unicode properties.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import unescape
from types import MappingProxyType

from blogsmith.tex.constructs import delimiters
from blogsmith.tex.constructs.table import constructs
from blogsmith.tex.mathml import alphabets
from blogsmith.tex.mathml.atoms import BIN, CLOSE, INNER, INTEGRAL, LIMITS, OPEN, ORD, PUNCT, REL
from blogsmith.tex.mathml.glyph_atoms import atoms
from blogsmith.tex.packages.siunitx import unit_format, unit_names
from blogsmith.tex.parse import colors
from tests.docs_tex import PHYSICS, listed, signs

Entries = list[tuple[str, list[str]]]
"""The symbol as Markdown, and its names."""

# the parser handles these itself, so they are in no table
_STRUCTURE = frozenset(
    "\\" + name
    for name in [
        "limits",
        "nolimits",
        "right",
        "middle",
        "end",
        "\\",
        "cr",
        "newline",
        "endgroup",
        "verb",
        "of",
    ]
)


def supported() -> set[str]:
    """Return every supported command and environment."""
    table = constructs(PHYSICS)
    return {
        *table.names(),
        *table.overrides,
        *table.environments,
        *delimited(),
        *_STRUCTURE,
        *alphabets.TEXT_SYMBOLS,
        *alphabets.ACCENTS,
        *unit_format.GRAMMAR,
        *unit_names.UNITS,
        *unit_names.PREFIXES,
    }


def delimited() -> set[str]:
    """Return the commands that are delimiters."""
    return {name for name in delimiters.DELIMITERS if len(name) > 1}


def _name(sign: str) -> str:
    return unicodedata.name(sign[0], "")


def _has(*words: str) -> Callable[[str], bool]:
    return lambda sign: any(word in _name(sign) for word in words)


# capitals that look like Latin ones
_GREEK: Mapping[str, str] = MappingProxyType(
    {unicodedata.name(letter).split()[-1].capitalize(): letter for letter in "ΑΒΕΖΗΙΚΜΝΟΡΤΧ"}
)


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign[0])[0] == "L"


# group → atom classes and a condition; the first match is used
_GROUPS: Mapping[str, tuple[frozenset[int], Callable[[str], bool]]] = MappingProxyType(
    {
        "greek": (frozenset((ORD,)), _has("GREEK", "MATHEMATICAL ITALIC CAPITAL")),
        "letters": (frozenset((ORD,)), _is_letter),
        "ordinary": (frozenset((ORD,)), bool),
        "dots": (frozenset((INNER, PUNCT)), bool),
        "binary": (frozenset((BIN,)), bool),
        "large": (frozenset((LIMITS,)), bool),
        "integrals": (frozenset((INTEGRAL,)), bool),
        "delimiters": (frozenset((OPEN, CLOSE)), bool),
        "negated": (frozenset((REL,)), _has("NOT ", "NEITHER", "NEGATED", "WITH STROKE")),
        "arrows": (frozenset((REL,)), _has("ARROW", "HARPOON")),
        "sets": (
            frozenset((REL,)),
            _has("SUBSET", "SUPERSET", "ELEMENT", "MEMBER", "SQUARE IMAGE", "NORMAL SUB"),
        ),
        "order": (frozenset((REL,)), _has("LESS", "GREATER", "PRECEDES", "SUCCEEDS")),
        "relations": (frozenset((REL,)), bool),
    }
)


@cache
def _grouped() -> Mapping[str, list[list[str]]]:
    """Map groups to the names of each symbol, by code point."""
    found: dict[tuple[str, str], list[str]] = {}
    shown = listed()
    for token, (kind, xml) in atoms("", False).items():
        if token[0] != "\\" or token in shown:
            continue
        sign = unescape(xml[xml.index(">") + 1 : xml.rindex("<")])
        seen = greek if (greek := _GREEK.get(token[1:])) else sign
        group = next(name for name, (kinds, fits) in _GROUPS.items() if kind in kinds and fits(seen))
        found.setdefault((group, xml), []).append(token)
    made: dict[str, list[list[str]]] = {group: [] for group in _GROUPS}
    for (group, _), names in sorted(found.items(), key=lambda item: _order(item[0][1])):
        made[group].append(sorted(names, key=lambda name: (len(name), name)))
    return MappingProxyType(made)


def _order(xml: str) -> str:
    return xml[xml.index(">") :]


def _text_signs() -> Entries:
    return [
        (f"$\\text{{{name}}}$", [name])
        for name, printed in alphabets.TEXT_SYMBOLS.items()
        if name not in listed() and printed.strip()
    ]


def _prefixes() -> Entries:
    return [(symbol, [name]) for name, symbol in unit_names.PREFIXES.items()]


def _units() -> Entries:
    """Return units by output, with or without prefix."""
    found: dict[str, list[str]] = {}
    for name, unit in unit_names.UNITS.items():
        found.setdefault(unit.symbol, []).append(name)
    return [(f"$\\unit{{{names[0]}}}$", names) for names in found.values()]


def _colors() -> Entries:
    return [
        (f"$\\textcolor{{{name}}}{{\\blacksquare}}$", [name]) for name in colors.NAMES if not name.islower()
    ]


_LISTS: Mapping[str, Callable[[], Entries]] = MappingProxyType(
    {"text": _text_signs, "units": _units, "prefixes": _prefixes, "colors": _colors}
)


def entries(group: str) -> Entries:
    """Return the content of the list `group`; ValueError if there is none."""
    if group in _LISTS:
        return _LISTS[group]()
    if group not in _GROUPS:
        raise ValueError(f"no list of signs is called {group}")
    return [(f"${names[0]}$", names) for names in _grouped()[group]]


def all_groups() -> list[str]:
    """Return the name of every list."""
    return [*_LISTS, *_GROUPS]


def part(arguments: Sequence[str]) -> str:
    """Return the part `<!-- signs: group -->`."""
    return signs(entries(" ".join(arguments)))
