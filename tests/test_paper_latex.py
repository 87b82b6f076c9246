"""LaTeX folders: numbers of the page, hostile text, names that LaTeX lacks, templates, and pdflatex."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from blogsmith.api.books import (
    BuildOptions,
    SiteError,
    latex_definitions,
    latex_display,
    no_progress,
    open_pages,
)
from blogsmith.cli.clock import CommandClock
from blogsmith.paper.latex_text import declare_characters, escape
from blogsmith.paper.site_latex import LatexFolder, make_latex
from blogsmith.paper.tex_command import tex
from tests.picture_files import file_of, scene
from tests.rows import examples
from tests.site_files import put
from tests.test_paper import FILES, HOSTILE, NOW, shown_numbers

needs_latex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
MACROS = r"""---
title: Names & more
date: 2026-03-05
math:
  macros: {\Mean: '\mathbb{E}[#1]', \d: '\mathrm{d}', \leq: '\le'}
---
$\Mean{x} \in \R$, $\int x \d x$, $a \leq \infin$ and $\newcommand{\mine}{q}\mine$.

$$ a \\ b \tag{*} $$

\begin{eqnarray} a &=& b \label{eq:one} \\ &=& c \nonumber \end{eqnarray}

\begin{multline} a + b \\ + c \end{multline}

1. one
   - two
     1. three
        - four
          1. five
             - six

> [!EXAMPLE]
> A *list* with “quotes”[^n] — and `code  with %`.

[^n]: With code:

        a = {1: '2'}  # %

<table><tr><th rowspan="2">R</th><td colspan="2">wide[^n2]</td></tr><tr><td>* a</td><td>[b]</td></tr></table>

[^n2]: In a cell.
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with four posts."""
    put(tmp_path, FILES)
    (tmp_path / "content/posts/photo.png").write_bytes(file_of(scene(8, 4)))
    put(tmp_path, {"content/posts/hostile.md": HOSTILE, "content/posts/macros.md": MACROS})
    return tmp_path


def make(root: Path, post: str, template: str = "") -> LatexFolder:
    """Return the LaTeX of a post."""
    return make_latex(root, (f"content/posts/{post}.md",), BuildOptions(now=NOW), template=template)


ONE = r"""---
title: One with $\Fam{x}$
subtitle: A start
date: 2026-03-06
description: Of $\R^n$.
series: {name: Book, part: 1}
math: {macros: {\Fam: '\mathcal{#1}', \one: '\Fam{1}'}}
STYLE
references:
  - {id: zorn, author: Max Zorn, title: A remark on $p$, year: 1935}
  - {id: abel, author: Niels Abel, title: Integrals, year: 1826}
---
## A [linked](two.md) heading with $\Fam{h}$[^n]

$$ \one = \Fam{y} \label{eq:one} $$

See [@zorn; @abel].[^n]

[^n]: A note.
"""
TWO = r"""---
title: Two
date: 2026-03-07
series: {name: Book, part: 2}
math: {macros: {\Fam: '\mathbf{#1}', \one: '\Fam{1}'}}
STYLE
references:
  - {id: abel, author: Niels Abel, title: Integrals, year: 1826}
---
$$ \one + \Fam{z} \label{eq:two} $$

