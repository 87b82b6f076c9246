"""Parts of a source file: between marks in its comments, a function or class of Python by its name, or lines.

Marks are those that editors fold by (`# region flash` … `# endregion`), brackets (`# [flash]` …
`# [/flash]`), and those of PyMdown's snippets (`# --8<-- [start:flash]`).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from ..base.patterns import lazy_pattern

_MARK = lazy_pattern(
    r"[ \t]*(?:#|//|--|%|;+|/\*|<!--)[ \t]*(?:"
    r"#?(?P<begin>region)[ \t]+(?P<named>[\w.:-]+)|#?(?P<end>endregion)(?:[ \t]+(?P<ended>[\w.:-]+))?"
    r"|\[(?P<open>[A-Za-z_][\w.:-]*)\]|\[/(?P<close>[\w.:-]*)\]"
    r"|-+8<-+[ \t]*\[[ \t]*(?P<snippet>start|end)[ \t]*:[ \t]*(?P<snipped>[\w.:-]+)[ \t]*\]"
    r")[ \t]*(?:\*/|-->)?[ \t]*\Z"
)
_LINES = lazy_pattern(r"(\d{1,7})?(?:-(\d{1,7})?)?")


class Region(Struct, frozen=True):
    """Lines of a file, 1-based."""

    first: int
    last: int
    """Less than `first` if there is nothing between the marks."""


class _Mark(Struct, frozen=True):
    line: int
    """1-based."""
    name: str
    """Empty: of the innermost region."""
    is_end: bool


def find_region(text: str, name: str) -> Region | None:
    """The first region of that name, without its marks; one that no mark ends reaches to the end."""
    lines = text.split("\n")
    marks = list(_marks(lines))
    start = next((at for at, mark in enumerate(marks) if mark.name == name and not mark.is_end), None)
    if start is None:
        return None
    depth = 0
    for mark in marks[start + 1 :]:
        if mark.is_end and (mark.name == name or (not mark.name and depth == 0)):
            return Region(marks[start].line + 1, mark.line - 1)
        if not mark.name:
            depth -= 1
        elif mark.name != name:
            depth += -1 if mark.is_end else 1
    return Region(marks[start].line + 1, len(lines))


def region_names(text: str) -> tuple[str, ...]:
    """Names of all regions that marks begin."""
    return tuple(dict.fromkeys(mark.name for mark in _marks(text.split("\n")) if not mark.is_end))


def _marks(lines: Sequence[str]) -> Iterator[_Mark]:
    for number, line in enumerate(lines, 1):
        found = _MARK.match(line) if len(line) < 200 else None
        if not found:
            continue
        if found["begin"]:
            yield _Mark(number, found["named"], False)
        elif found["end"]:
            yield _Mark(number, found["ended"] or "", True)
        elif found["snippet"]:
            yield _Mark(number, found["snipped"], found["snippet"] == "end")
        else:
            yield _Mark(number, found["open"] or found["close"], not found["open"])


def find_object(text: str, name: str) -> Region | None:
    """A function or class of a Python file, decorators included: `train`, `Model.forward`.

    None also for a file that is no Python.
    """
    definitions, found = _statements(text), None
    for part in name.split("."):
        # of several the last one counts, as in Python
        found = next((node for node in reversed(definitions) if node.name == part), None)
        if found is None:
            return None
        definitions = _definitions(found.body)
    if found is None:
        return None
    decorated = [decorator.lineno for decorator in found.decorator_list]
    return Region(min([found.lineno, *decorated]), found.end_lineno or found.lineno)


def object_names(text: str) -> tuple[str, ...]:
    """Names of the functions and classes of a Python file, those in classes too."""
    return tuple(_names(_statements(text), ""))


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=8)
def _statements(text: str) -> Sequence[_Definition]:
    """The definitions of a file: a post may show many parts of one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _definitions(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _definitions(body: Sequence[ast.stmt]) -> list[_Definition]:
    """Definitions of a body, also below a condition or `try`."""
    found: list[_Definition] = []
    for node in body:
        if isinstance(node, _Definition):
            found.append(node)
        elif isinstance(node, ast.If | ast.Try):
            found += _definitions([*node.body, *node.orelse])
    return found


def _names(definitions: Sequence[_Definition], prefix: str) -> Iterator[str]:
    for node in definitions:
        yield f"{prefix}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _names(_definitions(node.body), f"{prefix}{node.name}.")


def find_lines(text: str, written: str) -> Region | None:
    """`10-20`, `10-`, `-20` or `10` of a file; None for what is nothing of the kind, or beyond its end."""
    count = len(text.removesuffix("\n").split("\n"))
    found = _LINES.fullmatch(written.strip())
    if not found or not written.strip().strip("-"):
        return None
    first = int(found[1] or 1)
    last = int(found[2] or count) if "-" in written else first
    return Region(first, last) if 0 < first <= last <= count else None


def trim(text: str, region: Region) -> tuple[Region, int, str]:
    """The region without blank lines at its ends, how far all its lines are indented, and its text."""
    lines = text.split("\n")
    first, last = region.first, min(region.last, len(lines))
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    shown = lines[first - 1 : last]
    indent = min((len(line) - len(line.lstrip(" \t")) for line in shown if line.strip()), default=0)
    same = {re.match(r"[ \t]*", line[:indent])[0] for line in shown if line.strip()}  # type: ignore[index]
    indent = indent if len(same) == 1 else 0
    cut = "".join(f"{line[indent:] if line.strip() else ''}\n" for line in shown)
    return Region(first, last), indent, cut
