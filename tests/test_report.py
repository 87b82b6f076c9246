"""The printed form of diagnostics, what a terminal may see of them, and the order they come in."""

from __future__ import annotations

import io

import pytest

from blogsmith.base.diagnostics.counts import count_line
from blogsmith.base.diagnostics.format import format_diagnostic, wants_color
from blogsmith.base.diagnostics.listing import format_first, print_diagnostics
from blogsmith.base.diagnostics.model import Diagnostic, Place
from tests.rows import each_row

FORMS = [
    pytest.param(
        Diagnostic(
            "math-command",
            r"unknown TeX command \sofmax",
            "content/a.md",
            Place(41, 7, 7),
            r"$$A = \sofmax(QK^\top)V$$",
            r"did you mean \softmax?",
        ),
        "content/a.md:41:7: error: unknown TeX command \\sofmax [math-command]\n"
        "   41 | $$A = \\sofmax(QK^\\top)V$$\n"
        "      |       ^^^^^^^\n"
        "hint: did you mean \\softmax?",
        id="all parts",
    ),
    pytest.param(
        Diagnostic("encoding", "not UTF-8", "a.md"), "a.md: error: not UTF-8 [encoding]", id="no place"
    ),
    pytest.param(Diagnostic("busy", "no room"), "error: no room [busy]", id="no path"),
    pytest.param(
        Diagnostic("x", "m", "a.md", Place(2, 3), severity="warning"),
        "a.md:2:3: warning: m [x]",
        id="no line",
    ),
    pytest.param(
        Diagnostic("x", "m", "a.md", Place(123456, 1), "ab"),
        "a.md:123456:1: error: m [x]\n123456 | ab\n       | ^",
        id="a large line number widens the gutter",
    ),
]

CARETS = [
    pytest.param("a\tb!c", Place(1, 4), "a\tb!c", " \t ^", id="a tab stays a tab"),
    pytest.param("漢字x", Place(1, 3), "漢字x", "    ^", id="wide characters count twice"),
    pytest.param("漢字x", Place(1, 1, 2), "漢字x", "^^^^", id="and are underlined twice"),
    pytest.param("e\u0301x", Place(1, 3), "e\u0301x", " ^", id="a combining accent takes no column"),
    pytest.param("a\x1b[2Jb", Place(1, 6), r"a\x1b[2Jb", "        ^", id="control characters are escaped"),
    pytest.param(
        "a\u202eb", Place(1, 2), r"a\u202eb", " ^^^^^^", id="characters that reorder text are escaped"
    ),
    pytest.param("a\u200bb", Place(1, 3), r"a\u200bb", "       ^", id="invisible characters are escaped"),
    pytest.param("short", Place(1, 99, 5), "short", "     ^", id="a place beyond the end"),
    pytest.param("short", Place(1, 4, 99), "short", "   ^^", id="a length beyond the end"),
    pytest.param("x" * 150 + "!", Place(1, 151), "…" + "x" * 99 + "!", " " * 100 + "^", id="cut before"),
    pytest.param("!" + "x" * 150, Place(1, 1), "!" + "x" * 99 + "…", "^", id="cut after"),
    pytest.param(
        "x" * 200 + "!" + "y" * 200,
        Place(1, 201),
        "…" + "x" * 40 + "!" + "y" * 59 + "…",
        " " * 41 + "^",
        id="cut on both sides",
    ),
]


@each_row(("diagnostic", "expected"), FORMS)
def test_form(diagnostic: Diagnostic, expected: str) -> None:
    assert format_diagnostic(diagnostic, color=False) == expected


@each_row(("line", "place", "shown", "caret"), CARETS)
def test_excerpt_and_caret(line: str, place: Place, shown: str, caret: str) -> None:
    _, quoted, under = format_diagnostic(Diagnostic("x", "m", "a", place, line), color=False).split("\n")
    assert quoted.removeprefix("    1 | ") == shown
    assert under.removeprefix("      | ") == caret


def test_author_text_cannot_act_on_the_terminal() -> None:
    hostile = "\x1b]0;title\x07\r\n\u2028\u202e\x00"
    diagnostic = Diagnostic("x", hostile, f"a{hostile}.md", Place(1), f"a{hostile}", hostile)
    text = format_diagnostic(diagnostic, color=False)
    assert len(text.split("\n")) == 4
    assert all(char.isprintable() for char in text.replace("\n", ""))


