r"""Two hundred formulas have the same widths in Chromium and in Firefox, and every third one the same shape.

The formulas are `same_formulas.txt`: first those that the browsers would set differently without our markup
and styles, then every fifth one of the gallery.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageFilter, ImageOps

from .firefox import Firefox
from .reader import Reader
from .server import served
from .test_two_browsers import open_page
from .two_browsers import build_page, picture, take_on

FORMULAS = tuple(Path(__file__).with_name("same_formulas.txt").read_text("utf-8").splitlines())
DRAWN = FORMULAS[::3]
MOST = 0.03
"""Limit on the relative difference of widths."""
WIDTH_PX = 1400
RATIO = 4
"""Firefox rounds the ink outside of letters up to whole device pixels, which are small here."""
EDGE_PX = (16, 6)
"""Room beside and above a formula, for ink outside its box and for a scroll bar that screenshots lack."""
PART_PX = 1500
"""Height of one screenshot."""
MOST_SIZES, MOST_SIZE_PX = (0.04, 0.11), 8
"""Limits on the relative difference of width and height of the ink, and device pixels that are allowed."""
MOST_SHAPE = 0.3
"""Limit on the ink of one screenshot that is not in the other one, as a share of the ink."""
BLUR_PX = 6
"""Glyphs may be this far apart, in device pixels."""

# For each display: left, top, right and bottom of the formula's parts on the page.
MEASURE = """
return [...document.querySelectorAll(".math-display > math")].map(formula => {
  const parts = [...formula.children].map(part => part.getBoundingClientRect()).filter(part => part.width);
  const {top, bottom} = formula.getBoundingClientRect();
  const left = Math.min(...parts.map(part => part.left)), right = Math.max(...parts.map(part => part.right));
  return [left, top + scrollY, right, bottom + scrollY];
});
"""
# The operators that Firefox would draw large.
ENLARGE = """
for (const sign of document.querySelectorAll("mo[largeop]")) sign.setAttribute("largeop", arguments[0]);
"""
(SYMBOLS,) = [tex for tex in FORMULAS if tex.startswith(r"\forall \exists")]
WIDE_IN_ONE: Mapping[str, str] = {
    r"J_\nu": "Firefox makes room for the foot of J",
    r"a_{b_{c_d}}": "Firefox rounds the sizes of scripts up",
    SYMBOLS: "Firefox makes room for the ink of ∀ and ∠",
    r"\exp(-x^2)": "Firefox puts space before delimiters that grow, which package physics makes of these",
    r"\hat\imath": "the accent is wider than the letter",
    r"\widehat{f*g}": "Firefox makes room for the ink of a wide accent",
    r"\left/\frac{a}{b}\right\backslash": "Chromium gives a large slash the width of a small one",
    r"\begin{pmatrix} a \\[1em] b \\[-2pt] c \end{pmatrix}": "Chromium needs the next size of delimiter",
    r"a \xrightarrow{} b": "Firefox makes room for the ink of an arrow",
    r"\ketbra{a}{b}": "Firefox makes a bar narrower",
}
"""Formula → why its widths differ."""
HIGH_IN_ONE: Mapping[str, str] = {
    r"\overline{\overline{x}}": "Firefox sets the second accent close to the first",
    r"\hat{\hat x}": "Firefox sets the second accent close to the first",
    r"\sqrt{\smash{y^2}}": "Chromium moves the content to the top of the root",
}
"""Formula → why its shapes differ."""


Place = tuple[float, ...]
"""Left, top, right and bottom on the page, in CSS pixels."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula on the page of one browser."""

    place: Place
    ink: Image.Image | None
    """Its ink in device pixels: grey, white where there is most. None if it is not compared."""


Browsers = Mapping[str, Reader | Firefox]


@pytest.fixture(scope="module")
def browsers(
    tmp_path_factory: pytest.TempPathFactory, reader: Reader, only_fox: Firefox
) -> Iterator[Browsers]:
    """Open the page of all formulas in both browsers."""
    found: Browsers = {"chromium": reader, "firefox": only_fox}
    with served(build_page(tmp_path_factory.mktemp("same") / "site", FORMULAS)) as origin:
        for browser in found.values():
            open_page(browser, origin)
            take_on(browser, WIDTH_PX, RATIO)
        yield found


@pytest.fixture(scope="module")
def drawings(browsers: Browsers) -> Mapping[str, Sequence[Drawing]]:
    return {name: draw(browser) for name, browser in browsers.items()}


