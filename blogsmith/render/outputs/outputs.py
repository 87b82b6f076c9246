"""Output that a cell printed, returned and drew, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...languages.language import Language
from ...model.cell_locations import code_start, locate_in_post
from ...model.cells import Cell
from ...model.results import CellOutput, CellResult, Display, Failure, Stream
from ...model.units import format_size
from ..context import PageRendering
from ..figure_frame import inline_html
from ..prose import escape_html
from .ansi import ansi_html, plain_output
from .html import CleanHtml, TableSettings, clean_html, format_dropped
from .interactive import InteractiveValue, find_interactive, live_button, static_html
from .pictures import CellImage, cell_name, find_image, option_text, render_figures
from .plugin_values import find_plugin_form, show_with_plugin
from .values import display_block, output_math, strip_delimiters

LONG = 40
"""Number of lines above which output is in a scroll box that readers can expand."""
WIDE = 30
"""Number of characters of a line that fit on a phone, even inside a box; longer lines scroll."""

# An address was replaced when the result was recorded.
_OBJECT = lazy_pattern(r"<[^<>\n]{1,300} at 0x[0-9a-fA-F…]*>|<[\w.]+ object>")
_LONGEST_NAME = 36
_OBJECT_HINT = "end the cell with a value that has text or `_repr_html_`, or write `;` after it"


class RenderedOutputs(Struct, frozen=True):
    """Outputs of a cell as HTML."""

    html: str = ""
    has_anchor: bool = False
    """Whether the first image or table has the cell's label as id."""


@dataclass(slots=True)
class _OutputState:
    """State while the outputs of a cell are rendered."""

    rendering: PageRendering
    cell: Cell
    head: TableSettings | None = None
    """Settings for the first table; None after they have been used."""
    number: int = 0
    """Number of the current output, counted from 1; 0 if the cell has only one."""

    def name(self, language: Language) -> str:
        """Return the accessible name of the current output."""
        cell = self.cell.label or language.translate("cell {number}", number=self.cell.number)
        if not self.number:
            return language.translate("output of {cell}", cell=cell)
        return language.translate("output {number} of {cell}", number=self.number, cell=cell)


def show_outputs(rendering: PageRendering, cell: Cell, result: CellResult) -> RenderedOutputs:
    """Return the HTML of all visible outputs. Problems are reported at the cell."""
    outputs = list(_merge_streams(_visible(cell, result)))
    blocks: list[str | CellImage] = []
    head = _table_head(rendering, cell) if outputs else None
    showing = _OutputState(rendering, cell, head)
    for number, output in enumerate(outputs, 1):
        showing.number = number if len(outputs) > 1 else 0
        blocks.append(_block(showing, output))
    pictures = [block for block in blocks if isinstance(block, CellImage)]
    has_table = head is not None and showing.head is None
    if result.status == "ok" and cell.options.output:
        _warn_of_no_picture(rendering, cell, pictures)
        _warn_of_no_table(rendering, cell, has_table=has_table)
    figures = iter(render_figures(rendering, cell, pictures))
    html = "".join(block if isinstance(block, str) else next(figures) for block in blocks)
    has_anchor = (pictures and cell.figure_number) or (has_table and cell.table_number)
    return RenderedOutputs(html, bool(has_anchor))


def _table_head(rendering: PageRendering, cell: Cell) -> TableSettings | None:
    """Return the caption, id and number for the cell's first table; None if the cell sets none of these."""
    caption, number = cell.options.tbl_cap, cell.table_number
    if not (caption or number):
        return None
    html = inline_html(rendering, option_text(cell, "tbl-cap", caption)) if caption else ""
    return TableSettings(cell.label if number else "", number, html)


def _visible(cell: Cell, result: CellResult) -> Iterator[CellOutput]:
    options = cell.options
    for output in result.outputs if options.output else ():
        is_stderr = isinstance(output, Stream) and output.name == "stderr"
        # the claim itself shows whether it is true
        is_truth = options.claim and isinstance(output, Display) and output.kind == "value"
        if not is_truth and (options.warning or not is_stderr):
            yield output


