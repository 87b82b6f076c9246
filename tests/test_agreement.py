"""Differences between two runs that keep the record: provenance, noise in numbers, layout of the code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.freeze.environment import Environment
from blogsmith.freeze.keys import AS_WRITTEN, CANONICAL, session_keys
from blogsmith.freeze.record import PageRecord, SessionRecord
from blogsmith.freeze.record_json import from_json, to_json
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.repetition import texts_agree
from blogsmith.freeze.staleness import judge_page
from blogsmith.model.cells import Need
from blogsmith.model.results import CellRun, Machine, Stream
from blogsmith.project.report import ExecutionOptions
from tests.recorded import DAY, around, cell, digest, page, run_page
from tests.rows import each_row
from tests.run_sites import STALE, site
from tests.site_files import build, printed

ALL = ExecutionOptions(execute="all")
FROZEN = ExecutionOptions(frozen=True)


def recorded(root: Path) -> bytes:
    """Return the record of post `a`."""
    return next((root / "_freeze").rglob("outputs.json")).read_bytes()


def main_session(root: Path) -> SessionRecord:
    """Return the record of its session `main`."""
    found = from_json(recorded(root), "a")
    assert isinstance(found, PageRecord)
    return found.sessions["main"]


def edit(root: Path, old: str, new: str) -> None:
    """Change the content of post `a`."""
    post = root / "content/posts/a.md"
    text = post.read_text()
    assert old in text
    post.write_text(text.replace(old, new))


NOISY = "#| tolerance: 0.5\nimport os\nprint('took', int(os.path.getmtime('noise.txt')) / 100, 's')"


@pytest.mark.parametrize(("noise", "same"), [("101", True), ("60", True), ("40", False), ("-100", False)])
def test_a_run_within_the_tolerance_keeps_the_record(tmp_path: Path, noise: str, same: bool) -> None:
    # the content of a file is part of the result, its time is not
    file = tmp_path / "noise.txt"
    root = site(tmp_path / "site", a=NOISY.replace("noise.txt", str(file)))
    file.touch()
    os.utime(file, (100, 100))
    assert build(root, execution=ALL).ok
    first = recorded(root)
    assert b"took 1.0 s" in first
    os.utime(file, (int(noise), int(noise)))
    assert build(root, execution=ALL).ok
    assert (recorded(root) == first) is same


def test_without_a_tolerance_the_last_run_counts(tmp_path: Path) -> None:
    file = tmp_path / "noise.txt"
    root = site(tmp_path / "site", a=NOISY.replace("noise.txt", str(file)).replace("0.5", "0"))
    file.touch()
    for noise in (100, 101):
        os.utime(file, (noise, noise))
        assert build(root, execution=ALL).ok
    assert b"took 1.01 s" in recorded(root)


@each_row(
    ("old", "new", "tolerance", "same"),
    [
        ("a 1.0 b", "a 1.0000001 b", 1e-6, True),
        ("a 1.0 b", "a 1.00001 b", 1e-6, False),
        ("loss 3.2e-05", "loss 3.3e-5", 0.1, True),
        ("[1 2 3]", "[1 2]", 1.0, False),
        ("x1 = 2", "x2 = 2", 1.0, False),
        ("v1.2.3", "v1.2.4", 1.0, False),
        ("nan 1", "inf 1", 1.0, False),
        ("0.0", "1e-300", 0.5, False),
        ("−1", "-1", 0.0, True),
        ("  9.99 s", " 10.01 s", 0.1, True),
        ("5 ms", "5 s", 1.0, False),
    ],
)
def test_texts_that_agree(old: str, new: str, tolerance: float, same: bool) -> None:
    assert texts_agree(old, new, tolerance) is same


@given(st.text("0123456789.eE+-− a\n", max_size=20), st.text("0123456789.eE+-− a\n", max_size=20))
def test_agreement_is_mutual(one: str, other: str) -> None:
    assert texts_agree(one, other, 0.1) == texts_agree(other, one, 0.1)
    assert texts_agree(one, one, 0.0)


# -- what is the same result, and leaves the record as it is --

DATA, LIB = {"data.csv": "1"}, {"lib.py": "x = 1"}
HERE = Machine(
    "3.11.7", "Linux x86_64", "AMD EPYC", threads=1, packages={"numpy": "2.4.6", "torch": "2.13.0"}
)
WITHOUT_TORCH = replace(HERE, cpu="Intel Xeon", packages={"numpy": "2.4.6"})
POST = page(cell("a\n", "a"), cell("b\n", "b", needs=(Need("torch"),)), cell("c\n", "c"), values=[("x", 3)])
FIRST = CellRun(
    "ok", (Stream("stdout", "1"),), reads={"data.csv": digest("1")}, packages=("numpy",), absent=("numpy",)
)
SECOND = CellRun("ok", modules={"lib.py": digest("x = 1")}, packages=("numpy", "torch"), absent=("torch",))
THIRD = CellRun("ok", (Stream("stdout", "3"),), packages=("numpy", "torch"))
RUNS = {0: FIRST, 1: SECOND, 2: THIRD}
SKIPPED = CellRun("skipped", problem="torch is not installed")
# the third cell is the first that imports the module
WITHOUT = {1: SKIPPED, 2: replace(THIRD, packages=("numpy",), modules=SECOND.modules)}


def session(
    machine: Machine = HERE,
    runs: Mapping[int, CellRun] | None = None,
    old: SessionRecord | None = None,
    surroundings: Environment | None = None,
    date: str = DAY,
) -> SessionRecord:
    ran = run_page(POST, machine=machine, runs={**RUNS, **(runs or {})})
    made = session_record(POST, ran, surroundings or around({**DATA, **LIB}), date, old)
    assert made is not None
    return made


@each_row(
    ("name", "machine", "runs", "files", "same"),
    [
        ("date and processor", replace(HERE, cpu="Intel Xeon"), {}, {}, True),
        ("seconds", HERE, {0: replace(FIRST, seconds=9.0)}, {}, True),
        ("absent modules", HERE, {0: replace(FIRST, absent=("random",))}, {}, True),
        ("Python", replace(HERE, python="3.11.8"), {}, {}, False),
        ("a package", replace(HERE, packages={"numpy": "2.5.0", "torch": "2.13.0"}), {}, {}, False),
        ("a GPU", replace(HERE, gpu="H200"), {}, {}, False),
        ("output", HERE, {0: replace(FIRST, outputs=(Stream("stdout", "2"),))}, {}, False),
        ("device", HERE, {0: replace(FIRST, device="cuda")}, {}, False),
        ("attention", HERE, {0: replace(FIRST, sdpa=("math aten::_softmax",))}, {}, False),
        ("a file", HERE, {0: replace(FIRST, reads={"data.csv": digest("2")})}, {"data.csv": "2"}, False),
        # otherwise the record would be stale at every build
        ("a file is no longer read", HERE, {0: replace(FIRST, reads={})}, {"data.csv": "2"}, False),
        ("an absent module is there", HERE, {0: replace(FIRST, absent=())}, {"numpy.py": ""}, False),
        ("a cell cannot run", WITHOUT_TORCH, WITHOUT, {}, True),
        (
            "a cell cannot run, another result",
            WITHOUT_TORCH,
            {**WITHOUT, 2: replace(WITHOUT[2], outputs=())},
            {},
            False,
        ),
        (
            "a cell cannot run, a new file",
            WITHOUT_TORCH,
            {**WITHOUT, 0: replace(FIRST, reads={**FIRST.reads, "new.csv": digest("1")})},
            {"new.csv": "1"},
            False,
        ),
    ],
)
def test_a_record_stays_if_its_results_are_repeated(
    name: str, machine: Machine, runs: Mapping[int, CellRun], files: Mapping[str, str], same: bool
) -> None:
    old = session()
    surroundings = around({**DATA, **LIB, **files})
    made = session(machine, runs, old, surroundings, "2027-01-01")
    assert (made is old) is same
    # in either case the next build has nothing to run
    again = judge_page(POST, PageRecord({"main": made}), surroundings)
    assert again.stale_sessions({Need("torch")}) == ()


def test_a_cell_that_could_not_run_is_replaced_as_soon_as_it_runs() -> None:
    apart = session(WITHOUT_TORCH, {**WITHOUT, 0: replace(FIRST, outputs=())}, session())
    assert apart.cells[1].origin is not None
    assert session(WITHOUT_TORCH, {**WITHOUT, 0: replace(FIRST, outputs=())}, apart) is apart
    whole = session(HERE, {0: replace(FIRST, outputs=())}, apart)
    assert [found.origin for found in whole.cells] == [None, None, None]


CODE = "x = [1,2]  # two\nprint(sum(x))"


def test_another_layout_is_no_other_code(tmp_path: Path) -> None:
    root = site(tmp_path, a=CODE + "\n\nprint(x)")
    assert build(root, execution=STALE).ok
    first = recorded(root)
    edit(root, "x = [1,2]  # two\n", "# two of them\nx = [\n    1, 2\n]\n")
    report = build(root, execution=FROZEN)
    assert report.ok and printed(report) == ""
    assert "two of them" in (root / "public/posts/a/index.html").read_text()
    assert recorded(root) == first
    edit(root, "1, 2\n", "1, 3\n")
    assert not build(root, execution=FROZEN).ok


def test_lines_that_outputs_name_count(tmp_path: Path) -> None:
    root = site(tmp_path, a="import warnings\nwarnings.warn('careful')\nprint(1)")
    assert build(root, execution=STALE).ok
    edit(root, "print(1)", "print(1)  # one")
    assert build(root, execution=FROZEN).ok
    edit(root, "import warnings\n", "import warnings\n\n")
    report = build(root, execution=FROZEN)
    assert not report.ok and "its outputs name lines of code, and these have moved" in printed(report)
    assert build(root, execution=STALE).ok and build(root, execution=FROZEN).ok


def test_older_records_stay_and_take_the_new_form_when_code_changes(tmp_path: Path) -> None:
    root = site(tmp_path, a=CODE)
    assert build(root, execution=STALE).ok
    new = main_session(root)
    exact = session_keys(page(cell(f"{CODE}\n")), "main", {}, form=AS_WRITTEN)
    first = replace(new.cells[0], key=exact.cells[0], code=exact.codes[0])
    old = to_json(PageRecord({"main": replace(new, start=exact.start, form=AS_WRITTEN, cells=(first,))}))
    assert new.form == CANONICAL and b'"keys"' not in old
    next((root / "_freeze").rglob("outputs.json")).write_bytes(old)
    for execution in (FROZEN, ALL):
        assert build(root, execution=execution).ok
        assert recorded(root) == old
    edit(root, "# two", "# 2")
    assert not build(root, execution=FROZEN).ok
    assert build(root, execution=STALE).ok
    assert main_session(root).form == CANONICAL
