"""Reader of formulas and displays of a page."""

from __future__ import annotations

from collections.abc import Callable

from ..api.books import lazy_pattern
from . import document as d
from .elements import HtmlElement

_CELL = lazy_pattern(r"<(/?)mt[dr]\b[^>]*>")
_LINES = ("math-align", "math-alignat", "math-eqnarray")
_SPACE = HtmlElement("mspace", {"width": "0.2778em"}, ())
Words = Callable[[str], str]


def read_formula(math: HtmlElement, words: Words, page: int) -> d.PaperFormula:
    """Return an inline formula. math: the `math` element. words: function that returns the text alternative.
    page: number of the page."""
    tex = math.get("alttext") or math.get("data-tex") or math.text
    return d.PaperFormula(math, tex, math.get("aria-label") or words(math.source) or tex, page)


def read_display(element: HtmlElement, words: Words, page: int) -> tuple[d.Block, ...]:
    """Return the display math in an element. For an invalid formula, which has no MathML, return its
    source."""
    math = next(element.find("math"), None)
    if math is None:
        return (d.PaperParagraph((d.PaperSpan("code", (element.text,)),)),) if element.text.strip() else ()
    formula = read_formula(math, words, page)
    anchor = f"{page}-{element.get('id')}" if element.get("id") else ""
    table = _lines(math)
    if table is not None and any("eq-cell" in cell.classes for cell in table.find("mtd")):
        rows = [
            _row(row, words, page, formula.words, "math-eqnarray" in table.classes) for row in table.elements
        ]
        if anchor:
            rows[0] = d.PaperEquationRow(
                rows[0].cells, rows[0].words, rows[0].number, rows[0].anchor or anchor
            )
        return (d.PaperDisplay(tuple(rows), formula.tex, page, math.get("data-tex")),)
    number = next((link.text.strip() for link in element.find(".eq-number")), "")
    row = d.PaperEquationRow((math,), formula.words, number, anchor)
    return (d.PaperDisplay((row,), formula.tex, page, math.get("data-tex")),)


def _lines(element: HtmlElement) -> HtmlElement | None:
    """Return the table of lines if a display consists only of that table; otherwise None."""
    while len(element.children) == 1 and isinstance(child := element.children[0], HtmlElement):
        if child.name == "mtable":
            return child if set(_LINES).intersection(child.classes) else None
        if child.name != "mrow":
            return None
        element = child
    return None


def _row(row: HtmlElement, words: Words, page: int, whole: str, is_relation_own: bool) -> d.PaperEquationRow:
    cells = [cell for cell in row.elements if cell.children and "eq-cell" not in cell.classes]
    kept = tuple(
        cell
        for cell in row.elements
        if "eq-cell" not in cell.classes and (cell.children or "width:50%" not in cell.get("style"))
    )
    if is_relation_own and len(kept) == 3:
        # the relation of `eqnarray` starts the right side
        kept = (kept[0], HtmlElement("mtd", {}, (_SPACE, *kept[1].children, _SPACE, *kept[2].children)))
    number = next((mark.text.strip() for mark in row.find(".eq-number")), "")
    said = words(f"<math>{''.join(_CELL.sub('', cell.source) for cell in cells)}</math>")
    return d.PaperEquationRow(kept, said or whole, number, f"{page}-{row.get('id')}" if row.get("id") else "")
