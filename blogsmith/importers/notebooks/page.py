"""Translation of a notebook to a page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from ...api.importing import NotebookError, collapse_path, lazy_pattern, name_set, slugify
from ..front_keys import complete_page
from ..model import FrontKeys, ImportedData, ImportedPage, Notice, NoticeKind
from ..protection import check_access
from ..text.data import iso_date
from ..text.math import format_display_math, format_inline_math, is_display, split_formula
from ..text.pieces import (
    demote_headings,
    literal_highlights,
    literal_shortcodes,
    literal_wikilinks,
    split_title,
)
from ..text.segments import FormulaDelimiters, divide, mask
from .markdown import notebook_text
from .notebook import NotebookDocument, read_notebook
from .outputs import record_files

DIALECT = FormulaDelimiters(spaced_dollar=True, escaped_brackets=True)
"""Delimiters of formulas in Jupyter, which uses MathJax."""
_ADDRESS = lazy_pattern(
    r"(?P<before>\]\(\s*<?|\b(?:src|href)\s*=\s*[\"'])(?P<address>[^\s()<>\"']+(?:\([^\s()]*\)[^\s()<>\"']*)?)"
)
_SCHEME = lazy_pattern(r"(?:[A-Za-z][\w+.-]*:|//)")
_HEADING = lazy_pattern(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_TEXTS = ("title", "subtitle", "description", "lang")
_LISTS = ("tags", "categories", "aliases")
KEYS = FrontKeys(
    frozenset((*_TEXTS, *_LISTS))
    | name_set("date date-modified author author.name authors authors.name draft image"),
    name_set("jupyter kernelspec execute format jupytext skip_exec skip_showdoc"),
)


@dataclass(slots=True)
class NotebookPage:
    """A page, with the files that it needs."""

    page: ImportedPage
    generated_files: tuple[ImportedData, ...] = ()
    files: set[PurePosixPath] = field(default_factory=set)
    """Files of the source that the page links to or shows, relative to the root of the source."""


@dataclass(slots=True)
class CellNotices:
    """Collects the notices of one notebook."""

    source: str
    found: list[Notice] = field(default_factory=list)

    def __call__(
        self, kind: NoticeKind, message: str, line: int = 0, *, hint: str = "", removed: str = ""
    ) -> None:
        self.found.append(Notice(kind, message, self.source, line, hint, removed))


class NotebookTranslator:
    """Translator for the notebooks of one source."""

    def __init__(
        self, pages: Mapping[PurePosixPath, PurePosixPath], others: frozenset[PurePosixPath], folder: str = ""
    ) -> None:
        """Create a translator. pages: notebook or other page → path in the new site. others: all other files.
        folder: folder of the source; the paths in `pages` and `others` are relative to it."""
        self._pages = pages
        self._others = others
        self._folder = folder

    def translate(self, path: PurePosixPath, text: str) -> NotebookPage | Notice:
        """Translate a notebook to a page. Return a notice instead if the notebook is invalid or protected."""
        source = (PurePosixPath(self._folder) / path).as_posix()
        try:
            notebook = read_notebook(text)
        except NotebookError as error:
            return Notice("mistake", str(error), source, error.line)
        if notice := check_access(notebook.front, source):
            return notice
        notes = CellNotices(source)
        place = self._pages[path]
        written = notebook_text(notebook, place, notes)
        front, body = _split_title(_front(notebook, notes), written.text, path)
        files: set[PurePosixPath] = set()
        body = self._addresses(_formulas(body), path, files)
        body = body.strip("\n")
        page = ImportedPage(place, front, body, source, text, notices=tuple(notes.found))
        page = complete_page(page, notebook.front, KEYS)
        return NotebookPage(page, (*written.files, *record_files(place, written.cells)), files)

    def _addresses(self, text: str, path: PurePosixPath, files: set[PurePosixPath]) -> str:
        masked = mask(text, DIALECT)
        written = _HEADING.findall(masked.restore(masked.text))
        # Jupyter derives the id from the displayed text, without markup
        headings = {re.sub(r"\s+", "-", re.sub(r"[`*]", "", each)): each for each in written}
        headings |= {re.sub(r"\s+", "-", each): each for each in written}

        def substitute(found: re.Match[str]) -> str:
            address = masked.restore(found["address"])
            return found["before"] + self._address(address, path, headings, files)

        return masked.restore(_ADDRESS.sub(substitute, masked.text))

    def _address(
        self, address: str, path: PurePosixPath, headings: Mapping[str, str], files: set[PurePosixPath]
    ) -> str:
        if _SCHEME.match(address) or address.startswith("/"):
            return address
        target, mark, anchor = address.partition("#")
        if not target:
            # Jupyter's id of a heading is its text with hyphens for spaces
            heading = headings.get(unquote(anchor))
            return f"#{slugify(re.sub(r'[*_`$]', '', heading))}" if heading else address
        goal = collapse_path(path.parent / unquote(target.partition("?")[0]))
        if goal in self._pages:
            place = posixpath.relpath(self._pages[goal], self._pages[path].parent)
            return place + (f"#{slugify(unquote(anchor))}" if mark else "")
        if goal in self._others:
            files.add(goal)
        return address


def _front(notebook: NotebookDocument, notes: CellNotices) -> dict[str, Any]:
    """Return the front matter of a notebook with blogsmith's keys."""
    written = notebook.front
    front: dict[str, Any] = {}
    for key in _TEXTS:
        if isinstance(value := written.get(key), (str, int, float)) and str(value).strip():
            front[key] = " ".join(str(value).split())
    for key, ours in (("date", "date"), ("date-modified", "updated")):
        if value := written.get(key):
            if date := iso_date(str(value)):
                front[ours] = date
            else:
                notes("dropped", f'invalid date "{value}" in front matter key "{key}"')
    authors = written.get("author") or written.get("authors")
    every = authors if isinstance(authors, list) else [authors] if isinstance(authors, str) else []
    names = [str(each.get("name", "")) if isinstance(each, dict) else str(each) for each in every]
    if any(names):
        front["authors"] = [name for name in names if name]
    for key in _LISTS:
        value = written.get(key)
        if isinstance(value, list) and value:
            front[key] = [str(each) for each in value]
    if written.get("draft") is True:
        front["draft"] = True
    if isinstance(value := written.get("image"), str):
        front["image"] = value
    return front


