"""`make check-records`: which differences between two records count as different results."""

from __future__ import annotations

import json

from msgspec.structs import replace

from blogsmith.freeze.record import PageRecord, SessionRecord
from blogsmith.freeze.record_form import Origin
from blogsmith.freeze.record_json import to_json
from blogsmith.model.results import CellRun, Machine, Stream
from scripts.compare_records import differences
from tests.recorded import cell, page, record
from tests.rows import each_row

READS = {"data/wq.npy": "0" * 64}
RUNS = {
    0: CellRun("ok", (Stream("stdout", "0.5"),), seconds=1.0, reads=READS, absent=("numpy",)),
    1: CellRun("ok", (Stream("stdout", "0.7"),), seconds=1.0),
}
(OLD,) = record(page(cell("a\n"), cell("b\n")), runs=RUNS).sessions.values()
FIRST, SECOND = OLD.cells


@each_row(
    ("new", "removed"),
    [
        (OLD, None),
        (replace(OLD, origin=Origin(Machine("3.14.0", cpu="other"), "2027-01-01")), None),
        (replace(OLD, cells=(replace(FIRST, run=replace(FIRST.run, seconds=9.0, absent=())), SECOND)), None),
        # the file appears with the first cell that reads it
        (
            replace(
                OLD,
                cells=(
                    replace(FIRST, run=replace(FIRST.run, reads={})),
                    replace(SECOND, run=replace(SECOND.run, reads=READS)),
                ),
            ),
            None,
        ),
        (
            replace(OLD, cells=(replace(FIRST, run=replace(FIRST.run, reads={})), SECOND)),
            '"data/wq.npy"',
        ),
        (
            replace(
                OLD,
                cells=(FIRST, replace(SECOND, run=replace(SECOND.run, outputs=(Stream("stdout", "0.8"),)))),
            ),
            '"0.7"',
        ),
        (replace(OLD, start="f" * 32), f'"start": "{OLD.start}"'),
    ],
)
def test_only_results_are_different(new: SessionRecord, removed: str | None) -> None:
    """removed: part of a line of the diff that the new record lacks; None: the results are equal."""
    one, other = (to_json(PageRecord({"main": session})).decode() for session in (OLD, new))
    lines = list(differences(one, other))
    assert any(line.startswith("-") and removed in line for line in lines) if removed else not lines


@each_row(
    ("old", "new", "is_same"),
    [
        ("max 8.9e-16, 1.0e-07", "max 6.7e-16, 9.8e-08", True),
        ("max 8.9e-16", "max 3.0e-16", False),
        ("max 8.9e-16", "min 8.9e-16", False),
        ("max 8.9e-04", "max 8.8e-04", False),
        ("max 8.9", "max 8.8", False),
        ("0.0e-05", "1.0e-05", False),
        ("8.9e-16", "8.9e-16 9.0e-16", False),
    ],
)
def test_processors_round_differently(old: str, new: str, is_same: bool) -> None:
    one, other = (json.dumps({"sessions": {"main": {"cells": [{"text": [text]}]}}}) for text in (old, new))
    assert (not list(differences(one, other))) == is_same
