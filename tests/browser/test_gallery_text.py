"""The formulas of the gallery: how lines are split, and that we typeset every formula."""

from __future__ import annotations

import pytest

from blogsmith.tex.convert import TexError, convert_formula

from .gallery_text import read_groups, split

GROUPS = {group.name: group for group in read_groups()}


@pytest.mark.parametrize(
    ("tex", "pieces"),
    [
        ("a", ("a",)),
        ("a \\quad b \\qquad c", ("a", "b", "c")),
        ("{a \\quad b} \\quad c", ("{a \\quad b}", "c")),
        ("\\left( a \\quad b \\right) \\quad c", ("\\left( a \\quad b \\right)", "c")),
        ("\\begin{matrix} a \\quad b \\end{matrix}", ("\\begin{matrix} a \\quad b \\end{matrix}",)),
        ("\\{ \\quad \\}", ("\\{", "\\}")),
        ("\\leftarrow \\quad b", ("\\leftarrow", "b")),
        ("\\color{red} a \\quad b", ("\\color{red} a \\quad b",)),
        ("\\colorbox{red}{a} \\quad b", ("\\colorbox{red}{a}", "b")),
    ],
)
def test_split(tex: str, pieces: tuple[str, ...]) -> None:
    assert split(tex) == pieces


def test_groups_are_chosen_by_name() -> None:
    assert [group.name for group in read_groups(("roots", "accents"))] == ["accents", "roots"]
    with pytest.raises(SystemExit, match="no such group: nonsense"):
        read_groups(("roots", "nonsense"))


def test_katex_gets_its_own_line() -> None:
    units = GROUPS["units"].lines[0]
    assert len(units.formulas) == len(units.for_katex)
    assert "\\num" in units.formulas[0]
    assert "\\num" not in units.for_katex[0]


@pytest.mark.parametrize("name", GROUPS)
def test_every_formula_is_typeset(name: str) -> None:
    group, refused = GROUPS[name], []
    for line in group.lines:
        for tex in line.formulas:
            try:
                made = convert_formula(tex, display=line.display, packages=frozenset(group.packages))
            except TexError as error:
                refused.append(f"{tex}: {error.message}")
            else:
                assert made.mathml.endswith(("</math>", "</math></a>"))
    assert not refused
