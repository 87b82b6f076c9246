"""Cells as parsed: opt-in, their code, and all positions."""

from __future__ import annotations

import pytest

from blogsmith.base.diagnostics.model import Place
from blogsmith.model.cells import Cell
from blogsmith.syntax.records import Fence, get_record
from blogsmith.syntax.references.labels import anchors
from blogsmith.syntax.token_listing import format_tokens
from tests.parsed_posts import only, parse
from tests.rows import each_row


@each_row(
    ("opening", "line", "mode", "runs"),
    [
        ("python", "", "marked", None),
        ("python", "#| echo: true\n", "marked", True),
        ("python", "#| eval: false\n", "marked", False),
        ("python eval", "", "marked", True),
        ("python eval=true", "", "marked", True),
        ("python eval=false", "", "marked", False),
        ("python {eval=true #x}", "", "marked", True),
        ('python title="a.py" eval', "", "marked", True),
        ("{python}", "", "marked", True),
        ("{python eval=FALSE}", "", "marked", False),
        ("{.python}", "", "marked", None),
        ("{code-cell}", "", "marked", True),
        ("{code-cell} ipython3", "", "marked", True),
        ("{code-block} python", "", "marked", None),
        ("py", "#| echo: true\n", "marked", True),
        ("python3 eval", "", "marked", True),
        ("pycon", "", "all", None),
        ("text", "#| echo: true\n", "all", None),
        ("scheme", "#| a comment |#\n", "all", None),
        ("python", "", "all", True),
        ("python eval=false", "", "all", False),
        ("python", "# just a comment\n", "marked", None),
        ("python", "x = 0\n#| echo: true\n", "marked", None),
        ("python", "", "off", None),
        ("{python}", "", "off", False),
        ("python", "#| eval: true\n", "off", False),
    ],
)
def test_what_opts_in(opening: str, line: str, mode: str, runs: bool | None) -> None:
    text = f"```{opening}\n{line}x = 1\n```\n"
    for page, config in ((f"---\nexecute: {mode}\n---\n{text}", ""), (text, f"execute: {mode}\n")):
        parsed = parse(page, config)
        assert [cell.is_run for cell in parsed.cells.cells] == ([] if runs is None else [runs])
        assert [d.message for d in parsed.diagnostics if d.severity == "error"] == []


def test_the_code_is_what_runs_and_what_is_shown() -> None:
    parsed = parse("```{python} linenos\n#| echo: true\n#|\n\nx = 1\n\ny\n```\n")
    (cell,) = parsed.cells.cells
    token = parsed.tokens[0]
    assert cell.code == token.content == "x = 1\n\ny\n"
    assert (cell.first_line, cell.place) == (5, Place(1, 4, 8))
    assert get_record(token, Fence).language == cell.language == "python"
    assert get_record(token, Fence).numbered is True
    assert get_record(token, Cell) is cell


@pytest.mark.parametrize(
    "text", ["```python eval\n```\n", "```python\n#| eval: true\n```\n", "```python eval"]
)
def test_a_cell_may_be_empty(text: str) -> None:
    (cell,) = parse(text).cells.cells
    assert cell.code == "" and cell.is_run


@each_row(("before", "column"), [("", 1), ("> ", 3), ("> - ", 5), ("- - ", 5), ("1. > > ", 8)], ids=repr)
def test_places_in_containers(before: str, column: int) -> None:
    rest = before.replace("-", " ").replace("1.", "  ")
    lines = ['#| fig-cap: "Ä $x$', '#|   and y"', "#| echo: nope", "été = (", ""]
    text = f"{before}```python\n" + "".join(f"{rest}{line}\n" for line in lines) + f"{rest}```\n"
    parsed = parse(text)
    (cell,) = parsed.cells.cells
    found = {(d.code, d.place) for d in parsed.diagnostics}
    assert found == {
        ("cell-option", Place(4, column + 9, 4)),
        ("cell-syntax", Place(5, column + 6, 1)),
    }
    caption = cell.options.texts["fig-cap"]
    assert caption.text.split("\n") == ["Ä $x$", "and y"]
    assert (caption.place(2), caption.place(7)) == (Place(2, column + 15, 1), Place(3, column + 6, 1))
    assert (cell.first_line, cell.place.column) == (5, column + 3)


