"""Records that we attach to Markdown tokens: one frozen record per construct, stored in `token.meta`.

The key in `meta` is the record's name in lower case (`token.meta["callout"]`); `get_record` reads it with its
type. Rules create the records, `render/` reads them, and nothing changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from markdown_it.token import Token
from msgspec import Struct, field

from ..base.diagnostics.model import Place, TextMap

Record = TypeVar("Record")


def get_record(token: Token, kind: type[Record]) -> Record:
    """Return the record of class `kind` on `token`. Raise KeyError if there is none, which is a bug."""
    found = token.meta[kind.__name__.lower()]
    assert isinstance(found, kind)
    return found


def attach_record(token: Token, record: object) -> None:
    """Attach `record` to `token`."""
    token.meta[type(record).__name__.lower()] = record


class WrittenText(Struct, frozen=True):
    """The text of a heading as written, for the id that GitHub would derive from it."""

    text: str
    """Plain text with the author's hyphens, dots and quotes."""


class Math(Struct, frozen=True):
    """A formula, inline or display."""

    tex: str
    """The author's TeX without delimiters."""
    display: bool
    origin: TextMap
    """The TeX with its positions in the file."""
    label: str = ""
    """Normalised id (`eq-x`) from `{#eq:x}` after the formula; empty if there is none."""
    tail: str = ""
    """Punctuation directly after display math, printed on its line."""
    rows: tuple[RowMark, ...] = ()
    """Number and id of each row, set by `math/equations.py`; one entry for a plain display."""
    label_place: Place | None = None
    """Position of the label's text."""
    wide: str = ""
    """Value of `{wide=…}` after a display; empty if the page's setting applies."""
    is_phrasing: bool = False
    """Whether this is display math in raw HTML such as `<p>`, where blocks are not allowed."""


class RowMark(Struct, frozen=True):
    """Number and anchor of one row of a display."""

    number: str = ""
    r"""Text between the parentheses, or TeX text from a `\tag`; empty if the row has no number."""
    id: str = ""
    """Anchor of the row, from its label, or from its content if it has a number; may be empty."""
    bare: bool = False
    r"""Whether the number is printed without parentheses, as for `\tag*`."""


class Subequations(Struct, frozen=True):
    """Start of equations that share a number, distinguished by letters: (1a), (1b)."""

    label: str = ""
    """Normalised id of the shared number; empty if it has no label."""
    label_place: Place | None = None


class Callout(Struct, frozen=True):
    """A `[!KIND]` block."""

    kind: str
    """Canonical kind in lower case: `note`, `proof`, …"""
    title: str
    """Title that is printed if the author gave none."""
    fold: str = ""
    """`-` for closed, `+` for open, empty if not foldable."""
    id: str = ""
    """Anchor from `{#id}` on the marker line; may be empty."""
    number: str = ""
    """Number of a theorem, such as `1`; set by `numbering.py`."""
    has_title: bool = False
    """Whether the author gave a title. If so, its inline token follows the opening token."""
    icon: str = ""
    """Name of a theme icon; empty for the theme's default."""
    color: str = ""
    """Name of a theme colour; empty for the theme's default."""
    is_statement: bool = False
    """Whether it is a theorem or of another kind that can be numbered, so that the name of its kind is
    printed before the title."""
    style: str = ""
    """`theorem`, `definition` or `remark`, as in `KindRow`; may be empty."""
    exercise: str = ""
    """Id of the exercise that a solution belongs to; empty if there is no exercise, or if the exercise has no
    id."""
    exercise_place: Place | None = None
    """Position of the value of `for=` on the marker line; None without `for=`."""
    names_exercise: bool = False
    """Whether the title names the exercise, because the exercise may not be directly before the solution."""
    held_until: str = ""
    """Date on which the solution is published, for a note in a preview; otherwise empty."""


class Withheld(Struct, frozen=True):
    """Blocks that are numbered but left out of the page."""

    tokens: tuple[Token, ...]


