"""The options of a cell: the meaning of each in all spellings, and defaults for cells without them."""

from __future__ import annotations

import pytest

from blogsmith.base.diagnostics.model import Place
from blogsmith.model.cells import Cell, CellOptions, Need
from blogsmith.model.sweeps import Sweep, SweepAxis
from blogsmith.syntax.cells.option_values import KEYS
from tests.parsed_posts import only, parse
from tests.rows import each_row


def with_option(line: str) -> Cell:
    return only(f"```python\n#| {line}\nx == 1\n```\n")


OPTIONS: tuple[tuple[str, str, object], ...] = (
    ("eval: false", "eval", False),
    ("echo: false", "echo", False),
    ("output: false", "output", False),
    ("error: true", "error", True),
    ("warning: false", "warning", False),
    ("include: false", "include", False),
    ('fig-cap: "A $x$: b"', "fig_cap", "A $x$: b"),
    ("fig-cap: 3", "fig_cap", "3"),
    ("fig-alt: Two lines", "fig_alt", "Two lines"),
    ("tbl-cap: Sizes in $n$", "tbl_cap", "Sizes in $n$"),
    ("lst-cap: The loop, $n$ times", "lst_cap", "The loop, $n$ times"),
    ("lst-label: lst-loop", "lst_label", "lst-loop"),
    ("layout: side", "layout", "side"),
    ("sweep: {d: [4, 16]}", "sweep", Sweep((SweepAxis("d", (4, 16)),))),
    (
        "sweep: {a: [relu, true], b: [0.5, 1]}",
        "sweep",
        Sweep((SweepAxis("a", ("relu", True)), SweepAxis("b", (0.5, 1)))),
    ),
    ("code-fold: true", "code_fold", "Show code"),
    ("code-fold: Plot it", "code_fold", "Plot it"),
    ("code-fold: false", "code_fold", ""),
    ("freeze: auto", "freeze", "auto"),
    ("freeze: true", "freeze", "always"),
    ("freeze: false", "freeze", "never"),
    ("needs: torch", "needs", (Need("torch"),)),
    ('needs: "cuda>=8.0"', "needs", (Need("cuda", "8.0"),)),
    (
        'needs: [numpy >= 2.0, scipy.linalg, "cuda"]',
        "needs",
        (Need("numpy", "2.0"), Need("scipy.linalg"), Need("cuda")),
    ),
    ("session: gpu", "session", "gpu"),
    ("depends: data/*.npy", "depends", ("data/*.npy",)),
    ("depends: [a.npy, ../b/**]", "depends", ("a.npy", "../b/**")),
    ("timeout: 90", "timeout_s", 90.0),
    ("timeout: 5 min", "timeout_s", 300.0),
    ("memory: 2 GB", "memory_bytes", 2 * 10**9),
    ("memory: 512 MiB", "memory_bytes", 512 * 2**20),
    ("seed: 0", "seed", 0),
    ("tolerance: 1e-6", "tolerance", 1e-6),
    ("tolerance: 0.5", "tolerance", 0.5),
    ("run-in: both", "run_in", "both"),
    ("run-in: browser", "run_in", "browser"),
    ("claim: The loss is below $1$", "claim", "The loss is below $1$"),
    ("fig-format: png", "fig_format", "png"),
    ("fig-dark: true", "fig_dark", True),
    ("repeatable: false", "repeatable", False),
    ("counter-check: false", "counter_check", False),
    ("shapes: check", "shapes", True),
    ("shapes: true", "shapes", True),
    ("shapes: off", "shapes", False),
    ("provenance: full", "provenance", "full"),
    ("provenance: none", "provenance", "none"),
)


@each_row(("line", "field", "value"), OPTIONS)
def test_an_option_fills_its_field_and_no_other(line: str, field: str, value: object) -> None:
    options = with_option(line).options
    assert getattr(options, field) == value
    changed = {
        name
        for name in CellOptions.__struct_fields__
        if getattr(options, name) != getattr(CellOptions(), name)
    }
    assert changed <= {field, "places", "texts"}
    key = line.partition(":")[0]
    assert options.places[key].line == 2 and options.places[key].column == len(f"#| {key}: ") + 1


def test_the_table_above_knows_every_option() -> None:
    told = {line.partition(":")[0] for line, _, _ in OPTIONS}
    assert told | {"label", "code-summary", "fallback", "flags", "sweep-default"} == set(KEYS)


def test_options_that_need_others() -> None:
    cell = only(
        "```python\n#| code-fold: show\n#| code-summary: How\n"
        "#| label: fig:x y\n#| needs: torch\n#| fallback: skip\nx\n```\n"
    )
    assert (cell.options.code_fold, cell.options.fold_open) == ("How", True)
    assert (cell.label, cell.figure_number, cell.options.fallback) == ("fig-x-y", "1", "skip")


