"""LaTeX documents in posts: each command causes a warning, and those with a Markdown form are translated."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.edits import apply_fixes
from blogsmith.syntax.kinds import kind_table
from blogsmith.syntax.latex.writer import translate as translate_text
from tests.check import render
from tests.parsed_posts import parse
from tests.rows import examples

HEAD = "---\ntitle: A\ndate: 2026-03-01\n---\n"


def translate(text: str) -> str:
    """Return the text after applying every safe fix until none is left."""
    for _ in range(5):
        found = [
            one
            for one in parse(HEAD + text).diagnostics
            if one.code == "foreign-syntax" and one.fix and one.fix.is_safe
        ]
        if not found:
            return text
        text = apply_fixes(HEAD + text, found).text.removeprefix(HEAD)
    raise AssertionError("a fix leads to another one again and again")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"\textbf{bold} and \emph{so}, \texttt{x}", "**bold** and *so*, `x`"),
        (r"\section{Intro}", "## Intro"),
        (r"\subsection*{On $x$}", "### On $x$"),
        (r"see \url{https://a.example}", "see <https://a.example>"),
        (r"\href{https://a.example}{the paper}", "[the paper](https://a.example)"),
        (r"by \cref{eq:a} and \autoref{thm-b}", "by {@eq:a} and {@thm-b}"),
        ("``Quoted'' text", "“Quoted” text"),
        (r"\LaTeX{} and \TeX", "LaTeX and TeX"),
        (r"Erd\H{o}s and Ho\v{r}ava", "Erdős and Hořava"),
        ("Theorem~$x$", "Theorem&nbsp;$x$"),
        ("% not printed", "<!-- not printed -->"),
        ("\\begin{proof}\nBy $x$.\n\n$$y$$\n\\end{proof}", "> [!PROOF]\n> By $x$.\n>\n> $$y$$"),
        (
            "\\begin{thm}[Euler]\\label{thm:e}\n$e$\n\\end{thm}",
            "> [!THEOREM] Euler {#thm-e}\n> $e$",
        ),
        ("\\begin{lemma}\n\\label{lem:a}\nText.\n\\end{lemma}", "> [!LEMMA] {#lem-a}\n> Text."),
        ("\\begin{itemize}\n\\item one\n\\item two\n  more\n\\end{itemize}", "- one\n- two\n  more"),
        (r"\textbf{with {braces} in}", "**with braces in**"),
        (
            "\\begin{itemize}\n\\item one\n\\begin{enumerate}\n\\item two\n\\end{enumerate}\n\\end{itemize}",
            "- one\n  1. two",
        ),
        ("\\begin{tabular}{lr}\na & b\n\\end{tabular}", "| a | b |\n| --- | --: |"),
        ("\\begin{enumerate}\n\\item one\n\\end{enumerate}", "1. one"),
        (
            "\\begin{enumerate}\n\\item\\label{it:a} one, \\cref{it:c}\n\\begin{enumerate}\n\\item two\n"
            "\\item \\label{it:c} three\n\\end{enumerate}\n\\end{enumerate}\n\nSee \\ref{it:a}.",
            "1. []{#it-a}one, item [1b](#it-c)\n   - (a) two\n   - [(b)]{#it-c} three\n\nSee [1](#it-a).",
        ),
        (
            "\\begin{enumerate}[label=\\textbf{(\\roman*)}, start=3]\n\\item\\label{x} one\n"
            "\\end{enumerate}\n\n\\Cref{x}",
            "- [(iii)]{#x} one\n\nItem [(iii)](#x)",
        ),
        (
            "Text.\n\\begin{figure}\\includegraphics{a.png}\\caption{A}\\end{figure}",
            'Text.\n\n![A](a.png "A")',
        ),
        ("\\begin{quote}\nText.\n\\end{quote}", "> Text."),
        ("\\begin{verbatim}\n\\item x\n\\end{verbatim}", "```\n\\item x\n```"),
        (
            "\\begin{figure}[t]\n\\centering\n\\includegraphics[width=.5\\textwidth]{a.png}\n"
            "\\caption{A curve}\n\\label{fig:a}\n\\end{figure}",
            '![A curve](a.png "A curve"){#fig-a width=50%}',
        ),
        (r"A note\footnote{Here.}", "A note[^1]\n\n[^1]: Here."),
        ("Old[^7], new\\footnote{Here.}\nline\n\nEnd\n\n[^7]: x", None),
    ],
)
def test_translation(written: str, expected: str | None) -> None:
    expected = expected or "Old[^7], new[^8]\nline\n\n[^8]: Here.\n\nEnd\n\n[^7]: x"
    assert translate(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "\\begin{tabular}{ll}\n\\multicolumn{2}{c}{a}\n\\end{tabular}",
        "\\begin{proof}\nnever closed",
        "\\begin{figure}\n\\includegraphics{a.png}\n\\includegraphics{b.png}\n\\end{figure}",
        r"\section{never closed",
        r"text \section{inside} text",
        r"G\"odel",
        r"a formula that is never closed: a_1 \dots a_n",
    ],
)
def test_what_only_the_author_knows_stays(written: str) -> None:
    found = [one for one in parse(HEAD + written).diagnostics if one.code == "foreign-syntax"]
    assert found and translate(written) == written


@pytest.mark.parametrize(
    "written",
    [
        r"`\textbf{x}` and ``\section{x}``",
        r"$\textbf{x}$ and $\hat\dots$",
        r"\\textbf{x} and \\section{x}",
        r"it\'s and l\'un, \"Hello\" and a~b, ~~x~~, 5 % of it",
        r"C:\section\items and \sections{x}, \dotsb",
        "```\n\\begin{itemize}\n```",
        "| % of all | b |\n|---|---|\n| % of x | y |",
        "- % of all",
    ],
)
def test_what_means_itself_is_not_warned_of(written: str) -> None:
    assert not [one for one in parse(HEAD + written).diagnostics if one.code == "foreign-syntax"]


SETTING = "markup: {latex: true}\n"


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("A \\emph{b} and $\\x$", (1, 17)),
        ("\\emph{a\nb $\\x$}", (2, 4)),
        ("- one\n  \\begin{lemma}\n    \\textbf{a} $\\x$\n  \\end{lemma}", (3, 17)),
        ("\\begin{theorem}[On $\\x$]\\label{thm:a}\nA\n\\end{theorem}", (1, 21)),
        ("\\begin{itemize}\\item a \\item $\\x$\\end{itemize}", (1, 31)),
        ("A\\footnote{See\n``$\\x$''.}\n\nB", (2, 4)),
        ("% a\nB % c\n~$\\x$", (3, 3)),
        ("\\begin{figure}\n\\includegraphics{a.png}\n\\caption{On $\\x$}\n\\end{figure}", (3, 14)),
        ("\\begin{tabular}{ll}\na & b \\\\\n1 & $\\x$\n\\end{tabular}", (3, 6)),
        ("A \\cref{thm:none}", (1, 3)),
    ],
)
def test_messages_point_at_the_source(written: str, place: tuple[int, int]) -> None:
    found = [one.place for one in render(written, SETTING).diagnostics if one.severity == "error"]
    assert [(one.line, one.column) for one in found if one] == [place]


POST = r"""\section{On \emph{words}}\label{sec:a}

