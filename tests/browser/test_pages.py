"""Every page of our own site: accessible, quiet, whole and readable, however it is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import tools
from .conftest import Served
from .reader import DARK, DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served

LOOKS = {"light": DESKTOP, "dark": DARK, "phone": PHONE}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ASK_AXE = """
return axe.run(document, {resultTypes: ["violations"], runOnly: arguments[0]}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
    `${id}: ${target.join(" ")}: ${[...any, ...all, ...none][0]?.message}`)))
"""
# Where text stands that is not painted: closed <details> apart, which a reader opens.
UNSEEN_TEXT = """
for (const details of document.querySelectorAll("details")) details.open = true;
const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const unseen = [];
const quiet = "script, style, template, .heading-anchor, video";
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
return [`${width} px: ` + wide.map(e => `<${e.localName} class="${e.className}">`).join(" ")];
"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe."""
    return tools.file(tools.AXE).read_text("utf-8")


def faults(reader: Reader, axe: str) -> list[str]:
    """What is wrong with the page that is open."""
    reader.ask(axe)
    found: list[Any] = reader.ask(ASK_AXE, RULES) + reader.ask(WIDER_THAN_THE_WINDOW)
    return [*found, *reader.problems(), *reader.foreign_requests()]


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_no_page_has_a_fault(own_site: Served, reader: Reader, axe: str, look: Look) -> None:
    found = []
    for page in own_site.pages():
        reader.open(own_site.url(page), look)
        found += [f"{page} {fault}" for fault in faults(reader, axe)]
    assert not found, "\n".join(found)


def test_every_fault_would_be_found(tmp_path: Path, reader: Reader, axe: str) -> None:
    page = """<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1>
    <img src="https://elsewhere.example/x.png"><p style="width: 400px">wide</p>
    <script>throw new Error("broken script")</script></main>"""
    (tmp_path / "x.html").write_text(page)
    with served(tmp_path) as origin:
        reader.open(f"{origin}/x.html", PHONE)
        found = "\n".join(faults(reader, axe))
    for fault in ("image-alt", "px: <", "broken script", "https://elsewhere.example/x.png"):
        assert fault in found


def test_nothing_is_hidden_without_scripts(own_site: Served, reader: Reader) -> None:
    found = []
    for page in own_site.pages():
        reader.open(own_site.url(page), WITHOUT_SCRIPTS)
        found += [f"{page} {text}" for text in reader.ask(UNSEEN_TEXT)]
    assert not found, "\n".join(found)
