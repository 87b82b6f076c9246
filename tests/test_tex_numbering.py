"""Environment and rows of a display, as the numbering sees them."""

from __future__ import annotations

import pytest

from blogsmith.tex.numbering import Row, split_rows


@pytest.mark.parametrize(
    ("tex", "environment", "count"),
    [
        ("x", "", 1),
        ("", "", 1),
        (r"a \\ b", "", 1),
        (r"\begin{equation}a\\b\end{equation}", "equation", 1),
        (r" \begin{align} a&=b \\ c&=d \end{align} ", "align", 2),
        (r"\begin{align*}a\\b\\\end{align*}", "align*", 2),
        (r"\begin{align}a\\ \\b\end{align}", "align", 3),
        (r"\begin{gather}a\\[5pt]b\end{gather}", "gather", 2),
        (r"\begin{alignat}{2}a&=b\\c&=d\end{alignat}", "alignat", 2),
        (r"\begin{multline}a\\b\end{multline}", "multline", 1),
        (r"\begin{aligned}a\\b\end{aligned}", "", 1),
        (r"\begin{align}\begin{cases}a\\b\end{cases}\\{c\\d}\end{align}", "align", 2),
        (r"\begin{align}a\end{align}+1", "", 1),
        (r"\begin{subequations}\begin{align}a\\b\end{align}\end{subequations}", "align", 2),
        (r"\begin{align}a\\b", "", 1),
        (r"\end{align}", "", 1),
    ],
)
def test_rows(tex: str, environment: str, count: int) -> None:
    found = split_rows(tex)
    assert (found.environment, len(found.rows)) == (environment, count)


def test_labels_tags_and_notag() -> None:
    tex = r"\begin{align}a\label{ eq:x }\\b\notag\\c\tag{$*$}\\d\tag*{A}\\e\nonumber\end{align}"
    rows = split_rows(tex).rows
    assert rows[0] == Row("eq:x", tex.index("eq:x"), 4)
    assert [row.notag for row in rows] == [False, True, False, False, True]
    assert [row.tag for row in rows] == [None, None, "$*$", "A", None]
    assert [row.bare_tag for row in rows] == [False, False, False, True, False]


def test_a_label_inside_an_inner_alignment_names_the_display() -> None:
    found = split_rows(r"\begin{aligned}a\\b\label{eq:y}\end{aligned}")
    assert [row.label for row in found.rows] == ["eq:y"]
