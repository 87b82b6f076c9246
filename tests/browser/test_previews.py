"""Cards that show the target of a reference, by pointer and by keyboard, in the same post and from others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from . import tools
from .accessibility import LOOKS, faults
from .conftest import Served
from .equations import GO, equations, move_to, point_at
from .reader import PAPER, PHONE, Reader

CARD = """
const card = document.querySelector(".preview:popover-open");
return card && {text: card.innerText, html: card.innerHTML, left: card.getBoundingClientRect().left,
  right: card.getBoundingClientRect().right, bottom: card.getBoundingClientRect().bottom};
"""
CARD_MIDDLE = """
const {x, y, width, height} = document.querySelector(".preview:popover-open").getBoundingClientRect();
return {x: x + width / 2, y: y + height / 2};
"""


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build and serve a site whose posts refer to each other."""
    with equations(tmp_path_factory.mktemp("equations")) as site:
        yield site


@pytest.fixture
def first(cards: Served, reader: Reader) -> Reader:
    reader.open(cards.url("/posts/first/"))
    return reader


def card(reader: Reader) -> dict[str, str]:
    """Wait until the card is open and return it."""
    found: dict[str, str] = reader.wait_for(lambda: reader.ask(CARD))
    return found


def gone(reader: Reader) -> bool:
    """Wait until the card is closed."""
    return bool(reader.wait_for(lambda: reader.ask(CARD) is None))


def test_a_card_opens_under_the_pointer_and_stays_there(first: Reader) -> None:
    point_at(first, 'a.xref[href="#eq-mean"]')
    assert card(first)["text"].strip().endswith("(1)")
    # The page does not scroll for it, because that would move the link away from the pointer and close the
    # card.
    move_to(first, **first.ask(CARD_MIDDLE))
    first.ask("return new Promise(done => setTimeout(done, 400))")
    assert card(first)
    move_to(first, 2, 2)
    assert gone(first)


def test_a_card_opens_with_the_focus_and_closes_with_escape(first: Reader) -> None:
    first.ask(GO, 'a[role="doc-biblioref"]')
    assert "Disquisitiones" in card(first)["text"]
    first.press(Keys.TAB)
    assert card(first)["text"].strip().endswith("(1)")
    assert first.find('a.xref[href="#eq-mean"]').get_attribute("aria-describedby") == "preview:card"
    first.press(Keys.ESCAPE)
    assert gone(first)
    assert first.find('a.xref[href="#eq-mean"]').get_attribute("aria-describedby") is None


def test_a_card_closes_when_the_link_is_followed(first: Reader) -> None:
    first.ask(GO, 'a.xref[href="#eq-long"]')
    assert card(first)
    first.press(Keys.ENTER)
    assert gone(first)
    assert first.ask("return location.hash") == "#eq-long"


@pytest.mark.parametrize(
    ("link", "text"),
    [("#eq-two", "(3)"), ("#thm-main", "and no greater"), ("#sec-setting", "Both are as in")],
)
def test_a_card_shows_what_the_link_leads_to(first: Reader, link: str, text: str) -> None:
    point_at(first, f'a.xref[href="{link}"]')
    shown = card(first)
    assert text in shown["text"]
    assert " id=" not in shown["html"] and " href=" not in shown["html"]
    assert first.ask("return document.querySelectorAll('.preview .copy-tex').length") == 0
    assert first.ask("return document.querySelectorAll('.preview .referenced').length") == (text == "(3)")


def test_the_card_of_a_wrong_formula_is_its_source(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/wrong/"))
    point_at(reader, "a.xref")
    assert "nosuchcommand" in card(reader)["text"]
    assert reader.ask("return document.querySelectorAll('.copy-tex').length") == 0
    assert reader.problems() == []


def test_a_card_asks_for_another_post_once(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/second/"))
    asked = []
    for name, text in {"eq-mean": "(1)", "thm-main": "and no greater", "eq-two": "(3)"}.items():
        point_at(reader, f'a.xref[href$="#{name}"]')
        assert text in card(reader)["text"]
        move_to(reader, 2, 2)
        assert gone(reader)
        asked += [url for url in reader.requests() if url == cards.url("/posts/first/")]
    assert len(asked) == 1


def test_without_the_other_post_a_reference_is_a_link(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/second/"))
    reader.ask("window.fetch = () => { window.asked = true; return Promise.reject(new TypeError()); }")
    point_at(reader, "a.xref")
    reader.wait_for(lambda: reader.ask("return window.asked"))
    assert reader.ask(CARD) is None
    assert reader.problems() == []


def test_a_card_has_no_fault(cards: Served, reader: Reader) -> None:
    axe = tools.file(tools.AXE).read_text("utf-8")
    reader.open(cards.url("/posts/first/"))
    for look in LOOKS.values():
        reader.take_on(look)
        for name in ("eq-mean", "eq-two", "eq-long", "thm-main"):
            reader.ask(GO, f'a.xref[href="#{name}"]')
            shown = card(reader)
            assert 0 <= float(shown["left"]) < float(shown["right"]) <= look.width_px, (look, name)
            # The rest of the page is the same for each card.
            found = faults(reader, axe, "" if name == "eq-mean" else ".preview")
            assert found == [], (look, name)
        reader.press(Keys.ESCAPE)
        assert gone(reader)


def test_a_wide_card_can_be_scrolled_by_keyboard(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/first/"), PHONE)
    reader.ask(GO, 'a.xref[href="#eq-long"]')
    assert card(reader)
    reader.press(Keys.TAB)
    assert reader.ask("return document.activeElement.className") == "preview post-content"
    assert card(reader)
    reader.press(Keys.ESCAPE)
    assert gone(reader)
    assert reader.ask("return document.activeElement.hash") == "#eq-long"


def test_no_card_is_printed(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/first/"), PAPER)
    reader.ask(GO, "a.xref")
    assert reader.ask("return document.querySelector('.copy-tex').checkVisibility()") is False
    assert reader.wait_for(lambda: reader.ask("return document.querySelector('.previewed') !== null"))
    assert reader.ask("return document.querySelector('.preview').checkVisibility()") is False
