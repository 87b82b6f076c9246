"""Sweeps: keys and verdicts of their values, their records, and their default in feeds."""

from __future__ import annotations

from typing import Any

import pytest

from blogsmith.config.schema import Config
from blogsmith.freeze.keys import AS_WRITTEN, session_keys
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.record_json import from_json, to_json
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.staleness import judge_page
from blogsmith.freeze.store import image_digests
from blogsmith.model.cells import PageCells
from blogsmith.model.results import Blob, CellRun, SessionRun, Stream
from blogsmith.model.sweeps import MAX_RUNS, Sweep, SweepAxis, SweepRuns
from blogsmith.site.feeds import feed_html
from tests.check import render
from tests.recorded import DAY, MACHINE, around, cell, page, run_page


def sweep(*values: Any, default: int = 0) -> Sweep:
    return Sweep((SweepAxis("d", values),), (default,))


def swept(*values: Any, default: int = 0, before: str = "x = 1\n") -> PageCells:
    return page(cell(before), cell("y = d\n", sweep=sweep(*values, default=default)), cell("z = y\n"))


def run(post: PageCells, *keys: str, only_sweeps: bool = False) -> SessionRun:
    """Return a run with these points. Each prints its key."""
    others = {key: CellRun("ok", (Stream("stdout", key),), seconds=0.25) for key in keys}
    runs = {1: CellRun("skipped" if only_sweeps else "ok", others=others)}
    made = run_page(post, runs=runs)
    return SessionRun(made.session, made.cells, made.values, MACHINE, only_sweeps=only_sweeps)


def recorded(post: PageCells, *keys: str, old: PageRecord | None = None, only: bool = False) -> PageRecord:
    known = old.sessions["main"] if old else None
    made = session_record(post, run(post, *keys, only_sweeps=only), around(), DAY, known)
    assert made is not None
    return PageRecord({"main": made})


def test_points() -> None:
    both = Sweep((SweepAxis("a", (1, 2)), SweepAxis("act", ("relu", "tanh"))), (1, 0))
    assert [point.key for point in both.points()] == [
        *("a = 1, act = 'relu'", "a = 1, act = 'tanh'", "a = 2, act = 'relu'", "a = 2, act = 'tanh'"),
    ]
    assert both.default_point.label == "a = 2, act = relu"
    assert both.default_point.binding == {"a": 2, "act": "relu"}
    assert both.default_point not in both.other_points()


def test_keys_of_values() -> None:
    keys = session_keys(swept(4, 16), "main", {})
    assert keys.options[1] == {"sweep": "d = 4"}
    assert list(keys.sweeps[1]) == ["d = 16"]
    # a value has the key that it would have as the default, and other values do not count
    other = session_keys(swept(64, 16, 4, default=1), "main", {})
    assert other.cells[1] == keys.sweeps[1]["d = 16"]
    assert other.sweeps[1]["d = 4"] == keys.cells[1]
    assert other.cells[2] != keys.cells[2]
    assert session_keys(swept(4, 64), "main", {}).cells == keys.cells


def test_types_of_values_count() -> None:
    keys = session_keys(swept(0, 1, 1.5, "a", True), "main", {}).sweeps[1]
    assert len(set(keys.values())) == 4


def test_cells_without_a_sweep_keep_their_keys() -> None:
    """The keys equal those from before sweeps were introduced."""
    keys = session_keys(page(cell("x = 1\n")), "main", {}, form=AS_WRITTEN)
    assert keys.cells == ("90ed0f482e31ca4e0e558619c9a2b7a8",)
    assert not keys.sweeps


def test_a_new_value_is_all_that_is_due() -> None:
    known = recorded(swept(4, 16), "d = 16")
    verdict = judge_page(swept(4, 16, 64), known, around())
    assert verdict.cells[2].state == "stale"
    assert verdict.cells[2].summary == "it was not run with d = 64"
    assert verdict.cells[3].state == "fresh"
    assert verdict.stale_sessions() == ("main",)
    assert verdict.sweep_runs("main") == SweepRuns({2: frozenset({"d = 64"})}, 2)
    again = recorded(swept(4, 16, 64), "d = 64", old=known, only=True)
    assert list(again.sessions["main"].cells[1].others) == ["d = 16", "d = 64"]
    assert judge_page(swept(4, 16, 64), again, around()).stale_sessions() == ()
    # one that is gone is gone from the record with the next run
    assert judge_page(swept(4, 64), again, around()).stale_sessions() == ()
    last = recorded(swept(4, 64, 1), "d = 1", old=again, only=True)
    assert list(last.sessions["main"].cells[1].others) == ["d = 64", "d = 1"]


