"""Long lines of code on a phone, in both browsers: a hanging indent, and copies without breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.site_files import SiteText, build_text, printed

from .firefox import Firefox
from .reader import SHEET, Reader
from .server import served
from .test_equations import SELECT
from .two_browsers import opened_in_either, take_on

CODE = """\
def name(first, second):
    return first.method(second) * first.method(second)  # as long as two lines
        deeper = an_unbreakable_name_that_is_longer_than_the_screen_of_any_phone_in_the_world
short = 1
"""
POST = f"""---
title: Long lines
date: 2026-01-01
---

```python {{2}} linenos
{CODE}```

```python {{-2,+3}} id="changes"
{CODE}```

```python id="marks"
    return first.method(second) * first.method(second)  # (1)
```

1. A note.

```text id="plain"
a column            another column            the third
```
"""
# For each line: its classes, the starts of its rows and its right end, in pixels from the figure.
ROWS = """
const figure = document.querySelector(arguments[0]);
const start = figure.getBoundingClientRect().left;
return [...figure.querySelectorAll(".line")].map(line => {
  const range = document.createRange();
  range.selectNodeContents(line);
  const rects = [...range.getClientRects()].filter(rect => rect.width > 1);
  const rows = new Map();
  for (const {left, top, height} of rects) {
    const row = Math.round((top + height / 2) / 12);
    rows.set(row, Math.min(rows.get(row) ?? Infinity, left - start));
  }
  const right = Math.max(...rects.map(rect => rect.right)) - start;
  return {classes: line.className, rows: [...rows.values()], right};
});
"""
BOX = """
const pre = document.querySelector(arguments[0]).querySelector("pre");
return {scrolls: pre.scrollWidth - pre.clientWidth, width: pre.clientWidth};
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    folder = tmp_path_factory.mktemp("wrapping")
    files = {"blogsmith.yaml": b"title: Long\n", "content/posts/long.md": POST.encode()}
    report = build_text(SiteText(files, "", ""), folder)
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield f"{origin}/posts/long/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    return opened_in_either(request, page, 390, 2)


def test_the_rest_of_a_line_is_indented_further(browser: Reader | Firefox) -> None:
    for figure in ("figure.numbered", "#changes"):
        rows: list[dict[str, Any]] = browser.ask(ROWS, figure)
        assert browser.ask(BOX, figure)["scrolls"] <= 0
        head, returns, deeper, short = rows
        assert len(short["rows"]) == 1 and len(returns["rows"]) >= 2 and len(deeper["rows"]) >= 2
        # The first row begins with the spaces of the source.
        begin = short["rows"][0]
        assert [min(row["rows"]) for row in rows] == pytest.approx([begin] * 4, abs=1)
        letter = (returns["rows"][1] - begin) / 6
        assert 6 < letter < 10
        assert returns["rows"][1:] == pytest.approx([begin + 6 * letter] * (len(returns["rows"]) - 1), abs=1)
        assert deeper["rows"][1:] == pytest.approx([begin + 10 * letter] * (len(deeper["rows"]) - 1), abs=2)
        assert max(row["right"] for row in rows) <= browser.ask(BOX, figure)["width"]
        assert head["classes"] == "line"


def test_a_mark_is_at_the_end_of_its_line(browser: Reader | Firefox) -> None:
    script = """
    const mark = document.querySelector("#marks .code-mark").getBoundingClientRect();
    const box = document.querySelector("#marks").getBoundingClientRect();
    return [box.right - mark.right, mark.width, box.bottom - mark.bottom];
    """
    right, width, bottom = browser.ask(script)
    assert right > 0 and 12 < width < 30 and bottom > 0


def test_plain_text_scrolls(browser: Reader | Firefox) -> None:
    assert browser.ask(BOX, "#plain")["scrolls"] > 0
    # On a wide screen nothing wraps.
    take_on(browser, 1280, 1)
    assert {len(row["rows"]) for row in browser.ask(ROWS, "#changes")} == {1}


def test_copies_have_no_breaks(page: str, reader: Reader) -> None:
    reader.open(page)
    take_on(reader, 390, 2)
    for act in ("button", "selection"):
        reader.empty_clipboard()
        if act == "button":
            reader.find("figure.numbered > .copy-button").click()
        else:
            reader.ask(SELECT, "figure.numbered code", "figure.numbered code")
            reader.tell(
                "Input.dispatchKeyEvent",
                type="rawKeyDown",
                key="c",
                code="KeyC",
                modifiers=2,
                commands=["copy"],
            )
        assert reader.pasted().rstrip("\n") == CODE.rstrip("\n")


def test_paper_has_the_hanging_indent_too(page: str, reader: Reader) -> None:
    reader.open(page, SHEET)
    indent = "return parseFloat(getComputedStyle(document.querySelector(arguments[0])).textIndent)"
    assert reader.ask(indent, "#changes .line.in4") < 0
    assert reader.ask("return document.documentElement.scrollWidth") <= SHEET.width_px
