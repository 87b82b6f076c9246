"""Space between atoms: TeX's table, measured on the MathML as a browser draws it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from blogsmith.tex.convert import convert_formula
from tests.rows import each_row

# class → a symbol of it, and its form in MathML
SIGNS = {
    "Ord": ("a", "a"),
    "Op": (r"\sum", "∑"),
    "Bin": ("+", "+"),
    "Rel": ("=", "="),
    "Open": ("(", "("),
    "Close": (")", ")"),
    "Punct": (",", ","),
    "Inner": (r"\mathinner{i}", "i"),
}
# TeXbook, chapter 18, in 1/18 em; negative: not in scripts; None: cannot happen
TABLE = {
    "Ord": (0, 3, -4, -5, 0, 0, 0, -3),
    "Op": (3, 3, None, -5, 0, 0, 0, -3),
    "Bin": (-4, -4, None, None, -4, None, None, -4),
    "Rel": (-5, -5, None, 0, -5, 0, 0, -5),
    "Open": (0, 0, None, 0, 0, 0, 0, 0),
    "Close": (0, 3, -4, -5, 0, 0, 0, -3),
    "Punct": (-3, -3, None, -3, -3, -3, -3, -3),
    "Inner": (-3, 3, -4, -5, -3, 0, -3, -3),
}
PAIRS = [
    (left, right, width)
    for left, row in TABLE.items()
    for right, width in zip(SIGNS, row, strict=True)
    if width is not None
]
# default space around an operator (MathML Core, appendix B)
DICTIONARY = {"+": (4, 4), "=": (5, 5), ",": (0, 3), "∑": (3, 3), "(": (0, 0), ")": (0, 0)}


def gap(mathml: str, left: str, right: str) -> int:
    """Return the space between the symbols `left` and `right`, in 1/18 em."""
    total, is_between = 0.0, False
    for element in ElementTree.fromstring(mathml).iter():
        text = element.text or ""
        if element.tag == "mspace":
            total += _ems(element.get("width", "0")) if is_between else 0
        elif is_between and text == right:
            return round(total + _space(element, 0))
        elif text == left:
            is_between, total = True, _space(element, 1)
    raise AssertionError(f"no {left} {right} in {mathml}")


def _space(element: ElementTree.Element, side: int) -> float:
    if element.tag != "mo":
        return 0
    written = element.get(("lspace", "rspace")[side])
    return DICTIONARY[element.text or ""][side] if written is None else _ems(written)


def _ems(length: str) -> float:
    return 18 * float(length.removesuffix("em"))


def between(left: str, right: str) -> str:
    """Return TeX of the two classes in sequence, with letters around a binary operator."""
    before = "x" if left == "Bin" else ""
    behind = "x" if right in ("Bin", "Rel") else ""
    return f"{before}{SIGNS[left][0]} {SIGNS[right][0]}{behind}"


@each_row(("left", "right", "width"), PAIRS)
def test_texs_table(left: str, right: str, width: int) -> None:
    mathml = convert_formula(between(left, right), display=False).mathml
    assert gap(mathml, SIGNS[left][1], SIGNS[right][1]) == abs(width)


@each_row(("left", "right", "width"), PAIRS)
def test_texs_table_in_scripts(left: str, right: str, width: int) -> None:
    mathml = convert_formula(f"z^{{{between(left, right)}}}", display=False).mathml
    assert gap(mathml, SIGNS[left][1], SIGNS[right][1]) == max(0, width)


@each_row(
    ("tex", "left", "right", "width"),
    [
        (r"\sin a", "sin", "a", 3),
        (r"\sin (", "sin", "(", 0),
        (r"\sin\left(a\right)", "sin", "(", 3),
        (r"z^{\sin\left(a\right)}", "sin", "(", 0),
        (r"z^{\sin a}", "sin", "a", 3),
        (r"a\sin b", "a", "sin", 3),
        (r"a\mathrel{r}b", "a", "r", 5),
        (r"a\mathbin{r}b", "r", "b", 4),
        (r"a\mathpunct{r}b", "r", "b", 3),
        (r"\left(a\right)b", ")", "b", 3),
        (r"a\,b", "a", "b", 3),
        (r"a\quad b", "a", "b", 18),
        (r"a\hspace{.5em}b", "a", "b", 9),
        (r"a\mkern5mu b", "a", "b", 5),
        (r"a\mathop{r}b", "a", "r", 3),
        ("{+}a", "+", "a", 0),
        ("a{=}b", "a", "=", 0),
        ("a{,}b", ",", "b", 0),
        ("=a", "=", "a", 5),
        ("x=+a", "+", "a", 0),
        ("x++a", "+", "a", 0),
        ("(+a", "+", "a", 0),
        (r"\sum+a", "+", "a", 0),
        (r"x+\,a", "+", "a", 7),
    ],
)
def test_single_places(tex: str, left: str, right: str, width: int) -> None:
    assert gap(convert_formula(tex, display=False).mathml, left, right) == width


def test_negative_space_is_a_margin() -> None:
    """Chromium treats a negative `mspace` as zero."""
    mathml = convert_formula(r"a\!b", display=False).mathml
    assert re.search(r"<mi>a</mi><mrow style=\"margin-left:-0\.1667em\"></mrow><mi>b</mi>", mathml)
