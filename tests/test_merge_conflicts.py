"""Merge conflicts: which lines are markers, how the rest is read, and that none is published."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Reporter
from blogsmith.base.merge_conflicts import take_first_versions
from tests.rows import each_row
from tests.site_files import build, put_bare

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other"
DIFF3 = "<<<<<<< HEAD\nours\n||||||| 1a2b3c4\nbase\n=======\ntheirs\n>>>>>>> other"


def read(text: str, *, is_markdown: bool = True) -> tuple[str, list[int]]:
    """Return the text that is read, and the lines of the conflicts."""
    reporter = Reporter("a.md", text.split("\n"))
    kept = take_first_versions(text, reporter, is_markdown=is_markdown)
    return kept, [one.place.line for one in reporter.diagnostics if one.place]


@each_row(
    ("text", "kept", "lines"),
    [
        (f"a\n{CONFLICT}\nb", "a\n\nours\n\n\n\nb", [2]),
        (DIFF3, "\nours\n\n\n\n\n", [1]),
        (f"{CONFLICT}\n{CONFLICT}", "\nours\n\n\n\n\nours\n\n\n", [1, 6]),
        ("<<<<<<<\nours\n=======\n>>>>>>>", "\nours\n\n", [1]),
        # leftover markers
        ("<<<<<<< HEAD\na", "\na", [1]),
        ("a\n=======\nb\n>>>>>>> other", "a\n=======\nb\n", [4]),
        (f"<<<<<<< HEAD\n{CONFLICT}", "\n\nours\n\n\n", [1, 2]),
        # lines that only look like a marker
        ("Title\n=======", "Title\n=======", []),
        (">>>>>>> deep", ">>>>>>> deep", []),
        ("<<<<<<<<< HEAD\n<<<<<<<HEAD\n<<<<<<<", "<<<<<<<<< HEAD\n<<<<<<<HEAD\n<<<<<<<", []),
        ("a <<<<<<< HEAD", "a <<<<<<< HEAD", []),
        (f"```\n{CONFLICT}\n```", f"```\n{CONFLICT}\n```", []),
        (f"~~~~ text\n{CONFLICT}\n~~~\n{DIFF3}\n~~~~", f"~~~~ text\n{CONFLICT}\n~~~\n{DIFF3}\n~~~~", []),
        (f"```\n```\n{CONFLICT}", "```\n```\n\nours\n\n\n", [3]),
        (f"``` a`b\n{CONFLICT}", "``` a`b\n\nours\n\n\n", [2]),
        # a fence opened by the first version
        (
            f"<<<<<<< HEAD\n```\n=======\n>>>>>>> other\n{CONFLICT}\n```",
            f"\n```\n\n\n{CONFLICT}\n```",
            [1],
        ),
        # a fence opened by the second version only
        (f"<<<<<<< HEAD\n=======\n```\n>>>>>>> other\n{CONFLICT}", "\n\n\n\n\nours\n\n\n", [1, 5]),
    ],
)
def test_conflicts_in_markdown(text: str, kept: str, lines: list[int]) -> None:
    assert read(text) == (kept, lines)


def test_other_files_have_no_quotations_and_no_code() -> None:
    assert read("a: 1\n>>>>>>> other", is_markdown=False) == ("a: 1\n", [2])
    assert read(f"```\n{CONFLICT}", is_markdown=False) == ("```\n\nours\n\n\n", [2])


LINES = st.sampled_from(
    ["<<<<<<< a", "<<<<<<<", "|||||||", "=======", ">>>>>>> b", ">>>>>>>", "```", "~~~", "a"]
)


@given(st.lists(LINES, min_size=1, max_size=12))
def test_lines_stay_where_they_are(lines: list[str]) -> None:
    kept, _ = read("\n".join(lines))
    assert all(new in ("", old) for old, new in zip(lines, kept.split("\n"), strict=True))
    assert read(kept)[1] == []


def test_a_page_with_a_conflict_is_not_published(tmp_path: Path) -> None:
    root = put_bare(
        tmp_path,
        {
            "content/posts/a.md": f"---\ntitle: A\n---\n{CONFLICT}\n",
            "content/posts/b.md": "---\ntitle: B\n---\n",
        },
    )
    assert not build(root).ok
    assert not (root / "public").exists()
    build(root, keep_going=True)
    assert (root / "public/posts/b/index.html").exists()
    assert not (root / "public/posts/a").exists()
