"""Letters and words: the table of marks, and its users outside of Markdown (see also `cases/letters.md`)."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from blogsmith.model.letters import INVISIBLE, MARKS, UNSPACED, find_words, split_clusters
from blogsmith.model.slugs import slug_problem, slugify
from blogsmith.render.context import (
    LETTERS_PER_MINUTE,
    SYLLABLES_PER_MINUTE,
    WORDS_PER_MINUTE,
    ReadingTime,
)
from blogsmith.site.search.page_record import split_terms
from tests.rows import each_row
from tests.site_files import NOW, build, printed, put, put_bare

SWITCH = "title: T\nslugs: {marks: switch}\n"
KEEP = "title: T\nslugs: {marks: keep}\n"
POST = "---\ntitle: t\ndate: 2026-01-01\ntags: [की, कि]\nseries: लेख\n---\nx\n"


def test_the_table_has_exactly_the_marks() -> None:
    """Unicode 14 is that of Python 3.11; a later Python knows more marks."""
    table, invisible = re.compile(f"[{MARKS}]"), re.compile(f"[{INVISIBLE}]")
    for code in range(0x110000):
        char = chr(code)
        category = unicodedata.category(char)
        if table.match(char):
            assert category[0] in "LN" or category in ("Mn", "Mc", "Cn"), hex(code)
            assert not invisible.match(char), hex(code)
        elif category in ("Mn", "Mc") and unicodedata.unidata_version == "14.0.0":
            assert invisible.match(char), hex(code)
        if invisible.match(char):
            assert category in ("Cf", "Mn"), hex(code)


@each_row(
    ("text", "words"),
    [
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("הַשָּׁלוֹם־רב", ["הַשָּׁלוֹם", "רב"]),
        ("snake_case 3x", ["snake", "case", "3x"]),
        ("\u0301 \u093f", []),
        ("1️⃣", ["1"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert find_words(text) == words


@each_row(
    ("text", "slug"),
    [
        ("हिन्दी पोस्ट", "हिन्दी-पोस्ट"),
        ("İSTANBUL", "istanbul"),
        ("I\u0307stanbul", "istanbul"),
        ("i\u0307stanbul", "istanbul"),
        ("Straße", "strasse"),
        ("E\u0301tude", "étude"),
        ("क्‍ष", "क्ष"),
        ("葛\U000e0100城", "葛城"),
        ("A & B", "a-b"),
        ("?!", ""),
    ],
)
def test_slugs_with_marks(text: str, slug: str) -> None:
    assert slugify(text, marks=True) == slug
    assert slugify(slug, marks=True) == slug
    assert not slug or not slug_problem(slug)


def test_clusters() -> None:
    assert split_clusters("किx1️⃣e\u0301") == ["कि", "x", "1️⃣", "e\u0301"]


def test_marks_are_never_counted_in_the_fast_way() -> None:
    time, plain, unspaced = ReadingTime(), ReadingTime(), re.compile(f"[{UNSPACED}]")
    for code in range(0x80, 0x3000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc") and not unspaced.match(chr(code)):
            time.add_words(f"a{chr(code)}b")
            plain.add_words("ab")
    assert time.seconds == pytest.approx(plain.seconds)


@each_row(
    ("text", "minutes"),
    [
        ("比如说我写了这么一段话，他认为我只有一个字。" * 157, 3140 / SYLLABLES_PER_MINUTE),
        ("日本語のテキストです。" * 40, 400 / SYLLABLES_PER_MINUTE),
        ("ภาษาไทย " * 43, 7 * 43 / LETTERS_PER_MINUTE),
        ("กำลัง", 4 / LETTERS_PER_MINUTE),
        ("한국어 글 " * 55, 110 / WORDS_PER_MINUTE),
        ("हिन्दी भाषा " * 55, 110 / WORDS_PER_MINUTE),
        ("Donau\u00addampf don’t", 2 / WORDS_PER_MINUTE),
        ("GPU 上の 2 words", 3 / WORDS_PER_MINUTE + 2 / SYLLABLES_PER_MINUTE),
    ],
)
def test_reading_time(text: str, minutes: float) -> None:
    time = ReadingTime()
    time.add_words(text)
    assert time.seconds / 60 == pytest.approx(minutes)


@each_row(
    ("text", "terms"),
    [
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("Donau\u00addampf", ["donaudampf"]),
        ("می‌خواهم", ["میخواهم"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ꦲꦏ꧀ꦱꦫ", ["ꦲꦏ꧀ꦱꦫ"]),
    ],
)
def test_search_terms(text: str, terms: list[str]) -> None:
    assert split_terms(text) == terms


def test_urls_of_pages_terms_and_series(tmp_path: Path) -> None:
    site = put_bare(tmp_path / "new", {"blogsmith.yaml": KEEP, "content/posts/हिन्दी पोस्ट.md": POST})
    report = build(site)
    assert not report.diagnostics, printed(report)
    for path in ("posts/हिन्दी-पोस्ट", "tags/की", "tags/कि", "series/लेख"):
        assert (site / "public" / path / "index.html").is_file(), path
    old = put_bare(tmp_path / "old", {"blogsmith.yaml": "title: T\n", "content/posts/हिन्दी पोस्ट.md": POST})
    assert "hint: write `slugs: {marks: switch}` in blogsmith.yaml" in printed(build(old))
    for path in ("posts/ह-न-द-प-स-ट", "tags/क", "series/ल-ख"):
        assert (old / "public" / path / "index.html").is_file(), path


def test_reading_time_of_a_chinese_post(tmp_path: Path) -> None:
    text = "比如说我写了这么一段话，他认为我只有一个字。" * 157
    post = f"---\ntitle: 中文\nlang: zh\ndate: 2026-01-01\n---\n{text}\n"
    site = put(tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/zh.md": post})
    build(site)
    assert "8 分钟" in (site / "public/posts/zh/index.html").read_text(encoding="utf-8")


def test_file_names_of_new_posts_and_sections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(put_bare(tmp_path, {"blogsmith.yaml": KEEP}))
    clock = CommandClock(now=lambda: NOW, seconds=lambda: 0.0)
    assert main(("new", "post", "हिन्दी भाषा", "--section", "लेख"), clock) == 0
    assert (tmp_path / "content/लेख/हिन्दी-भाषा.md").is_file()


def test_fix_adds_the_alias_that_keeps_the_old_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"content/posts/हिन्दी.md": POST, "content/posts/भाषा.md": "# No front matter\n\nText.\n"}
    site = put_bare(tmp_path, {"blogsmith.yaml": SWITCH, **files})
    assert printed(build(site)).count("[url-moved]") == 2
    monkeypatch.chdir(site)
    assert main(("check", "--fix", "--yes"), CommandClock(now=lambda: NOW, seconds=lambda: 0.0)) == 0
    assert (site / "content/posts/हिन्दी.md").read_text(encoding="utf-8") == POST.replace(
        "title", "aliases: [/posts/ह-न-द/]\ntitle", 1
    )
    report = build(site)
    assert "url-moved" not in printed(report)
    assert "हिन्दी" in (site / "public/posts/ह-न-द/index.html").read_text(encoding="utf-8")
    assert (site / "public/posts/भ-ष/index.html").is_file()
