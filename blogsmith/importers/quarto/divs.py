"""Fenced divs, `::: {.class}` … `:::`, as a tree.

The text is masked: what looks like a div in code is none. A div that stands in a quote or list item keeps
what stands before its lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...base.patterns import lazy_pattern
from ..text.pandoc_attributes import PandocAttributes, read_pandoc_attributes

_FENCE = lazy_pattern(r"(?P<prefix>[ \t]*(?:>[ \t]*)*)(?P<colons>:{3,})[ \t]*(?P<rest>.*?)[ \t]*:*[ \t]*")
_CLASS = lazy_pattern(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Div:
    """A div and what is in it."""

    prefix: str
    """What stands before its lines, inside the div around it."""
    margin: str
    """What stands before its lines in the page."""
    attributes: PandocAttributes
    opening: str
    """Its first line, as written."""
    children: tuple[Div | str, ...]
    """Divs, and the text between them, without `prefix`."""
    is_closed: bool = True


def parse_divs(text: str) -> tuple[Div | str, ...]:
    """Divs and the text between them, in order; a div that is never closed ends with the text."""
    children, _ = _parse(text.split("\n"), 0, "", is_inside=False)
    return children


def _parse(
    lines: Sequence[str], start: int, prefix: str, *, is_inside: bool
) -> tuple[tuple[Div | str, ...], int]:
    """The children up to the line that closes the div around them, and the number of that line."""
    children: list[Div | str] = []
    text: list[str] = []
    number = start
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        if fence is None:
            text.append(strip_prefix(lines[number], prefix))
        elif not fence["rest"]:
            if is_inside:
                break
            # a fence that closes nothing is nothing
        elif (attributes := _attributes(fence["rest"])) is None:
            text.append(strip_prefix(lines[number], prefix))
        else:
            children.append("\n".join(text))
            text = []
            own = strip_prefix(fence["prefix"], prefix)
            inner, number = _parse(lines, number + 1, fence["prefix"], is_inside=True)
            children.append(
                Div(own, fence["prefix"], attributes, fence[0].strip(), inner, number < len(lines))
            )
        number += 1
    children.append("\n".join(text))
    return tuple(child for child in children if child != ""), number


def _attributes(text: str) -> PandocAttributes | None:
    """The attributes of an opening fence: a list in braces, or one class."""
    if text.startswith("{"):
        read = read_pandoc_attributes(text)
        return read[0] if read and not text[read[1] :].strip(" :") else None
    name = text.partition(" ")[0]
    return PandocAttributes(classes=(name.removeprefix("."),)) if _CLASS.fullmatch(name) else None


def strip_prefix(line: str, prefix: str) -> str:
    """A line without what stands before the lines of its div, as far as it is there."""
    if line.startswith(prefix):
        return line[len(prefix) :]
    if prefix.strip():
        bare = prefix.rstrip()
        return line[len(bare) :].removeprefix(" ") if line.startswith(bare) else line
    return line[min(len(line) - len(line.lstrip(" ")), len(prefix)) :]


def add_prefix(text: str, prefix: str) -> str:
    """A text with a prefix before each line, none behind it."""
    return "\n".join((prefix + line).rstrip() if not line else prefix + line for line in text.split("\n"))


def quote(text: str) -> str:
    """A text as a quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def split_title(text: str) -> tuple[str, str]:
    """The heading that a text begins with, without its marks, and what follows; empty if there is none."""
    found = re.match(r"\s*#{1,6}[ \t]+([^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)", text)
    return (found[1], text[found.end() :]) if found else ("", text)
