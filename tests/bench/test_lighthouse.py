"""`make bench-pages` removes exactly the parts of pages that it says it removes."""

from __future__ import annotations

from pathlib import Path

from .lighthouse import (
    LEAST_SCORES,
    MAX_BLOCKING_MS,
    inline_sheets,
    join_sheets,
    leave_out_faces,
    leave_out_scripts,
    meets_goals,
)

PAGE = """<head>
<meta http-equiv="Content-Security-Policy" content="style-src 'self'; img-src *">
<link rel="preload" as="font" type="font/woff2" crossorigin href="/a/fonts/f.woff2">
<link rel="stylesheet" href="/a/one.css?v=1">
<link rel="stylesheet" href="/two.css">
<script type="module" src="/a/x.js" fetchpriority="low"></script>
<script type="application/ld+json">{}</script>
</head>"""


def write_sheets(site: Path) -> None:
    """Write two style sheets, one with a font beside it."""
    (site / "a" / "fonts").mkdir(parents=True)
    (site / "a" / "fonts" / "f.woff2").write_bytes(b"f")
    (site / "a" / "one.css").write_text('a{src:url("fonts/f.woff2")}b{src:url(/c.png)}')
    (site / "two.css").write_text("c{d:e}")


def test_only_scripts_of_widgets_go() -> None:
    made = leave_out_scripts(PAGE, Path())
    assert "x.js" not in made and "ld+json" in made and len(PAGE) - len(made) == 66


def test_faces_go_with_their_preloads(tmp_path: Path) -> None:
    write_sheets(tmp_path)
    assert "preload" not in leave_out_faces(PAGE, tmp_path)
    assert not list(tmp_path.rglob("*.woff2"))


def test_sheets_are_joined_in_order(tmp_path: Path) -> None:
    write_sheets(tmp_path)
    made = join_sheets(PAGE, tmp_path)
    assert made.count("stylesheet") == 1 and 'href="/joined-0.css"' in made
    assert (tmp_path / "joined-0.css").read_text() == (
        'a{src:url("/a/fonts/f.woff2")}b{src:url(/c.png)}\nc{d:e}'
    )


def test_sheets_inside_are_allowed(tmp_path: Path) -> None:
    write_sheets(tmp_path)
    made = inline_sheets(PAGE, tmp_path)
    assert (
        "stylesheet" not in made and "'unsafe-inline'; img-src *" in made and "c{d:e}</style></head>" in made
    )


def test_a_page_has_least_scores_and_a_longest_blocking() -> None:
    met = {"scores": LEAST_SCORES, "blocking_ms": MAX_BLOCKING_MS}
    slow = {"scores": {**LEAST_SCORES, "performance": 90}, "blocking_ms": 400}
    assert meets_goals([met, met, met | {"blocking_ms": 900}], [met])
    assert meets_goals([slow], [slow])
    assert not meets_goals([slow], [met])
    assert not meets_goals([met | {"blocking_ms": MAX_BLOCKING_MS + 1}], [met])
    assert not meets_goals([met | {"scores": {**LEAST_SCORES, "seo": 99}}], [slow])
