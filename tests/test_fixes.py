"""Fixes as data: the end of an edit, whether its text is still there, and that caches keep them."""

from __future__ import annotations

import msgspec

from blogsmith.base.diagnostics.fixes import Fix, TextEdit, make_replacement
from blogsmith.base.diagnostics.model import Diagnostic, Place, Reporter
from blogsmith.rows.page_rows import decode_row, encode_row
from tests.rows import each_row

LINES = ("one two", "three", "")


@each_row(
    ("edit", "end", "stands"),
    [
        (TextEdit(1, 5, "two", "2"), (1, 8), True),
        (TextEdit(1, 4, "two", "2"), (1, 7), False),
        (TextEdit(1, 5, "two\nthree\n", ""), (3, 1), True),
        (TextEdit(2, 6, "", "!"), (2, 6), True),
        (TextEdit(2, 7, "", "!"), (2, 7), False),
        (TextEdit(3, 1, "", "end"), (3, 1), True),
        (TextEdit(4, 1, "", "end"), (4, 1), True),
        (TextEdit(5, 1, "", "end"), (5, 1), False),
        (TextEdit(0, 1, "", "end"), (0, 1), False),
    ],
)
def test_edit(edit: TextEdit, end: tuple[int, int], stands: bool) -> None:
    assert (edit.end_line, edit.end_column) == end
    assert edit.matches(LINES) is stands


def test_reporter_keeps_fixes_whose_text_is_there() -> None:
    reporter = Reporter("content/a.md", ["write \\sofmax here"])
    place = Place(1, 7, 7)
    reporter.error("math-command", "one", place, fix=reporter.substitute(place, "\\sofmax", "\\softmax"))
    reporter.warn("math-command", "two", place, fix=make_replacement(1, 1, "read", "write"))
    reporter.warn("math-command", "three", place, fix=reporter.substitute(place, "\\sofmax", None))
    first, *others = reporter.diagnostics
    assert first.fix == Fix("write \\softmax", (TextEdit(1, 7, "\\sofmax", "\\softmax"),))
    assert [one.fix for one in others] == [None, None]


def test_caches_keep_fixes() -> None:
    fix = Fix("remove it", (TextEdit(1, 1, "it\n", ""),), is_safe=True)
    found = Diagnostic("date", "wrong", "content/a.md", Place(1), fix=fix)
    assert decode_row(encode_row(found), Diagnostic) == found
    assert msgspec.convert(msgspec.to_builtins(found), Diagnostic) == found
