"""Records of a document for paper: blocks and inline content, with the numbers of the page."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .elements import HtmlElement

# Inline content


class PaperSpan(Struct, frozen=True):
    """Inline content in a style of its own."""

    style: str
    """Name of the style: `em`, `strong`, `mark`, `kbd`, `code`, `del`, `ins`, `sub`, `sup`, `small`,
    `small-caps`, or `qed` for the end of a proof."""
    content: tuple[Inline, ...]


class PaperLink(Struct, frozen=True):
    """A link."""

    target: str
    """Absolute URL, or `#` and the name of an anchor of the document."""
    content: tuple[Inline, ...]


class PaperAnchor(Struct, frozen=True):
    """A target of links."""

    name: str


class PaperFormula(Struct, frozen=True):
    """A formula."""

    math: HtmlElement
    """The `math` element."""
    tex: str
    """TeX as the author wrote it."""
    words: str
    """Text alternative."""
    page: int = 0
    """Number of the formula's page in the document, used in messages."""


class PaperPicture(Struct, frozen=True):
    """An image."""

    path: str
    """URL path of a file of the site; empty for a drawing in the page."""
    alt: str
    width: str = ""
    """Width as Typst writes it: `40%` or `360pt`; empty for the natural width."""
    svg: str = ""
    """Source of a drawing in the page."""
    is_inline: bool = False


class PaperNote(Struct, frozen=True):
    """A footnote at its first reference."""

    name: str
    """Name for later references."""
    number: str
    content: tuple[Block, ...]


class PaperNoteReference(Struct, frozen=True):
    """A later reference to a footnote."""

    name: str
    number: str


class PaperLineBreak(Struct, frozen=True):
    """A line break that the author wrote."""


Inline = (
    str
    | PaperSpan
    | PaperLink
    | PaperAnchor
    | PaperFormula
    | PaperPicture
    | PaperNote
    | PaperNoteReference
    | PaperLineBreak
)

# Blocks


class PaperParagraph(Struct, frozen=True):
    """A paragraph."""

    content: tuple[Inline, ...]
    style: Literal["", "label", "small", "claim"] = ""
    """`label`: the title of a tab or similar block. `small`: provenance and notes. `claim`: the result of a
    claim."""


class PaperHeading(Struct, frozen=True):
    """A heading, with its anchors in `content`."""

    level: int
    content: tuple[Inline, ...]


class PaperEquationRow(Struct, frozen=True):
    """A row of a display."""

    cells: tuple[HtmlElement, ...]
    """Cells, alternately right- and left-aligned. A row without alignment has one cell with the whole
    formula."""
    words: str
    number: str = ""
    """Number or tag with its brackets; empty if the row has neither."""
    anchor: str = ""


class PaperDisplay(Struct, frozen=True):
    """Display math, in one row or in rows with numbers of their own."""

    rows: tuple[PaperEquationRow, ...]
    tex: str
    """TeX as the author wrote it."""
    page: int = 0
    portable: str = ""
    """TeX with macros expanded and without labels; empty if it equals `tex`."""


class PaperCode(Struct, frozen=True):
    """Code or output, as lines that consist of fragments."""

    lines: tuple[tuple[tuple[str, str], ...], ...]
    """Fragments of each line: the class of Pygments, which may be empty, and the text."""
    title: str = ""
    style: Literal["code", "output", "error"] = "code"
    is_numbered: bool = False
    marked: tuple[int, ...] = ()
    """Indices of highlighted lines, from 0."""
    first: int = 1
    """Number of the first line."""


class PaperCell(Struct, frozen=True):
    """A cell of a table."""

    content: tuple[Block, ...]
    align: str = ""
    is_header: bool = False
    columns: int = 1
    rows: int = 1


class PaperTable(Struct, frozen=True):
    """A table."""

    head: tuple[tuple[PaperCell, ...], ...]
    body: tuple[tuple[PaperCell, ...], ...]
    columns: int


class PaperFigure(Struct, frozen=True):
    """Content with a caption."""

    content: tuple[Block, ...]
    caption: tuple[Inline, ...]
    anchor: str = ""


class PaperGrid(Struct, frozen=True):
    """Blocks side by side."""

    columns: int
    content: tuple[Block, ...]


class PaperItems(Struct, frozen=True):
    """A list."""

    items: tuple[tuple[Block, ...], ...]
    first: int | None = None
    """Number of the first item; None if items have no numbers."""


class PaperReferences(Struct, frozen=True):
    """The list of cited works."""

    items: tuple[tuple[str, tuple[Block, ...]], ...]
    """Label and content of each entry. The label is that of citations, without brackets."""


class PaperTerms(Struct, frozen=True):
    """Terms with their definitions."""

    items: tuple[tuple[tuple[Inline, ...], tuple[Block, ...]], ...]


class PaperCallout(Struct, frozen=True):
    """A titled block, such as a theorem, a proof or a note."""

    kind: str
    title: tuple[Inline, ...]
    content: tuple[Block, ...]
    anchor: str = ""
    is_statement: bool = False
    """Whether the callout is printed as a statement of mathematics, without a box."""


class PaperQuote(Struct, frozen=True):
    """A quotation."""

    content: tuple[Block, ...]


class PaperRule(Struct, frozen=True):
    """A line between parts of a text."""


Block = (
    PaperParagraph
    | PaperHeading
    | PaperDisplay
    | PaperCode
    | PaperTable
    | PaperFigure
    | PaperGrid
    | PaperItems
    | PaperReferences
    | PaperTerms
    | PaperCallout
    | PaperQuote
    | PaperRule
)


class PaperChapter(Struct, frozen=True):
    """A page of the site."""

    title: tuple[Inline, ...]
    plain_title: str
    content: tuple[Block, ...]
    anchor: str
    lang: str
    subtitle: str = ""
    description: tuple[Inline, ...] = ()
    date: str = ""
    authors: tuple[tuple[str, str], ...] = ()
    """Name and ORCID iD of each author."""
    doi: str = ""
    url: str = ""