class OptionSetting(Struct, frozen=True):
    """An option of a cell as written."""

    key: str
    value: object
    """Plain data, as from YAML."""
    place: Place
    """Position of the value in the file."""
    key_place: Place
    spelling: str
    """The author's spelling of a number or boolean; for a string, the string itself."""
    text: TextMap | None = None
    """The value with its positions if it is a string, otherwise None."""
    implied: bool = False
    """Whether the option comes from an entry of `tags`. An option that the author wrote overrides an implied
    one."""
    entries: tuple[Place, ...] = ()
    """Position of each entry, if the value is a list."""
    nested: Mapping[tuple[str | int, ...], Place] = field(default_factory=dict)
    """Path of keys and indices below the value → its position; empty unless the value is a mapping."""


class CodeMark(Struct, frozen=True):
    """A marker on a line of code that refers to a note after the code."""

    line: int
    """1-based line of the code shown."""
    number: int
    """Number in the marker, as the author wrote it."""
    has_note: bool = True
    """Whether the list after the code contains the note."""


class CodeNote(Struct, frozen=True):
    """The note of a marker; attached to the end of the list item, or of the item's last paragraph."""

    fence: int
    """1-based count of the page's fences with markers."""
    number: int


class Fence(Struct, frozen=True):
    """The parsed info string of a code fence, and the markers in its comments."""

    language: str = ""
    title: str = ""
    marked: frozenset[int] = frozenset()
    """1-based lines to highlight."""
    numbered: bool | None = None
    """Whether lines are numbered; None for the site's default."""
    wraps: bool | None = None
    """Whether long lines wrap on narrow screens; None for the site's default."""
    first_line: int = 1
    fold: str = ""
    """Label of the fold; empty if the code is not folded."""
    id: str = ""
    classes: tuple[str, ...] = ()
    place: Place | None = None
    """Position of the language in the info string."""
    form: Literal["", "braces", "code-cell"] = ""
    """Another generator's form of a cell: `{python}` or `{code-cell}`; empty if it is neither."""
    has_eval: bool = False
    """Whether the info string contains `eval`."""
    settings: tuple[OptionSetting, ...] = ()
    """Cell options in the info string."""
    added: frozenset[int] = frozenset()
    """1-based lines of the code shown that are marked as added."""
    removed: frozenset[int] = frozenset()
    """1-based lines of the code shown that are removed; they are not copied or run."""
    is_diff: bool = False
    """Whether the fence is a `diff` of another language: the first character of a line marks it as added or
    removed."""
    caption: TextMap | None = None
    """Caption of a listing or diagram, without the number."""
    alt: str = ""
    """Alternative text of a diagram."""
    listing: str = ""
    """Id of the listing, `lst-…`. For a fence that does not run, `numbering.py` copies it from `id`."""
    listing_place: Place | None = None
    """Position of that id, if it is a cell option."""
    number: str = ""
    """Number of the listing, or of a drawing with an id `fig-…`; set by `numbering.py`."""
    number_in_page: int = 0
    """1-based count of the page's fences with markers; 0 if this fence has none."""
    marks: tuple[CodeMark, ...] = ()
    """Markers in the comments, in the order of lines."""
    include: SourceRange | None = None
    """File of the site that the code comes from; None if the code is in the page."""
    parts: Mapping[str, OptionSetting] = field(default_factory=dict)
    """Settings `file`, `region` and `lines` of the info string, as written."""


class SourceRange(Struct, frozen=True):
    """Lines of a file of the site that a fence shows."""

    path: str
    """Path relative to the site root."""
    first_line: int
    """1-based line of the file."""
    indent: int = 0
    """Number of spaces removed from the start of every line."""
    head: int = 0
    """Number of option lines before the code in the fence."""


class CallError(Struct, frozen=True):
    """An error in the arguments of a shortcode call. It is reported only if a shortcode of that name
    exists."""

    message: str
    place: Place
    hint: str = ""


class Shortcode(Struct, frozen=True):
    """A `{% name … %}` call, or an equivalent block `<div>`."""

    name: str
    args: Mapping[str, str]
    """Named arguments as written, without quotes."""
    place: Place
    """Position of the call's first character."""
    arg_maps: Mapping[str, TextMap] = field(default_factory=dict)
    """Argument → its value with positions."""
    id: str = ""
    """Anchor from `id=` or a following `{#fig-x}`; may be empty."""
    number: str = ""
    """Figure number; set by `numbering.py`."""
    key_places: Mapping[str, Place] = field(default_factory=dict)
    """Argument → position of its name."""
    source: str = ""
    """The call as written; empty for a `<div>`."""
    mistakes: tuple[CallError, ...] = ()
    is_readable: bool = True
    """Whether the arguments could be parsed. If not, the call prints nothing."""


