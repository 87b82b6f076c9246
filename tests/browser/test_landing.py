"""Front page, tour and comparison of our own site contain everything that they promise."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from blogsmith import __version__

from .conftest import Served
from .reader import DESKTOP, Reader

PROOFS = {
    "a card for an equation": r'<a class="xref" href="#eq-variance"',
    "a claim that was checked": r'class="claim',
    "a result with its machine": r'class="provenance" data-device=',
    "code to run": r'<div class="runnable"',
}
LAST = ("Coming from", "MIT licence", "Made with blogsmith ")


def test_a_visitor_finds_what_the_tool_is_and_proof_of_it(own_site: Served) -> None:
    html = own_site.text("/")
    main = html.partition("<main")[2].partition("</main>")[0]
    assert len(re.findall(r'<h1 class="landing-title">[^<]{20,90}</h1>', main)) == 1
    first_code = main.partition("<figure")[2].partition("</figure>")[0]
    assert "install" in re.sub(r"<[^>]+>", "", first_code)
    # It is in one file with other scripts.
    (scripts,) = re.findall(r'<script [^>]*src="(/assets/paper/posts-\w+\.js)"', html)
    assert "copy-button" in own_site.text(scripts)
    left, right = main.partition('<div class="split')[2].partition('<div class="example">')[::2]
    assert "markdown" in left and "<math" not in left and "<math" in right
    assert [name for name, pattern in PROOFS.items() if not re.search(pattern, right)] == []
    figures = right.partition('id="measured"')[2].partition("</table>")[0]
    assert re.search(r"\d+ \w+ 20\d\d", figures) and "<code>make bench-builds</code>" in figures
    assert [name for name in ("Hugo", "Quarto", "Material") if name not in figures] == []
    posts = right.partition('id="written-with-it"')[2].partition("<h2")[0]
    assert len(re.findall(r"<img ", posts)) == len(re.findall(r'<a href="/posts/[^"]+">', posts)) == 3
    text = re.sub(r"<[^>]+>", "", main)
    assert [words for words in LAST if words not in text] == []
    assert 'atom.xml">' in html.partition('class="site-footer"')[2]
    assert f"Version {__version__}" in text
    numbers = re.findall(r"<strong>([^<]+)</strong>.*?Measured.*? 20\d\d", right, re.DOTALL)
    assert len(numbers) == 3


@pytest.mark.parametrize("width_px", [1280, 1920])
def test_source_number_and_claim_are_in_the_first_screen(
    own_site: Served, reader: Reader, width_px: int
) -> None:
    reader.open(own_site.url("/"), replace(DESKTOP, width_px=width_px))
    bottoms = [
        reader.ask("return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)
        for selector in ("figure.code", ".split > .example math[display]", ".split .claim")
    ]
    assert bottoms == sorted(bottoms) and bottoms[-1] <= reader.ask("return innerHeight")


SHOWN = {
    "numbered rows": r'class="eq-number"',
    "a footnote": r'role="doc-noteref"',
    "folded code": r'<details class="collapsible"',
    "image comparison": r'class="image-compare"',
    "a video of another host": r'class="video-embed" data-provider="youtube"',
    "a video file": r"<video ",
    "a grid": r'class="image-grid',
    "a result of NumPy": r'class="provenance"[^>]*>.*NumPy',
    "a claim": r'class="claim',
    "code to run": r'<div class="runnable"',
    "a diagram": r'<figure class="diagram"',
    "a citation": r'role="doc-biblioref"',
}
"""Features of the tour, and patterns of their HTML."""
KINDS = """
abstract caution corollary critical danger definition example faq hint important info lemma note proof
proposition question quote remark success theorem tip warning
"""
"""Kinds of callouts on the tour; the manual shows those for lectures."""


def test_the_tour_shows_source_and_result_of_every_feature(own_site: Served) -> None:
    main = own_site.text("/tour/").partition("<main")[2].partition("</main>")[0]
    halves = main.split('<div class="split')[1:]
    results = "".join(half.partition('<div class="example">')[2] for half in halves)
    assert [name for name, pattern in SHOWN.items() if not re.search(pattern, results)] == []
    kinds = set(re.findall(r'data-kind="(\w+)"', results))
    assert set(KINDS.split()) == kinds
