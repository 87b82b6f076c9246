"""Tests of columns of numbers that are aligned at their decimal points."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.render.outputs.html import clean_html
from blogsmith.syntax.tables import decimal_paddings


@pytest.mark.parametrize(
    ("cells", "paddings"),
    [
        (["1", "2.5", "10.25"], [".00", "0", ""]),
        (["−1.5", "+2", "**3.25**"], ["0", ".00", ""]),
        (["1,024", "0.5"], [".0", ""]),
        (["1.5 ms", "2 ms", "10.25 ms"], ["0", ".00", ""]),
        (["0.5 ± 0.1", "0.25 ± 0.05"], ["00", ""]),
        (["1.5", "out of memory", "2.25"], ["0", None, ""]),
    ],
)
def test_paddings(cells: list[str], paddings: list[str | None]) -> None:
    assert decimal_paddings(cells) == paddings


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5", "2.5"],
        ["a", "b"],
        [],
        # other units, versions, dates and sentences
        ["1.5 ms", "2 s"],
        ["3.11.7", "3.12"],
        ["2026-01-01", "2026"],
        ["3 of the posts", "2.5"],
    ],
)
def test_columns_without_padding(cells: list[str]) -> None:
    assert decimal_paddings(cells) == [None] * len(cells)


@given(
    st.lists(st.decimals(-10_000, 10_000, places=None, allow_nan=False).map(lambda n: f"{n:f}"), max_size=8)
)
def test_every_decimal_point_is_at_the_same_distance_from_the_end(numbers: list[str]) -> None:
    padded = [number + (pad or "") for number, pad in zip(numbers, decimal_paddings(numbers), strict=True)]
    distances = {len(re.sub(r"^-?\d+", "", number)) for number in padded}
    assert len(distances) <= 1


def test_a_table_of_a_cell() -> None:
    row = "<tr><th>{}</th><td>{}</td><td>{}</td></tr>"
    body = row.format("a", "0.5", "x") + row.format("b", "12.25", "y")
    html = f"<table><thead><tr><th></th><th>t</th><th>n</th></tr></thead><tbody>{body}</tbody></table>"
    assert '<td class="align-right" data-pad="0">0.5</td>' in clean_html(html, "cell 1").html
    spanned = html.replace("<td>x</td>", '<td rowspan="2">x</td>')
    assert "data-pad" not in clean_html(spanned, "cell 1").html
