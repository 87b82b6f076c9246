"""Functions that write containers in blogsmith's Markdown (callouts, folds, quotes, tabs, code, tables), and
that insert them into a text.

Most functions take and return lines. Functions whose name ends in `_text` return one string.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ...api.importing import lazy_pattern
from .segments import FormulaDelimiters, divide

_TABS = '<div class="tabs">'
_NEW_TABS = '<div class="tabs" data-new>'
_ADJACENT_TABS = lazy_pattern(rf"(?m)^([ >]*)</div>\n\1</div>\n(?:[ >]*\n)*\1{_TABS}\n")
_COMMENT_END = lazy_pattern(r"-(?=-)|-(?=>)")


def callout_lines(
    kind: str, title: str = "", body: Sequence[str] = (), *, fold: str = "", name: str = ""
) -> list[str]:
    """Return the lines of a callout.

    fold: `-` for closed, `+` for open. name: id at the end of the marker line. If there is no body, the title
    becomes a bold line of the body: a title alone would be read as the body.
    """
    title, body = " ".join(title.split()), trim_blank_lines(body)
    if title and not body:
        title, body = "", [f"**{title}**"]
    head = [f"[!{kind.upper()}]{fold}", title, f"{{#{name}}}" if name else ""]
    return quote_lines([" ".join(part for part in head if part), *body])


def quote_lines(lines: Sequence[str]) -> list[str]:
    return [f"> {line}" if line else ">" for line in lines]


def collapsible(label: str, body: Sequence[str]) -> list[str]:
    """Return a fold with a label. body: lines of any Markdown."""
    head = f'<div class="collapsible" data-label="{escape(" ".join(label.split()))}">'
    return [head, "", *trim_blank_lines(body), "", "</div>"]


def tab(label: str, body: Sequence[str], *, is_first: bool = False, is_chosen: bool = False) -> list[str]:
    """Return a block of tabs with one tab. Adjacent blocks are joined by `join_tabs`.

    is_first: whether to start a new block of tabs, which `join_tabs` does not join with the previous one.
    is_chosen: whether the tab is open when the page loads.
    """
    group = _NEW_TABS if is_first else _TABS
    chosen = " data-open" if is_chosen else ""
    head = f'<div data-label="{escape(" ".join(label.split()))}"{chosen}>'
    return [group, head, "", *(trim_blank_lines(body) or ["<!-- -->"]), "", "</div>", "</div>"]


def begin_tabs(lines: Sequence[str]) -> list[str]:
    """Mark the first block of tabs in `lines`, so that `join_tabs` does not join it with the previous one."""
    first = next((number for number, line in enumerate(lines) if line == _TABS), None)
    return [_NEW_TABS if number == first else line for number, line in enumerate(lines)]


def join_tabs(text: str) -> str:
    """Join adjacent blocks of tabs into one block. Call it with the text of a whole page."""
    return _ADJACENT_TABS.sub(r"\1</div>\n", text).replace(_NEW_TABS, _TABS)


def indent(lines: Sequence[str], prefix: str) -> list[str]:
    """Indent the lines by `prefix`; empty lines stay empty."""
    return [f"{prefix}{line}" if line.strip() else "" for line in lines]


def dedent(lines: Sequence[str], width: int) -> list[str]:
    """Remove up to `width` leading spaces from each line."""
    return [line[min(width, len(line) - len(line.lstrip(" "))) :] for line in lines]


def trim_blank_lines(lines: Sequence[str]) -> list[str]:
    """Remove blank lines at the start and at the end."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return list(lines[start:end])


def fence_lines(info: str, code: Sequence[str]) -> list[str]:
    """Return a fenced code block whose fence is longer than any fence in the code."""
    longest = max((len(line.strip()) for line in code if line.strip() and not line.strip(" `")), default=2)
    marks = "`" * max(3, longest + 1)
    return [f"{marks}{info}".rstrip(), *code, marks]


def table(rows: Sequence[Sequence[str]], heads: int = 1, caption: str = "", name: str = "") -> list[str]:
    """Return a pipe table. Each cell is one line of Markdown.

    heads: number of header rows; with 0 the table gets an empty header row.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return []
    body = [[_cell(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    head, body = ([""] * width, body) if heads == 0 else (body[0], body[1:])
    lines = [_row(head), _row(["---"] * width), *map(_row, body)]
    return [*lines, *table_caption(caption, name)]


def table_caption(caption: str, name: str = "") -> list[str]:
    """Return the caption line that follows a table."""
    text = " ".join([*caption.split(), *([f"{{#{name}}}"] if name else [])])
    return ["", f": {text}"] if text else []


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return the text of a cell on one line. Its pipes are escaped, unless it contains a formula."""
    text = " ".join(text.split())
    return text if "|" not in text or "$" in text else text.replace(r"\|", "|").replace("|", r"\|")


