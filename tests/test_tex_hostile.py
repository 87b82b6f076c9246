"""Input that kills, hangs or tricks a converter: an answer or a `TexError` in time, never raw markup."""

from __future__ import annotations

import re
import time
from xml.etree import ElementTree

import pytest

from blogsmith.tex.analysis.linear import linear_text
from blogsmith.tex.analysis.numbering import split_rows
from blogsmith.tex.convert import MAX_LENGTH, TexError, convert_formula
from blogsmith.tex.mathml.allowlist import ELEMENTS, MAX_ELEMENT_DEPTH, is_safe_url
from tests.rows import each_row, thinned

from .hostile_formulas import BOMBS, NESTED, PAYLOADS, PLACES, REPEATED

DEEP = 10_000
TOO_DEEP = 600
LETTERS = (r"\ce{…}", r"\pu{…}", r"\SI{1}{…}", r"\num{…}", r"\begin{CD}…\end{CD}")
SECONDS = 10
"""Processor time; one second is the goal, but test machines differ, and busy ones take longer."""
LENGTHS = (20_000, pytest.param(MAX_LENGTH, marks=pytest.mark.long))
"""Lengths of the longest formulas; shorter ones have proportionally less time."""
FLAT = "x_1+\\alpha "

REFUSED = {
    "braces": ("{" * DEEP + "x" + "}" * DEEP, "math-limit"),
    "fractions": (r"\frac{1}{" * 3_000 + "x" + "}" * 3_000, "math-limit"),
    "scripts": ("x^{" * DEEP + "x" + "}" * DEEP, "math-limit"),
    "left": (r"\left(" * 3_000 + r"\right)" * 3_000, "math-limit"),
    "environments": (r"\begin{matrix}" * 2_000 + r"\end{matrix}" * 2_000, "math-limit"),
    "elements deeper than browsers nest": (
        r"\begin{matrix}" * 180 + r"\end{matrix}" * 180,
        "math-limit",
    ),
    "roots without braces": (r"\sqrt" * 9_000 + "x", "math-limit"),
    "accents": (r"\hat" * 9_000 + "x", "math-limit"),
    "scripts without braces": ("x^" * 20_000 + "x", "math-syntax"),
    "colour switches": (r"\color{red}" * 5_000 + "x", "math-limit"),
    "open braces": ("{" * 400, "math-brace"),
    "1 MB": (FLAT * 100_000, "math-limit"),
    "macro loop": (r"\def\a{\a}\a", "math-macro"),
    "mutual loop": (r"\def\a{\b}\def\b{\a}\a", "math-macro"),
    "growing argument": (r"\newcommand{\a}[1]{\a{#1#1}}\a{x}", "math-macro"),
    "exponential": (
        "".join(rf"\def\{c}{{\{d}\{d}}}" for c, d in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True))
        + r"\def\p{xx}\a",
        "math-macro",
    ),
    "doubled at each definition": (r"\edef\z{x}" + r"\edef\z{\z\z}" * 60 + r"\z", "math-macro"),
    "an end that begins again": (
        r"\newenvironment{a}{\begin{tikzcd}}{\end{b}}\newenvironment{b}{\begin{a}}{\end{a}}"
        r"\begin{a}x\end{a}",
        "math-brace",
    ),
    "links": (r"\hyperlink{a}{" * 450 + "x" + "}" * 450, "math-limit"),
    "names of names": (r"\csname " * 3_000 + "a" + r"\endcsname" * 3_000, "math-command"),
    "unknown command": (r"\foo{x}", "math-command"),
    "stray ampersand": ("a & b", "math-syntax"),
    "unclosed group": (r"\frac{1}{2", "math-brace"),
}

# Only an answer is required.
SURVIVED = {
    "just as deep as allowed": "{" * 400 + "x" + "}" * 400,
    "brackets": "(" * 25_000 + ")" * 25_000,
    "big brackets": r"\bigl(" * 9_000,
    "fractions without braces": r"\frac1" * 9_000 + "x",
    "dots": r"\dots" * 9_000,
    "60 kB flat": FLAT * 5_000,
    "row gaps": r"\\[" * 15_000,
    "text in text": r"\text{$" * 150 + "x" + "$}" * 150,
    "optional arguments": r"\newcommand{\a}[1][x]{#1}" + r"\a[" * 9_000,
    "bold": r"\boldsymbol{" * 400 + "1" * 50_000 + "}" * 400,
    "begins": r"\begin{" * 9_000,
    "document type": '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
    "control characters": "".join(map(chr, range(32))) + "x\u202e\ufffe\uffff\ud800",
    "backslash": "\\",
}


