"""The looks distill, scholar and notebook: a person's site and a page with every element, in each of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.new_elements import write_elements
from blogsmith.config.load import load_config
from tests.site_files import build, printed

from . import tools
from .accessibility import Looks
from .conftest import ADDRESS, ROOT, Served
from .reader import DARK, DESKTOP, PHONE, Look, Reader
from .server import served
from .shared import shared_folder
from .test_pages import listing

THEMES = ("distill", "scholar", "notebook")
PAGES = ("/", "/elements/")
WIDE = Look(width_px=1440)
BOX = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
FACE = "return getComputedStyle(document.querySelector(arguments[0])).fontFamily.split(',')[0]"


def build_look(folder: Path, theme: str) -> None:
    """Build the site of `tests/sites/person`, with a page of all elements, in a theme."""
    root = folder / "site"
    shutil.copytree(ROOT / "tests" / "sites" / "person" / "source", root)
    with (root / "blogsmith.yaml").open("a", encoding="utf-8") as settings:
        settings.write(f"theme: {theme}\n")
    write_elements(root, load_config(root).config, "Elements")
    report = build(root, output=folder / "public", base_url=ADDRESS, drafts=True)
    assert report.ok, printed(report)


@pytest.fixture(scope="module", params=THEMES)
def look(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the site in one theme."""
    theme = request.param
    folder = shared_folder(tmp_path_factory, f"look-{theme}", lambda folder: build_look(folder, theme))
    with served(folder / "public") as origin:
        yield Served(folder / "public", origin)


def test_pages_have_no_fault(look: Served, reader: Reader) -> None:
    looks = Looks(reader, tools.file(tools.AXE).read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for page in PAGES:
        reader.open(look.url(page), DESKTOP)
        for fault, place in looks.faults():
            found.setdefault(fault, []).append(f"{page} {place}")
    assert not found, listing(found)


@pytest.mark.parametrize("look", THEMES, indirect=True)
def test_fonts_come_with_the_theme(look: Served, reader: Reader) -> None:
    reader.open(look.url("/elements/"), DARK)
    fonts = {url.rpartition("/")[2].partition("?")[0] for url in reader.requests() if ".woff2" in url}
    assert {"paper-sans.woff2", "paper-mono.woff2"} <= fonts
    assert reader.ask(FACE, ".site-title") == '"Paper Sans"'
    assert reader.ask(FACE, "pre") == '"Paper Mono"'


@pytest.mark.parametrize("look", ["scholar"], indirect=True)
def test_the_person_of_scholar_is_beside_the_page(look: Served, reader: Reader) -> None:
    reader.open(look.url("/"), WIDE)
    person, news = reader.ask(BOX, ".profile"), reader.ask(BOX, ".news")
    assert person["right"] < news["left"] and person["top"] < news["top"]
    reader.ask("window.scrollTo(0, 600)")
    assert 0 <= reader.ask(BOX, ".portrait")["top"] < 200
    reader.take_on(PHONE)
    reader.ask("window.scrollTo(0, 0)")
    assert reader.ask(BOX, ".profile")["bottom"] <= reader.ask(BOX, ".news")["top"]


@pytest.mark.parametrize("look", ["distill"], indirect=True)
def test_the_author_block_of_distill_is_above_the_text(look: Served, reader: Reader) -> None:
    reader.open(look.url("/posts/semicircle/"), WIDE)
    head, meta, text = (reader.ask(BOX, name) for name in (".post-header", ".post-meta", ".post-content"))
    assert head["top"] < meta["top"] < meta["bottom"] <= head["bottom"] < text["top"]
    # the ground of the header is painted to both edges, without a scroll bar
    assert reader.ask("return document.documentElement.scrollWidth <= innerWidth")
    painted = "return getComputedStyle(document.querySelector('.post-header')).borderImageOutset"
    assert float(reader.ask(painted).split()[-1].removesuffix("px")) >= 1440


@pytest.mark.parametrize("look", ["distill"], indirect=True)
def test_figures_of_distill_may_be_as_wide_as_the_page_or_the_window(look: Served, reader: Reader) -> None:
    reader.open(look.url("/elements/"), WIDE)
    whole = reader.ask("return document.documentElement.clientWidth")
    text, contents = reader.ask(BOX, ".post-content > p"), reader.ask(BOX, ".toc")
    add = "document.querySelector('.post-content > .figure > img').className = arguments[0]"
    figure = ".post-content > .figure:has(> img)"
    for name in ("l-body-outset", "l-page", "l-screen"):
        reader.ask(add, name)
        box = reader.ask(BOX, figure)
        expected = {"l-body-outset": text["left"], "l-page": contents["right"], "l-screen": 1}[name]
        assert box["left"] < expected and box["right"] > text["right"], name
    assert (box["left"], box["right"]) == pytest.approx((0, whole), abs=1)
    reader.take_on(PHONE)
    assert reader.ask("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("look", ["notebook"], indirect=True)
def test_the_tree_of_notebook_is_at_the_left(look: Served, reader: Reader) -> None:
    reader.open(look.url("/elements/"), WIDE)
    tree, text = reader.ask(BOX, ".toc"), reader.ask(BOX, ".post-content")
    assert tree["left"] < 100 and tree["right"] <= text["left"]


@pytest.mark.parametrize("theme", THEMES)
def test_at_most_five_templates_are_its_own(theme: str) -> None:
    assert 0 < len(list((ROOT / "themes" / theme).rglob("*.html"))) <= 5
