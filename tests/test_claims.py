"""Claims: true ones, false ones, and all others, which must never be shown as checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rows import each_row
from tests.worker_client import Client, Frame

SETUP = """\
import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import MagicMock
a, zero, empty = 3.9, 0, []
class Liar:
    def __bool__(self): return True
    def __eq__(self, other): return self
    def __getattr__(self, name): return self
class Disguised:
    __class__ = bool
    def __bool__(self): return True
class Loud(int):
    def __bool__(self): return True
class Pair(tuple): pass
def nothing(): pass
"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    client = Client(tmp_path_factory.mktemp("claims"), {})
    yield client
    client.close()


def judged(worker: Client, code: str) -> Frame:
    """Return the worker's result of a claim; the cell itself must succeed."""
    ended = worker.run(code, claim=True)
    assert (ended.status, ended.values) == ("ok", []), ended.done
    found: dict[str, Any] = ended.done["claim"]
    return found


@each_row(
    ("expression", "kind"),
    [
        ("1 == 2,", "tuple"),
        ("(1 == 2, 'why')", "tuple"),
        ("()", "tuple"),
        ("Pair([False])", "tuple"),
        ("float('nan')", "number"),
        ("...", "nothing"),
        ("NotImplemented", "nothing"),
        ("None", "nothing"),
        ("nothing()", "nothing"),
        ("2 - 1", "number"),
        ("zero", "number"),
        ("True + False", "number"),
        ("1j", "number"),
        ("Fraction(1, 2)", "number"),
        ("Decimal('NaN')", "number"),
        ("Loud(0)", "number"),
        ("[False]", "collection"),
        ("[]", "collection"),
        ("{1: False}", "collection"),
        ("{False}", "collection"),
        ("range(3)", "collection"),
        ("(x > 5 for x in [1])", "collection"),
        ("'False'", "text"),
        ("f'{a == 4}'", "text"),
        ("b''", "text"),
        ("[].sort", "function"),
        ("nothing", "function"),
        ("lambda: a == 4", "function"),
        ("bool", "function"),
        ("Liar()", "object"),
        ("Liar() == 4", "object"),
        ("Disguised()", "object"),
        ("object()", "object"),
        ("SimpleNamespace(all=True)", "object"),
        ("x = 1", "none"),
        ("", "none"),
        ("# a == 4", "none"),
        ("assert a == 4, 'why'", "none"),
        ("if a == 3.9:\n    True", "none"),
    ],
)
def test_what_is_neither_true_nor_false(worker: Client, expression: str, kind: str) -> None:
    worker.run(SETUP)
    code = expression if expression.startswith("assert") is False else expression.replace("== 4", "== 3.9")
    claim = judged(worker, code)
    assert (claim["holds"], claim["kind"]) == (None, kind)


def test_a_mock_holds_nothing(worker: Client) -> None:
    worker.run(SETUP)
    assert judged(worker, "MagicMock()")["holds"] is None
    assert judged(worker, "MagicMock().all()")["holds"] is None


@each_row(
    ("expression", "part", "kind"),
    [
        ("(1 == 2,) and a == 3.9", "(1 == 2,)", "tuple"),
        ("a == 3.9 and (1 == 2,)", "(1 == 2,)", "tuple"),
        ("a == 4 or [False]", "[False]", "collection"),
        ("a and a == 3.9", "a", "number"),
        ("not a", "a", "number"),
        ("not []", "[]", "collection"),
        ("not nothing()", "nothing()", "nothing"),
        ("a == 3.9 and not float('nan') - 1", "float('nan') - 1", "number"),
        ("a == 3.9 if (1 == 2,) else a == 4", "(1 == 2,)", "tuple"),
        ("(ok := (1 == 2,) and True)", "(1 == 2,)", "tuple"),
        ("bool((1 == 2,))", "(1 == 2,)", "tuple"),
        ("bool('False')", "'False'", "text"),
        ("all([a == 3.9, 'why'])", "[a == 3.9, 'why']", "text"),
        ("all((x > 5,) for x in [1, 2])", "(x > 5,)", "tuple"),
        ("all([x - 1 for x in [3, 4]])", "x - 1", "number"),
        ("any('no' for x in [3, 4])", "'no'", "text"),
        ("not any((x, x > 5) for x in [1])", "(x, x > 5)", "tuple"),
    ],
)
def test_a_part_that_decides_and_is_neither(worker: Client, expression: str, part: str, kind: str) -> None:
    worker.run(SETUP)
    claim = judged(worker, expression)
    assert (claim["holds"], claim["part"], claim["kind"]) == (None, part, kind)


