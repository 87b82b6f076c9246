"""Every case renders to its expectation: one test per file."""

from __future__ import annotations

import pytest

from blogsmith.config.load import parse_config
from tests.cases_io import Case, all_cases, fold_math, format_cases, parse_cases, shown_html, split_config
from tests.regen import outcome
from tests.rows import try_rows


@pytest.mark.parametrize("file", sorted({case.file for case in all_cases()}))
def test_cases(file: str) -> None:
    """If the new HTML is right, run `python -m tests.regen cases FILE`, and read the diff."""

    def check(case: Case) -> None:
        assert outcome(case) == case.expected, f"tests/cases/{case.file}.md:{case.line}"

    try_rows(check, [(case.id, case) for case in all_cases() if case.file == file])


def test_settings_of_cases_are_valid() -> None:
    """Invalid settings would be ignored, and the case would show something other than it states."""
    for case in all_cases():
        assert parse_config(split_config(case.source)[0]).diagnostics == (), case.id


def test_titles_are_unique_in_a_file() -> None:
    names = [(case.file, case.title) for case in all_cases()]
    assert len(names) == len(set(names))


def test_the_specification_is_large_enough() -> None:
    assert len(all_cases()) >= 330


def test_the_measured_edge_cases_are_all_there() -> None:
    assert sum(case.file == "math-edge" for case in all_cases()) == 26


def test_format_is_the_inverse_of_parse() -> None:
    text = "One\n.\na\n\nb\n.\n<p>a</p>\n.\n\nTwo\n.\n\n.\n.\n"
    assert format_cases(parse_cases(text, "x")) == text


@pytest.mark.parametrize("text", ["One", "One\n.\na", "One\n.\na\n.\nb", "One\n\n.\na\n.\nb\n."])
def test_a_broken_case_file_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"x\.md:1"):
        parse_cases(text, "x")


def test_a_dot_on_its_own_cannot_be_written() -> None:
    case = Case("x", 1, "Dot", "a\n.\nb", "")
    with pytest.raises(ValueError, match="single dot"):
        format_cases([case])


def test_mathml_is_shown_with_its_rows() -> None:
    html = '<p><math alttext="x"><mtable><mtr><mtd></mtd></mtr><mtr></mtr></mtable></math></p>'
    assert shown_html(html, mathml=True) == (
        "<p><math><mtable>\n<mtr><mtd></mtd></mtr>\n<mtr></mtr>\n</mtable></math></p>"
    )
    assert shown_html(html, mathml=False) == '<p><math alttext="x">…</math></p>'


def test_math_is_folded_to_its_labels() -> None:
    html = (
        '<math alttext="x"><mi>x</mi></math> <math display="block"><mtr id="eq-a"><mtd>1</mtd>'
        '<mtd><mtext class="eq-number">(1)</mtext></mtd></mtr></math>'
    )
    assert fold_math(html) == (
        '<math alttext="x">…</math> <math display="block">…<mtr id="eq-a">…'
        '<mtext class="eq-number">(1)</mtext>…</math>'
    )
