"""Row 43: a diagram only draws. It runs no scripts, links nowhere and loads nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.page_checks import elements, parse
from tests.rows import thinned
from tests.site_files import build, printed, put

pytest.importorskip("merman", reason="Mermaid is drawn where merman has wheels")
CONFIG = "title: T\nplugins: [mermaid]\n"
LABELS = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<b onmouseover=alert(1)>x</b>",
    "<a href='javascript:alert(1)'>x</a>",
    "</text></svg><script>alert(1)</script>",
    "<foreignObject><iframe src=//evil.example></iframe></foreignObject>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "#lt;script#gt;alert(1)#lt;/script#gt;",
    "`<script>alert(1)</script>`",
    "]]><script>alert(1)</script>",
    "<style>@import url(//evil.example)</style>",
)
PLACES = (
    'graph LR\n  A["{}"] --> B',
    'graph LR\n  A -->|"{}"| B',
    'graph LR\n  subgraph "{}"\n    A --> B\n  end',
    "sequenceDiagram\n  participant A as {}\n  A->>B: {}",
    "sequenceDiagram\n  A->>B: x\n  Note over A: {}",
    "stateDiagram-v2\n  s1: {}\n  [*] --> s1",
    'pie title {}\n  "x" : 3',
    'pie\n  "{}" : 3',
    "gantt\n  title {}\n  section {}\n  x : 2026-01-01, 3d",
    'erDiagram\n  A ||--o| B : "{}"',
    'classDiagram\n  class A\n  note for A "{}"',
    "---\ntitle: '{}'\n---\ngraph LR\n  A --> B",
)
ACTING = (
    'graph LR\n  A --> B\n  click A "javascript:alert(1)"',
    'graph LR\n  A --> B\n  click A href "javascript:alert(1)" "tip" _blank',
    'graph LR\n  A --> B\n  click A "https://evil.example/"',
    "graph LR\n  A --> B\n  click B call alert()",
    'graph LR\n  A --> B\n  click B callback "<script>alert(1)</script>"',
    'graph LR\n  A@{ img: "https://evil.example/x.png", label: "x" }',
    'graph LR\n  A@{ icon: "evil:x", label: "x" }',
    "graph LR\n  A --> B\n  style A fill:url(https://evil.example/x)",
    "graph LR\n  A --> B\n  classDef c fill:#fff,background:url(//evil.example)\n  class A c",
    "graph LR\n  A:::c --> B\n  linkStyle 0 stroke:red;onload:alert(1)",
    '%%{init: {"themeCSS": "* { fill: url(https://evil.example) }"}}%%\ngraph LR\n  A --> B',
    '%%{init: {"securityLevel": "loose"}}%%\ngraph LR\n  A["<img src=x onerror=1>"] --> B',
    '%%{init: {"fontFamily": "x\\" onload=\\"alert(1)"}}%%\ngraph LR\n  A --> B',
    '%%{init: {"__proto__": {"x": 1}}}%%\ngraph LR\n  A --> B',
    'classDiagram\n  class A\n  link A "javascript:alert(1)"',
    'classDiagram\n  class A\n  callback A "alert" "tip"',
    "sequenceDiagram\n  participant A\n  link A: x @ javascript:alert(1)\n  A->>A: y",
    'gantt\n  section x\n  y : done, t1, 2026-01-01, 3d\n  click t1 href "javascript:alert(1)"',
    "graph LR\n  accTitle: <script>alert(1)</script>\n  A --> B",
    "graph LR\n  accDescr: <script>alert(1)</script>\n  A --> B",
)
FORBIDDEN = ("script", "img", "image", "iframe", "a", "style", "foreignobject", "animate", "set")


def figures(root: Path, charts: list[str]) -> list[str]:
    """Return the figures of the charts on one page, without charts that are reported as errors."""
    fence = "```mermaid\n{}\n```\n"
    for chart in list(charts):
        text = "---\ntitle: A\n---\n" + "\n".join(fence.format(chart) for chart in charts)
        put(root, {"blogsmith.yaml": CONFIG, "content/a.md": text})
        report = build(root)
        if report.ok:
            html = (root / "public/a/index.html").read_text("utf-8")
            return re.findall(r'<figure class="diagram">.*?</figure>', html, re.DOTALL)
        assert {found.code for found in report.diagnostics} == {"diagram"}, printed(report)
        lines = text.split("\n")
        wrong = {found.place.line for found in report.diagnostics if found.place}
        assert len(wrong) == len(report.diagnostics)
        starts = [number for number, line in enumerate(lines, 1) if line == "```mermaid"]
        bad = {max(n for n, start in enumerate(starts) if start <= line) for line in wrong}
        charts = [chart for n, chart in enumerate(charts) if n not in bad]
    return []


def acting(figure: str) -> list[str]:
    """Return the elements, attributes and values in a figure that run scripts, link or load something."""
    found = []
    for tag, element in elements(parse(figure)):
        found += [f"<{tag}>"] if tag in FORBIDDEN else []
        for name, value in element.attrib.items():
            plain = str(name).rpartition("}")[2].lower()
            found += [f"{plain}="] if plain.startswith("on") else []
            is_text = plain in ("aria-label", "aria-description")
            found += [value] if not is_text and re.search(r"javascript|evil|url\((?!#)", value) else []
    return found


@pytest.mark.parametrize("place", thinned(PLACES, every=3), ids=lambda place: place.split()[0])
def test_row_43_labels_are_text(place: str, tmp_path: Path) -> None:
    charts = [place.replace("{}", label) for label in LABELS]
    assert [acting(figure) for figure in figures(tmp_path, charts) if acting(figure)] == []


def test_row_43_what_acts_is_left_out(tmp_path: Path) -> None:
    drawn = figures(tmp_path, list(ACTING))
    assert len(drawn) > len(ACTING) / 2
    assert [acting(figure) for figure in drawn if acting(figure)] == []


def test_row_43_the_judge_sees_what_acts() -> None:
    assert acting('<svg onload="x"><a href="javascript:1"><script>1</script></a></svg>') == [
        "onload=",
        "<a>",
        "javascript:1",
        "<script>",
    ]
