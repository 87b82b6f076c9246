"""Properties of every post: no crash, no lost text, well-formed HTML."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Place
from tests import markdown_texts as texts
from tests.check import Rendered, render
from tests.page_checks import markup_problems, text_of
from tests.rows import examples


def pieces(rendered: Rendered) -> list[str]:
    """Return every HTML fragment of a page."""
    body = rendered.body
    return [body.html, body.title_html, body.description_html, *(entry.html for entry in body.toc)]


def shape_problems(rendered: Rendered) -> list[str]:
    """Return violations of HTML rules, except for duplicate ids that are reported."""
    reported = any(d.code in ("label-twice", "id-twice") for d in rendered.diagnostics)
    found = [problem for html in pieces(rendered) for problem in markup_problems(html)]
    return [p for p in found if not (reported and p.endswith(" twice"))]


@given(texts.ANY_TEXT | texts.MARKDOWN)
@examples(300)
def test_any_text_becomes_a_page(text: str) -> None:
    rendered = render(text)
    lines = text.replace("\r\n", "\n").split("\n")
    for diagnostic in rendered.diagnostics:
        place = diagnostic.place or Place(1)
        assert 1 <= place.line <= len(lines), diagnostic
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1, diagnostic


@given(texts.WITHOUT_HTML)
@examples(200)
def test_html_keeps_its_shape(text: str) -> None:
    assert not shape_problems(render(text))


@given(texts.PROSE)
@examples(250)
def test_no_word_is_lost(text: str) -> None:
    # a footnote's name is replaced by its number
    words = set(re.findall(r"w[a-z]{3,8}w", re.sub(r"\[\^\w+\]", "", text)))
    rendered = render(text)
    # of two footnotes with one name only the first is shown; the second is an error
    assume(not any(d.code == "footnote-twice" for d in rendered.diagnostics))
    shown = text_of(rendered.html)
    assert not {word for word in words if word not in shown}


@given(texts.MARKDOWN)
@examples(50)
def test_same_text_same_page(text: str) -> None:
    assert render(text) == render(text)


PATHOLOGICAL = {
    "images": "![" * 4000,
    "links": "[" * 8000,
    "link ends": "[](" * 2000,
    "nested brackets": "[" * 3000 + "x" + "]" * 3000,
    "quotes": ">" * 10_000 + " x",
    "emphasis": "*a **b_ " * 1000,
    "stars": "*" * 4000 + "a" + "*" * 4000,
    "backticks": "".join("`" * n + " " for n in range(1, 130)),
    "comments": "<!--" * 2000,
    "dollars": "$a " * 3000,
    "parentheses": "\\(a" * 3000,
    "brackets": "\\[ a\n" * 2000,
    "environments": "\\begin{align}\n" * 1000,
    "text groups": "$" + "\\text{ " * 1500,
    "calls": "{% " * 3000,
    "call lines": "{% a\n" * 2000,
    "raws": "{% raw %} " * 1000,
    "marks": "==a " * 2500,
    "citations": "[@a" * 2500,
    "references": "@eq-a " * 1500,
    "divs": '<div class="collapsible">\n' * 300 + "</div>\n" * 300,
    "table": "|a|b|\n|-|-|\n" + "|a\n" * 1500,
    "headings": "# a\n\n" * 1500,
    "notes": "".join(f"x[^{n}]\n\n[^{n}]: y\n\n" for n in range(300)),
    "figures": "".join(f"![x](a.png){{#fig-{n}}}\n\n" for n in range(200)),
    "entities": "&amp;" * 2000,
    "tags without an end": "<div>\n" + "<a " * 10_000,
    "elements without an end": "<div>\n" + "<title>" * 3000 + "<b>" * 3000,
    "blocks without an end": "<script>\n\n" * 2000 + "<!-- x\n\n" * 2000,
    "end tags without an element": "<div>\n" + "<i>" * 199 + "</b>" * 3000,
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_pathological_texts_come_to_an_end(name: str) -> None:
    """Without a guard, each of these takes quadratic time, which is minutes."""
    assert isinstance(render(PATHOLOGICAL[name]).html, str)


def test_deep_nesting_is_reported_and_nothing_hidden() -> None:
    rendered = render(">" * 300 + " word")
    assert [d.code for d in rendered.diagnostics] == ["nesting"]


@given(st.integers(1, 6), texts.WORD)
def test_heading_text_reaches_the_contents(level: int, word: str) -> None:
    body = render(f"---\ntitle: T\n---\n\nx\n\n{'#' * level} {word} $x$").body
    assert body.toc[0].id == f"{word}-x"
    assert word in body.toc[0].html
