r"""Proof trees, inference rules, tables with booktabs' rules, tensors and boxes."""

from __future__ import annotations

import re

import pytest

from blogsmith.tex.convert import TexError, convert_formula
from tests.rows import each_row


def markup(tex: str) -> str:
    return convert_formula(tex, display=True).mathml.partition(">")[2]


def text(tex: str) -> str:
    return re.sub("<[^>]*>", "", markup(tex))


@each_row(
    ("tex", "printed"),
    [
        (r"\inferrule{A \\ B}{C}", "A B C"),
        (r"\inferrule*[right=Cut]{A}{B}", "A B Cut"),
        (r"\inferrule*[left=L, right=R]{A}{B}", "L A B R"),
        (r"\inferrule[Name]{A}{B}", "Name A B"),
        (r"\begin{prooftree}\AxiomC{$A$}\UnaryInfC{$B$}\end{prooftree}", "A B"),
        (
            r"\begin{prooftree}\AxiomC{$A$}\AxiomC{$B$}\RightLabel{r}\BinaryInfC{$C$}\end{prooftree}",
            "A B C r",
        ),
        (r"\begin{prooftree}\AxiomC{a}\noLine\UnaryInfC{b}\end{prooftree}", "a b"),
        (r"\tensor{T}{^a_b^c}", "T a b c"),
        (r"\indices{^{ab}_c}", "a b c"),
        (r"\smashoperator{\sum_{i=1}^n}x", "∑ i = 1 n x"),
        (r"\begin{matrix}a&b\\\hdotsfor{2}\end{matrix}", "a b … …"),
        (r"\begin{array}{cc}\toprule a&b\\\midrule[2pt] 1&2\\\bottomrule\end{array}", "a b 1 2"),
        (r"\text{\sout{x} \underline{y} {\cal z} {\boldmath w} \textcircled{1}}", "x y z w ①"),
        (r"a\qedhere\allowdisplaybreaks[1]\vspace*{1em}b", "a b"),
        (r"\bbox[5px, yellow, border: 1px solid red]{x}", "x"),
        (r"\enclose{circle updiagonalstrike}{x}", "x"),
        (r"\symbol{65}\Vec{x}\slashed{D}", "A x → D"),
    ],
)
def test_structures_print_their_parts_in_order(tex: str, printed: str) -> None:
    assert re.findall(r"\S", text(tex)) == re.findall(r"\S", printed)


def test_a_wide_cell_spans_its_columns() -> None:
    shown = markup(r"\begin{array}{lcr} a & \multicolumn{2}{|r|}{B} \\ 1 & 2 & 3 \end{array}")
    assert re.findall(r"<mtd[^>]*>", shown)[1].startswith(
        '<mtd columnspan="2" class="math-rule-left math-rule-right"'
    )
    assert shown.count("<mtd") == 5


def test_a_scaled_box_has_its_factor() -> None:
    assert 'mathsize="2em"' in markup(r"\scalebox{2}[1]{x}")


def test_rules_of_booktabs_are_rules() -> None:
    shown = markup(r"\begin{array}{cc}\toprule a&b\\\cmidrule(lr){2-2} 1&2\\\bottomrule\end{array}")
    assert shown.count("math-rule-top") == 3
    assert shown.count("math-rule-bottom") == 2


def test_an_inference_without_a_line_has_none() -> None:
    assert 'linethickness="0' in markup(r"\begin{prooftree}\AxiomC{a}\noLine\UnaryInfC{b}\end{prooftree}")


@each_row(
    ("tex", "message"),
    [
        (r"\begin{prooftree}\UnaryInfC{b}\end{prooftree}", '"\\UnaryInfC" needs 1 proofs before it: 0 found'),
        (
            r"\begin{prooftree}\AxiomC{a}\AxiomC{b}\end{prooftree}",
            '"prooftree" contains 2 proofs that no inference joins',
        ),
        (r"\begin{prooftree}\end{prooftree}", '"prooftree" contains no proof'),
        (r"\begin{prooftree}x\end{prooftree}", 'unexpected "x" in "prooftree"'),
        (r"\begin{prooftree}\AxiomC{a}", '"\\begin{prooftree}" is never closed'),
        (r"\toprule", '"\\toprule" is not allowed outside an array'),
        (
            r"\begin{array}{c}\multicolumn{x}{c}{a}\end{array}",
            'invalid number of columns "x" for "\\multicolumn"',
        ),
        (r"\hdotsfor{0}", 'invalid number of columns "0" for "\\hdotsfor"'),
        (r"\enclose{star}{x}", 'unknown notation "star" of "\\enclose"'),
        (r"\scalebox{x}{y}", 'invalid factor "x" for "\\scalebox": expected 0.1 to 10'),
        (r"\symbol{9}", 'invalid character "9" for "\\symbol": expected 33 to 126'),
    ],
)
def test_wrong_structures_are_explained(tex: str, message: str) -> None:
    with pytest.raises(TexError) as caught:
        convert_formula(tex, display=True)
    assert caught.value.message == message
