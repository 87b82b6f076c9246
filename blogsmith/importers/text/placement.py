"""Text that takes the place of a call or an embed, and how it is put into the lines around it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from ...base.patterns import lazy_pattern

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


def dedent(text: str) -> str:
    """Inner text without the indentation that all its lines share, and without blank lines around."""
    return textwrap.dedent(re.sub(r"\A[ \t]*\n", "", text)).strip("\n").rstrip()


def callout(kind: str, title: str, body: str, *, fold: str = "") -> str:
    """A callout of ours; without text it is its title."""
    shown = "" if title.casefold().rstrip(":!") == kind else " ".join(title.split())
    head = f"> [!{kind.upper()}]{fold} {shown}".rstrip()
    lines = dedent(body).split("\n") if body.strip() else []
    return "\n".join([head, *(f"> {line}".rstrip() for line in lines)])


def fence(code: str, info: str) -> str:
    """A code block, its fence longer than any in the code."""
    runs = [len(run) for run in re.findall(r"^[ \t]*(`{3,})", code, re.MULTILINE)]
    marks = "`" * max([3, *(run + 1 for run in runs)])
    return f"{marks}{info.strip()}\n{code}\n{marks}"
