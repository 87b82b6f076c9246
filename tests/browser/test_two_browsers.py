"""Formulas look alike in Chromium and in Firefox, at every width and every ratio of pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from .firefox import Firefox
from .reader import Reader
from .server import served
from .shared import shared_folder
from .two_browsers import LOOKS, SOME_LOOKS, Display, build_page, formulas, measure, shades, take_on

TEXTS = formulas()
LEAST_PX = 10.7
"""Firefox prints no script smaller than this."""
WIDER = {
    r"\langle \big\langle \Big\langle \bigg\langle \Bigg\langle",
    r"\pmqty{a & b \\ c & d}",
    r"\left.\begin{matrix} a\\b\\c\\d \end{matrix}\right\}",
    r"\begin{cases} \begin{cases} a & b \\ c & d \end{cases} & \text{inner} "
    r"\\[6pt] x & \text{outer} \end{cases}",
}
"""Firefox sets them 8 to 12 % wider, with more room in tall brackets."""

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
    assert len(set(TEXTS) - WIDER) >= 60


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
    # below two pixels, both round the widths of letters to whole pixels, each in its own way: up to 11 %
    looks = [look for look in pages["chromium"] if look[1] >= 2]
    ratios = {
        (look, TEXTS[number]): _width(two) / _width(one)
        for look in looks
        for number, (one, two) in enumerate(_pairs(pages, look))
    }
    assert len(looks) >= 3
    assert not {at: ratio for at, ratio in ratios.items() if abs(ratio - 1) > 0.08 and at[1] not in WIDER}


def _pairs(pages: Pages, look: Look) -> list[tuple[Display, Display]]:
    """Each display in Chromium and in Firefox."""
    one, two = pages["chromium"][look].displays, pages["firefox"][look].displays
    return list(zip(one, two, strict=True))


def _width(display: Display) -> float:
    left, _, right, _ = display.formula
    return right - left
