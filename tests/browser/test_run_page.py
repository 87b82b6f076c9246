"""Code run by readers: editing it, loading Python and packages, and its appearance."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from . import browser_python
from .accessibility import faults, faults_in_looks
from .browser_python import NOT_RUN, PAGE, THEME, VISIBLE, WHEEL, Blocks, of, write_wheel
from .conftest import Served
from .equations import MIDDLE, move_to
from .reader import DESKTOP, PAPER, PHONE, Reader
from .server import served
from .test_pages import axe

__all__ = ["axe"]

TABLES = """\
class Row:
    def _repr_html_(self):
        return "<table><tr><td>1</td></tr></table><table><tr><td>2</td></tr></table>"

display(Row())
print("\\n".join("abc" * 30))
count = 1"""
REGIONS = "return [...document.querySelectorAll('.run-output [role=region]')].map(region => region.ariaLabel)"
SHADOW = "return getComputedStyle(block.querySelector('figure.code')).boxShadow"


class TestEditing:
    def test_by_keyboard(self, blocks: Blocks) -> None:
        blocks.type("count", Keys.ENTER, "if count:", Keys.ENTER, "count = 'five'  # 5")
        lines = blocks.ask("count", "return [...block.querySelectorAll('.line')].map(e => e.innerHTML)")
        assert lines == [
            'count = <span class="mi">1</span>\n',
            '<span class="k">if</span> count:\n',
            '    count = <span class="s1">\'five\'</span>  <span class="c1"># 5</span>\n',
        ]
        blocks.forget("count")
        blocks.reader.press(Keys.CONTROL + Keys.ENTER)
        assert blocks.said("count").startswith("Ran in ")
        blocks.write("more", "count")
        blocks.run("more")
        assert blocks.text("more") == "'five'"
        for label in ("count", "more"):
            blocks.reader.find(f"{of(label)} .run-reset").click()
            assert blocks.ask(label, "return document.activeElement === block.querySelector('.run-button')")
        code = blocks.ask("count", "return block.querySelector('figure code').textContent")
        assert code == "count = 1\n"

    def test_tab_is_no_trap(self, blocks: Blocks) -> None:
        inside = "return document.activeElement === block.querySelector('.run-field')"
        blocks.type("count", Keys.TAB)
        assert not blocks.ask("count", inside), "nothing was typed"
        blocks.type("count", Keys.ENTER, "x", Keys.TAB)
        assert blocks.ask("count", inside)
        assert blocks.ask("count", "return block.querySelector('.run-field').value") == "count = 1\nx   "
        blocks.ask("count", "block.querySelector('.run-field').setSelectionRange(3, 11)")
        blocks.reader.press(Keys.TAB)
        lines = "    count = 1\n    x   "
        assert blocks.ask("count", "return block.querySelector('.run-field').value") == lines
        blocks.reader.press(Keys.ESCAPE, Keys.TAB)
        assert not blocks.ask("count", inside)
        blocks.reader.find(f"{of('count')} .run-reset").click()

    def test_a_long_line_scrolls_with_the_caret(self, blocks: Blocks) -> None:
        left = "return block.querySelector('pre').scrollLeft"
        blocks.type("more", "  # " + 100 * "long ")
        assert int(str(blocks.ask("more", left))) > 0
        assert blocks.ask("more", "return block.querySelector('.run-field').scrollLeft") == 0
        blocks.type("more", Keys.ENTER, Keys.BACKSPACE, Keys.HOME, "x")
        assert blocks.ask("more", left) == 0
        blocks.reader.find(f"{of('more')} .run-reset").click()

    @pytest.mark.parametrize("label", ["count", "same"])
    def test_the_field_lies_on_the_code(self, blocks: Blocks, label: str) -> None:
        height = blocks.reader.ask(BOX, f"{of(label)} pre")["height"]
        lines = 3 if label == "same" else 1
        assert lines * 19 < height < lines * 24 + 24, "the field must not make room for more"
        code, field = (blocks.reader.ask(BOX, f"{of(label)} pre > {part}") for part in ("code", ".run-field"))
        assert [code[side] for side in ("left", "right")] == [field[side] for side in ("left", "right")]
        above = "return parseFloat(getComputedStyle(block.querySelector('.run-field')).paddingTop)"
        assert field["top"] + float(str(blocks.ask(label, above))) == pytest.approx(code["top"], abs=0.1)
        blocks.type(label)
        first = blocks.ask(
            label,
            "const r = document.createRange(); r.selectNodeContents(block.querySelector('.line'));"
            "return r.getClientRects()[0].left",
        )
        indent = blocks.ask(
            label, "return parseFloat(getComputedStyle(block.querySelector('.run-field')).paddingLeft)"
        )
        assert isinstance(indent, (int, float))
        assert field["left"] + indent == pytest.approx(first, abs=0.1)


class TestLooks:
    def test_axe_finds_nothing(self, blocks: Blocks, axe: str) -> None:
        # Output of other tests is not judged here.
        blocks.reader.ask("for (const reset of document.querySelectorAll('.run-reset')) reset.click()")
        for label in ("same", "wrong", "values", "texts"):
            blocks.run(label)
        assert faults_in_looks(blocks.reader, axe) == []
        blocks.reader.take_on(DESKTOP)

    def test_no_two_regions_have_one_name(self, blocks: Blocks, axe: str) -> None:
        blocks.reader.ask("for (const reset of document.querySelectorAll('.run-reset')) reset.click()")
        blocks.write("count", TABLES)
        blocks.write("more", TABLES)
        blocks.run("more")
        names = blocks.reader.ask(REGIONS)
        assert len(names) == 6 and len(set(names)) == 6, names
        assert all(" block " in name for name in names)
        assert faults(blocks.reader, axe) == []
        for label in ("count", "more"):
            blocks.reader.find(f"{of(label)} .run-reset").click()

    def test_code_shows_that_it_can_be_edited(self, blocks: Blocks) -> None:
        edit = "block.querySelector('figcaption > .run-edit')"
        assert blocks.ask("same", f"return {edit}.textContent") == "edit"
        assert blocks.ask("same", f"return getComputedStyle({edit}, '::before').maskImage !== 'none'")
        assert (
            blocks.ask("same", "return getComputedStyle(block.querySelector('.run-field')).cursor") == "text"
        )
        at_rest = blocks.ask("same", SHADOW)
        move_to(blocks.reader, **blocks.reader.ask(MIDDLE, f"{of('same')} .run-field"))
        blocks.reader.wait_for(lambda: blocks.ask("same", SHADOW) != at_rest)

    def test_a_block_stays_in_its_column(self, blocks: Blocks) -> None:
        blocks.reader.take_on(PHONE)
        assert blocks.ask("column", "return document.documentElement.scrollWidth <= innerWidth")
        blocks.reader.take_on(DESKTOP)

    def test_on_paper(self, blocks: Blocks) -> None:
        blocks.run("same")
        blocks.reader.take_on(PAPER)
        for interface in (".run-button", ".run-bar", ".run-field", ".run-status"):
            assert not blocks.reader.ask(VISIBLE, interface), f"{interface} is printed"
        assert blocks.reader.ask(VISIBLE, f"{of('same')} .run-output")
        blocks.reader.take_on(DESKTOP)


class TestLoading:
    def test_the_server_is_gone(self, run_site: Served, reader: Reader) -> None:
        with served(run_site.folder) as origin:
            reader.open(origin + PAGE)
        blocks = Blocks(reader)
        host = origin.removeprefix("http://")
        words = f"Cannot load the program that runs code from {host}. Run tries again."
        assert blocks.run("same") == words
        assert reader.ask(VISIBLE, f"{of('same')} > .cell-output")
        assert blocks.run("same") == words

    @pytest.mark.parametrize(
        ("address", "why"),
        [
            ("https://cdn.example/full/", "from cdn.example: no connection, or the address is blocked"),
            ("/nowhere/", "from 127.0.0.1:PORT: not found (404)"),
        ],
    )
    def test_there_is_no_python(self, run_site: Served, fresh: Blocks, address: str, why: str) -> None:
        fresh.ask("same", f"block.querySelector('.runnable').dataset.pyodide = '{address}'")
        fresh.ask(
            "same",
            "for (const b of document.querySelectorAll('.runnable')) b.dataset.pyodide ="
            "block.querySelector('.runnable').dataset.pyodide",
        )
        why = why.replace("PORT", run_site.origin.rpartition(":")[2])
        assert fresh.run("same") in (f"Cannot load Python {why}. Run tries again.", NOT_RUN)
        said = fresh.text("square", ".run-status")
        assert said == f"Cannot load Python {why}. Run tries again."
        assert fresh.reader.ask(VISIBLE, f"{of('same')} > .cell-output")

    def test_packages(self, run_site: Served, reader: Reader) -> None:
        reader.open(run_site.url("/posts/packages/"))
        blocks, wheel = Blocks(reader), run_site.folder / "pyodide" / WHEEL
        assert re.search(r"loads up to 1\d MB of Python and numpy first", blocks.text("array", ".run-status"))
        good = wheel.read_bytes()
        host = run_site.origin.removeprefix("http://")
        words = f"The package numpy could not be loaded from {host}: "
        wheel.unlink()
        assert blocks.run("array") == f"{words}not found (404). Run tries again."
        write_wheel(wheel, "zeros = print")
        assert blocks.run("array") == f"{words}its checksum is wrong. Run tries again."
        wheel.write_bytes(good)
        assert blocks.run("array").startswith("Ran in ")
        assert blocks.text("array") == "[0. 0.]\n"
        assert reader.foreign_requests() == []

    def test_numpy_itself(self, tmp_path: Path, reader: Reader) -> None:
        with served(browser_python.full_site(tmp_path)) as origin:
            reader.open(f"{origin}/posts/packages/")
            blocks = Blocks(reader)
            assert blocks.run("array").startswith("Ran in ")
            assert blocks.text("array") == "[0. 0.]\n"


BOX = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
DRAWING = """\
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(2, 1))
ax.set_axis_off()
lines = ax.plot([1, 2])
plt.show()
ax.set_title("a title far above the figure's edge", y=1.5)
print("drawn")
plt.figure(figsize=(1, 1))
lines
"""
PROGRAM = """\
import asyncio, os, sys
from _blogsmith.run import Runner
runner = Runner(lambda text: os.write(1, (text + "\\n").encode()))
runner.install()
asyncio.run(runner.run(sys.argv[1], "main", "x.md", 1, 7))
"""


def _events(folder: Path, code: str) -> list[dict[str, str]]:
    """Return the events of run.py for this code, in a local Python."""
    package = folder / "_blogsmith"
    package.mkdir(exist_ok=True)
    for name in ("run.py", "run_output.py"):
        shutil.copy(THEME / name, package)
    command = [sys.executable, "-c", PROGRAM, code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_figures_are_sent_where_they_are_shown(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown, text, *rest = _events(tmp_path, DRAWING)
    assert shown["event"] == "display"
    assert re.search(r'<svg [^>]*width="144pt" height="72pt"', shown["svg"])
    assert (text["event"], text["text"]) == ("stream", "drawn\n")
    # The figure closed by `show` does not appear again, and the result of `plot` is not a value.
    assert [event["event"] for event in rest] == ["display"]
    assert re.search(r'<svg [^>]*width="72pt" height="72pt"', rest[0]["svg"])


def test_random_numbers_are_those_of_the_seed(tmp_path: Path) -> None:
    code = "import random\nrandom.random()"
    assert _events(tmp_path, code) == _events(tmp_path, code)
