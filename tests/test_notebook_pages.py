"""Notebooks and percent files as pages: their text, outputs, errors and downloads."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.build.incremental import UpdateRequest
from blogsmith.read import source_text
from blogsmith.read.notebooks.export import export_notebook
from blogsmith.read.notebooks.notebook import read_notebook
from blogsmith.read.notebooks.page import page_text
from blogsmith.read.notebooks.percent import is_post
from tests.importers.notebooks.test_notebooks import PICTURE, code, markdown, notebook, stream, value
from tests.preview_sites import new_line, outputs, settled
from tests.site_files import build, put, put_bare
from tests.test_images import png_of

CONTENT = Path(__file__).parent.parent / "content"
SCHEMA = Path(__file__).parent / "schemas" / "nbformat.v4.5.schema.json"
HEAD = "---\ntitle: Sums\ndate: 2026-01-02\n---"
NOTE = "From the notebook, not verified here."
SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0h9'/></svg>"


def raw(source: str, mime: str = "") -> dict[str, Any]:
    metadata = {"raw_mimetype": mime} if mime else {}
    return {"cell_type": "raw", "metadata": metadata, "source": source.splitlines(keepends=True)}


def output(data: Mapping[str, Any], kind: str = "display_data") -> dict[str, Any]:
    return {"output_type": kind, "metadata": {}, "data": data}


def error(*lines: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "no", "traceback": list(lines)}


OLD = {
    "nbformat": 3,
    "metadata": {},
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 2, "source": "Old heading"},
                {
                    **{"cell_type": "code", "input": ["print 'x'"], "prompt_number": 1},
                    "outputs": [{"output_type": "stream", "stream": "stdout", "text": "old output\n"}],
                },
            ]
        }
    ],
}
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pandas": (
        notebook(raw(HEAD), code("df", value(plain="x", html="<table><tr><td>4.5</td></tr></table>"))),
        ("4.5</td>", NOTE, "Sums"),
    ),
    "plot": (
        notebook(
            markdown(HEAD), code("plot()", output({"image/png": [PICTURE, "\n"], "text/plain": "<Figure>"}))
        ),
        ('src=/posts/plot/cell-1-1-|src="/posts/plot/cell-1-1-', 'width="4"', NOTE),
    ),
    "svg": (notebook(code("draw()", output({"image/svg+xml": [SVG]}))), ("cell-1-1-", ".svg")),
    "latex": (
        notebook(code("f", output({"text/latex": "$\\displaystyle x^2$", "text/plain": "x**2"}))),
        ("<msup>", NOTE),
    ),
    "widgets": (
        notebook(
            code(
                "w",
                output(
                    {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "Slider(1)"}
                ),
                output(
                    {
                        "application/vnd.plotly.v1+json": {},
                        "text/html": "<div></div><script>alert(1)</script>",
                    }
                ),
            )
        ),
        ("Slider(1)",),
    ),
    "errors": (
        notebook(code("1/0", error("\x1b[0;31mZeroDivisionError\x1b[0m: no"))),
        ("ZeroDivisionError",),
    ),
    "ansi": (
        notebook(code("log()", stream("\x1b[31mred\x1b[0m\n"), stream("warned\n", "stderr"))),
        ("red", "warned"),
    ),
    "attachments": (
        notebook(markdown("![a plot](attachment:p.png)", attachments={"p.png": {"image/png": PICTURE}})),
        ("data:image/png;base64,", "a plot"),
    ),
    "raws": (
        notebook(raw("<i>for pages</i>", "text/html"), raw("\\newpage", "text/latex")),
        ("<i>for pages",),
    ),
    "julia": (
        notebook(code("println(1)", stream("1\n"), output({"image/png": PICTURE})), language="julia"),
        ("println", "<em>From the notebook, not verified here:</em>", "data:image/png"),
    ),
    "magics": (
        notebook(
            code("%matplotlib inline\nx = 1\nprint(x)", stream("1\n")),
            code("!ls", stream("a.txt\n")),
            code("%%html\n<b>bold</b>"),
        ),
        (NOTE, "a.txt", "<b>bold</b>"),
    ),
    "version-3": (json.dumps(OLD), ("Old heading", "old output")),
    "colab": (
        json.dumps(json.loads(notebook(markdown("# One line\n\nText"), code("x = 1")))),
        ("Text", "One line"),
    ),
    "strange": (
        '{"cells": [7, {"cell_type": "markdown", "source": ["half \\ud83d of \\u0000 pair\\r\\n"]},'
        ' {"source": 3}, {"cell_type": "code", "outputs": [1, {"output_type": "error"},'
        ' {"data": {"image/png": "?"}}], "source": "x", "metadata": 2, "execution_count": 1}],'
        ' "metadata": [], "nbformat": "4"}',
        ("half \N{REPLACEMENT CHARACTER} of",),
    ),
}
"""Name → notebook, and parts of its page; `|` separates alternatives."""
ALLOWED = {"cell-stale", "cell-pending", "cell-alt", "output-html", "hidden-character", "formula-alt"}


def with_head(text: str) -> str:
    """Return a notebook whose first cell has front matter."""
    head = json.dumps(raw("---\ntoc: false\n---"))
    is_headed = HEAD.split("\n")[1] in text
    return text if is_headed else re.sub(r'"cells": \[', lambda found: f"{found[0]}{head}, ", text, count=1)


def percent() -> str:
    return (
        "# %% [markdown]\n# ---\n# title: Percent\n# date: 2026-01-03\n# ---\n#\n"
        "# See [sums](pandas.ipynb).\n\n"
        '# %% tags=["hide-input"]\nx = 2\nx + 1\n\n'
        '# %% [markdown]\n"""\n## Second\n\n[bad](none.md)\n"""\n'
    )


