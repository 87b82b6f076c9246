"""Code fences that are not cells: highlighted code, diagrams, indented code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from markdown_it.token import Token

from ..base.diagnostics.model import Place, SiteError, TextMap, find_word_range
from ..hooks import Diagram
from ..hooks.calls import plugin_hint
from ..hooks.loader import DIAGRAMS
from ..syntax.cells.option_values import FOLD
from ..syntax.records import Fence, get_record
from .code import (
    FigureOptions,
    Highlighted,
    code_figure,
    has_long_lines,
    highlight,
    is_known_language,
    is_plain_language,
    wrapped_indents,
)
from .code_notes import line_marks
from .context import PageRendering, Rule
from .figure_frame import figure_attributes, figure_caption, inline_html, plain_argument
from .fragments import fragment_key
from .prose import escape_html

if TYPE_CHECKING:
    from .diagram_formulas import LabelFormulas


def fence(rendering: PageRendering, token: Token) -> str:
    """Return the figure of a fence that is not a cell: its diagram or its code."""
    record = get_record(token, Fence)
    if is_diagram(rendering, record.language):
        return diagram_figure(rendering, token.content, record)
    return code_fence_figure(rendering, token, token.content, record)


def code_fence_figure(
    rendering: PageRendering, token: Token, source: str, record: Fence, *, fold_open: bool = False
) -> str:
    """Return the figure of the code `source`. Warn about an unknown language. record: options of the fence.
    fold_open: whether a folded figure starts open."""
    rendering.code_blocks += 1
    if not record.fold or fold_open:
        rendering.reading.add_code(source.count("\n"))
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    numbered = settings.line_numbers if record.numbered is None else record.numbered
    fold = rendering.language.translate("Show code") if record.fold in (True, FOLD) else record.fold
    # Plain text may be a drawing or a table, which wrapping would destroy.
    wraps = settings.wrap and not is_plain_language(record.language) if record.wraps is None else record.wraps
    indents = wrapped_indents(source)
    options = FigureOptions(
        title=record.title,
        first_line=record.first_line,
        highlighted=record.marked,
        added=record.added,
        removed=record.removed,
        marks=line_marks(rendering.language, record),
        numbered=numbered,
        wide=has_long_lines(source, numbered=numbered),
        scrolls=indents is not None and not wraps,
        indents=indents if indents and wraps else {},
        fold=fold,
        fold_open=fold_open,
        id=record.id,
        classes=(*str(token.attrs.get("class", "")).split(), *record.classes),
    )
    if record.added or record.removed or record.marks or record.listing:
        rendering.widgets.add("teaching")
    return _listing(rendering, record, _figure(rendering, source, record, options)) + "\n"


def _figure(rendering: PageRendering, source: str, record: Fence, options: FigureOptions) -> str:
    key = fragment_key(source, record.language, options)
    kept = rendering.tools.cached_fragments.get(key)
    if kept is not None:
        rendering.fragments[key] = kept
        return kept
    settings = rendering.tools.config.code
    shown = highlight(
        source,
        record.language,
        deadline_s=settings.deadline_s,
        max_line=settings.max_line,
        lex=rendering.tools.lex_code,
    )
    figure = code_figure(shown.lines, record.language, options)
    if shown.problem:
        _warn_not_highlighted(rendering, record, shown)
    else:
        rendering.fragments[key] = figure
    return figure


def _warn_not_highlighted(rendering: PageRendering, record: Fence, shown: Highlighted) -> None:
    code = "code-plain" if is_known_language(record.language) else "code-language"
    message, _, near = shown.problem.partition(" (")
    fix = rendering.reporter.substitute(record.place, record.language, shown.suggestion or None)
    message = f"{message}: the code is shown without highlighting"
    other = "break the long line" if "longer than" in message else "write the name of a known language"
    hint = near.removesuffix(")") or f"{other}, or write `text` for code without highlighting"
    rendering.reporter.warn(code, message, record.place, hint, fix)


def _listing(rendering: PageRendering, record: Fence, figure: str) -> str:
    """Return `figure` inside a figure with the listing's number and caption; unchanged if it has neither."""
    if not (record.number or record.caption):
        return figure
    rendering.widgets.add("teaching")
    name = rendering.language.translate("Listing {number}", number=record.number)
    label = f'<span class="listing-label">{escape_html(name)}.</span>' if record.number else ""
    text = inline_html(rendering, record.caption) if record.caption else ""
    anchor = f' id="{escape_html(record.listing)}"' if record.listing else ""
    caption = f"{label}{' ' if label and text else ''}{text}"
    return f'<figure class="listing"{anchor}><figcaption>{caption}</figcaption>\n{figure}</figure>'


