"""Macros: parsing of definitions, expansion of calls, and positions of errors."""

from __future__ import annotations

import re

import pytest

from blogsmith.model.tex_macros import Macro
from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.parse.macros import read_macros
from blogsmith.tex.parse.reader import BUDGET, TokenReader, fill, text_of
from blogsmith.tex.parse.scan import split
from tests.rows import each_row


def expanded(tex: str, macros: dict[str, str]) -> str:
    """Return `tex` with every macro expanded, otherwise unchanged."""
    reader = TokenReader(split(tex), read_macros(macros))
    out: list[str] = []
    while reader.stack:
        token = reader.stack.pop()
        if token in reader.macros:
            reader.expand(token)
        else:
            out.append(token)
    return text_of(out)


def shown(tex: str, macros: dict[str, str] | None = None) -> str:
    """Return the output of `tex`."""
    return re.sub("<[^>]*>", "", convert_formula(tex, display=True, macros=macros or {}).mathml)


def refused(tex: str, macros: dict[str, str] | None = None) -> TexError:
    with pytest.raises(TexError) as caught:
        shown(tex, macros)
    return caught.value


def caret(tex: str, error: TexError) -> str:
    """Return the underlined text."""
    return tex[error.offset : error.offset + error.length]


@each_row(
    ("tex", "macros", "made"),
    [
        (r"x \in \R^n", {r"\R": r"\mathbb{R}"}, r"x \in \mathbb{R}^n"),
        (r"\norm{x}", {r"\norm": r"\|#1\|"}, r"\|x\|"),
        (r"\pair xy", {r"\pair": "(#1,#2)"}, "(x,y)"),
        (r"\pair {ab} {c}", {r"\pair": "(#2,#1)"}, "(c,ab)"),
        (r"\pair12", {r"\pair": "(#2,#1)"}, "(2,1)"),
        (r"\a\b", {r"\a": r"\b\b", r"\b": "x"}, "xxx"),
        (r"\a{\a{x}}", {r"\a": "[#1]"}, "[[x]]"),
        (r"\al x", {r"\al": r"\alpha"}, r"\alpha x"),
        (r"\c{x}", {r"\c": r"\mathbf#1"}, r"\mathbf x"),
        (r"\n{x}\n[p]{x}", {r"\n": "#[2][2]{#2}_{#1}"}, "{x}_{2}{x}_{p}"),
        (r"\n[{]}]{x}", {r"\n": "#[2][2]#2#1"}, "x{]}"),
        (r"\first{x}{y}", {r"\first": "#[2]#1"}, "x"),
        (r"\unknown", {r"\R": "x"}, r"\unknown"),
        (r"\o[x", {r"\o": "#[1][d]#1"}, "d[x"),
        (r"50\% #1", {r"\R": "x"}, r"50\% #1"),
        (r"\h", {r"\h": "#[0]##1"}, "#1"),
        (r"\ten{x}", {r"\ten": "#10"}, "x0"),
    ],
)
def test_expansion(tex: str, macros: dict[str, str], made: str) -> None:
    assert expanded(tex, macros) == made


@each_row(
    ("tex", "macro"),
    [
        (r"\newcommand{\m}{\mathbb{R}}", Macro(0, None, ("\\mathbb", "{", "R", "}"))),
        (r"\newcommand\m{x}", Macro(0, None, ("x",))),
        (r"\newcommand*{\m}{x}", Macro(0, None, ("x",))),
        (r"\newcommand{\m}[2]{#1}", Macro(2, None, ("#", "1"))),
        (r"\newcommand{\m}[2][p]{#2}", Macro(2, ("p",), ("#", "2"))),
        (r"\renewcommand\alpha{x}\let\m\alpha", Macro(0, None, ("x",))),
        (r"\providecommand{\m}{x}\providecommand{\m}{y}", Macro(0, None, ("x",))),
        (r"\def\m#1#2{#2#1}", Macro(2, None, ("#", "2", "#", "1"))),
        (r"\def\m#1.#2;{#1}", Macro(2, None, ("#", "1"), ((), (".",), (";",)))),
        (r"\def\m[#1]{#1}", Macro(1, None, ("#", "1"), (("[",), ("]",)))),
        (r"\gdef\m{x}", Macro(0, None, ("x",))),
        (r"{\gdef\m{x}}", Macro(0, None, ("x",))),
        (r"{\global\def\m{x}}", Macro(0, None, ("x",))),
        (r"\def\b{y}\edef\m{\b}\def\b{z}", Macro(0, None, ("y",))),
        (r"\let\m=x", Macro(0, None, ("x",))),
        (r"\DeclareMathOperator{\m}{softmax}", Macro(0, None, ("\\operatorname", "{", *"softmax", "}"))),
        (r"\DeclareMathOperator*\m{am}", Macro(0, None, ("\\operatorname", "*", "{", "a", "m", "}"))),
        (r"\def\m{1}\def\m{2}", Macro(0, None, ("2",))),
        (r"\def\m#1{\frac{#1}", None),
        (r"{\def\m{x}}", None),
        (r"\frac{\def\m{x}\m}{2}", None),
    ],
)
def test_definitions(tex: str, macro: Macro | None) -> None:
    try:
        found = convert_formula(tex, display=True).macros
    except TexError:
        found = {}
    assert found.get("\\m") == macro


