"""Displays that are wider than a phone shrink, break and keep their number, in both browsers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from .firefox import Firefox
from .reader import PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .two_browsers import opened_in_either, take_on
from .wide_displays import WideDisplay, build_displays, measure_displays

SUM = "a_1 + a_2 + a_3 = b_1 + b_2 + b_3 + b_4 + b_5 + b_6 + b_7 + b_8 + b_9 = c_1 + c_2 + c_3"
SLIGHTLY = "a_1 + a_2 + a_3 + a_4 = b_1 + b_2 + b_3 + b_4 + b_5 + b"
TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "fits": "$$a = b$$ {#eq:fits}",
        "number": "$$a_1 + a_2 + a_3 + a_4 + a_5 = b_1 + b_2 + b_3$$ {#eq:number}",
        "shrinks": f"$${SLIGHTLY}$$",
        "breaks": f"$${SUM}$$ {{#eq:breaks}}.",
        "rows": (
            r"\begin{align} a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 &= b_1 + b_2 + b_3 + b_4 + b_5 \label{r}"
            r" \\ &\le c_1 + \frac{1}{2} \label{s} \end{align}"
        ),
        "cases": (
            r"$$ |x| = \begin{cases} \phantom{-}x & \text{if nobody has written a minus sign} \\"
            r" -x & \text{if somebody has written one before it} \end{cases} $$"
        ),
        "fence": r"$$s = \left( a_1 + a_2 + a_3 + a_4 + a_5 + \frac{a_6}{2} + a_7 + a_8 + a_9 \right) b_1$$",
        "kept": f"$${SUM}$$ {{wide=scroll}}",
        "unbroken": f"$${SUM}$$ {{wide=shrink}}",
        "unshrunk": f"$${SLIGHTLY}$$ {{wide=break}}",
        "callout": f"> [!NOTE]\n> $${SUM}$$ {{#eq:callout}}",
        "item": f"- $${SUM}$$",
        "cell": f"| a |\n|---|\n| $${SLIGHTLY}$$ |",
    }
)
LINES_OF = ("breaks", "rows", "fence", "callout", "item")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    with served(build_displays(tmp_path_factory.mktemp("wide"), [list(TEXTS.values())])) as origin:
        yield f"{origin}/posts/0/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    """Open the page on a phone."""
    return opened_in_either(request, page, 360, 2, keeps=True)


def seen(browser: Reader | Firefox, width_px: int) -> dict[str, WideDisplay]:
    take_on(browser, width_px, 2)
    return dict(zip(TEXTS, measure_displays(browser), strict=True))


def count_lines(display: WideDisplay) -> int:
    return len(display.line_starts())


@pytest.mark.parametrize("width_px", [320, 360, 390, 480, 600, 768])
def test_only_what_authors_keep_scrolls(browser: Reader | Firefox, width_px: int) -> None:
    found = seen(browser, width_px)
    kept = {"kept", "unbroken"} | ({"cell"} if width_px < 480 else set())
    # the narrowest screen that the theme supports
    kept |= {"cases"} if width_px <= 320 else set()
    assert {name for name, one in found.items() if one.scroll > 0} <= kept
    if width_px <= 390:
        assert found["kept"].scroll > found["unbroken"].scroll > 0
    assert not [name for name, one in found.items() if one.covered]
    # A number is at the right edge.
    assert not [name for name in ("number", "breaks", "rows", "callout") if abs(found[name].room) > 2]
    assert browser.ask("return document.documentElement.scrollWidth - innerWidth") <= 0


def test_it_shrinks_first_and_then_breaks_in_full_size(browser: Reader | Firefox) -> None:
    found = seen(browser, 360)
    assert 0.81 < found["shrinks"].scale < 0.99 and count_lines(found["shrinks"]) == 1
    assert found["unbroken"].scale == pytest.approx(0.82, abs=0.01)
    assert found["fits"].scale == found["kept"].scale == found["unshrunk"].scale == 1
    assert count_lines(found["unshrunk"]) == 2
    for name in LINES_OF:
        assert count_lines(found[name]) > 1, name
        assert found[name].scale == 1, name


def test_following_lines_are_indented(browser: Reader | Firefox) -> None:
    found = seen(browser, 360)
    first, *others = found["breaks"].line_starts()
    assert first <= 2 and others and all(15 <= left <= 19 for left in others)
    # In rows of a table, the relation leads its line.
    cells = "return [...document.querySelectorAll('.math-rows > mtr > mtd')].map(cell => cell.textContent)"
    assert [text for text in browser.ask(cells) if text.startswith(("=b", "≤c"))] == [
        "=b1+b2+b3+b4+b5",
        "≤c1+12",
    ]


def test_on_a_wide_screen_everything_is_in_one_line(browser: Reader | Firefox) -> None:
    found = seen(browser, 1280)
    narrower = {"callout", "item"}
    assert not [
        name for name, one in found.items() if one.scroll > 0 or (one.scale < 1 and name not in narrower)
    ]
    assert [name for name in LINES_OF if count_lines(found[name]) > 1] == ["rows"]
    # The rows of the table stay aligned.
    tops = """
    return [...document.querySelectorAll(".math-rows.math-align > mtr > mtd:nth-child(3)")]
      .map(cell => Math.round(cell.getBoundingClientRect().left));
    """
    assert len(set(browser.ask(tops))) == 1


def test_it_is_the_same_without_scripts(page: str, reader: Reader) -> None:
    found = []
    for scripts in (True, WITHOUT_SCRIPTS.scripts):
        reader.open(page, Look(PHONE.width_px, scripts=scripts))
        reader.wait_for_fonts()
        found.append([(one.tex, one.scroll > 0, count_lines(one)) for one in measure_displays(reader)])
    assert found[0] == found[1]


def test_it_is_one_formula_to_assistive_technology(page: str, reader: Reader) -> None:
    reader.open(page, PHONE)
    nodes = {node["nodeId"]: node for node in reader.tell("Accessibility.getFullAXTree")["nodes"]}
    roots = [node for node in nodes.values() if node.get("role", {}).get("value") == "MathMLMath"]

    def text(node: dict[str, Any]) -> str:
        name = node["name"]["value"] if node.get("role", {}).get("value") == "StaticText" else ""
        return name + "".join(text(nodes[child]) for child in node.get("childIds", ()) if child in nodes)

    assert len(roots) == len(TEXTS)
    texts = [unicodedata.normalize("NFKC", text(root)) for root in roots]
    expected = SUM.replace("_", "").replace(" ", "")
    assert texts.count(expected) == sum(SUM in written for written in TEXTS.values())
