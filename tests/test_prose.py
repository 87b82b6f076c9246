"""Our English: no phrase that readers stumble over, and rates of odd phrases that only fall."""

from __future__ import annotations

import pytest

from scripts.commit_subject import problem
from tests.prose.check import (
    Finding,
    Passage,
    Term,
    all_files,
    exceptions,
    findings,
    limits,
    passages,
    rates,
    terms,
)

MAX_EXCEPTIONS = 30


@pytest.fixture(scope="module")
def prose() -> list[Passage]:
    return [passage for file in all_files() for passage in passages(file)]


@pytest.fixture(scope="module")
def found(prose: list[Passage]) -> list[Finding]:
    return [one for passage in prose for one in findings(passage)]


def test_no_phrase_is_banned(found: list[Finding]) -> None:
    assert [str(one) for one in found if one.is_banned] == []


def test_rates_stay_below_their_limits(prose: list[Passage], found: list[Finding]) -> None:
    measured = rates(prose, found)
    assert {area: round(rate, 1) for area, rate in measured.items() if rate > limits()[area]} == {}
    # a limit that is too generous hides the next odd phrase
    loose = {area: round(rate, 1) for area, rate in measured.items() if rate < limits()[area] - 1}
    assert loose == {}, "lower these limits in tests/prose/limits.tsv"


def test_exceptions_are_few_and_needed(prose: list[Passage]) -> None:
    assert len(exceptions()) <= MAX_EXCEPTIONS
    texts: dict[str, str] = {}
    for passage in prose:
        texts[passage.path] = texts.get(passage.path, "") + passage.text + "\n"
    assert [(path, phrase) for path, phrase in exceptions() if phrase not in texts.get(path, "")] == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("A failure is told on the page.", "is told"),
        ("The header is no length.", "is no"),
        ("It is read, else it is made.", ", else"),
        ("The notes stand behind the text.", "behind"),
    ],
)
def test_a_banned_phrase_is_found(text: str, phrase: str) -> None:
    assert phrase in {one.phrase for one in findings(Passage("docstrings", "a.py", 1, text)) if one.is_banned}


def test_code_is_not_prose() -> None:
    assert list(findings(Passage("docstrings", "a.py", 1, "Return `is told` and ``mend``."))) == []


def test_every_term_has_a_suggestion() -> None:
    assert all(isinstance(term, Term) and term.suggestion for term in terms())


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [
        ("Report the line of a broken link", ""),
        ("syntax: Keep prices in tables", ""),
        ("Merge branch", ""),
        ("Reported the line", "Reported"),
        ("tables: The cells of prices", "The"),
        ("Report the line.", "full stop"),
        ("Report " + "x" * 70, "characters"),
    ],
)
def test_subjects_of_commits(subject: str, wrong: str) -> None:
    assert (wrong in problem(subject)) if wrong else problem(subject) == ""
