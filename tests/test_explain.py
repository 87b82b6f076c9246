"""`blogsmith explain`: the manual's entry of a code, offline."""

from __future__ import annotations

import json

import pytest

from blogsmith.base.diagnostics.codes import CODES, FIXABLE, LOWERABLE, has_warnings
from blogsmith.base.diagnostics.explanations import FILE, explain_code, nearest_codes, read_manual
from blogsmith.cli.completion_types import CodeType
from blogsmith.cli.main import main
from blogsmith.config.load import parse_config
from tests.docs_examples import corrected, file_text, known_corrections, messages
from tests.rows import each_row


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of `blogsmith explain`."""
    code = main(("explain", *arguments))
    return code, *capsys.readouterr()


def test_the_file_of_examples_is_up_to_date() -> None:
    """If this fails, run `python -m tests.regen docs`."""
    assert FILE.read_text("utf-8") == file_text(known_corrections())


@pytest.mark.long
@pytest.mark.parametrize("code", sorted(FIXABLE))
def test_corrections_are_those_of_the_fixes(code: str) -> None:
    assert read_manual().examples[code].corrected == corrected(code, messages()[code])


def test_one_correction() -> None:
    message = messages()["callout-kind"]
    assert read_manual().examples["callout-kind"].corrected == corrected("callout-kind", message) != ""


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys, "link-missing")
    assert (exit_code, err) == (0, "")
    assert out.startswith("link-missing: error\n\n" + CODES["link-missing"])
    assert "diagnostics: {link-missing: warning}" in out
    assert "[link-missing]\n" in out.partition("Example:")[2]
    assert run(capsys, "[link-missing]") == (0, out, "")


def test_a_code_with_a_correction(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "callout-kind")[1]
    assert out.startswith("callout-kind: warning\n")
    assert "diagnostics: {ignore: [callout-kind]}" in out and "--unsafe-fixes" in out
    assert "> [!NOTE]" in out.partition("Corrected:\n")[2]


@each_row("code", CODES)
def test_every_code_has_an_entry(code: str) -> None:
    found = explain_code(code)
    assert found.description == CODES[code] and found.group and found.severities
    assert f"[{code}]" in found.example.message
    assert found.is_fixable == (code in FIXABLE)
    assert bool(found.settings) == (code in LOWERABLE or has_warnings(code))
    for setting in found.settings.values():
        assert parse_config(setting + "\n").diagnostics == ()
    if "error: " not in found.example.message.split("\n")[0]:
        assert "warning" in found.severities


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, _ = run(capsys, "math-command", "--format", "json")
    found = json.loads(out)
    assert exit_code == 0 and found["code"] == "math-command" and found["fixable"] is True
    assert found["example"]["message"] == messages()["math-command"]
    listed = json.loads(run(capsys, "--format", "json")[1])["codes"]
    assert [one["code"] for one in listed] == [*CODES]


def test_all_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys)
    assert (exit_code, err) == (0, "")
    assert out.startswith("Reading:\n  encoding ")
    assert [line.split()[0] for line in out.split("\n") if line.startswith("  ")] == [*CODES]


@each_row(
    ("word", "hint"),
    [
        ("link-mising", "did you mean `link-missing`?"),
        ("LINK_MISSING", "did you mean `link-missing`?"),
        ("xyzzy", "run `blogsmith explain` to list all codes"),
    ],
)
def test_an_unknown_code(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys, word)
    assert (exit_code, out) == (2, "")
    assert f'unknown code "{word}": {hint}' in err


def test_nearest_codes() -> None:
    assert nearest_codes("label-unusd")[0] == "label-unused"
    assert nearest_codes("xyzzy") == []


def test_codes_are_completed() -> None:
    assert [*CodeType().names(None)] == sorted(CODES)
