"""Rows of a table as a single test, and which rows of a large table are part of the short run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import settings

Test = Callable[..., None]
Names = str | Sequence[str]


def each_row(names: Names, values: Iterable[Any], ids: object = None) -> Callable[[Test], Test]:
    """Parametrize like `pytest.mark.parametrize`, but as one test: thousands of small ones cost a minute in
    pytest.

    All rows are tried; the failure names each that fails. For tests that leave no files, without stateful
    fixtures such as `tmp_path`.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    # as in pytest: a single name means the value itself, a tuple of one name means a tuple
    is_bare = isinstance(names, str) and len(keys) == 1
    table = [(dict(zip(keys, _cells(value, is_bare=is_bare), strict=True)), value) for value in values]
    labels = _labels(ids, [value for _, value in table])

    def decorate(test: Test) -> Test:
        def run(*args: Any, **kwargs: Any) -> None:
            named = [(label or repr(row), row) for (row, _), label in zip(table, labels, strict=True)]
            try_rows(lambda row: test(*args, **kwargs, **row), named)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(run, name, getattr(test, name))
        run.pytestmark = list(getattr(test, "pytestmark", ()))  # type: ignore[attr-defined]
        return run

    return decorate


def try_rows(check: Callable[[Any], None], rows: Sequence[tuple[str, Any]]) -> None:
    """Check all rows by name. Raise an ExceptionGroup of the failures, each with the name of its row."""
    faults: list[Exception] = []
    for name, row in rows:
        try:
            check(row)
        except Exception as error:
            error.add_note(f"row: {name}")
            faults.append(error)
    if faults:
        raise ExceptionGroup(f"{len(faults)} of {len(rows)} rows fail", faults)


def _cells(value: Any, *, is_bare: bool) -> Sequence[Any]:
    if isinstance(value, ParameterSet):
        assert not value.marks, "a row of its own mark is a test of its own"
        return value.values
    return (value,) if is_bare else value


def _labels(ids: object, values: Sequence[Any]) -> list[str]:
    if callable(ids):
        return [str(ids(value)) for value in values]
    if isinstance(ids, Iterable):
        return [str(name) for name in ids]
    return [str(value.id or "") if isinstance(value, ParameterSet) else "" for value in values]


def thinned(values: Iterable[Any], every: int, first: int = 0) -> list[Any]:
    """Return every n-th row for the short run, and the others for the long run; for `parametrize`."""
    return [
        value
        if number % every == first
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)
        for number, value in enumerate(values)
    ]


def examples(count: int) -> settings:
    """Return settings of a property with this many examples in the long run, and few in the short one.

    `make test-long` selects the profile of this name.
    """
    return settings(max_examples=count if settings.get_current_profile_name() == "long" else _few(count))


def _few(count: int) -> int:
    return max(10, count // 10)
