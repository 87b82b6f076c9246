"""Formulas in labels of diagrams, such as `A[Q = $XW^Q$]`.

Diagram renderers do not support MathML. So each formula is first replaced with a word of about its width. In
the finished drawing, each line of text with one of these words becomes HTML with our MathML and the same
alignment. Programs that cannot show HTML inside SVG show the TeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ..base.html_tags import read_text
from ..base.patterns import lazy_pattern
from ..syntax.math.delimiters import FoundFormula, find_formula
from ..tex.diagrams.layout import measure_formula
from .svg.drawings import Drawing

Typeset = Callable[[str, int, int], str]
"""Function that converts a formula to HTML. Arguments: the formula with its dollars, and its 1-based line and
column in the diagram's source."""

_COMMENT = lazy_pattern(r"\s*(?:%%|//|#)")
_NO_FORMULA = lazy_pattern(r"\"|--|->")
"""Regular expression that finds text between the dollars of two different labels. Such text is not a
formula."""
_LETTER_EM = 0.222
"""Width of `i`, `j` and `l` in Helvetica, in em."""
_BITS = 5
MAX_FORMULAS = 2**_BITS
"""Maximum number of different formulas in a diagram."""
_MARGIN_EM = 0.3
_MOST_EM = 2.6
"""Maximum height in em of a formula in a box; a taller one is scaled down."""
_LEAST_SCALE = 0.6
_WIDTH_EM, _HEIGHT_EM = 40, 4
"""Size in em of the area for the HTML of a line. The line is centred in it or starts at its edge."""
_MATH = lazy_pattern(r"<math\b.*?</math>", re.DOTALL)
_TEXT = lazy_pattern(r"<text\b([^<>]*)>((?:(?!</text>).)*)</text>", re.DOTALL)
_ATTRIBUTE = lazy_pattern(r"([\w-]+)=\"([^\"]*)\"")
_SHIFT = lazy_pattern(r"(-?[\d.]+)em")
_BASELINE_OFFSETS_EM: Mapping[str, float] = MappingProxyType(
    {
        "central": 0,
        "middle": 0,
        "mathematical": 0,
        "text-before-edge": -0.5,
        "hanging": -0.4,
        "text-after-edge": 0.5,
    }
)
"""Value of `dominant-baseline` → distance in em from that baseline up to the middle of the line."""
_LETTERS_EM = 0.33
"""Distance in em from the alphabetic baseline up to the middle of the line."""
_START: Mapping[str, tuple[float, str]] = MappingProxyType(
    {"middle": (0.5, "center"), "end": (1.0, "right"), "start": (0.0, "left")}
)
"""Value of `text-anchor` → share of the area that is before the anchor, and alignment in the area."""
_OF_GROUP = ("font-size", "font-style", "font-weight")
_OF_TEXT = ("dominant-baseline", "dy", "fill", "text-anchor")


class _Formula(Struct, frozen=True):
    """A formula and its placeholder in the drawing."""

    placeholder: str
    tex: str
    html: str
    scale: float


class _Change(Struct, frozen=True):
    """A replacement in a line of the diagram's source. Columns count from 0."""

    start: int
    """Column of the placeholder in the line after all replacements."""
    end: int
    old_start: int
    old_end: int


