"""What the rules share: the options of the site, and the state of the page being parsed.

`ParseOptions` lives as long as the site; `PageState` as long as one page, under `env["page"]`.
Rules find places through it: a block rule from an index into the source, an inline rule from its
position in the current inline text.
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


class DisplayMistake(Protocol):
    """What is wrong with the labels and tags of a row."""

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
    """A row of a display as `tex.numbering.split_rows` gives it."""

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
    def mistakes(self) -> tuple[DisplayMistake, ...]: ...


class DisplayStructure(Protocol):
    """What a display is made of."""

    @property
    def environment(self) -> str: ...
    @property
    def rows(self) -> tuple[DisplayRow, ...]: ...
    @property
    def macros(self) -> Mapping[str, Any]: ...


class KindRow(Struct, frozen=True):
    """One callout kind: the table row behind `[!KIND]`."""

    name: str
    title: str
    numbered: bool = False
    icon: str = ""
    color: str = ""
    counter: str = ""
    """Name of the count that its number is from; empty: its own."""


@dataclass(frozen=True)
class ParseOptions:
    """The site's say in how Markdown is read. Immutable: lives across pages and builds."""

    linear_math: Callable[[str], str]
    """TeX → plain text; handed in, since `tex/` stands beside this folder."""
    split_rows: Callable[[str, Mapping[str, Any]], DisplayStructure]
    """(TeX of a display, macros known before it) → its environment and rows."""
    kinds: Mapping[str, KindRow] = field(default_factory=dict)
    """Callout kinds by every name they go by (see `kinds.py`)."""
    reference_kinds: tuple[str, ...] = ()
    """Names of the numbered kinds, by which labels of their callouts may begin."""
    untrusted: bool = False
    smart_quotes: bool = False
    lang: str = "en"
    """Of pages that name none."""
    linkify: bool = True
    math_macros: Mapping[str, str] = field(default_factory=dict)
    """The site's macros, for those that make a label or a row."""
    double_dollar: Literal["display", "kramdown"] = "display"
    """What `$$…$$` means: always a display, or only where it has a paragraph to itself."""
    math_numbering: str = "labelled"
    """`all`, `labelled` or `none`, the first two also with ` by section`."""
    statements_by_section: bool = False
    """Statements are counted anew in each section."""
    numbering: bool = False
    slugs: Literal["words", "github"] = "words"
    """How ids of headings are made."""
    inline_shortcodes: frozenset[str] = frozenset()
    """Shortcodes that stand inside a paragraph."""
    block_shortcodes: frozenset[str] = frozenset()
    """Those that take a paragraph apart; what is neither keeps its place in a sentence."""
    diagram_languages: frozenset[str] = frozenset()
    """Languages of fences that are drawings."""
    block_classes: Mapping[str, str] = field(default_factory=dict)
    """Class of a block `<div>` → the shortcode it means (`hf-space` → `hf-space`)."""
    markdown_rules: tuple[Callable[[MarkdownIt], None], ...] = ()
    """Rules of plugins, added last."""
    prefixes: tuple[tuple[str, str], ...] = ()
    """(opening text of a paragraph, callout kind), longest first."""
    execution_mode: Literal["off", "marked", "all"] = "marked"
    """Which fences are cells, where a page does not say."""
    check_shapes: bool = False
    """Check shape comments, where neither page nor cell say."""
    provenance: ProvenanceStyle = "once"
    """What stands below results, likewise."""
    check_syntax: bool = True
    """Cells run in the Python that reads them here, so its grammar is theirs."""
    engine: Literal["worker", "jupyter"] = "worker"
    """What runs cells, where a page does not say; likewise the next."""
    kernel: str = ""
    bundled_plugins: tuple[str, ...] = ()
    """Those that the site does not load."""
    has_bibliography: bool = False
    """Every page may cite what the site's bibliographies hold."""

    def plugin_hint(self, name: str) -> str:
        """What to write to get a block or shortcode that a bundled plugin brings; empty if none does."""
        plugin = name.replace("-", "_")
        return f"write plugins: [{plugin}] in blogsmith.yaml" if plugin in self.bundled_plugins else ""


