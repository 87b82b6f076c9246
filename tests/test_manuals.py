"""Manuals: which pages belong to one, their tree in groups, and what their layout shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from blogsmith.site.manuals import LAYOUT
from tests.build_scripts import compare
from tests.site_files import build, printed, put
from tests.theme_pages import having, text

INDEX = "content/docs/_index.md"
FILES = {
    "blogsmith.yaml": "title: Kit\nauthor: Ada\ntheme_options:\n"
    "  version: Version 2.1 of {generator}\n  repository: https://example.org/source\n"
    "  edit: https://example.org/edit/{path}\n",
    INDEX: "---\ntitle: Manual\nlayout: manual\n---\nHello.\n",
    "content/docs/a.md": "---\ntitle: Alpha\n---\n## One\n\nA.\n\n## Two\n\nB.\n",
    "content/docs/b.md": "---\ntitle: Beta\nseries: {name: All, part: 2}\nstatus: wip\n---\nText.\n",
    "content/docs/c.md": "---\ntitle: Gamma\nseries: {name: All, part: 1}\nlayout: slides\n---\nText.\n",
    "content/docs/deep/_index.md": "---\ntitle: Deep\n---\nText.\n",
    "content/docs/deep/x.md": "---\ntitle: Xi\n---\nText.\n",
    "content/posts/p.md": "---\ntitle: Post\ndate: 2026-01-01\n---\nText.\n",
}


def built(root: Path, **changes: str) -> Mapping[str, Element]:
    """Build the site, and return its pages by their path."""
    files = {**FILES, **{INDEX if name == "index" else name: data for name, data in changes.items()}}
    report = build(put(root, files))
    assert report.ok, printed(report)
    pages = (root / "public").rglob("index.html")
    return {
        page.parent.relative_to(root / "public").as_posix(): html5lib.parse(
            page.read_text("utf-8"), namespaceHTMLElements=False
        )
        for page in pages
    }


def shown_tree(page: Element) -> dict[str, list[str]]:
    """Return the pages of each group of the tree, in order."""
    (nav,) = having(page, "manual")
    (box,) = nav.findall("div")
    found = {}
    for part in (one for one in box if one.tag != "p"):
        label = part.find("summary")
        rows = [ol.findall("li") for ol in part.iter("ol") if ol.get("class") == "tree"]
        found["" if label is None else text(label)] = [text(item[0]) for item in rows[0]]
    return found


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        # by part and path, then folder by folder
        ("", {"": ["Gamma", "Beta", "Alpha"], "Deep": ["Deep", "Xi"]}),
        (
            "tree: {Last: [b.md], First: [deep/_index.md, a.md]}\n",
            {"Last": ["Beta"], "First": ["Deep", "Xi", "Alpha"], "": ["Gamma"]},
        ),
        (
            "tree:\n  Some: [./a.md, deep/x.md]\n",
            {"Some": ["Alpha", "Xi"], "": ["Gamma", "Beta"], "Deep": ["Deep"]},
        ),
    ],
)
def test_groups_and_neighbours(tree: str, expected: Mapping[str, list[str]], tmp_path: Path) -> None:
    pages = built(tmp_path, index=FILES[INDEX].replace("\n---\nH", f"\n{tree}---\nH"))
    assert shown_tree(pages["docs/a"]) == expected
    ordered = ["Manual", *(title for titles in expected.values() for title in titles)]
    for path in ("docs", "docs/a", "docs/b", "docs/deep", "docs/deep/x"):
        (title,) = having(pages[path], "post-title")
        at = ordered.index(text(title))
        around = {
            link.get("rel"): text(having(link, "nav-title")[0])
            for nav in having(pages[path], "manual-nav")
            for link in nav
        }
        wanted = {"prev": ordered[at - 1] if at else "", "next": (*ordered, "")[at + 1]}
        assert around == {rel: name for rel, name in wanted.items() if name}, path


def test_what_a_page_of_a_manual_shows(tmp_path: Path) -> None:
    page = built(
        tmp_path, index=FILES[INDEX].replace("\n---\nH", "\ntree: {One: [a.md], Two: [b.md]}\n---\nH")
    )["docs/a"]
    assert [text(item) for item in having(page, "breadcrumbs")[0].iter("li")] == ["Manual", "One"]
    (nav,) = having(page, "manual")
    (current,) = [item for item in nav.iter() if item.get("aria-current") == "page"]
    assert text(current) == "Alpha"
    assert [link.get("href") for link in nav.iter("a")][:2] == ["#one", "#two"]
    folds = {text(one[0]): one.get("open") is not None for one in nav.iter("details")}
    assert folds == {"Manual › One": False, "One": True, "Two": False, "Deep": False}
    (version,) = having(page, "manual-version")
    assert text(version).startswith("Version 2.1 of blogsmith ")
    assert [link.get("href") for link in version.iter("a")] == ["https://example.org/source"]
    assert [link.get("href") for link in having(page, "page-source")[0].iter("a")] == [
        "https://example.org/edit/content/docs/a.md"
    ]
    assert [text(one) for one in having(page, "nav-label")] == ["Previous", "Next · Two"]
    assert not [
        name for name in ("post-authors", "reading-time", "series", "series-place") if having(page, name)
    ]
    sources = (one.get("src", "") for one in page.iter("script"))
    assert [url.partition("?")[0] for url in sources if url] == ["/assets/paper/spy.js"]


def test_pages_outside_and_pages_with_a_layout_of_their_own(tmp_path: Path) -> None:
    pages = built(tmp_path)
    assert [path for path in sorted(pages) if having(pages[path], "manual-page")] == [
        "docs",
        "docs/a",
        "docs/b",
        "docs/deep",
        "docs/deep/x",
    ]
    assert having(pages["docs/c"], "slides")
    assert having(pages["docs/b"], "badge-wip")


def test_a_manual_is_kept_and_made_again_alike(tmp_path: Path) -> None:
    root = put(tmp_path / "site", FILES)
    compare(root)
    for path, data in (
        (INDEX, FILES[INDEX].replace("\n---\nH", "\ntree: {One: [b.md]}\n---\nH")),
        ("content/docs/b.md", FILES["content/docs/b.md"].replace("Beta", "Betta")),
        (INDEX, FILES[INDEX].replace(f"layout: {LAYOUT}\n", "")),
    ):
        put(root, {path: data})
        compare(root)
