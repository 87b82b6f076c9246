"""A site with all our UI strings, in German and in Arabic: its pages contain no English ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from blogsmith.languages.bundled_languages import bundled_texts
from blogsmith.languages.tags import language_name
from blogsmith.project.report import ExecutionOptions
from blogsmith.syntax.kinds import ROWS
from tests.site_files import build, printed, put
from tests.test_languages import forms, language

SITE = """\
title: Netz
lang: de
base_url: https://example.org
pagination: 1
archive_pagination: 1
plugins: [emoji_callouts, hf_space]
theme_options: {switch: true}
"""
KINDS = "\n".join(f"> [!{row.name.upper()}] {{#thm-{row.name}}}\n> x\n" for row, _ in ROWS)
FULL_POST = f"""\
---
title: Aufmerksamkeit
date: 2026-03-03
updated: 2026-05-04
status: wip
tags: [Netze]
categories: [Lernen]
series: {{name: Grundlagen, part: 1}}
references:
  - {{id: v, title: Wort, author: Ada, year: 2017}}
---
## Anfang

[](zwei.md) [@v] und [@v], @fig-x @tbl-x @eq-x {{@sec-ende}} @thm-theorem @thm-proof[^1] und[^1]

![Punkt](x.svg "Punkt"){{#fig-x}}

| a | b |
|---|---|
| 1 | 2 |

: Zahlen {{#tbl-x}}

| a | b |
|---|---|
| 1 | 2 |

$$x \\label{{eq:x}}$$

{KINDS}

💡 Key insight: ja

```python fold
x = 1
```

```dot
nichts
```

```{{python}}
x = 1
```

```{{python}}
#| run-in: browser
x = 1
```

```{{python}}
#| claim: x ist 1
x == 1
```

Wert {{= x =}}.

{{% include img.html src="x.svg,x.svg" cap="eins,zwei" alt="eins,zwei" id="fig-y" %}}

<div class="image-compare" data-before="x.svg" data-after="x.svg"></div>

<div class="hf-space" data-src="ada/netz"></div>

[^1]: Ja.

## Ende {{#sec-ende}}

x
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>'
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROCESSOR = re.compile(r"CPU \([^)]*\)")
_NAMES = (
    *("blogsmith", "huggingface", "co", "English", "Mastodon", "Bluesky", "utteranc", "es", "github", "com"),
    *("CUDA", "CPU", "Python", "cloud", "umami", "is", "ms"),
)
_SILENT = ("script", "style", "code", "pre", "math")
_READ = ("aria-label", "title", "alt", "content")


def words_of(element: Element) -> Iterator[tuple[str, str]]:
    """Yield each word that readers see or hear, with its surrounding text."""
    if not isinstance(element.tag, str) or element.tag in _SILENT:
        texts = []
    else:
        texts = [element.text or "", *(element.get(name, "") for name in _READ if element.tag != "meta")]
        for child in element:
            yield from words_of(child)
    for text in (*texts, element.tail or ""):
        for word in _WORD.findall(_PROCESSOR.sub("CPU", text)):
            yield word, text


def _words(texts: Iterator[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(re.sub(r"\{\w+\}", " ", text))}


LATER = """\
---
title: {}
date: 2026-04-0{}
tags: [Netze]
categories: [Lernen]
comments: https://a.example/@ada/1
{}---
Text [](aufmerksamkeit.md)

- [ ] a
- [x] b
"""
CELLS = """\
---
title: Lauf
date: 2026-04-05
---
```{{python}}
#| label: fig-eins
{first}
```

```{{python}}
#| needs: cuda
#| fallback: skip
2
```

```{{python}}
#| error: true
print(x, open("data.csv").read())
1 / 0
```

{{= x =}}
"""


def whole_site(root: Path, tag: str, theme: str) -> tuple[Path, Mapping[str, str]]:
    """Create a site in one language with all our UI strings, including an old result of a cell."""
    own = SITE.replace("lang: de", f"lang: {tag}\ntheme: {theme}").replace(
        "theme_options: {switch: true}", OTHER
    )
    files = {
        "blogsmith.yaml": own,
        "content/posts/aufmerksamkeit.md": FULL_POST,
        "content/posts/x.svg": SVG,
        "content/posts/zwei.md": LATER.format("Zwei", 2, "series: {name: Grundlagen, part: 2}\n"),
        "content/posts/drei.md": LATER.format(
            "Drei", 3, "draft: true\nseries: {name: Grundlagen, part: 3}\n"
        ),
        "content/posts/zwei.en.md": "---\ntitle: Two\n---\nText.\n",
        "content/land.md": "---\ntitle: Land\nsubtitle: Ja\ntemplate: landing\n---\nText\n",
        "content/posts/lehre.md": TEACHING,
        "content/posts/lauf.md": CELLS.format(first="x = 1"),
        "content/posts/data.csv": "a,b\n",
    }
    put(
        root,
        {
            "blogsmith.yaml": own,
            **{name: files[name] for name in files if name.endswith(("lauf.md", "lehre.md", ".csv", ".svg"))},
        },
    )
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    changed = {"content/posts/lauf.md": CELLS.format(first="x = 3"), "content/posts/data.csv": "a,c\n"}
    return put(root, files | changed), files


OTHER = """\
theme_options: {switch: true}
languages: {en: {}}
comments: {provider: utterances, repo: a/b}
analytics: {provider: umami, site: 00000000-0000-0000-0000-000000000000, consent: ask}
share: [mastodon, bluesky, email, link]
search: true
theorems: {used_in: true, map: true}
license: CC-BY-4.0
"""
TEACHING = """\
---
title: Lehre
date: 2026-04-06
series: {name: Beweise, part: 1}
citable: true
---
```python title="a.py"
x = 1  # (1)
y = 2  #!diff +
```

1. Eine Notiz.

<div class="tabs">
<div data-label="A">Eins.</div>
<div data-label="B">Zwei.</div>
</div>

<div class="gallery lightbox" data-cols="2">

![Eins](x.svg "Eins")

![Zwei](x.svg "Zwei")

</div>

> [!LEMMA] {#lem-a}
> Es gilt $x$.

> [!THEOREM] {#thm-b}
> Es gilt $y$.

> [!PROOF]
> Mit {@lem-a}.

```python
#| lst-label: lst-a
#| lst-cap: Ein Listing
x = 2
```

```{python}
#| sweep: {d: [1, 2]}
print(d)
```
"""


@pytest.mark.parametrize("theme", ["paper", "terminal"])
@pytest.mark.parametrize("tag", ["de", "ar"])
def test_a_site_holds_no_english_word_of_ours(tag: str, theme: str, tmp_path: Path) -> None:
    root, files = whole_site(tmp_path / "site", tag, theme)
    report = build(root)
    assert report.ok, printed(report)
    own = _words(text for texts in bundled_texts(tag).values() for text in forms(texts).values())
    known = own | _words(iter((*files, *files.values(), language_name(tag)))) | set(_NAMES)
    pages = sorted(page for page in (root / "public").rglob("*.html") if "en" not in page.parts)
    assert len(pages) > 14
    seen: set[str] = set()
    for page in pages:
        tree = html5lib.parse(page.read_text("utf-8"), namespaceHTMLElements=False)
        for word, text in words_of(tree):
            assert word in known, (page.relative_to(root).as_posix(), word, text)
            seen.add(text.strip())
    asked = [
        *("Show code", "Skip to content", "Archive", "Series", "Comments", "Share", "done"),
        *("Search", "Cite this post"),
    ]
    expected = {language(tag).translate(text) for text in asked}
    expected |= {language(tag).translate(f"{name} {{number}}", number=1) for name in ("Figure", "Table")}
    assert {text for text in expected if text not in seen} == set()
    old = (root / "public/posts/lauf/index.html").read_text("utf-8")
    assert language(tag).translate("its code has changed") in old


NUMBERED = """\
---
title: T
lang: {}
---
## A {{#sec-a}}

![x](x.svg "x"){{#fig-x}}

| a |
|---|
| 1 |

: x {{#tbl-x}}

$$x \\label{{eq:x}}$$

> [!THEOREM] {{#thm-x}}
> x

@fig-x @tbl-x {{@eq:x}} @thm-x {{@sec-a}}
"""


@pytest.mark.parametrize(
    ("tag", "shown"),
    [
        ("en", "Figure 1 Table 1 Equation (1) Theorem 1"),
        ("de", "Abbildung 1 Tabelle 1 Gleichung (1) Satz 1"),
        ("fr", "Figure 1 Tableau 1 Équation (1) Théorème 1"),
        ("ja", "図 1 表 1 式 (1) 定理 1"),
        ("zh", "图 1 表 1 式 (1) 定理 1"),
        ("ar", "الشكل 1 الجدول 1 المعادلة (1) مبرهنة 1"),
        ("ru", "Рисунок 1 Таблица 1 Уравнение (1) Теорема 1"),
    ],
)
def test_numbered_things(tag: str, shown: str, tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: S\n", "content/x.svg": SVG})
    put(root, {"content/a.md": NUMBERED.format(tag)})
    report = build(root)
    assert report.ok, printed(report)
    text = (root / "public/a/index.html").read_text("utf-8")
    found = re.findall(r'<a class="xref"[^>]*>(.*?)</a>', text)
    assert " ".join(re.sub(r"<[^>]+>", "", one).replace("\u00a0", " ") for one in found[:4]) == shown
