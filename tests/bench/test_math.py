"""The table of formulas counts correctly, and references are queried only once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from .formulas import measure
from .math import GOALS, rejected
from .math_engines import EngineError, answer, ours, seconds
from .math_reference import Answer, Reference, known, version


def test_answers_follow_the_protocol() -> None:
    convert = ours()
    good = answer(convert, {"id": 3, "tex": "\\R", "display": True, "macros": {"R": "x"}})
    assert good["id"] == 3
    assert 'display="block"' in good["mathml"]
    assert "<mi>x</mi>" in good["mathml"]
    assert answer(convert, {"id": "a", "tex": "{", "display": False}).keys() == {"id", "error"}


def test_refused_formulas_are_timed_too() -> None:
    asked = []

    def convert(tex: str, display: bool, macros: object) -> str:
        asked.append((tex, display))
        raise EngineError("no")

    assert seconds(convert, [("a", True), ("b", False)]) >= 0
    assert asked == [("a", True), ("b", False)]


def test_only_wrong_inputs_count_as_rejected() -> None:
    found = {"error -> error": 3, "error -> ok": 1, "unsupported -> ok": 50}
    assert rejected({"not_expected_to_work": found}) == 75
    assert rejected({}) == 0


def test_goals_read_the_report_of_their_suite() -> None:
    report = {"coverage": 1.0, "core_only": 2.0, "match vote": {"tree": 3.0}, "match any": {"tree": 4.0}}
    assert [goal.value(report) for goal in GOALS] == [1, 2, 3, 2, 4, 1, 1, 1, 0]


def test_remembered_answers_survive_a_line_that_was_cut_off(tmp_path: Path) -> None:
    cache = tmp_path / "katex-1.jsonl"
    assert known(cache) == {}
    cache.write_text(json.dumps(["a", {"mathml": "x"}]) + '\n["b", {"mat', encoding="utf-8")
    assert known(cache) == {"a": {"mathml": "x"}}


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"npm install --prefix .* mathjax-full"):
        version("mathjax", tmp_path)
    package = tmp_path / "node_modules" / "temml" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "1.2.3"}', encoding="utf-8")
    assert version("temml", tmp_path) == "1.2.3"


class LenientReference(Reference):
    """A converter that accepts every formula."""

    def ask(self, request: Answer) -> Answer:
        return {"mathml": ""}


def test_formulas_of_sources_are_counted(tmp_path: Path) -> None:
    macros = r"\newcommand{\a}{x}\newcommand{\b}[2]{#1}\begin{document}"
    body = r"$\a$ $\b{1}{2}$ $\b{1}$ $#1$ \[\absent\] $\begin{cases}a&b&c\end{cases}$"
    (tmp_path / "a.tex").write_text(f"{macros}{body} % $\\gone$\n", "utf-8")
    (tmp_path / "b.md").write_text("`$code$` and $y$, $\\a$, $$z$$", "utf-8")
    reasons, only = Counter[str](), list[tuple[str, str]]()
    counts = measure(tmp_path, LenientReference("katex", tmp_path), reasons, only)
    expected = {"formulas": 7, "ours": 4, "katex": 7, "defined": 6, "ours defined": 4, "only": 3}
    assert dict(counts) == expected
    assert reasons["\\absent"] == 1
    assert [message.partition(":")[0] for message, _ in only] == [
        r'macro "\b" needs 2 arguments',
        r'unknown TeX command "\absent"',
        "too many columns in this row",
    ]
