"""Formulas in labels of diagrams: detection, their size in the layout, and their look on the page."""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest

from blogsmith.render.diagram_formulas import MAX_FORMULAS, LabelFormulas
from blogsmith.render.svg.drawings import sanitize_drawing
from tests.rows import each_row
from tests.test_diagrams import needs_merman, plugin, site

NS = 'xmlns="http://www.w3.org/2000/svg"'


def labels(source: str) -> tuple[LabelFormulas, list[tuple[str, int, int]]]:
    """Return the formulas of a source, and those typeset: formula, line, column."""
    typeset: list[tuple[str, int, int]] = []

    def record(formula: str, line: int, column: int) -> str:
        typeset.append((formula, line, column))
        return f'<math alttext="{escape(formula[1:-1])}"><mi>x</mi></math>'

    return LabelFormulas(source, record), typeset


class TestFinding:
    @each_row(
        ("source", "found"),
        [
            ("A[Q = $XW^Q$]", ["$XW^Q$"]),
            ('A["$a$"] -->|$b$| B["$c$"]', ["$a$", "$b$", "$c$"]),
            ("A[$$\\sum_i x_i$$]", ["$\\sum_i x_i$"]),
            ('"$x$" -> "$x$"', ["$x$"]),
            ("A[costs $5 and $10]", []),
            ('A["$HOME"] --> B["$PATH"]', []),
            ("A[$HOME] --> B[$PATH]", []),
            ("a -> b [label=$x] -> c [label=$y]", []),
            ("A[one $ alone]", []),
            ("A[\\$x\\$]", []),
            ("%% $x$ is a comment", []),
            ("// $x$", []),
            ("A[$ x $]", []),
        ],
    )
    def test_which_dollars_are_formulas(self, source: str, found: list[str]) -> None:
        formulas, typeset = labels(source)
        assert [formula for formula, _, _ in typeset] == found
        assert (formulas.source == source) == (not found)

    def test_a_formula_is_typeset_at_its_place(self) -> None:
        _, typeset = labels("graph LR\n  A[$a$] --> B[$b$]\n  C[$a$]")
        assert typeset == [("$a$", 2, 5), ("$b$", 2, 16)]

    def test_words_are_in_no_other_word_and_not_in_the_source(self) -> None:
        source = "\n".join(f"n{number}[$x_{{{number}}}$]" for number in range(MAX_FORMULAS)) + "\njiiiiij"
        formulas, _ = labels(source)
        words = re.findall(r"\[(\w+)\]", formulas.source)
        assert len(words) == MAX_FORMULAS
        assert not [(one, other) for one in words for other in words if one != other and one in other]
        assert "jiiiiij" not in words

    @each_row(("mathml", "letters"), [("<mi>x</mi>", 7), ("<mi>x</mi><mo>+</mo><mi>y</mi>", 12)])
    def test_a_word_is_as_wide_as_the_formula(self, mathml: str, letters: int) -> None:
        # without ziamath, whose import may fail: the estimate that then served was another size
        with patch.dict(sys.modules, {"ziamath": None}):
            formulas = LabelFormulas("A[$x$]", lambda *_: f"<math>{mathml}</math>")
        assert len(formulas.source) == len("A[]") + letters

    def test_there_are_not_too_many(self) -> None:
        with pytest.raises(ValueError, match="more than 32 different formulas"):
            labels(" ".join(f"[$x_{{{number}}}$]" for number in range(MAX_FORMULAS + 1)))

    def test_places_and_words_of_the_renderer_are_restored(self) -> None:
        source = "A[$\\alpha$] B[$b$] ?"
        formulas, _ = labels(source)
        for text in ("A[", "] B", "] ?"):
            column = formulas.source.index(text) + 1
            assert formulas.restore_column(1, column) == source.index(text) + 1
        assert formulas.restore_column(1, formulas.source.index("j") + 2) == 3
        assert formulas.restore_text(f"unexpected {formulas.source}") == f"unexpected {source}"