class Collapsible(Struct, frozen=True):
    """A `<div class="collapsible">`. An inline token with its label follows the opening token."""

    open: bool = False


class Tab(Struct, frozen=True):
    """A tab. An inline token with its label follows the opening token."""

    group: int
    """1-based count of the page's blocks of tabs."""
    number: int
    """1-based number of the tab in its block."""
    is_selected: bool
    """Whether the tab is shown first."""


class Figure(Struct, frozen=True):
    """An image alone in its paragraph, or a gallery."""

    id: str = ""
    number: str = ""
    """Figure number; empty if the id is not that of a figure. Set by `numbering.py`."""
    caption: bool = False
    """Whether a caption follows as an inline token."""


class TableRecord(Struct, frozen=True):
    """Data of a table, except its cells."""

    ordinal: int
    """1-based count of the page's tables, for the accessible name of its scroll region."""
    id: str = ""
    number: str = ""
    """Number, if the table has an id; set by `numbering.py`."""
    caption: bool = False
    """Whether an inline token with the caption follows `table_open`."""


class NoteRef(Struct, frozen=True):
    """A footnote reference in the text."""

    number: int
    """1-based number of the note, by first use."""
    use: int
    """1-based count of the references to this note, up to and including this one."""
    place: Place | None = None
    written: str = ""
    """The source, `[^1]`, for messages."""


class NoteItem(Struct, frozen=True):
    """A footnote at the end of the page."""

    number: int
    uses: int
    """Number of references to this note. Each of them gets a back link."""


class CitationItem(Struct, frozen=True):
    """One key of a citation."""

    key: str
    locator: str = ""
    """Text after the number, such as `p. 3`."""
    place: Place | None = None
    prefix: str = ""
    """Text before the number, such as `see`."""
    hides_author: bool = False
    """Whether the key is written `-@key`, because the sentence already names the authors."""


class Citation(Struct, frozen=True):
    r"""A `[@a; @b]`, `@a` or `\citet{a}` in the text."""

    items: tuple[CitationItem, ...]
    form: Literal["brackets", "text"] = "brackets"
    """`text` if the authors are part of the sentence, as in `@a`; `brackets` for `[@a]`."""
    uses: tuple[int, ...] = ()
    """For each key, the 1-based count of its citations up to this one; used for back links. Empty in
    shortcode arguments, which get no back links."""
    written: str = ""
    """Source of an `@word` that may not be a citation. It is printed if no bibliography has the key; empty
    otherwise."""


class CitationEntry(Struct, frozen=True):
    """One entry of the page's bibliography."""

    key: str
    uses: int
    """Number of citations of this entry; 0 if it is uncited."""


class XRef(Struct, frozen=True):
    """A reference to a label."""

    target: str
    """Normalised id of the label: `eq-x`, `thm-y`."""
    page: str
    """Slug of another post; empty for this page."""
    form: str
    """`full` prints "Equation (1)"; `number` prints "(1)" for equations and "1" for other kinds."""
    place: Place
    written: str
    """The author's text, for messages."""
    is_linked: bool = True
    """Whether to print a link; false in the title of a fold, where only the text is printed."""


class Heading(Struct, frozen=True):
    """A heading of the page."""

    level: int
    id: str
    text: str
    """Text of the heading as plain text."""
    number: str = ""
    """Number such as `1.2`, if headings are numbered."""
    old_id: str = ""
    """Id without combining marks, for links that still contain it; empty if the site never used it."""


class NumberedLine(Struct, frozen=True):
    """A line of an algorithm with a label."""

    id: str
    number: int


class WikiLink(Struct, frozen=True):
    """A name in double brackets: a key, or a page."""

    target: str
    """The name as written: `page`, `page#heading` or `#heading`."""
    text: str
    """Text after `|`; empty if there is none."""
    written: str
    """The source, including brackets."""
    place: Place


class LinkTargetPlace(Struct, frozen=True):
    """Position of a link or an image, and its target as written."""

    target: str
    place: Place


class DarkVariant(Struct, frozen=True):
    """Image that replaces this one on dark pages; attached to the light image."""

    at: LinkTargetPlace
