r"""Chemistry: conversion of `\ce` and `\pu` to plain TeX."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.tex.convert import convert_formula
from blogsmith.tex.errors import TexError
from blogsmith.tex.packages.mhchem.expanders import EXPANDERS, chemistry, physical_unit
from tests.rows import each_row, examples

from .tex_expansion import complaint, expand


def upright(made: str) -> str:
    r"""Expand `<Na>` in an expectation to `\mathrm{Na}`."""
    return re.sub(r"<([A-Za-z@ \\]+)>", r"\\mathrm{\1}", made)


FORMULAS = [
    # elements and numbers of atoms
    ("NaCl", "<NaCl>"),
    ("Fe2O3", "<Fe>{}_{2}<O>{}_{3}"),
    ("Al2(SO4)3", "<Al>{}_{2}(<SO>{}_{4}){}_{3}"),
    (r"\{N2\}2", r"\{<N>{}_{2}\}{}_{2}"),
    ("C_{60}", "<C>{}_{60}"),
    ("(C2H4)n", "(<C>{}_{2}<H>{}_{4}){}_{n}"),
    ("Ni(CO)_x", "<Ni>(<CO>){}_{x}"),
    ("La@C82", "<La>@<C>{}_{82}"),
    ("H₂SO₄", "<H>{}_{2}<SO>{}_{4}"),
    # charges
    ("K+", "<K>{}^{+}"),
    ("NO3-", "<NO>{}_{3}{}^{-}"),
    ("PO4^3-", "<PO>{}_{4}{}^{3-}"),
    ("PO4^{3-}", "<PO>{}_{4}{}^{3-}"),
    ("[CuCl4]^2-", "[<CuCl>{}_{4}]{}^{2-}"),
    ("(NO3-)2", "(<NO>{}_{3}{}^{-}){}_{2}"),
    ("K+Br-", "<K>{}^{+}<Br>{}^{-}"),
    ("M^n+", "<M>{}^{n+}"),
    ("M^-2", "<M>{}^{-2}"),
    ("Ca²⁺", "<Ca>{}^{2+}"),
    ("e− + e–", "<e>{}^{-}{}+{}<e>{}^{-}"),
    # oxidation states are before the number of atoms, charges above the number of sites
    ("Mn^{II}2O", "<Mn>{}^{<II>}{}_{2}<O>"),
    ("Mn^IV", "<Mn>{}^{<IV>}"),
    ("X^{2+}_{3}", "<X>{}_{3}^{2+}"),
    # amounts
    ("3 KI", r"3\,<KI>"),
    ("3KI", r"3\,<KI>"),
    ("1.5 KI", r"1.5\,<KI>"),
    ("1,5 KI", r"1{,}5\,<KI>"),
    (".5KI", r".5\,<KI>"),
    ("3/2 KI", r"\tfrac{3}{2}\,<KI>"),
    ("n/3 KI", r"\tfrac{n}{3}\,<KI>"),
    (r"\frac{3}{2} KI", r"\frac{3}{2}\,<KI>"),
    (r"\frac32 KI", r"\frac32\,<KI>"),
    ("(3/2) KI", r"(3/2)\,<KI>"),
    ("m KI", r"m\,<KI>"),
    ("2mKI", r"2m\,<KI>"),
    ("$m$ KI", r"{m}\,<KI>"),
    ("$2m-1$ KI", r"{2m-1}\,<KI>"),
    ("2m-1 KI", r"2m-1\,<KI>"),
    ("(m+1)KI", r"(m+1)\,<KI>"),
    ("-2 KI", r"-2\,<KI>"),
    ("(2 KI)", r"(2\,<KI>)"),
    # letters that look like amounts
    ("pH", "<pH>"),
    ("pKa1", r"<p>K_{<a>1}"),
    ("tBuOH", "<tBuOH>"),
    ("2iPrOH", r"2\,<iPrOH>"),
    # nuclides
    ("^{40}_{20}Ca", r"\prescript{40}{20}{}<Ca>"),
    ("^40_20Ca", r"\prescript{40}{20}{}<Ca>"),
    ("_20^40Ca", r"\prescript{40}{20}{}<Ca>"),
    ("^0_-1e-", r"\prescript{0}{-1}{}<e>{}^{-}"),
    ("^{39.96}Ca", r"\prescript{39.96}{}{}<Ca>"),
    ("H^2HO", r"<H>\mkern2mu\prescript{2}{}{}<HO>"),
    ("N{}^15N", r"<N>\prescript{15}{}{}<N>"),
    ("⁴⁰₂₀Ca", r"\prescript{40}{20}{}<Ca>"),
    ("A + ^1n", r"<A>{}+{}\prescript{1}{}{}<n>"),
    ("R^1R^2", "<R>{}^{1}<R>{}^{2}"),
    # states of aggregation
    ("KI(aq)", r"<KI>\mkern2mu (<aq>)"),
    ("KI (s)", r"<KI>\mkern2mu (<s>)"),
    (r"KI(aq,$\infty$)", r"<KI>\mkern2mu (<aq>,{\infty})"),
    ("I-{}_{(aq)}", r"<I>{}^{-}{}_{\mkern1mu(<aq>)}"),
    ("ZnO(\\ca$w$)", r"<ZnO>\mkern2mu ({\sim}{w})"),
    ("Co(en)3", "<Co>(<en>){}_{3}"),
    # electrons, defects, orbitals
    ("ClO^.", r"<ClO>{}^{{\bullet}}"),
    ("O2^{.-}", r"<O>{}_{2}{}^{{\bullet}-}"),
    ("N^{(3.)-}", r"<N>{}^{(3{\bullet})-}"),
    ("He^*", "<He>{}^{*}"),
    ("V''_O", r"<V>{}_{<O>}^{″}"),
    ("Na^x_{Na}", r"<Na>{}_{<Na>}^{{\times}}"),
    ("$V$^{..}_{i,x}", r"{V}{}_{<i>{,}\mkern1mu x}^{{\bullet}{\bullet}}"),
    ("Zn_{1-2x}Mg_{2x}", "<Zn>{}_{1-2x}<Mg>{}_{2x}"),
    ("2p^3", "2<p>{}^{3}"),
    ("3d^104s^1", "3<d>{}^{10}4<s>{}^{1}"),
    ("sp^3-C", r"<sp>{}^{3}\text{-}<C>"),
    # bonds and hyphens
    ("H3C-CH3", r"<H>{}_{3}<C>\mathord{-}<CH>{}_{3}"),
    ("O=C=S", r"<O>\mathord{=}<C>\mathord{=}<S>"),
    ("N#N", r"<N>\mathord{\equiv}<N>"),
    (r"A\bond{1}B\bond{2}C\bond{3}D", r"<A>\mathord{-}<B>\mathord{=}<C>\mathord{\equiv}<D>"),
    ("H...O", r"<H>{{\cdot}{\cdot}{\cdot}}<O>"),
    (r"N\bond{->}B", r"<N>\mathord{\rightarrow}<B>"),
    ("[-CH2-]_n", r"[\mathord{-}<CH>{}_{2}\mathord{-}]{}_{n}"),
    ("-O-", r"\mathord{-}<O>\mathord{-}"),
    ("n-PrBr", r"n\text{-}<PrBr>"),
    ("trans-PtCl2", r"<trans>\text{-}<PtCl>{}_{2}"),
    (r"\mu-OH", r"<\mu>\text{-}<OH>"),
    ("2,2'-bpy", r"2{,}2{}^{′}\text{-}<bpy>"),
    ("C-14", r"<C>\text{-}14"),
    # addition compounds
    ("NiSO4.7H2O", r"<NiSO>{}_{4}\,{\cdot}\,7\,<H>{}_{2}<O>"),
    ("NiSO4*7H2O", r"<NiSO>{}_{4}\,{\cdot}\,7\,<H>{}_{2}<O>"),
    ("NiSO4 * 7 H2O", r"<NiSO>{}_{4}\,{\cdot}\,7\,<H>{}_{2}<O>"),
    ("CaO.1/2H2O", r"<CaO>\,{\cdot}\,\tfrac{1}{2}\,<H>{}_{2}<O>"),
    # operators, punctuation, spaces
    ("K + I", "<K>{}+{}<I>"),
    ("K - I", "<K>{}-{}<I>"),
    ("K = I", "<K>{}={}<I>"),
    ("K << I", r"<K>{}\ll{}<I>"),
    (r"K \pm I", r"<K>{}\pm{}<I>"),
    (r"K $\approx$ I", r"<K>{}\approx{}<I>"),
    ("+ K", "{}+{}<K>"),
    ("K +I", "<K>{}+{}<I>"),
    ("KI, KBr; KF", r"<KI>{,}\mkern6mu <KBr>{;}\mkern6mu <KF>"),
    ("KI KBr", "<KI>~<KBr>"),
    ("AgI v + O2 ^", r"<AgI>\downarrow{}{}+{}<O>{}_{2}\uparrow{}"),
    ("AgI (v)", r"<AgI>\downarrow{}"),
    # parts that TeX reads
    ("{any text} + K", r"{\text{any text}}{}+{}<K>"),
    ("K_{{red}}", r"<K>{}_{{\text{red}}}"),
    ("{pure $x$}", r"{\text{pure }{x}}"),
    ("$x_i$", "{x_i}"),
    (r"\alpha + K", r"<\alpha>{}+{}<K>"),
    (r"\Delta H", r"<\Delta H>"),
    (r"\boxed{K2O}", r"\boxed{<K>{}_{2}<O>}"),
    (r"\textcolor{red}{K2O}", r"\textcolor{red}{<K>{}_{2}<O>}"),
    (r"\color{red}K2O", r"\color{red}<K>{}_{2}<O>"),
    (r"\underbrace{K2O}_{K+}", r"\underbrace{<K>{}_{2}<O>}_{<K>{}^{+}}"),
    (r"\overset{+1}{K}2O", r"\overset{+1}{<K>}{}_{2}<O>"),
    (r"\sqrt[3]{x}", r"\sqrt[3]{x}"),
    (r"$\left(\ce{K2O}\right)$", r"{\left({<K>{}_{2}<O>}\right)}"),
    (r"\left( K2O \right)", r"\left( <K>{}_{2}<O>~\right) "),
    (r"\\ce{K}", r"\\<ce>{\text{K}}"),
    ("", ""),
]


@each_row(("text", "made"), FORMULAS)
def test_formulas(text: str, made: str) -> None:
    assert chemistry(text) == upright(made)


@each_row(
    ("text", "made"),
    [
        ("A -> B", r"<A>\xrightarrow{\quad}<B>"),
        ("A->B", r"<A>\xrightarrow{\quad}<B>"),
        ("A → B", r"<A>\xrightarrow{\quad}<B>"),
        ("A <- B", r"<A>\xleftarrow{\quad}<B>"),
        ("A <-> B", r"<A>\xleftrightarrow{\quad}<B>"),
        ("A <--> B", r"<A>\xtofrom{\quad}<B>"),
        ("A <=> B", r"<A>\xrightleftharpoons{\quad}<B>"),
        ("A ->[I2] B", r"<A>\xrightarrow{<I>{}_{2}}<B>"),
        ("A ->[a][b c] B", r"<A>\xrightarrow[{<b>~<c>}]{<a>}<B>"),
        ("A ->[][b] B", r"<A>\xrightarrow[{<b>}]{}<B>"),
        ("A <=>[+ I-][$k_1$] B", r"<A>\xrightleftharpoons[{{k_1}}]{{}+{}<I>{}^{-}}<B>"),
        ("A ->[[x]] B", r"<A>\xrightarrow{[<x>]}<B>"),
        ("A ->T[in air] B", r"<A>\xrightarrow{{\text{in air}}}<B>"),
    ],
)
def test_arrows(text: str, made: str) -> None:
    assert chemistry(text) == upright(made)


def test_uneven_equilibria_have_a_long_and_a_short_arrow() -> None:
    forth, back = chemistry("A <=>>[a][b] B"), chemistry("A <<=>[a][b] B")
    assert forth.startswith(r"\mathrm{A}\xrightharpoonup[")
    assert forth.endswith(r"{\mathrm{a}}\mathrm{B}")
    assert r"\underset{\mathrm{b}}" in forth and r"\leftharpoondown" in forth
    assert back.startswith(r"\mathrm{A}\xleftharpoondown[{\mathrm{b}}]{")
    assert r"\overset{\mathrm{a}}" in back and r"\rightharpoonup" in back


@each_row("name", ["~", "~-", "~=", "~--", "-~-"])
def test_dashed_bonds_show_a_sign_for_every_solid_line(name: str) -> None:
    made = chemistry(rf"A\bond{{{name}}}B")
    lines = {"~": 0, "~-": 1, "-~-": 2}.get(name, 2)
    assert made.count(r"\mathord{-}") == lines
    assert made.count(r"\rule") == 3


@each_row(
    ("text", "made"),
    [
        ("12 kJ", "12~<kJ>"),
        ("12 N m", r"12~<N>\mkern3mu <m>"),
        ("12 N*m", r"12~<N>\mkern1mu{\cdot}\mkern1mu <m>"),
        ("12 N.m", r"12~<N>\mkern1mu{\cdot}\mkern1mu <m>"),
        ("12 m/s", "12~<m>/<s>"),
        ("12 m / s", "12~<m>/<s>"),
        ("12 J/mol K", r"12~<J>\,/\,<mol>\mkern3mu <K>"),
        ("12 J // mol K", r"12~\tfrac{<J>}{<mol>\mkern3mu <K>}"),
        ("12 J//mol//K", r"12~\tfrac{<J>}{\tfrac{<mol>}{<K>}}"),
        ("12 J/(mol K)", r"12~<J>\,/\,(<mol>\mkern3mu <K>)"),
        ("m s-1", r"<m>\mkern3mu <s>^{-1}"),
        ("m s^-1", r"<m>\mkern3mu <s>^{-1}"),
        ("m s^{-1}", r"<m>\mkern3mu <s>^{-1}"),
        ("m2", "<m>^{2}"),
        ("m²", "<m>^{2}"),
        ("m s⁻¹", r"<m>\mkern3mu <s>^{-1}"),
        (r"5 \mu m", r"5~<\mu m>"),
        ("5 °C", r"5~{}^{\circ}<C>"),
        ("5° 3' 2\"", r"5{}^{\circ}\,3{}^{′}\,2{}^{″}"),
        (r"5 \%", r"5~\%"),
        ("7e3 J", r"7\cdot 10^{3}~<J>"),
        ("7E-3 J", r"7\times 10^{-3}~<J>"),
        ("7 x 10^{3} J", r"7\times 10^{3}~<J>"),
        ("7*10^3 J", r"7\cdot 10^{3}~<J>"),
        ("10^3 J", "10^{3}~<J>"),
        ("e3", "10^{3}"),
        ("7,5 J", "7{,}5~<J>"),
        ("98765.43210", r"98\mkern2mu 765.432\mkern2mu 10"),
        ("1234.5", "1234.5"),
        ("1,234,567", "1{,}234{,}567"),
        ("7.5(2) J", "7.5(2)~<J>"),
        ("7.5 +- 0.2 J", r"7.5\pm 0.2~<J>"),
        (r"(7.5 \pm 0.2) J", r"(7.5\pm 0.2)~<J>"),
        ("5--7 J", r"5\text{–}7~<J>"),
        ("5 - 7 J", r"5\mathord{-}7~<J>"),
        ("-5 J", "-5~<J>"),
        ("1/2 J", "1/2~<J>"),
        ("<5 J", r"\mathord{<}5~<J>"),
        ("5 J = 6 W s", r"5~<J>{}={}6~<W>\mkern3mu <s>"),
        ("5 J, 6 W", r"5~<J>{,}\mkern6mu 6~<W>"),
        ("5 {unit}", r"5~<unit>"),
        ("5 $u$", "5~{u}"),
        ("", ""),
    ],
)
def test_units(text: str, made: str) -> None:
    assert physical_unit(text) == upright(made)


@each_row(
    ("tex", "made"),
    [
        (r"\ce{H2O}", r"{\mathrm{H}{}_{2}\mathrm{O}}"),
        (r"\cee{H2O}", r"{\mathrm{H}{}_{2}\mathrm{O}}"),
        (r"\cf{H2O}", r"{\mathrm{H}{}_{2}\mathrm{O}}"),
        (r"\ce H", r"{\mathrm{H}}"),
        (r"\pu{3 m}", r"{3~\mathrm{m}}"),
        (
            r"\ce{A &-> B \\ &-> C}",
            r"\mathrm{A}&\xrightarrow{\quad}\mathrm{B}\\&\xrightarrow{\quad}\mathrm{C}",
        ),
        (r"\ce{$\begin{matrix}a & b\end{matrix}$}", r"{{\begin{matrix}a & b\end{matrix}}}"),
        (r"\ce{\pu{3 m}}", r"{{3~\mathrm{m}}}"),
        (r"\pu{3 $\ce{H2O}$}", r"{3~{{\mathrm{H}{}_{2}\mathrm{O}}}}"),
    ],
)
def test_commands(tex: str, made: str) -> None:
    assert expand(tex, EXPANDERS) == made


@each_row(
    ("tex", "message"),
    [
        (r"\ce{A\bond{x}B}", r'unknown bond "x" in "\ce"'),
        (r"\ce{A\bond B}", r'missing bond name in braces after "\bond" in "\ce"'),
        (r"\ce{A ->[x B}", r'"[" is never closed in "\ce"'),
        (r"\ce{A $x B}", r'"$" is never closed in "\ce"'),
        (r"\ce{A_}", r'missing subscript after "_" in "\ce"'),
        (r"\ce{A^^}", r'missing superscript after "^" in "\ce"'),
        (r"\cf{A_}", r'missing subscript after "_" in "\cf"'),
        (r"\pu{m^}", r'missing superscript after "^" in "\pu"'),
        (
            r"\ce{" + "A ->[" * 41 + "]" * 41 + "}",
            r'chemistry is nested too deeply: more than 40 levels in "\ce"',
        ),
    ],
)
def test_mistakes(tex: str, message: str) -> None:
    said, _, command = complaint(tex, EXPANDERS)
    assert said == message
    assert command == tex[:3]


def test_an_unknown_bond_comes_with_the_known_ones() -> None:
    _, hint, _ = complaint(r"\ce{A\bond{x}B}", EXPANDERS)
    assert "~--" in hint


@pytest.mark.parametrize("text", ["A}", "{A", "A\\"])
def test_text_that_is_no_group(text: str) -> None:
    for convert in (chemistry, physical_unit):
        with pytest.raises(TexError):
            convert(text)


@each_row("tex", [rf"\ce{{{text}}}" for text, _ in FORMULAS if "\\\\" not in text])
def test_every_formula_is_set(tex: str) -> None:
    mathml = convert_formula(tex, display=True).mathml
    assert mathml.startswith("<math")
    assert not re.search(r"[\\$]", re.sub(r' intent="[^"]*"', "", mathml).split(">", 1)[1])


PIECES = (
    r"H A a n 2 12 1/2 ( ) [ ] { } {} ^ _ ' $ $x$ + - = # ~ . ... * , ; -> <=> ->[ <=>> (aq) v e3 m/s //"
    r" \\ \ ² ₂ → é & \alpha \ca \bond{-} \bond \frac12 \frac{1}{2} \left( \right) \ce{A} \pu{3m} \{ \}"
    r" \text{x} 1, 1s^2"
)
TEXTS = st.lists(st.sampled_from([*PIECES.split(), " ", " v ", " + ", " - "]), max_size=30).map("".join)


@examples(400)
@given(TEXTS | st.text(max_size=40))
def test_any_text_gives_balanced_tex_or_a_mistake(text: str) -> None:
    for convert in (chemistry, physical_unit):
        try:
            made = convert(text)
        except TexError as error:
            assert error.message
            continue
        depth = 0
        for brace in re.findall(r"(?s)\\.|[{}]", made):
            depth += (brace == "{") - (brace == "}")
            assert depth >= 0, made
        assert depth == 0, made


@pytest.mark.parametrize(
    "piece",
    [
        "A",
        "H2",
        "->[",
        "->[a]",
        "(a,",
        "[",
        "$x$",
        "n ",
        "1-",
        "2n+",
        " ",
        "(aq)",
        "1,",
        "^2",
        "'",
        "-",
        "m/",
    ],
)
def test_long_text_takes_time_in_proportion(piece: str) -> None:
    """Searching to the end of the text at every character would make this test run endlessly."""
    text = piece * (20_000 // len(piece))
    for convert in (chemistry, physical_unit):
        try:
            made = convert(text)
        except TexError:
            continue
        assert len(made) < 40 * len(text)
