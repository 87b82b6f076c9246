"""Bare URLs: text that is not passed to linkify-it contains none, whatever rules are added."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_core import linkify
from markdown_it.token import Token

from blogsmith.config.schema import Config
from blogsmith.hooks import Plugins
from blogsmith.model.documents import Document, FrontMatter, Source
from blogsmith.project.context import parse_options
from blogsmith.syntax.links import UrlFinder, linkify_rules
from blogsmith.syntax.parser import make_parser, parse_document
from tests.rows import each_row, examples

PIECES = (
    *(
        "http:",
        "https:",
        "HTTPS:",
        "httpſ:",
        "ftp:",
        "//",
        "/",
        ":",
        "mailto:",
        "MAILTO:",
        "www.",
        "WwW.",
        "www",
    ),
    *(
        "@",
        "&#64;",
        "&commat;",
        "\\@",
        "\\/",
        "&#119;",
        "&sol;",
        "\\",
        "a",
        "b",
        "example.org",
        "x.io",
        "localhost",
    ),
    *(
        ".",
        ".com",
        ".рф",
        "127.0.0.1",
        ":80",
        "?q=1",
        "#f",
        "(",
        ")",
        "[",
        "](",
        "<",
        ">",
        "_",
        "*",
        "**",
        "`",
        "-",
    ),
    *(" ", " ", "\n", "\n\n", '"', "'", "“", "$x$", "é", "𝑥", "<a>", "</a>", "[^1]", "{{", "}}", "|", "～"),
)
OPTIONS = parse_options(Config(), Plugins(), frozenset())
OURS = make_parser(OPTIONS)
STOCK = make_parser(OPTIONS)
STOCK.core.ruler.at("linkify", linkify)

TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def finder(**options: bool) -> UrlFinder:
    md = MarkdownIt("commonmark")
    linkify_rules(md)
    assert isinstance(md.linkify, UrlFinder)
    md.linkify.set(options)
    return md.linkify


@given(TEXTS)
@example("https://example.org")
@example("a@example.org")
@example("www.example.org")
@examples(1500)
def test_no_address_is_passed_over(text: str) -> None:
    ours = finder()
    assert ours.may_match(text) or not ours.match(text)


@given(TEXTS)
@example("example.org")
@examples(500)
def test_no_address_of_a_plugin_is_passed_over(text: str) -> None:
    ours = finder(fuzzy_link=True, fuzzy_ip=True)
    ours.add("x:", {"validate": re.compile("^[a-z]+")})
    assert ours.may_match(text) or not ours.match(text)


@each_row("text", ["model.py and README.md", "a/b: c", "http: or mailto: alone", "wwww", ""])
def test_prose_is_passed_over(text: str) -> None:
    assert not finder().may_match(text)


def shapes(tokens: tuple[Token, ...]) -> list[object]:
    return [
        (token.type, token.content, dict(token.attrs), token.level, shapes(tuple(token.children or ())))
        for token in tokens
    ]


@given(TEXTS)
@examples(700)
def test_a_document_has_the_links_of_the_stock_rule(text: str) -> None:
    page = Document(Source(PurePosixPath("a.md"), text, ""), FrontMatter(), text, 1)
    ours, theirs = (parse_document(page, md, OPTIONS) for md in (OURS, STOCK))
    assert shapes(ours.tokens) == shapes(theirs.tokens)
