"""Protection of pages that the old site hides from readers. They are not written to the new site.

blogsmith has no access control (see `model/protection.py`), so these pages are withheld, together with files
that only they use. A notice of the kind `withheld` names each page. A page that was only unpublished becomes
a draft, and a page that no list showed becomes unlisted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

from ..api.importing import find_restrictions
from .model import ImportedFile, ImportedPage, Notice, SiteImport
from .source_files import read_text
from .text.data import DataTextError, load_mapping

_HINT = "protect the page on your host, or omit it: blogsmith has no access control"
_EXCLUDED_HINT = "copy it to `content/` if readers may see it"
_LINE = re.compile(r"([A-Za-z][\w -]*?)[ \t]*[:=][ \t]*(\S.*?)[ \t]*")
_MOST_LINES = 2000
_MAX_LINE_LENGTH = 300
"""Maximum number of characters of a line of front matter that is searched. Longer lines would make an import
slow."""


class _Document(Protocol):
    @property
    def front(self) -> Mapping[str, Any]:
        """Return the front matter as the old system reads it."""


_AnyDocument = TypeVar("_AnyDocument", bound=_Document)


def add_restrictions(front: Mapping[str, Any], head: str) -> dict[str, Any]:
    """Return front matter with further keys that may restrict access to a page, but that a YAML reader cannot
    read. These are keys in invalid front matter, and values with a YAML tag, such as `password: !ENV
    SECRET`."""
    found = dict(front)
    for line in head.split("\n")[:_MOST_LINES]:
        if not (pair := _LINE.fullmatch(line[:_MAX_LINE_LENGTH])):
            continue
        key, value = pair[1], pair[2]
        is_lost = key not in front and key.casefold() not in front
        bare = value.strip("\"'")
        is_lost = is_lost or (value.startswith("!") and front.get(key) is None)
        if is_lost and find_restrictions({key: bare}):
            found[key] = bare
    return found


def read_front_matter(
    head: str, source: str, problem: str = "invalid YAML in the front matter", *, by_line: bool = False
) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Return the data of YAML front matter, and notices about errors.

    problem: message of the notice. by_line: whether to read each line with a key and one plain value
    separately if the YAML is invalid.
    """
    try:
        return add_restrictions(load_mapping(head), head), ()
    except DataTextError as error:
        notice = Notice("mistake", f"{problem}: {error}", source, error.line + 1)
    if not by_line:
        return add_restrictions({}, head), (notice,)
    pairs = re.findall(r"^([\w-]+):[ \t]*(.+?)[ \t]*$", head, re.MULTILINE)
    return {key: value.strip("\"'") for key, value in pairs}, (notice,)


def check_access(front: Mapping[str, Any], source: PurePosixPath | str) -> Notice | None:
    """Return a notice for a page whose front matter requests access control; None for any other page."""
    found = next((one for one in find_restrictions(front) if one.remedy == "access"), None)
    if found is None:
        return None
    return withheld_notice(f'access restricted by front matter key "{found.name}"', source)


def withheld_notice(why: str, source: PurePosixPath | str) -> Notice:
    """Return the notice of a page that is not imported. why: reason as a clause without full stop."""
    return Notice("withheld", f"not imported: {why}", str(source), hint=_HINT)


def excluded_notice(why: str, source: PurePosixPath | str) -> Notice:
    """Return the notice of a page that settings exclude from the old site. why: reason as a clause without
    full stop."""
    return replace(withheld_notice(why, source), hint=_EXCLUDED_HINT)


def split_protected(
    documents: Iterable[_AnyDocument],
    source: Callable[[_AnyDocument], PurePosixPath | str],
    judge: Callable[[_AnyDocument], Notice | None] = lambda document: None,
) -> tuple[list[_AnyDocument], list[Notice]]:
    """Return the documents that may be imported, and a notice for each document that may not.

    source: function that returns the path of a document's file. judge: function that returns a notice for a
    document that settings of the old site protect, otherwise None.
    """
    kept: list[_AnyDocument] = []
    notices: list[Notice] = []
    for document in documents:
        notice = check_access(document.front, source(document)) or judge(document)
        if notice:
            notices.append(notice)
        else:
            kept.append(document)
    return kept, notices


def is_draft(front: Mapping[str, Any]) -> bool:
    """Return whether old front matter prevents a page from being published. The keys of all systems are
    checked."""
    return str(front.get("draft")).casefold() == "true" or any(
        one.remedy == "draft" for one in find_restrictions(front, is_foreign=True)
    )


def set_visibility(page: ImportedPage, front: Mapping[str, Any]) -> ImportedPage:
    """Return the page as draft or unlisted if its old front matter requires this. The keys of all systems are
    checked."""
    found = find_restrictions(front, is_foreign=True)
    if not found:
        return page
    names = {one.path[0] for one in found}
    more = {"draft" if one.remedy == "draft" else "unlisted": True for one in found}
    return replace(page, front={key: each for key, each in page.front.items() if key not in names} | more)


def remove_withheld_files(site: SiteImport) -> SiteImport:
    """Remove the files that belong only to withheld pages.

    These are files in a folder whose pages are all withheld, and files that only withheld pages name.
    """
    held = [
        PurePosixPath(each.source) for each in site.all_notices if each.kind == "withheld" and each.source
    ]
    if not held or not site.root.is_dir():
        return site
    folders = {folder for page in site.pages for folder in PurePosixPath(page.source).parents}
    alone = {path.parent for path in held} - folders - {PurePosixPath()}
    theirs = _words(read_text(site.root / path) or "" for path in held)
    others = _words(page.original or page.text for page in site.pages)

    def is_kept(file: ImportedFile) -> bool:
        path = PurePosixPath(file.file.relative_to(site.root).as_posix())
        is_named = path.name in theirs and path.name not in others
        return not (is_named or any(folder in alone for folder in path.parents))

    return replace(site, files=tuple(file for file in site.files if is_kept(file)))


def _words(texts: Iterable[str]) -> set[str]:
    """Return all strings in the given Markdown that may be names of files, without folders."""
    return {
        name
        for text in texts
        for word in re.split(r"[\s()\[\]<>\"'|{}#?=,]+", text)
        for name in (word.rpartition("/")[2], unquote(word).rpartition("/")[2])
    }


def draft_settings(pages: Iterable[ImportedPage]) -> dict[str, Any]:
    """Return settings that lower errors about links to drafts to warnings, because these links were broken on
    the old site too."""
    has_drafts = any(page.front.get("draft") is True for page in pages)
    return {"diagnostics": {"link-unpublished": "warning"}} if has_drafts else {}
