"""Our data on Markdown tokens: one frozen record per construct, kept under `token.meta`.

The key in `meta` is the record's name in lower case (`token.meta["callout"]`); `record_of` reads
it typed. Rules make the records, `render/` reads them, nobody changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from markdown_it.token import Token
from msgspec import Struct, field

from ..base.diagnostics.model import Place, TextMap

Record = TypeVar("Record")


def record_of(token: Token, kind: type[Record]) -> Record:
    """The record of class `kind` on `token`; KeyError if the token has none (a bug)."""
    found = token.meta[kind.__name__.lower()]
    assert isinstance(found, kind)
    return found


def attach_record(token: Token, record: object) -> None:
    """Hang `record` on `token`."""
    token.meta[type(record).__name__.lower()] = record


class WrittenText(Struct, frozen=True):
    """Of a heading whose id GitHub would make."""

    text: str
    """Plain, with the author's hyphens, dots and quotes."""


class Math(Struct, frozen=True):
    """A formula, inline or display."""

    tex: str
    """The author's TeX without delimiters."""
    display: bool
    origin: TextMap
    """Where `tex` stands in the file."""
    label: str = ""
    """Id asked for by `{#eq:x}` after the block, normalised (`eq-x`); empty if none."""
    tail: str = ""
    """Punctuation that follows a display directly; set in its line."""
    rows: tuple[RowMark, ...] = ()
    """Number and id of each row, filled by `labels.py`; one entry for a plain display."""
    label_place: Place | None = None
    """Of the label's text."""
    is_phrasing: bool = False
    """A display in raw HTML such as `<p>`, where no block may stand."""


class RowMark(Struct, frozen=True):
    """What a row of a display prints at its right edge."""

    number: str = ""
    """What stands between the parentheses, TeX text if a `\\tag` says it; empty: the row has no number."""
    id: str = ""
    """Anchor of the row: from its label, or from its content if it has a number; may be empty."""
    bare: bool = False
    """Printed without the parentheses: `\\tag*`."""


class Subequations(Struct, frozen=True):
    """Equations that share a number, told apart by letters: (1a), (1b)."""

    label: str = ""
    """Id of the number they share, normalised; empty if it has no label."""
    label_place: Place | None = None


class Callout(Struct, frozen=True):
    """A `[!KIND]` block."""

    kind: str
    """Canonical kind, lower case: `note`, `proof`, …"""
    title: str
    """Default title, printed when the author gave none."""
    fold: str = ""
    """`-` closed, `+` open, empty: not foldable."""
    id: str = ""
    """Anchor, when the marker line carries `{#id}`."""
    number: str = ""
    """`1` for a numbered theorem; filled by `labels.py`."""
    titled: bool = False
    """True when the author gave a title: an inline token for it follows the opening token."""
    icon: str = ""
    """Name of a theme icon; empty: the theme's choice."""
    color: str = ""
    """Name of a theme colour; empty: the theme's choice."""


class OptionSetting(Struct, frozen=True):
    """An option of a cell as it is written."""

    key: str
    value: object
    """Plain data, as from YAML."""
    place: Place
    """Of the value."""
    key_place: Place
    spelling: str
    """The author's text of a number or boolean; the text itself of a text."""
    text: TextMap | None = None
    """Where the value stands if it is a text."""
    implied: bool = False
    """Said by a tag; the option itself overrides it."""
    entries: tuple[Place, ...] = ()
    """Of each entry, if the value is a list."""
    nested: Mapping[tuple[str | int, ...], Place] = field(default_factory=dict)
    """Path below the value → where it stands, if the value is a mapping."""


class CodeMark(Struct, frozen=True):
    """A mark of a line of code that leads to a note below it."""

    line: int
    """1-based, of what is shown."""
    number: int
    """As it is written."""
    has_note: bool = True
    """The list below has its note."""


class CodeNote(Struct, frozen=True):
    """On the end of an item of the list below a fence, or of its last paragraph: the note of a mark."""

    fence: int
    """1-based count of the fences of the page that have marks."""
    number: int


class Fence(Struct, frozen=True):
    """What the info string of a code fence says, and marks in the comments of its code."""

    language: str = ""
    title: str = ""
    marked: frozenset[int] = frozenset()
    """1-based lines to mark."""
    numbered: bool | None = None
    """None: as the site says."""
    first_line: int = 1
    fold: str = ""
    """Label of the fold, empty if the code is not folded."""
    id: str = ""
    classes: tuple[str, ...] = ()
    place: Place | None = None
    """Of the language in the info string."""
    form: Literal["", "braces", "code-cell"] = ""
    """`{python}` or `{code-cell}`: another generator's form of a cell."""
    is_marked: bool = False
    """`eval` stands in the info string."""
    settings: tuple[OptionSetting, ...] = ()
    """Options of a cell in the info string."""
    added: frozenset[int] = frozenset()
    """1-based lines that are new in what is shown; likewise the next."""
    removed: frozenset[int] = frozenset()
    """They are no part of the code that is copied or run."""
    is_diff: bool = False
    """`diff` and another language: signs in front of its lines say which are new, which are gone."""
    caption: TextMap | None = None
    """Below the number of a listing or of a diagram."""
    alt: str = ""
    """Of a diagram: what it shows, for those who do not see it."""
    listing: str = ""
    """Id of the listing, `lst-…`; for a fence that does not run `numbering.py` takes it from `id`."""
    listing_place: Place | None = None
    """Where that id is written, if it is an option of a cell."""
    number: str = ""
    """Of the listing, or of a drawing with an id `fig-…`; filled by `numbering.py`."""
    number_in_page: int = 0
    """1-based count of the fences of the page that have marks; 0: it has none."""
    marks: tuple[CodeMark, ...] = ()
    """In the order of the lines."""
    include: SourceRange | None = None
    """Where its code comes from, if not from the page."""
    parts: Mapping[str, OptionSetting] = field(default_factory=dict)
    """`file`, `region` and `lines` of the info string, as they are written."""


