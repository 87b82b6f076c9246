"""Rendering of tokens to HTML: one function per token type, from the tables of the modules in this folder.

`render_body` is the whole stage: Parsed → Body. Token types without a rule (paragraphs, lists, emphasis) are
rendered by markdown-it's own renderer, which passes all CommonMark tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from markdown_it.token import Token

from ..base.diagnostics.characters import lower_allowed, remove_forbidden
from ..base.diagnostics.model import Place, Reporter, did_you_mean, find_word_range, list_choices
from ..base.patterns import lazy_pattern
from ..hooks import FormulaConverter
from ..hooks.calls import filter_html
from ..model.cells import Cell
from ..model.documents import Body, ContentAmount, TocEntry
from ..model.texts import PageText
from ..syntax.headings import plain_text
from ..syntax.open_elements import find_open_markup
from ..syntax.parser import Parsed
from ..syntax.records import Heading, Math, Shortcode, get_record
from ..tex.mathml.signs import find_formula_characters, join_characters
from ..tex.parse.macros import read_macros
from . import (
    blocks,
    code_notes,
    fences,
    figures,
    formulas,
    galleries,
    headings,
    links,
    margins,
    notes,
    prose,
    shortcodes,
    tabs,
    wiki_links,
)
from .changes import changes_html
from .context import PageRendering, Rule
from .converters import BUILT_IN, choose_converter, unknown_converter_message
from .cv import render_cv
from .faq import page_faq
from .fragments import pack_fragments
from .numbers import html_within_links, render_title, strip_links
from .outputs import rules
from .policy.outline import body_outline
from .statements import page_statements
from .summaries import page_summary
from .tools import SiteAccess
from .variants import cover_tag

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **prose.RULES,
        **headings.RULES,
        **links.RULES,
        **margins.RULES,
        **wiki_links.RULES,
        **formulas.RULES,
        **blocks.RULES,
        **tabs.RULES,
        **figures.RULES,
        **galleries.RULES,
        **fences.RULES,
        **code_notes.RULES,
        **rules.RULES,
        **notes.RULES,
        **shortcodes.RULES,
    }
)

# called for each of the hundreds of tokens of a page; a view of the list would take three times as long
_find_rule = dict(RULES).get

_PROSE = frozenset({"text", "code_inline", "value"})
_BEGINNING = 400
"""If a page has no description, one is made from this number of characters at the start of its body. The
description is shorter."""


def render_tokens(rendering: PageRendering, tokens: Sequence[Token]) -> str:
    """Return the HTML of a token stream, including inline tokens."""
    # lines count from 1, so 0 means that no line markers are added
    first_line = rendering.parsed.page.first_line if rendering.tools.mark_lines else 0
    out: list[str] = []
    starts: list[int] = []
    for index, token in enumerate(tokens):
        kind = token.type
        rule = _find_rule(kind)
        html = (
            rule(rendering, tokens, index)
            if rule and not token.hidden
            else _render_default(rendering, tokens, index)
        )
        if kind == "footnote_open":
            starts.append(len(out))
        if (
            kind == "paragraph_close"
            and out[-1:] == [""]
            and _is_empty_paragraph(rendering, tokens, index - 2)
        ):
            # the paragraph contained only a formula that defines macros
            del out[-2:]
            continue
        out.append(add_marks(token, html, first_line) if first_line and is_marked(token) else html)
        if kind == "footnote_close":
            start = starts.pop()
            out[start:] = [notes.with_back_links(rendering, "".join(out[start:]), token)]
    return "".join(out)


def _render_default(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render a token whose type has no rule of ours."""
    token = tokens[index]
    if token.type == "inline":
        return _inline(rendering, tokens, index)
    if token.nesting and not (token.block or token.attrs or token.hidden):
        # tags such as `<em>` and `</strong>`
        return f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>"
    return rendering.default_renderer.renderToken(tokens, index, rendering.tools.md.options, {})


def _is_empty_paragraph(rendering: PageRendering, tokens: Sequence[Token], index: int) -> bool:
    """Return whether the paragraph that opens at `index` prints only its tag, without attributes."""
    return _render_default(rendering, tokens, index) == "<p>"


