"""Shared state of the rules: the options of the site, and the state of the page being parsed.

`ParseOptions` exists once for a site, `PageState` once for a page, under `env["page"]`. Rules use it to find
positions in the file: a block rule from an index into the source, an inline rule from its index in the
current inline text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from ..base.diagnostics.model import Place, Reporter, TextMap
from ..model.cells import PageExecution, ProvenanceStyle, Value
from ..model.documents import IncludedFile, Reference
from ..model.quotation import ENGLISH_MARKS, QuotationMarks, quotation_marks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType


class DisplayError(Protocol):
    """An error in the labels and tags of a row."""

    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...


class DisplayRow(Protocol):
    """A row of a display as returned by `split_rows` of `tex/analysis/numbering.py`."""

    @property
    def label(self) -> str | None: ...
    @property
    def label_offset(self) -> int: ...
    @property
    def label_length(self) -> int: ...
    @property
    def tag(self) -> str | None: ...
    @property
    def bare_tag(self) -> bool: ...
    @property
    def notag(self) -> bool: ...
    @property
    def content(self) -> str: ...
    @property
    def mistakes(self) -> tuple[DisplayError, ...]: ...


class DisplayStructure(Protocol):
    """The environment, rows and macros of a display."""

    @property
    def environment(self) -> str: ...
    @property
    def rows(self) -> tuple[DisplayRow, ...]: ...
    @property
    def macros(self) -> Mapping[str, Any]: ...


class KindRow(Struct, frozen=True):
    """A callout kind: the table row for `[!KIND]`."""

    name: str
    title: str
    numbered: bool = False
    icon: str = ""
    color: str = ""
    counter: str = ""
    """Name of the counter for its numbers; empty for its own."""


@dataclass(frozen=True)
class ParseOptions:
    """The site's options for parsing. Immutable: used for many pages and builds."""

    linear_math: Callable[[str], str]
    """Function that converts TeX to plain text. Passed in, because this folder must not import `tex/`."""
    split_rows: Callable[[str, Mapping[str, Any]], DisplayStructure]
    """Function that maps (TeX of a display, macros defined before it) to its environment and rows."""
    kinds: Mapping[str, KindRow] = field(default_factory=dict)
    """Callout kinds by each of their names (see `kinds.py`)."""
    reference_kinds: tuple[str, ...] = ()
    """Names of the numbered kinds, which labels of their callouts may start with."""
    untrusted: bool = False
    smart_quotes: bool = False
    lang: str = "en"
    """Language of pages that do not set one."""
    linkify: bool = True
    math_macros: Mapping[str, str] = field(default_factory=dict)
    """The site's macros, which labels and rows may use."""
    double_dollar: Literal["display", "kramdown"] = "display"
    """Whether `$$…$$` is always a display, or only in a paragraph of its own."""
    math_numbering: str = "labelled"
    """`all`, `labelled` or `none`; the first two may be followed by ` by section`."""
    statements_by_section: bool = False
    """Restart the counters of statements in each section."""
    numbering: bool = False
    slugs: Literal["words", "github"] = "words"
    """Method for deriving ids of headings."""
    inline_shortcodes: frozenset[str] = frozenset()
    """Shortcodes that are part of a paragraph."""
    block_shortcodes: frozenset[str] = frozenset()
    """Shortcodes that split a paragraph. A shortcode in neither set stays in its sentence."""
    diagram_languages: frozenset[str] = frozenset()
    """Languages of fences that are drawings."""
    block_classes: Mapping[str, str] = field(default_factory=dict)
    """Class of a block `<div>` → its shortcode (`hf-space` → `hf-space`)."""
    markdown_rules: tuple[Callable[[MarkdownIt], None], ...] = ()
    """Rules of plugins, added last."""
    prefixes: tuple[tuple[str, str], ...] = ()
    """(opening text of a paragraph, callout kind), longest first."""
    execution_mode: Literal["off", "marked", "all"] = "marked"
    """Mode that decides which fences are cells, if the page does not set it."""
    check_shapes: bool = False
    """Check shape comments, if neither page nor cell sets it."""
    provenance: ProvenanceStyle = "once"
    """Style of the provenance line after results, if neither page nor cell sets it."""
    check_syntax: bool = True
    """Whether this Python has the same grammar as the Python that runs the cells."""
    engine: Literal["worker", "jupyter"] = "worker"
    """Engine that runs cells, if the page does not set it."""
    kernel: str = ""
    bundled_plugins: tuple[str, ...] = ()
    """Bundled plugins that the site does not load."""
    has_bibliography: bool = False
    """Every page may cite entries of the site's bibliographies."""

    def plugin_hint(self, name: str) -> str:
        """Return a hint on the bundled plugin that provides a block or shortcode, or an empty string."""
        plugin = name.replace("-", "_")
        return f"write `plugins: [{plugin}]` in blogsmith.yaml" if plugin in self.bundled_plugins else ""


