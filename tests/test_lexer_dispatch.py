"""Lexers that skip rules give the same tokens as Pygments, for all of its lexers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexer import Lexer
from pygments.lexers import CppLexer, PythonLexer, find_lexer_class, get_all_lexers
from pygments.lexers.data import JsonLexer, YamlLexer
from pygments.lexers.dotnet import CSharpLexer

from blogsmith.base.timeout import alarm
from blogsmith.render.lexer_dispatch import (
    ASCII,
    DispatchLexer,
    begins_lines,
    css_class,
    dispatch_class,
    first_characters,
)
from tests.rows import each_row, examples, thinned

LEXERS = [name for name, *_ in sorted(get_all_lexers(plugins=False))]
GROUPS = 12
PATIENCE_S = 2.0
"""Seconds for one input: a few lexers search some of these inputs endlessly."""
GLUE = (
    *(" ", "  ", "\t", "\n", "\n", "\n\n", "\r\n", "é", "𝑥", "“", "\x00", "\x0b"),
    *("1", "0x1F", "x", "Foo", "'", '"', '"""', "//", "#", "/*", "*/", "<", ">", "</", "{", "}", "(", ")"),
    *("$", "@", ";", ":", "=", "\\", "%", "&", "|", "!", "-", "--", "_", "`", "~", "^", "?", ",", "."),
)


class Stuck(BaseException):
    """Raised if a lexer takes too long."""


def words_of(lexer: Lexer) -> list[str]:
    """Return fragments of a lexer's own rules, so that inputs made of them reach its states."""
    words = set()
    assert isinstance(lexer, DispatchLexer)
    for rules in lexer._tokens.values():
        for match, *_ in rules:
            words.update(re.findall(r"\w+|[^\w\s]|\\.", match.__self__.pattern)[:40])
    return sorted(words)


def texts_for(lexer: Lexer) -> Iterator[str]:
    words = words_of(lexer) or ["a"]
    for seed, size in enumerate((3, 12, 60, 150)):
        chance = random.Random(seed)
        picks = (chance.choice(words if chance.random() < 0.6 else GLUE) for _ in range(size))
        yield "".join(picks)


def tokens(lexer: Lexer, text: str) -> list[object]:
    """Return the tokens of a lexer, or the type of its exception."""
    found: list[object] = []
    try:
        found.extend(lexer.get_tokens_unprocessed(text))
    except Exception as error:
        found.append(type(error))
    return found


def pieces(lexer: Lexer, text: str) -> list[object]:
    """Return the pieces of a lexer, by the quicker loop if it has one."""
    if type(lexer).get_tokens_unprocessed is not DispatchLexer.get_tokens_unprocessed:
        return pieces_of(tokens(lexer, text))
    assert isinstance(lexer, DispatchLexer)
    try:
        return list(lexer.pieces(text))
    except Exception as error:
        return [type(error)]


def pieces_of(found: list[object]) -> list[object]:
    """Return class and text of each token, or only the exception."""
    if found and isinstance(found[-1], type):
        return found[-1:]
    return [(css_class(token[1]), token[2]) for token in found if isinstance(token, tuple)]


@pytest.mark.parametrize("group", thinned(range(GROUPS), every=4))
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_tokens_are_those_of_pygments(group: int) -> None:
    compared = 0
    for name in LEXERS[group::GROUPS]:
        kind = find_lexer_class(name)
        assert kind is not None
        if dispatch_class(kind) is kind:
            continue
        theirs, ours = kind(), dispatch_class(kind)()
        for text in texts_for(ours):
            try:
                with alarm(PATIENCE_S, Stuck, is_cpu_time=True):
                    expected = tokens(theirs, text)
                    assert tokens(ours, text) == expected, (name, text)
                    assert pieces(ours, text) == pieces_of(expected), (name, text)
                    compared += 1
            except Stuck:
                continue
    assert compared > 100


@pytest.mark.parametrize("file", ["code.py", "lexing.py", "templates/sandbox.py"])
def test_a_program_has_the_tokens_of_pygments(file: str) -> None:
    text = (Path(__file__).parents[1] / "blogsmith/render" / file).read_text("utf-8")
    assert tokens(dispatch_class(PythonLexer)(), text) == tokens(PythonLexer(), text)


@given(st.text(st.sampled_from("ab1 \n\t\"'#\\(){}<>/*:;=.é𝑥rfR%&$@!-_`"), max_size=80))
@examples(300)
def test_any_text_has_the_tokens_of_pygments(text: str) -> None:
    for kind in (PythonLexer, CppLexer):
        expected = tokens(kind(), text)
        assert tokens(dispatch_class(kind)(), text) == expected
        assert pieces(dispatch_class(kind)(), text) == pieces_of(expected)


def test_which_lexers_have_our_loop() -> None:
    def has_our_loop(kind: type[Lexer]) -> bool:
        return dispatch_class(kind).get_tokens_unprocessed is DispatchLexer.get_tokens_unprocessed

    assert has_our_loop(PythonLexer)
    # has a loop of its own around that of the next class in line
    assert issubclass(dispatch_class(CppLexer), DispatchLexer) and not has_our_loop(CppLexer)
    # callbacks with a context; no tables; tables of each instance
    assert not any(map(has_our_loop, (YamlLexer, JsonLexer, CSharpLexer)))


PATTERNS = (
    *(r"abc", r"[a-c]+x", r"a?b", r"a*", r"(?:ab|cd)?e", r"(?i)k", r"(?i:ß)s", r"(?i)[x-z]", r"[^a-y]"),
    *(r".", r"(?s:.)", r"\b(?:if|else)\b", r"(?=a)\w", r"(?!a)\w", r"(?<=a)b", r"^#", r"$", r"\Z", r""),
    *(r"(a)?(?(1)b|c)", r"(a|)\1", r"(?>ab|c)", r"x*+y", r"x{2,3}?", r"(?a:\w)", r"\s+", r"(?=[ab])(?=[bc])"),
    *(r"(?x) a | b # c", r"(?m)^$", r"\w\d", r"(?-i:a)b", r"(?:(?=a)|b)c?", r"[[:]", r"\n|\r"),
)


@each_row("source", PATTERNS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_no_match_begins_with_another_character(source: str) -> None:
    pattern = re.compile(source)
    known = first_characters(pattern)
    tails = ("", "a", "b", "ab", "bc", "x", "xy", "xx", "e", "s", "f", "lse", "1", "\n")
    for character in ASCII:
        begins = any(
            pattern.match(before + character + tail, len(before)) for before in ("", "a") for tail in tails
        )
        assert character in known or not begins


def test_characters_are_left_out() -> None:
    """Otherwise nothing would be gained."""
    found = [
        first_characters(re.compile(source))
        for source in (r"abc", r"(?i)k", r"\b(?:if|else)\b", r"a?b", r"(?=a)")
    ]
    assert found == [{"a"}, {"k", "K"}, {"i", "e"}, {"a", "b"}, {"a"}]


@each_row(
    ("source", "expected"),
    [
        *((source, True) for source in (r"^a", r"(?m)(^\s*)b", r"\A#!", r"(?:^a|^b)c")),
        *((source, False) for source in (r"a", r"(?:^a|b)c", r"a?^b", r"(?<=\n)a", r"")),
    ],
)
def test_which_patterns_begin_lines(source: str, expected: bool) -> None:
    assert begins_lines(re.compile(source)) is expected
