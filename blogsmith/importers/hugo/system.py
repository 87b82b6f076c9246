"""Importer for Hugo. It converts all pages of a site, and its settings to blogsmith's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from ...api.importing import Progress, name_set, plural
from ..addresses import keep_url
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, OldSettings, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers, map_pages
from ..protection import draft_settings
from ..source_files import missing_pages_error
from .config import HugoConfig, find_config, read_config
from .independent import render_goldmark
from .page import KEYS, HugoPageTranslator
from .site_parts import (
    add_terms,
    home_page,
    menu_notices,
    own_taxonomies,
    person_settings,
    term_redirects,
    with_taxonomies,
)
from .source import HugoDocument, HugoFiles, convert_pattern, find_files, urlize

_GENERATED_URLS = frozenset(("/", "/tags/", "/categories/", "/series/", "/archive/"))
"""Old URLs of pages that blogsmith generates."""
_RENAMED_URLS = {"/archives/": "/archive/"}


_TRANSLATED = name_set(
    "title description params.description params.author author baseurl languagecode locale "
    "defaultcontentlanguage defaultcontentlanguageinsubdir languages timezone menu menus permalinks "
    "uglyurls contentdir staticdir datadir ignorefiles disablelanguages enableemoji markup.goldmark "
    "markup.highlight.linenos module.imports module.mounts taxonomies cascade "
    "params.homeinfoparams params.profilemode"
)


def old_settings(config: HugoConfig) -> OldSettings:
    """Return the old settings. They include the names of those that the importer translates."""
    return OldSettings(config.file, config.values, _TRANSLATED)


def site_settings(
    config: HugoConfig, macros: Mapping[str, str], documents: Iterable[HugoDocument]
) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Return the settings of the new site, and notices about menu entries whose target does not exist."""
    found: dict[str, Any] = {"title": config.language_text("title") or "Untitled site"}
    if description := config.text("params", "description") or config.text("description"):
        found["description"] = description
    if author := _author(config):
        found["author"] = author
    if (address := config.text("baseurl").rstrip("/")).startswith(("https://", "http://")):
        found["base_url"] = address
    lang = config.language_text("languagecode") or config.text("locale") or config.default_language
    found["lang"] = lang.replace("_", "-")
    zone = config.text("timezone")
    if zone in available_timezones():
        found["timezone"] = zone
    every = tuple(document for document in documents if not document.language)
    menu, notices = _menu(config, every)
    if menu:
        found["menu"] = menu
    if permalinks := _permalinks(config, every):
        found["permalinks"] = permalinks
    found |= _markup(config)
    # heading ids as goldmark makes them, and images of other hosts loaded directly, as on the old site
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if macros:
        found["math"] = {"macros": dict(macros)}
    return found, notices


def _author(config: HugoConfig) -> str:
    for names in (("params", "author"), ("author",), ("params", "authors")):
        written = config.value(*names)
        if isinstance(written, list):
            written = ", ".join(str(each) for each in written if isinstance(each, str))
        if isinstance(written, Mapping):
            written = written.get("name")
        if isinstance(written, str) and written.strip():
            return " ".join(written.split())
    return ""


def _markup(config: HugoConfig) -> dict[str, Any]:
    markup: dict[str, Any] = {}
    # goldmark uses typographic quotes by default
    typographer = config.value("markup", "goldmark", "extensions", "typographer")
    options = typographer if isinstance(typographer, Mapping) else {}
    if typographer is not False and options.get("disable") is not True:
        markup["smart_quotes"] = True
    if config.value("markup", "goldmark", "renderer", "hardwraps") is True:
        markup["line_breaks"] = True
    found: dict[str, Any] = {"markup": markup} if markup else {}
    if config.value("markup", "highlight", "linenos") in (True, "table", "inline"):
        found["code"] = {"line_numbers": True}
    return found


def _permalinks(config: HugoConfig, documents: Iterable[HugoDocument]) -> dict[str, str]:
    """Return section → pattern for blogsmith's `permalinks`. Sections whose pattern cannot be converted are
    left out."""
    found = {}
    for section in sorted({document.sections[0] for document in documents if document.sections}):
        pattern = config.permalink(section)
        if pattern and (own := convert_pattern(pattern, section)):
            found[section] = own
    return found


