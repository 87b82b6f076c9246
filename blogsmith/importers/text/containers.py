"""Containers of our vocabulary, made of lines: callouts, folds, quotes, tables, and text that moves in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...base.patterns import lazy_pattern

_TABS = '<div class="tabs">'
_NEW_TABS = '<div class="tabs" data-new>'
_NEIGHBOURS = lazy_pattern(rf"(?m)^([ >]*)</div>\n\1</div>\n(?:[ >]*\n)*\1{_TABS}\n")
_COMMENT_END = lazy_pattern(r"-(?=-)|-(?=>)")


def callout(
    kind: str, title: str = "", body: Sequence[str] = (), *, fold: str = "", name: str = ""
) -> list[str]:
    """The lines of a callout. fold: `-` closed, `+` open. name: id at the end of the marker line.

    A title without a body would be read as the body, so it becomes a bold line of it.
    """
    title, body = " ".join(title.split()), trim_blank_lines(body)
    if title and not body:
        title, body = "", [f"**{title}**"]
    head = [f"[!{kind.upper()}]{fold}", title, f"{{#{name}}}" if name else ""]
    return quote([" ".join(part for part in head if part), *body])


def quote(lines: Sequence[str]) -> list[str]:
    """Lines in a quote."""
    return [f"> {line}" if line else ">" for line in lines]


def collapsible(label: str, body: Sequence[str]) -> list[str]:
    """A fold with a label; its text may be anything."""
    head = f'<div class="collapsible" data-label="{escape(" ".join(label.split()))}">'
    return [head, "", *trim_blank_lines(body), "", "</div>"]


def tab(label: str, body: Sequence[str], *, is_first: bool = False, is_chosen: bool = False) -> list[str]:
    """A block of tabs with one part; `join_tabs` makes one block of neighbours. is_first: it begins one."""
    group = _NEW_TABS if is_first else _TABS
    chosen = " data-open" if is_chosen else ""
    head = f'<div data-label="{escape(" ".join(label.split()))}"{chosen}>'
    return [group, head, "", *(trim_blank_lines(body) or ["<!-- -->"]), "", "</div>", "</div>"]


def begin_tabs(lines: Sequence[str]) -> list[str]:
    """Lines of which the first part of tabs is none of the block before it."""
    first = next((number for number, line in enumerate(lines) if line == _TABS), None)
    return [_NEW_TABS if number == first else line for number, line in enumerate(lines)]


def join_tabs(text: str) -> str:
    """Blocks of tabs that follow each other as one block; to be called with a whole page."""
    return _NEIGHBOURS.sub(r"\1</div>\n", text).replace(_NEW_TABS, _TABS)


def indent(lines: Sequence[str], prefix: str) -> list[str]:
    """Lines moved to the right; empty ones stay empty."""
    return [f"{prefix}{line}" if line.strip() else "" for line in lines]


def dedent(lines: Sequence[str], width: int) -> list[str]:
    """Lines moved to the left by at most `width` blanks."""
    return [line[min(width, len(line) - len(line.lstrip(" "))) :] for line in lines]


def trim_blank_lines(lines: Sequence[str]) -> list[str]:
    """Lines without blank ones around them."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return list(lines[start:end])


def fence(info: str, code: Sequence[str]) -> list[str]:
    """A fence that is longer than any in its code."""
    longest = max((len(line.strip()) for line in code if line.strip() and not line.strip(" `")), default=2)
    marks = "`" * max(3, longest + 1)
    return [f"{marks}{info}".rstrip(), *code, marks]


def table(rows: Sequence[Sequence[str]], heads: int = 1, caption: str = "", name: str = "") -> list[str]:
    """A pipe table; without a row of heads it has an empty one. Cells are one line of Markdown each."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return []
    body = [[_cell(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    head, body = ([""] * width, body) if heads == 0 else (body[0], body[1:])
    lines = [_row(head), _row(["---"] * width), *map(_row, body)]
    return [*lines, *table_caption(caption, name)]


def table_caption(caption: str, name: str = "") -> list[str]:
    """The line behind a table that is its caption."""
    text = " ".join([*caption.split(), *([f"{{#{name}}}"] if name else [])])
    return ["", f": {text}"] if text else []


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """A cell's text in one line; its pipes outside of formulas are escaped."""
    text = " ".join(text.split())
    return text if "|" not in text or "$" in text else text.replace(r"\|", "|").replace("|", r"\|")


def import_comment(text: str) -> str:
    """The comment beside what could not be translated."""
    return f"<!-- import: {_COMMENT_END.sub('‐', text)} -->"