@dataclass
class PageState:
    """The page being parsed; rules add to it."""

    options: ParseOptions
    reporter: Reporter
    first_line: int
    """1-based line of the file where the parsed text starts."""
    line_starts: list[int]
    """Index of the first character of each line of the parsed text."""
    lines: list[str]
    """Lines of the parsed text."""
    quotation_marks: QuotationMarks = ENGLISH_MARKS
    """Quotation marks of the page's language."""
    current: TextMap | None = None
    """Text that the inline rules are parsing, with positions."""
    base: int = 0
    """Offset of the inline parser's text in `current`; an image's alternative text is parsed separately."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """Bibliography of the page by key."""
    has_bibliography: bool = False
    """There are also `.bib` files, whose keys are known only when the page is rendered."""
    uncited: list[tuple[str, Place | None]] = field(default_factory=list)
    r"""Keys in `nocite:` and `\nocite` with their positions: entries listed without being cited."""
    notes: dict[str, list[Token]] = field(default_factory=dict)
    """Footnote label → tokens of its text."""
    note_places: dict[str, Place] = field(default_factory=dict)
    spaced_notes: set[str] = field(default_factory=set)
    """Labels with spaces in lines that look like footnote definitions."""
    footnotes: dict[str, Any] = field(default_factory=dict)
    """Data of mdit-py-plugins' footnote rules: numbers by label, and counts of references."""
    added_cells: int = 0
    """Number of cells added so far to table rows that have too few."""
    url_characters: int = 0
    """Total length of the URLs of links and images so far, in characters."""
    is_parsed: bool = False
    """The body has been parsed; any text parsed from now on is an argument of a shortcode."""
    allows_links: bool = True
    """False while parsing text with too many unclosed brackets."""
    allows_html: bool = True
    """False while parsing text from an attribute, where HTML tags are plain text."""
    verbatim: str = ""
    """Raw HTML element such as `<code>` around the current inline text, where dollars are plain text."""
    literal_dollars: dict[str, set[int]] = field(default_factory=dict)
    """Inline text → positions of its dollars that open no formula, because a digit follows them (`US$6`)."""
    execution: PageExecution = field(default_factory=PageExecution)
    takes_blocks: bool = True
    """False while parsing a heading, title or caption, where display math becomes inline."""
    takes_values: bool = True
    """False while parsing a caption, label or alternative text, where `{= … =}` is not allowed."""
    takes_shortcodes: bool = True
    """False between `{% raw %}` and `{% endraw %}`."""
    raw_lines: list[range] = field(default_factory=list)
    """Line ranges between these tags, where they surround Markdown."""
    values: list[Value] = field(default_factory=list)
    """Values in reading order, once `number_values` has run."""
    open_value: TextMap | None = None
    """Last text that contains a `{= ` without an end."""
    included: Mapping[str, IncludedFile] = field(default_factory=dict)
    """Value of `file=` → included file."""
    tab_groups: int = 0
    """Number of blocks of tabs so far."""
    tabs_level: int = -1
    """Level of the tabs whose lines are being parsed; -1 where no tab is allowed."""
    open_elements: int = 0
    """Number of HTML elements for which no end tag was found."""
    language: str = "python"
    """Language of the cells, once `cells` has run."""

    @property
    def mode(self) -> str:
        """Mode that decides which fences are cells: `off`, `marked` or `all`. Untrusted code is never run."""
        return "off" if self.options.untrusted else self.execution.mode or self.options.execution_mode

    @property
    def engine(self) -> Literal["worker", "jupyter"]:
        """Engine that runs the page's cells."""
        return self.execution.engine or self.options.engine

    @property
    def kernel(self) -> str:
        """Name of the page's Jupyter kernel; empty for `python3`, or if the engine is not Jupyter."""
        named = self.options.kernel if self.execution.kernel is None else self.execution.kernel
        return named if self.engine == "jupyter" else ""

    @property
    def checks_syntax(self) -> bool:
        """Whether this Python can check the syntax of the page's cells."""
        return self.options.check_syntax and self.engine == "worker"

    def is_raw(self, line: int) -> bool:
        """Return whether a line (0-based) is between `{% raw %}` and `{% endraw %}`."""
        return bool(self.raw_lines) and any(line in lines for lines in self.raw_lines)

    def file_reporter(self, path: str) -> Reporter:
        """Return a reporter for an included file. Its diagnostics are added to those of the page."""
        text = next((found.text for found in self.included.values() if found.path == path), "")
        own = self.reporter
        return Reporter(path, text.split("\n"), own.diagnostics, own._seen)

    def line_place(self, index: int, length: int = 1) -> Place:
        """Return the position of the character at `index` of the parsed text."""
        line = max(0, bisect_right(self.line_starts, index) - 1)
        column = index - self.line_starts[line] + 1
        return Place(self.first_line + line, column, max(1, length))

    def text_map(self, text: str, first: int) -> TextMap:
        """Return `text` with positions. Its lines are the ends of the source lines from `first` (0-based).

        Lines of a paragraph lack only the start of their source lines, such as indentation and quote
        markers.
        """
        starts = []
        for number, piece in enumerate(text.split("\n"), start=first):
            whole = self.lines[number] if number < len(self.lines) else ""
            column = whole.rfind(piece.rstrip()) if piece.strip() else 0
            starts.append((self.first_line + number, max(0, column) + 1))
        return TextMap(text, tuple(starts))


