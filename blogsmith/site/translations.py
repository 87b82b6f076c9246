"""Translations: pages with the same content in several languages.

Pages are translations of each other if they have the same `translation_key`, or without one the same file
name: `posts/a.md` and `posts/a.de.md`. By default, the key of a page is its path, `posts/a`, so that a file
of any name can refer to it. Generated lists correspond by their URLs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter
from ..config.languages import default_tag, file_language, language_tags, version_url_prefix
from ..config.schema import Config
from ..languages.tags import is_listed, language_name
from ..model.documents import Document
from ..model.template_views import PageView, Translation
from .frame import RenderedDocument, ViewContext

_LISTS = frozenset({"home", "section"})
_GENERATED = frozenset({*_LISTS, "tags", "tag", "author", "archive", "series", "search"})
_INDEX_NAMES = ("index", "_index")


def translation_key(document: Document, config: Config) -> str:
    """Return the key that all translations of a page share, such as `posts/a` for
    `content/posts/a/index.de.md`."""
    if document.front.translation_key:
        return document.front.translation_key
    path = file_language(document.path, config).path
    inside = PurePosixPath(*path.parts[1:])
    return str(inside.parent if inside.stem in _INDEX_NAMES else inside.with_suffix(""))


def translations(
    documents: Iterable[Document], editions: Mapping[str, str], config: Config
) -> dict[str, dict[str, str]]:
    """Map the source path of a translated page to the source paths of all its language versions."""
    if not config.languages:
        return {}
    groups: dict[str, dict[str, str]] = {}
    for document in documents:
        path = str(document.path)
        groups.setdefault(translation_key(document, config), {}).setdefault(editions.get(path, ""), path)
    return {path: group for group in groups.values() if len(group) > 1 for path in group.values()}


def check_translations(
    documents: Sequence[Document], editions: Mapping[str, str], config: Config
) -> list[Diagnostic]:
    """Return errors for two pages that are the same translation, and warnings for unrecognized language
    suffixes."""
    found: list[Diagnostic] = []
    taken: dict[tuple[str, str], str] = {}
    paths = {str(document.path) for document in documents}
    for document in sorted(documents, key=lambda document: document.path.as_posix()):
        path = str(document.path)
        if config.languages:
            key = (translation_key(document, config), editions.get(path, ""))
            first = taken.setdefault(key, path)
            found += (
                _duplicate_translation(document, first, key[1] or default_tag(config))
                if first != path
                else []
            )
        if "." in document.path.stem and not file_language(document.path, config).tag:
            found += _unknown_language_suffix(document, paths)
    return found


def add_translations(
    pages: Sequence[PageView], rendered: Iterable[RenderedDocument], frame: ViewContext
) -> tuple[PageView, ...]:
    """Return the pages with links to their translations. frame: context of the site's own language."""
    config = frame.settings or frame.config
    if not config.languages:
        return tuple(pages)
    keys = {str(item.document.path): translation_key(item.document, config) for item in rendered}
    lists = {
        _place(page, config): keys[page.path] for page in reversed(pages) if page.kind in _LISTS and page.path
    }
    groups: dict[tuple[str, str], dict[str, PageView]] = {}
    for page in pages:
        if key := _key(page, keys, lists, config):
            groups.setdefault(key, {}).setdefault(page.edition, page)
    linked = {key: _links(group, config) for key, group in groups.items() if len(group) > 1}
    return tuple(
        _with_links(page, linked[key]) if (key := _key(page, keys, lists, config)) in linked else page
        for page in pages
    )


def _key(
    page: PageView, keys: Mapping[str, str], lists: Mapping[tuple[str, str], str], config: Config
) -> tuple[str, str] | None:
    """Return the key that a page shares with its translations, or None if the page cannot have
    translations."""
    if page.path:
        return ("page", keys[page.path])
    if page.kind not in _GENERATED or (page.pager and page.pager.number > 1):
        return None
    place = _place(page, config)
    return ("page", lists[place]) if place in lists else place


def _place(page: PageView, config: Config) -> tuple[str, str]:
    """Return the kind of a list, and its path within its language version."""
    root = version_url_prefix(page.edition, config)
    return page.kind, page.url.removeprefix(config.base_path).removeprefix(root)


def _links(group: Mapping[str, PageView], config: Config) -> tuple[Translation, ...]:
    own = default_tag(config)
    found = []
    for tag in language_tags(config):
        page = group.get("" if tag == own else tag)
        if page:
            chosen = config.languages.get(tag)
            name = (chosen.name if chosen else "") or language_name(tag)
            found.append(Translation(page.lang, name, page.url, page.canonical_url, is_own=tag == own))
    return tuple(found)


def _with_links(page: PageView, links: tuple[Translation, ...]) -> PageView:
    shown = (replace(link, is_current=True) if link.url == page.url else link for link in links)
    return replace(page, translations=tuple(shown))


def _duplicate_translation(document: Document, first: str, tag: str) -> list[Diagnostic]:
    reporter = Reporter(document.path.as_posix(), document.source.text.split("\n"))
    front = document.front
    message = f'duplicate "{tag}" version of a page: "{first}" is already this page'
    hint = "write another `translation_key` or `lang` in one of the two files"
    place = front.places.get("translation_key") or front.places.get("lang")
    reporter.error("translation", message, place, hint)
    return reporter.diagnostics


def _unknown_language_suffix(document: Document, paths: set[str]) -> list[Diagnostic]:
    """Return a warning about a file such as `post.de.md` next to `post.md` if `languages` does not list
    German."""
    path = document.path
    name, _, mark = path.stem.rpartition(".")
    if not name or not is_listed(mark) or str(path.with_name(name + path.suffix)) not in paths:
        return []
    reporter = Reporter(path.as_posix(), document.source.text.split("\n"))
    message = f'"{path.name}" is read as a separate page, not as a translation of "{name}{path.suffix}"'
    hint = f"add `languages: {{{mark}: {{}}}}` to blogsmith.yaml, or rename it"
    reporter.warn("translation", message, None, hint)
    return reporter.diagnostics
