"""Renders Markdown of a source to HTML, so that its content can be counted. It uses markdown-it with stock
plugins, and shows formulas as `<math>`.

Each system adds the extensions of its Markdown dialect. This module shares no code with blogsmith's parser or
with any translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from ...api.importing import lazy_pattern

Rule = Callable[..., str]
"""A render rule of markdown-it."""
_DIAGRAM = lazy_pattern(r"\s*\{?\.?(?:mermaid|dot|graphviz)\b")
_TITLE = lazy_pattern(r"<h1>(.*?)</h1>", re.DOTALL)
FORMULA_RULES = ("math_inline", "math_inline_double", "math_block")
"""markdown-it's token types for formulas."""


class Dollars(NamedTuple):
    """Options for formulas between single dollars. Inline math between double dollars is always allowed."""

    allow_space: bool
    """Whether spaces are allowed directly inside the dollars."""
    allow_digits: bool
    """Whether digits are allowed directly outside the dollars."""
    labels: bool = False
    """Whether a `(label)` may follow the formula."""


def markdown_reader(
    *plugins: Callable[..., None],
    dollars: Dollars | None = None,
    rules: Mapping[str, Rule] = MappingProxyType({}),
) -> MarkdownIt:
    """Return a CommonMark parser with tables, strikethrough and footnotes. In its HTML, footnote numbers are
    words. plugins: extensions of a system's dialect. dollars: None if dollars are text. rules: token type →
    render rule."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.core.ruler.after("normalize", "indented_rows", _outdent_rows)
    for plugin in (footnote_plugin, *plugins):
        parser.use(plugin)
    shown: dict[str, Rule] = {"footnote_caption": _render_number, "fence": _render_fence}
    if dollars:
        space, digits, labels = dollars
        options = {"allow_labels": labels, "allow_space": space, "allow_digits": digits}
        parser.use(dollarmath_plugin, **options, double_inline=True)
        parser.inline.ruler.before("math_inline", "math_with_text", _read_formula_with_text)
        shown |= dict.fromkeys(FORMULA_RULES, content_rule(inline_html))
    for name, rule in {**shown, **rules}.items():
        parser.add_render_rule(name, rule)
    return parser


_ROWS = lazy_pattern(
    r"(?m)^(?P<rule>[ ]{0,3}(?=[^\n]*\|)(?=[^\n]*-)[-|: ]+\n)(?P<rows>(?:[^\n|]*\|[^\n]*(?:\n|\Z))+)"
)


def _outdent_rows(state: StateCore) -> None:
    """Remove the indentation of table rows, which markdown-it would read as code."""
    state.src = _ROWS.sub(
        lambda found: found["rule"] + re.sub(r"(?m)^[ \t]{4,}", "", found["rows"]), state.src
    )


def content_rule(show: Callable[[str], str]) -> Rule:
    """Return a rule that renders a token as `show(content of the token)`."""

    def render(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return show(tokens[index].content)

    return render


def demote_title(html: str) -> str:
    """Convert the first level-1 heading to a paragraph, because the new page has the title outside of its
    text."""
    return _TITLE.sub(r"<p>\1</p>", html, count=1)


def is_diagram(info: str) -> bool:
    """Return whether a code block with this info string is a diagram. The source of a diagram is not counted,
    because the new page shows an image."""
    return _DIAGRAM.match(info) is not None


_TEXT = r"\\(?:text[a-z]{0,2}|mbox) ?\{(?=[^}\n]{0,200}\$)(?>(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,200})\}"
_OTHER = rf"(?:(?!{_TEXT})\\[^\n]|[^\\$`\n])*"
_WITH_TEXT = lazy_pattern(rf"(\$\$?)(?!\$)((?:{_OTHER}(?>{_TEXT})){{1,8}}{_OTHER})\1(?!\$)")


def _read_formula_with_text(state: StateInline, silent: bool) -> bool:
    r"""Parse a formula with dollars in an argument of `\text`, as MathJax and KaTeX do."""
    found = _WITH_TEXT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("math_inline", "math", 0).content = found[2]
    state.pos = found.end()
    return True


def formula_html(tex: str) -> str:
    """Return the HTML element that is counted as a formula."""
    return f'<math alttext="{escape(tex)}"></math>'


_WORDS = lazy_pattern(r"(?:\d[\d.,]*(?=[,\s])|\s)[^\\^_={}+<>|/*&]*[^\W\d_]{2,}[^\\^_={}+<>|/*&]*")


def inline_html(tex: str, show: Callable[[str], str] = formula_html) -> str:
    """Return `show(tex)`, the element of a formula between dollars. If `tex` is words between two prices,
    return the words as text."""
    return f" {escape(tex)} " if _WORDS.fullmatch(tex) else show(tex)


def _render_fence(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    if token.info.strip() == "math":
        return formula_html(token.content)
    return "" if is_diagram(token.info) else str(self.fence(tokens, index, options, env))


def _render_number(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return str(tokens[index].meta["id"] + 1)
