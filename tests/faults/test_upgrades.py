"""Row 21: a newer version writes a site with the same bytes, or the difference is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blogsmith.base.storage.file_names import MANIFEST
from tests.faults.children import public
from tests.faults.golden import SITES, built, difference, is_listed, listed, recorded
from tests.faults.small_site import before
from tests.site_files import build, put

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
HELP = (
    "these files are not what the last release made: if that is meant, tell authors in CHANGELOG.md and "
    "list it in tests/faults/golden/changes.txt"
)


@pytest.mark.parametrize("name", SITES)
def test_row_21_the_same_bytes_or_a_listed_change(name: str, tmp_path: Path) -> None:
    changed = difference(recorded(name), built(name, tmp_path))
    assert sorted(path for path in changed if not is_listed(path, listed())) == [], HELP


def test_row_21_the_changelog_tells_of_every_listed_change() -> None:
    text = " ".join(CHANGELOG.read_text("utf-8").split())
    for pattern, words in listed().items():
        assert words and words in text, f"{pattern}: CHANGELOG.md does not say {words!r}"


def test_row_21_a_change_would_be_seen() -> None:
    before_, after = {"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}
    assert difference(before_, after) == {"b", "c", "d"}
    assert is_listed("posts/a/index.html", {"posts/*": "x"}) and not is_listed("index.html", {"posts/*": "x"})


def test_row_21_a_folder_of_the_first_version_is_taken_over(tmp_path: Path) -> None:
    """Its manifest has format 1. Files that it lists are replaced or removed; all other files stay."""
    root = before(tmp_path)
    old = {"index.html": "old", "gone/index.html": "old"}
    manifest = {"format": 1, "files": {path: "0" * 64 for path in old}}
    put(root, {f"public/{path}": text for path, text in old.items()})
    put(root, {f"public/{MANIFEST}": json.dumps(manifest), "public/CNAME.old": "mine"})
    (root / "content/about.md").unlink()
    assert build(root).ok
    left = public(root)
    assert "gone/index.html" not in left and left["CNAME.old"] == b"mine"
    assert left["index.html"] != b"old"
