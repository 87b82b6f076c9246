"""Pages of a manual: accessible in all looks, with a tree that folds on a phone without scripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.site_files import build, printed, put
from tests.test_manuals import FILES, INDEX

from . import tools
from .accessibility import Looks
from .reader import PAPER, PHONE, WITHOUT_SCRIPTS, Reader
from .server import served

IS_SHOWN = "return document.querySelector('.manual .tree').checkVisibility()"


@pytest.mark.parametrize(("theme", "lang"), [("paper", "en"), ("terminal", "ar")])
def test_a_page_of_a_manual(theme: str, lang: str, tmp_path: Path, reader: Reader) -> None:
    settings = FILES["blogsmith.yaml"].replace("title: Kit", f"title: Kit\ntheme: {theme}\nlang: {lang}")
    tree = FILES[INDEX].replace("\n---\nH", "\ntree: {One: [a.md], Two: [b.md]}\n---\nH")
    report = build(put(tmp_path, {**FILES, "blogsmith.yaml": settings, INDEX: tree}))
    assert report.ok, printed(report)
    with served(tmp_path / "public") as origin:
        reader.open(f"{origin}/docs/a/")
        assert Looks(reader, tools.file(tools.AXE).read_text("utf-8")).faults() == []
        assert not reader.problems()
        reader.open(f"{origin}/docs/a/", replace(WITHOUT_SCRIPTS, width_px=PHONE.width_px))
        assert not reader.ask(IS_SHOWN)
        reader.ask("document.querySelector('.manual > details > summary').focus()")
        reader.press(Keys.ENTER)
        reader.wait_for(lambda: reader.ask(IS_SHOWN))
        assert reader.ask("return document.documentElement.scrollWidth") <= PHONE.width_px
        reader.take_on(PAPER)
        assert not reader.ask(IS_SHOWN)
