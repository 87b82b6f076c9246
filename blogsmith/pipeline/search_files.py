"""The files of a site's search: a small one that is always named the same, and those that it names.

They are made when they are asked for, so a save in the preview does not pay for them. All but the first lie
in a folder that is named by all they are made of: what a browser has kept of them is never old.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath

from .. import __version__
from ..config.languages import edition_root
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..search.index import IndexedPage, SearchIndex, count_files
from ..search.page_record import record_digest
from ..site.editions import group_by_edition
from ..site.frame import Rendered
from ..site.generated import GeneratedFile
from ..site.search_page import SEARCH_PATH

_FORM = "1"
"""Changes when the index is written in another way, so that scripts find what they know."""
_DIGITS = 12


def search_files(
    views: Sequence[PageView], rendered: Mapping[str, Rendered], context: SiteContext, engine: str
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Path and content of each file but those of Pagefind; none for a site without search.

    rendered: by source path. engine: what finds words, as in the settings.
    """
    if context.config.search:
        for edition, members in searched_views(views, rendered, context).items():
            yield from _edition_files(members, rendered, context, engine, edition)


def _edition_files(
    shown: tuple[PageView, ...],
    rendered: Mapping[str, Rendered],
    context: SiteContext,
    engine: str,
    edition: str,
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    pages = [_indexed(view, rendered[view.path]) for view in shown]
    index = SearchIndex(pages, context.config.math.macros)
    count = count_files(len(pages)) if engine == "own" else 0
    folder = index_folder(shown, rendered, context, edition)
    entry = {"form": _FORM, "folder": folder.name, "terms": count}
    makers: dict[PurePosixPath, Callable[[], bytes]] = {
        folder.parent / "index.json": partial(_entry, entry),
        folder / "pages.json": lambda: index.files.pages,
        folder / "formulas.json": lambda: index.files.formulas,
        **{folder / f"terms-{number}.json": partial(_terms, index, number) for number in range(count)},
    }
    for path, make in makers.items():
        yield path, GeneratedFile(make, shown, shown)


def searched_views(
    views: Sequence[PageView], rendered: Mapping[str, Rendered], context: SiteContext
) -> dict[str, tuple[PageView, ...]]:
    """Edition → its pages that can be found, in the order of the index."""
    # of a list that takes several pages, the first one has the text; drafts are nobody's to find
    found = (
        view for view in views if view.path in rendered and view.body and not (view.draft or view.unlisted)
    )
    groups = group_by_edition(((view.edition, view) for view in found), context.config)
    return {edition: tuple(members) for edition, members in groups.items()}


def index_folder(
    views: Sequence[PageView], rendered: Mapping[str, Rendered], context: SiteContext, edition: str
) -> PurePosixPath:
    """Where the files of an index lie, but for the one that names the folder. views: that can be found."""
    place = PurePosixPath((edition_root(edition, context.config) + SEARCH_PATH).strip("/"))
    return place / _name([_indexed(view, rendered[view.path]) for view in views], context)


def _indexed(view: PageView, item: Rendered) -> IndexedPage:
    tags = tuple(term.title for term in (*view.categories, *view.tags))
    return IndexedPage(view.url, view.title, tags, item.body.search)


def _name(pages: Sequence[IndexedPage], context: SiteContext) -> str:
    """Names all that the index is made of."""
    macros = sorted(context.config.math.macros.items())
    found = [(page.url, page.title, page.tags, record_digest(page.record)) for page in pages]
    return sha256(json.dumps([_FORM, __version__, macros, found]).encode()).hexdigest()[:_DIGITS]


def _terms(index: SearchIndex, number: int) -> bytes:
    return index.files.terms[number]


def _entry(entry: Mapping[str, object]) -> bytes:
    return (json.dumps(entry) + "\n").encode()
