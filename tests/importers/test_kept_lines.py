"""An imported page keeps the author's lines and comments, and never says anything else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.api.importing import Reporter, load_located_yaml
from blogsmith.importers.kept_lines import keep_lines, keep_white_space
from blogsmith.importers.quarto.shortcodes import expand_includes
from blogsmith.importers.text.data import format_yaml
from blogsmith.importers.text.heading_ids import mystmd_id
from tests.rows import examples

WRITTEN = """\
# about this post
title:  'It''s'   # keep
tags: [a,   b]   # two

list:
- x
# between
- y
old: 1  # goes
date: 2024-01-02 10:00
# the end
"""


def test_comments_and_unchanged_lines_stay() -> None:
    front = {"date": "2024-01-03", "title": "It's", "list": ["x", "y"], "tags": ["a", "b"], "slug": "new"}
    kept = WRITTEN.replace("old: 1  # goes\n", "").replace("2024-01-02 10:00\n", '"2024-01-03"\nslug: new\n')
    assert keep_lines(WRITTEN, format_yaml(front)) == kept.replace('"2024-01-03"', "2024-01-03")


@pytest.mark.parametrize(
    "head",
    ["title: a\ntitle: b\n", "{title: a}\n", "title: a\nno key\n", "- a\n", "title: yes\n", "title: !x b\n"],
)
def test_unusual_heads_are_written_anew(head: str) -> None:
    new = format_yaml({"title": "b", "n": 1})
    assert keep_lines(head, new) == new


LINES = st.sampled_from(
    (
        *(
            "a: 1",
            "a: '1'",
            "a: true",
            "a: yes",
            "b: [1, 2]",
            "b:",
            "- 1",
            "  - 1",
            "  c: d",
            "c: |",
            "  text",
        ),
        *(
            "# comment",
            "",
            "c: &x 1",
            "d: *x",
            "d: {e: f}",
            "e: 'x",
            "  y'",
            'f: "q\\n"',
            "g: 1.10",
            "\th: 1",
        ),
    )
)
VALUES = st.sampled_from(
    (1, True, "1", "yes", [1, 2], {"c": "d"}, None, "text\n", "d", 1.1, "x y", {"e": "f"})
)


@given(st.lists(LINES, max_size=9), st.dictionaries(st.sampled_from("abcdefg"), VALUES, max_size=6))
@examples(300)
def test_the_data_is_the_same(lines: list[str], front: dict[str, object]) -> None:
    new = format_yaml(front)
    read = [
        load_located_yaml(text, Reporter("", [])) for text in (keep_lines("\n".join((*lines, "")), new), new)
    ]
    assert all(read)
    first, second = (located.value or {} for located in read if located)
    assert repr(sorted(first.items())) == repr(sorted(second.items()))


def test_white_space_without_meaning_stays() -> None:
    old = "a \n\t- b\n\n\n``` py\n\tx\n \n```\nhard  \nend\ny\tz\n"
    new = "a\n    - b\n\n```py\n    x\n\n```\nhard\\\nend  \nnew\ny   z\n"
    assert keep_white_space(old, new) == "a \n\t- b\n\n\n``` py\n\tx\n \n```\nhard\\\nend  \nnew\ny   z\n"
    assert keep_lines("a: 1\n\nb: 2\n\nc: 3\n\n", "a: 1\nc: 3\n") == "a: 1\n\nc: 3\n"


def test_quarto_files_that_include_each_other_twice_end_soon(tmp_path: Path) -> None:
    twice = {"a": "{{< include b.qmd >}}\n{{< include b.qmd >}}\n", "b": "{{< include a.qmd >}}\n" * 2}
    for name, text in twice.items():
        (tmp_path / f"{name}.qmd").write_text(text)
    found = expand_includes(twice["a"], PurePosixPath("a.qmd"), tmp_path, lambda *_: None)
    assert 10 < len(found.inserted) <= 200


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[BONUS] `x()` a", "id-bonus-x-a"),
        ("1. Choose", "id-1-choose"),
        ("Don't $\\theta$", "dont-theta"),
    ],
)
def test_ids_of_mystmd(written: str, expected: str) -> None:
    assert mystmd_id(written) == expected
