"""Code and its label line: samples of Markdown are readable, and a language alone takes up no line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.site_files import SiteText, build, printed, write_site_files

from .reader import Reader
from .server import served

POST = """---
title: Samples
date: 2026-01-01
---

```markdown
> [!NOTE] The text
> of a callout

Then *emphasis*.
```

```
no language
```

```python title="a.py"
x = 1
```
"""
# Simulates a mouse, because the browser of the tests has none.
WITH_A_MOUSE = """
const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(rule => rule.media);
for (const {media} of rules) {
  if (media.mediaText === "(hover: hover)") media.mediaText = "all";
  if (media.mediaText === "(hover: none)") media.mediaText = "not all";
}
"""
STYLES = """
const parts = [...document.querySelectorAll(".ge")];
return parts.map(part => [part.textContent, getComputedStyle(part).fontStyle]);
"""
# The height of a figure minus its lines of code.
COSTS = """
return [...document.querySelectorAll("figure.code")].map(figure => figure.getBoundingClientRect().height
  - figure.querySelector("code").getBoundingClientRect().height);
"""
COVERED = """
const [label, line] = ["figcaption", ".line"]
  .map(selector => document.querySelector(selector).getBoundingClientRect());
return label.bottom > line.top && label.left < line.right;
"""


@pytest.fixture
def page(tmp_path_factory: pytest.TempPathFactory, reader: Reader) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("labels")
    files = {"blogsmith.yaml": b"title: Samples\n", "content/posts/samples.md": POST.encode()}
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        reader.open(f"{origin}/posts/samples/")
        yield reader


def test_quotes_in_markdown_are_upright(page: Reader) -> None:
    styles = dict(page.ask(STYLES))
    assert styles.pop("*emphasis*") == "italic"
    assert set(styles.values()) == {"normal"} and len(styles) == 2


def test_a_language_alone_costs_no_line(page: Reader) -> None:
    page.ask(WITH_A_MOUSE)
    language, none, title = page.ask(COSTS)
    assert language - none <= 5
    assert title - none >= 10
    assert not page.ask(COVERED)
