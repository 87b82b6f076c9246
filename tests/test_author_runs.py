"""Messages for authors who come from Quarto, MyST or Jekyll if their code does not run as expected."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.cli.main import main
from blogsmith.project.report import BuildReport, ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.site_files import build

OTHER_PYTHON = f"title: T\nexecute: {{python: '{sys.executable}'}}\n"
"""A configured Python, as in an installation with pipx. It checks the syntax itself."""


def site(root: Path, body: str, settings: str = "title: T\n") -> Path:
    """Create a site with one post; its first line of text is line 4."""
    (root / "content/posts").mkdir(parents=True, exist_ok=True)
    (root / "blogsmith.yaml").write_text(settings, encoding="utf-8")
    (root / "content/posts/a.md").write_text(f"---\ntitle: A\n---\n{body}", encoding="utf-8")
    return root


def cell(code: str, opening: str = "python eval") -> str:
    return f"```{opening}\n{code}\n```\n"


def ran(root: Path, **options: object) -> BuildReport:
    return build(root, execution=ExecutionOptions(**{"execute": "stale"} | options))  # type: ignore[arg-type]


def only(report: BuildReport) -> Diagnostic:
    """Return the only diagnostic of a report."""
    assert len(report.diagnostics) == 1, report.diagnostics
    return report.diagnostics[0]


def place(found: Diagnostic) -> tuple[int, int, int]:
    assert found.place is not None
    return found.place.line, found.place.column, found.place.length


@pytest.mark.parametrize(
    ("code", "code_of", "message", "at"),
    [
        ("x = 1\nprint 'a'", "cell-syntax", "invalid Python: Missing parentheses", (6, 1, 9)),
        ("if 1:\n\tx = 1\n        y = 2", "cell-syntax", "invalid Python: inconsistent use", (7, 9, 5)),
        ("%matplotlib inline", "cell-magic", 'unsupported syntax: "%matplotlib" is an IPython', (5, 1, 11)),
    ],
)
def test_code_that_another_python_refuses(
    tmp_path: Path, code: str, code_of: str, message: str, at: tuple[int, int, int]
) -> None:
    found = only(ran(site(tmp_path, cell(code), OTHER_PYTHON)))
    assert (found.code, place(found)) == (code_of, at)
    assert found.message.startswith(message) and "<cell" not in found.message


@pytest.mark.parametrize("code", ["if 1:\n        x = 1\n     y = 2", "x = 1\n   y = 2"])
def test_a_line_that_is_indented_wrongly_is_marked_as_a_whole(tmp_path: Path, code: str) -> None:
    last = code.split("\n")[-1]
    column = len(last) - len(last.lstrip()) + 1
    found = only(ran(site(tmp_path, cell(code))))
    assert place(found) == (4 + len(code.split("\n")), column, len(last.strip()))


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("open('data.csv')", "relative to the folder of the post"),
        ("print(total)", "code blocks that are not cells do not run"),
        ("input()", "do not call `input()`"),
        ("import asyncio\nawait asyncio.sleep(0)\nasyncio.run(asyncio.sleep(0))", "write `await` instead"),
        ("import no_such_module.part", "or write `#| needs: no_such_module`"),
        ("import blogsmith.no_such_part", "import from `blogsmith.lab`"),
        ("raise ModuleNotFoundError(\"No module named 'IPython'\")", "call `display()` without an import"),
        (
            "class BackendError(Exception): ...\nraise BackendError('no torch')",
            "`#| needs: torch` or `#| needs: cuda`",
        ),
        ("1 / 0", "#| error: true"),
    ],
)
def test_the_hint_fits_the_exception(tmp_path: Path, code: str, hint: str) -> None:
    found = only(ran(site(tmp_path, cell(code))))
    assert found.code == "cell-error" and hint in found.hint


def test_a_claim_that_is_neither_true_nor_false(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    code = "import numpy as np\nnp.arange(2) == np.arange(2)"
    found = only(ran(site(tmp_path, cell(f"#| claim: It holds\n{code}", "python"))))
    assert found.code == "claim-false" and place(found) == (7, 1, 28)
    assert found.message == "the claim is neither true nor false: it is an array: array([ True, True])"
    assert ".all()" in found.hint


def test_a_claim_whose_code_raises_is_an_exception(tmp_path: Path) -> None:
    both = "class Both:\n    def __eq__(self, other):\n        raise ValueError('both')"
    code = f"#| claim: It holds\n{both}\nBoth() == 1"
    found = only(ran(site(tmp_path, cell(code, "python"))))
    assert (found.code, found.message, place(found)[0]) == ("cell-error", "ValueError: both", 8)


_TOO_LATE = "has no effect because it is not in the first lines of the fence"


@pytest.mark.parametrize(
    ("inside", "message", "hint", "at"),
    [
        (
            "#| echo=false\n1",
            "invalid cell options: expected `key: value` lines",
            "write `echo: false`",
            (5, 4, 10),
        ),
        (
            "#| echo:false\n1",
            "invalid cell options: expected `key: value` lines",
            "write `echo: false`",
            (5, 4, 10),
        ),
        ("import os\n#| echo: false\n1", f'option "echo" {_TOO_LATE}', "first lines", (6, 1, 14)),
        ("\n#| label: x\n1", f'option "label" {_TOO_LATE}', "first lines", (6, 1, 11)),
        (
            "#| echo: true\n\nx = 1\n#| label: a",
            f'option "label" {_TOO_LATE}',
            "first",
            (8, 1, 11),
        ),
        ("#| echo: true\n#| echo: false\n1", 'duplicate key "echo" (first defined on line 5)', "", (6, 4, 4)),
    ],
)
def test_options_that_are_written_wrongly(
    tmp_path: Path, inside: str, message: str, hint: str, at: tuple[int, int, int]
) -> None:
    found = only(ran(site(tmp_path, cell(inside, "python"))))
    assert (found.message, place(found)) == (message, at) and hint in found.hint


def test_comments_that_only_look_like_options_are_left_alone(tmp_path: Path) -> None:
    text = cell("x = 1  #| echo: false\n#| remark: this\n#|echo\n'#| echo: false'", "python")
    assert not ran(site(tmp_path, text)).diagnostics


def test_a_tag_of_another_tool_is_not_taken_for_a_typing_error(tmp_path: Path) -> None:
    text = cell(":tags: [thebe-init, hide-inptu]\nx = 1", "{code-cell} python")
    assert only(ran(site(tmp_path, text))).hint == "did you mean `hide-input`?"


def test_a_value_without_blanks_inside_its_marks(tmp_path: Path) -> None:
    text = cell("total = 1") + "\nThere are {=total=} of {=total:.2f =}, and {==marked==} ones.\n"
    found = ran(site(tmp_path, text)).diagnostics
    assert [(d.code, d.hint) for d in found] == [
        ("value-open", "write `{= total =}`"),
        ("value-open", "write `{= total:.2f =}`"),
    ]
    assert place(found[0]) == (8, 11, 9)


def test_depends_on_a_file_that_is_not_there(tmp_path: Path) -> None:
    text = cell("#| depends: [here.csv, data/none.csv]\n1", "python")
    root = site(tmp_path, text)
    (root / "content/posts/here.csv").write_text("1", encoding="utf-8")
    found = only(ran(root))
    assert (found.severity, found.message) == ("warning", '"depends": file not found: "data/none.csv"')
    assert place(found) == (5, 24, 13)


def test_a_numbered_figure_without_a_picture(tmp_path: Path) -> None:
    found = only(ran(site(tmp_path, "See @fig-x.\n\n" + cell("#| label: fig-x\n1", "python"))))
    assert found.message == 'cell "fig-x" is numbered as a figure but shows no image'
    assert place(found) == (7, 11, 5)


def test_settings_that_changed_after_trust_are_named(tmp_path: Path) -> None:
    root = site(tmp_path, cell("1"))
    assert "`blogsmith trust` to run cells in every build" in only(build(root)).hint
    trust(root)
    assert not build(root).diagnostics
    site(root, cell("2"), "title: T\nexecute: {jobs: 1}\n")
    assert "since it was trusted, execute.jobs is new" in only(build(root)).hint
    assert "commit `_freeze/`" in only(build(root, execution=ExecutionOptions(frozen=True))).hint


def test_where_a_need_is_not_met_the_hint_is_no_circle(tmp_path: Path) -> None:
    root = site(tmp_path, cell("#| needs: json\n1", "python"))
    assert not ran(root).diagnostics
    site(root, cell("#| needs: no_such_module\n2", "python"))
    found = only(ran(root))
    assert (found.code, found.hint) == (
        "cell-stale",
        "run `blogsmith execute` where `no_such_module` is available",
    )


def test_verbose_names_cells_and_shows_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "#| label: sum\nprint('no line end', end='')\n41 + 1"
    root = site(tmp_path, cell(code, "python") + cell("print('x', end='')\n1 / 0"))
    assert main(["execute", "--site", str(root), "-v"]) == 1
    lines = capsys.readouterr().err.split("\n")
    assert lines[:3] == ["posts/a: starts", "posts/a | no line end", "posts/a | 42"]
    assert lines[3].startswith("posts/a: sum: ") and lines[3].endswith(" ms")
    assert lines[4:6] == ["posts/a | x", "posts/a | Traceback (most recent call last):"]
    assert any(line.startswith("posts/a: cell 2: ") for line in lines)
