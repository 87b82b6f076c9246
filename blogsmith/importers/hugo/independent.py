"""Renders Hugo's Markdown (goldmark) to HTML with markdown-it, so that its content can be counted. It shares
no code with the translation."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from mdit_py_plugins.deflist import deflist_plugin

from ..verify.markdown_reader import (
    FORMULA_RULES,
    Dollars,
    content_rule,
    formula_html,
    inline_html,
    markdown_reader,
)

PASSTHROUGH = "\n<!-- formulas pass goldmark: {} -->\n"
"""Comment that the importer appends to a page's original text if the passthrough extension protects formulas
from Markdown. It contains their opening delimiters."""
_PASSTHROUGH = re.compile(r"\n<!-- formulas pass goldmark: (.*) -->\n\Z")
_STRING = r"(?:\"(?:\\.|[^\"\\])*\"|`[^`]*`)"
_ESCAPED_CALL = re.compile(r"\{\{([<%])\s*/\*([\s\S]*?)\*/\s*([>%])\}\}")
_HIGHLIGHT = re.compile(
    r"\{\{[<%]\s*highlight\b([^>%]*)[>%]\}\}\n?([\s\S]*?)\{\{[<%]\s*/\s*highlight\s*[>%]\}\}"
)
_FIGURE = re.compile(rf"\{{\{{[<%]\s*figure\b((?:{_STRING}|[^\"`])*?)/?\s*[>%]\}}\}}")
_COMMENT = re.compile(r"\{\{[<%]\s*comment\s*[>%]\}\}[\s\S]*?\{\{[<%]\s*/\s*comment\s*[>%]\}\}")
_DIAGRAM = re.compile(
    r"(?m)^([ \t>]*)(`{3,}|~{3,})[ \t]*(?:mermaid|dot|graphviz)\b[\s\S]*?^[ \t>]*\2[ \t]*$"
    r"|\{\{[<%]\s*mermaid\b[^>%]*[>%]\}\}[\s\S]*?\{\{[<%]\s*/\s*mermaid\s*[>%]\}\}"
)
"""Matches a diagram, whose source is not text of the page."""
_FORMULA_FENCE = re.compile(
    r"(?m)^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(`{3,}|~{3,})[ \t]*(?:math|katex|mathjax)\b[^\n`]*\n"
    r"([\s\S]*?)^[ \t>]*\2[ \t]*$"
)
_DIAGRAM_START = re.compile(r"(?:```|~~~)[ \t]*(?:mermaid|dot|graphviz)\b|\{\{[<%]\s*mermaid\b")
_FENCED_FORMULA = re.compile(r"(?:```|~~~)[ \t]*(?:math|katex|mathjax)\b")
"""Quick test whether a text has fenced formulas, as `_DIAGRAM_START` is for diagrams. The full patterns are
slow."""
_DELIMITED = re.compile(r"\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|(?<!\\)\$([^$]+)\$")
_GITLAB = re.compile(r"(?<!\$)(\$\$?)`([^`\n]+)`\1(?!\$)")
_INLINE_TEMPLATE = re.compile(
    r"\{\{[<%]\s*([\w-]+\.inline)\b[^>%]*[>%]\}\}([\s\S]*?)\{\{[<%]\s*/\s*\1\s*[>%]\}\}"
)
_NO_TEXT = re.compile(r"<(script|style)\b[\s\S]*?</\1\s*>|\{\{[\s\S]*?\}\}|<link\b[^>]*>|<!--[\s\S]*?-->")
_DATA = re.compile(
    r"\{\{[<%]\s*(chart|echarts|plotly|vega|vega-lite|chartjs)\b[^>%]*[>%]\}\}"
    r"([\s\S]*?)\{\{[<%]\s*/\s*\1\s*[>%]\}\}"
)
_CALL = re.compile(rf"\{{\{{([<%])(?:{_STRING}|(?![>%]\}}\}})[^\"`])*[>%]\}}\}}")
_ARGUMENT = re.compile(rf"([\w-]+)\s*=\s*({_STRING}|[^\s\"`]+)")
_TYPESET = re.compile(r"\$\$[^$\n]+\$\$|(?<![$\w])\$[^$\s](?:[^$\n]*[^$\s])?\$(?![$\w])")
"""Matches formulas in the arguments of a shortcode."""
_CAPTION_ARGUMENT = re.compile(rf"\b(?:title|summary|caption)\s*=\s*({_STRING})")
_EMOJI = re.compile(r"(?<!\w):[a-z0-9_+-]+:(?!\w)")
_ATTRIBUTES = re.compile(r"[ \t]*\{[.#][^{}\n]*\}[ \t]*$|^\{[^{}\n]*=[^{}\n]*\}[ \t]*$")
_DISPLAY = (
    r"(?P<left>(?m:^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?P<fence>`{3,}|~{3,})[\s\S]*?"
    r"^[ \t>]*(?P=fence)[`~]*[ \t]*$)"
    r"|\$\$(?:(?!\$\$|\n[ \t>]*\n)[\s\S])+\$\$|`+[^`\n]+`+)"
)
_BRACKETS = re.compile(rf"{_DISPLAY}|\\\\\((?P<line>[\s\S]+?)\\\\\)|\\\\\[(?P<block>[\s\S]+?)\\\\\]")
_RAW_BRACKETS = re.compile(
    rf"{_DISPLAY}|(?<!\\)\\\((?P<line>[\s\S]+?)\\\)|(?<!\\)\\\[(?P<block>[\s\S]+?)\\\]"
)
_SCRIPTS = re.compile(r"(?<=\w)([~^])([^\s~^]+)\1")
_FORMULA = re.compile(r"\{\{[<%]\s*katex\b[^>%]*[>%]\}\}([^$]*?)\{\{[<%]\s*/\s*katex\s*[>%]\}\}")
_DOLLAR = "\ue01d"
"""Placeholder for a dollar character that does not start a formula."""
_MARKER = re.compile(r"^(?:\[![A-Za-z]+\][+-]?|\[[ xX]\][ \t])")


def render_goldmark(text: str, original: str) -> str:
    """Return the text as HTML with formulas as `<math>`.

    text: the page or a part of it. original: text of the whole page, including the `PASSTHROUGH` comment if
    there is one.
    """
    mark = _PASSTHROUGH.search(original)
    has_dollar = mark is None or "$" in mark[1].split()
    text = _COMMENT.sub("", _PASSTHROUGH.sub("", text))
    text = _INLINE_TEMPLATE.sub(lambda found: _NO_TEXT.sub("", found[2]), text)
    if _DIAGRAM_START.search(text):
        text = _DIAGRAM.sub("", text)
    if _FENCED_FORMULA.search(text):
        text = _FORMULA_FENCE.sub(_formulas, text)
    text = _DATA.sub(lambda found: f"\n\n<pre><code>{escape(found[2])}</code></pre>\n\n", text)
    if "$`" in text:
        text = _GITLAB.sub(r"\1\2\1", text)
    text = _HIGHLIGHT.sub(_highlighted, text)
    text = _FIGURE.sub(_figure, text)
    text = _FORMULA.sub(lambda found: _math(found[1]), text)
    text = _CALL.sub(_call, text)
    text = _ESCAPED_CALL.sub(r"{{\1\2\3}}", text)
    if not has_dollar:
        text = re.sub(r"(?<![$\\])\$(?!\$)", _DOLLAR, text)
    if mark and any(each in text for each in ("$$", r"\(", r"\[")):
        text = _RAW_BRACKETS.sub(_bracketed, text)
    if any(each in text for each in ("$$", r"\\(", r"\\[")):
        text = _BRACKETS.sub(_bracketed, text)
    html = str(_parser(mark is not None).render(text))
    return html.replace(_DOLLAR, "$").replace(quote(_DOLLAR), "$")


def _highlighted(found: re.Match[str]) -> str:
    code = f"<code>{escape(found[2])}</code>"
    return code if re.search(r"hl_inline\s*=\s*[\"']?true", found[1]) else f"\n\n<pre>{code}</pre>\n\n"


def _formulas(found: re.Match[str]) -> str:
    inside = re.sub(r"(?m)^[ \t]*(?:>[ \t]?)+", "", found[3]) if ">" in found[1] else found[3]
    parts = [next(filter(None, each)) for each in _DELIMITED.findall(inside)]
    return found[1] + "".join(map(_math, parts or [inside]))


def _bracketed(found: re.Match[str]) -> str:
    if left := found["left"]:
        # markdown-it would find lists and headings in the lines of display math
        is_display = left.startswith("$$") and "\n" in left
        return _long_display(found) if is_display else left
    tex = _unquoted(found, found["line"] or found["block"]).strip()
    return _math(_unescape(tex) if found[0].startswith("\\\\") else tex)


def _long_display(found: re.Match[str]) -> str:
    tex = _unquoted(found, found["left"][2:-2])
    is_raw = found.re is _RAW_BRACKETS
    return _math(unescape(tex) if is_raw else _unescape(tex))


def _unquoted(found: re.Match[str], tex: str) -> str:
    """Return the TeX without quote markers, if the formula begins in a quote."""
    line = found.string[: found.start()].rpartition("\n")[2]
    return re.sub(r"(?m)^[ \t]*(?:>[ \t]?)+", "", tex) if line.lstrip().startswith(">") else tex


def _math(tex: str) -> str:
    tex = re.sub(r"\\(?:text\w*|mbox)\{[^{}$]*\}", lambda found: re.sub(r"(?<!\\)_", r"\\_", found[0]), tex)
    return formula_html(" ".join(tex.split()))


def _figure(found: re.Match[str]) -> str:
    values = {name: value.strip('"`') for name, value in _ARGUMENT.findall(found[1])}
    if not values.get("src"):
        return ""
    words = " ".join(values.get(name, "") for name in ("title", "caption", "attr"))
    if values.get("title") == values.get("caption"):
        words = values.get("caption", "")
    return f'\n\n<img src="{escape(values["src"])}">\n\n{words}\n\n'


def _call(found: re.Match[str]) -> str:
    if re.match(r"\{\{[<%]\s*/\*", found[0]):
        return found[0]
    if re.match(r"\{\{[<%]\s*(?:ref|relref)\b", found[0]):
        return "#"
    said = " ".join(
        [each.strip('"`') for each in _CAPTION_ARGUMENT.findall(found[0])] or _TYPESET.findall(found[0])
    )
    if re.match(r"\{\{[<%]\s*/?\s*(?:sidenote|marginnote|footnote)\b", found[0]):
        # a margin note is not part of the word before it
        return " "
    if re.match(r"\{\{[<%]\s*(?:youtube|vimeo|video|tab|tabs|gist|img|image)\b", found[0]):
        return ""
    return f"\n\n{said}\n\n" if said else ""


@lru_cache(maxsize=2)
def _parser(is_raw: bool) -> MarkdownIt:
    plain = unescape if is_raw else _unescape
    formula = content_rule(lambda tex: inline_html(tex, lambda tex: _math(plain(tex))))
    rules = dict.fromkeys(FORMULA_RULES, formula)
    parser = markdown_reader(deflist_plugin, dollars=Dollars(True, False), rules=rules)
    parser.core.ruler.push("marks", _without_marks)
    return parser


def _without_marks(state: StateCore) -> None:
    """Remove from prose the characters that goldmark interprets but markdown-it would show."""
    for token in state.tokens:
        for index, child in enumerate(token.children or ()):
            if child.type == "text":
                text = child.content if index else _MARKER.sub("", child.content)
                text = _ATTRIBUTES.sub("", _EMOJI.sub("", text))
                # a superscript counts as a word of its own
                child.content = _SCRIPTS.sub(
                    lambda found: f" {found[2]} " if found[1] == "^" else found[2], text
                )


def _unescape(tex: str) -> str:
    """Remove Markdown escapes from TeX."""
    tex = re.sub(r"&(?:lt|gt|amp|quot|#\d+);", lambda found: unescape(found[0]), tex)
    tex = re.sub(r"(\\text\w*\{[^{}]*\})|\\([_*<>`~'\"])", lambda found: found[1] or found[2], tex)
    tex = re.sub(r"\\{3,4}", r"\\\\", tex)
    return re.sub(r"\\\\(?=[{}|,;:!])", r"\\", tex)
