"""`check --fix`: what it changes, shows and confirms, and what it never touches."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from blogsmith.base.diagnostics.edits import apply_fixes, unified_diff
from blogsmith.base.diagnostics.fixes import Fix, TextEdit, make_replacement
from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.cli import fix_options, fixing
from blogsmith.cli.clock import CommandClock
from blogsmith.cli.fixing import plan_changes, write_change
from blogsmith.cli.main import main
from tests.rows import each_row
from tests.site_files import NOW, put_bare

HEAD = "---\ntitle: A\ndate: 2026-01-01\n---\n\n"
WRONG = f"{HEAD}Text.\n\n# Second\n\n[x](b.dm) and \\\\(x\\\\)\n"
FILES = {"content/posts/a.md": WRONG, "content/posts/b.md": HEAD}
FIXED = f"{HEAD}Text.\n\n## Second\n\n[x](b.dm) and \\(x\\)\n"
DIFF = """\
--- content/posts/a.md
+++ content/posts/a.md
@@ -5,6 +5,6 @@
 
 Text.
 
-# Second
+## Second
 
-[x](b.dm) and \\\\(x\\\\)
+[x](b.dm) and \\(x\\)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site with two errors that have a safe fix, and one that the author must decide."""
    root = put_bare(tmp_path.resolve(), FILES)
    monkeypatch.chdir(root)
    return root


def run(*arguments: str) -> int:
    """Run one command at the time of the tests."""
    return main(arguments, CommandClock(now=lambda: NOW, seconds=lambda: 0.0))


def text(root: Path) -> str:
    return (root / "content/posts/a.md").read_bytes().decode()


def test_fix(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--fix", "--yes") == 1
    out, err = capsys.readouterr()
    assert out == DIFF
    assert text(site) == FIXED
    assert "fixed 2 problems" in err and "[link-missing]" in err and "[heading-h1]" not in err


def test_a_check_tells_what_can_be_fixed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check") == 1
    assert capsys.readouterr().err.endswith(
        "2 can be fixed with --fix, 1 more may be with --fix --unsafe-fixes\n"
    )


def test_proposals_are_asked_for(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--fix", "--yes", "--unsafe-fixes") == 0
    assert text(site) == FIXED.replace("b.dm", "b.md")
    assert "checked" in capsys.readouterr().out


def test_diff_changes_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--diff") == 1
    assert capsys.readouterr() == (DIFF, "would fix 2 of 3 problems\n")
    assert text(site) == WRONG
    assert run("check", "--diff", "content/posts/b.md") == 0
    assert capsys.readouterr() == ("", "would fix 0 of 0 problems\n")


def test_nobody_is_asked_without_a_terminal(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--fix") == 2
    assert "add --yes" in capsys.readouterr().err
    assert run("check", "--yes") == run("check", "--diff", "--format", "json") == 2
    assert text(site) == WRONG


@pytest.mark.parametrize("is_agreed", [True, False])
def test_a_terminal_is_asked(site: Path, monkeypatch: pytest.MonkeyPatch, is_agreed: bool) -> None:
    monkeypatch.setattr(fix_options, "can_ask", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda question, **_: is_agreed)
    assert run("check", "--fix") == 1
    assert text(site) == (FIXED if is_agreed else WRONG)


def test_programs_get_what_remains(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--fix", "--yes", "--format", "github") == 1
    out, err = capsys.readouterr()
    assert out.startswith("::error file=content/posts/a.md,") and out.count("\n") == 1
    assert "## Second" in err


def found(*edits: TextEdit, line: str = "", place: Place | None = None) -> Diagnostic:
    """Return a diagnostic with a fix."""
    return Diagnostic("date", "wrong", "content/posts/a.md", place, line, fix=Fix("fix", edits, is_safe=True))


APPLIED = [
    ("one two\r\nthree", [TextEdit(1, 5, "two", "2\nlines")], "one 2\r\nlines\r\nthree"),
    ("a\nb\nc\n", [TextEdit(2, 1, "b\n", "")], "a\nc\n"),
    ("a\nb", [TextEdit(2, 1, "b\n", "")], "a\n"),
    ("a\rb\r", [TextEdit(2, 2, "", "\nc")], "a\rb\rc\r"),
    ("abc", [TextEdit(1, 1, "a", "x"), TextEdit(1, 2, "b", "y")], "xyc"),
    ("", [TextEdit(1, 1, "", "x")], "x"),
]


@each_row(("before", "edits", "after"), APPLIED)
def test_line_ends_stay(before: str, edits: list[TextEdit], after: str) -> None:
    assert apply_fixes(before, [found(*edits)]).text == after


def test_overlapping_fixes_wait() -> None:
    first, second, third = (
        found(TextEdit(1, 1, "abc", "x"), TextEdit(2, 1, "d", "e")),
        found(TextEdit(1, 3, "c", "y")),
        found(TextEdit(2, 1, "d", "z")),
    )
    done = apply_fixes("abc\nd", [third, second, first, first])
    assert done.text == "x\ne" and done.fixed == (first, first)


def test_a_fix_of_another_text_is_not_applied() -> None:
    edit = TextEdit(1, 1, "a", "b")
    assert not apply_fixes("c", [found(edit)]).fixed
    assert not apply_fixes("a", [found(edit, line="a b", place=Place(1))]).fixed


def test_diff_of_far_changes() -> None:
    lines = [f"line {number}" for number in range(1, 40)]
    before = "\n".join(lines)
    done = apply_fixes(before, [found(TextEdit(2, 1, "line 2\n", "")), found(TextEdit(30, 1, "", "new\n"))])
    shown = list(unified_diff(before, done.changes))
    assert [line for line in shown if line[0] in "@+-"] == [
        *("@@ -1,5 +1,4 @@", "-line 2", "@@ -27,6 +26,7 @@", "+new")
    ]


def test_many_fixes_take_linear_time() -> None:
    before = "a" * 20_000
    fixes = [found(TextEdit(1, column, "a", "b")) for column in range(1, 20_001)]
    assert apply_fixes(before, fixes).text == "b" * 20_000


def write(root: Path, data: bytes) -> Path:
    file = root / "content/posts/a.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


FIND = found(TextEdit(1, 2, "é", "e"))


def test_mark_and_permissions_stay(tmp_path: Path) -> None:
    file = write(tmp_path, b"\xef\xbb\xbfx\xc3\xa9\r\ny")
    file.chmod(0o640)
    (change,) = plan_changes(tmp_path, [FIND], proposals=False)
    assert write_change(tmp_path, change)
    assert file.read_bytes() == b"\xef\xbb\xbfxe\r\ny"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [one.name for one in file.parent.iterdir()] == ["a.md"]


def test_a_file_that_changed_stays(tmp_path: Path) -> None:
    file = write(tmp_path, "xé".encode())
    (change,) = plan_changes(tmp_path, [FIND], proposals=False)
    file.write_bytes("xé and more".encode())
    assert not write_change(tmp_path, change)
    assert file.read_bytes() == "xé and more".encode()


def _link(root: Path) -> None:
    write(root / "elsewhere", "xé".encode())
    (root / "content/posts").mkdir(parents=True)
    (root / "content/posts/a.md").symlink_to(root / "elsewhere/content/posts/a.md")


def _link_folder(root: Path) -> None:
    write(root / "elsewhere", "xé".encode())
    (root / "content").symlink_to(root / "elsewhere/content")


def _not_utf8(root: Path) -> None:
    write(root, b"x\xe9")


def _pipe(root: Path) -> None:
    (root / "content/posts").mkdir(parents=True)
    os.mkfifo(root / "content/posts/a.md")


@pytest.mark.parametrize("make", [_link, _link_folder, _not_utf8, _pipe])
def test_never_touched(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    assert not plan_changes(tmp_path, [FIND], proposals=True)


@pytest.mark.parametrize("path", ["../a.md", "/etc/passwd", "content/../../a.md", "a\0b", ""])
def test_never_outside(tmp_path: Path, path: str) -> None:
    write(tmp_path, "xé".encode())
    (tmp_path.parent / "a.md").write_bytes("xé".encode())
    assert not plan_changes(tmp_path, [Diagnostic("date", "", path, fix=FIND.fix)], proposals=True)


def test_a_difference_acts_on_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, b"a\x1b[31m\xe2\x80\xae b\n")
    one = Diagnostic("date", "", "content/posts/a.md", fix=make_replacement(1, 1, "a", "c\x07", is_safe=True))
    fixing.print_diff(plan_changes(tmp_path, [one], proposals=False), sys.stdout)
    out = capsys.readouterr().out
    assert not set("\x1b\x07\u202e").intersection(out) and "\\x1b" in out


def test_proposals_alone_are_offered_in_a_whole_sentence(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for post in (site / "content").rglob("*.md"):
        post.write_text("---\ntitle: T\n---\n$\\alpah$\n")
    assert run("check") == 1
    out, err = capsys.readouterr()
    assert " can be fixed with --fix --unsafe-fixes\n" in out + err
