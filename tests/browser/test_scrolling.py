"""Content wider than a phone scrolls, shows that it scrolls, and is a tab stop; other content is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.site_files import SiteText, build_text, printed

from . import tools
from .accessibility import faults
from .firefox import Firefox
from .reader import DESKTOP, PHONE, SHEET, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .two_browsers import opened_in_either, picture, take_on

POST = r"""---
title: Wide things
date: 2026-01-01
---

$$a = b$$

$$a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12}$$ {#eq:long}

$$b_1 + b_2 + b_3 + b_4 + b_5 + b_6 + b_7 + b_8 + b_9 + b_{10} + b_{11} + b_{12}
  + b_{13} + b_{14} + b_{15} + b_{16} + b_{17} + b_{18} + b_{19} + b_{20} + b_{21} + b_{22} + b_{23}
$$ {wide=scroll}

\begin{align}
\operatorname{MultiHead}(Q, K, V) &= \operatorname{Concat}(\text{head}_1, \dots), \label{eq:one} \\
\text{head}_i &= \operatorname{Attention}(QW_i^Q, K), \label{eq:two}
\end{align}

\begin{align}
\operatorname{MultiHead}(Q, K, V) &= \operatorname{Concat}(\text{head}_1, \dots, \text{head}_h) \label{eq:a}\\
\text{head}_i &= \operatorname{Attention}(QW_i^Q, KW_i^K, VW_i^V) \label{eq:b}
\end{align}

```python
short = 1
```

```python wrap=false
long = "a line of code that is certainly wider than the screen of any phone, and then some more"
```

| a | b |
|---|---|
| 1 | 2 |

| one long heading | another long heading | a third long heading | and the fourth of them |
|---|---|---|---|
| unbreakable_word_number_1 | unbreakable_word_number_2 | unbreakable_word_number_3 | 4 |

| rows | display |
|---|---|
| $SUM$ | $$\sum_{i=1}^{n} f(x_i) = \int_0^1 a + b + c + d + e + f + g$$ |
| $\begin{array}{c} a \\ \hat{b} \end{array}$ | $\tilde{xyz}$ |

| a_name_of_one_column_that_is_far_too_long_for_any_sheet | of_which_two_stand_side_by_side_in_one_table |
|---|---|
| a_name_of_one_column_that_is_far_too_long_for_any_sheet | of_which_two_stand_side_by_side_in_one_table |

| name_of_a_column_1 | name_of_a_column_2 | name_of_a_column_3 | name_of_a_column_4 | name_of_a_column_5 |
|---|---|---|---|---|
| name_of_a_column_1 | name_of_a_column_2 | name_of_a_column_3 | name_of_a_column_4 | name_of_a_column_5 |

```drawing
wide
```
""".replace("SUM", " + ".join(f"a_{{{number}}}" for number in range(14)))
PLUGIN = '''
"""A drawing of one size."""


def register(hooks):
    @hooks.diagram("drawing")
    def draw(source):
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 80">'
            '<rect x="1" y="20" width="898" height="40" fill="none" stroke="black"/></svg>'
        )
'''
# Each box that may scroll: its name, whether it scrolls sideways, and its `tabindex`.
BOXES = """
const boxes = document.querySelectorAll(".math-display, .diagram-scroll, .table-wrap, pre");
return [...boxes].map(box => [
  `${box.className}: ${box.textContent.trim().slice(0, 20)}`,
  box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto",
  box.getAttribute("tabindex"),
]);
"""
# For each box with a table: the width of its vertical scroll bar, and how far symbols extend below their
# row.
DOWN = """
const bottom = element => element.getBoundingClientRect().bottom;
return [...document.querySelectorAll(".table-wrap")].map(box => {
  const signs = [...box.querySelectorAll("mi, mn, mo")];
  const below = signs.map(sign => bottom(sign) - bottom(sign.closest("tr")));
  return [box.offsetWidth - box.clientWidth, Math.max(0, ...below)];
});
"""
SIZES = """
const formulas = [...document.querySelectorAll(".math-display > math")];
return formulas.map(formula => parseFloat(getComputedStyle(formula).fontSize));
"""
NUMBERS = """
return [...document.querySelectorAll(".eq-number")].map(number => {
  const box = number.closest(".math-display");
  const cell = number.closest("mtr")?.querySelector(":scope > :nth-last-child(2)");
  const part = cell ?? box.querySelector("math");
  const range = document.createRange();
  range.selectNodeContents(number);
  const {left, right, top, bottom} = range.getBoundingClientRect();
  const pieces = [...part.querySelectorAll("mi, mo, mn, mtext")].map(piece => piece.getBoundingClientRect());
  const beside = pieces.filter(piece => piece.top < bottom - 1 && piece.bottom > top + 1);
  return {
    right: right - box.getBoundingClientRect().right,
    gap: beside.length ? left - Math.max(...beside.map(piece => piece.right)) : 99,
  };
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    folder = tmp_path_factory.mktemp("scrolling")
    files = {
        "blogsmith.yaml": b"title: Wide\nplugins: [drawing]\n",
        "plugins/drawing.py": PLUGIN.encode(),
        "content/posts/wide.md": POST.encode(),
    }
    report = build_text(SiteText(files, "", "", trusted=True), folder)
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield f"{origin}/posts/wide/"


def boxes(reader: Reader) -> list[tuple[str, bool, str | None]]:
    """Return name, whether it scrolls, and `tabindex` of each box."""
    return [(name, scrolls, stop) for name, scrolls, stop in reader.ask(BOXES)]


def are_stops_right(reader: Reader) -> bool:
    return all((stop == "0") == scrolls for _, scrolls, stop in boxes(reader))


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_only_what_scrolls_is_a_stop(page: str, reader: Reader, look: Look) -> None:
    reader.open(page, look)
    reader.wait_for_fonts()
    reader.wait_for(lambda: are_stops_right(reader))
    kinds = {name.partition(":")[0] for name, scrolls, _ in boxes(reader) if scrolls}
    if look == PHONE:
        assert kinds == {"math-display", "highlight", "table-wrap", "diagram-scroll"}
    # Another width, as on a phone that is turned.
    reader.take_on(DESKTOP if look == PHONE else PHONE)
    reader.wait_for(lambda: are_stops_right(reader))


def test_what_scrolls_can_be_reached(page: str, reader: Reader) -> None:
    axe = tools.file(tools.AXE).read_text("utf-8")
    reader.open(page, PHONE)
    reader.wait_for(lambda: are_stops_right(reader))
    assert not [fault for fault in faults(reader, axe) if "scrollable" in str(fault)]


def test_displays_scroll_by_keyboard_without_scripts(page: str, reader: Reader) -> None:
    reader.open(page, Look(PHONE.width_px, scripts=WITHOUT_SCRIPTS.scripts))
    displays = [stop for name, _, stop in boxes(reader) if name.startswith("math-display")]
    assert displays == [None] * 6
    # A display without a number; in one with a number, the link is the tab stop.
    is_there = "return document.activeElement.matches('#eq-long + .math-display')"
    for _ in range(20):
        reader.press(Keys.TAB)
        if reader.ask(is_there):
            break
    assert reader.ask(is_there)
    reader.press(*[Keys.ARROW_RIGHT] * 3)
    reader.wait_for(lambda: reader.ask("return document.activeElement.scrollLeft > 0"))


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    """Open the page on a phone."""
    opened = opened_in_either(request, page, 390, 2)
    # The first screenshot removes Chromium's scroll bars, as on a phone.
    picture(opened, 0, 0, 9, 9)
    return opened


def test_numbers_and_cells_stay_inside_their_box(browser: Reader | Firefox) -> None:
    for width_px in (390, 360):
        take_on(browser, width_px, 2)
        numbers: list[Mapping[str, Any]] = browser.ask(NUMBERS)
        assert len(numbers) == 5
        assert not [number for number in numbers if number["right"] > 0.5]
        # Numbers keep a distance from the formula beside them.
        assert not [number for number in numbers if number["gap"] < 6]
        assert not [cells for cells in browser.ask(DOWN) if max(cells) > 0.5]


def test_on_paper_what_is_wider_is_set_smaller_alone(page: str, reader: Reader) -> None:
    # If content is wider than its sheet, a browser prints the whole post smaller.
    reader.open(page)
    reader.wait_for_fonts()
    reader.printed()
    reader.take_on(SHEET)
    # A printer does not round letters to whole pixels.
    reader.ask("document.documentElement.style.textRendering = 'geometricPrecision'")
    assert reader.ask("return document.documentElement.scrollWidth") <= SHEET.width_px
    first, fits, long, *_ = reader.ask(SIZES)
    assert first == fits == reader.ask("return parseFloat(getComputedStyle(document.body).fontSize)")
    assert 0.6 * first < long < 0.9 * first
    # Code is not separated from its title, and nothing fades.
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert reader.ask(style, ".code-header", "breakAfter") == "avoid"
    reader.ask("document.querySelector('.table-wrap').dataset.more = 'right'")
    assert reader.ask(style, "[data-more]", "maskImage") == "none"


def test_what_is_cut_off_fades(browser: Reader | Firefox) -> None:
    script = """
    const box = document.querySelector(arguments[0]);
    box.scrollLeft = arguments[1];
    // the event of the scroll comes with the next frame
    return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      .then(() => [box.dataset.more, getComputedStyle(box).maskImage !== "none"]);
    """
    for kind in (
        ".diagram-scroll",
        ".math-display[data-more]",
        ".highlight[data-more]",
        ".table-wrap[data-more]",
    ):
        assert browser.ask(script, kind, 0) == ["right", True]
        assert browser.ask(script, kind, 5) == ["left right", True]
        assert browser.ask(script, kind, 10_000) == ["left", True]
    assert browser.ask("return document.querySelector('.math-display').dataset.more") is None


def test_edges_fade_into_what_is_behind_them(browser: Reader | Firefox) -> None:
    script = """
    const box = document.querySelector(".diagram-scroll");
    const svg = box.firstElementChild;
    svg.innerHTML = '<rect width="900" height="80" fill="black"/>';
    box.scrollLeft = 0;
    const {left, top, width, height} = box.getBoundingClientRect();
    return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      .then(() => [left, top + scrollY, width, height]);
    """
    left, top, width, height = browser.ask(script)
    shown = picture(browser, left, top, width, height)
    row: list[Any] = [shown.getpixel((x, int(height))) for x in range(shown.width)]
    assert max(row[4]) < 30 and max(row[-50]) < 30
    assert min(row[-1]) > 200
    # It becomes lighter from pixel to pixel.
    assert all(min(one) <= min(other) + 2 for one, other in pairwise(row[-40:]))


LAYOUTS = """
const read = [];
const width = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth");
Object.defineProperty(Element.prototype, "scrollWidth", {
  get() { read.push("read"); return width.get.call(this); },
});
new MutationObserver(records => records.forEach(({target}) => target.matches("pre") && read.push("write")))
  .observe(document, {subtree: true, attributes: true, attributeFilter: ["tabindex", "data-more"]});
for (const name of ["setAttribute", "removeAttribute"]) {
  const own = Element.prototype[name];
  Element.prototype[name] = function (...given) {
    if (given[0] === "tabindex") read.push("change");
    return own.apply(this, given);
  };
}
window.steps = read;
"""


def test_all_is_read_before_anything_is_written(page: str, reader: Reader) -> None:
    name = reader.tell("Page.addScriptToEvaluateOnNewDocument", source=LAYOUTS)["identifier"]
    try:
        reader.open(page, PHONE)
        reader.wait_for(lambda: are_stops_right(reader))
        steps = [step for step in reader.ask("return window.steps") if step != "write"]
    finally:
        reader.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=name)
    runs = [step for step, _ in groupby(steps)]
    assert steps.count("read") > 10 and steps.count("change") > 0
    # At most one run for the boxes and one for the fonts.
    assert runs in (["read", "change"], ["read", "change", "read"], ["read", "change", "read", "change"])
