"""Markers for the preview: lines and cells of blocks. Without them the bytes equal those of a build."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import html5lib
import pytest
from msgspec.structs import replace

from blogsmith.config.schema import Config
from blogsmith.model.documents import Body
from blogsmith.model.template_views import PageView
from blogsmith.model.texts import NO_TEXT
from blogsmith.project.report import ExecutionOptions
from blogsmith.render import html
from blogsmith.render.html import render_body
from blogsmith.render.tools import SiteAccess
from blogsmith.site.feeds import feed_html
from blogsmith.syntax.parser import Parsed
from tests import check
from tests.cases_io import all_cases, split_config
from tests.conftest import ROOT
from tests.rows import thinned
from tests.site_files import build
from tests.test_sites import SITES

_MARK = re.compile(r' data-(?:line|cell)="\d+"')


def unmarked(html: str) -> str:
    """Return `html` without markers."""
    return _MARK.sub("", html)


def compare(plain: Body, marked: Body) -> None:
    """Check that both are the same page; where readers run code, `data-line` belongs to the page itself."""
    assert unmarked(marked.html) == unmarked(plain.html)
    if "runnable" not in plain.widgets and 'data-line="' not in plain.html:
        assert unmarked(marked.html) == plain.html
    assert len(_lines(marked.html)) >= len(_lines(plain.html))
    assert replace(marked, content=NO_TEXT, diagnostics=()) == replace(plain, content=NO_TEXT, diagnostics=())


def _lines(html: str) -> list[int]:
    return [int(number) for number in re.findall(r' data-line="(\d+)"', html)]


def both(parsed: Parsed, tools: SiteAccess) -> tuple[Body, Body]:
    """Return the page of a build and that of the preview."""
    return render_body(parsed, tools), render_body(parsed, replace(tools, mark_lines=True))


@dataclass(frozen=True, slots=True)
class Page:
    """A page in both versions."""

    parsed: Parsed
    text: str
    """Content of its source, which can be read only while the site is built."""
    plain: Body
    marked: Body


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Page]]:
    """Record the pages that a test renders, each in both versions."""
    found: list[Page] = []

    def render(parsed: Parsed, tools: SiteAccess) -> Body:
        plain, marked = both(parsed, tools)
        found.append(Page(parsed, parsed.document.source.text, plain, marked))
        return plain

    # the pipeline imports it where it is used
    monkeypatch.setattr(html, "render_body", render)
    monkeypatch.setattr(check, "render_body", render)
    yield found


Pages = list[Page]
HERE = ExecutionOptions(jobs=1)
"""Pages rendered by other processes are not recorded."""


def assert_well_marked(pages: Pages) -> None:
    """Check that markers change nothing else, are in valid HTML, and name lines with content."""
    for page in pages:
        compare(page.plain, page.marked)
        text = page.text.split("\n")
        for number in _lines(page.marked.html):
            assert text[number - 1].strip(), f"{page.parsed.document.path}:{number}"


CASES = {file: list(cases) for file, cases in groupby(all_cases(), key=lambda case: case.file)}


@pytest.mark.parametrize("file", thinned(CASES, every=3))
def test_cases(file: str, pages: Pages) -> None:
    for case in CASES[file]:
        config, post = split_config(case.source)
        check.render(post, config)
        try:
            assert len(pages) == 1
            assert_well_marked(pages)
        except AssertionError as error:
            error.add_note(case.id)
            raise
        pages.clear()


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_sites(site: Path, tmp_path: Path, pages: Pages) -> None:
    shutil.copytree(site / "source", tmp_path / "site")
    assert build(tmp_path / "site", write=False, execution=HERE).ok
    assert_well_marked(pages)
    for page in pages:
        assert feed_of(page.marked) == feed_of(page.plain)


def feed_of(body: Body) -> str:
    page = PageView("post", "", "/a/", "https://example.org/a/", "a", "a", body=body.content)
    return feed_html(page, Config(base_url="https://example.org"))


@pytest.mark.long
def test_our_own_pages(pages: Pages) -> None:
    build(ROOT, write=False, execution=HERE)
    assert len(pages) > 20
    assert_well_marked(pages)
    for page in pages:
        html5lib.HTMLParser(strict=True).parseFragment(page.marked.html)
        assert feed_of(page.marked) == feed_of(page.plain)


POST = """\
---
title: Everything
---

