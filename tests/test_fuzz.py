"""The fuzzer makes the same formulas again, detects faults, and finds none in its first formulas."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import pytest

from blogsmith.tex.convert import TexError, TypesetFormula
from tests.rows import thinned

from . import fuzz_checks
from .fuzz_checks import judge
from .fuzz_formulas import Case, case
from .fuzz_math import shrink
from .fuzz_words import PACKAGES, vocabulary

PLAIN = Case("grammar", "x", False, {}, (), frozenset())


def test_cases_repeat() -> None:
    assert case("a", 7) == case("a", 7) != case("b", 7)
    assert len({case("a", number).family for number in range(300)}) > 4


def test_all_tables_are_drawn_from() -> None:
    words = vocabulary()
    assert {"\\frac", "\\alpha", "\\ce", "\\qty", "\\newcommand", "\\%"} <= {*words.commands}
    assert {"\\metre", "\\textdegree"} & {*words.inner}
    assert {"align*", "CD", "pmatrix*"} <= {*words.environments}
    assert not {*words.commands} & {*words.inner}


@pytest.mark.parametrize("block", thinned(range(6), every=3))
def test_nothing_is_found(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # a slow machine is not a fault; quadratic time is still detected
    monkeypatch.setattr(fuzz_checks, "LIMIT_S", 5)
    for number in range(100 * block, 100 * block + 100):
        verdict = judge(case("test", number), thorough=number % 20 == 0)
        assert not verdict.fault, f"{verdict.fault}: python -m tests.fuzz_math --seed test --only {number}"


FAULTY = {
    "<math alttext='x'><script>1</script></math>": "element script",
    "<math alttext='x'><mi onclick='y'>x</mi></math>": "attribute onclick",
    "<math alttext='x'><a href='java\tscript:y'>x</a></math>": "a forbidden address",
    "<math alttext='x'><mi style='background:url(y)'>x</mi></math>": "a forbidden style",
    "<math alttext='x'><mi>x</math>": "no XML",
    "<math alttext='y'><mi>x</mi></math>": "alttext is not the formula",
    "<math alttext='x'><mi>\x01</mi></math>": "a character that no page may hold",
    "<math alttext='x'><mfrac><mi>x</mi></mfrac></math>": "mfrac with 1 parts",
    "<math alttext='x'><mi id='a b'>x</mi></math>": "an id with spaces",
    "<mi>x</mi>": "root is mi",
}


@pytest.mark.parametrize("markup", FAULTY)
def test_faulty_markup_is_seen(markup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_checks, "convert_formula", lambda *_, **__: TypesetFormula(markup, {}))
    assert judge(PLAIN).fault.startswith(FAULTY[markup])


def test_markup_that_only_html_reads_otherwise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    markup = '<math alttext="x"><mrow><b>x</b></mrow></math>'
    monkeypatch.setattr(fuzz_checks, "convert_formula", lambda *_, **__: TypesetFormula(markup, {}))
    assert not judge(PLAIN).fault
    assert judge(PLAIN, thorough=True).fault == "HTML reads another tree"


def _crash() -> TypesetFormula:
    raise ValueError("x")


def _slow() -> TypesetFormula:
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    return TypesetFormula('<math alttext="x"></math>', {})


def _deeper() -> TypesetFormula:
    sys.setrecursionlimit(sys.getrecursionlimit() + 1)
    return TypesetFormula('<math alttext="x"></math>', {})


def _astray() -> TypesetFormula:
    raise TexError("math-syntax", "wrong", 7)


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        (_crash, "ValueError"),
        (_slow, "slow: grammar"),
        (_deeper, "another limit for recursion"),
        (_astray, "error math-syntax points outside of the formula"),
    ],
)
def test_faulty_behaviour_is_seen(behaviour: object, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    depth = sys.getrecursionlimit()
    monkeypatch.setattr(fuzz_checks, "LIMIT_S", 0.02)
    monkeypatch.setattr(fuzz_checks, "convert_formula", lambda *_, **__: behaviour())  # type: ignore[operator]
    found = judge(PLAIN).fault
    sys.setrecursionlimit(depth)
    assert found == fault


def test_an_answer_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(
        (
            TypesetFormula('<math alttext="x"></math>', {}),
            TypesetFormula('<math alttext="x"><mi>x</mi></math>', {}),
        )
    )
    monkeypatch.setattr(fuzz_checks, "convert_formula", lambda *_, **__: next(answers))
    assert judge(PLAIN).fault == "another answer the second time"


class _Prober:
    """Reports that a formula with `(]` in it has a fault."""

    def fault(self, made: Case) -> str:
        return "brackets" if "(]" in made.tex else ""


def test_shrinking_leaves_what_shows_the_fault() -> None:
    big = replace(
        PLAIN, tex="a+b" * 30 + "(]" + "c" * 50, macros={"\\a": "b"}, numbers=("1",), packages=PACKAGES
    )
    assert shrink(big, "brackets", _Prober()) == replace(PLAIN, tex="(]")
