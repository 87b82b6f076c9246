"""The common importer: one object for each system in `rows.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ...api.importing import Progress
from ..addresses import keep_url
from ..front_keys import complete_page
from ..hugo.system import remove_list_pages, site_settings
from ..model import ImportedPage, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers, map_pages
from ..protection import draft_settings
from ..source_files import matches_gitignore, missing_pages_error, read_text, walk_files
from .independent import render_page
from .page import KEYS, MarkdownPageTranslator
from .rows import REPOSITORY, ROWS, MarkdownSystem
from .settings import MarkdownSite, find_site
from .source import find_files


@dataclass(frozen=True, slots=True)
class MarkdownImporter:
    """Importer for the sites of one system."""

    row: MarkdownSystem

    @property
    def title(self) -> str:
        """Return the name of the system."""
        return self.row.title

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains settings of the system. The system `folder` has no settings
        files. For it, return whether the folder contains more Markdown pages than LaTeX files of a paper;
        files such as README.md are not pages."""
        if self.row.marks:
            return root.is_dir() and find_site(root, self.row) is not None
        names = [path.name for path in walk_files(root)] if root.is_dir() else []
        pages = [name for name in names if name.endswith(".md") and not matches_gitignore(name, REPOSITORY)]
        is_paper = any("\\documentclass" in (read_text(file) or "") for file in root.glob("*.tex"))
        papers = [name for name in names if is_paper and name.endswith(".tex")]
        return len(pages) > len(papers)

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole site."""
        site = find_site(root, self.row) or MarkdownSite(root, self.row, PurePosixPath(), "", {})
        found = find_files(site)
        files, lists = remove_list_pages(found.files)
        if not found.files.documents:
            raise missing_pages_error(self.title, root)
        translator = MarkdownPageTranslator(site, replace(found, files=files))
        documents = files.documents
        settings, notices = site_settings(site.hugo_config, translator.macros, documents)
        pages: list[ImportedPage] = []
        kinds = set[str]()
        made = map_pages(translator.translate_number, range(len(documents)), len(documents), workers)
        for document, (page, needs) in zip(documents, made, strict=True):
            progress("read", len(pages), len(documents))
            front = found.fronts[document.path]
            pages.append(keep_url(complete_page(page, front, KEYS), settings.get("permalinks", {})))
            kinds |= needs.kinds
        if kinds:
            settings["callouts"] = {
                kind: {"title": kind.replace("-", " ").capitalize()} for kind in sorted(kinds)
            }
        taken = {page.path for page in pages}
        return SiteImport(
            root=root,
            system=self.row.name,
            settings=settings | draft_settings(pages),
            pages=by_path(pages),
            files=by_path(file for file in files.copied if file.path not in taken),
            notices=(*files.notices, *lists, *notices),
            old_settings=site.old_settings,
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML that the system would show for the source of a page."""
        return render_page(text, page.original, self.row.calls)


(DOCUSAURUS, ASTRO, GATSBY, NEXT, HEXO, ZOLA, PELICAN, NIKOLA, FRANKLIN, VITEPRESS, ELEVENTY, FOLDER) = map(
    MarkdownImporter, ROWS
)
