r"""The formulas of the gallery, read from `gallery/*.txt`.

A file is a group: `# Title` first, `packages: a, b` under it if its formulas need them. A line that begins
with `$ ` holds inline formulas, one with `$$ ` displays, set apart by `\quad` where no brace is open. A line
with `~ ` behind it is what KaTeX gets in its place, because KaTeX lacks a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("gallery")

# what acts on the rest of its line: such a line is one formula
_ACTS_ON = re.compile(
    r"\\(?:def|gdef|let|color|(?:re)?newcommand|definecolor|Declare\w+|providecommand|\w+style)(?![A-Za-z])"
)
_STEP = re.compile(
    r"(?P<open>\\begin(?![A-Za-z])|\\left(?![A-Za-z])|(?<!\\)\{)"
    r"|(?P<close>\\end(?![A-Za-z])|\\right(?![A-Za-z])|(?<!\\)\})"
    r"|(?P<gap>\\q?quad(?![A-Za-z]))|\\."
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a group: a few formulas beside each other."""

    tex: str
    """As written, without the sign in front."""
    display: bool
    formulas: tuple[str, ...]
    """At least one."""
    for_katex: tuple[str, ...]
    """What KaTeX gets for each of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """One file of formulas that belong together."""

    name: str
    """Of the file, without number and ending."""
    title: str
    packages: tuple[str, ...]
    lines: tuple[Line, ...]


def read_groups(names: tuple[str, ...] = ()) -> tuple[Group, ...]:
    """The groups with these names, all if there are none, in the order of their files."""
    groups = tuple(_group(path) for path in sorted(FOLDER.glob("*.txt")))
    unknown = set(names) - {group.name for group in groups}
    if unknown:
        raise SystemExit(f"no such group: {', '.join(sorted(unknown))}")
    return tuple(group for group in groups if not names or group.name in names)


def _group(path: Path) -> Group:
    title, *rest = path.read_text("utf-8").splitlines()
    packages: tuple[str, ...] = ()
    lines: list[Line] = []
    for text in rest:
        sign, _, tex = text.partition(" ")
        if sign == "packages:":
            packages = tuple(name.strip() for name in tex.split(","))
        elif sign in ("$", "$$"):
            formulas = split(tex)
            lines.append(Line(tex, sign == "$$", formulas, formulas))
        elif sign == "~":
            lines[-1] = _replaced(lines[-1], tex)
        elif text:
            raise ValueError(f"{path.name}: neither a formula nor a title: {text}")
    return Group(path.stem.partition("-")[2], title.removeprefix("# "), packages, tuple(lines))


def _replaced(line: Line, for_katex: str) -> Line:
    """`line` with other TeX for KaTeX; as one formula if the two fall into different numbers of pieces."""
    theirs = split(for_katex)
    ours = line.formulas
    if len(ours) != len(theirs):
        ours, theirs = (line.tex,), (for_katex,)
    return Line(line.tex, line.display, ours, theirs)


def split(tex: str) -> tuple[str, ...]:
    """The formulas of a line."""
    if _ACTS_ON.search(tex):
        return (tex,)
    cuts, depth = [0], 0
    for step in _STEP.finditer(tex):
        depth += (step["open"] is not None) - (step["close"] is not None)
        if step["gap"] and depth == 0:
            cuts += step.span()
    pieces = _pairs([*cuts, len(tex)])
    return tuple(tex[start:end].strip() for start, end in pieces if tex[start:end].strip())


def _pairs(ends: list[int]) -> Iterator[tuple[int, int]]:
    return zip(ends[::2], ends[1::2], strict=True)
