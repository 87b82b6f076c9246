"""The math font: symbols printed by a site, the subset with them, and the full font of theme paper."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import Row, open_site_cache, read_or_make
from blogsmith.model.template_views import PageView
from blogsmith.model.texts import PageText
from blogsmith.site.math_font import (
    COMMON,
    MAX_SHARED_SYMBOLS,
    MathFonts,
    fonts_of,
    page_signs,
    subset_font,
)
from blogsmith.stages import fonts as fonts_module
from blogsmith.stages.fonts import FontError, cut_font
from blogsmith.tex.mathml.signs import find_formula_characters, join_characters, split_characters
from tests.cached_rows import change_row, row_names
from tests.rows import each_row
from tests.site_files import build, printed
from tests.theme_pages import BARE, ROOT

FONTS = ROOT / "themes" / "paper" / "fonts"
WHOLE = FONTS / "stix-two-math.woff"


def math(*signs: str) -> str:
    return f"<p>Text Ж</p><math><mo>{''.join(signs)}</mo></math>"


def page(url: str, content: str) -> PageView:
    return replace(BARE, url=url, body=PageText.from_string(content), title_html="")


def math_fonts(pages: Sequence[PageView], folder: str, stem: str, digest: str) -> MathFonts:
    """Return the fonts of pages, by the symbols that they print."""
    return fonts_of({view.url: join_characters(page_signs(view)) for view in pages}, folder, stem, digest)


class TestSigns:
    @each_row(
        ("html", "expected"),
        [
            ("<math><mn>12</mn><mo>+</mo></math>", "12+"),
            ("é <math><mn>1</mn></math> ü <math display='block'><mn>2</mn></math> ñ", "12"),
            ("no formula", ""),
            # a letter alone is drawn slanted, also with a class; an upright one and a name are not
            ("<math><mi>x</mi><mi class='a'>α</mi><mi>h</mi></math>", "𝑥𝛼ℎ"),
            ('<math><mi mathvariant="normal">x</mi><mi>sin</mi></math>', "xsin"),
            ("<math><mo>&lt;</mo><mo>&#x2264;</mo><mtext>a&nbsp;b</mtext></math>", "<≤ab\u00a0"),
            ('<math alttext="\\int Ω"><mo title="Ж">=</mo></math>', "="),
            ("<math>\n <mn>\n7</mn>\t</math>", "7 "),
            ("<math><mo>\u2061</mo><mo>\u0007</mo></math>", "\u2061"),
        ],
    )
    def test_what_formulas_print(self, html: str, expected: str) -> None:
        assert find_formula_characters([html]) == frozenset(expected)

    def test_a_selector_belongs_to_its_letter(self) -> None:
        assert find_formula_characters(["<math><mi>𝒜\ufe01ℬ</mi></math>"]) == {"𝒜\ufe01", "ℬ"}

    @given(st.frozensets(st.from_regex("[^\ufe00-\ufe0f][\ufe00-\ufe0f]?", fullmatch=True)))
    def test_as_one_text(self, signs: frozenset[str]) -> None:
        assert split_characters(join_characters(signs)) == signs


class TestFontsOfASite:
    def test_none_without_formulas(self) -> None:
        fonts = math_fonts([page("/a/", "<p>x</p>")], "/f", "m", "d")
        assert (fonts.shared, fonts.cuts()) == (None, ())
        assert fonts.apply_to(BARE) is BARE

    def test_one_for_all_pages(self) -> None:
        pages = [page("/a/", math("⊎")), page("/b/", math("⊍")), page("/c/", "no formula")]
        fonts = math_fonts(pages, "/base/f", "m", "d")
        assert fonts.shared is not None and {"⊎", "⊍"} | COMMON == set(fonts.shared.signs)
        assert {fonts.apply_to(p).math_font for p in pages} == {f"/base/f/{fonts.shared.name}"}

    def test_titles_count(self) -> None:
        fonts = math_fonts([replace(BARE, title_html=math("⊎"), description_html=math("⊍"))], "/f", "m", "d")
        assert fonts.shared is not None and {"⊎", "⊍"} <= set(fonts.shared.signs)

    def test_a_page_with_very_many_signs_has_its_own(self) -> None:
        many = [chr(code) for code in range(0x4E00, 0x4E00 + MAX_SHARED_SYMBOLS)]
        pages = [page("/all/", math(*many)), page("/a/", math("⩴"))]
        fonts = math_fonts(pages, "/f", "m", "d")
        names = [fonts.apply_to(p).math_font for p in pages]
        assert fonts.shared is not None and len(fonts.shared.signs) == len(COMMON) + 1
        assert names[1] == f"/f/{fonts.shared.name}" and names[0] != names[1]
        own = next(cut for cut in fonts.cuts() if cut.name in names[0])
        assert set(own.signs) == {*COMMON, *many, "⩴"}

    def test_common_signs_change_no_address(self) -> None:
        before = math_fonts([page("/", math("+"))], "/f", "m", "d")
        after = math_fonts([page("/", math("+∑∫𝛼"))], "/f", "m", "d")
        assert before == after

    def test_other_signs_or_another_font_change_it(self) -> None:
        names = {subset_font(signs, "m", digest).name for signs in ("ab", "abc") for digest in ("d", "e")}
        assert len(names) == 4


@pytest.fixture(scope="module")
def whole() -> bytes:
    return WHOLE.read_bytes()


def opened(data: bytes) -> Any:
    return TTFont(BytesIO(data))


class TestCut:
    def test_same_signs_same_bytes(self, whole: bytes) -> None:
        first = cut_font(whole, ("𝑥", "√", "∑"))
        assert first == cut_font(whole, ("∑", "√", "𝑥"))
        assert first[:4] == b"wOF2" and len(first) < 8_000

    def test_it_holds_what_was_asked_for(self, whole: bytes) -> None:
        font = opened(cut_font(whole, ("𝑥", "√", "∑", "→")))
        assert set(font.getBestCmap()) == set(map(ord, "𝑥√∑→"))
        variants = font["MATH"].table.MathVariants
        taller = set(variants.VertGlyphCoverage.glyphs)
        assert {font.getBestCmap()[ord(sign)] for sign in "√∑"} <= taller
        assert font.getBestCmap()[ord("→")] in variants.HorizGlyphCoverage.glyphs
        assert font["MATH"].table.MathConstants.RadicalRuleThickness.Value > 0
        assert font["name"].getDebugName(14) == "https://scripts.sil.org/OFL"

    def test_signs_the_font_lacks_are_left_out(self, whole: bytes) -> None:
        assert set(opened(cut_font(whole, ("x", "漢"))).getBestCmap()) == {ord("x")}

    def test_roundhand_only_where_it_is_asked_for(self, whole: bytes) -> None:
        plain, both = cut_font(whole, ("𝒜", "ℬ")), cut_font(whole, ("𝒜", "𝒜\ufe01", "ℬ"))
        assert [table for table in opened(plain)["cmap"].tables if table.format == 14] == []
        selected = next(table for table in opened(both)["cmap"].tables if table.format == 14)
        assert {key: [code for code, _ in pairs] for key, pairs in selected.uvsDict.items()} == {
            0xFE01: [ord("𝒜")]
        }

    @each_row("cut", [0, 3, 40, 5_000, 200_000])
    def test_a_damaged_font_is_a_problem(self, whole: bytes, cut: int) -> None:
        with pytest.raises(FontError):
            cut_font(whole[:cut], ("x",))

    def test_a_font_of_letters_is_a_problem(self) -> None:
        builder = FontBuilder(1000)
        builder.setupGlyphOrder([".notdef"])
        builder.setupCharacterMap({})
        made = BytesIO()
        builder.save(made)
        with pytest.raises(FontError, match="no MATH table"):
            cut_font(made.getvalue(), ("x",))


class TestKept:
    def test_made_once(self, tmp_path: Path) -> None:
        calls: list[int] = []

        def make() -> bytes:
            calls.append(1)
            return b"dear"

        assert [read_or_make(tmp_path, "fonts", "a", make) for _ in range(3)] == [b"dear"] * 3
        assert len(calls) == 1

    @pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 36, b"y" * 400])
    def test_what_is_damaged_is_made_again(self, tmp_path: Path, damage: bytes) -> None:
        read_or_make(tmp_path, "fonts", "a", lambda: b"dear")
        change_row(tmp_path, "fonts", "a", Row("another digest", damage))
        assert read_or_make(tmp_path, "fonts", "a", lambda: b"dear") == b"dear"
        assert read_or_make(tmp_path, "fonts", "a", lambda: b"never made") == b"dear"

    def test_a_folder_that_cannot_be_is_no_matter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "cache").write_text("in the way")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        assert read_or_make(tmp_path, "fonts", "a", lambda: b"dear") == b"dear"

    def test_old_ones_go(self, tmp_path: Path) -> None:
        for number in range(13):
            read_or_make(tmp_path, "fonts", str(number), lambda: b"x", spare=8)
        # the one that is in use, and the youngest of the others
        assert row_names(tmp_path, "fonts") == {str(number) for number in range(4, 13)}

    def test_two_builds_at_once(self, tmp_path: Path) -> None:
        barrier, found = threading.Barrier(4), []

        def make() -> bytes:
            barrier.wait(timeout=60)
            return b"dear" * 1000

        def work() -> None:
            found.append(read_or_make(tmp_path, "fonts", "a", make))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [b"dear" * 1000] * 4
        assert row_names(tmp_path, "fonts") == {"a"}
        assert cache_path(tmp_path).is_file()


def site(root: Path, **posts: str) -> Path:
    (root / "content" / "posts").mkdir(parents=True, exist_ok=True)
    (root / "blogsmith.yaml").write_text("title: Test\n")
    for name, text in posts.items():
        (root / "content" / "posts" / f"{name}.md").write_text(f"---\ntitle: {name}\n---\n\n{text}\n")
    return root


def built(root: Path) -> dict[str, bytes]:
    report = build(root)
    assert report.ok, printed(report)
    public = root / "public"
    return {str(file.relative_to(public)): file.read_bytes() for file in public.rglob("*") if file.is_file()}


def fonts_in(files: dict[str, bytes]) -> list[str]:
    """Return the fonts for formulas."""
    return [path for path in files if path.endswith(".woff2") and "/paper-" not in path]


class TestBuild:
    def test_a_page_points_at_its_font(self, tmp_path: Path) -> None:
        files = built(site(tmp_path, a="$x \\uplus y$", b="Words."))
        (name,) = fonts_in(files)
        html = files["posts/a/index.html"].decode()
        assert f'<link rel="preload" as="font" type="font/woff2" crossorigin href="/{name}">' in html
        style = re.search(r'<link rel="stylesheet" href="/(assets/paper/posts-[^"]+)">', html)
        assert style
        face = files[style[1]].decode()
        assert 'font-family:"Site Math"' in face and f"fonts/{Path(name).name}" in face
        assert "<style" not in html
        assert name not in files["posts/b/index.html"].decode()
        assert {ord("⊎"), ord("𝑥")} <= set(opened(files[name]).getBestCmap())
        assert "assets/paper/fonts/OFL.txt" in files

    def test_simple_sites_take_the_ready_cut(self, tmp_path: Path) -> None:
        files = built(site(tmp_path, a="$\\sum_i x_i^2 \\le \\frac{\\alpha}{2}$"))
        (name,) = fonts_in(files)
        assert (FONTS / Path(name).name).read_bytes() == files[name]
        with open_site_cache(tmp_path) as cache:
            assert not cache.rows("fonts")

    def test_no_font_without_formulas(self, tmp_path: Path) -> None:
        files = built(site(tmp_path, a="Words."))
        assert fonts_in(files) == []
        assert "stix" not in files["posts/a/index.html"].decode()

    def test_again_is_as_from_scratch(self, tmp_path: Path) -> None:
        first = built(site(tmp_path / "one", a="$a \\uplus b$"))
        again = built(site(tmp_path / "one", a="$a \\uplus b \\sqcap c$"))
        fresh = built(site(tmp_path / "two", a="$a \\uplus b \\sqcap c$"))
        assert again == fresh and fonts_in(first) != fonts_in(again)
        assert len(fonts_in(again)) == 1

    def test_a_damaged_keep_changes_nothing(self, tmp_path: Path) -> None:
        first = built(site(tmp_path, a="$a \\uplus b$"))
        (name,) = row_names(tmp_path, "fonts")
        change_row(tmp_path, "fonts", name, Row("another digest", b"damaged"))
        assert built(tmp_path) == first

    def test_check_cuts_nothing(self, tmp_path: Path) -> None:
        assert build(site(tmp_path, a="$a \\uplus b$"), write=False).ok
        with open_site_cache(tmp_path) as cache:
            assert not cache.rows("fonts")

    def test_without_the_tools_the_whole_font_goes_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("blogsmith.stages.fonts.can_subset", lambda: False)
        files = built(site(tmp_path, a="$a \\uplus b$"))
        (name,) = fonts_in(files)
        assert files[name] == WHOLE.read_bytes()

    def test_the_tools_are_here(self) -> None:
        assert fonts_module.can_subset()


class TestOwnFont:
    """A theme with its own font."""

    def theme(self, root: Path, line: str, data: bytes = b"") -> Path:
        folder = site(root, a="$a \\uplus b$") / "themes" / "mine"
        folder.mkdir(parents=True)
        (folder / "theme.yaml").write_text(f"name: mine\nextends: paper\n{line}\n")
        (folder / "own.woff").write_bytes(data)
        (root / "blogsmith.yaml").write_text("title: Test\ntheme: mine\n")
        return root

    def test_it_is_cut(self, tmp_path: Path, whole: bytes) -> None:
        files = built(self.theme(tmp_path, "math_font: own.woff", whole))
        (name,) = fonts_in(files)
        assert name.startswith("assets/mine/fonts/own-")
        assert ord("⊎") in opened(files[name]).getBestCmap()

    def test_else_it_has_its_parents(self, tmp_path: Path) -> None:
        (name,) = fonts_in(built(self.theme(tmp_path, "")))
        assert name.startswith("assets/mine/fonts/stix-two-math-")

    @pytest.mark.parametrize("path", ["missing.woff", "../../blogsmith.yaml", "."])
    def test_a_path_that_leads_nowhere(self, tmp_path: Path, path: str) -> None:
        report = build(self.theme(tmp_path, f"math_font: {path}"))
        assert f'error: theme file not found: "{path}" [theme-value]' in printed(report)

    def test_no_font(self, tmp_path: Path) -> None:
        report = build(self.theme(tmp_path, "math_font: own.woff", b"no font"))
        said = printed(report)
        assert 'error: math font "own.woff" of theme "mine" cannot be subset: ' in said and not report.ok
        assert not (tmp_path / "public").exists()


@pytest.fixture(scope="module")
def font() -> Any:
    return TTFont(WHOLE)


class TestPaper:
    """STIX Two Math as shipped with theme paper."""

    def test_the_ready_cut_is_up_to_date(self, whole: bytes) -> None:
        cut = subset_font(COMMON, WHOLE.stem, hashlib.sha256(whole).hexdigest())
        assert [file.stem for file in FONTS.glob("stix*.woff2")] == [cut.name], (
            "run themes/paper/fonts/make.py"
        )
        ready = FONTS / f"{cut.name}.woff2"
        assert set(TTFont(ready).getBestCmap()) == set(map(ord, COMMON)) & set(opened(whole).getBestCmap())
        assert ready.stat().st_size <= 30_500

    def test_licence(self) -> None:
        text = (ROOT / "themes" / "paper" / "static" / "fonts" / "OFL.txt").read_text()
        assert "SIL OPEN FONT LICENSE Version 1.1" in text

    def test_as_many_signs_as_pages_share_stay_small(self, whole: bytes, font: Any) -> None:
        others = [chr(code) for code in sorted(font.getBestCmap()) if 0x2190 <= code < 0x2B00]
        signs = [*COMMON, *(sign for sign in others if sign not in COMMON)][:MAX_SHARED_SYMBOLS]
        assert len(signs) == MAX_SHARED_SYMBOLS
        assert len(cut_font(whole, signs)) <= 62_000

    def test_what_must_stretch_can(self, font: Any) -> None:
        names, variants = font.getBestCmap(), font["MATH"].table.MathVariants
        tall, wide = variants.VertGlyphCoverage.glyphs, variants.HorizGlyphCoverage.glyphs
        assert [s for s in "()[]{}|‖⟨⟩⌈⌉⌊⌋⟦⟧/∑∏∫√↑⇓" if names[ord(s)] not in tall] == []
        signs = "→←↔↦↠↪↩⇒⇐⇔⇌⇋⇄⇀↽=ˆ˜ˇ¯‾_⏞⏟⎴⎵⏜⏝"
        assert [s for s in signs if names[ord(s)] not in wide] == []

    @each_row("sign", "→←↔↦↠↪↩⇒⇐⇌⇋⇄=⇀⇔⏟‾_")
    def test_parts_of_arrows_overlap_enough_for_chromium(self, font: Any, sign: str) -> None:
        variants = font["MATH"].table.MathVariants
        index = variants.HorizGlyphCoverage.glyphs.index(font.getBestCmap()[ord(sign)])
        parts = variants.HorizGlyphConstruction[index].GlyphAssembly.PartRecords
        joints = [(a.EndConnectorLength, b.StartConnectorLength) for a, b in pairwise(parts)]
        assert min(min(pair) for pair in joints) >= variants.MinConnectorOverlap

    @each_row(
        ("signs", "way", "step", "longest"),
        [
            ("ˆ˜ˇ", "Horiz", 1.21, 6000),
            ("‾¯_⎴⎵", "Horiz", 1.08, 1800),
            ("⏞⏟⏜⏝", "Horiz", 1.08, 2500),
            ("→⇌", "Horiz", 1.13, 3500),
            ("|‖∣∥", "Vert", 1.14, 3500),
            ("()[]{}⌈⌉⌊⌋", "Vert", 1.18, 5000),
            ("⟨⟩⟦⟧", "Vert", 1.18, 3800),
            ("√", "Vert", 1.08, 3600),
            ("↑↓↕⇑⇓⇕⎰⎱⟮⟯/\\", "Vert", 1.16, 3500),
        ],
    )
    def test_sizes_follow_in_small_steps(
        self, font: Any, signs: str, way: str, step: float, longest: int
    ) -> None:
        table = font["MATH"].table.MathVariants
        names = getattr(table, f"{way}GlyphCoverage").glyphs
        for sign in signs:
            index = names.index(font.getBestCmap()[ord(sign)])
            records = getattr(table, f"{way}GlyphConstruction")[index].MathGlyphVariantRecord
            sizes = [record.AdvanceMeasurement for record in records]
            assert sizes == sorted(sizes) and sizes[-1] >= longest
            assert max(large / small for small, large in pairwise(sizes[1:])) <= step

    def test_a_root_is_as_wide_as_its_sign(self, font: Any) -> None:
        variants = font["MATH"].table.MathVariants
        root = font.getBestCmap()[ord("√")]
        construction = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
        names = [record.VariantGlyph for record in construction.MathGlyphVariantRecord]
        names += [part.glyph for part in construction.GlyphAssembly.PartRecords]
        assert {font["hmtx"][name][0] for name in names} == {font["hmtx"][root][0]}

    def test_chromium_sees_all_sizes(self, font: Any) -> None:
        variants = font["MATH"].table.MathVariants
        rows = [*variants.VertGlyphConstruction, *variants.HorizGlyphConstruction]
        assert max(len(row.MathGlyphVariantRecord) for row in rows) <= 20

    @each_row("sign", "()[]{}⟨⟩⌈⌉⌊⌋⟦⟧√|‖/\\↑⇕⎰⟮")
    def test_chromium_makes_no_more_room_than_a_small_form_takes(self, font: Any, sign: str) -> None:
        name, variants = font.getBestCmap()[ord(sign)], font["MATH"].table.MathVariants
        row = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(name)]
        forms = [record.VariantGlyph for record in row.MathGlyphVariantRecord[1:]]
        forms += [part.glyph for part in row.GlyphAssembly.PartRecords] if row.GlyphAssembly else []
        (room,) = {font["hmtx"][form][0] for form in forms}
        assert room <= font["hmtx"][name][0] * (1.3 if sign in "/\\" else 1.16)

    @each_row("sign", "([{⟨⌈⌊)]}⟩⌉⌋")
    def test_large_brackets_stand_as_near_as_small_ones(self, font: Any, sign: str) -> None:
        name, variants = font.getBestCmap()[ord(sign)], font["MATH"].table.MathVariants
        row = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(name)]
        for record in row.MathGlyphVariantRecord:
            glyph, room = font["glyf"][record.VariantGlyph], font["hmtx"][record.VariantGlyph][0]
            inner = room - glyph.xMax if sign in "([{⟨⌈⌊" else glyph.xMin
            assert 20 <= inner <= 61, record.VariantGlyph

    def test_a_brace_over_one_letter_is_no_blot(self, font: Any) -> None:
        glyph = font["glyf"][font.getBestCmap()[ord("⏞")]]
        assert glyph.xMax - glyph.xMin >= 1100

    def test_scripts_of_letters_share_a_line(self, font: Any) -> None:
        names, constants = font.getBestCmap(), font["MATH"].table.MathConstants
        # Chromium rounds a letter's depth up to whole pixels
        some = 1000 / 18 / 2
        deepest = max(-font["glyf"][names[ord(letter)]].yMin for letter in "𝑓𝑔𝑗𝑝𝑞𝑦𝛽𝜇𝜌𝜓)]}")
        assert constants.SubscriptShiftDown.Value >= deepest + some + constants.SubscriptBaselineDropMin.Value
        highest = max(font["glyf"][names[ord(letter)]].yMax for letter in "𝑏𝑑𝑓ℎ𝑘𝑙𝛽𝜃𝐴𝑇)]}")
        assert constants.SuperscriptShiftUp.Value >= highest - constants.SuperscriptBaselineDropMax.Value

    def test_both_scripts(self, font: Any) -> None:
        selected = next(table for table in font["cmap"].tables if table.format == 14).uvsDict
        assert set(map(ord, "𝒜ℬ𝒵𝒶ℯ𝓏")) <= {code for code, _ in selected[0xFE01]}
        assert ord("∅") in {code for code, _ in selected[0xFE00]}

    def test_primes_are_as_large_as_scripts_need_them(self, font: Any) -> None:
        glyph = font["glyf"][font.getBestCmap()[ord("′")]]
        assert (glyph.yMin, glyph.yMax) == (0, 520)

    def test_every_sign_of_the_common_ones_is_there(self, font: Any) -> None:
        missing = {sign for sign in COMMON if ord(sign) not in font.getBestCmap()}
        assert missing <= {"\u2061"}