def _menu(
    config: HugoConfig, documents: tuple[HugoDocument, ...]
) -> tuple[list[dict[str, str]], tuple[Notice, ...]]:
    entries: list[tuple[float, str, str]] = []
    language = config.default_language
    for names in (("menu",), ("menus",), ("languages", language, "menu"), ("languages", language, "menus")):
        written = config.value(*names, "main")
        for entry in written if isinstance(written, list) else ():
            if isinstance(entry, Mapping):
                url = str(entry.get("url") or entry.get("pageref") or "")
                title = str(entry.get("name") or entry.get("title") or entry.get("identifier") or "")
                entries.append((_weight(entry), title, url))
    for document in documents:
        if (place := _front_menu(document)) is not None:
            title = str(place.get("name") or document.front.get("title") or document.name)
            entries.append((_weight(place), title, document.address))
    menu, notices = [], []
    known = _addresses(documents)
    for _, title, url in sorted(entries, key=lambda entry: (entry[0] == 0, entry[0])):
        target = _target(url, config, known)
        if target and title:
            menu.append({"title": title, "url": target})
        else:
            hint = "add it to `menu` with the URL of a page or a web URL"
            message = f'menu entry "{title or url}" is omitted: its target is not in the new site'
            notices.append(Notice("dropped", message, hint=hint))
    return menu, tuple(notices)


def _front_menu(document: HugoDocument) -> Mapping[str, Any] | None:
    """Return the page's entry in the main menu, which may be an empty mapping. Return None if the page is not
    in this menu."""
    written = document.front.get("menu") or document.front.get("menus")
    if written == "main" or (isinstance(written, list) and "main" in written):
        return {}
    if isinstance(written, Mapping) and "main" in written:
        place = written["main"]
        return place if isinstance(place, Mapping) else {}
    return None


def _weight(entry: Mapping[str, Any]) -> float:
    weight = entry.get("weight")
    return float(weight) if isinstance(weight, (int, float)) else 0.0


def _addresses(documents: Iterable[HugoDocument]) -> frozenset[str]:
    found = set(_GENERATED_URLS)
    for document in documents:
        found.add(document.address)
        sections = document.sections
        found |= {f"/{'/'.join(sections[:count])}/" for count in range(1, len(sections) + 1)}
    return frozenset(found)


def _target(url: str, config: HugoConfig, known: frozenset[str]) -> str:
    """Return the URL, in the new site, of a menu entry with the old URL `url`; empty if the target does not
    exist. known: URL paths of the new site."""
    parts = urlsplit(url)
    if parts.netloc and not url.startswith(config.text("baseurl").rstrip("/") or "\0"):
        return url if parts.scheme in ("http", "https") else ""
    path = parts.path.removeprefix(config.base_path) if config.base_path else parts.path
    path = "/" + path.removesuffix(".md").strip("/")
    path = path if path.endswith((".html", "/")) else f"{path}/"
    path = _RENAMED_URLS.get(path, path)
    if path.strip("/") in own_taxonomies(config):
        path = "/tags/"
    return path if path in known and not parts.fragment else ""


_LISTS = frozenset(("tags", "categories", "series"))


def remove_list_pages(files: HugoFiles) -> tuple[HugoFiles, tuple[Notice, ...]]:
    """Remove pages whose URL belongs to a list that blogsmith generates. Pages with text stay, but move to
    another URL."""
    notices: list[Notice] = []
    documents = tuple(_move_list_pages(files, notices))
    return replace(files, documents=documents), tuple(notices)


def _move_list_pages(files: HugoFiles, notices: list[Notice]) -> Iterator[HugoDocument]:
    for document in files.documents:
        if not _is_list(document):
            yield document
            continue
        source = document.path.as_posix()
        if not document.body.strip():
            message = "list page without text is omitted because blogsmith generates the list"
            notices.append(Notice("dropped", message, source))
            continue
        name = urlize("-".join(document.content_path.with_suffix("").parts).removesuffix("-_index")) + "-text"
        message = f'text of a list becomes a page of its own: "/{name}/"'
        notices.append(Notice("changed", message, source, hint="link to the new page"))
        # the old URL is that of the list
        yield replace(document, content_path=PurePosixPath(f"{name}.md"), address="")