def draw(
    browser: Reader | Firefox, wanted: Sequence[str] = DRAWN, formulas: Sequence[str] = FORMULAS
) -> list[Drawing]:
    """Return each formula, some with their ink. formulas: all formulas of the page."""
    places: dict[str, Place] = dict(zip(formulas, map(tuple, browser.ask(MEASURE)), strict=True))
    inks: dict[str, Image.Image] = {}
    for part in _parts([(tex, places[tex]) for tex in wanted]):
        found = [place for _, place in part]
        left, right = (
            min(place[0] for place in found) - EDGE_PX[0],
            max(place[2] for place in found) + EDGE_PX[0],
        )
        top, bottom = found[0][1] - EDGE_PX[1], found[-1][3] + EDGE_PX[1]
        image = picture(browser, left, top, right - left, bottom - top)
        for tex, place in part:
            corners = (place[0] - left, place[1] - top, place[2] - left, place[3] - top)
            inks[tex] = _ink(image, [round(RATIO * corner) for corner in corners])
    return [Drawing(place, inks.get(tex)) for tex, place in places.items()]


def _parts(places: Sequence[tuple[str, Place]]) -> Iterator[list[tuple[str, Place]]]:
    """Yield formulas that fit one screenshot."""
    part: list[tuple[str, Place]] = []
    for tex, place in places:
        if part and place[3] - part[0][1][1] > PART_PX:
            yield part
            part = []
        part.append((tex, place))
    yield part


def _ink(image: Image.Image, corners: Sequence[int]) -> Image.Image:
    """Return the ink of a part of the image, without the background around it."""
    left, top, right, bottom = corners
    beside, above = (RATIO * edge for edge in EDGE_PX)
    found = image.crop((left - beside, top - above, right + beside, bottom + above))
    grey = ImageOps.invert(ImageOps.autocontrast(ImageOps.grayscale(found)))
    return grey.crop(grey.point(lambda level: 255 * (level > 96)).getbbox())


def test_there_are_two_hundred() -> None:
    assert len(FORMULAS) == len(set(FORMULAS)) == 200 and len(DRAWN) >= 60


def test_widths_are_the_same(drawings: Mapping[str, Sequence[Drawing]]) -> None:
    widths = {
        name: [drawing.place[2] - drawing.place[0] for drawing in found] for name, found in drawings.items()
    }
    differ = {
        tex: (round(abs(one - two) / max(one, two), 3), round(one, 1), round(two, 1))
        for tex, one, two in zip(FORMULAS, widths["chromium"], widths["firefox"], strict=True)
        if abs(one - two) > MOST * max(one, two)
    }
    assert sorted(differ) == sorted(WIDE_IN_ONE), differ


def test_shapes_are_the_same(drawings: Mapping[str, Sequence[Drawing]]) -> None:
    differ = {
        tex: fault
        for tex, one, two in zip(FORMULAS, drawings["chromium"], drawings["firefox"], strict=True)
        if (fault := compare(one.ink, two.ink))
    }
    assert sorted(differ) == sorted(HIGH_IN_ONE), differ


def compare(one: Image.Image | None, two: Image.Image | None) -> str:
    """Return how the ink of two screenshots differs; empty if it is alike."""
    if one is None or two is None:
        return ""
    for here, there, most in zip(one.size, two.size, MOST_SIZES, strict=True):
        if abs(here - there) > max(most * max(here, there), MOST_SIZE_PX):
            return f"sizes {one.size} and {two.size}"
    share = shares(one, two)[-1]
    return f"shapes: {share:.2f}" if share > MOST_SHAPE else ""


def shares(one: Image.Image, two: Image.Image) -> tuple[float, float, float]:
    """Return the relative differences of width and height, and the share of ink that only one has."""
    width, height = (abs(a - b) / max(a, b) for a, b in zip(one.size, two.size, strict=True))
    two = two.resize(one.size)
    return width, height, max(_missing(one, two), _missing(two, one))


def _missing(one: Image.Image, two: Image.Image) -> float:
    """Return the share of the ink of `one` that is not near ink of `two`."""
    near = two.filter(ImageFilter.MaxFilter(2 * BLUR_PX + 1))
    return _amount(ImageChops.subtract(one, near)) / _amount(one)


def _amount(ink: Image.Image) -> float:
    return sum(level * count for level, count in enumerate(ink.histogram()))


def test_faults_that_there_were_are_noticed(
    browsers: Browsers, drawings: Mapping[str, Sequence[Drawing]]
) -> None:
    index = FORMULAS.index(r"A\oplus B")
    right = drawings["chromium"][index]
    browsers["firefox"].ask(ENLARGE, "true")
    large = draw(browsers["firefox"], FORMULAS[index : index + 1])[index]
    browsers["firefox"].ask(ENLARGE, "false")
    assert compare(right.ink, large.ink).startswith("sizes")
    lines = Image.new("L", (40, 20)), Image.new("L", (40, 20))
    lines[0].paste(255, (0, 0, 40, 2))
    lines[1].paste(255, (0, 12, 40, 14))
    assert compare(*lines).startswith("shapes")
