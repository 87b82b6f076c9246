"""Importer for Jekyll. It gives each page a unique URL, and keeps old URLs working."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Progress
from ..addresses import keep_url, new_url
from ..bibliographies import data_bibliographies
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, OldSettings, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers, translate_document
from .independent import render_html, render_kramdown
from .navigation import archive_redirects, site_menu
from .page import KEYS, PageTranslator
from .personal import list_settings
from .settings import JekyllConfig, find_config, old_settings, read_config, site_settings
from .source import (
    GENERATED_URLS,
    JekyllFiles,
    JekyllSite,
    find_files,
    generated_page_notice,
    is_blog,
    is_generated_page,
    list_notice,
    read_site,
)

_HOME = PurePosixPath("content/_index.md")
_FRONT_FILE = PurePosixPath("index.html")
_MOVED_HOME_FILE = PurePosixPath("home.html")
"""Path below `static` of an old home page in HTML. It is moved, because blogsmith generates the home page
itself."""


def resolve_url_conflicts(pages: Sequence[ImportedPage]) -> list[ImportedPage]:
    """Return the pages with different URLs. Of pages with the same URL, the first keeps it. Jekyll would
    publish only one of them."""
    owners: dict[str, str] = {}
    found = []
    for page in sorted(pages, key=lambda page: page.path.as_posix()):
        address = page.address.rstrip("/") or "/"
        first = owners.setdefault(address, page.source) if page.address else page.source
        if first == page.source:
            found.append(_without_own_alias(page))
            continue
        front = {key: value for key, value in page.front.items() if key not in ("permalink", "slug")}
        message = f'duplicate URL "{page.address}" (first used by "{first}"): this page gets another URL'
        notice = Notice("mistake", message, page.source, hint="give one of the pages another `permalink`")
        found.append(replace(page, front=front, address="", notices=(*page.notices, notice)))
    return found


def _without_own_alias(page: ImportedPage) -> ImportedPage:
    if "aliases" not in page.front:
        return page
    own = {new_url(page, {}).rstrip("/")}
    own |= {page.address.rstrip("/")} if page.path.stem != "_index" else set()
    kept = [alias for alias in page.front["aliases"] if alias.rstrip("/").casefold() not in own]
    front = {key: value for key, value in page.front.items() if key != "aliases"}
    return replace(page, front=front | ({"aliases": kept} if kept else {}))


def redirect_lists_to_home(
    pages: tuple[ImportedPage, ...], notices: Iterable[Notice], settings: Mapping[str, Any]
) -> tuple[ImportedPage, ...]:
    """Add the old URLs of generated lists as aliases of the home page, unless the new site has pages at these
    URLs."""
    old = {notice.made_here for notice in notices if notice.made_here.startswith("/")}
    taken = {page.address.rstrip("/") for page in pages} | GENERATED_URLS
    taken |= {f"/{page.path.parts[1]}" for page in pages if len(page.path.parts) > 2}
    aliases = sorted(address for address in old if address.rstrip("/") not in taken)
    if not aliases:
        return pages
    home = next((page for page in pages if page.path == _HOME), None)
    made = home or ImportedPage(_HOME, {"title": settings["title"]}, "", "_config.yml")
    front = {**made.front, "aliases": [*made.front.get("aliases", ()), *aliases]}
    others = [page for page in pages if page is not home]
    return by_path([*others, replace(made, front=front)])


def copied_files(
    root: Path, config: JekyllConfig, files: JekyllFiles, pages: Iterable[ImportedPage], notices: list[Notice]
) -> tuple[ImportedFile, ...]:
    """Return the files to copy. A file at the URL of a page is omitted, with a notice in `notices`."""
    taken = {f"{page.address.strip('/')}/index.html".lstrip("/") for page in pages if page.address}
    taken |= {page.address.strip("/") for page in pages if page.address.endswith(".html")}
    found = []
    for path in files.copied:
        place = path.relative_to(config.folder)
        if place.as_posix() in taken:
            message = "file is not copied because a page has the same URL"
            notices.append(Notice("dropped", message, path.as_posix()))
        elif place == _FRONT_FILE:
            message = f'HTML home page without front matter is moved to "/{_MOVED_HOME_FILE}"'
            hint = "write the text of the home page in `content/_index.md`"
            notices.append(Notice("changed", message, path.as_posix(), hint=hint))
            found.append(ImportedFile(PurePosixPath("static") / _MOVED_HOME_FILE, root / path))
        else:
            found.append(ImportedFile(PurePosixPath("static") / place, root / path))
    return tuple(found)


_POSTS = frozenset(("posts", "drafts"))


class Jekyll:
    """Importer for Jekyll, whose sites contain a `_config.yml` and other files of Jekyll."""

    title = "Jekyll"

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains a `_config.yml`, but no `_toc.yml` of a Jupyter Book next to it.
        A folder that also contains `mkdocs.yml` must have another file or folder of Jekyll."""
        folder = find_config(root)
        if folder is None or (root / folder / "_toc.yml").exists():
            return False
        return any(
            (root / folder / name).exists() for name in ("_posts", "_layouts", "_includes", "Gemfile")
        ) or (not (root / "mkdocs.yml").exists())

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole site."""
        config = read_config(root)
        files = find_files(root, config)
        site = read_site(root, config, files)
        translator = PageTranslator(site)
        settings = site_settings(config, site.macros)
        patterns = settings.get("permalinks", {})
        pages: list[ImportedPage] = []
        works = data_bibliographies(site.data)
        if works:
            settings["bibliography"] = [str(each.file.path) for each in works]
        known = frozenset(str(item["id"]) for each in works for item in each.items)
        notices: list[Notice] = list(files.notices)
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            made = translate_document(translator.translate, document)
            page = complete_page(made, document.front, KEYS, works=known)
            has_list = str(document.front.get("layout")) in site.list_layouts
            is_generated = document.collection not in _POSTS and (
                is_generated_page(page, has_list_layout=has_list) or is_blog(document)
            )
            if is_generated and page.path.stem == "_index" and page.path.parent.name != "content":
                # the list of a section keeps its title and description
                page = replace(page, text="", notices=(*page.notices, list_notice(page)))
                pages.append(keep_url(page, patterns))
            elif is_generated:
                notices += [generated_page_notice(page), *page.notices]
            else:
                pages.append(keep_url(page, patterns))
        pages = resolve_url_conflicts(pages)
        if translator.person:
            settings |= {"theme": "scholar", "person": translator.person}
        if coauthors := translator.bibliographies.coauthors():
            settings["coauthors"] = coauthors
        if lists := list_settings(site):
            settings["lists"] = lists
        if menu := site_menu(site, pages, patterns):
            settings["menu"] = menu
        written = [*(each.file for each in works), *translator.bibliographies.listed_files()]
        for name in translator.cv.omitted:
            notices.append(Notice("dropped", f'unknown section "{name}" of the CV', "_data/cv.yml"))
        written += [translator.cv.file] if translator.cv.file else []
        return SiteImport(
            root=root,
            system="jekyll",
            settings=settings,
            pages=redirect_lists_to_home(by_path(pages), notices, settings),
            files=(
                *translator.bibliographies.copied.copied_files(),
                *copied_files(root, config, files, pages, notices),
            ),
            notices=tuple(notices),
            made=by_path([*written, *archive_redirects(site, pages)]),
            old_settings=(old_settings(config), *_socials(site)),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the text as kramdown would render it, with formulas as text. A page in HTML stays HTML."""
        is_html = page.source.endswith((".html", ".htm"))
        return render_html(text) if is_html else render_kramdown(text)


def _socials(site: JekyllSite) -> Iterator[OldSettings]:
    """Yield the content of al-folio's `_data/socials.yml`, which names accounts."""
    values = site.data.get("socials")
    if isinstance(values, Mapping):
        yield OldSettings((site.config.folder / "_data/socials.yml").as_posix(), values, frozenset())


SYSTEM = Jekyll()