@dataclass
class PageState:
    """The page being parsed; rules add to it."""

    options: ParseOptions
    reporter: Reporter
    first_line: int
    """1-based line of the file on which the parsed text starts."""
    line_starts: list[int]
    """Index of the first character of each line of the parsed text."""
    lines: list[str]
    """Lines of the parsed text."""
    quotation_marks: QuotationMarks = ENGLISH_MARKS
    """Of the page's language."""
    current: TextMap | None = None
    """Text being parsed by the inline rules."""
    base: int = 0
    """Offset of the inline parser's text in `current` (an image's alt text is a text of its own)."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """Bibliography of the page by key."""
    has_bibliography: bool = False
    """There are `.bib` files besides, whose keys are known when the page is rendered."""
    uncited: list[tuple[str, Place | None]] = field(default_factory=list)
    r"""Keys in `nocite:` and `\nocite`, and where each is: works listed without being cited."""
    notes: dict[str, list[Token]] = field(default_factory=dict)
    """Footnote label → tokens of its text."""
    note_places: dict[str, Place] = field(default_factory=dict)
    spaced_notes: set[str] = field(default_factory=set)
    """Labels with spaces of what looks like definitions of footnotes."""
    footnotes: dict[str, Any] = field(default_factory=dict)
    """What the footnote rules of mdit-py-plugins record: numbers by label, and counts of references."""
    added_cells: int = 0
    """In rows of tables that have too few, so far."""
    address_characters: int = 0
    """In the addresses of links and images so far."""
    parsed: bool = False
    """True once the body is parsed: what is parsed then is the argument of a shortcode."""
    links: bool = True
    """False while a text is parsed that holds more brackets than can be sorted out."""
    html: bool = True
    """False while a text is parsed that came from an attribute: tags in it are text."""
    verbatim: str = ""
    """Raw HTML element such as `<code>` that the current inline text is in, where dollars are text."""
    ambiguous_dollar: bool = False
    """A `$…$` in the current inline text was refused because a digit follows."""
    execution: PageExecution = field(default_factory=PageExecution)
    takes_blocks: bool = True
    """False while a text is parsed in which a display stays in its line: a heading, a title, a caption."""
    takes_values: bool = True
    """False while a text is parsed in which `{= … =}` cannot stand: a caption, a label, an alt text."""
    takes_shortcodes: bool = True
    """False between `{% raw %}` and `{% endraw %}`."""
    raw_lines: list[range] = field(default_factory=list)
    """Where these tags stand around Markdown."""
    values: list[Value] = field(default_factory=list)
    """In reading order, once `number_values` has run."""
    open_value: TextMap | None = None
    """The last text in which a `{= ` without an end was found."""
    included: Mapping[str, IncludedFile] = field(default_factory=dict)
    """Files that the page may show parts of, by what stands behind `file=`."""
    tab_groups: int = 0
    """Blocks of tabs so far."""
    tabs_level: int = -1
    """Level of the parts of the tabs whose lines are being read; -1: no part can stand here."""
    open_elements: int = 0
    """HTML elements without an end that were searched for one."""
    language: str = "python"
    """Of the cells, once `cells` has run."""

    @property
    def mode(self) -> str:
        """Which fences are cells: `off`, `marked` or `all`. What strangers write is never run."""
        return "off" if self.options.untrusted else self.execution.mode or self.options.execution_mode

    @property
    def engine(self) -> Literal["worker", "jupyter"]:
        """What runs its cells."""
        return self.execution.engine or self.options.engine

    @property
    def kernel(self) -> str:
        """Name of its Jupyter kernel; empty: `python3`, or there is none."""
        named = self.options.kernel if self.execution.kernel is None else self.execution.kernel
        return named if self.engine == "jupyter" else ""

    @property
    def checks_syntax(self) -> bool:
        """Whether the grammar of the Python here is that of its cells."""
        return self.options.check_syntax and self.engine == "worker"

    def is_raw(self, line: int) -> bool:
        """Whether a line (0-based) of the parsed text stands between `{% raw %}` and `{% endraw %}`."""
        return bool(self.raw_lines) and any(line in lines for lines in self.raw_lines)

    def reporter_of(self, path: str) -> Reporter:
        """What reports mistakes in an included file, together with those of the page."""
        text = next((found.text for found in self.included.values() if found.path == path), "")
        own = self.reporter
        return Reporter(path, text.split("\n"), own.diagnostics, own._known)

    def line_place(self, index: int, length: int = 1) -> Place:
        """The place of the character at `index` of the parsed text."""
        line = max(0, bisect_right(self.line_starts, index) - 1)
        column = index - self.line_starts[line] + 1
        return Place(self.first_line + line, column, max(1, length))

    def text_map(self, text: str, first: int) -> TextMap:
        """A map for `text` whose lines end lines `first`, `first + 1`, … (0-based) of the source.

        Lines of a paragraph are the ends of their source lines, what was cut off stands before.
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
    """The state for parsing `text`, which starts on line `first_line` of the reporter's file."""
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


def page_of(env: EnvType) -> PageState:
    """The page state the rules share."""
    page = env["page"]
    assert isinstance(page, PageState)
    return page


def inline_map(state: StateInline, start: int, end: int) -> TextMap:
    """Where `state.src[start:end]` stands in the file."""
    page = page_of(state.env)
    if page.current is None:
        return TextMap(state.src[start:end], ((page.first_line, 1),))
    return page.current.cut(page.base + start, page.base + end)


def inline_place(state: StateInline, start: int, end: int) -> Place:
    """The place of `state.src[start:end]`."""
    page = page_of(state.env)
    if page.current is None:
        return Place(page.first_line)
    return page.current.place(page.base + start, end - start)


def block_place(state: StateBlock, index: int, length: int = 1) -> Place:
    """The place of the character at `index` of a block rule's source."""
    return page_of(state.env).line_place(index, length)


def line_start(state: StateBlock, line: int) -> int:
    """Index of the first character of `line` after its container's marks and indentation."""
    return state.bMarks[line] + state.tShift[line]


def line_text(state: StateBlock, line: int) -> str:
    """Text of `line` without its container's marks and indentation."""
    return state.src[line_start(state, line) : state.eMarks[line]]


def block_end(state: StateBlock, line: int, end: int) -> int:
    """The next line that ends a paragraph or a block of HTML: an empty one, or one that is less indented."""
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    return line


def text_between(
    state: StateBlock, first: int, last: int, start: int, end: int, *, keeps_indent: bool = False
) -> TextMap:
    """The text from index `start` in line `first` to `end` in line `last`, without the marks of containers.

    keeps_indent: lines begin where their container ends, not with their first character.
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
