"""Line breaks of long inline formulas follow TeX in both browsers, and each stays one formula."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from tests.site_files import SiteText, build, printed, write_site_files

from .firefox import Firefox
from .manual_screenshots import ALL_FONTS
from .reader import PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .test_equations import SELECT
from .two_browsers import opened_in_either

FORMULAS = (
    r"f(x) = a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 x^5 + \dots + a_n x^n",
    r"\text{loss} = \text{data term of it} + \text{a regulariser} - \text{what is left}",
    r"p(x) = \frac{1}{\sqrt{2\pi}} e^{-x^2} \overset{\text{def}}{=} q_{\theta}(x \mid z) \to -1 < \infty",
    r"D \times E \times A \times B \cdot C \otimes D + E \le \max(a, b, c, d, e, f) \xrightarrow{n} y",
    r"f(a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9)",
)
UNBREAKABLE = rf"\begin{{pmatrix}} {' & '.join(map(str, range(18)))} \end{{pmatrix}}"
ENDS = frozenset("=<>≤→+−⋅×⊗⋯∣")
POST = "".join(
    [
        "---\ntitle: Long lines\ndate: 2026-01-01\n---\n",
        *(f"\nSome words stand before ${tex}$, and more of them behind it: $x$.\n" for tex in FORMULAS),
        f"\nThis one, $x$, cannot break: ${UNBREAKABLE}$, so it scrolls.\n",
        # A display adds the script that copies formulas.
        "\n$$x$$\n",
    ]
)

# For each formula with rows: the box and the last symbol of every row.
ROWS = """
return [...document.querySelectorAll(".math-lines")].map(math => [...math.children].map(row => {
  const {left, right, top, bottom} = row.getBoundingClientRect();
  const signs = [...row.querySelectorAll(":is(mi, mo, mn, mtext):not(mover > :last-child)")];
  return {left, right, top, bottom, end: signs.at(-1).textContent};
}));
"""
WIDEST = """
const column = document.querySelector(".post-content").getBoundingClientRect().right;
const rows = [...document.querySelectorAll(".math-lines > mrow")];
const page = document.documentElement.scrollWidth - innerWidth;
return [page, ...rows.map(row => row.getBoundingClientRect().right - column)];
"""
# Widths of each formula in one line, as it is and without its rows.
WIDTHS = """
return [...document.querySelectorAll(".math-lines")].map(math => {
  const plain = math.cloneNode(true);
  plain.classList.remove("math-lines");
  [...plain.children].forEach(row => row.replaceWith(...row.childNodes));
  const box = document.createElement("p");
  box.style.cssText = "width: 3000px; white-space: nowrap";
  math.closest("p").after(box);
  const widths = [math.cloneNode(true), plain].map(one => {
    box.replaceChildren(one);
    const parts = [...one.querySelectorAll("mi, mo, mn, mtext")].map(part => part.getBoundingClientRect());
    return Math.max(...parts.map(part => part.right)) - Math.min(...parts.map(part => part.left));
  });
  box.remove();
  return widths;
});
"""
# The lower edges of the letters x in a line with a long and a short formula.
HEIGHTS = """
const box = document.createElement("p");
box.style.cssText = "width: 3000px; white-space: nowrap";
const formulas = [".math-lines", ".math-joined > math:not(.math-lines)"];
box.append(...formulas.map(selector => document.querySelector(selector).cloneNode(true)));
document.querySelector("p").after(box);
const letters = [...box.querySelectorAll(":is(.math-lines > mrow, math:not(.math-lines)) > mi")];
const found = letters.filter(sign => sign.textContent === "x");
const heights = found.map(sign => sign.getBoundingClientRect().bottom);
box.remove();
return heights;
"""

# Widths of the column, in pixels, at which a sign after a long formula is in another line than its last row.
LOST = """
const lost = [];
for (const sign of document.querySelectorAll(".math-lines + span")) {
  const paragraph = sign.closest("p");
  for (let width = 250; width < 330; width++) {
    paragraph.style.width = `${width}px`;
    const row = sign.previousElementSibling.lastElementChild.getBoundingClientRect();
    if (sign.getBoundingClientRect().left < row.left) lost.push(width);
  }
  paragraph.style.width = "";
}
return lost;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    folder = tmp_path_factory.mktemp("lines")
    files = {"blogsmith.yaml": b"title: Lines\n", "content/posts/lines.md": POST.encode()}
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield f"{origin}/posts/lines/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    """Open the page on a phone."""
    return opened_in_either(request, page, 360, 2, keeps=True)


def lines_of(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the rows of each line of a formula; a row further left than the one before starts a line."""
    lines = [rows[:1]]
    for row in rows[1:]:
        if row["left"] <= lines[-1][-1]["left"]:
            lines.append([])
        lines[-1].append(row)
    return lines


