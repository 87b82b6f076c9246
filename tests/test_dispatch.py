"""Parsers that skip rules give the same tokens and messages as those of markdown-it-py."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from blogsmith.config.load import parse_config
from blogsmith.hooks import Plugins
from blogsmith.model.documents import Source
from blogsmith.project.context import parse_options
from blogsmith.read.front_matter import read_document
from blogsmith.syntax.dispatch import BLOCK, INLINE, LineTable, dispatch_rules
from blogsmith.syntax.parser import make_parser, parse_document
from tests import markdown_texts as texts
from tests.cases_io import all_cases
from tests.rows import examples, thinned

CONFIG = parse_config("").config
OPTIONS = parse_options(CONFIG, Plugins(), frozenset())
SIGNS = "\\`*_{}[]()#+-.!$&<>~=:@^%|\"'/;\n\t 0aé"


def stock_parser() -> MarkdownIt:
    """Return a parser with our rules in the loops of markdown-it-py."""
    md = make_parser(OPTIONS)
    block, inline = ParserBlock(), ParserInline()
    block.ruler, inline.ruler, inline.ruler2 = md.block.ruler, md.inline.ruler, md.inline.ruler2
    inline.terminator_re = md.inline.terminator_re
    md.block, md.inline = block, inline
    return md


OURS, STOCK = make_parser(OPTIONS), stock_parser()


def parsed(text: str, md: MarkdownIt) -> tuple[object, ...]:
    document, _ = read_document(Source(PurePosixPath("content/posts/a.md"), text, ""), CONFIG)
    found = parse_document(document, md, OPTIONS)
    return found.tokens, found.labels, found.diagnostics


def shown(text: str, md: MarkdownIt) -> str:
    (token,) = md.parseInline(text)
    return "".join(child.content for child in token.children or ())


@pytest.mark.parametrize("part", thinned(range(8), every=4))
def test_cases_have_the_tokens_of_the_stock_loops(part: int) -> None:
    for case in all_cases()[part::8]:
        assert parsed(case.source, OURS) == parsed(case.source, STOCK), case.title


@given(texts.ANY_TEXT | texts.MARKDOWN | texts.PROSE | st.text(st.sampled_from(SIGNS), max_size=60))
@examples(500)
def test_any_text_has_the_tokens_of_the_stock_loops(text: str) -> None:
    assert parsed(text, OURS) == parsed(text, STOCK)


@given(st.text(st.sampled_from(" \t\nab>"), max_size=40))
@examples(500)
def test_lines_are_those_of_the_stock_state(text: str) -> None:
    if not text:
        return
    ours, theirs = LineTable(text, OURS, {}, []), StateBlock(text, OURS, {}, [])
    for name in ("bMarks", "eMarks", "tShift", "sCount", "bsCount", "lineMax", "src"):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_every_row_of_the_tables_is_a_rule() -> None:
    """An unused row would be a rule that is called everywhere."""
    assert set(BLOCK) <= {rule.fn for rule in OURS.block.ruler.__rules__}
    assert set(INLINE) <= {rule.fn for rule in OURS.inline.ruler.__rules__}


def test_a_rule_that_nobody_knows_is_called_everywhere() -> None:
    def percent(state: StateInline, silent: bool) -> bool:
        if not state.src.startswith("%%", state.pos):
            return False
        state.pos += 2
        return True

    md = MarkdownIt()
    dispatch_rules(md)
    assert shown("a %% b", md) == "a %% b"
    md.inline.ruler.push("percent", percent)
    assert shown("a %% b", md) == "a  b"


def test_a_character_that_is_added_ends_text() -> None:
    def letter(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "x":
            return False
        state.pos += 1
        return True

    md = MarkdownIt()
    dispatch_rules(md)
    md.inline.ruler.push("letter", letter)
    assert shown("axb", md) == "axb"
    md.inline.add_terminator_char("x")
    assert shown("axb", md) == "ab"
