"""Interactive elements of a page: by mouse and keyboard, with and without scripts, and never too early."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from .conftest import Served
from .reader import DARK, DESKTOP, PAPER, WITHOUT_SCRIPTS, Look, Reader

PAGE = "/posts/widgets/"
SEEN = "return document.querySelector(arguments[0]).checkVisibility()"
FOCUS = "document.querySelector(arguments[0]).focus()"
BOXES = "return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().toJSON())"
INK = "return getComputedStyle(document.querySelector('main')).color"
# Nothing is painted before there is a body, so the choice must be applied by then.
WATCH_FOR_THE_BODY = """
new MutationObserver((_, observer) => {
  if (!document.body) return;
  observer.disconnect();
  window.early = document.documentElement.dataset.theme;
}).observe(document, {childList: true, subtree: true});
"""
# The button shows its result only for a moment.
KEEP_NAMES = """
const button = document.querySelector("figure.code .copy-button");
window.names = [];
new MutationObserver(() => names.push(button.textContent)).observe(button, {childList: true});
"""
PICTURES_ARE_THERE = """
const pictures = [...document.querySelectorAll(".image-compare img")];
return Promise.all(pictures.map(picture => picture.decode())).then(() => true);
"""


@pytest.fixture
def page(widgets: Served, reader: Reader) -> Reader:
    """Open the page with every widget, for the first time."""
    reader.open(widgets.url(PAGE))
    return reader


def test_compare_by_keyboard(page: Reader) -> None:
    slider = page.find(".compare-slider")
    page.ask(FOCUS, ".compare-slider")
    for key, value in {Keys.ARROW_RIGHT: 51, Keys.ARROW_LEFT: 50, Keys.END: 100, Keys.HOME: 0}.items():
        page.press(key)
        assert slider.get_property("value") == str(value)
    assert slider.accessible_name
    assert page.problems() == []


def test_compare_says_how_much_of_which_picture_is_seen(page: Reader) -> None:
    value = "return document.querySelector('.compare-slider').getAttribute('aria-valuetext')"
    assert page.ask(value) == "50 % Before, 50 % After"
    page.ask(FOCUS, ".compare-slider")
    page.press(Keys.ARROW_RIGHT)
    assert page.ask(value) == "51 % Before, 49 % After"


# Elements with a visible size.
PANEL_TEXTS = """
const parts = [...document.querySelectorAll(".video-embed span, .video-embed figcaption")];
return parts.filter(part => part.getBoundingClientRect().width > 2).map(part => part.innerText);
"""


def test_the_panel_of_a_video_says_nothing_twice(page: Reader) -> None:
    texts = page.ask(PANEL_TEXTS)
    assert texts.count("A talk") == 1
    link = page.find(".embed-link")
    assert link.accessible_name == "A talk, youtube.com"
    page.ask("document.querySelector('.embed-link').click()")
    assert page.ask("return document.querySelector('.video-embed iframe').title") == "A talk, youtube.com"
    # No host answers there.
    page.problems()


def test_compare_uncovers_the_other_picture(page: Reader) -> None:
    page.wait_for(lambda: page.ask(PICTURES_ARE_THERE))
    assert _painted_after(page, Keys.HOME) != _painted_after(page, Keys.END)


def _painted_after(page: Reader, key: str) -> str:
    """Press a key on the slider and return a screenshot of a spot of the first image."""
    page.ask(FOCUS, ".compare-slider")
    page.press(key)
    [box] = page.ask(BOXES, ".compare-before")
    x, y = box["x"] + box["width"] / 4, box["y"] + page.ask("return scrollY") + box["height"] / 4
    spot = {"x": x, "y": y, "width": 8, "height": 8, "scale": 1}
    return str(page.tell("Page.captureScreenshot", clip=spot, captureBeyondViewport=True)["data"])


def test_copy_button_copies_the_source_alone(page: Reader) -> None:
    page.empty_clipboard()
    page.ask(KEEP_NAMES)
    page.find("figure.code .copy-button").click()
    assert page.pasted().rstrip("\n") == "def square(x):\n    return x * x  # <not a tag>"
    page.wait_for(lambda: page.ask("return names") == ["copied", "copy"])
    assert page.problems() == []


@pytest.mark.parametrize("system", [DESKTOP, DARK], ids=["light system", "dark system"])
def test_switch_is_remembered_and_does_not_flash(widgets: Served, reader: Reader, system: Look) -> None:
    reader.open(widgets.url("/posts/plain/"), system)
    first = reader.ask(INK)
    reader.find(".theme-switch").click()
    other = reader.ask(INK)
    assert first != other
    watch = reader.tell("Page.addScriptToEvaluateOnNewDocument", source=WATCH_FOR_THE_BODY)
    reader.open_again()
    reader.tell("Page.removeScriptToEvaluateOnNewDocument", **watch)
    assert reader.ask("return window.early") == ("dark" if system is DESKTOP else "light")
    assert reader.ask(INK) == other
    reader.find(".theme-switch").click()
    assert reader.ask(INK) == first


def test_without_the_switch_the_system_decides(own_site: Served, reader: Reader) -> None:
    inks = []
    for look in (DESKTOP, DARK):
        reader.open(own_site.url("/"), look)
        inks.append(reader.ask(INK))
    assert inks[0] != inks[1]


def test_folded_text_opens_without_scripts(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), WITHOUT_SCRIPTS)
    for kind in ("details.callout", "details.collapsible"):
        assert not reader.ask(SEEN, f"{kind} > :not(summary)")
        reader.find(f"{kind} > summary").click()
        assert reader.ask(SEEN, f"{kind} > :not(summary)")


def test_pictures_and_links_without_scripts(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), WITHOUT_SCRIPTS)
    before, after = reader.ask(BOXES, ".image-compare img")
    assert min(before["width"], after["width"], before["height"], after["height"]) > 100
    assert before["right"] <= after["left"] or before["bottom"] <= after["top"], "the pictures overlap"
    for selector in (".compare-label-before", ".compare-label-after", ".embed-link"):
        assert reader.ask(SEEN, selector)
    for selector in (".compare-slider", ".copy-button", ".theme-switch"):
        hidden = "const e = document.querySelector(arguments[0]); return !e || !e.checkVisibility()"
        assert reader.ask(hidden, selector), f"{selector} is shown but does nothing"
    assert reader.find(".embed-link").get_attribute("href") == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


FORCED = [{"name": "forced-colors", "value": "active"}]
DRAWN = """
const [selector, part] = arguments;
const {backgroundColor, borderTopStyle} = getComputedStyle(document.querySelector(selector), part);
return part ? backgroundColor : borderTopStyle;
"""


def test_colours_of_the_system_hide_nothing(page: Reader) -> None:
    page.tell("Emulation.setEmulatedMedia", features=FORCED)
    ink, ground = page.ask(
        "const {color, backgroundColor} = getComputedStyle(document.body); return [color, backgroundColor]"
    )
    assert ink != ground
    assert page.ask(DRAWN, "figure.code", None) == "solid"
    for selector in (".image-compare.active", ".embed-link"):
        assert page.ask(DRAWN, selector, "::before") == ink
    assert page.ask(DRAWN, ".theme-switch", "::before") not in (ground, "rgba(0, 0, 0, 0)")


def test_icons_of_callouts_keep_the_colour_of_text(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/docs/callouts/"))
    reader.tell("Emulation.setEmulatedMedia", features=FORCED)
    ink = reader.ask("return getComputedStyle(document.body).color")
    assert reader.ask(DRAWN, ".callout-note > .callout-title", "::before") == ink


def test_prints(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE), PAPER)
    for interface in (".site-menu", ".skip-link", ".compare-slider", ".copy-button", ".theme-switch"):
        hidden = "const e = document.querySelector(arguments[0]); return !e || !e.checkVisibility()"
        assert reader.ask(hidden, interface), f"{interface} is printed"
    for content in (".post-title", ".post-content", "figure.code", ".compare-before", ".compare-after"):
        assert reader.ask(SEEN, content), f"{content} is not printed"
    assert reader.printed().startswith(b"%PDF-")
