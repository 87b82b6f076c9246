"""Tests of columns of numbers that are aligned at their decimal points."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.render.outputs.html import clean_html
from blogsmith.syntax.number_columns import Padding, column_paddings


@pytest.mark.parametrize(
    ("cells", "paddings"),
    [
        (["1", "2.5", "10.25"], [".00", "0", ""]),
        (["−1.5", "+2", "**3.25**"], ["0", ".00", ""]),
        (["1,024", "0.5"], [".0", ""]),
        (["1.5 ms", "2 ms", "10.25 ms"], ["0", ".00", ""]),
        (["1.5", "out of memory", "2.25"], ["0", None, ""]),
    ],
)
def test_paddings(cells: list[str], paddings: list[str | None]) -> None:
    assert column_paddings(cells) == [None if end is None else Padding(end) for end in paddings]


@pytest.mark.parametrize(
    ("cells", "aligned"),
    [
        (["0.5 ± 0.1", "0.25 ± 0.05"], ["0.50 ± 0.10", "0.25 ± 0.05"]),
        (["1,798 ± 43", "11.7 ± 0.5"], ["1,798.0 ± 43.0", "11.7 ± 00.5"]),
        (["2.5", "0.25 ± 0.05", "4"], ["2.50 ± 0.00", "0.25 ± 0.05", "4.00 ± 0.00"]),
        (["2.5", "0.25 ± 0.05 ms"], ["2.50 ± 0.00 ms", "0.25 ± 0.05 ms"]),
        (["2.5 ms", "0.25 ± 0.05 ms"], None),
        (["1 ± 1 %", "10.5±0.5 %"], None),
        (["1.5 ± 0.1 ms", "2 ± 1 s"], None),
        (["1e3 ± 1", "2 ± 0.5"], None),
    ],
)
def test_uncertainties(cells: list[str], aligned: list[str] | None) -> None:
    """The invisible digits, here written out, align the points and `±`."""
    paddings = column_paddings(cells)
    if aligned is None:
        assert paddings == [None] * len(cells)
    else:
        assert [_written(*pair) for pair in zip(cells, paddings, strict=True)] == aligned


def _written(cell: str, padding: Padding | None) -> str:
    assert padding is not None
    if not padding.is_inside:
        return cell + padding.end
    start, end = cell.split(" ± ")
    return f"{start}{padding.before} ± {padding.after}{end}{padding.end}"


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
    assert column_paddings(cells) == [None] * len(cells)


@given(
    st.lists(st.decimals(-10_000, 10_000, places=None, allow_nan=False).map(lambda n: f"{n:f}"), max_size=8)
)
def test_every_decimal_point_is_at_the_same_distance_from_the_end(numbers: list[str]) -> None:
    paddings = column_paddings(numbers)
    padded = [number + (pad.end if pad else "") for number, pad in zip(numbers, paddings, strict=True)]
    distances = {len(re.sub(r"^-?\d+", "", number)) for number in padded}
    assert len(distances) <= 1


def test_a_table_of_a_cell() -> None:
    row = "<tr><th>{}</th><td>{}</td><td>{}</td></tr>"
    body = row.format("a", "0.5", "x") + row.format("b", "12.25", "y")
    html = f"<table><thead><tr><th></th><th>t</th><th>n</th></tr></thead><tbody>{body}</tbody></table>"
    assert '<td class="align-right" data-pad="0">0.5</td>' in clean_html(html, "cell 1").html
    body = row.format("a", "1 ± 1", "x") + row.format("b", "0.25 ± 0.5", "<i>y</i>")
    body += '<tr><th>c</th><td colspan="2">none</td></tr>'
    uncertain = clean_html(
        f"<table><thead><tr><th></th><th>t</th><th>n</th></tr></thead>{body}</table>", "x"
    ).html
    assert '>1<span data-pad=".00"></span> ± 1</td>' in uncertain
    assert '<td class="align-right" data-pad="0">0.25 ± 0.5</td>' not in uncertain
    spanned = html.replace("<td>x</td>", '<td rowspan="2">x</td>')
    assert "data-pad" not in clean_html(spanned, "cell 1").html