def test_cells_work_wherever_fences_do() -> None:
    fence = ["```python", "#| echo: true", "x = 1", "```"]

    def inside(before: str) -> str:
        return "".join(f"{before}{line}\n" for line in fence)

    text = (
        "> [!NOTE] Title {= t =}\n"
        + inside("> ")
        + '\n<div class="collapsible" data-label="Show">\n\n'
        + inside("")
        + "\n</div>\n\n[^n]: A note {= n =}\n\n"
        + inside("    ")
        + "\n- item\n\n"
        + inside("  ")
        + "\nText.[^n]\n"
    )
    parsed = parse(text)
    assert [d.message for d in parsed.diagnostics] == []
    assert [cell.first_line for cell in parsed.cells.cells] == [4, 11, 20, 27]
    assert [cell.number for cell in parsed.cells.cells] == [1, 2, 3, 4]
    assert [(value.expression, value.after) for value in parsed.cells.values] == [("t", 0), ("n", 2)]


def test_runnable_blocks_stay_in_the_browser() -> None:
    block = '<div class="runnable" data-lang="python">\n\n```python{}\nx\n```\n\n</div>\n'
    head = "---\nexecute: all\n---\n"
    assert parse(head + block.replace("{}", "")).cells.cells == ()
    assert len(parse(head + block.replace("{}", " eval")).cells.cells) == 1


def test_what_strangers_write_is_never_run() -> None:
    text = "---\nexecute: all\n---\n```{python}\nx\n```\n"
    assert [cell.is_run for cell in parse(text, "markup: {untrusted: true}\n").cells.cells] == [False]


def test_a_label_fig_makes_a_figure() -> None:
    cell = "```python\n#| label: {}\n#| {}\nx\n```\n\n"
    shown = [
        ("fig-a", "echo: true"),
        ("fig-b", "output: false"),
        ("other", "echo: true"),
        ("fig-c", "run-in: both"),
    ]
    hidden = [("fig-d", "eval: false"), ("fig-e", "include: false"), ("fig-f", "run-in: browser")]
    parsed = parse(
        "![x](a.png){#fig-0}\n\n" + "".join(cell.format(*pair) for pair in (*shown, *hidden)) + "@fig-a\n"
    )
    assert [cell.figure_number for cell in parsed.cells.cells] == ["2", "", "", "3", "", "", ""]
    assert {label.id: label.number for label in parsed.labels.values()} == {
        "fig-0": "1",
        "fig-a": "2",
        "fig-c": "3",
    }
    assert parsed.labels["fig-a"].place == Place(4, 11, 5)
    assert {"cell-fig-a", "fig-a", "cell-other", "cell-fig-b", "fig-d"} <= anchors(parsed.tokens)
    assert not {"fig-b", "other", "cell-fig-e", "fig-e"} & anchors(parsed.tokens)


def test_another_python_judges_its_own_grammar() -> None:
    text = "```python eval\nx = $\n```\n\n{= a b =}\n"
    assert {d.code for d in parse(text).diagnostics} == {"cell-syntax", "value-syntax"}
    assert parse(text, "execute: {python: venv/bin/python}\n").diagnostics == ()


@pytest.mark.filterwarnings("error")
def test_an_escape_in_a_cell_warns_nobody_here() -> None:
    only('```python eval\npattern = "\\d"\n```\n')


def test_tokens_show_what_runs() -> None:
    text = '```{python}\n#| label: a\n#| needs: "cuda>=8.0"\n#| echo: false\nx = 1\n```\n\n{= x:.3f =}\n'
    shown = format_tokens(parse(text).tokens, 1)
    assert (
        "Cell(number=1, first_line=5, label='a', echo=False, needs=('cuda>=8.0',), language='python')"
        in shown
    )
    assert "8:1     value 'x:.3f' Value(number=1, expression='x', spec='.3f', after=1)" in shown


