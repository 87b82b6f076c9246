"""`_freeze/` on disk: readable JSON, complete at any time, untouched when equal, never trusted."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.freeze.environment import FileDigests
from blogsmith.freeze.record import CellRecord, PageRecord, SessionRecord
from blogsmith.freeze.record_form import Origin, ValueRecord
from blogsmith.freeze.record_json import from_json, to_json
from blogsmith.freeze.store import freeze_lock, image_digests, page_folder, read_page, write_page
from blogsmith.model.results import (
    DARK,
    MAX_SDPA,
    SDPA,
    Blob,
    CellOutput,
    CellRun,
    Display,
    Failure,
    Machine,
    Stream,
)
from tests.recorded import POST, around, cell, digest, page, picture, pictured, record, shown
from tests.rows import each_row, examples

FOLDER = Path("_freeze/posts/attention")


def files_in(root: Path) -> dict[str, bytes]:
    folder = root / "_freeze"
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def stamps(root: Path) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in (root / "_freeze").rglob("*")}


# -- JSON --

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
KEY = HEX.map(lambda text: text[:32])
PATH = st.lists(st.sampled_from(["data", "a b", "é.npy", "..x", "x\\y"]), min_size=1).map("/".join)
FILES = st.dictionaries(PATH, HEX, max_size=2)
WORDS = st.dictionaries(TEXT, TEXT, max_size=2)
BLOB = st.builds(lambda sha: Blob(sha, None, f"fig-größe-1-{sha[:8]}.svg"), HEX)
OUTPUT: st.SearchStrategy[CellOutput] = st.one_of(
    st.builds(Stream, st.sampled_from(["stdout", "stderr"]), TEXT, st.integers(0, 10**12)),
    st.builds(Display, st.sampled_from(["value", "display"]), st.dictionaries(TEXT, TEXT | BLOB, max_size=3)),
    st.builds(Failure, TEXT, TEXT, TEXT, st.integers(0, 9), st.integers(0, 99)),
)
NAME = st.sampled_from(["numpy", "PIL", "größe", "_x"])
MACHINE = st.builds(Machine, *[TEXT] * 7, st.integers(0, 64), st.dictionaries(NAME, TEXT, max_size=2))
ORIGIN = st.builds(Origin, MACHINE, st.dates().map(str) | st.just(""))
SEEN = st.from_regex(SDPA, fullmatch=True, alphabet=st.characters(codec="ascii"))
RUN = st.builds(
    CellRun,
    st.sampled_from(["ok", "error"]),
    st.lists(OUTPUT, max_size=3).map(tuple),
    st.floats(0, 10**6),
    TEXT,
    st.integers(0, 99),
    FILES,
    FILES,
    st.sampled_from(["cpu", "cuda"]),
    st.lists(NAME, max_size=2).map(tuple),
    st.just(()),
    TEXT,
    st.lists(SEEN, max_size=3).map(tuple),
)
CELL = st.builds(CellRecord, KEY, KEY, RUN, TEXT, WORDS, FILES, st.none() | ORIGIN)
VALUE = st.builds(ValueRecord, key=KEY, expression=TEXT, conversion=TEXT, spec=TEXT, text=TEXT, latex=TEXT)
SESSION = st.builds(
    SessionRecord,
    KEY,
    st.lists(CELL, max_size=2).map(tuple),
    st.lists(VALUE, max_size=2).map(tuple),
    WORDS,
    FILES,
    ORIGIN,
)
RECORD = st.builds(PageRecord, st.dictionaries(TEXT, SESSION, max_size=2))


@given(RECORD)
@examples(60)
def test_what_is_written_is_read_back(made: PageRecord) -> None:
    data = to_json(made)
    assert from_json(data, "outputs.json") == made
    assert to_json(made) == data


def test_what_was_read_is_written_as_it_was() -> None:
    # strings from a worker equal the defaults, but are different objects
    run = CellRun("".join("ok"), device="".join("cpu"))  # type: ignore[arg-type]
    data = to_json(record(page(cell("x\n")), runs={0: run}))
    assert to_json(record(page(cell("x\n")), runs={0: CellRun("ok", device="cpu")})) == data
    read = from_json(data, "outputs.json")
    assert isinstance(read, PageRecord)
    assert to_json(read) == data


@given(st.binary(max_size=200) | TEXT.map(str.encode))
def test_any_bytes_are_a_diagnostic(data: bytes) -> None:
    assert isinstance(from_json(data, "outputs.json"), Diagnostic)


@given(RECORD, st.data())
@examples(60)
def test_a_file_that_was_cut_or_changed_never_raises(made: PageRecord, data: st.DataObject) -> None:
    whole = to_json(made)
    at = data.draw(st.integers(0, len(whole) - 2))
    assert isinstance(from_json(whole[:at], "outputs.json"), Diagnostic)
    damaged = whole[:at] + data.draw(st.binary(min_size=1, max_size=3)) + whole[at + 1 :]
    assert isinstance(from_json(damaged, "outputs.json"), Diagnostic | PageRecord)


def test_the_file_reads_well() -> None:
    outputs = (Stream("stdout", "one\ntwo\r\x0cthree\u2028"), Display("value", {"text/plain": "∑ = 3"}))
    made = record(page(cell("x\n", "sum")), runs={0: CellRun("ok", outputs, seconds=0.123456)})
    text = to_json(made).decode()
    assert text.endswith("}\n")
    assert '"∑ = 3"' in text
    loaded = json.loads(text)
    assert text == json.dumps(loaded, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (found,) = loaded["sessions"]["main"]["cells"]
    assert found["outputs"] == [
        {"name": "stdout", "output_type": "stream", "text": ["one\n", "two\r\x0cthree\u2028"]},
        {"data": {"text/plain": ["∑ = 3"]}, "output_type": "execute_result"},
    ]
    assert (found["label"], found["seconds"]) == ("sum", 0.1235)


FLASH = "flash aten::_scaled_dot_product_flash_attention_for_cpu"


def recorded_attention(*seen: str) -> PageRecord:
    return record(page(cell("x\n", "sum")), runs={0: CellRun("ok", sdpa=seen)})


def test_what_computed_attention_is_written_where_there_was_any() -> None:
    assert b"sdpa" not in to_json(recorded_attention())
    (found,) = json.loads(to_json(recorded_attention(FLASH)))["sessions"]["main"]["cells"]
    assert found["sdpa"] == [FLASH]


def test_another_backend_is_another_result(tmp_path: Path) -> None:
    write_page(tmp_path, POST, recorded_attention(FLASH))
    before = stamps(tmp_path)
    write_page(tmp_path, POST, recorded_attention(FLASH))
    assert stamps(tmp_path) == before
    other = write_page(tmp_path, POST, recorded_attention("math aten::_safe_softmax cpu"))
    assert read_page(tmp_path, POST).record == other != recorded_attention(FLASH)


@each_row(
    "seen",
    [
        ["flash"],
        ["flash aten::<b>"],
        ["flash aten::x\n"],
        [f"flash {'a' * 81}"],
        [7],
        "flash aten::x",
        [f"math op{n}" for n in range(MAX_SDPA + 1)],
    ],
)
def test_what_computed_attention_is_not_believed_in_another_form(seen: object) -> None:
    loaded = json.loads(to_json(recorded_attention(FLASH)))
    loaded["sessions"]["main"]["cells"][0]["sdpa"] = seen
    found = from_json(json.dumps(loaded).encode(), "outputs.json")
    assert isinstance(found, Diagnostic)
    assert found.code == "freeze-damaged"


def test_a_lone_surrogate_is_replaced() -> None:
    made = record(page(cell()), runs={0: CellRun("ok", (Stream("stdout", "a\ud800b \ud83d\ude00"),))})
    found = from_json(to_json(made), "outputs.json")
    assert isinstance(found, PageRecord)
    assert found.sessions["main"].cells[0].run.outputs == (Stream("stdout", "a\ufffdb 😀"),)


def test_values_of_environment_variables_are_never_written() -> None:
    made = record(page(cell(), values=[("x", 1)]), around(environment={"TOKEN": "hunter2-hunter2"}))
    assert b"TOKEN" in to_json(made)
    assert b"hunter2" not in to_json(made)


VALID = to_json(record(page(cell()), runs={0: CellRun("ok", reads={"data/x": digest("x")})}))


@each_row(
    ("data", "said"),
    [
        (VALID.replace(b'"schema": 1', b'"schema": 2'), "the recorded results are from a newer blogsmith"),
        (b'{"schema": 9, "cells": []}', "the recorded results are from a newer blogsmith"),
        (b'{"schema": 0}', "the recorded results are from an older blogsmith"),
        (b"", "the recorded results are not valid JSON: missing value"),
        (b"[" * 100_000, "the recorded results are not valid JSON"),
        (b'{"a":' * 100_000, "the recorded results are not valid JSON"),
        (b"\xc3(", "the recorded results are not valid JSON"),
        (b"[]", "the recorded results are damaged: Expected `object`, got `array`"),
        (
            VALID.replace(b'"ok"', b'"fine"').replace(b'"key"', b'"status": "fine", "key"'),
            "the recorded results are damaged: Invalid enum value 'fine' "
            "at `$.sessions[...].cells[0].status`",
        ),
        (
            VALID.replace(b"data/x", b"../x"),
            "the recorded results are damaged: Expected `str` at `key` in `$.sessions[...].cells[0].reads`",
        ),
        (
            VALID.replace(b"data/x", b"/etc/passwd"),
            "the recorded results are damaged: Expected `str` at `key` in `$.sessions[...].cells[0].reads`",
        ),
    ],
)
def test_damage_is_said_in_words(data: bytes, said: str) -> None:
    found = from_json(data, "_freeze/a/outputs.json")
    assert isinstance(found, Diagnostic)
    assert (found.code, found.message, found.path) == ("freeze-damaged", said, "_freeze/a/outputs.json")
    assert (found.severity, bool(found.hint)) == ("error", True)


def test_conflict_marks_are_found_with_their_line() -> None:
    lines = VALID.split(b"\n")
    found = from_json(b"\n".join([*lines[:3], b"<<<<<<< HEAD", *lines[3:]]), "x")
    assert isinstance(found, Diagnostic)
    assert found.message == "the recorded results contain merge conflict markers"
    assert found.place is not None and (found.place.line, found.place.column) == (4, 1)


# -- files --


@pytest.mark.parametrize(
    ("post", "folder"),
    [
        ("content/posts/a.md", "_freeze/posts/a"),
        ("content/posts/a/index.md", "_freeze/posts/a/index"),
        ("content/v1.2.md", "_freeze/v1.2"),
    ],
)
def test_every_page_has_a_folder(post: str, folder: str) -> None:
    assert str(page_folder(type(POST)(post))) == folder


def test_pictures_stand_beside_the_record_by_name_and_digest(tmp_path: Path) -> None:
    light, dark, png = b"<svg>light</svg>", b"<svg>dark</svg>", b"PNG"
    data = {**picture(light), **picture(dark, "image/svg+xml" + DARK), **picture(png, "image/png")}
    run = CellRun("ok", (Display("display", data), Stream("stdout", "x"), shown(b"second")))
    post = page(cell("a\n", "Größe der Köpfe"), cell("b\n"))
    written = write_page(tmp_path, POST, record(post, runs={0: run, 1: CellRun("ok", (shown(b"other"),))}))
    pictures = {name: (tmp_path / FOLDER / name).read_bytes() for name in image_digests(written)}
    assert pictures == {
        f"grösse-der-köpfe-1-{digest('<svg>light</svg>')[:8]}.svg": light,
        f"grösse-der-köpfe-1-dark-{digest('<svg>dark</svg>')[:8]}.svg": dark,
        f"grösse-der-köpfe-1-{digest('PNG')[:8]}.png": png,
        f"grösse-der-köpfe-2-{digest('second')[:8]}.svg": b"second",
        f"cell-2-1-{digest('other')[:8]}.svg": b"other",
    }
    assert read_page(tmp_path, POST).record == written
    assert set(files_in(tmp_path)) == {
        ".gitattributes",
        "posts/attention/outputs.json",
        *(f"posts/attention/{name}" for name in pictures),
    }


def test_git_is_told_once_how_to_treat_the_files(tmp_path: Path) -> None:
    write_page(tmp_path, POST, pictured(b"1"))
    attributes = tmp_path / "_freeze" / ".gitattributes"
    assert attributes.read_text() == "* -text -merge linguist-generated=true\n"
    attributes.write_text("mine\n")
    write_page(tmp_path, POST, pictured(b"2"))
    assert attributes.read_text() == "mine\n"


def test_an_equal_result_leaves_every_file_untouched(tmp_path: Path) -> None:
    first = write_page(tmp_path, POST, pictured(b"1", b"2"))
    before = stamps(tmp_path)
    session = pictured(b"1", b"2").sessions["main"]
    slower = replace(session.cells[0], run=replace(session.cells[0].run, seconds=9.0))
    later = replace(session, cells=(slower,), origin=Origin(session.origin.machine, "2027-01-01"))
    assert write_page(tmp_path, POST, PageRecord({"main": later})) == first
    assert stamps(tmp_path) == before


@pytest.mark.parametrize(
    "other",
    [
        pictured(b"1", b"3"),
        pictured(b"1", b"2", label="other"),
        PageRecord({"main": replace(pictured(b"1", b"2").sessions["main"], start="f" * 32)}),
        PageRecord({"main": replace(pictured(b"1", b"2").sessions["main"], origin=Origin(Machine("3.12")))}),
    ],
)
def test_another_result_replaces_the_old_one_and_its_pictures(tmp_path: Path, other: PageRecord) -> None:
    write_page(tmp_path, POST, pictured(b"1", b"2"))
    written = write_page(tmp_path, POST, other)
    assert read_page(tmp_path, POST).record == written
    assert {*image_digests(written), "outputs.json"} == {file.name for file in (tmp_path / FOLDER).iterdir()}


def test_two_equal_runs_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_page(tmp_path / name, POST, pictured(b"1", b"2"))
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")


def test_sessions_that_did_not_run_are_kept_and_those_that_are_gone_are_not(tmp_path: Path) -> None:
    post = page(cell("a\n"), cell("b\n", session="gpu"), cell("c\n", session="old"))
    whole = write_page(tmp_path, POST, record(post))
    main = replace(whole.sessions["main"], start="e" * 32)
    written = write_page(tmp_path, POST, PageRecord({"main": main}), {"device": "gpu", "failed": "failed"})
    assert written.sessions == {"main": main, "device": whole.sessions["gpu"]}
    assert read_page(tmp_path, POST).record == written


def test_only_what_is_equal_keeps_its_date(tmp_path: Path) -> None:
    post = page(cell("a\n"), cell("b\n", session="gpu"))
    first = write_page(tmp_path, POST, record(post))
    later = Origin(first.sessions["main"].origin.machine, "2027-01-01")
    again = {name: replace(s, origin=later) for name, s in record(post).sessions.items()}
    again["gpu"] = replace(again["gpu"], start="d" * 32)
    written = write_page(tmp_path, POST, PageRecord(again))
    assert [written.sessions[name].origin.date for name in ("main", "gpu")] == ["2026-11-21", "2027-01-01"]


def test_a_failed_first_run_writes_nothing(tmp_path: Path) -> None:
    assert write_page(tmp_path, POST, PageRecord(), {"main": "main"}) == PageRecord()
    assert not (tmp_path / "_freeze").exists()


def test_a_page_without_record_is_none(tmp_path: Path) -> None:
    found = read_page(tmp_path, POST)
    assert (found.record, found.diagnostics) == (None, ())


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_cell_whose_picture_is_damaged_counts_as_missing(tmp_path: Path, damage: str) -> None:
    post = page(cell("a\n", "one"), cell("b\n", "two"))
    runs = {0: CellRun("ok", (shown(b"1"),)), 1: CellRun("ok", (shown(b"2"),))}
    whole = write_page(tmp_path, POST, record(post, runs=runs))
    file = tmp_path / FOLDER / f"one-1-{digest('1')[:8]}.svg"
    file.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    if damage == "gone":
        file.unlink()
    found = read_page(tmp_path, POST)
    assert found.record is not None
    assert [c.label for c in found.record.sessions["main"].cells] == ["two"]
    assert [(d.code, d.path) for d in found.diagnostics] == [
        ("freeze-damaged", (FOLDER / file.name).as_posix())
    ]
    assert write_page(tmp_path, POST, record(post, runs=runs)) == whole
    assert read_page(tmp_path, POST).record == whole


def test_a_damaged_record_is_told_and_replaced(tmp_path: Path) -> None:
    write_page(tmp_path, POST, pictured(b"1"))
    (tmp_path / FOLDER / "outputs.json").write_text("{")
    (told,) = read_page(tmp_path, POST).diagnostics
    assert (told.path, told.place is not None) == ("_freeze/posts/attention/outputs.json", True)
    assert read_page(tmp_path, POST).record is None
    written = write_page(tmp_path, POST, pictured(b"2"))
    assert read_page(tmp_path, POST).record == written


def test_files_of_others_stay(tmp_path: Path) -> None:
    write_page(tmp_path, POST, pictured(b"1"))
    for name in ("notes.txt", "mine.svg", "README"):
        (tmp_path / FOLDER / name).write_text("mine")
    write_page(tmp_path, POST, pictured(b"2"))
    assert {"notes.txt", "mine.svg", "README"} <= {file.name for file in (tmp_path / FOLDER).iterdir()}


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / FOLDER).mkdir(parents=True)
    for name in (".new-outputs.json", "outputs.json"):
        (tmp_path / FOLDER / name).symlink_to(victim)
    written = write_page(tmp_path, POST, pictured(b"1"))
    assert victim.read_text() == "precious"
    assert read_page(tmp_path, POST).record == written


def test_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    (tmp_path / "_freeze").write_text("a file")
    with pytest.raises(SiteError) as caught:
        write_page(tmp_path, POST, pictured(b"1"))
    (told,) = caught.value.diagnostics
    assert (told.code, told.path) == ("freeze-write", "_freeze/posts/attention")


def test_a_name_that_is_too_long_is_said(tmp_path: Path) -> None:
    with pytest.raises(SiteError) as caught:
        write_page(tmp_path, POST.with_name("a" * 300 + ".md"), pictured(b"1"))
    assert caught.value.diagnostics[0].code == "freeze-write"


def test_long_labels_of_any_script_fit_into_file_names(tmp_path: Path) -> None:
    written = write_page(tmp_path, POST, pictured(b"1", label="注意" * 200))
    assert read_page(tmp_path, POST).record == written


def test_a_stuck_writer_is_said(tmp_path: Path) -> None:
    with freeze_lock(tmp_path), pytest.raises(SiteError) as caught, freeze_lock(tmp_path, wait_s=0.02):
        pass
    assert caught.value.diagnostics[0].code == "busy"


WRITER = """
import sys
from pathlib import Path
from blogsmith.freeze.store import write_page
from tests.recorded import POST, pictured
root, seed = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for n in range(int(sys.argv[3])):
    write_page(root, POST, pictured(*(b"%d-%d" % (seed, n * k) for k in range(1, 5))))