def _merge_streams(outputs: Iterator[CellOutput]) -> Iterator[CellOutput]:
    """Yield the outputs. Adjacent parts of one stream are joined, because a colour may continue in the next
    part."""
    last: Stream | None = None
    for output in outputs:
        if last and isinstance(output, Stream) and output.name == last.name:
            last = replace(last, text=last.text + output.text, dropped=last.dropped + output.dropped)
            continue
        if last:
            yield last
        last = output if isinstance(output, Stream) else None
        if last is None:
            yield output
    if last:
        yield last


def _block(showing: _OutputState, output: CellOutput) -> str | CellImage:
    rendering, cell = showing.rendering, showing.cell
    name = showing.name(rendering.language)
    if isinstance(output, Stream):
        text = _with_places(rendering, cell, output.text)
        box = _text(rendering.language, text, f"output output-{output.name}", name)
        return box + _dropped_note(rendering.language, output.dropped)
    if isinstance(output, Failure):
        text = _with_places(rendering, cell, output.text)
        return _text(rendering.language, text, "output output-error", name)
    return _display(showing, output, name)


def _display(showing: _OutputState, output: Display, name: str) -> str | CellImage:
    """Return the richest form of an output that a page can show. name: accessible name of the output."""
    rendering, cell = showing.rendering, showing.cell
    if form := find_plugin_form(rendering, output):
        made = show_with_plugin(rendering, cell, form)
        shown = made.html if made.is_drawing else _html(showing, made.html, name)
        if shown:
            return _value(shown)
    if (value := find_interactive(output)) is not None:
        return _interactive(showing, output, value, name)
    html, latex = output.data.get("text/html"), output.data.get("text/latex")
    is_trusted = not rendering.tools.config.markup.untrusted
    if isinstance(html, str) and is_trusted:
        shown = _html(showing, html, name)
        if shown:
            return _value(shown)
    if isinstance(latex, str):
        shown = _latex(rendering, cell, latex)
        if shown:
            return _value(shown)
    picture = find_image(output)
    if picture:
        return picture
    markdown = output.data.get("text/markdown")
    if isinstance(markdown, str) and is_trusted:
        from .markdown_values import markdown_html

        shown = _clean(showing, markdown_html(rendering, markdown, name, showing.head))
        if shown:
            return _value(shown)
    texts = [value for value in output.data.values() if isinstance(value, str)]
    text = output.data.get("text/plain", texts[0] if texts else "")
    if isinstance(text, str) and (found := _OBJECT.search(text)):
        shown = found[0] if len(found[0]) <= _LONGEST_NAME else f"{found[0][:_LONGEST_NAME]}…"
        message = f'missing text for a value of {cell_name(cell)}: it is shown as "{shown}"'
        rendering.reporter.warn("output-object", message, cell.place, _OBJECT_HINT)
    shown = _text(rendering.language, text, "", name) if isinstance(text, str) else ""
    return _value(shown) if shown else ""


def _interactive(
    showing: _OutputState, output: Display, value: InteractiveValue, name: str
) -> str | CellImage:
    """Return the static form of a value that needs a script, and its button."""
    button = live_button(value, showing.rendering)
    picture = find_image(output)
    if picture:
        return replace(picture, alt=value.title, button=button)
    html = _html(showing, static_html(value, showing.rendering), name)
    return f'<div class="output output-value output-interactive">{html.rstrip()}{button}</div>\n'


def _value(inside: str) -> str:
    return f'<div class="output output-value">{inside.rstrip()}</div>\n'


def _html(showing: _OutputState, html: str, name: str) -> str:
    return _clean(showing, clean_html(html, name, showing.head, showing.rendering.language))


def _clean(showing: _OutputState, clean: CleanHtml) -> str:
    """Return the sanitized HTML. Report the elements that sanitizing removed."""
    if clean.has_head:
        showing.head = None
    if clean.dropped:
        message = f"{format_dropped(clean.dropped)} is not allowed in the HTML of {cell_name(showing.cell)}"
        place = showing.cell.place
        showing.rendering.reporter.warn(
            "output-html", message, place, "show a table, an image or text instead"
        )
    return clean.html