Let $x$ be ``quoted'' by \cref{thm:p,sec:a} and Theorem~\ref{thm:p}.\footnote{A note with $y$.
More.} \LaTeX{} and Erd\H{o}s.

\begin{theorem}[Pythagoras $a$]\label{thm:p}
  Let $a_b$ -- G\"odel.

  \begin{itemize}
    \item one \textbf{b}
    \item two
      \begin{enumerate}
      \item x
      \end{enumerate}
  \end{itemize}
\end{theorem}
\begin{proof}
By definition. \qedhere
\end{proof}
Text \begin{quote}Quoted.\end{quote} after.\footnote{Second.}

- item
  \begin{lemma}
  $z$
  \end{lemma}

\begin{figure}[h]
\centering
\includegraphics[width=.5\textwidth]{a.png}
\caption{A curve $x$}\label{fig:a}
\end{figure}

\begin{table}\caption{T}\label{tab:x}
\begin{tabular}{l|r}\toprule
a & b \\\midrule
1 & $x$ \\
\bottomrule
\end{tabular}
\end{table}

\begin{description}
\item[A] b
\item[C] d
\end{description}
\begin{lstlisting}[language=Python]
x = 1
\end{lstlisting}
"""


def test_fixed_page_equals_page_with_the_setting() -> None:
    assert render(translate(POST)).html == render(POST, SETTING).html
    assert not render(POST, SETTING).diagnostics


FRAGMENTS = (
    *("\\begin{theorem}", "\\end{theorem}", "\\begin{itemize}", "\\item", "\\end{itemize}", "[a]", "{", "}"),
    *(
        "\\emph{",
        "\\section{",
        "\\label{a}",
        "\\footnote{",
        "$",
        "$$",
        "`",
        "``",
        "''",
        "~",
        "--",
        "%",
        "\\\\",
    ),
    *(
        "\n",
        "\n\n",
        "  ",
        "    ",
        "> ",
        "- ",
        "word",
        "\\begin{tabular}{l}",
        "&",
        "\\end{tabular}",
        "```",
        "<b>",
    ),
    *("\\begin{verbatim}", "\\end{verbatim}", "\\begin{figure}", "\\caption{", "\\includegraphics{a.png}"),
    *(
        "\\end{figure}",
        '\\"o',
        "\\foo",
        "\\begin{align}",
        "\\end{align}",
        "\\verb|",
        "{\\bf ",
        "\\paragraph{",
    ),
)


@examples(1000)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join), st.booleans())
def test_no_word_is_lost(text: str, is_certain: bool) -> None:
    found = translate_text(text, kind_table(), is_certain=is_certain)
    assert found.text.count("word") >= re.sub("%.*", "", text).count("word") or "%" in text
    assert all(0 <= line.line <= text.count("\n") for line in found.lines)
