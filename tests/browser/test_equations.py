"""Displays for a reader, who follows their numbers and copies their TeX; also without scripts."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from selenium.webdriver.common.keys import Keys

from .conftest import ROOT, Served
from .equations import GO, MIDDLE, PAGES, equations, point_at, site
from .notes import tap, touch
from .reader import DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader

PLACES = """
return [...document.querySelectorAll(".math-display")].map(display => {
  const {x, y, width, height} = display.getBoundingClientRect();
  return [x, y + scrollY, width, height].map(Math.round);
});
"""
# The painted pixels of the formula, not the whole line of `<math display="block">`.
COVERED = """
const over = (one, other) => one.left < other.right && other.left < one.right
  && one.top < other.bottom && other.top < one.bottom;
return [...document.querySelectorAll(".copy-tex")].filter(button => [...button.parentElement
  .querySelectorAll("mi, mo, mn, .eq-number")].some(sign => over(
    button.getBoundingClientRect(), sign.getBoundingClientRect()))).length;
"""
# Stores messages that disappear after a while, for tests that read them late.
KEEP_WHAT_IS_SAID = """
const status = document.querySelector("[role=status]");
window.said = [];
new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true});
"""
ITEM = "#{} > .copy-menu > :nth-child({})"
IS_OPEN = "return document.querySelector(':popover-open') !== null"
# Opens the menu of a display and chooses an item, counted from 1.
COPY = """
const display = document.querySelector(arguments[0]);
display.querySelector(":scope > .copy-tex").click();
display.querySelector(`:scope > .copy-menu > :nth-child(${arguments[1]})`).click();
"""
# Buttons over the inner edge of the border of their box, or outside the page.
ON_A_BORDER = """
return [...document.querySelectorAll(".copy-tex")].filter(button => {
  const box = button.closest(".callout, .example, main");
  const border = parseFloat(getComputedStyle(box).borderLeftWidth);
  const {left, width} = button.getBoundingClientRect();
  return width && left < (border && border + box.getBoundingClientRect().left) - 0.5;
}).map(button => button.parentElement.textContent);
"""
SELECT = """
const [from, to] = [...arguments].map(selector => document.querySelector(selector));
const range = document.createRange();
range.setStart(from, 0);
range.setEnd(to, to.childNodes.length);
getSelection().removeAllRanges();
getSelection().addRange(range);
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


