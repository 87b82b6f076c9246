"""LaTeX documents in posts: each command causes a warning, and those with a Markdown form are translated."""

from __future__ import annotations

import pytest

from blogsmith.base.diagnostics.edits import apply_fixes
from tests.parsed_posts import parse

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
        ("``Quoted'' text", '"Quoted" text'),
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
        ("\\begin{enumerate}\n\\item one\n\\end{enumerate}", "1. one"),
        ("\\begin{quote}\nText.\n\\end{quote}", "> Text."),
        ("\\begin{verbatim}\n\\item x\n\\end{verbatim}", "```\n\\item x\n```"),
        (
            "\\begin{figure}[t]\n\\centering\n\\includegraphics[width=.5\\textwidth]{a.png}\n"
            "\\caption{A curve}\n\\label{fig:a}\n\\end{figure}",
            "![A curve](a.png){#fig-a width=50%}",
        ),
        (r"A note\footnote{Here.}", "A note[^1]\n\n[^1]: Here.\n"),
        ("Old[^7], new\\footnote{Here.}\nline\n\nEnd\n\n[^7]: x", None),
    ],
)
def test_translation(written: str, expected: str | None) -> None:
    expected = expected or "Old[^7], new[^8]\nline\n\n[^8]: Here.\n\nEnd\n\n[^7]: x"
    assert translate(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "\\begin{itemize}\n\\item one\n\\begin{itemize}\n\\item two\n\\end{itemize}\n\\end{itemize}",
        "\\begin{tabular}{ll}\na & b\n\\end{tabular}",
        "\\begin{proof}\nnever closed",
        "\\begin{figure}\n\\includegraphics{a.png}\n\\includegraphics{b.png}\n\\end{figure}",
        r"\textbf{with {braces} in}",
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
