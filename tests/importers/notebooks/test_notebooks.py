"""Notebooks: the conversion of each kind of cell, and the note about outputs that were not computed here."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pytest

from blogsmith.freeze.store import read_page
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import ImportedPage, SiteImport
from blogsmith.importers.notebooks.notebook import read_notebook
from blogsmith.importers.notebooks.system import SYSTEM
from blogsmith.importers.systems import find_system
from blogsmith.model.results import Failure, Stream
from blogsmith.project.report import BuildReport, ExecutionOptions, no_progress
from blogsmith.read.notebooks.notebook import NotebookError
from tests.site_files import NOW, build
from tests.test_images import png_of

PICTURE = base64.b64encode(png_of(4, 3)).decode()


def markdown(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True), **more}


def code(source: str, *outputs: Mapping[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    metadata = {"tags": list(tags)} if tags else {}
    return {
        **{"cell_type": "code", "execution_count": 1, "metadata": metadata, "outputs": list(outputs)},
        "source": source,
    }


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": [text]}


def value(**data: str) -> dict[str, Any]:
    names = {"plain": "text/plain", "html": "text/html", "png": "image/png", "widget": "application/x-widget"}
    return {
        **{"output_type": "execute_result", "execution_count": 1, "metadata": {}},
        "data": {names[key]: part for key, part in data.items()},
    }


def notebook(*cells: Mapping[str, Any], language: str = "python") -> str:
    data = {"nbformat": 4, "nbformat_minor": 5, "cells": cells}
    return json.dumps({**data, "metadata": {"language_info": {"name": language}}}, indent=1)


def read(root: Path, *cells: Mapping[str, Any], language: str = "python") -> tuple[ImportedPage, SiteImport]:
    root.mkdir(exist_ok=True)
    (root / "a.ipynb").write_text(notebook(*cells, language=language), encoding="utf-8")
    site = SYSTEM.read(root, no_progress)
    return next(page for page in site.pages if page.source == "a.ipynb"), site


def messages(page: ImportedPage) -> list[str]:
    return [f"{notice.kind}: {notice.message}" for notice in page.notices]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([markdown("# Rows\n\nText.")], "Text.", id="the title is taken"),
        pytest.param(
            [markdown("Text"), markdown("# Top\n\n## Below")], "Text\n\n## Top\n\n### Below", id="levels"
        ),
        pytest.param([markdown("$ x $, $y$ and $$z$$")], "$x$, $y$ and $$z$$", id="dollars"),
        pytest.param([markdown(r"\\(x\\)")], "$x$", id="brackets"),
        pytest.param(
            [markdown("\\begin{align}\na\n\\end{align}")], "\\begin{align}\na\n\\end{align}", id="environment"
        ),
        pytest.param([code("x = 1")], "```{python}\nx = 1\n```", id="a cell"),
        pytest.param(
            [code("x", tags=("hide-input",))], "```{python}\n#| code-fold: true\nx\n```", id="hidden input"
        ),
        pytest.param(
            [code("x", tags=("remove_cell",))], "```{python}\n#| include: false\nx\n```", id="removed cell"
        ),
        pytest.param(
            [code("x", tags=("remove-output", "remove-input"))],
            "```{python}\n#| echo: false\n#| output: false\nx\n```",
            id="removed input and output",
        ),
        pytest.param(
            [code("#| label: fig-a\n#| odd: 1\nx")], "```{python}\n#| label: fig-a\nx\n```", id="options"
        ),
        pytest.param(
            [code("%matplotlib inline\n!pip install numpy\nx = 1")], "```{python}\nx = 1\n```", id="magics"
        ),
        pytest.param([code("%matplotlib inline")], "", id="magics alone"),
        pytest.param([code("%%time\nx")], "```{python}\nx\n```", id="timed cell"),
        pytest.param([code("y = 1\n%time f(y)")], "```{python}\ny = 1\nf(y)\n```", id="timed line"),
        pytest.param(
            [code("files = !ls", stream("a\n"))],
            "<!-- import: cell is not valid Python and is not run -->\n```{python}\n#| eval: false\n"
            "files = !ls\n```\n\n*From the notebook, not verified here:*\n\n```text\na\n```",
            id="shell",
        ),
        pytest.param(
            [code("%%bash\nls")],
            "<!-- import: cell '%%bash' is shown but not run -->\n```bash\nls\n```",
            id="another language",
        ),
        pytest.param([code("%%html\n<b>x</b>")], "<b>x</b>", id="a cell of HTML"),
        pytest.param([code('s = """```\n"""')], '````{python}\ns = """```\n"""\n````', id="ticks in code"),
        pytest.param([code("")], "", id="empty"),
        pytest.param([{"cell_type": "raw", "metadata": {}, "source": "<i>raw</i>"}], "<i>raw</i>", id="raw"),
        pytest.param(
            [{"cell_type": "raw", "metadata": {"raw_mimetype": "text/latex"}, "source": "x"}],
            "",
            id="raw LaTeX",
        ),
        pytest.param(
            [markdown("[there](#The-end)\n\n## The end")], "[there](#the-end)\n\n## The end", id="anchor"
        ),
    ],
)
def test_cells(cells: list[dict[str, Any]], expected: str, tmp_path: Path) -> None:
    page, _ = read(tmp_path, *cells)
    assert page.text == expected


def test_front_matter_of_a_raw_cell(tmp_path: Path) -> None:
    head = "---\ntitle: Rows\ndate: 1 March 2024\nauthor: Ada Keller\ncategories: [sums]\nodd: {a: 1}\n---"
    page, _ = read(tmp_path, {"cell_type": "raw", "metadata": {}, "source": head}, markdown("Text"))
    assert page.front == {
        "title": "Rows",
        "date": "2024-03-01",
        "authors": ["Ada Keller"],
        "categories": ["sums"],
        "odd": {"a": 1},
    }
    assert messages(page) == ['kept: "odd"']


def test_a_notebook_without_a_title_has_its_name(tmp_path: Path) -> None:
    page, _ = read(tmp_path, markdown("Text"))
    assert page.front["title"] == "a"
    assert page.path.as_posix() == "content/posts/a.md"


def test_attachments_are_files(tmp_path: Path) -> None:
    cell = markdown(
        "![x](attachment:my%20plot.png) ![y](attachment:gone.png)",
        attachments={"my plot.png": {"image/png": PICTURE}},
    )
    page, site = read(tmp_path, cell)
    assert page.text == "![x](a-files/my-plot.png) ![y](attachment:gone.png)"
    assert [(file.path.as_posix(), file.data) for file in site.made] == [
        ("content/posts/a-files/my-plot.png", png_of(4, 3))
    ]
    assert messages(page) == ['missing: attachment not found in the notebook: "gone.png"']


def test_links_to_notebooks_and_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.ipynb").write_text(notebook(markdown("# B\n\n[a](../a.ipynb)")), encoding="utf-8")
    (tmp_path / "data.csv").write_text("a", encoding="utf-8")
    page, site = read(tmp_path, markdown("[b](sub/b.ipynb#My-part) [d](data.csv)"))
    assert page.text == "[b](sub/b.md#my-part) [d](data.csv)"
    other = next(page for page in site.pages if page.source == "sub/b.ipynb")
    assert other.text == "[a](../a.md)"
    assert [file.path.as_posix() for file in site.files] == ["content/posts/data.csv"]


def test_other_languages_are_shown(tmp_path: Path) -> None:
    page, site = read(tmp_path, code("println(1)", stream("1\n"), value(png=PICTURE)), language="julia")
    assert (
        "```julia\nprintln(1)\n```\n\n*From the notebook, not verified here:*\n\n```text\n1\n```" in page.text
    )
    assert "![](a-files/output.png)" in page.text
    assert [file.path.as_posix() for file in site.made] == ["content/posts/a-files/output.png"]


def test_an_output_that_needs_a_script_is_told(tmp_path: Path) -> None:
    page, _ = read(tmp_path, code("w", value(plain="W()", widget="{}")))
    assert messages(page) == ['left: unsupported output type "application/x-widget"']


def test_version_three(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Old"},
        {
            **{"cell_type": "code", "input": ["1/0"], "prompt_number": 1, "language": "python"},
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": "out\n"},
                {"output_type": "pyout", "text": ["2"], "png": PICTURE, "prompt_number": 1},
                {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["E: v"]},
            ],
        },
    ]
    data = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}
    (tmp_path / "a.ipynb").write_text(json.dumps(data), encoding="utf-8")
    site = SYSTEM.read(tmp_path, no_progress)
    assert site.pages[0].front["title"] == "Old"
    assert site.pages[0].text == "```{python}\n1/0\n```"
    assert len(site.made) == 2


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("{\n", "invalid JSON: missing key", 2),
        ("[]", "invalid notebook: expected a JSON object", 1),
        ("{}", 'invalid notebook: missing "cells"', 1),
        (
            json.dumps({"cells": [markdown("---\na: [\n---")]}, indent=1),
            "invalid YAML in the front matter: expected the node content, but found '<stream end>'",
            9,
        ),
    ],
)
def test_what_is_no_notebook(text: str, message: str, line: int) -> None:
    with pytest.raises(NotebookError) as caught:
        read_notebook(text)
    assert (str(caught.value), caught.value.line) == (message, line)


def test_a_broken_notebook_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "b.ipynb").write_text("{", encoding="utf-8")
    _, site = read(tmp_path, markdown("Text"))
    assert [(notice.kind, notice.source) for notice in site.notices] == [("mistake", "b.ipynb")]


CELLS = (
    markdown("# Rows\n\nThey sum to $1$."),
    code("%matplotlib inline\nprint(1 + 1)", stream("3\n")),
    code(
        "1 / 0", {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: v"]}
    ),
    code("'never run'") | {"execution_count": None},
    code("f'{1 + 1}'", value(plain="'2'", png=PICTURE)),
)


def imported(tmp_path: Path) -> Path:
    """Import a notebook with `CELLS` and return the new site."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.ipynb").write_text(notebook(*CELLS), encoding="utf-8")
    done = import_site(tmp_path / "old", tmp_path / "new", ImportOptions(now=NOW), no_progress)
    assert done.check.differences == ()
    assert done.check.errors == 0
    return tmp_path / "new"


