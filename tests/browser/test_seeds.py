"""The five posts of `tests/sites/seeds/` in Chromium and Firefox: width, console, interactive elements."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blogsmith.project.report import ExecutionOptions
from tests.seed_points import POINTS
from tests.site_files import build, printed

from .conftest import Served
from .firefox import Firefox
from .reader import DARK, DESKTOP, Look, Reader
from .server import served

SITE = Path(__file__).parents[1] / "sites/seeds/source"
NARROW_PX, RATIO = 390, 2.625
LOOKS = (DESKTOP, DARK, replace(DESKTOP, width_px=NARROW_PX), replace(DARK, width_px=NARROW_PX))
DICTIONARY = "/posts/soft-dictionary/"
WIDER = "return document.documentElement.scrollWidth - innerWidth"
IS_DARK = "return matchMedia('(prefers-color-scheme: dark)').matches"
INK = "return getComputedStyle(document.querySelector('main')).color"
GROUND = "return getComputedStyle(document.documentElement).backgroundColor"
ACT = {
    "fold": "document.querySelector('details.collapsible summary').click()",
    "video": "document.querySelector('#fig-video .embed-link').click()",
    "space": "document.querySelector('.hf-space .embed-link').click()",
}
FRAME = "return document.querySelector(arguments[0] + ' iframe')?.src ?? ''"
IS_OPEN = "return document.querySelector('details.collapsible').open"
MOVE = """
const slider = document.querySelector("#fig-before .compare-slider");
slider.value = 80;
slider.dispatchEvent(new Event("input", {bubbles: true}));
"""
CUT = """
const figure = document.querySelector("#fig-before");
return [figure, ...figure.querySelectorAll("*")].map(part => part.getAttribute("style") ?? "").join(" ");
"""


@pytest.fixture(scope="module", params=["paper", "terminal"])
def seeds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build the site from its recorded results and serve it."""
    root = tmp_path_factory.mktemp("seeds") / "site"
    shutil.copytree(SITE, root)
    settings = root / "blogsmith.yaml"
    settings.write_text(f"{settings.read_text('utf-8')}theme: {request.param}\n", "utf-8")
    report = build(root, execution=ExecutionOptions(frozen=True))
    assert report.ok, printed(report)
    with served(root / "public") as origin:
        yield Served(root / "public", origin)


@pytest.mark.parametrize("slug", POINTS)
def test_pages_fit_and_ask_nobody_else_in_chromium(slug: str, seeds: Served, reader: Reader) -> None:
    for look in LOOKS:
        reader.open(seeds.url(f"/posts/{slug}/"), look)
        reader.wait_for_fonts()
        assert reader.ask(WIDER) <= 0, look
        assert reader.problems() == [], look
        assert reader.foreign_requests() == [], look


def test_pages_fit_in_firefox(seeds: Served, fox: Firefox) -> None:
    for width, ratio in ((NARROW_PX, RATIO), (DESKTOP.width_px, 1.0)):
        fox.resize(width, 800, ratio)
        for scheme in ("light", "dark"):
            fox.choose_scheme(scheme)
            for slug in POINTS:
                fox.open(seeds.url(f"/posts/{slug}/"))
                assert fox.ask(WIDER) <= 0, (slug, width, scheme)
                assert fox.ask(INK) != fox.ask(GROUND), (slug, width, scheme)
                assert fox.ask(IS_DARK) is (scheme == "dark")


@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_everything_acts(name: str, seeds: Served, request: pytest.FixtureRequest) -> None:
    browser: Reader | Firefox = request.getfixturevalue("reader" if name == "chromium" else "fox")
    browser.open(seeds.url(DICTIONARY))
    assert browser.ask(IS_OPEN) is False
    browser.ask(ACT["fold"])
    assert browser.ask(IS_OPEN) is True
    before = browser.ask(CUT)
    browser.ask(MOVE)
    assert browser.ask(CUT) != before
    assert browser.ask(FRAME, "#fig-video") == browser.ask(FRAME, ".hf-space") == ""
    browser.ask(ACT["video"])
    assert browser.ask(FRAME, "#fig-video").startswith("https://www.youtube-nocookie.com/embed/kCc8FmEb1nY")
    browser.ask(ACT["space"])
    assert browser.ask(FRAME, ".hf-space").startswith("https://exbert-project-exbert.hf.space")


def test_the_comparison_follows_keys(seeds: Served, reader: Reader) -> None:
    reader.open(seeds.url(DICTIONARY))
    reader.ask("document.querySelector('#fig-before .compare-slider').focus()")
    reader.press("\ue014")
    assert reader.ask("return document.querySelector('#fig-before .compare-slider').value") == "51"


def test_python_loads_on_a_click_only(seeds: Served, reader: Reader) -> None:
    reader.open(seeds.url(DICTIONARY))
    reader.wait_for_fonts()
    assert reader.foreign_requests() == []
    reader.find(".runnable .run-button").click()
    # Names of other hosts are not resolved here, and the page reports it to the reader.
    said = "return document.querySelector('.runnable').textContent"
    reader.wait_for(lambda: "cdn.jsdelivr.net" in reader.ask(said))


def test_notes_are_read_beside_the_text_or_below_it(seeds: Served, reader: Reader) -> None:
    reader.open(seeds.url("/posts/paying-attention/"), Look(width_px=NARROW_PX))
    assert reader.ask("return document.querySelectorAll('sup.footnote-ref').length") == 5
    shown = "return document.body.textContent.includes('Some people want the formula first')"
    assert reader.ask(shown) is True
