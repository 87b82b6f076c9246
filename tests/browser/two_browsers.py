"""Formulas in Chromium and in Firefox: sizes, line breaks, and the edges of their boxes.

The page contains the longest displays of each group of the gallery, and formulas with words in their
scripts.
"""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.site_files import SiteText, build, printed, write_site_files

from .firefox import Firefox
from .gallery_text import read_groups
from .reader import Reader

WIDTHS_PX = (390, 820, 1440)
RATIOS = (1, 1.25, 2, 2.625, 3)
LOOKS = tuple(itertools.product(WIDTHS_PX, RATIOS))
SOME_LOOKS = ((390, 1), (390, 2.625), (820, 1.25), (820, 3), (1440, 2))
"""Looks that together have each width and each ratio."""
HEIGHT_PX = 900
EACH = 4
"""Number of displays of a group."""
PACKAGES = frozenset({"physics"})
WORDS = (
    r"\theta_{\text{MLE}} = \arg\max_\theta \mathcal L_\text{val}(\theta)",
    r"x^{\text{th}} \stackrel{\text{def}}{=} p_{\text{data}}^{\text{new}}",
    r"\underbracket{a + b}_{\text{two terms}} + \overset{\text{top}}{c} + \underset{\text{end}}{d}",
    r"e^{x_{\text{inner}}} + \sqrt[\text{n}]{x} + \int_{\text{from}}^{\text{to}} f",
)
# One that cannot break, so it scrolls.
UNBREAKABLE = (rf"\begin{{pmatrix}} {' & '.join(map(str, range(30)))} \end{{pmatrix}}",)
# Rows with numbers of their own.
ROWS = (
    "\\begin{align}\nK^\\top q &= \\sum_j k_j q_j \\label{eq:first} \\\\\n"
    "\\operatorname{softmax}(x)_i &= \\frac{e^{x_i}}{\\sum_j e^{x_j}}, \\label{eq:second}\n\\end{align}",
)

# For each display: its box, its overflow, its formula's box, whether it has line breaks, the sizes of its
# symbols. Line breaks are detected by comparing its height with the height without them.
MEASURE = """
const displays = [...document.querySelectorAll(".math-display")];
const size = element => parseFloat(getComputedStyle(element).fontSize);
const heights = () => displays.map(display => display.querySelector("math").getBoundingClientRect().height);
const found = heights();
const whole = new CSSStyleSheet();
whole.replaceSync("math { white-space: nowrap !important }");
document.adoptedStyleSheets = [whole];
const least = heights();
document.adoptedStyleSheets = [];
return displays.map((display, number) => {
  const formula = display.querySelector("math");
  const parts = [...formula.children].map(part => part.getBoundingClientRect()).filter(part => part.width);
  const {left, top, right, bottom} = display.getBoundingClientRect();
  const {top: start, bottom: end} = formula.getBoundingClientRect();
  const signs = [...formula.querySelectorAll("mi, mn, mo, mtext")];
  return {
    box: [left, top + scrollY, right, bottom + scrollY],
    formula: [
      Math.min(...parts.map(part => part.left)), start + scrollY,
      Math.max(...parts.map(part => part.right)), end + scrollY,
    ],
    scroll: display.scrollWidth - display.clientWidth,
    faded: getComputedStyle(display).maskImage !== "none",
    bar: display.offsetHeight - display.clientHeight,
    broken: Math.abs(found[number] - least[number]) > 2,
    wide: display.matches("[data-fit]"),
    sizes: signs.map(size),
    size: size(formula),
    words: [...formula.querySelectorAll("mtext")].map(size),
  };
});
"""
Corners = tuple[float, float, float, float]
"""Left, top, right and bottom, in CSS pixels of the page."""


@dataclass(frozen=True, slots=True)
class Display:
    """A display in one browser."""

    box: Corners
    formula: Corners
    """Horizontal extent of the formula's parts; vertical extent of its box."""
    scroll: float
    """Width of the content beyond the box."""
    faded: bool
    """Whether it fades at an edge beyond which there is more."""
    bar: float
    """Height of the horizontal scroll bar."""
    broken: bool
    """Whether the browser added line breaks."""
    wide: bool
    """Whether it may break, because it does not fit a phone."""
    sizes: tuple[float, ...]
    """Font sizes of its symbols and words, in CSS pixels."""
    size: float
    """Font size of the formula."""
    words: tuple[float, ...]
    """Font sizes of its words."""


def _displays() -> tuple[str, ...]:
    """Return the TeX of the gallery's longest displays."""
    chosen: list[str] = []
    for group in read_groups():
        if set(group.packages) <= PACKAGES:
            displays = [tex for line in group.lines if line.display for tex in line.formulas]
            chosen += sorted(displays, key=len, reverse=True)[:EACH]
    return tuple(chosen)


GALLERY = _displays()
TEXTS = (*GALLERY, *WORDS, *UNBREAKABLE, *ROWS)
"""All formulas in the order of the page."""


def build_page(folder: Path, texts: Sequence[str], theme: str = "paper") -> Path:
    """Build a site with one post that contains the displays; return the output folder."""
    body = "".join(f"\n$$\n{tex}\n$$\n" for tex in texts)
    files = {
        "blogsmith.yaml": f"title: Displays\ntheme: {theme}\nmath: {{packages: [physics]}}\n".encode(),
        "content/posts/displays.md": f"---\ntitle: Displays\ndate: 2026-01-01\n---\n{body}".encode(),
    }
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    return folder / "public"


def opened_in_either(
    request: pytest.FixtureRequest, url: str, width_px: int, ratio: float, *, keeps: bool = False
) -> Reader | Firefox:
    """Return Chromium or Firefox, by the parameter of a fixture, with the page and its fonts loaded.

    keeps: whether the page may be open from another test, because no test changes it.
    """
    browser: Reader | Firefox = request.getfixturevalue(
        {"chromium": "reader", "firefox": "fox"}[request.param]
    )
    if not keeps or browser.ask("return [location.href, document.body.dataset.kept]") != [url, "true"]:
        browser.open(url)
    take_on(browser, width_px, ratio)
    browser.ask(f"document.body.dataset.kept = {'true' if keeps else 'false'}")
    browser.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")
    return browser


def take_on(browser: Reader | Firefox, width_px: int, ratio: float) -> None:
    """Show the page at another width and pixel ratio."""
    if isinstance(browser, Firefox):
        browser.resize(width_px, HEIGHT_PX, ratio)
        return
    size = {"width": width_px, "height": HEIGHT_PX, "deviceScaleFactor": ratio, "mobile": False}
    browser.tell("Emulation.setDeviceMetricsOverride", **size)


def measure(browser: Reader | Firefox) -> list[Display]:
    return [_display(found) for found in browser.ask(MEASURE)]


def _display(found: Mapping[str, Any]) -> Display:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return Display(**values)


def picture(browser: Reader | Firefox, left: float, top: float, width: float, height: float) -> Image.Image:
    """Return a part of the page in device pixels."""
    if isinstance(browser, Firefox):
        data = browser.picture(left, top, width, height)
    else:
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        answer = browser.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        data = base64.b64decode(answer["data"])
    return Image.open(io.BytesIO(data)).convert("RGB")
