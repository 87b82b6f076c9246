"""A course of thirty lectures as one book by Typst and by pdflatex, and as papers: numbers of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blogsmith.api.books import BuildOptions, no_progress, open_pages
from blogsmith.paper.site_latex import make_latex
from blogsmith.paper.site_paper import Paper, compile_paper
from tests.course import SERIES, course, numbers, page_text
from tests.site_files import put
from tests.test_paper import NOW, read_pdf
from tests.test_paper_latex import compile_latex, needs_latex

LECTURES = 30
OPTIONS = BuildOptions(now=NOW, use_cache=True)
Numbers = dict[str, dict[str, set[str]]]
"""Path of a page → key → numbers."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("course"), course(LECTURES))


@pytest.fixture(scope="module")
def book(root: Path) -> tuple[Numbers, Paper]:
    """Return the numbers of each page, and the PDF of the series."""
    with open_pages(root, (), OPTIONS, series=SERIES, title="", progress=no_progress) as source:
        assert source.warnings == ()
        shown = {page.path: numbers(page_text(page.content)) for page in source.pages}
        data, warnings = compile_paper(source)
    return shown, Paper(data, source.name, len(shown), warnings)


@pytest.mark.long
def test_a_series_by_typst(root: Path, book: tuple[Numbers, Paper]) -> None:
    shown, paper = book
    assert paper.warnings == ()
    expected = {key: found for page in shown.values() for key, found in page.items()}
    written = "".join(file.read_text("utf-8") for file in root.glob("content/*/*/index.md"))
    assert set(re.findall(r"q\d+x\d+[ab]z", written)) == set(expected) and len(expected) > 2000
    assert all(len(found) == 1 for found in expected.values())
    assert numbers(read_pdf(paper)) == expected


@needs_latex
@pytest.mark.long
def test_a_series_by_pdflatex(root: Path, book: tuple[Numbers, Paper], tmp_path: Path) -> None:
    made = make_latex(root, (), OPTIONS, series=SERIES)
    assert (made.warnings, made.pages) == ((), LECTURES)
    expected = {key: found for page in book[0].values() for key, found in page.items()}
    assert numbers(compile_latex(made, tmp_path / "book")) == expected


@needs_latex
@pytest.mark.long
def test_every_lecture_by_pdflatex(root: Path, book: tuple[Numbers, Paper], tmp_path: Path) -> None:
    for number, (path, expected) in enumerate(book[0].items()):
        made = make_latex(root, (path,), OPTIONS)
        assert made.warnings == (), path
        text = compile_latex(made, tmp_path / str(number))
        assert numbers(text) == expected, path
