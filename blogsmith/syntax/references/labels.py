"""Targets of references, the counters that number them, and all ids of a page, which links to it may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from markdown_it.token import Token
from msgspec import Struct, field
from msgspec.structs import replace

from ...base.diagnostics.model import Place, TextMap
from ...base.patterns import lazy_pattern
from ...model.cells import Cell
from ...model.units import number_to_letters
from ..records import (
    Callout,
    CitationEntry,
    Fence,
    Figure,
    Heading,
    Math,
    NoteItem,
    NoteRef,
    Shortcode,
    TableRecord,
)
from ..state import PageState

_RAW_ID = lazy_pattern(r"<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*[\"']?([^\s\"'<>]+)")
_NAMED = frozenset((Callout, Fence, Figure, Heading, Shortcode, TableRecord))


def anchors(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the ids of headings, labels, notes, references, figures and the author's own HTML."""
    found: set[str] = set()
    _add_ids(tokens, found)
    return frozenset(found - {""})


def _add_ids(tokens: Sequence[Token], found: set[str]) -> None:
    for token in tokens:
        if "id" in token.attrs:
            found.add(str(token.attrs["id"]))
        # Most tokens have no records, and a page of tables has tens of thousands of tokens.
        if token.meta:
            for record in token.meta.values():
                kind = type(record)
                if kind in _NAMED:
                    found.add(record.id)
                    if kind is Heading:
                        found.add(record.old_id)
                elif kind is not TextMap:
                    found.update(_record_ids(record))
        if token.type in ("html_block", "html_inline"):
            found.update(_RAW_ID.findall(token.content))
        if token.children:
            _add_ids(token.children, found)


def _cell_ids(cell: Cell) -> Iterator[str]:
    """Yield the ids of a cell: `cell-x`, or `x` if it never runs; and `fig-x` or `tbl-x` for its output."""
    if cell.label and cell.options.include and (cell.options.eval or cell.options.echo):
        yield f"cell-{cell.label}" if cell.options.eval else cell.label
    if cell.figure_number or cell.table_number:
        yield cell.label


def _record_ids(record: object) -> Iterator[str]:
    if isinstance(record, Cell):
        yield from _cell_ids(record)
    elif isinstance(record, Math):
        yield from (row.id for row in record.rows)
    elif isinstance(record, NoteItem):
        yield f"fn-{record.number}"
    elif isinstance(record, NoteRef):
        yield f"fnref-{record.number}" if record.use == 1 else f"fnref-{record.number}-{record.use}"
    elif isinstance(record, tuple):
        yield from (f"ref-{entry.key}" for entry in record if isinstance(entry, CitationEntry))


BY_SECTION = " by section"
"""Suffix of `math.numbering` that restarts the equation counter in each section."""


def normal_id(label: str) -> str:
    """Return the HTML id for a label: `eq:x` becomes `eq-x`, and whitespace becomes hyphens."""
    return "-".join(label.split()).replace(":", "-", 1)


def is_figure_id(name: str) -> bool:
    """Return whether an element with this id is numbered as a figure. With other ids, it is only a link
    target."""
    return name.startswith("fig-")


_STATEMENT = "write the label after the marker: `> [!THEOREM] {{#{label}}}`"
_EXERCISE = "write the label after the marker: `> [!EXERCISE] {{#{label}}}`"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "fig": 'write `![What it shows](a.png){{#{label}}}`, or `id="{label}"` on the block that shows it',
        **dict.fromkeys(
            ("tbl", "tab"), "write the label below the table, in a line such as `: Caption {{#{label}}}`"
        ),
        "lst": 'write the label on the fence: ```python {{#{label} cap="…"}}',
        "sec": "write the label after the heading: `## Heading {{#{label}}}`",
        **dict.fromkeys(("thm", "lem", "cor", "prp", "def", "cnj", "exm", "rem"), _STATEMENT),
        **dict.fromkeys(("exr", "sol", "alg"), _EXERCISE),
    }
)
"""Kind in a label → hint on how to set a label of this kind."""


def label_hint(label: str) -> str:
    """Return a hint on how to set `label` on an element."""
    kind = normal_id(label).partition("-")[0]
    hint = _HINTS.get(kind, "")
    return hint.format(label=label) if hint else f"write `\\label{{{label}}}` in the formula to define it"


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
    series: str = ""
    """Series in which the number is unique, because it starts with the part; empty if the number is unique
    only on its page."""

    is_withheld: bool = False
    """Whether the label is in a solution that the page leaves out."""
    is_text: bool = False
    """Whether `number` is the text of a heading."""

    @property
    def is_heading_text(self) -> bool:
        """Whether the target is an unnumbered heading, so that references print its text."""
        return self.kind == "sec" and self.is_text


