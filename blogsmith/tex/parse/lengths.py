"""Conversion of TeX lengths to CSS lengths in em, px or %."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from .errors import ParseError

# em per unit, for TeX's font size of 10 points
_EM: Mapping[str, float] = MappingProxyType(
    {
        "em": 1.0,
        "ex": 0.431,
        "mu": 1 / 18,
        "pt": 0.1,
        "pc": 1.2,
        "in": 7.227,
        "bp": 0.100375,
        "cm": 2.84526,
        "mm": 0.284526,
        "dd": 0.107,
        "cc": 1.284,
        "nd": 0.10668,
        "nc": 1.28021,
        "sp": 0.1 / 65536,
        "px": 0.075,
    }
)
_NAMED: Mapping[str, float] = MappingProxyType(
    {
        "\\jot": 0.3,
        "\\baselineskip": 1.2,
        "\\normalbaselineskip": 1.2,
        "\\smallskipamount": 0.3,
        "\\medskipamount": 0.6,
        "\\bigskipamount": 1.2,
        "\\thinmuskip": 1 / 6,
        "\\medmuskip": 4 / 18,
        "\\thickmuskip": 5 / 18,
        "\\arraycolsep": 0.5,
        "\\tabcolsep": 0.6,
        "\\linewidth": 34.5,
        "\\textwidth": 34.5,
        "\\columnwidth": 34.5,
        "\\nulldelimiterspace": 0.12,
        "\\fboxsep": 0.3,
        "\\fboxrule": 0.04,
        "\\z@": 0.0,
        "\\ex@": 0.1,
        "\\p@": 0.1,
    }
)
_LENGTH = lazy_pattern(r"\s*([-+]?)\s*(\d+\.?\d*|\.\d+|)\s*(\\?[a-zA-Z]+@?)")
_GLUE = lazy_pattern(r"\s*(?:(?:plus|minus)\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*[a-z]+\s*)*")


def ems(tex: str) -> float | None:
    r"""Return the length `tex`, such as `3pt` or `-.5\jot plus 1fil`, in em. None if it is invalid."""
    match = _LENGTH.match(tex)
    if match is None or not _GLUE.fullmatch(tex, match.end()):
        return None
    sign, number, unit = match.groups()
    size = _NAMED.get(unit) if unit[0] == "\\" else _EM.get(unit) if number else None
    if size is None:
        return None
    return float(number or 1) * size * (-1 if sign == "-" else 1)


def css(em: float) -> str:
    """Return a length in em as CSS."""
    shown = f"{em:.4f}".rstrip("0").rstrip(".")
    return "0" if shown in ("0", "-0", "") else f"{shown}em"


def read_ems(tokens: Sequence[str], command: str) -> float:
    """Return the length in `tokens`, in em. ParseError if it is not a length, or longer than 1000em."""
    text = "".join(tokens)
    found = ems(text)
    if found is None:
        said = f'invalid length "{text.strip()}"' if text.strip() else f'missing length after "{command}"'
        written = [token for token in tokens if token != " "] or [command]
        hint = "write a length such as `3pt`, `1.5em` or `2mu`"
        raise ParseError("math-syntax", said, written[0], end=written[-1], hint=hint)
    if abs(found) > 1000:
        raise ParseError(
            "math-limit",
            f'length "{text.strip()}" is too large: the limit is 1000em',
            tokens[0],
            hint="write a smaller length",
        )
    return found


def read_length(tokens: Sequence[str], command: str) -> str:
    """Return the length in `tokens` as CSS. ParseError if it is not a length, or longer than 1000em."""
    return css(read_ems(tokens, command))
