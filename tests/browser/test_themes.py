"""The theme terminal, and paper with other options: some pages of our own site, with the checks of paper."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from blogsmith.cli.new_site import new_site
from tests.site_files import build, printed

from . import tools
from .accessibility import Looks
from .conftest import ADDRESS, ROOT, Served, cut_down
from .manual_screenshots import ALL_FONTS
from .reader import DARK, DESKTOP, PHONE, SHEET, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .shared import shared_folder
from .test_pages import FIRST_TEXT, LIMITS_PX, hidden_without_scripts, listing
from .test_weight import heavy_posts

FOLDERS = ("content", "plugins", "static", "_freeze")
MANUAL = ("callouts", "code", "figures", "mathematics", "running-code", "text")
"""Pages with every construct. Other pages keep only their headings, because pages refer to them."""
SOME = ("/posts/", "/posts/many-heads/", "/posts/attention-in-numpy/")
WIDE = Look(width_px=1440)
OTHER = "toc: right, header: bar, switch: true, accent: {light: '#1f5673', dark: '#8fc1dc'}, width: 38rem"
POSTS = ("many-heads", "attention-in-numpy", "a-dictionary-that-blurs")
"""The pages of `SOME`, and pages that they refer to."""
PAPERS = {"right": OTHER, "none": "toc: none, scheme: light"}
TERMINALS = {
    "dark": "",
    # With this option the looks of readers cover both schemes.
    "auto": "scheme: auto",
}
SECTION = re.compile(r"^(?:(`{3,}).*?^\1$|(#.*?)$)", re.DOTALL | re.MULTILINE)


@contextmanager
def themed(
    factory: pytest.TempPathFactory, theme: str, variants: Mapping[str, str], whole: Sequence[str]
) -> Iterator[Mapping[str, Served]]:
    """Serve this repository's site in another theme, by the names of its options."""
    name = "-".join((theme, *variants))
    folder = shared_folder(factory, name, lambda folder: build_themed(folder, theme, variants, whole))
    with ExitStack() as stack:
        outputs = {variant: folder / variant for variant in variants}
        yield {name: Served(output, stack.enter_context(served(output))) for name, output in outputs.items()}


def build_themed(folder: Path, theme: str, variants: Mapping[str, str], whole: Sequence[str]) -> None:
    """Build the site into a folder for each set of options, with these pages and the headings of all others.

    For the second set only the output of the theme's templates is built again; the rest comes from the
    cache.
    """
    root = folder / "site"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name)
    for page in (root / "content").rglob("*.md"):
        name = page.parent.name if page.stem == "index" else page.stem
        if not page.stem.startswith("_") and name not in whole:
            page.write_text(headings(page.read_text("utf-8")), "utf-8")
    config = re.sub(r"(?m)^theme_options:\n(?: .*\n)+", "", (ROOT / "blogsmith.yaml").read_text("utf-8"))
    for variant, options in variants.items():
        settings = f"{config}theme: {theme}\ntheme_options: {{{options}}}\n"
        (root / "blogsmith.yaml").write_text(settings, "utf-8")
        report = build(root, output=folder / variant, base_url=ADDRESS, future=True, use_cache=True)
        assert report.ok, printed(report)


def headings(text: str) -> str:
    """Return a page's front matter and its headings."""
    _, head, body = text.split("---\n", 2)
    return "\n\n".join([f"---\n{head}---", *(found[2] for found in SECTION.finditer(body) if found[2]), ""])


@pytest.fixture(scope="module")
def terminals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Served]]:
    """Serve the site in the theme terminal with complete posts; most constructs occur in only one."""
    posts = [file.parent.name for file in (ROOT / "content/posts").glob("*/index.md")]
    with themed(tmp_path_factory, "terminal", TERMINALS, (*MANUAL, *posts)) as sites:
        yield sites


@pytest.fixture
def terminal(terminals: Mapping[str, Served]) -> Served:
    """Return the site in the theme terminal without options."""
    return terminals["dark"]


@pytest.fixture(
    scope="module",
    params=["terminal", "right", pytest.param("none", marks=pytest.mark.long)],
)
def themed_site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, Sequence[str]]]:
    """Yield a site in another theme, and the pages to check: for options of paper, lists and posts."""
    if request.param == "terminal":
        sites = request.getfixturevalue("terminals")
        with cut_down(sites["auto"], tmp_path_factory, "auto-specimens") as specimens:
            # `test_pages.py` checks the same pages in the theme `paper`, so a third is enough
            yield specimens, specimens.pages()[::3]
        return
    with themed(tmp_path_factory, "paper", {request.param: PAPERS[request.param]}, POSTS) as sites:
        yield sites[request.param], SOME