class TestLinks:
    @pytest.mark.parametrize("link", ["a.eq-number", "a.xref"])
    def test_lead_to_the_equation_without_scripts(self, cards: Served, reader: Reader, link: str) -> None:
        reader.open(cards.url("/posts/first/"), WITHOUT_SCRIPTS)
        reader.find(f'{link}[href="#eq-mean"]').click()
        reader.wait_for(lambda: reader.ask("return location.hash") == "#eq-mean")
        assert reader.ask("return document.querySelector(':target').className") == "math-display"

    def test_lead_to_other_posts_without_scripts(self, cards: Served, reader: Reader) -> None:
        reader.open(cards.url("/posts/second/"), WITHOUT_SCRIPTS)
        reader.find('a.xref[href$="#eq-two"]').click()
        reader.wait_for(lambda: reader.ask("return location.pathname") == "/posts/first/")
        # The URL changes before the page is there.
        reader.wait_for(lambda: reader.ask("return document.querySelector(':target').localName") == "mtr")

    @pytest.mark.parametrize("look", [WITHOUT_SCRIPTS, PHONE], ids=["without scripts", "phone"])
    @pytest.mark.parametrize("row", ["eq-one", "eq-two"])
    def test_the_number_of_a_row_is_one(self, cards: Served, reader: Reader, look: Look, row: str) -> None:
        reader.open(cards.url("/posts/first/"), look)
        reader.wait_for_fonts()

        def press() -> bool:
            # On a busy machine scripts may move the row between the query and the press.
            place = reader.ask(MIDDLE, f"#{row} .eq-number")
            for kind in ("mousePressed", "mouseReleased"):
                reader.tell("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
            return bool(reader.ask("return location.hash") == f"#{row}")

        reader.wait_for(press)


class TestCopying:
    @pytest.mark.parametrize("by", ["pointer", "keyboard"])
    def test_the_menu_gives_the_author_s_tex(self, first: Reader, by: str) -> None:
        first.empty_clipboard()
        first.ask(KEEP_WHAT_IS_SAID)
        assert first.find("#eq-mean > .copy-tex").accessible_name == "copy formula (1)"
        if by == "pointer":
            point_at(first, "#eq-mean")
            first.find("#eq-mean > .copy-tex").click()
            first.find(ITEM.format("eq-mean", 1)).click()
        else:
            first.ask(GO, "#eq-mean > .copy-tex")
            first.press(Keys.ENTER)
            # The first item has the focus.
            first.press(Keys.ENTER)
        assert first.pasted() == r"\frac{a + b}{2} \ge \sqrt{ab}"
        first.wait_for(lambda: first.ask("return said") == ["copied", ""])
        assert first.ask(IS_OPEN) is False
        if by == "keyboard":
            assert first.ask("return document.activeElement.className") == "copy-tex"

    def test_the_keyboard_reaches_each_item_and_leaves(self, first: Reader) -> None:
        first.ask(GO, "#eq-mean > .copy-tex")
        first.press(Keys.ENTER)
        names = []
        for _ in range(3):
            names.append(first.ask("return document.activeElement.textContent"))
            first.press(Keys.TAB)
        assert names == ["copy LaTeX", "copy MathML", "copy link"]
        first.ask(GO, ITEM.format("eq-mean", 2))
        first.press(Keys.ESCAPE)
        assert first.ask(IS_OPEN) is False
        assert first.ask("return document.activeElement.className") == "copy-tex"

    def test_mathml_is_copied_as_text_and_as_html(self, first: Reader) -> None:
        first.empty_clipboard()
        first.ask(COPY, ".math-display:has(mtr[id])", 2)
        text = first.pasted()
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
        assert root.get("display") == "block"
        # Only the formula: no numbers, ids or empty cells of this page.
        assert {len(row) for row in root.iter(f"{root.tag.removesuffix('math')}mtr")} == {2}
        assert not [part for part in root.iter() if part.get("id")]
        assert "eq-number" not in text
        html = first.ask(
            "return navigator.clipboard.read()"
            ".then(([item]) => item.getType('text/html')).then(blob => blob.text())"
        )
        assert "<math xmlns=" in html and "</mtable></math>" in html

    @pytest.mark.parametrize(
        ("display", "target"),
        [
            ("#eq-mean", "#eq-mean"),
            (".math-display:has(mtr[id])", "#eq-one"),
            (".math-display:has(+ .callout)", "#sec-setting"),
        ],
        ids=["a display", "rows", "without a number"],
    )
    def test_a_link_leads_to_the_formula(
        self, cards: Served, first: Reader, display: str, target: str
    ) -> None:
        first.empty_clipboard()
        first.ask(COPY, display, 3)
        assert first.pasted() == cards.url("/posts/first/") + target

    def test_an_environment_is_copied_with_its_name(self, first: Reader) -> None:
        first.empty_clipboard()
        first.ask(COPY, ".math-display:has(mtr)", 1)
        copied = first.pasted()
        assert copied.startswith(r"\begin{align}") and copied.endswith(r"\end{align}")

    def test_a_tap_opens_the_menu_on_a_phone(self, cards: Served, reader: Reader) -> None:
        touch(reader, cards.url("/posts/first/"), PHONE)
        tap(reader, "#eq-mean msqrt")
        assert reader.wait_for(lambda: reader.ask(IS_OPEN))
        menu = reader.ask("return document.querySelector(':popover-open').getBoundingClientRect().toJSON()")
        assert menu["left"] >= 0 and menu["right"] <= PHONE.width_px
        # Nothing that reacts to a finger is at the edge of the screen.
        reactions = "return getComputedStyle(document.querySelector('.copy-tex')).pointerEvents"
        assert reader.ask(reactions) == "none"
        reader.tell("Emulation.setTouchEmulationEnabled", enabled=False)
        assert reader.problems() == []

    def test_the_button_covers_no_border(self, first: Reader) -> None:
        # A kind of callout with a border.
        first.ask("document.querySelector('[data-kind=remark]').dataset.kind = 'note'")
        border = "return getComputedStyle(document.querySelector('[data-kind=note]')).borderLeftWidth"
        assert first.ask(border) == "2px"
        assert first.ask(ON_A_BORDER) == []

    @pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
    def test_the_button_neither_moves_nor_covers(self, cards: Served, reader: Reader, look: Look) -> None:
        places = []
        for scripts in (True, False):
            reader.open(cards.url("/posts/first/"), Look(look.width_px, scripts=scripts))
            reader.ask("document.querySelectorAll('details').forEach(details => { details.open = true })")
            reader.wait_for_fonts()
            places.append(reader.ask(PLACES))
            buttons = reader.ask("return document.querySelectorAll('.copy-tex').length")
            assert buttons == (len(places[0]) if scripts else 0)
            assert reader.ask(COVERED) == 0
        assert places[0] == places[1]

    @pytest.mark.parametrize(
        ("start", "end", "lines"),
        [
            (
                "p math mo",
                "#eq-mean msqrt mi",
                ["$a > 0$ and $b > 0$. By (1) all is well.", r"$$\frac{a + b}{2} \ge \sqrt{ab}$$"],
            ),
            ("#eq-mean mfrac", "#eq-mean msqrt", [r"$$\frac{a + b}{2} \ge \sqrt{ab}$$"]),
            (
                ".math-display:has(+ .callout) mo",
                "[data-kind=theorem] summary",
                [r"\begin{gather*}", r"f = 1 \\", "g = 2", r"\end{gather*}", "Theorem 1 (Means)"],
            ),
        ],
        ids=["parts of two", "part of one", "an environment"],
    )
    def test_a_selection_holds_tex(self, first: Reader, start: str, end: str, lines: list[str]) -> None:
        first.empty_clipboard()
        first.ask(SELECT, start, end)
        first.tell(
            "Input.dispatchKeyEvent", type="rawKeyDown", key="c", code="KeyC", modifiers=2, commands=["copy"]
        )
        assert [line for line in first.pasted().splitlines() if line] == lines

    def test_a_selection_without_formulas_is_the_browser_s(self, first: Reader) -> None:
        first.ask(SELECT, "h1", "h1")
        script = """
        const event = new ClipboardEvent("copy", {bubbles: true, cancelable: true});
        return document.dispatchEvent(event);
        """
        assert first.ask(script) is True

    def test_a_refusal_marks_the_formula(self, first: Reader) -> None:
        first.ask("navigator.clipboard.writeText = () => Promise.reject()")
        first.ask(KEEP_WHAT_IS_SAID)
        first.ask(COPY, "#eq-mean", 1)
        first.wait_for(lambda: "marked" in first.ask("return said"))
        assert first.ask("return getSelection().anchorNode.localName") == "math"


def test_each_page_has_the_scripts_it_uses(cards: Served, tmp_path: Path) -> None:
    def scripts(text: str) -> list[str]:
        is_joined = re.search(r"/posts-\w+\.js", text)
        return [name for name in ("copy.js", "preview.js") if is_joined or name in text]

    found = {name: scripts(cards.text(f"/posts/{name}/")) for name in PAGES}
    both = ["copy.js", "preview.js"]
    assert found == {
        "first": both,
        "second": ["preview.js"],
        "plain": [],
        "cited": ["preview.js"],
        "wrong": both,
    }
    output = site(tmp_path, "theme_options: {copy: false, preview: false}\n")
    assert scripts((output / "posts" / "first" / "index.html").read_text("utf-8")) == []


SCRIPT_BYTES = {"copy.js": 2048, "preview.js": 2560, "scroll.js": 1536, "selection.js": 1536}


@pytest.mark.parametrize(("name", "max_bytes"), SCRIPT_BYTES.items(), ids=SCRIPT_BYTES)
def test_scripts_are_small(name: str, max_bytes: int) -> None:
    text = (ROOT / "themes" / "paper" / "static" / name).read_bytes()
    assert len(gzip.compress(text, 9, mtime=0)) <= max_bytes
