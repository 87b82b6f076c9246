"""Pages in several languages in browsers: right-to-left pages are mirrored, formulas are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.site_files import build, printed, put

from .accessibility import Looks
from .conftest import Served
from .firefox import Firefox
from .reader import DESKTOP, Reader
from .server import served
from .test_pages import axe

__all__ = ["axe"]

SETTINGS = """\
title: Notes
author: Ada
lang: en
base_url: https://example.org
languages: {en: {}, ar: {title: ملاحظات}}
theme_options: {switch: true}
share: [mastodon, bluesky, email, link]
comments: {provider: utterances, repo: ada/notes}
analytics: {provider: goatcounter, site: notes, consent: ask}
theme: %s
"""
ARABIC = r"""---
title: لماذا نقسم على $\sqrt{d_k}$
date: 2026-03-03
tags: [الانتباه]
series: {name: أساسيات, part: 1}
---

## الإعداد

هذا نص عربي[^1] فيه الصيغة $x + y = z$ والشيفرة `softmax(x)` داخل النص.

$$ a = bcd \label{eq:a} $$

انظر {@eq:a}.

إذن $\operatorname{Var}(\sum_i q_i k_i) = \sum_i \operatorname{Var}(q_i k_i) = d_k$.

> [!WARNING]
> احذر.

> [!PROOF]-
> برهان مطوي.

- نقطة
- [x] مهمة

| الاسم | القيمة |
|---|---|
| أ | $x$ |

```python title="m.py"
print("hello")
```

## ثم

نص.

[^1]: حاشية فيها $y$.
"""
FILES = {
    "content/posts/a.md": "---\ntitle: Why\ndate: 2026-03-03\n---\n## One\n\nText $x$.\n\n## Two\n\nText.\n",
    "content/posts/a.ar.md": ARABIC,
}
PAGE = "/ar/posts/a/"
THEMES = ("paper", "terminal")
# The horizontal centre of the first match of each selector, and whether it is left of the second.
PLACES = """
const at = (selector, part = document) => {
  const {left, right} = part.querySelector(selector).getBoundingClientRect();
  return (left + right) / 2;
};
const formula = document.querySelector("p > math");
const middle = at("main");
return {
  name: at(".site-title") > at(".languages"),
  contents: at("nav.toc") > at(".post-title"),
  note: at("#fn-1") < at(".post-content > p"),
  number: at(".eq-number") < at(".math-display > math"),
  formula: at("mi", formula) < at("mi:last-of-type", formula),
  rows: at(".math-lines > mrow") < at(".math-lines > mrow:last-child"),
  code: getComputedStyle(document.querySelector("pre")).direction === "ltr",
  cells: at("th") > at("th + th"),
  box: at(".task-box") > at("li.task") ,
  bar: parseFloat(getComputedStyle(document.querySelector(".callout-warning")).borderRightWidth) > 0,
  wide: document.documentElement.scrollWidth <= innerWidth,
};
"""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Served]]:
    """Build the site in each theme and serve it."""
    with ExitStack() as stack:
        found = {}
        for theme in THEMES:
            root = put(tmp_path_factory.mktemp(theme) / "site", {"blogsmith.yaml": SETTINGS % theme, **FILES})
            report = build(root)
            assert report.ok, printed(report)
            found[theme] = Served(root / "public", stack.enter_context(served(root / "public")))
        yield found


def turned(places: Mapping[str, bool]) -> list[str]:
    """Return the names of elements at a wrong position."""
    return [name for name, is_right in places.items() if not is_right]


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_turns_around_in_chromium(theme: str, sites: Mapping[str, Served], reader: Reader) -> None:
    reader.open(sites[theme].url(PAGE), DESKTOP)
    reader.wait_for_fonts()
    assert turned(reader.ask(PLACES)) == []


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_turns_around_in_firefox(theme: str, sites: Mapping[str, Served], fox: Firefox) -> None:
    fox.resize(1440, 900, 1.0)
    fox.open(sites[theme].url(PAGE))
    assert turned({name: found for name, found in fox.ask(PLACES).items() if name != "note"}) == []


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing(theme: str, sites: Mapping[str, Served], reader: Reader, axe: str) -> None:
    looks = Looks(reader, axe)
    for page in (PAGE, "/ar/", "/posts/a/"):
        reader.open(sites[theme].url(page), DESKTOP)
        assert looks.faults() == []


def test_the_links_between_languages_lead_there_and_back(sites: Mapping[str, Served], reader: Reader) -> None:
    reader.open(sites["paper"].url("/posts/a/"))
    reader.find(".languages a[hreflang=ar]").click()
    assert reader.wait_for(lambda: reader.ask("return document.documentElement.dir === 'rtl'"))
    reader.find(".languages a[hreflang=en]").click()
    assert reader.wait_for(lambda: reader.ask("return document.documentElement.lang === 'en'"))
