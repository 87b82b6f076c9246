"""Every page of our own site is accessible, logs nothing, is complete and readable, in every look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import html5lib
import pytest

from tests.page_checks import elements

from . import tools
from .accessibility import LOOKS, Looks, faults, faults_in_looks
from .conftest import Served
from .reader import DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .specimens import kinds

ACTING = (
    'class="code',
    'class="math-display',
    'class="xref',
    "doc-biblioref",
    "doc-noteref",
    'class="image-compare',
    "data-embed-url=",
    'class="runnable',
    'class="lightbox',
    " muted loop ",
    'class="table-wrap',
    'class="math-long',
    'class="math-lines',
    'class="diagram-scroll',
    "<pre",
    'class="toc"',
    'class="toc manual"',
)
"""Markup that shows that a script may have work to do."""
EVERY = [pytest.param(False, id="some"), pytest.param(True, id="every", marks=pytest.mark.long)]
"""Whether a test loads all pages, or only specimens of their content."""
SHARES = 4
"""Number of parts of the pages, so that no process is left with all of them at the end."""
# Text that is not painted. Folded text is opened first. Markers for a pointer may stay hidden, a note in the
# margin needs no link back, and without scripts nothing runs.
UNSEEN_TEXT = """
for (const details of document.querySelectorAll("details")) details.open = true;
const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const unseen = [];
// a part of tabs is chosen without scripts, and the bar of a sweep does nothing there: its runs are folds
for (const part of document.querySelectorAll(".tab-body")) part.style.display = "block";
const quiet = "script, style, template, video, mphantom, .heading-anchor, .footnote-backref, .run-button, "
  + ".sweep-controls, "
  // of an SVG image, for programs that cannot show HTML in it
  + "switch > text, "
  // its words stand there by style where it is no button
  + ".toc-label";