def _latex(rendering: PageRendering, cell: Cell, latex: str) -> str:
    tex = strip_delimiters(latex)[0] or ("" if "$" in latex else latex.strip())
    shown = output_math(rendering, tex, display=True) if tex else ""
    if not shown:
        written = " ".join(latex.split())
        written = written if len(written) <= 60 else f"{written[:60]}…"
        message = f'LaTeX "{written}" of {cell_name(cell)} cannot be typeset and is shown as text'
        hint = "have `_repr_latex_` return correct LaTeX such as `$x^2$`"
        rendering.reporter.warn("output-latex", message, cell.place, hint)
        return ""
    return display_block(rendering, tex, shown)


def _text(language: Language, text: str, classes: str, name: str) -> str:
    """Return a `<pre>` with the text; empty without text. Long text is in a box that readers can scroll with
    the keyboard. name: accessible name of the box."""
    html = ansi_html(text)
    if not html:
        return ""
    lines = plain_output(text).rstrip("\n").split("\n")
    is_long = len(lines) > LONG
    # messages on stderr wrap
    is_wide = "output-stderr" not in classes and max(map(len, lines)) > WIDE
    scroll = ' tabindex="0"' if is_long or is_wide else ""
    if is_long:
        classes = f"{classes} output-long".strip()
        label = escape_html(f"{name[:1].upper()}{name[1:]}")
        scroll += f' role="region" aria-label="{label}"'
    attribute = f' class="{classes}"' if classes else ""
    # parsers of HTML drop a line end directly after <pre>
    first = "\n" if html.startswith("\n") else ""
    box = f"<pre{attribute}{scroll}>{first}{html}</pre>\n"
    if not is_long:
        return box
    summary = escape_html(language.translate("All {count} lines", count=language.format_count(len(lines))))
    return f'{box}<details class="output-more"><summary>{summary}</summary></details>\n'


def _dropped_note(language: Language, dropped: int) -> str:
    if not dropped:
        return ""
    size = format_size(dropped)
    if dropped < 1000:
        size = language.translate("{count} bytes", one="{count} byte", count=dropped)
    one = "… {size} more is not kept"
    note = language.translate("… {size} more are not kept", one=one, count=dropped, size=size)
    return f'<p class="output-dropped">{escape_html(note)}</p>\n'


def _with_places(rendering: PageRendering, cell: Cell, text: str) -> str:
    """Return the text, such as a traceback, with lines of cells replaced by lines of the post."""
    of_session = rendering.parsed.cells.session_cells(cell.options.session)
    post = str(rendering.document.path)
    return locate_in_post(text, [code_start(cell, post) for cell in of_session])


def _warn_of_no_picture(rendering: PageRendering, cell: Cell, pictures: list[CellImage]) -> None:
    asked = next((key for key in ("fig-cap", "fig-alt") if key in cell.options.places), "")
    if not (asked or cell.figure_number) or pictures:
        return
    why = f'has "{asked}"' if asked else "is numbered as a figure"
    place = cell.options.places.get(asked or "label", cell.place)
    if any(d.code == "cell-figure" and d.place == place for d in rendering.reporter.diagnostics):
        # a run of a sweep, whose first run was reported
        return
    hint = f"show a figure in the cell, or remove `{asked or 'label'}`"
    rendering.reporter.warn("cell-figure", f"{cell_name(cell)} {why} but shows no image", place, hint)


def _warn_of_no_table(rendering: PageRendering, cell: Cell, *, has_table: bool) -> None:
    asked = "tbl-cap" if "tbl-cap" in cell.options.places else ""
    if not (asked or cell.table_number) or has_table:
        return
    why = f'has "{asked}"' if asked else "is numbered as a table"
    place = cell.options.places.get(asked or "label", cell.place)
    hint = "end the cell with a value that has `_repr_html_`, such as a data frame"
    rendering.reporter.warn("cell-table", f"{cell_name(cell)} {why} but shows no table", place, hint)
