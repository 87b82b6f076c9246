"""Terminal output of the preview, as functions of records."""

from __future__ import annotations

import datetime as dt

from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.preview.events.terminal import (
    ChangeLine,
    change_line,
    format_complete,
    new_problems,
    problem_lines,
    replaces,
    serving_line,
)
from blogsmith.project.report import Counts
from tests.rows import each_row

AT = dt.datetime(2026, 3, 1, 14, 3, 22, tzinfo=dt.UTC)
TEX = Diagnostic(
    "math-command",
    r'unknown TeX command "\sofmax"',
    "content/a.md",
    Place(41, 7, 7),
    "$$A = \\sofmax(QK)$$",
    "did you mean `\\softmax`?",
)
LINK = Diagnostic("link-missing", "no page c.md", "content/b.md", Place(3, 2, 4), "[x](c.md)")
WARNING = Diagnostic("code-language", 'unknown language "pyton"', "content/a.md", severity="warning")


def test_the_first_line_names_the_address() -> None:
    assert serving_line("http://127.0.0.1:8000/") == (
        "blogsmith serves http://127.0.0.1:8000/ (press Ctrl-C to stop)"
    )


def test_the_whole_site_is_counted() -> None:
    counts = Counts(pages=1102, formulas=26000, cells=107, drafts=2, expired=1, scheduled=("content/s.md",))
    assert format_complete(counts, 9.41, [LINK, WARNING]) == (
        "1,102 pages, 26,000 formulas, 107 cells in 9.4 s "
        "(2 drafts left out, 1 expired, 1 scheduled; 1 error, 1 warning)"
    )
    assert format_complete(Counts(pages=1), 0.0312) == "1 page, 0 formulas in 31 ms"


@each_row(
    ("change", "expected"),
    [
        (ChangeLine(AT, ["content/posts/a.md"], 1, 0.0239), "14:03:22 content/posts/a.md: 1 page in 24 ms"),
        (ChangeLine(AT, ["theme.css"], 0, 0.002), "14:03:22 theme.css: no page changed"),
        (
            ChangeLine(AT, ["content/a.md"] + [f"content/{n}.md" for n in range(1499)], 1600, 1.26),
            "14:03:22 content/a.md and 1,499 more: 1,600 pages in 1.3 s",
        ),
        (
            ChangeLine(AT, ["content/a.md"], 2, 0.1, [TEX, LINK, WARNING]),
            "14:03:22 content/a.md: 2 pages in 100 ms (2 errors, 1 warning)",
        ),
        (ChangeLine(AT, [], 3, 0.1), "14:03:22 the site: 3 pages in 100 ms"),
        # a file name cannot control the terminal
        (ChangeLine(AT, ["a\x1b[2J\n.md"], 1, 0.1), "14:03:22 a\\x1b[2J\\n.md: 1 page in 100 ms"),
    ],
)
def test_each_change_is_one_line(change: ChangeLine, expected: str) -> None:
    assert change_line(change) == expected


def moved(found: Diagnostic, line: int) -> Diagnostic:
    return Diagnostic(found.code, found.message, found.path, Place(line, 1), "x", found.hint, found.severity)


def test_a_new_error_is_printed_in_full() -> None:
    assert problem_lines([], [TEX], color=False) == [
        'content/a.md:41:7: error: unknown TeX command "\\sofmax" [math-command]\n'
        "   41 | $$A = \\sofmax(QK)$$\n"
        "      |       ^^^^^^^\n"
        "hint: did you mean `\\softmax`?"
    ]
    (colored,) = problem_lines([], [TEX], color=True)
    assert "\x1b[31m" in colored


def test_errors_come_before_warnings() -> None:
    first, second = problem_lines([], [WARNING, LINK], color=False)
    assert (": error: " in first, ": warning: " in second) == (True, True)


def test_what_is_known_is_not_repeated() -> None:
    assert problem_lines([TEX, WARNING], [WARNING, TEX], color=False) == []
    # a line inserted before it
    assert problem_lines([TEX], [moved(TEX, 42)], color=False) == []
    assert new_problems([TEX], [TEX, moved(TEX, 50)]) == [moved(TEX, 50)]


def test_what_is_fixed_is_told() -> None:
    assert problem_lines([TEX], [], color=False) == [
        'fixed: content/a.md: unknown TeX command "\\sofmax" [math-command]'
    ]
    assert problem_lines([TEX, LINK, WARNING], [WARNING], color=False) == ["fixed: 2 errors"]
    assert problem_lines([TEX, LINK], [LINK], color=False) == [
        'fixed: content/a.md: unknown TeX command "\\sofmax" [math-command] (1 error left)'
    ]
    assert problem_lines([WARNING], [], color=False) == []


def test_an_error_that_another_replaces_is_not_called_fixed() -> None:
    typed = Diagnostic("math-command", r'unknown TeX command "\sofma"', "content/a.md", Place(41, 7, 6))
    lines = problem_lines([TEX], [typed], color=False)
    assert [line.partition(" [")[0] for line in lines] == [
        'content/a.md:41:7: error: unknown TeX command "\\sofma"'
    ]


def test_a_long_list_has_a_line_for_each_and_excerpts_for_the_first() -> None:
    flood = [
        Diagnostic("link-missing", f"no page {n}.md", f"content/{n}.md", Place(1), "x") for n in range(500)
    ]
    entries = problem_lines([], flood, color=False)
    assert len(entries) == 500
    for one in flood:
        assert any(entry.startswith(f"{one.path}:1:1: error: {one.message} [") for entry in entries)
    assert sum("\n" in entry for entry in entries) == 10


@each_row(
    ("line", "previous", "expected"),
    [
        ("14:03:25 a.md: 1 page in 9 ms", "14:03:22 a.md: 1 page in 8 ms", True),
        ("14:03:25 a.md: 1 page in 9 ms (1 error)", "14:03:22 a.md: no page changed", True),
        ("14:03:25 a.md: 1 page in 9 ms", "14:03:22 b.md: 1 page in 8 ms", False),
        ("14:03:25 a.md and 2 more: 3 pages in 9 ms", "14:03:22 a.md: 1 page in 8 ms", False),
        ("14:03:25 a.md: 1 page in 9 ms", "", False),
        ("14:03:25 a.md: 1 page in 9 ms", "a.md:3:1: error: no\n14:03:22 a.md: 1 page in 8 ms", False),
        ("fixed: a.md: no", "14:03:22 a.md: 1 page in 8 ms", False),
    ],
)
def test_only_a_later_save_of_the_same_file_takes_a_line_s_place(
    line: str, previous: str, expected: bool
) -> None:
    assert replaces(line, previous) == expected
