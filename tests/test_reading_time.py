"""Reading time of a page: what is counted, and that folded content is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.render.context import (
    SECONDS_PER_CODE_LINE,
    SECONDS_PER_DISPLAY,
    SECONDS_PER_FORMULA,
    WORDS_PER_MINUTE,
    ReadingTime,
)
from tests.rows import each_row
from tests.site_files import build, put_bare

WORD = 60 / WORDS_PER_MINUTE
LONG = "word " * (3 * WORDS_PER_MINUTE)
"""Three minutes of prose."""
CODE = "\n".join(["```python", *["x = 1"] * 120, "```"])
"""The same as code."""


def test_prose_formulas_and_code_count() -> None:
    time = ReadingTime()
    time.add_words("Four words, it's said: don't-stop")
    time.add_formula(display=False)
    time.add_formula(display=True)
    time.add_code(2)
    parts = 5 * WORD + SECONDS_PER_FORMULA + SECONDS_PER_DISPLAY + 2 * SECONDS_PER_CODE_LINE
    assert time.seconds == pytest.approx(parts)


@each_row(
    ("html", "words"),
    [
        ("<details>", 0),
        ("<DETAILS class='x'><summary>", 0),
        ("<details open>", 1),
        ('<details class="open">', 0),
        ('<details class="a" open="">', 1),
        ("<details open><details>", 0),
        ("<details><details open>", 0),
        ("<details></details>", 1),
        ("</details><p>", 1),
        ("<detailsx>", 1),
        ('<details title="a > b">', 0),
    ],
)
def test_folds_in_raw_html(html: str, words: int) -> None:
    time = ReadingTime()
    time.pass_html(html)
    time.add_words("word")
    assert time.seconds == pytest.approx(words * WORD)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        (LONG, 3),
        (CODE, 3),
        (f"> [!PROOF]\n> {LONG}", 3),
        (f"> [!PROOF]+\n> {LONG}", 3),
        (f"> [!PROOF]-\n> {LONG}", 1),
        (f"> [!PROOF]-\n> {LONG}\n\n{LONG}", 3),
        (CODE.replace("python", 'python {fold="More"}'), 1),
        (f'<div class="collapsible" data-label="More">\n\n{CODE}\n\n</div>', 1),
        (f"<details>\n<summary>More</summary>\n\n{LONG}\n\n</details>", 1),
        (f"<details open>\n<summary>More</summary>\n\n{LONG}\n\n</details>", 3),
        ("$x$ " * 60, 3),
        ("\n\n".join(["$$x$$"] * 30), 3),
        (f"Note.[^n]\n\n[^n]: {LONG}", 3),
    ],
    ids=lambda value: None if isinstance(value, int) else str(value)[:18],
)
def test_minutes_of_a_page(text: str, minutes: int, tmp_path: Path) -> None:
    head = "---\ntitle: A\ndate: 2026-01-02\n---\n"
    assert _minutes(tmp_path, {"content/posts/a.md": f"{head}{text}\n"}) == minutes


@pytest.mark.parametrize(
    ("head", "minutes"),
    [
        ("title: A", 0),
        ("title: A\nreading_time: true", 3),
        ("title: A\ndate: 2026-01-02", 3),
        ("title: A\ndate: 2026-01-02\nreading_time: false", 0),
    ],
)
def test_who_shows_it(head: str, minutes: int, tmp_path: Path) -> None:
    assert _minutes(tmp_path, {"content/posts/a.md": f"---\n{head}\n---\n{LONG}\n"}) == minutes


def _minutes(folder: Path, files: dict[str, str]) -> int:
    put_bare(folder, files)
    layouts = folder / "themes/bare/layouts"
    (layouts / "post.html").write_text("{{ page.reading_minutes }}")
    assert build(folder).ok
    return int((folder / "public/posts/a/index.html").read_text().split()[-1])
