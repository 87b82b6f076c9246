"""Slides: a generated lecture of forty slides in both browsers, with and without scripts, and on paper."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader
from selenium.webdriver.common.keys import Keys

from tests.site_files import build, printed, put

from .accessibility import faults_in_looks
from .conftest import Served
from .firefox import Firefox
from .reader import PAPER, WITHOUT_SCRIPTS, Reader
from .server import served
from .tools import AXE, file

SLIDES = 40
PAGE = "/lecture/"
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800"><path d="M9 9h780v780H9z"/></svg>'
_HEAD = """\
---
title: Measures
description: Sets have a size.
date: 2026-01-02
authors: [Bea Ash]
layout: slides
---
Welcome.

> [!NOTES]
> Wait until all are seated.

## Why measure? {#why}

- first
- second

---

A slide without a heading.

{.step}
$$ \\mu(A) = 1 \\label{eq:mu} $$

## Steps

{.step}
- one
- two

{.step}
> [!THEOREM] {#thm-x}
> It holds.

{.step}
```python
x = 1
```

> [!NOTES]
> Ask for *questions*.

## A picture

![A square](square.svg "A square"){#fig-square}

## A long slide

| set | size |
|:----|-----:|
| A   |    1 |

See {@eq:mu} and a note.[^n]

[^n]: It is short.
"""
_STATE = """
const shown = [...document.querySelectorAll(".slide.is-shown")];
return [location.hash, document.querySelector(".slide-bar output").value, shown.length,
  shown[0].querySelectorAll(".is-waiting").length];
"""


_KINDS = (
    "The measure of $A$ is ==one== and `x = 1`.",
    "> [!THEOREM] Union\n> $\\mu(A \\cup B) \\le \\mu(A) + \\mu(B)$\n\n> [!PROOF]\n> Easy.",
    '```python title="size.py" {2}\ndef size(values):  # counts\n    return len(values) + 1.0\n```',
    "| set | size |\n|:----|-----:|\n| A   |    1 |\n\n: Sizes",
    "> [!EXERCISE]\n> Show it.\n\n> [!SOLUTION]-\n> Add both.",
    '> Geometry is the art of correct reasoning.\n\n- [ ] open\n- [x] done\n\n[a link](../post.md "Post")',
    "\\begin{align} a &= b \\\\ c &= \\frac{d}{e} \\end{align}\n\nTerm\n: its definition",
    "> [!WARNING]- Folded\n> Text with [[Ctrl]] and ::GPU|Graphics Processing Unit::.",
)
"""Content of slides, used in turn."""


def lecture(slides: int) -> str:
    """Return a lecture with this number of slides."""
    # the title, the six above with the welcome, the one without a heading and the footnotes are not repeated
    more = (f"## Part {n}\n\n{_KINDS[n % len(_KINDS)]}\n\n" for n in range(slides - 8))
    return f"{_HEAD}\n{''.join(more)}"


@pytest.fixture(scope="module", params=["paper", "terminal"])
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {
        "blogsmith.yaml": f"title: Talks\ntheme: {request.param}\n",
        "content/lecture/index.md": lecture(SLIDES),
        "content/lecture/square.svg": SQUARE,
        "content/post.md": "---\ntitle: Post\n---\n## A\n\nText\n",
    }
    root = put(tmp_path_factory.mktemp("talk"), files)
    report = build(root)
    assert report.ok, printed(report)
    with served(root / "public") as origin:
        yield Served(root / "public", origin)


def test_only_slides_load_their_files(talk: Served) -> None:
    assert "slides.js" in talk.text(PAGE)
    assert "/slides-" in talk.text(PAGE)
    assert "spy.js" not in talk.text(PAGE)
    assert "slides" not in talk.text("/post/")


def test_keys(talk: Served, reader: Reader) -> None:
    reader.open(talk.url(PAGE))
    assert reader.ask(_STATE) == ["#slide-1", "1 / 40", 1, 0]
    reader.press(Keys.ARROW_RIGHT, Keys.SPACE)
    assert reader.ask(_STATE) == ["#why", "3 / 40", 1, 0]
    reader.press(Keys.PAGE_DOWN)
    assert reader.ask(_STATE) == ["#slide-4", "4 / 40", 1, 1]
    reader.press(Keys.ARROW_RIGHT)
    assert reader.ask(_STATE) == ["#slide-4", "4 / 40", 1, 0]
    reader.press(Keys.ARROW_DOWN)
    waiting = []
    for _ in range(5):
        waiting.append(reader.ask(_STATE)[1::2])
        reader.press(Keys.ARROW_RIGHT)
    assert waiting == [["5 / 40", 4], ["5 / 40", 3], ["5 / 40", 2], ["5 / 40", 1], ["5 / 40", 0]]
    assert reader.ask(_STATE)[0] == "#a-picture"
    reader.press(Keys.ARROW_LEFT)
    assert reader.ask(_STATE) == ["#steps", "5 / 40", 1, 0]
    reader.press(Keys.END)
    assert reader.ask(_STATE)[1] == "40 / 40"
    assert reader.ask("return document.querySelector('.is-shown > .footnotes') !== null")
    reader.press(Keys.HOME)
    assert reader.ask(_STATE) == ["#slide-1", "1 / 40", 1, 0]


def test_notes_and_overview(talk: Served, reader: Reader) -> None:
    is_visible = "return document.querySelector('.is-shown .callout-notes').checkVisibility()"
    reader.open(talk.url(f"{PAGE}#steps"))
    assert not reader.ask(is_visible)
    reader.press("s")
    assert reader.ask(is_visible)
    reader.press(Keys.ESCAPE)
    visible = "return [...document.querySelectorAll('.slide')].filter(one => one.checkVisibility()).length"
    assert reader.ask(visible) == SLIDES
    reader.press(Keys.ARROW_RIGHT, Keys.ENTER)
    assert reader.ask(_STATE) == ["#a-picture", "6 / 40", 1, 0]
    assert reader.ask(visible) == 1


def test_links_and_buttons(talk: Served, reader: Reader) -> None:
    reader.open(talk.url(f"{PAGE}#a-long-slide"))
    reader.ask("document.querySelector('.is-shown .xref').click()")
    reader.wait_for(lambda: reader.ask(_STATE) == ["#slide-4", "4 / 40", 1, 0])
    reader.ask("document.querySelectorAll('.slide-bar button')[1].click()")
    assert reader.ask(_STATE)[1] == "5 / 40"
    swipe = """
    const send = (type, x) => {
      const touch = new Touch({identifier: 1, target: document.body, clientX: x, clientY: 300});
      const touches = type === "touchstart" ? [touch] : [];
      document.querySelector(".is-shown").dispatchEvent(
        new TouchEvent(type, {touches, changedTouches: [touch], bubbles: true}));
    };
    send("touchstart", 100); send("touchend", 250);
    """
    reader.ask(swipe)
    assert reader.ask(_STATE)[:2] == ["#slide-4", "4 / 40"]


def test_blocks_that_the_preview_merges_become_slides(talk: Served, reader: Reader) -> None:
    merge = """
    const content = document.querySelector(".slides > .post-content");
    content.replaceChildren(...[...content.children].flatMap(slide => [...slide.childNodes]));
    document.querySelector("#why").insertAdjacentHTML("beforebegin", "<h2 id='new'>New</h2>");
    document.dispatchEvent(new Event("blogsmith:update"));
    """
    reader.open(talk.url(f"{PAGE}#why"))
    reader.ask(merge)
    assert reader.ask(_STATE) == ["#new", "3 / 41", 1, 0]


def faults_of(talk: Served, reader: Reader, names: Iterable[str]) -> dict[str, list[tuple[str, str, str]]]:
    """Return the faults of slides in all looks: fragment of the URL → faults."""
    axe = file(AXE).read_text("utf-8")
    found = {}
    for name in names:
        reader.open(talk.url(PAGE + name))
        reader.wait_for_fonts()
        found[name] = faults_in_looks(reader, axe)
    return {name: faults for name, faults in found.items() if faults}


def test_no_faults_in_any_look(talk: Served, reader: Reader) -> None:
    assert faults_of(talk, reader, ("", "#slide-4", "#steps", "#a-picture", "#a-long-slide")) == {}


@pytest.mark.long
def test_no_faults_in_other_blocks(talk: Served, reader: Reader) -> None:
    assert faults_of(talk, reader, (f"#part-{n}" for n in range(len(_KINDS)))) == {}
    reader.open(talk.url(PAGE))
    reader.press(Keys.ESCAPE)
    assert faults_in_looks(reader, file(AXE).read_text("utf-8")) == []


def test_each_slide_fits_a_projector(talk: Served, reader: Reader) -> None:
    reader.open(talk.url(PAGE))
    screen = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    reader.tell("Emulation.setDeviceMetricsOverride", **screen)
    reader.wait_for_fonts()
    sizes = {}
    while reader.ask(_STATE)[1] != "40 / 40":
        sizes[reader.ask("return location.hash")] = reader.ask("return document.documentElement.scrollHeight")
        reader.ask("document.querySelectorAll('.slide-bar button')[1].click()")
    assert sizes == dict.fromkeys(sizes, 720)
    assert len(sizes) == SLIDES - 1
    assert reader.ask("return parseFloat(getComputedStyle(document.querySelector('p')).fontSize)") >= 26


def test_paper(talk: Served, reader: Reader) -> None:
    for look in (PAPER, replace(PAPER, scripts=False)):
        reader.open(talk.url(PAGE), look)
        pages = PdfReader(io.BytesIO(reader.printed())).pages
        assert len(pages) == SLIDES
        assert round(pages[0].mediabox.width / pages[0].mediabox.height, 2) == 1.78
        # pypdf puts spaces between the letters of fonts with variations
        assert "Whymeasure?" in "".join(pages[2].extract_text().split())
        assert "Ask for" not in "".join(page.extract_text() for page in pages)


def test_without_scripts_it_is_a_page(talk: Served, reader: Reader) -> None:
    reader.open(talk.url(PAGE), WITHOUT_SCRIPTS)
    parts = "[...document.querySelectorAll('main h2, .callout-notes')]"
    assert reader.ask(f"return {parts}.every(part => part.checkVisibility())")
    assert not reader.ask("return document.querySelector('.slide-bar').checkVisibility()")


def test_firefox(talk: Served, fox: Firefox) -> None:
    fox.open(talk.url("/post/"))
    fox.open(talk.url(f"{PAGE}#steps"))
    state = _STATE.strip()
    assert fox.ask(state) == ["#steps", "5 / 40", 1, 4]
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
    for key in ("ArrowRight", " ", "s"):
        fox.ask(press, key)
    assert fox.ask(state) == ["#steps", "5 / 40", 1, 2]
    assert fox.ask("return document.querySelector('.is-shown .callout-notes').checkVisibility()")


def test_the_script_is_small() -> None:
    (script,) = (Path(__file__).parents[2] / "themes/paper/minified").glob("slides-*.js")
    assert script.stat().st_size <= 3000
