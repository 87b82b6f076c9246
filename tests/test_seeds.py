"""The five posts of `tests/sites/seeds/`: every point on the page, in both themes; reproducibility."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import cssselect2
import html5lib
import pytest

from blogsmith.project.report import ExecutionOptions
from tests.seed_points import POINTS, Point
from tests.site_files import build

SITE = Path(__file__).parent / "sites/seeds"
SOURCES = {
    file.parent.name if file.stem == "index" else file.stem: file for file in SITE.rglob("posts/**/*.md")
}
THEMES = ("paper", "terminal")


def copied(folder: Path, theme: str = "paper") -> Path:
    root = folder / "site"
    shutil.copytree(SITE / "source", root)
    settings = root / "blogsmith.yaml"
    settings.write_text(f"{settings.read_text('utf-8')}theme: {theme}\n", "utf-8")
    return root


@pytest.fixture(scope="module", params=THEMES)
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return slug → HTML, built from the recorded results as on a host."""
    root = copied(tmp_path_factory.mktemp("seeds"), request.param)
    report = build(root, strict=True, execution=ExecutionOptions(frozen=True))
    assert report.ok, report.diagnostics
    return {slug: (root / f"public/posts/{slug}/index.html").read_text("utf-8") for slug in POINTS}


def missing(html: str, points: tuple[Point, ...]) -> list[str]:
    """Return the points that a page lacks, with the number of elements found."""
    root = cssselect2.ElementWrapper.from_html_root(html5lib.parse(html))
    lacking = []
    for point in points:
        found = list(root.query_all(point.selector))
        texts = [" ".join("".join(one.etree_element.itertext()).split()) for one in found]
        is_there = len(found) == point.count if point.count is not None else bool(found)
        if not is_there or (point.text and not any(" ".join(point.text.split()) in text for text in texts)):
            lacking.append(f"{point.name}: {len(found)} found {[text[:60] for text in texts[:4]]}")
    return lacking


@pytest.mark.parametrize("slug", POINTS)
def test_every_point_is_on_the_page(slug: str, pages: Mapping[str, str]) -> None:
    assert missing(pages[slug], POINTS[slug]) == []


@pytest.mark.parametrize("slug", POINTS)
def test_every_formula_is_typeset_once(slug: str, pages: Mapping[str, str]) -> None:
    root = cssselect2.ElementWrapper.from_html_root(html5lib.parse(pages[slug]))
    drawn = len(list(root.query_all("article math"))) - len(list(root.query_all("figure.diagram svg math")))
    contents = len(list(root.query_all("nav math")))
    assert drawn - contents == written_formulas(SOURCES[slug].read_text("utf-8"))


def written_formulas(text: str) -> int:
    """Count the formulas in a post's body and captions, independently of the parser."""
    captions = re.findall(r'(?:data-caption|cap)="([^"]*)"', text)
    body = re.sub(r"^ *(`{3,})[^\n]*\n.*?^ *\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"`[^`\n]*`|<div[^>]*>|{%.*?%}", "", body)
    displays = re.findall(r"\$\$.*?\$\$|\\\[.*?\\\]", body, re.DOTALL)
    body = re.sub(r"\$\$.*?\$\$|\\\[.*?\\\]", "", body, flags=re.DOTALL)
    inline = [one for part in (body, *captions) for one in re.findall(r"\$[^$]+\$", part)]
    return len(displays) + len(inline)


def test_no_page_asks_another_host_before_a_click(pages: Mapping[str, str]) -> None:
    for slug, html in pages.items():
        root = cssselect2.ElementWrapper.from_html_root(html5lib.parse(html))
        addresses = [
            one.etree_element.attrib[name]
            for name in ("src", "srcset", "poster", "data")
            for one in root.query_all(f"[{name}]")
        ]
        assert addresses
        assert [one for one in addresses if one.startswith(("http", "//"))] == [], slug


def test_a_point_that_is_missing_is_noticed(pages: Mapping[str, str]) -> None:
    html = pages["soft-dictionary"].replace("compare-slider", "another")
    assert [name.partition(":")[0] for name in missing(html, POINTS["soft-dictionary"])] == ["comparison"]


def test_the_table_of_points_is_up_to_date() -> None:
    text = (SITE / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| ([^|]+?) \| `test_every_point_is_on_the_page\[([\w-]+)\]`", text, re.MULTILINE)
    assert listed == [(point.name, slug) for slug, points in POINTS.items() for point in points]


def test_all_results_repeat(tmp_path: Path) -> None:
    """NumPy always, PyTorch if installed: running every cell does not change the records."""
    root = copied(tmp_path)
    before = results(root)
    report = build(root, execution=ExecutionOptions(execute="all"))
    assert report.ok, report.diagnostics
    assert results(root) == before
    assert report.executed_cells >= (12 if find_spec("torch") else 6)


def results(root: Path) -> dict[str, list[str]]:
    """Return the path of each record → the text of its outputs."""
    found = {}
    for file in sorted((root / "_freeze").rglob("outputs.json")):
        found[file.relative_to(root).as_posix()] = re.findall(
            r'"text": ("(?:[^"\\]|\\.)*")', file.read_text("utf-8")
        )
    return found
