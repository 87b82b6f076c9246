"""The table of contents follows the reader in every browser, and jumps highlight their target."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from .conftest import ROOT, Served
from .firefox import Firefox
from .notes import PAGE, notes
from .reader import DARK, DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader, wait_for

SPY = ROOT / "themes" / "paper" / "static" / "spy.js"
MOST_BYTES = 500
GO = "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})"
END = "scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})"
CURRENT = "return [...document.querySelectorAll('.toc a')].filter(a => a.ariaCurrent).map(a => a.textContent)"
MARKED = """
return [...document.querySelectorAll('.toc a')]
  .filter(link => getComputedStyle(link, '::before').content !== 'none').map(link => link.textContent);
"""
STOPS = """
const inside = [...document.querySelectorAll(".toc a, .toc summary")];
return inside.filter(element => element.checkVisibility()).map(element => element.localName);
"""
LABEL = "return getComputedStyle(document.querySelector('.toc'), '::before').content"
LOOKS_OF = """
const style = getComputedStyle(document.getElementById(arguments[0]));
const line = style.textDecorationLine === "none" ? "" : style.textDecorationColor;
return [style.backgroundColor, line, style.animationName, style.transitionDuration];
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build and serve a site with a post of three sections."""
    with notes(tmp_path_factory.mktemp("notes")) as served:
        yield served


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, site: Served) -> Any:
    """Return either browser, at the top of the post."""
    found = request.getfixturevalue({"chromium": "reader", "firefox": "fox"}[request.param])
    found.open(site.url(PAGE))
    return found


def wait_for_mark(browser: Reader | Firefox, section: str) -> None:
    wait_for(lambda: browser.ask(MARKED) == [section])


def test_the_section_of_the_reader_is_marked(browser: Reader | Firefox) -> None:
    wait_for_mark(browser, "First")
    for name in ("second", "third", "first"):
        browser.ask(GO, name)
        wait_for_mark(browser, name.title())
    # From far above to far below, without passing a heading on the way.
    browser.ask(END)
    wait_for_mark(browser, "Third")


def test_where_the_browser_can_the_script_does_nothing(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE))
    reader.ask(GO, "second")
    assert reader.ask(CURRENT) == []


def test_the_script_is_small_and_stands_where_there_are_contents(site: Served) -> None:
    assert len(gzip.compress(SPY.read_bytes(), 9, mtime=0)) <= MOST_BYTES
    # As a file of its own, or in one file with others.
    found = {page: bool(re.search(r"/(?:spy|posts-\w+)\.js", site.text(page))) for page in site.pages()}
    assert found == {page: 'class="toc"' in site.text(page) for page in site.pages()}
    assert set(found.values()) == {True, False}


def _folded(reader: Reader) -> list[str]:
    """Return the roles of elements that a screen reader calls collapsed, without the fold in the text."""
    nodes = reader.tell("Accessibility.getFullAXTree")["nodes"]
    return [
        str(node["role"]["value"])
        for node in nodes
        for property in node.get("properties", ())
        if property["name"] == "expanded"
        and not property["value"]["value"]
        and not node["ignored"]
        and node["name"]["value"] != "A fold"
    ]


@pytest.mark.parametrize("look", [DESKTOP, WITHOUT_SCRIPTS], ids=["scripts", "no scripts"])
def test_beside_the_text_nothing_is_folded(site: Served, reader: Reader, look: Look) -> None:
    reader.open(site.url(PAGE), look)
    assert _folded(reader) == []
    assert reader.ask(STOPS) == ["a", "a", "a"]
    assert "Contents" in reader.ask(LABEL)


def test_on_a_phone_it_is_folded_and_opens(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE), PHONE)
    assert _folded(reader) == ["DisclosureTriangle"]
    assert reader.ask(STOPS) == ["summary"]
    assert reader.ask(LABEL) == "none"
    reader.find(".toc summary").click()
    assert reader.ask(STOPS)[:2] == ["summary", "a"]


# The last ones are targets of links back from a note, and targets that only another page or a formula refers
# to.
TARGETS = (
    "second",
    "third",
    "fn-1",
    "ref-gauss",
    "eq-one",
    "fig-tall",
    "fnref-1",
    "of-code",
    "eq-group",
    "term",
)


@pytest.mark.parametrize("look", [PHONE, DARK], ids=["phone", "dark"])
def test_a_jump_shows_where_it_landed(site: Served, reader: Reader, look: Look) -> None:
    reader.open(site.url(PAGE), look)
    shows_where_it_lands(reader)


def test_it_does_in_firefox(site: Served, fox: Firefox) -> None:
    fox.open(site.url(PAGE))
    shows_where_it_lands(fox)


def shows_where_it_lands(browser: Reader | Firefox) -> None:
    for name in TARGETS:
        before = browser.ask(LOOKS_OF, name)
        browser.ask("location.hash = arguments[0]", name)
        wait_for(partial(browser.ask, "return document.querySelector(':target').id === arguments[0]", name))
        ground, line, *motion = browser.ask(LOOKS_OF, name)
        assert [ground, line] != before[:2], name
        assert motion == before[2:] == ["none", "0s"], name


def test_forced_colours_show_it_too(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE) + "#eq-one")
    reader.tell("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    style = "return getComputedStyle(document.getElementById('eq-one')).outlineStyle"
    assert reader.ask(style) == "solid"
