"""Labels and pages of a book, and the Markdown of references to them."""

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
from ..text.segments import LineFinder

LabelKind = Literal["eq", "fig", "tbl", "thm", "sec", "page", "anchor", "term"]
"""Kind of a label. `page` is the title of a page; `anchor` is a position without a number, such as a
paragraph."""

_PREFIX = lazy_pattern(r"(?:eq|equation|fig|figure|tbl|tab|table|thm|sec|section)[:_.-]+", re.IGNORECASE)
_UNFIT = lazy_pattern(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class BookLabel:
    """A target of references."""

    kind: LabelKind
    id: str
    """Id in blogsmith's attribute lists, such as `fig-loss`; empty for the title of a page."""
    source: str
    """File of the page, relative to the root of the source."""
    title: str = ""
    """Text of the heading, in Markdown; empty if the label is not at a heading."""


@dataclass(slots=True)
class BookLabels:
    """All labels of a source, added page by page."""

    by_name: dict[str, BookLabel] = field(default_factory=dict)
    """Normalized name → label."""

    def add(self, name: str, label: BookLabel) -> None:
        """Add a label. If the name already has a label, keep the earlier one."""
        self.by_name.setdefault(_normalize(name), label)

    def find(self, name: str) -> BookLabel | None:
        """Return the label with this name, ignoring case and repeated spaces, as Sphinx does; None if
        unknown."""
        return self.by_name.get(_normalize(name))


@dataclass(frozen=True, slots=True)
class BookPage:
    """A page of the book, as a link target."""

    source: str
    """File, relative to the root of the source."""
    path: PurePosixPath
    """Path in the new site, such as `content/chapter/page.md`."""
    title: str
    """Title in Markdown, on one line."""
    slug: str
    """Last segment of the page's URL in the new site."""
    address: str = ""
    """Old URL of the page; empty for the home page."""


@dataclass(frozen=True, slots=True)
class BookPages:
    """All pages of the book."""

    by_source: Mapping[str, BookPage] = field(default_factory=dict)
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Folder of the book in its repository. Paths that start with `/` are relative to it."""

    def find(self, target: str, source: str) -> BookPage | None:
        """Return the page that a link points to; None if there is no such page. target: path with or without
        suffix. source: file of the page that contains the link."""
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
    """Return the id for a label, such as `fig-my-loss` for `Fig: my loss`."""
    if kind == "page":
        return ""
    bare = _UNFIT.sub("-", _PREFIX.sub("", " ".join(name.split()), count=1)).strip("-.") or "x"
    return f"eq:{bare}" if kind == "eq" else f"{kind}-{bare}" if kind != "anchor" else f"at-{bare}"


def _normalize(name: str) -> str:
    return " ".join(name.casefold().split())


@dataclass(frozen=True, slots=True)
class BookIndex:
    """All targets of references in a book, and other data for translating inline syntax."""

    labels: BookLabels
    pages: BookPages
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """Name → text, for the substitutions that apply to all pages."""
    entries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Bibliography key → fields of the entry."""
    bibliographies: SourceBibliographies = field(default_factory=SourceBibliographies)
    bibliography_files: Sequence[Path] = ()
    """Bibliography files for all pages."""
    inventories: Mapping[str, str] = field(default_factory=dict)
    """Name of another project, in intersphinx's settings → its URL."""
    slugs: Mapping[str, int] = field(default_factory=dict)
    """Last segment of a URL → number of pages that have it."""
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Folder of the book in its repository."""
    files: frozenset[str] = frozenset()
    """Files that the importer copies, relative to the root of the source."""
    splits_rows: bool = False
    """Whether formulas of several rows between double dollars are aligned, as in Sphinx."""


@dataclass(slots=True)
class InlineText:
    """The text of one page while its inline syntax is translated."""

    place: BookPage
    index: BookIndex
    lines: LineFinder
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """Substitutions of the book, overridden by substitutions of the page."""
    notices: list[Notice] = field(default_factory=list)
    cited: dict[str, None] = field(default_factory=dict)
    """Bibliography keys in the order of their first citation."""

    def notice(self, kind: NoticeKind, message: str, piece: str, hint: str = "") -> None:
        """Add a notice about a fragment of the page. piece: the fragment's source text, used to find its
        line."""
        self.notices.append(Notice(kind, message, self.place.source, self.lines.find(piece), hint))

    def relative(self, path: PurePosixPath) -> str:
        """Return the path of another file of the new site, relative to this page."""
        return posixpath.relpath(path, self.place.path.parent)


def file_address(target: str, page: InlineText) -> str:
    """Return the destination of a link to a copied file, relative to the new path of the page. Other targets
    are not changed."""
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    folder = page.index.folder if path.startswith("/") else PurePosixPath(page.place.source).parent
    source = collapse_path(folder / path.lstrip("/"))
    if source.as_posix() not in page.index.files:
        return target
    return page.relative(PurePosixPath("content") / source.relative_to(page.index.folder)) + mark + anchor


def label_url(label: BookLabel, page: InlineText) -> str:
    """Return the destination of a link to a label, relative to this page."""
    anchor = f"#{label.id.replace(':', '-', 1)}" if label.id else ""
    if label.source == page.place.source and anchor:
        return anchor
    place = page.index.pages.by_source.get(label.source)
    return (page.relative(place.path) if place else "") + anchor


def write_reference(label: BookLabel, text: str, page: InlineText) -> str:
    """Return a reference to a label. text: link text; if empty, the reference shows a number or a title."""
    if text:
        return f"[{text}]({label_url(label, page)})"
    place = page.index.pages.by_source.get(label.source)
    if label.kind == "page":
        return f"[{place.title if place else label.title}]({label_url(label, page)})"
    slug = ""
    if label.source != page.place.source:
        slug = place.slug if place else ""
        if not slug or page.index.slugs.get(slug, 0) != 1:
            return f"[{_label_text(label)}]({label_url(label, page)})"
        slug += "#"
    if label.kind in ("anchor", "term"):
        return f"[{_label_text(label)}]({label_url(label, page)})"
    return rf"\eqref{{{slug}{label.id}}}" if label.kind == "eq" else f"{{@{slug}{label.id}}}"


def _label_text(label: BookLabel) -> str:
    return label.title or label.id.partition("-")[2].replace("-", " ") or label.id
