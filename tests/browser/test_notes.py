"""Notes and cards for every kind of input: touch opens them in place, mouse and keyboard as cards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from . import tools
from .accessibility import faults
from .conftest import Served
from .equations import GO, MIDDLE, move_to, point_at
from .firefox import Firefox
from .notes import PAGE, notes, tap, touch
from .reader import DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader, wait_for

WIDE = Look(width_px=1440)
NARROW = Look(width_px=1000)
MARK = "#fnref-1"
TALL = "a.xref[href='#fig-tall']"
CARD = """
const card = document.querySelector(".preview:popover-open");
const {role, ariaLabel: name, innerText: text} = card ?? {};
return card && {role, name, text, ...card.getBoundingClientRect().toJSON()};
"""
NOTE = """
const note = document.querySelector(".note-open");
return note && {text: note.innerText, name: note.ariaLabel, ...note.getBoundingClientRect().toJSON()};
"""
BOX = "return document.querySelector(arguments[0]).getClientRects()[0].toJSON()"
EXPANDED = "return document.querySelector(arguments[0]).ariaExpanded"
HASH = "return location.hash"
CAPTION = """
const card = document.querySelector(".preview:popover-open");
const caption = card.querySelector("figcaption").getBoundingClientRect();
const {bottom} = card.getBoundingClientRect();
return {bottom, caption: caption.bottom, picture: card.querySelector("img").getBoundingClientRect().height,
  scrolls: card.scrollHeight > card.clientHeight};
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build and serve the site with the notes."""
    with notes(tmp_path_factory.mktemp("notes")) as served:
        yield served


@pytest.fixture
def phone(site: Served, reader: Reader) -> Iterator[Reader]:
    """Open the page with the notes on a phone with touch."""
    touch(reader, site.url(PAGE), PHONE)
    yield reader
    reader.tell("Emulation.setTouchEmulationEnabled", enabled=False)


class TestFingers:
    def test_a_note_opens_below_its_line(self, phone: Reader) -> None:
        tap(phone, f"{MARK}")
        note = phone.wait_for(lambda: phone.ask(NOTE))
        assert (
            "A note with" in note["text"] and "second paragraph" in note["text"] and "↩" not in note["text"]
        )
        assert note["name"] == "Footnote 1"
        mark = phone.ask(BOX, MARK)
        # One line of text is between the marker and the note below it.
        assert 0 <= note["top"] - mark["bottom"] < 30
        assert phone.ask(HASH) == ""
        assert phone.ask(EXPANDED, MARK) == "true"
        # The line with the marker is as full as before.
        assert phone.ask("return document.querySelector('.note-open a').href") == "https://example.org/note"

    def test_the_next_tap_closes_it(self, phone: Reader) -> None:
        tap(phone, MARK)
        phone.wait_for(lambda: phone.ask(NOTE))
        tap(phone, MARK)
        phone.wait_for(lambda: phone.ask(NOTE) is None)
        assert phone.ask(EXPANDED, MARK) == "false"

    def test_escape_closes_it(self, phone: Reader) -> None:
        tap(phone, MARK)
        phone.wait_for(lambda: phone.ask(NOTE))
        phone.press(Keys.ESCAPE)
        phone.wait_for(lambda: phone.ask(NOTE) is None)

    def test_a_mark_is_as_large_as_a_finger(self, phone: Reader) -> None:
        for x_px in (-11.5, 11.5):
            tap(phone, MARK, x_px)
            phone.wait_for(lambda: phone.ask(NOTE))
            tap(phone, MARK)
            phone.wait_for(lambda: phone.ask(NOTE) is None)

    @pytest.mark.parametrize(
        ("link", "words"), [("a.xref[href='#eq-one']", "(1)"), ("a.xref[href='#fig-tall']", "A caption")]
    )
    def test_a_reference_opens_its_card_first(self, phone: Reader, link: str, words: str) -> None:
        tap(phone, link)
        card = phone.wait_for(lambda: phone.ask(CARD))
        assert words in card["text"] and "Go there" in card["text"]
        assert (card["role"], bool(card["name"])) == ("dialog", True)
        assert phone.ask("return document.activeElement.className") == "preview post-content"
        assert phone.ask(HASH) == ""
        assert phone.ask(EXPANDED, link) == "true"

    def test_the_card_leads_there(self, phone: Reader) -> None:
        tap(phone, "a.xref[href='#eq-one']")
        phone.wait_for(lambda: phone.ask(CARD))
        tap(phone, ".preview-go > a")
        phone.wait_for(lambda: phone.ask(HASH) == "#eq-one")
        phone.wait_for(lambda: phone.ask(CARD) is None)

    def test_so_does_a_second_tap(self, phone: Reader) -> None:
        tap(phone, "a.xref[href='#eq-one']")
        phone.wait_for(lambda: phone.ask(CARD))
        tap(phone, "a.xref[href='#eq-one']")
        phone.wait_for(lambda: phone.ask(HASH) == "#eq-one")

    def test_a_tap_elsewhere_closes_the_card(self, phone: Reader) -> None:
        tap(phone, "a[role=doc-biblioref]")
        assert "Disquisitiones" in phone.wait_for(lambda: phone.ask(CARD))["text"]
        tap(phone, ".post-content h2")
        phone.wait_for(lambda: phone.ask(CARD) is None)
        assert phone.ask(EXPANDED, "a[role=doc-biblioref]") == "false"

    def test_escape_gives_the_focus_back(self, phone: Reader) -> None:
        tap(phone, "a[role=doc-biblioref]")
        phone.wait_for(lambda: phone.ask(CARD))
        phone.press(Keys.ESCAPE)
        phone.wait_for(lambda: phone.ask(CARD) is None)
        assert phone.ask("return document.activeElement.role") == "doc-biblioref"

    def test_axe_finds_nothing(self, phone: Reader) -> None:
        axe = tools.file(tools.AXE).read_text("utf-8")
        tap(phone, MARK)
        phone.wait_for(lambda: phone.ask(NOTE))
        tap(phone, "a.xref[href='#fig-tall']")
        phone.wait_for(lambda: phone.ask(CARD))
        assert faults(phone, axe) == []


class TestMouse:
    def test_a_note_has_a_card(self, site: Served, reader: Reader) -> None:
        reader.open(site.url(PAGE), NARROW)
        point_at(reader, MARK)
        card = reader.wait_for(lambda: reader.ask(CARD))
        assert "A note with" in card["text"] and "↩" not in card["text"]
        assert card["role"] == "tooltip"
        move_to(reader, 2, 2)
        reader.wait_for(lambda: reader.ask(CARD) is None)
        reader.ask(GO, MARK)
        assert reader.wait_for(lambda: reader.ask(CARD))
        assert reader.find(MARK).get_attribute("aria-describedby") == "preview:card"

    def test_a_note_in_the_margin_has_none(self, site: Served, reader: Reader) -> None:
        reader.open(site.url(PAGE), WIDE)
        point_at(reader, MARK)
        reader.ask("return new Promise(done => setTimeout(done, 500))")
        assert reader.ask(CARD) is None
        point_at(reader, "a[role=doc-biblioref]")
        assert reader.wait_for(lambda: reader.ask(CARD))

    def test_a_click_goes_there(self, site: Served, reader: Reader) -> None:
        reader.open(site.url(PAGE), NARROW)
        reader.find(MARK).click()
        reader.wait_for(lambda: reader.ask(HASH) == "#fn-1")
        assert reader.ask(NOTE) is None

    @pytest.mark.parametrize("look", [DESKTOP, PHONE, WIDE], ids=["desktop", "narrow", "wide"])
    def test_the_card_of_a_figure_hides_neither_line_nor_caption(
        self, site: Served, reader: Reader, look: Look
    ) -> None:
        reader.open(site.url(PAGE), look)
        point_at(reader, "a.xref[href='#fig-tall']")
        card = reader.wait_for(lambda: reader.ask(CARD))
        line = reader.ask(BOX, "a.xref[href='#fig-tall']")
        assert card["top"] >= line["bottom"] or card["bottom"] <= line["top"]
        found = reader.ask(CAPTION)
        assert not found["scrolls"]
        assert found["caption"] <= found["bottom"]
        assert found["picture"] > 50

    def test_without_scripts_all_are_links(self, site: Served, reader: Reader) -> None:
        reader.open(site.url(PAGE), WITHOUT_SCRIPTS)
        for link in (MARK, "a[role=doc-biblioref]", "a.xref[href='#eq-one']"):
            target = reader.ask("return document.querySelector(arguments[0]).hash.slice(1)", link)
            assert reader.ask("return document.getElementById(arguments[0]) !== null", target)


def test_firefox_shows_the_same_cards_and_notes(site: Served, fox: Firefox) -> None:
    fox.resize(NARROW.width_px, 800, 1.0)
    fox.open(site.url(PAGE))
    words = {MARK: "A note with", "a[role=doc-biblioref]": "Disquisitiones", TALL: "A caption"}
    for link, text in words.items():
        fox.point(**fox.ask(MIDDLE, link))
        card = wait_for(partial(card_with, fox, text))
        line = fox.ask(BOX, link)
        assert card["top"] >= line["bottom"] or card["bottom"] <= line["top"], link
    found = fox.ask(CAPTION)
    assert (found["scrolls"], found["caption"] <= found["bottom"]) == (False, True)
    fox.point(**fox.ask(MIDDLE, MARK), kind="touch", presses=True)
    assert "A note with" in wait_for(lambda: fox.ask(NOTE))["text"]
    assert fox.ask(HASH) == ""


# Whether the note is in the margin, and its distance in pixels from the mark in the fold.
IN_FOLD = """
document.querySelector("details.callout").open = arguments[0];
const note = document.querySelector("#fn-3");
const top = element => element.getBoundingClientRect().top;
return [top(note) + scrollY > 0, Math.abs(top(note) - top(document.querySelector("#fnref-3")))];
"""


@pytest.mark.parametrize("browser", ["reader", "fox"])
def test_the_note_of_a_closed_fold_is_hidden(
    site: Served, browser: str, request: pytest.FixtureRequest
) -> None:
    opened = request.getfixturevalue(browser)
    if isinstance(opened, Reader):
        opened.open(site.url(PAGE), DESKTOP)
    else:
        opened.resize(DESKTOP.width_px, 800, 1.0)
        opened.open(site.url(PAGE))
    assert opened.ask(IN_FOLD, False)[0] is False
    is_shown, distance_px = opened.ask(IN_FOLD, True)
    assert is_shown and distance_px < 30


def card_with(fox: Firefox, text: str) -> dict[str, Any] | None:
    """Return the card, if one is open that contains the text."""
    card: dict[str, Any] | None = fox.ask(CARD)
    return card if card and text in card["text"] else None
