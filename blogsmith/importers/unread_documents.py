"""Documents of a source that its importer does not read, such as reStructuredText beside a notebook."""

from __future__ import annotations

from dataclasses import replace

from ..api.importing import name_set
from .model import Notice, SiteImport
from .source_files import walk_files

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
    """Add a notice for each document that is not imported and that no notice names."""
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
