"""The size of scripts for a reader of a page that has everything, if all of it is used."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from blogsmith.config.load import CONFIG_NAME
from tests.picture_files import drawing, file_of
from tests.run_sites import STALE
from tests.site_files import build, printed, put

from .conftest import Served
from .reader import Reader
from .server import served
from .test_weight import packed

MOST_BYTES = 12_300
"""Limit in bytes for all scripts except the frame of the site, with gzip, including the search for a formula.
"""
MOST_WITH_FRAME = 17_300
"""The same with the colour scheme switch, copy buttons, cards, marks in the table of contents, and so on."""
FRAME = frozenset({"compare", "embed", "posts", "switch"})
"""Scripts of the frame. `posts` combines scripts that many posts have."""
CONFIG = """\
title: Notes
base_url: https://example.org
search: true
theme_options: {switch: true}

analytics: {provider: goatcounter, site: notes, consent: ask}
share: [link]
"""
POST = """\
---
title: Everything
date: 2026-01-02
comments: https://social.example/@ada/12
references: {doe: {author: Jane Doe, title: On owls, year: 2020}}
---

## A wombat

A note[^1] on owls, a work [@doe] and {@eq:sum}.

[^1]: Below.

$$ s = \\frac{a + b}{2} $$ {#eq:sum}

```python
x = 1  # (1)
```

1. A note on the code.

<div class="tabs">
<div data-label="Python">in Python</div>
<div data-label="R">in R</div>
</div>

## Again

=== "Python"

    in Python

=== "R"

    in R

![By day](day.png#only-light "A pair"){.lightbox}
![By night](night.png#only-dark)

<div class="gallery lightbox" data-cols="2">
![First](day.png "One")
![Second](night.png)
</div>

![A film](rows.mp4){.loop data-poster=day.png}

<div class="image-compare" data-before="day.png" data-after="night.png">
<span class="compare-label-before">Before</span><span class="compare-label-after">After</span>
</div>

<div class="video-embed" data-src="https://www.youtube.com/watch?v=dQw4w9WgXcQ" data-caption="Film"></div>

```python
#| sweep: {n: [1, 2]}
print(n)
```
"""
FILM = Path(__file__).parents[2] / "content/docs/figures/rows.mp4"


def names_of(reader: Reader) -> dict[str, str]:
    """Return script → path of the scripts requested since the last call."""
    paths = {urlsplit(url).path for url in reader.requests()}
    found = (re.fullmatch(r"/assets/paper/([a-z-]+?)(?:-[0-9a-f]{10})?\.js", path) for path in paths)
    return {match[1]: match[0] for match in found if match}


def search(reader: Reader, text: str, found: str) -> dict[str, str]:
    """Return the scripts that a search needs.

    found: selector of its final result.
    """
    field = reader.find("dialog[open] .search-field")
    field.clear()
    field.send_keys(text)
    reader.wait_for(lambda: reader.ask(f"return !!document.querySelector('{found}')"))
    return names_of(reader)


def test_scripts_of_a_page_that_has_everything(tmp_path: Path, reader: Reader) -> None:
    files: dict[str, str | bytes] = {
        CONFIG_NAME: CONFIG,
        "content/posts/all/index.md": POST,
        "content/posts/plain.md": "---\ntitle: Plain\ndate: 2026-01-01\n---\nText.\n",
        "content/posts/all/rows.mp4": FILM.read_bytes(),
        **{f"content/posts/all/{name}.png": file_of(drawing(400, 300)) for name in ("day", "night")},
    }
    report = build(put(tmp_path, files), execution=STALE)
    assert report.ok, printed(report)
    with served(tmp_path / "public") as origin:
        site = Served(tmp_path / "public", origin)
        reader.open(site.url("/posts/all/"))
        reader.wait_for(lambda: reader.ask("return document.readyState === 'complete'"))
        scripts = names_of(reader)
        assert "posts" in scripts
        assert "search" not in scripts
        reader.press("/")
        reader.wait_for(lambda: reader.ask("return !!document.querySelector('dialog[open] .search-field')"))
        scripts |= search(reader, "owls", ".search-excerpt mark")
        assert "search-formulas" not in scripts
        scripts |= search(reader, "(x + y)/2", ".search-formula math")
        assert reader.problems() == []
    weights = {name: packed((site.folder / path[1:]).read_bytes()) for name, path in scripts.items()}
    own = {name: weight for name, weight in weights.items() if name not in FRAME}
    assert own.keys() == {
        *("comments-replies", "count", "lightbox", "loop", "pictures", "share", "sweep", "tabs"),
        *("search", "search-formulas", "search-words"),
    }
    assert sum(own.values()) <= MOST_BYTES, own
    assert sum(weights.values()) <= MOST_WITH_FRAME, weights
    assert weights.keys() - own.keys() == FRAME
