"""Every page of our own site: accessible, quiet, whole and readable, however it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import html5lib
import pytest

from tests.page_checks import elements

from . import tools
from .conftest import Served
from .reader import DARK, DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served

LOOKS = {"light": DESKTOP, "dark": DARK, "phone": PHONE}
ACTING = (
    'class="code',
    'class="math-display',
    'class="xref',
    'class="image-compare',
    "data-embed-url=",
    'class="runnable',
)
"""Marks of what a script may serve."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ASK_AXE = """
return axe.run(document, {resultTypes: ["violations"], runOnly: arguments[0]}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
    [`${id}: ${[...any, ...all, ...none][0]?.message}`, target.join(" ")])))
"""
# Text that is not painted. Folded text is opened first; marks that serve a pointer may wait for one, a note
# in the margin needs no way back, and nothing runs without scripts.
UNSEEN_TEXT = """
for (const details of document.querySelectorAll("details")) details.open = true;
const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const unseen = [];
const quiet = "script, style, template, video, mphantom, .heading-anchor, .footnote-backref, .run-button";
while (texts.nextNode()) {
  const text = texts.currentNode, parent = text.parentElement;
  if (!text.data.trim() || parent.closest(quiet)) continue;
  const seen = parent.checkVisibility({opacityProperty: true, visibilityProperty: true});
  if (!seen) unseen.push(text.data.trim().slice(0, 60));
}
return unseen;
"""
WIDER_THAN_THE_WINDOW = """
const width = document.documentElement.scrollWidth;
if (width <= innerWidth) return [];
const all = [...document.querySelectorAll("body *")];
const wide = all.filter(element => element.getBoundingClientRect().right > innerWidth).slice(0, 5);
return [["wider than the window", wide.map(e => `<${e.localName} class="${e.className}">`).join(" ")]];
"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe."""
    return tools.file(tools.AXE).read_text("utf-8")


def faults(reader: Reader, axe: str) -> list[Sequence[str]]:
    """What is wrong with the page that is open, each with where it is."""
    reader.ask(axe)
    found: list[Sequence[str]] = reader.ask(ASK_AXE, RULES) + reader.ask(WIDER_THAN_THE_WINDOW)
    found += [("error in the console", problem) for problem in reader.problems()]
    return found + [("request to another host", url) for url in reader.foreign_requests()]


def listing(found: dict[str, list[str]]) -> str:
    """Each fault once, with how often it occurs and where first."""
    return "\n".join(f"{fault} ({len(places)} times, as {places[0]})" for fault, places in found.items())


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_no_page_has_a_fault(own_site: Served, reader: Reader, axe: str, look: Look) -> None:
    found: dict[str, list[str]] = {}
    for page in own_site.pages():
        reader.open(own_site.url(page), look)
        for fault, place in faults(reader, axe):
            found.setdefault(fault, []).append(f"{page} {place}")
    assert not found, listing(found)


def test_every_fault_would_be_found(tmp_path: Path, reader: Reader, axe: str) -> None:
    page = """<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1>
    <img src="https://elsewhere.example/x.png"><p style="width: 400px">wide</p>
    <script>throw new Error("broken script")</script></main>"""
    (tmp_path / "x.html").write_text(page)
    with served(tmp_path) as origin:
        reader.open(f"{origin}/x.html", PHONE)
        found = str(faults(reader, axe))
    for fault in (
        "image-alt",
        "wider than",
        "broken script",
        "another host', 'https://elsewhere.example/x.png",
    ):
        assert fault in found


def test_nothing_is_hidden_without_scripts(own_site: Served, reader: Reader) -> None:
    found: dict[str, list[str]] = {}
    for page in own_site.pages():
        reader.open(own_site.url(page), WITHOUT_SCRIPTS)
        for text in reader.ask(UNSEEN_TEXT):
            found.setdefault(text, []).append(page)
    assert not found, listing(found)


def test_a_page_without_widgets_has_no_script(own_site: Served) -> None:
    texts = {page: own_site.text(page) for page in own_site.pages()}
    plain = {page: html for page, html in texts.items() if not any(mark in html for mark in ACTING)}
    assert plain
    assert [page for page, html in plain.items() if scripts(html)] == []


def scripts(html: str) -> list[str]:
    """What could run in a page: scripts that are not data, and handlers in attributes."""
    found = []
    for tag, element in elements(html5lib.parse(html)):
        is_data = element.get("type") == "application/ld+json"
        found += ["<script>"] if tag == "script" and not is_data else []
        found += [str(name) for name in element.attrib if str(name).startswith("on")]
    return found
