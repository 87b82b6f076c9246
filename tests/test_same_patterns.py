"""Optimized patterns and loops give the same result as simple ones for any text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.render.context import _WORD, _count_ascii
from blogsmith.syntax.foreign_syntax import _QUICK_TEST
from blogsmith.tex.parse.lexer import tokenize, tokenize_without_positions

_PLAIN_SIGNS = re.compile(
    r"\{|\[\[|\^\[|\*\[|:::|:[a-z0-9+-]|\)=|\\[A-Za-z]|``|~(?=[$\\{\[\0])|!!!|\?\?\?|\+\+|%%|[\w)][~^][\w+-]"
)
"""The simple form; `_QUICK_TEST` is arranged so that `re` finds matches quickly."""


@given(st.text("{[^*:)=\\nrD!?+%~-aé 1`$\0", max_size=12))
def test_signs_of_foreign_syntax(text: str) -> None:
    assert bool(_QUICK_TEST.search(text)) == bool(_PLAIN_SIGNS.search(text))


@given(st.text(st.characters(max_codepoint=127), max_size=30) | st.text("a1.-'_ \n", max_size=20))
def test_words_in_ascii(text: str) -> None:
    assert _count_ascii(text) == len(_WORD.findall(text))


@given(st.text("\\ab{}$12.٣ \n%&", max_size=20))
def test_tokens_without_places(tex: str) -> None:
    assert [token.text for token in tokenize_without_positions(tex)] == [
        token.text for token in tokenize(tex)
    ]
