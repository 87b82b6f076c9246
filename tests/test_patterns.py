"""Patterns that are compiled on first use behave like compiled ones."""

from __future__ import annotations

import importlib
import pkgutil
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from unittest.mock import patch

import pytest

import blogsmith
from blogsmith.base.patterns import _LazyPattern, lazy_pattern
from tests.rows import each_row

_SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY, sre.CATEGORY)


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
        # matches are compared by their string form
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


def test_possessive_repeats_are_of_single_signs() -> None:
    """Before Python 3.11.5, `(?:…)*+` continues where its last iteration failed (python/cpython#106052).

    `(?>(?:…)*)` is equivalent and works in every version.
    """
    patterns = list(_patterns_of_modules())
    assert len(patterns) > 1000
    wrong = {f"{name}: {one.pattern!r}" for name, one in patterns if any(_possessive_groups(_parsed(one)))}
    assert wrong == set()


@pytest.mark.parametrize(
    ("pattern", "is_group"),
    [("(?:ab)*+", True), ("(a)?+", True), ("(?>(?:a[bc]++)*)", False), ("x|.*+", False)],
)
def test_possessive_groups_are_found(pattern: str, is_group: bool) -> None:
    assert any(_possessive_groups(sre_parser.parse(pattern))) == is_group


def _patterns_of_modules() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for module in pkgutil.walk_packages(blogsmith.__path__, "blogsmith."):
        # these start something, or need what is not available here
        if module.name not in (
            "blogsmith.__main__",
            "blogsmith.execute.worker.start",
            "blogsmith.lab.torch_backends",
        ):
            for name, value in vars(importlib.import_module(module.name)).items():
                yield from ((f"{module.name}.{name}", one) for one in _patterns_in(value))


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern | _LazyPattern):
        yield cast("re.Pattern[Any]", value)
    elif isinstance(value, Mapping | tuple | list | frozenset):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _patterns_in(one)


def _parsed(pattern: object) -> Any:
    return sre_parser.parse(pattern.pattern, getattr(pattern, "_flags", None) or pattern.flags)  # type: ignore[attr-defined]


def _possessive_groups(parsed: Iterable[Any]) -> Iterator[object]:
    for operator, argument in parsed:
        if operator is sre.POSSESSIVE_REPEAT and not (len(argument[2]) == 1 and argument[2][0][0] in _SINGLE):
            yield argument
        parts = argument if isinstance(argument, tuple | list) else (argument,)
        for part in (*parts, *(one for group in parts if isinstance(group, list) for one in group)):
            if isinstance(part, sre_parser.SubPattern):
                yield from _possessive_groups(part)
