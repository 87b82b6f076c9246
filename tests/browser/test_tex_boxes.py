"""Boxes that TeX typesets and browsers do not by themselves, measured in Chromium and in Firefox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .firefox import Firefox
from .reader import Reader
from .server import served
from .two_browsers import build_page, opened_in_either

TEXTS = {
    "dots": r"\begin{pmatrix} a & b \\ \vdots & c \\ d & \ddots \end{pmatrix}",
    "relation": r"a \underset{x \to 0}{\sim} b",
    "sum": r"a \overset{\text{a.s.}}{+} b",
    "narrow": r"a \overset{!}{=} b",
    "continued": r"\cfrac{x}{y}",
    "diagram": r"\begin{CD} A @>>> B \\ @VgVV @VVV \\ C @>>> D \end{CD}",
    "laps": r"a \mathllap{b} \mathclap{c} d",
    "words": r"\text{x}_1 x_1",
    "sums": r"\left( \sum_{i=1}^n a_i \right)",
    "function": r"\log x",
    "lines": r"\begin{aligned} a &= \sum_i b \\[1em] c &= d \end{aligned}",
    "cases": r"\begin{dcases} \int_0^1 f \\ \sum_{i=1}^n g \end{dcases}",
}
MU = 1 / 18
"""TeX's unit of space in formulas, in em."""

# Boxes of the matching elements in the display with this number, in em of the formula.
MEASURE = """
const [number, selector] = arguments;
const formula = document.querySelectorAll(".math-display > math")[number];
const em = parseFloat(getComputedStyle(formula).fontSize);
return [...formula.querySelectorAll(selector)].map(part => {
  const {left, top, right, bottom} = part.getBoundingClientRect();
  return {left: left / em, top: top / em, right: right / em, bottom: bottom / em};
});
"""
Box = dict[str, float]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the formulas; yield their URL."""
    with served(build_page(tmp_path_factory.mktemp("boxes") / "site", tuple(TEXTS.values()))) as origin:
        yield f"{origin}/posts/displays/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    """Open the page with the formulas in a browser."""
    return opened_in_either(request, page, 820, 3, keeps=True)


def boxes(browser: Reader | Firefox, name: str, selector: str) -> list[Box]:
    """Return the boxes of the matching elements of a formula."""
    found: list[Box] = browser.ask(MEASURE, list(TEXTS).index(name), selector)
    return found


def test_dots_have_room_above(browser: Reader | Firefox) -> None:
    rows = boxes(browser, "dots", "mtr")
    plain, vertical, diagonal = (row["bottom"] - row["top"] for row in rows)
    # `\vdots` and `\ddots` are 1.5 em high, and a strut is 0.84 em of it.
    assert vertical - plain == pytest.approx(0.66, abs=0.08)
    assert diagonal - plain == pytest.approx(0.66, abs=0.08)


@pytest.mark.parametrize(("name", "space"), [("relation", 5), ("sum", 4), ("narrow", 5)])
def test_space_stands_outside_of_labels(browser: Reader | Firefox, name: str, space: int) -> None:
    before, behind = boxes(browser, name, "math > mi")
    sign, label = boxes(browser, name, ":is(munder, mover) > *")
    left, right = min(sign["left"], label["left"]), max(sign["right"], label["right"])
    assert left - before["right"] == pytest.approx(space * MU, abs=0.02)
    assert behind["left"] - right == pytest.approx(space * MU, abs=0.02)


def test_numerators_of_continued_fractions_hold_a_strut(browser: Reader | Firefox) -> None:
    (numerator,) = boxes(browser, "continued", "mfrac > :first-child")
    assert numerator["bottom"] - numerator["top"] == pytest.approx(1.2, abs=0.03)


def test_labels_stand_beside_arrows(browser: Reader | Firefox) -> None:
    a, b, c, d, label = boxes(browser, "diagram", ".math-diagram mi")
    for above, below in ((a, c), (b, d)):
        middles = [(box["left"] + box["right"]) / 2 for box in (above, below)]
        assert middles[0] == pytest.approx(middles[1], abs=0.05)
    arrow = (a["left"] + a["right"]) / 2
    assert arrow - 0.5 < label["right"] <= arrow - 0.05
    (drawing,) = boxes(browser, "diagram", ".math-diagram svg")
    assert drawing["left"] <= label["left"] + 0.05 and d["right"] <= drawing["right"] + 0.05


def test_boxes_without_width_stick_out(browser: Reader | Firefox) -> None:
    before, left, middle, behind = boxes(browser, "laps", "mi")
    assert left["right"] == pytest.approx(before["right"], abs=0.02)
    assert (middle["left"] + middle["right"]) / 2 == pytest.approx(before["right"], abs=0.02)
    assert behind["left"] == pytest.approx(before["right"], abs=0.02)


def test_subscripts_of_words_stand_as_low_as_those_of_letters(browser: Reader | Firefox) -> None:
    word, letter = boxes(browser, "words", "mn")
    assert word["bottom"] == pytest.approx(letter["bottom"], abs=0.03)


def test_brackets_hold_the_limits_of_a_sum(browser: Reader | Firefox) -> None:
    (bracket, _) = boxes(browser, "sums", "mo[fence]")
    (total,) = boxes(browser, "sums", "munderover")
    assert bracket["bottom"] - bracket["top"] >= 0.9 * (total["bottom"] - total["top"])


def test_a_function_stands_a_thin_space_from_what_it_is_applied_to(browser: Reader | Firefox) -> None:
    name, argument = boxes(browser, "function", "mi")
    assert argument["left"] - name["right"] == pytest.approx(3 * MU, abs=0.02)


def test_space_below_a_line_is_below_all_of_it(browser: Reader | Firefox) -> None:
    (limit,) = boxes(browser, "lines", "munder > :last-child")
    below = boxes(browser, "lines", "mtr:last-child mi")
    assert min(part["top"] for part in below) - limit["bottom"] >= 1


def test_limits_of_cases_keep_apart(browser: Reader | Firefox) -> None:
    first, second = (
        boxes(browser, "cases", f"mtr:nth-child({row}) > mtd > *, mtr:nth-child({row}) > mtd > * > *")
        for row in (1, 2)
    )
    assert min(part["top"] for part in second) - max(part["bottom"] for part in first) >= 0.25
