"""Targets of references, and the counters for the numbers that references print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...base.diagnostics.fixes import Fix
from ...base.diagnostics.model import Place
from ...model.units import number_to_letters
from ..state import PageState

BY_SECTION = " by section"
"""Suffix of `math.numbering` that restarts the equation counter in each section."""


def normal_id(label: str) -> str:
    """Return the id for a label: `eq:x` becomes `eq-x`, and whitespace becomes hyphens."""
    return "-".join(label.split()).replace(":", "-", 1)


def is_figure_id(name: str) -> bool:
    """Return whether the id numbers its element as a figure. Any other id is only an anchor."""
    return name.startswith("fig-")


_STATEMENT = "write the label after the marker: `> [!THEOREM] {{#{label}}}`"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "fig": 'write `![What it shows](a.png){{#{label}}}`, or `id="{label}"` on the block that shows it',
        **dict.fromkeys(
            ("tbl", "tab"), "write the label below the table, in a line such as `: Caption {{#{label}}}`"
        ),
        "lst": 'write the label on the fence: ```python {{#{label} cap="…"}}',
        "sec": "write the label after the heading: `## Heading {{#{label}}}`",
        **dict.fromkeys(("thm", "lem", "cor", "prp", "def"), _STATEMENT),
    }
)
"""First word of a label → hint on how to set a label of this kind."""


def label_hint(label: str) -> str:
    """Return a hint on how to set a label of this kind."""
    kind = normal_id(label).partition("-")[0]
    hint = _HINTS.get(kind, "")
    return hint.format(label=label) if hint else "write a label as `\\label{eq:x}` or `{#eq:x}`"


class Label(Struct, frozen=True):
    """The target of a reference."""

    id: str
    kind: str
    """`eq`, `fig`, `tbl`, `lst`, `thm` or `sec`."""
    name: str
    """Word before the number: `Equation`, `Theorem`."""
    number: str
    r"""Number as printed, without parentheses.

    It is TeX text for a `\tag`, the heading's text for an unnumbered section, and empty for an equation
    without a number.
    """
    place: Place

    @property
    def is_heading_text(self) -> bool:
        """Whether references print the text of an unnumbered heading."""
        return self.kind == "sec" and not self.number[:1].isdigit()


@dataclass(slots=True)
class SubequationCounter:
    """The counter of `subequations`: (1a), (1b)."""

    labelled: bool
    """The group has a label, so each of its equations gets a number."""
    number: str = ""
    """Shared number; empty until the first equation is numbered."""
    count: int = 0


@dataclass(slots=True)
class PageNumbers:
    """The counters and labels of one page."""

    page: PageState
    numbering: str
    """`all`, `labelled` or `none`."""
    by_section: bool
    macros: Mapping[str, Any]
    """TeX macros in the form that `tex` uses: the site's, the page's, and those that formulas have defined so
    far."""
    counts: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    """Name of a counter → number of theorems and similar statements so far."""
    labels: dict[str, Label] = field(default_factory=dict)
    letters: SubequationCounter | None = None
    """Counter inside `subequations`, otherwise None."""
    contents: dict[str, int] = field(default_factory=dict)
    """Id derived from an equation's content → number of equations with that content."""

    def next_number(self, kind: str) -> str:
        """Return the next number of `kind`."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return str(self.counts[kind])

    def next_statement(self, counter: str) -> str:
        """Return the next number of the counter `counter`, with the section number if that is enabled."""
        self.statements[counter] = self.statements.get(counter, 0) + 1
        section = self.counts.get("section", 0) if self.page.options.statements_by_section else 0
        return f"{section}.{self.statements[counter]}" if section else str(self.statements[counter])

    def next_equation(self) -> str:
        """Return the next equation number, with the section number or letter if that is enabled."""
        if self.letters is None:
            section = self.counts.get("section", 0) if self.by_section else 0
            return f"{section}.{self.next_number('eq')}" if section else self.next_number("eq")
        letters, self.letters = self.letters, None
        letters.number = letters.number or self.next_equation()
        self.letters = letters
        letters.count += 1
        return letters.number + number_to_letters(letters.count)

    def number_figure(self, name: str, place: Place) -> tuple[str, str]:
        """Return the id and the number of a figure with the id `name`.

        The id is empty if it is already in use. The number is empty if the id is only an anchor.
        """
        if not is_figure_id(name):
            return name, ""
        number = self.next_number("fig")
        return self.add(Label(name, "fig", "Figure", number, place)), number

    def begin_section(self) -> None:
        """Increment the section number and reset the counters that depend on it."""
        self.counts["section"] = self.counts.get("section", 0) + 1
        if self.by_section:
            self.counts["eq"] = 0
        if self.page.options.statements_by_section:
            self.statements.clear()

    def add(self, label: Label) -> str:
        """Store a label and return its id. A duplicate is an error and returns an empty string."""
        first = self.labels.get(label.id)
        if first:
            message = f'duplicate label "{label.id}" (first defined on line {first.place.line})'
            self.page.reporter.error("label-twice", message, label.place, fix=self._rename(label))
            return ""
        self.labels[label.id] = label
        return label.id

    def _rename(self, label: Label) -> Fix | None:
        """Return a fix that renames a duplicate label."""
        place, reporter = label.place, self.page.reporter
        line = reporter.lines[place.line - 1] if place.line <= len(reporter.lines) else ""
        written = line[place.column - 1 : place.column - 1 + place.length].strip("{#}")
        if written.lstrip().startswith(("%", "<")):
            # A shortcode or tag, with the label among its arguments.
            written = label.id
        number = next(number for number in count(2) if f"{label.id}-{number}" not in self.labels)
        return reporter.substitute(place, written, f"{written}-{number}")