def test_lines_end_in_relations_and_binary_signs(browser: Reader | Firefox) -> None:
    formulas = browser.ask(ROWS)
    assert len(formulas) == len(FORMULAS)
    for tex, rows in zip(FORMULAS, formulas, strict=True):
        lines = lines_of(rows)
        assert len(lines) >= 2, tex
        assert {line[-1]["end"] for line in lines[:-1]} <= ENDS, tex


def test_a_sign_stays_with_the_last_row(browser: Reader | Firefox) -> None:
    assert browser.ask(LOST) == []


def test_nothing_sticks_out(browser: Reader | Firefox) -> None:
    page, *rows = browser.ask(WIDEST)
    assert page <= 0
    assert max(rows) <= 0.5


def test_spaces_are_those_of_one_row(browser: Reader | Firefox) -> None:
    for tex, (lines, plain) in zip(FORMULAS, browser.ask(WIDTHS), strict=True):
        assert lines == pytest.approx(plain, abs=0.8), tex


def test_letters_stand_on_one_line(browser: Reader | Firefox) -> None:
    heights = browser.ask(HEIGHTS)
    assert len(heights) == 3
    assert max(heights) - min(heights) <= 0.5


def test_what_cannot_break_scrolls(browser: Reader | Firefox) -> None:
    script = """
    const box = document.querySelector(".math-long");
    box.scrollLeft = 50;
    return [box.scrollLeft, box.scrollWidth - box.clientWidth];
    """
    scroll, rest = browser.ask(script)
    assert rest > 0 and scroll > 0
    # Both ends show that it scrolls: they fade.
    mask = """
    const box = document.querySelector(".math-long");
    return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      .then(() => [box.dataset.more, getComputedStyle(box).maskImage]);
    """
    more, image = browser.ask(mask)
    assert more.split() == ["left", "right"] and "gradient" in image


def test_it_is_the_same_without_scripts(page: str, reader: Reader) -> None:
    found = []
    for scripts in (True, WITHOUT_SCRIPTS.scripts):
        reader.open(page, Look(PHONE.width_px, scripts=scripts))
        reader.ask(ALL_FONTS)
        reader.wait_for_fonts()
        pieces = [piece for row in reader.ask(ROWS) for piece in row]
        sides = [piece[side] for piece in pieces for side in ("left", "right", "top", "bottom")]
        found.append(([piece["end"] for piece in pieces], sides))
    (ends, sides), (ends_without, sides_without) = found
    assert ends == ends_without
    # Rounding in the browser moves parts by a quarter of a pixel between two loads.
    assert sides == pytest.approx(sides_without, abs=0.5)


def test_it_is_one_formula_to_assistive_technology(page: str, reader: Reader) -> None:
    reader.open(page, PHONE)
    nodes = {node["nodeId"]: node for node in reader.tell("Accessibility.getFullAXTree")["nodes"]}
    roots = [node for node in nodes.values() if node.get("role", {}).get("value") == "MathMLMath"]

    def text(node: dict[str, Any]) -> str:
        name = node["name"]["value"] if node.get("role", {}).get("value") == "StaticText" else ""
        return name + "".join(text(nodes[child]) for child in node.get("childIds", ()) if child in nodes)

    assert len(roots) == 2 * len(FORMULAS) + 3
    texts = [unicodedata.normalize("NFKC", text(root)) for root in roots]
    assert texts.count("f(x)=a0+a1x+a2x2+a3x3+a4x4+a5x5+⋯+anxn") == 1


def test_a_part_of_it_is_copied_as_tex(page: str, reader: Reader) -> None:
    reader.open(page, PHONE)
    reader.empty_clipboard()
    reader.ask(SELECT, ".math-lines > mrow:nth-child(2)", ".math-lines > mrow:nth-child(4)")
    reader.tell(
        "Input.dispatchKeyEvent", type="rawKeyDown", key="c", code="KeyC", modifiers=2, commands=["copy"]
    )
    assert reader.pasted() == f"${FORMULAS[0]}$"
