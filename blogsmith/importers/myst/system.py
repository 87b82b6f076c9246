"""MyST books as a system that can be imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ...project.report import Progress
from ..addresses import keep_address
from ..bibliography.copied_files import SourceBibliographies
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, SiteImport, by_path
from ..page_processes import ONE_PROCESS, Workers
from ..protection import is_draft
from ..source_files import read_text
from .config import BookConfig, find_book, read_config
from .front import KEYS
from .independent import render_myst, render_myst_notebook
from .labels import BookLabels, BookPages, BookPlace
from .page import PageDraft, draft_page, finish_page, list_references, page_path
from .references import BookIndex
from .settings import old_settings, site_settings
from .source import BookFiles, find_files
from .walker import BookState


class Myst:
    """A book of Jupyter Book, mystmd, Sphinx with myst-parser, or d2lbook."""

    title = "MyST"

    def recognises(self, root: Path) -> bool:
        """Whether there is a `_toc.yml`, a `myst.yml`, or a `conf.py` that names a parser of MyST."""
        return find_book(root) is not None

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """All of the book."""
        config = read_config(root)
        files = find_files(root, config)
        state = BookState(
            config.flavour != "mystmd", BookLabels(), lambda path: _read(root, path), config.folder.as_posix()
        )
        drafts = _draft_pages(files, config, state, progress)
        index = _index(drafts, files, config, root, state)
        settings = site_settings(config, state)
        pages = _finish_pages(drafts, index, config, files)
        return SiteImport(
            root=root,
            system="myst",
            settings=settings,
            pages=_with_redirects(by_path(pages), config),
            files=(
                *index.bibliographies.copied(),
                *(
                    ImportedFile(PurePosixPath("content") / path, root / config.folder / path)
                    for path in files.copied
                ),
            ),
            notices=tuple(files.notices),
            old_settings=(old_settings(config),),
            made=tuple(
                sorted(
                    {file.path: file for draft in drafts for file in draft.made}.values(),
                    key=lambda file: file.path.as_posix(),
                )
            ),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """HTML of a page, by markdown-it."""
        return render_myst_notebook(text) if page.source.endswith(".ipynb") else render_myst(text)


def _read(root: Path, path: str) -> str | None:
    file = root / path
    return read_text(file) if file.is_file() and file.resolve().is_relative_to(root.resolve()) else None


def _draft_pages(
    files: BookFiles, config: BookConfig, state: BookState, progress: Progress
) -> list[PageDraft]:
    folders = frozenset(PurePosixPath(each.source).parent.as_posix() for each in files.documents)
    drafts = []
    for done, document in enumerate(files.documents):
        progress("read", done, len(files.documents))
        path = page_path(document.source, config, files.root, folders)
        drafts.append(draft_page(document, path, state, config))
    included = {path for draft in drafts for path in draft.walker.inclusions}
    return [draft for draft in drafts if draft.document.order or draft.place.source not in included]


def _finish_pages(
    drafts: list[PageDraft], index: BookIndex, config: BookConfig, files: BookFiles
) -> list[ImportedPage]:
    # links in the text of a page name sources; those of the front page are written last
    by_source = _page_list(
        files, drafts, config, lambda place: f"/{PurePosixPath(place.source).relative_to(config.folder)}"
    )
    page_list = _page_list(files, drafts, config, lambda place: place.path.relative_to("content").as_posix())
    finished = [finish_page(draft, index, config, by_source) for draft in drafts]
    cited = dict.fromkeys(key for each in finished for key in each.cited)
    pages = []
    for draft, done in zip(drafts, finished, strict=True):
        lists = draft.walker.has_bibliography and not done.cited
        done = replace(done, page=complete_page(done.page, draft.document.front, KEYS))
        page = keep_address(list_references(done, cited, index) if lists else done.page, {})
        is_front = page.path.as_posix() == "content/_index.md"
        pages.append(_front_page(page, draft, page_list) if is_front else page)
    return pages


def _index(
    drafts: list[PageDraft], files: BookFiles, config: BookConfig, root: Path, state: BookState
) -> BookIndex:
    bibliographies = SourceBibliographies()
    bibliography_files = [root / config.folder / path for path in files.bibliographies]
    slugs = Counter(draft.place.slug for draft in drafts)
    substitutions = dict(config.substitutions)
    return BookIndex(
        labels=state.labels,
        pages=BookPages({draft.place.source: draft.place for draft in drafts}, config.folder),
        substitutions=substitutions,
        entries=bibliographies.all_entries(bibliography_files),
        bibliographies=bibliographies,
        bibliography_files=bibliography_files,
        inventories=config.inventories,
        slugs=slugs,
        folder=config.folder,
        files=frozenset((config.folder / path).as_posix() for path in files.copied),
    )


def _page_list(
    files: BookFiles, drafts: list[PageDraft], config: BookConfig, address: Callable[[BookPlace], str]
) -> str:
    """The table of contents as a list of links, captions of parts in bold; no draft is in it."""
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
            # the caption of a part: its pages begin a list of their own
            shift = entry.depth + 1
            lines += ["", f"**{entry.title}**", ""]
            continue
        else:
            continue
        lines.append(f"{'  ' * max(0, entry.depth - min(shift, entry.depth))}- {link}")
    return "\n".join(lines).strip()


def _front_page(page: ImportedPage, draft: PageDraft, page_list: str) -> ImportedPage:
    """The front page, which lists all pages: there is no side bar here."""
    front = {**page.front, "listing": False}
    front.pop("series", None)
    if (path := PurePosixPath(page.source)).stem != "index":
        front["aliases"] = [f"/{path.stem}.html"]
    lists = draft.walker.lists_pages or draft.walker.lists_below
    text = page.text if lists or not page_list else f"{page.text.rstrip()}\n\n{page_list}\n"
    return replace(page, front=front, text=text)


def _with_redirects(pages: tuple[ImportedPage, ...], config: BookConfig) -> tuple[ImportedPage, ...]:
    """Pages with the addresses of `redirects` that lead to them."""
    old = {
        (config.folder / new).as_posix(): PurePosixPath(before) for before, new in config.redirects.items()
    }
    return tuple(
        replace(
            page, front={**page.front, "aliases": [*page.front.get("aliases", []), _html(old[page.source])]}
        )
        if page.source in old
        else page
        for page in pages
    )


def _html(path: PurePosixPath) -> str:
    return f"/{path.with_suffix('.html').as_posix().lstrip('/')}"


SYSTEM = Myst()
