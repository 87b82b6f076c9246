"""Control sequences in chemistry that have the same meaning as in TeX, with their arguments.

Most arguments are TeX. Commands that only frame, stack or colour their argument accept chemistry in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from .scan import Scanner

GREEK = (
    r"\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|omicron|pi"
    r"|rho|sigma|varsigma|tau|upsilon|phi|varphi|chi|psi|omega"
    r"|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega)(?![A-Za-z])"
)
"""Pattern of a Greek letter as a command. Here it is upright, because it is not a variable."""

_ARGUMENTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), "dd"),
        **dict.fromkeys(("underset", "overset", "stackrel"), "cc"),
        **dict.fromkeys(("boxed", "cancel", "bcancel", "xcancel", "sout", "underline", "overline"), "c"),
        **dict.fromkeys(("phantom", "hphantom", "vphantom", "smash"), "c"),
        **dict.fromkeys(("underbrace", "overbrace", "underbracket", "overbracket"), "cs"),
        **dict.fromkeys(("color", "textcolor"), "tc"),
    }
)
"""Command → kinds of its arguments, one letter each: c is chemistry, d chemistry or a digit, t TeX, and s a
`_` or `^` with chemistry."""

BLANK = lazy_pattern(r"\s*")
_SIZED = lazy_pattern(r"\\(?:left|right|middle|[bB]igg?[lmr]?)(?![A-Za-z])")
_DELIMITER = lazy_pattern(r"\\(?:[A-Za-z]+|.)|[^\s{}$]", re.DOTALL)
_TOKEN = lazy_pattern("[0-9a-z]")
_OPTION = lazy_pattern(r"\[[^\[\]{}$]*\](?=\{)")
_CIRCA = lazy_pattern(r"\\ca(?![A-Za-z])\s*")
_SCRIPT = lazy_pattern(r"([_^])(?=\{)")
_NESTED = ("ce", "cee", "cf", "pu")
_TEXT = lazy_pattern(r"[^\\{}$]+")
_GREEK = lazy_pattern(rf"({GREEK})\s*")


def control(scan: Scanner) -> str:
    """Consume and return the next command: an upright Greek letter, or a command with its arguments."""
    greek = scan.accept(_GREEK)
    if scan.accept(_CIRCA) is not None:
        return r"{\sim}"
    return rf"\mathrm{{{greek.group(1)}}}" if greek else command(scan)


def text(scan: Scanner) -> str:
    """Return the rest of `scan` as upright text. Formulas in `$…$` and commands are not changed."""
    made: list[str] = []
    while scan.next_character:
        words = scan.accept(_TEXT)
        if words is not None:
            made.append(rf"\text{{{words.group()}}}")
        elif scan.next_character == "{":
            made.append(text(scan.take_bracket()))
        elif scan.next_character == "$":
            made.append(mathematics(scan))
        else:
            made.append(control(scan))
    return "{" + "".join(made) + "}"


def mathematics(scan: Scanner) -> str:
    """Consume the next `$…$`. Return its content as TeX in braces."""
    return "{" + scan.take_bracket().tex() + "}"


def command(scan: Scanner) -> str:
    """Consume the next control sequence with its arguments. Return it as TeX."""
    if scan.peek_match(_SIZED):
        return _read_sized(scan)
    name = scan.name()
    if scan.next_character == "{" and name[1:] in _NESTED:
        return scan.convert_group(name[1:])
    arguments = _chemical(scan, _ARGUMENTS[name[1:]]) if name[1:] in _ARGUMENTS else _groups(scan)
    if arguments or not name[1].isalpha():
        return f"{{{name}{arguments}}}" if name == r"\color" and arguments.count("}{") else name + arguments
    scan.accept(BLANK)
    return name + " "


def _read_sized(scan: Scanner) -> str:
    """Consume a size command and the bracket after it. Return both."""
    size = scan.name()
    scan.accept(BLANK)
    bracket = scan.accept(_DELIMITER)
    return f"{size}{bracket.group() if bracket else ''} "


def _chemical(scan: Scanner, kinds: str) -> str:
    taken = ""
    for kind in kinds:
        script = scan.accept(_SCRIPT) if kind == "s" else None
        taken += script.group() if script else ""
        if kind == "d" and (token := scan.accept(_TOKEN)) is not None:
            taken += token.group()
            continue
        if scan.next_character != "{" or (kind == "s" and not script):
            break
        taken += _group(scan) if kind == "t" else scan.convert_group()
    return taken


def _groups(scan: Scanner) -> str:
    """Consume the groups and options directly after a command. Return them as TeX."""
    taken: list[str] = []
    while True:
        option = scan.accept(_OPTION)
        if option is not None:
            taken.append(option.group())
        if scan.next_character != "{":
            return "".join(taken)
        taken.append(_group(scan))


def _group(scan: Scanner) -> str:
    return "{" + scan.take_bracket().tex() + "}"