@pytest.mark.parametrize(
    "expression",
    [
        "all(x > 5 for x in empty)",
        "all([x > 5 for x in empty])",
        "all([])",
        "not all(empty)",
        "not any(x > 2 for x in empty)",
    ],
)
def test_nothing_compared_is_nothing_found_true(worker: Client, expression: str) -> None:
    worker.run(SETUP)
    claim = judged(worker, expression)
    assert (claim["holds"], claim["kind"]) == (None, "empty")


@each_row(
    "expression",
    [
        "a == 3.9",
        "a == 4 or a == 3.9",
        "not (a == 4 and undefined)",
        "a == 3.9 or (1 == 2,)",
        "a == 4 or all(x > 0 for x in [1, 2])",
        "all(x > 0 for x in [1, 2] if x > 1)",
        "any(x > 1 for x in [1, 2])",
        "all({x > 0 for x in [1, 2]})",
        "bool(Liar())",
        "a == 3.9 if a > 1 else 'never'",
        "(ok := a > 1)",
        "all([a == 3.9, True])",
        "isinstance(a, float)",
        "(Fraction(1, 2), 'x') == (Fraction(1, 2), 'x')",
    ],
)
def test_what_holds(worker: Client, expression: str) -> None:
    worker.run(SETUP)
    assert (judged(worker, expression)["holds"], judged(worker, expression)["notes"]) == (True, [])


def test_a_name_that_hides_all_is_the_authors_own(worker: Client) -> None:
    worker.run("def all(items): return len(list(items)) == 0")
    assert judged(worker, "all(x > 5 for x in [])")["holds"] is True
    worker.run("del all")


def test_bool_put_in_place_of_the_builtin_changes_nothing(worker: Client) -> None:
    worker.run("import builtins\nkept, builtins.bool = bool, lambda value: True")
    assert judged(worker, "[] ")["holds"] is None
    assert judged(worker, "1 == 2")["holds"] is False
    # NumPy uses it, and other tests use NumPy
    worker.run("builtins.bool = kept")


@each_row(
    ("expression", "kind"),
    [
        ("a == [0, 1, 2]", "array"),
        ("a[:1] == [0]", "array"),
        ("np.array([])", "array"),
        ("np.array([]) > 1", "array"),
        ("np.array(1.0)", "array"),
        ("np.array(True, dtype=object)", "array"),
        ("np.matrix([[True]])", "array"),
        ("np.ma.masked", "array"),
        ("np.ma.array(True)", "array"),
        ("np.ma.array([1], mask=[True]).all()", "array"),
        ("np.float64(0.5)", "number"),
        ("np.int64(1)", "number"),
        ("np.nan", "number"),
        ("np.str_('no')", "text"),
        ("np.all(x > 5 for x in [1])", "collection"),
        ("a[:1] == [0] and True", "array"),
        ("not a[:1]", "array"),
        ("(a[:0] == []).all()", "empty"),
        ("a[:0].all()", "empty"),
        ("np.all(a[:0] == 1)", "empty"),
        ("np.allclose(a[:0], [])", "empty"),
        ("all(a[:0])", "empty"),
    ],
)
def test_arrays_that_are_neither(worker: Client, expression: str, kind: str) -> None:
    worker.need("numpy")
    worker.run("import numpy as np\na = np.arange(3)")
    claim = judged(worker, expression)
    assert (claim["holds"], claim["kind"]) == (None, kind)


@each_row(
    "expression",
    [
        "(a == [0, 1, 2]).all()",
        "a[0] == 0",
        "np.array(True)",
        "np.all(a >= 0)",
        "(a > 1).any()",
        "bool(a[:1] == [0])",
        "all(a >= 0)",
        "all(x >= 0 for x in a)",
        "np.allclose(a, a) and a.sum() == 3",
        "not np.isnan(a).any()",
    ],
)
def test_arrays_that_hold(worker: Client, expression: str) -> None:
    worker.need("numpy")
    worker.run("import numpy as np\na = np.arange(3)")
    assert (judged(worker, expression)["holds"], judged(worker, expression)["notes"]) == (True, [])


def test_tensors(worker: Client) -> None:
    """Only torch's own functions are used: neither type nor name is enough."""
    worker.need("torch")
    worker.run("import torch\nt = torch.arange(3)")
    for expression in ("(t == t).all()", "torch.tensor(True)", "torch.equal(t, t)", "t[0] == 0"):
        assert judged(worker, expression)["holds"] is True
    for expression in ("t == t", "t[:1] == 0", "torch.tensor(1)", "torch.nn.Parameter(torch.ones(()))"):
        assert judged(worker, expression)["kind"] == "array"
    assert judged(worker, "(t[:0] == 1).all()")["kind"] == "empty"


def test_a_module_that_calls_itself_numpy_is_not_numpy(worker: Client) -> None:
    worker.run("class bool_:\n    __module__ = 'numpy'\n    def __bool__(self): return True")
    assert judged(worker, "bool_()")["holds"] is None
