"""Dirac's brackets and sets: the braket package."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..parse.reader import Expander, FormulaReader, fill


def _bar_fence(opening: str, closing: str, divider: str, *, once: bool) -> Expander:
    r"""braket's `\Bra`, `\Braket`, `\Set`: a `|` in them grows with the fences."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        inside = _divide(reader.argument(), divider, once=once)
        return [*fill(opening), *inside, *fill(closing)]

    return expand


def _divide(source: list[str], divider: str, *, once: bool) -> list[str]:
    made: list[str] = []
    depth = 0
    done = False
    index = 0
    while index < len(source):
        token = source[index]
        depth += (token == "{") - (token == "}")
        if token in ("|", "\\|", "\\VERT", "\\mid", "\\middle") and not depth and not done:
            if token == "\\middle":
                made += source[index : index + 2]
                index += 2
                continue
            double = token == "\\|" or (token == "|" and source[index + 1 : index + 2] == ["|"])
            index += token == "|" and double
            made += fill(divider, ["\\|"] if double else ["|"])
            done = once
        else:
            made.append(token)
        index += 1
    return made


def _small_set(reader: FormulaReader, command: str) -> list[str]:
    r"""`\set{x | y}`."""
    inside = _divide(reader.argument(), r"\mid ", once=True)
    return [*fill(r"\{\,"), *inside, *fill(r"\,\}")]


def _plain(body: str) -> Expander:
    def expand(reader: FormulaReader, command: str) -> list[str]:
        return fill(body, reader.argument())

    return expand


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        "\\bra": _plain(r"\mathinner{\langle{#1}|}"),
        "\\ket": _plain(r"\mathinner{|{#1}\rangle}"),
        "\\braket": _plain(r"\mathinner{\langle{#1}\rangle}"),
        "\\Bra": _bar_fence(r"\left\langle ", r"\right|", r"\,\middle#1\,", once=False),
        "\\Ket": _bar_fence(r"\left|", r"\right\rangle ", r"\,\middle#1\,", once=False),
        "\\Braket": _bar_fence(r"\left\langle ", r"\right\rangle ", r"\,\middle#1\,", once=False),
        "\\Set": _bar_fence(r"\left\{\,", r"\,\right\}", r"\;\middle#1\;", once=True),
        "\\set": _small_set,
    }
)