def import_comment(text: str) -> str:
    """Return an HTML comment to be placed next to text that could not be translated."""
    # double quotes would end the title of an image or an HTML attribute around the comment
    return f"<!-- import: {_COMMENT_END.sub('‐', text.replace(chr(34), chr(39)))} -->"


_RULE = lazy_pattern(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_UNESCAPED_PIPE = lazy_pattern(r"(?<!\\)\|")


def escape_table_code(text: str, dialect: FormulaDelimiters) -> str:
    """Escape every pipe in code spans that are inside tables."""
    if "|" not in text or "`" not in text or not _RULE.search(text):
        return text
    parts = []
    for segment in divide(text, dialect):
        is_row = segment.kind == "span" and "|" in segment.text and _is_in_table(text, segment.start)
        parts.append(_UNESCAPED_PIPE.sub(r"\\|", segment.text) if is_row else segment.text)
    return "".join(parts)


def _is_in_table(text: str, position: int) -> bool:
    start = text.rfind("\n\n", 0, position) + 1
    end = text.find("\n\n", position)
    block = text[start : end if end >= 0 else len(text)].strip("\n")
    rule = _RULE.search(block)
    return rule is not None and "|" in rule[0] and block.count("\n", 0, rule.start()) > 0


_PREFIX = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*")
_QUOTE = lazy_pattern(r"[^\s>]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Markdown that replaces a call or block of the old system."""

    text: str
    is_block: bool = False
    """Whether `text` is a block. A block has lines of its own, with blank lines around them."""
    inline: str = ""
    """Replacement for use in a table cell; if empty, `text` is joined to one line there."""


def append_replacement(before: str, new: Replacement, after: str) -> str:
    """Return `before` followed by the replacement. If the replacement needs a blank line before `after`, add
    it. after: the text that follows."""
    if not new.is_block:
        return before + new.text
    line = before[before.rfind("\n") + 1 :]
    if line.lstrip().startswith("|"):
        return before + (new.inline or " ".join(new.text.split()))
    block = new.text.strip("\n")
    if not _PREFIX.fullmatch(line):
        return f"{before.rstrip(' ')}\n\n{block}{_separator(after, '')}"
    indent = _QUOTE.sub(" ", line)
    lines = block.split("\n")
    body = "\n".join([lines[0], *(f"{indent}{each}".rstrip() for each in lines[1:])])
    above = before[: len(before) - len(line)]
    if line == indent and not _ends_blank(above):
        above += f"{indent.rstrip()}\n"
    return f"{above}{line}{body}{_separator(after, indent)}"


def _ends_blank(above: str) -> bool:
    last = above.rstrip("\n").rpartition("\n")[2]
    return not above or above.endswith("\n\n") or not last.strip(" \t>")


def _separator(after: str, indent: str) -> str:
    """Return the line breaks between a block and the text after it. indent: indentation of the block."""
    rest, newline, below = after.partition("\n")
    if rest.strip():
        return f"\n{indent.rstrip()}\n{indent}"
    following = below.partition("\n")[0]
    return f"\n{indent.rstrip()}" if newline and following.strip(" \t>") else ""


def strip_container_prefix(inner: str, prefix: str) -> str:
    """Return the inner text without the quote and list markers of the surrounding block; its first line is
    not changed. prefix: these markers."""
    if not _PREFIX.fullmatch(prefix) or not prefix:
        return inner
    quotes = prefix.count(">")
    marks = rf"[ \t]*(?:>[ ]?){{{quotes}}}" if quotes else rf"[ ]{{0,{len(prefix)}}}"
    return re.sub(rf"(?<=\n){marks}", "", inner)


def dedent_text(text: str) -> str:
    """Remove common indentation, and blank lines at the start and at the end."""
    return textwrap.dedent(re.sub(r"\A[ \t]*\n", "", text)).strip("\n").rstrip()


def callout_text(kind: str, title: str, body: str, *, fold: str = "") -> str:
    """Return a callout as text. A title that repeats the kind is left out. fold: `+` for an open fold, `-`
    for a closed one; empty if the callout cannot be folded."""
    shown = "" if title.casefold().rstrip(":!") == kind else " ".join(title.split())
    head = f"> [!{kind.upper()}]{fold} {shown}".rstrip()
    lines = dedent_text(body).split("\n") if body.strip() else []
    return "\n".join([head, *(f"> {line}".rstrip() for line in lines)])


def fence_marks(code: str) -> str:
    """Return the backticks of a fence. There are at least three, and more than in any run of backticks in the
    code."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))


def fence_text(code: str, info: str) -> str:
    """Return a fenced code block whose fence is longer than any fence in the code."""
    runs = [len(run) for run in re.findall(r"^[ \t]*(`{3,})", code, re.MULTILINE)]
    marks = "`" * max([3, *(run + 1 for run in runs)])
    return f"{marks}{info.strip()}\n{code}\n{marks}"
