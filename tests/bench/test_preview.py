"""The benchmark of the preview: its arithmetic and its edits, without a browser or a server."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path

import pytest

from .posts import FORMULAS, post
from .preview_browser import State
from .preview_edits import kept_in
from .preview_sites import (
    STYLES,
    cell_output,
    color,
    edited,
    pauses,
    save,
    saves,
    styles,
    subjects,
    with_cell,
    words,
    write_site,
)
from .preview_table import GOALS, HEAD, OURS, Goal, Kept, Row, Taken, is_met, line, percentile, table
from .soak import Sample, grown, slope
from .soak_edits import Author

GOAL = Goal("text", "text edit", "ms", 60, 150, still=True)
STILL = Kept(edits=3, reloads=0, scroll=3, details=3)


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile(range(1, 31), 95) == 29
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([7], 95) == 7


@pytest.mark.parametrize(
    ("values", "kept", "met"),
    [
        ((60, 60, 150), STILL, True),
        ((60, 61, 61), STILL, False),
        ((1, 1, 151), STILL, False),
        ((1, 1, 1), Kept(3, 1, 3, 3), False),
        ((1, 1, 1), Kept(3, 0, 2, 3), False),
        ((1, 1, 1), Kept(3, 0, 3, 2), False),
    ],
)
def test_a_goal_is_met_by_times_and_by_a_page_that_stays(
    values: tuple[float, ...], kept: Kept, met: bool
) -> None:
    assert is_met(GOAL, Taken(values, kept)) is met


def test_what_failed_meets_no_goal() -> None:
    assert not is_met(GOAL, "no page")
    assert is_met(Goal("burst", "burst", "ms", None), Taken((9000,)))
    assert "failed: no page" in line(Row(GOAL, OURS, "no page\nand a traceback"))


def test_an_edit_that_is_never_shown_meets_no_goal() -> None:
    result = Taken((1, 1), STILL, missed=1)
    assert not is_met(GOAL, result)
    assert line(Row(GOAL, OURS, result)).endswith("MISSED   2  1 never shown, everything")
    assert line(Row(GOAL, OURS, Taken((1,), missed=2))).endswith("2 never shown")


def test_peers_stand_below_us_with_their_ratio() -> None:
    goal = GOALS[0]
    rows = [Row(goal, "hugo", Taken((300, 330), Kept(2, 2, 2, 0))), Row(goal, OURS, Taken((30, 30), STILL))]
    head, ours, theirs = table(rows)
    assert head == HEAD
    assert ours.startswith("text edit, few posts")
    assert ours.split()[4:] == [OURS, *["30", "30", "30", "ms", "60", "/", "150", "met", "2", "everything"]]
    assert "10.5 times" in theirs
    assert theirs.endswith("2  2 reloads, scroll 2/2, details 0/2")


def test_what_edits_left_is_counted() -> None:
    before = State(loads=1, scroll_px=300.0, open=True)
    pages = [
        (before, before),
        (before, State(1, 300.5, True)),
        (before, State(2, 300.0, False)),
        (before, State(1, 200.0, True)),
    ]
    assert kept_in(pages) == Kept(edits=4, reloads=1, scroll=3, details=3)


def test_each_edit_is_new_and_changes_nothing_else() -> None:
    first, second = islice(words("t"), 2)
    assert first != second
    assert first not in edited(3, second)
    assert edited(3, first).replace(first, second) == edited(3, second)
    assert edited(3, first).count("$") == post(3).count("$") >= 2 * FORMULAS
    assert f"$\\{second}$" in edited(3, first, second)
    assert all(word.isalpha() and word not in post(3) for word in islice(words("t"), 100))
    assert len(set(islice(words("b"), 1000))) == 1000


def test_a_cell_prints_what_its_code_does_not_hold() -> None:
    assert cell_output(1000) == "the sum is 499500"
    assert cell_output(1000) not in with_cell(3, "word", 1000)


def test_colours_are_written_as_browsers_compute_them() -> None:
    assert color(300) == "rgb(64, 1, 44)"
    assert color(300) in styles(300)


@pytest.mark.parametrize("style", STYLES)
def test_both_ways_of_saving_leave_one_file(tmp_path: Path, style: str) -> None:
    file = tmp_path / "a.md"
    file.write_text("old")
    assert save(file, "new", style) > 0
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.md", "new")]
    assert saves(4) == ["in place", "rename"] * 2


def test_pauses_repeat() -> None:
    first, again, other = (list(islice(pauses(seed, 0.3), 50)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(0.3 <= pause <= 0.7 for pause in first)


def test_the_page_that_is_looked_at_is_the_one_that_is_edited(tmp_path: Path) -> None:
    subject = subjects({})[OURS]
    assert subject
    site = write_site(subject, tmp_path / "site", 4)
    assert site.page == "/posts/post-00002/"
    assert site.file.read_text() == edited(2, "original")
    assert len(list(site.file.parent.iterdir())) == 4
    assert "8123" in subject.serve(8123)


def test_a_line_is_fitted() -> None:
    assert slope([0, 1, 2, 3], [1, 3, 5, 7]) == pytest.approx(2)
    assert slope([0, 1, 2, 3], [4, 4, 4, 4]) == 0


def samples(memory: str, threads: str = "9" * 9) -> list[Sample]:
    """Return samples of a server, with each digit of `memory` times 10 MB and these numbers of threads."""
    pairs = zip(memory, threads, strict=True)
    return [Sample(60.0 * n, 10.0 * int(mb), int(count), 20, 1) for n, (mb, count) in enumerate(pairs)]


def test_growth_is_told_from_noise() -> None:
    assert grown(samples("575757575")) == []
    assert grown(samples("999999991", "987654321")) == []
    # A random peak at the end: the least value shows that it is not growth.
    assert grown(samples("555555599")) == []
    (leak,) = grown(samples("555666777"))
    assert leak.startswith("megabytes grew by 2")
    (leak,) = grown(samples("555555555", "233445566"))
    assert leak.startswith("threads grew by")
    assert grown(samples("555", "999"))


def test_an_author_keeps_about_as_many_posts(tmp_path: Path) -> None:
    subject = subjects({})[OURS]
    assert subject
    site = write_site(subject, tmp_path / "site", 6)
    author = Author(site, seed=1)
    done = [author.act() for _ in range(300)]
    seen = {action.what for action in done}
    assert seen >= {"text", "mistake", "correction", "new", "delete", "rename", "cell", "branch"}
    assert 3 <= len(list(site.file.parent.iterdir())) <= 8
    for before, after in pairwise(done):
        assert before.broken == (after.what == "correction")
    again = Author(write_site(subject, tmp_path / "again", 6), seed=1)
    assert [again.act() for _ in range(300)] == done
