"""Row 20: formulas contain only elements and attributes of MathML, whatever their TeX is."""

from __future__ import annotations

import re
from itertools import product

import pytest

from blogsmith.model.names import name_set
from tests.check import render
from tests.fuzz_checks import DRAWN_VALUE
from tests.hostile_formulas import PAYLOADS, PLACES
from tests.page_checks import elements, parse
from tests.rows import each_row, thinned
from tests.security.judgement import UNTRUSTED, codes, harmless

FORMS = ("${}$", "$${}$$", "## A ${}$", "| ${}$ |\n|-|")
ELEMENTS = name_set(
    "math semantics mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle mpadded mphantom menclose merror "
    "msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd a b i code span"
)
"""Elements of MathML Core, legacy MathML elements, and elements that text in a formula may have."""
ATTRIBUTES = name_set(
    "class style display alttext data-tex href id aria-label mathvariant mathcolor mathbackground mathsize "
    "scriptlevel displaystyle accent accentunder stretchy symmetric fence form lspace rspace minsize maxsize "
    "largeop movablelimits width height depth voffset linethickness columnspan intent arg"
)
DRAWN = ("svg", "path")
"""Elements of the arrows of a diagram."""
STRANGE = (
    r"\text{</mtext><script>alert(1)</script>}",
    r"\text{<img src=x onerror=alert(1)>}",
    r"\mathrm{</mi></math><script>x</script>}",
    r"\operatorname{<script>}",
    r"\tag{<script>x</script>} a",
    r"\color{red;background:url(//evil.example)} x",
    r"\textcolor{expression(alert(1))}{x}",
    r'\color{"onload="x} x',
    r"\class{x onload=1}{y}",
    r"\cssId{x}{y}",
    r"\style{background:url(javascript:1)}{y}",
    r"\htmlClass{x}{y}",
    r"\htmlId{x}{y}",
    r"\htmlStyle{color:red}{y}",
    r"\htmlData{a=b}{y}",
    r"\includegraphics[height=1em]{https://evil.example/x.png}",
    r"\unicode{60}script\unicode{62}",
    r"\char60 script\char62",
    r"\def\x{<script>}\x",
    r"\newcommand{\y}{</math><script>x</script>}\y",
    r"\href{javascript:alert(1)}{x}",
    r"\href{data:text/html,x}{x}",
    r"\href{https://example.org/\"onclick=alert(1)}{x}",
    r"\url{javascript:alert(1)}",
    r"\require{action}\toggle{a}{b}\endtoggle",
    r"\mathtip{x}{<script>}",
    r"a & b",
    r"a < b > c & d",
    r"\foo{x}",
    r"\frac{1}{2",
    r"\begin{script}x\end{script}",
    r"\verb|<script>x</script>|",
    r"\input{/etc/passwd}",
    r"\write18{id}",
    r"\csname script\endcsname",
    "\x00\x01<script>",
    "\u202e<script>",
)


def foreign(html: str) -> list[str]:
    """Return elements, attributes and styles that are not allowed in the formulas of a page."""
    found = []
    for tag, element in elements(parse(html)):
        if tag == "math":
            drawn = {
                id(one) for name, drawing in elements(element) if name == "svg" for one in drawing.iter()
            }
            found += [
                f"<{name}>" for name, one in elements(element) if id(one) in drawn and name not in DRAWN
            ]
            for inner, one in [("math", element), *elements(element)]:
                if id(one) in drawn:
                    found += [
                        f"{name}={value}"
                        for name, value in one.attrib.items()
                        if not DRAWN_VALUE.fullmatch(value)
                    ]
                    continue
                names = {str(name).rpartition("}")[2].lower() for name in one.attrib}
                found += [f"<{inner}>"] if inner not in ELEMENTS else []
                found += [f"{inner} {name}=" for name in sorted(names - ATTRIBUTES)]
                style = one.get("style") or ""
                found += [style] if re.search(r"url|expression|import|@|//|\\", style) else []
    return found


@pytest.mark.parametrize(
    "form", ["${}$", "$${}$$", "\\({}\\)", "## A ${}$", "| ${}$ |\n|-|", "x[^1]\n\n[^1]: ${}$"]
)
def test_row_20_no_foreign_element_or_attribute(form: str) -> None:
    for tex in STRANGE:
        rendered = harmless(form.format(tex), f"{UNTRUSTED}math: {{on_error: render}}\n")
        assert foreign(rendered.html) == [], tex


# A sample of the combinations: every form and every place occurs.
@pytest.mark.parametrize(("form", "place"), thinned(product(FORMS, PLACES), every=5))
def test_row_20_hostile_text_in_formulas_stays_text(form: str, place: str) -> None:
    formulas = [place.replace("%", payload) for payload in PAYLOADS]
    text = "\n\n".join(map(form.format, formulas))
    assert foreign(harmless(text, f"{UNTRUSTED}math: {{on_error: render}}\n").html) == []


@each_row(
    ("tex", "code", "column"),
    [
        (r"\foo{x}", "math-command", 2),
        (r"\frac{1}{2", "math-brace", 10),
        (r"a & b", "math-syntax", 4),
        (r"\href{javascript:alert(1)}{x}", "math-syntax", 8),
        ("{" * 3000, "math-limit", None),
        (r"\frac" * 1000, "math-limit", None),
        (r"\sqrt{" * 3000, "math-limit", None),
        (r"\left(" * 3000, "math-limit", None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_row_20_what_is_wrong_is_said_with_its_place(tex: str, code: str, column: int | None) -> None:
    rendered = render(f"${tex}$")
    (found, *_) = rendered.diagnostics
    assert found.severity == "error" and found.place
    assert codes(rendered) == {code}
    assert column is None or (found.place.line, found.place.column) == (1, column)


def test_row_20_the_judge_sees_what_is_foreign() -> None:
    assert foreign('<math><mi onclick="x">y</mi></math>') == ["mi onclick="]
    assert foreign("<math><maction>x</maction></math>") == ["<maction>"]
    assert foreign('<math><mi style="background:url(x)">y</mi></math>') == ["background:url(x)"]
