"""The text font of the theme paper in browsers: its arrival moves nothing, and formulas match its height."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.site_files import SiteText, build, printed, write_site_files

from .firefox import Firefox
from .reader import Reader
from .server import Handler, served

TEXT = """\
A head of attention is a dictionary that blurs: asked for one word it answers with a mixture of all its
entries, most of it from those whose keys are alike. Nothing in it is looked up or decided; it weighs,
adds and passes on. That is why it can be learned at all, since a choice has no slope and a mixture has one
everywhere. What it cannot do is tell two equal keys apart, which is why positions are written into vectors
before the first layer, and why the order of a sentence survives although every sum forgets it.
"""
POST = f"""---
title: A face
date: 2026-01-01
---

{TEXT}

*{TEXT.replace(chr(10), " ").strip()}*

## A heading of some length about the weights

$$x = 1$$ {{#eq:x}}

The letter $x$ of \\eqref{{eq:x}} stands in text, and 1,234,567 of 2,026.

| Figure | Value |
|--------|-------|
| a | 1111 |
| b | 8080 |

Greek λόγος, Cyrillic слово, Chinese 字 and an arrow → stay readable.
"""
PLAIN = POST.replace("$$x = 1$$ {#eq:x}", "").replace("$x$ of \\eqref{eq:x}", "x")
"""The post without formulas, because their font may move them when it arrives."""
FALLBACKS = ("Wide Georgia", "Wide Noto Serif", "Wide Times")
# Load the font files, whether they were in time for the page or not.
SHIP = """
const file = name => `url(/assets/paper/fonts/${name}.woff2)`;
const faces = [new FontFace("Shipped", file("paper-serif"), {weight: "400 650"}),
  new FontFace("Shipped", file("paper-serif-italic"), {weight: "400", style: "italic"}),
  new FontFace("Shipped Caps", file("paper-serif-caps"), {weight: "450"})];
faces.forEach(face => document.fonts.add(face));
return Promise.all(faces.map(face => face.load())).then(() => true);
"""
LOAD = """
const [family] = arguments;
const faces = [...document.fonts].filter(face => face.family.replaceAll('"', "") === family);
return Promise.all(faces.map(face => face.load())).then(() => faces.length > 0, () => false);
"""
# For each block of the page in a font family: its lines, and height and width of all its words in one line.
MEASURE = """
const blocks = [...document.querySelectorAll(".post-content > p, .post-content > h2")].slice(0, 3);
document.documentElement.style.setProperty("--serif", arguments[0]);
const found = blocks.map(block => {
  const whole = block.getBoundingClientRect().height;
  block.style.cssText = "display: inline-block; white-space: nowrap; max-width: none";
  const {height, width} = block.getBoundingClientRect();
  block.style.cssText = "";
  return {lines: whole / height, height, width};
});
document.documentElement.style.removeProperty("--serif");
return found;
"""
SHIFTS = """
let sum = 0;
const add = list => list.getEntries().forEach(entry => { sum += entry.value; });
new PerformanceObserver(add).observe({type: "layout-shift", buffered: true});
return new Promise(done => setTimeout(() => done(sum), 300));
"""
USED = "return [...document.fonts].filter(face => face.status === 'loaded').map(face => face.family)"
# The height of a letter, from the canvas metrics of the element's font.
X_HEIGHT = """
const {fontFamily, fontSize, fontSizeAdjust} = getComputedStyle(document.querySelector(arguments[0]));
const pen = document.createElement("canvas").getContext("2d");
pen.font = `1000px ${fontFamily.replace('"Paper Serif"', "Shipped")}`;
const letter = pen.measureText("x").actualBoundingBoxAscent;
return parseFloat(fontSize) * (fontSizeAdjust === "none" ? letter / 1000 : fontSizeAdjust);
"""
WIDTH = """
const span = document.createElement("span");
span.textContent = arguments[1];
span.style.cssText = `display: inline-block; width: max-content; ${arguments[2]}`;
document.querySelector(arguments[0]).append(span);
const {width} = span.getBoundingClientRect();
span.remove();
return width;
"""


class _Slow(Handler):
    """Handler with late fonts, as over a slow network."""

    def do_GET(self) -> None:
        """Answer, but wait before a font."""
        if ".woff2" in self.path:
            time.sleep(1)
        super().do_GET()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("faces")
    posts = {"content/posts/face.md": POST.encode(), "content/posts/plain.md": PLAIN.encode()}
    write_site_files(SiteText({"blogsmith.yaml": b"title: Faces\n", **posts}, "", ""), root)
    report = build(root, output=root / "public")
    assert report.ok, printed(report)
    return root / "public"


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    """Serve the site and yield the URL of the post."""
    with served(site) as origin:
        yield f"{origin}/posts/face/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, url: str) -> Any:
    """Return either browser, with the post and all its fonts."""
    found = request.getfixturevalue({"chromium": "reader", "firefox": "fox"}[request.param])
    found.open(url)
    assert found.ask(SHIP)
    return found


def test_faces_of_the_system_are_as_wide_and_as_high(browser: Reader | Firefox) -> None:
    shipped = browser.ask(MEASURE, "Shipped")
    there = [family for family in FALLBACKS if browser.ask(LOAD, family)]
    assert there, "this machine has none of the faces that most have"
    for family in there:
        for ours, theirs in zip(shipped, browser.ask(MEASURE, f'"{family}"'), strict=True):
            assert theirs["width"] == pytest.approx(ours["width"], rel=0.02)
            assert theirs["height"] == pytest.approx(ours["height"], abs=0.01)
            assert theirs["lines"] == pytest.approx(ours["lines"], abs=1.01)


def test_formulas_are_as_high_as_text(browser: Reader | Firefox) -> None:
    text, formula = (browser.ask(X_HEIGHT, place) for place in (".post-content > p", "math mi"))
    assert formula == pytest.approx(text, rel=0.02)


def test_small_capitals_are_those_of_the_face(browser: Reader | Firefox) -> None:
    look = "font: 100px 'Shipped Caps', Shipped; white-space: nowrap;"
    # Capitals synthesised by the browser are smaller and thus narrower.
    true, plain = (
        browser.ask(WIDTH, ".post-content", text, look + more)
        for text, more in (("contents", "font-variant-caps: all-small-caps"), ("CONTENTS", "font-size: 70px"))
    )
    assert true > 1.05 * plain


def test_figures_are_high_in_text_and_have_one_width_in_tables(browser: Reader | Firefox) -> None:
    assert "lining-nums" in browser.ask(
        "return getComputedStyle(document.querySelector('.post-content > p')).fontVariantNumeric"
    )
    # This applies even if no style sheet for notes is loaded.
    numbers = "return getComputedStyle(document.querySelector('.xref')).fontVariantNumeric"
    assert browser.ask(numbers) == "lining-nums"
    ones, eights = (browser.ask(WIDTH, ".post-content td", text, "") for text in ("1111", "8080"))
    assert ones == pytest.approx(eights, abs=0.02)


def test_nothing_moves_when_the_face_comes_late(site: Path, reader: Reader) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Slow, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            reader.open(f"http://127.0.0.1:{server.server_port}/posts/plain/")
            reader.wait_for(lambda: "Paper Serif" in reader.ask(USED))
            assert reader.ask(SHIFTS) == 0
            assert reader.problems() == []
        finally:
            server.shutdown()
            thread.join()


def test_the_face_comes_from_the_site_alone(url: str, reader: Reader) -> None:
    reader.open(url)
    reader.wait_for(lambda: "Paper Serif" in reader.ask(USED))
    asked = [address for address in reader.requests() if "paper-serif" in address]
    assert len(asked) == len(set(asked)) >= 1
    assert reader.foreign_requests() == []
