"""Numbers by part, through headings, statements, equations, figures, references and books."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from blogsmith.cli.main import main
from tests.build_scripts import compare
from tests.site_files import put

CONFIG = """\
title: Lectures
base_url: https://example.org
search: true
llms_txt: true
theorems: {map: true, used_in: true}
"""
BY_PART = "series: {Analysis: {numbering: by part}}\n"
SETS = """\
---
title: Sets
date: 2026-01-01
series: {name: Analysis, part: 2}
---
## Families {#sec:fam}

> [!THEOREM] Union {#thm:u}
> A union: $$a = b \\label{eq:u}$$

> [!EXERCISE] {#exr:a}
> Show it with {@thm:u}, \\eqref{eq:u}, {@fig:f}, {@tbl:t}, {@lst:l} and {@sec:fam}.

### Limits

![A dot](a.svg "Dot"){#fig:f}

| a |
| --- |
| 1 |

: A table {#tbl:t}

```python {#lst:l cap="Code"}
x
```
"""
MEASURES = """\
---
title: Measures of $x$
date: 2026-01-02
series: {name: Analysis, part: 3}
---
## Start

> [!THEOREM] {#thm:m}
> By {@sets#thm:u}, \\eqref{sets#eq:u}, {@sets#sec:fam}.
"""
OTHER = """\
---
title: Other
date: 2026-01-03
---
See {@sets#thm:u}, \\eqref{sets#eq:u}, {@measures#thm:m}, {@sets#sec:fam}.
"""
FILES = {
    "content/posts/sets/index.md": SETS,
    "content/posts/sets/a.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>',
    "content/posts/measures.md": MEASURES,
    "content/posts/other.md": OTHER,
}
IDS = {
    "sets": ["sec-fam", "thm-u", "eq-u", "exr-a", "limits", "fig-f", "tbl-t", "lst-l"],
    "measures": ["start", "thm-m"],
}
"""Ids that readers may have linked to. They must not depend on the numbers."""


def article(root: Path, name: str) -> str:
    html = (root / f"public/posts/{name}/index.html").read_text("utf-8")
    return html.partition("<article")[2].partition("</article>")[0]


def references(html: str) -> list[str]:
    """Return the text of each reference."""
    found = re.findall(r'<a class="xref"[^>]*>(.*?)</a>', html)
    return [re.sub("<.*?>", "", text) for text in found]


def body_ids(html: str) -> list[str]:
    return re.findall(r' id="([^"]*)"', html.partition("</header>")[2])


def test_every_number_starts_with_the_part(tmp_path: Path) -> None:
    root = put(tmp_path / "site", {"blogsmith.yaml": CONFIG + BY_PART, **FILES})
    assert not compare(root).diagnostics
    sets, measures = article(root, "sets"), article(root, "measures")
    expected = ["Theorem 2.1", "(2.1)", "Figure 2.1", "Table 2.1", "Listing 2.1", "Section 2.1"]
    assert references(sets) == expected
    headings = re.findall(r'<h[123][^>]*>.*?<span class="heading-number">([\d.]+)</span>', sets)
    assert headings == ["2", "2.1", "2.1.1"]
    # captions, and the contents of the page
    assert all(
        f"{name} 2.1" in re.sub("<.*?>", "", sets) for name in ("Exercise", "Figure", "Table", "Listing")
    )
    assert '<a href="#limits"><span class="heading-number">2.1.1</span>' in sets
    assert references(measures) == ["Theorem 2.1", "(2.1)", "Section 2.1"]
    # only pages of the series know its numbers
    assert references(article(root, "other")) == [
        *("Theorem 2.1 of Sets", "(2.1) of Sets", "Theorem 3.1 of Measures of x", "Section 2.1 of Sets")
    ]
    public = root / "public"
    for path in ("map/index.html", "atom.xml", "posts/measures/index.md"):
        assert "Theorem 2.1" in (public / path).read_text("utf-8"), path


def test_urls_and_ids_stay(tmp_path: Path) -> None:
    found = []
    for name, config in (("before", CONFIG), ("after", CONFIG + BY_PART)):
        root = put(tmp_path / name, {"blogsmith.yaml": config, **FILES})
        compare(root)
        pages = {page: body_ids(article(root, page)) for page in IDS}
        urls = sorted(str(file.relative_to(root)) for file in root.glob("public/**/*.html"))
        found.append((pages, urls, re.findall(r'class="xref" href="([^"]*)"', article(root, "other"))))
    assert found[0] == found[1]
    assert {name: [one for one in ids if one in IDS[name]] for name, ids in found[0][0].items()} == IDS


def test_a_new_part_renders_other_pages(tmp_path: Path) -> None:
    root = put(tmp_path / "site", {"blogsmith.yaml": CONFIG + BY_PART, **FILES})
    compare(root)
    put(root, {"content/posts/sets/index.md": SETS.replace("part: 2", "part: 7")})
    compare(root)
    assert references(article(root, "measures"))[0] == "Theorem 7.1"
    assert references(article(root, "other"))[0] == "Theorem 7.1 of Sets"
    put(root, {"blogsmith.yaml": CONFIG})
    compare(root)
    assert references(article(root, "measures"))[0] == "Theorem 1 of Sets"


def test_by_section_and_front_matter(tmp_path: Path) -> None:
    config = (
        CONFIG.replace("{map", "{numbering: each by section, map") + "math: {numbering: all by section}\n"
    )
    own = SETS.replace("series:", "numbering: by part\nseries:")
    root = put(tmp_path, {"blogsmith.yaml": config, **FILES, "content/posts/sets/index.md": own})
    compare(root)
    assert references(article(root, "sets"))[:3] == ["Theorem 2.1.1", "(2.1.1)", "Figure 2.1"]
    # another page of the series counts for itself
    assert references(article(root, "measures"))[0] == "Theorem 2.1.1 of Sets"


def test_books(tmp_path: Path) -> None:
    root = put(tmp_path / "site", {"blogsmith.yaml": CONFIG + BY_PART, **FILES})
    assert main(["epub", "--series", "Analysis", "-o", str(tmp_path / "a.epub"), "--site", str(root)]) == 0
    with zipfile.ZipFile(io.BytesIO((tmp_path / "a.epub").read_bytes())) as book:
        names = {
            Path(name).name: book.read(name).decode() for name in book.namelist() if name.endswith("xhtml")
        }
    contents = re.findall(r"<li><a [^>]*>(.*?)</a>", names["nav.xhtml"])
    assert contents == ["2 Sets", "2.1 Families", "3 Measures of x"]
    assert "<h1>2 Sets</h1>" in names["chapter-1.xhtml"]
    assert "Theorem 2.1" in names["chapter-2.xhtml"]