By [this](one.md#eq-one), \eqref{eq:two}, [the start](one.md) and [@abel].[^m]

[^m]: Another note.
"""


def make_book(root: Path, style: str, template: str = "") -> LatexFolder:
    """Return the LaTeX of a series with two posts."""
    for name, text in (("one", ONE), ("two", TWO)):
        put(root, {f"content/posts/{name}.md": text.replace("STYLE", style)})
    return make_latex(root, (), BuildOptions(now=NOW), series="Book", template=template)


def compile_latex(made: LatexFolder, folder: Path) -> str:
    """Return the text of the PDF, with single spaces. Assert that there is no error and no open reference."""
    folder.mkdir()
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    for _ in range(2):
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "main.tex"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
    log = (folder / "main.log").read_text(encoding="utf-8", errors="replace")
    assert re.findall(r"^!.*", log, re.MULTILINE) == []
    assert "undefined" not in log
    text = " ".join(page.extract_text() for page in PdfReader(folder / "main.pdf").pages)
    return re.sub(r"\s+", " ", text)


def test_the_text_of_a_document(site: Path) -> None:
    made = make(site, "first")
    assert sorted(made.files) == ["00README.json", "image-1.pdf", "main.bbl", "main.tex", "paper.sty"]
    main = made.files["main.tex"].decode()
    for part in (
        *("\\title{First \\& $x^2$: A test}", "\\author{Ada Lovelace}", "\\begin{abstract}\nWhy it holds."),
        *("\\sum_i x_i = 1 \\tag*{(1)}\\label{1-eq-sum}", "\\tag*{(*)}", "\\begin{align*}"),
        *("\\begin{statement}{Theorem 1 (Big)}", "\\pagelink{1-eq-a}{(2)}", "\\footnote[1]{The first note"),
        *("\\pageimage[width=60bp]{image-1.pdf}", "\\bibliography{main}", "https://example.org/x\\%20y"),
    ):
        assert part in main, (part, main)
    works = "\\pageworksname{References}\n\\begin{thebibliography}{1}\n\\bibitem[{1}]{page-1}"
    assert made.files["main.bbl"].decode().startswith(works)
    assert made.files["image-1.pdf"][:4] == b"%PDF"
    assert json.loads(made.files["00README.json"])["process"] == {"compiler": "pdflatex"}
    labels = set(re.findall(r"\\(?:label|pageanchor)\{(.*?)\}", main + made.files["main.bbl"].decode()))
    assert set(re.findall(r"\\pagelink\{(.*?)\}", main)) <= labels


def test_the_same_bytes(site: Path) -> None:
    assert make(site, "first").files == make(site, "first").files


def test_macros_of_the_author_stay(site: Path) -> None:
    main = make(site, "macros").files["main.tex"].decode()
    assert "\\renewcommand{\\Mean}[1]{\\mathbb{E}[#1]}" in main and "$\\Mean{x} \\in \\R$" in main
    assert "\\providecommand{\\R}{\\mathbb{R}}" in main and "\\pagename{infin}{infty}" in main
    # names of LaTeX itself keep their meaning outside formulas
    assert "{\\d}" not in main and "$\\int x \\mathrm{d} x$" in main
    assert "$q$" in main


def test_a_series_is_one_book(site: Path) -> None:
    made = make_book(site, "citations: {style: numeric}")
    main, works = made.files["main.tex"].decode(), made.files["main.bbl"].decode()
    assert (made.pages, made.name, made.warnings) == (2, "book-tex", ())
    for part in (
        *("{report}", "\\title{Book}", "\\author{Ada Lovelace}", "\\date{7 March 2026}", "\\tableofcontents"),
        "\\pagechapter{One with $\\Fam{x}$}{One with script x}{One with $\\Fam{x}$}\\pageanchor{1-}",
        "\\pagechapter{Two}{Two}{Two}\\pageanchor{2-}\n\\pagenote{Ada Lovelace; 7 March 2026; url: ",
        "\\pageclaim{A start}\n",
        "\\section*{A \\pagelink{2-}{linked} heading with $\\Fam{h}$\\pagenotemark{1}}",
        "\\pagecontents{section}{A linked heading with $\\Fam{h}$}{A linked heading with script h}",
        # the first page defines a name; others with the name have their macros expanded
        "\\renewcommand{\\Fam}[1]{\\mathcal{#1}}",
        "\\one = \\Fam{y}",
        "\\mathbf{1} + \\mathbf{z}",
        "\\pagelink{1-eq-one}{this}, \\pagelink{2-eq-two}{(1)}, \\pagelink{1-}{the start}",
    ):
        assert part in main, (part, main)
    assert re.findall(r"\\bibitem\[\{(.)\}\]\{(.*?)\}\n\\pageanchor\{(.*?)\}", works) == [
        *(("1", "page-1", "1-ref-zorn"), ("2", "page-2", "1-ref-abel"), ("1", "page-3", "2-ref-abel")),
    ]
    assert works.index("\\pageworks{Two}") > works.index("\\pageworks{One with") > 0
    works = make_book(site, "citations: {style: author-year}").files["main.bbl"].decode()
    assert "\\pageworks{" not in works
    assert re.findall(r"\\bibitem\[\{\}\].*\n(.*?)(Abel|Zorn)", works) == [
        *(("\\pageanchor{1-ref-abel}\\pageanchor{2-ref-abel}", "Abel"), ("\\pageanchor{1-ref-zorn}", "Zorn")),
    ]


@needs_latex
@pytest.mark.parametrize(
    ("template", "style"),
    [
        ("lecture-notes", "citations: {style: numeric}"),
        ("article", "citations: {style: author-year}"),
        ("amsart", "csl: ieee"),
    ],
)
def test_a_book_compiles(site: Path, tmp_path: Path, template: str, style: str) -> None:
    text = compile_latex(make_book(site, style, template), tmp_path / "out")
    cited = "Zorn, 1935; Abel, 1826" if "year" in style else "[1, 2]" if "numeric" in style else "[1], [2]"
    parts = ["One with", "Two", "A start", "(1)", "the start", "1A note.", "1Another note.", cited]
    parts += ["[1] Max Zorn", "[2] Niels Abel", "[1] Niels Abel"] * ("numeric" in style)
    for part in parts:
        assert part in text, (part, text)


@needs_latex
@pytest.mark.long
def test_our_posts_are_one_book_with_their_numbers(tmp_path: Path) -> None:
    root, options = Path(__file__).parent.parent, BuildOptions(now=NOW.replace(year=2027))
    made = make_latex(root, (), options)
    assert {warning.code for warning in made.warnings} <= {"pdf-static"}
    with open_pages(root, (), options, series="", title="", progress=no_progress) as book:
        numbers = sum((shown_numbers(page.content) for page in book.pages), Counter[str]())
    assert made.pages > 10 and numbers.total() > 100
    text = re.sub(r"(?<=[a-z])- (?=[a-z])|\s", "", compile_latex(made, tmp_path / "book"))
    assert {number: count for number, count in numbers.items() if text.count(number) < count} == {}


@needs_latex
@pytest.mark.parametrize("template", ["article", "amsart"])
@pytest.mark.parametrize("post", ["first", "second", "macros"])
def test_latex_compiles_with_the_numbers_of_the_page(
    site: Path, tmp_path: Path, post: str, template: str
) -> None:

    text = compile_latex(make(site, post, template), tmp_path / "out")
    expected = {
        "first": (
            "(1)",
            "(2)",
            "(*)",
            "(3)",
            "Theorem 1 (Big)",
            "See (3) and [1]",
            "Figure 1",
            "[1] Emmy Noether",
        ),
        "second": ("Folded note", "https://www.youtube.com/watch?v=abcdefghijk"),
        "macros": ("(1)", "(*)", "six", "code with %", "wide", "* a", "[b]"),
    }
    for part in expected[post]:
        assert part in text, (part, text)
    assert "Forty-two" not in text


@needs_latex
def test_text_of_posts_is_never_a_command(site: Path, tmp_path: Path) -> None:
    hostile = "\\input{/etc/passwd} \\end{document} %x $y$ #1 ~^_ {a} `` '' -- --- << ,, ?` & \\\\"
    for sign in "\\`*_{}[]#$<&":
        hostile = hostile.replace(sign, f"\0{sign}")
    written = hostile.replace("\0", "\\")
    source = f"---\ntitle: '\\\\input{{/etc/passwd}} 100% & #1 _'\n---\n{written}\n\n"
    code = "\\end{alltt}\\end{document}\n\\input{/etc/passwd} %$#&_^~ '' `` -- [x]\n"
    put(site, {"content/posts/bad.md": f"{source}```text\n{code}```\n\n`\\end{{document}} {{`\n"})
    text = compile_latex(make(site, "bad"), tmp_path / "out")
    for part in (
        *("\\input{/etc/passwd} \\end{document} %x", "#1", "{a}", "---", "<<", ",,"),
        *("\\end{alltt}\\end{document}", "%$#&_^~ '' `` -- [x]", "\\end{document} {"),
    ):
        assert part in text, (part, text)
    assert "root:" not in text
    compile_latex(make(site, "hostile"), tmp_path / "hostile")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@examples(200)
def test_escaped_text_has_no_syntax(text: str) -> None:
    rest = re.sub(r"\\(?:text[a-z]+\{\}|[#$%&_{}])|\{[\[\]]\}|\{\}", "", escape(text))
    assert not re.search(r"[\\#$%&_^{}\"`\[\]]|--|<<|,,|''", rest)
    lines, _ = declare_characters(escape(text))
    assert all(line.isascii() for line in lines)


@pytest.mark.parametrize(
    ("source", "numbers", "expected"),
    [
        ("a = b", ["T1"], "\\begin{equation*}\na = bT1\n\\end{equation*}"),
        ("a\n\n= b", [""], "\\begin{equation*}\na\n= b\n\\end{equation*}"),
        ("a \\\\ b", [""], "\\begin{equation*}\n\\begin{gathered}a \\\\ b\\end{gathered}\n\\end{equation*}"),
        (
            "\\begin{align}a&=b\\label{x}\\\\[1em]c&=d\\tag{y}\\end{align}",
            ["T1", "T2"],
            "\\begin{align*}a&=bT1 \\\\[1em]c&=dT2\n\\end{align*}",
        ),
        (
            "\\begin{gather} \\begin{cases}a\\\\b\\end{cases} \\\\ c \\end{gather}",
            ["", "T"],
            "\\begin{gather*} \\begin{cases}a\\\\b\\end{cases} \\\\\nc\nT\n\\end{gather*}".replace(
                "\nT", "T"
            ),
        ),
        ("\\begin{eqnarray}a&=&b\\end{eqnarray}", ["T"], "\\begin{align*}a&={}bT\n\\end{align*}"),
        ("\\begin{multline}a\\\\b\\end{multline}", ["T"], "\\begin{multline*}\na\\\\bT\n\\end{multline*}"),
        (
            "\\begin{alignat}{2}a&=b\\\\c&=d\\end{alignat}",
            ["T1", ""],
            "\\begin{alignat*}{2}a&=bT1 \\\\c&=d\n\\end{alignat*}",
        ),
    ],
)
def test_a_display_gets_the_numbers_of_its_rows(source: str, numbers: list[str], expected: str) -> None:
    assert latex_display(source, numbers) == expected


def test_names_without_latex_are_reported() -> None:
    lines, missing = latex_definitions([r"\infin + \llangle \lt \alpha \Reals"])
    assert missing == ["llangle"]
    assert [line.partition("}")[0] for line in lines] == [
        *("\\providecommand{\\Reals", "\\pagename{infin", "\\pagename{llangle", "\\providecommand{\\lt"),
    ]


@needs_latex
def test_commands_that_latex_lacks_are_defined(site: Path, tmp_path: Path) -> None:
    text = r"""---
title: Commands
---
$\phase{30^\circ} \longdiv{21} \angl{x} \angln \mathbfit{A} \symbfup{B} {\scr C} \left\lVvert x \right\rVvert$

$\argmax_x \sech x \overrightharpoon{xyz} \utilde{y} \class{c}{z} \xtofrom{a} \enclose{circle}{w} \red{r}$

$$ \stackbin{a}{+} \underoverset{a}{b}{c} \SMALL d \textrlap{e} $$

$\begin{NiceMatrix} 1 \end{NiceMatrix}$
"""
    put(site, {"content/posts/commands.md": text})
    made = make(site, "commands")
    assert [(found.code, found.place and found.place.line) for found in made.warnings] == [
        ("tex-rejected", 10)
    ]
    shown = compile_latex(made, tmp_path / "out")
    assert "arg max" in shown and "sech" in shown and "\\begin{NiceMatrix}" in shown
    put(site, {"content/posts/bracket.md": "---\ntitle: B\nmath: {packages: [physics]}\n---\n$\\dv{f}{x}$\n"})
    assert "\\usepackage{physics}" in make(site, "bracket").files["main.tex"].decode()


def test_missing_symbols_are_reported_once_for_each_line(site: Path) -> None:
    text = "日本語 文字 and 猫, 犬, 馬 or 羊.\n\n$\\llangle x \\rrangle$ and 日本.\n\n山 with\n川.\n"
    put(site, {"content/posts/symbols.md": f"---\ntitle: Symbols\n---\n{text}"})
    made = make(site, "symbols")
    assert [(found.place and found.place.line, found.message) for found in made.warnings] == [
        (6, 'missing LaTeX for "\\llangle", "\\rrangle"'),
        (4, 'missing LaTeX for "日本語 文字", "猫", "犬" and 2 others'),
        (8, 'missing LaTeX for "山"'),
        (9, 'missing LaTeX for "川"'),
    ]


def test_a_rejected_formula_is_text_that_breaks(site: Path) -> None:
    put(site, {"content/posts/unsafe.md": "---\ntitle: Unsafe\n---\n$x$ and $\\text{\\^^M}+y_1$.\n"})
    made = make(site, "unsafe")
    (found,) = made.warnings
    assert (found.place and found.place.line, found.code, found.hint != "") == (4, "tex-rejected", True)
    assert "+\\allowbreak{}y\\allowbreak{}\\_\\allowbreak{}1}" in made.files["main.tex"].decode()


def test_own_template(site: Path) -> None:
    own = site / "mine.tex"
    own.write_text(
        "\\documentclass{article}\n% blogsmith: preamble\n\\begin{document}Mine:\n% blogsmith: body\n"
    )
    main = make(site, "first", str(own)).files["main.tex"].decode()
    assert "Mine:\n\\pagenote" in main and main.rstrip().endswith("\\bibliography{main}")
    for text, message in (
        ("% blogsmith: body\n", f'missing line "% blogsmith: preamble" in template "{own}"'),
        (
            "% blogsmith: preamble\n% blogsmith: body\n% blogsmith: foot\n",
            f'unknown place "foot" in template "{own}"',
        ),
    ):
        own.write_text(text)
        with pytest.raises(SiteError) as caught:
            make(site, "first", str(own))
        assert caught.value.diagnostics[0].message == message
    with pytest.raises(SiteError, match='template "thesis" not found'):
        make(site, "first", "thesis")


def test_the_command_writes_a_new_folder(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*options: str) -> object:
        arguments = ["--site", str(site), "-o", str(site / "out"), *options, "content/posts/first.md"]
        return tex.main(arguments, obj=CommandClock(now=lambda: NOW), standalone_mode=False)

    assert run() == 0
    assert "1 post, 5 files" in capsys.readouterr().out
    assert (site / "out/main.tex").is_file()
    with pytest.raises(click.UsageError, match="is not empty"):
        run()
    assert run("--force") == 0