def _code_block(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    rendering.code_blocks += 1
    rendering.reading.add_code(tokens[index].content.count("\n"))
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    source, numbered = tokens[index].content, settings.line_numbers
    shown = highlight(source, "", deadline_s=settings.deadline_s, max_line=settings.max_line)
    options = FigureOptions(
        numbered=numbered,
        wide=has_long_lines(source, numbered=numbered),
        scrolls=wrapped_indents(source) is not None,
    )
    figure = code_figure(shown.lines, "", options)
    return figure + "\n"


def _algorithm(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    rendering.widgets.add("teaching")
    start = tokens[index].attrs.get("start")
    return f'<ol class="algorithm" start="{start}">\n' if start else '<ol class="algorithm">\n'


RULES: Mapping[str, Rule] = MappingProxyType({"code_block": _code_block, "algorithm_open": _algorithm})


# Fences that a plugin draws. The figure shows the drawing, or the source if it cannot be drawn.


def is_diagram(rendering: PageRendering, language: str) -> bool:
    """Return whether fences in `language` contain the source of a diagram."""
    return language in DIAGRAMS or language in rendering.tools.plugins.diagrams


def diagram_figure(rendering: PageRendering, source: str, fence: Fence) -> str:
    """Return the `<figure class="diagram">` of a fence. Errors are reported at their line of the source."""
    diagram = rendering.tools.plugins.diagrams.get(fence.language)
    if diagram is None:
        hint = f"write `plugins: [{DIAGRAMS[fence.language]}]` in blogsmith.yaml"
        return _diagram_figure(rendering, fence, _source(rendering, source, fence, hint))
    if diagram.trusted and rendering.tools.config.markup.untrusted:
        hint = "remove `untrusted` under `markup:` if you trust all authors: it disables this renderer"
        return _diagram_figure(rendering, fence, _source(rendering, source, fence, hint))
    return _diagram_figure(rendering, fence, _draw(rendering, diagram, source, fence))


def _draw(rendering: PageRendering, diagram: Diagram, source: str, fence: Fence) -> str:
    """Return the drawing, or the source if it cannot be drawn."""
    # the CSS parser is imported here: it takes as long as rendering a page, and most pages have no diagram
    from .diagram_formulas import LabelFormulas
    from .svg.drawings import sanitize_drawing

    def typeset(formula: str, line: int, column: int) -> str:
        at = _source_place(rendering, source, fence, line, column) or Place(1)
        return inline_html(rendering, TextMap(formula, ((at.line, at.column),)))

    formulas: LabelFormulas | None = None
    try:
        formulas = LabelFormulas(source, typeset) if diagram.formulas else None
        svg = diagram.draw(formulas.source if formulas else source)
    except (ImportError, FileNotFoundError) as error:
        return _source(rendering, source, fence, str(error))
    except (ValueError, SyntaxError) as error:
        if isinstance(error, SyntaxError) and error.filename:
            return _failure_html(rendering, diagram, source, fence, error)
        place = _place(rendering, source, fence, error, formulas)
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        message = formulas.restore_text(message) if formulas else message
        message = f'invalid "{fence.language}" diagram: {message}'
        rendering.reporter.error("diagram", message, place, "correct this line of the diagram")
        return _fold_source(rendering, source, fence)
    except SiteError as error:
        for found in error.diagnostics:
            rendering.reporter.add(found)
        return _fold_source(rendering, source, fence)
    except Exception as error:
        # an error of a plugin must not stop the build, and the message must name the plugin
        return _failure_html(rendering, diagram, source, fence, error)
    rendering.diagrams += 1
    try:
        drawing = sanitize_drawing(svg, f"diagram-{rendering.diagrams}--", source)
        drawing = formulas.insert_formulas(drawing) if formulas else drawing
        return drawing.html(_title_text(rendering, fence), rendering.language, fence.alt)
    except (ValueError, TypeError) as error:
        message = f'plugin "{diagram.plugin}" returns an invalid drawing for "{fence.language}": {error}'
        rendering.reporter.error("plugin", message, fence.place, plugin_hint(diagram.plugin))
        return _fold_source(rendering, source, fence)


def _failure_html(
    rendering: PageRendering, diagram: Diagram, source: str, fence: Fence, error: Exception
) -> str:
    message = f'plugin "{diagram.plugin}" fails on "{fence.language}": {type(error).__name__}: {error}'
    rendering.reporter.error("plugin", message, fence.place, plugin_hint(diagram.plugin))
    return _fold_source(rendering, source, fence)


def _place(
    rendering: PageRendering, source: str, fence: Fence, error: Exception, formulas: LabelFormulas | None
) -> Place | None:
    """Return the location in the post of an error that a plugin raised. If the error has no line, return the
    location of the fence."""
    line, column = (error.lineno, error.offset or 0) if isinstance(error, SyntaxError) else (None, 0)
    if formulas and line and column:
        column = formulas.restore_column(line, column)
    return _source_place(rendering, source, fence, line, column)


def _source_place(
    rendering: PageRendering, source: str, fence: Fence, line: int | None, column: int
) -> Place | None:
    """Return the location in the post of a line and column of a fence's source, both from 1. Column 0 means
    the whole line. A fence in a quote or list has lost its indentation, so its text is searched in the line
    of the post."""
    written = source.split("\n")
    if fence.place is None or line is None or not 0 < line <= len(written):
        return fence.place
    text = written[line - 1]
    start = find_word_range(text.strip(), Place(fence.place.line + line, 1), rendering.reporter.lines)
    if start is None or start.line != fence.place.line + line or not text.strip():
        return Place(fence.place.line + line)
    indent = len(text) - len(text.lstrip())
    if not column:
        return start
    shift = max(0, min(column - 1 - indent, len(text.strip()) - 1))
    return Place(start.line, start.column + shift, max(1, len(text.strip()) - shift))


def _source(rendering: PageRendering, source: str, fence: Fence, hint: str) -> str:
    message = f'no renderer for "{fence.language}" diagrams: the source is shown'
    rendering.reporter.warn("diagram-source", message, fence.place, hint)
    return _fold_source(rendering, source, fence)


def _fold_source(rendering: PageRendering, source: str, fence: Fence) -> str:
    """Return the source of a diagram inside `<details>`."""
    label = rendering.language.translate("Diagram source ({language})", language=fence.language)
    code = f'<code class="language-{escape_html(fence.language)}">{escape_html(source)}</code>'
    pre = f'<pre class="diagram-source" tabindex="0">{code}</pre>'
    return f"<details>\n<summary>{escape_html(label)}</summary>\n{pre}\n</details>"


def _diagram_figure(rendering: PageRendering, fence: Fence, inside: str) -> str:
    title = _title(rendering, fence)
    # the source may be visible, so the figure gets the alternative text instead of the drawing
    own = figure_attributes(fence.id, "" if "<svg" in inside else fence.alt)
    caption = figure_caption(rendering, fence.number, inline_html(rendering, title) if title else "")
    return f'<figure class="diagram"{own}>{inside}{caption.rstrip()}</figure>\n'


def _title_text(rendering: PageRendering, fence: Fence) -> str:
    title = _title(rendering, fence)
    return plain_argument(rendering, title) if title else ""


def _title(rendering: PageRendering, fence: Fence) -> TextMap | None:
    """Return the caption of the drawing: its option `cap`, otherwise `title`. None if it has neither."""
    if fence.caption or not fence.title:
        return fence.caption
    line = fence.place.line if fence.place else 1
    place = find_word_range(fence.title, Place(line), rendering.reporter.lines) or Place(line)
    return TextMap(fence.title, ((place.line, place.column),))
