"""Sites and the browser that the tests of this folder share; one of each in a test process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site_files import build, printed

from .reader import Reader, reading
from .server import served

ROOT = Path(__file__).parents[2]
WIDGETS = Path(__file__).parent / "site"
# With an address the site has feeds and canonical links; nothing may load from there.
ADDRESS = "https://blogsmith.example"


@dataclass(frozen=True, slots=True)
class Served:
    """A built site at an address of this machine."""

    folder: Path
    origin: str
    """Without a slash at its end."""

    def url(self, path: str) -> str:
        """The address of a page, given its path in the site."""
        return self.origin + path

    def pages(self) -> list[str]:
        """The path of every page, sorted; redirects are none."""
        files = [f"/{file.relative_to(self.folder)}" for file in sorted(self.folder.rglob("*.html"))]
        pages = [file.removesuffix("index.html") for file in files]
        return [page for page in pages if 'http-equiv="refresh"' not in self.text(page)]

    def text(self, page: str) -> str:
        """The HTML of a page."""
        file = self.folder / page.removeprefix("/")
        return (file / "index.html" if page.endswith("/") else file).read_text("utf-8")


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """This repository's site, posts of the future included."""
    yield from _built(ROOT, tmp_path_factory.mktemp("own") / "public")


@pytest.fixture(scope="session")
def widgets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small site with everything that acts, and a plain post."""
    yield from _built(WIDGETS, tmp_path_factory.mktemp("widgets") / "public")


def _built(root: Path, output: Path) -> Iterator[Served]:
    report = build(root, output=output, base_url=ADDRESS, future=True)
    assert report.ok, printed(report)
    with served(output) as origin:
        yield Served(output, origin)


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader with a browser."""
    with reading(tmp_path_factory.mktemp("profile")) as reader:
        yield reader