@each_row(
    ("tex", "text"),
    [
        (r"\def\a{x}{\def\a{y}\a}\a", "yx"),
        (r"{\gdef\a{y}\a}\a", "yy"),
        (r"\def\a#1{\def\b##1{#1##1}\b}\a xy", "xy"),
        (r"\def\a#1.#2;{#2#1}\a xy.z;w", "zxyw"),
        (r"\def\a#1.{#1}\a{x.y}.z", "x.yz"),
        (r"\let\old\alpha\renewcommand\alpha{\old'}\alpha", "α′"),
        (r"\def\a{\b}\def\b{x}\a", "x"),
        (r"\def\a#1{#1#1}\def\b{x}\expandafter\a\b", "xx"),
        (r"\newcommand{\norm}[1]{n#1}\norm{x}", "nx"),
        (r"\newcommand{\R}{r}\R", "r"),
        (r"\newcommand{\a}{x}\newcommand{\a}{x}\a", "x"),
        (r"\newcommand{\site}{x}\site", "x"),
        (r"\newenvironment{e}[1]{(#1}{)}\begin{e}{x}y\end{e}", "(xy)"),
        (r"\begin{matrix}\def\a{x}\a&\providecommand\a{y}\a\end{matrix}", "xy"),
        (r"\text{\def\a{x}}", None),
        (r"\def\e{matrix}\begin{\e}x\end{\e}", "x"),
        (r"\def\c{red}\color{\c}x", "x"),
        (r"\def\l{3pt}\hspace{\l}\kern\l\rule\l\l x", "x"),
        (r"\def\l{lr}\begin{array}\l x&y\end{array}", "xy"),
        (r"\def\r{\\}\def\s{&}\begin{matrix}x\s y\r z\end{matrix}", "xyz"),
        (r"\def\l{(}\left\l x\right)\big\l", "(x)("),
        (r"\def\c{\c}\color{\c}x", None),
    ],
)
def test_meaning(tex: str, text: str | None) -> None:
    if text is None:
        assert refused(tex)
    else:
        assert shown(tex, {r"\site": "s"}) == text


CALLED = {
    r"\a": r"\a",
    r"\ping": r"\pong\pong",
    r"\pong": r"\ping",
    r"\norm": "|#1|",
    r"\two": "#1#2",
    r"\bad": r"\undefinedthing",
    r"\worse": r"\undefinedthing #1#2",
    r"\outer": r"\inner{#1}",
    r"\inner": r"\undefinedthing #1",
    r"\open": "{x",
    r"\scripts": "x_1_{#1}",
}


@pytest.mark.parametrize(
    ("tex", "at", "kind", "message"),
    [
        (r"x\a", r"\a", "math-macro", r'macro "\a" expands without end'),
        (r"x\ping", r"\ping", "math-macro", r'macro "\ping" expands without end'),
        (r"x \norm", r"\norm", "math-macro", r'macro "\norm" needs 1 argument'),
        (r"{\two x}", r"\two", "math-macro", r'macro "\two" needs 2 arguments'),
        (r"a+\bad+b", r"\bad", "math-command", r'unknown TeX command "\undefinedthing"'),
        (r"a+\worse2{x y}+b", r"\worse2{x y}", "math-command", r'unknown TeX command "\undefinedthing"'),
        (r"\outer{x}", r"\outer{x}", "math-command", r'unknown TeX command "\undefinedthing"'),
        (r"\outer{\nosuch}", r"\outer{\nosuch}", "math-command", r'unknown TeX command "\undefinedthing"'),
        (r"\norm{a + \nosuch}", r"\nosuch", "math-command", r'unknown TeX command "\nosuch"'),
        (r"\norm{x_1_2}", "_", "math-syntax", "double subscript or superscript"),
        (r"1 + \open", r"\open", "math-brace", 'opening brace "{" is never closed'),
        (r"\scripts{y}z", r"\scripts{y}", "math-syntax", "double subscript or superscript"),
        (
            r"\newcommand\x[1]{\nosuch #1} 1 \x{2}",
            r"\x{2}",
            "math-command",
            r'unknown TeX command "\nosuch"',
        ),
        (r"\def\x#1.{\nosuch}\x ab.c", r"\x ab.", "math-command", r'unknown TeX command "\nosuch"'),
        (r"\def\x#1.{#1}1\x ab", r"\x", "math-macro", r'use of "\x" does not match its definition'),
    ],
)
def test_errors_point_at_the_call(tex: str, at: str, kind: str, message: str) -> None:
    error = refused(tex, CALLED)
    assert (error.kind, error.message.replace("pong", "ping")) == (kind, message)
    assert caret(tex, error) == at