def test_each_kind_of_notebook_is_a_page(tmp_path: Path) -> None:
    files = {f"content/posts/{name}.ipynb": with_head(text) for name, (text, _) in KINDS.items()}
    good = percent().replace("[bad](none.md)", "[helper](helper.py)")
    root = put_bare(
        tmp_path,
        {**files, "content/posts/percent.py": good, "content/posts/helper.py": "# %% [markdown]\nx = 1\n"},
    )
    report = build(root, use_cache=True)
    assert report.ok, [format_diagnostic(one, color=False) for one in report.diagnostics]
    assert {one.code for one in report.diagnostics} <= ALLOWED
    pages = {
        name: (root / f"public/posts/{name}/index.html").read_text("utf-8") for name in (*KINDS, "percent")
    }
    for name, (_, parts) in KINDS.items():
        assert all(any(one in pages[name] for one in part.split("|")) for part in parts), (name, pages[name])
        assert "<script>alert" not in pages[name]
    assert '<a href="/posts/pandas/">sums</a>' in pages["percent"]
    assert (root / "public/posts/helper.py").is_file()
    assert next((root / "public/posts/plot").glob("cell-1-1-*.png")).read_bytes() == png_of(4, 3)
    first = {file: file.read_bytes() for file in (root / "public").rglob("*") if file.is_file()}
    again = build(root, use_cache=True)
    assert (again.diagnostics, again.written) == (report.diagnostics, 0)
    assert (
        outputs(settled(new_line(root)))["posts/plot/index.html"]
        == first[root / "public/posts/plot/index.html"]
    )


