"""Outputs of cells in a browser, for axe and for the Nu checker. The page is assembled without a build."""

from __future__ import annotations

import dataclasses
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest
from msgspec.structs import replace

from blogsmith.model.pictures import ImageInfo
from blogsmith.model.results import Blob, CellOutput, CellResult, Display, PageResults, Stream
from blogsmith.model.texts import PageText
from tests.check import MACHINE, render_with
from tests.theme_pages import BARE, SITE, load_paper

from .accessibility import faults_in_looks
from .conftest import Served
from .reader import DARK, DESKTOP, Reader
from .server import served
from .test_pages import axe

__all__ = ["axe"]

POST = """\
```python
#| label: fig-x
#| fig-alt: A square
#| fig-cap: A square
plot()
```

```python
#| label: long
#| eval: true
count()
```

```python
#| claim: one is one
1 == 1
```

```python
#| label: wide
#| eval: true
rows()
```
"""
WIDE = "<table><tr>" + 8 * "<td>ten letters</td>" + "</tr></table>"
FOREIGN = (
    '<table border=1><thead><tr style="text-align: right"><th><th>a</thead><tr><th>0<td>1</table><p>1 row',
    "<p>a<div>b</div><ul>c<li>d</ul><dl><dd>e</dl><details>f</details>",
    "<table><caption>c<tr><td rowspan=9>1<td><tr></table><pre><div>x</div></pre>",
    "<details><summary><a href='https://x.example/'>l</a><p>m</summary></details><h1>n</h1>",
    "<abbr>x</abbr><svg></svg><ol start=3><li><ol><li>y</ol></ol><b><table><tr><td>z</table></b>",
)

SHOWN = "return document.querySelector('picture > img').currentSrc"
TEAL, ORANGE = (0, 128, 128), (255, 165, 0)


