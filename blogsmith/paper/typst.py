"""Writer of a document tree as a file of Typst.

The file passes text to functions of `templates/functions.typ` as strings, so Typst does not evaluate text of
a page. Each formula and image is defined on a separate line: an error of the compiler names the line, and
`TypstFile` maps the line to the formula or image.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct

from ..api.books import lazy_pattern
from . import document as d
from .formulas import cell_content, quote, write_math

_STYLES: Mapping[str, str] = {
    **{"em": "emph", "strong": "strong", "mark": "marked", "kbd": "key", "code": "raw"},
    **{"del": "strike", "ins": "underline", "sub": "sub", "sup": "super", "small": "small"},
    "small-caps": "smallcaps",
}
_MAX_QUOTES = 4
_LONG_WORD = lazy_pattern(r"\S{30}")
_SOURCE = lazy_pattern(r"\\?[^\W_]{1,12}\s*|.\s*", re.DOTALL)
_PARAGRAPHS = {"": "par", "label": "label-line", "small": "note-line", "claim": "claim-line"}


class TypstFile(Struct, frozen=True):
    """A file of Typst."""

    text: str
    formulas: Mapping[int, tuple[int, str]]
    """Line, counted from 1 → page and TeX of the formula defined there."""
    images: Mapping[int, str]
    """Line → file name of the image defined there."""


class RejectedContent(Struct, frozen=True):
    """Formulas and images that the compiler rejected. They are written as TeX and as alternative text."""

    formulas: frozenset[str] = frozenset()
    """TeX of the rejected formulas."""
    images: frozenset[str] = frozenset()
    """File names of the rejected images."""


class PaperFacts(Struct, frozen=True):
    """Metadata of a document, as the template reads it."""

    title: str
    site: str
    contents: str
    """The word “Contents”."""
    lang: str
    authors: tuple[tuple[str, str], ...]
    description: str
    keywords: tuple[str, ...]
    date: tuple[int, int, int] | None
    fonts: tuple[str, ...]
    math_fonts: tuple[str, ...]
    code_fonts: tuple[str, ...]


def write_document(
    facts: PaperFacts,
    chapters: Sequence[d.PaperChapter],
    name_image: Callable[[d.PaperPicture], str],
    rejected: RejectedContent,
) -> TypstFile:
    """Return the file of a document. name_image: function that returns the file name of an image, or an empty
    string if there is no file."""
    writer = _Writer(name_image, rejected)
    written = [_chapter(chapter, writer) for chapter in chapters]
    lines = ['#import "functions.typ": *', '#import "template.typ": template']
    anchors = "".join(f"{quote(name)}: none, " for name in sorted(writer.anchors))
    lines.append(f"#let anchors = ({anchors or ':'})")
    lines.append("#let to(name, body) = if name in anchors { link(label(name), body) } else { body }")
    formulas, images = {}, {}
    for definition, source in writer.definitions:
        lines.append(definition)
        if isinstance(source, tuple):
            formulas[len(lines)] = source
        else:
            images[len(lines)] = source
    document = {
        "title": quote(facts.title),
        "site": quote(facts.site),
        "contents": quote(facts.contents),
        **_language(facts.lang),
        "authors": _authors(facts.authors),
        "description": quote(facts.description),
        "keywords": _array(map(quote, facts.keywords)),
        "date": "datetime(year: {}, month: {}, day: {})".format(*facts.date) if facts.date else "none",
        "fonts": _array(map(quote, facts.fonts)),
        "math-fonts": _array(map(quote, facts.math_fonts)),
        "code-fonts": _array(map(quote, facts.code_fonts)),
        "chapters": _array(written),
    }
    lines.append(f"#template({_dictionary(document)})")
    return TypstFile("\n".join(lines) + "\n", formulas, images)


def _chapter(chapter: d.PaperChapter, writer: _Writer) -> str:
    writer.anchors.add(chapter.anchor)
    description = writer.inline(chapter.description) if chapter.description else "none"
    return _dictionary(
        {
            "name": quote(chapter.anchor),
            "title": writer.inline(chapter.title),
            "plain": quote(chapter.plain_title),
            "subtitle": quote(chapter.subtitle),
            "description": description,
            "date": quote(chapter.date),
            "authors": _authors(chapter.authors),
            "doi": quote(chapter.doi),
            "url": quote(chapter.url),
            **_language(chapter.lang),
            "body": writer.chapter(chapter.content),
        }
    )


def _language(tag: str) -> dict[str, str]:
    """Return `lang`, a code of two or three letters, and `region`, a code of two letters, as parameters for
    Typst."""
    first, *rest = tag.lower().split("-")
    region = next((part for part in rest if len(part) == 2 and part.isalpha()), "")
    is_known = first.isascii() and first.isalpha() and 2 <= len(first) <= 3
    return {"lang": quote(first if is_known else "en"), "region": quote(region) if region else "none"}


def _authors(authors: Sequence[tuple[str, str]]) -> str:
    return _array(_dictionary({"name": quote(name), "orcid": quote(orcid)}) for name, orcid in authors)


def _array(parts: Iterable[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"


def _dictionary(parts: Mapping[str, str]) -> str:
    return f"({', '.join(f'{name}: {value}' for name, value in parts.items())})"


class _Writer:
    """Writes blocks and inline content, and collects anchors and definitions."""

    def __init__(self, name_image: Callable[[d.PaperPicture], str], rejected: RejectedContent) -> None:
        self._name_image = name_image
        self._rejected = rejected
        self._names: dict[str, str] = {}
        self.anchors: set[str] = set()
        self.definitions: list[tuple[str, tuple[int, str] | str]] = []
        """Each definition is one line, with its origin: page and TeX of a formula, or file name of an
        image."""
        self._notes: set[str] = set()
        self._level = self._quotes = 0

    # inline content

    def inline(self, content: Iterable[d.Inline]) -> str:
        """Return an expression for inline content."""
        parts = [part for part in map(self._inline, content) if part]
        return _block(parts)

    def _inline(self, part: d.Inline) -> str:
        match part:
            case str():
                return f"text({quote(part)})" if part else ""
            case d.PaperSpan("code", (str(text),)):
                if _LONG_WORD.search(text):
                    return _source(text)
                return f"raw({quote(text)})" if text else ""
            case d.PaperSpan("kbd"):
                return f"key({quote(plain(part.content))})"
            case d.PaperSpan("qed"):
                return "qed"
            case d.PaperSpan():
                return f"{_STYLES[part.style]}({self.inline(part.content)})"
            case d.PaperLink(target, content) if target.startswith("#"):
                return f"to({quote(target[1:])}, {self.inline(content)})"
            case d.PaperLink(target, content):
                return f"link({quote(target)}, {self.inline(content)})"
            case d.PaperAnchor(name):
                return f"anchor({quote(name)})" if self._is_new(name) else ""
            case d.PaperFormula():
                name = self._formula(write_math(part.math), part.tex, part.page)
                return f"m({quote(part.words)}, {name})" if name else _source(part.tex)
            case d.PaperPicture():
                return self._picture(part)
            case d.PaperNote(name, number, content):
                self._notes.add(name)
                return f"note({quote(name)}, {quote(number)}, {self._item(content)})"
            case d.PaperNoteReference(name, number):
                return (
                    f"note-again({quote(name)}, {quote(number)})"
                    if name in self._notes
                    else f"super({quote(number)})"
                )
            case d.PaperLineBreak():
                return "linebreak()"

    def _is_new(self, name: str) -> bool:
        """Record the name of an anchor. Return whether it is the first anchor of this name."""
        if not name or name in self.anchors:
            return False
        self.anchors.add(name)
        return True

    def _named(self, name: str) -> str:
        return quote(name) if self._is_new(name) else "none"

    def _define(self, expression: str, source: tuple[int, str] | str) -> str:
        if expression not in self._names:
            self._names[expression] = f"x{len(self._names)}"
            self.definitions.append((f"#let {self._names[expression]} = {expression}", source))
        return self._names[expression]

    def _formula(self, expression: str, tex: str, page: int) -> str:
        """Define a formula and return its name; empty if the compiler has rejected this formula."""
        return "" if tex in self._rejected.formulas else self._define(expression, (page, tex))

    def _picture(self, image: d.PaperPicture) -> str:
        name = self._name_image(image)
        if not name or name in self._rejected.images:
            return f"text({quote(image.alt)})" if image.alt else ""
        drawn = f"(width, alt) => image({quote(name)}, width: width, alt: alt)"
        if not image.alt:
            drawn = f"(width, alt) => pdf.artifact(image({quote(name)}, width: width))"
        defined = self._define(drawn, name)
        function = "picture-inline" if image.is_inline else "picture"
        return f"{function}({defined}, {image.width or 'none'}, {quote(image.alt)})"

    # blocks

    def chapter(self, content: Sequence[d.Block]) -> str:
        """Return an expression for the body of a chapter."""
        self._level = 0
        return self.blocks(content)

    def blocks(self, content: Sequence[d.Block]) -> str:
        """Return an expression for blocks."""
        parts = []
        for block, after in zip_longest(content, content[1:]):
            part = self._block(block)
            if (
                isinstance(block, d.PaperCode)
                and isinstance(after, d.PaperParagraph)
                and after.style == "small"
            ):
                # the line with date and versions stays with the code
                part = f"{part[:-1]}, sticky: true)"
            parts.append(part)
        return _block([part for part in parts if part])

    def _block(self, block: d.Block) -> str:
        write = getattr(self, f"_write_{type(block).__name__.removeprefix('Paper').lower()}")
        return str(write(block))

    def _write_paragraph(self, block: d.PaperParagraph) -> str:
        written = self.inline(block.content)
        if written == "[]" or all(isinstance(part, d.PaperAnchor) for part in block.content):
            return "" if written == "[]" else written
        if (
            len(block.content) == 1
            and isinstance(part := block.content[0], d.PaperPicture)
            and not part.is_inline
        ):
            return written
        return f"{_PARAGRAPHS[block.style]}({written})"

    def _write_heading(self, block: d.PaperHeading) -> str:
        names = [part.name for part in block.content if isinstance(part, d.PaperAnchor)]
        label = next((name for name in names if self._is_new(name)), "")
        self._level = max(1, min(block.level - 1, self._level + 1))
        written = f"heading(depth: {self._level}, {self.inline(block.content)})"
        return f"[#{written}#label({quote(label)})]" if label else written

    def _write_display(self, block: d.PaperDisplay) -> str:
        if block.tex in self._rejected.formulas:
            return f"par({_source(block.tex)})"
        if len(block.rows) == 1:
            (row,) = block.rows
            name = self._formula(write_math(row.cells[0]), block.tex, block.page)
            number = f", number: {quote(row.number)}" if row.number else ""
            anchor = f", name: {quote(row.anchor)}" if self._is_new(row.anchor) else ""
            return f"display({quote(row.words)}, {name}{number}{anchor})"
        rows = []
        for row in block.rows:
            cells = [self._formula(cell_content(cell), block.tex, block.page) for cell in row.cells]
            fields = {"cells": _array(cells), "alt": quote(row.words), "number": quote(row.number)}
            rows.append(_dictionary({**fields, "name": self._named(row.anchor)}))
        return f"rows({', '.join(rows)})"

    def _write_code(self, block: d.PaperCode) -> str:
        lines = _array(_array(_array(map(quote, pair)) for pair in line) for line in block.lines)
        options = f", title: {quote(block.title)}" if block.title else ""
        options += f", style: {quote(block.style)}" if block.style != "code" else ""
        options += f", numbered: true, first: {block.first}" if block.is_numbered else ""
        options += f", marked: {_array(map(str, block.marked))}" if block.marked else ""
        return f"code({lines}{options})"

    def _write_table(self, block: d.PaperTable) -> str:
        head = _array(self._cell(cell) for row in block.head for cell in row)
        body = _array(self._cell(cell) for row in block.body for cell in row)
        return f"table-of({block.columns}, {head}, {body})"

    def _cell(self, cell: d.PaperCell) -> str:
        # a paragraph in a cell would be a paragraph of its own for screen readers
        match cell.content:
            case (d.PaperParagraph(line, ""),):
                written = self.inline(line)
            case content:
                written = self.blocks(content)
        options = f", align: {cell.align}" if cell.align in ("left", "center", "right") else ""
        options += f", colspan: {cell.columns}" if cell.columns > 1 else ""
        options += f", rowspan: {cell.rows}" if cell.rows > 1 else ""
        return f"table.cell({f'strong({written})' if cell.is_header else written}{options})"

    def _write_figure(self, block: d.PaperFigure) -> str:
        if not block.caption:
            anchor = f"anchor({quote(block.anchor)})" if self._is_new(block.anchor) else ""
            return _block([part for part in (anchor, *map(self._block, block.content)) if part])
        caption = self.inline(block.caption)
        options = "" if any(map(_is_described, block.content)) else f", alt: {quote(plain(block.caption))}"
        body, name = self.blocks(block.content), self._named(block.anchor)
        return f"picture-figure({body}, {caption}, {name}{options})"

    def _write_grid(self, block: d.PaperGrid) -> str:
        parts = ", ".join(map(self._block, block.content))
        return f"side-by-side({block.columns}, {parts})"

    def _write_items(self, block: d.PaperItems) -> str:
        is_tight = all(len(item) < 2 for item in block.items)
        items = ", ".join(map(self._item, block.items))
        options = f"tight: {'true' if is_tight else 'false'}"
        if block.first is None:
            return f"list({options}, {items})"
        return f"enum({options}, start: {block.first}, {items})"

    def _item(self, content: Sequence[d.Block]) -> str:
        """Return an item. Its first paragraph becomes plain text, as in tight lists."""
        first = next((block for block in content if not _is_anchor(block)), None)
        if isinstance(first, d.PaperParagraph) and not first.style:
            rest = [block for block in content if block is not first]
            anchors = [block for block in rest if _is_anchor(block)]
            others = [block for block in rest if not _is_anchor(block)]
            return _block(
                [
                    *map(self._block, anchors),
                    self.inline(first.content),
                    *(["parbreak()"] if others and isinstance(others[0], d.PaperParagraph) else []),
                    *filter(None, map(self._block, others)),
                ]
            )
        return self.blocks(content)

    def _write_references(self, block: d.PaperReferences) -> str:
        if all(label for label, _ in block.items):
            items = (_array((label, self._item(content))) for label, content in block.items)
            return f"references({_array(items)})"
        return f"unnumbered-references({_array(self._item(content) for _, content in block.items)})"

    def _write_terms(self, block: d.PaperTerms) -> str:
        items = (f"terms.item({self.inline(term)}, {self._item(content)})" for term, content in block.items)
        return f"terms({', '.join(items)})"

    def _write_callout(self, block: d.PaperCallout) -> str:
        name = self._named(block.anchor)
        kind = quote(block.kind)
        if not block.is_statement:
            title = self.inline(block.title) if block.title else "none"
            return f"callout({kind}, {title}, {self.blocks(block.content)}, {name})"
        title = self.inline(block.title)
        first, *rest = block.content or (d.PaperParagraph(()),)
        start = "none"
        if isinstance(first, d.PaperParagraph) and not first.style:
            start = self.inline(first.content)
        else:
            rest = [first, *rest]
        return f"statement({kind}, {title}, {start}, {self.blocks(rest)}, {name})"

    def _write_quote(self, block: d.PaperQuote) -> str:
        self._quotes += 1
        content = self.blocks(block.content)
        self._quotes -= 1
        # the compiler limits the depth of quotations
        return f"quote(block: true, {content})" if self._quotes < _MAX_QUOTES else content

    def _write_rule(self, block: d.PaperRule) -> str:
        return "align(center, line(length: 30%, stroke: 0.5pt))"


def plain(content: Iterable[d.Inline]) -> str:
    """Return the text of inline content."""
    return "".join(
        part
        if isinstance(part, str)
        else plain(part.content)
        if isinstance(part, d.PaperSpan | d.PaperLink)
        else ""
        for part in content
    )


def source_parts(tex: str) -> list[str]:
    """Return code or a formula, split into parts after which a line may break."""
    return _SOURCE.findall(tex)


def _source(tex: str) -> str:
    return f"source({_array(map(quote, source_parts(tex)))})"


def _is_described(block: d.Block) -> bool:
    """Return whether a block of a figure needs no further description. This is true for an image with a text
    alternative, and for a block that is not a paragraph."""
    return not isinstance(block, d.PaperParagraph) or any(
        isinstance(part, d.PaperPicture) and bool(part.alt) for part in block.content
    )


def _is_anchor(block: d.Block) -> bool:
    return isinstance(block, d.PaperParagraph) and all(
        isinstance(part, d.PaperAnchor) for part in block.content
    )


def _block(parts: Sequence[str]) -> str:
    if not parts:
        return "[]"
    return parts[0] if len(parts) == 1 else f"{{{'; '.join(parts)}}}"
