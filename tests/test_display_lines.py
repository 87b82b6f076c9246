"""Line breaks and attributes of wide displays, and estimates of their widths."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blogsmith.tex.convert import convert_formula
from blogsmith.tex.displays import LEAST_SCALE, DisplayRoom, FittedDisplay, find_room
from blogsmith.tex.mathml.display_lines import STEPS_EM, break_display, fit_display
from blogsmith.tex.mathml.line_groups import children
from blogsmith.tex.mathml.widths import measure, read_elements
from tests.check import render
from tests.rows import each_row

CSS = Path(__file__).parents[1] / "themes/paper/static/wide.css"
ROOM = 17.4
PHONE = find_room("fit", 0, "")
LINES = [
    # after relations; binary operators only where a part between relations is too wide
    (
        r"f(x) = a_1 + a_2 + a_3 + a_4 = b_1 + b_2 + b_3 + b_4 = c",
        ["f(x)=", "a1+a2+a3+a4=", "b1+b2+b3+b4=", "c"],
    ),
    (
        r"s = a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 = t",
        ["s=", "a1+", "a2+", "a3+", "a4+", "a5+", "a6+", "a7+", "a8+", "a9=", "t"],
    ),
    # at wide spaces first: a part between them that fits stays together
    (r"x_1 = y_1 + z_1, \qquad x_2 = y_2 + z_2, \quad x_3 = 1", ["x1=y1+z1,", "x2=y2+z2,", "x3=1"]),
    # inside brackets if nothing else helps
    (
        r"f(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9)",
        ["f(a1+", "a2+", "a3+", "a4+", "a5+", "a6+", "a7+", "a8+", "a9)"],
    ),
    (
        r"\left(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + \frac{a_7}{b} + a_8 + a_9 + b_1 + b_2\right)",
        ["(a1+", "a2+", "a3+", "a4+", "a5+", "a6+", "a7b+", "a8+", "a9+", "b1+", "b2)"],
    ),
    (
        r"\left(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + b_1 + b_2\right)_i^2"
        r" = c_{\lVert x\rVert}",
        ["(a1+", "a2+", "a3+", "a4+", "a5+", "a6+", "a7+", "a8+", "a9+", "b1+", "b2)i2=", "c‖x‖"],
    ),
    # a sized delimiter with scripts closes its brackets
    (
        r"\bigl(a_1 + a_2 + a_3 + a_4\bigr)^2 = \bigl(b_1 + b_2 + b_3 + b_4\bigr)_i = c_1 + c_2 + c_3",
        ["(a1+a2+a3+a4)2=", "(b1+b2+b3+b4)i=", "c1+c2+c3"],
    ),
    # between matrices
    (
        r"A = \begin{pmatrix} a_1 + a_2 + a_3 & a_4 + a_5 \end{pmatrix}"
        r"\begin{bmatrix} b_1 & b_2 & b_3 \end{bmatrix}^\top\begin{pmatrix} a & b \end{pmatrix}",
        ["A=", "(a1+a2+a3a4+a5)", "[b1b2b3]⊤", "(ab)"],
    ),
    # also inside braces, colours and sizes
    (
        r"\color{red} a_1 + a_2 + a_3 + a_4 = {b_1 + b_2 + b_3 + b_4} = c_1 + c_2",
        ["a1+a2+a3+a4=", "b1+b2+b3+b4=", "c1+c2"],
    ),
    # words of a text that is wider than a phone
    (
        r"x = 0 \text{ if nobody has measured anything before this day}",
        ["x=", "0", "ifnobody", "hasmeasured", "anythingbefore", "thisday"],
    ),
    # cells of rows
    (
        r"\begin{aligned} a_1 + a_2 + a_3 + a_4 + a_5 &= b_1 + b_2 + b_3 \\ &= c \end{aligned}",
        ["a1+a2+a3+a4+a5", "=b1+b2+b3", "=c"],
    ),
    (
        r"\begin{array}{l} a_1 + a_2 + a_3 + a_4 + a_5 = b_1 + b_2 + b_3 + b_4 + b_5 \\ = c \end{array}",
        ["a1+a2+a3+a4+a5=", "b1+b2+b3+b4+b5", "=c"],
    ),
]
"""TeX → text of the rows between possible breaks."""


def typeset(tex: str) -> str:
    return convert_formula(tex, display=True).mathml


def content(mathml: str) -> str:
    return mathml[mathml.index(">") + 1 : mathml.rindex("</math>")]


def text(mathml: str) -> str:
    return re.sub(r"<[^>]*>|[\ufe01\u2061\u00a0 ]", "", mathml)


def rows(mathml: str) -> list[str]:
    """Return the text of the rows between possible breaks, of a line or of the cells of a table."""
    found = content(mathml)
    cells = re.findall(r"<mtd[^>]*>(.*?)</mtd>", found) if found.startswith("<mtable") else [found]
    return [text(row) for cell in cells for row in children(cell)]


@each_row(("tex", "lines"), LINES)
def test_rows(tex: str, lines: list[str]) -> None:
    plain = typeset(tex)
    broken = break_display(plain, read_elements(content(plain)), ROOM)
    assert rows(broken.mathml) == lines
    assert broken.widest < broken.width
    # the same symbols in the same order
    assert text(broken.mathml) == text(plain)
    assert broken.mathml.count("<math") == 1


def test_cases_become_rows_of_their_own() -> None:
    tex = r"x = \begin{cases} a & \text{if the first condition of all holds} \\ b & \text{else} \end{cases}"
    plain = typeset(tex)
    broken = break_display(plain, read_elements(content(plain)), ROOM)
    assert 'class="math-rows math-cases"' in broken.mathml
    assert broken.widest < broken.with_table and broken.with_table > ROOM
    # a bracket around blocks does not have to be symmetric
    assert '<mo symmetric="false" fence="true"' in broken.mathml


def fitted(tex: str, room: DisplayRoom) -> FittedDisplay:
    return fit_display(typeset(tex), room)


SUM = "a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 = b_1 + b_2 + b_3"
FRACTION = rf"\frac{{{SUM}}}{{c}}"


def test_what_fits_stays_as_it_is() -> None:
    short = r"\sum_{i=1}^n a_i = b"
    for tex in (short, rf"\begin{{aligned}} a &= b \\ &= {short} \end{{aligned}}"):
        assert fitted(tex, find_room("fit", 0, "12")) == FittedDisplay(typeset(tex))
    html = render(f"$${short}$$ {{#eq:a}}\n\n- $${short}$$\n").html
    assert "data-fit" not in html and "--ems" not in html


@each_row("tex", [r"\boxed{%s}", r"x = \fbox{$%s$} + b", r"\cancel{%s}", r"\sout{%s}", r"\phase{%s}"])
def test_frames_and_strokes_stay_whole(tex: str) -> None:
    plain = typeset(tex % SUM)
    (frame,) = re.findall(r'<mrow[^<>]* class="math-\w+">', plain)
    assert frame in fit_display(plain, PHONE).mathml


def test_a_number_that_does_not_fit_takes_the_next_line() -> None:
    tex = "a_1 + a_2 + a_3 + a_4 + a_5 + a_6 = b_1 + b_2"
    assert ROOM - 1.5 < measure(content(typeset(tex))) < ROOM
    assert not fitted(tex, find_room("fit", 0, "")).attributes
    attributes = fitted(tex, find_room("fit", 0, "1")).attributes
    assert attributes.startswith(' data-fit="shrink"') and "--number:1.3" in attributes


def test_staggered_rows_count_their_stagger() -> None:
    rows = rf"{SUM} \\ = c"
    found = [
        measure(content(typeset(rf"\begin{{{name}}} {rows} \end{{{name}}}")))
        for name in ("multline", "gather")
    ]
    assert found[0] - found[1] == pytest.approx(2)


def test_cells_have_room_for_brackets_that_grow() -> None:
    tex = r"\begin{aligned} a_1 + a_2 + a_3 + a_4 + a_5 a &= \left(b%s + b\right) + bc \end{aligned}"
    grown, low = tex % "^2", tex % "_2"
    widths = [measure(content(typeset(each))) for each in (grown, low)]
    assert all(ROOM / 1.06 < width < ROOM for width in widths)
    assert fitted(grown, PHONE).attributes.startswith(' data-fit="shrink"')
    assert not fitted(low, PHONE).attributes


def test_authors_decide_what_may_happen() -> None:
    plain = typeset(SUM)
    found = {wide: fitted(SUM, find_room(wide, 0, "")) for wide in ("fit", "shrink", "break", "scroll")}
    assert found["scroll"] == FittedDisplay(plain)
    assert found["shrink"].mathml == plain and 'data-fit="shrink"' in found["shrink"].attributes
    assert found["fit"].mathml == found["break"].mathml != plain
    assert "--least:1" in found["break"].attributes and "--least" not in found["fit"].attributes
    assert {wide for wide, one in found.items() if one.is_scrolled(find_room(wide, 0, ""))} == {"shrink"}


@pytest.mark.parametrize(
    ("settings", "front", "after", "expected"),
    [
        ("", "", "", "lines"),
        ("math: {wide: scroll}\n", "", "", ""),
        ("math: {wide: scroll}\n", "math: {wide: shrink}\n", "", "shrink"),
        ("math: {wide: scroll}\n", "math: {wide: shrink}\n", " {wide=break}", "lines"),
    ],
)
def test_a_formula_overrides_its_page_and_a_page_its_site(
    settings: str, front: str, after: str, expected: str
) -> None:
    source = f"---\ntitle: A\n{front}---\n\n$${SUM}$${after}\n"
    html = render(source, config=settings).html
    found = re.search(r'data-fit="(\w+)', html)
    assert (found[1] if found else "") == expected


def test_what_cannot_break_is_reported_as_scrolling() -> None:
    assert fitted(FRACTION, PHONE).is_scrolled(PHONE)
    # It fits in its smallest size.
    small = rf"\frac{{{SUM[:47]}}}{{c}}"
    width = measure(content(typeset(small)))
    assert ROOM < 1.03 * width < ROOM / LEAST_SCALE
    assert not fitted(small, PHONE).is_scrolled(PHONE)


def test_the_steps_are_those_of_the_theme() -> None:
    css = CSS.read_text("utf-8")
    steps = re.findall(r'@container \(width < ([\d.]+)em\) \{ \[data-fit~="([\d.]+)"\]', css)
    assert [step for step, _ in steps] == [word for _, word in steps] == [str(step) for step in STEPS_EM]


@each_row(
    ("tex", "ems"),
    [
        # Measured in Chromium and Firefox at 2 device pixels per CSS pixel; the mean of both.
        (r"f(x)", 1.98),
        (r"a+b", 2.28),
        (r"a=b", 2.39),
        (r"\frac{a}{b}", 0.9),
        (r"\sum x", 1.91),
        (r"a\quad b", 2.11),
        (r"\text{hello world this}", 7.24),
        (r"\left(\frac{a}{b}\right)", 2.02),
        (r"x_1x_1x_1x_1", 4.07),
        (r"\sqrt{x}", 1.43),
    ],
)
def test_estimates_are_close(tex: str, ems: float) -> None:
    assert measure(content(typeset(tex))) == pytest.approx(ems, rel=0.08)


@pytest.mark.parametrize(
    "command", [r"\bra{%}", r"\left\lVert %\right\rVert", r"\cssId{a}{%}", r"\class{a}{%}"]
)
def test_opened_rows_are_whole_elements(command: str) -> None:
    """Rows with a meaning are opened as a whole, and rows with an id or a class are not."""
    tex = command.replace("%", "+".join(f"a_{{{n}}}" for n in range(40)))
    broken = fitted(tex, PHONE).mathml
    ElementTree.fromstring(broken)
    assert "intent" not in broken
    assert broken.count("<mrow>") > 10 or command.startswith((r"\css", r"\class"))
