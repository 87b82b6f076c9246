"""`make gallery`: our formulas next to KaTeX's, as a page and as images, for visual comparison.

    python -m tests.browser.gallery [FOLDER] [GROUP …] [--modules FOLDER] [--worst N]

FOLDER (default `.cache/gallery`) gets `index.html` and `<group>.png`. KaTeX's HTML is on the left, ours in
the middle, the TeX below. If Firefox is installed, ours as drawn by Firefox is on the right. The command
then lists the formulas whose ink differs most from KaTeX's, in em of the text at the same x-height. GROUP
names files of `gallery/` without their number. KaTeX comes from npm.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from PIL import Image

from .gallery_columns import EDGES, firefox_lines, join_columns
from .gallery_ink import BOXES, Box, Ink, Key, ink, outliers
from .gallery_page import write_page
from .gallery_text import Group, read_groups
from .reader import Look, Reader, reading
from .server import served

ROOT = Path(__file__).parents[2]
WIDTH_PX = 700
MAX_HEIGHT_PX = 1000
"""Maximum height of one image; a longer group gets several."""
SCALE = 2


def main(arguments: Sequence[str]) -> int:
    """Write the page and images, print the largest differences; return 1 if we reject a formula."""
    options = _options(arguments)
    groups = read_groups(tuple(options.groups))
    refused = write_page(options.folder, groups, options.modules)
    with (
        TemporaryDirectory() as scratch,
        served(options.folder) as origin,
        reading(Path(scratch) / "profile") as reader,
    ):
        url = f"{origin}/index.html"
        lines: dict[str, list[Image.Image]] = {}
        if which("firefox-esr") or which("firefox"):
            names = [group.name for group in groups]
            lines = firefox_lines(url, names, WIDTH_PX, SCALE, Path(scratch) / "firefox")
        theirs, ours = look(reader, url, groups, options.folder, lines)
    texts = {(group.name, n): tex for group in groups for n, tex in enumerate(_formulas(group))}
    for outlier in outliers(theirs, ours)[: options.worst]:
        name = " ".join(map(str, outlier.key))
        print(f"{outlier.distance:5.2f}  {name:14} {outlier.said:44} {texts[outlier.key]}")
    print("\n".join(["", *(f"refused: {line}" for line in refused)]))
    print(f"{len(texts)} formulas, {len(refused)} refused; see {options.folder / 'index.html'}")
    return 1 if refused else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.gallery", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".cache" / "gallery")
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument(
        "--modules", type=Path, default=ROOT / ".cache", help="what holds node_modules; .cache"
    )
    parser.add_argument("--worst", type=int, default=40, metavar="N", help="how many to list; by default 40")
    return parser.parse_args(arguments)


def _formulas(group: Group) -> list[str]:
    return [tex for line in group.lines for tex in line.formulas]


def look(
    reader: Reader,
    url: str,
    groups: Sequence[Group],
    folder: Path,
    others: Mapping[str, Sequence[Image.Image]],
) -> tuple[dict[Key, Ink], dict[Key, Ink]]:
    """Take the images; return the ink of each formula as drawn by KaTeX and by us.

    others: group → our half of each of its lines in another browser.
    """
    reader.open(url, Look(width_px=WIDTH_PX))
    reader.wait_for(lambda: reader.ask("return document.documentElement.dataset.ready"))
    found: dict[str, dict[Key, Ink]] = {"katex": {}, "ours": {}}
    for group in groups:
        boxes = [(row[0], row[1], Box(*row[2:])) for row in reader.ask(BOXES, group.name)]
        edges = reader.ask(EDGES, group.name)
        for part, (top, bottom) in enumerate(_parts(edges)):
            picture = _picture(reader, top, bottom)
            first, last = edges.index(top), edges.index(bottom)
            shown = picture
            if beside := list(others.get(group.name, ())[first:last]):
                ends = [round((edge - top) * SCALE) for edge in edges[first : last + 1]]
                shown = join_columns(picture, [b - a for a, b in pairwise(ends)], beside)
            shown.save(folder / (f"{group.name}-{part + 1}.png" if part else f"{group.name}.png"))
            for side, number, box in boxes:
                inside = top <= box.baseline < bottom
                if inside and (measured := ink(picture, SCALE, (0, top), box)):
                    found[side][group.name, number] = measured
    return found["katex"], found["ours"]


def _parts(edges: Sequence[float]) -> list[tuple[float, float]]:
    """Return top and bottom of each image of a section, cut between its lines."""
    start, *ends = edges
    parts = [(start, start)]
    for end in ends:
        top, bottom = parts[-1]
        if end - top > MAX_HEIGHT_PX and bottom > top:
            parts.append((bottom, end))
        else:
            parts[-1] = (top, end)
    return parts


def _picture(reader: Reader, top: float, bottom: float) -> Image.Image:
    clip = {"x": 0, "y": top, "width": WIDTH_PX, "height": bottom - top, "scale": SCALE}
    answer = reader.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    return Image.open(io.BytesIO(base64.b64decode(answer["data"])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
