"""Markers at the ends of lines of code, and links from the notes back to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..languages.language import Language
from ..syntax.records import CodeNote, Fence, get_record
from .code import LineMark
from .context import PageRendering, Rule
from .prose import escape_html


def line_marks(language: Language, fence: Fence) -> Mapping[int, Sequence[LineMark]]:
    """Return the markers of each line of a fence, by line number from 1. CSS prints the markers' numbers, so
    readers do not copy them."""
    found: dict[int, list[LineMark]] = {}
    known: set[int] = set()
    for mark in fence.marks:
        name = f"{fence.number_in_page}-{mark.number}"
        # if a number occurs on several lines, the link back points to the first
        anchor = "" if mark.number in known else f"cnref-{name}"
        known.add(mark.number)
        label = language.translate("Note {number}", number=mark.number)
        target = f"cn-{name}" if mark.has_note else ""
        found.setdefault(mark.line, []).append(LineMark(str(mark.number), target, anchor, label))
    return found


def _note_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    note = get_record(tokens[index], CodeNote)
    label = escape_html(rendering.language.translate("Back to the code, mark {number}", number=note.number))
    link = f'<a class="code-backref" href="#cnref-{note.fence}-{note.number}" role="doc-backlink"'
    return f' {link} aria-label="{label}">↩</a></{tokens[index].tag}>\n'


RULES: Mapping[str, Rule] = MappingProxyType({"code_note_close": _note_close})
