"""The allow-list that every converter's markup passes."""

from __future__ import annotations

import pytest
from blogsmith.tex.clean import MAX_ELEMENT_DEPTH, clean_mathml

from blogsmith.tex.errors import TexError


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ("<mi/>", "<mi></mi>"),
        ("<mi>a &lt; b &amp; c</mi>", "<mi>a &lt; b &amp; c</mi>"),
        ("<mo>&ApplyFunction;</mo>", "<mo>\u2061</mo>"),
        ("<mo>&LT;</mo>", "<mo>&lt;</mo>"),
        ("<script>x</script><mi>a</mi>", "<mi>a</mi>"),
        ("<mrow><style>x<mi>y</mi></style><mi>a</mi></mrow>", "<mrow><mi>a</mi></mrow>"),
        ("<math><mi>a</mi></math><mi>b</mi>", "<mi>b</mi>"),
        ('<x:mi xmlns:x="u">a</x:mi>', ""),
        ('<mi onclick="x" id="a" data-x="y" class="b c">a</mi>', '<mi class="b c">a</mi>'),
        ('<mi class="a&quot;b">a</mi>', "<mi>a</mi>"),
        ('<mtd style="text-align: right;position: fixed;">a</mtd>', '<mtd style="text-align:right">a</mtd>'),
        ('<mtd style="background-color: url(x)">a</mtd>', "<mtd>a</mtd>"),
        ('<mtd style="color:#FF0000;">a</mtd>', '<mtd style="color:#FF0000">a</mtd>'),
        ('<mo stretchy="false" form="prefix">(</mo>', '<mo form="prefix" stretchy="false">(</mo>'),
        ("<mi>a\ufffe\uffff\x01</mi>", "<mi>a</mi>"),
        ("<mi><!-- x -->a<?php y ?></mi>", "<mi>a</mi>"),
    ],
)
def test_what_is_kept(inside: str, kept: str) -> None:
    assert clean_mathml(f'<math xmlns="http://www.w3.org/1998/Math/MathML">{inside}</math>') == (
        f"<math>{kept}</math>"
    )


@pytest.mark.parametrize(
    ("href", "is_kept"),
    [
        ("https://example.org/a", True),
        ("#eq-x", True),
        ("/a", True),
        ("mailto:a@example.org", True),
        ("//example.org", False),
        ("javascript:alert(1)", False),
        ("JaVaScript:alert(1)", False),
        (" javascript:x", False),
        ("&#x1f;javascript:x", False),
        ("java&#10;script:x", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("blob:x", False),
        ("file:///etc", False),
    ],
)
def test_addresses(href: str, is_kept: bool) -> None:
    try:
        assert ("href" in clean_mathml(f'<math><a href="{href}">x</a></math>')) is is_kept
    except TexError:
        assert not is_kept


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "plain",
        "<math><mi></math>",
        "<math>&unknown;</math>",
        "<math>a & b</math>",
        "<math></math><math></math>",
        "<div><math></math></div>",
        '<!DOCTYPE math [<!ENTITY a "b">]><math>&a;</math>',
        "<math>" * 2 + "<mrow>" * MAX_ELEMENT_DEPTH + "</mrow>" * MAX_ELEMENT_DEPTH + "</math>" * 2,
    ],
)
def test_what_is_no_formula_is_refused(markup: str) -> None:
    with pytest.raises(TexError):
        clean_mathml(markup)


def test_attributes_of_the_root_are_ours() -> None:
    markup = clean_mathml('<math display="inline" class="x"></math>', display=True, alttext=' "\x00<&\n')
    assert markup == '<math alttext="&quot;&lt;&amp;" display="block"></math>'
