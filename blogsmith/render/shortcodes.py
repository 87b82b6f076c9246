"""Rendering of shortcodes: the arguments become data for a template of the theme.

`figure_blocks.py` prepares the data for blogsmith's own shortcodes, a plugin's `shortcode_data` those for the
plugin's. All other templates get the arguments as written in `args`, and the parts of a figure in `figure`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from markdown_it.token import Token

from ..base.diagnostics.model import SiteError, format_suggestion, list_choices
from ..hooks.calls import plugin_hint
from ..syntax.open_elements import escape_unfinished, find_open_markup
from ..syntax.records import Shortcode, get_record
from .context import PageRendering, Rule
from .figure_blocks import ARGUMENTS, DATA_FUNCTIONS, argument_name, block_name, plain_figure, report_argument


def _shortcode(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    call = get_record(tokens[index], Shortcode)
    theme = rendering.tools.theme
    if call.name in rendering.failed_shortcodes:
        return ""
    if call.name and not theme.has_shortcode(call.name):
        _report_unknown(rendering, call)
        return _print_source(call, tokens[index])
    for mistake in call.mistakes:
        rendering.reporter.error("shortcode-argument", mistake.message, mistake.place, mistake.hint)
    if not call.name or not call.is_readable:
        return _print_source(call, tokens[index])
    _check_arguments(rendering, call)
    data = _data(rendering, call)
    if data is None:
        return ""
    context = {"args": dict(call.args), "id": call.id, "label": _label(rendering, call), **data}
    if "figure" not in context:
        context["figure"] = plain_figure(rendering, call)
    if "widget" in data:
        rendering.widgets.add(str(data["widget"]))
    try:
        html = theme.render_shortcode(call.name, context, str(rendering.document.path), rendering.language)
    except SiteError as error:
        if rendering.parsed.page.options.plugin_hint(call.name):
            # the template exists, but the plugin that prepares its data is not loaded
            _report_unknown(rendering, call)
            return _print_source(call, tokens[index])
        rendering.add_diagnostics(error)
        if any(found.code == "template-limit" for found in error.diagnostics):
            # the template takes too long, and a post may contain a thousand calls
            rendering.failed_shortcodes.add(call.name)
        return ""
    if missing := find_open_markup(html, is_fragment=True):
        message = f'shortcode "{call.name}" leaves an element open: missing "{missing}"'
        hint = f"write `{missing}` in shortcodes/{call.name}.html"
        rendering.reporter.error("html-open", message, call.place, hint)
        html = escape_unfinished(html) + missing * missing.startswith("</")
    if call.number and call.id:
        _check_id(rendering, call, html)
    return html if tokens[index].type == "shortcode_inline" else html.strip() + "\n"


def _check_id(rendering: PageRendering, call: Shortcode, html: str) -> None:
    """Report the id of a figure if the template did not print it, because references to it would point
    nowhere."""
    if not re.search(rf"""\sid=["']?{re.escape(call.id)}["'\s>]""", html):
        message = f'id "{call.id}" has no effect because the template of "{call.name}" does not print it'
        hint = (
            f"write `{{{{ figure.attributes }}}}` in the first tag of shortcodes/{call.name}.html and "
            "`{{ figure.caption }}` in its text, or remove `id`"
        )
        report_argument(rendering, call, "id", message, hint)


def _report_unknown(rendering: PageRendering, call: Shortcode) -> None:
    """Report an unknown shortcode, once per page. Its arguments and its end tag are not checked."""
    if call.name.startswith("end") and call.name[3:] in rendering.unknown_shortcodes:
        return
    rendering.unknown_shortcodes.add(call.name)
    names = rendering.tools.theme.shortcode_names()
    hint = rendering.parsed.page.options.plugin_hint(call.name) or OTHER_TAG_HINTS.get(call.name)
    near = None if hint else rendering.reporter.nearest(call.name, names)
    hint = hint or format_suggestion(near) or f"add `shortcodes/{call.name}.html`, or {list_choices(names)}"
    fix = rendering.reporter.correct(call.place, call.name, near)
    rendering.reporter.error("shortcode-unknown", f'unknown shortcode "{call.name}"', call.place, hint, fix)


def _print_source(call: Shortcode, token: Token) -> str:
    """Return an invalid call as the author wrote it, so that no text is lost if the page is published
    anyway."""
    text = escape(call.source, quote=False)
    return text if token.type == "shortcode_inline" or not text else f"<p>{text}</p>\n"


def _check_arguments(rendering: PageRendering, call: Shortcode) -> None:
    """Report unknown arguments of blogsmith's own shortcodes. The templates of other shortcodes check
    theirs."""
    known = ARGUMENTS.get(call.name, call.args)
    for name in call.args:
        if name not in known:
            place = call.key_places.get(name) or call.arg_maps[name].place(0)
            near = rendering.reporter.nearest(name, [one for one in known if one not in call.args])
            written = [argument_name(call, one) for one in known if one != "id" or call.source]
            hint = format_suggestion(argument_name(call, near) if near else None) or list_choices(written)
            message = f'unknown argument "{argument_name(call, name)}" for {block_name(call)}'
            fix = rendering.reporter.correct(place, name, near)
            rendering.reporter.error("shortcode-argument", message, place, hint, fix)


def _label(rendering: PageRendering, call: Shortcode) -> str:
    return rendering.language.translate("Figure {number}", number=call.number) if call.number else ""


def _data(rendering: PageRendering, call: Shortcode) -> Mapping[str, Any] | None:
    """Return the data for the template, empty without a data function. Return None after reporting an invalid
    argument."""
    if call.name in rendering.tools.plugins.shortcode_data:
        return _plugin_data(rendering, call)
    own = DATA_FUNCTIONS.get(call.name)
    return own(rendering, call) if own else {}


def _plugin_data(rendering: PageRendering, call: Shortcode) -> Mapping[str, Any] | None:
    plugin, function = rendering.tools.plugins.shortcode_data[call.name]
    try:
        data: object = function(dict(call.args), rendering.document)
        if isinstance(data, Mapping):
            return data
        message = f'plugin "{plugin}" returns invalid data for "{call.name}": expected a mapping'
        rendering.reporter.error("plugin", message, call.place, plugin_hint(plugin))
    except ValueError as error:
        name = next((name for name in call.args if f'"{name}"' in str(error)), "")
        shown = argument_name(call, name) if name else ""
        hint = f"write another value of `{shown}`" if name else f"correct the arguments of `{call.name}`"
        message = str(error).replace(f'"{name}"', f'"{shown}"')
        report_argument(rendering, call, name, message, hint)
    except SiteError as error:
        for found in error.diagnostics:
            rendering.reporter.add(found)
    except Exception as error:
        # an error of a plugin must not stop the build, and the message must name the plugin
        message = f'plugin "{plugin}" fails on "{call.name}": {type(error).__name__}: {error}'
        rendering.reporter.error("plugin", message, call.place, plugin_hint(plugin))
    return None


OTHER_TAG_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "post_url": "write `[text](2026-03-14-name.md)` to link to the post",
        **dict.fromkeys(("ref", "relref"), "write a link to the file of the post: `[text](other-post.md)`"),
        "figure": 'write an image as `![text](image.png "caption")`, or call the shortcode `img`',
        "link": "write `[text](page.md)` to link to the page",
        "highlight": "start a code fence with ```python",
        "endhighlight": "start a code fence with ```python",
    }
)
"""Liquid tag of another site generator → hint with the syntax to write instead."""

RULES: Mapping[str, Rule] = MappingProxyType({"shortcode": _shortcode, "shortcode_inline": _shortcode})
