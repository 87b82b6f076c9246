"""Results that are not repeatable, from the run to the page: warnings, `freeze explain`, records."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from blogsmith.base.storage import path_states
from blogsmith.cli.main import main
from blogsmith.freeze.record import SessionRecord
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.repeatability import describe_reason, undeclared_reasons
from blogsmith.freeze.store import read_page
from blogsmith.model.cells import CellOptions
from blogsmith.model.results import CellRun, Stream, Uses
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.recorded import DAY, around, cell, page, run_page
from tests.rows import each_row
from tests.run_sites import STALE, site
from tests.run_sites import page as html
from tests.site_files import build

CLOCK = "#| label: a\nimport time\ntime.time() > 0"


def codes(root: Path, **options: object) -> list[tuple[str, str]]:
    return [(found.severity, found.code) for found in build(root, **options).diagnostics]


@pytest.mark.parametrize(
    ("code", "warned"),
    [
        (CLOCK, True),
        (f"#| repeatable: false\n{CLOCK}", False),
        ("import random\nrandom.random() < 2", True),
        ("#| seed: 1\nimport random\nrandom.random() < 2", False),
        ("import time\ntime.perf_counter() > 0", True),
        ("#| tolerance: 0.5\nimport time\ntime.perf_counter() > 0", False),
        ("1 + 1", False),
    ],
)
def test_a_warning_unless_the_cell_announces_it(tmp_path: Path, code: str, warned: bool) -> None:
    root = site(tmp_path, a=code)
    expected = [("warning", "cell-repeatable")] if warned else []
    assert codes(root, execution=STALE) == expected
    assert codes(root) == expected, "also from the record"
    strict = build(root, strict=True)
    assert strict.ok is not warned
    marked = "· not repeatable</p>" in html(root).replace("\xa0", "")
    assert marked is not (code in ("1 + 1",) or "seed" in code)


def test_freeze_explain_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = site(tmp_path, a=CLOCK)
    build(root, execution=STALE)
    monkeypatch.chdir(root)
    assert main(["freeze", "explain"]) == 0
    assert "line 4, a: fresh\n    not repeatable: it reads the clock\n" in capfd.readouterr().out


def test_a_build_notices_a_file_outside_although_no_file_of_the_site_changed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("one")
    root = site(tmp_path / "site", a=f"print(open({str(outside)!r}).read())")
    assert codes(root, execution=STALE) == []
    trust(root)
    frozen = ExecutionOptions(frozen=True)
    assert codes(root, execution=frozen) == []
    outside.write_text("two")
    assert ("error", "freeze-stale") in codes(root, execution=frozen)
    outside.unlink()
    assert codes(root, execution=frozen) == [], "another machine may not have it"


def test_a_site_that_is_not_trusted_learns_nothing_of_files_outside(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("one")
    root = site(tmp_path / "site", a=f"print(open({str(outside)!r}).read())")
    assert codes(root, execution=STALE) == []
    outside.write_text("two")
    with patch.object(path_states, "file_digest", side_effect=AssertionError("a file outside was read")):
        assert codes(root, write=False) == []


OLD = replace(run_page(page(cell())).cells[0], uses=None)
NEW = replace(OLD, uses=Uses(states={"content/posts/e.txt": "none"}, reasons=("clock",)))


def recorded(run: CellRun, old: SessionRecord | None = None) -> SessionRecord | None:
    known = replace(run_page(page(cell())), cells=(run,), uses=None if run.uses is None else Uses())
    return session_record(page(cell()), known, around(), DAY, old)


def test_a_repeated_run_keeps_a_record_that_does_not_know_its_uses() -> None:
    old = recorded(OLD)
    assert recorded(NEW, old) is old
    new = recorded(NEW)
    assert recorded(NEW, new) is new
    assert recorded(replace(NEW, uses=Uses(states={"content/posts/f.txt": "none"})), new) is not new
    assert recorded(replace(OLD, outputs=(Stream("stdout", "other"),)), old) is not old


@each_row("reason", ["clock", "code lib.so", "database d.db", "files", "network", "processes", "program ls"])
def test_every_reason_is_a_sentence(reason: str) -> None:
    assert describe_reason(reason).startswith("it ")
    assert undeclared_reasons([reason], CellOptions()) == (reason,)
    assert undeclared_reasons([reason], CellOptions(repeatable=False)) == ()


def test_a_record_with_uses_is_read_again_as_it_was_written(tmp_path: Path) -> None:
    root = site(tmp_path, a="import os, time\nos.path.exists('e.txt'), time.time() > 0, len(os.listdir('.'))")
    build(root, execution=STALE)
    found = read_page(root, page(cell()).path.with_name("a.md"))
    assert found.record is not None and not found.diagnostics
    uses = found.record.sessions["main"].cells[0].run.uses
    assert uses is not None and uses.reasons == ("clock",)
    assert uses.states["content/posts/e.txt"] == "none" and uses.states["content/posts/"].startswith("names ")