class LabelFormulas:
    """The formulas of one diagram."""

    def __init__(self, source: str, typeset: Typeset) -> None:
        self.source = source
        """Source of the diagram, with placeholders instead of formulas."""
        self._written = source
        self._typeset = typeset
        self._formulas: dict[str, _Formula] = {}
        """TeX → the formula and its placeholder."""
        self._changes: dict[int, list[_Change]] = {}
        """1-based line of the source → replacements in it."""
        if "$" in source:
            lines = source.split("\n")
            self.source = "\n".join(self._replace(line, number) for number, line in enumerate(lines, 1))

    def restore_text(self, text: str) -> str:
        """Return a string from the renderer, such as an error, with the author's formulas instead of
        placeholders."""
        for formula in self._formulas.values():
            text = text.replace(formula.placeholder, f"${formula.tex}$")
        return text

    def restore_column(self, line: int, column: int) -> int:
        """Return the column in the author's source for a 1-based line and column in a message of the
        renderer."""
        at, shift = column - 1, 0
        for change in self._changes.get(line, ()):
            if at < change.start:
                break
            if at < change.end:
                return change.old_start + 1
            shift = change.old_end - change.end
        return column + shift

    def insert_formulas(self, drawing: Drawing) -> Drawing:
        """Return the drawing with formulas instead of placeholders."""
        if not self._formulas:
            return drawing
        markup = _TEXT.sub(self._label, drawing.markup)
        label, labels = (self._plain(text) for text in (drawing.label, drawing.labels))
        return replace(drawing, markup=markup, label=label, labels=labels)

    def _replace(self, line: str, number: int) -> str:
        if _COMMENT.match(line):
            return line
        parts, at, length = [], 0, 0
        for found in _formulas(line):
            tex = line[found.inner : found.inner_end].strip()
            known = self._formulas.get(tex) or self._add(tex, number, found.start + 1)
            parts += [line[at : found.start], known.placeholder]
            length += found.start - at
            self._changes.setdefault(number, []).append(
                _Change(length, length + len(known.placeholder), found.start, found.end)
            )
            length, at = length + len(known.placeholder), found.end
        return "".join([*parts, line[at:]])

    def _add(self, tex: str, line: int, column: int) -> _Formula:
        if len(self._formulas) == MAX_FORMULAS:
            raise ValueError(f"more than {MAX_FORMULAS} different formulas")
        html = self._typeset(f"${tex}$", line, column)
        width, height = _size_em(html, tex)
        scale = max(_LEAST_SCALE, min(1.0, _MOST_EM / height))
        word = self._make_placeholder(width * scale + _MARGIN_EM)
        self._formulas[tex] = formula = _Formula(word, tex, html, scale)
        return formula

    def _make_placeholder(self, width_em: float) -> str:
        """Return a word that does not occur in the source. No placeholder is part of another."""
        number = len(self._formulas)
        bits = f"{number:0{_BITS}b}".replace("0", "i").replace("1", "l")
        letters = max(0, round(width_em / _LETTER_EM) - len(bits) - 2)
        word = f"j{bits}{'i' * letters}j"
        while word in self._written:
            word = f"{word[:-1]}lj"
        return word

    def _label(self, text: re.Match[str]) -> str:
        written = read_text(text[2])
        if not any(formula.placeholder in written for formula in self._formulas.values()):
            return text[0]
        attributes = dict(_ATTRIBUTE.findall(text[1]))
        before, align = _START.get(attributes.get("text-anchor", ""), _START["start"])
        shift = _SHIFT.fullmatch(attributes.get("dy", ""))
        middle = _BASELINE_OFFSETS_EM.get(attributes.get("dominant-baseline", ""), _LETTERS_EM)
        top = -middle - _HEIGHT_EM / 2 + (float(shift[1]) if shift else 0)
        color = attributes.get("fill", "var(--diagram-ink,currentColor)")
        line, plain = "".join(self._html(written)), escape(self._plain(written), quote=False)
        # as an attribute, because feeds and books do not use the stylesheet of the theme
        style = f"color:{color};line-height:{_HEIGHT_EM}em;text-align:{align};white-space:pre"
        html = f'<div class="diagram-label" style="{style}">{line}</div>'
        return (
            f'<g{_attributes(attributes, _OF_GROUP)} transform="{_placement(attributes)}"><switch>'
            f'<foreignObject x="{0 - before * _WIDTH_EM:g}em" y="{top:g}em" width="{_WIDTH_EM}em" '
            f'height="{_HEIGHT_EM}em">{html}</foreignObject>'
            f"<text{_attributes(attributes, _OF_TEXT)}>{plain}</text></switch></g>"
        )

    def _html(self, text: str) -> Iterator[str]:
        words = {formula.placeholder: formula for formula in self._formulas.values()}
        for part in re.split(f"({'|'.join(words)})", text):
            formula = words.get(part)
            if formula is None:
                yield escape(part, quote=False)
            elif formula.scale < 1:
                yield f'<span style="font-size:{formula.scale:.2f}em">{formula.html}</span>'
            else:
                yield formula.html

    def _plain(self, text: str) -> str:
        for formula in self._formulas.values():
            text = text.replace(formula.placeholder, formula.tex)
        return text


def _attributes(attributes: Mapping[str, str], names: tuple[str, ...]) -> str:
    return "".join(f' {name}="{attributes[name]}"' for name in names if name in attributes)


def _placement(attributes: Mapping[str, str]) -> str:
    moved = f"translate({attributes.get('x', '0')},{attributes.get('y', '0')})"
    return " ".join(filter(None, (attributes.get("transform"), moved)))


def _formulas(line: str) -> Iterator[FoundFormula]:
    at = 0
    while (at := line.find("$", at)) >= 0:
        found = None if line[at - 1 : at] == "\\" else find_formula(line, at, len(line))
        if isinstance(found, FoundFormula) and not _NO_FORMULA.search(line, found.inner, found.inner_end):
            yield found
            at = found.end
        else:
            at += 2 if line.startswith("$$", at) else 1


def _size_em(html: str, tex: str) -> tuple[float, float]:
    """Return width and height in em of the label's font; an estimate if `html` has no formula but an
    error."""
    found = _MATH.search(html)
    return measure_formula(found[0]) if found else (len(tex) / 2, 1.5)
