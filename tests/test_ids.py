"""Duplicate ids: the quick scan of a page never misses one."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Reporter
from blogsmith.render.html import report_repeated_ids
from tests.rows import each_row, examples

PIECES = (
    *(
        "<a",
        "<p",
        "<",
        ">",
        "</a>",
        "<!--",
        "-->",
        " id=a",
        ' id="a"',
        " id='b'",
        "\nid = b",
        " id",
        "id=a",
        " =",
    ),
    *(
        " ID=a",
        " data-id=a",
        " id=id=a",
        " id= id=a",
        "=",
        '"',
        "'",
        " ",
        "x",
        " class",
        "<a id=a>",
        "<b id=b>",
    ),
)


def repeated(html: str) -> list[str]:
    reporter = Reporter("a.md", [])
    report_repeated_ids(html, reporter)
    return [" ".join(d.message.split()[1:4]) for d in reporter.diagnostics]


def counted(html: str) -> list[str]:
    """Count in a simple way: tag by tag."""
    shown = re.sub(r"<!--.*?(?:-->|\Z)", "", html, flags=re.DOTALL)
    names = Counter(re.findall(r"<[A-Za-z][^<>]*?\sid\s*=\s*[\"']?([^\s\"'<>]+)", shown))
    return [f'id "{name}" ({count}' for name, count in names.items() if count > 1]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@examples(1500)
def test_none_is_hidden(html: str) -> None:
    assert repeated(html) == counted(html)


@each_row(
    ("html", "found"),
    [
        ("<a id=x><b id='x'>", ['id "x" (2']),
        ('<a class="y" id="x"></a> <p\nid = "x">', ['id "x" (2']),
        ("<a id=x> id=x", []),
        ("<a id=x><!-- <b id=x> -->", []),
        ("<a id=x><b id=y>", []),
    ],
)
def test_repeated_ids(html: str, found: list[str]) -> None:
    assert repeated(html) == found
