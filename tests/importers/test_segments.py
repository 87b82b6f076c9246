"""Markdown split into segments, so that rewrites never touch code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.importers.text.segments import FormulaDelimiters, divide, mask
from tests.rows import each_row

WIDE = FormulaDelimiters(spaced_dollar=True, escaped_brackets=True)


@each_row(
    ("text", "kinds"),
    [
        ("Let `a$b` and $x$ be.\n", ["prose", "span", "prose", "math", "prose"]),
        ("Costs $5 and $6.\n", ["prose"]),
        ("A \\$5 and \\$6.\n", ["prose"]),
        ("- item\n\n      x = 1\n", ["prose", "indented"]),
        ("- item\n\n  text $x$\n", ["prose", "math", "prose"]),
        ("```sh\n$x$\n```\n", ["block"]),
        ("|a|b|\n|-|-|\n|$ 1|2|\n|$ 3|4|\n", ["prose"]),
        ("> ```sh\n> $x$\n> ```\n", ["block"]),
        ("$$\na\n\n    b\n$$\n", ["math", "prose"]),
        ("$10* and `a $x$`\n", ["prose", "span", "prose"]),
        ("an open `tick\n\nand another`\n", ["prose"]),
        ("a $x\n\ny$ b\n", ["prose"]),
        ("<pre>$x$</pre>\n", ["opaque", "prose"]),
        ("<!-- $x$\n\n$y$ -->\n", ["comment", "prose"]),
        ("<b title='$'>$x$</b>\n", ["tag", "math", "tag", "prose"]),
        ("$F = \\{f : \\text{$f$ is \\{$1$}\\}$ b\n", ["math", "prose"]),
        ("$a \\text{$b$ c$ and\n", ["math", "prose"]),
        ("$$\na \\mbox{ if $b$}\n\nc\n$$\n\n$$d$$\n", ["math", "prose", "math", "prose"]),
        ("\\begin{align}\na\n\\end{align}\n", ["math", "prose"]),
    ],
)
def test_what_is_what(text: str, kinds: list[str]) -> None:
    assert [segment.kind for segment in divide(text)] == kinds


@each_row("text", ["\\\\(x\\\\)", "\\\\[x\\\\]", "$ x $", "\\(x\\)", "$$x$$"])
def test_formulas_of_a_wide_dialect(text: str) -> None:
    assert [segment.kind for segment in divide(f"a {text} b\n", WIDE)] == ["prose", "math", "prose"]


@given(st.text(alphabet="a$`\\\n <>-!/[]()*_{}%0.| ~\ue000\ue001", max_size=200))
def test_segments_are_the_text(text: str) -> None:
    segments = divide(text, WIDE)
    assert "".join(segment.text for segment in segments) == text
    assert all(text[each.start : each.start + len(each.text)] == each.text for each in segments)


@given(st.text(alphabet="a$`\\\n <>-!b", max_size=200))
def test_a_mask_is_taken_off(text: str) -> None:
    masked = mask(text, WIDE)
    assert masked.restore(masked.text) == text
