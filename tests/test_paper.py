"""PDF files: numbers of the page, hostile text, links, static forms, messages, reproducible output."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from blogsmith.api.books import BuildOptions, SiteError, no_progress, open_pages
from blogsmith.cli.clock import CommandClock
from blogsmith.paper import compiler, site_paper
from blogsmith.paper.command import pdf
from blogsmith.paper.compiler import compile_folder
from blogsmith.paper.document import PaperChapter
from blogsmith.paper.elements import HtmlElement, read_elements
from blogsmith.paper.formulas import quote, write_math
from blogsmith.paper.reader import PageReader
from blogsmith.paper.site_paper import Paper, make_paper
from blogsmith.paper.typst import PaperFacts, RejectedContent, write_document
from tests.cases_io import all_cases
from tests.docs_tex import groups, mathml
from tests.picture_files import file_of, scene
from tests.rows import each_row, examples
from tests.site_files import put

NOW = dt.datetime(2026, 7, 1, tzinfo=dt.UTC)
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><path d="M0 0h80v40z"/></svg>'
FIRST = r"""---
title: First & $x^2$
subtitle: A test
date: 2026-01-02
authors: [{name: Ada Lovelace, orcid: 0000-0002-1825-0097}]
doi: 10.59350/abcde
citable: true
description: Why it holds.
series: {name: Two parts, part: 1}
references:
  - {id: noether1918, author: Emmy Noether, title: Invariante Variationsprobleme, year: 1918}
---
## Sum

$$ \sum_i x_i = 1 \label{eq:sum} $$

\begin{align} a &= b + c \label{eq:a}\\ d &\le \frac{e}{f} \tag{*}\\ g &= h \label{eq:g} \end{align}

