"""`{= expression =}` in text: where it is allowed, how it is split, what it can access."""

from __future__ import annotations

import pytest

from blogsmith.model.cells import Value
from blogsmith.syntax.cells.values import split_value
from blogsmith.syntax.headings import plain_text
from blogsmith.syntax.records import get_record
from tests.parsed_posts import parse
from tests.rows import each_row


@each_row(
    ("inner", "expression", "conversion", "spec"),
    [
        (" x ", "x", "", ""),
        (" x:.3f ", "x", "", ".3f"),
        (" x : >10 ", "x", "", " >10"),
        (" x!r ", "x", "r", ""),
        (" x!s:>4 ", "x", "s", ">4"),
        (" a != b ", "a != b", "", ""),
        (" a == b ", "a == b", "", ""),
        (" d['a:b!r'][1:2] ", "d['a:b!r'][1:2]", "", ""),
        (" (y := 3):d ", "(y := 3)", "", "d"),
        (" {1: 2}[1] ", "{1: 2}[1]", "", ""),
        (" (lambda v: v)(3):02d ", "(lambda v: v)(3)", "", "02d"),
        (" list(map(lambda v: v, w)) ", "list(map(lambda v: v, w))", "", ""),
        (" f'{x:.2f}':>8 ", "f'{x:.2f}'", "", ">8"),
        (" '''a:b'''!a ", "'''a:b'''", "a", ""),
        (" t:%Y-%m-%d %H:%M ", "t", "", "%Y-%m-%d %H:%M"),
        (" a\n+ b:.1f ", "a + b", "", ".1f"),
    ],
)
def test_conversion_and_spec_are_split_as_in_an_f_string(
    inner: str, expression: str, conversion: str, spec: str
) -> None:
    found = split_value(inner)
    assert (found.expression, found.conversion, found.spec, found.problem) == (
        expression,
        conversion,
        spec,
        "",
    )


@pytest.mark.parametrize(
    ("expression", "spec"), [("7", "03d"), ("'a:b'", ">5"), ("[1, 2][0:1]", ""), ("{1: 2}[1]", "+d")]
)
def test_python_splits_alike(expression: str, spec: str) -> None:
    """Formatted with our parts, a value equals the f-string."""
    found = split_value(f" {expression}{':' * bool(spec)}{spec} ")
    said = eval("f'''{ " + expression + (":" + spec if spec else "") + "}'''")
    assert format(eval(found.expression), found.spec) == said


@each_row(
    ("text", "expressions"),
    [
        ("a {= x =}, {= y =}.", ["x", "y"]),
        ("**{= x =}** and [{= y =}](https://example.org)", ["x", "y"]),
        ("## Of {= n =} {#sec-n}", ["n"]),
        ("- one {= x =}\n  - two {= y =}", ["x", "y"]),
        ("| a {= h =} |\n|---|\n| {= p | q =} |\n| {= d['|'] =} |", ["h", "p | q", "d['|']"]),
        ("> [!NOTE]- Title {= x =}\n> {= y =}", ["x", "y"]),
        ("{= x +\ny =}", ["x + y"]),
        ("> {= x +\n> y =}", ["x + y"]),
        ("{= d['a =} b'] =}", ["d['a =} b']"]),
        ("{= f({'a': 1}) =}", ["f({'a': 1})"]),
        ("`{= x =}` $y {= z =}$ \\{= w =}", []),
        ("{% raw %}{= x =}{% endraw %}", []),
        ("```text\n{= x =}\n```", []),
        ("{=x=} {=html} {= } {+= x =+}", []),
        ("Term\n: means {= x =}", ["x"]),
    ],
)
def test_where_values_stand(text: str, expressions: list[str]) -> None:
    parsed = parse(text + "\n")
    assert [value.expression for value in parsed.cells.values] == expressions
    assert [value.number for value in parsed.cells.values] == list(range(1, len(expressions) + 1))
    assert not [d for d in parsed.diagnostics if d.severity == "error"]


def test_a_value_knows_where_it_stands_and_what_it_sees() -> None:
    text = "{= a =}\n\n```python eval\nx\n```\n\n> - b {= b =}[^n]\n\n"
    text += "```python eval=false\nx\n```\n\n{= c =}\n\n[^n]: {= d =}\n"
    parsed = parse(text)
    said = [(v.expression, v.after, v.origin.starts[0]) for v in parsed.cells.values]
    assert said == [("a", 0, (1, 1)), ("b", 1, (7, 7)), ("c", 2, (13, 1)), ("d", 2, (15, 7))]


def test_plain_text_holds_values_once_they_are_known() -> None:
    parsed = parse("## Of {= n =} heads\n")
    children = parsed.tokens[1].children or []
    assert plain_text(children, parsed.page) == "Of  heads"
    assert plain_text(children, parsed.page, {1: "8"}) == "Of 8 heads"
    assert parsed.tokens[0].meta["heading"].id == "of-heads"
    assert get_record(children[1], Value).expression == "n"


def test_a_value_in_the_heading_that_is_the_title() -> None:
    parsed = parse("# Of {= n =}\n\nText {= m =}.\n")
    assert parsed.title_text == "Of"
    assert [value.expression for value in parsed.cells.values] == ["n", "m"]