def test_color_changes_nothing_but_the_color() -> None:
    diagnostic = Diagnostic("x", "m", "a.md", Place(1, 2), "abc", "h")
    colored = format_diagnostic(diagnostic, color=True)
    assert "\x1b[31m" in colored
    stripped = colored
    for code in ("0", "1", "31", "32", "36"):
        stripped = stripped.replace(f"\x1b[{code}m", "")
    assert stripped == format_diagnostic(diagnostic, color=False)


def test_print_sorts_by_file_and_place_and_counts() -> None:
    found = [
        Diagnostic("x", "third", "b.md", Place(1)),
        Diagnostic("x", "second", "a.md", Place(10), severity="warning"),
        Diagnostic("x", "first", "a.md", Place(9)),
    ]
    stream = io.StringIO()
    print_diagnostics(found, stream, color=False)
    lines = stream.getvalue().splitlines()
    assert [line.split()[2] for line in lines[:3]] == ["first", "second", "third"]
    assert lines[3:] == ["2 errors, 1 warning"]


def test_warnings_about_records_come_last() -> None:
    stream = io.StringIO()
    pending = Diagnostic("cell-pending", "no result", "content/a.md", Place(1, 1), severity="warning")
    error = Diagnostic("math-command", "unknown", "content/b.md", Place(2, 1))
    print_diagnostics([pending, error], stream, color=False)
    assert stream.getvalue() == (
        "content/b.md:2:1: error: unknown [math-command]\n"
        "content/a.md:1:1: warning: no result [cell-pending]\n"
        "1 error, 1 warning\n"
    )


def test_nothing_is_printed_for_nothing() -> None:
    stream = io.StringIO()
    print_diagnostics([], stream, color=False)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        ([], ""),
        (["error"], "1 error"),
        (["warning", "warning"], "2 warnings"),
        (["error"] * 1000 + ["warning"], "1,000 errors, 1 warning"),
    ],
)
def test_count_line(severities: list[str], expected: str) -> None:
    assert count_line([Diagnostic("x", "m", severity=s) for s in severities]) == expected  # type: ignore[arg-type]


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@each_row(
    ("stream", "environment", "expected"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_color_only_on_a_terminal(stream: io.StringIO, environment: dict[str, str], expected: bool) -> None:
    assert wants_color(stream, environment) is expected


def lines_of(found: list[Diagnostic], *, full: bool = False) -> list[str]:
    stream = io.StringIO()
    print_diagnostics(found, stream, color=False, full=full)
    return stream.getvalue().splitlines()


def test_what_stands_at_many_places_is_told_once() -> None:
    found = [Diagnostic("w", "m", "a.md", Place(line), severity="warning") for line in range(1, 301)]
    found.append(Diagnostic("e", "m", "z.md"))
    assert lines_of(found) == [
        "a.md:1:1: warning: m [w]",
        "also at: a.md:2:1, a.md:3:1 and 297 more places",
        "z.md: error: m [e]",
        "",
        "       1 error  e  in 1 file",
        "  300 warnings  w  in 1 file",
        "",
        "1 error, 300 warnings",
    ]
    assert len(lines_of(found, full=True)) == 302


def test_a_few_are_told_each_by_itself() -> None:
    found = [Diagnostic("e", "m", "a.md", Place(line)) for line in range(1, 4)]
    assert lines_of(found) == [*(f"a.md:{line}:1: error: m [e]" for line in range(1, 4)), "3 errors"]


def test_warnings_are_never_hidden_behind_errors() -> None:
    found = [Diagnostic("e", f"m{line}", "a.md", Place(line)) for line in range(1, 1001)]
    found += [Diagnostic("w", f"m{line}", "b.md", Place(line), severity="warning") for line in range(1, 9)]
    lines = lines_of(found)
    assert [line.split(":")[0] for line in lines[:6]] == ["a.md"] * 3 + ["b.md"] * 3
    assert lines[7:9] == ["  1,000 errors  e  in 1 file", "    8 warnings  w  in 1 file"]
    assert lines[10:] == ["some are left out here; with --full each is printed", "1,000 errors, 8 warnings"]
    assert len(lines_of(found, full=True)) == 1009


def test_of_the_first_a_third_is_left_to_warnings() -> None:
    found = [Diagnostic("e", f"m{line}", "a.md", Place(line)) for line in range(1, 51)]
    found += [Diagnostic("w", f"m{line}", "a.md", Place(line), severity="warning") for line in range(1, 10)]
    first = format_first(found, 12, color=False)
    assert [block.split()[1] for block in first.blocks] == ["error:"] * 8 + ["warning:"] * 4
    assert first.left_out == 47
    same = [Diagnostic("e", "m", "a.md", Place(line)) for line in range(1, 51)]
    assert format_first(same, 12, color=False).left_out == 0
