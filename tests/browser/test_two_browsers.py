"""Formulas look alike in Chromium and in Firefox, at every width and every ratio of pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    Corners,
    Display,
    build_page,
    measure,
    shades,
    take_on,
)

LEAST_PX = 10.7
"""Firefox prints no script smaller than this."""
MOST = 0.08
"""By what share a box may be larger in one browser than in the other."""
MOST_INSIDE = 0.11
"""The same of what stands in a box, which is never lower than a line."""
ROUNDING_PX, ROUNDING_INSIDE_PX = 0.5, 3.5
"""What is no difference: Chromium takes whole pixels for what letters cover, Firefox rounds up each part."""

Look = tuple[int, float]
FOUND = "found.json"


@dataclass(frozen=True, slots=True)
class Seen:
    """A page in one browser."""

    displays: list[Display]
    shades: dict[int, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """The page as both browsers show it, as test processes hand it to each other."""

    pages: dict[str, list[tuple[Look, Seen]]]
    """By browser."""

    def by_look(self) -> dict[str, dict[Look, Seen]]:
        """Browser → look → the page."""
        return {browser: dict(seen) for browser, seen in self.pages.items()}


@pytest.fixture(scope="module", params=["some", pytest.param("every", marks=pytest.mark.long)])
def pages(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    reader: Reader,
    only_fox: Firefox,
) -> Mapping[str, Mapping[Look, Seen]]:
    """The page in either browser, in looks of every width and every ratio, or in every look."""
    looks = LOOKS if request.param == "every" else SOME_LOOKS
    browsers: Mapping[str, Reader | Firefox] = {"chromium": reader, "firefox": only_fox}
    folder = shared_folder(
        tmp_path_factory, f"browsers-{request.param}", lambda folder: measure_pages(folder, browsers, looks)
    )
    return msgspec.json.decode((folder / FOUND).read_bytes(), type=Measured).by_look()


def measure_pages(folder: Path, browsers: Mapping[str, Reader | Firefox], looks: Sequence[Look]) -> None:
    """Measure the page in some looks, into the file `FOUND`."""
    found: dict[str, list[tuple[Look, Seen]]] = {}
    with served(build_page(folder / "site", TEXTS)) as origin:
        for name, browser in browsers.items():
            browser.open(f"{origin}/posts/displays/")
            browser.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")
            for look in looks:
                take_on(browser, *look)
                displays = measure(browser)
                found.setdefault(name, []).append((look, Seen(displays, shades(browser, displays))))
    (folder / FOUND).write_bytes(msgspec.json.encode(Measured(found)))


Pages = Mapping[str, Mapping[Look, Seen]]
BROWSERS = pytest.mark.parametrize("browser", ["chromium", "firefox"])


def test_there_are_enough_formulas() -> None:
    assert len(set(GALLERY)) >= 90


@BROWSERS
def test_no_formula_breaks(pages: Pages, browser: str) -> None:
    broken = [
        (look, TEXTS[number])
        for look, seen in pages[browser].items()
        for number, display in enumerate(seen.displays)
        if display.broken
    ]
    assert not broken


@BROWSERS
def test_what_does_not_scroll_shows_no_shade(pages: Pages, browser: str) -> None:
    shaded = [
        (look, TEXTS[number], count)
        for look, seen in pages[browser].items()
        for number, count in seen.shades.items()
        if count and seen.displays[number].scroll <= 0
    ]
    assert not shaded


@BROWSERS
def test_what_scrolls_shows_shade(pages: Pages, browser: str) -> None:
    seen = pages[browser][390, 1]
    wide = [number for number, display in enumerate(seen.displays) if display.scroll > 0]
    assert wide and all(seen.shades[number] for number in wide)


def test_signs_have_one_size_in_both(pages: Pages) -> None:
    differ = [
        (TEXTS[number], size, other)
        for number, (one, two) in enumerate(_pairs(pages, (390, 1)))
        for size, other in zip(one.sizes, two.sizes, strict=True)
        if not 0.98 * size <= other <= max(1.02 * size, LEAST_PX)
    ]
    assert not differ


def test_boxes_agree(pages: Pages) -> None:
    def too_unlike(one: float, two: float) -> bool:
        return abs(one - two) > MOST * max(one, two) + ROUNDING_PX

    assert not _apart(pages, lambda display: _size(display.formula, display.box, display.bar), too_unlike)


def test_what_stands_in_boxes_agrees(pages: Pages) -> None:
    def too_unlike(one: float, two: float) -> bool:
        return abs(one - two) > max(MOST_INSIDE * max(one, two), ROUNDING_INSIDE_PX)

    assert not _apart(pages, lambda display: _size(display.formula, display.formula), too_unlike)


Size = tuple[float, float]
"""Width and height."""


def _apart(
    pages: Pages, size: Callable[[Display], Size], too_unlike: Callable[[float, float], bool]
) -> dict[tuple[Look, str], tuple[Size, Size]]:
    """Look and formula → its size in either browser."""
    found: dict[tuple[Look, str], tuple[Size, Size]] = {}
    for look in pages["chromium"]:
        for number, (here, there) in enumerate(_pairs(pages, look)):
            # on a coarse screen words in scripts, which are none of the gallery's, are two pixels higher each
            if number < len(GALLERY) or look[1] > 1:
                one, two = size(here), size(there)
                if any(map(too_unlike, one, two)):
                    found[look, TEXTS[number]] = one, two
    return found


def _pairs(pages: Pages, look: Look) -> list[tuple[Display, Display]]:
    """Each display in Chromium and in Firefox."""
    one, two = pages["chromium"][look].displays, pages["firefox"][look].displays
    return list(zip(one, two, strict=True))


def _size(wide: Corners, high: Corners, bar: float = 0) -> Size:
    """Width of the one, height of the other without a bar to scroll by: one browser lays it on top."""
    return wide[2] - wide[0], high[3] - high[1] - bar
