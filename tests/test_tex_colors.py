"""Colours of TeX as CSS."""

from __future__ import annotations

import re

import pytest

from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.parse.colors import NAMES, css_color, dark_twin
from blogsmith.tex.parse.errors import ParseError
from tests.rows import each_row


@each_row(
    ("text", "model", "css"),
    [
        ("red", "", "#ff0000"),
        ("Red", "", "#ed1b23"),
        ("TEAL", "", "#008080"),
        ("#F00", "", "#f00"),
        ("ff8800", "", "#ff8800"),
        ("FF8800", "HTML", "#ff8800"),
        ("1, .5, 0", "rgb", "#ff8000"),
        ("255,128,0", "RGB", "#ff8000"),
        ("0.5", "gray", "#808080"),
        ("0,1,1,0", "cmyk", "#ff0000"),
        ("ForestGreen", "named", "#009b55"),
    ],
)
def test_colours(text: str, model: str, css: str) -> None:
    assert css_color(list(text), model, "\\color") == css


@each_row(
    ("source", "css"),
    [
        (r"\textcolor{red!50}{x}", "#ff8080"),
        (r"\textcolor{red!60!blue}{x}", "#990066"),
        (r"\textcolor{red!50!blue!50}{x}", "#c080c0"),
        (r"\definecolor{a}{HTML}{112233}\colorlet{b}{a!50!white}\textcolor{b}{x}", "#889099"),
    ],
)
def test_mixtures(source: str, css: str) -> None:
    assert f'mathcolor="{css}"' in convert_formula(source, display=True).mathml


@each_row(
    ("text", "model"),
    [
        ("", ""),
        ("#12", ""),
        ("nocolour", ""),
        ("red!120", ""),
        ("red!nosuch", ""),
        ("red;x:y", ""),
        ("url(x)", ""),
        ('red" onload="x', ""),
        ("1,2,3", "rgb"),
        ("1,2", "rgb"),
        ("nan", "gray"),
        ("inf,0,0", "rgb"),
        ("-1", "gray"),
        ("1e3", "gray"),
        ("x", "gray"),
        ("1", "nomodel"),
        ("F00", "HTML"),
    ],
)
def test_what_is_no_colour(text: str, model: str) -> None:
    with pytest.raises(ParseError):
        css_color(list(text), model, "\\color")


def test_every_name_is_a_colour_that_the_page_may_hold() -> None:
    assert [name for name, css in NAMES.items() if not re.fullmatch("[a-z]+|#[0-9a-f]{6}", css)] == []


def test_a_formula_names_its_own_colours() -> None:
    tex = r"\definecolor{mine}{rgb}{0,0,1}\textcolor{mine}{x}"
    mathml = convert_formula(tex, display=False).mathml
    assert (
        '<mstyle mathcolor="#0000ff" style="color:light-dark(#0000ff,#7373ff)"><mi>x</mi></mstyle>' in mathml
    )


def test_dark_colours_are_lighter_on_dark_pages() -> None:
    assert dark_twin("#000000") == "#ffffff"
    assert dark_twin("#333") == "#cccccc"
    assert dark_twin("#ff0000") is None
    boxed = convert_formula(r"\fcolorbox{red}{yellow}{\textcolor{blue}{x}}", display=False).mathml
    assert 'style="border:.04em solid #ff0000;color-scheme:light"' in boxed


def test_the_error_points_at_the_colour() -> None:
    tex = r"x\color{nosuch colour}y"
    with pytest.raises(TexError) as caught:
        convert_formula(tex, display=False)
    error = caught.value
    assert tex[error.offset : error.offset + error.length] == "nosuch colour"
