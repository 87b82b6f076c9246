"""The printed form of diagnostics, escaping for terminals, and their order."""

from __future__ import annotations

import io

import pytest

from blogsmith.base.diagnostics.counts import count_line
from blogsmith.base.diagnostics.format import format_diagnostic, wants_color
from blogsmith.base.diagnostics.listing import print_diagnostics
from blogsmith.base.diagnostics.model import Diagnostic, Place
from tests.rows import each_row

FORMS = [
    pytest.param(
        Diagnostic(
            "math-command",
            r'unknown TeX command "\sofmax"',
            "content/a.md",
            Place(41, 7, 7),
            r"$$A = \sofmax(QK^\top)V$$",
            r"did you mean `\softmax`?",
        ),
        'content/a.md:41:7: error: unknown TeX command "\\sofmax" [math-command]\n'
        "   41 | $$A = \\sofmax(QK^\\top)V$$\n"
        "      |       ^^^^^^^\n"
        "hint: did you mean `\\softmax`?",
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
    pytest.param(
        "a\x1b[2Jb", Place(1, 6), "a<U+001B>[2Jb", "            ^", id="control characters are named"
    ),
    pytest.param(
        "a\u202eb", Place(1, 2), "a<U+202E>b", " ^^^^^^^^", id="characters that reorder text are named"
    ),
    pytest.param("a\u200bb", Place(1, 3), "a<U+200B>b", "         ^", id="invisible characters are named"),
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


def test_equal_findings_share_a_block_with_every_location() -> None:
    found = [Diagnostic("w", "m", "a.md", Place(line), severity="warning") for line in range(1, 40)]
    found.append(Diagnostic("e", "m", "z.md"))
    others = ", ".join(f"a.md:{line}:1" for line in range(2, 40))
    assert lines_of(found) == [
        "a.md:1:1: warning: m [w]",
        f"also at: {others}",
        "z.md: error: m [e]",
        "1 error, 39 warnings",
    ]
    assert len(lines_of(found, full=True)) == 41


def test_a_few_are_printed_each_by_itself() -> None:
    found = [Diagnostic("e", "m", "a.md", Place(line)) for line in range(1, 4)]
    assert lines_of(found) == [*(f"a.md:{line}:1: error: m [e]" for line in range(1, 4)), "3 errors"]


def many(count: int) -> list[Diagnostic]:
    """Return `count` errors with excerpt and hint, in ten files, in random order."""
    found = [
        Diagnostic("e", f"m{n}", f"{n % 10}.md", Place(1 + n // 10, 2), "abc", f"hint {n}")
        for n in range(count)
    ]
    return found[::-1]


def test_up_to_forty_are_printed_with_excerpt_and_hint() -> None:
    lines = lines_of(many(40))
    assert len(lines) == 40 * 4 + 1
    assert lines.count("    1 | abc") == 10


def test_above_forty_each_has_a_line_and_the_first_ten_an_excerpt() -> None:
    found = many(41)
    lines = lines_of(found)
    heads = [line for line in lines if "error:" in line]
    assert sorted(heads) == sorted(
        f"{one.path}:{one.place.line}:2: error: {one.message} [e]" for one in found if one.place
    )
    # the lines of a file are together, in order
    assert heads == sorted(heads)
    assert lines[1:4] == ["    1 | abc", "      |  ^", "hint: hint 0"]
    assert sum(line.startswith("hint:") for line in lines) == 10
    assert lines[-4:] == [
        "  41 errors  e  in 10 files",
        "",
        "add --full to show the source line and hint of each",
        "41 errors",
    ]
    assert sum(line.startswith("hint:") for line in lines_of(found, full=True)) == 41


def test_equal_findings_above_forty_have_a_line_each_and_one_excerpt() -> None:
    found = [Diagnostic("w", "m", "a.md", Place(n), "abc", severity="warning") for n in range(1, 301)]
    found += [Diagnostic("e", f"m{n}", "z.md", Place(n), "xyz") for n in range(1, 13)]
    lines = lines_of(found)
    assert sum("warning: m [w]" in line for line in lines) == 300
    excerpts = [line for line in lines if " | " in line and "^" not in line]
    assert excerpts == ["    1 | abc", *(f"    {n} | xyz" for n in range(1, 10))]


def test_excerpts_go_to_errors_first_and_nothing_is_hidden() -> None:
    found = [Diagnostic("w", f"m{n}", "a.md", Place(n), "abc", severity="warning") for n in range(1, 51)]
    found += [Diagnostic("e", f"m{n}", "b.md", Place(n), "xyz") for n in range(1, 51)]
    lines = lines_of(found)
    assert (lines.count("    1 | xyz"), sum(line.endswith(" | abc") for line in lines)) == (1, 3)
    assert sum(line.endswith(" | xyz") for line in lines) == 7
    assert sum("warning: m" in line or "error: m" in line for line in lines) == 100
