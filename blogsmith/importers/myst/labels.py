"""Labels of a whole book: what they stand at, in which page, and what we call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from ...base.patterns import lazy_pattern
from ...model.paths import collapse_path

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
