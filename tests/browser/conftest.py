"""Sites and browsers shared by the tests of this folder; one of each per test process."""

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
# With a base URL the site has feeds and canonical links. Nothing may be loaded from there.
ADDRESS = "https://blogsmith.example"


@dataclass(frozen=True, slots=True)
class Served:
    """A built site, served by this machine."""

    folder: Path
    origin: str
    """Scheme, host and port, without a slash at the end."""

    def url(self, path: str) -> str:
        """Return the URL of a path in the site."""
        return self.origin + path

    def pages(self) -> list[str]:
        """Return the paths of all pages except redirects, sorted."""
        files = [f"/{file.relative_to(self.folder)}" for file in sorted(self.folder.rglob("*.html"))]
        pages = [file.removesuffix("index.html") for file in files]
        return [page for page in pages if 'http-equiv="refresh"' not in self.text(page)]

    def text(self, page: str) -> str:
        file = self.folder / page.removeprefix("/")
        return (file / "index.html" if page.endswith("/") else file).read_text("utf-8")


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build this repository's site, including posts with future dates."""
    folder = shared_folder(tmp_path_factory, "own", lambda folder: _build(ROOT, folder / "public")) / "public"
    with served(folder) as origin:
        yield Served(folder, origin)


@pytest.fixture(scope="session")
def specimens(own_site: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return the same site, reduced to one block of each kind."""
    with cut_down(own_site, tmp_path_factory, "specimens") as site:
        yield site


@contextmanager
def cut_down(site: Served, factory: pytest.TempPathFactory, name: str) -> Iterator[Served]:
    """Serve a copy of a site, reduced to one block of each kind."""
    pages = {page: site.text(page) for page in site.pages()}
    folder = shared_folder(
        factory, name, lambda folder: write_specimens(site.folder, pages, folder / "public")
    )
    with served(folder / "public") as origin:
        yield Served(folder / "public", origin)


@pytest.fixture(scope="session")
def widgets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build a small site with all interactive elements, and a plain post."""
    yield from _built(WIDGETS, tmp_path_factory.mktemp("widgets") / "public")


@pytest.fixture(scope="session")
def run_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build the site `run_site/` with a stub of NumPy. At one origin Python is loaded once."""
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
    with reading(tmp_path_factory.mktemp("profile")) as reader:
        yield reader


@pytest.fixture(scope="session")
def only_fox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Start Firefox once, because the start takes longer than most tests."""
    with firefox(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


@pytest.fixture
def fox(only_fox: Firefox) -> Firefox:
    """Return Firefox with the usual width and a light scheme, whatever other tests changed."""
    only_fox.resize(DESKTOP.width_px, 800, 1.0)
    only_fox.choose_scheme("light")
    return only_fox


@pytest.fixture
def fresh(run_site: Served, reader: Reader) -> Blocks:
    """Open the page in its initial state."""
    reader.open(run_site.url(PAGE))
    return Blocks(reader)


@pytest.fixture
def blocks(run_site: Served, reader: Reader) -> Blocks:
    """Open the page, possibly with Python loaded by an earlier test, because loading takes seconds."""
    if reader.ask("return location.href") != run_site.url(PAGE) or not reader.ask("return window.kept"):
        reader.open(run_site.url(PAGE))
        reader.ask("window.kept = true")
    reader.problems()
    return Blocks(reader)
