"""Tokens of TeX, with and without their positions."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from blogsmith.tex.parse.scan import (
    PlacedToken,
    cut_token,
    extend_range,
    move_tokens,
    place,
    split,
    split_with_positions,
    strip_places,
    text_of,
)
from tests.rows import each_row

TEX = st.text(alphabet="\\{}[]^_%|~$ab1.2 \n\t\xa0é\u2028\x00\ufffe\ud800verb*", max_size=30)


@each_row(
    ("tex", "tokens"),
    [
        (r"\alpha x", ["\\alpha", " ", "x"]),
        (r"\alpha1", ["\\alpha", "1"]),
        (r"\,\\\{", ["\\,", "\\\\", "\\{"]),
        ("12.5x", ["12.5", "x"]),
        (".5.5", [".5", ".5"]),
        ("1.", ["1", "."]),
        ("a \n\t b", ["a", " ", "b"]),
        ("  a  ", ["a"]),
        ("\\ ", ["\\ "]),
        ("a%b\nc", ["a", " ", "c"]),
        (r"50\%x", ["50", "\\%", "x"]),
        (r"\verb|a b%|x", ["\\verb|a b%|", "x"]),
        (r"\verb*+a+", ["\\verb*+a+"]),
        (r"\verbatim|", ["\\verbatim", "|"]),
        ("a\x00\ufffe\ud800b", ["a", "b"]),
        ("\\", ["\\"]),
        ("", []),
    ],
)
def test_tokens(tex: str, tokens: list[str]) -> None:
    assert split(tex) == tokens


@given(TEX | st.text(max_size=30))
@example("\\\n")
@example("\\ \n")
@example("\\\\ ")
@example("x \\\x0c")
def test_places_change_no_token(tex: str) -> None:
    assert [str(token) for token in split_with_positions(tex)] == split(tex)


@given(TEX)
def test_a_token_stands_at_its_place(tex: str) -> None:
    end = 0
    for token in split_with_positions(tex):
        assert isinstance(token, PlacedToken)
        assert token.offset >= end
        end = token.offset + token.length
        assert token == " " or token[0] == tex[token.offset]
    assert end <= len(tex)


@given(TEX)
@example("\\ %\n1")
@example("\\aé")
@example("\\éa")
@example("\\verb|b|a")
def test_text_of_tokens_reads_as_the_same_tokens(tex: str) -> None:
    tokens = split(tex)
    assert split(text_of(tokens)) == tokens


def test_a_word_before_a_letter_is_parted_from_it() -> None:
    assert text_of(["\\alpha", "x", "\\,", "y"]) == r"\alpha x\,y"


def test_a_piece_of_a_token_has_its_own_place() -> None:
    piece = cut_token(place("123", 5, 3), 1, 3)
    assert isinstance(piece, PlacedToken)
    assert (piece, piece.offset, piece.length) == ("23", 6, 2)
    assert cut_token("123", 0, 1) == "1"


def test_what_a_macro_makes_stands_at_its_call() -> None:
    body, argument, call = "x", place("y", 9, 1), place("\\a", 3, 2)
    made = move_tokens([body, argument], call, "\\a")
    assert [(t, t.offset, t.macro) for t in made if isinstance(t, PlacedToken)] == [
        ("x", 3, "\\a"),
        ("y", 9, ""),
    ]
    assert move_tokens(["x"], "\\a") == ["x"]


def test_a_call_reaches_to_its_last_argument() -> None:
    call = extend_range(place("\\a", 3, 2), place("}", 8, 1))
    assert isinstance(call, PlacedToken) and (call.offset, call.length) == (3, 6)
    of_macro = extend_range(place("\\a", 3, 2, "\\b"), place("}", 8, 1))
    assert isinstance(of_macro, PlacedToken) and of_macro.length == 2


def test_a_definition_forgets_where_it_was_written() -> None:
    assert not isinstance(strip_places([place("x", 0, 1)])[0], PlacedToken)
