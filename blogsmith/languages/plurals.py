"""Plural forms of counts, by the rules of Unicode's CLDR.

The rules are those of CLDR (release 47, cardinal plurals), reduced to whole numbers, because pages contain no
other counts. A language that is not listed has one form for 1 and another for all other numbers.

© 1991-2025 Unicode, Inc., under the Unicode License v3 (`CLDR-LICENSE.txt` in this folder). Syntax: Unicode
Technical Standard 35, part 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

FORMS = ("zero", "one", "two", "few", "many", "other")
"""Names of plural forms, in CLDR's order."""

_Rule = tuple[tuple[str, str], ...]
_TENS_FEW = "n % 10 = 2..4 and n % 100 != 12..14"
_ZERO_TOO: _Rule = (("one", "n = 0..1"),)
_EAST_SLAVIC: _Rule = (
    ("one", "n % 10 = 1 and n % 100 != 11"),
    ("few", _TENS_FEW),
    ("many", "n % 10 = 0 or n % 10 = 5..9 or n % 100 = 11..14"),
)
_SOUTH_SLAVIC: _Rule = (("one", "n % 10 = 1 and n % 100 != 11"), ("few", _TENS_FEW))
_CZECH: _Rule = (("one", "n = 1"), ("few", "n = 2..4"))
_MILLIONS = ("many", "n != 0 and n % 1000000 = 0")
_ROMANCE: _Rule = (("one", "n = 1"), _MILLIONS)
_FRENCH: _Rule = (("one", "n = 0..1"), _MILLIONS)
_SORBIAN: _Rule = (("one", "n % 100 = 1"), ("two", "n % 100 = 2"), ("few", "n % 100 = 3..4"))
_DUAL: _Rule = (("one", "n = 1"), ("two", "n = 2"))
_NORDIC: _Rule = (("one", "n % 10 = 1 and n % 100 != 11"),)
_FILIPINO: _Rule = (("one", "n = 1..3 or n % 10 != 4,6,9"),)
_BALTIC: _Rule = (
    ("zero", "n % 10 = 0 or n % 100 = 11..19"),
    ("one", "n % 10 = 1 and n % 100 != 11"),
)
_ARABIC: _Rule = (
    *(("zero", "n = 0"), ("one", "n = 1"), ("two", "n = 2")),
    *(("few", "n % 100 = 3..10"), ("many", "n % 100 = 11..99")),
)

_TABLE: tuple[tuple[str, _Rule], ...] = (
    ("bo dz id ig ja jv km ko lo ms my sah su th to tpi vi wo yo yue zh", ()),
    ("ak am as bn fa ff gu hi hy kab kn mg nso pa si ti zu", _ZERO_TOO),
    ("be ru uk", _EAST_SLAVIC),
    ("bs hr sh sr", _SOUTH_SLAVIC),
    ("ca es it lld pt-pt scn vec", _ROMANCE),
    ("fr ht pt", _FRENCH),
    ("cs sk", _CZECH),
    ("dsb hsb sl", _SORBIAN),
    ("he iu iw se sma smj smn sms", _DUAL),
    ("is mk", _NORDIC),
    ("ceb fil tl", _FILIPINO),
    ("lv prg", _BALTIC),
    ("ar", _ARABIC),
    (
        "cy",
        (
            *(("zero", "n = 0"), ("one", "n = 1"), ("two", "n = 2")),
            *(("few", "n = 3"), ("many", "n = 6")),
        ),
    ),
    ("ga", (("one", "n = 1"), ("two", "n = 2"), ("few", "n = 3..6"), ("many", "n = 7..10"))),
    ("gd", (("one", "n = 1,11"), ("two", "n = 2,12"), ("few", "n = 3..10,13..19"))),
    (
        "lt",
        (
            ("one", "n % 10 = 1 and n % 100 != 11..19"),
            ("few", "n % 10 = 2..9 and n % 100 != 11..19"),
        ),
    ),
    (
        "mt",
        (
            *(("one", "n = 1"), ("two", "n = 2")),
            *(("few", "n = 0 or n % 100 = 3..10"), ("many", "n % 100 = 11..19")),
        ),
    ),
    (
        "pl",
        (
            ("one", "n = 1"),
            ("few", _TENS_FEW),
            ("many", "n != 1 and n % 10 = 0..1 or n % 10 = 5..9 or n % 100 = 12..14"),
        ),
    ),
    ("ro", (("one", "n = 1"), ("few", "n = 0 or n != 1 and n % 100 = 1..19"))),
)
_RULES: Mapping[str, _Rule] = MappingProxyType(
    {language: rule for languages, rule in _TABLE for language in languages.split()}
)
_ONE: _Rule = (("one", "n = 1"),)

_Test = Callable[[int], bool]


def plural_form(tag: str, count: int) -> str:
    """Return the name of the plural form, from `FORMS`, for a count of 0 or more. tag: BCP 47 tag in lower
    case."""
    return next((form for form, holds in _tests(tag) if holds(count)), "other")


@lru_cache(maxsize=64)
def _tests(tag: str) -> tuple[tuple[str, _Test], ...]:
    language = tag.partition("-")[0]
    rule = _RULES.get(tag, _RULES.get(language, _ONE))
    return tuple((form, _compile_condition(condition)) for form, condition in rule)


def _compile_condition(condition: str) -> _Test:
    groups = [[_compile_relation(one) for one in part.split(" and ")] for part in condition.split(" or ")]
    return lambda count: any(all(holds(count) for holds in group) for group in groups)


def _compile_relation(text: str) -> _Test:
    """Compile a relation such as `n % 10 = 2..4,9` or `n != 1`."""
    left, sign, right = text.rpartition("!=" if "!=" in text else "=")
    modulus = int(left.partition("%")[2] or 0)
    spans = [(int(first), int(last or first)) for first, _, last in _spans(right)]

    def holds(count: int) -> bool:
        number = count % modulus if modulus else count
        return any(first <= number <= last for first, last in spans) is (sign == "=")

    return holds


def _spans(text: str) -> list[tuple[str, str, str]]:
    return [part.strip().partition("..") for part in text.split(",")]
