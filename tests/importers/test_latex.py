r"""Papers in LaTeX: files, macros, labels and prose, archives, and hostile sources."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path, PurePosixPath
from shutil import which

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.main import main
from blogsmith.importers.latex.paper import PaperImport, PaperReader
from blogsmith.importers.source_files import source_root
from blogsmith.importers.systems import find_system
from tests.importers.import_texts import PNG, outcome, read_import_text, run_import, text_files
from tests.rows import each_row
from tests.site_files import build, put

PREAMBLE = "\\documentclass{article}\n"


def read_paper(folder: Path, body: str, preamble: str = "") -> PaperImport:
    """Translate a paper with this preamble and text."""
    text = f"{PREAMBLE}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    put(folder, {"paper.tex": text})
    return PaperReader(source_root(folder), PurePosixPath("paper.tex")).read()


@pytest.mark.parametrize("path", text_files("latex"), ids=lambda path: path.stem)
def test_papers(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert done.site.system == "latex"
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts latex"
    assert not done.check.differences
    assert build(tmp_path / "new").ok


CASES = [
    # macros
    (r"\a{x} and \b", r"\newcommand{\a}[2][y]{\emph{#2} #1}\def\b{end}", "*x* y and end"),
    (r"\ifdraft no\else yes\fi", r"\newif\ifdraft \draftfalse", "yes"),
    (r"On \R{} and $\R$", r"\newcommand{\R}{\ensuremath{\mathbb{R}}}", "On $\\mathbb{R}$ and $\\R$"),
    (r"\begin{my} x \end{my}", r"\newenvironment{my}{\begin{quote}A:}{\end{quote}}", "> A: x"),
    (r"\own{\va}{a}$\va$", r"\newcommand{\own}[2]{\newcommand{#1}{\mathbf{#2}}}", r"$\va$"),
    # formulas
    (r"$ a $2 and \( b \) and $c$", "", r"\(a\)2 and $b$ and $c$"),
    ("A\n$$x$$ B", "", "A\n\\begin{equation*}\nx\n\\end{equation*}\n B"),
    # characters of Markdown, comments and layout
    ("# no *a* [b](c) ![d] <e> `f' | g_h", "", "\\# no \\*a\\* [b]&#40;c) ![d] &lt;e&gt; ‘f' &#124; g\\_h"),
    ("a%\n  b\n%c\n\nd \\% e", "", "ab\n\nd \\% e"),
    ("1. a\n- b\n: c", "", "1\\. a\n&#45; b\n&#58; c"),
    (r"\vspace{-1em}\textcolor{red}{a} \resizebox{1cm}{!}{b} {\large c}", "", "a b c"),
    ("\\iffalse x \\fi y \\begin{comment} z \\end{comment}", "", "y"),
    # labels
    (r"\section{A}\label{My Label} \cref{My Label}", "", "## A {#sec-My-Label}\n{@sec:My-Label}"),
    ("\\begin{equation}\\label{x} a \\end{equation} \\ref{x}", "",
     "\\begin{equation}\n\\label{eq:x} a\n\\end{equation}\n \\ref{eq:x}"),
    # tables
    ("\\begin{tabularx}{\\textwidth}{lX}\na & \\multirow{2}{*}{b}\\\\\n\\end{tabularx}", "",
     "| a | b |\n| --- | --- |"),
    (r"\begin{table}\begin{subtable}{2cm}\begin{tabular}{l}x\\\end{tabular}\caption{1}\end{subtable}\begin{subtable}{2cm}"
     r"\begin{tabular}{l}y\\\end{tabular}\caption{2}\end{subtable}\caption{C}\end{table}", "",
     "| x |\n| --- |\n\n: C {#tbl-1}\n\n(a) 1\n\n| y |\n| --- |\n\n(b) 2"),
    (r"\SI{3}{\metre\per\second}, \num[a=b]{1e5}, \ce{H2O <-> x^2}", r"\usepackage{siunitx}",
     r"$\SI{3}{\metre\per\second}$, $\num[a=b]{1e5}$, $\ce{H2O <-> x^2}$"),
    ("\\begin{tabular}{lS[table-format=2.1]}\n{a} & {b} \\\\\nc & 1.5 \\\\ d & -3(1) "
     "\\\\ e & 2 \\\\\n\\end{tabular}", "",
     "| a | b |\n| --- | --: |\n| c | 1.5 |\n| d | $\\num{-3(1)}$ |\n| e | 2 |"),
    # equations without a reference have no number
    ("\\begin{equation}\\label{x}a\\end{equation}\\begin{equation}\\label{y}b\\end{equation} \\eqref{x}",
     r"\mathtoolsset{showonlyrefs}",
     "\\begin{equation}\n\\label{eq:x}a\n\\end{equation}\n\n"
     "\\begin{equation}\nb\n\\end{equation}\n \\eqref{eq:x}"),
]  # fmt: skip


@each_row(("body", "preamble", "expected"), CASES)
def test_prose(body: str, preamble: str, expected: str, tmp_path: Path) -> None:
    assert read_paper(tmp_path, body, preamble).page.text.strip() == expected


@each_row(
    ("body", "message"),
    [
        (r"\input{/etc/passwd}", 'file not found: "/etc/passwd"'),
        (r"\input{../../other}", 'file not found: "../../other"'),
        (r"\input{paper}", 'file not found: "paper"'),
        (r"\includegraphics{/etc/passwd}", 'image not found: "/etc/passwd"'),
        (r"A \unknown{b}", 'unknown LaTeX command "\\unknown": its arguments are kept'),
        (r"\begin{odd}b\end{odd}", 'unknown environment "odd": its content is shown without it'),
        (r"\cite{none}", 'reference not found: "none"'),
    ],
)
def test_losses_are_named(body: str, message: str, tmp_path: Path) -> None:
    assert message in [notice.message for notice in read_paper(tmp_path, body).page.notices]


@each_row(
    ("body", "preamble", "message"),
    [
        (r"\a", r"\newcommand{\a}{\b\b}\newcommand{\b}{\a\a}", "invalid macros: they expand without end"),
        ("x" * 3_000_001, "", "too many files or characters"),
    ],
)
def test_endless_papers_end_with_a_message(body: str, preamble: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=message):
        read_paper(tmp_path, body, preamble)


def test_unclosed_constructs_end_quickly(tmp_path: Path) -> None:
    body = "\\begin{verbatim} $ { \\[ \\begin{align} \\verb| \\footnote{ \\begin{figure} " * 100
    assert read_paper(tmp_path, body).page.text


def test_archives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper = f"{PREAMBLE}\\title{{In an archive}}\\begin{{document}}\\input{{../../x}} Text.\\end{{document}}"
    with tarfile.open(tmp_path / "1234.tar.gz", "w:gz") as archive:
        for name, text in (("main.tex", paper), ("../x.tex", "outside"), ("/tmp/x.tex", "outside")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("link.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (tmp_path / "damaged.tar.gz").write_bytes(b"no archive")
    assert main(["import", str(tmp_path / "1234.tar.gz"), str(tmp_path / "new")]) == 1
    assert (tmp_path / "new/content/posts/in-an-archive/index.md").read_text().endswith("Text.\n")
    assert not list(tmp_path.glob("**/x.tex"))
    assert main(["import", str(tmp_path / "damaged.tar.gz"), str(tmp_path / "other")]) == 1
    assert "invalid archive" in capsys.readouterr().err


PARTS = r"""
\begin{figure}
\subfloat[First]{\includegraphics{a.png}\label{fig:p}}
\begin{subfigure}{2cm}\includegraphics{a.png}\caption{Second}\label{q}\end{subfigure}
\caption{Both}\label{both}
\end{figure}
See \cref{q}, \ref{fig:p}, \subref*{q} and \ref{both}.
"""


def test_references_to_parts_of_a_figure_name_their_letters(tmp_path: Path) -> None:
    put(tmp_path, {"a.png": PNG})
    text = read_paper(tmp_path, PARTS).page.text
    assert r"See {@fig:both}b, \ref{fig:both}a, (b) and \ref{fig:both}." in text
    assert 'cap="First, Second"' in text and 'caption="Both" id="fig-both"' in text


def test_generated_macros_that_the_text_uses_are_copied(tmp_path: Path) -> None:
    loop = r"\makeatletter\@for\x:=A,B\do{\expandafter\edef\csname c\x\endcsname{\noexpand\mathcal{\x}}}"
    through = (
        r"\newcommand{\own}[2]{\newcommand{#1}{\mathbf{#2}}}\own{\va}{a}\own{\vc}{c}\newcommand{\wa}{\va}"
    )
    (macros,) = read_paper(tmp_path, r"$\cA\wa$", loop + through).made
    made = [r"\newcommand{\cA}[0]{\mathcal{A}}", r"\newcommand{\va}[0]{\mathbf{a}}", r"\newcommand{\wa}{\va}"]
    assert sorted(macros.data.decode().splitlines()) == made


@pytest.mark.parametrize(("notes", "system"), [(0, "LaTeX"), (1, "LaTeX"), (2, "folder of Markdown")])
def test_a_paper_beside_notes_is_recognised(notes: int, system: str, tmp_path: Path) -> None:
    put(tmp_path, {"paper.tex": f"{PREAMBLE}\\begin{{document}}\\end{{document}}", "README.md": "# Paper"})
    put(tmp_path, {f"note-{number}.md": "A note." for number in range(notes)})
    assert find_system(tmp_path).title == system


@pytest.mark.skipif(not (which("gs") and which("pdftocairo")), reason="needs Ghostscript and Poppler")
def test_eps_becomes_svg(tmp_path: Path) -> None:
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nnewpath 1 1 moveto 8 8 lineto stroke\nshowpage\n"
    put(tmp_path, {"plot.eps": eps})
    done = read_paper(tmp_path, r"\includegraphics{plot}")
    assert [(one.path.name, b"<svg" in one.data) for one in done.made] == [("plot.svg", True)]


def test_pdf_without_pdftocairo_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    put(tmp_path, {"plot.pdf": b"%PDF-1.4", "other.png": PNG})
    done = read_paper(tmp_path, r"\includegraphics{plot} \includegraphics{other}")
    (notice,) = (one for one in done.page.notices if one.message == 'image not allowed on pages: "plot.pdf"')
    assert notice.kind == "held" and "pdftocairo" in notice.hint
    assert [file.path.name for file in done.files] == ["other.png"]
