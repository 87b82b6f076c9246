"""Chinese, Japanese and Korean text: where emphasis starts and ends, and how lines are joined."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from blogsmith.syntax.east_asian import flanking_direction, is_east_asian
from tests.site_files import build, put


@pytest.mark.parametrize(
    ("sign", "found"),
    [("注", True), ("カ", True), ("한", True), ("：", True), ("、", True), ("ｱ", True)]
    + [(sign, False) for sign in "aé.—…🎉"],
)
def test_which_signs_count(sign: str, found: bool) -> None:
    assert is_east_asian(sign) is found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("：", "こ", (True, True)),
        ("は", "$", (True, True)),
        (" ", "「", (True, False)),
        ("」", " ", (False, True)),
        (":", "こ", (True, True)),
        # other characters follow CommonMark
        (":", "x", (True, False)),
        ("x", ":", (False, True)),
        ("x", "y", (True, True)),
        (" ", " ", (False, False)),
    ],
)
def test_where_emphasis_may_begin_and_end(before: str, after: str, found: tuple[bool, bool]) -> None:
    assert flanking_direction(before, after) == found


@given(st.sampled_from("aé .:$"), st.sampled_from("aé .:$"))
def test_elsewhere_it_is_as_in_the_stock_parser(before: str, after: str) -> None:
    state = StateInline(f"{before}*{after}", MarkdownIt(), {}, [])
    scanned = state.scanDelims(1, True)
    assert flanking_direction(before, after) == (scanned.can_open, scanned.can_close)


def test_lines_join_in_plain_text_too(tmp_path: Path) -> None:
    text = "---\ntitle: 題\n---\n\n改行を含む段落は\n空白なし。\n\n見出し\nです\n------\n\nEnglish\nwords.\n"
    root = put(tmp_path, {"blogsmith.yaml": "title: T\nlang: ja\n", "content/a.md": text})
    assert build(root).ok
    page = (root / "public/a/index.html").read_text("utf-8")
    assert '<meta name="description" content="改行を含む段落は空白なし。">' in page
    assert '<h2 id="見出しです"' in page and "English\nwords." in page
