"""Charts that become interactive after a click, with a small replacement of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.model.live_libraries import FOLDER, LIBRARIES

from .reader import WITHOUT_SCRIPTS, Reader
from .server import served

STAND_IN = """
globalThis.Plotly = {
  async newPlot(place, data, layout) {
    const style = document.createElement("style");
    document.head.append(style);
    style.sheet.insertRule(".drawn { width: 123px }");
    const inner = place.attachShadow({ mode: "open" });
    inner.innerHTML = "<style>b { color: rgb(1, 2, 3) }</style><b>x</b>";
    const outer = document.createElement("div");
    outer.className = "drawn";
    outer.textContent = `${layout.title}: ${data[0].y}`;
    place.after(outer);
  },
};
"""
POST = """---
title: A
date: 2026-03-01
---

```python eval
class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"data": [{"x": [1, 2], "y": [3, 4]}], "layout": {"title": "</script>"}}
        return {"text/plain": "Figure", "application/vnd.plotly.v1+json": data}

Figure()
```
"""
STATE = """
const drawn = document.querySelector(".drawn");
const place = document.querySelector(".live-chart");
return {
  text: drawn?.textContent,
  width: drawn && getComputedStyle(drawn).width,
  color: place && getComputedStyle(place.shadowRoot.querySelector("b")).color,
};
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build a site with a chart and a replacement of Plotly, serve it, and yield the URL of the post."""
    root = tmp_path_factory.mktemp("charts")
    (file,) = LIBRARIES["plotly"].files
    script = root / FOLDER / "plotly" / file.name
    texts = {root / "blogsmith.yaml": "title: T\n", root / "content/posts/a.md": POST}
    for path, text in {**texts, script: STAND_IN.ljust(file.size)}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert main(["build", "--execute", "-q", "--site", str(root)]) == 0
    assert Path(root, "public/live/plotly", file.name).stat().st_size == file.size
    with served(root / "public") as origin:
        yield f"{origin}/posts/a/"


def test_a_click_draws_the_chart_over_its_table(url: str, reader: Reader) -> None:
    reader.open(url)
    table = reader.find(".output-interactive table")
    button = reader.find(".live-button")
    assert table.is_displayed() and button.text == "Make interactive"
    assert not any("plotly" in request for request in reader.requests())
    button.click()
    reader.wait_for(lambda: not table.is_displayed())
    reader.wait_for(lambda: reader.ask(STATE)["color"] == "rgb(1, 2, 3)")
    assert reader.ask(STATE) == {"text": "</script>: 3,4", "width": "123px", "color": "rgb(1, 2, 3)"}
    assert not button.is_displayed() and not reader.foreign_requests()


def test_without_scripts_there_is_a_table_and_no_button(url: str, reader: Reader) -> None:
    reader.open(url, WITHOUT_SCRIPTS)
    assert reader.find(".output-interactive table").is_displayed()
    assert not reader.find(".live-button").is_displayed()
