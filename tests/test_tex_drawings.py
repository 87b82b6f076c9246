"""Drawings by LaTeX: recorded once, then shown on machines without LaTeX."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec import structs

from blogsmith.execute.worker.drawings import find_specials
from blogsmith.render.svg.drawings import sanitize_tex_drawing
from tests.rows import each_row
from tests.run_sites import STALE, page, records, site
from tests.site_files import SiteText, build, build_text, has_latex, printed, read_site_text

RECORDED = Path(__file__).parent / "broken" / "run-drawing-stale.txt"
needs_latex = pytest.mark.skipif(not has_latex(), reason="latex or dvisvgm is not installed")


def recorded_site() -> SiteText:
    """Return the site whose drawings are recorded with the present code."""
    known = read_site_text(RECORDED)
    post = known.files["content/posts/a.md"].replace(b"node {$B$}", b"node {$A$}")
    return replace(known, files={**known.files, "content/posts/a.md": post})


def test_recorded_drawings_need_no_latex(tmp_path: Path) -> None:
    report = build_text(recorded_site(), tmp_path)
    assert printed(report) == ""
    html = page(tmp_path)
    assert html.count('<figure class="diagram"') == 2
    assert 'id="fig-line"' in html and 'aria-label="A line from the origin to A."' in html
    assert 'id="diagram-1--' in html and 'id="diagram-2--' in html, "ids of two drawings do not conflict"


def test_a_change_elsewhere_keeps_the_drawings(tmp_path: Path) -> None:
    known = recorded_site()
    post = known.files["content/posts/a.md"].replace(b"```tikz", b"Text.\n\n```tikz", 1)
    report = build_text(replace(known, files={**known.files, "content/posts/a.md": post}), tmp_path)
    assert printed(report) == ""


def test_an_edited_drawing_without_a_label_is_stale(tmp_path: Path) -> None:
    known = recorded_site()
    post = known.files["content/posts/a.md"].replace(b"to[R=$A$]", b"to[C=$A$]")
    report = build_text(replace(known, files={**known.files, "content/posts/a.md": post}), tmp_path)
    assert [one.code for one in report.diagnostics] == ["cell-stale"]


def test_a_new_file_of_macros_makes_drawings_stale(tmp_path: Path) -> None:
    known = recorded_site()
    more = {"blogsmith.yaml": b"title: Test\nmath: {macros: [own.tex]}\n", "own.tex": b"% nothing yet\n"}
    report = build_text(replace(known, files={**known.files, **more}), tmp_path)
    assert [one.code for one in report.diagnostics] == ["cell-stale"]


def test_specials_are_found_in_a_dvi_file() -> None:
    start = bytes([247, 2, *[0] * 12, 3]) + b"TeX"
    font = bytes([243, 7, *[0] * 12, 0, 5]) + b"cmr10"
    first, second = b"psfile=/etc/passwd", b"color push gray 0"
    body = (
        bytes([139, *[0] * 44, 141, 65, 239, len(first)]) + first + bytes([132, *[255] * 8, 171, 158, 0, 9])
    )
    dvi = start + font + body + bytes([242, 0, 0, 0, len(second)]) + second + bytes([140, 248, 239, 9, 9])
    assert [dvi[begin:end] for begin, end in find_specials(dvi)] == [first, second]


def test_a_drawing_cannot_nest_without_end() -> None:
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>"
        + "<g opacity='1'>" * 300
        + "</g>" * 300
        + "</svg>"
    )
    with pytest.raises(ValueError, match="too deeply"):
        sanitize_tex_drawing(svg, "x-")


def test_translucent_areas_do_not_fix_their_labels() -> None:
    def labels(area: str) -> str:
        glyph = "<path d='M9 9L11 11Z' fill='#000'/>"
        shape = f"<path d='M0 0H20V20H0Z' {area}/>"
        svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'>{shape}{glyph}</svg>"
        return sanitize_tex_drawing(svg, "x-").markup.rpartition("<path")[2]

    assert 'fill="#000"' in labels("fill='#ff0'")
    assert 'fill="#000"' not in labels("fill='#ff0' fill-opacity='.2'")
    assert 'fill="#000"' not in labels("fill='#fff'")


def drawn(shapes: str) -> str:
    return sanitize_tex_drawing(
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 40'>{shapes}</svg>", "x-"
    ).markup


@each_row(
    "place, is_fixed",
    [("M12 20L13 20", True), ("M1 1L3 3", False), ("M32 20L33 20", False)],
    ids=["on the area", "in a corner of its box", "on a part that a clip removes"],
)
def test_labels_are_fixed_only_on_the_area_itself(place: str, is_fixed: bool) -> None:
    clip = "<clipPath id='c'><path d='M0 0H25V40H0ZM25 40'/></clipPath>"
    area = "<g clip-path='url(#c)'><path d='M20 0L40 20L20 40L0 20ZM0 20' fill='#ff0'/></g>"
    label = drawn(f"{clip}{area}<path d='{place}' fill='#000'/>").rpartition("<path")[2]
    assert ('fill="#000"' in label) == is_fixed


def test_greys_and_outlines_on_dark_pages() -> None:
    line, area = "<path d='M0 0H9' fill='none' stroke='{}'/>", "<path d='M0 0H9V9H0Z' fill='{}' stroke='{}'/>"
    assert "light-dark(#bfbfbf,#404040)" in drawn(line.format("#bfbfbf"))
    assert "light-dark(#00f,#8080ff)" in drawn(line.format("#00f"))
    assert "light-dark" not in drawn(area.format("#8888ff", "#00f"))


def test_changes_of_colour_do_not_nest() -> None:
    """`dvisvgm` opens a group at every change, which a surface of pgfplots does for every patch."""
    count = 600
    shapes = "<g fill='#f00'><path d='M0 0H9'/>" * count + "<path d='M1 1H9'/>" + "</g>" * count
    found = drawn(f"<g stroke='#0f0'>{shapes}</g>")
    assert found.count("<path") == count + 1 and found.count("</g></g>") < 3


LANGUAGES = """\
```tikz {alt="A commutative square."}
\\usepackage{tikz-cd}
\\begin{tikzcd} A \\arrow[r, "f"] & \\R \\end{tikzcd}
```

