"""Messages of scripts in the language of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.languages.bundled_languages import bundled_texts

from .conftest import Served
from .notes import PAGE, notes, tap, touch
from .reader import DESKTOP, PHONE, Reader

SCRIPTS = Path(__file__).parents[2] / "themes/paper/static"
PARTIAL = SCRIPTS.parent / "partials/words.html"
NAME = "return document.querySelector('.copy-tex').textContent"
ITEMS = """
document.querySelector(".copy-tex").click();
return [...document.querySelectorAll(".copy-menu > button")].map(({textContent}) => textContent);
"""
NOTE = "return document.querySelector('.note-open')?.ariaLabel"
_CALL = re.compile(r'\bt\((?:[^"()]*\? )?"([^"]+)"(?: : "([^"]+)")?|words\["([^"]+)"\]')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build the notes as a German site and serve it."""
    with notes(tmp_path_factory.mktemp("words"), "lang: de\n") as served:
        yield served


def test_every_text_of_scripts_is_in_the_partial() -> None:
    texts = set()
    for file in SCRIPTS.glob("*.js"):
        for found in _CALL.finditer(file.read_text("utf-8")):
            texts |= {text for text in found.groups() if text}
    partial = PARTIAL.read_text("utf-8")
    assert len(texts) > 35
    assert [text for text in sorted(texts) if f't("{text}")' not in partial] == []
    assert texts <= bundled_texts("en").keys()


def test_an_english_page_holds_no_words_for_scripts(widgets: Served) -> None:
    assert "data-words" not in widgets.text("/posts/widgets/")


def test_words_of_a_page_without_code_to_run(site: Served) -> None:
    found = re.search(r"<script [^>]*data-words>(.*?)</script>", site.text(PAGE))
    assert found
    words = json.loads(found[1])
    assert words["copy LaTeX"] == "LaTeX kopieren"
    assert "Reset" not in words


def test_scripts_speak_the_language_of_the_page(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE), DESKTOP)
    assert reader.ask(NAME) == "Formel kopieren (1)"
    assert reader.ask(ITEMS) == ["LaTeX kopieren", "MathML kopieren", "Link kopieren"]
    touch(reader, site.url(PAGE), PHONE)
    tap(reader, "#fnref-1")
    assert reader.wait_for(lambda: reader.ask(NOTE)) == "Fußnote 1"
    reader.tell("Emulation.setTouchEmulationEnabled", enabled=False)
    assert reader.problems() == []
