"""The manual's lists of TeX are complete, and every example is valid; rows are in `tex_examples.txt`."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from blogsmith.tex.analysis.numbering import MAX_LENGTH
from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.parse import colors
from blogsmith.tex.parse.reader import BUDGET
from blogsmith.tex.parse.state import MAX_DEPTH
from tests import docs_fill, docs_signs, docs_tex
from tests.check import render
from tests.rows import each_row

_PART = re.compile(r"^<!-- (tex|signs): ([a-z-]+)(?: ([a-z]+))? -->$", re.MULTILINE)
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in docs_fill.pages()}
PARTS = [match.groups(default="") for text in PAGES.values() for match in _PART.finditer(text)]
SHOWN = {group: kind for name, group, kind in PARTS if name == "tex"}


def test_every_list_stands_on_one_page() -> None:
    used = Counter((name, group) for name, group, _ in PARTS)
    lists = [("tex", group) for group in docs_tex.groups()]
    assert used == Counter(lists + [("signs", group) for group in docs_signs.all_groups()])


def test_every_command_is_listed() -> None:
    """A new command needs a line in `tex_examples.txt`; a symbol is listed automatically."""
    signs = {
        name for group in docs_signs.all_groups() for _, names in docs_signs.entries(group) for name in names
    }
    assert sorted(docs_signs.supported() - docs_tex.listed() - signs) == []


@each_row("group", sorted(group for group, kind in SHOWN.items() if kind != "words"))
def test_every_example_prints(group: str) -> None:
    found = docs_tex.groups()[group]
    for row in found.rows:
        for name in row.names + row.named:
            formula = row.formula(name)
            printed = docs_tex.mathml(formula, found.packages, display=SHOWN[group] == "displays")
            assert re.search(r"<m(?!ath)", printed), formula


def test_every_colour_has_a_name_that_is_listed_or_css() -> None:
    listed = {name for _, names in docs_signs.entries("colors") for name in names}
    assert all(name in listed or name.islower() for name in colors.NAMES)


@pytest.mark.parametrize("page", ["tex-commands", "tex-packages"])
def test_the_page_is_light(page: str) -> None:
    rendered = render(PAGES[page])
    assert not [d for d in rendered.diagnostics if d.severity == "error" and d.code.startswith("math")]
    assert len(rendered.html) < 300_000


@each_row(
    ("name", "tex"),
    [
        ("\\style", "\\style{color: red}{x}"),
        ("\\toggle", "\\toggle{a}{b}\\endtoggle"),
        ("\\includegraphics", "\\includegraphics{a.png}"),
    ],
)
def test_what_the_manual_calls_missing_is_missing(name: str, tex: str) -> None:
    missing = [line for line in PAGES["mathematics"].splitlines() if " missing" in line]
    assert any(f"`{name}`" in line for line in missing)
    with pytest.raises(TexError, match=f'unknown TeX (command|environment) "{re.escape(name)}"$'):
        convert_formula(tex, display=True)


def test_the_limits_are_those_of_the_manual() -> None:
    assert f"{MAX_LENGTH:,} characters long and nested {MAX_DEPTH} deep" in PAGES["mathematics"]
    assert f"{BUDGET:,} tokens together" in PAGES["macros"]


def test_an_example_takes_every_name() -> None:
    row = docs_tex.Row(("\\frac", "\\dfrac"), "\\frac{\\fraction}{b}", "")
    assert row.formula("\\frac") == "\\frac{\\fraction}{b}"
    assert row.formula("\\dfrac") == "\\dfrac{\\fraction}{b}"
    matrix = docs_tex.Row(("matrix", "pmatrix"), "\\begin{matrix}a\\end{matrix}", "")
    assert matrix.formula("pmatrix") == "\\begin{pmatrix}a\\end{pmatrix}"


def test_names_that_print_the_same_stand_together() -> None:
    row = docs_tex.Row(("\\le", "\\leq", "\\ge"), "a \\le b", "")
    together = [shown.names for shown in docs_tex.alike(row, frozenset())]
    assert together == [["\\le", "\\leq"], ["\\ge"]]


def test_rows_of_an_environment_stand_on_lines_of_their_own() -> None:
    tex = r"\begin{align} a &= b \\ &= c \end{align}"
    assert docs_tex.laid_out(tex) == "\\begin{align}\n  a &= b \\\\\n  &= c\n\\end{align}"


def test_code_may_hold_backticks() -> None:
    assert docs_tex.code("\\`") == "`` \\` ``"
    assert docs_tex.code("\\frac") == "`\\frac`"


@pytest.mark.parametrize("part", ["tex: nonsense", "tex: faces nonsense", "signs: nonsense", "signs"])
def test_a_list_that_does_not_exist_is_refused(part: str) -> None:
    name = part.partition(":")[0]
    with pytest.raises(ValueError, match="no list of"):
        docs_fill.filled(f"<!-- {part} -->\n<!-- end {name} -->")