def test_pages_have_no_fault(themed_site: tuple[Served, Sequence[str]], reader: Reader) -> None:
    site, pages = themed_site
    looks = Looks(reader, tools.file(tools.AXE).read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for page in pages:
        reader.open(site.url(page), DESKTOP)
        for fault, place in looks.faults():
            found.setdefault(fault, []).append(f"{page} {place}")
    assert not found, listing(found)


def test_no_post_of_terminal_is_heavy(terminal: Served) -> None:
    assert heavy_posts(terminal) == {}


def test_the_switch_stands_beside_the_menu(terminal: Served, reader: Reader) -> None:
    reader.open(terminal.url("/posts/many-heads/"), PHONE)
    end = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    menu, switch = (reader.ask(end, place) for place in (".site-menu", ".theme-switch"))
    assert switch == pytest.approx(menu, abs=10)


def test_nothing_is_hidden_without_scripts(
    terminal: Served, tmp_path_factory: pytest.TempPathFactory, reader: Reader
) -> None:
    with cut_down(terminal, tmp_path_factory, "dark-specimens") as specimens:
        found = hidden_without_scripts(specimens, specimens.pages(), reader)
    assert not found, listing(found)


GROUND = "return getComputedStyle(document.documentElement).backgroundColor"
FRAME = "return document.querySelector('[name=theme-color]').content"
LABEL = "return document.querySelector('.theme-switch').ariaLabel"
NUMBERS = """
return document.fonts.ready.then(() => [...document.querySelectorAll(".eq-number")].map(number => {
  const words = document.createRange();
  words.selectNodeContents(number);
  return words.getBoundingClientRect().width;
}));
"""
"""Widths of equation numbers, after the fonts have arrived: until then the text font is another one."""
INKS = """
const [text, figure] = [".post-content > p", ".output-image"].map(name => document.querySelector(name));
const ground = getComputedStyle(document.documentElement).backgroundColor;
const [screen, paper] = ["picture", ".for-paper"].map(name => figure.querySelector(name).checkVisibility());
return [getComputedStyle(text).color, ground, screen, paper];
"""
DARK_GROUND, LIGHT_GROUND = "rgb(13, 15, 14)", "rgb(248, 250, 248)"


@pytest.mark.parametrize(("look", "steps"), [(DESKTOP, ["light", "auto"]), (DARK, ["auto", "light"])])
def test_terminal_is_dark_first(terminal: Served, reader: Reader, look: Look, steps: list[str]) -> None:
    """The site starts dark on all systems. The switch offers the other choices and stores the last one."""
    reader.open(terminal.url("/posts/"), look)
    grounds = {"light": LIGHT_GROUND, "auto": DARK_GROUND if look is DARK else LIGHT_GROUND}
    assert (reader.ask(GROUND), reader.ask(LABEL)) == (DARK_GROUND, "Colour scheme: dark")
    for state in steps:
        reader.find(".theme-switch").click()
        words = "as the system" if state == "auto" else state
        assert (reader.ask(GROUND), reader.ask(LABEL)) == (grounds[state], f"Colour scheme: {words}")
        assert reader.ask(FRAME) == grounds[state]
    reader.open_again()
    reader.wait_for(lambda: reader.ask(LABEL) == f"Colour scheme: {words}")
    assert reader.ask(GROUND) == grounds[steps[-1]]


def test_terminal_is_dark_without_scripts_but_not_on_paper(terminal: Served, reader: Reader) -> None:
    reader.open(terminal.url("/posts/attention-in-tiles/"), WITHOUT_SCRIPTS)
    assert reader.ask(GROUND) == DARK_GROUND
    # The number of a display, followed by those of rows.
    first, *others = reader.ask(NUMBERS)
    assert others == pytest.approx([first] * len(others), abs=0.5)
    reader.take_on(replace(SHEET, scheme="dark"))
    assert reader.ask(INKS) == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)", False, True]


def test_outputs_stand_beside_their_code(terminal: Served, reader: Reader) -> None:
    boxes = """
    const cell = document.querySelector("#cell-softmax");
    return [".code", ".cell-output"].map(part => cell.querySelector(part).getBoundingClientRect().toJSON());
    """
    reader.open(terminal.url("/posts/attention-in-numpy/"), WIDE)
    code, output = reader.ask(boxes)
    assert output["left"] >= code["right"] and output["top"] == code["top"]
    reader.take_on(Look(width_px=1024))
    code, output = reader.ask(boxes)
    assert output["top"] >= code["bottom"] and output["left"] == code["left"]


