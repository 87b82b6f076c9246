"""Formulas that hang, crash or fool a converter without limits, used by `test_tex_hostile`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PAIRS = r"""
{…} \frac{1}{…} \frac{…}{1} \sqrt{…} \sqrt[…]x \left(…\right) x^{…} x_{…} \text{…} \text{$…$}
\textbf{…} [{…}] [(…)] \begin{matrix}…\end{matrix} \begin{aligned}…\end{aligned}
\begin{array}{c}…\end{array} \begin{cases}…\end{cases} \begin{CD}…\end{CD}
\begin{multline}…\end{multline} \begin{subarray}{c}…\end{subarray} \begingroup…\endgroup
{\color{red}…} \textcolor{red}{…} \colorbox{red}{$…$} \fbox{$…$} \raisebox{1pt}{$…$} \href{#a}{…}
\class{a}{…} \hat{…} \widehat{…} \underbrace{…} \overset{a}{…} \overset{…}{a} \xrightarrow{…}
\xrightarrow[…]x \substack{…} \mathrm{…} \boldsymbol{…} \operatorname{…} \mathop{…} \mathrel{…}
\phantom{…} \smash{…} \mathllap{…} \boxed{…} \cfrac{1}{…} \binom{n}{…} \genfrac(){0pt}{0}{1}{…}
{1\over…} {…\over1} \prescript{…}ab \sideset{_{…}}{}\sum \not{…} \vcenter{…} \mathchoice{…}{}{}{}
\Bra{…} \Set{…} \Aboxed{a&…} \nicefrac{…}2 \qty(…) \dv{…}{x} \norm{…} \ce{…} \ce{$…$} \pu{…}
\SI{1}{…} \num{…} \buildrel…\over{a} \root…\of{a} \raise1pt\hbox{…} \cancelto{…}{a}
\newcommand{\a}{…} \def\a{…} \frac{\def\x{…}}{1} {\large…} {\bf…} {\textstyle…} \mqty{…} \pmatrix{…}
(…) |…| \left(\middle|…\right) \[…\] \\[…] \htmlData{a}{…} \mathmakebox{…} \text{\large…} \verb|…|
\tag{…} \label{…} \bgroup…\egroup \rotatebox{30}{$…$} \ooalign{$…$} \oalign{$…$\cr} \text{\ensuremath{…}}
\begin{blockarray}{c}\begin{block}{(c)}…\end{block}\end{blockarray} \docsvlist{…} \'{…} \xy…\endxy
\begin{mathpar}…\end{mathpar} \infer{…}{a} \infer{a}{…} \lefteqn{…} \uncover<1>{…} \cases{…\cr}
\texorpdfstring{…}{} \tcboxmath{…} \Ketbra{…}{a} \accentset{…}{a} \begin{array}{c}\noalign{…}\end{array}
"""
NESTED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {entry: (entry.partition("…")[0], entry.partition("…")[2]) for entry in _PAIRS.split()}
)
"""Opening and closing part of nested constructs."""

_PIECES = r"""
\hat \sqrt \frac1 x^ x_ \mathrm \not \color{red} \textstyle \bf \large \over 1\over \expandafter
\global \let\a \left \left. \right \begin \begin{ \begin{matrix} \end \end{a} \def \newcommand
\limits \sum\limits \text{$ \[ \sqrt[ \xrightarrow[ \qty( \qty \dv \ce \ce{ \SI \\[ \\ \cr & # ## ^_
' x' $ \ \middle| \verb| \verb+ \char \kern \kern1em \raise \root \buildrel \csname \tag{1}
\label{a} \ref{a} \hline \cline{1-2} \intertext{x} 1 x_1 \dots \Aboxed{a} \mathchoice{a}{b}{c}{d}
\phantom{x} \pmod{x} \rule{1em}{1em} \sideset{_a}{^b}\sum \futurelet\a \definecolor{a}{rgb}{0,0,0}
\noalign{\smallskip} \penalty0 \medmuskip=1mu \mmlToken{mi}{x} \newcolumntype{a}{aa} \pause \infer{a}{b&c}
\num{1.5e3} \ce{H2O} \dv{x}{y} \genfrac{}{}{}{}ab \overwithdelims ~ % ² ∑ 😀 { } [
"""
REPEATED: tuple[str, ...] = tuple(_PIECES.split())
"""Fragments to repeat."""


def _environment(name: str, body: str, more: str = "") -> str:
    return f"\\begin{{{name}}}{more}{body}\\end{{{name}}}"


BOMBS: Mapping[str, str] = MappingProxyType(
    {
        "loop in an argument": r"\def\a{\frac{\a}{\a}}\a",
        "loop through an optional argument": r"\newcommand{\a}[2][x]{\a[#1#2]{#2#1}}\a{y}",
        "loops in loops": "\\@for\\x:=1,2,3,4,5,6,7,8,9\\do{" * 9 + "x" + "}" * 9,
        "types of columns": r"\newcolumntype{a}{aa}\begin{array}{a}x\end{array}",
        "long types of columns": r"\newcolumntype{a}{" + "a" * 5000 + r"}\begin{array}{a}x\end{array}",
        "no columns": r"\begin{IEEEeqnarray}<\end{IEEEeqnarray}",
        "list that calls itself": r"\def\do#1{\docsvlist{a,b}}\docsvlist{a}",
        "loop through delimiters": r"\def\a#1;{\a#1#1;}\a x;",
        "loop in a text": r"\def\a{\text{\a}}\a",
        "loop in an accent": r"\def\a{\hat\a}\a",
        "loop in a script": r"\def\a{x^\a}\a",
        "loop in a fence": r"\def\a{\left\a}\a",
        "loop between rows": r"\def\a{\hline\a}\begin{array}{c}\a\end{array}",
        "loop in an environment": r"\def\a{\begin{matrix}\a\end{matrix}}\a",
        "environment in itself": r"\newenvironment{e}{\begin{e}}{\end{e}}\begin{e}\end{e}",
        "operator in itself": r"\DeclareMathOperator{\a}{\a}\a",
        "definition in itself": r"\def\a{\def\a{\a\a}\a}\a",
        "expandafter": r"\def\a{\expandafter\a}\a",
        "edef": r"\def\b{\b\b}\edef\a{\b}\a",
        "edef of itself": r"\edef\a{\a\a}\a",
        "let of itself": r"\let\a\a\a",
        "let in a ring": r"\let\a\b\let\b\a\a",
        "gdef in a group": r"\gdef\a{x\a}{\a}\a",
        "many arguments of many tokens": r"\newcommand{\a}[1]{"
        + "#1" * 15_000
        + r"}\a{"
        + "x" * 30_000
        + "}",
        "delimiter of many tokens": r"\def\a#1" + "x" * 20_000 + r"y{}\a " + "x" * 40_000,
        "shadowed definitions": "{"
        + "".join(rf"\def\a{'abcdefghij'[i // 250]}{'x' * (i % 250)}{{}}" for i in range(0, 2_500, 10))
        + r"\gdef\a{}" * 3_000
        + "}",
        "hashes": r"\def\a{" + "#" * 60_000 + r"}\a",
        "wide rows, many rows": _environment("matrix", "&" * 499 + r"\\" * 29_000),
        "many such tables": _environment("matrix", "&" * 250 + r"\\" * 125) * 118,
        "wide rows in an alignment": _environment("aligned", "&" * 499 + r"\\" * 29_000),
        "wide rows in a diagram": _environment("CD", "@>>>" * 4_000 + r"\\" * 20_000),
        "long text between columns": _environment("array", r"\\" * 20_000, "{c@{" + "x" * 20_000 + "}c}"),
        "long start of cells": _environment("array", r"\\" * 20_000, "{>{" + "x" * 20_000 + "}c}"),
        "columns": _environment("array", "", "{" + "c" * 60_000 + "}"),
        "columns of columns": _environment("array", "", "{" + "*{9}{" * 5_000 + "c" + "}" * 5_000 + "}"),
        "rules": _environment("array", r"\hline" * 10_000, "{c}"),
        "partial rules": _environment("array", r"\cline{1-500}" * 4_800, "{c}"),
        "unclosed words, each by its own sign": "".join(f"\\verb{chr(0x4E00 + i)}" for i in range(10_000)),
        "text of dollars": r"\text{" + "$" * 60_000 + "}",
        "text of formulas": r"\text{" + "$x" * 30_000 + "}",
        "text of quotes": r"\text{" + "'" * 60_000 + "}",
        "text of switches": r"\text{" + r"\bf" * 20_000 + "}",
        "bars of a set": r"\Set{" + "|" * 60_000 + "}",
        "chemistry of brackets": r"\ce{" + "(" * 30_000 + "}",
        "chemistry of arrows": r"\ce{" + "->[" * 9_000 + "}",
        "units": r"\si{" + r"\per" * 9_000 + "}",
        "a number": r"\num{" + "1" * 60_000 + "}",
        "a number of exponents": r"\num{" + "1e" * 30_000 + "}",
        "an angle": r"\ang{" + "1;" * 30_000 + "}",
        "a count of columns": _environment("alignat", "a", "{" + "9" * 5_000 + "}"),
        "a column's number": _environment("array", r"\cline{1-" + "9" * 5_000 + "}a", "{c}"),
        "a column's number of another script": _environment("array", r"\cline{1-²}a", "{c}"),
        "a character's number": r"\char" + "9" * 5_000,
        "a count of arguments": r"\newcommand\a[²]{}",
        "a length": r"\kern" + "9" * 5_000 + "em",
        "signs of a length": r"\kern" + "-+" * 30_000 + "1em",
        "glue": r"\hspace{1em" + " plus 1em" * 5_000 + "x}",
        "a class": r"\class{" + "a " * 30_000 + "!}{x}",
        "an address": r"\href{https://" + "a" * 60_000 + "}{x}",
        "a colour": r"\color[rgb]{" + "1," * 30_000 + "}",
        "a name": "\\" + "a" * 60_000,
        "an environment's name": r"\begin{" + "a" * 60_000 + "}",
    }
)
"""Formulas that grow, repeat themselves or are read repeatedly."""

PAYLOADS: tuple[str, ...] = (
    "<script>alert(1)</script>",
    "</mtext></math><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onclick="alert(1)',
    "' onmouseover='alert(1)",
    "]]>",
    "<![CDATA[x]]>",
    "<!-- -->",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "//example.org",
    "red;background:url(x)",
    "expression(alert(1))",
    "x\u2028y\ufffe\ud800",
)
"""Strings that must stay text."""

PLACES: tuple[str, ...] = (
    r"\text{%}",
    r"\textbf{a $x$ %}",
    r"\mathrm{%}",
    r"\operatorname{%}",
    r"\href{%}{x}",
    r"\href{https://%}{x}",
    r"\href{#a}{%}",
    r"\url{%}",
    r"\class{%}{x}",
    r"\htmlId{%}{x}",
    r"\cssId{%}{x}",
    r"\htmlStyle{%}{x}",
    r"\htmlData{%}{x}",
    r"\style{%}{x}",
    r"\color{%}x",
    r"\color[%]{red}x",
    r"\textcolor{%}{x}",
    r"\colorbox{%}{x}",
    r"\fcolorbox{%}{red}{x}",
    r"\definecolor{%}{rgb}{0,0,0}\color{%}x",
    r"x\tag{%}",
    r"x\label{%}",
    r"\ref{%}",
    r"\eqref{%}",
    "\\verb\u00a6%\u00a6",
    r"\char`%",
    r"\unicode{%}",
    r"\kern%",
    r"\hspace{%}",
    r"\rule{%}{1em}",
    r"\raisebox{%}{x}",
    r"\genfrac{%}{%}{%}{}{a}{b}",
    r"\left% x \right%",
    r"\bigl%",
    r"\begin{array}{%}a\end{array}",
    r"\begin{%}a\end{%}",
    r"\begin{matrix}a\\[%]b\end{matrix}",
    r"\begin{align}a\intertext{%}\\b\end{align}",
    r"\begin{CD}A @>%>> B\end{CD}",
    r"\newcommand{\a}{\text{%}}\a",
    r"\DeclareMathOperator{\a}{%}\a",
    r"\ce{%}",
    r"\pu{%}",
    r"\SI{1}{%}",
    r"\num{%}",
    r"\qty(%)",
    r"\bra{%}",
    r"\not%",
    r"\hat%",
    r"\boldsymbol{%}",
    r"\mathbb{%}",
    r"\phantom{%}",
    r"\xrightarrow[%]{%}",
    "%",
)
"""Formulas that contain text; `%` is the placeholder of the text."""
