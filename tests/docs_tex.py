"""The manual's lists of TeX: what is supported, its syntax and its output.

`tex_examples.txt` contains an example of every command with arguments. Commands for symbols are read from
the tables of `blogsmith.tex`. Every list is a generated part of a page: `<!-- tex: group kind -->` or `<!--
signs: group -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from blogsmith.tex.convert import convert_formula

EXAMPLES = Path(__file__).parent / "tex_examples.txt"
PHYSICS = frozenset(("physics",))
_NAME = re.compile(r"\\[A-Za-z@]+\*?|\\.|[^\s|]+")
_ALTTEXT = re.compile(r' alttext="[^"]*"')
_GROUP = re.compile(r"\n=== ([a-z-]+)( physics)?\n")
_BREAK = re.compile(r"(\\begin\{[^{}]*\}(?:\{[^{}]*\}|\[[^\[\]]*\])*|\\\\|\\cr) *|(?= *\\end\{) *")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the file of examples."""

    names: tuple[str, ...]
    """Commands, or environments without a backslash."""
    example: str
    """TeX that shows the first of them."""
    note: str
    named: tuple[str, ...] = ()
    """More names, which are listed without output."""

    def formula(self, name: str) -> str:
        """Return the example with `name` in it, replacing the first name if necessary."""
        if _holds(self.example, name):
            return self.example
        first = self.names[0]
        return _pattern(first).sub(lambda _: _written(name), self.example)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of related commands."""

    rows: tuple[Row, ...]
    packages: frozenset[str]
    """LaTeX packages that the page must request."""


def _written(name: str) -> str:
    return name if name[0] == "\\" or not name[0].isalpha() else f"{{{name}}}"


def _pattern(name: str) -> re.Pattern[str]:
    ending = "(?![A-Za-z])" if name[0] == "\\" and name[-1].isalpha() else ""
    return re.compile(re.escape(_written(name)) + ending)


def _holds(example: str, name: str) -> bool:
    return _pattern(name).search(example) is not None


@cache
def groups() -> Mapping[str, Group]:
    """Map the name of each group in the file to its rows; ValueError if the form is invalid."""
    _, *parts = _GROUP.split(EXAMPLES.read_text(encoding="utf-8"))
    found: dict[str, Group] = {}
    for name, packages, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        rows = tuple(_row(line) for line in body.splitlines() if line.strip())
        if name in found or not rows:
            raise ValueError(f"group {name} is empty or stands twice")
        found[name] = Group(rows, frozenset((packages or "").split()))
    return MappingProxyType(found)


def _row(line: str) -> Row:
    before, _, note = line.partition("  // ")
    names, bar, example = before.partition(" | ")
    shown, _, more = names.partition(" & ")
    found = tuple(_NAME.findall(shown))
    if bar and not _holds(example, found[0]):
        raise ValueError(f"the example of {found[0]} does not hold it: {example}")
    return Row(found, example.strip() if bar else found[0], note.strip(), tuple(_NAME.findall(more)))


def listed() -> set[str]:
    """Return every name in the file of examples."""
    return {name for group in groups().values() for row in group.rows for name in row.names + row.named}


def mathml(tex: str, packages: frozenset[str] = frozenset(), *, display: bool = False) -> str:
    """Return the output of `tex`, without the copy of its source."""
    return _ALTTEXT.sub("", convert_formula(tex, display=display, packages=packages).mathml, count=1)


@dataclass(slots=True)
class Shown:
    """A line of a table: names with the same output."""

    formula: str
    names: list[str]
    note: str
    named: tuple[str, ...]


def alike(row: Row, packages: frozenset[str]) -> list[Shown]:
    """Return the examples of the row, with names of equal output grouped."""
    found: dict[str, Shown] = {}
    for name in row.names:
        formula = row.formula(name)
        note, named = (row.note, row.named) if name == row.names[0] else ("", ())
        shown = found.setdefault(mathml(formula, packages), Shown(formula, [], note, named))
        shown.names.append(name)
    return list(found.values())


def _shown(group: Group) -> list[Shown]:
    return [shown for row in group.rows for shown in alike(row, group.packages)]


def code(text: str) -> str:
    """Return `text` as a code span, even if it contains backticks."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text[:1] in "` " or text[-1:] in "` " else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def codes(names: Iterable[str]) -> str:
    """Return `names` as code, separated by commas."""
    return ", ".join(code(name) for name in names)


def examples(group: Group) -> str:
    """Return a table of TeX and its output."""
    found = _shown(group)
    has_notes = any(shown.note for shown in found)
    lines = ["| TeX | prints |" + " note |" * has_notes, "|:--|:--|" + ":--|" * has_notes]
    for shown in found:
        others = [name for name in shown.names if not _holds(shown.formula, name)]
        also = f", also {codes(others)}" if others else ""
        named = f"; similarly {codes(shown.named)}" if shown.named else ""
        cells = [_cell(code(shown.formula) + also + named), f"${shown.formula}$"]
        cells += [_cell(shown.note)] if has_notes else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return `text` for a table cell; bars in formulas need no escape."""
    return text.replace("|", "\\|")


def displays(group: Group) -> str:
    """Return TeX in a fence, followed by its output, for display math."""
    parts = []
    for row in group.rows:
        shown = laid_out(row.formula(row.names[0]))
        note = f": {row.note}" if row.note else ""
        formula = shown if is_display(shown) else f"$$\n{shown}\n$$"
        parts += [f"{codes(row.names)}{note}", f"```latex\n{formula}\n```", formula]
    return "\n\n".join(parts)


def is_display(tex: str) -> bool:
    """Return whether `tex` is an environment that needs no dollars around it."""
    return any(
        tex.startswith(f"\\begin{{{name}}}") for row in groups()["numbered"].rows for name in row.names
    )


def laid_out(tex: str) -> str:
    """Return `tex` with a line for each row."""
    lines = _BREAK.sub(lambda match: f"{match[1] or ''}\n", tex).split("\n")
    made, depth = [], 0
    for line in (line.strip() for line in lines if line.strip()):
        depth -= line.startswith("\\end")
        made.append("  " * max(0, depth) + line)
        depth += line.startswith("\\begin") or "\\begin{" in line
    return "\n".join(made)


def words(group: Group) -> str:
    """Return a table of commands without output, and their effect."""
    rows = [f"| {_cell(codes(row.names))} | {_cell(row.note)} |" for row in group.rows]
    return "\n".join(["| TeX | effect |", "|:--|:--|", *rows])


def signs(entries: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a list in columns. entries: output as Markdown, and its names."""
    lines = [f"- {shown} {code(' '.join(names))}" for shown, names in entries]
    return "\n".join(['<div class="symbols">', "", *lines, "", "</div>"])


def own_signs(group: Group) -> str:
    """Return a list of commands without arguments, with their output."""
    return signs((f"${shown.formula}$", shown.names) for shown in _shown(group))


KINDS: Mapping[str, Callable[[Group], str]] = MappingProxyType(
    {"": examples, "displays": displays, "words": words, "signs": own_signs}
)


def part(arguments: Sequence[str]) -> str:
    """Return the part `<!-- tex: group kind -->`."""
    name, kind = (*arguments, "")[:2]
    if name not in groups() or kind not in KINDS:
        raise ValueError(f"no list of TeX is called {name} {kind}".rstrip())
    return KINDS[kind](groups()[name])
