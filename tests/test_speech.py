"""Formulas for people who listen: words, names, and intents."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from blogsmith.tex.convert import convert_formula
from blogsmith.tex.speech import words
from blogsmith.tex.speech.words import formula_words, name_formulas, read_table, spoken_text
from tests.browser.tools import MODULES, file, program
from tests.check import render
from tests.rows import each_row

LANGUAGES = sorted(path.stem for path in Path(words.__file__).parent.glob("*.txt"))


@each_row(
    ("tex", "english", "german"),
    [
        (r"\sqrt{d_k}", "the square root of d sub k", "Quadratwurzel aus d Index k"),
        (
            r"\sqrt[3]{x+1}-\sqrt[n]y",
            "the cube root of x plus 1, end root, minus the n-th root of y",
            "dritte Wurzel aus x plus 1, Ende Wurzel, minus n-te Wurzel aus y",
        ),
        (r"\frac12+\frac{a}{b}", "one half plus a over b", "ein halb plus a durch b"),
        (
            r"\frac{a+b}{2}x",
            "the fraction with numerator a plus b and denominator 2, end fraction, x",
            "Bruch mit dem Zähler a plus b und dem Nenner 2, Ende Bruch, x",
        ),
        (
            r"x^2+y^3+z^n",
            "x squared plus y cubed plus z to the n-th power",
            "x Quadrat plus y hoch 3 plus z hoch n",
        ),
        (r"10^{-3}", "10 to the minus 3 power", "10 hoch minus 3"),
        (r"2^{n+1}", "2 raised to the n plus 1 power", "2 hoch n plus 1, Ende Exponent"),
        (
            r"\sum_{i=1}^n x_i",
            "the sum from i equals 1 to n of x sub i",
            "Summe von i gleich 1 bis n von x Index i",
        ),
        (
            r"\int_0^1 f(x)\,dx",
            "the integral from 0 to 1 of f of x d x",
            "Integral von 0 bis 1 von f von x d x",
        ),
        (r"\lim_{x\to 0} x", "the limit as x approaches 0 of x", "Grenzwert für x gegen 0 von x"),
        (
            r"O(n\log n)",
            "cap O open paren n log n close paren",
            "groß O Klammer auf n Logarithmus n Klammer zu",
        ),
        (r"x\in\mathbb{R}^n", "x is in cap R to the n-th power", "x Element von R hoch n"),
        (r"\mathcal{L}", "script cap L", "Schreibschrift groß L"),
        (r"\mathbf{x}", "bold x", "fett x"),
        (r"\hat y=\vec v", "y hat equals vector v", "y Dach gleich Vektor v"),
        (
            r"\lVert x\rVert_2^2=\|x\|_2^2",
            "the 2 norm of x, end norm, squared equals the 2 norm of x, end norm, squared",
            "2-Norm von x, Ende Norm, Quadrat gleich 2-Norm von x, Ende Norm, Quadrat",
        ),
        (
            r"\lambda|x||x-y|",
            "lambda the absolute value of x the absolute value of x minus y, end absolute value",
            "lambda Betrag von x Betrag von x minus y, Ende Betrag",
        ),
        (r"\|\cdot\|", "the norm of dot", "Norm von Punkt"),
        (r"a|b,c|d", "a vertical bar b, c vertical bar d", "a senkrechter Strich b, c senkrechter Strich d"),
        (
            r"\{x\mid P(x|y)\}",
            "open brace x such that cap P open paren x given y close paren close brace",
            "geschweifte Klammer auf x mit groß P Klammer auf x gegeben y Klammer zu geschweifte Klammer zu",
        ),
        (
            r"D(p||q(z|x))",
            "cap D open paren p vertical bar vertical bar q open paren z given x close paren close paren",
            "groß D Klammer auf p senkrechter Strich senkrechter Strich q Klammer auf z gegeben x Klammer zu"
            " Klammer zu",
        ),
        (
            r"D(p\,\|\,q)",
            "cap D open paren p double vertical bar q close paren",
            "groß D Klammer auf p Doppelstrich q Klammer zu",
        ),
        (
            r"f^{-1}(x^{(i)})",
            "f inverse of open paren x superscript open paren i close paren close paren",
            "f invers von Klammer auf x hochgestellt Klammer auf i Klammer zu Klammer zu",
        ),
        (
            r"\overline{a+b}\in[0,1)",
            "the quantity a plus b, bar, is in the interval from 0, included, to 1, not included",
            "der Ausdruck a plus b, quer, Element von Intervall von 0 einschließlich bis 1 ausschließlich",
        ),
        (r"2^{\binom nk}", "2 raised to the n choose k power", "2 hoch n über k, Ende Exponent"),
        (r"\ketbra{a}{b}.", "the outer product of a and b", "äußeres Produkt von a und b"),
        (r"\emptyset", "the empty set", "die leere Menge"),
        (r"\qty{5}{m/s}", "5 m per s", "5 m pro s"),
        (
            r"\ce{SO4^2- -> A}",
            "SO sub 4, 2 minus right arrow cap A",
            "SO Index 4, 2 minus Pfeil nach rechts groß A",
        ),
        (r"\ell_2\text{-norm}", "l sub 2-norm", "l Index 2-norm"),
        (r"\left\lvert -x\right\rvert", "the absolute value of minus x", "Betrag von minus x"),
        (r"\binom nk", "n choose k", "n über k"),
        (r"\bra x", "bra x", "Bra x"),
        (r"A^\top", "cap A transpose", "groß A transponiert"),
        (r"\mathbf{A}^{-1}", "bold cap A inverse", "fett groß A invers"),
        (
            r"\left[0,1\right)",
            "the interval from 0, included, to 1, not included",
            "Intervall von 0 einschließlich bis 1 ausschließlich",
        ),
        (r"\cancel x", "crossed out x, end crossed out", "durchgestrichen x, Ende durchgestrichen"),
        (r"1{,}000", "1,000", "1,000"),
        (
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
            "the 2 by 2 matrix; row 1: a, b; row 2: c, d; end matrix",
            "2-mal-2-Matrix; Zeile 1: a, b; Zeile 2: c, d; Ende Matrix",
        ),
        (r"\text{a cat}", "a cat", "a cat"),
    ],
)
def test_words(tex: str, english: str, german: str) -> None:
    mathml = convert_formula(tex, display=False).mathml
    assert [formula_words(mathml, tag) for tag in ("en", "de-AT", "fr")] == [english, german, ""]


def test_tables_have_the_same_keys() -> None:
    keys = {tag: list(read_table(tag)) for tag in LANGUAGES}
    assert LANGUAGES == ["de", "en"]
    assert keys["de"] == keys["en"]


@each_row(
    ("tex", "intent"),
    [
        (r"\binom nk", "binomial-coefficient($n,$k)"),
        (r"{n\choose k}", "binomial-coefficient($n,$k)"),
        (r"\left\lVert x\right\rVert", "norm($x)"),
        (r"A^\top", "transpose($a)"),
        (r"A_i^\top", ""),
        (r"x^{-1}", ""),
        (r"\sin^{-1}", "inverse($a)"),
        (r"\left(a,b\right)", ""),
        (r"\left(a,b\right]", "open-closed-interval($a,$b)"),
        (r"\left|A\right|", ""),
        (r"\boxed{x+y}", "boxed($x)"),
        (r"\unit{\metre}", ":unit"),
        (r"\ce{H2O}", ":chemical-formula"),
        (r"\ce{A -> B}", ""),
        (r"\MathMLintent{expectation($x)}{E[\MathMLarg{x}{X}]}", "expectation($x)"),
    ],
)
def test_intents(tex: str, intent: str) -> None:
    """An intent is written only where TeX states the meaning, and all its arguments exist."""
    mathml = convert_formula(tex, display=False).mathml
    found = re.findall(r' intent="([^"]*)"', mathml)
    assert found == ([intent] if intent else [])
    assert sorted(re.findall(r"\$(\w+)", intent)) == sorted(re.findall(r' arg="(\w+)"', mathml))


def test_names_on_pages() -> None:
    """The name is on the heading, or on an element around the formula, never on `<math>`."""
    page = render("# Why $\\sqrt{d_k}$\n\n## The $x^2$ law\n\n[so $x$](https://a.example) and $y$\n")
    assert '<h2 id="the-x-2-law" aria-label="The x squared law">' in page.html
    assert 'aria-label="Link to section The x squared law"' in page.html
    assert 'so <span role="img" aria-label="x"><math' in page.html
    assert "and <math" in page.html
    assert spoken_text("", page.body.title_html) == "Why the square root of d sub k"
    assert spoken_text("", page.body.toc[0].html) == "The x squared law"
    assert not re.search("<math[^>]* aria-label", page.html + page.body.title_html)


@each_row(
    ("heading", "name"),
    [
        (r"The norm $\lVert x\rVert$ is", "The norm of x is"),
        (r"Norm $\lVert x\rVert$", "Norm of x"),
        (r"Minus $-x$", "Minus minus x"),
    ],
)
def test_a_name_repeats_no_words_before_it(heading: str, name: str) -> None:
    assert spoken_text("", name_formulas(render(f"# {heading}\n").body.title_html, "en")) == name


def test_a_ligature_is_spelt() -> None:
    page = render("# T\n\n## $\ufd2c$\n")
    assert 'aria-label="\u0636\u0631"' in page.html


def test_a_language_without_words() -> None:
    named = name_formulas('a <math alttext="\\sqrt{d}"><msqrt><mi>d</mi></msqrt></math>', "fr")
    assert spoken_text("", named) == "a sqrt(d)"


def test_a_formula_in_the_text_of_a_formula() -> None:
    mathml = convert_formula(r"\text{if $x$ and $y$}", display=False).mathml
    assert name_formulas(mathml, "en") == f'<span role="img" aria-label="if x and y">{mathml}</span>'


ENGINE = MODULES / "speech-rule-engine" / "package.json"
SCRIPT = """const sre = require(process.argv[1]);
(async () => {
  await sre.setupEngine({locale: "en", domain: "clearspeak", modality: "speech"});
  await sre.engineReady();
  const formulas = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log(JSON.stringify(formulas.map((one) => sre.toSpeech(one))));
})();"""


def speak(formulas: list[str]) -> list[str]:
    """Return what Speech Rule Engine says, with ClearSpeak's rules."""
    command = (program("node"), "-e", SCRIPT, str(file(ENGINE).parent))
    done = subprocess.run(command, input=json.dumps(formulas), capture_output=True, text=True, check=True)
    said: list[str] = json.loads(done.stdout)
    return said


@pytest.mark.long
@pytest.mark.parametrize(("tex", "said"), [(r"1{,}000", "1,000"), (r"\dddot{x}", "x dot dot dot")])
def test_speech_rule_engine(tex: str, said: str) -> None:
    assert speak([convert_formula(tex, display=False).mathml]) == [said]
