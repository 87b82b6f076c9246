"""Quarto: what each construct becomes, and that a whole project loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blogsmith.diagnostics.model import SiteError
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import ImportedPage
from blogsmith.importers.quarto.system import SYSTEM
from blogsmith.importers.systems import find_system
from blogsmith.importers.yaml_text import yaml_text
from blogsmith.project.report import no_progress
from tests.cases_io import Case, read_cases
from tests.importers.quarto.project import write_project
from tests.site_files import NOW

CASES = read_cases(Path(__file__).parent / "cases.md")
OWN_MISTAKES = {"image-missing", "citation-key", "link-missing"}
"""Errors of a build that are the author's in the cases."""


def page_of(source: str, root: Path) -> ImportedPage:
    """The page of a text in the project."""
    write_project(root, {"posts/a.qmd": source})
    pages = SYSTEM.read(root, no_progress).pages
    return next(page for page in pages if page.source == "posts/a.qmd")


def shown_page(page: ImportedPage) -> str:
    """A page as the cases have it: front matter, text, notices."""
    front = {
        key: value for key, value in page.front.items() if (key, value) not in (("authors", ["The editors"]),)
    }
    assert front.pop("permalink") == "/posts/a.html"
    head = [f"---\n{yaml_text(front)}---"] if front else []
    notices = [f"! {notice.kind}, line {notice.line}: {notice.message}" for notice in page.notices]
    return "\n".join([*head, page.text, *notices])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case, tmp_path: Path) -> None:
    assert shown_page(page_of(case.source, tmp_path)) == case.expected


def test_a_project_loses_nothing_and_builds(tmp_path: Path) -> None:
    cases = {f"posts/case-{number}.qmd": case.source for number, case in enumerate(CASES)}
    write_project(tmp_path / "old", cases)
    done = import_site(tmp_path / "old", tmp_path / "new", ImportOptions(now=NOW), no_progress)
    assert done.check.differences == ()
    errors = {(found.code, found.message) for found in done.check.diagnostics if found.severity == "error"}
    assert {code for code, _ in errors} <= OWN_MISTAKES, errors
    first = contents(tmp_path / "new")
    import_site(tmp_path / "old", tmp_path / "new", ImportOptions(now=NOW), no_progress)
    assert contents(tmp_path / "new") == first


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_settings_pages_and_files(tmp_path: Path) -> None:
    write_project(tmp_path, {"posts/bundle/index.qmd": "---\ntitle: B\n---\n\n[d](../data.csv)\n"})
    site = SYSTEM.read(tmp_path, no_progress)
    assert site.settings == {
        "title": "Notes on kernels",
        "description": "What rows sum to",
        "base_url": "https://example.org/notes",
        "menu": [
            {"title": "Other", "url": "/posts/other.html"},
            {"title": "Elsewhere", "url": "https://example.com"},
        ],
        "markup": {"smart_quotes": True},
        "images": {"remote": "warn"},
        "embeds": {"remote": "warn"},
    }
    assert [page.path.as_posix() for page in site.pages] == [
        "content/_index.md",
        "content/about.md",
        "content/posts/bundle/index.md",
        "content/posts/other.md",
    ]
    assert [file.path.as_posix() for file in site.files] == ["content/posts/data.csv"]
    about = next(page for page in site.pages if page.path.name == "about.md")
    assert "- [Code](https://example.com/code)" in about.text
    assert about.front["permalink"] == "/about.html"
    messages = {notice.message for notice in site.notices}
    assert "files that no page names are not copied: posts/plot.png, posts/unused.csv" in messages
    assert "page-footer: of the site" in messages


def test_a_book_is_a_series(tmp_path: Path) -> None:
    chapters = "[index.qmd, one.qmd, {part: P, chapters: [two.qmd]}]"
    settings = f"project: {{type: book}}\nbook:\n  title: Rows\n  chapters: {chapters}\n"
    pages = {
        "_quarto.yml": settings,
        "one.qmd": "# One {#sec-one}\n\nSee @sec-two.\n",
        "two.qmd": "# Two {#sec-two}\n\nText.\n",
    }
    write_project(tmp_path, pages)
    site = SYSTEM.read(tmp_path, no_progress)
    found = {page.path.name: page for page in site.pages}
    assert found.keys() == {"_index.md", "one.md", "two.md"}
    assert found["two.md"].front["series"] == {"name": "Rows", "part": 3}
    assert "See {@two#sec-two}." in found["one.md"].text


def test_macros_that_two_files_define_otherwise_stay_with_their_pages(tmp_path: Path) -> None:
    pages = {
        "posts/_b.tex": "\\def\\N{N}\n\\def\\M{M}\n",
        "posts/a.qmd": "{{< include _macros.tex >}}\n\n$\\N$\n",
        "posts/b.qmd": "{{< include _b.tex >}}\n\n$\\N\\M$\n",
    }
    write_project(tmp_path, pages)
    site = SYSTEM.read(tmp_path, no_progress)
    fronts = {page.path.name: page.front.get("math") for page in site.pages}
    assert site.settings["math"] == {"macros": {"\\M": "M"}}
    assert fronts["a.md"] == {"macros": {"\\N": "\\mathbb{N}"}}
    assert fronts["b.md"] == {"macros": {"\\N": "N"}}


def test_settings_that_are_no_yaml(tmp_path: Path) -> None:
    write_project(tmp_path, {"_quarto.yml": "website: {title: [}\n"})
    with pytest.raises(SiteError) as caught:
        SYSTEM.read(tmp_path, no_progress)
    assert caught.value.diagnostics[0].message.startswith("_quarto.yml:1 is not YAML")


def test_front_matter_that_is_no_yaml_is_told_and_read_line_by_line(tmp_path: Path) -> None:
    page = page_of("---\ntitle: A\nauthor: [\n---\n\nText.\n", tmp_path)
    assert page.front["title"] == "A"
    assert page.notices[0].kind == "mistake"


def test_it_is_recognised(tmp_path: Path) -> None:
    write_project(tmp_path, {})
    assert find_system(tmp_path) is SYSTEM
    (tmp_path / "_quarto.yml").unlink()
    assert find_system(tmp_path) is SYSTEM


def test_a_notebook_is_a_post(tmp_path: Path) -> None:
    text = "# Rows\n\n::: {.callout-note}\nSee @fig-a, by @keller2020.\n:::"
    output = {"output_type": "stream", "name": "stdout", "text": "2\n"}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": text},
        {
            **{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [output]},
            "source": "#| label: fig-a\n#| fig-width: 3\nprint(1 + 1)",
        },
    ]
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    write_project(tmp_path / "old", {"posts/b.ipynb": data})
    done = import_site(tmp_path / "old", tmp_path / "new", ImportOptions(now=NOW), no_progress)
    assert done.check.differences == ()
    page = (tmp_path / "new" / "content" / "posts" / "b.md").read_text("utf-8")
    assert "title: Rows\n" in page
    assert "> [!NOTE]\n>\n> See {@fig-a}, by Keller [@keller2020].\n" in page
    assert "```{python}\n#| label: fig-a\nprint(1 + 1)\n```" in page
    assert '"imported": true' in (tmp_path / "new" / "_freeze" / "posts" / "b" / "outputs.json").read_text(
        "utf-8"
    )
