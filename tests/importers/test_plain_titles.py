"""Titles that are Markdown in the old site."""

from __future__ import annotations

from pathlib import PurePosixPath

from blogsmith.importers.model import ImportedPage
from blogsmith.importers.page_rewrites import rewrite_page
from tests.rows import each_row


def titled(title: object, system: str = "mkdocs") -> tuple[object, str]:
    """Return the title and the text of a page with this title after an import."""
    page = ImportedPage(PurePosixPath("content/a.md"), {"title": title}, "\nText.\n", "a.md")
    found = rewrite_page(system, page)
    return found.front["title"], found.text


@each_row(
    ("title", "expected"),
    [
        ("Plain words & more", "Plain words & more"),
        ("The `frp` *proxy* and **more** ~~old~~", "The frp proxy and more old"),
        ("On $a_1 * b_2$ and $c_*$", "On $a_1 * b_2$ and $c_*$"),
        ("A_b and a\\_b, C*-algebras", "A_b and a_b, C*-algebras"),
        ("From \\$5 to **\\$6**", "From \\$5 to \\$6"),
        ("Water, H<sub>2</sub>O &amp; *more*", "Water, H2O & more"),
        (7, 7),
    ],
)
def test_marks_go_and_words_stay(title: object, expected: object) -> None:
    assert titled(title) == (expected, "\nText.\n" if title == expected else "Text.\n")


def test_what_a_title_leads_to_stands_above_the_text() -> None:
    link = "[A *talk*](https://example.org/a_b_c)"
    assert titled(link) == ("A talk", f"{link}\n\nText.\n")
    assert titled("![logo](logo.png) Notes") == ("logo Notes", "![logo](logo.png) Notes\n\nText.\n")


@each_row("system", ["jekyll", "hugo"])
def test_titles_that_are_no_markdown(system: str) -> None:
    assert titled("A **bold** `title`", system)[0] == "A **bold** `title`"