def _inline(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    children = tokens[index].children or []
    html = render_tokens(rendering, children)
    rendering.reading.add_words(" ".join([child.content for child in children if child.type in _PROSE]))
    before = tokens[index - 1] if index else None
    if before is not None and before.type == "table_open":
        return blocks.caption(rendering, before, html)
    if before is not None and before.type == "th_open":
        return blocks.header_cell(rendering, children, html)
    return html


def render_body(parsed: Parsed, tools: SiteAccess) -> Body:
    """Render a page: content, table of contents, plain text, and diagnostics."""
    source = parsed.document.source
    reporter = Reporter(str(source.path), source.text.split("\n"))
    front = parsed.document.front
    macros = read_macros(tools.config.math.macros).extend(front.math.macros)
    results = tools.results(parsed.document)
    language = tools.language(front.lang or tools.config.lang)
    rendering = PageRendering(parsed, tools, reporter, macros, render_tokens, results, language)
    rendering.check_reporter = Reporter(reporter.path, reporter.lines)
    rendering.converter = _choose_converter(rendering)
    spoken = rules.value_texts(rendering)
    # The title is first on the page, so its macros apply to all later formulas.
    title = strip_links(render_title(rendering, parsed.title)) or prose.escape_html(parsed.title_text)
    heading = _heading_html(rendering)
    if number := _heading_number(parsed.page.chapter):
        heading = number + (heading or title)
    description = strip_links(render_tokens(rendering, parsed.description))
    html = render_tokens(rendering, parsed.tokens) + render_cv(rendering) + changes_html(rendering)
    summary, summary_html = page_summary(rendering, spoken)
    low = lower_allowed(html.encode("utf-8", "surrogatepass"))
    if low is None or tools.plugins.page_filters:
        # results of cells may contain forbidden characters
        html = filter_html(tools.plugins, remove_forbidden(html), parsed.document, find_open_markup)
        low = None
    data = html.encode("utf-8", "surrogatepass")
    report_repeated_ids(html, reporter, parsed.title_id)
    # the text is kept longer than the tokens
    fragments = rendering.fragments
    return Body(
        content=PageText.from_string(
            html, lambda _: body_outline(data, low), data, lambda _: pack_fragments(fragments, data)
        ),
        title_html=title,
        title_text=_title_text(parsed, spoken),
        title_id=parsed.title_id,
        heading_html=heading,
        description_html=description,
        description_text=plain_text(parsed.description, parsed.page, spoken),
        toc=table_of_contents(rendering, spoken),
        summary=summary or body_text(parsed, spoken)[:_BEGINNING],
        summary_html=summary_html,
        signs=join_characters(find_formula_characters((html, title, description, summary_html))),
        weight=ContentAmount(
            rendering.reading.seconds, rendering.formulas, rendering.code_blocks, rendering.images
        ),
        links=frozenset(rendering.links),
        stated=page_statements(rendering),
        faq=page_faq(rendering, spoken),
        widgets=frozenset(rendering.widgets),
        cell_lines=tuple(cell.place.line for cell in parsed.cells.cells if cell.is_run and not cell.is_alone),
        files=rendering.cell_images,
        # must come before `variants`, because `cover_tag` adds to `rendering.variants`
        cover=cover_tag(rendering),
        variants=tuple(sorted(rendering.variants)),
        fallbacks=tuple(rendering.fallbacks),
        diagnostics=tuple(reporter.diagnostics),
        check_diagnostics=tuple(rendering.check_reporter.diagnostics),
    )


def _choose_converter(rendering: PageRendering) -> FormulaConverter | None:
    """Return the plugin that typesets the page's formulas, or None for our own converter. Report an unknown
    name."""
    tools, front = rendering.tools, rendering.document.front
    name, untrusted = front.math.converter, tools.config.markup.untrusted
    try:
        return choose_converter(tools.plugins, name or tools.config.math.converter, untrusted=untrusted)
    except LookupError:
        place = find_word_range(name, front.places.get("math"), rendering.reporter.lines)
        known = (BUILT_IN, *tools.plugins.converters)
        hint = did_you_mean(name, known) or list_choices(known)
        rendering.reporter.error("front-matter-value", unknown_converter_message(name), place, hint)
        return None


def _heading_html(rendering: PageRendering) -> str:
    """Return the page's title as HTML without links, except for the links of its footnote marks. Empty if the
    title has no footnotes."""
    quiet = rendering.copy_without_report()
    html = ""
    for is_note, run in groupby(rendering.parsed.heading, lambda token: token.type == "footnote_ref"):
        shown = render_title(quiet, [*run])
        html += shown if is_note else strip_links(shown)
    return html


def _heading_number(number: str) -> str:
    return f'<span class="heading-number">{number}</span> ' if number else ""


def _title_text(parsed: Parsed, spoken: Mapping[int, str]) -> str:
    """Return the title as plain text: the parser's text, or if it contains values of cells, with these
    values."""
    if any(token.type == "value" for token in parsed.title):
        return " ".join(plain_text(parsed.title, parsed.page, spoken).split()) or parsed.title_text
    return parsed.title_text


def body_text(parsed: Parsed, spoken: Mapping[int, str] = MappingProxyType({})) -> str:
    """Return the prose of the page as one line of plain text, with formulas in linear form and without code.
    spoken: number of a value `{= … =}` → its plain text."""
    inlines = (token for token in parsed.tokens if token.type == "inline")
    pieces = [plain_text(token.children or (), parsed.page, spoken) for token in inlines]
    return " ".join(" ".join(pieces).split())


def table_of_contents(
    rendering: PageRendering, spoken: Mapping[int, str] = MappingProxyType({})
) -> tuple[TocEntry, ...]:
    """Return the headings as a tree. Their formulas are typeset again without ids, because those in the text
    already have the ids. spoken: as in `body_text`."""
    flat: list[TocEntry] = []
    tokens = rendering.parsed.tokens
    quiet = rendering.copy_without_report()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = get_record(token, Heading)
            html = html_within_links(quiet, tokens[index + 1].children or ())
            number = _heading_number(heading.number)
            words = plain_text(tokens[index + 1].children or (), rendering.parsed.page, spoken)
            flat.append(TocEntry(heading.level, heading.id, number + html, " ".join(words.split())))
    return _tree(flat)


def _tree(flat: Sequence[TocEntry]) -> tuple[TocEntry, ...]:
    """Return a tree of table-of-contents entries: each is below the nearest previous entry of a smaller
    level."""
    roots: list[TocEntry] = []
    index = 0
    while index < len(flat):
        end = index + 1
        while end < len(flat) and flat[end].level > flat[index].level:
            end += 1
        entry = flat[index]
        roots.append(TocEntry(entry.level, entry.id, entry.html, entry.text, _tree(flat[index + 1 : end])))
        index = end
    return tuple(roots)


# Markers for the live preview: the line of the file where a block starts, and the number of its cell. A
# marker is an attribute of the block's first tag. Without the markers, the HTML equals that of a build byte
# for byte. Blocks without a tag of their own (comments, hidden paragraphs) have none.


# `\s*`: markdown-it starts a new line before a block inside a tight list item.
_FIRST_TAG = lazy_pattern(r"""\s*<[A-Za-z][A-Za-z0-9-]*(?P<rest>(?=[\s/>])(?:[^"'<>]|"[^"]*"|'[^']*')*>)""")
_LINE = lazy_pattern(r"\sdata-line\s*=", re.IGNORECASE)


def is_marked(token: Token) -> bool:
    """Return whether the token gets markers. It does if it starts a block and has a range of lines."""
    return token.block and token.map is not None and token.nesting >= 0 and token.type != "inline"


def add_marks(token: Token, html: str, first_line: int) -> str:
    """Return `html`, the HTML of a token, with the attributes `data-line` and `data-cell`. first_line:
    1-based line of the file where the post's text starts."""
    tag = _FIRST_TAG.match(html)
    if tag is None:
        return html
    marks = f' data-cell="{get_record(token, Cell).number}"' if "cell" in token.meta else ""
    # runnable code already has the attribute, whose line error messages use
    if not _LINE.search(tag["rest"]):
        marks = f' data-line="{_line(token, first_line)}"{marks}'
    at = tag.start("rest")
    return f"{html[:at]}{marks}{html[at:]}"


def _line(token: Token, first_line: int) -> int:
    """Return the 1-based line of the file where a block starts. A formula or shortcode inside a paragraph has
    its own line, not that of the paragraph. first_line: as in `add_marks`."""
    if token.type == "math_display":
        return get_record(token, Math).origin.place(0).line
    if token.type == "shortcode":
        return get_record(token, Shortcode).place.line
    assert token.map is not None, "only blocks that know their lines are marked"
    return first_line + token.map[0]


# Duplicate ids on a page: a link to one of them would be ambiguous. They are searched in the finished HTML,
# because ids come from headings, labels, attribute lists, templates and the author's own tags. Their
# positions are then searched in the author's text.


_ID = lazy_pattern(r"<[A-Za-z][^<>]*?\sid\s*=\s*[\"']?([^\s\"'<>]+)")
# the pattern matches an attribute in a tag, but also in text that shows one
_LIKE_ID = lazy_pattern(r"id(?<=\sid)(?=\s*=\s*[\"']?([^\s\"'<>]+))")
_COMMENT = lazy_pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def report_repeated_ids(html: str, reporter: Reporter, title_id: str = "") -> None:
    """Report each id that `html` contains more than once, at the last position where the author wrote it.
    title_id: id of the heading before the content; empty if it has none."""
    html = f'<h1 id="{title_id}">{html}' if title_id else html
    if "<!--" in html:
        html = _COMMENT.sub("", html)
    maybe = _LIKE_ID.findall(html)
    if len(set(maybe)) == len(maybe):
        # the usual case; reading the tag around each id takes twice as long
        return
    counts = Counter(_ID.findall(html))
    for name, count in counts.items():
        if count > 1:
            places = _places(name, reporter.lines)
            first = (
                f"(first defined on line {places[0].line})"
                if len(places) > 1
                else f"({count} times in this page)"
            )
            hint = f"write another id, such as `{name}-2`"
            if len(places) < 2:
                hint += ": headings get an id from their text"
            message = f'duplicate id "{name}" {first}'
            reporter.error("id-twice", message, places[-1] if places else None, hint)


def _places(name: str, lines: Sequence[str]) -> list[Place]:
    """Return the positions where the author wrote the id, as `#x` or `id="x"`."""
    written = re.compile(rf"(?:#|\bid\s*=\s*[\"']?)({re.escape(name)})(?![\w.:-])")
    found = []
    for number, line in enumerate(lines, start=1):
        found += [Place(number, at.start(1) + 1, len(name)) for at in written.finditer(line)]
    return found
