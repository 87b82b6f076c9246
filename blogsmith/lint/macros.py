"""Macros that are declared but never used. Macros of the starter site are not reported.

Uses are counted in the source text. Every occurrence other than the declaration counts, even in code: a
missed warning is better than a false one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from ..base.diagnostics.model import Place, Reporter
from ..base.patterns import lazy_pattern
from ..base.schema.yaml_loader import remove_entry
from ..config.load import LoadedConfig
from ..model.documents import FrontMatter
from ..syntax.records import Math
from ..tex.parse.macros import macro_texts

CODE = "macro-unused"

_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_DEFINITION = lazy_pattern(
    r"\\(?:(?:new|renew|provide)command|DeclareMathOperator|[gex]?def|let)\s*\*?\s*\{?\s*(\\[A-Za-z]+)"
)


class MacroUse(Struct, frozen=True):
    """Macros that one page declares and uses."""

    declared: Mapping[str, Place]
    """Macro that the front matter or a formula declares → location of the declaration."""
    own: frozenset[str]
    """Macros of the front matter, which override those of the site."""
    used: frozenset[str]
    """Commands that occur outside their own declaration."""

    @property
    def site_candidates(self) -> frozenset[str]:
        """Commands used on the page that may be macros of the settings."""
        return self.used - self.own


def macro_use(text: str, front: FrontMatter, formulas: Iterable[Math]) -> MacroUse:
    """Return the macros that a page declares and uses. text: source of the page. front: its front matter.
    formulas: its formulas."""
    counts = Counter(_COMMAND.findall(text))
    declared = {}
    lines = text.split("\n")
    for name in front.math.macros:
        declared[name] = _name_place(name, front.places.get("math", Place(1)), lines)
        counts[name] -= 1
    for math in formulas:
        for found in _DEFINITION.finditer(math.tex):
            counts[found[1]] -= 1
            if found[1] not in declared:
                declared[found[1]] = math.origin.place(found.start(1), len(found[1]))
    used = frozenset(name for name, count in counts.items() if count > 0)
    return MacroUse(declared, frozenset(front.math.macros), used)


def find_definition(name: str, text: str, front: FrontMatter, formulas: Iterable[Math]) -> Place | None:
    """Return the location where a page declares a macro; None if it does not. The other parameters are those
    of `macro_use`."""
    return macro_use(text, front, formulas).declared.get(name)


def report_page_macros(page: MacroUse, reporter: Reporter) -> None:
    """Warn about macros that a page declares and never uses."""
    for name, place in page.declared.items():
        if name not in page.used:
            fix = remove_entry(place, reporter.lines) if name in page.own else None
            reporter.warn(
                CODE, f'macro "{name}" is never used', place, f"remove `{name}` from `macros:`", fix
            )


def find_commands(text: str) -> set[str]:
    """Return all commands in a text that may be macros of the settings."""
    return set(_COMMAND.findall(text))


def report_site_macros(commands: Iterable[str], settings: LoadedConfig, reporter: Reporter) -> None:
    """Report macros of the settings that are not among `commands`, the commands used in pages."""
    macros = macro_texts(settings.config.math.macros)
    used = set(commands)
    pending = [name for name in macros if name in used]
    while pending:
        inner = [
            name for name in _COMMAND.findall(macros[pending.pop()]) if name in macros and name not in used
        ]
        used.update(inner)
        pending += inner
    for name in author_macros(macros):
        if name not in used and name.startswith("\\"):
            start = settings.locations.get(("math", "macros", name)) or settings.locations[("math", "macros")]
            place = _name_place(name, Place(start.line), settings.lines)
            fix = remove_entry(place, settings.lines)
            reporter.warn(
                CODE,
                f'macro "{name}" is never used in the site',
                place,
                f"remove `{name}` from `macros:`",
                fix,
            )


def _name_place(name: str, start: Place, lines: Sequence[str]) -> Place:
    """Return the location of a macro's name in settings, where it begins at `start` or later. If the name is
    escaped there, return `start`."""
    pattern = re.compile(rf"{re.escape(name)}(?![A-Za-z])")
    for number in range(start.line, len(lines) + 1):
        found = pattern.search(lines[number - 1], start.column - 1 if number == start.line else 0)
        if found:
            return Place(number, found.start() + 1, len(name))
    return start


# Macros that `blogsmith new site` writes. The author has not chosen them, so no lint applies to them.


STARTER_MACROS: Mapping[str, str] = MappingProxyType(
    {"\\R": "\\mathbb{R}", "\\softmax": "\\operatorname{softmax}"}
)
"""Macros in `starter/blogsmith.yaml`."""


def author_macros(macros: Mapping[str, str]) -> Mapping[str, str]:
    """Return the macros of the settings without the macros of the starter site. If the author changed or
    removed a macro of the starter site, return all macros."""
    if any(macros.get(name) != body for name, body in STARTER_MACROS.items()):
        return macros
    return {name: body for name, body in macros.items() if name not in STARTER_MACROS}
