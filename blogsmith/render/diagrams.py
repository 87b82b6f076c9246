"""Fences that a plugin draws: the figure with its drawing, or with its source where nothing draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.diagnostics.model import Place, SiteError, TextMap, place_within
from ..hooks import Diagram
from ..hooks.diagram_languages import DIAGRAMS
from ..syntax.records import Fence
from .captions import inline_html, plain
from .context import Rendering
from .figure_frame import figure_attributes, figure_caption
from .prose import escape_html

if TYPE_CHECKING:
    from .diagram_formulas import LabelFormulas


def is_diagram(rendering: Rendering, language: str) -> bool:
    """Whether a fence of `language` is a drawing."""
    return language in DIAGRAMS or language in rendering.tools.plugins.diagrams


def diagram_figure(rendering: Rendering, source: str, fence: Fence) -> str:
    """`<figure class="diagram">` of a fence; mistakes are reported at their line of the source."""
    diagram = rendering.tools.plugins.diagrams.get(fence.language)
    if diagram is None:
        hint = f"write plugins: [{DIAGRAMS[fence.language]}] in blogsmith.yaml"
        return _figure(rendering, fence, _source(rendering, source, fence, hint))
    if diagram.trusted and rendering.tools.config.markup.untrusted:
        hint = f"{fence.language} is not run on text of strangers (markup.untrusted)"
        return _figure(rendering, fence, _source(rendering, source, fence, hint))
    return _figure(rendering, fence, _draw(rendering, diagram, source, fence))


def _draw(rendering: Rendering, diagram: Diagram, source: str, fence: Fence) -> str:
    """The drawing, or the source if it cannot be drawn."""
    # importing the style sheet parser takes as long as a page; most pages have no diagram
    from .diagram_formulas import LabelFormulas
    from .svg.drawings import clean_drawing

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
        rendering.reporter.error("diagram", f"{fence.language} diagram: {message}", place)
        return _fold_source(rendering, source, fence)
    except SiteError as error:
        for found in error.diagnostics:
            rendering.reporter.add(found)
        return _fold_source(rendering, source, fence)
    except Exception as error:
        # a bug of the plugin must not take the build down, and must be known as the plugin's
        return _failure_html(rendering, diagram, source, fence, error)
    rendering.diagrams += 1
    try:
        drawing = clean_drawing(svg, f"diagram-{rendering.diagrams}--", source)
        drawing = formulas.place(drawing) if formulas else drawing
        return drawing.html(_title_text(rendering, fence), rendering.language, fence.alt)
    except (ValueError, TypeError) as error:
        message = f"plugin {diagram.plugin} gives no drawing for {fence.language}: {error}"
        rendering.reporter.error("plugin", message, fence.place)
        return _fold_source(rendering, source, fence)


def _failure_html(rendering: Rendering, diagram: Diagram, source: str, fence: Fence, error: Exception) -> str:
    message = f"plugin {diagram.plugin} fails on {fence.language}: {type(error).__name__}: {error}"
    rendering.reporter.error("plugin", message, fence.place)
    return _fold_source(rendering, source, fence)


def _place(
    rendering: Rendering, source: str, fence: Fence, error: Exception, formulas: LabelFormulas | None
) -> Place | None:
    """Return the location in the file of the plugin's error; that of the fence if it does not say."""
    line, column = (error.lineno, error.offset or 0) if isinstance(error, SyntaxError) else (None, 0)
    if formulas and line and column:
        column = formulas.restore_column(line, column)
    return _source_place(rendering, source, fence, line, column)


def _source_place(
    rendering: Rendering, source: str, fence: Fence, line: int | None, column: int
) -> Place | None:
    """Return the location in the file of a line and column of the source, both 1-based; column 0: the line.

    A fence in a quote or list has lost its indentation, so its line is searched in that of the file.
    """
    written = source.split("\n")
    if fence.place is None or line is None or not 0 < line <= len(written):
        return fence.place
    text = written[line - 1]
    start = place_within(text.strip(), Place(fence.place.line + line, 1), rendering.reporter.lines)
    if start is None or start.line != fence.place.line + line or not text.strip():
        return Place(fence.place.line + line)
    indent = len(text) - len(text.lstrip())
    if not column:
        return start
    shift = max(0, min(column - 1 - indent, len(text.strip()) - 1))
    return Place(start.line, start.column + shift, max(1, len(text.strip()) - shift))


def _source(rendering: Rendering, source: str, fence: Fence, hint: str) -> str:
    message = f"no renderer for {fence.language} diagrams; the source is shown"
    rendering.reporter.warn("diagram-source", message, fence.place, hint)
    return _fold_source(rendering, source, fence)


def _fold_source(rendering: Rendering, source: str, fence: Fence) -> str:
    """The source in a box to open."""
    label = rendering.language.translate("Diagram source ({language})", language=fence.language)
    code = f'<code class="language-{escape_html(fence.language)}">{escape_html(source)}</code>'
    pre = f'<pre class="diagram-source" tabindex="0">{code}</pre>'
    return f"<details>\n<summary>{escape_html(label)}</summary>\n{pre}\n</details>"


def _figure(rendering: Rendering, fence: Fence, inside: str) -> str:
    title = _title(rendering, fence)
    # a source that is shown has no other place for it
    own = figure_attributes(fence.id, "" if "<svg" in inside else fence.alt)
    caption = figure_caption(rendering, fence.number, inline_html(rendering, title) if title else "")
    return f'<figure class="diagram"{own}>{inside}{caption.rstrip()}</figure>\n'


def _title_text(rendering: Rendering, fence: Fence) -> str:
    title = _title(rendering, fence)
    return plain(rendering, title) if title else ""


def _title(rendering: Rendering, fence: Fence) -> TextMap | None:
    """What stands below the drawing: `cap`, else `title`."""
    if fence.caption or not fence.title:
        return fence.caption
    line = fence.place.line if fence.place else 1
    place = place_within(fence.title, Place(line), rendering.reporter.lines) or Place(line)
    return TextMap(fence.title, ((place.line, place.column),))
