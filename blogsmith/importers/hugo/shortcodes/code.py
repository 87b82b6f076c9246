"""Shortcodes of code, formulas and diagrams, of links and parameters."""

from __future__ import annotations

import re

from ...text.math import display, inline, split_formula
from ...text.placement import Replacement, dedent, fence
from ...text.tags import address_text
from ..fences import info_string, options_in
from .context import CallContext
from .parse import Call, source_of

_FORMULA_WORDS = frozenset(("display", "block", "displaymode"))
"""Arguments that make a formula a display."""
_DELIMITED = re.compile(r"\s*(?:\$\$|\$|\\\\?\(|\\\\?\[)")


def show_highlight(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`highlight`: a code block, or with `hl_inline` a code span."""
    if call.inner is None:
        return None
    written = ",".join([*call.positional[1:], *(f'{key}="{value}"' for key, value in call.named.items())])
    options = options_in(written)
    language = call.get(0, "lang", "language")
    if options.pop("hl_inline", "false") == "true":
        return Replacement(context.finished.mask(f"`{inner.strip()}`"))
    code = re.sub(r"\A[ \t]*\n|\n[ \t]*\Z", "", inner)
    return _block(code, info_string(language or "text", options), context)


def _block(code: str, info: str, context: CallContext) -> Replacement:
    lines = fence(code, info).split("\n")
    # line by line, so that a list or quote around it can indent them
    return Replacement("\n".join(map(context.finished.mask, lines)), is_block=True)


def show_formula(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`math`, `katex`: formulas between delimiters, or TeX that is one formula."""
    if call.inner is None or not inner.strip():
        written = call.get("tex", "content", "formula", "code", 0)
        if written and written not in _FORMULA_WORDS:
            return Replacement(context.finished.mask(inline(written)))
        # themes load what shows formulas by such a call
        context.notice("dropped", f"shortcode {call.name} shows nothing", "", "")
        return Replacement("")
    if _DELIMITED.match(inner) or re.search(r"\$\$|\\\\?\[|\\\\?\(|(?<!\\)\$", inner):
        return _delimited(inner, context)
    is_display = (
        not _FORMULA_WORDS.isdisjoint((*call.positional, *call.named))
        or "\n" in inner.strip()
        # alone on its lines
        or inner.lstrip(" \t").startswith("\n")
    )
    tex = inner.strip()
    if not is_display:
        return Replacement(context.finished.mask(inline(tex)))
    return Replacement(context.finished.mask(display(tex)), is_block=True)


def _delimited(inner: str, context: CallContext) -> Replacement:
    """Text whose formulas no Markdown parser has seen: their TeX is as it will be."""
    opener, tex = split_formula(inner.strip())
    if opener in ("$$", r"\[", r"\\["):
        return Replacement(context.finished.mask(display(tex)), is_block=True)
    if opener and opener not in tex:
        return Replacement(context.finished.mask(inline(tex)))
    shown = re.sub(
        r"\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\]|\\\([\s\S]+?\\\)|(?<![\\$])\$(?!\$)[^$]+?\$",
        lambda found: context.finished.mask(found[0]),
        inner,
    )
    return Replacement(shown)


def show_diagram(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`mermaid`: a fence of that language."""
    if call.inner is None:
        return None
    return _block(dedent(inner), "mermaid", context)


def show_data(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`chart`, `echarts` …: what a script would draw, as code."""
    if not inner.strip():
        return None
    hint = "draw it with a cell of code, or put a picture there"
    context.notice("left", f"shortcode {call.name}: its data stand there as code", hint, "")
    return _block(source_of(call.inner or ()).strip("\n"), "js", context)


def show_reference(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`ref` and `relref`: the destination of a link."""
    target = call.get(0, "path")
    address = context.link(target)
    if address:
        return Replacement(address_text(address))
    context.notice("missing", f'{call.name} "{target}": there is no such page', "", "")
    return Replacement(address_text(target or "#"))


def show_parameter(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`param`: a value of the front matter or the configuration."""
    value = context.param(call.get(0, "name"))
    return Replacement(value) if value else None


def show_file(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`include`, `readfile`, `code`: the text of a file, as code if an argument says its language."""
    name = call.get("file", "src", "path", 0)
    text = context.file(name) if name else ""
    if not text:
        return None
    language = call.get("language", "lang", "code" if call.get("code") not in ("true", "") else "lang", 1)
    if language or call.name == "code" or call.get("code") == "true":
        return _block(text.strip("\n"), language, context)
    return Replacement(text, is_block=True)


def hide_comment(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`comment`: what Hugo does not show."""
    context.notice("dropped", f"shortcode {call.name}: what is not shown is left out", "", inner)
    return Replacement("")


HANDLERS = {
    **dict.fromkeys(("highlight", "codeblock"), show_highlight),
    **dict.fromkeys(
        ("math", "katex", "mathjax", "latex", "tex", "equation", "inlinemath", "eq"), show_formula
    ),
    **dict.fromkeys(("mermaid", "diagram"), show_diagram),
    **dict.fromkeys(("chart", "echarts", "plotly", "vega", "vega-lite", "chartjs"), show_data),
    **dict.fromkeys(("ref", "relref"), show_reference),
    "param": show_parameter,
    **dict.fromkeys(("include", "readfile", "code", "codefile", "code-file", "includemd"), show_file),
    **dict.fromkeys(("comment", "hide", "private"), hide_comment),
}