class SourceRange(Struct, frozen=True):
    """Lines of a file of the site that a fence shows."""

    path: str
    """Relative to the site root."""
    first_line: int
    """1-based line of the file."""
    indent: int = 0
    """Blanks in front of all its lines, which are left out."""
    head: int = 0
    """Lines of options in front of it in the fence."""


class CallMistake(Struct, frozen=True):
    """What is wrong with the arguments of a call; told where it is known that there is such a shortcode."""

    message: str
    place: Place
    hint: str = ""


class Shortcode(Struct, frozen=True):
    """A `{% name … %}` call, or a block `<div>` that means one."""

    name: str
    args: Mapping[str, str]
    """Named arguments as written, quotes removed."""
    place: Place
    """Of the call's first character."""
    arg_maps: Mapping[str, TextMap] = field(default_factory=dict)
    """Where each argument's value stands."""
    id: str = ""
    """Anchor, when the call has `id=` or is followed by `{#fig-x}`."""
    number: str = ""
    """Figure number; filled by `numbering.py`."""
    key_places: Mapping[str, Place] = field(default_factory=dict)
    """Where each argument's name stands."""
    source: str = ""
    """The call as it is written; empty for a `<div>`."""
    mistakes: tuple[CallMistake, ...] = ()
    is_readable: bool = True
    """Whether it is known what its arguments are."""


class Collapsible(Struct, frozen=True):
    """A `<div class="collapsible">`; an inline token with its label follows the opening token."""

    open: bool = False


class Tab(Struct, frozen=True):
    """A part of tabs; an inline token with its label follows the opening token."""

    group: int
    """1-based count of the blocks of tabs of the page."""
    number: int
    """1-based in its block."""
    is_chosen: bool
    """It is the one that is shown first."""


class Figure(Struct, frozen=True):
    """An image alone in its paragraph, or a gallery."""

    id: str = ""
    number: str = ""
    """Filled by `numbering.py` if the id is that of a figure."""
    caption: bool = False
    """True when a caption follows as an inline token."""


class TableRecord(Struct, frozen=True):
    """What belongs to a table beyond its cells."""

    ordinal: int
    """1-based count of tables in the page, for the scroll region's name."""
    id: str = ""
    number: str = ""
    """Filled by `labels.py` when the table carries an id."""
    caption: bool = False
    """True when an inline token with the caption follows `table_open`."""


class NoteRef(Struct, frozen=True):
    """A footnote mark in the text."""

    number: int
    """1-based, by first use."""
    use: int
    """1-based count of the marks that point to this note."""


class NoteItem(Struct, frozen=True):
    """One footnote at the end of the page."""

    number: int
    uses: int
    """How many marks point here; one back link each."""


class Cited(Struct, frozen=True):
    """One key of a citation."""

    key: str
    locator: str = ""
    """`p. 3`, printed after the number."""
    place: Place | None = None
    prefix: str = ""
    """`see`, printed before it."""
    hides_author: bool = False
    """`-@key`: the sentence has named the authors."""


class Citation(Struct, frozen=True):
    """A `[@a; @b]`, `@a` or `\\citet{a}` in the text."""

    items: tuple[Cited, ...]
    form: Literal["brackets", "text"] = "brackets"
    """`text`: the authors are part of the sentence."""
    uses: tuple[int, ...] = ()
    """1-based count of the uses of each item's key up to here, for back links; empty in the argument of
    a shortcode, which no back link leads to."""
    written: str = ""
    """Of a `@word` that may be none: what stands there, and is printed if no bibliography has the key."""


class CitationEntry(Struct, frozen=True):
    """One line of the page's bibliography."""

    key: str
    uses: int
    """How many citations point here; 0 for an uncited entry."""


class XRef(Struct, frozen=True):
    """A reference to a label."""

    target: str
    """Normalised id: `eq-x`, `thm-y`."""
    page: str
    """Slug of another post, or empty for this page."""
    form: str
    """`full` prints "Equation (1)", `number` prints "(1)" for equations and "1" for others."""
    place: Place
    written: str
    """The author's text, for messages."""
    is_linked: bool = True
    """Else only its words are printed: it stands in what opens a fold."""


class Heading(Struct, frozen=True):
    """A heading of the page."""

    level: int
    id: str
    text: str
    """Plain text."""
    number: str = ""
    """`1.2` when headings are numbered."""


class WikiLink(Struct, frozen=True):
    """What stands in double brackets: a key, or the name of a page."""

    target: str
    """`page`, `page#heading` or `#heading`."""
    text: str
    """Behind a bar; empty if there is none."""
    written: str
    """With its brackets."""
    place: Place


class LinkAt(Struct, frozen=True):
    """Where a link or an image stands, and what it points to as written."""

    target: str
    place: Place


class DarkTwin(Struct, frozen=True):
    """Of an image that has another one for dark pages: that one."""

    at: LinkAt
