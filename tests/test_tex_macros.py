"""Macros: what a definition says, what a call becomes, and where a bad one is reported."""

from __future__ import annotations

import pytest

from blogsmith.tex.errors import TexError
from blogsmith.tex.macros import definitions, expand


@pytest.mark.parametrize(
    ("tex", "macros", "expanded"),
    [
        (r"x \in \R^n", {r"\R": r"\mathbb{R}"}, r"x \in \mathbb{R}^n"),
        (r"\norm{x}", {r"\norm": r"\|#1\|"}, r"\|x\|"),
        (r"\pair xy", {r"\pair": "(#1,#2)"}, "(x,y)"),
        (r"\pair {ab} {c}", {r"\pair": "(#2,#1)"}, "(c,ab)"),
        (r"\a\b", {r"\a": r"\b\b", r"\b": "x"}, "xxx"),
        (r"\a{\a{x}}", {r"\a": "[#1]"}, "[[x]]"),
        (r"\al x", {r"\al": r"\alpha"}, r"\alpha x"),
        (r"\c{x}", {r"\c": r"\mathbf#1"}, r"\mathbf x"),
        (r"\n{x}\n[p]{x}", {r"\n": "#[2][2]{#2}_{#1}"}, "{x}_{2}{x}_{p}"),
        (r"\first{x}{y}", {r"\first": "#[2]#1"}, "x"),
        (r"\unknown", {r"\R": "x"}, r"\unknown"),
        (r"\o[x", {r"\o": "#[1][d]#1"}, "d[x"),
        (r"50\% #1", {r"\R": "x"}, r"50\% #1"),
    ],
)
def test_expansion(tex: str, macros: dict[str, str], expanded: str) -> None:
    assert expand(tex, macros).text == expanded


def test_expanded_tokens_stand_at_their_call() -> None:
    tex = r"a+\R{b}"
    joined = expand(tex, {r"\R": r"\mathbb{#1}"})
    places = {token.text: (token.offset, token.length) for token in joined.tokens}
    assert places[r"\mathbb"] == (2, 2)
    assert places["b"] == (5, 1)
    assert joined.token_at(joined.text.index("b}")).offset == 5


@pytest.mark.parametrize(
    ("tex", "macros", "message", "offset"),
    [
        (r"x\a", {r"\a": r"\a"}, r"macro \a expands without end", 1),
        (r"x\a", {r"\a": r"\b", r"\b": r"\a\a"}, r"macro \a expands without end", 1),
        (r"x \norm", {r"\norm": "|#1|"}, r"macro \norm needs 1 argument", 2),
        (r"{\two x}", {r"\two": "#1#2"}, r"macro \two needs 2 arguments", 1),
    ],
)
def test_bad_calls(tex: str, macros: dict[str, str], message: str, offset: int) -> None:
    with pytest.raises(TexError) as caught:
        expand(tex, macros)
    assert caught.value.kind == "math-macro"
    assert caught.value.message.replace(r"\b", r"\a") == message
    assert caught.value.offset == offset


def test_the_budget_counts_what_macros_make() -> None:
    assert len(expand(r"\a" * 10, {r"\a": "xx"}, budget=30).tokens) == 20
    with pytest.raises(TexError):
        expand(r"\a" * 11, {r"\a": "xx"}, budget=30)


@pytest.mark.parametrize(
    ("tex", "defined"),
    [
        (r"\newcommand{\R}{\mathbb{R}}", {r"\R": r"\mathbb{R}"}),
        (r"\renewcommand\R{\mathbb R}", {r"\R": r"\mathbb R"}),
        (r"\newcommand*{\R}{R}", {r"\R": "R"}),
        (r"\newcommand{\p}[2]{(#1,#2)}", {r"\p": "(#1,#2)"}),
        (r"\newcommand{\p}[2]{#1}", {r"\p": "#[2]#1"}),
        (r"\newcommand{\n}[2][p]{#2_#1}", {r"\n": "#[2][p]#2_#1"}),
        (r"\def\a#1#2{#2#1}", {r"\a": "#2#1"}),
        (r"\gdef\a{x}", {r"\a": "x"}),
        (r"\let\eps=\varepsilon", {r"\eps": r"\varepsilon"}),
        (r"\let\eps\varepsilon", {r"\eps": r"\varepsilon"}),
        (r"\DeclareMathOperator{\sm}{softmax}", {r"\sm": r"\operatorname{softmax}"}),
        (r"\DeclareMathOperator*{\am}{arg\,max}", {r"\am": r"\operatorname*{arg\,max}"}),
        (r"\providecommand{\new}{x}", {r"\new": "x"}),
        (r"\providecommand{\alpha}{x}\providecommand{\known}{x}", {}),
        (r"\def\a{1} \def\a{2}", {r"\a": "2"}),
    ],
)
def test_definitions(tex: str, defined: dict[str, str]) -> None:
    assert definitions(tex, {r"\known": "y"}) == ("", defined)


def test_offsets_stay_true_where_a_definition_was() -> None:
    tex = r"a \def\R{x} \R b"
    rest, defined = definitions(tex)
    assert len(rest) == len(tex)
    assert rest.split() == ["a", r"\R", "b"]
    assert defined == {r"\R": "x"}


@pytest.mark.parametrize(
    "tex",
    [
        r"\newcommand",
        r"\newcommand{\a}",
        r"\newcommand{a}{b}",
        r"\newcommand{\a}[x]{b}",
        r"\def\a",
        r"\def\a#1.{x}",
        r"\def\a#2{x}",
        r"\def{x}",
        r"\let\a",
        r"\DeclareMathOperator{\a}",
    ],
)
def test_broken_definitions(tex: str) -> None:
    with pytest.raises(TexError) as caught:
        definitions(tex)
    assert caught.value.kind == "math-macro"