def _split_title(front: dict[str, Any], text: str, path: PurePosixPath) -> tuple[dict[str, Any], str]:
    """Return the front matter with a title, and the text without this title. The title comes from the front
    matter, the first heading, or the file name."""
    title, rest = split_title(text)
    if "title" not in front and title:
        front, text = {"title": title, **front}, rest
    elif "title" not in front:
        front = {"title": path.stem.replace("_", " ").replace("-", " ").strip() or path.stem, **front}
    elif title == front["title"]:
        text = rest
    masked = mask(text, DIALECT)
    return front, masked.restore(demote_headings(masked.text))


def _formulas(text: str) -> str:
    r"""Convert formulas with spaces inside the dollars, and formulas in `\\(` `\\)`, to blogsmith's
    syntax."""
    parts = []
    for segment in divide(text, DIALECT):
        opener, tex = split_formula(segment.text) if segment.kind == "math" else ("", "")
        after = text[segment.start + len(segment.text) :][:1]
        if opener == "$" and tex != tex.strip():
            parts.append(format_inline_math(tex, after))
        elif opener.startswith("\\\\"):
            parts.append(format_display_math(tex) if is_display(opener) else format_inline_math(tex, after))
        elif segment.kind == "prose":
            parts.append(literal_shortcodes(literal_wikilinks(literal_highlights(segment.text))))
        else:
            parts.append(segment.text)
    return "".join(parts)
