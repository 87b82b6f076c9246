r"""`\not` before a relation."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import NONE, ORD, REL, Atom, operator, remove_spaces
from ..parse.parser import Command, Parser

_SLASH = "\u0338"
_SPACED_OPERATOR = lazy_pattern(
    r"((?:<mrow>|<mspace[^<>]*/>)+)(<mo(?: [^<>]*)?>[^<]+</mo>)((?:</mrow>|<mspace[^<>]*/>)+)"
)
"""An operator with spaces around it, such as that of `\\implies`."""


def _not(parser: Parser, command: str) -> Atom:
    kind, xml = parser.atom_argument()
    return (REL if kind in (ORD, NONE) and "<mo" in xml else kind), _strike(xml)


def _strike(xml: str) -> str:
    """Return `xml` with a slash, as one composed character if Unicode has it."""
    if found := _SPACED_OPERATOR.fullmatch(xml):
        struck = _strike(found[2])
        is_tight = 'lspace="0"' in found[2]
        return f"{found[1]}{remove_spaces(struck) if is_tight else struck}{found[3]}"
    start = xml.find(">") + 1
    end = xml.find("</", start)
    sign = xml[start:end]
    if not xml.startswith(("<mo", "<mi", "<mn")) or xml.startswith("<mov") or not sign:
        return f'<mrow><mpadded width="0"><mtext>\u00a0{_SLASH}</mtext></mpadded>{xml}</mrow>'
    plain = {"&lt;": "<", "&gt;": ">", "∣": "∣", "|": "∣", "‖": "∥"}.get(sign, sign)
    composed = unicodedata.normalize("NFC", plain[:1] + _SLASH)
    if xml.startswith("<mo"):
        return operator(REL, composed + plain[1:])
    return f"{xml[:start]}{composed}{plain[1:]}{xml[end:]}"


COMMANDS: Mapping[str, Command] = MappingProxyType({"\\not": _not})
