"""The background of pages, which browsers use to colour their frame."""

from __future__ import annotations

from pathlib import Path

from blogsmith.model.template_views import Ground
from blogsmith.render.templates.ground_color import find_background
from tests.rows import each_row
from tests.site_files import build
from tests.test_theme import write

PAIR = ":root { --paper: light-dark(#fff, #111) }"


@each_row(
    ("sheets", "ground"),
    [
        ([PAIR], ("#fff", "#111")),
        (["html { color: red; --paper: white; }"], ("white", "white")),
        ([":root{--paper:light-dark(rgb(1, 2, 3), oklch(20% 0 0))}"], ("rgb(1,2,3)", "oklch(20% 0 0)")),
        ([PAIR, ":root { --paper: light-dark(#eee, #222) }"], ("#eee", "#222")),
        ([PAIR, "@media (prefers-color-scheme: dark) { :root { --paper: #000 } }"], ("#fff", "#000")),
        ([PAIR, "@media print { :root { --paper: #0f0 } }"], ("#fff", "#111")),
        ([PAIR, "@media (min-width: 40em) { :root { --paper: #0f0 } }"], ("#fff", "#111")),
        ([PAIR, "aside { --paper: #0f0 }"], ("#fff", "#111")),
        ([PAIR, ":root { --paper: var(--mine) }"], ("#fff", "#111")),
        ([":root { --paper: var(--mine) }"], ("", "")),
        ([], ("", "")),
    ],
)
def test_ground(sheets: list[str], ground: tuple[str, str]) -> None:
    assert find_background(sheets) == Ground(*ground)


def test_sheets_of_the_site_count(tmp_path: Path) -> None:
    files = {
        "blogsmith.yaml": "title: Site\ntheme_options: {stylesheets: [/own.css]}\n",
        "static/own.css": PAIR,
        "content/a.md": "Text.\n",
    }
    root = write(tmp_path, files)
    assert build(root).ok
    html = (root / "public/a/index.html").read_text()
    assert '<meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)">' in html
    assert '<meta name="theme-color" content="#111" media="(prefers-color-scheme: dark)">' in html
    assert '<link rel="stylesheet" href="/own.css?v=' in html
    write(root, {"blogsmith.yaml": files["blogsmith.yaml"].replace("{", "{scheme: dark, ")})
    assert build(root).ok
    html = (root / "public/a/index.html").read_text()
    assert html.count("theme-color") == 1 and '<meta name="theme-color" content="#111">' in html
    assert '<meta name="color-scheme" content="dark">' in html and 'data-scheme="dark"' in html
