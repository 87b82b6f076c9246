"""Formulas look alike in Chromium and in Firefox, at every width and every pixel ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from .firefox import Firefox
from .reader import Reader
from .server import served
from .shared import shared_folder
from .two_browsers import (
    GALLERY,
    LOOKS,
    SOME_LOOKS,
    TEXTS,
    WORDS,
    Corners,
    Display,
    build_page,
    measure,
    take_on,
)

LEAST_PX = 10.7
"""Firefox draws no text smaller than this."""
MOST = 0.08
"""Limit on the relative difference in size of a box between the browsers."""
MOST_INSIDE = 0.11
"""The same limit for the content of a box, which is never lower than a line."""
ROUNDING_PX, ROUNDING_INSIDE_PX = 0.5, 3.6
"""Tolerated differences: Chromium rounds glyph extents to whole pixels, Firefox rounds up each part."""

# Formulas of the gallery without words, because their font depends on the machine.
SOME = tuple(tex for tex in GALLERY[::3] if "text" not in tex and "num" not in tex) + WORDS
TERMINAL_LOOKS = ((390, 2.625), (1440, 2))
Look = tuple[int, float]
FOUND = "found.json"


@dataclass(frozen=True, slots=True)
class Seen:
    """A page in one browser."""

    displays: list[Display]


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of the page in both browsers, in the form that test processes share."""

    pages: dict[str, list[tuple[Look, Seen]]]
    """Browser → measurements by look."""

    def by_look(self) -> dict[str, dict[Look, Seen]]:
        """Return browser → look → the page."""
        return {browser: dict(seen) for browser, seen in self.pages.items()}


@pytest.fixture(scope="module", params=["some", pytest.param("every", marks=pytest.mark.long)])
def pages(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    reader: Reader,
    only_fox: Firefox,
) -> Mapping[str, Mapping[Look, Seen]]:
    """Measure the page in both browsers, in looks of every width and every ratio, or in every look."""
    looks = LOOKS if request.param == "every" else SOME_LOOKS
    browsers: Mapping[str, Reader | Firefox] = {"chromium": reader, "firefox": only_fox}
    folder = shared_folder(
        tmp_path_factory, f"browsers-{request.param}", lambda folder: measure_pages(folder, browsers, looks)
    )
    return msgspec.json.decode((folder / FOUND).read_bytes(), type=Measured).by_look()


def measure_pages(folder: Path, browsers: Mapping[str, Reader | Firefox], looks: Sequence[Look]) -> None:
    """Measure the page in some looks and write the results to the file `FOUND`."""
    found: dict[str, list[tuple[Look, Seen]]] = {}
    with served(build_page(folder / "site", TEXTS)) as origin:
        for name, browser in browsers.items():
            open_page(browser, origin)
            found[name] = [(look, see(browser, look)) for look in looks]
    (folder / FOUND).write_bytes(msgspec.json.encode(Measured(found)))


def open_page(browser: Reader | Firefox, origin: str) -> None:
    """Open the page with its fonts."""
    browser.open(f"{origin}/posts/displays/")
    browser.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")


def see(browser: Reader | Firefox, look: Look) -> Seen:
    """Measure the open page at another width and ratio."""
    take_on(browser, *look)
    # scroll.js sees a new width when the page has been laid out.
    browser.ask(
        "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
    )
    return Seen(measure(browser))


Pages = Mapping[str, Mapping[Look, Seen]]
BROWSERS = pytest.mark.parametrize("browser", ["chromium", "firefox"])


def test_there_are_enough_formulas() -> None:
    assert len(set(GALLERY)) >= 90


@BROWSERS
def test_no_formula_breaks_that_fits(pages: Pages, browser: str) -> None:
    broken = [
        (look, TEXTS[number])
        for look, seen in pages[browser].items()
        for number, display in enumerate(seen.displays)
        if display.broken and not display.wide
    ]
    assert not broken


@BROWSERS
def test_only_what_scrolls_fades(pages: Pages, browser: str) -> None:
    wrong = [
        (look, TEXTS[number], display.scroll)
        for look, seen in pages[browser].items()
        for number, display in enumerate(seen.displays)
        if display.faded != (display.scroll > 1)
    ]
    assert not wrong
    assert any(display.faded for display in pages[browser][390, 1].displays)


@BROWSERS
def test_what_fits_does_not_scroll(pages: Pages, browser: str) -> None:
    needless = [
        (look, TEXTS[number])
        for look, seen in pages[browser].items()
        for number, display in enumerate(seen.displays[: len(GALLERY)])
        if display.scroll > 0 and _width(display.formula) < _width(display.box) - 1
    ]
    assert not needless


def test_signs_have_one_size_in_both(pages: Pages) -> None:
    differ = [
        (look, TEXTS[number], size, other)
        for look in pages["chromium"]
        for number, (one, two) in enumerate(_pairs(pages, look))
        for size, other in zip(one.sizes, two.sizes, strict=True)
        if not 0.98 * size <= other <= max(1.02 * size, LEAST_PX)
    ]
    assert not differ


