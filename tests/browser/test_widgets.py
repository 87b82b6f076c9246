"""What acts in a page: by hand and by keyboard, with scripts and without, and never before it is asked."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from .conftest import Served
from .reader import DARK, DESKTOP, PAPER, WITHOUT_SCRIPTS, Reader

PAGE = "/posts/widgets/"
SOURCE = "def square(x):\n    return x * x  # <not a tag>"
SEEN = "return document.querySelector(arguments[0]).checkVisibility()"
BACKGROUND = "return getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def page(widgets: Served, reader: Reader) -> Reader:
    """A reader of the page with every widget, opened for the first time."""
    reader.open(widgets.url(PAGE))
    return reader


def test_a_plain_post_has_no_script(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url("/posts/plain/"))
    assert [url for url in reader.requests() if url.endswith("js")] == []
    assert reader.ask(HANDLERS) == []


HANDLERS = """
const scripts = [...document.scripts].filter(script => script.type !== "application/ld+json");
const attributes = [...document.querySelectorAll("*")].flatMap(element => element.getAttributeNames());
return [...scripts.map(script => script.outerHTML), ...attributes.filter(name => name.startsWith("on"))];
"""


def test_compare_by_keyboard(page: Reader) -> None:
    split = "return document.querySelector('.compare-after').getBoundingClientRect().width && " \
        "getComputedStyle(document.querySelector('figure.image-compare')).getPropertyValue('--split')"
    slider = page.find(".compare-slider")
    page.ask("document.querySelector('.compare-slider').focus()")
    steps = {Keys.ARROW_RIGHT: "51", Keys.ARROW_LEFT: "50", Keys.END: "100", Keys.HOME: "0"}
    for key, value in steps.items():
        page.press(key)
        assert slider.get_property("value") == value
        assert page.ask(split) == f"{value}%"
    assert page.ask("return document.activeElement.getAttribute('aria-label')")
    assert page.problems() == []


def test_compare_uncovers_the_other_picture(page: Reader) -> None:
    """What is painted at a quarter of the width changes as the slider passes it."""
    painted = [_painted(page, key) for key in (Keys.HOME, Keys.END)]
    assert painted[0] != painted[1]


def _painted(page: Reader, key: str) -> str:
    page.ask("document.querySelector('.compare-slider').focus()")
    page.press(key)
    box = page.ask(
        "const {x, y, width, height} = document.querySelector('.compare-before').getBoundingClientRect();"
        "return {x: x + scrollX + width / 4, y: y + scrollY + height / 4, width: 8, height: 8, scale: 1}"
    )
    answer = page.tell("Page.captureScreenshot", clip=box, captureBeyondViewport=True)
    return str(answer["data"])


def test_embed_loads_on_click_only(page: Reader) -> None:
    assert page.ask("return document.querySelectorAll('iframe').length") == 0
    assert page.foreign_requests() == []
    page.find(".embed-link").click()
    asked = page.wait_for(page.foreign_requests)
    assert asked[0].startswith("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ")
    assert page.ask("return document.querySelector('iframe').title")
    assert page.ask("return document.activeElement.localName") == "iframe"


def test_embed_by_keyboard(page: Reader) -> None:
    page.ask("document.querySelector('.embed-link').focus()")
    page.press(Keys.ENTER)
    page.wait_for(page.foreign_requests)


def test_folded_text_opens_without_scripts(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), WITHOUT_SCRIPTS)
    for kind in ("details.callout", "details.collapsible"):
        content = f"{kind} > :not(summary)"
        assert reader.ask(SEEN, content) is False
        reader.find(f"{kind} > summary").click()
        assert reader.ask(SEEN, content) is True


def test_widgets_are_readable_without_scripts(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), WITHOUT_SCRIPTS)
    sizes = "return [...document.querySelectorAll('.image-compare img')].map(i => i.getBoundingClientRect().toJSON())"
    before, after = reader.ask(sizes)
    assert min(before["width"], after["width"], before["height"]) > 100
    assert before["right"] <= after["left"] or before["bottom"] <= after["top"], "the pictures overlap"
    for selector in (".compare-label-before", ".compare-label-after", ".embed-link"):
        assert reader.ask(SEEN, selector)
    assert not reader.ask(SEEN, ".compare-slider"), "a slider that does nothing is shown"
    assert reader.find(".embed-link").get_attribute("href") == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def test_prints(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), PAPER)
    assert reader.printed().startswith(b"%PDF-")
    for interface in (".site-header nav", ".skip-link", ".compare-slider", ".copy-button"):
        hidden = "const e = document.querySelector(arguments[0]); return !e || !e.checkVisibility()"
        assert reader.ask(hidden, interface), f"{interface} is printed"
    for content in (".post-title", ".post-content", "figure.code", ".compare-before", ".compare-after"):
        assert reader.ask(SEEN, content), f"{content} is not printed"
