"""Keys: which changes invalidate a recorded result, and which do not."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Place
from blogsmith.freeze.keys import (
    AS_WRITTEN,
    canonical_form,
    code_digest,
    environment_digests,
    line_layout,
    plain_form,
    session_keys,
)
from blogsmith.model.cells import Cell, CellOptions, FigureSettings, Need, PageCells
from tests.recorded import cell, page
from tests.rows import each_row

CODES = ["import numpy as np\n", "a = np.arange(9)\n", "a.sum()\n"]


def keys(post: PageCells, **environment: str) -> tuple[str, ...]:
    return session_keys(post, "main", environment).cells


def with_second(**options: Any) -> PageCells:
    return page(cell(CODES[0]), cell(CODES[1], **options), cell(CODES[2]))


@each_row(
    "options",
    [
        {"echo": False},
        {"output": False},
        {"warning": False},
        {"include": False},
        {"error": True},
        {"fig_cap": "Weights of one head", "fig_alt": "A matrix", "tbl_cap": "Weights"},
        {"lst_cap": "The loop", "lst_label": "lst-loop", "layout": "side"},
        {"code_fold": "Code", "code_summary": "Code", "fold_open": True},
        {"label": "cell-a"},
        {"freeze": "never"},
        {"fallback": "other"},
        {"timeout_s": 5.0, "memory_bytes": 10**9},
        {"run_in": "both"},
        {"fig_format": "svg", "fig_dark": False},
        {"places": {"echo": Place(3)}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_how_a_cell_is_shown_or_limited_is_no_part_of_its_key(options: dict[str, object]) -> None:
    assert keys(with_second(**options)) == keys(with_second())


@each_row(
    "options",
    [
        {"seed": 0},
        {"claim": "The sum is 36"},
        {"shapes": True},
        {"fig_format": "png"},
        {"fig_dark": True},
        {"needs": (Need("torch"),)},
        {"needs": (Need("torch", "2.6"),)},
        {"depends": ("data/*.npy",)},
        {"flags": "-O3"},
    ],
    ids=str,
)
def test_what_a_cell_computes_changes_its_key_and_those_behind_it(options: dict[str, object]) -> None:
    before, after = keys(with_second()), keys(with_second(**options))
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, False]


def test_the_words_of_a_claim_do_not_count() -> None:
    assert keys(with_second(claim="The sum is 36")) == keys(with_second(claim="It is thirty-six"))


@each_row(
    ("code", "same"),
    [
        ("a = np.arange(9)", True),
        ("a = np.arange(9)\n\n  \n", True),
        ("a = np.arange(9)\r\n", True),
        ("a = np.arange(9)  # (n,)\n", True),
        ("\n# all of them\na  =  np.arange( 9 )\n", True),
        ("a = np.arange(\n    9\n)\n", True),
        ("a = np.arange(9) \nb = 1\n", False),
        ("a = np.arange(9,)\n", False),
        ("a = np.arange(90)\n", False),
        ("b = np.arange(9)\n", False),
    ],
)
def test_how_code_is_laid_out_does_not_count(code: str, same: bool) -> None:
    changed = page(cell(CODES[0]), cell(code), cell(CODES[2]))
    assert (keys(changed)[1] == keys(with_second())[1]) is same


@each_row(
    ("one", "other"),
    [
        ("if x:\n    a()\nb()\n", "if x:\n    a()\n    b()\n"),
        ("x = 1 + 2\n", "x = 12\n"),
        ("f'{x}'\n", "f'{ x}'\n"),
        ("f'{{x}}'\n", "f'{x}'\n"),
        ('"""a\n\nb"""\n', '"""a\nb"""\n'),
        ("a\nb\n", "a; b\n"),
        ("plot()\n", "plot();\n"),
        ("!ls  # a\n", "!ls\n"),
        ("import inspect  # a\n", "import inspect\n"),
        ("def f():\n    'a  b'\n", "def f():\n    'a b'\n"),
    ],
)
def test_what_may_mean_something_else_counts(one: str, other: str) -> None:
    assert keys(page(cell(one))) != keys(page(cell(other)))


def test_comments_that_are_checked_count() -> None:
    shaped = page(cell("a = x @ y  # (n, m)\n", shapes=True))
    assert keys(shaped) != keys(page(cell("a = x @ y  # (n, k)\n", shapes=True)))
    assert keys(shaped) == keys(page(cell("a = x@y # (n, m)\n", shapes=True)))


def test_other_languages_count_as_written() -> None:
    assert keys(page(cell("x <- 1\n", language="r"))) != keys(page(cell("x <-  1\n", language="r")))


def test_keys_of_older_records_count_code_as_written() -> None:
    one, other = (
        session_keys(page(cell(code)), "main", {}, form=AS_WRITTEN) for code in ("x = 1\n", "x  = 1\n")
    )
    assert one.cells != other.cells and one.codes == (code_digest("x = 1"),)


@given(st.text("ab=1 \n'\"#f{}()[]!\\:\t;", max_size=30))
def test_any_text_has_a_form(code: str) -> None:
    form = canonical_form(code)
    assert form in (canonical_form(code + "\n# the end\n"), plain_form(code))
    assert isinstance(line_layout(code), str)


def test_blanks_inside_a_string_count() -> None:
    assert keys(page(cell('s = """a \nb"""\n'))) != keys(page(cell('s = """a\nb"""\n')))


def test_prose_label_and_session_name_do_not_count() -> None:
    moved = page(*(cell(code, label=f"cell-{n}", session="gpu") for n, code in enumerate(CODES)), lines=500)
    assert session_keys(moved, "gpu", {}).cells == keys(with_second())


def test_environment_language_and_depends_of_the_page_count_for_every_cell() -> None:
    plain = keys(with_second(), SEED="1")
    others = [
        keys(with_second()),
        keys(with_second(), SEED="2"),
        keys(with_second(), SEED="1", EXTRA=""),
        keys(replace(with_second(), depends=("data/*",)), SEED="1"),
        keys(page(*(cell(code, language="r") for code in CODES)), SEED="1"),
    ]
    assert all(not set(plain) & set(other) for other in others)


def test_a_kernel_counts_and_the_worker_adds_nothing() -> None:
    post = with_second()
    kernels = [replace(post, engine="jupyter", kernel=name) for name in ("", "python3", "ir")]
    default, same, other = map(keys, kernels)
    assert default == same and len({keys(post), default, other}) == 3
    assert keys(replace(post, kernel="ir")) == keys(post)


def test_the_figures_of_the_site_count_where_a_cell_does_not_decide() -> None:
    post = page(cell(CODES[0], fig_format="svg"), cell(CODES[1]))
    svg = session_keys(post, "main", {}, FigureSettings(format="svg")).cells
    png = session_keys(post, "main", {}, FigureSettings(format="png")).cells
    assert (svg[0] == png[0], svg[1] == png[1]) == (True, False)


def test_cells_that_do_not_run_and_other_sessions_do_not_count() -> None:
    extra = page(
        cell("1/0\n", eval=False),
        cell(CODES[0]),
        cell("gpu()\n", session="gpu"),
        cell(CODES[1]),
        cell("window()\n", run_in="browser"),
        cell(CODES[2]),
    )
    assert keys(extra) == keys(with_second())


def test_values_have_keys_of_their_place_and_do_not_advance_the_chain() -> None:
    post = page(*map(cell, CODES), values=[("a", 1), ("a", 2), ("a", 2), ("a.sum()", 3)])
    found = session_keys(post, "main", {})
    assert found.cells == keys(with_second())
    assert found.values[2] == found.values[3]
    assert len({found.values[number] for number in (1, 2, 4)}) == 3


def test_conversion_and_spec_of_a_value_count() -> None:
    post = page(cell(), values=[("a", 1)])
    value = post.values[0]
    forms = [
        value,
        replace(value, spec=".2f"),
        replace(value, conversion="r"),
        replace(value, expression="b"),
    ]
    made = {session_keys(replace(post, values=(form,)), "main", {}).values[1] for form in forms}
    assert len(made) == 4


def test_values_belong_to_main() -> None:
    post = page(cell(session="gpu"), values=[("1 + 1", 0)])
    assert session_keys(post, "gpu", {}).values == {}
    assert list(session_keys(post, "main", {}).values) == [1]


def test_digests_of_the_environment_are_short_and_of_name_and_value() -> None:
    found = environment_digests({"A": "secret", "B": "secret"})
    assert found["A"] != found["B"]
    assert {len(digest) for digest in found.values()} == {8}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
CELLS = st.builds(
    lambda code, label, seed, echo, depends: cell(code, label, seed=seed, echo=echo, depends=depends),
    TEXTS,
    TEXTS,
    st.none() | st.integers(0, 3),
    st.booleans(),
    st.lists(TEXTS, max_size=1).map(tuple),
)


def matters(post: PageCells) -> list[object]:
    return [
        (c.code.replace("\r\n", "\n").replace("\r", "\n").rstrip(), c.options.seed, c.options.depends)
        for c in post.cells
    ]


@given(st.lists(CELLS, max_size=3), st.lists(CELLS, max_size=3))
def test_keys_are_equal_exactly_as_far_as_what_matters_is(one: list[Cell], other: list[Cell]) -> None:
    pages = page(*one), page(*other)
    for count in range(1, min(len(one), len(other)) + 1):
        same = matters(pages[0])[:count] == matters(pages[1])[:count]
        assert (keys(pages[0])[count - 1] == keys(pages[1])[count - 1]) is same


@given(st.dictionaries(TEXTS, TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_environments_that_differ_have_other_keys(one: dict[str, str], other: dict[str, str]) -> None:
    starts = [session_keys(page(cell()), "main", environment).start for environment in (one, other)]
    assert (starts[0] == starts[1]) is (one == other)


def test_every_option_was_decided_upon() -> None:
    """A new option must be added to one of the two tables above."""
    assert set(CellOptions.__struct_fields__) == {
        *("echo", "output", "error", "warning", "include", "fig_cap", "fig_alt", "tbl_cap"),
        *("code_fold", "fold_open", "freeze", "fallback", "timeout_s", "memory_bytes", "places", "texts"),
        *("seed", "claim", "shapes", "fig_format", "fig_dark", "needs", "depends"),
        *("eval", "run_in", "session", "label", "code_summary"),
        *("lst_cap", "lst_label", "layout", "sweep", "sweep_default", "provenance", "tolerance"),
        *("repeatable", "counter_check", "flags"),
    }
