r"""Reaction arrows and bonds as TeX.

Every arrow is one that grows with the text on it. Bonds are the signs that look like them, without the
space of a relation; dashes are drawn, since no sign has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....base.patterns import lazy_pattern

ARROW = lazy_pattern(r"<=>>|<<=>|<=>|<-->|<->|-->|->|<-|[→⟶←⟵↔⟷⇌⇄]")
"""Reaction arrows as they are typed."""

_GROWING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("->", "-->", "→", "⟶"), "xrightarrow"),
        **dict.fromkeys(("<-", "←", "⟵"), "xleftarrow"),
        **dict.fromkeys(("<->", "↔", "⟷"), "xleftrightarrow"),
        **dict.fromkeys(("<-->", "⇄"), "xtofrom"),
        **dict.fromkeys(("<=>", "⇌"), "xrightleftharpoons"),
    }
)

_DASH = r"\rule[.225em]{.15em}{.066em}"
_DASHES = rf"\mkern1mu{_DASH}\mkern1.3mu{_DASH}\mkern1.3mu{_DASH}\mkern1mu"
_LINE = r"\mathord{-}"


def _stack(*lines: str) -> str:
    """Lines one below the other; the line of two halves has none in the middle."""
    step = ".1em" if len(lines) == 2 else ".2em"
    raises = (step, f"-{step}") if len(lines) == 2 else (step, "0em", f"-{step}")
    drawn = [rf"\raisebox{{{rise}}}{{${line}$}}" for line, rise in zip(lines, raises, strict=True)]
    return "{" + "".join(rf"\mathrlap{{{line}}}" for line in drawn[:-1]) + drawn[-1] + "}"


_DOT = r"{\cdot}"
BONDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("-", "1"), _LINE),
        **dict.fromkeys(("=", "2"), r"\mathord{=}"),
        **dict.fromkeys(("#", "3"), r"\mathord{\equiv}"),
        "~": f"{{{_DASHES}}}",
        "~-": _stack(_DASHES, _LINE),
        "~=": _stack(_DASHES, _LINE, _LINE),
        "~--": _stack(_DASHES, _LINE, _LINE),
        "-~-": _stack(_LINE, _DASHES, _LINE),
        "...": "{" + _DOT * 3 + "}",
        "....": "{" + _DOT * 4 + "}",
        "->": r"\mathord{\rightarrow}",
        "<-": r"\mathord{\leftarrow}",
    }
)
r"""What `\bond` takes → the bond."""
_NO_TEXT = r"\quad"
# the short one of two uneven arrows, with room beside it that makes the long one longer
_SHORT_BACK = r"\mkern4mu\leftharpoondown\mkern4mu"
_SHORT_FORTH = r"\mkern4mu\rightharpoonup\mkern4mu"


def arrow(sign: str, above: str, below: str) -> str:
    """The reaction arrow `sign`, with a text above and one below it or neither."""
    if sign in _GROWING:
        return _label(_GROWING[sign], above, below)
    if sign == "<=>>":
        short = rf"\underset{{{below}}}{{{_SHORT_BACK}}}" if below else _SHORT_BACK
        return _label("xrightharpoonup", above, rf"\smash[t]{{\raisebox{{.25em}}{{$\textstyle {short}$}}}}")
    short = rf"\overset{{{above}}}{{{_SHORT_FORTH}}}" if above else _SHORT_FORTH
    return _label("xleftharpoondown", rf"\smash[b]{{\raisebox{{-.45em}}{{$\textstyle {short}$}}}}", below)


def _label(name: str, above: str, below: str) -> str:
    if not below:
        # without a text it would be as short as the arrow of a limit
        return rf"\{name}{{{above or _NO_TEXT}}}"
    return rf"\{name}[{{{below}}}]{{{above}}}"
