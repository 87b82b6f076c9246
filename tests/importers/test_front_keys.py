"""Front matter means the same whatever system it comes from, and no key is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import FrontKeys, ImportedPage
from blogsmith.importers.report import ImportResult
from blogsmith.importers.text.data import load_mapping, split_yaml_front_matter
from blogsmith.importers.verify.site import is_named
from blogsmith.project.report import no_progress
from tests.rows import each_row
from tests.site_files import NOW, build, put

HEAD = "title: A page"
NOTHING = "Nothing is missing in the new pages"


def yaml_page(head: str) -> str:
    return f"---\n{HEAD}\n{head}\n---\n\nSome text.\n"


def notebook(head: str) -> str:
    cells = [
        {"cell_type": "raw", "metadata": {}, "source": f"---\n{HEAD}\n{head}\n---"},
        {"cell_type": "markdown", "metadata": {}, "source": "Some text."},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


class Source(NamedTuple):
    """A site of one system with one page whose front matter a test chooses."""

    files: Mapping[str, str]
    page: str
    write: Callable[[str], str] = yaml_page


SYSTEMS: Mapping[str, Source] = {
    "jekyll": Source({"_config.yml": "title: X\n"}, "_posts/2024-01-01-a.md"),
    "hexo": Source({"_config.yml": "title: X\ntheme: next\n"}, "source/_posts/a.md"),
    "hugo": Source({"hugo.toml": "title = 'X'\n"}, "content/posts/a.md"),
    "quarto": Source({"_quarto.yml": "project: {type: website}\n"}, "posts/a.qmd"),
    "mkdocs": Source({"mkdocs.yml": "site_name: X\n", "docs/index.md": "# Home\n"}, "docs/a.md"),
    "mystmd": Source({"myst.yml": "version: 1\nproject: {title: X}\n", "index.md": "# Home\n"}, "a.md"),
    "jupyter-book": Source({"_config.yml": "title: X\n", "_toc.yml": "root: a0\n"}, "a.md"),
    "obsidian": Source({".obsidian/app.json": "{}"}, "a.md"),
    "docusaurus": Source({"docusaurus.config.js": "({title: 'X'})"}, "docs/a.md"),
    "zola": Source({"config.toml": "base_url = 'https://x.org'\n"}, "content/a.md"),
    "folder": Source({}, "a.md"),
    "quartz": Source({"quartz.config.ts": "{}", ".obsidian/app.json": "{}"}, "content/a.md"),
    "notebooks": Source({}, "a.ipynb", notebook),
}


class Case(NamedTuple):
    """Old front matter, and the expected front matter of the new page."""

    old: str
    new: Mapping[str, Any]
    text: str = ""
    """Expected part of the new page's text."""


CASES: Mapping[str, Case] = {
    "own key": Case("mood: sunny", {"mood": "sunny"}),
    "nested own key": Case(
        "weather: {sky: clear, days: [1, 2]}", {"weather": {"sky": "clear", "days": [1, 2]}}
    ),
    "unfinished": Case("status: wip", {"status": "wip"}),
    "another status": Case("status: evergreen", {"imported": {"status": "evergreen"}}),
    "switch": Case("comments: true", {"comments": True}),
    "references": Case(
        "references:\n  - {title: A lecture, url: 'https://x.org/1', authors: [A. Ito, B. Roy], year: 2020}\n"
        "  - {title: A lecture, url: 'https://x.org/2', venue: Some school, level: easy}",
        {
            "references": [
                {
                    **{"id": "a-lecture", "title": "A lecture", "url": "https://x.org/1"},
                    **{"authors": ["A. Ito", "B. Roy"], "year": 2020},
                },
                {
                    **{"id": "a-lecture-2", "title": "A lecture", "url": "https://x.org/2"},
                    **{"venue": "Some school", "note": "easy"},
                },
            ],
            "nocite": "@*",
        },
    ),
    "addresses as references": Case(
        "references: ['https://x.org/1', A book]",
        {
            "references": [
                {"id": "https-x-org-1", "title": "https://x.org/1", "url": "https://x.org/1"},
                {"id": "a-book", "title": "A book"},
            ],
            "nocite": "@*",
        },
    ),
    "references by key": Case(
        "references: {ito: {title: Rows}}", {"references": [{"id": "ito", "title": "Rows"}], "nocite": "@*"}
    ),
    "no references": Case("references: [[1]]", {"imported": {"references": [[1]]}}),
    "slides": Case("slides: 'https://x.org/deck'", {}, "**Slides:** [Slides](<https://x.org/deck>)"),
    "titled slides": Case(
        "slides: [{title: 'Day [1]', url: 'https://x.org/1'}, 'https://x.org/2']",
        {},
        r"**Slides:** [Day \[1\]](<https://x.org/1>), [Slides](<https://x.org/2>)",
    ),
    "slides with more": Case(
        "slides: {title: Deck, url: 'https://x.org/1', pages: 40}",
        {"slides": {"title": "Deck", "url": "https://x.org/1", "pages": 40}},
        "**Slides:** [Deck](<https://x.org/1>)",
    ),
    "slides that are no link": Case("slides: example", {"slides": "example"}),
    "a name of ours": Case("imported: yes", {"imported": {"imported": True}}),
    "a misspelling": Case("tittle: Other words", {"imported": {"tittle": "Other words"}}),
    "author with more": Case(
        "author: {name: Ada Keller, email: ada@x.org}",
        {"imported": {"author": {"name": "Ada Keller", "email": "ada@x.org"}}},
    ),
}  # fmt: skip


