"""Terms that readers search for are in the sentences of the manual, not only in headings, code and generated
parts."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import each_row
from tests.test_manual import PAGES, written

FILE = Path(__file__).with_name("manual_terms.txt")


def manual_terms() -> list[tuple[str, str]]:
    """Return each term with the name of its page."""
    lines = FILE.read_text("utf-8").splitlines()
    return [(term, page) for term, _, page in (line.partition("\t") for line in lines if line[:1] != "#")]


def prose(page: str) -> str:
    """Return the hand-written sentences of a page, without front matter, fences and headings; spaces and
    hyphens are equal."""
    text = re.sub(r"^ *(`{3,}).*?^ *\1`*$", "", written(page), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\A---.*?^---$|^#[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"[\s-]+", " ", text).lower()


PROSE = " ".join(prose(page) for page in PAGES if page.startswith("docs/"))


def test_the_list_is_that_of_the_readers() -> None:
    assert len(manual_terms()) == 135
    pages = {
        "docs/figures/index.md" if page == "figures" else f"docs/{page}.md" for _, page in manual_terms()
    }
    assert pages <= PAGES.keys()


@each_row(("term", "page"), manual_terms())
def test_every_term_is_in_the_prose(term: str, page: str) -> None:
    assert re.search(rf"\b{re.escape(re.sub('[ -]+', ' ', term.lower()))}s?\b", PROSE), term