START = b'{"cells": [{"cell_type": "raw", "source": ["---\\n", "title: N\\n", "---"]}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (START + b", ", "n.ipynb:1:1: error: invalid JSON: missing value [notebook]"),
        (START + b"]", "n.ipynb:1:1: error: invalid JSON"),
        (
            START + b', {"source": ' + b"[" * 100_000,
            "n.ipynb:1:1: error: invalid notebook: nested too deeply",
        ),
        (START + b"\xff\xfe", "n.ipynb:1:74: error: byte 0xff at byte offset 73 is not UTF-8"),
        (
            notebook(
                raw(HEAD),
                markdown(
                    "![x](attachment:p.png)",
                    attachments={"p.png": {"image/png": base64.b64encode(png_of(4, 3) * 20).decode()}},
                ),
            ).encode(),
            "n.ipynb: error: too many characters in the notebook",
        ),
    ],
)
def test_damaged_notebooks(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_text, "MAX_TEXT_BYTES", 600)
    report = build(put_bare(tmp_path, {"content/posts/n.ipynb": data}))
    (found,) = report.diagnostics
    assert format_diagnostic(found, color=False).startswith(f"content/posts/{message}")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"SECRET",
        b"\xff\xfe{",
        b'{"cells": 1}',
        b"[" * 100_000,
        notebook(markdown("# A")).encode(),
    ],
)
def test_a_notebook_without_front_matter_is_no_page(data: bytes, tmp_path: Path) -> None:
    root = put_bare(tmp_path, {"content/posts/n.ipynb": data})
    report = build(root)
    assert (report.ok, [one.code for one in report.diagnostics]) == (True, ["foreign-file"])
    assert not list((root / "public/posts").glob("n*"))


BAD = notebook(
    raw("---\ntitle: Sums\ntgas: [x]\n---"),
    markdown("Text\n\n[bad](none.md)"),
    code("#| label: a\n#| lable: b\nx = 1", stream("[bad](none.md)")),
    code("%matplotlib inline\nx = [1", tags=("remove-input",)) | {"execution_count": None, "outputs": []},
)


@pytest.mark.parametrize("indent", [1, None])
def test_errors_name_the_cell(indent: int | None, tmp_path: Path) -> None:
    data = json.loads(BAD)
    for cell in data["cells"]:
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
    text = json.dumps(data, indent=indent)
    root = put_bare(tmp_path, {"content/posts/n.ipynb": text, "content/posts/p.py": percent()})
    found = {one.code: one for one in build(root).diagnostics if one.path.endswith("ipynb")}
    suffixes = {code: one.message.rpartition(" (")[2] for code, one in found.items()}
    assert suffixes == {
        "front-matter-key": "notebook cell 1, line 3)",
        "link-missing": "notebook cell 2, line 3)",
        "cell-option": "notebook cell 3, line 2)",
        "cell-syntax": "notebook cell 4, line 2)",
    }
    assert not any(one.fix for one in found.values())
    if indent:
        lines = text.split("\n")
        for one in found.values():
            assert one.place and one.source_line in lines[one.place.line - 1]
    (link,) = [
        one for one in build(root).diagnostics if "none.md" in one.message and one.path.endswith(".py")
    ]
    assert link.place and "none.md" in percent().split("\n")[link.place.line - 1]


def test_posts_become_notebooks_and_the_same_posts(tmp_path: Path) -> None:
    valid = Draft4Validator(json.loads(SCHEMA.read_text("utf-8")))
    cells = 0
    for file in sorted(CONTENT.glob("posts/**/*.md")):
        text = file.read_text("utf-8")
        lines = text.split("\n")
        fences = [
            number for number, line in enumerate(lines, 1) if line.startswith(("```python", "```{python"))
        ]
        first = lines.index("---", 1) + 2
        made = export_notebook(text, first, fences)
        valid.validate(json.loads(made))
        cells += made.count(b'"execution_count"')
        assert page_text(read_notebook(made.decode()), is_aligned=False) == text, file
    assert cells > 60


POST = f"""{HEAD}

Text with $x$.
```{{python}}
#| label: a

print(1)
```
- item

  ```{{python}}
  print(2)
  ```

<div class="note">

~~~python eval=true
print(3)
~~~

</div>

Last."""