while (texts.nextNode()) {
  const text = texts.currentNode, parent = text.parentElement;
  if (!text.data.trim() || parent.closest(quiet)) continue;
  const seen = parent.checkVisibility({opacityProperty: true, visibilityProperty: true});
  if (!seen) unseen.push(text.data.trim().slice(0, 60));
}
return unseen;
"""


@pytest.fixture(scope="module")
def axe() -> str:
    return tools.file(tools.AXE).read_text("utf-8")


def listing(found: dict[str, list[str]]) -> str:
    """List each fault once, with its number of occurrences and the first place."""
    return "\n".join(f"{fault} ({len(places)} times, as {places[0]})" for fault, places in found.items())


@pytest.fixture(scope="module")
def looks(reader: Reader, axe: str) -> Looks:
    """Return the checker of this process, for the pages of all shares."""
    return Looks(reader, axe)


@pytest.mark.parametrize("share", range(SHARES))
def test_no_page_has_a_fault(specimens: Served, looks: Looks, share: int) -> None:
    found: dict[str, list[str]] = {}
    for page in specimens.pages()[share::SHARES]:
        looks.reader.open(specimens.url(page), DESKTOP)
        for fault, place in looks.faults():
            found.setdefault(fault, []).append(f"{page} {place}")
    assert not found, listing(found)


@pytest.mark.long
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_no_page_has_a_fault_that_is_loaded_anew(
    own_site: Served, reader: Reader, axe: str, look: Look
) -> None:
    found: dict[str, list[str]] = {}
    for page in own_site.pages():
        reader.open(own_site.url(page), look)
        for fault, place in faults(reader, axe):
            found.setdefault(fault, []).append(f"{page} {place}")
    assert not found, listing(found)


FIRST_TEXT = """
const text = document.querySelector(".post-content p:not(.callout-title)");
return Math.round(text.getBoundingClientRect().top + scrollY);
"""


LIMITS_PX = {1440: 380, 390: 480}
"""Window width → limit on the vertical position of the first text."""
MORE_PX = 60
"""Increase of the limit if the header has a subtitle and a description: three lines on a phone."""


@pytest.mark.parametrize("every", EVERY)
def test_a_post_begins_on_the_first_screen(own_site: Served, reader: Reader, every: bool) -> None:
    pages = [
        page for page in own_site.pages() if page.count("/") > 2 and page.startswith(("/posts/", "/docs/c"))
    ]
    assert len(pages) > 12
    late = []
    for page in pages if every else of_each_head(own_site, pages):
        reader.open(own_site.url(page))
        head = own_site.text(page)
        more_px = MORE_PX if "post-subtitle" in head and "post-description" in head else 0
        for width_px, limit_px in LIMITS_PX.items():
            reader.take_on(Look(width_px))
            top = int(reader.ask(FIRST_TEXT))
            late += [(page, width_px, top)] if top > limit_px + more_px else []
    assert late == []


def of_each_head(site: Served, pages: Sequence[str]) -> list[str]:
    """For each set of kinds of header elements, return the page with the longest header."""
    heads = {
        page: site.text(page).partition("<main")[2].partition('class="post-content')[0] for page in pages
    }
    return list(
        {kinds(heads[page]): page for page in sorted(pages, key=lambda page: len(heads[page]))}.values()
    )


FAULTY = """<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1>
<img src="https://elsewhere.example/x.png"><p style="width: 400px">wide</p>
<script>throw new Error("broken script")</script></main>"""
FAULTS = ("image-alt", "wider than", "broken script", "another host', 'https://elsewhere.example/x.png")


def test_every_fault_would_be_found(tmp_path: Path, reader: Reader, axe: str) -> None:
    (tmp_path / "x.html").write_text(FAULTY)
    with served(tmp_path) as origin:
        reader.open(f"{origin}/x.html", PHONE)
        found = str(faults(reader, axe))
        reader.open(f"{origin}/x.html", DESKTOP)
        of_all_looks = str(Looks(reader, axe).faults())
    for fault in FAULTS:
        assert fault in found
        assert fault in of_all_looks


STYLES = """
@media (prefers-color-scheme: dark) { p { color: #333; background: #111 } }
@media (max-width: 400px) { pre { width: 500px } }
"""


def test_a_fault_is_told_with_its_look(tmp_path: Path, reader: Reader, axe: str) -> None:
    """This also holds if a whole page is checked without a reload."""
    head = f'<!DOCTYPE html><html lang="en"><title>x</title><link rel="icon" href="data:,"><style>{STYLES}'
    (tmp_path / "x.html").write_text(f"{head}</style><main><h1>x</h1><p>Pale</p><pre>wide</pre></main>")
    with served(tmp_path) as origin:
        reader.open(f"{origin}/x.html")
        found = faults_in_looks(reader, axe)
    assert [(look, fault.partition(":")[0]) for look, fault, _ in found] == [
        ("dark", "color-contrast"),
        ("phone", "wider than the window of 360 px"),
    ]


SIDE = """
:root { background: #111; color: #ddd }
b { color: #333 }
a { color: #d4d4d4; text-decoration: none }
"""
MANY = "<p>Some text.</p>" * 20
DARK_SIDE = "@media (prefers-color-scheme: dark) {{ {} }}"
CODE = "pre { background: #fff } .a { color: #00c } .b { color: #060 }"
LINE = "<span class=l><span class=a>one</span> <span class=b>two</span></span>\n"
WORDS = f"<pre><code>{LINE * 2}</code></pre>"


@pytest.mark.parametrize(
    ("style", "body", "fault", "place"),
    [
        ("", MANY, "", ""),
        ("#b { color: #aaa }", f"{MANY}<p id=b>pale</p>", "color-contrast", "#b"),
        ("#b { background: #555 }", f"{MANY}<div id=b><p>dim</p></div>", "color-contrast", "p"),
        (
            "#b { color: #888; font-size: 14px } i { color: #888; font-size: 30px }",
            "<p><i>large</i></p><p id=b>small</p>",
            "color-contrast",
            "#b",
        ),
        ("#b { opacity: 0.3 }", f"{MANY}<div id=b><p>thin</p></div>", "color-contrast", "p"),
        ("#b { position: absolute; color: #ccc }", f"{MANY}<p id=b>placed</p>", "color-contrast", "#b"),
        ("@media (prefers-color-scheme: dark) {}", f"{MANY}<p><b>dark</b></p>", "color-contrast", "b"),
        ("@media (prefers-color-scheme: dark) {}", "<p>Text, <a href=/>a link</a>.</p>", "link-in-text", "a"),
        (
            "@media (max-width: 400px) { button { width: 9px; height: 9px; padding: 0; border: 0 } }",
            '<button aria-label="one"></button><button aria-label="two"></button>',
            "target-size",
            "button",
        ),
        ("@media (max-width: 400px) { p { width: 500px } }", "<p>wide</p>", "wider than", "<p"),
        ("@media (min-width: 1400px) { p { width: 1600px } }", "<p>wide</p>", "wider than the window", "<p"),
        ("@media print { p { width: 600px } }", "<p>wide</p>", "wider than the sheet", "<p"),
        (CODE, WORDS, "", ""),
        (f"{CODE} .b {{ color: #aaa }}", WORDS, "color-contrast", ".b"),
        (f"{CODE} .l {{ background: #555 }}", WORDS, "color-contrast", ".a"),
        (f"{CODE} .l + .l .b {{ color: #aaa }}", WORDS, "color-contrast", ".b"),
        (f"{CODE} {DARK_SIDE.format('.b { color: #aaa }')}", WORDS, "color-contrast", ".b"),
        (f"{CODE} @media (max-width: 400px) {{ .b {{ color: #aaa }} }}", WORDS, "color-contrast", ".b"),
        (CODE, WORDS.replace("<span class=b", "<span class=b role=knob"), "aria-roles", ".b"),
    ],
)
def test_a_fault_of_one_look_is_found(
    tmp_path: Path, reader: Reader, axe: str, style: str, body: str, fault: str, place: str
) -> None:
    style = style.replace("{}", f"{{ {SIDE} }}")
    (tmp_path / "x.html").write_text(
        '<!DOCTYPE html><html lang="en"><title>x</title><link rel="icon" href="data:,">'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style>'
        f"<main><h1>x</h1>{body}</main>"
    )
    with served(tmp_path) as origin:
        reader.open(f"{origin}/x.html", DESKTOP)
        found = Looks(reader, axe).faults()
    assert all(fault and fault in what for what, _ in found), found
    assert any(place in where for _, where in found) == bool(fault), found


@pytest.mark.parametrize("every", EVERY)
def test_nothing_is_hidden_without_scripts(
    own_site: Served, specimens: Served, reader: Reader, every: bool
) -> None:
    site = own_site if every else specimens
    found = hidden_without_scripts(site, site.pages(), reader)
    assert not found, listing(found)


def hidden_without_scripts(site: Served, pages: Sequence[str], reader: Reader) -> dict[str, list[str]]:
    """Return text that is not painted, with the pages that contain it."""
    found: dict[str, list[str]] = {}
    reader.open(site.url(pages[0]), WITHOUT_SCRIPTS)
    for page in pages:
        reader.go_to(site.url(page))
        for text in reader.ask(UNSEEN_TEXT):
            found.setdefault(text, []).append(page)
    return found


def test_a_page_without_widgets_has_no_script(own_site: Served) -> None:
    texts = {page: own_site.text(page) for page in own_site.pages()}
    plain = {page: html for page, html in texts.items() if not any(mark in html for mark in ACTING)}
    assert plain
    # The site has search enabled: each page handles its keys, and the search page searches.
    assert {page: scripts(html) for page, html in plain.items() if scripts(html) != ["<script>"]} == {}
    own = ("/search-key.js", "/search.js")
    assert [page for page, html in plain.items() if not any(name in html for name in own)] == []


def scripts(html: str) -> list[str]:
    """Return anything that could run in a page: scripts that are not data, and handlers in attributes."""
    found = []
    for tag, element in elements(html5lib.parse(html)):
        is_data = element.get("type") in ("application/json", "application/ld+json")
        found += ["<script>"] if tag == "script" and not is_data else []
        found += [str(name) for name in element.attrib if str(name).startswith("on")]
    return found
