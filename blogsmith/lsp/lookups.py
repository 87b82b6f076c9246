"""Lookup of labels, pages, macros and files of a site, by the names that authors write."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from ..api.editing import Label, Macro, SiteSnapshot, spell_label
from .site_session import SiteSession


class SiteLabel(Struct, frozen=True):
    """A label of the site."""

    path: str
    """Source path of its page."""
    label: Label
    spelling: str
    """Label as its author writes it."""

    @property
    def name(self) -> str:
        """Plain text that a reference prints, such as `Theorem 1`."""
        return label_name(self.label)


def label_name(label: Label) -> str:
    """Return the plain text that a reference to a label prints, such as `Theorem 1` or `Equation (2)`."""
    if label.kind == "sec":
        return f"Section {label.number}" if label.number[:1].isdigit() else f"Section “{label.number}”"
    number = f"({label.number})" if label.kind == "eq" else label.number
    return f"{label.name} {number}" if label.number else label.name


def parsed_paths(present: SiteSnapshot) -> Iterator[str]:
    """Yield pages that are already parsed."""
    return (path for path in present.resolved.documents if path not in present.unrendered)


def page_labels(session: SiteSession, path: str) -> Iterator[SiteLabel]:
    """Yield the labels of a page."""
    present = session.snapshot
    if present is None or path not in present.resolved.documents:
        return
    lines = present.resolved.documents[path].source.text.split("\n")
    for label in present.resolved.index.entries[path].labels.values():
        spelling = spell_label(label, lines) if label.place.line <= len(lines) else label.id
        yield SiteLabel(path, label, spelling)


def find_label(session: SiteSession, path: str, slug: str, target: str) -> SiteLabel | None:
    """Return the label that a reference on the page `path` points to; None if it does not exist. slug: slug
    of the page with the label; empty for the same page. target: id of the label."""
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return None
    where = present.resolved.index.find_by_slug(slug, document) if slug else path
    return (
        next((one for one in page_labels(session, where) if one.label.id == target), None) if where else None
    )


def page_slug(present: SiteSnapshot, path: str) -> str:
    """Return the slug that references on other pages use for this page."""
    url = present.resolved.index.urls.get(path, "")
    return url.strip("/").rpartition("/")[2].removesuffix(".html")


def page_macros(present: SiteSnapshot, path: str) -> Mapping[str, str | Macro]:
    """Return the macros of the site and those of a page, which take precedence."""
    document = present.resolved.documents.get(path)
    own = document.front.math.macros if document else {}
    return {**present.config.math.macros, **own}


def page_packages(present: SiteSnapshot, path: str) -> frozenset[str]:
    """Return the LaTeX packages that are enabled on a page."""
    document = present.resolved.documents.get(path)
    own = document.front.math.packages if document else None
    return frozenset(present.config.math.packages if own is None else own)


def relative_path(path: str, page: str) -> str:
    """Return the path of a file relative to a page."""
    return posixpath.relpath(path, str(PurePosixPath(page).parent))
