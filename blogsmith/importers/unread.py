"""Systems and formats that an import recognizes but cannot read, each with a command for conversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..api.importing import Diagnostic, Progress, SiteError, name_set, plural
from .model import ImportedPage, Notice, SiteImport
from .page_work import ONE_PROCESS, Workers
from .source_files import read_text, walk_files

_FORMATS = name_set(".rst .org .adoc .asciidoc .textile .rmd .mdx .mediawiki .rdoc .typ .pandoc .wiki")
"""Extensions of documents that a system may publish as pages. A notice is added unless an importer reads
them."""
_TOOL_DOCUMENTS = name_set(
    "readme changelog changes history news license licence contributing contributors authors security "
    "code_of_conduct todo install copying notice"
)
_TOOL_FOLDERS = name_set("themes theme tests test node_modules templates archetypes _templates")
_MAX_LISTED = 2000


def name_unread_documents(site: SiteImport) -> SiteImport:
    """Add a notice for each document that is not imported and that is not named in another notice."""
    known = {notice.source for notice in site.all_notices} | {page.source for page in site.pages}
    paths = [
        path
        for path in (walk_files(site.root) if site.root.is_dir() else ())
        if path.suffix.casefold() in _FORMATS
        and path.stem.casefold() not in _TOOL_DOCUMENTS
        and _TOOL_FOLDERS.isdisjoint(path.parts[:-1])
        and path.as_posix() not in known
    ]
    hint = "convert the document to Markdown, for example with Pandoc, and import again"
    notices = (
        Notice("unread", f'unknown document format "{path.suffix}"', path.as_posix(), hint=hint)
        for path in paths[:_MAX_LISTED]
    )
    return replace(site, notices=(*site.notices, *notices))


_PANDOC = "pandoc --from={} --to=gfm --standalone"
_OTHER_PAGES = {
    ".adoc": ("AsciiDoc", f"asciidoctor -b docbook -o - PAGE | {_PANDOC.format('docbook')}"),
    ".rmd": ("R Markdown", _PANDOC.format("markdown")),
    ".textile": ("Textile", _PANDOC.format("textile")),
    ".mediawiki": ("MediaWiki", _PANDOC.format("mediawiki")),
    ".typ": ("Typst", _PANDOC.format("typst")),
    ".docx": ("Word", _PANDOC.format("docx")),
    ".lr": ("Lektor", ""),
    ".tid": ("TiddlyWiki", ""),
    ".html": ("HTML", _PANDOC.format("html")),
}
"""Suffix of pages → name of the system or format, and a command that converts a page; "" if unknown."""


def name_other_system(root: Path) -> Diagnostic | None:
    """Return an error that names the format of the pages in `root`, a folder without Markdown. Return None if
    the format is unknown."""
    found = {path.suffix.casefold() for path in walk_files(root)} if root.is_dir() else set()
    suffix = next((each for each in _OTHER_PAGES if each in found), "")
    if not suffix:
        return None
    name, command = _OTHER_PAGES[suffix]
    how = f", for example with `{command}`," if command else ""
    hint = f"convert each `{suffix}` page to Markdown{how} and import with `--from folder`"
    return Diagnostic("import-system", f'missing importer for "{name}": no page can be imported', hint=hint)


@dataclass(frozen=True, slots=True)
class UnreadSystem:
    """System that is recognised but has no importer."""

    title: str
    suffix: str
    """Suffix of the pages of this system."""
    finds: Callable[[Path], bool]
    """Function that returns whether a folder or a file belongs to the system."""
    hint: str

    def recognises(self, root: Path) -> bool:
        """Return whether the source is a site of this system."""
        return self.finds(root)

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Raise SiteError with the number of pages and a way to convert them."""
        pages = sum(path.suffix.lower() == self.suffix for path in walk_files(root)) if root.is_dir() else 1
        message = f'missing importer for "{self.title}": {plural(pages, "page")} cannot be imported'
        raise SiteError(Diagnostic("import-system", message, hint=self.hint))

    def render(self, text: str, page: ImportedPage) -> str:
        """Return an empty string: `read` imports no pages."""
        return ""


def _has(root: Path, name: str, text: str) -> bool:
    return root.is_dir() and (root / name).is_file() and text in (read_text(root / name) or "")


def _has_pages(root: Path, suffix: str) -> bool:
    return root.is_dir() and any(path.suffix.lower() == suffix for path in walk_files(root))


def _is_sphinx(root: Path) -> bool:
    folders = ("", "docs", "doc", "source", "docs/source", "doc/source")
    return any((root / each / "conf.py").is_file() and _has_pages(root / each, ".rst") for each in folders)


def _is_distill(root: Path) -> bool:
    names = ("_site.yml", "_bookdown.yml")
    return any((root / name).is_file() for name in names) and _has_pages(root, ".rmd")


def _is_wordpress(root: Path) -> bool:
    files = [root] if root.is_file() else sorted(root.glob("*.xml")) if root.is_dir() else []
    return any("wordpress.org/export" in (read_text(file) or "")[:5000] for file in files)


SPHINX = UnreadSystem(
    "Sphinx with reStructuredText",
    ".rst",
    _is_sphinx,
    "run `rst2myst convert` on its pages, add `myst_parser` to conf.py, and import again",
)
DISTILL = UnreadSystem(
    "Distill or bookdown",
    ".rmd",
    _is_distill,
    "rename its pages to `.qmd`, add a `_quarto.yml`, and import with `--from quarto`",
)
WORDPRESS = UnreadSystem(
    "WordPress",
    ".xml",
    _is_wordpress,
    "run `npx wordpress-export-to-markdown`, and import the folder that it writes with `--from folder`",
)
ORG = UnreadSystem(
    "Org mode",
    ".org",
    lambda root: _has_pages(root, ".org"),
    "convert each page with `pandoc --to=gfm --standalone`, and import again",
)
RST = UnreadSystem(
    "reStructuredText",
    ".rst",
    lambda root: _has_pages(root, ".rst"),
    "convert each page with `pandoc --to=gfm --standalone`, and import again",
)
