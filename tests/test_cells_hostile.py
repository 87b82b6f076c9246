"""Cells and values in hostile text: no exception, and no long time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsed_posts import parse

HOSTILE = (
    "```python\n" + "#| echo: true\n" * 8000 + "```\n",
    "```python\n" + "".join(f"#| kk{i}: 1\n" for i in range(4000)) + "```\n",
    "```python\n#| ecoh: 1\nx\n```\n" * 2000,
    "```python\n#| needs: " + "[" * 20000 + "\nx\n```\n",
    "```python eval\n" + "-" * 100_000 + "1\n```\n",
    "```python eval\n" + " " * 100_000 + "%\n```\n",
    "```python eval\n" + "(" * 100_000 + "\n```\n",
    "```{code-cell}\n:tags: [" + "a," * 20000 + "]\nx\n```\n",
    "```python " + "echo=false " * 10000 + "\n```\n",
    "{= x =} " * 5000,
    "{= ( " * 20000,
    "{= ' " * 20000 + " =}",
    '{= """ ' * 15000 + " =}",
    "{=" * 50000 + " =}",
    "| a |\n|---|\n" + "| {= ( |\n" * 4000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:24]))
def test_hostile_text_takes_no_long_time(text: str) -> None:
    """Each takes less than 1.3 s on the author's machine; quadratic time would be minutes."""
    begin = time.process_time()
    parse(text)
    assert time.process_time() - begin < 10


PIECES = (
    "```", "```python", "```{python}", "```{code-cell}", " eval", "\n", "\n", "#| ", "#|", "label: a",
    "fig-cap: \"", "needs: [", "]", ":tags: [x]\n", "---\n", "{= ", " =}", "{==}", "x", ":", "!r", "(", "'",
    '"""', "> ", "- ", "    ",
    "| a |\n|---|\n", "[^1]: ", "[^1]", "\t", "é", "`", "$", "{#fig-x}", "@fig-x", "%%", "lambda",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(["off", "marked", "all"]))
def test_no_text_breaks_the_parser(text: str, mode: str) -> None:
    parsed = parse(text, f"execute: {mode}\n")
    lines = text.count("\n") + 1
    assert [cell.number for cell in parsed.cells.cells] == list(range(1, len(parsed.cells.cells) + 1))
    assert all(1 <= cell.first_line <= lines + 1 for cell in parsed.cells.cells)
    assert all(cell.code == "" or cell.code.endswith("\n") for cell in parsed.cells.cells)
    assert mode != "off" or not any(cell.is_run for cell in parsed.cells.cells)
    assert all(d.place is None or 1 <= d.place.line <= lines for d in parsed.diagnostics)
