"""The third column of the gallery: our formulas as drawn by Firefox, line by line beside Chromium's."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from PIL import Image

from .firefox import firefox

# The top of the section and the bottom of each of its lines, in page coordinates.
EDGES = """
const section = document.getElementById(arguments[0]);
const ends = [...section.querySelectorAll(".line")].map(line => line.getBoundingClientRect().bottom);
return [section.getBoundingClientRect().top, ...ends].map(edge => edge + scrollY);
"""


def firefox_lines(
    url: str, groups: Sequence[str], width_px: int, scale: int, profile: Path
) -> dict[str, list[Image.Image]]:
    """Return the right half of each line of each group, which is ours. The first line includes the title."""
    found: dict[str, list[Image.Image]] = {}
    with firefox(profile) as browser:
        browser.resize(width_px, 900, scale)
        browser.open(url)
        for name in groups:
            edges = browser.ask(EDGES, name)
            found[name] = [
                _image(browser.picture(width_px / 2, top, width_px / 2, bottom - top))
                for top, bottom in pairwise(edges)
            ]
    return found


def join_columns(picture: Image.Image, heights: Sequence[int], lines: Sequence[Image.Image]) -> Image.Image:
    """Return Chromium's image of some lines with Firefox's on its right.

    heights: heights of the lines in `picture`. lines: Firefox's lines, as many; a taller one moves all
    following lines down.
    """
    width = picture.width + max((line.width for line in lines), default=0)
    rows = [max(height, line.height) for height, line in zip(heights, lines, strict=True)]
    joined = Image.new("RGB", (width, sum(rows)), "white")
    source = target = 0
    for height, line, row in zip(heights, lines, rows, strict=True):
        joined.paste(picture.crop((0, source, picture.width, source + height)), (0, target))
        joined.paste(line, (picture.width, target))
        source, target = source + height, target + row
    return joined


def _image(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")
