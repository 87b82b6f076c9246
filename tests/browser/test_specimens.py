"""Specimens have every kind of element that the pages have, and little more."""

from __future__ import annotations

import re

from .conftest import Served
from .specimens import kinds
from .specimens import specimens as specimens_of

HEAD = (
    '<html lang="en"><head><title>x</title>{}</head><body class="kind-post"><main><div class="post-content">'
)
RICH = "<p>One</p><p><em>1</em></p><p><b>2</b></p><ul><li>3</li></ul><dl><dt>4</dt><dd>5</dd></dl>"
"""A page with more kinds of elements than all other pages here."""
END = "</div></main></body></html>"


def page(text: str, head: str = "") -> str:
    return f"{HEAD.format(head)}{text}{END}"


def test_no_kind_is_lost(own_site: Served, specimens: Served) -> None:
    pages, cut = own_site.pages(), specimens.pages()
    # Each page costs a second in each theme.
    assert set(cut) < set(pages) and len(cut) < len(pages) / 3
    whole, some = (
        frozenset().union(*(kinds(site.text(page)) for page in site.pages()))
        for site in (own_site, specimens)
    )
    assert whole <= some
    assert sum(len(specimens.text(page)) for page in cut) < sum(map(len, map(own_site.text, pages))) / 4


def test_a_block_that_is_known_goes() -> None:
    rows = '<table><tr><td>1</td></tr><tr><td>2</td></tr><tr><td class="a">3</td></tr></table>'
    html = page(f"<p>One</p><p>Two</p><h2>Three</h2><p><em>Four</em></p><h2>Five</h2>{rows}")
    (cut,) = specimens_of({"/": html}).values()
    words = re.sub("<[^>]+>", " ", cut.partition("<main")[2]).split()[1:]
    assert words == ["One", "Three", "Four", "Five", "1", "3"]


def test_what_others_are_named_by_stays() -> None:
    html = page(
        '<p>One</p><p id="name">Two</p><div aria-labelledby="name" role="region">Three</div><p>Four</p>'
    )
    (cut,) = specimens_of({"/": html}).values()
    assert "Two" in cut and "Four" not in cut


def test_blocks_of_pages_that_are_alike_come_together() -> None:
    link = '<link rel="stylesheet" href="/more.css">'
    first = page(RICH)
    second = page('<p>Two</p><p id="a"><i>3</i><a href="#a">4</a></p><p>Five</p>', link)
    cut = specimens_of({"/first/": first, "/second/": second})
    assert list(cut) == ["/first/"]
    assert '<p id="second--a"><i>3</i><a href="#second--a">4</a></p></div>' in cut["/first/"]
    assert link in cut["/first/"] and "Five" not in cut["/first/"]


def test_a_page_with_a_frame_or_headings_of_its_own_stays() -> None:
    plain = page(RICH)
    other = page("<p>One</p>").replace("<main>", '<nav aria-label="Parts"></nav><main>')
    headed = page('<p>One</p><div class="example"><h3>Three</h3></div>')
    german = page("<p>Eins</p>").replace('lang="en"', 'lang="de"')
    cut = specimens_of({"/plain/": plain, "/other/": other, "/headed/": headed, "/german/": german})
    assert set(cut) == {"/plain/", "/other/", "/headed/", "/german/"}
