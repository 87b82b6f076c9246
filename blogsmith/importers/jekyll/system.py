"""Jekyll as a system that can be imported."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ...project.report import Progress
from ..addresses import keep_address
from ..model import ImportedFile, ImportedPage, SiteImport
from .config import find_config, read_config
from .independent import render_kramdown
from .page import PageTranslator
from .settings import site_settings
from .source import find_files


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
        translator = PageTranslator(root, config, files)
        settings = site_settings(config, translator.macros)
        patterns = settings.get("permalinks", {})
        pages = []
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            if page := translator.translate(document):
                pages.append(keep_address(page, patterns))
        return SiteImport(
            root=root,
            system="jekyll",
            settings=settings,
            pages=_unique(pages),
            files=tuple(
                ImportedFile(PurePosixPath("static") / path.relative_to(config.folder), root / path)
                for path in files.copied
            ),
            notices=translator.notices,
        )

    def render(self, text: str) -> str:
        """HTML as kramdown would make it, formulas as text."""
        return render_kramdown(text)


def _unique(pages: list[ImportedPage]) -> tuple[ImportedPage, ...]:
    """Sorted by path, each path once."""
    return tuple(sorted({page.path: page for page in pages}.values(), key=lambda page: page.path.as_posix()))


SYSTEM = Jekyll()
