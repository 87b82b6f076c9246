"""Pages with every feature, in every language and both themes: valid HTML, accessible, with working links.

`make test-features` runs this alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.page_checks import elements, parse
from tests.test_sites import broken_addresses

from .accessibility import LOOKS, Looks
from .conftest import Served
from .feature_site import LANGUAGES, OWN, THEMES, build_features
from .reader import DESKTOP, SHEET, WITHOUT_SCRIPTS, Reader
from .server import served
from .shared import shared_folder
from .test_markup import errors
from .test_pages import UNSEEN_TEXT, axe, listing

__all__ = ["axe"]

pytestmark = pytest.mark.long
WITH_PAPER = {**LOOKS, "print": replace(SHEET, scheme="dark")}
"""The usual looks, and print from a system with a dark scheme: paper stays white."""
QUIET = ".comments-load, .margin-mark, "
"""Selectors of elements that may be invisible: a button that needs a script, and brackets of margin notes."""


@pytest.fixture(scope="module", params=THEMES)
def features(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Served]:
    theme = request.param
    made = shared_folder(tmp_path_factory, f"features-{theme}", lambda folder: build_features(folder, theme))
    with served(made / "public") as origin:
        yield Served(made / "public", origin)


@pytest.fixture(scope="module")
def looks(reader: Reader, axe: str) -> Looks:
    """Return the checker of this process, for the pages of all languages."""
    return Looks(reader, axe, WITH_PAPER)


def pages_in(site: Served, language: str) -> list[str]:
    """Return the paths of the pages of a language."""
    others = tuple(f"/{tag}/" for tag in LANGUAGES if tag != OWN)
    found = site.pages()
    if language == OWN:
        return [page for page in found if not page.startswith(others)]
    return [page for page in found if page.startswith(f"/{language}/")]


def test_markup(features: Served) -> None:
    found = errors(features.folder)
    assert not found, "\n".join(found)


def test_each_address_leads_somewhere(features: Served) -> None:
    assert list(broken_addresses(features.folder, "")) == []
    copies = {
        part.split()[0]
        for page in features.pages()
        for _, element in elements(parse(features.text(page)))
        for part in element.get("srcset", "").split(",")
        if part.strip()
    }
    assert copies
    assert [copy for copy in copies if not (features.folder / copy.removeprefix("/")).is_file()] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_has_a_fault(features: Served, looks: Looks, language: str) -> None:
    found: dict[str, list[str]] = {}
    for page in (pages := pages_in(features, language)):
        looks.reader.open(features.url(page), DESKTOP)
        for fault, place in looks.faults():
            found.setdefault(fault, []).append(f"{page} {place}")
    assert len(pages) > 15
    assert not found, listing(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_hidden_without_scripts(features: Served, reader: Reader, language: str) -> None:
    found: dict[str, list[str]] = {}
    first, *_ = pages = pages_in(features, language)
    reader.open(features.url(first), WITHOUT_SCRIPTS)
    for page in pages:
        reader.go_to(features.url(page))
        for text in reader.ask(UNSEEN_TEXT.replace('".sweep-controls, "', f'"{QUIET}.sweep-controls, "')):
            found.setdefault(text, []).append(page)
    assert not found, listing(found)