def test_labels_of_tables() -> None:
    text = "```python\n#| label: tab:x\n#| needs: torch\n#| fallback: tab-y\nx\n```\n\n"
    first, second = parse(text + "```{python #tab-y}\nx\n```\n").cells.cells
    assert (first.label, first.table_number, first.options.fallback) == ("tbl-x", "1", "tbl-y")
    assert (second.label, second.table_number, second.figure_number) == ("tbl-y", "2", "")


@pytest.mark.parametrize("line", ["eval: false", "include: false", "output: false", "run-in: browser"])
def test_what_shows_no_table_has_no_number(line: str) -> None:
    parsed = parse(f"```python\n#| label: tbl-x\n#| {line}\nx\n```\n\n| a |\n|--|\n| b |\n\n: B {{#tbl-b}}\n")
    assert parsed.cells.cells[0].table_number == ""
    assert (list(parsed.labels), parsed.labels["tbl-b"].number) == (["tbl-b"], "1")


def test_options_in_the_info_string() -> None:
    one = "```{python #one echo=false fig-cap='A b'}\nx\n```\n\n"
    text = one + '```python eval timeout="5 min" fold label=two\ny\n```\n'
    first, second = parse(text).cells.cells
    assert (first.label, first.options.echo, first.options.fig_cap) == ("one", False, "A b")
    assert first.options.texts["fig-cap"].place(0) == Place(1, 37, 1)
    assert (second.label, second.options.timeout_s, second.options.code_fold) == ("two", 300.0, "Show code")
    assert parse(text).diagnostics == ()


@each_row(
    ("tags", "field", "value"),
    [
        ("[raises-exception]", "error", True),
        ("[skip-execution]", "eval", False),
        ("hide-input", "code_fold", "Show code"),
        ("[remove-input]", "echo", False),
        ("remove-input, remove-output", "output", False),
        ("[remove-cell, own-tag]", "include", False),
        ("[remove-stderr]", "warning", False),
    ],
)
def test_tags_of_myst(tags: str, field: str, value: object) -> None:
    for head in (f":tags: {tags}\n", f"---\ntags: {tags}\n---\n"):
        cell = only(f"```{{code-cell}} python\n{head}x = 1\n```\n")
        assert getattr(cell.options, field) == value
        assert (cell.code, cell.options.places) == ("x = 1\n", {})


def test_an_option_overrides_a_tag_wherever_it_stands() -> None:
    text = "```{code-cell} python\n:tags: [remove-input]\n:echo: true\n:label: a\n#| output: false\nx\n```\n"
    cell = only(text)
    assert (cell.options.echo, cell.options.output, cell.label, cell.first_line) == (True, False, "a", 6)


def test_dashes_and_colons_are_code_where_they_are_not_options() -> None:
    assert parse("```{code-cell} python\n---\nx\n```\n").cells.cells[0].code == "---\nx\n"
    assert parse("```{python}\n:tags: [hide-input]\n```\n").cells.cells[0].code.startswith(":tags:")


def test_page_and_site_say_what_a_cell_does_not() -> None:
    said = "echo: false, freeze: true, timeout: 5 min, memory: 1 GB, depends: a.npy, warning: false"
    head = f"---\nexecute: {{{said}}}\n---\n"
    text = "```python eval\nx\n```\n\n```python\n#| echo: true\n#| timeout: 3\ny\n```\n"
    parsed = parse(head + text, "execute: {shapes: check}\n")
    first, second = (cell.options for cell in parsed.cells.cells)
    assert (first.echo, first.freeze, first.timeout_s, first.memory_bytes) == (False, "always", 300.0, 10**9)
    assert (second.echo, second.timeout_s, second.warning) == (True, 3.0, False)
    assert first.shapes and second.shapes
    assert parsed.cells.depends == ("a.npy",)
    assert (
        not parse("---\nexecute: {shapes: off}\n---\n" + text, "execute: {shapes: check}\n")
        .cells.cells[0]
        .options.shapes
    )


def test_the_seed_of_a_page_is_set_once_a_session() -> None:
    cells = ("eval", "eval=false", "eval", "eval session=b", "eval session=b seed=5", "eval session=c seed=6")
    text = "".join(f"```python {info}\nx\n```\n\n" for info in cells)
    found = parse(f"---\nexecute: {{seed: 3}}\n---\n{text}").cells.cells
    assert [cell.options.seed for cell in found] == [3, None, None, 3, 5, 6]