def _svg(colour: str) -> bytes:
    inside = f'<rect width="90" height="90" fill="{colour}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90">{inside}</svg>'.encode()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a page with images for both schemes, a long output, a claim and third-party markup."""
    folder = tmp_path_factory.mktemp("cells")
    light, dark = _svg("teal"), _svg("orange")
    picture = {
        "image/svg+xml": Blob("11111111", light, "a.svg"),
        "image/svg+xml;scheme=dark": Blob("22222222", dark, "a-dark.svg"),
    }
    text = "".join(f"{number} \x1b[3{number % 8}mcolour\x1b[0m\n" for number in range(100))
    done = CellResult("ok", seconds=0.01, device="cpu", machine=MACHINE, date="2026-11-21")
    outputs: tuple[tuple[CellOutput, ...], ...] = (
        (Display("display", picture),),
        (Stream("stdout", text, 10), *(Display("value", {"text/html": html}) for html in FOREIGN)),
        (),
        (Display("value", {"text/html": WIDE}),),
    )
    results = {number: replace(done, outputs=of_cell) for number, of_cell in enumerate(outputs, 1)}
    body = render_with(POST, PageResults(results), picture=_picture).body
    theme = load_paper(folder)
    view = replace(BARE, body=PageText.from_string(f"<p>Text.</p>{body.html}"), widgets=body.widgets)
    root = folder / "b"
    for name, data in body.files.items():
        file = root / "about" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(data, bytes)
        file.write_bytes(data)
    html = theme.render("page", view, replace(SITE, options={"switch": True}))
    (root / "about" / "index.html").write_text(html, "utf-8")
    for asset in theme.static_files():
        (root / asset.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(asset.file, root / asset.path)
    for sheet in theme.sheets.values():
        (root / sheet.path(view.math_font)).write_text(sheet.text(), "utf-8")
    with served(folder) as origin:
        yield Served(folder, f"{origin}/b/about/")


def _picture(document: object, name: str, content: object) -> ImageInfo:
    return ImageInfo(f"/b/about/{name}", 90, 90)


def test_axe_finds_nothing(page: Served, reader: Reader, axe: str) -> None:
    reader.open(page.origin)
    assert faults_in_looks(reader, axe) == []


def test_pictures_follow_the_system_and_the_switch(page: Served, reader: Reader) -> None:
    def is_shown(dark: bool) -> bool:
        return ("dark" in str(reader.ask(SHOWN))) is dark

    for look, is_dark in ((DESKTOP, False), (DARK, True)):
        reader.open(page.origin, look)
        reader.find("picture").is_displayed()
        reader.wait_for(partial(is_shown, is_dark))
        reader.ask("document.documentElement.dataset.theme = 'auto'")
        for theme, wanted in (("dark", True), ("light", False), ("auto", is_dark)):
            reader.ask(f"document.documentElement.dataset.theme = '{theme}'")
            reader.wait_for(partial(is_shown, wanted))


def test_paper_is_light_whatever_the_system_is(page: Served, reader: Reader) -> None:
    reader.open(page.origin, dataclasses.replace(DARK, medium=""))
    reader.wait_for(lambda: "dark" in str(reader.ask(SHOWN)))
    inks = colours(reader.printed())
    assert (TEAL in inks, ORANGE in inks) == (True, False)


def colours(pdf: bytes) -> set[tuple[int, ...]]:
    """Return the colours that a PDF file fills shapes with, as bytes of red, green and blue."""
    found = set()
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        with suppress(zlib.error):
            # its last byte may look like the line break before `endstream`
            drawn = zlib.decompressobj().decompress(packed)
            for numbers in re.findall(rb"([\d.]+ [\d.]+ [\d.]+) rg\b", drawn):
                found.add(tuple(round(float(number) * 255) for number in numbers.split()))
    return found


def test_a_long_output_scrolls_until_it_is_opened(page: Served, reader: Reader) -> None:
    heights = (
        "const box = document.querySelector('.output-long'); return [box.clientHeight, box.scrollHeight]"
    )
    reader.open(page.origin)
    seen, whole = reader.ask(heights)
    assert seen < whole / 3
    reader.find(".output-more > summary").click()
    seen, whole = reader.ask(heights)
    assert seen == whole


# Boxes of code and of the output beside them, in whole pixels, and tables that are cut off.
BOXES = """
const width = (element) => Math.round(element.getBoundingClientRect().width);
const all = (selector) => [...document.querySelectorAll(selector)];
const cells = all(".post-content > .cell:has(> figure.code)");
const tables = all(".post-content > .cell .output-value > .table-wrap");
return {
  codes: [...new Set(all(".post-content > figure.code, .post-content > .cell > figure.code").map(width))],
  others: cells.flatMap(cell => [...cell.children].filter(child => width(child) !== width(cell))).length,
  cut: tables.filter(table => table.scrollWidth > table.clientWidth + 1).map(table => table.clientWidth),
};
"""


def test_code_has_two_widths_and_outputs_take_the_margin(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/posts/attention-in-tiles/"))
    found = reader.ask(BOXES)
    text, whole = sorted(found["codes"])
    assert whole > text * 1.3
    assert found["others"] == 0
    # This post has a table wider than text and margin.
    assert found["cut"]
    assert all(abs(width - whole) <= 1 for width in found["cut"])


# For each cell with a table: how far the table extends beyond its code, in pixels.
BEYOND = """
const right = element => element.getBoundingClientRect().right;
return [...document.querySelectorAll(".post-content > .cell:has(> figure.code):has(.table-wrap)")].map(cell =>
  Math.round(right(cell.querySelector(".table-wrap")) - right(cell.querySelector("figure.code"))));
"""


def test_a_table_that_takes_the_margin_takes_its_code_along(page: Served, reader: Reader) -> None:
    reader.open(page.url(""), dataclasses.replace(DESKTOP, width_px=1440))
    *others, wide = reader.ask(BEYOND)
    assert others and max(others) <= 0
    assert -1 <= wide <= 1
    figure, text = (reader.ask(WIDTH, selector) for selector in ("#cell-wide > figure.code", ".post-content"))
    assert figure > 1.3 * text


WIDTH = "return document.querySelector(arguments[0]).getBoundingClientRect().width"


# For highlighted lines: the part of the code box that the highlight does not cover, left and right, in
# pixels.
UNMARKED = """
return [...document.querySelectorAll("figure.code .line.hl")].flatMap(line => {
  const [mark, box] = [line, line.closest("pre")].map(element => element.getBoundingClientRect());
  return [mark.left - box.left, box.right - mark.right];
});
"""


def test_marks_of_lines_reach_both_edges_of_their_box(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/docs/code/"))
    unmarked = reader.ask(UNMARKED)
    assert unmarked
    assert max(map(abs, unmarked)) <= 0.5
    # Scroll bars below them have no track of their own, which would be white in Firefox.
    bar = reader.ask("return getComputedStyle(document.querySelector('pre')).scrollbarColor")
    assert bar.endswith(" rgba(0, 0, 0, 0)")
