"""Links to hosts without HTTPS, in pages of any system; code and formulas stay unchanged."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from blogsmith.importers.model import ImportedPage
from blogsmith.importers.page_rewrites import fix_link_schemes


def read(text: str) -> ImportedPage:
    page = ImportedPage(PurePosixPath("content/a.md"), {}, text, "a.md")
    return fix_link_schemes(page)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](//example.org/x)", "[a](https://example.org/x)"),
        ("![a](<//example.org/x.png>)", "![a](<https://example.org/x.png>)"),
        ("[a]: //example.org/x", "[a]: https://example.org/x"),
        ('<a href="//example.org/">a</a>', '<a href="https://example.org/">a</a>'),
        ("[a](https://example.org//x.y)", "[a](https://example.org//x.y)"),
        ("`[a](//example.org/x)` and int x; //comment.", "`[a](//example.org/x)` and int x; //comment."),
        ("```c\n[a](//example.org)\n```", "```c\n[a](//example.org)\n```"),
    ],
)
def test_links_without_a_scheme(text: str, expected: str) -> None:
    page = read(text)
    assert (page.text, page.notices) == (expected, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[data](ftp://example.org/d.gz)", "data (`ftp://example.org/d.gz`)"),
        ('[data](ftp://example.org/d "now")', "data (`ftp://example.org/d`)"),
        ("<a class=x href='ftp://example.org/d'>data</a>", "data (`ftp://example.org/d`)"),
        ("<ftp://example.org/d>", "`ftp://example.org/d`"),
        ("See ftp://example.org/d.", "See `ftp://example.org/d`."),
    ],
)
def test_addresses_of_ftp(text: str, expected: str) -> None:
    page = read(text)
    assert page.text == expected
    (notice,) = page.notices
    assert notice.kind == "changed"


def test_ftp_in_code_and_pictures_stays() -> None:
    text = "`ftp://example.org/d`, ![a](ftp://example.org/a.png)"
    page = read(text)
    assert (page.text, page.notices) == (text, ())
