"""`freeze diff`: results that changed since a commit while their code did not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.freeze.repetition import run_differences, summary
from blogsmith.model.results import CellRun, Display, Failure, Stream
from tests.recorded import picture, shown
from tests.rows import each_row
from tests.run_sites import STALE, site
from tests.site_files import build

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")


def run(*outputs: Stream | Display | Failure, status: str = "ok") -> CellRun:
    return CellRun(status, outputs)  # type: ignore[arg-type]


def printed(text: str) -> CellRun:
    return run(Stream("stdout", text))


@each_row(
    ("old", "new", "tolerance", "expected"),
    [
        (printed("a = 42, b = 7"), printed("a = 43, b = 7"), 0.0, ["42 → 43"]),
        (printed("1 2 3"), printed("1 3 4"), 0.0, ["2 → 3", "3 → 4"]),
        (printed("1.00"), printed("1.01"), 0.1, []),
        (printed("1.00"), printed("1.01"), 0.001, ["1.00 → 1.01"]),
        (printed("nan"), printed("1"), 0.5, ['"nan" → "1"']),
        (printed("one\ntwo"), printed("one\nthree"), 0.0, ['"two" → "three"']),
        (printed("x" * 30), printed("y"), 0.0, [f'"{"x" * 20}…" → "y"']),
        (printed("a"), run(), 0.0, ["stream → no output"]),
        (run(shown(b"1")), run(shown(b"2")), 1.0, ["another image"]),
        (run(shown(b"1")), run(shown(b"1")), 0.0, []),
        (
            run(Display("value", {"text/plain": "4", "text/html": "<b>4</b>"})),
            run(Display("value", {"text/plain": "5", "text/html": "<b>5</b>"})),
            0.0,
            ["4 → 5"],
        ),
        (
            run(Display("value", {"text/plain": "4"})),
            run(Display("value", picture())),
            0.0,
            ["another kind of value"],
        ),
        (printed("1"), run(Stream("stdout", "1"), status="error"), 0.0, ["ok → error"]),
        (CellRun("ok", claim="left: 1"), CellRun("ok", claim="left: 2"), 0.0, ["1 → 2"]),
        (
            CellRun("ok", others={"n = 2": printed("4")}),
            CellRun("ok", others={"n = 2": printed("5")}),
            0.0,
            ["n = 2: 4 → 5"],
        ),
    ],
)
def test_differences(old: CellRun, new: CellRun, tolerance: float, expected: list[str]) -> None:
    assert run_differences(old, new, tolerance) == expected


def test_a_long_list_is_cut() -> None:
    assert summary(["1 → 2"]) == "1 → 2"
    assert summary(["1 → 2", "3 → 4", "5 → 6", "7 → 8"]) == "1 → 2, 3 → 4 and 2 more"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a site with two recorded cells and a value, committed."""
    root = site(tmp_path, a="#| label: first\nx = 1\nprint(x)\n\n#| label: data\nprint(open('d.txt').read())")
    post = root / "content/posts/a.md"
    post.write_text(post.read_text() + "\nThe value is {= x + 1 =}.\n")
    (root / "content/posts/d.txt").write_text("0.5")
    assert build(root, execution=STALE).ok
    subprocess.run([*GIT, "init", "-q"], cwd=root, check=True)
    subprocess.run([*GIT, "add", "."], cwd=root, check=True)
    subprocess.run([*GIT, "commit", "-qm", "a"], cwd=root, check=True)
    return root


def diff(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["freeze", "diff", "HEAD", *arguments, "--site", str(root)]) == 0
    return capsys.readouterr().out


def test_nothing_has_changed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(root, capsys) == "no result has changed while its code stayed the same\n"


def test_numbers_that_changed_while_their_code_did_not(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "content/posts/d.txt").write_text("0.75")
    post = root / "content/posts/a.md"
    post.write_text(post.read_text().replace("x = 1", "x = 2"))
    assert build(root, execution=STALE).ok
    assert diff(root, capsys) == (
        "content/posts/a.md:10: data: 0.5 → 0.75, after a change of the code before it, content/posts/d.txt\n"
        "content/posts/a.md:15: {= x + 1 =}: 2 → 3, after a change of the code before it\n"
    )


def test_an_edited_number_has_no_cause(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = root / "_freeze/posts/a/outputs.json"
    record.write_text(record.read_text().replace('"0.5', '"0.9'))
    assert main(["freeze", "accept", str(root / "content"), "--site", str(root)]) == 0
    assert diff(root, capsys) == "content/posts/a.md:10: data: 0.5 → 0.9\n"


@pytest.mark.parametrize("revision", ["nothing", "--help", "-x", "HEAD:x"])
def test_a_revision_that_does_not_exist(
    root: Path, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["freeze", "diff", "--site", str(root), "--", revision]) == 1
    assert f'revision not found: "{revision}" [freeze-revision]' in capsys.readouterr().err
