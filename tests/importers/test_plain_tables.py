"""HTML tables that become Markdown tables, and others that stay."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from blogsmith.importers.html_blocks import convert_tables
from blogsmith.importers.model import ImportedPage
from tests.rows import each_row

HEAD = "<tr><th>a</th><th>b</th></tr>"


def changed(text: str) -> ImportedPage:
    page = ImportedPage(PurePosixPath("content/a.md"), {"title": "A"}, text, "a.md")
    return convert_tables(page)


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        (f"<table>{HEAD}<tr><td>1</td><td>2</td></tr></table>", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        (
            '<table border="1">\n<thead>\n<tr><td>a</td><td>b</td></tr>\n</thead>\n<tbody>\n'
            '<tr><td align="right">1\n</td><td><p>$|x|$</p></td></tr>\n</tbody>\n</table>',
            ["| a | b |", "|---:|---|", "| 1 | $|x|$ |"],
        ),
        (
            f'<table><caption>All <b>of</b> it</caption>{HEAD}<tr><td><a href="b.html">2 | 3</a></td>'
            "<td><code>x|y</code> a*b _c_ [d] e_f<br>&lt;</td></tr></table>",
            [
                "| a | b |",
                "|---|---|",
                r"| [2 \| 3](b.html) | `x\|y` a&#42;b &#95;c&#95; &#91;d&#93; e_f<br>&lt; |",
                "",
                ": All **of** it",
            ],
        ),
        (
            f'<table>{HEAD}<tr><td style="text-align: center">1</td><td>2</td></tr></table>',
            ["| a | b |", "|:---:|---|", "| 1 | 2 |"],
        ),
    ],
)
def test_plain_tables_are_tables_of_markdown(html: str, lines: list[str]) -> None:
    assert changed(f"Text.\n\n{html}\n\nMore.\n").text == "Text.\n\n" + "\n".join(lines) + "\n\nMore.\n"


@each_row(
    "html",
    [
        f'<table>{HEAD}<tr><td colspan="2">1</td></tr></table>',
        f'<table>{HEAD}<tr><td rowspan="2">1</td><td>2</td></tr></table>',
        f"<table>{HEAD}<tr><td><ul><li>1</li></ul></td><td>2</td></tr></table>",
        f"<table>{HEAD}<tr><td><p>1</p><p>2</p></td><td>2</td></tr></table>",
        f"<table>{HEAD}<tr><td>1</td></tr></table>",
        f"<table>{HEAD}<tr><th>1</th><td>2</td></tr></table>",
        "<table><tr><td>1</td><td>2</td></tr></table>",
        f'<table id="t">{HEAD}<tr><td>1</td><td>2</td></tr></table>',
        f'<table markdown="1">{HEAD}<tr><td>1</td><td>2</td></tr></table>',
        f"<table>{HEAD}<tr><td>`1`</td><td>2</td></tr></table>",
        f"<table>{HEAD}<tr><td><table>{HEAD}</table></td><td>2</td></tr></table>",
        f"<div><table>{HEAD}<tr><td>1</td><td>2</td></tr></table></div>",
        f"<table>{HEAD}<tr><td>1</td><td>2</td></tr>",
        f"<table>loose{HEAD}<tr><td>1</td><td>2</td></tr></table>",
        f"```html\n\n<table>{HEAD}<tr><td>1</td><td>2</td></tr></table>\n\n```",
        "<table></table>",
    ],
)
def test_others_stay_as_they_are(html: str) -> None:
    text = f"Text.\n\n{html}\n\nMore.\n"
    assert changed(text).text == text


def test_the_look_of_a_table_is_told() -> None:
    page = changed(f'<table class="wide">{HEAD}<tr><td>1</td><td>2</td></tr></table>\n')
    assert page.text == "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert [notice.message for notice in page.notices] == [
        "styles of an HTML table are replaced by those of the theme"
    ]


def test_many_tables_that_do_not_end_are_read_in_time() -> None:
    text = "\n\n<table><tr><td>1</td>" * 500
    assert changed(text).text == text