def answer(tex: str, *, display: bool = True, seconds: float = SECONDS) -> TexError | ElementTree.Element:
    """Return the error or the tree of the formula, both in time."""
    before = time.process_time()
    found: TexError | str
    try:
        found = convert_formula(tex, display=display).mathml
    except TexError as error:
        found = error
    assert time.process_time() - before < seconds
    if isinstance(found, TexError):
        assert 0 <= found.offset <= len(tex) and found.offset + found.length <= len(tex) + 1
        assert "not safe" not in found.message
        return found
    root = ElementTree.fromstring(found or "<math/>")
    assert {element.tag for element in root.iter()} <= {*ELEMENTS, "svg", "path"}
    return root


def depth(root: ElementTree.Element) -> int:
    """Return the depth of nested elements, including the root."""
    deepest, open_ones = 0, [(root, 1)]
    while open_ones:
        element, level = open_ones.pop()
        deepest = max(deepest, level)
        open_ones += [(child, level + 1) for child in element]
    return deepest


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    tex, kind = REFUSED[name]
    found = answer(tex)
    assert isinstance(found, TexError) and found.kind == kind


@pytest.mark.parametrize("name", SURVIVED)
def test_survived(name: str) -> None:
    answer(SURVIVED[name])


@pytest.mark.parametrize("pair", thinned(NESTED, every=4))
def test_nested_too_deep(pair: str) -> None:
    opening, closing = NESTED[pair]
    answer(opening * TOO_DEEP + "x" + closing * TOO_DEEP)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("pair", NESTED)
def test_nested_a_little_around_very_much(pair: str, length: int) -> None:
    """Code that reads an argument twice does so on each level."""
    opening, closing = NESTED[pair]
    count = 120
    # invisible filling, so that the tree is read quickly; names and numbers accept letters only
    filling = "x" if pair in LETTERS else r"\/"
    filling *= (length - count * len(opening + closing)) // len(filling)
    found = answer(opening * count + filling + closing * count, seconds=SECONDS * length / MAX_LENGTH)
    assert isinstance(found, TexError) or depth(found) <= MAX_ELEMENT_DEPTH


@each_row("pair", NESTED)
def test_opened_and_never_closed(pair: str) -> None:
    opening, _ = NESTED[pair]
    answer(opening * TOO_DEEP, display=False)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("piece", REPEATED)
def test_nothing_but_one_thing(piece: str, length: int) -> None:
    answer(piece * (length // len(piece)), seconds=SECONDS * length / MAX_LENGTH)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str) -> None:
    assert len(BOMBS[name]) <= MAX_LENGTH
    answer(BOMBS[name])


@each_row("place", PLACES)
def test_markup_stays_text(place: str) -> None:
    for payload in PAYLOADS:
        found = answer(place.replace("%", payload), display=True)
        if isinstance(found, TexError):
            continue
        for element in found.iter():
            assert not any(key.startswith("on") for key in element.attrib)
            address = element.get("href", "#")
            assert address[0] == "#" or is_safe_url(address)
            assert not set("(;:") & set(element.get("mathcolor", "") + element.get("mathbackground", ""))
            assert "(" not in re.sub(r"light-dark\(#\w+,#\w+\)", "", element.get("style", ""))


@pytest.mark.parametrize("place", [r"\text{%}", r"\textbf{%}", r"\mbox{%}"])
def test_text_of_a_script_is_shown(place: str) -> None:
    found = answer(place.replace("%", "<script>x</script>"))
    assert isinstance(found, ElementTree.Element)
    assert "".join(found.itertext()) == "<script>x</script>"


@pytest.mark.parametrize("name", thinned([*REFUSED, *SURVIVED, *BOMBS], every=4))
def test_readers_beside_the_converter_survive_too(name: str) -> None:
    tex = REFUSED[name][0] if name in REFUSED else SURVIVED.get(name) or BOMBS[name]
    before = time.process_time()
    assert isinstance(linear_text(tex), str)
    assert split_rows(tex).rows
    assert time.process_time() - before < SECONDS
