"""The files of a search after an edit of texts, made of the files that the last build has left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from ..render.templates.style_sheets import version_of
from ..site.search.index import IndexedPage
from ..site.search.index_edit import IndexEdit, NotEditable
from ..site.search.page_record import record_digest
from .output_plan import OutputFile
from .rows.page_rows import EditedText
from .search_files import ENTRY, IndexedSource, SearchPlan, indexed_source, planned_files


class SearchEdit(msgspec.Struct, frozen=True):
    """An index after an edit."""

    plan: SearchPlan
    changed: tuple[OutputFile, ...]
    unchanged: tuple[OutputFile, ...]
    """Files that are as they were, with what they would be made from now."""


def edit_search(
    folder: str,
    plan: SearchPlan,
    texts: Mapping[str, EditedText],
    last: Mapping[str, bytes],
    macros: Mapping[str, str],
) -> SearchEdit:
    """An index in which some pages have other texts. NotEditable if all pages must be looked at.

    folder: of its files in the finished site. texts: by source path; pages that are not in the index do not
    matter. last: path of a file of the finished site → its bytes as the last build has left them. macros: of
    the site.
    """
    if plan.engine != "own":
        raise NotEditable
    edit = IndexEdit(lambda name: last[f"{folder}/{name}.json"], plan.terms, macros)
    pages = list(plan.pages)
    for number, page in enumerate(pages):
        if text := texts.get(page.path):
            pages[number] = _edit_page(edit, number, page, text)
    edited = replace(plan, pages=tuple(pages))
    made: dict[str, bytes] = dict(edit.files)
    if made:
        made[ENTRY] = _entry(edited, made, last.get(f"{folder}/{ENTRY}.json", b""), macros)
    files = [
        OutputFile(path, "the index of the search", content)
        for path, content in planned_files(edited, made.__getitem__, macros, PurePosixPath(folder))
    ]
    changed = tuple(file for file in files if file.path.stem in made)
    return SearchEdit(edited, changed, tuple(file for file in files if file.path.stem not in made))


def _edit_page(edit: IndexEdit, number: int, page: IndexedSource, text: EditedText) -> IndexedSource:
    source = indexed_source(text.view, text.after.search)
    if replace(source, digest="") != replace(page, digest="") or page.digest != record_digest(
        text.before.search
    ):
        raise NotEditable
    old, new = (
        IndexedPage(page.url, page.title, page.tags, state.search) for state in (text.before, text.after)
    )
    edit.edit_page(number, old, new)
    return source


def _entry(plan: SearchPlan, made: Mapping[str, bytes], old: bytes, macros: Mapping[str, str]) -> bytes:
    try:
        versions = msgspec.json.decode(old, type=_Entry).files
    except msgspec.MsgspecError as error:
        raise NotEditable from error
    return plan.entry({**versions, **{name: version_of(data) for name, data in made.items()}}, macros)


class _Entry(msgspec.Struct):
    """The first file of an index."""

    files: dict[str, str]
