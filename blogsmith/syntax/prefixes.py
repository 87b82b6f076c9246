"""Callouts without a marker: a paragraph, quote or list item that starts with a declared prefix, `💡 Key
insight: …`.

Emphasis, case and separator may differ from the declaration. Runs after the inline rules, before quotes and
dashes become typographic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import category

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import TextMap, confirm_typo, nearest
from ..base.patterns import lazy_pattern
from .callouts import Marker, make_callout, wrap_callouts
from .records import Callout, get_record
from .state import PageState, get_page

_TEXT = frozenset(("text", "text_special"))
_OPENERS = frozenset(("strong_open", "em_open"))
_CLOSERS = frozenset(("strong_close", "em_close"))
_BREAKS = frozenset(("softbreak", "hardbreak"))
_VARIATION = "\ufe0e\ufe0f"
"""Invisible characters that select the text or emoji form of a symbol. Editors add or drop them."""
_SEPARATOR = lazy_pattern(r"\s*(?:[:：]|[—–]|-{2,3}|(?<=\s)-(?=\s))")
_DECLARED_SEPARATOR = lazy_pattern(r"\s*(?:[:：—–]|-{1,3})\s*\Z")
_SENTENCE_END = lazy_pattern(r"\s*[.!?](?=\s|\Z)")
_LABEL = lazy_pattern(
    r"[*_\s\ufe0e\ufe0f]*([^\W_](?:[^:：—–.!?*_\n]{0,40}[^\s:：—–.!?*_\n])?)[ \t]*(?=[:：—–*_\n]|\Z)"
)
_HAS_SEPARATOR = lazy_pattern(r"[*_ \t]*[:：—–]")
_MAX_OPENING = 200
"""Number of characters of a paragraph that are compared with prefixes."""


class Prefix(Struct, frozen=True):
    """A prefix declared for a callout kind, split into its parts."""

    text: str
    """The whole prefix as declared."""
    kind: str
    emoji: str
    """Emoji at the start of the prefix, without variation selectors; empty if it starts with a word."""
    label: str
    """Text of the prefix after the emoji, without the separator."""
    letters: tuple[str, ...]
    """Emoji and label for comparison: case-folded, without whitespace."""
    is_separated: bool
    """Whether the declared label is followed by a separator such as a colon."""


class _Character(Struct, frozen=True):
    """A character at the start of a paragraph."""

    value: str
    token: int
    """Index of its token among the children of the paragraph."""
    offset: int
    """Index in the content of the token."""


class _Opening(Struct, frozen=True):
    """The text at the start of a paragraph, up to the first token that is neither text nor emphasis."""

    characters: list[_Character]
    emphasis_ends: frozenset[int]
    """Indices of the characters that are directly followed by the end of emphasis."""

    def text(self, start: int = 0) -> str:
        """Return the text of the opening from the character `start` on."""
        return "".join(char.value for char in self.characters[start:])


@lru_cache(maxsize=16)
def read_prefixes(declared: tuple[tuple[str, str], ...]) -> tuple[Prefix, ...]:
    """Parse the (prefix, kind) pairs of the settings and plugins."""
    return tuple(_read_prefix(text, kind) for text, kind in declared if text.strip())


def _read_prefix(text: str, kind: str) -> Prefix:
    separator = _DECLARED_SEPARATOR.search(text)
    if separator and not separator.start():
        # The declared text is only a separator.
        separator = None
    body = text[: separator.start()] if separator else text.rstrip()
    first = body.split()[0] if body.split() else ""
    is_symbol = category(first[:1] or "x") == "So"
    label = body.lstrip()[len(first) :].strip() if is_symbol else body.strip()
    emoji = _without_variation(first) if is_symbol else ""
    return Prefix(text, kind, emoji, label, tuple(_fold(body)), separator is not None)


def _without_variation(text: str) -> str:
    return "".join(char for char in text if char not in _VARIATION)


def _fold(text: str) -> Iterator[str]:
    return (char.casefold() for char in text if not (char.isspace() or char in _VARIATION))


def prefix_callouts(state: StateCore) -> None:
    """Turn paragraphs and quotes that start with a prefix into callouts (core rule)."""
    page = get_page(state.env)
    prefixes = read_prefixes(page.options.prefixes)
    if not prefixes:
        return

    def find(tokens: Sequence[Token], first: int) -> Marker | None:
        return _find_marker(tokens, first, prefixes, page)

    wrap_callouts(state, find)


def _find_marker(
    tokens: Sequence[Token], first: int, prefixes: Sequence[Prefix], page: PageState
) -> Marker | None:
    inline = tokens[first + 1]
    # Hardly any paragraph starts with the first letter of a prefix.
    if not any(prefix.letters[:1] == _first_letter(inline.children or ()) for prefix in prefixes):
        return None
    assert inline.children is not None
    # The text of a callout with a marker may begin with its prefix.
    is_body = first > 0 and tokens[first - 1].type == "callout_body_open"
    around = get_record(tokens[first - 1], Callout).kind if is_body else ""
    opening = _read_opening(inline.children)
    for prefix in prefixes:
        kind = page.options.kinds[prefix.kind]
        end = _match(prefix, opening) if kind.name != around else 0
        if end:
            inline.children = _children_after(inline.children, opening.characters[end - 1])
            return Marker(make_callout(kind), body=inline if inline.children else None)
    if not is_body:
        _report_near(inline, opening.text(), prefixes, page)
    return None


def _first_letter(children: Sequence[Token]) -> tuple[str, ...]:
    """Return the first character of the text for comparison, or an empty tuple."""
    for child in children:
        if child.type in _TEXT:
            if text := child.content.lstrip():
                return (text[0].casefold(),)
        elif child.type not in _OPENERS:
            break
    return ()


def _read_opening(children: Sequence[Token]) -> _Opening:
    found: list[_Character] = []
    ends = set()
    for index, child in enumerate(children):
        if child.type in _TEXT:
            found += [
                _Character(char, index, offset) for offset, char in enumerate(child.content[:_MAX_OPENING])
            ]
        elif child.type in _BREAKS:
            found.append(_Character("\n", index, 0))
        elif child.type in _CLOSERS:
            ends.add(len(found))
        elif child.type not in _OPENERS:
            break
        if len(found) > _MAX_OPENING:
            break
    return _Opening(found, frozenset(ends))


def _match(prefix: Prefix, opening: _Opening) -> int:
    """Return how many characters of the opening belong to the prefix and its separator. Return 0 if the text
    does not start with both."""
    characters = opening.characters
    at = 0
    for letter in prefix.letters:
        at = _skip(characters, at)
        if at == len(characters) or characters[at].value.casefold() != letter:
            return 0
        at += 1
    while at < len(characters) and characters[at].value in _VARIATION:
        at += 1
    end = _separator_end(prefix, opening, at)
    return 0 if end is None else _skip(characters, end)


def _skip(characters: Sequence[_Character], at: int) -> int:
    """Return the index of the next character that is neither whitespace nor a variation selector."""
    while at < len(characters) and (characters[at].value.isspace() or characters[at].value in _VARIATION):
        at += 1
    return at


def _separator_end(prefix: Prefix, opening: _Opening, at: int) -> int | None:
    """Return the end of the separator after the label, or None if the label is the start of a sentence."""
    rest = opening.text(at)
    if found := _SEPARATOR.match(rest):
        return at + found.end()
    if not prefix.is_separated:
        return None if rest[:1].isalnum() and prefix.letters[-1].isalnum() else at
    if not rest.strip() or rest.lstrip(" \t").startswith("\n"):
        return at
    found = _SENTENCE_END.match(rest)
    is_emphasized = found and any(at <= end <= at + found.end() for end in opening.emphasis_ends)
    return at + found.end() if found and is_emphasized else None


def _children_after(children: Sequence[Token], last: _Character) -> list[Token]:
    """Return the children after a character, with the emphasis that is open there opened again."""
    emphasis = [child for child in children[: last.token] if child.type in _OPENERS | _CLOSERS]
    rest = list(children[last.token + 1 :])
    token = children[last.token]
    if token.type in _TEXT and token.content[last.offset + 1 :]:
        token.content = token.content[last.offset + 1 :]
        rest.insert(0, token)
    kept: list[Token] = []
    for child in (*emphasis, *rest):
        if child.type in _CLOSERS and kept and kept[-1].type in _OPENERS:
            kept.pop()
        elif child.content or child.type not in _TEXT:
            kept.append(child)
    return kept


def _report_near(inline: Token, opening: str, prefixes: Sequence[Prefix], page: PageState) -> None:
    """Warn about text that starts with the emoji of a prefix but does not match it."""
    text = _without_variation(opening).lstrip()
    emoji = next((one.emoji for one in prefixes if one.emoji and text.startswith(one.emoji)), "")
    rest = text[len(emoji) :]
    near = [prefix for prefix in prefixes if prefix.emoji == emoji and prefix.label]
    # `💡💬` is another symbol, and an emoji without text is an ornament.
    is_other = bool(rest) and not (rest[0].isspace() or rest[0].isalnum())
    if not emoji or not near or is_other or _without_variation(inline.content).strip() == emoji:
        return
    origin = get_record(inline, TextMap)
    at = origin.text.find(emoji)
    label = _LABEL.match(origin.text, at + len(emoji)) if at >= 0 else None
    meant = nearest(label[1], [prefix.label for prefix in near]) if label else None
    if meant is not None:
        near = [prefix for prefix in near if prefix.label == meant]
    fix = None
    if label and meant and confirm_typo(label[1], meant):
        fix = _label_fix(origin, label, meant)
    elif len(near) == 1 and at >= 0 and not label:
        place = origin.place(at, len(emoji))
        fix = make_replacement(place.line, place.column, emoji, near[0].text)
    wanted = " or ".join(f"`{prefix.text}`" for prefix in near[:3])
    message = f'text starts with "{emoji}" but is not a callout'
    place = origin.place(max(at, 0), len(emoji))
    page.reporter.warn("callout-doubtful", message, place, f"start it with {wanted}", fix)


def _label_fix(origin: TextMap, label: re.Match[str], meant: str) -> Fix:
    """Return a fix that replaces a misspelled label of a prefix by `meant`."""
    place = origin.place(label.start(1), len(label[1]))
    colon = "" if _HAS_SEPARATOR.match(origin.text, label.end(1)) else ":"
    return make_replacement(place.line, place.column, label[1], meant + colon, is_safe=True)
