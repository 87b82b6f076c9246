"""Tabs as radio buttons, each before its content, so that the browser shows one tab at a time without a
script.

Without stylesheets, and on paper, all tabs are shown one after the other, each after its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.headings import plain_text
from ..syntax.records import Tab, get_record
from .context import PageRendering, Rule
from .prose import attributes, escape_html


def _tabs_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    labels = _labels(rendering, tokens, index)
    rendering.widgets.add("teaching")
    # a script applies the reader's choice to other blocks of tabs
    known = rendering.tab_labels
    if not known.isdisjoint(labels):
        rendering.widgets.add("tabs")
    known.update(labels)
    own = str(tokens[index].attrs.get("class", ""))
    classes = escape_html(" ".join(["tabs", *(name for name in own.split() if name != "tabs")]))
    rest = attributes(tokens[index], "class")
    return f'<div class="{classes}"{rest} role="group" aria-label="{escape_html(" / ".join(labels))}">\n'


def _labels(rendering: PageRendering, tokens: Sequence[Token], index: int) -> list[str]:
    """Return the labels of a block of tabs as plain text."""
    level, labels = tokens[index].level + 1, []
    for at in range(index + 1, len(tokens)):
        token = tokens[at]
        if token.type == "tab_open" and token.level == level:
            labels.append(_label(rendering, tokens, at))
        elif token.type == "tabs_close" and token.level < level:
            break
    return labels


def _label(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Return the label of the tab that starts at `index` as plain text."""
    return " ".join(plain_text(tokens[index + 1].children or (), rendering.parsed.page).split())


def _tabs_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</div>\n"


def _tab_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    tab = get_record(tokens[index], Tab)
    name, value = f"tabs-{tab.group}", escape_html(_label(rendering, tokens, index))
    button = f'<input type="radio" name="{name}" id="{name}-{tab.number}" value="{value}"'
    return (
        f'<div class="tab">{button}{" checked" if tab.is_selected else ""}><label for="{name}-{tab.number}">'
    )


def _body_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return '</label>\n<div class="tab-body">\n'


def _body_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</div>\n"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "tabs_open": _tabs_open,
        "tabs_close": _tabs_close,
        "tab_open": _tab_open,
        "tab_body_open": _body_open,
        "tab_body_close": _body_close,
        "tab_close": _tabs_close,
    }
)
