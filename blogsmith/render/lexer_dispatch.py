"""Pygments' lexers, but only with the rules that can match the next character.

A lexer state has some fifty regular expressions, which are tried in order at each token. Only about five of
them can match a given letter, and fewer inside a line. Tables, callbacks and order are those of Pygments, so
the tokens are the same, in a quarter of the time. A lexer with a loop of its own keeps it: where it calls
`super()`, it gets the loop of this class, and where it names `RegexLexer`, that of Pygments.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from pygments.lexer import ExtendedRegexLexer, Lexer, RegexLexer
from pygments.token import STANDARD_TYPES, Error, Whitespace, _TokenType

Rule = tuple[Any, Any, Any]
"""A Pygments rule: match function, action for a match, next state."""

_Row = tuple[Any, str | None, Any, Any]
"""A rule as in `Rule`, with one more item after the match function: the CSS class if a match is always a
single token, otherwise None."""

_Tables = dict[str, "StateRules"]


class RuleTable(dict[str, Sequence[_Row]]):
    """Next character → rules to try, in order. An entry is created when it is first used."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, character: str) -> Sequence[_Row]:
        """Return the entry of a character. It has all rules for non-ASCII characters and for the end of the
        text (an empty string)."""
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
    """The rules of one lexer state, by the next character of the text."""

    __slots__ = ("all", "inside")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.all = RuleTable(rules)
        self.inside = RuleTable([rule for rule in rules if not _begins_lines(rule)])
        """Rules for positions inside a line, without those that match only at the start of a line."""


def _begins_lines(rule: Rule) -> bool:
    pattern = getattr(rule[0], "__self__", None)
    return isinstance(pattern, re.Pattern) and begins_lines(pattern)


class DispatchLexer(RegexLexer):
    """`RegexLexer` with a loop over the rules that can match the next character."""

    rules_of_states: _Tables
    _tokens: Mapping[str, Sequence[Rule]]

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield (position, type, text) of each token."""
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
                    # an error in a line must not affect the next one, so the state is reset, as in Pygments
                    states = ["root"]
                    rules = self._rules("root")
                yield position, Whitespace if character == "\n" else Error, character
                position += 1

    def pieces(self, text: str) -> list[tuple[str, str]]:
        """Return class and text of each token. This is the same loop as in `get_tokens_unprocessed`, for a
        whole text, in two thirds of the time."""
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
                    # an error in a line must not affect the next one, so the state is reset, as in Pygments
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
    """Change the state stack as Pygments does, which never removes the last state."""
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
    """Return Pygments' short class of a token type, or of the nearest parent type that has one."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return "" if kind is Whitespace else STANDARD_TYPES[kind]


@lru_cache(maxsize=128)
def dispatch_class(kind: type[Lexer]) -> type[Lexer]:
    """Return `kind` with the loop of this module, or `kind` itself if it cannot use this loop."""
    if not issubclass(kind, RegexLexer) or issubclass(kind, ExtendedRegexLexer):
        return kind
    # instances of these classes have tables of their own
    if getattr(kind, "token_variants", False):
        return kind
    make: Any = type(kind)
    # in the order of base classes, the new one precedes only RegexLexer
    faster: type[Lexer] = make(kind.__name__, (kind, DispatchLexer), {"rules_of_states": {}})
    return faster


# Finds the characters that a match of a regular expression can start with, from the parsed expression. Only
# ASCII characters are considered, and never too few: an unknown construct may start with any character.
# Sequences, alternatives and repetitions are followed here. A single character is tested by `re` itself, so
# that case, classes and flags have the same meaning.


ASCII = frozenset(map(chr, range(128)))


class FirstCharacters(Struct, frozen=True):
    """Characters with which a match of a pattern, or of a part of it, can begin."""

    taken: frozenset[str]
    """Characters that can be the first of a match."""
    passed: frozenset[str]
    """Characters before which the part can match the empty string, so that the pattern's next part must match
    them."""


_ANY = FirstCharacters(ASCII, ASCII)
_NOTHING = FirstCharacters(frozenset(), ASCII)


