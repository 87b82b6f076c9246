"""Importer for Quarto."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ...api.importing import Progress, first_names, name_set
from ..addresses import keep_url, new_url
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers, translate_document
from ..protection import set_visibility
from ..text.data import as_list
from .independent import HIDDEN_CODE, render_quarto
from .listings import list_settings, place_listings
from .metadata import KEYS, old_settings, setting_notices, site_settings
from .page import DocumentTranslator, TranslatedPage, add_macros
from .source import QuartoConfig, QuartoFiles, find_chapters, find_config, find_files, index_site, read_config

_UNCOPIED_SUFFIXES = name_set(".yml .yaml .qmd .rproj .scss .lua .ipynb .rmd .bib .csl .md")
_MAX_NAMES = 20


class Quarto:
    """Importer for a project with a `_quarto.yml`, or a folder of `.qmd` files."""

    title = "Quarto"

    def recognises(self, root: Path) -> bool:
        """Return whether `root` contains a `_quarto.yml`, or a `.qmd` file is in `root` or in a folder
        directly below it."""
        if find_config(root):
            return True
        return any(root.glob("*.qmd")) or any(root.glob("*/*.qmd"))

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole project."""
        config = read_config(root)
        files = find_files(root, config)
        translator = DocumentTranslator(root, config, index_site(root, config, files.documents, files.others))
        translated = []
        notices = [*config.notices, *files.notices, *setting_notices(config)]
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            if document.path.with_suffix("").as_posix() == "404":
                message = "404 page is omitted because the theme generates it"
                source, removed = document.path.as_posix(), document.body
                notices.append(Notice("dropped", message, source, removed=removed))
                continue
            found = translate_document(translator.translate, document)
            page = complete_page(set_visibility(found.page, document.options), document.front, KEYS)
            translated.append(replace(found, page=page))
        macros, pages = _share_macros(translated)
        pages = _number_chapters(pages, config)
        kept = [keep_url(each.page, {}) for each in pages]
        addresses = {
            PurePosixPath(page.source): str(page.front.get("permalink") or new_url(page, {})) for page in kept
        }
        kept, moves = place_listings(kept, files.documents)
        addresses |= {
            PurePosixPath(page.source): f"/{moves[page.path].parent.relative_to('content')}/"
            for page in kept
            if page.path in moves
        }
        needed = sorted({kind for page in pages for kind in page.kinds})
        kinds = {name: {"title": name.capitalize(), "numbered": True} for name in needed}
        copied, left = _files(pages, files, config)
        if left:
            names = first_names(sorted(path.as_posix() for path in left), _MAX_NAMES)
            hint = "copy files that other sites link to into `static/`"
            notices.append(Notice("dropped", f"files that no page uses are not copied: {names}", hint=hint))
        settings = site_settings(config, macros, kinds, addresses)
        if lists := list_settings(files.documents):
            settings["lists"] = lists
        return SiteImport(
            root=root,
            system="quarto",
            settings=settings,
            pages=by_path(kept),
            files=(
                *translator.bibliographies.copied_files(),
                *(ImportedFile(PurePosixPath("content") / path, root / path) for path in sorted(copied)),
            ),
            notices=tuple(notices),
            made=by_path(file for each in pages for file in each.made),
            moves=moves,
            old_settings=old_settings(config),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML that Pandoc would produce for the source of a page, with formulas as `<math>`."""
        return render_quarto(text, echo=not page.original.endswith(HIDDEN_CODE))


def _share_macros(pages: Sequence[TranslatedPage]) -> tuple[dict[str, str], list[TranslatedPage]]:
    """Return two things: the macros of included files that have the same definition in all pages, for the
    settings; and the pages, with all other macros added to their front matter."""
    meanings: dict[str, Counter[str]] = {}
    for page in pages:
        for name, body in page.macros.items():
            meanings.setdefault(name, Counter())[body] += 1
    shared = {name: next(iter(bodies)) for name, bodies in sorted(meanings.items()) if len(bodies) == 1}
    made = []
    for page in pages:
        own = {name: body for name, body in page.macros.items() if name not in shared}
        made.append(replace(page, page=add_macros(page.page, own)))
    return shared, made


def _number_chapters(pages: Sequence[TranslatedPage], config: QuartoConfig) -> list[TranslatedPage]:
    """Add a series with all chapters of the book to the pages' front matter."""
    title = str(config.mapping("book").get("title") or "")
    order = {name: number for number, name in enumerate(find_chapters(config), 1)} if title else {}
    made = []
    for page in pages:
        number = order.get(page.page.source)
        if number and not page.page.path.name.startswith("_index"):
            front = {**page.page.front, "series": {"name": title, "part": number}}
            page = replace(page, page=replace(page.page, front=front))
        made.append(page)
    return made


def _files(
    pages: Sequence[TranslatedPage], files: QuartoFiles, config: QuartoConfig
) -> tuple[set[PurePosixPath], list[PurePosixPath]]:
    """Return the files to copy, and the files in subfolders that are not copied.

    A file is copied if a page links to it, if the project lists it as a resource, or if cells may read it.
    """
    wanted = {path for page in pages for path in page.files}
    folders = {PurePosixPath(each.page.source).parent for each in pages if each.has_cells}
    resources = config.mapping("project").get("resources") or []
    patterns = [str(each) for each in as_list(resources)]
    others = [
        path
        for path in files.others
        if path.suffix.lower() not in _UNCOPIED_SUFFIXES
        and not any(part.startswith("_") for part in path.parts)
    ]
    for path in others:
        is_resource = any(
            path.match(pattern) or path.as_posix().startswith(f"{pattern.rstrip('/')}/")
            for pattern in patterns
        )
        is_near = path.parent != PurePosixPath() and any(
            folder != PurePosixPath() and folder in path.parents for folder in folders
        )
        if is_resource or is_near:
            wanted.add(path)
    left = [path for path in others if path not in wanted and len(path.parts) > 1]
    return wanted, left


SYSTEM = Quarto()
