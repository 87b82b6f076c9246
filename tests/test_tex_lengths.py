"""TeX's lengths as em."""

from __future__ import annotations

import pytest

from blogsmith.tex.parse.errors import ParseError
from blogsmith.tex.parse.lengths import css, ems, read_length
from tests.rows import each_row


@each_row(
    ("tex", "em"),
    [
        ("1em", 1),
        ("18mu", 1),
        ("10pt", 1),
        ("-.5em", -0.5),
        ("+2.em", 2),
        (" - 3 pt ", -0.3),
        ("1in", 7.227),
        ("2.54cm", 7.227),
        ("1pc", 1.2),
        ("65536sp", 0.1),
        (r"\jot", 0.3),
        (r"-.5\jot", -0.15),
        (r"2\baselineskip", 2.4),
        ("5pt plus 1fil minus 2pt", 0.5),
    ],
)
def test_lengths(tex: str, em: float) -> None:
    found = ems(tex)
    # the printed table of TeX rounds to five digits
    assert found is not None and found == pytest.approx(em, rel=1e-4)


@each_row("tex", ["", "em", "1", "1 e m", "1furlong", r"\foo", "1em2", "--1em", "1e3em", "x", "1em;"])
def test_what_is_no_length(tex: str) -> None:
    assert ems(tex) is None


@each_row(
    ("em", "shown"), [(1, "1em"), (0.5, "0.5em"), (-1 / 3, "-0.3333em"), (1e-9, "0"), (-1e-9, "0"), (0, "0")]
)
def test_css(em: float, shown: str) -> None:
    assert css(em) == shown


@pytest.mark.parametrize(
    ("tokens", "kind", "message"),
    [
        (["5", "q"], "math-syntax", 'invalid length "5q"'),
        ([" "], "math-syntax", r'missing length after "\kern"'),
        (["9" * 400, "e", "m"], "math-limit", f'length "{"9" * 400}em" is too large: the limit is 1000em'),
    ],
)
def test_wrong_lengths(tokens: list[str], kind: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_length(tokens, "\\kern")
    assert (caught.value.kind, str(caught.value)) == (kind, message)