def _is_list(document: HugoDocument) -> bool:
    if document.address.strip("/") in _LISTS | {"archive"}:
        return True
    parts = document.content_path.parts
    return document.is_branch and parts[0] in _LISTS and len(parts) < 4


class Hugo:
    """Importer for Hugo, whose sites contain `hugo.toml`, or `config.toml` next to `content/`."""

    title = "Hugo"

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains Hugo settings."""
        return find_config(root) is not None

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole site."""
        config = read_config(root)
        files, lists = remove_list_pages(find_files(root, config))
        documents = files.documents
        if not documents and any("unsupported file type" in notice.message for notice in files.notices):
            raise missing_pages_error(self.title, root)
        translator = HugoPageTranslator(root, config, files)
        settings, notices = site_settings(config, translator.macros, documents)
        patterns = settings.get("permalinks", {})
        pages: list[ImportedPage] = []
        kinds, assets = set[str](), dict[str, Path]()
        taxonomies = own_taxonomies(config)
        keys = with_taxonomies(KEYS, taxonomies)
        count = len(documents)
        made = map_pages(translator.translate_number, range(count), count, workers)
        for document, (page, needs) in zip(documents, made, strict=True):
            progress("read", len(pages), count)
            page = add_terms(page, document.front, taxonomies)
            pages.append(keep_url(complete_page(page, document.front, keys), patterns))
            kinds |= needs.kinds
            assets |= needs.assets
        pages = home_page(config, [*pages, *_section_pages(documents)])
        if kinds:
            settings["callouts"] = {kind: {"title": kind.capitalize()} for kind in sorted(kinds)}
        settings |= draft_settings(pages)
        shown = (ImportedFile(PurePosixPath("static") / path, file) for path, file in sorted(assets.items()))
        copied = _without_pages((*shown, *files.copied), pages)
        if person := person_settings(config, frozenset(file.path for file in copied)):
            settings["person"] = person
        return SiteImport(
            root=root,
            system="hugo",
            settings=settings,
            pages=by_path(pages),
            files=copied,
            notices=(*files.notices, *lists, *notices, *_order_notices(documents), *menu_notices(config)),
            made=term_redirects(pages, (document.front for document in documents), taxonomies),
            old_settings=(old_settings(config),),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the text as goldmark would render it to HTML."""
        return render_goldmark(text, page.original)


def _section_pages(documents: Iterable[HugoDocument]) -> Iterator[ImportedPage]:
    """Yield a page for each section in a language other than the default. This page lists the section,
    because blogsmith generates no list in these languages."""
    every = list(documents)
    known = {document.content_path for document in every}
    sections = {
        (each.language, each.tag, each.sections[0]) for each in every if each.language and each.sections
    }
    for language, tag, section in sorted(sections):
        inner = PurePosixPath(language, section, "_index.md")
        if inner not in known:
            front = {"title": section.replace("-", " ").capitalize(), "lang": tag}
            path, address = PurePosixPath("content") / inner, f"/{language}/{section}/"
            yield ImportedPage(path, front, "", str(inner.parent), address=address)


def _order_notices(documents: Iterable[HugoDocument]) -> Iterator[Notice]:
    """Yield a notice for each section whose pages the old site orders by their weight."""
    weighed = Counter(
        "/".join(
            document.content_path.parts[:-1] if not document.is_bundle else document.content_path.parts[:-2]
        )
        for document in documents
        if not document.is_branch and document.front.get("weight")
    )
    for folder, count in sorted(weighed.items()):
        message = f'{plural(count, "page")} in "{folder or "content"}/" now sorted by date instead of weight'
        hint = "write `series` with a `part` in the front matter to keep the order"
        yield Notice("changed", message, hint=hint)


def _without_pages(files: Iterable[ImportedFile], pages: list[ImportedPage]) -> tuple[ImportedFile, ...]:
    taken = {page.path for page in pages}
    return by_path(file for file in files if file.path not in taken)


SYSTEM = Hugo()
