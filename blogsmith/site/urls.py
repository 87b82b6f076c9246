"""Which address each page and each asset gets, and whether a post is out yet.

`content/posts/a.md` and the bundle `content/posts/a/index.md` become `/posts/a/`; `_index.md`, and an
`index.md` whose folder holds other Markdown, are the list page of their folder. Addresses here are
site paths: without base path, not percent-encoded. Two pages on one address are an error, also when
the addresses differ only in case, because many systems could hold one of their folders only.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from ..config import Config
from ..errors import Diagnostic, Reporter
from ..model import Document
from ..read.dates import split_dated_name
from ..slugs import slugify
from .archive import planned_archive
from .collisions import collisions
from .lists import planned_lists
from .slug_rules import slug_hint, slug_problem
from .terms import planned_terms

Kind = Literal["home", "section", "post", "page"]
Publication = Literal["published", "draft", "scheduled"]

CONTENT = PurePosixPath("content")

_PLACEHOLDER = re.compile(r":([a-z]+)")
_INDEX_NAMES = ("index.md", "index.markdown")


@dataclass(frozen=True, slots=True)
class Urls:
    """The addresses of a site; keys are source paths such as `content/posts/a.md`."""

    urls: Mapping[str, str]
    """Site path, e.g. `/posts/a/`."""
    kinds: Mapping[str, Kind]
    """A post is a page inside a section."""
    sections: Mapping[str, str]
    """Section of each page: its site path without the outer slashes; empty outside of sections."""
    folder_slugs: Mapping[PurePosixPath, str]
    """Folder → the slug its list page asks for."""
    diagnostics: tuple[Diagnostic, ...] = ()


def publication(document: Document, now: dt.datetime, *, drafts: bool, future: bool) -> Publication:
    """Whether a document is built: drafts and posts dated after `now` wait, unless asked for."""
    if document.front.draft and not drafts:
        return "draft"
    date = document.front.date
    return "scheduled" if date is not None and date > now and not future else "published"


def assign_urls(documents: Iterable[Document], config: Config) -> Urls:
    """Addresses, kinds and sections of the documents that are built."""
    ordered = sorted(documents, key=lambda document: document.path.as_posix())
    plan = _Plan(config, _Tree.of(ordered))
    for document in ordered:
        plan.add(document)
    lists = planned_lists(ordered, plan.kinds, plan.sections)
    taken = planned_terms(ordered) | planned_archive(ordered, plan.kinds)
    found = [*plan.diagnostics, *collisions(ordered, plan.urls, plan.kinds, lists, taken)]
    return Urls(plan.urls, plan.kinds, plan.sections, plan.tree.slugs, tuple(found))


def asset_url(path: PurePosixPath, urls: Urls, left_out: frozenset[str]) -> str:
    """The site path of a file under `content/`; empty if it belongs to a bundle that is left out.

    left_out: source paths of documents that are not built. The file's own name is kept as it is.
    """
    for folder in path.parents:
        for index in (str(folder / name) for name in _INDEX_NAMES):
            if index in left_out:
                return ""
            if urls.kinds.get(index) in ("post", "page"):
                return urls.urls[index] + path.relative_to(folder).as_posix()
    return _folder_url(path.parent, urls.folder_slugs) + path.name


@dataclass(frozen=True, slots=True)
class _Tree:
    """The folders that hold Markdown."""

    lists: frozenset[PurePosixPath]
    """Source paths of list pages."""
    slugs: Mapping[PurePosixPath, str]
    """Folder → slug of its list page."""
    listed: frozenset[PurePosixPath]
    """Folders that have a list page."""

    @classmethod
    def of(cls, documents: Sequence[Document]) -> _Tree:
        """The tree of the site's documents."""
        counts: dict[PurePosixPath, int] = {}
        for document in documents:
            for folder in document.path.parents:
                counts[folder] = counts.get(folder, 0) + 1
        lists = {d.path for d in documents if _is_list(d.path, counts[d.path.parent])}
        slugs = {d.path.parent: d.front.slug for d in documents if d.path in lists and d.front.slug}
        sound = {folder: slug for folder, slug in slugs.items() if not slug_problem(slug)}
        return cls(frozenset(lists), sound, frozenset(path.parent for path in lists))

    def section_folder(self, path: PurePosixPath) -> PurePosixPath | None:
        """The nearest folder around a page that has a list page, else the outermost; None at the top."""
        own = path.parent if path.stem == "index" and path not in self.lists else path
        around = [folder for folder in own.parents if folder not in (CONTENT, *CONTENT.parents)]
        return next((folder for folder in around if folder in self.listed), around[-1] if around else None)


