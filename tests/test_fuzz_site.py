"""The fuzzer of posts makes the same inputs again, detects faults, and finds none at first."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from blogsmith.preview.http import routes
from tests import fuzz_judge
from tests.fuzz_judge import judge
from tests.fuzz_programs import judge_request, read_files
from tests.fuzz_site import _number, main, write_case
from tests.fuzz_texts import KINDS, UNTRUSTED, Case, case
from tests.rows import each_row


def test_inputs_repeat() -> None:
    assert case("a", 7) == case("a", 7) != case("b", 7)
    assert {case("a", number).kind for number in range(len(KINDS))} == set(KINDS)


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_nothing_is_found(kind: int) -> None:
    # an import takes half a second, and another one to repeat it
    count = 2 if KINDS[kind] == "imports" else 12
    for number in range(kind, count * len(KINDS), len(KINDS)):
        assert judge(case("test", number), thorough=number % 3 == 0) == "", number


def test_kinds_take_turns() -> None:
    kinds = ("state", "imports")
    assert [KINDS[_number(position, kinds) % len(KINDS)] for position in range(4)] == [*kinds, *kinds]


@each_row(
    ("text", "status"),
    [
        ("GET /posts/a/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n", 200),
        ("GET /posts/a/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
    ],
)
def test_requests_are_routed(text: str, status: int) -> None:
    fault, answer = judge_request(Case("requests", text, ""))
    assert fault == "" and isinstance(answer, tuple) and answer[0] == status


def test_a_request_that_passes_the_guard_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "check_host", lambda request, hosts: None)
    text = "GET /posts/a/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    assert judge_request(Case("requests", text, ""))[0] == "a request for another host reaches the site"


def test_paths_of_an_import_stay_inside() -> None:
    text = "=== a.md\nA\n=== ../b.md\nB\n=== /c.md\nC\n=== d\nD\n=== d/e.md\nE\n=== f\x00g\nF"
    assert {*read_files(text)} == {"a.md", "d/e.md"}


POST = Case("markdown", "# Words\n", UNTRUSTED)


def test_an_exception_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, config: str) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(fuzz_judge, "render", broken)
    assert judge(POST, thorough=False).startswith("KeyError at test_fuzz_site.py:")


def test_an_answer_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = itertools.count()
    monkeypatch.setattr(fuzz_judge, "_judge_post", lambda made: ("", next(answers)))
    assert judge(POST, thorough=True) == "not the same twice"


def test_slow_pages_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_judge, "LIMIT_S", -1.0)
    assert "processor time" in judge(POST, thorough=False)


def test_what_acts_is_seen() -> None:
    # rendered without `untrusted`, and judged as if with it
    from tests.check import render

    assert "<script>" in fuzz_judge.unsafe(render("<script>1</script>"))
    assert "no valid HTML" in fuzz_judge.unsafe(render("<p><div></p>"))


def test_what_shows_a_fault_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_case(tmp_path, "test", 3, "a fault")
    text = file.read_text("utf-8")
    assert text.startswith("a fault\npython -m tests.fuzz_site --seed test --only 3\n")
    assert case("test", 3).text in text
    assert main(["--seed", "test", "--only", "3"]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
