"""Input that kills, hangs or tricks a converter: an answer or a `TexError`, never raw markup.

Each case runs in this very process: a crash of the converter is a crash of the test run. The
sizes are what once broke an unguarded converter; a hang shows as a test run that does not end.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from blogsmith.tex.clean import ELEMENTS
from blogsmith.tex.engines import Engine

from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.linear import linear_text
from blogsmith.tex.macros import definitions
from blogsmith.tex.numbering import split_rows

ENGINES: tuple[Engine, ...] = ("math-core", "latex2mathml")
DEEP = 10_000
FLAT = "x_1+\\alpha "

REFUSED = {
    "braces": ("{" * DEEP + "x" + "}" * DEEP, "math-limit"),
    "fractions": (r"\frac{1}{" * 3_000 + "x" + "}" * 3_000, "math-limit"),
    "scripts": ("x^{" * DEEP + "x" + "}" * DEEP, "math-limit"),
    "left": (r"\left(" * 3_000 + r"\right)" * 3_000, "math-limit"),
    "environments": (r"\begin{matrix}" * 2_000 + r"\end{matrix}" * 2_000, "math-limit"),
    "matched brackets": ("(" * 25_000 + ")" * 25_000, "math-limit"),
    "unmatched brackets": ("(" * 40, "math-limit"),
    "unmatched brackets in a group": (r"\sqrt{" + r"\langle " * 40 + "}", "math-limit"),
    "brackets over groups": (r"(\left[" * 25 + "x" + r"\right]" * 25, "math-limit"),
    "big brackets": (r"\bigl(" * 40, "math-limit"),
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
    "unknown command": (r"\foo{x}", "math-command"),
    "stray ampersand": ("a & b", "math-syntax"),
    "unclosed group": (r"\frac{1}{2", "math-brace"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, engine: Engine) -> None:
    tex, kind = REFUSED[name]
    with pytest.raises(TexError) as caught:
        convert_formula(tex, display=True, engine=engine)
    assert caught.value.kind == kind


# What each bound lets pass, or leaves to the converter's own error; only an answer is required.
SURVIVED = {
    "just as deep as allowed": "{" * 400 + "x" + "}" * 400,
    "roots without braces": r"\sqrt" * 9_000 + "x",
    "scripted roots": r"\sqrt^" * 9_000 + "x",
    "fractions without braces": r"\frac1" * 9_000 + "x",
    "accents": r"\hat" * 9_000 + "x",
    "scripts without braces": "x^" * 20_000 + "x",
    "colour switches": r"\color{red}" * 5_000 + "x",
    "style switches": r"\textstyle" * 6_000 + "x",
    "dots": r"\dots" * 9_000,
    "60 kB flat": FLAT * 5_000,
    "twelve brackets": "(" * 12,
    "row gaps": r"\\[" * 15_000,
    "text in text": r"\text{$" * 300 + "x" + "$}" * 300,
    "substack in substack": r"\substack{" * 300 + "x" + "}" * 300,
    "optional arguments": r"\newcommand{\a}[1][x]{#1}" + r"\a[" * 9_000,
    "bold": r"\boldsymbol{" * 400 + "1" * 50_000 + "}" * 400,
    "begins": r"\begin{" * 9_000,
    "document type": '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
    "control characters": "".join(map(chr, range(32))) + "x\u202e\ufffe\uffff",
    "backslash": "\\",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SURVIVED)
def test_survived(name: str, engine: Engine) -> None:
    try:
        markup = convert_formula(SURVIVED[name], display=True, engine=engine).mathml
    except TexError as error:
        assert error.message
    else:
        assert markup.endswith("</math>")


INERT = [
    r"\text{</mtext><script>alert(1)</script>}",
    r"\text{<img src=x onerror=alert(1)>}",
    r"\text{a & b < c}",
    r"\mathrm{<script>}",
    r"\operatorname{<script>x</script>}",
    r"\href{javascript:alert(1)}{x}",
    r"\text{\textbf{<script>alert(1)</script>}}",
    r"\class{x\" onclick=\"alert(1)}{x}",
    r"\style{background:url(javascript:alert(1))}{x}",
    r"\color{red\" onload=\"x}x",
    r"</math><script>alert(1)</script>",
    r"\begin{array}{<script>}a\end{array}",
    r"\newcommand{\a}{\text{<script>}}\a",
    '"><script>alert(1)</script>',
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tex", INERT)
def test_markup_stays_text(tex: str, engine: Engine) -> None:
    try:
        markup = convert_formula(tex, display=False, engine=engine).mathml
    except TexError:
        return
    for element in ElementTree.fromstring(markup).iter():
        assert element.tag in ELEMENTS
        assert not any(key.startswith("on") for key in element.attrib)
        assert "javascript:" not in element.get("href", "") + element.get("style", "")


def test_text_of_a_script_is_shown_by_both_engines() -> None:
    for engine in ENGINES:
        markup = convert_formula(r"\text{<script>x</script>}", display=False, engine=engine).mathml
        root = ElementTree.fromstring(markup)
        assert "".join(root.itertext()).strip() == "<script>x</script>"


@pytest.mark.parametrize("name", [*REFUSED, *SURVIVED])
def test_readers_beside_the_converter_survive_too(name: str) -> None:
    tex = REFUSED[name][0] if name in REFUSED else SURVIVED[name]
    assert isinstance(linear_text(tex), str)
    assert split_rows(tex).rows
    try:
        assert definitions(tex) is not None
    except TexError as error:
        assert error.kind == "math-macro"