@lru_cache(maxsize=8192)
def first_characters(pattern: re.Pattern[str]) -> frozenset[str]:
    """Return the ASCII characters where `pattern` can match. It cannot match at any other ASCII character."""
    tree = _tree(pattern)
    if tree is None:
        return ASCII
    start = _sequence(tree, tree, pattern.flags)
    return start.taken | start.passed


@lru_cache(maxsize=8192)
def begins_lines(pattern: re.Pattern[str]) -> bool:
    """Return whether every match of `pattern` is at the start of a line or of the text. Return False if
    unknown."""
    if "^" not in pattern.pattern and "\\A" not in pattern.pattern:
        return False
    tree = _tree(pattern)
    return tree is not None and _begins_line(tree)


def _tree(pattern: re.Pattern[str]) -> Any:
    """Return the parsed form of a pattern. Return None if Python's parser, which is not public, has
    changed."""
    try:
        return importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)
    except (ImportError, AttributeError):
        return None


def _begins_line(parts: Sequence[tuple[Any, Any]]) -> bool:
    if not len(parts):
        return False
    name, value = str(parts[0][0]), parts[0][1]
    if name == "SUBPATTERN":
        return _begins_line(value[3])
    if name == "BRANCH":
        return all(_begins_line(choice) for choice in value[1])
    return name == "AT" and str(value).startswith("AT_BEGINNING")


def _sequence(tree: Any, parts: Iterable[tuple[Any, Any]], flags: int) -> FirstCharacters:
    """Return the first characters of a sequence of parts. tree: the whole pattern, which contains its groups.
    flags: flags of `re` that apply to the parts."""
    taken, passed = frozenset[str](), ASCII
    for part in parts:
        start = _part(tree, part, flags)
        taken |= start.taken & passed
        passed &= start.passed
        if not passed:
            break
    return FirstCharacters(taken, passed)


def _part(tree: Any, part: tuple[Any, Any], flags: int) -> FirstCharacters:
    name, value = str(part[0]), part[1]
    match name:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return FirstCharacters(_one_character(tree, part, flags), frozenset())
        case "BRANCH":
            choices = [_sequence(tree, choice, flags) for choice in value[1]]
            return FirstCharacters(
                _union(start.taken for start in choices), _union(start.passed for start in choices)
            )
        case "SUBPATTERN":
            _, added, removed, parts = value
            return _sequence(tree, parts, _combine(flags, added, removed))
        case "ATOMIC_GROUP":
            return _sequence(tree, value, flags)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, parts = value
            start = _sequence(tree, parts, flags)
            return start if least else FirstCharacters(start.taken, ASCII)
        case "ASSERT" if value[0] > 0:
            ahead = _sequence(tree, value[1], flags)
            return FirstCharacters(frozenset(), ahead.taken | ahead.passed)
        case "ASSERT" | "ASSERT_NOT" | "AT":
            return _NOTHING
        case _:
            return _ANY


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _combine(flags: int, added: int, removed: int) -> int:
    """Return the flags inside `(?i-s:…)`, where `added` is `i` and `removed` is `s`. If `added` contains one
    of `a`, `L` and `u`, it replaces the others."""
    kinds = int(re.ASCII | re.LOCALE | re.UNICODE)
    if added & kinds:
        flags &= ~kinds
    return (flags | added) & ~removed


def _one_character(tree: Any, part: tuple[Any, Any], flags: int) -> frozenset[str]:
    if str(part[0]) == "LITERAL":
        return _same_letters(part[1], flags)
    alone = type(tree)(tree.state, [part])
    return _match(importlib.import_module("re._compiler").compile(alone, flags))


@lru_cache(maxsize=1024)
def _same_letters(code: int, flags: int) -> frozenset[str]:
    """Return the ASCII characters that match a literal character: itself, and its other case if `flags`
    ignore case."""
    if not flags & re.IGNORECASE:
        return frozenset(chr(code)) & ASCII
    return _match(re.compile(re.escape(chr(code)), flags & ~re.VERBOSE))


def _match(pattern: re.Pattern[str]) -> frozenset[str]:
    return frozenset(filter(pattern.match, ASCII))
