"""Patterns that are compiled on their first use behave as compiled ones."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest

from blogsmith.base.patterns import lazy_pattern
from tests.rows import each_row


def test_nothing_is_compiled_before_the_first_use() -> None:
    with patch.object(re, "compile", wraps=re.compile) as compile_pattern:
        pattern = lazy_pattern("a(b+)", re.IGNORECASE)
        assert pattern.pattern == "a(b+)"
        compile_pattern.assert_not_called()
        assert [pattern.fullmatch("AbB") is not None, pattern.sub("x", "cab")] == [True, "cx"]
        compile_pattern.assert_called_once_with("a(b+)", re.IGNORECASE)


@each_row(
    ("method", "arguments"),
    [
        *(("findall", ("xabbxab",)), ("split", ("xabbxab",)), ("subn", ("-", "xabbxab", 1))),
        *(("search", ("abab", 1)), ("match", ("xab", 1)), ("fullmatch", ("ab",)), ("finditer", ("abab",))),
    ],
)
def test_methods(method: str, arguments: tuple[object, ...]) -> None:
    lazy, compiled = lazy_pattern("ab+"), re.compile("ab+")
    for _ in range(2):
        found, expected = (getattr(pattern, method)(*arguments) for pattern in (lazy, compiled))
        if method == "finditer":
            found, expected = list(found), list(expected)
        # a match is compared by what it prints
        assert str(found) == str(expected)


def test_other_attributes() -> None:
    pattern = lazy_pattern(b"(?P<name>a)", re.DOTALL)
    compiled = re.compile(b"(?P<name>a)", re.DOTALL)
    assert (pattern.flags, pattern.groups) == (compiled.flags, compiled.groups)
    assert pattern.groupindex == compiled.groupindex
    with pytest.raises(AttributeError):
        getattr(pattern, "nothing")  # noqa: B009


def test_a_wrong_pattern_is_told_when_it_is_used() -> None:
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("")
