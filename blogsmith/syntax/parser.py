"""The Markdown pipeline: one markdown-it instance with our rules, in the order below.

`parse_document` is the whole stage: Document → Parsed. The instance has no page state and is created once
for a site. Everything about a page is in `PageState`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.characters import remove_forbidden
from ..base.diagnostics.model import Diagnostic, Place, Reporter, TextMap
from ..base.patterns import lazy_pattern
from ..config.series_rules import choose_solutions
from ..model.cells import PageCells
from ..model.documents import Document, PageFacts
from ..model.quotation import quotation_marks
from ..tex.parse.macros import read_macros
from .algorithms import algorithms
from .attributes import attribute_rules, resolve_blocks
from .blocks import block_rules
from .callouts import callouts, doubtful_callouts
from .cells.fences import cells, page_cells
from .cells.runnables import runnables
from .cells.values import number_values, report_values, value_rules
from .code_marks import code_marks
from .dispatch import dispatch_rules
from .fences import fences
from .figures import figures, galleries
from .foreign_syntax import report_unsupported
from .headings import (
    TitleHeading,
    heading_attributes,
    number_headings,
    plain_text,
    pop_title_heading,
    record_written_headings,
    set_chapter,
)
from .html_blocks import html_block_rules, raw_tags_of_blocks, raw_tags_of_spans, report_markdown
from .html_nodes import is_line
from .included_code import included_code
from .included_tables import included_tables
from .latex.warnings import read_latex
from .links import link_rules, linkify_rules, wiki_rules
from .markdown_elements import markdown_element_rules
from .math.displays import PHRASING, split_paragraphs
from .math.formulas import math_rules, text_with_formulas
from .math.html_formulas import html_formulas
from .math.subequations import subequations
from .near_misses import report_near_misses
from .notes import append_notes, note_rules, sort_notes
from .number_columns import uncertainties
from .numbering import number_page
from .open_elements import close_elements
from .paragraphs import paragraph_rules
from .prefixes import prefix_callouts
from .records import Callout, Math, XRef, attach_record, get_record
from .references.citations import cite_rules, number_citations
from .references.labels import Label
from .references.references import ref_rules, report_text_references, warn_of_unparsed_references
from .schemes import schemes
from .shortcodes import shortcode_rules
from .solutions import include_withheld, place_solutions
from .state import PageState, ParseOptions, get_page, new_page
from .tables import table_rules
from .tabs import tab_rules
from .text import (
    harden_breaks,
    hidden_characters,
    locate_text,
    set_quotation_marks,
    task_lists,
    text_rules,
    typography,
    warn_of_hidden_math,
)
from .title_code import title_tokens

# The end mark of proofs: shown exactly once, whether or not the author wrote it.


_OWN_MARK = lazy_pattern(r"\s*(?:[∎□■◻◼]|\\(?:qed|QED|qedhere|qedsymbol)\b)*\s*\Z")
_TEX_MARKS = frozenset({r"\square", r"\blacksquare", r"\Box", r"\qed", r"\QED", r"\qedhere", r"\qedsymbol"})


def end_marks(state: StateCore) -> None:
    """Add a `qed` token at the end of every proof (core rule)."""
    if "callout_body_close" not in [token.type for token in state.tokens]:
        return
    result: list[Token] = []
    for token in state.tokens:
        if token.type == "callout_body_close" and get_record(token, Callout).kind == "proof":
            _add_end_mark(result)
        result.append(token)
    state.tokens = result


def _add_end_mark(body: list[Token]) -> None:
    """Add the end mark of a proof to the last paragraph of `body`, or on a line of its own after other
    blocks."""
    if len(body) > 1 and body[-1].type == "paragraph_close" and body[-2].children:
        children = body[-2].children
        _drop_own_mark(children)
        children.append(Token("qed", "span", 0))
    else:
        body.append(Token("qed", "p", 0, block=True))


def _drop_own_mark(children: list[Token]) -> None:
    last = children[-1]
    if last.type == "text":
        last.content = _OWN_MARK.sub("", last.content)
    elif last.type == "math_inline" and get_record(last, Math).tex.strip() in _TEX_MARKS:
        children.pop()
    if children and children[-1].type == "text":
        children[-1].content = children[-1].content.rstrip()


# Titles of folds contain references as plain text: the title is a button, and a button must not contain
# links. Source: WAI-ARIA 1.2, `button`: its children are presentational, so a screen reader does not see a
# link in it.


def folded_titles(state: StateCore) -> None:
    """Turn references in titles of foldable callouts and collapsibles into plain text (core rule)."""
    for before, token in pairwise(state.tokens):
        opens = before.type == "callout_title_open" and get_record(before, Callout).fold
        if opens or before.type == "collapsible_label_open":
            for child in token.children or ():
                if child.type == "xref":
                    attach_record(child, replace(get_record(child, XRef), is_linked=False))


MAX_BRACKETS = 500
_BRACKET = lazy_pattern(r"\\.|[\[\]]", re.DOTALL)
MAX_NESTING = 100
"""Maximum depth of quotes and lists. markdown-it would silently drop deeper text."""


def locate_inline(state: StateCore) -> None:
    """Record the position of each line of every inline token (core rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.type == "inline" and "textmap" not in token.meta:
            attach_record(token, page.text_map(token.content, (token.map or [0])[0]))


def restore_source_lines(state: StateCore) -> None:
    """Replace the line numbers of a translated text in the tokens by those of the file (core rule)."""
    page = get_page(state.env)
    origins, page.origins = page.origins, ()
    if not origins:
        return
    for token in state.tokens:
        if token.map:
            first, last = (
                origins[min(line, len(origins) - 1)].line for line in (token.map[0], token.map[1] - 1)
            )
            token.map = [first, max(first, last) + 1]
    page.set_lines(page.reporter.lines[page.first_line - 1 :])


def inline(state: StateCore) -> None:
    """Run the inline rules on each inline token. Meanwhile, `PageState.current` is its text (core rule)."""
    page = get_page(state.env)
    for index, token in enumerate(state.tokens):
        if token.type != "inline":
            continue
        if not token.content:
            # A wide table with short rows has thousands of empty cells.
            token.children = []
            continue
        page.current, page.base, page.literal_dollars = get_record(token, TextMap), 0, {}
        page.verbatim = ""
        before = state.tokens[index - 1]
        is_line_of_html = before.type == "markdown_open" and is_line(before.tag)
        page.takes_blocks = before.type not in PHRASING and not is_line_of_html
        page.allows_html = page.takes_values = before.type not in _LABELS
        page.takes_shortcodes = not page.is_raw((token.map or [0])[0])
        page.allows_links = _open_brackets(token.content) <= MAX_BRACKETS
        if not page.allows_links:
            message = f"more than {MAX_BRACKETS} brackets are open here, so links in this text are not read"
            hint = "write `\\[` for brackets that are text"
            page.reporter.error("nesting", message, page.current.place(0), hint)
        token.children = []
        state.md.inline.parse(token.content, state.md, state.env, token.children)
        page.current = None


def _open_brackets(text: str) -> int:
    """Return the maximum number of open `[`; markdown-it's time grows with its square."""
    if text.count("[") <= MAX_BRACKETS:
        # This count is an upper bound; most text is below the limit.
        return 0
    most = level = 0
    for found in _BRACKET.finditer(text):
        level = max(0, level + {"[": 1, "]": -1}.get(found[0], 0))
        most = max(most, level)
    return most


def check_nesting(state: StateCore) -> None:
    """Report text nested deeper than the parser reads, because the parser drops it (core rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.level >= MAX_NESTING - 1:
            line = page.first_line + (token.map or [0])[0]
            message = f"more than {MAX_NESTING} nested quotes or lists"
            page.reporter.error("nesting", message, Place(line), "write fewer of them inside each other")
            return


_LABELS = ("collapsible_label_open", "tab_open")
"""Types of the tokens that are followed by text from an attribute."""

RULES: tuple[Callable[[MarkdownIt], None], ...] = (
    math_rules,
    shortcode_rules,
    value_rules,
    table_rules,
    paragraph_rules,
    note_rules,
    block_rules,
    tab_rules,
    markdown_element_rules,
    html_block_rules,
    link_rules,
    ref_rules,
    cite_rules,
    wiki_rules,
    text_rules,
    attribute_rules,
    deflist_plugin,
)
"""Functions that register block and inline rules. Each chooses its position among the stock rules."""

BEFORE_INLINE: tuple[tuple[str, Callable[[StateCore], None]], ...] = (
    ("depth", check_nesting),
    ("raw_tags_of_blocks", raw_tags_of_blocks),
    ("footnotes", append_notes),
    ("attributes", resolve_blocks),
    ("locate", locate_inline),
    ("source_lines", restore_source_lines),
    ("algorithms", algorithms),
    ("fences", fences),
    ("included_code", included_code),
    ("included_tables", included_tables),
    ("code_marks", code_marks),
    ("cells", cells),
    ("runnables", runnables),
    ("callouts", callouts),
    ("heading_attributes", heading_attributes),
)
"""Core rules between the block and the inline rules, in order."""

BEFORE_TYPOGRAPHY: tuple[tuple[str, Callable[[StateCore], None]], ...] = (
    ("prefix_callouts", prefix_callouts),
    ("doubtful_callouts", doubtful_callouts),
    ("values", number_values),
    ("raw_tags_of_spans", raw_tags_of_spans),
    ("foreign", report_unsupported),
    ("near_misses", report_near_misses),
    ("written_headings", record_written_headings),
)
"""Core rules after the inline rules, in order. They need quotes and dashes as typed, before typography."""

AFTER_INLINE: tuple[tuple[str, Callable[[StateCore], None]], ...] = (
    ("html_formulas", html_formulas),
    ("markdown_in_html", report_markdown),
    ("hidden_characters", hidden_characters),
    ("uncertainties", uncertainties),
    ("task_lists", task_lists),
    ("split_paragraphs", split_paragraphs),
    ("subequations", subequations),
    ("schemes", schemes),
    ("galleries", galleries),
    ("figures", figures),
    ("end_marks", end_marks),
    ("solutions", place_solutions),
    ("folded_titles", folded_titles),
    ("footnote_order", sort_notes),
    ("citations", number_citations),
    ("open_elements", close_elements),
)
"""Core rules after linkify and smart quotes, in order."""


class Parsed(Struct, frozen=True):
    """A parsed document, which `render/` turns into a page. Its tokens must not be changed."""

    document: Document
    tokens: tuple[Token, ...]
    title: tuple[Token, ...]
    """Inline tokens of the title."""
    heading: tuple[Token, ...]
    """Inline tokens of the heading that became the title, if it has a footnote; otherwise empty."""
    title_text: str
    """The title as plain text."""
    title_id: str
    """Id that the author gave the title heading; empty if there is none."""
    description: tuple[Token, ...]
    labels: Mapping[str, Label]
    """Id → label, with the text that references print."""
    cells: PageCells
    """Cells and values of the page."""
    page: PageState
    """State for captions and shortcode arguments, which are parsed during rendering."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def facts(self) -> PageFacts:
        """The data that is still needed after the tokens are discarded."""
        return PageFacts(self.document, self.cells, self.diagnostics)


def make_parser(options: ParseOptions) -> MarkdownIt:
    """Return the markdown-it instance for a site."""
    md = MarkdownIt("commonmark", {"html": not options.untrusted, "maxNesting": MAX_NESTING})
    md.enable(["table", "strikethrough"])
    dispatch_rules(md)
    # Every quote, list item and text reads these options; a missing one would raise and catch an exception
    # each time.
    for name in ("alerts", "tasklists", "strikethrough_single_tilde"):
        md.options[name] = False
    for rules in RULES:
        rules(md)
    for name, rule in BEFORE_INLINE:
        md.core.ruler.before("inline", name, rule)
    md.core.ruler.at("inline", inline)
    if options.linkify:
        linkify_rules(md)
    for name, rule in BEFORE_TYPOGRAPHY:
        md.core.ruler.before("replacements", name, rule)
    if options.smart_quotes:
        md.enable("smartquotes")
        md.core.ruler.at("smartquotes", set_quotation_marks)
        md.core.ruler.before("smartquotes", "typography", typography)
    for name, rule in AFTER_INLINE:
        md.core.ruler.push(name, rule)
    if options.line_breaks:
        # the other rules see soft breaks, such as the one after the title of a callout
        md.core.ruler.push("line_breaks", harden_breaks)
    for add in options.markdown_rules:
        add(md)
    return md


def parse_document(document: Document, md: MarkdownIt, options: ParseOptions) -> Parsed:
    """Parse the body of a document, and the Markdown in its front matter. Raise no exception for any text."""
    front = document.front
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    references = {reference.key: reference for reference in front.references}
    is_latex = options.latex if front.markup.latex is None else front.markup.latex
    body, origins = read_latex(document, options, reporter) if is_latex else (document.body, ())
    page = new_page(
        body,
        options,
        reporter,
        document.first_line,
        references,
        front.execution,
        has_bibliography=bool(front.bibliography or front.publications),
    )
    page.uncited.extend((key, front.places.get("nocite")) for key in front.nocite)
    page.included = document.included
    numbered = set_chapter(front, page)
    page.solutions = choose_solutions(front, options.series, options.solutions)
    page.solution_state = document.solutions
    if front.lang:
        page.quotation_marks = quotation_marks(front.lang)
    page.is_latex, page.origins = is_latex, origins
    env = {"page": page, "footnotes": page.footnotes}
    tokens = md.parse(body, env)
    page.is_parsed = True
    title = _front_text(front.title, "title", front.places, reporter)
    taken = pop_title_heading(tokens, plain_text(title, page), page)
    if not front.title and taken is not None:
        title = list(taken.inline.children or [])
    all_tokens = include_withheld(tokens)
    number_headings(all_tokens, page, taken, numbered=numbered)
    description = _front_text(front.description, "description", front.places, reporter)
    macros = read_macros(options.math_macros).extend(front.math.macros)
    numbering = front.math.numbering or options.math_numbering
    text = " ".join(plain_text(title, page).split()) or _title_from_path(document)
    title_id = taken.id if taken else ""
    label = Label(title_id, "sec", "Section", text, taken.place, is_text=True) if taken and title_id else None
    labels = number_page(tokens, page, numbering, macros, [*title, *description], label)
    report_text_references(tokens, labels, page)
    return Parsed(
        document=document,
        tokens=tuple(tokens),
        title=tuple(token for token in title if token.type != "footnote_ref"),
        heading=_noted_heading(taken),
        title_text=text,
        title_id=title_id,
        description=tuple(description),
        labels=labels,
        cells=page_cells(document, all_tokens, page),
        page=page,
        diagnostics=tuple(reporter.diagnostics),
    )


def _noted_heading(heading: TitleHeading | None) -> tuple[Token, ...]:
    children = heading.inline.children or () if heading else ()
    return tuple(children) if any(token.type == "footnote_ref" for token in children) else ()


def _front_text(text: str, key: str, places: Mapping[str, Place], reporter: Reporter) -> list[Token]:
    """Return the inline tokens of a front matter value. Formulas are parsed, in titles also code; the rest is
    text."""
    if not text:
        return []
    origin = locate_text(text, places.get(key, Place(1)), reporter.lines)
    has_code = key == "title" and "`" in text
    tokens = [*title_tokens(origin)] if has_code else text_with_formulas(origin)
    warn_of_hidden_math(tokens, reporter)
    warn_of_unparsed_references(tokens, origin, reporter)
    report_values(origin, reporter)
    return tokens


def _title_from_path(document: Document) -> str:
    """Return a title derived from the file name. It is empty for the front page, which uses the site's
    title."""
    path = document.path
    # Remove the language from `post.de.md`. If a page is German for another reason, its name has no such
    # suffix.
    stem = path.stem.removesuffix(f".{document.front.lang}")
    if str(path.parent) == "content" and stem in ("index", "_index"):
        return ""
    name = remove_forbidden(path.parent.name if stem in ("index", "_index") else stem)
    return name.replace("-", " ").replace("_", " ").strip().capitalize()


def formulas(tokens: Sequence[Token]) -> list[Math]:
    """Return all formulas in the tokens, in order."""
    found = []
    for token in tokens:
        if token.type in ("math_inline", "math_display"):
            found.append(get_record(token, Math))
        if token.children:
            found.extend(formulas(token.children))
    return found
