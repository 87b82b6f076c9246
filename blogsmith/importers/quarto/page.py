"""Translation of a document of a Quarto project to a page, with its recorded outputs.

Quarto stores an executed document in `_freeze/` as Markdown. Each cell is a div with its outputs and, unless
hidden, its code. Source: quarto-cli, `src/command/render/freeze.ts`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Blob, CellOutput, Display, Failure, Stream, lazy_pattern
from ..bibliographies import SourceBibliographies, fit_key
from ..model import ImportedData, ImportedPage, Notice, NoticeKind
from ..notebooks.outputs import OutputWriter, record_files
from ..source_files import open_file, read_text
from ..text.containers import escape_table_code, quote_lines
from ..text.data import as_list
from ..text.heading_ids import PANDOC, add_heading_ids
from ..text.math import script_macros, tex_macros
from ..text.pandoc import move_captions, translate_ruled_tables
from ..text.pieces import MASKED, HiddenFragments, demote_headings, repeated_title
from ..text.segments import LineFinder, MaskedText, SegmentKind, mask
from . import inlines
from .blocks import Div, DivTranslator, parse_divs, remove_prefix
from .cells import DIALECT, CodeTranslator, cell_defaults, read_block
from .figures import FigureTranslator, label_links
from .independent import HIDDEN_CODE
from .metadata import about_text, html_options, page_front, report_formats
from .references import QuartoReferences, translate_references
from .shortcodes import QuartoShortcodes, expand_includes
from .source import ProjectIndex, QuartoConfig, QuartoDocument

_MEDIA_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
_PICTURE = lazy_pattern(r"!\[[^\]]*\]\(<?([^()<>\s]+)>?[^()]*\)(?:\{[^{}]*\})?")
_FENCE = lazy_pattern(r"^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[ \t]*$", re.MULTILINE)
_ERROR = lazy_pattern(r"(?:[\s\S]*\n)?(?P<name>[A-Z]\w*(?:Error|Exception|Warning)): (?P<message>[^\n]*)\s*")
_MAX_BYTES = 20_000_000
"""Maximum number of bytes that are read from an image."""


@dataclass(frozen=True, slots=True)
class FrozenCell:
    """An executed cell in the record of a document."""

    code: str
    """Code; empty if the document does not show it."""
    outputs: tuple[CellOutput, ...]


@dataclass(slots=True)
class FrozenCells:
    """The executed cells of a document, read in order."""

    cells: Sequence[FrozenCell] = ()
    position: int = field(default=0)

    def pop_outputs(self, code: str, *, is_shown: bool) -> tuple[CellOutput, ...] | None:
        """Return the outputs of the next cell with this code, and skip the cells before it. Return None if no
        such cell follows.

        is_shown: whether the page shows the code. If not, a recorded cell without code also matches.
        """
        wanted = code.strip()
        for number in range(self.position, len(self.cells)):
            found = self.cells[number]
            if found.code.strip() == wanted or (not found.code and not is_shown and number == self.position):
                self.position = number + 1
                return found.outputs
        return None


def read_frozen(root: Path, path: PurePosixPath) -> FrozenCells:
    """Return the recorded cells of the document at `path`; no cells if the document has no record."""
    folder = root / "_freeze" / path.with_suffix("")
    text = read_text(folder / "execute-results" / "html.json")
    try:
        data = json.loads(text) if text else None
        markdown = data["result"]["markdown"] if isinstance(data, dict) else ""
    except (ValueError, RecursionError, KeyError, TypeError):
        markdown = ""
    if not isinstance(markdown, str) or ".cell" not in markdown:
        return FrozenCells()
    masked = mask(markdown, DIALECT)
    folders = (folder, root / path.parent)
    divs = parse_divs(masked.text)
    return FrozenCells([_cell(div, masked, folders) for div in _find_divs(divs, "cell")])


def _find_divs(children: Sequence[Div | str], name: str) -> Iterator[Div]:
    for child in children:
        if isinstance(child, Div):
            if child.attributes.has(name):
                yield child
            else:
                yield from _find_divs(child.children, name)


def _cell(div: Div, masked: MaskedText, folders: Sequence[Path]) -> FrozenCell:
    code = ""
    outputs: list[CellOutput] = []
    for child in div.children:
        if isinstance(child, Div):
            outputs.extend(_outputs(child, masked, folders))
            continue
        for fence in _FENCE.finditer(masked.restore(child)):
            block = read_block(fence[0])
            if block and "cell-code" in block.info and not code:
                code = "\n".join(block.lines)
    return FrozenCell(code, tuple(outputs))


def _outputs(div: Div, masked: MaskedText, folders: Sequence[Path]) -> Iterator[CellOutput]:
    attributes = div.attributes
    text = masked.restore("\n".join(child for child in div.children if isinstance(child, str))).strip("\n")
    inner = [child for child in div.children if isinstance(child, Div)]
    for child in inner:
        yield from _outputs(child, masked, folders)
    if not text.strip():
        return
    plain = _plain(text)
    shown = plain if plain is not None else text
    if attributes.has("cell-output-stdout"):
        yield Stream("stdout", f"{shown}\n")
    elif attributes.has("cell-output-stderr"):
        yield Stream("stderr", f"{shown}\n")
    elif attributes.has("cell-output-error"):
        found = _ERROR.fullmatch(shown)
        yield Failure(found["name"] if found else "Error", found["message"] if found else "", shown)
    else:
        yield from _displays(text, plain, folders)


def _plain(text: str) -> str | None:
    """Return the content of an output that is a single fence; None for any other output."""
    block = read_block(text.strip())
    if block is None or not _FENCE.fullmatch(text.strip()):
        return None
    return None if block.info.strip().startswith("{=") else "\n".join(block.lines)


def _displays(text: str, plain: str | None, folders: Sequence[Path]) -> Iterator[CellOutput]:
    if plain is not None:
        yield Display("display", {"text/plain": plain})
        return
    for found in _PICTURE.finditer(text):
        if picture := _read_image(found[1], folders):
            yield Display("display", picture)
    rest = _PICTURE.sub("", text).strip()
    block = read_block(rest)
    if block and block.info.strip().startswith("{=html"):
        yield Display("display", {"text/html": "\n".join(block.lines)})
    elif rest:
        yield Display("display", {"text/markdown": rest})


def _read_image(address: str, folders: Sequence[Path]) -> dict[str, str | Blob] | None:
    """Return media type → image, for an image in the record or next to the document. Return None if the image
    is not found. folders: folder of the record, and folder of the document."""
    mime = _MEDIA_TYPES.get(PurePosixPath(address).suffix.lower())
    if mime is None or "://" in address or address.startswith("/"):
        return None
    # `post_files/figure-html/a.png` is stored as `figure-html/a.png`
    inner = address.partition("_files/")[2] or address
    for file in (folders[0] / inner, folders[1] / address):
        try:
            with open_file(file) as stream:
                data = stream.read(_MAX_BYTES)
        except (OSError, ValueError):
            continue
        return {mime: Blob(hashlib.sha256(data).hexdigest(), data, PurePosixPath(address).name)}
    return None


_HEADER_KEYS = ("include-in-header", "include-before-body", "include-before")
"""Keys for content before the text of a page."""
_LINK = lazy_pattern(
    r"(?:(?<=\]\()|(?<=\]:[ ]))(?:<(?P<angle>[^<>\n]*)>|(?P<bare>(?:[^\s()]|\([^\s()]*\))+))(?=[\s)]|\Z)"
    r"|(?P<name>\b(?:src|href|poster)\s*=\s*)(?P<quote>[\"'])(?P<value>[^\"'<>\n]*)(?P=quote)(?=[^<>]*>)"
)


@dataclass(slots=True)
class _NoticeCollector:
    """Notices of one page, with their lines in its file."""

    source: str
    lines: LineFinder
    found: list[Notice] = field(default_factory=list)

    def __call__(
        self, kind: NoticeKind, message: str, piece: str = "", *, hint: str = "", removed: str = ""
    ) -> None:
        line = self.lines.find(piece) or self.lines.find(piece.partition("\n")[0])
        self.found.append(Notice(kind, message, self.source, line, hint, removed))


@dataclass(frozen=True, slots=True)
class TranslatedPage:
    """A translated page, with the macros, callout kinds and files that the site must provide."""

    page: ImportedPage
    macros: Mapping[str, str]
    """Name → TeX, for macros in included files and headers."""
    kinds: frozenset[str]
    """Kinds of callouts that the site must define."""
    files: frozenset[PurePosixPath]
    """Files of the source that the page links to or shows."""
    has_cells: bool
    made: tuple[ImportedData, ...] = ()
    """Images and records of cell outputs."""


class DocumentTranslator:
    """Translator for the documents of one project."""

    def __init__(self, root: Path, config: QuartoConfig, index: ProjectIndex) -> None:
        self.root = root
        """Folder of the project."""
        self._config = config
        self.index = index
        """Index of all documents and files."""
        self.bibliographies = SourceBibliographies()
        """Bibliographies of the pages."""

    def translate(self, document: QuartoDocument) -> TranslatedPage:
        """Translate a document to a page."""
        source = document.path.as_posix()
        notes = _NoticeCollector(source, LineFinder(document.body, document.first_line))
        notes.found.extend(document.notices)
        included = expand_includes(document.body, document.path, self.root, notes)
        front = page_front(document, self.index.drafts)
        notes.found.extend([*front.notices, *report_formats(document.front, source)])
        text = _with_abstract(included.text, front.abstract)
        if about := about_text(document.front):
            notes("changed", "links and image of an about page become part of its text")
            text = f"{text.rstrip()}\n\n{about}"
        body = _Body(self, document, notes, str(front.values.get("title", "")))
        text = body.translate(text)
        values = self._front(front.values, body)
        if body.own_macros:
            values["math"] = {"macros": dict(body.own_macros)}
        hidden = HIDDEN_CODE if body.defaults.front.get("echo") is False else ""
        original = "\n\n".join([included.own, *included.inserted]) + hidden
        page = ImportedPage(
            path=document.new_path,
            front=values,
            text=text,
            source=source,
            original=original,
            first_line=document.first_line,
            address=document.address,
            notices=tuple(notes.found),
        )
        macros = {**self._header_macros(document), **included.macros}
        return TranslatedPage(
            page,
            macros,
            frozenset(body.divs.kinds),
            frozenset(body.files),
            has_cells=body.code.has_cells,
            made=_made_files(document, body),
        )

    def _front(self, front: Mapping[str, Any], body: _Body) -> dict[str, Any]:
        values = dict(front)
        if isinstance(image := values.get("image"), str):
            values["image"] = body.resolve(image)
        if body.code.has_cells and body.defaults.front:
            values["execute"] = dict(body.defaults.front)
        return {**values, **body.reference_front()}

    def _header_macros(self, document: QuartoDocument) -> dict[str, str]:
        """Return name → TeX, for macros in the files and text that the page includes in its header or before
        its text."""
        options = html_options(document.options)
        found: dict[str, str] = {}
        for each in (part for key in _HEADER_KEYS for part in as_list(options.get(key) or [])):
            text = each.get("text", "") if isinstance(each, dict) else each
            name = each.get("file", "") if isinstance(each, dict) else each
            if isinstance(name, str) and name and "\n" not in name:
                text = read_text(self.root / name) or text
            found |= script_macros(str(text)) | tex_macros(str(text))
        return found

    def bibliography_files(self, document: QuartoDocument) -> list[Path]:
        """Return the paths of the bibliography files of a page."""
        written = document.options.get("bibliography") or []
        names = [name for name in as_list(written) if _is_bibliography(name)]
        return [self.root / name for name in names]

    @property
    def variables(self) -> Mapping[str, Any]:
        r"""Return the values for `{{< meta >}}`. The values for `{{< var >}}` are under the key `"\0var"`."""
        return {**self._config.values, "\0var": self.index.variables}


class _Body:
    """Translates the body of one page."""

    def __init__(
        self, site: DocumentTranslator, document: QuartoDocument, notes: _NoticeCollector, title: str
    ) -> None:
        self._site = site
        self._document = document
        self._notes = notes
        self._index = site.index
        self._title = title
        self._pieces = HiddenFragments()
        self._hidden: tuple[str, ...] = ()
        self.defaults = cell_defaults(html_options(document.options))
        self.outputs = OutputWriter(document.new_path)
        frozen = FrozenCells() if document.notebook else read_frozen(site.root, document.path)
        self.code = CodeTranslator(self.defaults, notes, frozen.pop_outputs, self.outputs, self.resolve)
        self._figures = FigureTranslator(self._pieces, self._reveal, notes)
        self.divs = DivTranslator(self._restore, self._figures, notes)
        meta = {**site.variables, **document.options}
        self._shortcodes = QuartoShortcodes(meta, self.resolve, notes)
        self._references = QuartoReferences(
            entries=site.bibliographies.all_entries(site.bibliography_files(document)),
            find_other_page=lambda label: self._index.find_slug(label, document),
        )
        self.files: set[PurePosixPath] = set()
        self.own_macros: dict[str, str] = {}

    def translate(self, text: str) -> str:
        """Convert the text to blogsmith's Markdown."""
        text = self.code.values_in_formulas(text)
        masked = mask(escape_table_code(translate_ruled_tables(text), DIALECT), DIALECT)
        self._hidden = tuple(map(self._code_of, masked.hidden, masked.kinds))
        text, macros = inlines.remove_raw_tex(masked.text, self._notes)
        self.own_macros |= macros
        if self._title:
            text = demote_headings(text.replace(repeated_title(text, self._title), "", 1))
        text = self._shortcodes.translate(inlines.escape_literals(text))
        text = inlines.translate_raw_spans(text, lambda number: masked.hidden[number], self._notes)
        text = move_captions(inlines.line_blocks(inlines.numbered_examples(text)))
        text = add_heading_ids(inlines.rewrite_heading_attributes(text), self._reveal, PANDOC)
        text = self._lines(text)
        text = self.divs.page(parse_divs(text))
        self.own_macros |= {**self.code.macros, **self.divs.macros}
        return self._resolve_references(text)

    def _lines(self, text: str) -> str:
        """Convert inline syntax. Figures come last, because captions contain inline syntax."""
        text = inlines.translate_spans(text, self._notes)
        text = _LINK.sub(self._link, text)
        hidden = inlines.hide_urls(text, self._pieces)
        hidden = translate_references(hidden, self._references, self._pieces, self._notes)
        hidden = inlines.translate_escapes(inlines.translate_scripts(hidden))
        text = inlines.translate_inline_notes(self._pieces.restore(hidden))
        return inlines.link_attributes(self._figures.images(text))

    def _resolve_references(self, text: str) -> str:
        links = label_links(self._figures.captions, self._figures.parents)
        links |= {label: f"[Listing](#{label})" for label in self.code.labels if label.startswith("lst-")}
        for label, shown in links.items():
            text = text.replace(f"{{@{label}}}", shown)
            text = re.sub(rf"\\(?:eq)?ref\{{{re.escape(label)}\}}", shown.replace("\\", r"\\"), text)
        for label in self.code.labels:
            if f"{{@{label}}}" in text:
                message = f'label "{label}" belongs to a figure or table that is not generated'
                self._notes("left", message, f"@{label}", hint="add the figure or table")
                text = text.replace(f"{{@{label}}}", f"`{label}`<!-- import: {label} is not generated -->")
        return text.strip("\n")

    def _code_of(self, piece: str, kind: SegmentKind) -> str:
        if kind == "span":
            return self.code.span(piece)
        return self.code.block(piece) if kind == "block" else piece

    def _reveal(self, text: str) -> str:
        """Return a text with its hidden fragments restored."""
        return MASKED.sub(lambda found: self._hidden[int(found[1])], self._pieces.restore(text))

    def _restore(self, text: str, margin: str) -> str:
        def substitute(found: re.Match[str]) -> str:
            piece = self._hidden[int(found[1])]
            return "\n".join(remove_prefix(line, margin) for line in piece.split("\n")) if margin else piece

        return MASKED.sub(substitute, self._pieces.restore(text))

    def _link(self, found: re.Match[str]) -> str:
        if found["name"]:
            return f"{found['name']}{found['quote']}{self.resolve(found['value'])}{found['quote']}"
        target = self.resolve(found["angle"] if found["angle"] is not None else found["bare"])
        return f"<{target}>" if re.search(r"[\s()]", target) else target

    def resolve(self, address: str) -> str:
        """Return the URL in the new site for a link. If the link points to a file, add the file to
        `files`."""
        target, files = self._index.resolve(address, self._document)
        self.files |= files
        return target

    def reference_front(self) -> dict[str, Any]:
        """Return the front matter keys for references that the page cites or lists in `nocite`."""
        known, cited = self._references.entries, self._references.cited
        nocite = str(self._document.options.get("nocite") or "")
        asked = [key for key in re.findall(r"@([\w:.+/-]+)", nocite) if key in known]
        asked = [*known] if "@*" in nocite else asked
        files = self._site.bibliography_files(self._document)
        found = self._site.bibliographies.page_front_matter(dict.fromkeys((*cited, *asked)), files)
        listed = {entry["id"] for entry in found.get("references", ())}
        # references in the front matter are always listed
        uncited = [key for key in asked if key not in cited and fit_key(key) not in listed]
        return found | ({"nocite": uncited} if uncited else {})


def _is_bibliography(name: object) -> bool:
    return isinstance(name, str) and name.lower().endswith((".bib", ".bibtex", ".json"))


def _made_files(document: QuartoDocument, body: _Body) -> tuple[ImportedData, ...]:
    notebook = document.notebook
    if notebook is None:
        return (*body.outputs.files, *record_files(document.new_path, body.code.records))
    return (*notebook.files, *record_files(document.new_path, notebook.cells))


def _with_abstract(text: str, abstract: str) -> str:
    if not abstract:
        return text
    return "\n".join([*quote_lines(["[!ABSTRACT]", "", *abstract.split("\n")]), "", text])


def add_macros(page: ImportedPage, macros: Mapping[str, str]) -> ImportedPage:
    """Add macros to the front matter of a page. If the page already defines a macro, its definition stays."""
    if not macros:
        return page
    front = dict(page.front)
    math = dict(front.get("math") or {})
    front["math"] = {**math, "macros": {**macros, **math.get("macros", {})}}
    return replace(page, front=front)
