"""The files of a site's search: an entry file that browsers always revalidate, and versioned files that it
lists.

The files are made on request, so a save in the preview does not wait for them. Browsers request every file
except the entry file with a digest of its content in the URL, so cached files are never outdated. An edit of
a post changes the content of few files, and no file name. The text around hits is in a few files for each
page, which browsers load for the results that are in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec

from ..base.version import __version__
from ..config.languages import version_url_prefix
from ..model.generated_files import GeneratedFile
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..render.templates.style_sheets import file_version
from ..site.editions import SEARCH_PATH, group_by_language
from ..site.frame import RenderedDocument
from ..tex.parse.macros import macro_texts

if TYPE_CHECKING:
    # each function imports what it needs: after an edit, even sites without search import this module
    from ..site.search.index import IndexedPage, SearchIndex

EXCERPTS = "excerpts"
"""Folder with the text around hits. Paths in this folder are the URLs of pages."""
ENTRY = "index"
"""Name of the entry file."""
_FORM = "3"
"""Version of the index format, which the scripts check."""
_DIGITS = 12


class IndexInput(msgspec.Struct, frozen=True, array_like=True):
    """Data of one page that decides whether the index must be made again."""

    path: str
    """Path of the source file."""
    url: str
    title: str
    tags: tuple[str, ...]
    digest: str
    """Digest of the search record of the page."""


class SearchPlan(msgspec.Struct, frozen=True, array_like=True):
    """Data that decides whether the index of one language version must be made again."""

    pages: tuple[IndexInput, ...]
    """Pages in the order of the index."""
    engine: str
    """Search engine, `own` or `pagefind`."""

    @property
    def order(self) -> str:
        """Digest of the pages and their order, from `page_order`."""
        from ..site.search.index import page_order

        return page_order(page.url for page in self.pages)

    @property
    def terms(self) -> int:
        """Number of files of terms; 0 with Pagefind."""
        from ..site.search.index import count_files

        return count_files(len(self.pages)) if self.engine == "own" else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all files except the entry file, without `.json`."""
        from ..site.search.index import terms_name

        return ("pages", "formulas", *map(terms_name, range(self.terms)))

    def key(self, macros: Mapping[str, str]) -> str:
        """Return a digest of all inputs of the index."""
        made_of = [_FORM, __version__, self, sorted(macros.items())]
        return sha256(msgspec.json.encode(made_of)).hexdigest()

    def entry(self, versions: Mapping[str, str], macros: Mapping[str, str]) -> bytes:
        """Return the content of the entry file. versions: name of another file → its version."""
        found = {"form": _FORM, "order": self.order, "terms": self.terms}
        if not self.terms:
            found["folder"] = pagefind_folder(self.key(macros))
        return msgspec.json.encode({**found, "files": versions}) + b"\n"


def search_files(
    views: Sequence[PageView], rendered: Mapping[str, RenderedDocument], context: SiteContext, engine: str
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Yield path and content of each search file, except for those that Pagefind creates; nothing if the site
    has no search. rendered: by source path. engine: `own` or `pagefind`."""
    macros = macro_texts(context.config.math.macros)
    for edition, members in searched_views(views, rendered, context).items():
        pages = [indexed_page(view, rendered[view.path].body.search) for view in members]
        plan = plan_index(members, rendered, engine)
        content = partial(_content, plan, _index(pages, macros))
        folder = search_folder(edition, context)
        yield from planned_files(plan, content, macros, folder)
        root = context.config.base_path + version_url_prefix(edition, context.config)
        for page in pages:
            path = unquote(page.url.removeprefix(root))
            yield from _excerpt_files(page.record, f"{folder}/{EXCERPTS}{path}")


def _excerpt_files(record: bytes, path: str) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Yield path and content of the files with the text around the hits of one page. path: path of the files
    without the number at its end."""
    from ..site.search.page_record import count_chunks, record_digest

    digest = record_digest(record)
    for number in range(count_chunks(record)):
        key = f"{_FORM} {digest} {number}"
        content = GeneratedFile(partial(_excerpts, record, number), (), key=key)
        yield PurePosixPath(f"{path}{number}.json"), content


def _excerpts(record: bytes, number: int) -> bytes:
    from ..site.search.index import to_json
    from ..site.search.page_record import read_excerpts

    found = read_excerpts(record)
    return to_json(found[number] if number < len(found) else {})


def _index(pages: Sequence[IndexedPage], macros: Mapping[str, str]) -> SearchIndex:
    from ..site.search.index import SearchIndex

    return SearchIndex(pages, macros)


def _content(plan: SearchPlan, index: SearchIndex, name: str) -> bytes:
    if name in index.files:
        return index.files[name]
    return plan.entry({name: file_version(index.files[name]) for name in plan.names}, index.macros)


def planned_files(
    plan: SearchPlan, content: Callable[[str], bytes], macros: Mapping[str, str], folder: PurePosixPath
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Yield path and content of the files of an index. content: function from file name, without `.json`, to
    content."""
    key = plan.key(macros)
    for name in (ENTRY, *plan.names):
        yield (
            folder / f"{name}.json",
            GeneratedFile(partial(content, name), (), key=f"{key} {name}", is_joint=True),
        )


def plan_index(
    views: Sequence[PageView], rendered: Mapping[str, RenderedDocument], engine: str
) -> SearchPlan:
    """Return the inputs of the index of these pages."""
    pages = (indexed_source(view, rendered[view.path].body.search) for view in views)
    return SearchPlan(tuple(pages), engine)


def searched_views(
    views: Sequence[PageView], rendered: Mapping[str, RenderedDocument], context: SiteContext
) -> dict[str, tuple[PageView, ...]]:
    """Map each language version to its searchable pages, in the order of the index. Empty if the site has no
    search."""
    if not context.config.search:
        return {}
    # only the first page of a paginated list has text of its own; search must not find drafts
    found = (
        view
        for view in views
        if view.body and view.path in rendered and not (view.draft or view.unlisted)
        if rendered[view.path].document.front.search
    )
    groups = group_by_language(((view.edition, view) for view in found), context.config)
    return {edition: tuple(members) for edition, members in groups.items()}


def search_folder(edition: str, context: SiteContext) -> PurePosixPath:
    """Return the folder of the index of a language version."""
    return PurePosixPath((version_url_prefix(edition, context.config) + SEARCH_PATH).strip("/"))


def pagefind_folder(key: str) -> str:
    """Return the name of the folder with Pagefind's files, next to the index. key: from `SearchPlan.key`."""
    return key[:_DIGITS]


def indexed_page(view: PageView, record: bytes) -> IndexedPage:
    """Return the input of the index for one page."""
    from ..site.search.index import IndexedPage

    return IndexedPage(view.url, view.title, _tags(view), record)


def indexed_source(view: PageView, record: bytes) -> IndexInput:
    """Return the input of the index for one page with a digest instead of the record, for comparison."""
    from ..site.search.page_record import record_digest

    return IndexInput(view.path, view.url, view.title, _tags(view), record_digest(record))


def _tags(view: PageView) -> tuple[str, ...]:
    return tuple(term.title for term in (*view.categories, *view.tags))
