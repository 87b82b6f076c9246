"""Hugo as a system that can be imported."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...project.report import Progress
from ..addresses import keep_address
from ..model import ImportedFile, ImportedPage, SiteImport
from ..page_limit import translate_document
from ..text.diagrams import diagram_plugins
from ..text.drafts import draft_settings
from .config import find_config, read_config
from .independent import render_goldmark
from .page import HugoPageTranslator
from .settings import site_settings
from .source import find_files


class Hugo:
    """A site with a `hugo.toml`, or a `config.toml` beside `content/`."""

    title = "Hugo"

    def recognises(self, root: Path) -> bool:
        """Whether there are settings of Hugo."""
        return find_config(root) is not None

    def read(self, root: Path, progress: Progress) -> SiteImport:
        """All of the site."""
        config = read_config(root)
        files = find_files(root, config)
        translator = HugoPageTranslator(root, config, files)
        settings, notices = site_settings(config, translator.macros, files.documents)
        patterns = settings.get("permalinks", {})
        pages: list[ImportedPage] = []
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            pages.append(keep_address(translate_document(translator.translate, document), patterns))
        if plugins := diagram_plugins(page.text for page in pages):
            settings["plugins"] = plugins
        if kinds := {kind: {"title": kind.capitalize()} for kind in sorted(translator.kinds)}:
            settings["callouts"] = kinds
        settings |= draft_settings(pages)
        copied = {file.path: file for file in (*translator.links.shown_assets, *files.copied)}
        return SiteImport(
            root=root,
            system="hugo",
            settings=settings,
            pages=_unique(pages),
            files=tuple(_without_pages(copied.values(), pages)),
            notices=(*files.notices, *notices),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """HTML as goldmark would make it."""
        return render_goldmark(text, page.original)


def _unique(pages: list[ImportedPage]) -> tuple[ImportedPage, ...]:
    """Sorted by path, each path once."""
    return tuple(sorted({page.path: page for page in pages}.values(), key=lambda page: page.path.as_posix()))


def _without_pages(files: Iterable[ImportedFile], pages: list[ImportedPage]) -> list[ImportedFile]:
    taken = {page.path for page in pages}
    return sorted((file for file in files if file.path not in taken), key=lambda file: file.path.as_posix())


SYSTEM = Hugo()