def new_page(
    text: str,
    options: ParseOptions,
    reporter: Reporter,
    first_line: int = 1,
    references: Mapping[str, Reference] | None = None,
    execution: PageExecution | None = None,
    *,
    has_bibliography: bool = False,
) -> PageState:
    """Return the state for parsing `text`, which starts on line `first_line` of the reporter's file."""
    lines = text.split("\n")
    starts, index = [], 0
    for line in lines:
        starts.append(index)
        index += len(line) + 1
    return PageState(
        options,
        reporter,
        first_line,
        starts,
        lines,
        quotation_marks(options.lang),
        references=references or {},
        execution=execution or PageExecution(),
        has_bibliography=has_bibliography or options.has_bibliography,
    )


def get_page(env: EnvType) -> PageState:
    """Return the page state that the rules share."""
    page = env["page"]
    assert isinstance(page, PageState)
    return page


def inline_map(state: StateInline, start: int, end: int) -> TextMap:
    """Return `state.src[start:end]` with its positions in the file."""
    page = get_page(state.env)
    if page.current is None:
        return TextMap(state.src[start:end], ((page.first_line, 1),))
    return page.current.cut(page.base + start, page.base + end)


def inline_place(state: StateInline, start: int, end: int) -> Place:
    """Return the position of `state.src[start:end]`."""
    page = get_page(state.env)
    if page.current is None:
        return Place(page.first_line)
    return page.current.place(page.base + start, end - start)


def block_place(state: StateBlock, index: int, length: int = 1) -> Place:
    """Return the position of the character at `index` of a block rule's source."""
    return get_page(state.env).line_place(index, length)


def line_start(state: StateBlock, line: int) -> int:
    """Return the index of the first character of `line` after container markers and indentation."""
    return state.bMarks[line] + state.tShift[line]


def line_text(state: StateBlock, line: int) -> str:
    """Return the text of `line` without container markers and indentation."""
    return state.src[line_start(state, line) : state.eMarks[line]]


def block_end(state: StateBlock, line: int, end: int) -> int:
    """Return the next line that ends a paragraph or HTML block: an empty or less indented one."""
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    return line


def text_between(
    state: StateBlock, first: int, last: int, start: int, end: int, *, keeps_indent: bool = False
) -> TextMap:
    """Return the text from index `start` on line `first` to `end` on line `last`, without container markers.

    keeps_indent: Lines start where their container ends, not at their first character.
    """
    pieces, starts = [], []
    for line in range(first, last + 1):
        begin = start if line == first else min(line_start(state, line), state.eMarks[line])
        if keeps_indent and line != first:
            begin = min(begin, state.bMarks[line] + state.blkIndent)
        place = block_place(state, begin)
        pieces.append(state.src[begin : end if line == last else state.eMarks[line]])
        starts.append((place.line, place.column))
    return TextMap("\n".join(pieces), tuple(starts))