def test_the_tree_has_parts_and_sections(terminal: Served, reader: Reader) -> None:
    reader.open(terminal.url("/posts/attention-in-numpy/"), WIDE)
    parts = "return [...document.querySelectorAll('.tree > li')].map(part => part.innerText.split('\\n')[0])"
    assert reader.ask(parts)[5] == "Attention in NumPy"
    assert (
        reader.ask("return document.querySelector('.tree [aria-current]').innerText") == "Attention in NumPy"
    )
    assert reader.ask("return document.querySelectorAll('.tree > li > ol a').length") > 3
    assert reader.ask("return document.querySelector('.tree').checkVisibility()")
    assert reader.ask("return document.querySelectorAll('.series').length") == 0


def test_letters_of_text_and_math_are_as_high(terminal: Served, reader: Reader) -> None:
    reader.open(terminal.url("/posts/attention-in-tiles/"), WIDE)
    first, *others = reader.ask(NUMBERS)
    assert others == [pytest.approx(first, rel=0.02)] * len(others)
    adjust = "return +getComputedStyle(document.querySelector(arguments[0])).fontSizeAdjust"
    text, math = (reader.ask(adjust, name) for name in (".post-content > p", "main p math"))
    assert 0.94 * text <= math <= text


def test_at_most_five_templates_are_its_own() -> None:
    own = list((ROOT / "themes" / "terminal").rglob("*.html"))
    assert 0 < len(own) <= 5


CHOSEN = "font: {font}, header: {header}, toc: right, accent: '#1f5673', width: 30rem"
SECTIONS = r"""---
title: Sections
date: 2026-01-01
toc: true
---

A [link](hello/index.md).

$$a = b \label{eq:one}$$

\begin{align}
c &= d \label{eq:two} \\
e &= f \label{eq:three}
\end{align}

## One

Text.

## Two

Text.
"""
LOOKS_CHOSEN = """
const [text, link, contents, header] = [".post-content > p", ".post-content > p > a", ".toc", ".site-header"]
  .map(name => document.querySelector(name));
const style = getComputedStyle(text);
return {
  face: style.fontFamily.split(",")[0],
  rem: text.clientWidth / parseFloat(getComputedStyle(document.documentElement).fontSize),
  accent: getComputedStyle(link).color,
  right: contents.getBoundingClientRect().left >= text.getBoundingClientRect().right,
  bar: getComputedStyle(header).position === "sticky",
};
"""


@pytest.mark.parametrize(
    ("theme", "font", "header", "face"),
    [("paper", "system", "bar", "Charter"), ("terminal", "paper", "plain", '"Paper Serif"')],
)
def test_options_show_in_a_new_site(
    tmp_path: Path, reader: Reader, theme: str, font: str, header: str, face: str
) -> None:
    """The post of a new site starts on the first screen, and numbers of rows are as large as others."""
    new_site(tmp_path / "new", dt.date(2026, 1, 1))
    config = tmp_path / "new" / "blogsmith.yaml"
    settings = f"theme: {theme}\ntheme_options: {{{CHOSEN.format(font=font, header=header)}}}\n"
    pattern = r"theme: paper\ntheme_options:\n(?: .*\n)+"
    text, count = re.subn(pattern, lambda found: settings, config.read_text("utf-8"))
    assert count == 1
    config.write_text(text, "utf-8")
    (tmp_path / "new/content/posts/sections.md").write_text(SECTIONS, "utf-8")
    report = build(tmp_path / "new", output=tmp_path / "public", base_url=ADDRESS)
    assert report.ok, printed(report)
    with served(tmp_path / "public") as origin:
        reader.open(f"{origin}/posts/hello/")
        for width_px, limit_px in LIMITS_PX.items():
            reader.take_on(Look(width_px))
            assert reader.ask(FIRST_TEXT) <= limit_px
        reader.open(f"{origin}/posts/sections/", WIDE)
        chosen = reader.ask(LOOKS_CHOSEN)
        assert chosen.pop("rem") == pytest.approx(30, abs=0.1)
        accent = "rgb(31, 86, 115)"
        assert chosen == {"face": face, "accent": accent, "right": True, "bar": header == "bar"}
        # optional fonts may arrive between two numbers
        reader.ask(ALL_FONTS)
        reader.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")
        first, *others = reader.ask(NUMBERS)
        assert others == [pytest.approx(first, rel=0.04)] * 2
