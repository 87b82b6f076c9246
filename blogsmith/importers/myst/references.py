"""What references in a book lead to, and how a page writes them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...model.paths import collapse_path
from ..bibliography.copied_files import SourceBibliographies
from ..model import Notice, NoticeKind
from ..text.segments import Lines
from .labels import BookLabel, BookLabels, BookPages, BookPlace


@dataclass(frozen=True, slots=True)
class BookIndex:
    """All that references in a book can lead to."""

    labels: BookLabels
    pages: BookPages
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """Of all pages."""
    entries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Key → fields of the bibliography."""
    bibliographies: SourceBibliographies = field(default_factory=SourceBibliographies)
    bibliography_files: Sequence[Path] = ()
    """Of all pages."""
    inventories: Mapping[str, str] = field(default_factory=dict)
    """Name of another project → its address, of intersphinx."""
    slugs: Mapping[str, int] = field(default_factory=dict)
    """Last part of an address → how many pages have it."""
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Of the book in its repository."""
    files: frozenset[str] = frozenset()
    """Files that are copied, relative to the root of the source."""


@dataclass(slots=True)
class InlineText:
    """The text of one page while its lines are translated."""

    place: BookPlace
    index: BookIndex
    lines: Lines
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """Those of the book, and over them those of the page."""
    notices: list[Notice] = field(default_factory=list)
    cited: dict[str, None] = field(default_factory=dict)
    """Keys in the order of their first citation."""

    def notice(self, kind: NoticeKind, message: str, piece: str, hint: str = "") -> None:
        """Remember a notice about a piece of the page."""
        self.notices.append(Notice(kind, message, self.place.source, self.lines.find(piece), hint))

    def relative(self, path: PurePosixPath) -> str:
        """The path of another file of the new site, as this page writes it."""
        return posixpath.relpath(path, self.place.path.parent)


def file_address(target: str, page: InlineText) -> str:
    """The address of a file, from where the page stands now."""
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    folder = page.index.folder if path.startswith("/") else PurePosixPath(page.place.source).parent
    source = collapse_path(folder / path.lstrip("/"))
    if source.as_posix() not in page.index.files:
        return target
    return page.relative(PurePosixPath("content") / source.relative_to(page.index.folder)) + mark + anchor


def address_of(label: BookLabel, page: InlineText) -> str:
    """The address of what a label stands at, as this page writes it."""
    anchor = f"#{label.id.replace(':', '-', 1)}" if label.id else ""
    if label.source == page.place.source and anchor:
        return anchor
    place = page.index.pages.by_source.get(label.source)
    return (page.relative(place.path) if place else "") + anchor


def refer(label: BookLabel, text: str, page: InlineText) -> str:
    """A reference to a label; without a text it prints a number or a title."""
    if text:
        return f"[{text}]({address_of(label, page)})"
    place = page.index.pages.by_source.get(label.source)
    if label.kind == "page":
        return f"[{place.title if place else label.title}]({address_of(label, page)})"
    slug = ""
    if label.source != page.place.source:
        slug = place.slug if place else ""
        if not slug or page.index.slugs.get(slug, 0) != 1:
            return f"[{_label_text(label)}]({address_of(label, page)})"
        slug += "#"
    if label.kind in ("anchor", "term"):
        return f"[{_label_text(label)}]({address_of(label, page)})"
    return rf"\eqref{{{slug}{label.id}}}" if label.kind == "eq" else f"{{@{slug}{label.id}}}"


def _label_text(label: BookLabel) -> str:
    return label.title or label.id.partition("-")[2].replace("-", " ") or label.id
