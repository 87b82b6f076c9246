"""Labels and pages of a whole book: what references point to, and how a page writes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from ...api.importing import collapse_path, lazy_pattern
from ..bibliographies import SourceBibliographies
from ..model import Notice, NoticeKind
from ..text.segments import Lines

LabelKind = Literal["eq", "fig", "tbl", "thm", "sec", "page", "anchor", "term"]
"""`page`: its title. `anchor`: a place without a number, such as a paragraph."""

_PREFIX = lazy_pattern(r"(?:eq|equation|fig|figure|tbl|tab|table|thm|sec|section)[:_.-]+", re.IGNORECASE)
_UNFIT = lazy_pattern(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class BookLabel:
    """Something of a page that references lead to."""

    kind: LabelKind
    id: str
    """As our attribute lists have it: `fig-loss`."""
    source: str
    """File of the page, relative to the root of the source."""
    title: str = ""
    """Text of the heading; Markdown."""


@dataclass(slots=True)
class BookLabels:
    """All labels of a source, filled page by page."""

    by_name: dict[str, BookLabel] = field(default_factory=dict)
    """Name as written, normalised."""

    def add(self, name: str, label: BookLabel) -> None:
        """Remember a label; the first of a name counts."""
        self.by_name.setdefault(_normal(name), label)

    def find(self, name: str) -> BookLabel | None:
        """The label of this name; case and runs of blanks do not matter, as in Sphinx."""
        return self.by_name.get(_normal(name))


@dataclass(frozen=True, slots=True)
class BookPlace:
    """A page of the book as links need it."""

    source: str
    """File, relative to the root of the source."""
    path: PurePosixPath
    """In the new site: `content/chapter/page.md`."""
    title: str
    """Markdown in one line."""
    slug: str
    """Last part of its address in the new site."""


@dataclass(frozen=True, slots=True)
class BookPages:
    """All pages of the book."""

    by_source: Mapping[str, BookPlace] = field(default_factory=dict)
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Of the book in its repository, which `/` means."""

    def find(self, target: str, source: str) -> BookPlace | None:
        """The page that `target`, a path without or with its suffix, means in the page `source`."""
        target = target.strip().partition("#")[0]
        if not target:
            return None
        folder = self.folder if target.startswith("/") else PurePosixPath(source).parent
        for base in (folder, self.folder):
            path = collapse_path(base / target.lstrip("/")).as_posix()
            for suffix in ("", ".md", ".ipynb", ".myst", ".rst"):
                if found := self.by_source.get(f"{path}{suffix}"):
                    return found
            stem = re.sub(r"\.(?:md|ipynb|html?|myst|rst)$", "", path)
            for suffix in (".md", ".ipynb", ".myst"):
                if stem != path and (found := self.by_source.get(f"{stem}{suffix}")):
                    return found
        return None


def fit_id(kind: LabelKind, name: str) -> str:
    """A label as an id of ours: `Fig: my loss` → `fig-my-loss`."""
    if kind == "page":
        return ""
    bare = _UNFIT.sub("-", _PREFIX.sub("", " ".join(name.split()), count=1)).strip("-.") or "x"
    return f"eq:{bare}" if kind == "eq" else f"{kind}-{bare}" if kind != "anchor" else f"at-{bare}"


def _normal(name: str) -> str:
    return " ".join(name.casefold().split())


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
