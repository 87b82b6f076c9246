"""`execute:` of site and page, and the spellings of times, memory and files."""

from __future__ import annotations

from pathlib import PurePosixPath

from blogsmith.config.load import parse_config
from blogsmith.model.cells import PageExecution
from blogsmith.model.documents import Source
from blogsmith.model.execution_values import parse_bytes, parse_seconds, pattern_problem
from blogsmith.read.front_matter import read_document
from tests.rows import each_row


@each_row(
    ("value", "seconds"),
    [(90, 90), (0.5, 0.5), ("90", 90), ("5 min", 300), ("1.5h", 5400), ("2 minutes", 120), (0, None),
     (-1, None), (True, None), (float("inf"), None), (float("nan"), None), ("8 days", None),
     ("", None), (None, None), (10**9, None)],
)  # fmt: skip
def test_times(value: object, seconds: float | None) -> None:
    assert parse_seconds(value) == seconds


@each_row(
    ("value", "amount"),
    [("2 GB", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("512 mb", 512 * 10**6), ("32 MB", 32 * 10**6),
     ("31 MB", None), ("2", None), (2, None), ("9 PB", None), ("999999999 TB", None),
     ("GB", None), (None, None)],
)  # fmt: skip
def test_amounts_of_memory(value: object, amount: int | None) -> None:
    assert parse_bytes(value) == amount


@each_row("pattern", ["a.npy", "data/**/*.npy", "../b/x", "../../../root", "./a", "a b.txt", "x/../../y"])
def test_patterns_within_the_site(pattern: str) -> None:
    assert pattern_problem(pattern, PurePosixPath("content/posts/a")) == ""


@each_row("pattern", ["", "/etc", "~/x", "../../../../x", "C:/x", "a\\b", "a/../../../../../x", "file:///x"])
def test_patterns_that_lead_out(pattern: str) -> None:
    assert pattern_problem(pattern, PurePosixPath("content/posts/a"))


@each_row(
    ("written", "expected"),
    [
        ("off", PageExecution(mode="off")),
        ("false", PageExecution(mode="off")),
        ("all", PageExecution(mode="all")),
        ("{mode: marked, error: true, seed: 7}", PageExecution(mode="marked", error=True, seed=7)),
        ("{freeze: false, shapes: check}", PageExecution(freeze="never", shapes=True)),
        ("{timeout: 2 min, memory: 1 GB}", PageExecution(timeout_s=120.0, memory_bytes=10**9)),
        ("{echo: false, warning: true}", PageExecution(echo=False, warning=True)),
        ("{depends: [a, b/*]}", PageExecution(depends=("a", "b/*"))),
        ("{}", PageExecution()),
    ],
)
def test_execute_of_a_page(written: str, expected: PageExecution) -> None:
    source = Source(PurePosixPath("content/posts/a.md"), f"---\nexecute: {written}\n---\n", "")
    document, found = read_document(source, parse_config("").config)
    assert (document.front.execution, found) == (expected, ())


def test_execute_of_the_site() -> None:
    assert parse_config("execute: all\n").config.execution.mode == "all"
    config = parse_config(
        "execute: {timeout: 5, env: [A_B], memory: 512 MiB, figures: {dark: true}}\n"
    ).config
    assert (config.execution.mode, config.execution.timeout, config.execution.env) == (
        "marked",
        5.0,
        ("A_B",),
    )
    assert config.execution.figures.dark and config.execution.memory == "512 MiB"
