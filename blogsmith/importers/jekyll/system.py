"""Jekyll as a system that can be imported."""

from __future__ import annotations

from pathlib import Path

from ...project.report import Progress
from ..addresses import keep_address
from ..front_keys import complete_page
from ..model import ImportedPage, Notice, SiteImport, by_path
from ..page_limit import translate_document
from .assembly import copied_files, distinct_addresses, with_home
from .config import find_config, read_config
from .front import KEYS
from .independent import render_html, render_kramdown
from .lists import is_made_here, made_here
from .page import PageTranslator
from .settings import old_settings, site_settings
from .site import read_site
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

    def read(self, root: Path, progress: Progress) -> SiteImport:
        """All of the site."""
        config = read_config(root)
        files = find_files(root, config)
        site = read_site(root, config, files)
        translator = PageTranslator(site)
        settings = site_settings(config, site.macros)
        patterns = settings.get("permalinks", {})
        pages: list[ImportedPage] = []
        notices: list[Notice] = list(files.notices)
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            page = complete_page(translate_document(translator.translate, document), document.front, KEYS)
            has_list = str(document.front.get("layout")) in site.list_layouts
            if document.collection not in _POSTS and is_made_here(page, has_list_layout=has_list):
                notices += [made_here(page), *page.notices]
            else:
                pages.append(keep_address(page, patterns))
        if translator.plugins:
            settings["plugins"] = sorted(translator.plugins)
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
            old_settings=(old_settings(config),),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """HTML as kramdown would make it, formulas as text; of a page in HTML itself."""
        is_html = page.source.endswith((".html", ".htm"))
        return render_html(text) if is_html else render_kramdown(text)


SYSTEM = Jekyll()
