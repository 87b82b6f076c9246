"""Pygments' lexers with fewer rules tried: those that cannot begin with the next character are passed over.

A lexer's state has some fifty regular expressions, tried one after the other at each token; of those that
can begin with a given letter there are five, and fewer still inside a line. Tables, callbacks and order are
Pygments' own, so the tokens are the same, one by one, in a quarter of the time. Lexers with a loop of their
own keep it: where it calls the next class in line that is this one, and where it names `RegexLexer` it is
Pygments'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pygments.lexer import ExtendedRegexLexer, Lexer, RegexLexer
from pygments.token import STANDARD_TYPES, Error, Whitespace, _TokenType

from .first_characters import ASCII, begins_lines, first_characters

Rule = tuple[Any, Any, Any]
"""A row of Pygments: how to match, what to make of the match, what state comes next."""

_Row = tuple[Any, str | None, Any, Any]
"""The same with the class of a match that is one token, in the second place; else None."""

_Tables = dict[str, "StateRules"]


class Rules(dict[str, Sequence[_Row]]):
    """The next character → the rules to be tried, in order; filled as characters are met."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, character: str) -> Sequence[_Row]:
        """Outside of ASCII and at the end of the text (an empty string) all rules."""
        if character not in ASCII:
            if character:
                return self[""]
            found = self._rules
        else:
            found = [rule for rule in self._rules if _can_begin(rule, character)]
        self[character] = rows = [_row(rule) for rule in found]
        return rows


def _row(rule: Rule) -> _Row:
    match, action, state = rule
    return match, css_class(action) if type(action) is _TokenType else None, action, state


def _can_begin(rule: Rule, character: str) -> bool:
    pattern = getattr(rule[0], "__self__", None)
    return not isinstance(pattern, re.Pattern) or character in first_characters(pattern)


class StateRules:
    """The rules of one of a lexer's states."""

    __slots__ = ("all", "inside")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.all = Rules(rules)
        self.inside = Rules([rule for rule in rules if not _begins_lines(rule)])
        """Without those whose matches begin a line: for all other places."""


def _begins_lines(rule: Rule) -> bool:
    pattern = getattr(rule[0], "__self__", None)
    return isinstance(pattern, re.Pattern) and begins_lines(pattern)


class DispatchLexer(RegexLexer):
    """The loop of `RegexLexer` over the rules that the next character leaves."""

    rules_of_states: _Tables
    _tokens: Mapping[str, Sequence[Rule]]

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """(position, kind, text) of each token."""
        position = 0
        states = list(stack)
        rules = self._rules(states[-1])
        while True:
            inside = position and text[position - 1] != "\n"
            tried = rules.inside if inside else rules.all
            for match, css, action, state in tried[text[position : position + 1]]:
                found = match(text, position)
                if not found:
                    continue
                if action is not None:
                    if css is not None:
                        yield position, action, found.group()
                    else:
                        yield from action(self, found)
                position = found.end()
                if state is not None:
                    _change_state(states, state)
                    rules = self._rules(states[-1])
                break
            else:
                character = text[position : position + 1]
                if not character:
                    return
                if character == "\n":
                    # a line that was not understood does not spoil the next one
                    states = ["root"]
                    rules = self._rules("root")
                yield position, Whitespace if character == "\n" else Error, character
                position += 1

    def pieces(self, text: str) -> list[tuple[str, str]]:
        """Class and text of each token: the same loop for a text as a whole, in two thirds of the time."""
        position, pieces = 0, list[tuple[str, str]]()
        append, states, rules = pieces.append, ["root"], self._rules("root")
        tried = rules.all
        while True:
            try:
                rows = tried[text[position]]
            except IndexError:
                rows = tried[""]
            for match, css, action, state in rows:
                found = match(text, position)
                if not found:
                    continue
                if css is not None:
                    append((css, found.group()))
                elif action is not None:
                    for _, kind, value in action(self, found):
                        append((css_class(kind), value))
                position = found.end()
                if state is not None:
                    _change_state(states, state)
                    rules = self._rules(states[-1])
                break
            else:
                if position >= len(text):
                    return pieces
                character = text[position]
                if character == "\n":
                    # a line that was not understood does not spoil the next one
                    states = ["root"]
                    rules = self._rules("root")
                append((css_class(Whitespace if character == "\n" else Error), character))
                position += 1
            tried = rules.inside if position and text[position - 1] != "\n" else rules.all

    def _rules(self, state: str) -> StateRules:
        if state not in self.rules_of_states:
            self.rules_of_states[state] = StateRules(self._tokens[state])
        return self.rules_of_states[state]


def _change_state(states: list[str], change: str | int | tuple[str, ...]) -> None:
    """As Pygments does it: the last state is never taken off."""
    if isinstance(change, tuple):
        for state in change:
            _change_state(states, state)
    elif isinstance(change, int):
        del states[1 if abs(change) >= len(states) else change :]
    elif change == "#pop":
        if len(states) > 1:
            states.pop()
    else:
        states.append(states[-1] if change == "#push" else change)


@lru_cache(maxsize=1024)
def css_class(kind: _TokenType) -> str:
    """Pygments' short class of a token kind; of the nearest known parent for a rare kind."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return "" if kind is Whitespace else STANDARD_TYPES[kind]


@lru_cache(maxsize=128)
def dispatching(kind: type[Lexer]) -> type[Lexer]:
    """The class of lexer with the loop of this module; the class itself if that would not help it."""
    if not issubclass(kind, RegexLexer) or issubclass(kind, ExtendedRegexLexer):
        return kind
    # their instances have tables of their own
    if getattr(kind, "token_variants", False):
        return kind
    make: Any = type(kind)
    # behind all classes of its own and in front of RegexLexer
    faster: type[Lexer] = make(kind.__name__, (kind, DispatchLexer), {"rules_of_states": {}})
    return faster
