"""The bibliography of a LaTeX document. It is one environment with the references of all chapters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ..api.books import lazy_pattern
from .latex_text import escape

_ANCHORS = lazy_pattern(r"\A(?:\\pageanchor\{[^{}]*\}\s*)*")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+\*?|[^\w\s]")


class ChapterWorks(Struct, frozen=True):
    """The references of a chapter."""

    chapter: str
    """Title of the chapter in LaTeX; empty if the document has only one chapter."""
    heading: str
    """Heading of the list in LaTeX; empty for the default heading of the document class."""
    items: tuple[tuple[str, str], ...]
    """(Label, text in LaTeX) of each reference. The label is that of citations, without brackets; empty if
    references have no labels."""


def write_works(lists: Sequence[ChapterWorks]) -> str:
    """Return the environment `thebibliography`; empty if nothing is cited.

    Numbers are those of the pages, so the works of each chapter follow its title. Works without labels are in
    one list in alphabetical order, and a work that several chapters cite appears only once.
    """
    labels = [label for works in lists for label, _ in works.items]
    if not labels:
        return ""
    widest = max(labels, key=len)
    heading = next((works.heading for works in lists if works.heading), "")
    opening = [f"\\pageworksname{{{heading}}}"] if heading else []
    parts = [*opening, f"\\begin{{thebibliography}}{{{escape(widest)}}}"]
    for number, (chapter, label, text) in enumerate(_by_chapter(lists) if widest else _merged(lists), 1):
        entry = f"\\bibitem[{{{escape(label)}}}]{{page-{number}}}\n{text}\n"
        parts.append(f"\\pageworks{{{chapter}}}\n{entry}" if chapter else entry)
    return "\n".join([*parts, "\\end{thebibliography}\n"])


def _by_chapter(lists: Sequence[ChapterWorks]) -> Iterator[tuple[str, str, str]]:
    """Yield (chapter title, label, text) for each work. The chapter title is empty except for the first work
    of a chapter."""
    for works in lists:
        for index, (label, text) in enumerate(works.items):
            yield (works.chapter if index == 0 else ""), label, text


def _merged(lists: Sequence[ChapterWorks]) -> Iterator[tuple[str, str, str]]:
    """Yield (empty chapter title, empty label, text) for each work, in alphabetical order. A work that
    several chapters cite is yielded once; its anchors from all chapters precede its text."""
    anchors: dict[str, str] = {}
    for works in lists:
        for _, text in works.items:
            found = _ANCHORS.match(text)
            start = found[0].strip() if found else ""
            shown = text.removeprefix(found[0] if found else "")
            anchors[shown] = anchors.get(shown, "") + start
    for shown in sorted(anchors, key=lambda text: (_COMMAND.sub("", text).casefold(), text)):
        yield "", "", f"{anchors[shown]}{shown}"
