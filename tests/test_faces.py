"""The text fonts of theme paper: their files, their use in pages, and how to disable them."""

from __future__ import annotations

import hashlib
import re
import string
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from msgspec.structs import replace

from blogsmith.render.templates.theme import Theme
from blogsmith.stages.fonts import FontError, cut_font

from .theme_pages import BARE, FULL, ROOT, SITE, load_paper

STATIC = ROOT / "themes" / "paper" / "static"
ROMAN, RARE, ITALIC, BOLD_ITALIC, CAPS = (
    STATIC / "fonts" / f"paper-serif{part}.woff2"
    for part in ("", "-rare", "-italic", "-bold-italic", "-caps")
)
MOST_BYTES = 20_000
LETTERS = "Łódź, Škoda, Ångström, Gödel, Çelik, Đorđe, Œuvre, Şişli, Þór, Ňu, Țară “a” ‘b’ — – … † € ﬁ"
SYSTEM = replace(SITE, options={"font": "system"})


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Theme:
    return load_paper(tmp_path_factory.mktemp("site"))


def features(file: Path, table: str) -> set[str]:
    """Return the features in the table of a font."""
    records = TTFont(file)[table].table.FeatureList.FeatureRecord
    return {record.FeatureTag for record in records}


def letters(*files: Path) -> set[int]:
    """Return the code points that any of the fonts has."""
    return {code for file in files for code in TTFont(file).getBestCmap()}


@pytest.mark.parametrize("file", sorted((STATIC / "fonts").glob("*.woff2")), ids=lambda file: file.stem)
class TestFiles:
    """The content of each font file."""

    def test_it_is_small(self, file: Path) -> None:
        assert file.stat().st_size <= MOST_BYTES

    def test_its_name_is_not_the_one_that_its_licence_reserves(self, file: Path) -> None:
        names = TTFont(file)["name"]
        assert [names.getDebugName(number).split()[0] for number in (1, 4)] == ["Paper", "Paper"]
        assert "Source" not in names.getDebugName(6)
        assert "Reserved Font Name" in names.getDebugName(0)


@pytest.mark.parametrize("file", [ROMAN, ITALIC, BOLD_ITALIC], ids=lambda file: file.stem)
def test_text_has_kerning_and_figures_of_every_form(file: Path) -> None:
    assert {"onum", "lnum", "tnum", "pnum", "liga"} <= features(file, "GSUB")
    assert "kern" in features(file, "GPOS")


@pytest.mark.parametrize("files", [(ROMAN, RARE), (ITALIC,), (BOLD_ITALIC,)])
def test_text_has_the_letters_of_latin_scripts(files: tuple[Path, ...]) -> None:
    signs = {chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x100))} | set(LETTERS)
    assert {ord(sign) for sign in signs} <= letters(*files)


def test_pages_load_rare_letters_only_where_they_have_some() -> None:
    """The first font has all letters of Latin-1; `unicode-range` of the second one names what it has."""
    assert set(range(0xC0, 0x100)) <= letters(ROMAN)
    (written,) = re.findall(
        r"paper-serif-rare[^}]+unicode-range: ([^;]+)", (STATIC / "faces.css").read_text("utf-8")
    )
    bounds = [part.removeprefix("U+").split("-") for part in written.split(", ")]
    named = {code for bound in bounds for code in range(int(bound[0], 16), int(bound[-1], 16) + 1)}
    # the fonts share parts of accented letters, and the space
    assert named <= letters(RARE) and letters(RARE) - named <= {0x20, 0xA0}
    assert not named & letters(ROMAN)


@pytest.mark.parametrize("file", [ROMAN, RARE], ids=lambda file: file.stem)
def test_it_has_the_weights_of_text_and_headings(file: Path) -> None:
    (axis,) = TTFont(file)["fvar"].axes
    assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", 400, 650)


def test_small_capitals_are_a_font_of_their_own() -> None:
    assert {"smcp", "c2sc"} <= features(CAPS, "GSUB")
    assert letters(CAPS) == set(map(ord, string.ascii_letters))


def test_the_licence_goes_out_with_the_faces() -> None:
    text = (STATIC / "fonts" / "OFL-paper-serif.txt").read_text("utf-8")
    assert "Adobe" in text and "SIL OPEN FONT LICENSE Version 1.1" in text


def test_the_style_sheet_names_the_files_as_they_are(paper: Theme) -> None:
    sheet = (STATIC / "faces.css").read_text("utf-8")
    files = (ROMAN, RARE, ITALIC, BOLD_ITALIC, CAPS, CAPS)
    addresses = [f"fonts/{file.name}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:8]}" for file in files]
    assert re.findall(r'url\("([^"]+)"\)', sheet) == addresses
    # the page requests the same URL; another one would be loaded twice
    assert f'href="/b/assets/paper/{addresses[0]}"' in paper.render("post", FULL, SITE)


def test_the_roman_alone_is_loaded_early(paper: Theme) -> None:
    preloads = re.findall(r'<link rel="preload"[^>]*paper-serif[^>]*>', paper.render("page", BARE, SITE))
    assert len(preloads) == 1
    assert 'as="font" type="font/woff2" crossorigin' in preloads[0]


def test_a_site_may_do_without(paper: Theme) -> None:
    html = paper.render("post", FULL, SYSTEM)
    assert "paper-serif" not in html
    assert "faces.css" not in html and "serif.css" not in html


def test_a_text_face_is_no_math_font() -> None:
    with pytest.raises(FontError, match="MATH"):
        cut_font(ROMAN.read_bytes(), "x")