## Heading

A paragraph
of two lines.

- one
- two

  with more

1. tight
   - inner

> quote

> [!NOTE] Title
> Body of the callout

$$
x = y
$$

Text $$ a $$ text.

| a | b |
|---|---|
| c | d |

: Caption

```text
plain
```

    indented

***

![alt](a.png "Caption")

{% img src="a.png" alt="x" %}

Term
: Definition

<div class="raw">raw</div>

<!-- comment -->

<div class="collapsible" data-label="More">

Inside[^n].

</div>

[^n]: A note.
"""


def test_every_block_knows_its_line(pages: Pages) -> None:
    check.render(POST)
    assert_well_marked(pages)
    [page] = pages
    marked = page.marked
    found = re.findall(r'<([a-z0-9]+) data-line="(\d+)"', marked.html)
    assert [(tag, int(number)) for tag, number in found] == [
        ("h2", 5),
        ("p", 7),
        *(("ul", 10), ("li", 10), ("p", 10), ("li", 11), ("p", 11), ("p", 13)),
        *(("ol", 15), ("li", 15), ("ul", 16), ("li", 16)),
        *(("blockquote", 18), ("p", 18)),
        *(("aside", 20), ("p", 20)),
        ("div", 23),
        *(("p", 27), ("div", 27), ("p", 27)),
        *(("div", 29), ("thead", 29), ("tr", 29), ("tbody", 31), ("tr", 31)),
        ("figure", 35),
        ("figure", 39),
        ("hr", 41),
        ("figure", 43),
        ("figure", 45),
        *(("dl", 47), ("dt", 47), ("dd", 48)),
        ("div", 50),
        *(("details", 54), ("p", 56)),
        ("p", 60),
    ]


CELLS = """\
---
title: Cells
---

```{python}
print(1)
```

```{python}
#| echo: false
2
```

```{python}
#| eval: false
3
```

```{python}
#| eval: false
#| code-fold: true
4
```

```{python}
#| run-in: browser
5
```

```{python}
#| include: false
6
```

```{python}
#| claim: it is so
True
```
"""


def test_cells_know_their_number(pages: Pages) -> None:
    check.render(CELLS)
    assert_well_marked(pages)
    [page] = pages
    marked = page.marked
    assert len(page.parsed.cells.cells) == 7
    tags = re.findall(r'<([a-z]+)[^<>]*? data-cell="(\d)"[^<>]*?class="([a-z]+)', marked.html)
    assert tags == [
        ("div", "1", "cell"),
        ("div", "2", "cell"),
        ("figure", "3", "code"),
        ("details", "4", "collapsible"),
        ("div", "5", "runnable"),
        ("div", "7", "cell"),
    ]
    # the block that readers run has one line only, that of its code
    runnable = re.search(r"<div[^<>]*runnable[^<>]*>", marked.html)
    assert runnable is not None
    assert re.findall(r'data-line="(\d+)"', runnable[0]) == [str(CELLS.split("\n").index("5") + 1)]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('<div data-line="99">x</div>\n', '<div data-line="99">x</div>\n'),
        ("<!-- <p> -->\n", "<!-- <p> -->\n"),
        ('<div title="a > b">x</div>\n', '<div data-line="1" title="a > b">x</div>\n'),
        ('<div title="a\n', '&lt;div title="a\n'),
        ("</div>\n", "      \n"),
        ("<br/>\n", '<br data-line="1"/>\n'),
        ("$\\def\\x{y}$\n", ""),
        ("{.note}\nText\n", '<p data-line="2" class="note">Text</p>\n'),
    ],
)
def test_tags_of_authors(written: str, shown: str, pages: Pages) -> None:
    check.render(written)
    [page] = pages
    marked = page.marked
    assert marked.html == shown
