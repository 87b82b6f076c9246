"""A post with notes, a citation, a figure and an equation, and touch input of its readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.site_files import SiteText, build, printed, write_site_files

from .conftest import Served
from .reader import Look, Reader
from .server import served

FILLER = "\n\n".join(f"Paragraph {number} says little, but takes its room." * 6 for number in range(8))
CAPTION = (
    "A caption of some length, so that it takes more than one line in a card: what is drawn here is a grey "
    "field, which says nothing, and is as high as the window."
)
POST = rf"""---
title: Notes
date: 2026-01-01
references:
  gauss: {{authors: [C. F. Gauss], title: Disquisitiones, year: 1801, url: "https://example.org/"}}
---

## First

Words with a note.[^long] They go on, and cite [@gauss]; {{@fig-tall}} and \eqref{{eq:one}} are far below.
In the same paragraph stands another mark[^short] and then an end of it that fills two lines on a phone.

- In a list[^short]

{FILLER}

## Second

{FILLER}

![A tall figure](tall.svg "{CAPTION}"){{#fig-tall}}

### Third

{FILLER}

$$a = b$$ {{#eq:one}}

{FILLER}

<code id="of-code">code</code> and $x + \cssId{{term}}{{y}}$

\begin{{subequations}} \label{{eq:group}}
\begin{{align}}
c &= d \label{{eq:part}}
\end{{align}}
\end{{subequations}}

> [!NOTE]- A fold
> A mark.[^fold]

[^long]: A note with $x$ and [a link](https://example.org/note).

    And a second paragraph.
[^short]: A short note.
[^fold]: A note of a fold.
"""
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="1200">'
    '<path fill="#888" d="M0 0h600v1200H0z"/></svg>'
)
PAGE = "/posts/notes/"
TAP = """
const element = document.querySelector(arguments[0]);
// a card goes with its link
if (!element.closest(".preview")) element.scrollIntoView({block: "center", behavior: "instant"});
const {x, y, width, height} = element.getClientRects()[0];
return {x: x + width / 2, y: y + height / 2};
"""


@contextmanager
def notes(folder: Path, settings: str = "") -> Iterator[Served]:
    """Build the post in `folder` and serve it."""
    files = {
        "blogsmith.yaml": f"title: Notes\n{settings}".encode(),
        "content/posts/notes/index.md": POST.encode(),
        "content/posts/notes/tall.svg": PICTURE.encode(),
    }
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield Served(folder / "public", origin)


def touch(reader: Reader, url: str, look: Look) -> None:
    """Open a page with touch instead of a mouse."""
    reader.tell("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
    reader.open(url, look)
    reader.wait_for_fonts()


def tap(reader: Reader, selector: str, x_px: float = 0) -> None:
    """Scroll to an element, and tap on its middle or `x_px` beside it."""
    place = reader.ask(TAP, selector)
    point = {"x": place["x"] + x_px, "y": place["y"]}
    reader.tell("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
    reader.tell("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
