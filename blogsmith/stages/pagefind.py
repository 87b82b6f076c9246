"""Files that the program Pagefind creates for sites that use it, at the end of a build, from the text of the
pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ..base.diagnostics.extras import extra_install_command
from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import read_or_make
from ..config.load import CONFIG_NAME
from ..model.documents import Output
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..site.frame import RenderedDocument
from ..site.search.page_text import read_sections
from ..site.search.pagefind import PagefindError, is_installed, make_index, pagefind_page, program_version
from ..tex.parse.macros import macro_texts
from .search_files import pagefind_folder, plan_index, search_folder, searched_views


def make_pagefind_files(
    context: SiteContext, views: Mapping[str, PageView], rendered: Mapping[str, RenderedDocument]
) -> list[Output]:
    """Return the files that Pagefind creates; an empty list for a site with another search engine. Raises
    SiteError if they cannot be made."""
    settings = context.config.search_settings
    if settings is None or settings.engine != "pagefind":
        return []
    if not is_installed():
        raise _problem(
            'search engine "pagefind" is not installed', f"run `{extra_install_command('search')}`"
        )
    editions = searched_views(tuple(views.values()), rendered, context)
    return [
        file
        for edition, shown in editions.items()
        for file in _edition_files(context, shown, rendered, edition)
    ]


def _edition_files(
    context: SiteContext, shown: Sequence[PageView], rendered: Mapping[str, RenderedDocument], edition: str
) -> list[Output]:
    lang = edition or context.config.lang
    plan = plan_index(shown, rendered, "pagefind")
    name = pagefind_folder(plan.key(macro_texts(context.config.math.macros)))
    folder = search_folder(edition, context) / name

    def make() -> bytes:
        try:
            return msgspec.msgpack.encode(make_index(_pages(shown), lang))
        except PagefindError as problem:
            raise _problem(
                f"Pagefind cannot make an index: {problem}", "write `search: true` to use the built-in search"
            ) from problem

    kept = f"{name}-{lang}-{program_version()}"
    files = msgspec.msgpack.decode(read_or_make(context.root, "search", kept, make), type=dict[str, bytes])
    return [Output(folder / "pagefind" / path, data) for path, data in files.items()]


def _pages(views: Sequence[PageView]) -> Iterator[str]:
    return (pagefind_page(view.title, view.url, read_sections(view.content)) for view in views)


def _problem(message: str, hint: str) -> SiteError:
    return SiteError(Diagnostic("search-engine", message, CONFIG_NAME, hint=hint))