@each_row(
    ("kernel", "fences", "runs"),
    [
        ("", "{python} r,eval", None),
        ("", "{python} python {code-cell}", ["python", "python"]),
        ("python3", "{code-cell}", ["python"]),
        ("julia-1.10", "{julia} julia jl,eval {code-cell} {mermaid}", ["julia", "julia", "julia"]),
        ("julia-1.10", "{python} {julia}", None),
        ("ir", "{r} {R} r", ["r", "r"]),
        ("my-analysis", "{python} python,eval python", ["python", "python"]),
        ("my-analysis", "{r}", ["r"]),
        ("bash", "{sh} {bash} shell,eval", ["bash", "bash", "bash"]),
        ("maxima", "{maxima} text", ["maxima"]),
        ("maxima", "{maxima} {julia}", None),
        ("bash", "{bash} python,eval=false", ["bash"]),
        ("bash", "{bash} python,eval", None),
    ],
)
def test_the_kernel_says_which_language_is_run(kernel: str, fences: str, runs: list[str] | None) -> None:
    text = "\n".join(f"```{fence.replace(',', ' ')}\n1\n```\n" for fence in fences.split())
    page = f"---\nexecute: {{engine: jupyter, kernel: {kernel!r}}}\n---\n{text}"
    for parsed in (parse(page), parse(text, f"execute: {{engine: jupyter, kernel: {kernel!r}}}")):
        wrong = [d.code for d in parsed.diagnostics if d.severity == "error"]
        assert wrong == ([] if runs is not None else ["cell-language"])
        if runs is not None:
            assert [cell.language for cell in parsed.cells.cells] == runs
        assert (parsed.cells.engine, parsed.cells.kernel) == ("jupyter", kernel)


@pytest.mark.parametrize(
    ("kernel", "fences", "runs"),
    [
        ("julia-1.10", "julia python", ["julia"]),
        ("my-analysis", "text python r", ["python"]),
        ("bash", "text", []),
    ],
)
def test_all_fences_in_the_language_of_the_kernel(kernel: str, fences: str, runs: list[str]) -> None:
    text = "\n".join(f"```{fence}\n1\n```\n" for fence in fences.split())
    parsed = parse(f"---\nexecute: {{mode: all, kernel: {kernel}}}\n---\n{text}")
    assert [cell.language for cell in parsed.cells.cells] == runs


@each_row(
    ("language", "sign"),
    [("julia", "#"), ("javascript", "//"), ("go", "//"), ("sql", "--"), ("octave", "%"), ("scheme", ";;")],
)
def test_options_are_comments_of_their_language(language: str, sign: str) -> None:
    text = f"```{language}\n{sign}| label: one\n{sign}| echo: false\n\nx\n```\n"
    cell = only(f"---\nexecute: {{kernel: {language}}}\n---\n{text}")
    assert (cell.label, cell.options.echo, cell.code, cell.language) == ("one", False, "x\n", language)
    assert cell.first_line == 8


def test_a_page_chooses_its_engine() -> None:
    config = "execute: {engine: jupyter, kernel: ir}"
    cells = parse("---\nexecute: {engine: worker}\n---\n```{python}\n1\n```\n", config).cells
    assert (cells.engine, cells.kernel, len(cells.cells)) == ("worker", "", 1)
    cells = parse("---\nexecute: {kernel: julia}\n---\n```{julia}\n1\n```\n", config).cells
    assert (cells.engine, cells.kernel, len(cells.cells)) == ("jupyter", "julia", 1)


@pytest.mark.parametrize("why", ["#| eval: false", "#| run-in: browser"])
def test_a_kernel_is_not_asked_for_what_it_does_not_run(why: str) -> None:
    head = "---\nexecute: {engine: jupyter, shapes: check}\n---\n"
    wrong = parse(f"{head}```{{python}}\n#| claim: x\n1\n```\n").diagnostics
    assert [(d.code, d.severity) for d in wrong] == [("cell-option", "error")] * 2
    (said,) = parse(f"{head}```{{python}}\n{why}\n#| claim: x\n1\n```\n").diagnostics
    assert (said.severity, said.message.partition(" because")[0]) == (
        "warning",
        'option "claim" has no effect',
    )


def test_a_kernel_judges_its_own_grammar() -> None:
    head = "---\nexecute: {engine: jupyter}\n---\n"
    assert parse(f"{head}```{{python}}\n%time 1\n```\n\n{{= x! =}}\n").diagnostics[0].code == "value-syntax"
    assert only(f"{head}```{{python}}\n%time 1\n```\n").is_run
    parsed = parse("---\nexecute: {kernel: julia}\n---\n```{julia}\n1\n```\n\nIt is {= f!(x) ? a : b =}.\n")
    (value,) = parsed.cells.values
    assert (value.expression, value.conversion, value.spec) == ("f!(x) ? a : b", "", "")
    assert parsed.diagnostics == ()
