"""Macros that are declared and never used, except those of the starter.

Uses are counted in the text as written: whatever is not the declaration itself counts, also a mention
in code, so that the lint is silent rather than wrong.
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

CODE = "macro-unused"

_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_DEFINITION = lazy_pattern(
    r"\\(?:(?:new|renew|provide)command|DeclareMathOperator|[gex]?def|let)\s*\*?\s*\{?\s*(\\[A-Za-z]+)"
)


class MacroUse(Struct, frozen=True):
    """What one page has to do with macros."""

    declared: Mapping[str, Place]
    """Macro of the front matter or of a formula → where it is declared."""
    own: frozenset[str]
    """Those of the front matter, which stand in for the site's of the same name."""
    used: frozenset[str]
    """Commands that stand somewhere else than in their own declaration."""

    @property
    def of_site(self) -> frozenset[str]:
        """Those of them that may be macros of the settings."""
        return self.used - self.own


def macro_use(text: str, front: FrontMatter, formulas: Iterable[Math]) -> MacroUse:
    """Look through the source `text` of a page with its front matter and formulas."""
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
    """Where a page declares a macro; None if it does not. The rest as in `macro_use`."""
    return macro_use(text, front, formulas).declared.get(name)


def report_page_macros(page: MacroUse, reporter: Reporter) -> None:
    """Warn of macros that a page declares and never uses."""
    for name, place in page.declared.items():
        if name not in page.used:
            fix = remove_entry(place, reporter.lines) if name in page.own else None
            reporter.warn(CODE, f"macro {name} is never used", place, fix=fix)


def commands_in(text: str) -> set[str]:
    """Everything in a text that may be a macro of the settings."""
    return set(_COMMAND.findall(text))


def report_site_macros(commands: Iterable[str], settings: LoadedConfig, reporter: Reporter) -> None:
    """Report macros of the settings that are not among the commands which pages use."""
    macros = settings.config.math.macros
    used = set(commands)
    pending = [name for name in macros if name in used]
    while pending:
        inner = [
            name for name in _COMMAND.findall(macros[pending.pop()]) if name in macros and name not in used
        ]
        used.update(inner)
        pending += inner
    for name in chosen_macros(macros):
        if name not in used:
            value = settings.places[("math", "macros", name)]
            place = _name_place(name, Place(value.line), settings.lines)
            fix = remove_entry(place, settings.lines)
            reporter.warn(CODE, f"macro {name} is used nowhere in the site", place, fix=fix)


def _name_place(name: str, start: Place, lines: Sequence[str]) -> Place:
    """Where the name of a macro stands in settings that begin at `start`; `start` if escapes hide it."""
    pattern = re.compile(rf"{re.escape(name)}(?![A-Za-z])")
    for number in range(start.line, len(lines) + 1):
        found = pattern.search(lines[number - 1], start.column - 1 if number == start.line else 0)
        if found:
            return Place(number, found.start() + 1, len(name))
    return start


# Macros that `blogsmith new site` writes: nobody has chosen them, so no lint holds an author to them.


STARTER_MACROS: Mapping[str, str] = MappingProxyType(
    {"\\R": "\\mathbb{R}", "\\softmax": "\\operatorname{softmax}"}
)
"""Those of `starter/blogsmith.yaml`."""


def chosen_macros(macros: Mapping[str, str]) -> Mapping[str, str]:
    """The macros of a site's settings without the starter's, as long as all of these are what they were."""
    if any(macros.get(name) != body for name, body in STARTER_MACROS.items()):
        return macros
    return {name: body for name, body in macros.items() if name not in STARTER_MACROS}
