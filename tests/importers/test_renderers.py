"""Imports decide what is a formula as the old systems' renderers do."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from markdown_it.token import Token

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.importers.text.math import escape_underscores
from blogsmith.project.report import no_progress
from blogsmith.syntax.records import Math
from tests.parsed_posts import parse
from tests.renderers.cases import Formula, read_answers, read_cases
from tests.site_files import NOW, put

ARITHMATEX = "markdown_extensions:\n  - admonition\n  - footnotes\n  - tables\n  - pymdownx.superfences\n"
ARITHMATEX += "  - md_in_html\n  - attr_list\n  - def_list\n  - pymdownx.arithmatex: {generic: true}\n"
PASSTHROUGH = "[markup.goldmark.extensions.passthrough]\nenable = true\n"
PASSTHROUGH += "[markup.goldmark.extensions.passthrough.delimiters]\n"
PASSTHROUGH += "block = [['\\[', '\\]'], ['$$', '$$']]\ninline = [['\\(', '\\)']]\n"
UNSAFE = "[markup.goldmark.renderer]\nunsafe = true\n"
SITES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "jekyll": ({"_config.yml": "title: X\n"}, "{}.md"),
    "hugo": ({"hugo.toml": f"title = 'X'\n{UNSAFE}"}, "content/{}.md"),
    "hugo-passthrough": ({"hugo.toml": f"title = 'X'\n{UNSAFE}{PASSTHROUGH}"}, "content/{}.md"),
    "mkdocs": ({"mkdocs.yml": f"site_name: X\n{ARITHMATEX}"}, "docs/{}.md"),
    "quarto": ({"_quarto.yml": "project: {type: website}\n"}, "{}.qmd"),
    "sphinx": (
        {"conf.py": 'extensions = ["myst_parser"]\nmyst_enable_extensions = ["dollarmath", "amsmath"]\n'},
        "{}.md",
    ),
    "mystmd": ({"myst.yml": "version: 1\nproject: {title: X}\n"}, "{}.md"),
}
"""System → settings of its site, and path of a page."""
CASES = read_cases()
ANSWERS = read_answers()
SPACE = re.compile(r"\s+")
ADDED = re.compile(r"\\(?:begin|end)\{(?:split|aligned|align\*?)\}|\\(?:label|eqref)\{[^{}]*\}")


def _formulas(tokens: tuple[Token, ...]) -> Iterator[Formula]:
    for token in tokens:
        for each in (token, *(token.children or ())):
            if isinstance(math := (each.meta.get("math") if each.meta else None), Math):
                yield Formula("display" if math.display else "inline", math.tex)


def _same(formula: Formula) -> Formula:
    """Ignore layout, and escapes that MathJax does not need."""
    tex = escape_underscores(html.unescape(formula.tex))
    return Formula(formula.kind, SPACE.sub("", ADDED.sub("", tex)))


@pytest.fixture(scope="module", params=SITES)
def system(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, ImportResult]:
    """Return the name of a system, and the import of a site with a page for each case."""
    name = str(request.param)
    files, path = SITES[name]
    root: Path = tmp_path_factory.mktemp(name)
    pages = {
        path.format(f"c{n}"): f"---\ntitle: {case.name}\n---\n{case.text}" for n, case in enumerate(CASES)
    }
    put(root / "old", {**files, **pages})
    return name, import_site(root / "old", root / "new", ImportOptions(now=NOW), no_progress)


def test_formulas(system: tuple[str, ImportResult]) -> None:
    """A case differs only if the file of cases gives a reason."""
    name, done = system
    pages = {str(page.front["title"]): page for page in done.site.pages}
    wrong = {}
    for case in CASES:
        shown = [_same(each) for each in _formulas(parse(pages[case.name].text).tokens)]
        wanted = [_same(each) for each in ANSWERS[case.name][name]]
        if (shown == wanted) == (name in case.accepted):
            wrong[case.name] = (shown, wanted)
    assert wrong == {}


def test_verification(system: tuple[str, ImportResult]) -> None:
    """The comparison with the source names no formula that the new page has."""
    assert [(each.source, each.text) for each in system[1].check.differences] == []
