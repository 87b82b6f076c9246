"""Language versions of a site: grouping of pages, checks of their URLs, and their search pages.

The version in the site's own language has an empty string as its name. Its pages are at the site root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic
from ..config.languages import default_tag, language_tags, version_url_prefix
from ..config.load import CONFIG_NAME
from ..config.schema import Config
from ..model.documents import Document, TocEntry
from ..model.template_views import PageGroup, PageView
from .archive import plan_archive
from .exercises import plan_exercises
from .frame import RenderedDocument, ViewContext
from .generated_views import plain_view
from .lists import plan_authors, plan_lists
from .statements import MAP_PATH
from .terms import plan_terms

_T = TypeVar("_T")


def group_by_language(items: Iterable[tuple[str, _T]], config: Config) -> dict[str, list[_T]]:
    """Return language version → its members, in the order of the settings. items: (language version, member)
    pairs.

    The site's own version always comes first, even if it has no members.
    """
    own = default_tag(config)
    found: dict[str, list[_T]] = {"": []}
    found |= {tag: [] for tag in language_tags(config) if tag != own}
    for edition, item in items:
        found.setdefault(edition, []).append(item)
    return {edition: members for edition, members in found.items() if members or not edition}


def check_language_roots(
    sections: Mapping[str, str], editions: Mapping[str, str], config: Config
) -> list[Diagnostic]:
    """Return errors for languages with a URL prefix that is a section of the site's own language."""
    taken = {section for path, section in sections.items() if not editions[path]}
    found = []
    for edition in sorted({edition for edition in editions.values() if edition}):
        root = version_url_prefix(edition, config).strip("/")
        if root in taken:
            message = f'language "{edition}" and section "{root}" have the same URL "/{root}/"'
            hint = f"write `languages: {{{edition}: {{path: …}}}}`, or rename the folder"
            found.append(Diagnostic("duplicate-url", message, CONFIG_NAME, hint=hint))
    return found


def plan_generated(
    documents: Sequence[Document],
    kinds: Mapping[str, str],
    sections: Mapping[str, str],
    editions: Mapping[str, str],
    config: Config,
) -> tuple[dict[str, str], dict[str, str]]:
    """Return two mappings from site path to description: replaceable lists, and all other generated pages.

    An index page of the author can replace a page of the first mapping, but not one of the second.
    """
    lists: dict[str, str] = {}
    others: dict[str, str] = {}
    pairs = ((editions.get(str(document.path), ""), document) for document in documents)
    for edition, members in group_by_language(pairs, config).items():
        root = version_url_prefix(edition, config)
        lists |= {root + url: what for url, what in plan_lists(members, kinds, sections).items()}
        others |= {root + url: what for url, what in plan_terms(members, config).items()}
        others |= {root + url: what for url, what in plan_authors(config).items()}
        others |= {root + url: what for url, what in plan_archive(members, kinds, config).items()}
        if config.theorems.map:
            others[f"{root}{MAP_PATH}"] = "the map of theorems"
        others |= {root + url: what for url, what in plan_exercises(members, config).items()}
        others |= {root + url: what for url, what in plan_search(config).items()}
    return lists, others


# The page `/search/` of each language: a list of all searchable pages by section. It works without scripts.


SEARCH_PATH = "/search/"
MOST_HEADINGS = 2_000
"""Maximum number of headings on the search page. On sites with more headings, the search page lists only the
titles of pages, which saves megabytes."""


def plan_search(config: Config) -> dict[str, str]:
    """Map the site path of the search page to its description. Without search the mapping is empty."""
    return {SEARCH_PATH: "the search page"} if config.search else {}


def search_page(
    rendered: Sequence[RenderedDocument],
    views: Mapping[str, PageView],
    sections: Mapping[str, str],
    titles: Mapping[str, str],
    frame: ViewContext,
) -> Iterator[PageView]:
    """Yield the search page of a language version, if the site has search.

    views: by site path; titles: section → its title.
    """
    if not frame.config.search:
        return
    has_headings = sum(_count(item.body.toc) for item in rendered) <= MOST_HEADINGS
    groups: dict[str, list[PageView]] = {}
    for item in rendered:
        view = views[item.url]
        is_found = item.document.front.search and not view.draft
        if is_found and (item.kind in ("post", "page") or view.body):
            section = item.section if item.section in sections else ""
            # the list needs the headings even if the page itself shows no table of contents
            groups.setdefault(section, []).append(replace(view, toc=item.body.toc if has_headings else ()))
    ordered = sorted(groups, key=lambda section: (bool(section), section))
    found = tuple(PageGroup(titles.get(section, ""), tuple(groups[section])) for section in ordered)
    title = frame.language.translate("Search")
    # search engines must not index this page, so it has no canonical URL and is not in the sitemap
    yield replace(plain_view("search", SEARCH_PATH, title, frame, ()), canonical_url="", page_groups=found)


def _count(entries: Sequence[TocEntry]) -> int:
    return sum(1 + _count(entry.children) for entry in entries)
