"""Values that a plugin shows, through the hook `cell_output`."""

from __future__ import annotations

from msgspec import Struct

from ...hooks import OutputForm
from ...hooks.calls import plugin_hint
from ...model.cells import Cell
from ...model.results import Display
from ..context import PageRendering
from .pictures import cell_name


class PluginForm(Struct, frozen=True):
    """A value in one of its MIME types, and the plugin function that shows it."""

    mime: str
    data: str
    form: OutputForm


class PluginHtml(Struct, frozen=True):
    """HTML of a value, made by a plugin."""

    html: str = ""
    is_drawing: bool = False
    """Whether `html` is a sanitized drawing. Other HTML is not sanitized yet."""


def find_plugin_form(rendering: PageRendering, output: Display) -> PluginForm | None:
    """Return the value in its first MIME type that a plugin may show; None if there is none."""
    forms = rendering.tools.plugins.cell_outputs
    is_untrusted = rendering.tools.config.markup.untrusted
    for mime, data in output.data.items():
        form = forms.get(mime)
        if form and isinstance(data, str) and not (form.trusted and is_untrusted):
            return PluginForm(mime, data, form)
    return None


def show_with_plugin(rendering: PageRendering, cell: Cell, found: PluginForm) -> PluginHtml:
    """Return the HTML that the plugin makes of the value. After an error, report it and return empty HTML."""
    try:
        return _show(rendering, found)
    except (ImportError, FileNotFoundError) as error:
        message = f'missing renderer for "{found.mime}" of {cell_name(cell)}'
        rendering.reporter.warn("output-plugin", message, cell.place, str(error))
    except (ValueError, SyntaxError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        message = f'value not allowed by plugin "{found.form.plugin}" in {cell_name(cell)}: {reason}'
        rendering.reporter.error("output-plugin", message, cell.place, "end the cell with another value")
    except Exception as error:
        # A bug in a plugin must not stop the build, and the message must name the plugin.
        start = f'invalid result of plugin "{found.form.plugin}" for "{found.mime}"'
        message = f"{start}: {type(error).__name__}: {error}"
        rendering.reporter.error("plugin", message, cell.place, plugin_hint(found.form.plugin))
    return PluginHtml()


def _show(rendering: PageRendering, found: PluginForm) -> PluginHtml:
    made = found.form.show(found.data).strip()
    if not made.startswith(("<svg", "<?xml")):
        return PluginHtml(made)
    from ..svg.drawings import sanitize_drawing

    rendering.diagrams += 1
    drawing = sanitize_drawing(made, f"diagram-{rendering.diagrams}--", found.data)
    return PluginHtml(drawing.html("", rendering.language), is_drawing=True)
