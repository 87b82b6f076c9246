"""A site in several languages: URLs, lists, feeds, links between them, and what a build regenerates."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest

from blogsmith.build.incremental import UpdateRequest
from blogsmith.config.languages import file_language, version_config, version_url_prefix
from blogsmith.config.load import parse_config
from tests.build_scripts import compare
from tests.preview_sites import built, new_line, outputs, settled
from tests.rows import each_row
from tests.site_files import build, printed, put

SETTINGS = """\
title: Notes
description: Notes on one thing
base_url: https://example.org/b
lang: en
languages:
  en: {}
  de: {title: Notizen, description: Notizen zu einer Sache}
  ar: {title: ملاحظات, path: arabic}
"""
ENGLISH = """\
---
title: First
date: 2026-03-03
tags: [One]
series: {name: Basics, part: 1}
---
## Setup

$$x \\label{eq:x}$$

[second](second.md) [there](second.md#end) [German](first.de.md)
"""
GERMAN = """\
---
title: Erster
date: 2026-03-03
tags: [Eins]
series: {name: Grundlagen, part: 1}
---
## Aufbau

$$x \\label{eq:x}$$

[zweiter](second.md) [dort](second.md#end) [englisch](first.md) [Wurzel](/posts/second/) {@first#eq-x}
"""
SECOND = "---\ntitle: Second\ndate: 2026-03-04\n---\n## End\n\n{@first#eq-x}\n"
ZWEITER = "---\ntitle: Zweiter\ndate: 2026-03-04\nslug: zweiter\n---\n## Ende\n\n{@first#eq-x}\n"
FILES = {
    "blogsmith.yaml": SETTINGS,
    "content/posts/first.md": ENGLISH,
    "content/posts/first.de.md": GERMAN,
    "content/posts/second.md": SECOND,
    "content/posts/second.de.md": ZWEITER,
    "content/ar/posts/first.md": "---\ntitle: الأول\ndate: 2026-03-03\n---\nنص $x$.\n",
    "content/posts/eigen.md": "---\ntitle: Eigen\nlang: de\ndate: 2026-03-05\n---\nNur so.\n",
    "content/about.md": "---\ntitle: About\n---\nText.\n",
    "content/ueber.md": "---\ntitle: Über\nlang: de\ntranslation_key: about\n---\nText.\n",
    "content/posts/b/index.md": "---\ntitle: Bundle\n---\n![A dot](x.svg)\n",
    "content/posts/b/index.de.md": "---\ntitle: Bündel\n---\n![Ein Punkt](x.svg)\n",
    "content/posts/b/x.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>',
}


def site(tmp_path: Path, **more: str) -> Path:
    return put(tmp_path / "site", FILES | {name.replace("__", "/"): text for name, text in more.items()})


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = put(tmp_path_factory.mktemp("editions") / "site", FILES)
    report = build(root)
    assert report.ok, printed(report)
    return root / "public"


def html(public: Path, path: str) -> str:
    return (public / path / "index.html").read_text("utf-8")


def test_addresses(public: Path) -> None:
    found = {str(file.parent.relative_to(public)) for file in public.rglob("index.html")}
    assert {
        "posts/first",
        "de/posts/first",
        "arabic/posts/first",
        "de/posts/zweiter",
        "de/posts/eigen",
    } <= found
    assert {
        ".",
        "de",
        "arabic",
        "posts",
        "de/posts",
        "archive",
        "de/archive",
        "de/tags/eins",
        "tags/one",
    } <= found
    assert {"series/basics", "de/series/grundlagen", "de/ueber", "de/posts/b"} <= found
    assert not {"ar", "de/tags/one", "posts/eigen", "posts/first-de", "arabic/archive/page/2"} & found
    assert (public / "posts/b/x.svg").is_file()
    assert 'src="/b/posts/b/x.svg"' in html(public, "de/posts/b")


def test_lists_hold_the_pages_of_their_language(public: Path) -> None:
    german, english = html(public, "de/posts"), html(public, "posts")
    assert all(f">{title}</a>" in german for title in ("Erster", "Zweiter", "Eigen", "Bündel"))
    assert all(f">{title}</a>" in english for title in ("First", "Second", "Bundle"))
    assert "First" not in german
    assert "Erster" not in english
    front = html(public, "de")
    assert "<title>Notizen</title>" in front
    assert "Notizen zu einer Sache" in front
    assert 'href="/b/de/posts/"' in front
    assert 'href="/b/posts/"' not in front.replace('hreflang="en" lang="en" href', "")


def test_the_direction_of_writing(public: Path) -> None:
    assert '<html lang="ar" dir="rtl"' in html(public, "arabic/posts/first")
    assert '<html lang="ar" dir="rtl"' in html(public, "arabic")
    assert "dir=" not in html(public, "de/posts/first").partition("<body")[0]


def test_links_to_translations(public: Path) -> None:
    page = html(public, "de/posts/first")
    assert '<a rel="alternate" hreflang="en" lang="en" href="/b/posts/first/">English</a>' in page
    assert '<span lang="de" aria-current="true">Deutsch</span>' in page
    assert '<a rel="alternate" hreflang="ar" lang="ar" href="/b/arabic/posts/first/">العربية</a>' in page
    assert re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', page) == [
        ("en", "https://example.org/b/posts/first/"),
        ("de", "https://example.org/b/de/posts/first/"),
        ("ar", "https://example.org/b/arabic/posts/first/"),
        ("x-default", "https://example.org/b/posts/first/"),
    ]
    assert 'class="languages"' not in html(public, "de/posts/eigen")
    assert 'href="/b/about/">English</a>' in html(public, "de/ueber")
    for path in (".", "posts", "archive"):
        assert 'hreflang="de"' in html(public, path), path


def test_the_sitemap_names_translations(public: Path) -> None:
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    tree = ElementTree.parse(public / "sitemap.xml")
    found = {
        entry.findtext("s:loc", "", spaces): [
            link.get("hreflang") for link in entry.findall("x:link", spaces)
        ]
        for entry in tree.iterfind("s:url", spaces)
    }
    assert found["https://example.org/b/posts/first/"] == ["en", "de", "ar", "x-default"]
    assert found["https://example.org/b/de/posts/eigen/"] == []


def test_feeds(public: Path) -> None:
    feed = json.loads((public / "de/feed.json").read_text("utf-8"))
    assert (feed["title"], feed["language"]) == ("Notizen", "de")
    assert feed["feed_url"] == "https://example.org/b/de/feed.json"
    assert [item["title"] for item in feed["items"]] == ["Eigen", "Zweiter", "Erster"]
    assert [item["title"] for item in json.loads((public / "feed.json").read_text("utf-8"))["items"]] == [
        *("Second", "First")
    ]
    assert 'href="/b/de/atom.xml"' in html(public, "de/posts/first")
    assert (public / "de/tags/eins/atom.xml").is_file()


def test_a_formula_in_the_feed_of_a_language_written_from_the_right(public: Path) -> None:
    assert '<math dir="ltr"' in (public / "arabic/atom.xml").read_text("utf-8")
    assert '<math dir="ltr"' not in (public / "de/atom.xml").read_text("utf-8")


def test_references_prefer_the_language_of_the_page(public: Path) -> None:
    german, english = html(public, "de/posts/first"), html(public, "posts/first")
    assert '<a href="/b/de/posts/zweiter/">zweiter</a>' in german
    # the German page lacks this anchor
    assert '<a href="/b/posts/second/#end">dort</a>' in german
    assert '<a href="/b/posts/first/">englisch</a>' in german
    assert '<a href="/b/posts/second/">Wurzel</a>' in german
    assert '<a href="/b/posts/second/">second</a>' in english
    assert '<a href="/b/de/posts/first/">German</a>' in english
    assert 'href="/b/de/posts/first/#eq-x">Gleichung (1) aus <em>Erster</em></a>' in html(
        public, "de/posts/zweiter"
    )
    assert 'href="/b/posts/first/#eq-x">Equation (1) of <em>First</em></a>' in html(public, "posts/second")


def test_a_new_translation_changes_its_siblings_alone(tmp_path: Path) -> None:
    root = site(tmp_path)
    compare(root)
    before = {file: file.read_bytes() for file in (root / "public").rglob("*.html")}
    put(root, {"content/posts/b/index.ar.md": "---\ntitle: حزمة\n---\nنص.\n"})
    report = compare(root)
    assert report.ok, printed(report)
    assert set(report.rebuilt) == {"content/posts/b/index.ar.md"}
    public = root / "public"
    changed = {
        file.parent.relative_to(public).as_posix()
        for file, data in before.items()
        if file.read_bytes() != data
    }
    # the lists of its own language, and its neighbour there
    assert {name for name in changed if not name.startswith("arabic")} == {"posts/b", "de/posts/b"}


@pytest.mark.parametrize(
    "edit",
    [
        {"content/posts/first.de.md": GERMAN.replace("Erster", "Anfang")},
        {"content/posts/first.de.md": GERMAN.replace("## Aufbau", "Ein Wort.\n\n## Aufbau")},
        {"content/posts/second.de.md": ZWEITER.replace("## Ende", "## End")},
        {"content/ueber.md": FILES["content/ueber.md"].replace("about", "other")},
        {"blogsmith.yaml": SETTINGS.replace("  ar: {title: ملاحظات, path: arabic}\n", "  ar: {}\n")},
        {"blogsmith.yaml": SETTINGS.replace("title: Notizen", "title: Blätter")},
    ],
    ids=["title", "text", "anchor", "key", "path", "name"],
)
def test_an_edit_gives_what_a_build_from_nothing_gives(edit: dict[str, str], tmp_path: Path) -> None:
    root = site(tmp_path)
    build(root, use_cache=True)
    put(root, edit)
    compare(root)


def test_each_language_has_a_search_of_its_own(tmp_path: Path) -> None:
    root = put(tmp_path / "site", FILES | {"blogsmith.yaml": f"{SETTINGS}search: true\n"})
    compare(root)
    public = root / "public"
    assert ">Erster</a>" in html(public, "de/search")
    assert ">First</a>" not in html(public, "de/search")
    assert 'hreflang="en"' in html(public, "de/search")
    assert 'href="/b/de/search/"' in html(public, "de/posts/first")
    found = {
        name: json.loads((public / name / "search/index.json").read_text("utf-8")) for name in (".", "de")
    }
    assert found["."]["files"] != found["de"]["files"]
    pages = (public / "de/search/pages.json").read_text("utf-8")
    assert "/b/de/posts/first/" in pages
    assert '"/b/posts/first/' not in pages


def written(root: Path) -> dict[str, bytes]:
    """Return the output of a build."""
    assert build(root).ok
    return built(root / "public")


def test_the_preview_shows_what_a_build_writes(tmp_path: Path) -> None:
    root = site(tmp_path)
    line = new_line(root)
    present = settled(line)
    assert outputs(present) == written(root)
    path = "content/posts/first.de.md"
    put(root, {path: GERMAN + "\nNoch ein Satz, [zweiter](second.md).\n"})
    edited = line.update_page(present, path, UpdateRequest((path,), everything=False))
    assert edited is not None
    now = written(root)
    assert outputs(edited)["de/posts/first/index.html"] == now["de/posts/first/index.html"]
    assert outputs(settled(line, edited, UpdateRequest((path,)))) == now


def test_a_page_without_a_title_is_named_by_its_file(tmp_path: Path) -> None:
    root = put(
        tmp_path,
        {**FILES, "content/posts/ein-wort.de.md": "Text.\n", "content/posts/c/index.de.md": "Text.\n"},
    )
    assert build(root).ok
    assert ">Ein wort</h1>" in html(root / "public", "de/posts/ein-wort")
    assert ">C</h1>" in html(root / "public", "de/posts/c")


def test_a_page_in_a_language_that_the_site_has_not(tmp_path: Path) -> None:
    root = put(
        tmp_path, {**FILES, "content/posts/fr.md": "---\ntitle: Mot\nlang: fr\ndate: 2026-01-01\n---\nMot.\n"}
    )
    assert build(root).ok
    assert '<html lang="fr"' in html(root / "public", "posts/fr")
    assert ">Mot</a>" in html(root / "public", "posts")


def test_a_site_without_languages_has_one_list(tmp_path: Path) -> None:
    files = {"blogsmith.yaml": "title: S\n", "content/posts/a.md": "---\ntitle: A\nlang: de\n---\nText.\n"}
    files["content/de/b.md"] = "---\ntitle: B\n---\nText.\n"
    root = put(tmp_path, files)
    assert build(root).ok
    assert '<html lang="de"' in html(root / "public", "posts/a")
    assert (root / "public/de/b/index.html").is_file()
    assert 'lang="en"' in html(root / "public", "de/b")


def test_settings_of_a_language() -> None:
    config = parse_config(SETTINGS).config
    german = version_config("de", config)
    assert (german.lang, german.title, german.description) == ("de", "Notizen", "Notizen zu einer Sache")
    assert version_config("ar", config).description == ""
    assert (
        version_url_prefix("de", config),
        version_url_prefix("ar", config),
        version_url_prefix("", config),
    ) == (*("/de", "/arabic", ""),)


@each_row(
    ("path", "tag", "rest"),
    [
        ("content/posts/a.de.md", "de", "content/posts/a.md"),
        ("content/posts/a.DE.md", "de", "content/posts/a.md"),
        ("content/posts/a.en.md", "en", "content/posts/a.md"),
        ("content/posts/b/index.de.md", "de", "content/posts/b/index.md"),
        ("content/de/posts/a.md", "de", "content/posts/a.md"),
        ("content/en/about.md", "en", "content/about.md"),
        ("content/_index.ar.md", "ar", "content/_index.md"),
        ("content/posts/a.fr.md", "", "content/posts/a.fr.md"),
        ("content/posts/de/a.md", "", "content/posts/de/a.md"),
        ("content/de.md", "", "content/de.md"),
        ("content/.de.md", "", "content/.de.md"),
    ],
)
def test_what_a_path_says(path: str, tag: str, rest: str) -> None:
    found = file_language(PurePosixPath(path), parse_config(SETTINGS).config)
    assert (found.tag, str(found.path)) == (tag, rest)
