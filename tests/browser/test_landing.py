"""The front page of our own site, with the layout landing, contains everything that it promises."""

from __future__ import annotations

import re

from .conftest import Served

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
