"""Quarto: the conversion of each construct, and of a whole project without losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import ImportedPage
from blogsmith.importers.quarto.system import SYSTEM
from blogsmith.importers.systems import find_system
from blogsmith.importers.text.data import format_yaml
from blogsmith.project.report import no_progress
from tests.cases_io import Case, read_cases
from tests.importers.quarto.project import write_project
from tests.site_files import NOW
from tests.test_images import png_of

CASES = read_cases(Path(__file__).parent / "cases.md")
OWN_MISTAKES = {"image-missing", "citation-key", "link-missing"}
"""Diagnostic codes of errors that are in the cases on purpose."""


def page_of(source: str, root: Path) -> ImportedPage:
    """Import the project with this text as a page, and return the page."""
    write_project(root, {"posts/a.qmd": source})
    pages = SYSTEM.read(root, no_progress).pages
    return next(page for page in pages if page.source == "posts/a.qmd")


def shown_page(page: ImportedPage) -> str:
    """Return a page in the format of the cases: front matter, text, notices."""
    front = {
        key: value for key, value in page.front.items() if (key, value) not in (("authors", ["The editors"]),)
    }
    assert front.pop("permalink") == "/posts/a.html"
    head = [f"---\n{format_yaml(front)}---"] if front else []
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
    assert "files that no page uses are not copied: posts/plot.png, posts/unused.csv" in messages
    assert 'setting "website.page-footer" has no effect in blogsmith' in messages


def test_a_book_is_a_series(tmp_path: Path) -> None:
    chapters = "[index.qmd, one.qmd, {part: P, chapters: [two.qmd]}]"
    settings = f"project: {{type: book}}\nbook:\n  title: Rows\n  chapters: {chapters}\n"
    pages = {
        "_quarto.yml": settings,
        "one.qmd": "# One {#sec-one}\n\nSee @sec-two, @sec-part and [chapter @sec-one].\n",
        "two.qmd": "\n# Two {#sec-two}\n\nText.\n\n## Part {#sec-part}\n",
    }
    write_project(tmp_path, pages)
    site = SYSTEM.read(tmp_path, no_progress)
    found = {page.path.name: page for page in site.pages}
    assert found.keys() == {"_index.md", "one.md", "two.md"}
    assert found["two.md"].front["series"] == {"name": "Rows", "part": 3}
    assert "See {@two#sec-two}, {@two#sec-part} and chapter \\ref{sec-one}." in found["one.md"].text


def test_macros_before_the_text_of_a_page(tmp_path: Path) -> None:
    before = r"$$\newcommand{\df}[1]{\partial_{#1}}$$"
    settings = f"project: {{type: website}}\nformat:\n  html:\n    include-before: |\n      {before}\n"
    pages = {
        "_quarto.yml": settings,
        "posts/a.qmd": "---\ntitle: A\ninclude-before-body: {text: '\\def\\R{r}'}\n---\n\n$\\df{x} \\R$\n",
    }
    write_project(tmp_path, pages)
    site = SYSTEM.read(tmp_path, no_progress)
    page = next(page for page in site.pages if page.path.name == "a.md")
    of_site, of_page = (found.get("math", {}).get("macros", {}) for found in (site.settings, page.front))
    assert {**of_site, **of_page} == {"\\df": r"\partial_{#1}", "\\R": "r"}


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
    assert caught.value.diagnostics[0].message.startswith('invalid YAML in line 1 of "_quarto.yml": ')


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


FROZEN = """\
::: {#cell-1 .cell execution_count=1}
``` {.python .cell-code}
print(1 + 1)
```

::: {.cell-output .cell-output-stdout}
```
2
```
:::
:::

::: {.cell}
```{.r .cell-code}
mean(1:3)
```

::: {.cell-output .cell-output-stdout}
```
[1] 2
```
:::

::: {.cell-output-display}
![](a_files/figure-html/unnamed-chunk-1-1.png){width=672}
:::
:::

::: {.cell}
::: {.cell-output-display}
| a |
|---|
| 1 |
:::
:::

::: {.cell execution_count=2}
``` {.python .cell-code}
1 / 0
```

::: {.cell-output .cell-output-error}
```
ZeroDivisionError: division by zero
```
:::
:::
"""
FROZEN_PAGE = """\
---
title: Rows
---

```{python}
#| label: sum
print(1 + 1)
```

```{r}
#| include: false
library(x)
```

```{r}
#| label: fig-mean
#| fig-cap: The mean
mean(1:3)
```

By @fig-mean.

```{r}
#| echo: false
knitr::kable(a)
```

```{python}
#| error: true
1 / 0
```

```{python}
print("new")
```
"""


def test_outputs_of_a_freeze_are_shown_as_not_verified(tmp_path: Path) -> None:
    result = {"result": {"markdown": FROZEN, "supporting": []}}
    pages = {
        "posts/a.qmd": FROZEN_PAGE,
        "_freeze/posts/a/execute-results/html.json": json.dumps(result),
        "_freeze/posts/a/figure-html/other.txt": "",
    }
    write_project(tmp_path / "old", pages)
    (tmp_path / "old/_freeze/posts/a/figure-html/unnamed-chunk-1-1.png").write_bytes(png_of(4, 3))
    done = import_site(tmp_path / "old", tmp_path / "new", ImportOptions(now=NOW), no_progress)
    assert done.check.differences == ()
    page = (tmp_path / "new/content/posts/a.md").read_text("utf-8")
    told = "*From the old site's record, not verified here:*"
    picture = '![The mean](a-files/unnamed-chunk-1-1.png "The mean"){#fig-mean}\n\nBy {@fig-mean}.'
    assert f"```r\nmean(1:3)\n```\n\n{told}\n\n```text\n[1] 2\n```\n\n{picture}\n" in page
    assert "kable" not in page and "library" not in page
    assert "| a |\n|---|\n| 1 |" in page
    assert (tmp_path / "new/content/posts/a-files/unnamed-chunk-1-1.png").is_file()
    record = json.loads((tmp_path / "new/_freeze/posts/a/outputs.json").read_text("utf-8"))
    cells = record["sessions"]["main"]["cells"]
    assert [cell["outputs"][0]["output_type"] for cell in cells] == ["stream", "error"]
    assert all(cell["origin"]["imported"] for cell in cells)
    codes = {found.code for found in done.check.diagnostics if found.path == "content/posts/a.md"}
    assert {"cell-stale", "cell-pending"} <= codes


@pytest.mark.parametrize(
    "text", ["", "[", "{}", '{"result": {"markdown": 1}}', '{"result": []}', "[[" * 9999]
)
def test_a_freeze_that_is_none_says_nothing(text: str, tmp_path: Path) -> None:
    pages = {"posts/a.qmd": FROZEN_PAGE, "_freeze/posts/a/execute-results/html.json": text}
    write_project(tmp_path, pages)
    assert not SYSTEM.read(tmp_path, no_progress).made
