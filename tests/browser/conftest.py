"""Sites and the browser that the tests of this folder share; one of each in a test process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.site_files import build, printed

from .browser_python import PAGE, Blocks, built_site
from .firefox import Firefox, firefox
from .reader import DESKTOP, Reader, reading
from .server import served
from .shared import shared_folder
from .specimens import write_specimens

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
    folder = shared_folder(tmp_path_factory, "own", lambda folder: _build(ROOT, folder / "public")) / "public"
    with served(folder) as origin:
        yield Served(folder, origin)


@pytest.fixture(scope="session")
def specimens(own_site: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same, cut down to one block of each kind."""
    with cut_down(own_site, tmp_path_factory, "specimens") as site:
        yield site


@contextmanager
def cut_down(site: Served, factory: pytest.TempPathFactory, name: str) -> Iterator[Served]:
    """A site with one block of each kind that is in another."""
    pages = {page: site.text(page) for page in site.pages()}
    folder = shared_folder(
        factory, name, lambda folder: write_specimens(site.folder, pages, folder / "public")
    )
    with served(folder / "public") as origin:
        yield Served(folder / "public", origin)


@pytest.fixture(scope="session")
def widgets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small site with everything that acts, and a plain post."""
    yield from _built(WIDGETS, tmp_path_factory.mktemp("widgets") / "public")


@pytest.fixture(scope="session")
def run_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The site `run_site/` with Python and a stub of NumPy; from one address Python is loaded once."""
    output = built_site(tmp_path_factory.mktemp("run"))
    with served(output) as origin:
        yield Served(output, origin)


def _build(root: Path, output: Path) -> None:
    report = build(root, output=output, base_url=ADDRESS, future=True)
    assert report.ok, printed(report)


def _built(root: Path, output: Path) -> Iterator[Served]:
    _build(root, output)
    with served(output) as origin:
        yield Served(output, origin)


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader with a browser."""
    with reading(tmp_path_factory.mktemp("profile")) as reader:
        yield reader


@pytest.fixture(scope="session")
def only_fox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """A reader with Firefox, started once: that takes longer than most of what it is asked."""
    with firefox(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


@pytest.fixture
def fox(only_fox: Firefox) -> Firefox:
    """The same, as wide as the other reader, whatever another test looked at it like."""
    only_fox.resize(DESKTOP.width_px, 800, 1.0)
    only_fox.choose_scheme("light")
    return only_fox


@pytest.fixture
def fresh(run_site: Served, reader: Reader) -> Blocks:
    """The page as a reader finds it."""
    reader.open(run_site.url(PAGE))
    return Blocks(reader)


@pytest.fixture
def blocks(run_site: Served, reader: Reader) -> Blocks:
    """The page, perhaps with Python of an earlier test: loading it takes seconds."""
    if reader.ask("return location.href") != run_site.url(PAGE) or not reader.ask("return window.kept"):
        reader.open(run_site.url(PAGE))
        reader.ask("window.kept = true")
    reader.problems()
    return Blocks(reader)
