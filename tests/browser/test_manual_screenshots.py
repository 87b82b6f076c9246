"""The screenshots of the manual show what blogsmith shows now; `make screenshots` makes them again."""

from __future__ import annotations

import re

import pytest
from PIL import Image, ImageChops, ImageStat

from tests.docs_fill import DOCS

from .conftest import Served
from .manual_screenshots import FIGURES, MAX_BYTES, SCHEMES, SHOTS, file, take
from .reader import Reader

MOST = 10
"""Largest difference of a tile, of 255. The same page has 1, a missing file name above code 14."""
TILES = (24, 16)
"""Columns and rows of tiles, large enough to blur single letters."""


def tiles(image: Image.Image) -> Image.Image:
    """Return the image reduced to one gray pixel per tile."""
    return image.convert("L").resize(TILES, Image.Resampling.BOX)


@pytest.mark.parametrize("name", SHOTS)
def test_a_screenshot_is_current(name: str, own_site: Served, reader: Reader) -> None:
    """If this fails, run `make screenshots`, and check the images."""
    new = take(name, "light", reader, own_site.origin)
    with Image.open(file(name, "light")) as old:
        assert old.size == new.size
        difference = ImageChops.difference(tiles(old), tiles(new))
    assert ImageStat.Stat(difference).extrema[0][1] <= MOST


def test_another_page_is_not_taken_for_the_same() -> None:
    with (
        Image.open(file("theme-paper", "light")) as one,
        Image.open(file("theme-terminal", "light")) as other,
    ):
        difference = ImageChops.difference(tiles(one), tiles(other.resize(one.size)))
    assert ImageStat.Stat(difference).extrema[0][1] > MOST


def test_every_screenshot_is_small_and_in_use() -> None:
    names = {f"{name}-{scheme}.webp" for name in SHOTS for scheme in SCHEMES}
    assert {path.name for path in FIGURES.glob("*.webp")} == names
    assert max((FIGURES / name).stat().st_size for name in names) <= MAX_BYTES
    files = (*DOCS.glob("*.md"), DOCS.parent / "gallery.md")
    pages = "".join(page.read_text("utf-8") for page in files)
    image = r"^!\[(.+)\]\((?:docs/)?figures/([\w-]+\.webp)#only-(?:light|dark)(?: \".+\")?\)$"
    shown = re.findall(image, pages, re.MULTILINE)
    assert {name for _, name in shown} == names
    assert all(len(alt) > 40 for alt, _ in shown)
