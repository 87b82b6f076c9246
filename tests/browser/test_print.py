"""Printed posts: one font size, lines kept together, only long content stays folded."""

from __future__ import annotations

import pytest

from .conftest import Served
from .firefox import Firefox
from .reader import SHEET, Reader

WIDTH = "return document.documentElement.scrollWidth"
UNSEEN = """
const bodies = [...document.querySelectorAll(".post-content details > :not(summary)")];
const unseen = bodies.filter(body => !body.checkVisibility({contentVisibilityAuto: true}));
const others = unseen.filter(body => !body.matches("details:has(.case-title) *"));
return [bodies.length, unseen.length, others.length];
"""
# A block of code with a title, cut to some lines, after a growing space on a sheet that is a column. Returns
# the columns of its title and lines.
SHEETS = """
const figures = [...document.querySelectorAll("figure.code:has(.code-title)")];
const figure = figures.find(one => one.querySelectorAll(".line").length > 9);
const [sheets, space] = [document.createElement("div"), document.createElement("div")];
const copy = figure.cloneNode(true);
[...copy.querySelectorAll(".line")].slice(arguments[0]).forEach(line => line.remove());
sheets.style.cssText = "columns: 500px; column-gap: 0; column-fill: auto; width: 500px; height: 400px";
sheets.append(space, copy);
document.querySelector(".post-content").append(sheets);
const left = sheets.getBoundingClientRect().left;
const column = part => Math.floor((part.getBoundingClientRect().left - left) / 500);
const found = [];
for (let high = 0; high < 400; high += 5) {
  space.style.height = `${high}px`;
  found.push([...copy.querySelectorAll(".code-title, .line")].map(column));
}
sheets.remove();
return found;
"""
# Applies the print rules on the screen.
FOR_PAPER = """
const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
rules.filter(rule => rule.media?.mediaText === "print").forEach(rule => { rule.media.mediaText = "all"; });
"""


@pytest.mark.long
def test_nothing_sticks_out_of_a_sheet(own_site: Served, reader: Reader) -> None:
    """The specimens are checked in `test_no_page_has_a_fault`."""
    # Otherwise the browser would print all of that post in smaller letters.
    first, *_ = pages = own_site.pages()
    reader.open(own_site.url(first), SHEET)
    wide = []
    for page in pages:
        reader.go_to(own_site.url(page))
        wide += [page] if reader.ask(WIDTH) > SHEET.width_px else []
    assert wide == []


def test_folds_are_open_but_for_the_cases_of_the_manual(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/posts/attention-in-tiles/"), SHEET)
    bodies, unseen, _ = reader.ask(UNSEEN)
    assert (bodies > 0, unseen) == (True, 0)
    reader.open(own_site.url("/docs/specification/formulas/"), SHEET)
    bodies, unseen, others = reader.ask(UNSEEN)
    assert (unseen > bodies / 2, others) == (True, 0)


def test_three_lines_of_code_stay_together(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/posts/attention-in-tiles/"), SHEET)
    found = reader.ask(SHEETS, 20)
    # Long blocks continue on the next sheet, with the title and three lines on the first one.
    assert sum(columns[0] != columns[-1] for columns in found) > len(found) / 4
    assert [columns for columns in found if len({*columns[:4]}) > 1 or len({*columns[-3:]}) > 1] == []


def test_short_code_is_not_torn(own_site: Served, reader: Reader, fox: Firefox) -> None:
    for browser in (reader, fox):
        browser.open(own_site.url("/posts/attention-in-tiles/"))
        browser.ask(FOR_PAPER)
        found = browser.ask(SHEETS, 8)
        assert {columns[0] for columns in found} == {0, 1}
        assert [columns for columns in found if len({*columns}) > 1] == []
