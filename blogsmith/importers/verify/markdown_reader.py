"""The Markdown reader that counts what a source has: markdown-it with stock plugins, formulas as `<math>`.

Each system adds what its dialect has more. It shares no code with our own parser or with any translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from ...base.patterns import lazy_pattern

_DIAGRAM = lazy_pattern(r"\s*\{?\.?(?:mermaid|dot|graphviz)\b")
FORMULA_RULES = ("math_inline", "math_inline_double", "math_block")
"""Tokens of formulas."""


def markdown_reader() -> MarkdownIt:
    """CommonMark with tables, strikethrough and footnotes, whose numbers are words."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin)
    parser.add_render_rule("footnote_caption", _render_number)
    parser.add_render_rule("fence", _render_fence)
    return parser


def is_diagram(info: str) -> bool:
    """Return whether code is a diagram: the new page shows a picture of it, so its source does not count."""
    return _DIAGRAM.match(info) is not None


def read_dollars(parser: MarkdownIt, *, allow_space: bool, allow_digits: bool, labels: bool = False) -> None:
    """Formulas between dollars, two of them in a line too.

    allow_space, allow_digits: blanks inside the dollars, digits beside them. labels: `(label)` behind them.
    """
    parser.use(
        dollarmath_plugin,
        allow_labels=labels,
        allow_space=allow_space,
        allow_digits=allow_digits,
        double_inline=True,
    )
    parser.inline.ruler.before("math_inline", "math_with_text", _read_formula_with_text)
    for name in FORMULA_RULES:
        parser.add_render_rule(name, render_formula)


_TEXT = r"\\(?:text[a-z]{0,2}|mbox) ?\{(?=[^}\n]{0,200}\$)(?>(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,200})\}"
_OTHER = rf"(?:(?!{_TEXT})\\[^\n]|[^\\$`\n])*"
_WITH_TEXT = lazy_pattern(rf"\$(?!\$)((?:{_OTHER}(?>{_TEXT})){{1,8}}{_OTHER})\$(?!\$)")


def _read_formula_with_text(state: StateInline, silent: bool) -> bool:
    r"""A formula with dollars in an argument of `\text`, which MathJax and KaTeX find by its braces."""
    found = _WITH_TEXT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("math_inline", "math", 0).content = found[1]
    state.pos = found.end()
    return True


def formula_html(tex: str) -> str:
    """The element that counts as a formula."""
    return f'<math alttext="{escape(tex)}"></math>'


def render_formula(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """The rule for tokens whose content is TeX."""
    return formula_html(tokens[index].content)


def _render_fence(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return "" if is_diagram(tokens[index].info) else str(self.fence(tokens, index, options, env))


def _render_number(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return str(tokens[index].meta["id"] + 1)
