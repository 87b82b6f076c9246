"""Jekyll as a system that can be imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...project.report import Progress
from ..addresses import keep_address
from ..data_bibliographies import DataBibliography, data_bibliographies
from ..front_keys import complete_page
from ..model import ImportedPage, Notice, SiteImport, by_path
from ..old_settings import DATA_LEFT
from ..page_limit import translate_document
from ..page_processes import ONE_PROCESS, Workers
from .assembly import copied_files, distinct_addresses, with_home
from .config import find_config, read_config
from .front import KEYS
from .independent import render_html, render_kramdown
from .lists import is_made_here, made_here
from .page import PageTranslator
from .settings import old_settings, site_settings
from .site import JekyllSite, read_site
from .source import find_files

_POSTS = frozenset(("posts", "drafts"))


class Jekyll:
    """A site with a `_config.yml` and what Jekyll alone has beside it."""

    title = "Jekyll"

    def recognises(self, root: Path) -> bool:
        """Whether there is a `_config.yml`, and no table of contents of a Jupyter Book beside it."""
        folder = find_config(root)
        if folder is None or (root / folder / "_toc.yml").exists():
            return False
        return any(
            (root / folder / name).exists() for name in ("_posts", "_layouts", "_includes", "Gemfile")
        ) or (not (root / "mkdocs.yml").exists())

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """All of the site."""
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
        notices: list[Notice] = [*files.notices, *_data_notices(site, works)]
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            made = translate_document(translator.translate, document)
            page = complete_page(made, document.front, KEYS, works=known)
            has_list = str(document.front.get("layout")) in site.list_layouts
            if document.collection not in _POSTS and is_made_here(page, has_list_layout=has_list):
                notices += [made_here(page), *page.notices]
            else:
                pages.append(keep_address(page, patterns))
        pages = distinct_addresses(pages)
        return SiteImport(
            root=root,
            system="jekyll",
            settings=settings,
            pages=with_home(by_path(pages), notices, settings),
            files=(
                *translator.copied_bibliographies.copied(),
                *copied_files(root, config, files, pages, notices),
            ),
            notices=tuple(notices),
            made=by_path(each.file for each in works),
            old_settings=(old_settings(config),),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """HTML as kramdown would make it, formulas as text; of a page in HTML itself."""
        is_html = page.source.endswith((".html", ".htm"))
        return render_html(text) if is_html else render_kramdown(text)


def _data_notices(site: JekyllSite, works: Iterable[DataBibliography]) -> Iterator[Notice]:
    """Yield a notice for each file of data that only templates of the old site read."""
    folder = (site.config.folder / "_data").as_posix()
    hint = "pages that print its values have them; write into a page or a theme what layouts print"
    for name in sorted(site.data.keys() - {each.name for each in works}):
        yield Notice("dropped", f'{DATA_LEFT}: "{name}"', f"{folder}/{name}", hint=hint)


SYSTEM = Jekyll()
