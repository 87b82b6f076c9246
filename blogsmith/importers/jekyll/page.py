"""One document of a Jekyll site → a page of ours."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ..model import ImportedPage, Notice
from .config import JekyllConfig
from .formulas import rewrite_formulas
from .front import page_front
from .source import JekyllDocument, JekyllFiles


def page_path(document: JekyllDocument) -> PurePosixPath:
    """Where a document stands in the new site."""
    content = PurePosixPath("content")
    if document.collection == "pages":
        path = PurePosixPath(document.inner)
        if path.name == "index":
            return content / path.parent / "_index.md"
        return content / path.with_name(f"{path.name}.md")
    section = "posts" if document.collection == "drafts" else document.collection
    return content / section / f"{document.inner}.md"


class PageTranslator:
    """Translates the documents of one site; keeps what they share."""

    def __init__(self, root: Path, config: JekyllConfig, files: JekyllFiles) -> None:
        self._root = root
        self._config = config
        self._files = files
        self.macros: dict[str, str] = {}
        """TeX macros of the whole site."""
        self.notices: tuple[Notice, ...] = ()
        """About the site as a whole."""

    def translate(self, document: JekyllDocument) -> ImportedPage | None:
        """The page; None if it is one that is made here without asking."""
        text = rewrite_formulas(document.body, self._config)
        return ImportedPage(
            path=page_path(document),
            front=page_front(document),
            text=text,
            source=document.path.as_posix(),
            original=document.body,
            first_line=document.first_line,
            address=document.address,
            notices=document.notices,
        )
