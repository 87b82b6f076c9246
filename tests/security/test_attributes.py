"""Rows 18 and 19: text in an attribute, a class or a caption cannot escape from it."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests import markdown_texts as texts
from tests.check import render
from tests.page_checks import elements, parse
from tests.rows import each_row, examples
from tests.security.judgement import codes, harmless

INFO_STRINGS = (
    'py" onload=x><script>',
    "py' onload=x><script>",
    "py><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "py onclick=alert(1)",
    "py {.a onclick=alert(1)}",
    "py {1} onload=x",
    'python title="a" onload="x"',
    "python title='\"><script>x</script>'",
    'text title="</figcaption><script>x</script>"',
    "text fold='<script>x</script>'",
    "&quot;&gt;&lt;script&gt;",
    "</code></pre><script>x</script>",
    "mermaid title='<script>x</script>'",
    "py\u2028onload=x",
    "py/../../x",
    "\x0bpy onload=x",
)


@each_row("fence", ["```", "~~~", "> ```", "- ```"])
@each_row("info", INFO_STRINGS)
def test_row_18_an_info_string_adds_neither_element_nor_attribute(info: str, fence: str) -> None:
    marks = fence.lstrip(">- ")
    indent = fence.replace("-", " ")[: len(fence) - 3]
    rendered = harmless(f"{fence}{info}\n{indent}code\n{indent}{marks}\n")
    for tag, element in elements(parse(rendered.html)):
        assert not {"onload", "onclick", "onerror"} & set(element.attrib)
        assert tag not in ("img", "script")
    assert "code" in rendered.html


ARGUMENTS = {
    "img": ("src", "cap", "caption", "alt", "title", "cols", "id", "width", "label"),
    "video-embed": ("src", "title", "caption", "id", "poster", "captions", "lang", "loop"),
    "image-compare": ("before", "after", "before_label", "after_label", "label"),
    "include img.html": ("src", "cap", "id"),
}
BLOCKS = {
    "collapsible": ("data-label", "id", "data-x", "style", "onclick"),
    "image-compare": ("data-before", "data-after", "data-label-before", "data-label-after"),
    "video-embed": ("data-src", "data-caption", "data-title", "data-poster", "data-captions", "data-lang"),
    "gallery": ("data-cols", "class", "id"),
    "hf-space": ("data-src", "data-title", "data-height"),
}
HARD = (
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    'x" onmouseover="alert(1)',
    "x' onmouseover='alert(1)",
    "<svg onload=alert(1)>",
    "x\n\n<script>alert(1)</script>",
    "x\ny",
    "%}<script>alert(1)</script>{%",
    "{{ 7 * 7 }}<b>",
    "../../../etc/passwd",
    "a.png\x00.html",
    "a.png%00.html",
    "javascript:alert(1)",
    "",
    "x" * 5000,
    "-1",
    "1e999",
    "\\",
)


def quote(value: str) -> str:
    """Quote the value with a quote character that it does not contain."""
    return f"'{value}'" if '"' in value else f'"{value}"'


@pytest.mark.parametrize(("name", "argument"), [(n, a) for n, all_ in ARGUMENTS.items() for a in all_])
def test_row_19_arguments_of_shortcodes_are_text_or_an_error_that_names_them(
    name: str, argument: str
) -> None:
    for value in HARD:
        needed = "" if argument in ("src", "before") else ' src="a.png"' if "compare" not in name else ""
        rendered = harmless(f"Before.\n\n{{% {name} {argument}={quote(value)}{needed} %}}\n\nAfter.\n")
        codes(rendered)
        assert "After." in rendered.html
        assert "49" not in rendered.html, "what stands in an argument is no template"
        shown = "<b>" in value and "&lt;b&gt;" in rendered.html
        assert rendered.diagnostics or "<b>" not in value or shown


@pytest.mark.parametrize(("name", "attribute"), [(n, a) for n, all_ in BLOCKS.items() for a in all_])
def test_row_19_attributes_of_blocks_are_text_or_an_error_that_names_them(name: str, attribute: str) -> None:
    for value in HARD:
        more = ' data-before="a.png" data-after="b.png"' if "before" not in attribute else ""
        rendered = harmless(f'<div class="{name}" {attribute}={quote(value)}{more}>\nWords\n</div>\n')
        codes(rendered)


@pytest.mark.parametrize("slot", texts.SLOTS)
@given(value=texts.HOSTILE)
@examples(20)
def test_row_19_hostile_values_stay_text_wherever_values_stand(slot: str, value: str) -> None:
    harmless(slot.format(value))


def test_row_19_a_name_of_an_argument_is_none_either() -> None:
    for name in ("onclick", "style", "onload", "srcdoc", "formaction"):
        rendered = render(f'{{% img src="a.png" {name}="x" %}}')
        assert codes(rendered) == {"shortcode-argument"}
        assert name not in rendered.html
