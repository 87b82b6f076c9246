"""One page of a book: its blocks first, its lines as soon as all pages are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.slugs import slug_problem, slugify
from ..bibliography.bibtex import fit_key, reference_of
from ..model import ImportedData, ImportedPage, Notice
from ..text.containers import join_tabs
from ..text.segments import CODE, Lines, rewrite
from .config import BookConfig
from .d2l import rewrite_d2l
from .front import page_front
from .inline import DIALECT, rewrite_inline
from .labels import BookPlace
from .lists import PAGE_LIST
from .notebooks import BookNotebook, walk_notebook
from .references import BookIndex, InlineText
from .registry import REGISTRY
from .source import BookDocument
from .walker import BookState, Walker

_SECOND_TITLE = lazy_pattern(r"^# ", re.MULTILINE)
_HEADING = lazy_pattern(r"^(#{1,5}) ", re.MULTILINE)
_BLANK = lazy_pattern(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page whose blocks are translated."""

    document: BookDocument
    place: BookPlace
    walker: Walker
    text: str
    made: tuple[ImportedData, ...] = ()
    """Pictures and results of a notebook."""


def page_path(source: str, config: BookConfig, root: str, folders: frozenset[str]) -> PurePosixPath:
    """Where a page stands in the new site. folders: those that hold pages, relative to the book."""
    path = PurePosixPath(source).relative_to(config.folder)
    content = PurePosixPath("content")
    if path.as_posix() == root:
        return content / "_index.md"
    if path.stem.lower() == "index" or (path.stem.lower() == "readme" and len(path.parts) > 1):
        return content / path.parent / "_index.md"
    return content / path.with_suffix(".md")


def draft_page(
    document: BookDocument, path: PurePosixPath, state: BookState, config: BookConfig
) -> PageDraft:
    """The first step: everything but references."""
    walker = Walker(
        document.source, state, REGISTRY, keeps_title="title" in document.front and not state.is_sphinx
    )
    if document.notebook:
        body = walk_notebook(walker, document.notebook, path)
    else:
        source = rewrite_d2l(document.text) if config.flavour == "d2lbook" else document.text
        body = BookNotebook(walker.walk(source.split("\n"), document.first_line))
    text = join_tabs("\n".join(body.lines))
    if _SECOND_TITLE.search(text):
        text = rewrite(text, lambda part: _HEADING.sub(r"#\1 ", part), DIALECT, CODE)
    if walker.pending:
        text += "\n\n" + "\n".join(walker.anchor())
    title = walker.title or str(document.front.get("title") or "") or document.title
    title = title or PurePosixPath(document.source).stem.replace("_", " ").replace("-", " ")
    address = page_address(document.source, path, config)
    slug = _slug(path, address)
    place = BookPlace(document.source, path, " ".join(title.split()), slug)
    return PageDraft(document, place, walker, text, body.made)


def _slug(path: PurePosixPath, address: str) -> str:
    """The last part of the address a page will have: its old one, if that can be."""
    if path.stem == "_index":
        return slugify(path.parent.name)
    last = address.rpartition("/")[2].removesuffix(".html")
    return last if last and not slug_problem(last) else slugify(path.stem)


@dataclass(frozen=True, slots=True)
class FinishedPage:
    """A page of the new site."""

    page: ImportedPage
    cited: tuple[str, ...]
    """Keys in the order of their first citation."""


def finish_page(draft: PageDraft, index: BookIndex, config: BookConfig, page_list: str) -> FinishedPage:
    """The second step: references, and front matter with what the text cites."""
    document, place = draft.document, draft.place
    known = {**index.substitutions, **page_substitutions(document.front)}
    page = InlineText(place, index, Lines(document.text, document.first_line), known)
    text = rewrite_inline(draft.text.replace(PAGE_LIST, page_list), page)
    # the title is of the page before, and may hold roles
    title = rewrite_inline(place.title, page)
    front = page_front(document.front, title)
    if document.order:
        front["series"] = {"name": config.title or "Book", "part": document.order}
    if macros := page_macros(document.front):
        front["math"] = {"macros": macros}
    front |= index.bibliographies.front_of(page.cited, index.bibliography_files)
    made = ImportedPage(
        path=place.path,
        front=front,
        text=_BLANK.sub("\n\n", text),
        source=document.source,
        original=document.text,
        first_line=document.first_line,
        address=page_address(place.source, place.path, config),
        notices=(*_settle(draft.walker.notices, document), *page.notices),
    )
    return FinishedPage(made, tuple(page.cited))


def list_references(done: FinishedPage, keys: Iterable[str], index: BookIndex) -> ImportedPage:
    """A page that only lists the bibliography, with all that the book cites: the lists of the others make
    themselves."""
    entries = [reference_of(fit_key(key), index.entries[key]) for key in sorted(keys)]
    lines = [_reference_line(entry) for entry in sorted(entries, key=_reference_order)]
    return replace(done.page, text=f"{done.page.text.rstrip()}\n\n" + "\n".join(lines))


def _reference_order(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str((entry.get("author") or [""])[0]).casefold(), str(entry.get("year", ""))


def _reference_line(entry: Mapping[str, Any]) -> str:
    names = ", ".join(map(str, entry.get("author", ())))
    title = re.sub(r"([*_\[\]<>`])", r"\\\1", str(entry["title"]))
    address = str(entry.get("url") or (f"https://doi.org/{entry['doi']}" if entry.get("doi") else ""))
    shown = f"[*{title}*](<{address}>)" if address else f"*{title}*"
    rest = ", ".join(str(entry[key]) for key in ("venue", "year") if entry.get(key))
    return "- " + ". ".join(part for part in (names, shown, rest) if part) + "."


def _settle(notices: list[Notice], document: BookDocument) -> list[Notice]:
    last = document.first_line + document.text.count("\n")
    return [
        replace(each, line=min(each.line, last)) if each.source == document.source else each
        for each in notices
    ]


def page_macros(front: dict[str, Any]) -> dict[str, str]:
    """TeX macros in the front matter of a page."""
    written = front.get("math")
    found: dict[str, str] = {}
    for name, body in written.items() if isinstance(written, dict) else ():
        body = body.get("macro") if isinstance(body, dict) else body
        if isinstance(body, str):
            found["\\" + str(name).lstrip("\\")] = body
    return found


def page_substitutions(front: Mapping[str, Any]) -> dict[str, str]:
    """What `{{ name }}` stands for in one page."""
    own = front.get("myst")
    written = [front.get("substitutions"), own.get("substitutions") if isinstance(own, dict) else None]
    return {
        str(name): str(value)
        for values in written
        if isinstance(values, dict)
        for name, value in values.items()
        if isinstance(value, (str, int, float))
    }


def page_address(source: str, target: PurePosixPath, config: BookConfig) -> str:
    """Where the page stood; empty for the front page, which stands where it stood."""
    if target == PurePosixPath("content/_index.md"):
        return ""
    path = PurePosixPath(source).relative_to(config.folder)
    if config.flavour == "mystmd":
        stem = path.parent.name if path.stem.lower() == "index" else path.stem
        return "/" + re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    if target.stem == "_index":
        return f"/{path.parent.as_posix()}/"
    return f"/{path.with_suffix('.html').as_posix()}"
