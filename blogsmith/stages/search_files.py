"""The files of a site's search: one that browsers always ask for anew, and those whose versions it names.

They are made when they are asked for, so a save in the preview does not pay for them. Browsers ask for all
but the first one with a digest of what they hold, so what they have kept of them is never old; and an edit of
a text changes few of them, and no name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from ..base.version import __version__
from ..config.languages import edition_root
from ..model.generated_files import GeneratedFile
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..render.templates.style_sheets import version_of
from ..site.editions import SEARCH_PATH, group_by_edition
from ..site.frame import Rendered

if TYPE_CHECKING:
    # imported by the functions that need it: a build after an edit reads plans, also of sites without search
    from ..site.search.index import IndexedPage, SearchIndex

ENTRY = "index"
"""The one file that names the versions of all others."""
_FORM = "2"
"""Changes when the index is written in another way, so that scripts find what they know."""
_DIGITS = 12


class IndexedSource(msgspec.Struct, frozen=True, array_like=True):
    """What an index is made of: one page."""

    path: str
    """Of its source."""
    url: str
    title: str
    tags: tuple[str, ...]
    digest: str
    """Of its record."""


class SearchPlan(msgspec.Struct, frozen=True, array_like=True):
    """What the index of an edition is made of."""

    pages: tuple[IndexedSource, ...]
    """In the order of the index."""
    engine: str
    """What finds words, as in the settings."""

    @property
    def order(self) -> str:
        """As in `page_order`."""
        from ..site.search.index import page_order

        return page_order(page.url for page in self.pages)

    @property
    def terms(self) -> int:
        """Over how many files the terms are divided; 0 where Pagefind finds them."""
        from ..site.search.index import count_files

        return count_files(len(self.pages)) if self.engine == "own" else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Of all files but the first, without `.json`."""
        from ..site.search.index import terms_name

        return ("pages", "formulas", *map(terms_name, range(self.terms)))

    def key(self, macros: Mapping[str, str]) -> str:
        """Names all that the index is made of."""
        made_of = [_FORM, __version__, self, sorted(macros.items())]
        return sha256(msgspec.json.encode(made_of)).hexdigest()

    def entry(self, versions: Mapping[str, str], macros: Mapping[str, str]) -> bytes:
        """The first file. versions: of the others, by name."""
        found = {"form": _FORM, "order": self.order, "terms": self.terms}
        if not self.terms:
            found["folder"] = pagefind_folder(self.key(macros))
        return msgspec.json.encode({**found, "files": versions}) + b"\n"


def search_files(
    views: Sequence[PageView], rendered: Mapping[str, Rendered], context: SiteContext, engine: str
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Path and content of each file but those of Pagefind; none for a site without search.

    rendered: by source path. engine: what finds words, as in the settings.
    """
    macros = context.config.math.macros
    for edition, members in searched_views(views, rendered, context).items():
        pages = [indexed_page(view, rendered[view.path].body.search) for view in members]
        plan = plan_index(members, rendered, engine)
        content = partial(_content, plan, _index(pages, macros))
        yield from planned_files(plan, content, macros, search_folder(edition, context))


def _index(pages: Sequence[IndexedPage], macros: Mapping[str, str]) -> SearchIndex:
    from ..site.search.index import SearchIndex

    return SearchIndex(pages, macros)


def _content(plan: SearchPlan, index: SearchIndex, name: str) -> bytes:
    if name in index.files:
        return index.files[name]
    return plan.entry({name: version_of(index.files[name]) for name in plan.names}, index.macros)


def planned_files(
    plan: SearchPlan, content: Callable[[str], bytes], macros: Mapping[str, str], folder: PurePosixPath
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """The files of an index. content: gives what stands in the one of this name, without `.json`."""
    key = plan.key(macros)
    for name in (ENTRY, *plan.names):
        yield (
            folder / f"{name}.json",
            GeneratedFile(partial(content, name), (), key=f"{key} {name}", is_joint=True),
        )


def plan_index(views: Sequence[PageView], rendered: Mapping[str, Rendered], engine: str) -> SearchPlan:
    """What the index of these pages is made of."""
    pages = (indexed_source(view, rendered[view.path].body.search) for view in views)
    return SearchPlan(tuple(pages), engine)


def searched_views(
    views: Sequence[PageView], rendered: Mapping[str, Rendered], context: SiteContext
) -> dict[str, tuple[PageView, ...]]:
    """Edition → its pages that can be found, in the order of the index; empty for a site without search."""
    if not context.config.search:
        return {}
    # of a list that takes several pages, the first one has the text; drafts are nobody's to find
    found = (
        view
        for view in views
        if view.body and view.path in rendered and not (view.draft or view.unlisted)
        if rendered[view.path].document.front.search
    )
    groups = group_by_edition(((view.edition, view) for view in found), context.config)
    return {edition: tuple(members) for edition, members in groups.items()}


def search_folder(edition: str, context: SiteContext) -> PurePosixPath:
    """Where the files of an index lie."""
    return PurePosixPath((edition_root(edition, context.config) + SEARCH_PATH).strip("/"))


def pagefind_folder(key: str) -> str:
    """Name of the folder beside an index that Pagefind's files lie in. key: as `SearchPlan.key` gives it."""
    return key[:_DIGITS]


def indexed_page(view: PageView, record: bytes) -> IndexedPage:
    """A page as the index takes it."""
    from ..site.search.index import IndexedPage

    return IndexedPage(view.url, view.title, _tags(view), record)


def indexed_source(view: PageView, record: bytes) -> IndexedSource:
    """The same, to be compared."""
    from ..site.search.page_record import record_digest

    return IndexedSource(view.path, view.url, view.title, _tags(view), record_digest(record))


def _tags(view: PageView) -> tuple[str, ...]:
    return tuple(term.title for term in (*view.categories, *view.tags))
