"""What references can point to, and the counters behind the numbers they print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...base.diagnostics.fixes import Fix
from ...base.diagnostics.model import Place
from ...model.units import count_letters
from ..state import PageState

BY_SECTION = " by section"
"""End of a setting `math.numbering` that counts equations anew in each section."""


def normal_id(label: str) -> str:
    """`eq:x` → `eq-x`: the id a label becomes; an id holds no blanks."""
    return "-".join(label.split()).replace(":", "-", 1)


def is_figure_id(name: str) -> bool:
    """Return whether an id numbers what carries it as a figure; any other id is only an anchor."""
    return name.startswith("fig-")


_STATEMENT = "a statement has its label behind the marker: > [!THEOREM] {{#{label}}}"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "fig": 'write ![What it shows](a.png){{#{label}}}, or id="{label}" on the block that shows it',
        **dict.fromkeys(
            ("tbl", "tab"), "a table has its label below it, in a line such as : Caption {{#{label}}}"
        ),
        "lst": 'a listing has its label on the fence: ```python {{#{label} cap="…"}}',
        "sec": "a section has its label behind the heading: ## Heading {{#{label}}}",
        **dict.fromkeys(("thm", "lem", "cor", "prp", "def"), _STATEMENT),
    }
)
"""First word of a label → how such a label is made."""


def label_hint(label: str) -> str:
    """How a label of this kind is made."""
    kind = normal_id(label).partition("-")[0]
    hint = _HINTS.get(kind, "")
    return hint.format(label=label) if hint else "a label is written \\label{eq:x} or {#eq:x}"


class Label(Struct, frozen=True):
    """Something a reference can point to."""

    id: str
    kind: str
    """`eq`, `fig`, `tbl`, `lst`, `thm`, `sec`."""
    name: str
    """Word before the number: `Equation`, `Theorem`."""
    number: str
    """As printed, without parentheses, TeX text if a `\\tag` says it; the heading's text for an
    unnumbered section, empty for an equation that shows no number."""
    place: Place


@dataclass(slots=True)
class Letters:
    """The count of `subequations`: (1a), (1b)."""

    labelled: bool
    """They have a label of their own, so each of them gets a number."""
    number: str = ""
    """That they share; empty until the first of them is numbered."""
    count: int = 0


@dataclass(slots=True)
class Numbers:
    """The counters and labels of one page."""

    page: PageState
    numbering: str
    """`all`, `labelled` or `none`."""
    by_section: bool
    macros: Mapping[str, Any]
    """TeX macros known so far: the site's, the page's, then those its formulas define, as `tex` has them."""
    counts: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    """Counts of theorems and their like, by the name of what counts them."""
    labels: dict[str, Label] = field(default_factory=dict)
    letters: Letters | None = None
    """Inside `subequations`."""
    contents: dict[str, int] = field(default_factory=dict)
    """Id made from an equation's content → how many equations have that content."""

    def next_number(self, kind: str) -> str:
        """The next number of `kind`."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return str(self.counts[kind])

    def next_statement(self, counter: str) -> str:
        """The next number of the statements that `counter` counts, with its section where it is asked for."""
        self.statements[counter] = self.statements.get(counter, 0) + 1
        section = self.counts.get("section", 0) if self.page.options.statements_by_section else 0
        return f"{section}.{self.statements[counter]}" if section else str(self.statements[counter])

    def next_equation(self) -> str:
        """The next number of an equation, with its section or letter where they are asked for."""
        if self.letters is None:
            section = self.counts.get("section", 0) if self.by_section else 0
            return f"{section}.{self.next_number('eq')}" if section else self.next_number("eq")
        letters, self.letters = self.letters, None
        letters.number = letters.number or self.next_equation()
        self.letters = letters
        letters.count += 1
        return letters.number + count_letters(letters.count)

    def number_figure(self, name: str, place: Place) -> tuple[str, str]:
        """Return the id and the number of a figure with the id `name`.

        The id is empty if the page has it already. The number is empty if the id is only an anchor.
        """
        if not is_figure_id(name):
            return name, ""
        number = self.next_number("fig")
        return self.add(Label(name, "fig", "Figure", number, place)), number

    def begin_section(self) -> None:
        """A heading of the highest level stands here."""
        self.counts["section"] = self.counts.get("section", 0) + 1
        if self.by_section:
            self.counts["eq"] = 0
        if self.page.options.statements_by_section:
            self.statements.clear()

    def add(self, label: Label) -> str:
        """Remember a label; its id, or empty for the second use of an id, which is an error."""
        first = self.labels.get(label.id)
        if first:
            message = f"label {label.id} is used on line {first.place.line} already"
            self.page.reporter.error("label-twice", message, label.place, fix=self._rename(label))
            return ""
        self.labels[label.id] = label
        return label.id

    def _rename(self, label: Label) -> Fix | None:
        """A fix that gives a label another name, like the one that is taken."""
        place, reporter = label.place, self.page.reporter
        line = reporter.lines[place.line - 1] if place.line <= len(reporter.lines) else ""
        written = line[place.column - 1 : place.column - 1 + place.length].strip("{#}")
        if written.lstrip().startswith(("%", "<")):
            # a shortcode or a tag, with the label among its arguments
            written = label.id
        number = next(number for number in count(2) if f"{label.id}-{number}" not in self.labels)
        return reporter.substitute(place, written, f"{written}-{number}")