def test_outputs_are_recorded_as_never_run_here(tmp_path: Path) -> None:
    root = imported(tmp_path)
    reading = read_page(root, PurePosixPath("content/posts/a.md"))
    assert reading.diagnostics == ()
    assert reading.record
    cells = reading.record.sessions["main"].cells
    assert [cell.run.outputs[0].__class__ for cell in cells[:2]] == [Stream, Failure]
    assert all(cell.origin and cell.origin.imported for cell in cells)


def built(root: Path, execute: Literal["", "stale"] = "", *, frozen: bool = False) -> BuildReport:
    return build(root, execution=ExecutionOptions(execute=execute, frozen=frozen))


def test_the_page_says_so_and_a_run_replaces_them(tmp_path: Path) -> None:
    root = imported(tmp_path)
    assert {found.code for found in built(root).diagnostics} == {
        "cell-stale",
        "cell-pending",
        "cell-alt",
    }
    page = (root / "public" / "posts" / "a" / "index.html").read_text("utf-8")
    assert page.count("From the notebook, not verified here.") == 3
    assert "Recorded" not in page
    assert '<pre class="output output-stdout">3\n</pre>' in page
    assert page.count("This cell has not been run.") == 1
    assert built(root, frozen=True).has_only_stale
    post = root / "content" / "posts" / "a.md"
    post.write_text(post.read_text("utf-8").replace("1 / 0", "#| error: true\n1 / 0"), encoding="utf-8")
    built(root, "stale")
    page = (root / "public" / "posts" / "a" / "index.html").read_text("utf-8")
    assert "not verified here" not in page
    assert '<pre class="output output-stdout">2\n</pre>' in page


def test_a_single_notebook(tmp_path: Path) -> None:
    read(tmp_path, markdown("# Alone"))
    (tmp_path / "b.ipynb").write_text(notebook(markdown("Text")), encoding="utf-8")
    assert find_system(tmp_path / "a.ipynb") is SYSTEM
    assert find_system(tmp_path) is SYSTEM
    site = SYSTEM.read(tmp_path / "a.ipynb", no_progress)
    assert [page.source for page in site.pages] == ["a.ipynb"]
    assert site.settings["title"] == "Alone"
