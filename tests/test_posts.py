"""Our own posts are correct: results of their code are on the page, claims are true, figures are current.

The site is built from the records in `_freeze/`; no cell runs here. After changing the code of a post, run
`blogsmith build --execute`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest

from blogsmith.base.diagnostics.format import format_diagnostic
from scripts.figures.catalogue import FIGURES
from tests.browser.shared import shared_folder
from tests.page_checks import elements
from tests.rows import each_row
from tests.site_files import build

ROOT = Path(__file__).parent.parent
CONTENT = ROOT / "content"
POSTS = tuple(sorted(path.parent.name for path in CONTENT.glob("posts/*/index.md")))
CLAIM = re.compile(r"^(?:> )?#\| claim:", re.MULTILINE)
ELSEWHERE = frozenset({"cell-versions", "diagram-source"})
"""Valid warnings on another machine: it has other packages, or none that draws diagrams."""

SPREADS = {"16": 4.0, "64": 8.0, "512": 22.6, "4096": 64.0}
"""d_k → its root, rounded as in the post."""
FOUR_WORDS = """\
[[0.37 0.21 0.22 0.21]
 [0.19 0.35 0.24 0.22]
 [0.18 0.21 0.31 0.3 ]
 [0.18 0.2  0.31 0.31]]
"""
TWO_QUERIES = """\
(2, 4) (3, 4) (3, 4)
[[0.445 0.389 0.166]
 [0.507 0.221 0.272]]
(2, 4)
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Element]:
    """Return our posts, built from records alone by a user who does not trust the site."""
    output = shared_folder(tmp_path_factory, "posts", _build_posts) / "public"
    return {post: html5lib.parse((output / "posts" / post / "index.html").read_bytes()) for post in POSTS}


def _build_posts(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        report = build(ROOT, output=folder / "public", future=True)
    found = [
        format_diagnostic(diagnostic, color=False)
        for diagnostic in report.diagnostics
        if diagnostic.path.startswith("content/posts/") and diagnostic.code not in ELSEWHERE
    ]
    assert not found, "\n".join(found)


def of_class(root: Element, name: str) -> list[Element]:
    return [element for _, element in elements(root) if name in (element.get("class") or "").split()]


def text(element: Element) -> str:
    return "".join(element.itertext())


def values(root: Element) -> list[str]:
    return [text(element) for element in of_class(root, "value")]


def printed(root: Element) -> list[str]:
    return [text(element) for element in of_class(root, "output-stdout")]


def rows(root: Element) -> list[list[str]]:
    """Return the cells of every row of every table."""
    lines = [element for tag, element in elements(root) if tag == "tr"]
    return [[text(cell).strip() for tag, cell in elements(line) if tag == "td"] for line in lines]


def recorded_cells(post: str) -> list[dict[str, Any]]:
    record = json.loads((ROOT / "_freeze" / "posts" / post / "index" / "outputs.json").read_text("utf-8"))
    return [cell for session in record["sessions"].values() for cell in session["cells"]]


def source(post: str) -> str:
    return (CONTENT / "posts" / post / "index.md").read_text(encoding="utf-8")


NEEDS_CUDA = frozenset({"cell-measured-on-gpu"})


@each_row("post", POSTS)
def test_everything_on_a_page_has_run(pages: dict[str, Element], post: str) -> None:
    root = pages[post]
    cells = of_class(root, "cell")
    assert cells, "a post without a cell"
    # cells that need a GPU are reported until somebody has run them on one
    waiting = [
        cell for cell in cells if cell.get("id") in NEEDS_CUDA and cell.get("data-status") == "skipped"
    ]
    assert {cell.get("data-status") for cell in cells if cell not in waiting} == {"ok"}
    assert len(of_class(root, "output-note")) == len(waiting)
    for name in ("value-pending", "value-stale", "output-error"):
        assert not of_class(root, name), name


@each_row("post", POSTS)
def test_every_claim_was_evaluated_and_holds(pages: dict[str, Element], post: str) -> None:
    written = len(CLAIM.findall(source(post)))
    claims = [cell for cell in recorded_cells(post) if cell.get("options", {}).get("claim") == "true"]
    assert [cell["status"] for cell in claims] == ["ok"] * written
    assert len(of_class(pages[post], "cell-claim")) == written > 0


def test_no_output_is_pasted() -> None:
    """Except for the message that one post quotes."""
    assert [post for post in POSTS if "```text" in source(post)] == ["where-a-number-comes-from"]


def test_spread_of_a_dot_product(pages: dict[str, Element]) -> None:
    found = {row[0]: row[1:3] for row in rows(pages["square-root-of-d-k"]) if len(row) == 4}
    assert {d_k: float(found[d_k][0]) for d_k in SPREADS} == SPREADS
    for d_k, root in SPREADS.items():
        # 20,000 pairs: the standard error is half a per cent
        assert float(found[d_k][1]) == pytest.approx(root, rel=0.02)


def test_bytes_of_the_matrix(pages: dict[str, Element]) -> None:
    found = values(pages["what-attention-costs"])
    assert {"256 MiB", "32 GiB"} <= set(found)


def test_worked_examples_of_attention(pages: dict[str, Element]) -> None:
    found = printed(pages["attention-in-numpy"])
    assert FOUR_WORDS in found
    assert TWO_QUERIES in found


def test_attention_in_numpy_checks_its_shapes() -> None:
    cells = recorded_cells("attention-in-numpy")
    assert cells and all(cell["options"]["shapes"] == "check" for cell in cells)


def test_the_heat_map_has_a_twin_for_dark_pages(pages: dict[str, Element]) -> None:
    root = pages["attention-in-numpy"]
    (figure,) = [element for _, element in elements(root) if element.get("id") == "fig-weights"]
    names = [
        element.get("srcset") or element.get("src")
        for tag, element in elements(figure)
        if tag in ("source", "img")
    ]
    assert len(set(names)) == 2
    assert [
        element for tag, element in elements(root) if tag == "a" and element.get("href") == "#fig-weights"
    ]


@each_row("path", sorted(FIGURES))
def test_a_figure_is_what_its_script_draws(path: str) -> None:
    """If this fails, run `python -m scripts.figures`."""
    assert (CONTENT / path).read_text(encoding="utf-8") == FIGURES[path]()


def test_every_drawing_of_a_post_has_its_script() -> None:
    drawn = {str(path.relative_to(CONTENT).as_posix()) for path in CONTENT.glob("posts/*/*.svg")}
    assert drawn == set(FIGURES)
