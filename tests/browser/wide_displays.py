"""Measures displays in a browser: whether they scroll, and whether a number is on a formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.site_files import SiteText, build, printed, write_site_files

from .firefox import Firefox
from .reader import Reader

# For each display: the fields of `WideDisplay`.
MEASURE = """
return [...document.querySelectorAll(".math-display:has(> math)")].map(display => {
  const formula = display.querySelector("math");
  const numbers = [...display.querySelectorAll(":scope > .eq-number, .eq-cell > *")].map(number => {
    const range = document.createRange();
    range.selectNodeContents(number);
    return range.getBoundingClientRect();
  });
  const signs = [...formula.querySelectorAll("mi, mn, mo, mtext")].filter(sign => !sign.closest(".eq-cell"))
    .map(sign => sign.getBoundingClientRect()).filter(place => place.width > 0.5 && place.height > 0.5);
  const over = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 2 && other.top < one.bottom - 2;
  const rows = [...formula.querySelectorAll(":scope > mrow, .math-rows > mtr > mtd > mrow")];
  const size = element => parseFloat(getComputedStyle(element).fontSize);
  return {
    tex: formula.getAttribute("alttext"),
    fit: display.dataset.fit ?? "",
    scroll: display.scrollWidth - display.clientWidth,
    covered: numbers.some(number => signs.some(sign => over(number, sign))),
    scale: size(formula) / size(display),
    rows: rows.map(row => row.getBoundingClientRect())
      .map(({left, top, bottom}) => [left - display.getBoundingClientRect().left, top, bottom]),
    room: display.getBoundingClientRect().right - Math.max(0, ...numbers.map(number => number.right)),
  };
});
"""


@dataclass(frozen=True, slots=True)
class WideDisplay:
    """A display as a browser shows it. Lengths are in CSS pixels."""

    tex: str
    fit: str
    """Value of `data-fit`; empty for a display that fits a phone."""
    scroll: float
    """Width that is outside the box; more than 0 if the display scrolls."""
    covered: bool
    """Whether a number is on the formula."""
    scale: float
    """Size of the formula, as a multiple of the text's."""
    rows: tuple[tuple[float, float, float], ...]
    """Left edge in the box, top and bottom of each row between possible breaks."""
    room: float
    """Distance of the rightmost number from the right edge of the box."""

    def line_starts(self) -> list[float]:
        """Return the left edges of the lines; a row below the one before starts a line."""
        starts = [self.rows[0][0]] if self.rows else []
        return starts + [here[0] for before, here in pairwise(self.rows) if here[1] > before[2] - 4]


def measure_displays(browser: Reader | Firefox) -> list[WideDisplay]:
    """Return all displays of the open page, in order."""
    return [
        WideDisplay(**{**found, "rows": tuple(map(tuple, found["rows"]))}) for found in browser.ask(MEASURE)
    ]


def build_displays(folder: Path, pages: Sequence[Sequence[str]]) -> Path:
    """Build a site with a post for each page, `/posts/0/` and so on; return the output folder.

    pages: displays with their delimiters, as an author writes them.
    """
    posts = {
        f"content/posts/{number}.md": "\n\n".join(
            (f"---\ntitle: Page {number}\ndate: 2026-01-01\n---", *texts)
        )
        for number, texts in enumerate(pages)
    }
    files = {name: f"{text}\n".encode() for name, text in posts.items()}
    settings = b"title: Displays\nmath: {on_error: render}\n"
    write_site_files(SiteText({"blogsmith.yaml": settings, **files}, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    return folder / "public"
