"""Formulas in raw HTML: extracted formulas have the right position, and nothing else changes."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from blogsmith.base.diagnostics.model import TextMap
from blogsmith.model.documents import Source
from blogsmith.read.front_matter import read_document
from blogsmith.syntax.html_nodes import raw_tag, text_nodes
from blogsmith.syntax.parser import Parsed, formulas, parse_document
from tests.check import render
from tests.rows import each_row, examples
from tests.test_dispatch import CONFIG, OPTIONS, OURS

PIECES = (
    *("<div>", "</div>", "<p>", "</p>", "<td>", "<b>", "</b>", "<code>", "</code>", "<!--", "-->", "<br/>"),
    *("<script>", "</script>", "<pre>", "</pre>", '<a href="$x$">', "</a>", "<a '", '<b "', "<", ">", "&lt;"),
    *(
        "$",
        "$$",
        "\\$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "\\begin{align}",
        "\\end{align}",
        "\\eqref{eq:a}",
        "\\\\(",
    ),
    *("x", " ", "5", "\n", "\n\n", "{#eq:b}", ".", "\\foo", "_", "`", "é", "> ", "- "),
)
HTML = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def parsed(text: str) -> Parsed:
    document, _ = read_document(Source(PurePosixPath("content/posts/a.md"), text, ""), CONFIG)
    return parse_document(document, OURS, OPTIONS)


def blocks(page: Parsed) -> list[Token]:
    return [token for token in page.tokens if token.type == "html_block"]


@given(HTML)
@examples(400)
def test_html_between_formulas_is_the_author_s(text: str) -> None:
    for block in blocks(parsed(f"<div>{text}")):
        at = 0
        for piece in block.children or ():
            if piece.type in ("html_inline", "text"):
                # formulas, references, and the backslash of `\$` are between the fragments
                # an end tag that closes nothing is replaced by spaces
                signs = ("." if sign == " " else re.escape(sign) for sign in piece.content)
                found = re.compile("".join(signs), re.DOTALL).search(block.content, at)
                assert found
                at = found.end()


@given(HTML)
@examples(400)
def test_formulas_stand_where_their_places_say(text: str) -> None:
    source = f"> <div>{text}".replace("\n", "\n> ")
    lines = source.split("\n")
    for math in formulas(parsed(source).tokens):
        for offset, sign in enumerate(math.tex):
            place = math.origin.place(offset)
            if sign.isalnum():
                assert lines[place.line - 1][place.column - 1] == sign


@given(HTML)
def test_nodes_are_text_outside_of_tags(html: str) -> None:
    end = 0
    for node in text_nodes(html):
        assert end <= node.start <= node.end
        end = node.end
    assert end == len(html)


@given(HTML)
@settings(deadline=None)
def test_any_html_can_be_rendered(text: str) -> None:
    render(f"<div>{text}")


def test_a_block_without_formulas_has_no_pieces() -> None:
    page = parsed("<div>It costs $5 and &lt;b&gt;.</div>\n\n<p>\\alpha</p>")
    assert [block.children for block in blocks(page)] == [None, None]


@each_row(
    ("html", "expected"),
    [
        ("<code>", ("code", False)),
        ("</Code >", ("code", True)),
        ('<a href=">">', ("a", False)),
        ("<!-- <code> -->", ("", False)),
        ("text", ("", False)),
    ],
)
def test_a_raw_tag(html: str, expected: tuple[str, bool]) -> None:
    assert raw_tag(html) == expected


def test_references_of_characters_move_no_place() -> None:
    (math,) = formulas(parsed("<p>$a &lt; b &amp;gt; \\foo\n&gt; \\bar$</p>").tokens)
    assert math.tex == "a < b &gt; \\foo\n> \\bar"
    foo, bar = math.origin.place(math.tex.index("\\foo")), math.origin.place(math.tex.index("\\bar"))
    assert ((foo.line, foo.column), (bar.line, bar.column)) == ((1, 23), (2, 6))


def test_a_cut_keeps_what_the_file_holds_more() -> None:
    text = TextMap("a<b<c", ((1, 1),), ((2, 3), (4, 3)))
    assert [text.place(at).column for at in range(5)] == [1, 2, 6, 7, 11]
    assert [text.cut(2, 5).place(at).column for at in range(3)] == [6, 7, 11]
    assert unescape("a&lt;b&lt;c") == text.text


def test_a_display_in_phrasing_content_is_a_span() -> None:
    page = parsed("<p>a $$x$$</p>\n\n<div>$$y$$</div>\n\n<p><div>$$z$$</div>")
    assert [math.is_phrasing for math in formulas(page.tokens)] == [True, False, True]


HOSTILE = (
    "<div>" + "<a '" * 5000 + "$x$",
    "<div>" + "<a \"<b '" * 5000 + "$x$",
    "<div>" + "$<b>" * 10_000,
    "<div>" + "$$" * 10_000 + "x",
    "<div>" + "\\(" * 10_000 + "\\)",
    "<div>" + "\\\\(" * 10_000 + "\\\\)",
    "<div>" + "<p>" * 10_000 + "$$x$$" * 1000,
    "<div>" + "</p>$x$" * 5000,
    "<div>" + "<p>$x$</b>" * 5000,
    "<div>" + "<code>$x$" * 5000,
    "<div>\n" + "$$\n\n$$ $$\n\n" * 3000,
    "<div>\n" + "\\begin{align}\n\n" * 3000,
    "<div>" + "$ x_1 $ and " * 5000,
    "<div>" + "$x$ &lt; $y &amp; z$ " * 3000,
    "a <b>" + "<code>$x$" * 5000,
    "a <b>" * 5000 + "$$x$$ " * 500,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20].replace("\n", " "))
def test_hostile_html_takes_time_in_proportion(text: str) -> None:
    begin = time.process_time()
    parsed(text)
    assert time.process_time() - begin < 4.0
