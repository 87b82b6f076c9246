"""Statements, their uses, circular proofs, and the map."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from blogsmith.site.graph_drawing import GraphNode, draw_graph
from tests.site_files import SiteText, build_text
from tests.test_preview_line import write

CONFIG = "title: T\nbase_url: https://example.org/b\ntheorems: {used_in: true, map: true}\n"
FIRST = """---
title: Distances
date: 2026-01-01
series: {name: Spaces, part: 1}
---

> [!DEFINITION] Metric {#def-metric}
> With
> $$d(x,z) \\le d(x,y) + d(y,z) \\label{eq:tri}$$

> [!LEMMA] Reverse {#lem-rev}
> As in {@def-metric}, $x = \\eqref{eq:tri}$.
>
> > [!PROOF]
> > {@lem-rev} is said by \\eqref{eq:tri}.

> [!THEOREM] About $d$ {#thm-cont}
> It is.

> [!PROOF] of {@lem-rev}, again
> See [the theorem](#thm-cont).

> [!PROOF]
> Use {@lem-rev}.

## Later

See {@thm-cont}, and once more {@thm-cont}.
"""
SECOND = """---
title: Balls
date: 2026-01-02
---

> [!COROLLARY] Open {#cor-open}
> X.

> [!PROOF]
> {@first#lem-rev}, \\eqref{first#eq:tri}.
"""
D = '<math alttext="d"><mi>d</mi></math>'
NAMED_D = f'<span role="img" aria-label="d">{D}</span>'


def build_posts(root: Path, config: str = CONFIG, **posts: str) -> Path:
    files = {f"content/posts/{name}.md": text.encode() for name, text in posts.items()}
    report = build_text(SiteText({"blogsmith.yaml": config.encode(), **files}, "", ""), root)
    assert report.ok, report.diagnostics
    return root / "public"


def listed(html: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (statement, [(text, URL) of each use]) of the list below a post."""
    found = re.search(r'<nav class="used-in".*?</nav>', html, re.DOTALL)
    items = re.findall(r"<li>(.*?)</li>", found[0], re.DOTALL) if found else []
    links = [re.findall(r'<a href="([^"]*)">(.*?)</a>', item) for item in items]
    return [(first[1], [(text, url) for url, text in rest]) for first, *rest in links]


def test_used_in(tmp_path: Path) -> None:
    public = build_posts(tmp_path, first=FIRST, second=SECOND)
    ball = "/b/posts/second/#cor-open"
    assert listed((public / "posts/first/index.html").read_text("utf-8")) == [
        ("Definition 1 (Metric)", [("Lemma 1", "#lem-rev")]),
        (
            "Equation (1)",
            [
                ("Lemma 1", "#lem-rev"),
                ("proof of Lemma 1", "#lem-rev"),
                ("Balls: proof of Corollary 1", ball),
            ],
        ),
        (
            "Lemma 1 (Reverse)",
            [("proof of Theorem 1", "#thm-cont"), ("Balls: proof of Corollary 1", ball)],
        ),
        (f"Theorem 1 (About {NAMED_D})", [("Later", "#later")]),
    ]
    assert listed((public / "posts/second/index.html").read_text("utf-8")) == []


def test_map(tmp_path: Path) -> None:
    html = (build_posts(tmp_path, first=FIRST, second=SECOND) / "map/index.html").read_text("utf-8")
    headings = re.findall(r"<h[23]>(.*?)</h[23]>", html)
    assert [re.sub("<.*?>", "", heading) for heading in headings] == ["Spaces", "Distances", "Posts", "Balls"]
    first, second = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    names = [
        (url, " ".join(re.sub("<.*?>", "", box).split()))
        for url, box in re.findall(r'<a href="([^"]*)">(.*?)</a>', first)
    ]
    assert names == [
        ("/b/posts/first/#def-metric", "Definition 1 Metric"),
        ("/b/posts/first/#lem-rev", "Lemma 1 Reverse"),
        ("/b/posts/first/#thm-cont", "Theorem 1 About d"),
        ("/b/posts/second/#cor-open", "Corollary 1 Open"),
    ]
    assert first.count("<path") == 4
    # boxes of other series are dashed
    assert first.count("stroke-dasharray") == 1
    assert second.count("stroke-dasharray") == 2
    lines = [re.sub("<.*?>", "", line) for line in re.findall(r"<li>(.*?)</li>", html.partition("</svg>")[2])]
    uses = "uses Definition 1 (Metric); used in Theorem 1 (About d), Corollary 1 (Open) of Balls"
    assert lines[1] == f"Lemma 1 (Reverse); {uses}"
    assert 'href="/b/map/"' in html


def test_nothing_unasked(tmp_path: Path) -> None:
    public = build_posts(tmp_path, "title: T\n", first=FIRST, second=SECOND)
    assert not (public / "map").exists()
    assert "used-in" not in (public / "posts/first/index.html").read_text("utf-8")


def test_an_empty_map(tmp_path: Path) -> None:
    public = build_posts(tmp_path, first="---\ntitle: A\ndate: 2026-01-01\n---\nText.\n")
    assert "Nothing is listed here yet." in (public / "map/index.html").read_text("utf-8")


def test_a_page_of_the_same_address(tmp_path: Path) -> None:
    files = {"blogsmith.yaml": CONFIG.encode(), "content/map.md": b"---\ntitle: Map\n---\nText.\n"}
    report = build_text(SiteText(files, "", ""), tmp_path)
    assert [(found.code, found.path) for found in report.diagnostics] == [("duplicate-url", "content/map.md")]


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 0), (2, 2)]])
def test_drawing(edges: list[tuple[int, int]]) -> None:
    nodes = [GraphNode((f"Lemma {number}", "<x> & y"), f"#{number}") for number in range(3)]
    svg = draw_graph(nodes, edges, "Lemmas").svg
    assert svg == draw_graph(nodes, edges[::-1], "Lemmas").svg
    assert svg.count("<rect") == 3
    assert svg.count("<path") == len({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    assert "<x>" not in svg


def test_boxes_do_not_overlap() -> None:
    nodes = [GraphNode((f"Theorem {number}", "a" * (number % 20)), "#") for number in range(60)]
    edges = [
        (first, second) for second in range(60) for first in range(second) if (first * 7 + second) % 11 == 0
    ]
    boxes: dict[str, list[tuple[float, float]]] = {}
    found = re.findall(r'<rect x="([\d.-]+)" y="([\d.]+)" width="([\d.]+)"', draw_graph(nodes, edges, "").svg)
    assert len(found) == 60
    for x, y, width in found:
        boxes.setdefault(y, []).append((float(x), float(x) + float(width)))
    for row in boxes.values():
        row.sort()
        assert all(end < start for (_, end), (start, _) in pairwise(row))


def test_an_edit_of_a_use(tmp_path: Path) -> None:
    """The list below a post is regenerated when another post no longer uses it."""
    public = build_posts(tmp_path, first=FIRST, second=SECOND)
    write(tmp_path / "content/posts/second.md", SECOND.replace("{@first#lem-rev}, ", ""))
    build_posts(tmp_path, first=FIRST, second=SECOND.replace("{@first#lem-rev}, ", ""))
    uses = dict(listed((public / "posts/first/index.html").read_text("utf-8")))
    assert uses["Lemma 1 (Reverse)"] == [("proof of Theorem 1", "#thm-cont")]
