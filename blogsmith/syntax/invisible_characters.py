"""Invisible characters in code and formulas: what runs, or is copied, would not be what one reads.

Prose is left alone, since languages need some of them; in code they are a mistake or an attack
(CVE-2021-42574, "Trojan Source").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.characters import escape_of, find_hidden, name_of
from ..base.diagnostics.model import Place, Reporter, TextMap
from .records import Math, Shortcode, record_of
from .state import PageState, page_of

_BY_LINES: Mapping[str, str] = MappingProxyType(
    {"fence": "code", "code_block": "code", "math_display": "formula", "shortcode": "shortcode"}
)
"""Type of a token → what it is called in a message."""


def hidden_characters(state: StateCore) -> None:
    """Core rule: warn of the first such character of each line of code, of each formula and shortcode."""
    page = page_of(state.env)
    for token in state.tokens:
        if token.type in _BY_LINES and token.map:
            _warn_in_lines(page, token, _BY_LINES[token.type])
        elif token.type == "inline" and find_hidden(token.content):
            _warn_in_text(page, record_of(token, TextMap), token.children or ())
        elif token.type == "html_block" and token.children:
            warn_of_hidden_math(token.children, page.reporter)


def warn_of_hidden_math(tokens: Iterable[Token], reporter: Reporter) -> None:
    """The same for the formulas among inline tokens."""
    for token in tokens:
        if token.type in ("math_inline", "math_display"):
            _warn_in_map(record_of(token, Math).origin, "formula", reporter)


def _warn_in_lines(page: PageState, token: Token, what: str) -> None:
    first, end = token.map or (0, 0)
    for number in range(first, min(end, len(page.lines))):
        if found := find_hidden(page.lines[number]):
            _warn(page.reporter, what, found[0], Place(page.first_line + number, found.start() + 1))


def _warn_in_text(page: PageState, origin: TextMap, children: Sequence[Token]) -> None:
    warn_of_hidden_math(children, page.reporter)
    for child in children:
        if child.type in ("shortcode", "shortcode_inline"):
            for argument in record_of(child, Shortcode).arg_maps.values():
                _warn_in_map(argument, "shortcode", page.reporter)
        elif child.type in ("code_inline", "value") and (found := find_hidden(child.content)):
            at = max(0, origin.text.find(child.content))
            _warn(page.reporter, "code", found[0], origin.place(at + found.start()))


def _warn_in_map(origin: TextMap, what: str, reporter: Reporter) -> None:
    if found := find_hidden(origin.text):
        _warn(reporter, what, found[0], origin.place(found.start()))


def _warn(reporter: Reporter, what: str, character: str, place: Place) -> None:
    message = f"this {what} holds the invisible character {name_of(character)}"
    hint = f"take it out, or write it as {escape_of(character)}" if what == "code" else "take it out"
    fix = reporter.substitute(place, character, "", title="take the character out")
    reporter.warn("hidden-character", message, place, hint, fix)