> [!THEOREM] Big {#thm-big}
> It holds.[^a] See @eq:g and [@noether1918].

> [!PROOF]-
> By \eqref{eq:a} and {@fig:line}.

![A line](line.svg "The line"){#fig-line}

Again,[^b] and once more.[^a]

[^a]: The first note, with $y$.

[^b]: The second note.

| name | value |
| :--- | ----: |
| one | 1 |

[there](second.md#end), [away](https://example.org/x%20y)

```python title="sum.py"
def total(values):
    return sum(values)
```
"""
SECOND = r"""---
title: Second
date: 2026-02-03
lang: de
series: {name: Two parts, part: 2}
---
> [!THEOREM] {#thm-two}
> Siehe [den ersten](first.md#eq-sum) und @thm-two.

## End

> [!SOLUTION]- Hidden answer
> Forty-two.

> [!NOTE]- Folded note
> Forty-three.

<div class="image-compare" data-before="line.svg" data-after="photo.png"></div>

<div class="video-embed" data-src="https://www.youtube.com/watch?v=abcdefghijk" data-caption="A film"></div>

Here <video src="line.svg">moving lines</video>, <audio src="line.svg"></audio>, <canvas>a drawing</canvas>.
"""
HOSTILE = r"""---
title: '#read("/etc/passwd") "quoted" \ $ * _ ` <x> @y'
date: 2026-03-04
---
Text #import "template.typ": * and #read("/etc/passwd") with "quotes", \\backslash, `#panic("code")`.

## Heading #panic("heading") ]

$$ \text{\#panic("math") "} \tag{\#panic(1)} $$

![#panic("alt") "](line.svg "Caption #panic()")

[#panic("link")](https://example.org/#panic%22x)

```python title='#panic("title")'
"#panic(\"code\")" + "\\" # ]]]
```

| #panic("cell") | "\ |
| --- | --- |
| ] | } |
"""
NUMBERED = (
    ".eq-number",
    ".figure-label",
    ".table-label",
    ".callout-label",
    ".footnote-ref",
    ".xref",
    ".citation",
)
"""Classes of elements with a number of the page."""
FILES = {
    "blogsmith.yaml": "title: Notes\nbase_url: https://example.org/blog\nauthor: Ada Lovelace\n",
    "content/posts/first.md": FIRST,
    "content/posts/second.md": SECOND,
    "content/posts/line.svg": DRAWING,
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with two posts of one series."""
    put(tmp_path, FILES)
    (tmp_path / "content/posts/photo.png").write_bytes(file_of(scene(8, 4)))
    return tmp_path


def make(root: Path, *posts: str, series: str = "", template: str = "") -> Paper:
    """Return the PDF of posts."""
    return make_paper(root, posts, BuildOptions(now=NOW), series=series, template=template)


def read_pdf(paper: Paper) -> str:
    """Return the text of a PDF, with single spaces."""
    reader = PdfReader(io.BytesIO(paper.data))
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in reader.pages))


def codes(paper: Paper) -> list[str]:
    """Return the codes of the warnings."""
    return [warning.code for warning in paper.warnings]


def test_numbers_are_those_of_the_page(site: Path) -> None:
    paper = make(site, "content/posts/first.md")
    assert codes(paper) == []
    text = read_pdf(paper)
    for part in (
        *("First & ", "A test", "Ada Lovelace", "2 January 2026 · doi:10.59350/abcde", "Why it holds."),
        *("Theorem 1 (Big)", "See (3) and [1].", "Proof", "By (2) and Figure 1."),
        *("Figure 1 The line", "Again,2 and once more.1", "1The first note", "2The second note."),
        *("[1] Emmy Noether", "sum.py", "def total(values):", "name value one 1"),
    ):
        assert part in text, (part, text)
    for number in ("(1)", "(2)", "(*)", "(3)"):
        assert number in text, number


def test_a_pdf_is_accessible_and_has_metadata(site: Path) -> None:
    paper = make(site, "content/posts/first.md")
    reader = PdfReader(io.BytesIO(paper.data))
    assert b"pdfuaid:part" in paper.data
    catalog = str(reader.root_object)
    assert "'/Lang': 'en'" in catalog and "/Marked" in catalog and "/StructTreeRoot" in catalog
    assert reader.metadata is not None
    assert reader.metadata.title == "First & x squared"
    assert reader.metadata.author == "Ada Lovelace"
    assert reader.metadata.creation_date == dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def test_fonts_are_those_of_the_theme(site: Path) -> None:
    def fonts(post: str) -> set[str]:
        pages = PdfReader(io.BytesIO(make(site, post).data)).pages
        resources: list[Any] = [page["/Resources"] for page in pages]
        names = [str(font["/BaseFont"]) for found in resources for font in found["/Font"].values()]
        return {name.partition("+")[2].partition("-")[0] for name in names}

    serif = {"PaperSerifRoman", "PaperSerifItalic"}
    assert {*serif, "PaperMonoRegular", "STIXTwoMath"} <= fonts("content/posts/first.md")
    assert fonts("content/posts/second.md") == serif


def test_a_series_has_contents_and_links_between_chapters(site: Path) -> None:
    paper = make(site, series="Two parts")
    reader = PdfReader(io.BytesIO(paper.data))
    text = read_pdf(paper)
    assert "Two parts" in text and "Contents" in text and "3. Februar 2026" in text
    links = [annotation.get_object() for page in reader.pages for annotation in page.get("/Annots", ())]
    outside = {str(link["/A"]["/URI"]) for link in links if "/A" in link and "/URI" in link["/A"]}
    assert {
        *("https://example.org/x%20y", "https://doi.org/10.59350/abcde"),
        "https://orcid.org/0000-0002-1825-0097",
    } <= outside
    inside = [link for link in links if "/Dest" in link or "/D" in link.get("/A", {})]
    assert len(inside) > 10
    # the other chapter is in the document, so no link goes to its page
    assert not any("posts/second/#end" in url for url in outside)


def test_parts_that_need_a_reader_have_a_static_form(site: Path) -> None:
    paper = make(site, "content/posts/second.md")
    text = read_pdf(paper)
    assert "Hidden answer" in text and "Forty-two" not in text
    assert "Folded note" in text and "Forty-three" in text
    assert "https://www.youtube.com/watch?v=abcdefghijk" in text and "A film" in text
    (found,) = [warning for warning in paper.warnings if warning.code == "pdf-static"]
    assert found.message.endswith("1 closed answer, 1 drawing of a script, 1 recording, 1 slider, 2 videos")
    assert re.search(r"Here moving lines, https://\S+/line\.svg, a drawing\.", text), text
    assert found.path == "content/posts/second.md"


def test_text_of_posts_is_never_evaluated(site: Path) -> None:
    put(site, {"content/posts/hostile.md": HOSTILE})
    text = read_pdf(make(site, "content/posts/hostile.md"))
    for part in (
        *('#read("/etc/passwd") "quoted" \\ $ * _ ` <x> @y', '#import "template.typ": *'),
        *('#panic("code")', 'Heading #panic("heading") ]', "#panic(1)", "Caption #panic()"),
        *('#panic("link")', '#panic("title")', '#panic("cell")'),
    ):
        assert part in text, (part, text)
    assert "root:" not in text


@given(st.text(st.characters(exclude_categories=()), max_size=40))
@examples(100)
def test_strings_are_read_as_they_are(text: str) -> None:
    literal = quote(text)
    assert "\n" not in literal
    source = f"#metadata({literal}) <x>".encode()
    (found,) = json.loads(typst.Compiler(source).query("<x>", field="value"))
    assert found == re.sub("[\ud800-\udfff]", "\ufffd", text)


def test_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        put(tmp_path / name, FILES)
        (tmp_path / name / "content/posts/photo.png").write_bytes(file_of(scene(8, 4)))
        made.append(make(tmp_path / name, series="Two parts").data)
    assert made[0] == made[1]


def test_a_rejected_formula_is_shown_as_tex(site: Path) -> None:
    deep = "\\sqrt{" * 160 + "x" + "}" * 160
    put(site, {"content/posts/deep.md": f"---\ntitle: Deep\n---\nBefore.\n\n$$ {deep} $$\n\nAfter.\n"})
    paper = make(site, "content/posts/deep.md")
    (found,) = [warning for warning in paper.warnings if warning.code == "pdf-rejected"]
    assert (found.path, found.place and found.place.line) == ("content/posts/deep.md", 6)
    text = read_pdf(paper)
    assert r"\sqrt{\sqrt{" in text.replace(" ", "") and "After." in text
    parts: list[tuple[float, float]] = []
    for page in PdfReader(io.BytesIO(paper.data)).pages:
        page.extract_text(visitor_text=lambda _, at, *__: parts.append((at[4], at[5])))
    assert len({y for _, y in parts}) > 10 and max(x for x, _ in parts) < 595 - 50, "lines break"


def test_a_rejected_image_is_shown_as_its_text(site: Path) -> None:
    (site / "content/posts/line.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8"/></svg'
    )
    post = "---\ntitle: Image\ndate: 2026-01-02\n---\n![A line](line.svg)\n"
    put(site, {"content/posts/image.md": post})
    paper = make(site, "content/posts/image.md")
    assert "pdf-rejected" in codes(paper)
    assert "A line" in read_pdf(paper)


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("citations: {style: author-year}", "References Ada, A. (1850). Sums."),
        ("csl: ieee", "References [1] A. Ada, “Sums.” 1850."),
        ("csl: apa", "References Ada, A. (1850). Sums"),
    ],
)
def test_works_have_the_labels_of_the_page(site: Path, style: str, expected: str) -> None:
    head = "---\ntitle: Works\nreferences: [{id: a, author: Alf Ada, title: Sums, year: 1850}]\n"
    put(site, {"content/posts/works.md": f"{head}{style}\n---\nSee [@a].\n"})
    assert expected in read_pdf(make(site, "content/posts/works.md"))


def test_own_template(site: Path) -> None:
    template = site / "mine.typ"
    template.write_text(
        '#import "functions.typ": *\n#let template(document) = { show: base.with(document)\n'
        "title()\nfor chapter in document.chapters { [Mine: ]; chapter.body } }\n"
    )
    paper = make(site, "content/posts/first.md", template=str(template))
    assert "Mine:" in read_pdf(paper)
    template.write_text('#let template(document) = read("/etc/passwd")\n')
    with pytest.raises(SiteError) as caught:
        make(site, "content/posts/first.md", template=str(template))
    assert caught.value.diagnostics[0].code == "pdf-compile"
    with pytest.raises(SiteError) as caught:
        make(site, "content/posts/first.md", template="thesis")
    assert caught.value.diagnostics[0].message == 'template "thesis" not found'


def test_without_the_compiler(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(SiteError) as caught:
        make(site, "content/posts/first.md")
    (found,) = caught.value.diagnostics
    assert found.message == 'missing package "typst"' and "typst>=" in found.hint


def test_the_command_writes_one_file(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = site / "out.pdf"
    assert run_command(site, target) == 0
    assert "1 post" in capsys.readouterr().out
    assert target.read_bytes()[:4] == b"%PDF"


def run_command(site: Path, target: Path) -> object:
    """Run `blogsmith pdf` for the first post."""
    arguments = ["--site", str(site), "-o", str(target), "content/posts/first.md"]
    return pdf.main(arguments, obj=CommandClock(now=lambda: NOW), standalone_mode=False)


def test_an_interrupted_compiler_leaves_no_file(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(site_paper, "compile_folder", interrupt)
    before = sorted(site.iterdir())
    with pytest.raises((KeyboardInterrupt, click.Abort)):
        run_command(site, site / "out.pdf")
    assert sorted(site.iterdir()) == before


def test_a_killed_compiler_leaves_no_file(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_PROGRAM", "import os; print('%PDF-'); os.kill(os.getpid(), 9)")
    with pytest.raises(SiteError) as caught:
        run_command(site, site / "out.pdf")
    (found,) = caught.value.diagnostics
    assert found.message.startswith("invalid exit code of Typst") and "memory" in found.hint
    assert not list(site.glob("*.pdf*"))


def formulas() -> dict[str, HtmlElement]:
    """Return the examples of the manual's list of TeX commands: TeX → `math` element."""
    found = {}
    for group in groups().values():
        for row in group.rows:
            if row.example and row.example != row.names[0]:
                html = mathml(row.example, group.packages, display=True)
                (found[row.example],) = read_elements(html).find("math")
    assert len(found) > 300
    return found


def compile_formulas(written: Iterable[str]) -> list[str]:
    """Return the text of each formula in a PDF."""
    lines = ['#import "functions.typ": *', '#set document(title: "Formulas")']
    lines += [f'#display("formula", {formula})\n#pagebreak()' for formula in written]
    templates = Path(site_paper.__file__).parent / "templates"
    compiler = typst.Compiler("\n".join(lines).encode(), root=str(templates))
    made = compiler.compile(format="pdf", pdf_standards=["ua-1"])
    assert isinstance(made, bytes)
    return [page.extract_text() for page in PdfReader(io.BytesIO(made)).pages][: len(lines) - 2]


def symbols(text: str) -> set[str]:
    """Return the characters of a formula, except for lines and accents, which a PDF may draw."""
    plain = unicodedata.normalize("NFKD", text)
    return {char for char in plain if unicodedata.category(char) not in ("Cf", "Cc", "Mn", "Zs")} - set(
        "ˆ_√→⇀"
    )


def shown(element: HtmlElement | str) -> str:
    """Return the text of a formula that a page shows."""
    if isinstance(element, str):
        return element
    return "" if element.name == "mphantom" else "".join(map(shown, element.children))


def test_every_construct_of_our_formulas_compiles() -> None:
    written = {tex: write_math(math) for tex, math in formulas().items()}
    assert compile_formulas(written.values())


@pytest.mark.long
def test_formulas_have_the_symbols_of_the_page() -> None:
    found = formulas()
    texts = compile_formulas(write_math(math) for math in found.values())
    pairs = zip(found.items(), texts, strict=True)
    differ = [tex for (tex, math), text in pairs if symbols(shown(math)) != symbols(text)]
    assert differ == []


@each_row(
    ("tex", "expected"),
    [
        (r"\begin{numcases}{x=} 1 & a \end{numcases}", '0.2em, {opening("{"); math.display(math.mat('),
        (r"\begin{array}{c} \multicolumn{2}{r}{a} \end{array}", "spread(right, math.inline("),
        (r"[\makebox[4em][r]{t}]", "lap(right, 4.0em, "),
        (r"a \vdotswithin{=} b", 'overlaid(hide(normal("=")))'),
        (r"\underrightarrow{xyz}", 'math.accent({italic("x"); italic("y"); italic("z")}, "\u20ef")'),
    ],
)
def test_formulas_in_typst(tex: str, expected: str) -> None:
    (math,) = read_elements(mathml(tex, display=True)).find("math")
    assert expected in write_math(math)


def shown_numbers(html: str) -> Counter[str]:
    """Return the numbers that a page shows, without spaces, and how often."""
    return Counter(
        re.sub(r"\s", "", element.text)
        for element in read_elements(html).find(*NUMBERED)
        if "math-error" not in element.classes and element.text.strip()
    )


@pytest.mark.long
def test_every_post_of_our_site_has_its_numbers() -> None:
    """Numbers of equations, figures, tables, theorems, footnotes and citations, and references to them."""
    root = Path(__file__).parent.parent
    options = BuildOptions(now=NOW.replace(year=2027))
    with open_pages(root, (), options, series="", title="", progress=no_progress) as book:
        pages = {page.path: page.content for page in book.pages}
    assert len(pages) > 10
    for path, html in pages.items():
        paper = make_paper(root, (path,), options)
        assert set(codes(paper)) <= {"pdf-static"}, path
        text = re.sub(r"\s", "", read_pdf(paper))
        numbers = shown_numbers(html)
        missing = {number: count for number, count in numbers.items() if text.count(number) < count}
        assert missing == {}, path


def test_every_case_of_the_syntax_compiles(tmp_path: Path) -> None:
    """All cases in one document, without their images."""
    chapters = []
    for number, case in enumerate(all_cases(), 1):
        reader = PageReader(lambda address: address, lambda address: "", lambda mathml: "formula", number)
        content = reader.read(read_elements(case.expected))
        chapters.append(PaperChapter((case.title,), case.title, content, f"{number}-", "en"))
    assert len(chapters) > 1000
    font = ("Libertinus Serif",)
    facts = PaperFacts("Cases", "Cases", "Contents", "en", (), "", (), None, font, font, font)
    written = write_document(facts, chapters, lambda image: "", RejectedContent())
    templates = Path(site_paper.__file__).parent / "templates"
    for name, data in (
        ("functions.typ", (templates / "functions.typ").read_bytes()),
        ("template.typ", (templates / "article.typ").read_bytes()),
        ("main.typ", written.text.encode()),
    ):
        (tmp_path / name).write_bytes(data)
    # the fonts of the compiler lack some letters, which PDF/UA does not allow
    made = compile_folder(tmp_path, 0, is_accessible=False, use_system_fonts=False)
    assert made.startswith(b"%PDF")
