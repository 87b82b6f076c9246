"""Social cards: which pages have one, its content, a valid image, and no duplicate drawing."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from unittest.mock import patch

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from msgspec.structs import replace
from PIL import Image, ImageFont, features

from blogsmith.config.schema import Config
from blogsmith.languages.language import Language
from blogsmith.languages.tags import Direction
from blogsmith.model.social_cards import HEIGHT_PX, WIDTH_PX, CardStyle, SocialCard, card_name
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from blogsmith.site.cards.drawing import _TitleMetrics, draw_card
from blogsmith.site.cards.faces import drawn_faces, find_faces, list_fonts
from blogsmith.site.cards.fonts import CardFonts, missing_characters
from blogsmith.site.cards.formula import lay_out_formula
from blogsmith.site.cards.png import encode_png
from blogsmith.site.cards.title import (
    Line,
    TitlePiece,
    break_lines,
    join_runs,
    split_unspaced,
    title_pieces,
)
from blogsmith.stages.cards import make_card
from blogsmith.tex.on_demand import convert_formula
from tests.page_checks import parse
from tests.rows import each_row
from tests.site_files import build, printed
from tests.test_preview_line import write
from tests.theme_pages import BARE

STYLE = CardStyle(paper="#fbf9f4", ink="#211e1a", muted="#686056", accent="#97301f")
BAND = (120, 500)
"""Vertical range of the title."""


def formula(tex: str) -> str:
    return convert_formula(tex, display=False, macros={}).mathml


def picture(title: str, byline: str = "", style: CardStyle = STYLE) -> Image.Image:
    return Image.open(BytesIO(draw_card(SocialCard(title, "A site", byline), style)))


def ink_box(image: Image.Image, band: tuple[int, int] = BAND) -> tuple[int, int, int, int] | None:
    """Return the bounding box of everything that is not background in a band of the image."""
    part = image.convert("RGB").crop((0, band[0], WIDTH_PX, band[1])).convert("L")
    return part.point(lambda value: 255 if value < 200 else 0).getbbox()


class TestTitle:
    @pytest.mark.parametrize(
        ("html", "words"),
        [
            ("One  two", ["One", "two"]),
            ("a&nbsp;b &lt;c&gt;", ["a\u00a0b", "<c>"]),
            ("An <em>old</em> <code>x</code>", ["An", "old", "x"]),
            ("", []),
        ],
    )
    def test_words(self, html: str, words: list[str]) -> None:
        assert [piece.text for piece in title_pieces(html)] == words

    def test_what_stands_together_is_not_parted(self) -> None:
        pieces = title_pieces(f"by {formula('x')}, <em>half</em>way")
        assert [(piece.text, piece.is_glued) for piece in pieces] == [
            ("by", False), ("x", False), (",", True), ("half", False), ("way", True)
        ]  # fmt: skip
        assert pieces[1].mathml == '<math display="inline"><mi>x</mi></math>'

    @pytest.mark.parametrize(
        "html", ["word " * 100_000, "x" * 100_000, formula("x") * 10_000, "<math>" * 50_000]
    )
    def test_a_title_without_end(self, html: str) -> None:
        pieces = title_pieces(html)
        assert len(pieces) <= 150
        assert all(len(piece.text) <= 100 and len(piece.mathml) <= 5_000 for piece in pieces)
        assert picture(html).size == (WIDTH_PX, HEIGHT_PX)

    def test_a_long_formula_is_spelt_out(self) -> None:
        (piece,) = title_pieces(formula("+".join(["x"] * 500)))
        assert (piece.mathml, len(piece.text)) == ("", 100)

    def test_lines_are_as_few_as_possible_and_about_even(self) -> None:
        pieces = title_pieces("aaaa bbbb cccc dddd")
        lines = break_lines(pieces, 16, lambda piece: len(piece.text), 1)
        assert [[piece.text for piece in line.pieces] for line in lines] == [
            ["aaaa", "bbbb"],
            ["cccc", "dddd"],
        ]
        assert [line.width for line in lines] == [9, 9]

    def test_a_word_that_is_too_wide_has_a_line(self) -> None:
        lines = break_lines(title_pieces("a bbbbbbbb c"), 4, lambda piece: len(piece.text), 1)
        assert lines == (
            Line((TitlePiece("a"),), 1), Line((TitlePiece("bbbbbbbb"),), 8), Line((TitlePiece("c"),), 1)
        )  # fmt: skip
        assert break_lines((), 4, lambda piece: 1, 1) == ()


class TestFormula:
    @each_row("tex", ["x", r"\sqrt{d_k}", "O(n^2)", r"\frac{1}{n}\sum_{i=1}^n x_i", r"\mathbb{R}^n"])
    def test_it_is_laid_out(self, tex: str) -> None:
        found = lay_out_formula(title_pieces(formula(tex))[0].mathml)
        assert found
        assert found.width > 0.3
        assert found.top < 0 < found.top + found.height + 0.3

    def test_holes_stay_open_and_overlaps_closed(self) -> None:
        found = lay_out_formula(title_pieces(formula("O"))[0].mathml)
        assert found
        image = found.fill(100)
        assert image.getpixel((image.width // 2, image.height // 2)) == 0
        root = lay_out_formula(title_pieces(formula(r"\sqrt{x}"))[0].mathml)
        assert root
        image = root.fill(100)
        # the bar starts where the root symbol ends, without a gap
        top = next(y for y in range(image.height) if image.crop((0, y, image.width, y + 1)).getbbox()) + 2
        bar = image.crop((0, top, image.width, top + 1)).getbbox()
        assert bar
        left, _, right, _ = bar
        assert all(image.getpixel((x, top)) for x in range(left + 1, right - 1))

    @pytest.mark.parametrize(
        "mathml", ["", "<math>", "<math><mtext><b>x</b></mtext></math>", "<math></math>"]
    )
    def test_what_cannot_be_laid_out_is_none(self, mathml: str) -> None:
        assert lay_out_formula(mathml) is None

    def test_a_formula_that_cannot_be_laid_out_is_spelt_out(self) -> None:
        with patch("blogsmith.site.cards.drawing.lay_out_formula", return_value=None):
            spelt = draw_card(SocialCard(formula("x^2"), "", ""), STYLE)
        assert spelt == draw_card(SocialCard("x^2", "", ""), STYLE)


def write_font_of_boxes(file: Path) -> None:
    """Write a font with two Hebrew letters and an L; each is a box, the widest is Alef."""
    widths = {".notdef": 500, "space": 300, "alef": 900, "bet": 300, "L": 600}
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([*widths])
    font.setupCharacterMap({0x20: "space", 0x5D0: "alef", 0x5D1: "bet", ord("L"): "L", ord("x"): "L"})
    glyphs = {}
    for name, width in widths.items():
        pen = TTGlyphPen(None)
        if name != "space":
            pen.moveTo((0, 0))
            for corner in ((0, 700), (width - 20, 700), (width - 20, 0)):
                pen.lineTo(corner)
            pen.closePath()
        glyphs[name] = pen.glyph()
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({name: (width, 0) for name, width in widths.items()})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(file)


def ink_runs(image: Image.Image) -> list[tuple[int, int]]:
    """Return first column and end column of each shape in the band of the title, from the left."""
    part = image.convert("RGB").crop((0, BAND[0], WIDTH_PX, BAND[1])).convert("L")
    columns = part.point(lambda value: 255 if value < 200 else 0).reduce((1, part.height)).tobytes()
    edges = [x for x in range(1, WIDTH_PX) if bool(columns[x]) != bool(columns[x - 1])]
    return list(zip(edges[::2], edges[1::2], strict=True))


class TestDirection:
    """Right-to-left titles and bylines; the order of their words is that of Unicode."""

    @pytest.mark.parametrize(
        ("html", "direction", "pieces"),
        [
            ("one two", "ltr", ["one", "two"]),
            ("one two", "rtl", ["one two"]),
            ("\u05d0\u05d1 GPU \u05d2\u05d3", "ltr", ["\u05d0\u05d1 GPU \u05d2\u05d3"]),
            (f"\u05d0 {formula('x')}, \u05d1 \u05d2", "rtl", ["\u05d0", "x", ", \u05d1 \u05d2"]),
        ],
    )
    def test_words_in_a_row(self, html: str, direction: Direction, pieces: list[str]) -> None:
        assert [piece.text for piece in join_runs(title_pieces(html), direction)] == pieces

    @pytest.mark.skipif(not features.check("raqm"), reason="needs Pillow with Raqm")
    @pytest.mark.parametrize(
        ("direction", "widths", "edge"),
        [("rtl", [54, 26, 81, 81, 81], (-1, WIDTH_PX - 91)), ("ltr", [26, 81, 81, 81, 54], (0, 90))],
    )
    def test_words_begin_at_the_side_of_the_language(
        self, tmp_path: Path, direction: Direction, widths: list[int], edge: tuple[int, int]
    ) -> None:
        write_font_of_boxes(tmp_path / "boxes.ttf")
        card = SocialCard("\u05d0\u05d0\u05d0 \u05d1 L", "", "", direction)
        drawn = draw_card(card, replace(STYLE, font=tmp_path / "boxes.ttf"))
        runs = ink_runs(Image.open(BytesIO(drawn)))
        assert [end - start for start, end in runs] == widths
        number, column = edge
        assert runs[number][number] == column

    def test_cards_know_the_direction_of_their_page(self) -> None:
        found = [make_card(replace(BARE, lang=lang), Config(), Language) for lang in ("ar", "en", "de")]
        assert [card and card.direction for card in found] == ["rtl", "ltr", "ltr"]


class TestPicture:
    def test_size_and_colours(self) -> None:
        image = picture("Softmax", "Ada · 3 March 2026")
        assert (image.size, image.format, image.mode) == ((WIDTH_PX, HEIGHT_PX), "PNG", "P")
        colors = image.convert("RGB")
        assert colors.getpixel((5, 5)) == (0xFB, 0xF9, 0xF4)
        assert colors.getpixel((600, HEIGHT_PX - 2)) == (0x97, 0x30, 0x1F)
        found = {color for _, color in colors.getcolors(1000) or []}
        assert {(0x21, 0x1E, 0x1A), (0x68, 0x60, 0x56)} <= found

    @each_row(
        "title",
        [
            "Softmax", "Many heads, three patterns", "word " * 30, "word " * 400, "W" * 90,
            formula(r"\frac{a}{b}"), f"A bound {formula('O(n^2)')} for all", formula("+".join(["x"] * 60)),
        ],
        ids=lambda title: title[:12],
    )  # fmt: skip
    def test_a_title_stays_in_its_band(self, title: str) -> None:
        box = ink_box(picture(title))
        assert box
        left, top, right, bottom = box
        assert left >= 85
        assert top > 0
        assert bottom < BAND[1] - BAND[0]
        # a single word that is wider than the card is clipped at its edge
        assert right <= WIDTH_PX - 85 or title == "W" * 90

    def test_a_short_title_is_large(self) -> None:
        heights = []
        for title in ("Hx", "Hx " * 12, "Hx " * 40):
            box = ink_box(picture(title))
            assert box
            line = next(
                size for size in range(1, 400) if not _row_has_ink(picture(title), BAND[0] + box[1] + size)
            )
            heights.append(line)
        assert heights == sorted(heights, reverse=True)
        assert heights[0] > 1.3 * heights[-1]

    def test_a_title_that_is_cut_says_so(self) -> None:
        cut = draw_card(SocialCard("word " * 400, "", ""), STYLE)
        assert cut == draw_card(SocialCard("word " * 500, "", ""), STYLE)
        with patch("blogsmith.site.cards.drawing.ELLIPSIS", TitlePiece(".", is_glued=True)):
            assert cut != draw_card(SocialCard("word " * 400, "", ""), STYLE)

    def test_same_card_same_bytes(self) -> None:
        card = SocialCard(f"Why {formula('x')}?", "A site", "Ada")
        assert draw_card(card, STYLE) == draw_card(card, STYLE)

    def test_cards_drawn_before_leave_nothing_behind(self) -> None:
        # words are cached as images, and one image serves many cards
        titles = ("A word and a word", "word", f"{formula('x')}, a word", "W" * 30)
        fonts = CardFonts(STYLE)
        for title in (*titles, *titles):
            card = SocialCard(title, "word", "a")
            assert draw_card(card, STYLE, fonts) == draw_card(card, STYLE)

    def test_signs_that_a_font_lacks(self) -> None:
        assert missing_characters("Ordinary — “words”, déjà vu", STYLE) == ""
        assert missing_characters("日本 and 本", STYLE) == "日本"


def test_a_long_byline_is_not_measured_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    label_em = _TitleMetrics.label_em

    def measure(self: _TitleMetrics, text: str) -> float:
        measured.append(text)
        return label_em(self, text)

    monkeypatch.setattr(_TitleMetrics, "label_em", measure)
    long = draw_card(SocialCard("T", "x" * 10_000, "*[a]: b" * 1000), STYLE)
    assert long == draw_card(SocialCard("T", "x" * 500, "*[a]: b" * 100), STYLE)
    assert len(measured) < 1500


def _row_has_ink(image: Image.Image, y: int) -> bool:
    return (
        image.convert("L").crop((0, y, WIDTH_PX, y + 1)).point(lambda v: 255 if v < 200 else 0).getbbox()
        is not None
    )


class TestOtherFonts:
    """Letters that the font of the theme lacks."""

    def test_the_settings_come_first_and_plain_fonts_before_others(self, tmp_path: Path) -> None:
        for name in ("a/Mono.ttf", "a/Noto-Bold.TTF", "b/Plain.otf", "b/LastResort.otf", "b/x.woff2"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            write_font_of_boxes(tmp_path / name)
        found = list_fonts((tmp_path / "b", tmp_path / "a", tmp_path / "none"))
        assert [file.name for file in found] == ["Plain.otf", "Noto-Bold.TTF", "Mono.ttf"]

    def test_only_fonts_with_the_letters_are_used(self, tmp_path: Path) -> None:
        (tmp_path / "broken.ttf").write_bytes(b"not a font")
        write_font_of_boxes(tmp_path / "boxes.ttf")
        fonts = (tmp_path / "broken.ttf", tmp_path / "boxes.ttf")
        faces = find_faces(frozenset("\u05d0日"), fonts)
        assert [face.path for face in faces] == [tmp_path / "boxes.ttf"]
        assert drawn_faces("日\u05d0", faces) == (faces, "日")
        assert drawn_faces("日", faces) == ((), "日")

    def test_a_line_has_one_font_if_one_has_all_letters(self, tmp_path: Path) -> None:
        write_font_of_boxes(tmp_path / "boxes.ttf")
        fonts = CardFonts(STYLE, find_faces(frozenset("\u05d0"), (tmp_path / "boxes.ttf",)))

        def assigned(html: str) -> list[tuple[str, int, bool]]:
            pieces = fonts.assign(title_pieces(html))
            return [(piece.text, piece.font, piece.is_glued) for piece in pieces]

        assert assigned("Lx L") == [("Lx", 0, False), ("L", 0, False)]
        assert assigned("L \u05d0") == [("L", 1, False), ("\u05d0", 1, False)]
        assert assigned("word \u05d0, b") == [
            ("word", 0, False), ("\u05d0", 1, False), (",", 0, True), ("b", 0, False)
        ]  # fmt: skip
        assert assigned("a 🎉 b🎉, 🎉. soft\u2060ly") == [
            ("a", 0, False), ("b,", 0, False), (".", 0, True), ("softly", 0, False)
        ]  # fmt: skip

    def test_no_box_is_drawn(self, tmp_path: Path) -> None:
        write_font_of_boxes(tmp_path / "boxes.ttf")
        fonts = CardFonts(STYLE, find_faces(frozenset("\u05d1"), (tmp_path / "boxes.ttf",)))
        plain = draw_card(SocialCard("L \u05d1", "", ""), STYLE, fonts)
        assert draw_card(SocialCard("🎉 L \u05d1", "🎉", "🎉"), STYLE, fonts) == plain
        assert plain != draw_card(SocialCard("L", "", ""), STYLE, fonts)

    def test_the_name_depends_on_other_fonts(self, tmp_path: Path) -> None:
        write_font_of_boxes(tmp_path / "boxes.ttf")
        faces = find_faces(frozenset("\u05d0"), (tmp_path / "boxes.ttf",))
        card = SocialCard("\u05d0", "", "")
        assert card_name(card, STYLE, faces) != card_name(card, STYLE)


class TestUnspaced:
    @each_row(
        ("word", "parts"),
        [
            ("注意力机制，很好。", ["注", "意", "力", "机", "制，", "很", "好。"]),
            ("（注意）的GPU上", ["（注", "意）", "的", "GPU", "上"]),
            ("ちょっとラーメン", ["ちょっ", "と", "ラー", "メ", "ン"]),
            ("か\u3099く", ["か\u3099", "く"]),
            ("ภาษาไทย", ["ภาษาไทย"]),
            ("ภาษาไทยที่ดีและเก่งมาก",
             [*("ภา", "ษา", "ไท", "ย", "ที่", "ดี", "และ", "เก่", "ง", "มา", "ก")]),
            ("plain-word", ["plain-word"]),
        ],
    )  # fmt: skip
    def test_where_a_line_may_break(self, word: str, parts: list[str]) -> None:
        found = list(split_unspaced([TitlePiece(word)]))
        assert [piece.text for piece in found] == parts
        assert [piece.may_wrap for piece in found] == [number > 0 for number in range(len(parts))]

    def test_a_long_title_is_broken_and_joined_again(self) -> None:
        pieces = tuple(split_unspaced(title_pieces("注意力机制 GPU")))
        lines = break_lines(pieces, 4, lambda piece: len(piece.text), 1)
        joined = [[piece.text for piece in join_runs(line.pieces, "ltr")] for line in lines]
        assert joined == [["注意力"], ["机制"], ["GPU"]]
        assert max(line.width for line in lines) <= 4


class TestFile:
    @each_row("ink", [(), ((0, 0, 6, 9),), ((2, 3, 5, 4), (0, 7, 6, 8))])
    def test_every_pixel_is_there(self, ink: tuple[tuple[int, int, int, int], ...]) -> None:
        image = Image.new("L", (6, 9))
        for number, box in enumerate(ink):
            image.paste(number + 14, box)
        pixels, drawn = image.tobytes(), [(top, bottom) for _, top, _, bottom in ink]
        found = Image.open(BytesIO(encode_png(image, bytes(range(48)), drawn)))
        found.verify()
        found = Image.open(BytesIO(encode_png(image, bytes(range(48)), drawn)))
        assert (found.mode, found.tobytes()) == ("P", pixels)
        assert found.getpalette() == [*range(48)]


class TestName:
    def test_it_names_all_that_is_drawn(self) -> None:
        card = SocialCard("A", "S", "B")
        others = [
            (SocialCard("B", "S", "B"), STYLE), (SocialCard("A", "T", "B"), STYLE),
            (SocialCard("A", "S", "C"), STYLE), (card, replace(STYLE, ink="#000000")),
            (card, replace(STYLE, font_digest="x")), (card, replace(STYLE, weight=400)),
        ]  # fmt: skip
        names = {card_name(card, STYLE), *(card_name(*other) for other in others)}
        assert len(names) == 7
        moved = CardStyle(
            Path("elsewhere.ttf"), paper="#fbf9f4", ink="#211e1a", muted="#686056", accent="#97301f"
        )
        assert card_name(card, moved) == card_name(card, STYLE)


CONFIG = "title: A site\nauthor: Ada\nbase_url: https://example.org/b\n"
POST = "---\ntitle: {}\ndate: 2026-03-03\n---\nText.\n"


def site(root: Path, *posts: str, config: str = CONFIG) -> Path:
    write(root / "blogsmith.yaml", config)
    for number, title in enumerate(posts):
        write(root / f"content/posts/p{number}.md", POST.format(title))
    return root


def meta(root: Path, page: str) -> dict[str, str]:
    """Return property or name of each `<meta>` of a page → its content."""
    tree = parse((root / "public" / page / "index.html").read_text())
    found = (item for item in tree.iter() if isinstance(item.tag, str) and item.tag.endswith("meta"))
    return {item.get("property") or item.get("name") or "": item.get("content") or "" for item in found}


def cards(root: Path) -> set[str]:
    return {file.name for file in (root / "public/assets/cards").glob("*")}


class TestSite:
    def test_a_post_shows_its_card(self, tmp_path: Path) -> None:
        root = site(tmp_path, "Why $x$?")
        assert build(root).ok
        found = meta(root, "posts/p0")
        address = found["og:image"]
        assert re.fullmatch(r"https://example\.org/b/assets/cards/[0-9a-f]{16}\.png", address)
        size = (found["og:image:width"], found["og:image:height"])
        assert (size, found["og:image:alt"]) == (("1200", "630"), "Why x?")
        assert found["twitter:card"] == "summary_large_image"
        file = root / "public" / address.removeprefix("https://example.org/b/")
        assert Image.open(BytesIO(file.read_bytes())).size == (1200, 630)
        assert meta(root, "")["og:image"] != address
        assert "og:image" not in meta(root, "posts")

    @pytest.mark.parametrize(
        ("config", "title"),
        [
            (f"{CONFIG}social_cards: false\n", "A"),
            ("title: A site\n", "A"),
            (f"{CONFIG}social_cards: {{installed: false}}\n", "日本"),
            (CONFIG, "A\nimage: /own.png"),
        ],
    )
    def test_who_has_none(self, config: str, title: str, tmp_path: Path) -> None:
        root = site(tmp_path, title, config=config)
        (root / "static").mkdir()
        Image.new("L", (4, 4)).save(root / "static/own.png")
        report = build(root)
        assert report.ok, printed(report)
        found = meta(root, "posts/p0")
        assert "og:image:width" not in found
        assert found.get("og:image", "own.png").endswith("own.png")

    def test_none_is_drawn_twice(self, tmp_path: Path) -> None:
        root = site(tmp_path, "A", "B")
        assert build(root, use_cache=True).ok
        before = cards(root)
        write(root / "content/posts/p0.md", POST.format("A") + "More.\n")
        write(root / "partials/site_footer.html", "<footer>Other</footer>")
        with patch("blogsmith.site.cards.drawing.draw_card", side_effect=AssertionError("drawn again")):
            report = build(root, use_cache=True)
        assert report.ok, printed(report)
        assert cards(root) == before
        write(root / "content/posts/p0.md", POST.format("C"))
        assert build(root, use_cache=True).ok
        assert len(before & cards(root)) == len(before) - 1
        assert len(cards(root)) == len(before)

    def test_several_processes_draw_the_same(self, tmp_path: Path) -> None:
        titles = [f"Post {number} about $x_{{{number}}}$" for number in range(45)]
        drawn = []
        for jobs in (1, 2):
            root = site(tmp_path / str(jobs), *titles)
            report = build(root, execution=ExecutionOptions(jobs=jobs))
            assert report.ok, printed(report)
            drawn.append({file.name: file.read_bytes() for file in (root / "public/assets/cards").iterdir()})
        assert drawn[0] == drawn[1]
        assert len(drawn[0]) == 46


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("card: {ink: black}", '2:13: error: invalid "ink": expected a colour [theme-value]'),
        ("card: {inc: '#000000'}", '2:8: error: unknown key "inc" [theme-value]'),
        ("card: {font: none.woff2}", 'error: theme file not found: "none.woff2" [theme-value]'),
        ("card: {font: ../x.woff2}", 'error: theme file not found: "../x.woff2" [theme-value]'),
        (
            "card: {weight: bold}",
            '2:16: error: invalid "weight": expected a number from 1 to 1000 [theme-value]',
        ),
        ("card: white", 'error: invalid "card": expected a mapping [theme-value]'),
    ],
)
def test_mistakes_of_a_theme(written: str, message: str, tmp_path: Path) -> None:
    root = site(tmp_path, "A", config=f"{CONFIG}theme: mine\n")
    write(root / "themes/mine/theme.yaml", f"extends: paper\n{written}\n")
    report = build(root)
    assert not report.ok
    assert message in printed(report)


def test_a_theme_has_its_own_colours(tmp_path: Path) -> None:
    root = site(tmp_path, "A", config=f"{CONFIG}theme: mine\n")
    write(root / "themes/mine/theme.yaml", "extends: paper\ncard: {paper: '#101010', ink: '#f0f0f0'}\n")
    assert build(root).ok
    (file, *_) = (root / "public/assets/cards").iterdir()
    assert Image.open(BytesIO(file.read_bytes())).convert("RGB").getpixel((3, 3)) == (16, 16, 16)


def test_the_font_of_a_foreign_theme_is_not_opened(tmp_path: Path) -> None:
    root = site(tmp_path, "A", config=f"{CONFIG}theme: mine\n")
    write(root / "themes/mine/theme.yaml", "extends: paper\ncard: {font: own.ttf}\n")
    (root / "themes/mine/own.ttf").write_bytes(b"what may do harm to who reads it")
    with patch("PIL.ImageFont.truetype", wraps=ImageFont.truetype) as opened:
        report = build(root)
    assert report.ok
    assert not [call for call in opened.call_args_list if "own.ttf" in str(call)]
    assert [found.code for found in report.diagnostics] == ["card-font"]
    assert meta(root, "posts/p0")["og:image:width"] == "1200"


HEBREW = "\u05d0\u05d1"


class TestLetters:
    """Titles with letters that the font of the theme lacks."""

    def test_a_font_of_the_settings_draws_them(self, tmp_path: Path) -> None:
        config = f"{CONFIG}social_cards: {{fonts: [own.ttf], installed: false}}\n"
        root = site(tmp_path, HEBREW, "A", config=config)
        write_font_of_boxes(root / "own.ttf")
        assert [found.code for found in build(root).diagnostics] == ["card-font", "card-letters"]
        assert "og:image:width" not in meta(root, "posts/p0")
        trust(root)
        report = build(root)
        assert not report.diagnostics, printed(report)
        assert meta(root, "posts/p0")["og:image:width"] == "1200"
        assert len(cards(root)) == 3

    def test_the_warning_names_the_title_and_the_setting(self, tmp_path: Path) -> None:
        config = f"{CONFIG}social_cards: {{installed: false}}\n"
        root = site(tmp_path, f"A {HEBREW}", HEBREW, config=config)
        assert printed(build(root)) == (
            'content/posts/p0.md:2:10: warning: missing character "\u05d0" in the fonts of social cards: '
            "no card for this page and 1 more [card-letters]\n"
            f"    2 | title: A {HEBREW}\n"
            "      |          ^\n"
            "hint: write `social_cards: {fonts: [fonts/NAME.ttf]}` in blogsmith.yaml, with a font that has it"
        )
        assert "og:image:width" not in meta(root, "posts/p0")

    def test_one_letter_of_the_site_does_not_take_all_cards(self, tmp_path: Path) -> None:
        config = f"{CONFIG}social_cards: {{installed: false}}\n".replace("A site", HEBREW)
        root = site(tmp_path, "A", config=config)
        report = build(root)
        assert [found.code for found in report.diagnostics] == ["card-letters"]
        assert meta(root, "posts/p0")["og:image:width"] == "1200"

    def test_emoji_that_no_font_has_are_left_out(self, tmp_path: Path) -> None:
        root = site(tmp_path, "Party 🎉", config=f"{CONFIG}social_cards: {{installed: false}}\n")
        report = build(root)
        assert not report.diagnostics, printed(report)
        assert meta(root, "posts/p0")["og:image:width"] == "1200"

    def test_fonts_of_the_machine(self, tmp_path: Path) -> None:
        root = site(tmp_path / "site", HEBREW)
        fonts = tmp_path / "fonts"
        fonts.mkdir()
        write_font_of_boxes(fonts / "own.ttf")
        with patch("blogsmith.stages.cards.machine_folders", return_value=(fonts,)):
            report = build(root)
        assert not report.diagnostics, printed(report)
        assert meta(root, "posts/p0")["og:image:width"] == "1200"

    @each_row(
        ("font", "message"),
        [
            ("none.ttf", 'font of social cards not found: "none.ttf"'),
            ("../outside.ttf", 'font of social cards not found: "../outside.ttf"'),
        ],
    )
    def test_a_font_that_is_not_there(self, font: str, message: str, tmp_path: Path) -> None:
        root = site(tmp_path / "site", "A", config=f"{CONFIG}social_cards: {{fonts: [{font}]}}\n")
        write_font_of_boxes(tmp_path / "outside.ttf")
        assert message in printed(build(root))
