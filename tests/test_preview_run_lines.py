"""Terminal output about running cells."""

from __future__ import annotations

from blogsmith.preview.services import RunPrinter

Event = tuple[str, dict[str, object]]
"""State of a run, and the other fields of the event."""


def run(*events: Event, loud: bool = False) -> list[str]:
    said: list[str] = []
    times = iter(range(100))
    lines = RunPrinter(said.append, lambda: next(times) / 10, loud=loud)
    for state, more in events:
        lines.on_event(
            {"kind": "run", "page": "/posts/caf%C3%A9/", "session": "main", "state": state, **more}
        )
    return said


CELL: dict[str, object] = {"cell": 1}
PRINTS: tuple[Event, ...] = (
    ("started", CELL),
    ("output", {**CELL, "text": "one\ntw"}),
    ("output", {**CELL, "text": "o\x1b[2J\nthree"}),
    ("ended", CELL),
    ("finished", {}),
)


def test_one_line_for_a_run() -> None:
    assert run(*PRINTS) == ["/posts/café/: 1 cell ran in 100 ms"]


def test_loud() -> None:
    said = run(*PRINTS, loud=True)
    assert said[:-1] == ["/posts/café/ | one", "/posts/café/ | two\\x1b[2J", "/posts/café/ | three"]


def test_stopped() -> None:
    assert run(("started", CELL), ("stopped", {})) == ["/posts/café/: 0 cells ran in 100 ms, stopped"]


def test_nothing_that_ran_is_nothing_to_say() -> None:
    assert run(("queued", {}), ("stopped", {})) == []


def test_a_run_that_goes_on_from_a_state() -> None:
    events: tuple[Event, ...] = (
        ("started", {"cell": 8, "after": 6, "of": 9}),
        ("ended", {"cell": 8, "refused": "a timer\x1b runs"}),
        ("started", {"cell": 9}),
        ("ended", {"cell": 9, "refused": "a timer\x1b runs"}),
        ("finished", {}),
    )
    last = "/posts/café/: 2 cells ran in 200 ms, resumed after cell 6"
    assert run(*events) == [last]
    assert run(*events, loud=True) == [
        "/posts/café/: cell 7 of 9, resumed after cell 6",
        "/posts/café/: no checkpoint after cell 8: a timer\\x1b runs",
        last,
    ]


def test_states_of_two_sessions() -> None:
    events: tuple[Event, ...] = (
        ("started", {"cell": 2, "after": 1, "of": 2}),
        ("started", {"cell": 4, "after": 1, "of": 2, "session": "gpu"}),
        ("ended", {"cell": 2}),
        ("ended", {"cell": 4}),
        ("finished", {}),
    )
    assert run(*events) == [
        "/posts/café/: 2 cells ran in 200 ms, resumed after cell 1 and after cell 1 of the session gpu"
    ]
