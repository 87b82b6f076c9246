"""All errors of one formula: those after the first one, and those that would only follow from it."""

from __future__ import annotations

from functools import partial

import pytest

from blogsmith.tex.analysis.recovery import MAX_ERRORS, find_further_errors
from blogsmith.tex.convert import TexError, convert_formula
from tests.check import render


def errors(tex: str) -> list[str]:
    """Return the source of each error of a display."""
    convert = partial(convert_formula, display=True)
    with pytest.raises(TexError) as first:
        convert(tex)
    found = [first.value, *find_further_errors(tex, first.value, convert)]
    return [tex[one.offset : one.offset + one.length] for one in found]


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        # unknown commands anywhere
        (r"\foo + \frac{\bar{x}}{\baz} = \qux_1", [r"\foo", r"\baz", r"\qux"]),
        (r"x^\foo + \baz", [r"\foo", r"\baz"]),
        # one error in each cell
        (r"\begin{pmatrix} a_1_2 & b \\ c & d^3^4 \end{pmatrix} + \foo", ["_", "^", r"\foo"]),
        (r"\begin{aligned} a &= b^2^3 \\ c &= \foo \\ d &= e_1_2 \end{aligned}", ["^", r"\foo", "_"]),
        # one in each pair of braces
        (r"\sqrt{a^2^3} + \sqrt{b_1_2}", ["^", "_"]),
        # an unknown environment is left out as a whole
        (r"\begin{alignn} a & b \end{alignn} + \foo", [r"\begin{alignn}", r"\foo"]),
        # nothing is known after a brace that is not closed
        (r"\frac{a}{b + \foo", [r"\foo", "{"]),
        (r"a^2^3 + \foo", ["^"]),
        (r"a \right) + \foo", [r"\right"]),
    ],
)
def test_each_error_is_found_once(tex: str, expected: list[str]) -> None:
    assert errors(tex) == expected


def test_their_number_is_limited() -> None:
    assert len(errors(" + ".join(rf"\foo{chr(97 + n)}" for n in range(26)))) == MAX_ERRORS


def test_a_build_reports_all_of_them() -> None:
    page = render("Text.\n\n$$\n\\alhpa + \\begin{pmatrix} a_1_2 \\\\ \\gama \\end{pmatrix}\n$$\n")
    assert [(one.place.line, one.place.column) for one in page.diagnostics if one.place] == [
        (4, 1),
        (4, 29),
        (4, 35),
    ]
    assert [one.fix is not None for one in page.diagnostics] == [True, False, True]
    assert page.html.count("math-error") == 1
