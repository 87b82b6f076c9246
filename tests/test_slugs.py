"""Slugs: ours, and those of GitHub."""

from __future__ import annotations

from blogsmith.model.slugs import github_slug, make_unique, slugify
from tests.rows import each_row


@each_row(
    ("text", "expected"),
    [
        ("alpha", "alpha"),
        ("Alpha Bravo", "alpha-bravo"),
        ("I ♥ unicode", "i--unicode"),
        ("Dash-dash", "dash-dash"),
        ("en–dash", "endash"),
        ("em–dash", "emdash"),
        ("😄 unicode emoji", "-unicode-emoji"),
        ("😄-😄 unicode emoji", "--unicode-emoji"),
        ("Привет non-latin 你好", "привет-non-latin-你好"),
        (":ok: No underscore", "ok-no-underscore"),
        (":smile: - an emoji", "smile---an-emoji"),
        ("Cyrillic Ёж", "cyrillic-ёж"),
        ("heading with an _underscore_", "heading-with-an-_underscore_"),
        ("heading with a period.txt", "heading-with-a-periodtxt"),
        ("exchange.bind_headers(exchange, routing [, bindCallback])",
         "exchangebind_headersexchange-routing--bindcallback"),
        ("Markov's", "markovs"),
        ("R&D", "rd"),
        ("A & B", "a--b"),
        ("x² and Ⅷ", "x-and-ⅷ"),
        ("Straße", "straße"),
        ("हिन्दी", "हिन्दी"),
        ("?!", ""),
    ],
)  # fmt: skip
def test_slugs_of_github(text: str, expected: str) -> None:
    """Most rows are from github-slugger's own tests."""
    assert github_slug(text) == expected


def test_ids_that_are_taken() -> None:
    taken: set[str] = set()
    counts: dict[str, int] = {}
    found = [make_unique(name, taken, counts, first=1) for name in ("a", "a", "a", "a-1", "a-1", "")]
    assert found == ["a", "a-1", "a-2", "a-1-1", "a-1-2", "section"]


def test_our_own() -> None:
    assert [slugify(text) for text in ("Markov's", "R&D", "A & B")] == ["markov-s", "r-d", "a-b"]
