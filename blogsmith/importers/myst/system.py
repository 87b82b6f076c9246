"""Importer for MyST books: pages, settings, and lists of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Progress, name_set
from ..addresses import add_aliases, keep_url, new_url
from ..bibliographies import SourceBibliographies
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, OldSettings, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers
from ..protection import is_draft
from ..source_files import read_text
from ..text.data import as_list, one_line
from .boxes import NUMBERED
from .config import BookConfig, find_book, read_config
from .independent import render_myst, render_myst_notebook
from .page import KEYS, PageDraft, draft_page, finish_page, list_references, page_addresses, page_path
from .references import BookIndex, BookLabels, BookPage, BookPages
from .source import BookFiles, find_files
from .walker import BookState

_COLOURS = {"exercise": "teal", "solution": "grey", "algorithm": "purple"}


_TRANSLATED = name_set(
    "title author description html.baseurl bibtex_bibfiles parse.myst_substitutions "
    "only_build_toc_files exclude_patterns execute.execute_notebooks execute.timeout "
    "sphinx.config.bibtex_bibfiles sphinx.config.myst_substitutions sphinx.config.intersphinx_mapping "
    "sphinx.config.rediraffe_redirects sphinx.config.mathjax3_config sphinx.config.mathjax_config "
    "sphinx.config.mathjax4_config version project.title project.description project.authors "
    "project.author project.toc project.math project.bibliography project.substitutions "
    "project.exclude project.numbering project.license site.title site.nav site.actions site.domains "
    "project html_title html_baseurl myst_substitutions "
    "intersphinx_mapping root_doc master_doc mathjax3_config mathjax_config build.exclusions"
)


def old_settings(config: BookConfig) -> OldSettings:
    """Return the settings of the old site, and the names of the settings that the importer reads."""
    translated = _TRANSLATED - {"project"} if config.flavour == "mystmd" else _TRANSLATED
    return OldSettings((config.folder / config.file).as_posix(), config.values, translated)


def site_settings(config: BookConfig, state: BookState) -> dict[str, Any]:
    """Return the settings of the new site, in order."""
    found: dict[str, Any] = {"title": config.title or "Untitled book"}
    if config.description:
        found["description"] = " ".join(config.description.split())
    if config.authors:
        found["author"] = ", ".join(config.authors)
    if config.base_url.startswith(("https://", "http://")):
        found["base_url"] = config.base_url.rstrip("/")
    if config.numbers_headings:
        found["numbering"] = True
    # heading ids as in MyST, and images of other hosts loaded directly, as on the old site
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if config.macros:
        found["math"] = {"macros": dict(config.macros)}
    if state.kinds:
        found["callouts"] = {kind: _callout(kind) for kind in sorted(state.kinds - NUMBERED)}
    if config.execute == "off":
        found["execute"] = "off"
    elif config.timeout_s > 0:
        found["execute"] = {"timeout": config.timeout_s}
    return found


def _site_parts(config: BookConfig, pages: Iterable[ImportedPage]) -> dict[str, Any]:
    """Return menu, license and base URL from the settings of mystmd. pages: pages that menu entries may link
    to."""
    site, project = (config.values.get(key) for key in ("site", "project"))
    site = site if isinstance(site, dict) else {}
    urls = {page.address.strip("/"): str(page.front.get("permalink") or new_url(page, {})) for page in pages}
    menu = [
        {"title": title, "url": url if "://" in url else urls[url.strip("/")]}
        for key in ("nav", "actions")
        for title, url in _links(site.get(key))
        if url.startswith(("https://", "http://")) or url.strip("/") in urls
    ]
    license_ = one_line(project.get("license")) if isinstance(project, dict) else ""
    domain = one_line(next(iter(as_list(site.get("domains") or [])), ""))
    found: dict[str, Any] = {"menu": menu} if menu else {}
    found |= {"license": license_} if license_ else {}
    return found | ({"base_url": f"https://{domain}"} if domain and not config.base_url else {})


def _links(entries: Any) -> Iterator[tuple[str, str]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            title, url = one_line(entry.get("title")), one_line(entry.get("url"))
            if title and url:
                yield title, url
            yield from _links(entry.get("children"))


def _setting_notices(config: BookConfig) -> Iterator[Notice]:
    project = config.values.get("project")
    if isinstance(project, dict) and project.get("abbreviations"):
        hint = "write `::HTML|meaning::` in the text"
        message = 'setting "project.abbreviations" has no effect'
        yield Notice("dropped", message, (config.folder / config.file).as_posix(), hint=hint)


def _callout(kind: str) -> dict[str, Any]:
    row: dict[str, Any] = {"title": kind.capitalize()}
    if kind in _COLOURS:
        row["color"] = _COLOURS[kind]
    if kind != "solution":
        row["numbered"] = True
    return row


class Myst:
    """Importer for books of Jupyter Book, mystmd, Sphinx with myst-parser, and d2lbook."""

    title = "MyST"

    def recognises(self, root: Path) -> bool:
        """Return whether `root` contains a book of one of these systems."""
        return find_book(root) is not None

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole book."""
        config = read_config(root)
        files = find_files(root, config)
        state = BookState(
            config.flavour != "mystmd", BookLabels(), lambda path: _read(root, path), config.folder.as_posix()
        )
        drafts = _draft_pages(files, config, state, progress)
        index = _index(drafts, files, config, root, state)
        settings = site_settings(config, state)
        pages = _finish_pages(drafts, index, config, files)
        settings |= _site_parts(config, pages)
        content, folder = PurePosixPath("content"), root / config.folder
        copied = (ImportedFile(content / path, folder / path) for path in files.copied)
        return SiteImport(
            root=root,
            system="myst",
            settings=settings,
            pages=_with_redirects(by_path(pages), config),
            files=(*index.bibliographies.copied_files(), *copied),
            notices=(*files.notices, *_setting_notices(config)),
            old_settings=(old_settings(config),),
            made=by_path(file for draft in drafts for file in draft.made),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML of a page's source, rendered by markdown-it."""
        return render_myst_notebook(text) if page.source.endswith(".ipynb") else render_myst(text)


def _read(root: Path, path: str) -> str | None:
    file = root / path
    return read_text(file) if file.is_file() and file.resolve().is_relative_to(root.resolve()) else None


def _draft_pages(
    files: BookFiles, config: BookConfig, state: BookState, progress: Progress
) -> list[PageDraft]:
    drafts = []
    # pages of the table of contents come first
    ordered = sorted(files.documents, key=lambda document: (not document.order, document.order))
    addresses = page_addresses((document.source for document in ordered), config, files.root)
    for done, document in enumerate(files.documents):
        progress("read", done, len(files.documents))
        path = page_path(document.source, config, files.root)
        drafts.append(draft_page(document, path, addresses[document.source], state, config))
    included = {path for draft in drafts for path in draft.walker.inclusions}
    return [draft for draft in drafts if draft.document.order or draft.place.source not in included]


def _finish_pages(
    drafts: list[PageDraft], index: BookIndex, config: BookConfig, files: BookFiles
) -> list[ImportedPage]:
    # pages link to sources, which are resolved later; the home page gets final paths
    by_source = _page_list(
        files, drafts, config, lambda place: f"/{PurePosixPath(place.source).relative_to(config.folder)}"
    )
    page_list = _page_list(files, drafts, config, lambda place: place.path.relative_to("content").as_posix())
    finished = [finish_page(draft, index, config, by_source) for draft in drafts]
    cited = dict.fromkeys(key for each in finished for key in each.citation_keys)
    pages = []
    for draft, done in zip(drafts, finished, strict=True):
        lists = draft.walker.has_bibliography and not done.citation_keys
        done = replace(done, page=complete_page(done.page, draft.document.front, KEYS))
        page = keep_url(list_references(done, cited, index) if lists else done.page, {})
        is_front = page.path.as_posix() == "content/_index.md"
        pages.append(_front_page(page, draft, page_list) if is_front else page)
    return pages


def _index(
    drafts: list[PageDraft], files: BookFiles, config: BookConfig, root: Path, state: BookState
) -> BookIndex:
    bibliographies = SourceBibliographies()
    bibliography_files = [root / config.folder / path for path in files.bibliographies]
    return BookIndex(
        labels=state.labels,
        pages=BookPages({draft.place.source: draft.place for draft in drafts}, config.folder),
        substitutions=config.substitutions,
        entries=bibliographies.all_entries(bibliography_files),
        bibliographies=bibliographies,
        bibliography_files=bibliography_files,
        inventories=config.inventories,
        slugs=Counter(draft.place.slug for draft in drafts),
        folder=config.folder,
        splits_rows=state.is_sphinx,
        files=frozenset((config.folder / path).as_posix() for path in files.copied),
    )


def _page_list(
    files: BookFiles, drafts: list[PageDraft], config: BookConfig, address: Callable[[BookPage], str]
) -> str:
    """Return the table of contents as a Markdown list of links, without drafts. Captions of page groups are
    bold."""
    places = {draft.place.source: draft.place for draft in drafts if not is_draft(draft.document.front)}
    lines: list[str] = []
    shift = 0
    for entry in files.toc:
        place = places.get((config.folder / entry.file).as_posix()) if entry.file else None
        if place:
            link = f"[{entry.title or place.title}]({address(place)})"
        elif entry.url:
            link = f"[{entry.title or entry.url}]({entry.url})"
        elif entry.title and not entry.file:
            # the caption of a part ends the list, so the pages after it start a new one
            shift = entry.depth + 1
            lines += ["", f"**{entry.title}**", ""]
            continue
        else:
            continue
        lines.append(f"{'  ' * max(0, entry.depth - min(shift, entry.depth))}- {link}")
    return "\n".join(lines).strip()


def _front_page(page: ImportedPage, draft: PageDraft, page_list: str) -> ImportedPage:
    """Return the home page with a list of all pages, because blogsmith has no sidebar. page_list: Markdown
    list."""
    front = {**page.front, "listing": False}
    front.pop("series", None)
    if (path := PurePosixPath(page.source)).stem != "index":
        front["aliases"] = [f"/{path.stem}.html"]
    lists = draft.walker.lists_pages or draft.walker.lists_below
    text = page.text if lists or not page_list else f"{page.text.rstrip()}\n\n{page_list}\n"
    return replace(page, front=front, text=text)


def _with_redirects(pages: tuple[ImportedPage, ...], config: BookConfig) -> tuple[ImportedPage, ...]:
    """Add old paths in the settings' redirects to the aliases of the pages."""
    old = {
        (config.folder / new).as_posix(): PurePosixPath(before) for before, new in config.redirects.items()
    }
    aliases = {
        source: [f"/{path.with_suffix('.html').as_posix().lstrip('/')}"] for source, path in old.items()
    }
    return tuple(add_aliases(page, aliases.get(page.source, ())) for page in pages)


SYSTEM = Myst()