class TestPlacing:
    @each_row(
        ("attributes", "expected"),
        [
            ('x="9" y="8" text-anchor="middle"', ("translate(9,8)", "-20em", "-2.33em", "center")),
            ('x="9" y="8"', ("translate(9,8)", "0em", "-2.33em", "left")),
            ('x="9" y="8" text-anchor="end"', ("translate(9,8)", "-40em", "-2.33em", "right")),
            (
                'x="0" y="0" dominant-baseline="central" transform="rotate(-90)" text-anchor="middle"',
                ("rotate(-90) translate(0,0)", "-20em", "-2em", "center"),
            ),
            (
                'x="1" y="2" dy="1em" dominant-baseline="middle" text-anchor="middle"',
                ("translate(1,2)", "-20em", "-1em", "center"),
            ),
        ],
    )
    def test_where_the_html_of_a_line_is(self, attributes: str, expected: tuple[str, ...]) -> None:
        formulas, _ = labels("A[Q = $x$]")
        text = formulas.source[2:-1]
        svg = f'<svg {NS} viewBox="0 0 90 50"><text {attributes}>{text}</text></svg>'
        root = ElementTree.fromstring(formulas.insert_formulas(sanitize_drawing(svg, "d--", "")).html())
        group = next(one for one in root.iter("g") if one.get("transform"))
        area = next(group.iter("foreignObject"))
        style = dict(part.split(":") for part in area[0].get("style", "").split(";"))
        found = (group.get("transform"), area.get("x"), area.get("y"), style["text-align"])
        assert found == expected

    def test_the_tex_is_the_text_alternative_and_the_fallback(self) -> None:
        formulas, _ = labels("A[Q & $x<y$]")
        text = formulas.source[2:-1].replace("&", "&amp;")
        svg = f'<svg {NS} viewBox="0 0 90 50"><text x="1" y="1">{text}</text><text x="2" y="2">b</text></svg>'
        html = formulas.insert_formulas(sanitize_drawing(svg, "d--", "")).html()
        assert 'aria-label="Diagram: Q &amp; x&lt;y, b"' in html
        assert "<text>Q &amp; x&lt;y</text></switch>" in html
        assert html.count("<switch>") == 1

    def test_a_drawing_without_formulas_is_left_alone(self) -> None:
        formulas, _ = labels("A[$5]")
        drawing = sanitize_drawing(f'<svg {NS} viewBox="0 0 90 50"><text>jiiiiij</text></svg>', "d--", "")
        assert formulas.insert_formulas(drawing) is drawing


DRAW = (
    'return \'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 50"><text x="1" y="2">\''
    " + source.strip().replace('<', '&lt;') + '</text></svg>'"
)


class TestPage:
    def test_macros_of_the_site_are_known(self, tmp_path: Path) -> None:
        code = plugin(DRAW, '"notes", formulas=True')
        config = "plugins: [mine]\nmath: {macros: {'\\R': '\\mathbb{R}'}}\n"
        html, report = site(tmp_path, "```notes\nin $\\R^n$\n```\n", code, config)
        assert report.ok
        assert '">in <math alttext="\\R^n" data-tex="\\mathbb{R}^n"><msup><mi>ℝ</mi>' in html

    def test_a_plugin_that_does_not_ask_for_it_gets_the_source(self, tmp_path: Path) -> None:
        html, _ = site(tmp_path, "```notes\nin $x$\n```\n", plugin(DRAW))
        assert ">in $x$</text>" in html and "foreignObject" not in html

    def test_wrong_tex_is_an_error_at_its_place(self, tmp_path: Path) -> None:
        code = plugin(DRAW, '"notes", formulas=True')
        _, report = site(tmp_path, "> ```notes\n> in $x^2$\n>   and $\\nope$\n> ```\n", code)
        (found,) = report.diagnostics
        assert (found.code, found.path) == ("math-command", "content/posts/a.md")
        assert found.place and (found.place.line, found.place.column, found.place.length) == (8, 10, 5)

    def test_an_error_of_the_renderer_is_at_the_authors_column(self, tmp_path: Path) -> None:
        body = 'raise SyntaxError("no " + source[3:-3], ("", 1, source.index("?") + 1, None))'
        code = plugin(body, '"notes", formulas=True')
        _, report = site(tmp_path, "```notes\nin $\\alpha\\beta$ ?\n```\n", code)
        (found,) = report.diagnostics
        assert found.message == 'invalid "notes" diagram: no $\\alpha\\beta$'
        assert found.place and (found.place.line, found.place.column) == (7, 18)

    @needs_merman
    def test_mermaid(self, tmp_path: Path) -> None:
        body = '```mermaid\nflowchart LR\n  A["$X$ and $\\frac{a}{b}$"] -->|$W^Q$| B[Q = $XW^Q$]\n```\n'
        html, report = site(tmp_path, body, config="plugins: [mermaid]\n")
        assert report.diagnostics == ()
        assert re.findall(r"</switch>|<text[^>]*>([^<]*)</text></switch>", html) == [
            "W^Q",
            "X and \\frac{a}{b}",
            "Q = XW^Q",
        ]
        assert html.count("<foreignObject") == 3 and "<mfrac>" in html

    def test_a_plain_text_copy_says_a_label_once(self, tmp_path: Path) -> None:
        from blogsmith.site.markdown.tree import read_tree

        code = plugin(DRAW, '"notes", formulas=True')
        html, _ = site(tmp_path, "```notes\nin $x$\n```\n", code)
        svg = read_tree(html).find("svg")
        assert svg is not None
        assert [word for word in svg.children if isinstance(word, str) and word.strip()] == ["in x"]
