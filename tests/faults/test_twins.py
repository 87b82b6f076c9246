"""Rows 6 and 7: errors name both pages with one URL, and both files with equal names on other systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.small_site import post
from tests.site_files import build, printed, put, put_bare

CONFIG = "title: T\n"
# Two files, and settings that make their URLs collide.
ONE_ADDRESS = {
    "equal slugs": ({"a.md": post("A", 1, "x", "slug: s\n"), "b.md": post("B", 2, "x", "slug: s\n")}, ""),
    "a slug that is a name": ({"a.md": post("A", 1, "x"), "b.md": post("B", 2, "x", "slug: a\n")}, ""),
    "a bundle and a file": ({"a.md": post("A", 1, "x"), "a/index.md": post("B", 2, "x")}, ""),
    "a date in the name": ({"2026-01-01-a.md": post("A", 1, "x"), "a.md": post("B", 2, "x")}, ""),
    "an alias": ({"a.md": post("A", 1, "x"), "b.md": post("B", 2, "x", "aliases: [/posts/a/]\n")}, ""),
    "two aliases": (
        {"a.md": post("A", 1, "x", "aliases: [/old/]\n"), "b.md": post("B", 2, "x", "aliases: [/old/]\n")},
        "",
    ),
    "another ending": (
        {"a.md": post("A", 1, "x", "slug: s\n"), "b.markdown": post("B", 2, "x", "slug: s\n")},
        "",
    ),
    "a file of static": ({"a.md": post("A", 1, "x"), "../../static/posts/a/index.html": "x"}, ""),
    "a permalink": (
        {"a/one.md": post("A", 1, "x"), "b/one.md": post("B", 1, "x")},
        "permalinks: {posts: '/p/:slug/'}\n",
    ),
}


@pytest.mark.parametrize("how", ONE_ADDRESS)
def test_row_06_two_pages_with_one_address_are_both_named(how: str, tmp_path: Path) -> None:
    files, config = ONE_ADDRESS[how]
    root = put_bare(tmp_path, {"blogsmith.yaml": CONFIG + config})
    put(root, {f"content/posts/{name}": text for name, text in files.items()})
    report = build(root)
    assert not report.ok and not (root / "public").exists()
    said = printed(report)
    for name in files:
        assert name.removeprefix("../../") in said, said


TWINS = (
    ("Case.md", "case.md"),
    ("\u00e9.md", "e\u0301.md"),
    ("stra\u00dfe.md", "strasse.md"),
    ("\ufb01n.md", "fin.md"),
    ("Posts/a.md", "posts/a.md"),
    ("pic.PNG", "pic.png"),
    ("\u0130.md", "i\u0307.md"),
    ("\u212a.md", "k.md"),
    ("\u00c5.md", "\u212b.md"),
)


@pytest.mark.parametrize(("one", "other"), TWINS, ids=ascii)
def test_row_07_names_that_are_one_elsewhere_are_both_named(one: str, other: str, tmp_path: Path) -> None:
    texts = {f"content/{name}": post(ascii(name).strip("'"), 1, "x") for name in (one, other)}
    root = put_bare(tmp_path, {"blogsmith.yaml": CONFIG, **texts})
    if len([file for file in (root / "content").rglob("*") if file.is_file()]) < 2:
        pytest.skip("this file system holds only one of the twins")
    report = build(root)
    assert not report.ok and not (root / "public").exists()
    said = printed(report)
    assert one.split("/")[0] in said and other.split("/")[0] in said
