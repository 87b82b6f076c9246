"""Row 38: a page makes no request to another host before the reader does something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import Served, reader, widgets
from tests.browser.reader import DESKTOP, WITHOUT_SCRIPTS, Reader
from tests.browser.server import served
from tests.page_checks import elements, parse
from tests.site_files import build, printed, put
from tests.test_sites import FOLDER, SITES, copied, tree

__all__ = ["reader", "widgets"]
PAGE = "/posts/widgets/"
FOCUS = "document.querySelector(arguments[0]).focus()"
HOST = "https://elsewhere.example"
LOADING = (
    "img",
    "script",
    "iframe",
    "video",
    "audio",
    "source",
    "track",
    "embed",
    "object",
    "link",
    "use",
    "image",
)
"""Elements whose URLs a browser loads by itself. `link` counts unless it refers to a page."""
PAGES = ("canonical", "alternate", "next", "prev", "author", "license", "me", "home", "up")
NAMING = f"""\
---
title: Elsewhere
date: 2026-01-01
image: a.svg
references:
  - {{id: k, title: T, url: "{HOST}/paper"}}
---
[link]({HOST}/page) {HOST}/bare <{HOST}/auto> [@k] $\\href{{{HOST}/formula}}{{x}}$

{{% video-embed src="https://www.youtube.com/watch?v=dQw4w9WgXcQ" title="One" %}}

{{% video-embed src="https://vimeo.com/123456789" title="Two" %}}

<div class="hf-space" data-src="a/b"></div>

```python
#| run-in: browser
import numpy
```

> [!NOTE] [x]({HOST}/callout)
> ![one](a.svg)
"""


def loaded(html: str) -> list[str]:
    """Return the URLs on other hosts that a browser loads when it reads the page."""
    found = []
    for tag, element in elements(parse(html)):
        is_page = tag == "link" and set((element.get("rel") or "").split()) & set(PAGES)
        for name in ("src", "href", "srcset", "poster", "data", "xlink:href"):
            value = element.get(name) or ""
            if tag in LOADING and not is_page and (urlsplit(value.split(" ")[0]).netloc):
                found.append(f"<{tag} {name}={value}>")
        found += re.findall(r"url\(\s*['\"]?(?:https?:)?//[^)]*", element.get("style") or "")
    return found


@pytest.fixture(scope="module")
def naming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site with a page that refers to other hosts in every way an author can."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>'
    config = "title: T\nplugins: [hf_space]\nbase_url: https://own.example\n"
    files = {"blogsmith.yaml": config, "content/posts/a.svg": svg, "content/posts/naming.md": NAMING}
    root = put(tmp_path_factory.mktemp("naming"), files)
    report = build(root)
    assert report.ok, printed(report)
    return root / "public"


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_row_38_no_page_of_a_site_names_a_file_of_another_host(site: Path, tmp_path: Path) -> None:
    root = copied(FOLDER / site.name, tmp_path / "s")
    assert build(root).ok
    own = (root / "blogsmith.yaml").read_text("utf-8")
    for path, data in tree(root / "public").items():
        if path.endswith(".html"):
            assert [
                one for one in loaded(data.decode()) if re.sub(r".*//([^/>]*).*", r"\1", one) not in own
            ] == []
        if path.endswith(".css"):
            assert not re.search(rb"url\(\s*['\"]?(?:https?:)?//|@import", data), path


def test_row_38_a_page_that_names_other_hosts_loads_nothing_of_them(naming: Path) -> None:
    html = (naming / "posts/naming/index.html").read_text("utf-8")
    assert HOST in html and "youtube" in html
    assert [one for one in loaded(html) if "own.example" not in one] == []


def test_row_38_the_judge_sees_what_is_loaded() -> None:
    assert loaded('<img src="//x.example/a.png">') and loaded(
        '<link rel="preconnect" href="https://x.example">'
    )
    assert loaded('<p style="background:url(https://x.example/a)">') and not loaded(
        '<a href="https://x.example">'
    )


@pytest.fixture
def named(naming: Path) -> Iterator[str]:
    with served(naming) as origin:
        yield origin


@pytest.mark.parametrize("look", [DESKTOP, WITHOUT_SCRIPTS], ids=["with scripts", "without"])
def test_row_38_a_browser_asks_nobody_else(named: str, reader: Reader, look: object) -> None:
    reader.open(f"{named}/posts/naming/", look)  # type: ignore[arg-type]
    reader.ask("scrollTo(0, document.body.scrollHeight)")
    assert reader.ask("return document.readyState") == "complete"
    assert reader.foreign_requests() == []


@pytest.fixture
def page(widgets: Served, reader: Reader) -> Reader:
    """Open the page that has every widget, for the first time."""
    reader.open(widgets.url(PAGE))
    return reader


def test_row_38_a_video_loads_on_click_only(page: Reader) -> None:
    assert page.ask("return document.querySelectorAll('iframe').length") == 0
    assert page.foreign_requests() == []
    page.find(".embed-link").click()
    asked = page.wait_for(page.foreign_requests)
    assert asked[0].startswith("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ")
    assert page.find("iframe").get_attribute("title")
    assert page.ask("return document.activeElement.localName") == "iframe"


def test_row_38_a_video_by_keyboard(page: Reader) -> None:
    page.ask(FOCUS, ".embed-link")
    page.press(Keys.ENTER)
    assert page.wait_for(page.foreign_requests)
