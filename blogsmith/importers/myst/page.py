"""Translation of a page or notebook of a book. Blocks are translated first, and inline syntax when all pages
are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from ...api.importing import Notebook, NotebookPart, lazy_pattern, name_set, slug_problem, slugify
from ..bibliographies import fit_key, make_reference
from ..model import FrontKeys, ImportedData, ImportedPage, Notice
from ..notebooks.markdown import notebook_text
from ..notebooks.outputs import record_files
from ..notebooks.page import CellNotices
from ..text.containers import join_tabs
from ..text.data import one_line, read_names
from ..text.heading_ids import MYSTMD, add_heading_ids
from ..text.segments import CODE, LineFinder, mask, rewrite
from . import boxes, insertions
from .config import BookConfig, author_names
from .d2l import rewrite_d2l
from .inline import DIALECT, rewrite_inline
from .insertions import PAGE_LIST
from .references import BookIndex, BookPage, InlineText
from .source import BookDocument
from .walker import BlockTranslator, BookState, Translate

_BY_FUNCTION: tuple[tuple[Translate, tuple[str, ...]], ...] = (
    (boxes.translate_admonition, ("admonition", "topic", *boxes.ADMONITIONS)),
    (
        boxes.translate_theorem,
        tuple(f"{each}:{name}" for each in ("prf", "proof") for name in boxes.THEOREMS),
    ),
    (boxes.translate_exercise, ("exercise",)),
    (boxes.translate_solution, ("solution",)),
    (boxes.translate_fold, ("dropdown", "toggle", "details", "panels")),
    (boxes.translate_tab, ("tab-item", "tab", "tabbed")),
    (boxes.translate_tabs, ("tab-set", "tabs")),
    (boxes.translate_layout, ("grid", "grid-item", "div", "container", "card-carousel", "rst-class")),
    (boxes.translate_line_block, ("line-block",)),
    (boxes.translate_rubric, ("rubric", "centered")),
    (boxes.translate_card, ("card", "grid-item-card", "link-button", "button-ref")),
    (boxes.translate_aside, ("margin", "sidebar", "aside", "marginnote", "sidenote")),
    (boxes.translate_quote, ("epigraph", "pull-quote", "highlights", "blockquote", "quote")),
    (insertions.translate_math, ("math",)),
    (insertions.translate_image, ("image",)),
    (insertions.translate_figure, ("figure",)),
    (insertions.translate_figure_md, ("figure-md",)),
    (insertions.translate_table, ("table",)),
    (insertions.translate_list_table, ("list-table",)),
    (insertions.translate_csv_table, ("csv-table",)),
    (insertions.translate_video, ("video", "youtube", "vimeo", "iframe")),
    (insertions.translate_mermaid, ("mermaid",)),
    (insertions.translate_code, ("code-block", "code", "sourcecode", "parsed-literal", "prompt")),
    (insertions.translate_include_code, ("literalinclude",)),
    (insertions.translate_cell, ("code-cell",)),
    (insertions.translate_toctree, ("toctree",)),
    (insertions.translate_page_list, ("tableofcontents",)),
    (
        insertions.remove_directive,
        tuple(name_set("contents index tags sectionauthor codeauthor meta currentmodule nb-exec-table")),
    ),
    (insertions.translate_bibliography, ("bibliography", "footbibliography", "references")),
    (insertions.translate_glossary, ("glossary",)),
    (insertions.translate_include, ("include",)),
    (insertions.translate_raw, ("raw",)),
    (insertions.translate_only, ("only", "ifconfig")),
    (insertions.translate_rst, ("eval-rst", "rst")),
)
REGISTRY: Mapping[str, Translate] = MappingProxyType(
    {name: function for function, names in _BY_FUNCTION for name in names}
)


_LABEL = lazy_pattern(r"^#\| label:[ \t]*[\"']?([^\s\"'][^\n\"']*?)[\"']?[ \t]*\n", re.MULTILINE)
_CAPTION = lazy_pattern(r"^#\| (fig|tbl)-cap:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BookNotebook:
    """A notebook translated to the lines of a page, with files for the site."""

    lines: list[str]
    made: tuple[ImportedData, ...] = ()
    """Images in the notebook, and the stored outputs of its cells."""


def walk_notebook(walker: BlockTranslator, notebook: Notebook, path: PurePosixPath) -> BookNotebook:
    """Translate the cells of a notebook. path: path of the page in the new site."""
    notes = CellNotices(walker.source)
    found = notebook_text(notebook, path, notes)
    walker.notices.extend(notes.found)
    lines: list[str] = []
    for part in found.parts:
        made = walker.walk(part.text.split("\n"), part.line) if part.is_prose else _cell(walker, part)
        lines += ["", *made, ""]
    return BookNotebook(lines, (*found.files, *record_files(path, found.cells)))


def _cell(walker: BlockTranslator, part: NotebookPart) -> list[str]:
    """Return the lines of a code cell. Register the label in the cell as a label of the book, for
    references."""
    text = part.text
    caption = _CAPTION.search(text)

    def substitute(label: re.Match[str]) -> str:
        if caption:
            return f"#| label: {walker.add_label('fig' if caption[1] == 'fig' else 'tbl', label[1])}\n"
        walker.pending.append(label[1])
        return ""

    text = _LABEL.sub(substitute, text, count=1)
    return [*walker.anchor(), *text.split("\n")]


KEYS = FrontKeys(
    name_set(
        "title subtitle description date author author.name authors authors.name tags keywords abstract "
        "thumbnail draft numbering numbering.headings numbering.heading_2 slug substitutions "
        "myst.substitutions bibliography"
    ),
    name_set(
        "jupytext kernelspec jupyter file_format mystnb myst exports downloads label orphan html_meta "
        "site parts language_info execution execute tocdepth nosearch no-search numbering"
    ),
)


def page_front(front: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the front matter of the new page, in blogsmith's order. front: front matter of the old page."""
    found: dict[str, Any] = {"title": title}
    for key in ("subtitle", "description"):
        if text := one_line(front.get(key)):
            found[key] = text
    if "description" not in found and (text := one_line(front.get("abstract"))):
        found["description"] = text
    if date := one_line(front.get("date")):
        found["date"] = date
    if authors := author_names(front.get("authors") or front.get("author")):
        found["authors"] = list(authors)
    if tags := read_names(front.get("tags") or front.get("keywords")):
        found["tags"] = tags
    if front.get("draft") is True:
        found["draft"] = True
    if image := one_line(front.get("thumbnail")):
        found["image"] = image
    numbering = front.get("numbering")
    parts = numbering if isinstance(numbering, dict) else {}
    if numbering is True or parts.get("headings") or parts.get("heading_2"):
        found["numbering"] = True
    if language := _kernel(front.get("kernelspec")):
        found["execute"] = {"kernel": language}
    return found