def _is_list(path: PurePosixPath, pages_below: int) -> bool:
    return path.stem == "_index" or (path.stem == "index" and (path.parent == CONTENT or pages_below > 1))


def _folder_url(folder: PurePosixPath, slugs: Mapping[PurePosixPath, str]) -> str:
    """The site path of a folder under `content/`, with slashes at both ends."""
    names = [name for name in _folder_names(folder, slugs) if name]
    return f"/{'/'.join(names)}/" if names else "/"


def _folder_names(folder: PurePosixPath, slugs: Mapping[PurePosixPath, str]) -> list[str]:
    below = [folder, *folder.parents][: len(folder.parts) - 1]
    return [slugs.get(part) or slugify(part.name) for part in reversed(below)]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Addresses given so far. Lives as long as one `assign_urls`."""

    config: Config
    tree: _Tree
    urls: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, document: Document) -> None:
        """Give `document` its address."""
        path = document.path
        reporter = _reporter(document)
        folder = path.parent if path in self.tree.lists else self.tree.section_folder(path)
        section = _folder_url(folder, self.tree.slugs).strip("/") if folder else ""
        if path in self.tree.lists:
            kind: Kind = "home" if path.parent == CONTENT else "section"
        else:
            kind = "post" if folder else "page"
        self.kinds[str(path)], self.sections[str(path)] = kind, section
        self.urls[str(path)] = self._url(document, kind, folder, reporter)
        self.diagnostics.extend(reporter.diagnostics)

    def _url(self, document: Document, kind: Kind, section: PurePosixPath | None, reporter: Reporter) -> str:
        path = document.path
        own = path.parent if path.stem in ("index", "_index") else path.with_suffix("")
        if kind == "home":
            return "/"
        if kind == "section":
            self._slug(document, own.name, reporter)
            return _folder_url(own, self.tree.slugs)
        for name in _folder_names(own.parent, self.tree.slugs):
            if problem := slug_problem(name):
                message = f'a folder of this file makes no address: "{name}" {problem}'
                reporter.error("slug", message, hint="rename it, or give its _index.md a slug")
        slug = self._slug(document, split_dated_name(own.name)[1], reporter)
        pattern = self._permalink(section)
        address = pattern and self._expanded(pattern, slug, document, reporter)
        return address or f"{_folder_url(own.parent, self.tree.slugs)}{slug}/"

    def _slug(self, document: Document, name: str, reporter: Reporter) -> str:
        """The slug the author asks for, else one made from the name; a bad one is reported."""
        asked, made = unicodedata.normalize("NFC", document.front.slug), slugify(name)
        if asked:
            if not (problem := slug_problem(asked)):
                return asked
            place = document.front.places.get("slug")
            reporter.error("slug", f'slug "{document.front.slug}" {problem}', place, slug_hint(asked))
        elif problem := slug_problem(made):
            hint = "rename it, or give a slug in the front matter"
            reporter.error("slug", f'the name "{name}" makes no address: slug "{made}" {problem}', hint=hint)
        return made or "page"

    def _permalink(self, section: PurePosixPath | None) -> str:
        """The pattern for posts of a section, found by its folder or its address."""
        if section is None:
            return ""
        patterns = self.config.permalinks
        address = _folder_url(section, self.tree.slugs).strip("/")
        return patterns.get(section.relative_to(CONTENT).as_posix()) or patterns.get(address, "")

    def _expanded(self, pattern: str, slug: str, document: Document, reporter: Reporter) -> str:
        """The address by a permalink; empty after a report if it needs a date and there is none."""
        date = document.front.date
        if date is None and re.search(":(year|month|day)", pattern):
            message = f"the permalink {pattern} needs a date, and this page has none"
            reporter.error("date", message, hint="add `date:` to the front matter")
            return ""
        values = {"section": self.sections[str(document.path)], "slug": slug}
        if date is not None:
            values |= {"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"}
        filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), pattern)
        return filled if filled.endswith("/") else f"{filled}/"


def _reporter(document: Document) -> Reporter:
    return Reporter(document.path.as_posix(), document.source.text.split("\n"))
