"""Tests of the beginning of a page, which lists show if the author wrote no description."""

from __future__ import annotations

import pytest

from blogsmith.base.html_tags import read_text
from blogsmith.render.policy.tags import page_tags

from .check import render

HEAD = "---\ntitle: T\n---\n"


def summary_html(body: str) -> str:
    return render(HEAD + body).body.summary_html


def test_formulas_are_typeset() -> None:
    html = summary_html("# A\n\nThe **norm** of $x$.\n\nMore $y$.\n")
    assert html.startswith("The <strong>norm</strong> of ")
    assert "<mi>x</mi>" in html
    assert "<mi>y</mi>" not in html


@pytest.mark.parametrize(
    "body",
    [
        "Only words.\n",
        "",
        "> [!NOTE]\n> Words\n",
        # lists cannot show it
        "$x$ ![a](a.png)\n",
    ],
)
def test_without_formulas_the_text_suffices(body: str) -> None:
    assert not summary_html(body)


def test_it_contains_no_link_and_no_id() -> None:
    html = summary_html("See [the **proof**](#p) of $\\htmlId{a}{x}$.\n\n## P {#p}\n")
    assert "<strong>proof</strong>" in html
    assert " id=" not in html
    assert not [tag for tag in page_tags(html.encode()) if tag.name == "a"]


def test_long_paragraphs_are_cut_between_words() -> None:
    html = summary_html("Let *$x$ be " + "words " * 60 + "end*\n")
    text = read_text(html)
    assert html.endswith(" …</em>")
    assert text.removesuffix(" …").endswith("words")
    assert len(text) < 170


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [
        ("For $x$ [@a],\n\n$$y$$\n", "For x [1] …"),
        ("For $x$ by @a:\n", "For x by A [1] …"),
        ("Needs $x$ steps\n\n$$y$$\n", "Needs x steps …"),
        ("$x$ has a note[^1].\n\n[^1]: n\n", "x has a note."),
        ("No stop after $x$\n", "No stop after x"),
    ],
)
def test_marks_are_omitted_and_open_sentences_marked(paragraph: str, text: str) -> None:
    works = "---\ntitle: T\nreferences: [{id: a, title: B, author: [A], year: 1}]\n---\n"
    body = render(works + paragraph).body
    assert read_text(body.summary_html).replace("\u2062", "") == text
    assert body.summary == text
