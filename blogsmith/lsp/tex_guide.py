"""Descriptions of TeX commands in formulas, and of shortcodes."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from ..api.editing import (
    ARGUMENTS,
    Macro,
    SiteSnapshot,
    TexError,
    constructs,
    convert_formula,
    lazy_pattern,
    read_macros,
    read_text,
    text_of,
)
from ..api.editing import EXPANDERS as ALIASES

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "src": "Path of the image, or several separated by commas; for videos, path or URL",
        "cap": "Caption, or several separated by commas",
        "alt": "Description of the image for readers who cannot see it",
        "cols": "Number of images in a row",
        "width": "Width in CSS units, such as `60%`",
        "id": "Label, `fig-…`",
        "before": "Path of the first image",
        "after": "Path of the second image",
        "before-alt": "Description of the first image",
        "after-alt": "Description of the second image",
        "label-before": "Label on the first image",
        "label-after": "Label on the second image",
        "caption": "Caption, with formulas",
        "title": "Title of the video",
        "poster": "Path of the image that is shown before the video plays",
        "captions": "Path of the captions in WebVTT format",
        "lang": "Language of the captions",
        "loop": "Plays the video in a loop, without sound",
    }
)
_READ = re.compile(r"\bargs(?:\.(\w+)|\[[\"']([\w-]+)[\"']\])")


def list_arguments(present: SiteSnapshot, name: str) -> dict[str, str]:
    """Return argument → meaning for a shortcode. For a shortcode of the site, these are the arguments that
    its template reads."""
    if name in ARGUMENTS:
        return {argument: _MEANINGS.get(argument, "") for argument in ARGUMENTS[name]}
    files = present.context.theme.files.templates
    found: dict[str, str] = {}
    for end in (".html", ".inline.html", ".block.html"):
        if file := files.get(f"shortcodes/{name}{end}"):
            for read in _READ.finditer(file.text):
                found.setdefault(read[1] or read[2], "")
    return found


_COMMAND = lazy_pattern(r"\\(?:[A-Za-z]+\*?|.)")
_MAX_SYMBOL_LENGTH = 4


class CommandGuide(Struct, frozen=True):
    """Description of a command for authors."""

    name: str
    """Name with backslash."""
    symbol: str = ""
    """Symbol that the command prints; empty if it prints none."""
    meaning: str = ""
    """Short description; empty if there is none."""
    arity: int = 0
    """Number of arguments, for a macro."""


def describe_command(name: str, packages: frozenset[str] = frozenset()) -> CommandGuide | None:
    """Return the description of a TeX command; None if formulas do not support the command."""
    table = constructs(packages)
    if not table.is_known(name):
        return None
    sign = _printed_symbol(name)
    if sign:
        return CommandGuide(name, sign)
    made = table.commands.get(name) or table.expanders.get(name) or table.infixes.get(name)
    module = sys.modules.get(getattr(made, "__module__", "") or "")
    if name in ALIASES:
        return CommandGuide(name, meaning="Shorthand for other TeX")
    said = (getattr(module, "__doc__", "") or "").strip().partition("\n")[0].strip(" .")
    return CommandGuide(name, meaning=said.replace("`", ""))


def describe_macro(name: str, macros: Mapping[str, str | Macro]) -> CommandGuide | None:
    """Return the description of a macro of the site or a page; None if the macro does not exist."""
    body = macros.get(name)
    if body is None:
        return None
    try:
        read = read_macros({name: body}).get(name)
    except (TexError, ValueError):
        read = None
    meaning = body if isinstance(body, str) else text_of(body.body)
    return CommandGuide(name, meaning=meaning, arity=read.arity if isinstance(read, Macro) else 0)


@cache
def _printed_symbol(name: str) -> str:
    """Return the symbol that a command without arguments prints; empty if it prints anything else."""
    try:
        made = convert_formula(name, display=False)
    except TexError:
        return ""
    text = read_text(made.mathml).strip()
    return text if 0 < len(text) <= _MAX_SYMBOL_LENGTH and text != name[1:] else ""


@cache
def all_commands(packages: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return every command that formulas support, with its backslash, sorted."""
    return tuple(name for name in constructs(packages).names() if name[1:].isalpha())


def all_environments() -> tuple[str, ...]:
    """Return every environment that formulas support, sorted."""
    return tuple(sorted(constructs().environments))


def find_command(tex: str, offset: int) -> tuple[str, int] | None:
    """Return the command at an offset in a formula, and the offset of its backslash. None if there is no
    command."""
    for found in _COMMAND.finditer(tex):
        if found.start() <= offset < found.end():
            return found[0], found.start()
    return None
