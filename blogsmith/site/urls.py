"""URLs of pages and assets, and whether a post is published.

`content/posts/a.md` and the bundle `content/posts/a/index.md` become `/posts/a/`. `_index.md` is the list
page of its folder; so is an `index.md` whose folder contains other Markdown files. URLs here are site paths:
without base path, not percent-encoded. Two pages with the same URL are an error, even if the URLs differ
only in case, because many file systems can store only one of the two folders.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct, field, structs

from ..base.diagnostics.model import Diagnostic, Place, Reporter
from ..base.patterns import lazy_pattern
from ..config.languages import file_language, find_version, version_url_prefix
from ..config.schema import Config
from ..model.dates import split_dated_name
from ..model.documents import Document
from ..model.slugs import nearest_slug, slug_hint, slug_problem, slugify
from .collisions import check_collisions
from .editions import check_language_roots, plan_generated
from .lists import plan_lists
from .permalinks import PermalinkError, files_url, permalink_url, placeholder_values

Kind = Literal["home", "section", "post", "page"]
Publication = Literal["published", "draft", "expired", "scheduled"]

CONTENT = PurePosixPath("content")

_PLACEHOLDER = lazy_pattern(r":([a-z]+)")
_LISTS = frozenset({"index", "_index"})
_INDEX_NAMES = ("index.md", "index.markdown", "index.ipynb")


class FolderSlugs(Struct, frozen=True):
    """The names of folders in URLs."""

    own: Mapping[PurePosixPath, str] = {}
    """Folder → slug that the front matter of its list page sets."""
    marks: bool = False
    """Whether slugs keep combining marks, as for `slugify`."""

    def names(self, folder: PurePosixPath) -> list[str]:
        """Return the name in URLs of each folder from `content/` down to `folder`. A name may be empty."""
        below = [folder, *folder.parents][: len(folder.parts) - 1]
        return [self.own.get(part) or slugify(part.name, marks=self.marks) for part in reversed(below)]

    def url(self, folder: PurePosixPath) -> str:
        """Return the site path of a folder under `content/`, with slashes at both ends."""
        names = [name for name in self.names(folder) if name]
        return f"/{'/'.join(names)}/" if names else "/"


class Urls(Struct, frozen=True):
    """The URLs of a site. Keys are source paths such as `content/posts/a.md`."""

    urls: Mapping[str, str]
    """Source path → site path, e.g. `/posts/a/`."""
    kinds: Mapping[str, Kind]
    """Source path → kind of the page. A post is a page inside a section."""
    sections: Mapping[str, str]
    """Source path → section of the page: its site path without the outer slashes; empty outside of
    sections."""
    folders: FolderSlugs
    editions: Mapping[str, str] = {}
    """Source path → language version of the page, a key of `languages`; empty for the site's own language."""
    index_names: tuple[str, ...] = _INDEX_NAMES
    """File names that the main page of a bundle may have, translations last."""
    diagnostics: tuple[Diagnostic, ...] = ()


def publication(document: Document, now: dt.datetime, *, drafts: bool, future: bool) -> Publication:
    """Return whether a document is built, and if not, why.

    drafts: whether to build drafts and expired documents. future: whether to build documents dated after
    `now`.
    """
    front = document.front
    if front.draft and not drafts:
        return "draft"
    if front.expiry_date is not None and front.expiry_date <= now and not drafts:
        return "expired"
    start = front.publish_start
    return "scheduled" if start is not None and start > now and not future else "published"


