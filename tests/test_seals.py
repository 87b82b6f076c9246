"""Seals of recorded results: every edit is found, old records have none, edits are accepted knowingly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.cli.main import main
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.record_json import find_record_edits, from_json, to_json
from blogsmith.freeze.seals import Edit
from blogsmith.freeze.store import read_page
from blogsmith.model.results import CellRun, Stream
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.recorded import around, cell, page, record, unsealed
from tests.rows import each_row, examples
from tests.run_sites import STALE, site
from tests.run_sites import page as html
from tests.site_files import build

FROZEN = ExecutionOptions(frozen=True)
PAGE = page(cell("a = 42\n", "a"), cell("b = 7\n"), cell("c\n", "c", session="gpu"), values=[("a", 1)])
WHOLE = to_json(record(PAGE, around(environment={"TOKEN": "1"})))


def edits(data: bytes) -> list[Edit]:
    found = from_json(data, "outputs.json")
    assert isinstance(found, PageRecord)
    return find_record_edits(data, found)


def is_found(data: bytes) -> bool:
    found = from_json(data, "outputs.json")
    return isinstance(found, Diagnostic) or bool(find_record_edits(data, found))


class TestSeals:
    def test_what_is_written_is_intact(self) -> None:
        assert edits(WHOLE) == []
        assert WHOLE.count(b'"seal"') == 1 + 2 + 3

    @given(st.data())
    @examples(1000)
    def test_every_random_edit_is_found(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(WHOLE) - 1))
        end = data.draw(st.integers(at, min(at + 40, len(WHOLE))))
        new = data.draw(st.binary(max_size=4) | st.sampled_from([b"9", b"\n", b" ", WHOLE[at : at + 7]]))
        edited = WHOLE[:at] + new + WHOLE[end:]
        assert edited == WHOLE or is_found(edited)

    def test_every_line_that_is_gone_or_changed_is_found(self) -> None:
        lines = WHOLE.splitlines(keepends=True)
        for number, line in enumerate(lines):
            rest = lines[:number], lines[number + 1 :]
            assert is_found(b"".join([*rest[0], *rest[1]])), line
            assert is_found(b"".join([*rest[0], line, line, *rest[1]])), line
            assert is_found(b"".join([*rest[0], line.replace(b"\n", b"\r\n"), *rest[1]])), line

    @each_row(
        ("old", "new", "expected"),
        [
            (b'"a = 42', b'"a = 99', 'cell "a"'),
            (b'"b = 7', b'"b = 8', 'cell 2 of session "main"'),
            (b'"device": "cpu"', b'"device": "cuda"', 'cell "c"'),
            (b'"A"', b'"B"', 'session "main"'),
            (b'"date": "2026-11-21",\n   "environ', b'"date": "2026-11-22",\n   "environ', 'session "gpu"'),
            (b'"gpu": {', b'"cpu": {', 'session "cpu"'),
            (b'"schema": 1,\n', b'"schema": 1,\n\n', "the file"),
        ],
    )
    def test_the_edited_part_is_named(self, old: bytes, new: bytes, expected: str) -> None:
        assert old in WHOLE
        found = edits(WHOLE.replace(old, new, 1))
        assert str(found[0]) == expected
        assert found[0].line == 0 or b'"seal": "' in WHOLE.split(b"\n")[found[0].line - 1]

    def test_a_record_without_seals_is_valid_and_stays_as_it_is(self) -> None:
        old = unsealed(WHOLE)
        found = from_json(old, "outputs.json")
        assert isinstance(found, PageRecord)
        assert edits(old) == []
        assert [session.sealed for session in found.sessions.values()] == [False, False]
        assert to_json(found) == old
        assert edits(old.replace(b"a = 42", b"a = 99")) == []

    def test_a_session_without_seal_keeps_none_beside_a_sealed_one(self) -> None:
        old, new = from_json(unsealed(WHOLE), "x"), from_json(WHOLE, "x")
        assert isinstance(old, PageRecord) and isinstance(new, PageRecord)
        mixed = to_json(PageRecord({"main": new.sessions["main"], "gpu": old.sessions["gpu"]}))
        found = from_json(mixed, "x")
        assert isinstance(found, PageRecord)
        assert {name: part.sealed for name, part in found.sessions.items()} == {"main": True, "gpu": False}
        assert [str(edit) for edit in edits(mixed.replace(b'"c\\n"', b'"d\\n"'))] == ['session "gpu"']

    def test_text_that_cannot_be_written_is_sealed_as_it_is_read(self) -> None:
        run = CellRun("ok", (Stream("stdout", "a\ud800b"),))
        assert edits(to_json(record(page(cell()), runs={0: run}))) == []


def recorded_site(root: Path, code: str = "#| label: a\nprint(42)\n40 + 2") -> tuple[Path, Path]:
    """Return a site with recorded results, and the file of its record."""
    assert build(site(root, a=code), execution=STALE).ok
    return root, root / "_freeze/posts/a/outputs.json"


def edit(file: Path, old: str = '"42', new: str = '"99') -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


class TestBuilds:
    @pytest.mark.parametrize("options", [{}, {"execution": FROZEN}, {"write": False}], ids=str)
    @pytest.mark.parametrize("is_trusted", [False, True])
    def test_an_edited_record_is_an_error_everywhere(
        self, tmp_path: Path, options: dict[str, object], is_trusted: bool
    ) -> None:
        root, record_file = recorded_site(tmp_path)
        if is_trusted:
            trust(root)
        edit(record_file)
        before = record_file.read_bytes()
        report = build(root, **options)
        (found,) = [one for one in report.diagnostics if one.code == "freeze-damaged"]
        assert found.severity == "error" and found.place is not None
        assert found.message == 'invalid seal of cell "a": the recorded results were edited'
        assert b'"seal": "' in before.splitlines()[found.place.line - 1]
        assert record_file.read_bytes() == before, "nothing replaces an edited record without a request"
        assert "99" not in html(root)

    def test_only_a_request_replaces_an_edited_record(self, tmp_path: Path) -> None:
        root, record_file = recorded_site(tmp_path)
        edit(record_file)
        assert build(root, execution=STALE).ok
        assert b'"99' not in record_file.read_bytes()
        assert build(root, execution=FROZEN).ok

    def test_a_run_that_fails_keeps_the_error(self, tmp_path: Path) -> None:
        root, record_file = recorded_site(tmp_path)
        edit(record_file)
        edit(root / "content/posts/a.md", "40 + 2", "1 / 0")
        found = {one.code for one in build(root, execution=STALE).diagnostics if one.severity == "error"}
        assert found == {"cell-error", "freeze-damaged"}

    def test_the_other_session_of_an_edited_record_is_kept(self, tmp_path: Path) -> None:
        root, record_file = recorded_site(tmp_path, "print(42)\n\n#| session: other\nprint(7)")
        edit(record_file)
        found = read_page(root, PAGE.path.with_name("a.md"))
        assert found.record is not None
        assert list(found.record.sessions) == ["other"]


class TestAccept:
    def test_an_edit_is_accepted_and_the_page_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")
        root, record_file = recorded_site(tmp_path)
        edit(record_file)
        command = ["freeze", "accept", "content/posts/a.md", "--site", str(root)]
        monkeypatch.chdir(root)
        assert main(command) == 0
        assert capsys.readouterr().out == 'content/posts/a.md: accepted cell "a"\n'
        assert '"accepted": "2026-11-18"' in record_file.read_text("utf-8")
        assert build(root, execution=FROZEN, strict=True).ok
        page_html = html(root)
        assert "99" in page_html
        assert 'data-accepted="2026-11-18"' in page_html and "accepted by hand</p>" in page_html
        before = record_file.read_bytes()
        assert main(command) == 0
        assert record_file.read_bytes() == before, "an intact record stays as it is"
        assert main(["freeze", "explain"]) == 0
        assert 'session "main" was accepted by hand on 2026-11-18' in capsys.readouterr().out

    def test_a_run_takes_the_acceptance_back(self, tmp_path: Path) -> None:
        root, record_file = recorded_site(tmp_path)
        edit(record_file, '"seconds": ', '"seconds": 9')
        assert main(["freeze", "accept", str(root / "content"), "--site", str(root)]) == 0
        assert "accepted" in record_file.read_text("utf-8")
        assert build(root, execution=ExecutionOptions(execute="all")).ok
        assert "accepted" not in record_file.read_text("utf-8")

    def test_a_record_of_an_older_blogsmith_gets_a_seal(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        root, record_file = recorded_site(tmp_path)
        record_file.write_bytes(unsealed(record_file.read_bytes()))
        edit(record_file)
        assert build(root, execution=FROZEN, strict=True).ok, "nobody can notice this"
        assert main(["freeze", "explain", "--site", str(root)]) == 0
        assert 'session "main" has no seal' in capsys.readouterr().out
        assert main(["freeze", "accept", str(root / "content"), "--site", str(root)]) == 0
        assert 'accepted session "main", which had no seal' in capsys.readouterr().out
        edit(record_file, '"99', '"98')
        assert not build(root, execution=FROZEN).ok

    def test_an_image_that_was_edited(self, tmp_path: Path) -> None:
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>'
        code = f"#| fig-alt: A\nclass A:\n    def _repr_svg_(self): return {svg!r}\nA()"
        root, record_file = recorded_site(tmp_path, code)
        (image,) = record_file.parent.glob("*.svg")
        edit(image, 'width="4"', 'width="9"')
        assert not build(root, execution=FROZEN).ok
        assert main(["freeze", "accept", str(root / "content"), "--site", str(root)]) == 0
        report = build(root, execution=FROZEN)
        assert report.ok, report.diagnostics

    def test_a_record_that_cannot_be_read_is_not_accepted(self, tmp_path: Path) -> None:
        root, record_file = recorded_site(tmp_path)
        record_file.write_text("{")
        assert main(["freeze", "accept", str(root / "content"), "--site", str(root)]) == 1
        assert record_file.read_text() == "{"
