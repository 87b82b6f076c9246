"""Snippets of PyMdown: `--8<-- "file"` is replaced by the text of the file, code or not."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...base.patterns import lazy_pattern

_INLINE = lazy_pattern(r"^([ \t]*)(;*)-+8<-+[ \t]+(?:\"([^\"\n]+)\"|'([^'\n]+)')[ \t]*$", re.MULTILINE)
_BLOCK = lazy_pattern(r"^([ \t]*)-+8<-+[ \t]*\n(.*?)^[ \t]*-+8<-+[ \t]*$", re.MULTILINE | re.DOTALL)
_SECTION_MARK = lazy_pattern(r"^.*-+8<-+[ \t]*\[[ \t]*(?:start|end)[ \t]*:.*$\n?", re.MULTILINE)
_LINES = lazy_pattern(r"(.*?):(\d*)(?::(\d*))?")
_DEEPEST = 10


def expand_snippets(text: str, read: Callable[[str], str | None], report: Callable[[str, str], None]) -> str:
    """A page with its snippets in their places.

    read: the text of a file. report: takes the piece that names a file which is not there, and that file.
    """
    return _expand(text, read, report, 0)


def _expand(
    text: str, read: Callable[[str], str | None], report: Callable[[str, str], None], depth: int
) -> str:
    def substitute(margin: str, name: str, piece: str) -> str:
        content = _snippet(name, read) if depth < _DEEPEST else None
        if content is None:
            report(piece, name)
            return piece
        inner = _expand(content, read, report, depth + 1)
        return "\n".join(f"{margin}{line}" if line.strip() else "" for line in inner.rstrip("\n").split("\n"))

    def inline(found: re.Match[str]) -> str:
        name = found[3] or found[4]
        if found[2]:
            return found[0].replace(";", "", 1)
        return substitute(found[1], name, found[0])

    def block(found: re.Match[str]) -> str:
        names = [
            line.strip() for line in found[2].split("\n") if line.strip() and not line.strip().startswith(";")
        ]
        return "\n".join(substitute(found[1], name, found[0].strip()) for name in names)

    return _INLINE.sub(inline, _BLOCK.sub(block, text))


def _snippet(name: str, read: Callable[[str], str | None]) -> str | None:
    """The text that `file`, `file:section` or `file:first:last` names."""
    content = read(name)
    if content is not None:
        return _SECTION_MARK.sub("", content)
    found = _LINES.fullmatch(name)
    if found and (content := read(found[1])) is not None:
        lines = content.split("\n")
        first = int(found[2] or 1)
        return "\n".join(lines[max(0, first - 1) : int(found[3]) if found[3] else len(lines)])
    file, _, section = name.rpartition(":")
    content = read(file) if file else None
    if content is None:
        return None
    mark = re.escape(section)
    between = re.search(
        rf"^[^\n]*-+8<-+[ \t]*\[[ \t]*start[ \t]*:[ \t]*{mark}[ \t]*\][^\n]*\n(.*?)"
        rf"^[^\n]*-+8<-+[ \t]*\[[ \t]*end[ \t]*:[ \t]*{mark}[ \t]*\]",
        content,
        re.MULTILINE | re.DOTALL,
    )
    return _SECTION_MARK.sub("", between[1]) if between else None
