"""Python files in the percent format: `# %%` starts a cell, `# %% [markdown]` one of Markdown in comments.

A Python file is a post if its first cell is Markdown, or raw, and starts with front matter. Other Python
files are modules or data. Source: jupytext's documentation of the percent format.
"""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from .notebook import CellKind, Notebook, NotebookCell

_CELL = lazy_pattern(r"#[ \t]*%%[ \t]*(?P<rest>[^\n]*)")
_KIND = lazy_pattern(r"\[(markdown|md|raw)\]")
_TAGS = lazy_pattern(r"\btags=\[([^\]\n]*)\]")
_COMMENT = lazy_pattern(r"# ?")
_QUOTES = ('"""', "'''")
_POST = lazy_pattern(
    r"(?:#(?![ \t]*(?:%%|---))[^\n]*\n|[ \t]*\n)*"
    r"(?:#[ \t]*---[ \t]*\n(?:#[^\n]*\n)*?#[ \t]*---[ \t]*\n(?:[ \t]*\n)*)?"
    r"#[ \t]*%%[^\n]*\[(?:markdown|md|raw)\][^\n]*\n\s*(?:#|r?\"{3}|r?'{3})\s*---[ \t]*\n"
)
MAX_HEAD = 8192
"""Number of characters at the start of a file that show whether it is a post."""


def is_post(head: str) -> bool:
    """Return whether the file is a post. head: its first `MAX_HEAD` characters, with `\\n` as line ends."""
    return _POST.match(head) is not None


def read_percent(text: str) -> Notebook:
    """Return the cells of a file in the percent format. Lines before the first cell, such as the header of
    jupytext, are dropped."""
    cells: list[NotebookCell] = []
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _CELL.fullmatch(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        written = re.sub(_CELL.pattern, r"\g<rest>", lines[start])
        kind = _kind(written)
        body = lines[start + 1 : end]
        skipped = next((n for n, line in enumerate(body) if line.strip()), 0)
        source, more = _source(kind, body[skipped:])
        tags = re.findall(r"[\w.-]+", found[1]) if (found := _TAGS.search(written)) else []
        cells.append(
            NotebookCell(
                kind, source, start + 2 + skipped + more, len(cells) + 1, {"tags": tags} if tags else {}
            )
        )
    return Notebook(tuple(cells), {})


def _kind(written: str) -> CellKind:
    found = _KIND.search(written)
    return "code" if not found else "raw" if found[1] == "raw" else "markdown"


def _source(kind: CellKind, lines: list[str]) -> tuple[str, int]:
    """Return the text of a cell, and the number of empty lines that were removed before it."""
    text = "\n".join(lines).rstrip()
    if kind == "code":
        return text, 0
    opening = text.removeprefix("r")[:3]
    if opening in _QUOTES and text.endswith(opening):
        inner = text.removeprefix("r")[3:-3]
        body = inner.removeprefix("\n")
        return body.strip("\n"), len(inner) - len(body)
    return "\n".join(_COMMENT.sub("", line, count=1) for line in text.split("\n")), 0