def test_nothing_is_recorded() -> None:
    verdict = judge_page(swept(4, 16), None, around())
    assert verdict.sweep_runs("main") == SweepRuns({2: frozenset({"d = 16"})}, 0)


def test_another_default_keeps_the_other_values() -> None:
    known = recorded(swept(4, 16, 64), "d = 16", "d = 64")
    verdict = judge_page(swept(8, 16, 64), known, around())
    assert verdict.cells[2].summary == "its `sweep` changed from d = 4 to d = 8"
    assert verdict.sweep_runs("main") == SweepRuns({2: frozenset()}, 0)
    again = recorded(swept(8, 16, 64), old=known)
    assert list(again.sessions["main"].cells[1].others) == ["d = 16", "d = 64"]
    assert judge_page(swept(8, 16, 64), again, around()).stale_sessions() == ()


def test_what_comes_before_counts_for_all_values() -> None:
    known = recorded(swept(4, 16), "d = 16")
    verdict = judge_page(swept(4, 16, before="x = 2\n"), known, around())
    assert verdict.sweep_runs("main") == SweepRuns({2: frozenset({"d = 16"})}, 0)


def test_a_file_that_was_read_counts_for_all_values() -> None:
    post = page(cell("y = d\n", sweep=sweep(4, 16), depends=("a.csv",)))
    made = session_record(
        post,
        SessionRun("main", (CellRun("ok", others={"d = 16": CellRun("ok")}),), {}, MACHINE),
        around({"content/posts/a.csv": "1"}),
        DAY,
    )
    assert made is not None
    verdict = judge_page(post, PageRecord({"main": made}), around({"content/posts/a.csv": "2"}))
    assert verdict.sweep_runs("main").keys == {1: frozenset({"d = 16"})}


def test_a_value_that_failed_is_not_recorded() -> None:
    post = swept(4, 16)
    failed = SessionRun(
        "main",
        (CellRun("ok"), CellRun("ok", others={"d = 16": CellRun("error", problem="no")}), CellRun("ok")),
    )
    assert session_record(post, failed, around(), DAY) is None


def test_the_file_reads_back() -> None:
    known = recorded(swept(4, 16), "d = 16")
    data = to_json(known)
    assert from_json(data, "x") == known
    assert b'"others"' in data
    assert b'"others"' not in to_json(recorded(page(cell(), cell(), cell())))


def test_pictures_of_values_belong_to_the_record() -> None:
    known = recorded(swept(4, 16), "d = 16").sessions["main"]
    assert image_digests(PageRecord({"main": known})) == {}
    from msgspec.structs import replace

    from blogsmith.model.results import Display

    other = known.cells[1].others["d = 16"]
    drawn = replace(
        other, run=replace(other.run, outputs=(Display("display", {"image/png": Blob("aa", None, "n.png")}),))
    )
    cells = (known.cells[0], replace(known.cells[1], others={"d = 16": drawn}), known.cells[2])
    assert image_digests(PageRecord({"main": replace(known, cells=cells)})) == {"n.png": "aa"}


POST = """\
=== results
{"cells": [{"outputs": [{"stdout": "8\\n"}], "others": {"d = 16": {"outputs": [{"stdout": "LINES"}]}}}]}
===
```python
#| sweep: {d: [4, 16]}
print(2 * d)
```
""".replace("LINES", "\\n".join(map(str, range(60))))


def test_feeds_show_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a run contains a fold of its own."""
    rendered = render(POST)
    assert "output-more" in rendered.html

    class View:
        content = rendered.html
        canonical_url = "https://example.org/a/"
        direction = "ltr"

    html = feed_html(View(), Config(base_url="https://example.org"))  # type: ignore[arg-type]
    assert "8" in html and "59" not in html
    assert html.count("<details") == html.count("</details>") == 0
    assert "sweep-controls" not in html and "<p>d = 4" in html.replace("\n", "")


def test_feeds_show_the_numbers_of_marks() -> None:
    class View:
        content = render("```python\nx = 1  # (1)\n```\n\n1. A note.\n").html
        canonical_url = "https://example.org/a/"
        direction = "ltr"

    html = feed_html(View(), Config(base_url="https://example.org"))  # type: ignore[arg-type]
    assert " (1)</a>" in html


def test_the_most_runs() -> None:
    values = ", ".join(map(str, range(MAX_RUNS)))
    assert not render(f"```python\n#| sweep: {{d: [{values}]}}\nd\n```\n").diagnostics
    found = render(f"```python\n#| sweep: {{d: [{values}, {MAX_RUNS}]}}\nd\n```\n").diagnostics
    assert [one.code for one in found] == ["cell-sweep"]
