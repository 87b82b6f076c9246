"""Whether a recorded result is valid, why not, and what the page shows then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.cells.requirements import version_notes, version_warning
from blogsmith.cells.results import page_results
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.staleness import judge_page, version_changes
from blogsmith.model.cells import Cell, FigureSettings, Need, PageCells
from blogsmith.model.results import CellRun, Failure, Machine, ShapeMismatch, Stream
from tests.recorded import DAY, MACHINE, around, cell, digest, judged, page, record, run_page
from tests.rows import each_row

FILES = {"data/wq.npy": "weights", "lib/scores.py": "def scores(): ...", "content/posts/notes.txt": "notes"}
ENVIRONMENT = {"SEED": "1"}
CODES = ["wq = load()\n", "s = scores(wq)\n", "s.max()\n"]
RUNS = {
    0: CellRun("ok", (Stream("stdout", "loaded\n"),), reads={"data/wq.npy": digest("weights")}),
    1: CellRun("ok", modules={"lib/scores.py": digest("def scores(): ...")}, packages=("numpy",)),
}


def post(*changes: tuple[int, dict[str, Any]], codes: list[str] = CODES, **others: Any) -> PageCells:
    """Return the post of these tests. changes: position → options and label of that cell."""
    by_position = dict(changes)
    labels = ["load", "score", ""]
    cells = [
        cell(code, **{"label": label, **by_position.get(position, {})})
        for position, (code, label) in enumerate(zip(codes, labels, strict=False))
    ]
    return page(*cells, **others)


KNOWN = record(post(), around(FILES, environment=ENVIRONMENT), RUNS)


@dataclass(frozen=True)
class Row:
    """A change of post, files, environment or site, and the expected verdict for each cell."""

    name: str
    page: PageCells = field(default_factory=post)
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)
    said: Mapping[int, str] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)


def edited(position: int, code: str) -> PageCells:
    return post(codes=[*CODES[:position], code, *CODES[position + 1 :]])


READ = "data/wq.npy, which {} read, {}"
HITS = [
    Row("nothing"),
    Row("prose", post(lines=70)),
    Row("caption", post((0, {"fig_cap": "Scores", "fig_alt": "A matrix"}))),
    Row("echo", post((1, {"echo": False}))),
    Row(
        "output, warning, include, fold", post((1, {"output": False, "warning": False, "code_fold": "Code"}))
    ),
    Row("limits", post((2, {"timeout_s": 1.0, "memory_bytes": 10**9}))),
    Row("label", post((0, {"label": "weights"}))),
    Row("another file", files={"data/other.npy": "new"}),
    Row("freeze: false without running", post((1, {"freeze": "never"}))),
]
MISSES = [
    Row(
        "code",
        edited(2, "s.min()\n"),
        said={3: "its code has changed"},
    ),
    Row(
        "earlier cell",
        edited(1, "s = scores(wq, 2)\n"),
        said={2: "its code has changed", 3: "cell score before it has changed"},
    ),
    Row(
        "file that was read",
        files={"data/wq.npy": "other weights"},
        said={
            1: READ.format("it", "has changed"),
            2: READ.format("cell load", "has changed"),
            3: READ.format("cell load", "has changed"),
        },
    ),
    Row(
        "file that is gone",
        files={"data/wq.npy": ""},
        said={
            number: READ.format(who, "is gone")
            for number, who in ((1, "it"), (2, "cell load"), (3, "cell load"))
        },
    ),
    Row(
        "local module",
        files={"lib/scores.py": "def scores(): return 1"},
        said={
            2: "lib/scores.py, which it imports, has changed",
            3: "lib/scores.py, which cell score imports, has changed",
        },
    ),
    Row(
        "environment value",
        environment={"SEED": "2"},
        said=dict.fromkeys((1, 2, 3), "the environment variable SEED has changed"),
    ),
    Row(
        "environment value gone",
        environment={},
        said=dict.fromkeys((1, 2, 3), "the environment variable SEED is no longer set"),
    ),
    Row(
        "environment value new",
        environment={"SEED": "1", "MODE": "fast"},
        said=dict.fromkeys((1, 2, 3), "the environment variable MODE is now set"),
    ),
    Row(
        "seed",
        post((1, {"seed": 3})),
        said={2: "its `seed` is now 3", 3: "cell score before it has changed"},
    ),
    Row(
        "depends",
        post((2, {"depends": ("notes.txt",)})),
        said={3: 'it now depends on "notes.txt"'},
    ),
    Row("need", post((2, {"needs": (Need("torch", "2.6"),)})), said={3: 'it now needs "torch>=2.6"'}),
    Row(
        "depends of the page",
        replace(post(), depends=("other/*",)),
        said=dict.fromkeys((1, 2, 3), "`depends` of the page has changed"),
    ),
    Row(
        "figures of the site",
        others={"figures": FigureSettings(dark=True)},
        said={
            1: "its `fig-dark` is now true",
            2: "its `fig-dark` is now true; cell load before it has changed",
            3: "its `fig-dark` is now true; cell load before it has changed; "
            "cell score before it has changed",
        },
    ),
    Row(
        "freeze: false where cells may run",
        post((1, {"freeze": "never"})),
        others={"running": True},
        said={2: "`freeze: false` keeps no result"},
    ),
    Row(
        "versions, where they count",
        others={"versions": {"numpy": "2.5.0", "python": "3.11.7"}},
        said={2: "numpy 2.4.6 → 2.5.0"},
    ),
    Row(
        "new cell",
        page(cell(CODES[0], "load"), cell("print()\n"), cell(CODES[1], "score"), cell(CODES[2])),
        said={
            2: "it was never run",
            3: "cell 2 before it is new",
            4: "cell 2 before it is new",
        },
    ),
    Row(
        "cell that is gone",
        page(cell(CODES[0], "load"), cell(CODES[2])),
        said={2: "cell score before it is gone"},
    ),
    Row(
        "order",
        page(cell(CODES[1], "score"), cell(CODES[0], "load"), cell(CODES[2])),
        said=dict.fromkeys((1, 2, 3), "the session was recorded in another order"),
    ),
]


def files_of(row: Row) -> dict[str, str]:
    merged = {**FILES, **row.files}
    return {path: text for path, text in merged.items() if text}


@each_row("row", HITS, ids=lambda row: row.name)
def test_a_result_stays_valid_when_this_changes(row: Row) -> None:
    assert judged(row.page, KNOWN, around(files_of(row), environment=row.environment, **row.others)) == {}


@each_row("row", MISSES, ids=lambda row: row.name)
def test_a_result_is_stale_when_this_changes_and_says_so(row: Row) -> None:
    assert (
        judged(row.page, KNOWN, around(files_of(row), environment=row.environment, **row.others)) == row.said
    )


def test_without_a_record_everything_is_missing() -> None:
    verdict = judge_page(page(cell(), cell(needs=(Need("cuda"),)), values=[("x", 1)]), None, around())
    assert [verdict.cells[n].summary for n in (1, 2)] == [
        "it was never run",
        "it was never run where cuda is",
    ]
    assert verdict.values[1].state == "missing"
    assert verdict.stale_sessions() == ("main",)


def test_many_reasons_are_counted() -> None:
    known = record(page(*(cell(f"x{n} = {n}\n") for n in range(9))))
    said = judged(page(*(cell(f"y{n} = {n}\n") for n in range(9))), known)
    assert said[9].endswith("cell 3 before it has changed; and 5 more")


def test_sessions_do_not_age_each_other() -> None:
    post = page(cell("a\n"), cell("b\n", session="gpu"), cell("c\n"))
    changed = page(cell("a2\n"), cell("b\n", session="gpu"), cell("c\n"))
    verdict = judge_page(changed, record(post), around())
    assert {number for number, found in verdict.cells.items() if found.state == "stale"} == {1, 3}
    assert verdict.stale_sessions() == ("main",)


def test_a_session_with_a_new_name_keeps_its_results() -> None:
    known = record(page(cell("a\n"), cell("b\n", session="gpu")))
    verdict = judge_page(page(cell("a\n"), cell("b\n", session="device")), known, around())
    assert verdict.stale_sessions() == ()
    assert verdict.recorded == {"main": "main", "device": "gpu"}


def test_a_session_in_use_is_not_taken_for_another() -> None:
    known = record(page(cell("a\n", session="one")))
    verdict = judge_page(page(cell("a\n", session="one"), cell("a\n", session="two")), known, around())
    assert verdict.stale_sessions() == ("two",)


def test_freeze_always_keeps_what_is_recorded_for_its_label_or_code() -> None:
    known = record(page(cell("slow()\n", "slow"), cell("fast()\n")))
    kept = page(cell("slower()\n", "slow", freeze="always"), cell("fast()\n"))
    assert judged(kept, known) == {2: "cell slow before it has changed"}
    other = page(cell("slower()\n", "other", freeze="always"), cell("fast()\n"))
    assert judged(other, known)[1] == "it was never run"
    nameless = record(page(cell("slow()\n")))
    assert judged(page(cell("slower()\n", freeze="always")), nameless) == {1: "its code has changed"}


def test_an_error_counts_only_while_it_is_wanted() -> None:
    failed = CellRun("error", (Failure("ValueError", "no", "ValueError: no\n"),))
    wanted = page(cell("raise ValueError('no')\n", error=True), cell("x\n"))
    known = record(wanted, runs={0: failed})
    assert judged(wanted, known) == {}
    unwanted = page(cell("raise ValueError('no')\n"), cell("x\n"))
    assert judged(unwanted, known) == {1: "it ended in an error, and `error: true` is gone"}


def test_depends_sees_files_that_come_change_and_go() -> None:
    post = page(cell(depends=("*.txt",)), cell("y\n"), depends=("*.csv",), values=[("x", 1)])
    folder = "content/posts/"
    known = record(post, around({f"{folder}a.txt": "a", f"{folder}b.txt": "b", f"{folder}t.csv": "t"}))
    now = around({f"{folder}a.txt": "A", f"{folder}c.txt": "c", f"{folder}t.csv": "T"})
    verdict = judge_page(post, known, now)
    assert verdict.cells[1].reasons == (
        "content/posts/t.csv, which the page depends on, has changed",
        "content/posts/a.txt, which it depends on, has changed",
        "content/posts/b.txt, which it depends on, is gone",
        "content/posts/c.txt, which it depends on, is new",
    )
    assert "content/posts/a.txt, which cell 1 depends on, has changed" in verdict.cells[2].reasons
    assert verdict.values[1].reasons[0] == "content/posts/t.csv, which the page depends on, has changed"


def test_values_age_with_what_stands_before_them_only() -> None:
    values = [("wq", 1), ("s.max()", 2), ("s.max()", 3)]
    known = record(post(values=values), around(FILES), RUNS)
    changed = replace(post(values=values), cells=(*post().cells[:1], *edited(1, "s = 2\n").cells[1:]))
    verdict = judge_page(changed, known, around(FILES))
    assert [verdict.values[n].state for n in (1, 2, 3)] == ["fresh", "stale", "stale"]
    assert verdict.values[2].summary == "cell score before it has changed"
    read = judge_page(post(values=values), known, around({**FILES, "data/wq.npy": "other"}))
    assert read.values[1].summary == "data/wq.npy, which cell load read, has changed"
    module = judge_page(post(values=values), known, around({**FILES, "lib/scores.py": "other"}))
    assert [module.values[n].state for n in (1, 2, 3)] == ["fresh", "stale", "stale"]


def test_a_new_value_alone_is_missing_and_its_session_runs() -> None:
    known = record(page(cell(), values=[("x", 1)]))
    verdict = judge_page(page(cell(), values=[("x", 1), ("x + 1", 1)]), known, around())
    assert verdict.cells[1].state == verdict.values[1].state == "fresh"
    assert verdict.values[2].summary == "it was never run"
    assert verdict.stale_sessions() == ("main",)


def test_a_stale_value_shows_what_its_expression_gave() -> None:
    known = record(page(cell("x = 1\n"), cell("x = 2\n"), values=[("x", 1), ("y", 1), ("x", 2)]))
    changed = page(cell("x = 3\n"), cell("x = 2\n"), values=[("x", 1), ("x", 2), ("z", 2)])
    shown = page_results(judge_page(changed, known, around()), None).values
    assert [(shown[n].text, shown[n].pending) for n in (1, 2, 3)] == [("X", False), ("X", False), ("", True)]
    assert shown[1].stale == "cell 1 before it has changed"


def test_versions_here_say_nothing_of_a_kernel() -> None:
    """Versions are those of the Python that the site names."""
    post = page(cell("a\n"))
    runs = {0: CellRun("ok", packages=("numpy",))}
    here = around(versions={"numpy": "2.5.0", "python": "3.12.1"})
    states: dict[Literal["worker", "jupyter"], str] = {"worker": "stale", "jupyter": "fresh"}
    for engine, state in states.items():
        asked = replace(post, engine=engine)
        verdict = judge_page(asked, record(asked, runs=runs), here)
        assert verdict.cells[1].state == state
        surveyed: Any = SimpleNamespace(cells=asked, record=record(asked, runs=runs), lines=[""] * 20)
        assert bool(version_warning(surveyed, {"numpy": "2.5.0"})) == (engine == "worker")


def test_other_versions_are_told_once_for_a_page() -> None:
    runs = {0: CellRun("ok", packages=("numpy",)), 1: CellRun("ok", packages=("numpy", "scipy"))}
    known = record(page(cell("a\n"), cell("b\n")), runs=runs)
    changes = version_changes(known, {"numpy": "2.5.0", "python": "3.12.1", "scipy": "1.17"})
    assert [str(change) for change in changes] == ["python 3.11.7 → 3.12.1", "numpy 2.4.6 → 2.5.0"]
    assert version_changes(known, {"torch": "2.13"}) == ()


@each_row(
    ("then", "now", "is_patch"),
    [
        ("3.11.7", "3.11.9", True),
        ("3.11.7", "3.12.0", False),
        ("3.1.7", "3.11.7", False),
        ("2.4.6", "2.4.7+cpu", True),
        ("2.13.0+cu130", "2.13.0+cpu", True),
        ("2.4.0rc1", "2.4.0", True),
        ("2.4", "2.4.post1", True),
        ("2.4", "2.40", False),
        ("1!2.4", "2.4", False),
        ("2026", "2027", False),
        ("2026a", "2026b", False),
        ("2", "2.1", False),
    ],
)
def test_a_patch_level_is_information(then: str, now: str, is_patch: bool) -> None:
    """There is no warning; with `--strict-env` it counts like any other change."""
    runs = {0: CellRun("ok", packages=("numpy",))}
    post = page(cell("a\n"))
    machine = Machine(packages={"numpy": then})
    made = session_record(post, run_page(post, machine=machine, runs=runs), around(), DAY)
    assert made is not None
    known = PageRecord({"main": made})
    surveyed: Any = SimpleNamespace(cells=post, record=known, lines=[""] * 20)
    assert (version_warning(surveyed, {"numpy": now}) == []) == is_patch
    assert version_notes(surveyed, {"numpy": now}) == (f"numpy {then} → {now}",)
    strict = judge_page(post, known, around(versions={"numpy": now}))
    assert strict.cells[1].reasons == (f"numpy {then} → {now}",)


@each_row(
    ("then", "now"),
    [("2.11.0+cu130", "2.11.0"), ("2.11.0", "2.11.0+cu130"), ("2.11.0+cu130", "2.11.0+cu130")],
)
def test_how_a_package_was_built_is_no_change_where_one_side_does_not_say(then: str, now: str) -> None:
    """A torch wheel has version 2.11.0+cu130, which pip knows as 2.11.0."""
    post = page(cell("a\n"))
    machine = Machine(packages={"torch": then})
    made = session_record(
        post, run_page(post, machine=machine, runs={0: CellRun("ok", packages=("torch",))}), around(), DAY
    )
    assert made is not None
    assert version_changes(PageRecord({"main": made}), {"torch": now}) == ()


# -- machines that lack something --

CUDA = Need("cuda")
GPU = Machine(gpu="H200", packages={"torch": "2.13.0"})
SKIPPED = CellRun("skipped", problem="this machine has no CUDA device")


def with_gpu(code: str = "flash()\n", first: str = "q = 1\n", **options: Any) -> PageCells:
    return page(
        cell(first, "load"), cell(code, "flash", needs=(CUDA,), **options), cell("naive()\n", "naive")
    )


def run_without_gpu(post: PageCells, known: PageRecord | None) -> PageRecord:
    old = known.sessions["main"] if known else None
    made = session_record(post, run_page(post, runs={1: SKIPPED}), around(FILES), DAY, old)
    assert made is not None
    return PageRecord({"main": made})


def recorded_with_gpu(post: PageCells, runs: Mapping[int, CellRun] | None = None) -> PageRecord:
    made = session_record(post, run_page(post, machine=GPU, runs=runs), around(FILES), "2026-11-01")
    assert made is not None
    return PageRecord({"main": made})


def test_a_cell_that_cannot_run_here_is_missing_but_nothing_to_run() -> None:
    verdict = judge_page(with_gpu(), run_without_gpu(with_gpu(), None), around(FILES))
    assert [verdict.cells[n].state for n in (1, 2, 3)] == ["fresh", "missing", "fresh"]
    assert verdict.stale_sessions() == ("main",)
    assert verdict.stale_sessions({CUDA}) == ()
    assert [found.number for found in verdict.outdated_cells()] == [2]


@each_row(
    ("here", "changed"),
    [
        ({}, []),
        # the package is installed, but no GPU: the result cannot be reproduced here
        ({"torch": "2.14.0"}, []),
        ({"cuda": ""}, []),
        ({"cuda": "", "torch": "2.14.0"}, ["python 3.11.7 → 3.12.1", "torch 2.13.0 → 2.14.0"]),
    ],
)
def test_versions_count_where_a_cell_could_run(here: dict[str, str], changed: list[str]) -> None:
    post = page(cell("flash()\n", "flash", needs=(CUDA, Need("torch", "2.6"))))
    machine = replace(GPU, python="3.11.7")
    run = CellRun("ok", packages=("torch",))
    made = session_record(post, run_page(post, machine=machine, runs={0: run}), around(), DAY)
    assert made is not None
    known = PageRecord({"main": made})
    versions = {"python": "3.12.1", **here}
    assert list(map(str, version_changes(known, versions))) == changed
    assert judge_page(post, known, around(versions=versions)).cells[1].state == (
        "stale" if changed else "fresh"
    )


def test_a_result_from_another_machine_outlives_a_run_without_that_machine() -> None:
    known = run_without_gpu(with_gpu(), recorded_with_gpu(with_gpu()))
    verdict = judge_page(with_gpu(), known, around(FILES))
    assert words_of(verdict.cells) == ["", "", ""]
    shown = page_results(verdict, None).cells
    assert [shown[n].machine for n in (1, 2, 3)] == [MACHINE, GPU, MACHINE]
    assert [shown[n].date for n in (1, 2, 3)] == [DAY, "2026-11-01", DAY]


def words_of(cells: Mapping[int, Any]) -> list[str]:
    return [cells[number].summary for number in sorted(cells)]


def test_a_kept_result_knows_that_its_session_went_on_without_it() -> None:
    known = run_without_gpu(with_gpu(first="q = 2\n"), recorded_with_gpu(with_gpu()))
    verdict = judge_page(with_gpu(first="q = 2\n"), known, around(FILES))
    said = "it could not run when the rest of its session last changed"
    assert words_of(verdict.cells) == ["", said, ""]
    assert verdict.stale_sessions({CUDA}) == ()


def test_a_kept_result_ages_with_the_files_it_was_made_from_and_others_do_not() -> None:
    old_file = {0: CellRun("ok", reads={"data/wq.npy": digest("old weights")})}
    known = run_without_gpu(with_gpu(), recorded_with_gpu(with_gpu(), old_file))
    again = run_without_gpu(with_gpu(), known)
    assert again == known
    verdict = judge_page(with_gpu(), known, around(FILES))
    assert words_of(verdict.cells) == ["", "data/wq.npy, which it read, has changed", ""]


def test_a_kept_result_is_judged_by_its_own_files_alone() -> None:
    reading = {0: CellRun("ok", reads={"data/wq.npy": digest("weights")})}
    old = recorded_with_gpu(with_gpu(), reading)
    made = session_record(
        with_gpu(),
        run_page(with_gpu(), runs={**reading, 1: SKIPPED}),
        around(FILES),
        DAY,
        old.sessions["main"],
    )
    assert made is not None
    verdict = judge_page(with_gpu(), PageRecord({"main": made}), around({**FILES, "data/wq.npy": "new"}))
    said = "data/wq.npy, which {} read, has changed"
    assert words_of(verdict.cells) == [said.format("it"), said.format("it"), said.format("cell load")]


def test_a_kept_result_ages_with_the_files_its_page_depended_on() -> None:
    post = replace(with_gpu(), depends=("*.csv",))
    folder = "content/posts/"
    old = session_record(post, run_page(post, machine=GPU), around({f"{folder}t.csv": "old"}), DAY)
    now = around({f"{folder}t.csv": "new"})
    made = session_record(post, run_page(post, runs={1: SKIPPED}), now, DAY, old)
    assert made is not None
    verdict = judge_page(post, PageRecord({"main": made}), now)
    assert words_of(verdict.cells) == ["", "content/posts/t.csv, which it read, has changed", ""]


def test_what_one_kept_cell_read_is_not_what_another_was_made_from() -> None:
    torch = (Need("torch"),)
    post = page(cell("a\n"), cell("b\n", needs=(CUDA,)), cell("c\n", needs=torch))
    reading = {1: CellRun("ok", reads={"data/wq.npy": digest("old weights")})}
    whole = session_record(post, run_page(post, machine=GPU, runs=reading), around(FILES), DAY)
    without_cuda = session_record(post, run_page(post, runs={1: SKIPPED}), around(FILES), DAY, whole)
    nothing = run_page(post, runs={1: SKIPPED, 2: SKIPPED})
    made = session_record(post, nothing, around(FILES), DAY, without_cuda)
    assert made is not None
    assert [sorted(found.run.reads) for found in made.cells] == [[], ["data/wq.npy"], []]


def test_a_need_without_result_shows_what_its_fallback_names() -> None:
    post = with_gpu(fallback="naive")
    verdict = judge_page(post, run_without_gpu(post, None), around(FILES))
    shown = page_results(verdict, None).cells[2]
    assert shown.outputs == (Stream("stdout", "naive()\n"),)
    assert shown.shown_for == (
        "it needs CUDA, and was not run where that is; this is the output of cell naive"
    )
    assert verdict.outdated_cells() == ()


@pytest.mark.parametrize(
    ("fallback", "status"),
    [("skip", "skipped"), ("error", "pending"), ("nowhere", "pending"), ("flash", "pending")],
)
def test_other_fallbacks(fallback: str, status: str) -> None:
    post = with_gpu(fallback=fallback)
    shown = page_results(judge_page(post, run_without_gpu(post, None), around(FILES)), None).cells[2]
    assert shown.status == status
    assert (shown.problem, shown.unmet) == ("", ("cuda",) if status == "skipped" else ())


def test_a_fallback_may_have_a_fallback() -> None:
    torch = (Need("torch"),)
    post = page(
        cell("flash()\n", "flash", needs=(CUDA,), fallback="sdpa"),
        cell("sdpa()\n", "sdpa", needs=torch, fallback="naive"),
        cell("naive()\n", "naive"),
    )
    run = run_page(post, runs={0: SKIPPED, 1: SKIPPED})
    made = session_record(post, run, around(), DAY)
    assert made is not None
    shown = page_results(judge_page(post, PageRecord({"main": made}), around()), None).cells
    assert [shown[n].outputs for n in (1, 2)] == [(Stream("stdout", "naive()\n"),)] * 2


def test_fallbacks_in_a_circle_show_nothing() -> None:
    post = page(cell("a\n", "a", needs=(CUDA,), fallback="b"), cell("b\n", "b", needs=(CUDA,), fallback="a"))
    shown = page_results(judge_page(post, None, around()), None).cells
    assert [shown[n].status for n in (1, 2)] == ["pending", "pending"]


def test_a_need_with_a_stale_result_shows_it() -> None:
    known = recorded_with_gpu(with_gpu())
    shown = page_results(
        judge_page(with_gpu("flash(2)\n", fallback="naive"), known, around(FILES)), None
    ).cells[2]
    assert (shown.outputs, shown.stale) == ((Stream("stdout", "flash()\n"),), "its code has changed")


# -- what is recorded at all --


@each_row(
    "bad",
    [
        CellRun("error", (Failure("ValueError", "no", "ValueError: no\n"),)),
        CellRun("timeout", problem="it ran longer than 60 s"),
        CellRun("died", problem="killed by signal 11"),
        CellRun("exit", problem="it calls sys.exit(3)"),
        CellRun("memory", problem="it used more than 1 GB"),
        CellRun("error", claim="left: 1, right: 2"),
        CellRun("ok", shapes=(ShapeMismatch(1, "(n, d)", "(4, 8)", "(8, 4)"),)),
    ],
    ids=lambda run: run.status,
)
def test_a_session_that_failed_is_not_recorded(bad: CellRun) -> None:
    post = page(cell("a\n"), cell("b\n"), cell("c\n"))
    assert session_record(post, run_page(post, runs={1: bad, 2: SKIPPED}), around(), DAY) is None


def test_a_session_that_could_not_start_is_not_recorded() -> None:
    run = replace(run_page(page(cell())), cells=(CellRun("skipped"),), problem="no Python")
    assert session_record(page(cell()), run, around(), DAY) is None


def test_a_value_that_failed_is_missing_and_the_rest_is_recorded() -> None:
    post = page(cell(), values=[("x", 1), ("y", 1)])
    run = run_page(post)
    run = replace(run, values={1: run.values[1], 2: replace(run.values[2], status="error")})
    made = session_record(post, run, around(), DAY)
    assert made is not None
    verdict = judge_page(post, PageRecord({"main": made}), around())
    assert [verdict.values[n].state for n in (1, 2)] == ["fresh", "missing"]


def test_a_page_with_values_only_is_recorded() -> None:
    post = page(values=[("1 + 1", 0)])
    verdict = judge_page(post, record(post), around())
    assert verdict.values[1].state == "fresh"
    assert verdict.stale_sessions() == ()


def test_cells_that_do_not_run_are_off() -> None:
    post = page(cell(eval=False), cell(run_in="browser"), cell("y\n"))
    shown = page_results(judge_page(post, None, around()), None).cells
    assert [shown[n].status for n in (1, 2, 3)] == ["off", "off", "pending"]


def test_packages_are_shown_with_versions_where_they_are_known() -> None:
    post = page(cell("a\n"), cell("b\n"))
    runs = {0: CellRun("ok"), 1: CellRun("ok", packages=("numpy", "mystery"))}
    shown = page_results(judge_page(post, record(post, runs=runs), around()), None).cells
    assert [shown[n].packages for n in (1, 2)] == [{}, {"numpy": "2.4.6"}]


CODE = st.sampled_from(["a\n", "b\n", "c\n", "d\n"])
CELLS = st.builds(cell, CODE, st.sampled_from(["", "x", "y"]))


@given(st.lists(CELLS, max_size=5), st.lists(CELLS, max_size=5))
def test_fresh_means_the_same_cells_in_the_same_order(old: list[Cell], new: list[Cell]) -> None:
    verdict = judge_page(page(*new), record(page(*old)), around())
    codes: Callable[[list[Cell]], list[str]] = lambda cells: [c.code for c in cells]  # noqa: E731
    for number, found in verdict.cells.items():
        assert (found.state == "fresh") is (codes(old)[:number] == codes(new)[:number])
        assert (found.state == "fresh") is (not found.reasons)
        if found.state == "fresh":
            assert found.record is not None
            assert found.record.run.outputs == (Stream("stdout", new[number - 1].code),)
    recorded = [found.record for found in verdict.cells.values() if found.record]
    assert len(set(map(id, recorded))) == len(recorded)
