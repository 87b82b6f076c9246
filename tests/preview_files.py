"""A file of a site in memory, for tests of the preview's server."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.preview.protocol import Response
from tests.preview_client import MemorySite


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Return a file of the site, next to a folder whose name starts with that of the site."""
    root = tmp_path.resolve() / "site"
    (root / "posts").mkdir(parents=True)
    (root.parent / "site-secret").mkdir()
    (root.parent / "site-secret" / "a.png").write_bytes(b"secret")
    (root / "posts" / "a.png").write_bytes(bytes(range(100)))
    return root / "posts" / "a.png"


def with_file(path: Path) -> MemorySite:
    """Return a site with the file at `/a.png`."""
    return MemorySite({"/a.png": Response(200, "image/png", file=path)})
