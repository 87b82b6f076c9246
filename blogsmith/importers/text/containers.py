"""Containers of our vocabulary: callouts, folds, quotes, tabs, code, tables; and text put in place of a call.

Most functions take and return lines; those that end in `_text` return one text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ...api.importing import lazy_pattern
from .segments import Dialect, divide

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


_RULE = lazy_pattern(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_BARE = lazy_pattern(r"(?<!\\)\|")


def escape_table_code(text: str, dialect: Dialect) -> str:
    """A text in which every pipe of a code span that stands in a table has a backslash in front."""
    if "|" not in text or "`" not in text or not _RULE.search(text):
        return text
    parts = []
    for segment in divide(text, dialect):
        is_row = segment.kind == "span" and "|" in segment.text and _is_in_table(text, segment.start)
        parts.append(_BARE.sub(r"\\|", segment.text) if is_row else segment.text)
    return "".join(parts)


def _is_in_table(text: str, position: int) -> bool:
    """Whether a line stands in a block whose second line is the rule of a table."""
    start = text.rfind("\n\n", 0, position) + 1
    end = text.find("\n\n", position)
    block = text[start : end if end >= 0 else len(text)].strip("\n")
    rule = _RULE.search(block)
    return rule is not None and "|" in rule[0] and block.count("\n", 0, rule.start()) > 0


_PREFIX = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*")
_QUOTE = lazy_pattern(r"[^\s>]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Markdown that takes the place of something else."""

    text: str
    is_block: bool = False
    """Whether it stands on lines of its own, with blank lines around."""
    inline: str = ""
    """What stands in a table cell instead."""


def place(before: str, new: Replacement, after: str) -> str:
    """`before` with a replacement behind it; `after` is the text that follows, which is not added."""
    if not new.is_block:
        return before + new.text
    line = before[before.rfind("\n") + 1 :]
    if line.lstrip().startswith("|"):
        return before + (new.inline or " ".join(new.text.split()))
    block = new.text.strip("\n")
    if not _PREFIX.fullmatch(line):
        return f"{before.rstrip(' ')}\n\n{block}{_gap(after, '')}"
    indent = _QUOTE.sub(" ", line)
    lines = block.split("\n")
    body = "\n".join([lines[0], *(f"{indent}{each}".rstrip() for each in lines[1:])])
    above = before[: len(before) - len(line)]
    if line == indent and not _ends_blank(above):
        above += f"{indent.rstrip()}\n"
    return f"{above}{line}{body}{_gap(after, indent)}"


def _ends_blank(above: str) -> bool:
    last = above.rstrip("\n").rpartition("\n")[2]
    return not above or above.endswith("\n\n") or not last.strip(" \t>")


def _gap(after: str, indent: str) -> str:
    """What keeps a block apart from the text behind it."""
    rest, newline, below = after.partition("\n")
    if rest.strip():
        return f"\n{indent.rstrip()}\n{indent}"
    following = below.partition("\n")[0]
    return f"\n{indent.rstrip()}" if newline and following.strip(" \t>") else ""


def without_prefix(inner: str, prefix: str) -> str:
    """Inner text without the marks of the quote or list around it, which begin each of its lines too."""
    if not _PREFIX.fullmatch(prefix) or not prefix:
        return inner
    quotes = prefix.count(">")
    marks = rf"[ \t]*(?:>[ ]?){{{quotes}}}" if quotes else rf"[ ]{{0,{len(prefix)}}}"
    return re.sub(rf"(?<=\n){marks}", "", inner)


def dedent_text(text: str) -> str:
    """Inner text without the indentation that all its lines share, and without blank lines around."""
    return textwrap.dedent(re.sub(r"\A[ \t]*\n", "", text)).strip("\n").rstrip()


def callout_text(kind: str, title: str, body: str, *, fold: str = "") -> str:
    """A callout of ours; without text it is its title."""
    shown = "" if title.casefold().rstrip(":!") == kind else " ".join(title.split())
    head = f"> [!{kind.upper()}]{fold} {shown}".rstrip()
    lines = dedent_text(body).split("\n") if body.strip() else []
    return "\n".join([head, *(f"> {line}".rstrip() for line in lines)])


def fence_marks(code: str) -> str:
    """Return the marks of a fence: more backticks than any run of them in the code."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))


def fence_text(code: str, info: str) -> str:
    """A code block, its fence longer than any in the code."""
    runs = [len(run) for run in re.findall(r"^[ \t]*(`{3,})", code, re.MULTILINE)]
    marks = "`" * max([3, *(run + 1 for run in runs)])
    return f"{marks}{info.strip()}\n{code}\n{marks}"
