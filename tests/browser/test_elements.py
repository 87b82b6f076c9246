"""The page that shows every element, in a browser: accessible in each look, no wider than a phone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from blogsmith.cli.main import main
from blogsmith.cli.new_site import FirstSettings, new_site
from blogsmith.project.trust.consent import trust
from tests.site_files import build, printed

from . import tools
from .accessibility import faults_in_looks
from .reader import Look, Reader
from .server import served

WIDE, PHONE = Look(1280, "light"), Look(390, "light")
FIGURES = """
const shown = figure => getComputedStyle(figure).display !== "none";
const computed = document.querySelector("#fig-lines");
const box = part => computed.querySelector(part).getBoundingClientRect();
return {
  only: [...document.querySelectorAll(".figure:has(.only-light, .only-dark)")].map(shown),
  isBelow: box("figcaption").top >= box("picture img").bottom,
  width: document.documentElement.scrollWidth,
};
"""


@pytest.fixture(scope="module", params=["paper", "terminal"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build a new site with a theme, serve it, and yield the URL of the page."""
    root = tmp_path_factory.mktemp("elements")
    new_site(root, dt.date(2026, 1, 1), FirstSettings("S", theme=request.param))
    trust(root)
    assert main(["new", "page", "--elements", "--site", str(root)]) == 0
    report = build(root, drafts=True)
    assert report.ok, printed(report)
    with served(root / "public") as origin:
        yield f"{origin}/elements/"


def test_figures_beside_notes_and_for_one_scheme(url: str, reader: Reader) -> None:
    """Captions are below figures if the margin has notes; a figure for one scheme appears only in it."""
    reader.open(url, WIDE)
    assert reader.ask(FIGURES)["isBelow"]
    for scheme in ("light", "dark"):
        reader.take_on(Look(1280, scheme))
        assert sorted(reader.ask(FIGURES)["only"]) == [False, True]


def test_the_page_is_as_wide_as_a_phone(url: str, reader: Reader) -> None:
    reader.open(url, PHONE)
    assert reader.ask(FIGURES)["width"] <= PHONE.width_px


def test_the_page_is_accessible(url: str, reader: Reader) -> None:
    axe = tools.file(tools.AXE).read_text("utf-8")
    reader.open(url, WIDE)
    assert faults_in_looks(reader, axe) == []
