"""Attributes of foreign MathML → those of MathML Core, each with a value that was read and written anew.

Nothing is passed through: a value is a flag, a number, a length, a colour, or one of a few words. What no
page shows is left out. What says more than Core can, as lines in a table do, makes the formula unusable: a
page would show something else. Source: MathML Core (W3C), sections 2.1 to 3.5; MathML 3 for what is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..parse.colors import NAMES
from ..parse.lengths import css
from .unusable import UnusableMathml

Read = Callable[[str], str | None]
"""A value → as it is written; None: it cannot be said in MathML Core."""

_LENGTH = lazy_pattern(r"([-+]?)(\d+\.?\d*|\.\d+)(em|ex|px|pt|pc|cm|mm|in|mu|%|)")
_HEX = lazy_pattern(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_LEVEL = lazy_pattern(r"[-+]?\d")
_COUNT = lazy_pattern(r"[1-9]\d?")
_SPACE_NAMES = ("veryverythin", "verythin", "thin", "medium", "thick", "verythick", "veryverythick")
_SPACES: Mapping[str, int] = MappingProxyType(
    {
        f"{prefix}{name}mathspace": sign * eighteenths
        for prefix, sign in (("", 1), ("negative", -1))
        for eighteenths, name in enumerate(_SPACE_NAMES, 1)
    }
)
"""Spaces by name, MathML 3 section 2.1.5.2 → eighteenths of an em."""
_DANGEROUS = name_set("action actiontype class formaction href id src style target")


def _flag(value: str) -> str | None:
    return value if value in ("true", "false") else None


def _form(value: str) -> str | None:
    return value if value in ("prefix", "infix", "postfix") else None


def _level(value: str) -> str | None:
    return value if _LEVEL.fullmatch(value) else None


def _count(value: str) -> str | None:
    return value if _COUNT.fullmatch(value) else None


def _color(value: str) -> str | None:
    """As a number; a name in capitals is of dvips, one without of CSS."""
    return value.lower() if _HEX.fullmatch(value) else NAMES.get(value) or NAMES.get(value.lower())


def length(value: str) -> str | None:
    """A length, which may be negative, as CSS writes it; None if it is none, or depends on another one."""
    if value in _SPACES:
        return css(_SPACES[value] / 18)
    found = _LENGTH.fullmatch(value)
    # with a plus, `mpadded` of MathML 3 means so much more than it has
    if found is None or found[1] == "+" or len(value) > 12:
        return None
    sign, number, unit = found.groups()
    if not float(number):
        return "0"
    if unit == "mu":
        return sign + css(float(number) / 18)
    return f"{sign}{number}{unit}" if unit else None


def _size(value: str) -> str | None:
    """A length that is not negative."""
    found = length(value)
    return None if found is None or found.startswith("-") else found


def _nothing(value: str) -> str:
    """Of what no page shows."""
    return ""


def _no_lines(value: str) -> str | None:
    return "" if set(value.split()) <= {"none"} else None


_EVERYWHERE: Mapping[str, Read] = MappingProxyType(
    {
        "displaystyle": _flag,
        "scriptlevel": _level,
        "mathcolor": _color,
        "mathbackground": _color,
        "mathsize": _size,
        # limits move with their operator, which says so itself
        "movablelimits": _nothing,
    }
)
_OF_SCRIPTS: Mapping[str, Read] = MappingProxyType({"accent": _flag, "accentunder": _flag})
_OF: Mapping[str, Mapping[str, Read]] = MappingProxyType(
    {
        "mo": {
            **dict.fromkeys(("fence", "stretchy", "symmetric", "largeop", "movablelimits"), _flag),
            **dict.fromkeys(("lspace", "rspace"), length),
            **dict.fromkeys(("minsize", "maxsize"), _size),
            **dict.fromkeys(("accent", "separator"), _nothing),
            "form": _form,
        },
        "mspace": dict.fromkeys(("width", "height", "depth"), _size),
        "mpadded": {
            **dict.fromkeys(("width", "height", "depth"), _size),
            **dict.fromkeys(("lspace", "voffset"), length),
        },
        "mfrac": {"linethickness": _size},
        **dict.fromkeys(("munder", "mover", "munderover"), _OF_SCRIPTS),
        "mtable": {
            **dict.fromkeys(("rowspacing", "columnspacing", "columnalign"), _nothing),
            **dict.fromkeys(("rowlines", "columnlines", "frame"), _no_lines),
        },
        "mtr": {"columnalign": _nothing},
        "mtd": {"columnspan": _count, "columnalign": _nothing},
    }
)


def core_attributes(element: str, given: Iterable[tuple[str, str]]) -> str:
    """The attributes of an element as they are written into a page, each with a space in front.

    given: all but `mathvariant`, in any order. UnusableMathml if one is unsafe, or not of MathML Core.
    """
    known = {**_EVERYWHERE, **_OF.get(element, {})}
    written = []
    for name, value in sorted(given):
        read = known.get(name)
        if read is None:
            raise UnusableMathml(_refusal(element, name))
        found = read(value.strip())
        if found is None:
            raise UnusableMathml(f'MathML Core has no {name}="{value[:40]}" for {element}')
        if found:
            written.append(f' {name}="{found}"')
    return "".join(written)


def _refusal(element: str, name: str) -> str:
    plain = name.rpartition("}")[2].lower()
    if "}" in name or plain in _DANGEROUS or plain.startswith(("on", "data")):
        return f"its {element} has {plain}, which no formula may have"
    return f"MathML Core has no {plain[:40]} for {element}"