def assign_urls(documents: Iterable[Document], config: Config) -> Urls:
    """Return URLs, kinds and sections of the documents to build."""
    ordered = sorted(documents, key=lambda document: document.path.as_posix())
    editions = {str(document.path): find_version(document.front.lang, config) for document in ordered}
    paths = {str(document.path): file_language(document.path, config).path for document in ordered}
    plans: dict[str, _UrlPlan] = {}
    merged = _UrlPlan(config, _FolderTree.create(ordered, paths, marks=config.slug_settings.keeps_marks))
    for document in ordered:
        edition = editions[str(document.path)]
        if edition not in plans:
            same = [one for one in ordered if editions[str(one.path)] == edition]
            tree = merged.tree.with_slugs(same, paths)
            root = version_url_prefix(edition, config)
            plans[edition] = structs.replace(merged, tree=tree, root=root, paths=paths, folders={})
        plans[edition].add(document)
    for edition, plan in plans.items():
        plan.promote_list_pages([one for one in ordered if editions[str(one.path)] == edition])
    names = (*_INDEX_NAMES, *(f"index.{edition}.md" for edition in plans if edition))
    urls = Urls(merged.urls, merged.kinds, merged.sections, merged.tree.slugs, editions, names)
    lists, taken = plan_generated(ordered, urls.kinds, urls.sections, editions, config)
    found = [
        *merged.diagnostics,
        *check_language_roots(merged.sections, editions, config),
        *check_collisions(ordered, urls.urls, urls.kinds, lists, taken),
    ]
    return structs.replace(urls, diagnostics=tuple(found))


def asset_url(path: PurePosixPath, urls: Urls, left_out: frozenset[str]) -> str:
    """Return the site path of a file under `content/`, which keeps its name; empty if its bundle is not
    built. left_out: source paths of documents that are not built."""
    for folder in path.parents:
        for index in (str(folder / name) for name in urls.index_names):
            if index in left_out:
                return ""
            if urls.kinds.get(index) in ("post", "page"):
                return files_url(urls.urls[index]) + path.relative_to(folder).as_posix()
    return urls.folders.url(path.parent) + path.name


class _FolderTree(Struct, frozen=True):
    """The folders that contain Markdown files."""

    lists: frozenset[PurePosixPath]
    """Source paths of list pages, without language suffix."""
    slugs: FolderSlugs
    listed: frozenset[PurePosixPath]
    """Folders that have a list page."""

    @classmethod
    def create(
        cls, documents: Sequence[Document], paths: Mapping[str, PurePosixPath], *, marks: bool
    ) -> _FolderTree:
        """Return the tree of the site's documents.

        paths: source path → path without language suffix. marks: as in `FolderSlugs`.
        """
        counts: Counter[PurePosixPath] = Counter()
        # strings are counted ten times as fast as paths; translations of a page count once
        names = dict.fromkeys(paths[str(document.path)].as_posix() for document in documents)
        folders = Counter(name.rpartition("/")[0] for name in names)
        for folder, pages in folders.items():
            path = PurePosixPath(folder)
            for around in (path, *path.parents):
                counts[around] += pages
        own = {paths[str(d.path)] for d in documents if paths[str(d.path)].stem in _LISTS}
        lists = frozenset(path for path in own if _is_list(path, counts[path.parent]))
        tree = cls(lists, FolderSlugs(marks=marks), frozenset(path.parent for path in lists))
        return tree.with_slugs([d for d in documents if paths[str(d.path)] == d.path], paths)

    def with_slugs(self, documents: Sequence[Document], paths: Mapping[str, PurePosixPath]) -> _FolderTree:
        """Return a copy where the slugs of these list pages replace earlier ones."""
        slugs = {
            paths[str(d.path)].parent: _list_slug(d, paths) for d in documents if self.has_list(d, paths)
        }
        sound = {folder: slug for folder, slug in slugs.items() if slug and not slug_problem(slug)}
        slugs_of_lists = structs.replace(self.slugs, own={**self.slugs.own, **sound})
        return structs.replace(self, slugs=slugs_of_lists)

    def has_list(self, document: Document, paths: Mapping[str, PurePosixPath]) -> bool:
        """Return whether a document is the list page of its folder."""
        return paths[str(document.path)] in self.lists

    def section_folder(self, folder: PurePosixPath) -> PurePosixPath | None:
        """Return the section folder of `folder`: the nearest with a list page, otherwise the outermost;
        None at the top."""
        around = [each for each in (folder, *folder.parents) if each not in (CONTENT, *CONTENT.parents)]
        return next((each for each in around if each in self.listed), around[-1] if around else None)


