"""Shared state of the rules: the options of the site, and the state of the page being parsed.

`ParseOptions` exists once for a site, `PageState` once for a page, under `env["page"]`. Rules use it to find
positions in the file: a block rule from an index into the source, an inline rule from its index in the
current inline text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from ..base.diagnostics.model import Place, Reporter, TextMap
from ..model.cells import PageExecution, ProvenanceStyle, Value
from ..model.courses import Numbering, SeriesRules, Solutions
from ..model.documents import IncludedFile, Reference
from ..model.quotation import ENGLISH_MARKS, QuotationMarks, quotation_marks
from ..model.tex_macros import Macro

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


class LineOrigin(Protocol):
    """Origin of a line that is a translation from LaTeX."""

    @property
    def line(self) -> int: ...
    @property
    def anchors(self) -> Sequence[tuple[int, int]]: ...
    def source_column(self, column: int) -> int: ...


class KindRow(Struct, frozen=True):
    """A callout kind: the table row for `[!KIND]`."""

    name: str
    title: str
    numbered: bool = False
    icon: str = ""
    color: str = ""
    counter: str = ""
    """Name of the counter for the numbers of this kind; empty if the kind has a counter of its own."""
    style: str = ""
    """`theorem`, `definition` or `remark`: printed like this kind of statement in a journal. Empty for a box,
    and for kinds that the theme's stylesheet selects by name."""


