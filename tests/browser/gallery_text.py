r"""The formulas of the gallery, read from `gallery/*.txt`.

A file is a group. It starts with `# Title`, optionally followed by `packages: a, b`. A line that starts with
`$ ` contains inline formulas, one with `$$ ` displays, separated by `\quad` outside braces. A following line
with `~ ` is the input for KaTeX instead, if KaTeX lacks a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("gallery")

# Commands that affect the rest of their line: a line with one of them is a single formula.
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
    """TeX of the line, without the marker at its start."""
    display: bool
    formulas: tuple[str, ...]
    """At least one formula."""
    for_katex: tuple[str, ...]
    """Input for KaTeX for each of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """One file of related formulas."""

    name: str
    """Name of the file, without number and extension."""
    title: str
    packages: tuple[str, ...]
    lines: tuple[Line, ...]


def read_groups(names: tuple[str, ...] = ()) -> tuple[Group, ...]:
    """Return the groups with these names in the order of their files; all if there are no names."""
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
    """Return `line` with other TeX for KaTeX; as one formula if the numbers of formulas differ."""
    theirs = split(for_katex)
    ours = line.formulas
    if len(ours) != len(theirs):
        ours, theirs = (line.tex,), (for_katex,)
    return Line(line.tex, line.display, ours, theirs)


def split(tex: str) -> tuple[str, ...]:
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
