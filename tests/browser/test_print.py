"""Posts on paper: letters of one size, and nothing folded away but what would fill sheets."""

from __future__ import annotations

import pytest

from .conftest import Served
from .reader import SHEET, Reader

WIDTH = "return document.documentElement.scrollWidth"
UNSEEN = """
const bodies = [...document.querySelectorAll(".post-content details > :not(summary)")];
const unseen = bodies.filter(body => !body.checkVisibility({contentVisibilityAuto: true}));
const others = unseen.filter(body => !body.matches("details:has(.case-title) *"));
return [bodies.length, unseen.length, others.length];
"""


@pytest.mark.long
def test_nothing_sticks_out_of_a_sheet(own_site: Served, reader: Reader) -> None:
    """Of what is in the specimens nothing does: `test_no_page_has_a_fault`."""
    # else the browser prints all of that post in smaller letters
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
    reader.open(own_site.url("/docs/mathematics/"), SHEET)
    bodies, unseen, others = reader.ask(UNSEEN)
    assert (unseen > bodies / 2, others) == (True, 0)