@dataclass(frozen=True)
class ParseOptions:
    """The site's options for parsing. Immutable, because many pages and builds share them."""

    linear_math: Callable[[str], str]
    """Function that converts TeX to plain text. Passed as a parameter, because this folder must not import
    `tex/`."""
    split_rows: Callable[[str, Mapping[str, Any]], DisplayStructure]
    """Function that maps (TeX of a display, macros defined before it) to its environment and rows."""
    kinds: Mapping[str, KindRow] = field(default_factory=dict)
    """Callout kinds by each of their names (see `kinds.py`)."""
    reference_kinds: tuple[str, ...] = ()
    """Names of the numbered kinds; a label may start with one of them."""
    untrusted: bool = False
    smart_quotes: bool = False
    line_breaks: bool = False
    """Whether pages show the line breaks of paragraphs."""
    lang: str = "en"
    """Language of pages that do not set their own."""
    linkify: bool = True
    latex: bool = False
    """Whether LaTeX in text is read; a page can override this."""
    math_macros: Mapping[str, str | Macro] = field(default_factory=dict)
    """The site's macros, which labels and rows may use."""
    preamble: tuple[str, ...] = ()
    """LaTeX files of the site whose macros formulas and drawings use, relative to the site root."""
    double_dollar: Literal["display", "kramdown"] = "display"
    """Whether `$$…$$` is always a display, or only in a paragraph of its own."""
    math_numbering: str = "labelled"
    """`all`, `labelled` or `none`; the first two may be followed by ` by section`."""
    statements_by_section: bool = False
    """Whether the counters of theorems and similar statements restart in each section."""
    numbering: Numbering = False
    """Default for pages: whether headings are numbered, or `by part`."""
    series: Mapping[str, SeriesRules] = field(default_factory=dict)
    """Defaults for the posts of a series, by its name."""
    solutions: Solutions = field(default_factory=Solutions)
    """Default for pages: place and date of solutions."""
    slugs: Literal["words", "github"] = "words"
    """Algorithm for the ids of headings."""
    marks: Literal["drop", "keep", "switch"] = "drop"
    """Combining marks in ids of headings: removed, kept, or `switch`, which keeps them and also adds the old
    id."""
    inline_shortcodes: frozenset[str] = frozenset()
    """Shortcodes that are printed inside a paragraph."""
    block_shortcodes: frozenset[str] = frozenset()
    """Shortcodes that split a paragraph. A shortcode in neither set stays in its sentence."""
    diagram_languages: frozenset[str] = frozenset()
    """Languages of fences that are drawn as diagrams."""
    block_classes: Mapping[str, str] = field(default_factory=dict)
    """Class of a block `<div>` → its shortcode (`hf-space` → `hf-space`)."""
    markdown_rules: tuple[Callable[[MarkdownIt], None], ...] = ()
    """Rules of plugins, added last."""
    prefixes: tuple[tuple[str, str], ...] = ()
    """Pairs (start of a paragraph, callout kind), longest start first."""
    execution_mode: Literal["off", "marked", "all"] = "marked"
    """Default for pages: which fences are cells."""
    check_shapes: bool = False
    """Default for pages and cells: whether to check shape comments."""
    provenance: ProvenanceStyle = "once"
    """Default for pages and cells: style of the provenance line after results."""
    check_syntax: bool = True
    """Whether this Python has the same grammar as the Python that runs the cells."""
    engine: Literal["worker", "jupyter"] = "worker"
    """Default for pages: engine that runs cells."""
    kernel: str = ""
    bundled_plugins: tuple[str, ...] = ()
    """Names of bundled plugins that the site does not load, for hints."""
    has_bibliography: bool = False
    """Whether the site has bibliographies, which every page may cite."""

    def plugin_hint(self, name: str) -> str:
        """Return a hint to load the bundled plugin that provides a block or shortcode; empty if there is
        none."""
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
    is_latex: bool = False
    """Whether LaTeX in text is read."""
    origins: Sequence[LineOrigin] = ()
    """Origin of each line of the parsed text, if the text is a translation of the file. Empty after block
    parsing: then tokens, `lines` and `line_starts` refer to the file."""
    current: TextMap | None = None
    """Text that the inline rules are parsing, with positions."""
    base: int = 0
    """Offset in `current` of the inline parser's text; not 0 for an image's alternative text, which is parsed
    separately."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """Bibliography of the page by key."""
    has_bibliography: bool = False
    """Whether there are also `.bib` files, whose keys are known only when the page is rendered."""
    uncited: list[tuple[str, Place | None]] = field(default_factory=list)
    r"""Keys in `nocite:` and `\nocite` with their positions; their entries are listed without a citation."""
    notes: dict[str, list[Token]] = field(default_factory=dict)
    """Footnote label → tokens of its text."""
    note_places: dict[str, Place] = field(default_factory=dict)
    spaced_notes: set[str] = field(default_factory=set)
    """Labels with spaces in lines that look like footnote definitions."""
    footnotes: dict[str, Any] = field(default_factory=dict)
    """Data of mdit-py-plugins' footnote rules: numbers by label, and number of references."""
    added_cells: int = 0
    """Number of empty cells added so far to table rows that have too few."""
    url_characters: int = 0
    """Total length of the URLs of links and images so far, in characters."""
    is_parsed: bool = False
    """Whether the body has been parsed. Text parsed later is an argument of a shortcode."""
    allows_links: bool = True
    """Whether links are parsed. False in text with too many unclosed brackets."""
    allows_html: bool = True
    """Whether HTML tags are parsed. False in text from an attribute, where tags are plain text."""
    verbatim: str = ""
    """Name of the raw HTML element, such as `code`, that contains the current inline text. Dollars there are
    plain text."""
    literal_dollars: dict[str, set[int]] = field(default_factory=dict)
    """Inline text → indices of dollars that open no formula, because a digit follows the closing one
    (`US$6`)."""
    execution: PageExecution = field(default_factory=PageExecution)
    takes_blocks: bool = True
    """Whether blocks are allowed. False in a heading, title or caption, where display math becomes inline."""
    takes_values: bool = True
    """Whether `{= … =}` is allowed. False in a caption, label or alternative text."""
    takes_shortcodes: bool = True
    """Whether shortcodes are parsed. False between `{% raw %}` and `{% endraw %}`."""
    raw_lines: list[range] = field(default_factory=list)
    """Ranges of lines between `{% raw %}` and `{% endraw %}` that are parsed as Markdown."""
    values: list[Value] = field(default_factory=list)
    """Values (`{= … =}`) in reading order; complete after the rule `number_values`."""
    open_value: TextMap | None = None
    """Last text for which a `{= ` without an end was reported."""
    included: Mapping[str, IncludedFile] = field(default_factory=dict)
    """Path in `file=` → included file."""
    tab_groups: int = 0
    """Number of blocks of tabs so far."""
    tabs_level: int = -1
    """Level of the tabs whose lines are being parsed; -1 where no tab is allowed."""
    open_elements: int = 0
    """Number of HTML elements without an end tag found so far."""
    solutions: Solutions = field(default_factory=Solutions)
    """Place and date of solutions."""
    solution_state: Literal["", "withheld", "early"] = ""
    """State of solutions with a date, as in `Document.solutions`."""
    chapter: str = ""
    """Number of the page's part of the series, which all numbers of the page start with; empty if the page
    does not number by part."""
    series: str = ""
    """Name of the series that `chapter` belongs to; empty if the page does not number by part."""
    language: str = "python"
    """Language of the cells; set by the rule `cells`."""

    @property
    def mode(self) -> str:
        """Fences that are cells: `off`, `marked` or `all`. Always `off` for untrusted markup."""
        return "off" if self.options.untrusted else self.execution.mode or self.options.execution_mode

    @property
    def engine(self) -> Literal["worker", "jupyter"]:
        """Engine that runs the page's cells."""
        return self.execution.engine or self.options.engine

    @property
    def kernel(self) -> str:
        """Name of the page's Jupyter kernel; empty if the engine is not Jupyter or no kernel is named."""
        named = self.options.kernel if self.execution.kernel is None else self.execution.kernel
        return named if self.engine == "jupyter" else ""

    @property
    def checks_syntax(self) -> bool:
        """Whether this Python can check the syntax of the page's cells."""
        return self.options.check_syntax and self.engine == "worker"

    def is_raw(self, line: int) -> bool:
        """Return whether a line (0-based) is between `{% raw %}` and `{% endraw %}`."""
        return bool(self.raw_lines) and any(line in lines for lines in self.raw_lines)

    def set_lines(self, lines: Sequence[str]) -> None:
        """Set the lines in which positions are searched."""
        self.lines, self.line_starts = list(lines), _line_starts(lines)

    def file_reporter(self, path: str) -> Reporter:
        """Return a reporter for an included file. Its diagnostics are added to those of the page."""
        text = next((found.text for found in self.included.values() if found.path == path), "")
        own = self.reporter
        return Reporter(path, text.split("\n"), own.diagnostics, own._seen)

    def line_place(self, index: int, length: int = 1) -> Place:
        """Return the position of the character at `index` of the parsed text."""
        line = max(0, bisect_right(self.line_starts, index) - 1)
        column = index - self.line_starts[line]
        if line < len(self.origins):
            origin = self.origins[line]
            end = origin.source_column(column + length)
            line, column = origin.line, origin.source_column(column)
            length = end - column
        return Place(self.first_line + line, column + 1, max(1, length))

    def text_map(self, text: str, first: int) -> TextMap:
        """Return `text` with its positions in the file.

        The lines of `text` come from consecutive source lines, from line `first` (0-based). Each is the end
        of its source line, because only the start, such as indentation and quote markers, was removed.
        """
        starts, gaps, offset = [], list[tuple[int, int]](), 0
        for number, piece in enumerate(text.split("\n"), start=first):
            whole = self.lines[number] if number < len(self.lines) else ""
            column = max(0, whole.rfind(piece.rstrip()) if piece.strip() else 0)
            line = number
            if number < len(self.origins):
                origin = self.origins[number]
                gaps += _find_gaps(origin, column, offset)
                line, column = origin.line, origin.source_column(column)
            starts.append((self.first_line + line, column + 1))
            offset += len(piece) + 1
        return TextMap(text, tuple(starts), tuple(gaps))


def _line_starts(lines: Sequence[str]) -> list[int]:
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))


def _find_gaps(origin: LineOrigin, column: int, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the gaps of a `TextMap` for a translated line. column: index in the translated line where its
    text starts. offset: index in the map where this text starts."""
    before = origin.source_column(column) - column
    for at, there in origin.anchors:
        if at > column and there - at != before:
            yield offset + at - column, there - at - before
            before = there - at


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
    return PageState(
        options,
        reporter,
        first_line,
        _line_starts(lines),
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
    keeps_indent: whether later lines keep the indentation that is not part of the container."""
    pieces, starts = [], []
    for line in range(first, last + 1):
        begin = start if line == first else min(line_start(state, line), state.eMarks[line])
        if keeps_indent and line != first:
            begin = min(begin, state.bMarks[line] + state.blkIndent)
        place = block_place(state, begin)
        pieces.append(state.src[begin : end if line == last else state.eMarks[line]])
        starts.append((place.line, place.column))
    return TextMap("\n".join(pieces), tuple(starts))