def test_errors_point_at_an_alias() -> None:
    r"""An alias made by `\let` is reported at the position of its name."""
    alias = r"\let\ab\sqrt x+\ab"
    assert caret(alias, refused(alias)) == r"\ab"
    twice = r"\let\a" * 4
    error = refused(twice)
    assert error.offset + error.length <= len(twice)


def test_a_macro_of_an_earlier_formula_is_reported_at_its_call() -> None:
    """Even if that formula was read twice."""
    first = r"\gdef\x{\nosuch}" + r"\hat{" * 200 + "x" + "}" * 200
    macros = convert_formula(first, display=True).macros
    with pytest.raises(TexError) as caught:
        convert_formula(r"ab\x", display=True, macros=macros)
    assert (caught.value.offset, caught.value.length) == (2, 2)


@each_row(
    ("tex", "at", "message"),
    [
        (r"\newcommand", r"\newcommand", r'missing command name after "\newcommand"'),
        (r"\newcommand{a}{b}", r"\newcommand", r'missing command name after "\newcommand"'),
        (
            r"\newcommand{\q}",
            r"\newcommand",
            r'missing argument of "\newcommand" at the end of the formula',
        ),
        (
            r"\newcommand{\q}[x]{b}",
            r"\newcommand",
            r'invalid number of arguments "x" for "\newcommand": expected 0 to 9',
        ),
        (
            r"\newcommand\q[²]{b}",
            r"\newcommand",
            r'invalid number of arguments "²" for "\newcommand": expected 0 to 9',
        ),
        (r"\newcommand\alpha{b}", r"\alpha", r'"\alpha" is already defined'),
        (r"\def\q{1}\newcommand\q{2}", r"\q", r'"\q" is already defined'),
        (r"\renewcommand\q{b}", r"\q", r'"\q" is not defined'),
        (r"\def\left{b}", r"\left", r'"\left" cannot be redefined'),
        (r"\def\q", r"\def", r'missing body in braces after "\def\q"'),
        (r"\def\q#1{#2}", "#", r'"\q" has no parameter "#2"'),
        (r"\newcommand\q[2][x]{#1#2#3}", "#", r'"\q" has no parameter "#3"'),
        (r"\def\q#2{x}", "#", 'invalid parameter "#2": expected #1, #2, … in this order'),
        (r"\def{x}", r"\def", r'missing command name after "\def"'),
        (r"\let\q", r"\let", r'missing token after "\let\q"'),
        (r"\edef\q{\nosuch}", r"\nosuch", r'unknown TeX command "\nosuch"'),
        (r"\DeclareMathOperator{\q}", r"\DeclareMathOperator", None),
        (r"\DeclareMathOperator\sin{sin}", r"\sin", r'"\sin" is already defined'),
        (r"\global x", r"\global", r'"\global" is not followed by a definition'),
    ],
)
def test_broken_definitions(tex: str, at: str, message: str | None) -> None:
    error = refused(tex)
    assert message is None or error.message == message
    assert caret(tex, error) == at


def test_the_budget_counts_what_macros_make() -> None:
    # each call costs its output and itself
    body = "x" * 9
    calls = BUDGET // 10
    assert len(expanded(r"\a" * calls, {r"\a": body})) == 9 * calls
    assert refused(r"\a" * (calls + 1), {r"\a": body}).kind == "math-macro"


def test_what_commands_make_takes_the_arguments_in_place() -> None:
    assert fill(r"\frac{#1}{#2#1}", ["a"], ["b", "c"]) == split(r"\frac{a}{bca}")


def test_definitions_hold_in_later_formulas() -> None:
    first = convert_formula(r"\newcommand{\q}[1]{(#1)}", display=False)
    assert first.mathml == ""
    second = convert_formula(r"\q{x}", display=False, macros=first.macros)
    assert "<mi>x</mi>" in second.mathml and second.macros == {}
