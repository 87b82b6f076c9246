"""`blogsmith check` reports images, videos, headings, links and tables with too little information."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.fixes import Fix, make_replacement
from blogsmith.lint.accessibility import report_accessibility
from blogsmith.lint.elements import page_elements
from tests.parsed_posts import parse
from tests.rows import each_row
from tests.test_lints import draw, found_in

QUIET = (
    "![A cat](a.svg)",
    '![](a.svg "A cat")',
    "![](a.svg){.decorative}",
    "![](a.svg){aria-hidden=true}",
    "![$x$](a.svg)",
    '<img src="a.svg" alt="">',
    '<img src="a.svg" role="presentation">',
    '<figure><img src="a.svg"><figcaption>A cat</figcaption></figure>',
    '{% include img.html src="a.svg" cap="A cat" %}',
    '{% include img.html src="a.svg" alt="" %}',
    "`![](a.svg)`",
    "<!-- <img src='a.svg'> -->",
    "## One\n\n### Two\n\n## Three",
    "## $x$",
    "## ![A cat](a.svg)",
    "[The paper that began it](https://example.org)",
    "[here is the proof](https://example.org)",
    "<https://example.org> https://example.org",
    "[$x$](https://example.org)",
    "[`map`](https://example.org)",
    "[![A cat](a.svg)](https://example.org)",
    '<a href="https://example.org" aria-label="A cat"></a>',
    '<a name="there"></a>',
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "<table><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr></table>",
    '<table role="presentation"><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>',
    "<table><tr><td>1</td><td>2</td></tr></table>",
)
"""Content without warnings."""
DOUBTS = (
    ("![](a.svg)", "![](a.svg) [image-alt]"),
    ("Text ![](a.svg) goes on", "![](a.svg) [image-alt]"),
    ("<div>\n<img src='a.svg'>\n</div>", "<img src='a.svg'> [image-alt]"),
    ("A <img src='a.svg'> here", "<img src='a.svg'> [image-alt]"),
    (
        '{% include img.html src="a.svg, a.svg" %}',
        '{% include img.html src="a.svg, a.svg" %} [image-alt]',
    ),
    ("> ![](a.svg)", "![](a.svg) [image-alt]"),
    ("Note[^1].\n\n[^1]: ![](a.svg)", "![](a.svg) [image-alt]"),
    ("### Deep", "Deep [heading-level]"),
    ("## One\n\n> #### Deep\n\n##### Deeper", "Deep [heading-level]"),
    ("## One\n\n<h4>Deep</h4>", "<h4> [heading-level]"),
    ("##", "# [heading-empty]"),
    ("[here](https://example.org)", "[here](https://example.org) [link-text]"),
    ("[**Click here!**](https://example.org)", "[**Click here!**](https://example.org) [link-text]"),
    ("[ここ](https://example.org)", "[ここ](https://example.org) [link-text]"),
    ("[siehe\nhier](https://example.org)", "[siehe [link-text]"),
    ("[](https://example.org)", "[](https://example.org) [link-text]"),
    ('<a href="https://example.org">Link</a>', '<a href="https://example.org"> [link-text]'),
    ("[![](a.svg)](https://example.org)", "[![](a.svg)](https://example.org) [link-text]"),
    ("|  |  |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "| [table-header]"),
    (
        "<table>\n<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>4</td></tr>\n</table>",
        "<table> [table-header]",
    ),
)
"""Content → what is underlined in it, and the code."""


@pytest.mark.parametrize("body", QUIET)
def test_what_says_enough(body: str, tmp_path: Path) -> None:
    draw(tmp_path)
    assert found_in(tmp_path, body) == []


@pytest.mark.parametrize(("body", "expected"), DOUBTS, ids=[body for body, _ in DOUBTS])
def test_what_says_too_little(body: str, expected: str, tmp_path: Path) -> None:
    draw(tmp_path)
    assert found_in(tmp_path, body) == [expected]


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("> ####   Deep", make_replacement(1, 3, "####", "##")),
        ("#### $x$ ####", make_replacement(1, 1, "####", "##")),
        ("<h4>Deep</h4>", None),
    ],
)
def test_a_heading_may_be_raised(body: str, fix: Fix | None) -> None:
    page = parse(body)
    reporter = page.page.reporter
    report_accessibility(page_elements(page), reporter)
    assert [found.fix for found in reporter.diagnostics] == [fix]


@each_row(
    ("film", "code"),
    [
        ("![A lecture](a.mp4)", "film-captions"),
        ("![A lecture](a.mp4){data-captions=a.vtt}", ""),
        ("![A wave](a.mp4){.loop}", ""),
        ('<video controls src="a.mp4"></video>', "film-captions"),
        ('<video controls src="a.mp4">\n<track kind="captions" src="a.vtt">\n</video>', ""),
        ('<video muted src="a.mp4"></video>', ""),
    ],
)
def test_films(film: str, code: str) -> None:
    page = parse(film)
    reporter = page.page.reporter
    report_accessibility(page_elements(page), reporter)
    assert [found.code for found in reporter.diagnostics] == [code] * bool(code)


def test_a_page_may_be_silent(tmp_path: Path) -> None:
    draw(tmp_path)
    assert found_in(tmp_path, "![](a.svg)", "title: T\ndiagnostics: {ignore: [image-alt]}\n") == []


@pytest.mark.parametrize("text", ["<a href=x>", "<img src=a>", "<table><tr>", "<h4>", "[here](x) ", "<!--"])
def test_much_of_one_thing_takes_no_longer(text: str) -> None:
    page = parse(text * 6_000)
    started = time.process_time()
    report_accessibility(page_elements(page), page.page.reporter)
    assert time.process_time() - started < 3
