"""Rows 30 to 32: the work for hostile YAML, Markdown and code is proportional to its length.

Work is counted in calls and lines, which does not depend on the load of the machine. The `long` tests limit
CPU time, at several times what they need on an idle machine.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from html import unescape
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import blogsmith
from blogsmith.render.code import FigureOptions, code_figure, highlight
from tests.check import render
from tests.rows import each_row, thinned
from tests.security.pathological import PATTERNS

SIZE = 100_000
LIMIT_S = 5.0
"""Limit in CPU seconds for a page."""

GROWTH = 5.5
"""Limit on the ratio of work for a text four times as long. Quadratic work would give 16."""

FIXED = 40_000
"""Calls and lines that any page may need, for imports and for tables that are built once."""

DEEP = frozenset({"collapsibles", "elements with Markdown in each other"})
"""Patterns where each of at most a hundred levels searches for its own end."""

FILLED = frozenset({"table of empty rows"})
"""Patterns with missing table cells, which are filled in: rows times columns, up to a limit per page."""

MENDED = frozenset(
    {
        "dollars, letters, blanks",
        "environments of many names",
        "fences of many languages",
        "footnotes in footnotes",
        "hard link emphasis",
        "inline footnote openings",
        "images",
        "double dollars",
        "images, closed",
        "nested block quotes",
        "one id many times",
        "one long definition, many uses",
        "shortcode openings",
        "shortcode openings on lines",
        "table heads without rows",
    }
)
"""Patterns that were slow in the past, here or in our dependencies."""
EVERY = 8
"""Without `long`, every eighth of the other patterns is tested."""
GROWING = [
    name if name in MENDED or number % EVERY == 0 else pytest.param(name, marks=pytest.mark.long)
    for number, name in enumerate(PATTERNS)
]

PACKAGE = str(Path(blogsmith.__file__).parent)


def count_work(work: Callable[[], object]) -> int:
    """Return the number of function calls plus the number of lines of our own that run."""
    count = itertools.count()
    step = count.__next__

    def see_line(frame: FrameType, event: str, argument: object) -> Any:
        step()
        return see_line

    def see_frame(frame: FrameType, event: str, argument: object) -> Any | None:
        return see_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def see_call(frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            step()

    before = sys.gettrace()
    sys.setprofile(see_call)
    sys.settrace(see_frame)
    try:
        work()
    finally:
        sys.settrace(before)
        sys.setprofile(None)
    return next(count)


@pytest.mark.parametrize("name", GROWING)
def test_row_31_work_grows_with_the_length_of_a_page(name: str) -> None:
    render("warm")
    small, large = PATTERNS[name](600), PATTERNS[name](2_400)
    first, second = (count_work(partial(render, text)) for text in (small, large))
    growth = 8 if name in DEEP else 16 if name in FILLED else GROWTH
    assert second < growth * max(first, FIXED), f"{first:,}, then {second:,}"


@pytest.mark.long
@pytest.mark.parametrize("name", PATTERNS)
def test_row_31_a_page_of_100_kb_ends(name: str) -> None:
    text = PATTERNS[name](SIZE)
    start = time.process_time()
    render(text)
    assert time.process_time() - start < LIMIT_S


def test_row_31_missing_cells_are_filled_in_up_to_a_limit_for_the_page() -> None:
    """After the limit the table ends, with a diagnostic."""
    unit = "|x" * 250 + "|\n" + "|-" * 250 + "|\n" + "|\n" * 50 + "\n"
    assert not render(unit).diagnostics
    found = render(unit * 3)
    assert found.html.count("<td>") <= 20_000
    assert [one.code for one in found.diagnostics][:1] == ["table-cells"]


BOMBS = """
aliases = "a0: &a0 [x, x]\\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\\n" for n in range(1, 10))
bombs = {
    "aliases": aliases,
    "itself": "a: &a [*a]\\n",
    "merge": "a: &a {b: 1}\\nc: {<<: *a}\\n",
    "object": "a: !!python/object/apply:os.system [id]\\n",
    "name": "a: !!python/name:os.system\\n",
    "million": "a: " + "x" * 1_000_000 + "\\n",
    "brackets": "a: " + "[" * 5000 + "\\n",
    "braces": "a: " + "{b: " * 5000 + "\\n",
    "dashes": "- " * 5000 + "\\n",
    "keys": "? " * 5000 + "\\n",
    "steps": "".join(f"{' ' * depth}a:\\n" for depth in range(330)),
    "digits": "a: " + "1" * 60_000 + "\\n",
    "many digits": "a: " + "1" * 100_000 + "\\n",
    "NUL": "a: b\\x00\\n",
    "many NUL": "\\x00" * 60_000 + "\\n",
    "tab": "a:\\n\\tb: 1\\n",
    "many tabs": "\\t" * 60_000 + "a: 1\\n",
    "anchors": "".join(f"k{n}: &a{n} 1\\n" for n in range(4000)),
    "one key": "draft: 1\\n" * 6000,
    "open quote": "a: '" + "x" * 60_000 + "\\n",
}
"""

CHILD = """
import json, re, time
from pathlib import Path, PurePosixPath
from blogsmith.config.schema import Config
from blogsmith.config.load import parse_config
from blogsmith.model.documents import Source
from blogsmith.read.front_matter import read_document
for name, text in bombs.items():
    for kind in ("front matter", "settings"):
        start = time.process_time()
        if kind == "settings":
            found = parse_config(text).diagnostics
        else:
            source = Source(PurePosixPath("content/a.md"), f"---\\n{text}---\\n\\nText\\n", "")
            found = read_document(source, Config())[1]
        errors = [d for d in found if d.severity == "error"]
        seconds = time.process_time() - start
        # not getrusage: what the parent held counts there
        megabytes = int(re.search("VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
        has_lines = all(d.place and d.place.line >= 1 for d in errors)
        print(json.dumps([f"{name} in {kind}", len(errors), has_lines, seconds, megabytes]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_row_30_yaml_bombs_are_errors_with_lines_in_a_second_and_200_mb() -> None:
    command = [sys.executable, "-c", BOMBS + CHILD]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 40
    for name, errors, has_lines, seconds, megabytes in rows:
        assert errors >= 1 and has_lines, name
        assert seconds < 1 and megabytes < 200, f"{name}: {seconds:.2f} s, {megabytes:.0f} MB"


LANGUAGES = (
    *("python", "cpp", "js", "json", "yaml", "html", "bash", "toml"),
    *("diff", "console", "rust", "sql", "css", "java", "tex"),
)
CODE: dict[str, Callable[[int], str]] = {
    "one line": lambda size: "a" * size + "!",
    "lines": lambda size: ("a" * 99 + "!\n") * (size // 101),
    "openings": lambda size: ("({[<" * 20 + "\n") * (size // 81),
    "quotes": lambda size: ("\"'`" * 30 + "\n") * (size // 91),
    "backslashes": lambda size: ("\\\\" * 40 + "\n") * (size // 81),
    "blanks": lambda size: (" " * 90 + "\n") * (size // 91),
    "comments": lambda size: "/*<!--#//" * (size // 9),
    "dollars": lambda size: ("${$(" * 20 + "\n") * (size // 81),
    "prompts": lambda size: "$ a\n>>> b\n" * (size // 10),
}


def plain_text(figure: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", figure.partition('<pre class="highlight"')[2].partition(">")[2]))


# The alarm may occur in a callback of the test tools, where it is lost; it then occurs again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("language", thinned(LANGUAGES, every=4))
@each_row("pattern", CODE)
def test_row_32_code_is_shown_whole_however_slow_its_lexer_is(language: str, pattern: str) -> None:
    """With a short time limit, code is shown complete, without colours from the point of the timeout."""
    source = CODE[pattern](8_000)
    shown = highlight(source, language, deadline_s=0.05, max_line=10_000)
    figure = code_figure(shown.lines, language, FigureOptions())
    assert plain_text(figure).rstrip("\n") == source.rstrip("\n")


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("pattern", CODE)
def test_row_32_100_kb_of_code_end(language: str, pattern: str) -> None:
    source = CODE[pattern](SIZE)
    start = time.process_time()
    shown = highlight(source, language, deadline_s=2.0, max_line=10_000)
    figure = code_figure(shown.lines, language, FigureOptions())
    assert time.process_time() - start < LIMIT_S
    assert plain_text(figure).rstrip("\n") == source.rstrip("\n")
