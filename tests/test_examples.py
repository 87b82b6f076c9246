"""The example sites: each builds without a diagnostic, has valid pages, and no dead link."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blogsmith.config.load import load_config
from tests.docs_sources import ROOT
from tests.site_files import build, printed
from tests.test_sites import broken_addresses

EXAMPLES = ROOT / "tests" / "examples"
NAMES = ("kernel-engineer", "lab", "lecturer", "mathematician", "notes")


def test_the_gallery_shows_every_example() -> None:
    assert tuple(sorted(path.name for path in EXAMPLES.iterdir())) == NAMES
    gallery = (ROOT / "content/gallery.md").read_text("utf-8")
    for name in NAMES:
        assert f"cp -r tests/examples/{name} " in gallery
        assert f"example-{name}-light.webp" in gallery
    looks = {
        (settings.theme, *sorted(map(str, settings.theme_options.items())))
        for settings in (load_config(EXAMPLES / name).config for name in NAMES)
    }
    assert len(looks) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_builds(name: str, tmp_path: Path) -> None:
    root = shutil.copytree(EXAMPLES / name, tmp_path / "site")
    report = build(root)
    assert report.ok, printed(report)
    assert not report.diagnostics, printed(report)
    sources = list((root / "content").rglob("*.md"))
    assert 5 <= len(sources) <= 10
    assert list(broken_addresses(root / "public", "")) == []
