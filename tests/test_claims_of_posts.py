"""Claims and shapes on pages: only claims that are true for the current code are shown as checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.project.report import BuildReport, ExecutionOptions
from tests.parsed_posts import parse
from tests.rows import each_row
from tests.site_files import build

CHECKED = '<span class="claim-mark" role="img" aria-label="Checked">'
OPEN = 'class="claim-mark claim-open"'


def site(root: Path, body: str, settings: str = "", head: str = "") -> Path:
    """Create a site with one post; without `head` its first line of text is line 4."""
    (root / "content/posts").mkdir(parents=True, exist_ok=True)
    (root / "blogsmith.yaml").write_text(f"title: T\n{settings}", encoding="utf-8")
    (root / "content/posts/a.md").write_text(f"---\ntitle: A\n{head}---\n{body}", encoding="utf-8")
    return root


def cell(code: str) -> str:
    return f"```python\n{code}\n```\n"


def claim(code: str, *options: str) -> str:
    return cell("\n".join(["#| claim: So it is.", *(f"#| {option}" for option in options), code]))


def ran(root: Path) -> BuildReport:
    return build(root, execution=ExecutionOptions(execute="stale"))


def frozen(root: Path) -> BuildReport:
    return build(root, execution=ExecutionOptions(frozen=True))


def page(root: Path) -> str:
    return (root / "public/posts/a/index.html").read_text("utf-8")


def said(report: BuildReport) -> list[tuple[str, str]]:
    return [(found.severity, found.code) for found in report.diagnostics]


def only(found: Sequence[Diagnostic]) -> Diagnostic:
    assert len(found) == 1, found
    return found[0]


@each_row(
    ("code", "at", "what", "hint"),
    [
        ("1 == 2,", (6, 1, 7), "it is a tuple", "remove the comma"),
        ("x = 1\n  \n(x == 2, 'why')", (8, 1, 15), "it is a tuple", "the comma"),
        ("float and 'no'", (6, 11, 4), "it is a string", "end it with a comparison"),
        ("len('é') == 1 and not {}", (6, 23, 2), "it is a collection", "all(…)"),
        ("(1 == 2,\n 'why')", (6, 1, 8), "it is a tuple", "the comma"),
        ("...", (6, 1, 3), "it is not a value", "add a `return`"),
        ("2", (6, 1, 1), "it is a number", "abs(x) < 1e-9"),
        ("lambda: 1 == 2", (6, 1, 14), "it is a function", "call it"),
        ("bool((1 == 2,))", (6, 6, 9), "it is a tuple", "the comma"),
        ("x = 1 == 1", (6, 1, 10), "the cell does not end with an expression", "end it with"),
        ("assert 1 == 1", (6, 1, 13), "the cell does not end with an expression", "end it with"),
        ("# nothing", (5, 11, 9), "the cell does not end with an expression", "end it with"),
        ('1 == 1\n"""So."""', (7, 1, 9), "it is a string", "end it with"),
    ],
)
def test_what_cannot_be_false_is_an_error_before_anything_runs(
    code: str, at: tuple[int, int, int], what: str, hint: str
) -> None:
    found = only(parse(f"---\ntitle: A\n---\n{claim(code)}").diagnostics)
    assert found.place is not None
    assert (found.severity, found.code) == ("error", "claim-false")
    assert (found.place.line, found.place.column, found.place.length) == at
    assert found.message == f"the claim is neither true nor false: {what}" and hint in found.hint


def test_such_a_cell_does_not_run_and_no_record_can_save_it(tmp_path: Path) -> None:
    site(tmp_path, claim("open('ran', 'w') and 1 == 1,"))
    assert said(ran(tmp_path)) == [("error", "claim-false")]
    assert not (tmp_path / "content/posts/ran").exists() and not (tmp_path / "_freeze").exists()
    assert ("error", "claim-false") in said(frozen(tmp_path))


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("x = (1 == 2,)\nx", "it is a tuple: (False,)", "remove the comma"),
        ("import math\nmath.nan", "it is a number: nan", "abs(x) < 1e-9"),
        ("x = (1 == 2,)\nlen(x) == 1 and x", '"x" is a tuple: (False,)', "remove the comma"),
        ("print", "it is a function: <built-in function print>", "call it"),
        ("print()", "it is not a value: None", "add a `return`"),
        ("all(x > 5 for x in '')", '"x > 5" is empty', "compare values that are not empty"),
    ],
)
def test_a_value_that_is_neither_says_what_it_is(tmp_path: Path, code: str, message: str, hint: str) -> None:
    found = only(list(ran(site(tmp_path, claim(code))).diagnostics))
    start = "the claim checks nothing" if "empty" in message else "the claim is neither true nor false"
    assert found.message == f"{start}: {message}" and hint in found.hint
    assert found.place is not None and found.place.line == 5 + code.count("\n") + 1
    assert not (tmp_path / "_freeze").exists()


@pytest.mark.parametrize("where", ["cell", "page"])
@pytest.mark.parametrize("code", ["1 == 2", "1 / 0 == 1"])
def test_error_true_does_not_excuse_a_claim(tmp_path: Path, where: str, code: str) -> None:
    """Code may have an error as its result, but the only valid result of a claim is that it is true."""
    body = claim(code, *(["error: true"] if where == "cell" else []))
    report = ran(site(tmp_path, body, head="execute: {error: true}\n" if where == "page" else ""))
    assert [found for found in said(report) if found[0] == "error"]
    assert not (tmp_path / "_freeze").exists() and not (tmp_path / "public").exists()


def test_a_cell_that_says_so_is_told(tmp_path: Path) -> None:
    warned = [("warning", "cell-option")]
    assert said(ran(site(tmp_path, claim("len('a') == 1", "error: true")))) == warned
    assert said(ran(site(tmp_path, claim("len('a') == 1", "label: so", "freeze: true")))) == warned
    assert said(ran(site(tmp_path, claim("len('a') == 1", "error: false", "freeze: auto")))) == []


@pytest.mark.parametrize("where", ["cell", "page"])
def test_a_claim_is_not_kept_whatever_changes(tmp_path: Path, where: str) -> None:
    options = ["label: so", *(["freeze: true"] if where == "cell" else [])]
    head = "execute: {freeze: true}\n" if where == "page" else ""
    ran(site(tmp_path, claim("len('a') == 1", *options), head=head))
    assert CHECKED in page(tmp_path)
    site(tmp_path, claim("len('a') == 2", *options), head=head)
    assert ("error", "freeze-stale") in said(frozen(tmp_path))
    assert ("error", "claim-false") in said(ran(tmp_path))


def test_a_result_that_was_kept_is_no_claim(tmp_path: Path) -> None:
    """The option was added later, so the recorded result was never checked."""
    kept = cell("#| label: so\n#| freeze: true\nlen('a') == 2")
    ran(site(tmp_path, kept))
    assert said(frozen(tmp_path)) == []
    site(tmp_path, claim("len('a') == 2", "label: so", "freeze: true"))
    assert ("error", "freeze-stale") in said(frozen(tmp_path))


def test_another_cells_output_does_not_check_a_claim(tmp_path: Path) -> None:
    body = cell("#| label: here\n'a stand-in'") + claim(
        "len('a') == 2", "needs: no_such_module", "fallback: here"
    )
    assert [s for s in said(ran(site(tmp_path, body))) if s[0] == "error"] == []
    assert CHECKED not in page(tmp_path) and OPEN in page(tmp_path)


def test_a_stale_claim_is_not_checked(tmp_path: Path) -> None:
    ran(site(tmp_path, claim("len('a') == 1")))
    site(tmp_path, claim("len('a') == 2"))
    build(tmp_path)
    assert CHECKED not in page(tmp_path) and OPEN in page(tmp_path)


@each_row("value", ["false", "true", "", "[]", "{a: b}"])
def test_a_claim_in_no_words_is_refused(value: str) -> None:
    found = parse(f"---\ntitle: A\n---\n```python\n#| claim: {value}\n1 == 2\n```\n").diagnostics
    assert [(f.severity, f.code) for f in found] == [("error", "cell-option")]


@pytest.mark.parametrize(("opening", "severity"), [("", "warning"), ("#| claim: So it is.\n", "error")])
def test_an_assertion_that_is_a_tuple(opening: str, severity: str) -> None:
    code = "x = 1\nif x:\n    assert (x == 2, 'why')\nx == 1"
    found = only(parse(f"---\ntitle: A\n---\n```python eval\n{opening}{code}\n```\n").diagnostics)
    assert found.place is not None
    assert (found.severity, found.code, found.place.column, found.place.length) == (
        severity,
        "cell-assert",
        12,
        15,
    )


def test_in_a_kernel_an_assertion_stands_for_a_claim() -> None:
    head = "---\ntitle: A\nexecute: {engine: jupyter}\n---\n"
    found = only(parse(f"{head}```{{python}}\nassert (1 == 2, 'why')\n```\n").diagnostics)
    assert (found.severity, found.code) == ("error", "cell-assert")


SHAPED = "#| shapes: check\nclass A:\n    shape = (2, 3)\ndef f(x):\n    y = x  # (2, 2)\n    return 1\n"


def test_a_shape_found_false_by_a_value_is_an_error(tmp_path: Path) -> None:
    report = ran(site(tmp_path, cell(SHAPED) + "\nIt is {= f(A()) =}.\n"))
    found = only(list(report.diagnostics))
    assert (found.code, found.place and found.place.line) == ("cell-shape", 9)
    assert not (tmp_path / "_freeze").exists()


def test_a_shape_found_false_between_cells_is_not_lost(tmp_path: Path) -> None:
    """A thread may still run when its cell has ended; its findings are reported with the next cell."""
    code = (
        f"{SHAPED}import threading\ngo, done = threading.Event(), threading.Event()\n"
        "def work():\n    go.wait(60); f(A()); done.set()\n"
        "threading.Thread(target=work, daemon=True).start()"
    )
    body = cell(code) + "\nIt is {= (go.set(), done.wait(60))[1] =}.\n\n" + cell("1")
    assert ("error", "cell-shape") in said(ran(site(tmp_path, body)))


def test_more_targets_than_shapes_is_told_and_raises_nothing(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    code = "#| shapes: check\nimport numpy as np\na, b, c = np.ones((3, 2))  # (2,), (2,)"
    assert said(ran(site(tmp_path, cell(code)))) == [("error", "cell-shape")]


def test_a_claim_behind_a_cell_that_never_ran_is_not_checked(tmp_path: Path) -> None:
    """The reader sees `x = 2` above it, and would think that the claim follows."""
    gap = cell("#| needs: no_such_module\n#| fallback: skip\nx = 2")
    body = cell("#| eval: true\nx = 1") + gap + claim("x == 1")
    assert ran(site(tmp_path, body)).ok
    assert OPEN in page(tmp_path) and CHECKED not in page(tmp_path)
    other = cell("#| eval: true\nx = 1") + claim("x == 1") + gap
    assert ran(site(tmp_path, other)).ok
    assert CHECKED in page(tmp_path) and OPEN not in page(tmp_path)