def test_a_post_offers_its_notebook(tmp_path: Path) -> None:
    site = {"blogsmith.yaml": "title: T\nnotebook: true\n", "content/posts/a.md": POST}
    off = POST.replace("title", "notebook: false\ntitle")
    root = put(tmp_path, {**site, "content/posts/b.md": off, "content/posts/c.md": "No cells"})
    assert build(root, use_cache=True).ok
    (file,) = (root / "public").rglob("*.ipynb")
    assert file == root / "public/posts/a/a.ipynb"
    page = (root / "public/posts/a/index.html").read_text("utf-8")
    assert '<a href="/posts/a/a.ipynb" download>Download as notebook</a>' in page
    data = json.loads(file.read_bytes())
    assert [cell["cell_type"] for cell in data["cells"]] == [
        "raw",
        "markdown",
        "code",
        "markdown",
        "code",
        "markdown",
    ]
    # a page made from the notebook is the same, and offers the same file
    (root / "content/posts/a.md").unlink()
    put(root, {"content/posts/a.ipynb": file.read_bytes()})
    assert build(root, use_cache=True).ok
    assert (root / "public/posts/a/index.html").read_text("utf-8") == page
    assert file.read_bytes() == (root / "content/posts/a.ipynb").read_bytes()


def test_the_preview_follows_saves_of_jupyter(tmp_path: Path) -> None:
    path = "content/posts/n.ipynb"
    root = put_bare(tmp_path, {path: notebook(raw(HEAD), code("x = 1\nx", value(plain="1")))})
    line = new_line(root)
    before = settled(line)
    # Jupyter writes a checkpoint and a hidden file, and renames that
    put(root, {"content/posts/.ipynb_checkpoints/n-checkpoint.ipynb": "{", "content/posts/.~n.ipynb": "{"})
    new = notebook(raw(HEAD), code("x = 22\nx", value(plain="22")), markdown("More"))
    put(root, {"content/posts/.~n.ipynb": new})
    (root / "content/posts/.~n.ipynb").replace(root / path)
    request = UpdateRequest(changed=[path], everything=False)
    fast = line.update_page(before, path, request)
    assert fast
    shown = outputs(fast)["posts/n/index.html"].decode()
    assert "22</pre>" in shown and "More" in shown and NOTE in shown
    present = settled(line, fast, request)
    assert outputs(present)["posts/n/index.html"].decode() == shown
    put(root, {path: new[:-20]})
    assert [one.code for one in settled(line, present, request).site_diagnostics] == ["notebook"]


def test_runs_are_recorded_beside_the_notebook(tmp_path: Path) -> None:
    from blogsmith.project.report import ExecutionOptions

    path = tmp_path / "content/posts/n.ipynb"
    cells = [raw(HEAD), code("x = 3\nprint(x)", stream("2\n")), code("print(x + 1)", stream("9\n"))]
    root = put_bare(tmp_path, {"content/posts/n.ipynb": notebook(*cells)})
    page = root / "public/posts/n/index.html"
    written = path.read_bytes()
    report = build(root, execution=ExecutionOptions(execute="stale"))
    assert (report.ok, report.executed_cells, path.read_bytes()) == (True, 2, written)
    assert NOTE not in page.read_text("utf-8") and ">4\n" in page.read_text("utf-8")
    # the output of a changed cell comes from the notebook, until the cell runs here
    path.write_text(notebook(*cells[:2], code("print(x + 2)", stream("7\n"))), encoding="utf-8")
    assert build(root).ok
    assert page.read_text("utf-8").count(NOTE) == 1 and ">7\n" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("# %% [markdown]\n# ---\n# title: A\n# ---\n", True),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\n# %% [raw]\n# ---\n", True),
        ('# ---\n# jupyter:\n#   jupytext: {}\n# ---\n\n# %% [markdown]\n"""\n---\ntitle: A\n', True),
        ("# %% [markdown]\n# Text\n", False),
        ("# %%\n# ---\n", False),
        ('"""Module."""\n# %% [markdown]\n# ---\n', False),
        ("x = 1\n", False),
    ],
)
def test_which_python_files_are_posts(head: str, expected: bool) -> None:
    assert is_post(head) == expected
