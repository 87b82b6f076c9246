"""The last check of every formula's markup: only allowed elements pass."""

from __future__ import annotations

import pytest

from blogsmith.tex.errors import TexError
from blogsmith.tex.mathml.allowlist import ATTRIBUTES, ELEMENTS, MAX_ELEMENT_DEPTH, check, is_safe_url
from tests.rows import each_row


@each_row(
    "inside",
    [
        "",
        "plain text",
        "<mi>x</mi>",
        '<mspace width="-.5em"/>',
        "<mtext>a &lt; b &amp; c &gt; d &quot; &#x27;</mtext>",
        '<mo stretchy="false" lspace=".2778em" minsize="120%">∑</mo>',
        '<mrow class="math-boxed a" id="eq-é:1&quot;"><mi>x</mi></mrow>',
        '<mtd style="text-align:right;justify-items:right;padding-bottom:0.5em"></mtd>',
        '<mpadded style="border:.04em solid #ff8800"></mpadded>',
        '<mstyle mathcolor="#0a7" displaystyle="false"></mstyle>',
        '<mtext><a href="https://example.org/?a=1&amp;b=2"><b>x</b></a></mtext>',
        '<mtext><a href="#a b\\c"><code>x</code></a></mtext>',
    ],
)
def test_what_passes(inside: str) -> None:
    markup = f'<math display="block" alttext="a &lt; &quot;">{inside}</math>'
    assert check(markup) == markup


@each_row(
    "inside",
    [
        "<script>alert(1)</script>",
        "<SCRIPT>alert(1)</SCRIPT>",
        "<img src=x>",
        "<style>x</style>",
        "<svg></svg>",
        "<annotation-xml></annotation-xml>",
        "<mglyph/>",
        "<maction></maction>",
        "<x:mi></x:mi>",
        '<mi onclick="x">a</mi>',
        '<mi xmlns="http://www.w3.org/1999/xhtml">a</mi>',
        '<mi data-x="y">a</mi>',
        '<mi src="x">a</mi>',
        "<mi class=x>a</mi>",
        "<mi class='x'>a</mi>",
        "<mi\nclass='x'>a</mi>",
        '<mi class="a"b"">a</mi>',
        '<mi class="a<b">a</mi>',
        '<mi id="">a</mi>',
        '<mi id="a b">a</mi>',
        '<mi mathcolor="url(x)">a</mi>',
        '<mi mathcolor="red;x:y">a</mi>',
        '<mi style="position:fixed">a</mi>',
        '<mi style="border:url(x)">a</mi>',
        '<mi style="width:expression(x)">a</mi>',
        '<mi style="text-align:right;background:red">a</mi>',
        '<a href="javascript:alert(1)">x</a>',
        '<a href="#a&b">x</a>',
        '<a href="#a" href="javascript:x">x</a>',
        "<mi>a & b</mi>",
        "<mi>&nbsp;</mi>",
        "<mi>&#60;</mi>",
        "<mi>a > b</mi>",
        "<!-- x -->",
        "<![CDATA[x]]>",
        "<?php x ?>",
        "<mi>a",
        "a</mi>",
        "<mi/></mi>",
        "< mi></mi>",
        "</math><script>x</script><math>",
    ],
)
def test_what_is_refused(inside: str) -> None:
    with pytest.raises(TexError, match="not safe"):
        check(f"<math>{inside}</math>")


def test_depth_is_bounded_by_what_browsers_nest() -> None:
    def nested(depth: int) -> str:
        return "<math>" + "<mtd>" * (depth - 1) + '<mspace width="1em"/>' + "</mtd>" * (depth - 1) + "</math>"

    assert check(nested(MAX_ELEMENT_DEPTH))
    with pytest.raises(TexError) as caught:
        check(nested(MAX_ELEMENT_DEPTH + 1))
    assert caught.value.kind == "math-limit"


def test_a_long_flat_formula_is_not_deep() -> None:
    assert check("<math>" + "<mi>x</mi>" * 2 * MAX_ELEMENT_DEPTH + "</math>")


def test_the_lists_name_nothing_that_acts() -> None:
    assert not {"script", "style", "maction", "annotation", "semantics", "mglyph", "iframe", "img"} & ELEMENTS
    assert not {name for name in ATTRIBUTES if name.startswith("on")} & ATTRIBUTES
    assert not {"src", "href", "style", "xmlns", "actiontype", "action"} & ATTRIBUTES


@each_row(
    ("url", "is_safe"),
    [
        ("https://example.org/a?b=c&d#e", True),
        ("http://example.org", True),
        ("#eq-x", True),
        ("/a", True),
        ("./a", True),
        ("../a", True),
        ("mailto:a@example.org", True),
        ("", False),
        ("a", False),
        ("//example.org", False),
        ("/\\example.org", False),
        ("https:/\\example.org", False),
        ("javascript:alert(1)", False),
        ("JaVaScript:alert(1)", False),
        (" javascript:x", False),
        ("\x1fjavascript:x", False),
        ("java\nscript:x", False),
        ("java\tscript:x", False),
        ("javascript&colon;x", False),
        ("&#106;avascript:x", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("blob:x", False),
        ("file:///etc", False),
        ("ftp://example.org", False),
        ("https://a b", False),
        ('https://a"onclick="x', False),
        ("https://a<b>", False),
    ],
)
def test_addresses(url: str, is_safe: bool) -> None:
    assert is_safe_url(url) is is_safe