def _list_slug(document: Document, paths: Mapping[str, PurePosixPath]) -> str:
    """Return the slug of a list page, or the last part of its permalink if the permalink has as many parts as
    the folder."""
    folders = [part for part in document.front.permalink.split("/") if part]
    depth = len(paths[str(document.path)].parts) - 2
    return document.front.slug or (folders[-1] if folders and len(folders) == depth else "")


def _is_list(path: PurePosixPath, pages_below: int) -> bool:
    return path.stem == "_index" or (path.stem == "index" and (path.parent == CONTENT or pages_below > 1))


class _Folder(Struct, frozen=True):
    """Data shared by all pages in a folder."""

    section: PurePosixPath | None
    """Folder of their section; None outside of sections."""
    section_name: str
    """Site path of the section without the outer slashes; empty outside of sections."""
    permalink: str
    """Permalink pattern for posts of the section; may be empty."""
    url: str
    """Site path of the folder."""
    problems: tuple[str, ...]
    """Reasons why the folder name gives no valid URL."""


class _UrlPlan(Struct, frozen=True):
    """The URLs assigned so far in a language version. Exists only during one call of `assign_urls`."""

    config: Config
    tree: _FolderTree
    root: str = ""
    """Prefix of the URLs of the language version."""
    paths: Mapping[str, PurePosixPath] = field(default_factory=dict)
    """Source path → path without language suffix."""
    urls: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    folders: dict[PurePosixPath, _Folder] = field(default_factory=dict)

    def add(self, document: Document) -> None:
        """Assign a URL to `document`."""
        name = str(document.path)
        path = self.paths[name]
        if path in self.tree.lists:
            kind: Kind = "home" if path.parent == CONTENT else "section"
            self.sections[name] = self.tree.slugs.url(path.parent).strip("/")
            self.kinds[name], self.urls[name] = kind, self._list_url(document, kind)
            return
        # a bundle is named after its own folder and belongs to the folder above
        is_bundle = path.stem == "index"
        folder = self._folder(path.parent.parent if is_bundle else path.parent)
        self.sections[name] = folder.section_name
        self.kinds[name] = "post" if folder.section else "page"
        self.urls[name] = self._page_url(document, path.parent.name if is_bundle else path.stem, folder)

    def promote_list_pages(self, documents: Sequence[Document]) -> None:
        """Treat a page whose permalink is the URL of a list as the page of that list, as Jekyll does."""
        lists = plan_lists(documents, self.kinds, self.sections)
        for document in documents:
            name = str(document.path)
            url = self.urls[name].removeprefix(self.root)
            if document.front.permalink and url in lists and url.endswith("/"):
                self.kinds[name] = "home" if url == "/" else "section"
                self.sections[name] = url.strip("/")

    def _folder(self, path: PurePosixPath) -> _Folder:
        found = self.folders.get(path)
        if found is None:
            found = self.folders[path] = self._make_folder(path)
        return found

    def _make_folder(self, path: PurePosixPath) -> _Folder:
        section = self.tree.section_folder(path)
        name = self.tree.slugs.url(section).strip("/") if section else ""
        permalink = ""
        if section:
            # the settings may name a section by its folder or by its URL
            patterns = self.config.permalinks
            permalink = patterns.get(section.relative_to(CONTENT).as_posix()) or patterns.get(name, "")
        problems = (
            f'"{each}" {problem}' for each in self.tree.slugs.names(path) if (problem := slug_problem(each))
        )
        return _Folder(section, name, permalink, self.tree.slugs.url(path), tuple(problems))

    def _list_url(self, document: Document, kind: Kind) -> str:
        folder = self.paths[str(document.path)].parent
        if kind == "section":
            self._slug(document, folder.name)
        url = self.root + ("/" if kind == "home" else self.tree.slugs.url(folder))
        if document.front.permalink.strip("/") not in ("", url.strip("/")):
            place = document.front.places.get("permalink")
            message = f'"permalink" has no effect because the URL of a list comes from its folder: "{url}"'
            hint = "rename the folder or write `slug: NAME`, and list old URLs under `aliases`"
            self._warn(document, "front-matter-key", message, place, hint)
        return url

    def _warn(self, document: Document, code: str, message: str, place: Place | None, hint: str) -> None:
        reporter = Reporter(document.path.as_posix(), document.source.text.split("\n"))
        reporter.warn(code, message, place, hint)
        self.diagnostics.extend(reporter.diagnostics)

    def _page_url(self, document: Document, name: str, folder: _Folder) -> str:
        return self._own_url(document, name) or self._folder_page_url(document, name, folder)

    def _own_url(self, document: Document, name: str) -> str:
        """Return the URL from the page's permalink; empty without a permalink, or if it is invalid and was
        reported."""
        written, marks = document.front.permalink, self.tree.slugs.marks
        if not written:
            return ""
        slug = document.front.slug or slugify(split_dated_name(name)[1], marks=marks)
        values = placeholder_values(document, self.sections[str(document.path)], slug, marks=marks)
        try:
            return permalink_url(written, values)
        except PermalinkError as wrong:
            place = document.front.places.get("permalink")
            self._error(document, "permalink", f'permalink "{written}" {wrong.problem}', place, wrong.hint)
            return ""

    def _folder_page_url(self, document: Document, name: str, folder: _Folder) -> str:
        for problem in folder.problems:
            message = f"folder name cannot be part of a URL: {problem}"
            self._error(document, "slug", message, hint="rename it, or set `slug` in its `_index.md`")
        slug = self._slug(document, split_dated_name(name)[1])
        address = folder.permalink and self._expand_pattern(folder.permalink, slug, document)
        return self.root + (address or f"{folder.url}{slug}/")

    def _error(
        self,
        document: Document,
        code: str,
        message: str,
        place: Place | None = None,
        hint: str = "",
        meant: tuple[str, str | None] = ("", None),
    ) -> None:
        """Report an error. meant: a string at `place` and its replacement, for a fix."""
        reporter = Reporter(document.path.as_posix(), document.source.text.split("\n"))
        reporter.error(code, message, place, hint, reporter.substitute(place, *meant))
        self.diagnostics.extend(reporter.diagnostics)

    def _slug(self, document: Document, name: str) -> str:
        """Return the slug from the front matter, otherwise one made from the name. Report an invalid one."""
        asked = unicodedata.normalize("NFC", document.front.slug)
        made = slugify(name, marks=self.tree.slugs.marks)
        if asked:
            if not (problem := slug_problem(asked)):
                return asked
            place = document.front.places.get("slug")
            message = f'slug "{document.front.slug}" {problem}'
            meant = (document.front.slug, nearest_slug(asked))
            self._error(document, "slug", message, place, slug_hint(asked), meant)
        elif problem := slug_problem(made):
            message = f'file name "{name}" cannot be part of a URL: it {problem}'
            self._error(document, "slug", message, hint="rename it, or set `slug` in the front matter")
        return made or "page"

    def _expand_pattern(self, pattern: str, slug: str, document: Document) -> str:
        """Return the URL of a page from a permalink pattern.

        If the pattern contains a part of the date but the page has no date, report an error and return an
        empty string.
        """
        date = document.front.date
        if date is None and re.search(":(year|month|day)", pattern):
            message = f'permalink "{pattern}" needs a date, but this page has none'
            self._error(document, "date", message, hint="add `date:` to the front matter")
            return ""
        values = {"section": self.sections[str(document.path)], "slug": slug}
        if date is not None:
            values |= {"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"}
        filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), pattern)
        return filled if filled.endswith("/") else f"{filled}/"