"""


def writer(root: Path, seed: int, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(root), str(seed), str(times)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_writer_that_is_killed_leaves_a_record_that_reads(tmp_path: Path) -> None:
    choice = random.Random(5)
    written: PageRecord | None = None
    for seed in range(8):
        with writer(tmp_path, seed, 10_000) as process:
            time.sleep(choice.uniform(0.005, 0.05))
            os.kill(process.pid, signal.SIGKILL)
        found = read_page(tmp_path, POST)
        assert found.diagnostics == ()
        # the first processes may have been killed before they wrote anything
        assert found.record is not None or written is None
        written = found.record
    written = write_page(tmp_path, POST, pictured(b"last"))
    assert {*image_digests(written), "outputs.json"} == {file.name for file in (tmp_path / FOLDER).iterdir()}


def test_two_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    write_page(tmp_path, POST, pictured(b"first"))
    with writer(tmp_path, 1, 60) as one, writer(tmp_path, 2, 60) as other:
        while one.poll() is None or other.poll() is None:
            found = read_page(tmp_path, POST)
            assert found.diagnostics == ()
            assert found.record is not None
    assert (one.returncode, other.returncode) == (0, 0)
    last = read_page(tmp_path, POST).record
    assert last is not None
    assert {*image_digests(last), "outputs.json"} == {file.name for file in (tmp_path / FOLDER).iterdir()}


# -- files of the site --


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a.npy", ["content/posts/a.npy"]),
        ("*.npy", ["content/posts/a.npy", "content/posts/b.npy"]),
        ("./d/../a.npy", ["content/posts/a.npy"]),
        ("**/*.npy", ["content/posts/a.npy", "content/posts/b.npy", "content/posts/d/e/c.npy"]),
        ("d/**", ["content/posts/d/e/c.npy"]),
        ("d", []),
        ("../../data/x.csv", ["data/x.csv"]),
        ("../../data/**", ["data/x.csv"]),
        ("../../../outside.txt", []),
        ("../../_freeze/**", []),
        ("../../*/*.json", []),
        ("nothing*", []),
        ("[", []),
        ("", []),
        ("**x", []),
        ("nul\x00", []),
    ],
)
def test_patterns_of_depends(tmp_path: Path, pattern: str, found: list[str]) -> None:
    root = tmp_path / "site"
    put(root, "content/posts/a.npy", "content/posts/b.npy", "content/posts/d/e/c.npy", "data/x.csv")
    put(root, "_freeze/x.json", ".blogsmith/y.json", "../outside.txt")
    assert list(FileDigests(root).matches(pattern, POST)) == found


def test_digests_are_of_regular_files_read_once(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe")
    files = FileDigests(tmp_path)
    assert files.digest("a.txt") == digest("a.txt")
    assert [files.digest(name) for name in ("gone", "pipe", ".", "nul\x00")] == [None] * 4
    (tmp_path / "a.txt").write_text("other")
    assert files.digest("a.txt") == digest("a.txt")
    assert FileDigests(tmp_path).digest("a.txt") == digest("other")
