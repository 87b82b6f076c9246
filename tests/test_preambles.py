r"""Preambles: files of LaTeX that `math.macros` names, and the commands that they are made of."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from blogsmith.model.tex_macros import Macro
from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.errors import PreambleError
from blogsmith.tex.parse.macros import MacroTable, read_macros
from blogsmith.tex.preamble import MAX_MACROS, TheoremKind, read_preamble
from tests.rows import each_row
from tests.site_files import build, printed, put

PREAMBLE = r"""
\documentclass[11pt]{article}
\usepackage[margin=1in]{geometry} % \newcommand{\commented}{x}
\makeatletter
\newcommand{\R}{\mathbb{R}}
\newcommand*{\Space}[1][X]{\mathcal{#1}}
\newcommand\inner@bold[1]{\mathbf{#1}}
\newcommand{\vect}{\inner@bold}
\makeatother
\let\olddiv\div
\renewcommand{\div}{\operatorname{div}}
\DeclareMathOperator*{\argmax}{arg\,max}
\DeclarePairedDelimiter\abs{\lvert}{\rvert}
\newenvironment{grid}{\begin{pmatrix}}{\end{pmatrix}}
\def\eachletter#1{\ifx\eachletter#1\else\bold{#1}\expandafter\eachletter\fi}
\def\bold#1{\expandafter\def\csname b#1\endcsname{\mathbf{#1}}}
\eachletter ABC\eachletter
\newif\ifwide \widetrue
\ifwide \newcommand{\gap}{\quad} \else \newcommand{\gap}{} \fi
\mathchardef\hyphen="2D
\newtheorem{thm}{Theorem}[section]
\newtheorem{lem}[thm]{Lemma}
\newtheorem*{warn}{Caveat}
\declaretheorem[sibling=thm, name=Claim, style=remark]{clm}
\renewcommand{\thesection}{\arabic{section}}
\mathchardef\sign="2A03
\begin{document}
\newcommand{\after}{x}
"""


def text(tex: str, macros: Mapping[str, Macro] | None = None) -> str:
    """Return the characters that a formula prints."""
    return re.sub("<[^>]*>", "", convert_formula(tex, display=True, macros=macros or {}).mathml)


@each_row(
    ("tex", "printed"),
    [
        (r"\def\a#1{\ifmmode#1\else$#1$\fi}\a{x}", "x"),
        (r"\newcommand{\a}[1]{\ifx#1x y\else z\fi}\a{x}\a{w}", "yz"),
        (r"\newcommand{\a}[1]{\if\relax\detokenize{#1}\relax e\else f\fi}\a{}\a{x}", "ef"),
        (r"\newcommand{\a}{\@ifstar{s}{p}}\a*\a", "sp"),
        (r"\newcommand{\a}{\@ifnextchar[{b}{n}}\a[\a", "b[n"),
        (r"\newcommand{\a}[1]{\ifthenelse{\equal{#1}{}}{e}{f}}\a{}\a{1}", "ef"),
        (r"\newcommand{\a}[1]{\ifnum#1<10 s\else l\fi}\a{9}\a{10}", "sl"),
        (r"\ifnum1<2\ifnum2<1 a\else b\fi\else c\fi", "b"),
        (r"\newif\ifq \ifq a\else b\fi\qtrue\ifq c\else d\fi", "bc"),
        (r"\ifdefined\alpha a\else b\fi\ifdefined\nothing a\else b\fi", "ab"),
        (r"\expandafter\def\csname x1\endcsname{q}\csname x1\endcsname", "q"),
        (r"\NewDocumentCommand{\f}{m O{2}}{#1^{#2}}\f{x}\f{y}[3]", "x2y3"),
        (r"\NewDocumentCommand{\f}{s m}{\IfBooleanTF{#1}{a}{b}#2}\f*{x}\f{y}", "axby"),
        (
            r"\NewDocumentCommand{\p}{mm}{\IfBooleanTF#1{(#2)}{#2}}\NewDocumentCommand{\f}{s}{\p#1{x}}\f\f*",
            "x(x)",
        ),
        (r"\uppercase\expandafter{\romannumeral 4}\text{\MakeUppercase{b}}", "IVB"),
        (r"\ifluatex a\else b\fi\ifpdf c\fi", "bc"),
        (r"\NewDocumentCommand{\f}{m o}{#1\IfNoValueF{#2}{_{#2}}}\f{x}[y]\f{z}", "xyz"),
        (r"\NewDocumentCommand{\f}{d() m}{\IfValueT{#1}{#1}#2}\f(a){x}\f{y}", "axy"),
        (r"\NewDocumentCommand{\f}{t+ r<>}{\IfBooleanT{#1}{p}#2}\f+<x>\f<y>", "pxy"),
        (r"\newcommandx{\f}[3][1=a,3=c]{#1#2#3}\f{x}\f[k]{x}[l]", "axckxl"),
        (r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}\abs*{x}\abs{y}\abs[\Big]{z}", "|x||y||z|"),
        (r"\DeclarePairedDelimiterX{\set}[2]{\{}{\}}{#1\,\delimsize\vert\,#2}\set*{x}{y}", "{x|y}"),
        (r"\DeclarePairedDelimiterXPP{\P}[1]{\mathbb{P}}{(}{)}{^c}{#1}\P{x}", "ℙ(x)c"),
        (r'\mathchardef\x="2D a\x b', "a-b"),
        (r'\mathchar"0278\mathchar"010B\mathchar`\=\mathchar"0241', "§α=𝒜"),
        (r"\mathchar'26", "¯"),
        (r"\newcolumntype{C}[1]{>{#1}c}\begin{array}{C{\bf}w{r}{1em}}a&b\end{array}", "𝐚b"),
        (r"\penalty0 1\medmuskip=4mu plus 2mu minus 4mu 2\postdisplaypenalty=10000 x", "12x"),
        (r"\uncover<2->{a}\pause b\onslide<3>c", "abc"),
        (r"\cases{a & if $b<c$\cr}\cases{a & b<c\cr}", "{aif\xa0b&lt;c{ab&lt;c"),
        (r"\unit[5]{kg}\unit[per-mode=symbol]{\metre\per\second}", "5kgm/s"),
        (r"\begin{matrix}a\\\noalign{\medskip}\noalign{\hrule}b\end{matrix}", "ab"),
        (r"\begin{mathpar}\inferrule{a}{b}\and\infer[r]{c}{d & e}\end{mathpar}", "abdecr"),
        (r"\textcolor{rgb,255:red,214;green,92;blue,92}{x}\texorpdfstring{$y$}{z}", "xy"),
        (r"\mmlToken{mo}[lspace=0]{<}\text{\index{a}\scshape b}", "&lt;b"),
    ],
)
def test_commands_of_preambles_in_formulas(tex: str, printed: str) -> None:
    assert text(tex) == printed


@each_row(
    ("tex", "message"),
    [
        (r"\iftrue a", 'a condition is never closed: "\\fi" is missing'),
        (r"a\fi", 'missing condition before "\\fi"'),
        (r"\ifnum 1<99999999999 a\fi", '"\\ifnum" needs two numbers'),
        (r"\iffalse a", '"\\iffalse" is never closed: "\\fi" is missing'),
        (r"\setbox0\hbox{x}", 'unsupported syntax: "\\setbox"'),
        (r"\begin{xy}x\end{xy}", '"\\begin{xy}" is not allowed in a formula'),
        (
            r"\begin{matrix}a\\\noalign{b}\end{matrix}",
            'unsupported syntax: "\\noalign" with other content than a skip',
        ),
        (r"\mmlToken{script}{x}", 'invalid element "script" of "\\mmlToken"'),
        (r"\csname a", '"\\csname" is never closed: "\\endcsname" is missing'),
        (r"\NewDocumentCommand{\f}{q}{x}", 'argument type "q" of "\\f" is not supported'),
        (r"\NewDocumentCommand{\sin}{m}{x}", '"\\sin" is already defined'),
        (r"\ifthenelse{\lengthtest{1pt>2pt}}{a}{b}", '"\\ifthenelse" supports only the test "\\equal"'),
    ],
)
def test_wrong_conditions_and_definitions(tex: str, message: str) -> None:
    with pytest.raises(TexError) as caught:
        text(tex)
    assert caught.value.message == message


def test_a_preamble_defines_what_latex_would_define() -> None:
    found = read_preamble(PREAMBLE, "my.sty", {})
    assert text(r"\R\Space\vect{v}\abs*{x}\bA\bC\div\olddiv a\hyphen b", found.macros) == "ℝ𝒳𝐯|x|𝐀𝐂div⁡÷a-b"
    assert text(r"\begin{grid}1&2\end{grid}", found.macros) == "(12)"
    assert found.theorems == (
        TheoremKind("thm", "Theorem", line=21),
        TheoremKind("lem", "Lemma", "thm", line=22),
        TheoremKind("warn", "Caveat", is_numbered=False, line=23),
        TheoremKind("clm", "Claim", "thm", line=24, style="remark"),
    )
    assert "\\after" not in found.macros and "\\commented" not in found.macros
    assert list(found.passed_over) == ["\\sign"]


def test_an_error_in_a_macro_names_its_definition() -> None:
    found = read_preamble(PREAMBLE, "my.sty", {})
    for tex in (r"\thesection", r"\sign"):
        with pytest.raises(TexError) as caught:
            text(f"x {tex} y", found.macros)
        assert caught.value.offset == 2
        assert re.search(r"in line \d+ of my.sty$", caught.value.hint)


@each_row(
    ("source", "message"),
    [
        (r"\def\a{\a}\a" * 20_000, "expands without end"),
        (r"\def\a{\a\a}\a" * 20_000, "expands without end"),
        (r"\newcommand{\a}{}" * (MAX_MACROS + 1), "more than 10,000 macros"),
        (r"\DeclareMathOperator{\a}{x}" * 100_000, "more than 10,000 macros"),
        (r"\newtheorem{a}{X}" * 100_000, "more than 10,000 macros"),
        (r"\newcommand\x[2][{" * 20_000, "too large"),
    ],
)
def test_endless_preambles_end(source: str, message: str) -> None:
    started = time.process_time()
    with pytest.raises(PreambleError, match=message):
        read_preamble(source, "a.tex", {})
    assert time.process_time() - started < 5


@each_row(
    "repeated",
    [
        "{",
        r"\ifx",
        r"\csname ",
        r"\expandafter",
        "\\",
        r"\def",
        r"\newcommand{",
    ],
)
def test_damaged_preambles_are_read_to_their_end(repeated: str) -> None:
    assert not read_preamble(repeated * 30_000, "a.tex", {}).macros


def test_unused_macros_are_shared_by_all_formulas() -> None:
    table = read_macros({f"\\m{chr(97 + n)}": "x" for n in range(26)})
    assert read_macros(table) is table
    assert isinstance(table, MacroTable)
    assert table.extend({}) is table
    assert table.extend({r"\ma": "y"}).digest != table.digest
    assert convert_formula(r"\def\q{\ma}\q", display=True, macros=table).macros.keys() == {r"\q"}


CONFIG = "title: T\nmath:\n  macros: [my.sty, {'\\Q': '\\mathbb{Q}'}]\n"
PAGE = r"""---
title: A
---

$\R$ $\Q$

> [!thm] Euler {#thm:e}
> Text.

> [!lem] {#lem:e}
> See [](#thm:e) and [](#lem:e).
"""


def test_a_site_uses_the_macros_and_theorems_of_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"blogsmith.yaml": CONFIG, "my.sty": PREAMBLE, "content/a.md": PAGE})
    report = build(tmp_path)
    assert printed(report) == ""
    page = (tmp_path / "public/a/index.html").read_text()
    assert "ℝ" in page and "ℚ" in page
    assert 'data-kind="theorem"' in page and 'data-kind="lemma"' in page
    assert "Lemma 2" in page, "it shares the counter of theorems"


def test_an_edit_of_the_file_reaches_all_pages(tmp_path: Path) -> None:
    put(tmp_path, {"blogsmith.yaml": CONFIG, "my.sty": PREAMBLE, "content/a.md": PAGE})
    build(tmp_path)
    put(tmp_path, {"my.sty": PREAMBLE.replace(r"\mathbb{R}", r"\mathbf{R}")})
    assert build(tmp_path).ok
    assert "𝐑" in (tmp_path / "public/a/index.html").read_text()


def test_everything_that_has_no_effect_is_listed(tmp_path: Path) -> None:
    preamble = (
        "\\newacronym{GD}{x}\n\\newtheorem{thm*}{Theorem}\n\\newtheorem{b}{\\emph{B}}\n\\geometry{a4paper}\n"
        "\\newcommand{\\stroke}[1]{\\setbox0\\hbox{#1}}\n\\newcommand{\\widebar}[1]{\\stroke{#1}}\n"
        "\\renewenvironment{align}{\\stroke{}}{}\n"
    )
    put(tmp_path, {"blogsmith.yaml": "math: {macros: [a.tex]}\n", "a.tex": preamble})
    (found,) = (one for one in build(tmp_path, write=False).diagnostics if one.code == "preamble-skipped")
    listed = '"\\newacronym" (line 1), "\\widebar" (line 6), "align" (line 7), "\\newtheorem{b}" (line 3)'
    assert found.message == f"no effect on formulas: {listed}"
    macros = read_preamble(preamble, "a.tex", {}).macros
    assert text(r"\begin{align}\widebar{x}\end{align}", macros) == "x‾"


def test_files_outside_the_site_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text(r"\newcommand{\a}{x}")
    site = put(tmp_path / "site", {"content/a.md": ""})
    (site / "link.tex").symlink_to(tmp_path / "secret.tex")
    for path in ("../secret.tex", "link.tex", str(tmp_path / "secret.tex")):
        put(site, {"blogsmith.yaml": f"math: {{macros: ['{path}']}}\n"})
        assert f'file "{path}" not allowed: it is outside the site [config-value]' in printed(
            build(site, write=False)
        )


def build_statements(root: Path, preamble: str, *kinds: str) -> str:
    """Return the HTML of a page with one numbered callout of each kind, on a site with this preamble."""
    (root / "preamble.tex").write_text(preamble)
    callouts = "\n".join(f"> [!{kind}] {{#thm-{kind}}}\n> X.\n" for kind in kinds)
    settings = "title: T\nmath: {macros: [preamble.tex]}\n"
    put(root, {"blogsmith.yaml": settings, "content/a.md": f"---\ntitle: A\n---\n\n{callouts}"})
    assert not build(root).diagnostics
    return (root / "public/a/index.html").read_text("utf-8")


def test_kinds_have_the_style_of_the_preamble(tmp_path: Path) -> None:
    preamble = (
        "\\newtheorem{thesis}{Thesis}\n\\theoremstyle{definition}\n\\newtheorem{setting}[thesis]{Setting}\n"
        "\\theoremstyle{remark}\n\\newtheorem*{warn}{Caveat}\n"
    )
    html = build_statements(tmp_path, preamble, "THESIS", "SETTING", "WARN")
    assert re.findall(r'data-kind="(\w+)"[^>]*data-style="(\w+)"', html) == [
        ("thesis", "theorem"),
        ("setting", "definition"),
        ("warn", "remark"),
    ]


def test_built_in_kinds_have_the_counter_of_the_preamble(tmp_path: Path) -> None:
    others = "\\newtheorem{lemma}[theorem]{Lemma}\n\\newtheorem{claim}[theorem]{Claim}\n"
    preamble = "\\newtheorem{theorem}{Satz}\n" + others
    html = build_statements(tmp_path, preamble, "THEOREM", "LEMMA", "CLAIM")
    assert re.findall(r'callout-label">([^<]*)<', html) == ["Satz 1", "Lemma 2", "Claim 3"]