```pgfplots {alt="A parabola."}
\\begin{axis}[xlabel=$x$]
\\addplot {x^2};
\\end{axis}
```

```circuitikz {alt="A circuit."}
\\draw ($(0,0)$) to[V, v=$U$] (0,2) to[R, l=$R_1$] (3,2) -- (3,0) to[C] (0,0);
```

```feynman {alt="An electron emits a photon."}
\\begin{feynman}
\\vertex (a) {\\(e^-\\)}; \\vertex[right=of a] (b); \\vertex[right=of b] (c) {\\(e^-\\)};
\\diagram* { (a) -- [fermion] (b) -- [fermion] (c) };
\\end{feynman}
```
"""


@needs_latex
def test_every_language_is_drawn_and_drawn_alike_again(tmp_path: Path) -> None:
    root = site(tmp_path, "math: {macros: [own.tex]}\n", a=LANGUAGES)
    preamble = (
        "\\documentclass{amsart}\n\\usepackage{hyperref, no-such-package}\n\\input no-such-file\n"
        "\\usetikzlibrary{calc}\n\\newcommand{\\R}{\\mathbb{R}}\n"
    )
    (root / "own.tex").write_text(preamble, "utf-8")
    report = build(root, execution=STALE)
    assert [one.code for one in report.diagnostics] in ([], ["preamble-skipped"]), printed(report)
    drawn, html = records(root), page(root)
    assert html.count("<svg role") == 4
    again = build(root, execution=structs.replace(STALE, execute="all"))
    assert again.ok and records(root) == drawn
    with patch.dict(os.environ, {"PATH": str(tmp_path / "empty")}):
        assert build(root, execution=structs.replace(STALE, execute=None, frozen=True)).ok
    assert page(root) == html
