"""The formulas of `same_formulas.txt`, and more tables, in a PDF by Typst and in Chromium, side by side.

    python -m tests.browser.paper_formulas [FOLDER] [--worst N]

FOLDER (default `.cache/paper-formulas`) gets `sheet-<n>.png`: the N formulas whose ink differs most, in
Chromium on the left and in the PDF on the right, with the name of each in the list that the command prints.
Each formula is a display in a column of the same width and the same font size. The images come from
`pdftoppm` of poppler.
"""

from __future__ import annotations

import argparse
import datetime as dt
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw

from blogsmith.api.books import BuildOptions
from blogsmith.paper.site_paper import make_paper
from tests.site_files import put

from .reader import Reader, reading
from .server import served
from .test_same_formulas import FORMULAS, RATIO, WIDTH_PX, compare, draw, shares
from .test_two_browsers import open_page
from .two_browsers import build_page, take_on

NOW = dt.datetime(2026, 7, 1, tzinfo=dt.UTC)
TEMPLATE = """#import "functions.typ": *
#let template(document) = {{
  show: base.with(document)
  set page(width: {width}pt, height: 600pt, margin: (x: 12pt, y: 60pt))
  set text(size: {size}pt)
  show heading: pagebreak(weak: true)
  document.chapters.first().body
}}
"""
TABLES = (
    r"\begin{array}{rl} \multicolumn{2}{c}{A} \\ 1 & 2 \\ 333 & 444 \end{array}",
    r"\begin{array}{|c|c|} \hline \multicolumn{2}{|c|}{a + b + c + d} \\ \hline 1 & 2 \\ \hline \end{array}",
    r"\left[\begin{array}{cc|c} 1 & 2 & \frac{3}{4} \\ 4 & 5 & 6 \\ \hline 1 & 2 & 3 \end{array}\right]",
    r"\begin{array}{c:c||r} a & b & c \\ \cline{2-3} 1 & 2 & 3 \end{array}",
    r"\begin{align*} a &= b + c & x &= y \\ \intertext{and} c^2 &= d & u &= v \end{align*}",
    r"\begin{alignat*}{2} x &= y & \quad z &= w \\ 10 & x + & 3 & y = 2 \end{alignat*}",
    r"\eval{\frac{f(x)}{2}}_0^1",
    r"\binom{n}{2}^{\!-1} + {a \brack b}",
    r"x_{\boxed{b}}^{\left(\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}\right)}",
    r"\phase{x} + \longdiv{y}",
)
TEXTS = (*FORMULAS, *TABLES)
POINTS = 72
ROWS = 12
"""Formulas of one image."""
Pair = tuple[Image.Image, Image.Image]
"""Ink in Chromium and in the PDF: grey, white where there is most."""


def chromium_ink(
    folder: Path, reader: Reader, texts: Sequence[str]
) -> tuple[list[Image.Image], float, float]:
    """Return the ink of each formula, the font size and the width of the column in CSS pixels."""
    with served(build_page(folder, texts)) as origin:
        open_page(reader, origin)
        take_on(reader, WIDTH_PX, RATIO)
        script = (
            "const display = document.querySelector('.math-display');"
            "const style = getComputedStyle(display.querySelector('math'));"
            "return [parseFloat(style.fontSize), display.clientWidth]"
        )
        size, width = reader.ask(script)
        return [one.ink for one in draw(reader, texts, texts) if one.ink], size, width


def paper_ink(folder: Path, texts: Sequence[str], size: float, width: float) -> list[Image.Image]:
    """Return the ink of each formula on a page of its own."""
    post = "---\ntitle: Formulas\n---\n" + "".join(f"## f\n\n$$\n{tex}\n$$\n\n" for tex in texts)
    put(folder, {"blogsmith.yaml": "title: F\nmath: {packages: [physics]}\n", "content/posts/f.md": post})
    template = folder / "pages.typ"
    template.write_text(TEMPLATE.format(width=width + 24, size=size))
    made = make_paper(folder, ("content/posts/f.md",), BuildOptions(now=NOW), template=str(template))
    assert not made.warnings, made.warnings
    (folder / "f.pdf").write_bytes(made.data)
    # a point of the PDF is a CSS pixel of the page
    command = ["pdftoppm", "-gray", "-r", str(POINTS * RATIO), "f.pdf", "f"]
    subprocess.run(command, cwd=folder, check=True)
    return [_ink(Image.open(file)) for file in sorted(folder.glob("f-*.pgm"))]


def _ink(image: Image.Image) -> Image.Image:
    grey = image.point(lambda level: 255 - level)
    return grey.crop(grey.point(lambda level: 255 * (level > 96)).getbbox())


def pairs(folder: Path, reader: Reader, texts: Sequence[str] = TEXTS) -> Mapping[str, Pair]:
    """Return the ink of each formula in both."""
    shown, size, width = chromium_ink(folder / "page", reader, texts)
    printed = paper_ink(folder / "paper", texts, size, width)
    return dict(zip(texts, zip(shown, printed, strict=True), strict=True))


def sheets(found: Sequence[tuple[str, Pair]]) -> Iterator[Image.Image]:
    """Yield images with formulas side by side."""
    for first in range(0, len(found), ROWS):
        part = found[first : first + ROWS]
        half = max(ink.width for _, pair in part for ink in pair) + 40
        heights = [max(ink.height for ink in pair) + 60 for _, pair in part]
        sheet = Image.new("L", (2 * half, sum(heights)), 255)
        top = 0
        for number, ((_, pair), height) in enumerate(zip(part, heights, strict=True), first + 1):
            for column, ink in enumerate(pair):
                sheet.paste(ink.point(lambda level: 255 - level), (20 + column * half, top + 40))
            ImageDraw.Draw(sheet).text((4, top + 4), str(number), fill=90, font_size=28)
            top += height
        yield sheet.resize((sheet.width // 2, sheet.height // 2))


def main(arguments: Sequence[str]) -> int:
    """Write the images and print the list."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.paper_formulas")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(".cache/paper-formulas"))
    parser.add_argument("--worst", type=int, default=36, metavar="N")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name, reading(Path(name) / "profile") as reader:
        found = pairs(Path(name), reader)
    ordered = sorted(found.items(), key=lambda item: -max(shares(*item[1])))
    for number, (tex, pair) in enumerate(ordered[: options.worst], 1):
        print(f"{number:3} {' '.join(f'{share:.2f}' for share in shares(*pair))} {compare(*pair):40} {tex}")
    for number, sheet in enumerate(sheets(ordered[: options.worst]), 1):
        sheet.save(options.folder / f"sheet-{number}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
