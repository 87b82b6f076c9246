"""Formulas with a cache equal those without, whatever was defined in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from blogsmith.model.documents import Body
from blogsmith.render.html import render_body
from blogsmith.render.tools import SiteAccess
from blogsmith.syntax.parser import Parsed
from blogsmith.tex.cache import cache_conversions
from blogsmith.tex.convert import TypesetFormula, convert_formula
from blogsmith.tex.errors import TexError
from blogsmith.tex.parse.reader import Macro
from blogsmith.tex.parse.state import RowNumber
from tests import check
from tests.cases_io import Case, all_cases, split_config
from tests.rows import each_row

Macros = Mapping[str, str | Macro]


class Counting:
    """`convert_formula` with a call counter."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(
        self,
        tex: str,
        *,
        display: bool,
        macros: Macros,
        rows: Sequence[RowNumber | None],
        packages: frozenset[str],
    ) -> TypesetFormula:
        self.asked.append(tex)
        return convert_formula(tex, display=display, macros=macros, rows=rows, packages=packages)


def test_everything_a_formula_depends_on_makes_it_another() -> None:
    counting = Counting()
    formula = cache_conversions(counting)
    looks: list[tuple[bool, Macros, tuple[RowNumber | None, ...], frozenset[str]]] = [
        (False, {}, (), frozenset()),
        (True, {}, (), frozenset()),
        (True, {"\\x": "a"}, (), frozenset()),
        (True, {"\\x": "b"}, (), frozenset()),
        (True, {}, (RowNumber("1", "eq-1"),), frozenset()),
        (True, {}, (RowNumber("2", "eq-1"),), frozenset()),
        (False, {}, (), frozenset({"physics"})),
    ]
    for _ in range(2):
        for display, macros, rows, packages in looks:
            found = formula("y", display=display, macros=macros, rows=rows, packages=packages)
            assert found == convert_formula("y", display=display, macros=macros, rows=rows, packages=packages)
    assert len(counting.asked) == len(looks)


def test_a_changed_mapping_is_another_one() -> None:
    """Pages pass the same dictionary, and add the definitions of their formulas to it."""
    formula, macros = cache_conversions(), dict[str, str | Macro]()
    shown = []
    for tex in (r"\def\x{a}", r"\x", r"\def\x{b}", r"\x", r"\def\x{a}", r"\x"):
        found = formula(tex, display=False, macros=macros, rows=(), packages=frozenset())
        macros.update(found.macros)
        shown.append(found.mathml)
    assert ["<mi>a</mi>" in html for html in shown[1::2]] == [True, False, True]
    assert shown[::2] == ["", "", ""]


def test_what_is_wrong_is_said_each_time() -> None:
    formula = cache_conversions()
    for _ in range(2):
        with pytest.raises(TexError):
            formula(r"\wrong", display=False, macros={}, rows=(), packages=frozenset())


def test_the_memory_is_bounded() -> None:
    counting = Counting()
    formula = cache_conversions(counting, limit=2)
    for tex in "abcab":
        formula(tex, display=False, macros={}, rows=(), packages=frozenset())
    assert counting.asked == [*"abcab"]


@each_row("case", [case for case in all_cases() if "$" in case.source], ids=lambda case: case.id)
def test_pages(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is rendered twice with one cache."""

    def render(parsed: Parsed, tools: SiteAccess) -> Body:
        remembers = replace(tools, formula=cache_conversions())
        first, again = render_body(parsed, remembers), render_body(parsed, remembers)
        plain = render_body(parsed, tools)
        assert first == plain
        assert replace(again, diagnostics=()) == replace(plain, diagnostics=())
        return plain

    monkeypatch.setattr(check, "render_body", render)
    config, post = split_config(case.source)
    check.render(post, config)