@BROWSERS
def test_words_in_scripts_have_the_size_of_scripts(pages: Pages, browser: str) -> None:
    sizes = [
        (look, word, display.size)
        for look, seen in pages[browser].items()
        for display in seen.displays[len(GALLERY) : len(GALLERY) + len(WORDS)]
        for word in display.words
    ]
    assert len(sizes) >= 10 * len(pages[browser])
    assert not [found for found in sizes if found[1] > max(0.75 * found[2], LEAST_PX)]


def test_boxes_agree(pages: Pages) -> None:
    assert not _apart(pages, _box, too_unlike)


def test_what_stands_in_boxes_agrees(pages: Pages) -> None:
    def too_unlike(one: float, two: float) -> bool:
        return abs(one - two) > max(MOST_INSIDE * max(one, two), ROUNDING_INSIDE_PX)

    assert not _apart(pages, lambda display: _size(display.formula, display.formula), too_unlike)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build some of the displays in the theme terminal and serve them."""
    with served(build_page(tmp_path_factory.mktemp("terminal") / "site", SOME, "terminal")) as origin:
        yield origin


def test_theme_terminal_is_alike(terminal: str, reader: Reader, only_fox: Firefox) -> None:
    pages: dict[str, dict[Look, Seen]] = {}
    browsers: Mapping[str, Reader | Firefox] = {"chromium": reader, "firefox": only_fox}
    for name, browser in browsers.items():
        open_page(browser, terminal)
        pages[name] = {look: see(browser, look) for look in TERMINAL_LOOKS}
        for look, seen in pages[name].items():
            assert not _faults(seen), (name, look)
    assert not _apart(pages, _box, too_unlike, SOME[: -len(WORDS)])


PLANTED = {
    "broken": "math { white-space: normal !important }",
    "faded": ".math-display { mask: linear-gradient(#000, #000) !important }",
    "large words": "mtext { font-size: 17px !important }",
}


def test_faults_that_there_were_are_noticed(terminal: str, only_fox: Firefox) -> None:
    open_page(only_fox, terminal)
    for fault, rule in PLANTED.items():
        only_fox.ask("document.styleSheets[0].insertRule(arguments[0])", rule)
        assert fault in _faults(see(only_fox, TERMINAL_LOOKS[0]))
        only_fox.ask("document.styleSheets[0].deleteRule(0)")


def _faults(seen: Seen) -> set[str]:
    """Return the faults of a page that are visible without the other browser."""
    displays = seen.displays
    found = {
        "broken": any(display.broken for display in displays),
        "faded": any(display.faded and display.scroll <= 0 for display in displays),
        "large words": any(
            word > max(0.75 * display.size, LEAST_PX)
            for display in displays[-len(WORDS) :]
            for word in display.words
        ),
    }
    return {name for name, is_there in found.items() if is_there}


def too_unlike(one: float, two: float) -> bool:
    return abs(one - two) > MOST * max(one, two) + ROUNDING_PX


Size = tuple[float, float]
"""Width and height."""


UNLIKE: Mapping[str, str] = {
    r"\left(\sum_{i=1}^n\left(\frac{x_i}{y_i}\right)^2\right)^{1/2}": (
        "at one device pixel per CSS pixel, Chromium takes the next size of delimiter: 53 px high, not 47"
    ),
    (
        r"\left(\sum_{k=1}^n a_k b_k\right)^{\!2} \le \left(\sum_{k=1}^n a_k^2\right)"
        r"\left(\sum_{k=1}^n b_k^2\right)"
    ): "the same in a window of 820 px: 70 px high, not 63.5",
    r"\smqty(\pmat{2})": "the same: 28 px high, not 23.5; at two pixels 27 and 25",
    r"\langle \big\langle \Big\langle \bigg\langle \Bigg\langle": (
        "Firefox makes room for the ink of large angles beside their width: 8 % of this row"
    ),
}
"""Formula → why it is not compared."""


def _apart(
    pages: Pages,
    size: Callable[[Display], Size],
    too_unlike: Callable[[float, float], bool],
    texts: Sequence[str] = TEXTS,
) -> dict[tuple[Look, str], tuple[Size, Size]]:
    """Return look and formula → its size in both browsers, for formulas that differ too much."""
    found: dict[tuple[Look, str], tuple[Size, Size]] = {}
    for look in pages["chromium"]:
        for number, (here, there) in enumerate(_pairs(pages, look)[: len(texts)]):
            # At a low pixel ratio, words in scripts, which the gallery lacks, are two pixels higher each.
            if texts[number] not in UNLIKE and (number < len(GALLERY) or look[1] > 1):
                one, two = size(here), size(there)
                if any(map(too_unlike, one, two)):
                    found[look, texts[number]] = one, two
    return found


def _pairs(pages: Pages, look: Look) -> list[tuple[Display, Display]]:
    """Return each display in Chromium and in Firefox."""
    one, two = pages["chromium"][look].displays, pages["firefox"][look].displays
    return list(zip(one, two, strict=True))


def _box(display: Display) -> Size:
    return _size(display.formula, display.box, display.bar)


def _width(corners: Corners) -> float:
    return corners[2] - corners[0]


def _size(wide: Corners, high: Corners, bar: float = 0) -> Size:
    """Return the width of one box, and the height of the other without its scroll bar.

    One of the browsers overlays the scroll bar.
    """
    return wide[2] - wide[0], high[3] - high[1] - bar
