"""Lints of front matter: posts that mention a series only in text, tags with two spellings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_lints import checked

SERIES = [
    ("title: A\nsubtitle: Part 2 of 4", "Part 2 of 4", "series: {name: NAME, part: 2}"),
    ("title: A\nsubtitle: 'Part 2/4: heads'", "Part 2/4", "series: {name: NAME, part: 2}"),
    ("title: Attention, Part II", "Part II", "series: {name: Attention, part: 2}"),
    ("title: Attention (2/4)", "(2/4)", "series: {name: Attention, part: 2}"),
    ("title: 'Attention: part three of four'", "part three of four", "series: {name: Attention, part: 3}"),
    ("title: 'A, B (Part 1)'", "Part 1", 'series: {name: "A, B", part: 1}'),
    ("title: A\nsubtitle: Teil 2 von 4", "Teil 2 von 4", "series: {name: NAME, part: 2}"),
    ("title: 'Part 3 — The heads'", "Part 3", "series: {name: NAME, part: 3}"),
]
NO_SERIES = [
    "title: Attention, Part II\nseries: {name: Attention, part: 2}",
    "title: A\nsubtitle: Part 2 of 4\nseries: Attention",
    "title: Part I liked most",
    "title: The better part of 4 years",
    "title: A (1/0)",
    "title: The (1/2) power",
    "title: A (12/7)",
    "title: Part 2024",
    "title: Department 2 of 4",
    "title: Partly 2 of 4",
    "title: Part 5 of 4",
    "title: 1/2 of all heads",
]


@pytest.mark.parametrize(("head", "written", "hint"), SERIES)
def test_words_of_a_series_get_a_proposal(tmp_path: Path, head: str, written: str, hint: str) -> None:
    (found,) = checked(tmp_path, {"a": f"---\n{head}\n---\n\nText.\n"}).diagnostics
    assert (found.code, found.severity, found.hint) == ("series-missing", "warning", f"write `{hint}`")
    assert found.place
    assert found.source_line[found.place.column - 1 :].startswith(written)


@pytest.mark.parametrize("head", NO_SERIES)
def test_other_titles_are_left_alone(tmp_path: Path, head: str) -> None:
    assert not checked(tmp_path, {"a": f"---\n{head}\n---\n\nText.\n"}).diagnostics


def test_two_spellings_of_a_tag(tmp_path: Path) -> None:
    posts = {
        "a": "---\ntitle: A\ntags: [deep-learning, NLP]\n---\n\nText.\n",
        "b": "---\ntitle: B\ntags: [Deep Learning, NLP]\n---\n\nText.\n",
        "c": "---\ntitle: C\ntags: [Deep Learning, nlp]\ncategories: Essays\n---\n\nText.\n",
    }
    found = checked(tmp_path, posts).diagnostics
    assert [(d.path, d.place.line if d.place else 0, d.code, d.message, d.hint) for d in found] == [
        (
            "content/posts/a.md",
            3,
            "term-spelling",
            'tag "deep-learning" is printed as "Deep Learning", as spelled in "content/posts/b.md:3"',
            "write `Deep Learning`, or set `tags: {deep-learning: …}` in blogsmith.yaml",
        ),
        (
            "content/posts/c.md",
            3,
            "term-spelling",
            'tag "nlp" is printed as "NLP", as spelled in "content/posts/a.md:3"',
            "write `NLP`, or set `tags: {nlp: …}` in blogsmith.yaml",
        ),
    ]
    fixes = [d.fix for d in found if d.fix]
    assert [(fix.edits[0].old, fix.edits[0].new, fix.is_safe) for fix in fixes] == [
        ("deep-learning", "Deep Learning", True),
        ("nlp", "NLP", True),
    ]


def test_two_spellings_of_a_series(tmp_path: Path) -> None:
    posts = {
        "a": "---\ntitle: A\nseries: Deep dive\n---\n\nText.\n",
        "b": "---\ntitle: B\nseries: {name: Deep Dive, part: 2}\n---\n\nText.\n",
        "c": "---\ntitle: C\nseries: {name: Deep Dive, part: 3}\n---\n\nText.\n",
    }
    (found,) = checked(tmp_path, posts).diagnostics
    assert (found.path, found.code) == ("content/posts/a.md", "term-spelling")
    assert found.message == 'series "Deep dive" is another series than "Deep Dive" in content/posts/b.md:3'
    assert found.fix and found.fix.edits[0].new == "Deep Dive"


@pytest.mark.parametrize(
    ("config", "tags", "printed"),
    [
        (
            "title: T\ntags: {deep-learning: deep learning}\n",
            "[deep-learning, Deep Learning]",
            "deep learning",
        ),
        ("title: T\ntags: {nlp: Natural Language Processing}\n", "[NLP]", "Natural Language Processing"),
        ("title: T\ntags: {Deep Learning: DL}\n", "[deep-learning]", "DL"),
    ],
)
def test_settings_name_a_tag(tmp_path: Path, config: str, tags: str, printed: str) -> None:
    posts = {"a": f"---\ntitle: A\ndate: 2026-01-01\ntags: {tags}\n---\n\nText.\n"}
    assert not checked(tmp_path, posts, config).diagnostics
    from tests.site_files import build

    build(tmp_path)
    pages = [page.read_text() for page in (tmp_path / "public").glob("**/index.html")]
    assert any(f">{printed}<" in page for page in pages)


def test_languages_have_tags_of_their_own(tmp_path: Path) -> None:
    posts = {
        "a": "---\ntitle: A\ntags: [softmax]\n---\n\nText.\n",
        "b.de": "---\ntitle: B\ntags: [Softmax]\n---\n\nText.\n",
    }
    assert not checked(tmp_path, posts, "title: T\nlanguages: {de: {}}\n").diagnostics
