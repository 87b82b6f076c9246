"""Scripts in posts that typeset formulas are removed; all others stay."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from blogsmith.importers.model import ImportedPage
from blogsmith.importers.page_rewrites import remove_formula_scripts

OTHER = '<script src="https://platform.example.org/widgets.js"></script>'


def imported(text: str, **front: object) -> ImportedPage:
    """Return the imported page of a site that has only this page."""
    page = ImportedPage(PurePosixPath("content/a.md"), front, text, "a.md")
    return remove_formula_scripts(page)


@pytest.mark.parametrize(
    "script",
    [
        '<script type="text/javascript" async\n  src="https://cdn.mathjax.org/mathjax/latest/MathJax.js?config=X">\n</script>',
        '<script src="https://polyfill.io/v3/polyfill.min.js?features=es6"></script>',
        '<link rel="stylesheet" href="https://cdn.example.org/npm/katex@0.16/dist/katex.min.css">',
        '<script defer src="/js/katex/auto-render.js" onload="renderMathInElement(document.body)"></script>',
        '<script type="text/x-mathjax-config">\nMathJax.Hub.Config({});\n</script>',
        "<script>\nwindow.MathJax = {tex: {inlineMath: [['$', '$']]}};\n</script>",
    ],
)
def test_what_sets_formulas(script: str) -> None:
    page = imported(f"Before.\n\n{script}\n\n{OTHER}\n\nAfter $x$.\n")
    assert page.text == f"Before.\n\n\n\n{OTHER}\n\nAfter $x$.\n"
    assert [(notice.kind, notice.removed.strip()) for notice in page.notices] == [("dropped", script)]


@pytest.mark.parametrize(
    "text",
    [
        f"{OTHER}\n\nMathJax and KaTeX are words.\n",
        '```html\n<script src="https://cdn.example.org/MathJax.js"></script>\n```\n',
        'Write `<script src="katex.js"></script>` into it.\n',
        '    <script src="https://cdn.example.org/MathJax.js"></script>\n',
        '<!-- <script src="https://cdn.example.org/MathJax.js"></script> -->\n',
        '<link rel="stylesheet" href="/css/math.css">\n\nOn KaTeX.\n',
        "<script>\nplot('katex');\n</script>\n",
    ],
)
def test_what_stays(text: str) -> None:
    assert imported(text) == ImportedPage(PurePosixPath("content/a.md"), {}, text, "a.md")


def test_its_macros_are_those_of_the_page() -> None:
    script = '<script>\nMathJax = {tex: {macros: {R: "\\\\mathbb{R}", E: "\\\\mathbb{E}"}}};\n</script>\n'
    page = imported(f"{script}$\\R$\n", title="A", math={"macros": {r"\E": "e"}})
    assert page.text == "\n$\\R$\n"
    assert page.front == {"title": "A", "math": {"macros": {r"\R": r"\mathbb{R}", r"\E": "e"}}}