class SubequationCounter(Struct):
    """Counter of the equations in `subequations`: (1a), (1b)."""

    labelled: bool
    """Whether the group has a label. If so, each of its equations gets a number."""
    number: str = ""
    """Number that the group shares; empty until the first equation is numbered."""
    count: int = 0


class PageNumbers(Struct):
    """The counters and labels of one page."""

    page: PageState
    numbering: str
    """Equations that get a number: `all`, `labelled` or `none`."""
    by_section: bool
    macros: Mapping[str, Any]
    """TeX macros as `tex/` expects them: the site's, the page's, and those defined in formulas so far."""
    counts: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    """Name of a counter → number of theorems and similar statements so far."""
    labels: dict[str, Label] = field(default_factory=dict)
    letters: SubequationCounter | None = None
    """Counter inside `subequations`, otherwise None."""
    is_withheld: bool = False
    """Whether the page leaves out the block that is being numbered."""
    is_appendix: bool = False
    """Whether sections have letters, because an appendix has begun."""
    contents: dict[str, int] = field(default_factory=dict)
    """Id derived from an equation's content → number of equations with that content."""

    def count(self, kind: str) -> int:
        """Increment the count of `kind` and return it."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return self.counts[kind]

    def next_number(self, kind: str, section: int = 0) -> str:
        """Return the next number of `kind`, preceded by the part of the page and by the section, if there are
        any."""
        return self._join(section, self.count(kind))

    def _join(self, section: int, count: int) -> str:
        name = number_to_letters(section).upper() if section and self.is_appendix else str(section or "")
        return ".".join(filter(None, (self.page.chapter, name, str(count))))

    def next_statement(self, counter: str) -> str:
        """Return the next number of the counter `counter`, with the section number if that is enabled."""
        self.statements[counter] = self.statements.get(counter, 0) + 1
        section = self.counts.get("section", 0) if self.page.options.statements_by_section else 0
        return self._join(section, self.statements[counter])

    def next_equation(self) -> str:
        """Return the next equation number, with the section number or letter if that is enabled."""
        if self.letters is None:
            return self.next_number("eq", self.counts.get("section", 0) if self.by_section else 0)
        letters, self.letters = self.letters, None
        letters.number = letters.number or self.next_equation()
        self.letters = letters
        letters.count += 1
        return letters.number + number_to_letters(letters.count)

    def number_figure(self, name: str, place: Place) -> tuple[str, str]:
        """Return the id and the number of the figure whose author wrote the id `name`. The id is empty if it
        is already in use. The number is empty if the id does not start with `fig-`."""
        if not is_figure_id(name):
            return name, ""
        number = self.next_number("fig")
        return self.add(Label(name, "fig", "Figure", number, place)), number

    def begin_appendix(self) -> None:
        """Count the sections that follow with letters."""
        self.is_appendix, self.counts["section"] = True, 0

    def begin_section(self) -> None:
        """Increment the section number and reset the counters that depend on it."""
        self.count("section")
        if self.by_section:
            self.counts["eq"] = 0
        if self.page.options.statements_by_section:
            self.statements.clear()

    def add(self, label: Label) -> str:
        """Store a label and return its id. A duplicate is an error and returns an empty string."""
        first = self.labels.get(label.id)
        if first:
            written, other = self._free_name(label)
            message = f'duplicate label "{written}" (first defined on line {first.place.line})'
            fix = self.page.reporter.substitute(label.place, written, other)
            hint = f"rename one of them, for example to `{other}`"
            self.page.reporter.error("label-twice", message, label.place, hint, fix)
            return ""
        if self.page.series or self.is_withheld:
            label = replace(label, series=self.page.series, is_withheld=self.is_withheld)
        self.labels[label.id] = label
        return label.id

    def _free_name(self, label: Label) -> tuple[str, str]:
        """Return (the duplicate label as the author wrote it, a similar label that is not in use)."""
        place, reporter = label.place, self.page.reporter
        line = reporter.lines[place.line - 1] if place.line <= len(reporter.lines) else ""
        written = line[place.column - 1 : place.column - 1 + place.length].strip("{#}")
        if written.lstrip().startswith(("%", "<")):
            # `place` is a shortcode or tag that contains the label among its arguments.
            written = label.id
        written = written if normal_id(written) == label.id else label.id
        number = next(number for number in count(2) if f"{label.id}-{number}" not in self.labels)
        return written, f"{written}-{number}"