def run(files: Mapping[str, str], folder: Path) -> ImportResult:
    put(folder / "old", files)
    return import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)


@pytest.mark.parametrize("system", SYSTEMS)
def test_front_matter_is_alike_from_every_system(system: str, tmp_path: Path) -> None:
    source = SYSTEMS[system]
    names = {name: source.page.replace("a.", f"a{number}.") for number, name in enumerate(CASES)}
    pages = {path: source.write(CASES[name].old) for name, path in names.items()}
    done = run({**source.files, **pages}, tmp_path)
    assert not done.check.differences, done.check.differences
    made = {page.source: page for page in done.site.pages}
    for name, case in CASES.items():
        page = made[names[name]]
        front = load_mapping(split_yaml_front_matter((tmp_path / "new" / page.path).read_text("utf-8"))[0])
        found = {key: value for key, value in front.items() if key in {"nocite", "imported", *case.new}}
        assert found == case.new, name
        assert case.text in page.text, name
    assert build(tmp_path / "new").ok
    report = (tmp_path / "new" / "import-report.md").read_text("utf-8")
    assert NOTHING in report
    assert '"mood"' in report


def untranslated(page: ImportedPage, front: Mapping[str, Any], keys: FrontKeys, **_: object) -> ImportedPage:
    """Return a page of an importer that drops keys it does not translate."""
    return replace(page, old_front=front, front_keys=keys)


LOST = "mood: sunny\nweather: {sky: clear}\nseen: true\nrank: 7\nimage: /a/b.png\nday: 1 March 2019"


@each_row(
    ("head", "text", "expected"),
    [
        (LOST, "Text.", ["day: 1 March 2019", "image: /a/b.png", "mood: sunny", "rank: 7", "seen: True",
                         "weather.sky: clear"]),
        # A value that was moved into the text is not lost.
        (LOST, "Seen: a sunny, clear day, 1 March 2019, in b.png.", ["rank: 7", "seen: True"]),
        # Booleans of keys that the importer translates, and empty values.
        ("published: true\nx:\ny: []\nz: {}", "Text.", []),
        ("permalink: /other/", "Text.", []),
        ("glob: '/docs/*.md'", "Text.", ["glob: /docs/*.md"]),
        ("tags: red, green\nlast_modified_at: 3 April 2024", "Text.", []),
    ],
)  # fmt: skip
def test_the_verifier_finds_lost_front_matter(head: str, text: str, expected: list[str]) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("blogsmith.importers.jekyll.system.complete_page", untranslated)
        post = f"---\ntitle: A page\n{head}\n---\n\n{text}\n"
        done = run({"_config.yml": "title: X\n", "_posts/2024-01-01-a.md": post}, Path(name))
        report = (Path(name) / "new" / "import-report.md").read_text("utf-8")
    lost = [each for each in done.check.differences if each.what == "front matter"]
    assert sorted(each.text for each in lost) == expected
    assert bool(done.check.differences) == bool(expected)
    assert (NOTHING in report) == done.ok


@each_row(
    ("settings", "expected"),
    [
        ("plugins: [page]\nbanner: {style: wide}", ["banner", "plugins"]),
        ("author: {name: Ada, motto: All is rows and columns}", ["author.motto"]),
        # A known setting with a value that can only be meant for readers.
        ("tagline: One, two and three\ndescription: Other words", ["tagline"]),
        ("collections: {notes: {output: true}}\ntimezone: Europe/Paris\nurl: https://x.org", []),
    ],
)
def test_the_verifier_finds_lost_settings(settings: str, expected: list[str]) -> None:
    files = {"_config.yml": f"title: X\n{settings}\n", "_posts/2024-01-01-a.md": yaml_page("")}
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        named = run(files, Path(name) / "a")
        patch.setattr("blogsmith.importers.importer.report_lost_settings", lambda site: site)
        unnamed = run(files, Path(name) / "b")
    assert sorted(each.text for each in unnamed.check.differences) == expected
    assert named.check.differences == ()
    assert named.ok == (not expected)
    messages = " ".join(notice.message for notice in named.site.notices)
    assert sorted(re.findall('"([^"]*)"', messages)) == expected


def test_only_messages_about_keys_name_keys() -> None:
    assert is_named("mood.of.day", ['front matter key "Mood" has no effect in blogsmith'])
    assert is_named("mood", ['"mood", now "imported.mood"'])
    assert not is_named("mood", ['unknown shortcode "mood"', 'front matter key "moods" is omitted'])


def test_front_matter_that_cannot_be_read_is_not_certified(tmp_path: Path) -> None:
    run({"_config.yml": "title: X\n", "_posts/2024-01-01-a.md": "---\ntitle: [\n---\n\nText.\n"}, tmp_path)
    report = (tmp_path / "new" / "import-report.md").read_text("utf-8")
    assert NOTHING not in report
    assert "Not compared, because their front matter cannot be read:\n\n- _posts/2024-01-01-a.md" in report