def _kernel(value: Any) -> str:
    """Return the kernel name of a page; empty if its language is Python. value: value of the front matter key
    `kernelspec`."""
    if not isinstance(value, dict):
        return ""
    name = str(value.get("name") or "")
    language = str(value.get("language") or name).lower()
    return "" if not name or language.startswith(("python", "ipython")) or name.startswith("python") else name


_SECOND_TITLE = lazy_pattern(r"^# ", re.MULTILINE)
_HEADING = lazy_pattern(r"^(#{1,5}) ", re.MULTILINE)
_BLANK = lazy_pattern(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page whose blocks are translated, but not its inline syntax."""

    document: BookDocument
    place: BookPage
    walker: BlockTranslator
    text: str
    made: tuple[ImportedData, ...] = ()
    """Images in a notebook, and the stored outputs of its cells; empty for other pages."""


def page_path(source: str, config: BookConfig, root: str) -> PurePosixPath:
    """Return the path of a page in the new site. source: file of the page in the repository. root: page that
    becomes the home page."""
    path = PurePosixPath(source).relative_to(config.folder)
    content = PurePosixPath("content")
    if path.as_posix() == root:
        return content / "_index.md"
    if path.stem.lower() == "index" or (path.stem.lower() == "readme" and len(path.parts) > 1):
        return content / path.parent / "_index.md"
    return content / path.with_suffix(".md")


def draft_page(
    document: BookDocument, path: PurePosixPath, address: str, state: BookState, config: BookConfig
) -> PageDraft:
    """Return a draft of a page, with everything translated except references. This is the first step for a
    page. path: path in the new site. address: old URL."""
    walker = BlockTranslator(
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
    place = BookPage(document.source, path, " ".join(title.split()), _slug(path, address), address)
    return PageDraft(document, place, walker, text, body.made)


def _slug(path: PurePosixPath, address: str) -> str:
    """Return the slug of a page. It is the last segment of the old URL if that is a valid slug, otherwise a
    slug of the file name."""
    if path.stem == "_index":
        return slugify(path.parent.name)
    last = address.rpartition("/")[2].removesuffix(".html")
    return last if last and not slug_problem(last) else slugify(path.stem)


@dataclass(frozen=True, slots=True)
class FinishedPage:
    """A page of the new site."""

    page: ImportedPage
    citation_keys: tuple[str, ...]
    """Bibliography keys in the order of their first citation."""


def finish_page(draft: PageDraft, index: BookIndex, config: BookConfig, page_list: str) -> FinishedPage:
    """Translate the references of a page, and add cited entries to its front matter. This is the second step
    for a page. page_list: Markdown list of all pages."""
    document, place = draft.document, draft.place
    known = {**index.substitutions, **page_substitutions(document.front)}
    page = InlineText(place, index, LineFinder(document.text, document.first_line), known)
    text = rewrite_inline(draft.text.replace(PAGE_LIST, page_list), page)
    if config.flavour == "mystmd":
        masked = mask(text, DIALECT)
        text = masked.restore(add_heading_ids(masked.text, masked.restore, MYSTMD))
    # the title was read before inline syntax was translated, and may contain roles
    title = rewrite_inline(place.title, page)
    front = page_front(document.front, title)
    if document.order:
        front["series"] = {"name": config.title or "Book", "part": document.order}
    if macros := page_macros(document.front):
        front["math"] = {"macros": macros}
    front |= index.bibliographies.page_front_matter(page.cited, index.bibliography_files)
    made = ImportedPage(
        path=place.path,
        front=front,
        text=_BLANK.sub("\n\n", text),
        source=document.source,
        original=document.text,
        first_line=document.first_line,
        address=place.address,
        notices=(*_limit_lines(draft.walker.notices, document), *page.notices),
    )
    return FinishedPage(made, tuple(page.cited))


def list_references(done: FinishedPage, keys: Iterable[str], index: BookIndex) -> ImportedPage:
    """Return a page that contains only the bibliography, with references added. keys: all bibliography keys
    that the book cites.

    Other pages get their lists of references automatically.
    """
    entries = [make_reference(fit_key(key), index.entries[key]) for key in sorted(keys)]
    # by first author and year
    entries.sort(
        key=lambda each: (str((each.get("author") or [""])[0]).casefold(), str(each.get("year", "")))
    )
    lines = [_reference_line(entry) for entry in entries]
    return replace(done.page, text=f"{done.page.text.rstrip()}\n\n" + "\n".join(lines))


def _reference_line(entry: Mapping[str, Any]) -> str:
    names = ", ".join(map(str, entry.get("author", ())))
    title = re.sub(r"([*_\[\]<>`])", r"\\\1", str(entry["title"]))
    address = str(entry.get("url") or (f"https://doi.org/{entry['doi']}" if entry.get("doi") else ""))
    shown = f"[*{title}*](<{address}>)" if address else f"*{title}*"
    rest = ", ".join(str(entry[key]) for key in ("venue", "year") if entry.get(key))
    return "- " + ". ".join(part for part in (names, shown, rest) if part) + "."


def _limit_lines(notices: list[Notice], document: BookDocument) -> list[Notice]:
    last = document.first_line + document.text.count("\n")
    return [
        replace(each, line=min(each.line, last)) if each.source == document.source else each
        for each in notices
    ]


def page_macros(front: dict[str, Any]) -> dict[str, str]:
    """Return name with backslash → TeX, for the macros in the front matter of a page."""
    written = front.get("math")
    found: dict[str, str] = {}
    for name, body in written.items() if isinstance(written, dict) else ():
        body = body.get("macro") if isinstance(body, dict) else body
        if isinstance(body, str):
            found["\\" + str(name).lstrip("\\")] = body
    return found


def page_substitutions(front: Mapping[str, Any]) -> dict[str, str]:
    """Return the substitutions in the front matter of one page, as the name in `{{ name }}` → its text."""
    own = front.get("myst")
    written = [front.get("substitutions"), own.get("substitutions") if isinstance(own, dict) else None]
    return {
        str(name): str(value)
        for values in written
        if isinstance(values, dict)
        for name, value in values.items()
        if isinstance(value, (str, int, float))
    }


def page_addresses(sources: Iterable[str], config: BookConfig, root: str) -> dict[str, str]:
    """Return file of a page → old URL. mystmd appends a number to the URL of a second page with the same
    name, because its URLs contain no folders."""
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for source in sources:
        address = page_address(source, page_path(source, config, root), config)
        number = counts[address]
        counts[address] += 1
        found[source] = (
            f"{address}-{number}" if number and address and config.flavour == "mystmd" else address
        )
    return found


def page_address(source: str, target: PurePosixPath, config: BookConfig) -> str:
    """Return the old URL of a page; empty for the home page, whose URL does not change. target: path in the
    new site."""
    if target == PurePosixPath("content/_index.md"):
        return ""
    path = PurePosixPath(source).relative_to(config.folder)
    if config.flavour == "mystmd":
        stem = path.parent.name if path.stem.lower() == "index" else path.stem
        return "/" + re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    if target.stem == "_index":
        return f"/{path.parent.as_posix()}/"
    return f"/{path.with_suffix('.html').as_posix()}"
