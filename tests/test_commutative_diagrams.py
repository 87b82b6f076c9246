"""Diagrams: their geometry, their text alternative, and what hostile ones cost."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from time import process_time

import pytest

from blogsmith.tex.constructs.table import constructs
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.diagrams.layout import Layout, lay_out
from blogsmith.tex.diagrams.records import ArrowDiagram
from blogsmith.tex.diagrams.tikzcd import read_tikzcd
from blogsmith.tex.diagrams.xymatrix import read_xymatrix
from blogsmith.tex.errors import TexError
from blogsmith.tex.parse.parser import Parser
from blogsmith.tex.parse.scan import split
from tests.rows import each_row

CUBE = r"""A' \ar[rr,"f'"] \ar[dr,swap,"a"] \ar[dd,swap,"g'"] &&
B' \ar[dd,swap,"h'" near start] \ar[dr,"b"] \\
& A \ar[rr,crossing over,"f" near start] && B \ar[dd,"h"] \\
C' \ar[rr,"k'" near end] \ar[dr,swap,"c"] && D' \ar[dr,swap,"d"] \\
& C \ar[rr,"k"] \ar[uu,<-,crossing over,"g" near end] && D"""
TWO_CELL = r"""\mathcal{C} && \mathcal{D}
\arrow[""{name=0, anchor=center, inner sep=0}, "F", curve={height=-18pt}, from=1-1, to=1-3]
\arrow[""{name=1, anchor=center, inner sep=0}, "G"', curve={height=18pt}, from=1-1, to=1-3]
\arrow["\alpha", shorten <=5pt, shorten >=5pt, Rightarrow, from=0, to=1]"""
SOURCES = {
    "square": r"""A \ar[r,"f"] \ar[d,"g"'] & B \ar[d,"h"] \\ C \ar[r,"k"'] & D""",
    "wide cells": r"""\sum_{i=1}^n X_i \ar[r,"f"] \ar[dr,"g"'] & \frac{a}{b} \ar[d,"h"] \\ & \sqrt{x+y+z}""",
    "cube": CUBE,
    "bent": r"""T \ar[drr,bend left,"x"] \ar[ddr,bend right=50,"y"'] & & \\ & P \ar[r,"p"] & X \\ & Y""",
    "bent inwards": r"""A \ar[r,bend left=60,"f"'] \ar[r,bend right=60,"g"] & B""",
    "parallel": r"""A \ar[r,shift left,"f"] \ar[r,shift right=2,"g"'] & B \ar[r,out=60,in=120,"h"] & C""",
    "two-cell": TWO_CELL,
    "steep": r"""A \ar[dddr,"f"] \ar[dr,"g"'] & B \\ & C \\ \\ & D""",
}


_ENVIRONMENT = re.compile(r"\\begin\{tikzcd\}(?:\[(.*?)\])?(.*)\\end\{tikzcd\}", re.DOTALL)


def read(source: str, options: str = "") -> ArrowDiagram:
    parser = Parser(split("x"), {}, constructs(), display=True)
    return read_tikzcd(parser, split(options), split(source))


def read_xy(source: str) -> ArrowDiagram:
    return read_xymatrix(Parser(split(source), {}, constructs(), display=True))


def drawings() -> dict[str, str]:
    """Return the diagrams that `make drawings` compares with those of LaTeX, by the heading above each."""
    text = (Path(__file__).parent / "drawings" / "tikzcd.md").read_text("utf-8")
    return dict(re.findall(r"## ([^\n]*)\n\n\$\$\n(.*?)\n\$\$", text, re.DOTALL))


@cache
def layouts() -> dict[str, Layout]:
    taken = {name: _ENVIRONMENT.fullmatch(tex) for name, tex in drawings().items()}
    real = {name: lay_out(read(found[2], found[1] or "")) for name, found in taken.items() if found}
    return real | {name: lay_out(read(source)) for name, source in SOURCES.items()}


def test_arrows_end_outside_the_cells() -> None:
    for name, layout in layouts().items():
        for placed in layout.arrows:
            for point in placed.curve.points():
                inside = [cell.box.tex for cell in layout.cells if cell.rectangle.contains(point)]
                assert not inside, (name, placed.arrow.token, point)


def test_labels_do_not_overlap_their_arrows() -> None:
    for name, layout in layouts().items():
        for placed in (arrow for arrow in layout.arrows if arrow.arrow.lines):
            beside = zip(placed.arrow.labels, placed.labels, strict=True)
            for label in (box for label, box in beside if label.side not in ("on", "over")):
                hit = [p for p in placed.curve.points(200) if label.rectangle.contains(p)]
                assert not (label.box.mathml and hit), (name, label.box.tex)


def test_everything_is_inside_the_drawing() -> None:
    for name, layout in layouts().items():
        boxes = [*layout.cells, *(label for arrow in layout.arrows for label in arrow.labels)]
        for box in (placed.rectangle for placed in boxes if placed.box.mathml):
            assert layout.left <= box.center.real - box.half, name
            assert box.center.real + box.half <= layout.right, name
            assert layout.top <= box.center.imag - box.up, name
            assert box.center.imag + box.down <= layout.bottom, name


def test_a_label_in_the_line_has_a_gap_around_it() -> None:
    (placed,) = lay_out(read(r'A \ar[r,"f" description] & B')).arrows
    ((start, end),) = placed.gaps
    label = placed.labels[0].rectangle
    assert placed.curve.at(start).real < label.center.real - label.half
    assert label.center.real + label.half < placed.curve.at(end).real


def test_an_arrow_that_crosses_over_leaves_gaps_in_earlier_ones() -> None:
    arrows = lay_out(read(CUBE)).arrows
    crossed = [placed.arrow.labels[0].box.tex for placed in arrows if placed.gaps]
    assert crossed == ["h'", "k'"]


def test_twenty_diagrams_are_drawn_unchanged() -> None:
    assert len(drawings()) == 20
    for name, tex in drawings().items():
        found = convert_formula(tex, display=True)
        assert not found.warnings and "<svg" in found.mathml, name


def test_shifted_arrows_are_parallel() -> None:
    first, second = lay_out(read(r"A \ar[r,shift left] \ar[r,shift right] & B")).arrows
    assert first.curve.a.imag == pytest.approx(second.curve.a.imag - 0.48)


def test_a_loop_begins_and_ends_at_its_cell() -> None:
    for source in (r"A \ar[loop left]", r"A \ar[in=30,out=-30,loop]", r"A \ar[out=240,in=300,loop]"):
        layout = lay_out(read(source))
        (placed,) = layout.arrows
        cell = layout.cells[0].rectangle
        curve = placed.curve
        assert curve.length() > 1
        assert all(abs(end - cell.center) < 1 for end in (curve.a, curve.d))


@each_row(
    "source, target",
    [
        (r"A \ar[rd] & B \\ C & D", (1, 1)),
        (r"A \arrow{r}{f} & B", (0, 1)),
        (r"A \rar{f}[swap]{g} & B", (0, 1)),
        (r"A \arrow[from=1-1,to=1-2] & B", (0, 1)),
        (r"A & B \arrow[from=l]", (0, 1)),
        (r"|[alias=Z]| A & B \ar[to=Z]", ("Z",)),
        (r"A & B \ar[ll, dash] \ar[l] ", (0, -1)),
    ],
)
def test_targets(source: str, target: tuple[object, ...]) -> None:
    end = read(source).arrows[0].target
    assert target == ((end.name,) if end.name else (end.row, end.column))


@each_row(
    "source, looks",
    [
        (r"\ar[r,hook,two heads,dashed]", {"tail": "hook", "head": "two heads", "dash": "dashed"}),
        (r"\ar[r,<->]", {"tail": "to", "head": "to"}),
        (r"\ar[r,equals]", {"lines": 2, "head": ""}),
        (r"\ar[r,phantom]", {"lines": 0}),
        (r"\ar[r,bend right=20]", {"bend": -20.0}),
        (r"\ar[r,draw={rgb,255:red,92;green,92;blue,214}]", {"color": "#5c5cd6"}),
        (r"\ar[r,red]", {"color": "#ff0000"}),
    ],
)
def test_styles(source: str, looks: dict[str, object]) -> None:
    arrow = read(f"A {source} & B").arrows[0]
    assert {name: getattr(arrow, name) for name in looks} == looks


@each_row(
    "source, looks",
    [
        (r"\ar@{^{(}->}[r]", {"tail": "hook", "head": "to"}),
        (r"\ar@{_{(}->}[r]", {"tail": "hook'", "head": "to"}),
        (r"\ar@{|->}[r]", {"tail": "bar"}),
        (r"\ar@{->>}[r]", {"head": "two heads"}),
        (r"\ar@{>->}[r]", {"tail": "tail"}),
        (r"\ar@{=>}[r]", {"lines": 2, "head": "to"}),
        (r"\ar@{=}[r]", {"lines": 2, "head": ""}),
        (r"\ar@{-->}[r]", {"dash": "dashed"}),
        (r"\ar@{.>}[r]", {"dash": "dotted"}),
        (r"\ar@{~>}[r]", {"is_squiggly": True}),
        (r"\ar@{}[r]", {"lines": 0}),
        (r"\ar@<1ex>[r]", {"shift": 0.431}),
        (r"\ar@/_1pc/[r]", {"curve": pytest.approx(-1.6, abs=0.01)}),
        (r"\ar@(ul,dl)[]", {"leaving": 135.0, "entering": 225.0}),
    ],
)
def test_styles_of_xymatrix(source: str, looks: dict[str, object]) -> None:
    arrow = read_xy(f"{{A {source} & B}}").arrows[0]
    assert {name: getattr(arrow, name) for name in looks} == looks


def test_labels_of_xymatrix() -> None:
    labels = read_xy(r"{A \ar^f[r]_(.3){g}|-h & B}").arrows[0].labels
    assert [(label.box.tex, label.side, label.position) for label in labels] == [
        ("f", "left", 0.5),
        ("g", "right", 0.3),
        ("h", "on", 0.5),
    ]


@each_row(
    "tex, expected",
    [
        (r'\begin{tikzcd} A \ar[r,hook,"f"] & B \end{tikzcd}', "f: A ↪ B"),
        (rf"\begin{{tikzcd}} {TWO_CELL} \end{{tikzcd}}", "F: C → D; G: C → D; alpha: F ⇒ G"),
        (
            r'\begin{tikzcd} P \ar[dr,phantom,"\lrcorner",very near start] & \\ & Z \end{tikzcd}',
            "corner at P",
        ),
        (r"\xymatrix{A \ar[r]^f_g & B \ar@{=}[l]}", "f, g: A → B; B = A"),
        (r"\begin{CD} A @>f>> B @= C \end{CD}", "f: A → B; B = C"),
        (r"\begin{tikzcd} A & B \end{tikzcd}", "A; B"),
    ],
)
def test_text_alternative(tex: str, expected: str) -> None:
    found = re.search('aria-label="([^"]*)"', convert_formula(tex, display=True).mathml)
    assert found and found[1] == expected


def test_a_diagram_among_other_symbols_does_not_name_the_formula() -> None:
    tex = r"x = \begin{tikzcd} A \ar[r] & B \end{tikzcd}"
    assert "aria-label" not in convert_formula(tex, display=True).mathml


def test_an_unknown_style_is_ignored_and_reported() -> None:
    tex = r"\begin{tikzcd} A \ar[r, wobbly=3, dashed] & B \end{tikzcd}"
    found = convert_formula(tex, display=True)
    (warning,) = found.warnings
    assert tex[warning.offset : warning.offset + warning.length] == "wobbly=3"
    assert found.mathml.count("stroke-dasharray") == 1


def test_own_styles_are_read() -> None:
    styles = r'\tikzcdset{iso/.style={dashed, "\sim" sloped}, two/.style={iso, tail}}'
    found = convert_formula(styles, display=True)
    made = convert_formula(
        r"\begin{tikzcd} A \ar[r, two] & B \end{tikzcd}", display=True, macros=found.macros
    )
    assert not made.warnings and "stroke-dasharray" in made.mathml


def test_styles_that_contain_each_other_end() -> None:
    styles = convert_formula(r"\tikzset{a/.style={b,b}, b/.style={a,a}}", display=True)
    with pytest.raises(TexError, match="too many options"):
        convert_formula(r"\begin{tikzcd} A \ar[r,a] & B \end{tikzcd}", display=True, macros=styles.macros)


@each_row(
    "tex",
    [
        r"\begin{tikzcd}" + r"\ar[loop,crossing over]" * 5_000 + r"\end{tikzcd}",
        r"\begin{tikzcd}" + "&" * 60_000 + r"\end{tikzcd}",
        r"\begin{tikzcd}" + "&".join([r"A\ar[r,crossing over]"] * 590) + r"& \end{tikzcd}",
        r"\begin{tikzcd}" + r'A\ar[r,"f"{name=0}]&' * 590 + r"\end{tikzcd}",
        r"\xymatrix{" + r"\ar@" * 15_000 + "}",
        r"\begin{tikzcd}" + r"\ar[" * 15_000 + r"\end{tikzcd}",
        r"\begin{tikzcd} A \ar[" + "r" * 60_000 + r"] \end{tikzcd}",
        r"\begin{CD}" + "@>>>" * 15_000 + r"\end{CD}",
        r"\begin{tikzcd} A \ar[r, bend left=1e308] & B \end{tikzcd}",
        r"\begin{tikzcd}[column sep=9999999em] A & B \end{tikzcd}",
        r"\begin{tikzcd}" + r"\begin{tikzcd}" * 600 + r"\end{tikzcd}" * 601,
    ],
)
def test_hostile_diagrams_end_soon(tex: str) -> None:
    started = process_time()
    try:
        convert_formula(tex[:63_999], display=True)
    except TexError as error:
        assert error.message
    assert process_time() - started < 4


def test_no_text_of_the_author_reaches_the_drawing() -> None:
    tex = r"""\begin{tikzcd} A \ar[r, draw={"/><script>}, color=url(x), "<b>"] & B \end{tikzcd}"""
    found = convert_formula(tex, display=True)
    svg = re.search("<svg.*?</svg>", found.mathml)
    assert svg and not re.search("url|script|[<>]b", svg[0])
    assert "<script" not in found.mathml and "<b>" not in found.mathml
