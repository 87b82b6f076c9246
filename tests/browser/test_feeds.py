"""Feeds as a feed reader parses them."""

from __future__ import annotations

from pathlib import Path

import feedparser
import pytest

from .conftest import ADDRESS, Served


def complaints(file: Path, text: str = "content") -> list[str]:
    """Return problems that a feed reader would ignore or repair in the feed.

    text: key that each entry must have.
    """
    read = feedparser.parse(file.read_bytes(), response_headers={"content-type": "application/atom+xml"})
    ids = [entry.get("id") for entry in read.entries]
    found = [str(read.bozo_exception)] if read.bozo else []
    found += [f"no {key}" for key in ("id", "title", "link", "updated") if not read.feed.get(key)]
    found += ["an id twice"] if len(ids) != len(set(ids)) else []
    for entry in read.entries:
        found += [f"{entry.get('id')}: no {key}" for key in ("title", "updated_parsed") if not entry.get(key)]
        found += [] if str(entry.get("link")).startswith(ADDRESS) else [f"{entry.get('id')}: link"]
        found += [] if entry.get(text) else [f"{entry.get('id')}: no {text}"]
    return found


def test_feeds_of_our_own_site(own_site: Served) -> None:
    files = sorted(own_site.folder.rglob("atom.xml"))
    if not files:
        pytest.skip("the site has no feeds yet")
    of_site = own_site.folder / "atom.xml"
    assert of_site in files
    found = [
        f"{file}: {complaint}"
        for file in files
        # The feeds of terms contain descriptions.
        for complaint in complaints(file, "content" if file == of_site else "summary")
    ]
    assert not found, "\n".join(found)


def test_a_complaint_would_be_heard(tmp_path: Path) -> None:
    feed = tmp_path / "atom.xml"
    feed.write_text(
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><entry><id>1</id>&nope;</entry>'
    )
    found = complaints(feed)
    assert {"no id", "no updated", "1: no title", "1: no content"} <= set(found)
    assert any("entity" in complaint for complaint in found)
