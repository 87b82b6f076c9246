"""A canvas saved as SVG that is readable on light and on dark pages.

An SVG in an `<img>` cannot use the page's colours or fonts. So it includes a few classes of its own, close
to the colours of the theme paper, and switches them with the reader's colour scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """\
text{font:15px "Avenir Next","Segoe UI","Helvetica Neue","Liberation Sans",sans-serif;fill:#4a453e}
.small{font-size:13px}.strong{font-weight:600;fill:#211e1a}
.axis{stroke:#8d8477;stroke-width:1}.grid{stroke:#ddd5c7;stroke-width:1}
.a{fill:#2a5a87}.b{fill:#97301f}.c{fill:#39662f}.off{fill:none;stroke:#b9b0a1;stroke-width:.7}
.curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.dash{stroke-dasharray:5 4}
.la{stroke:#2a5a87}.lb{stroke:#97301f}.lc{stroke:#39662f}.ink{fill:#211e1a}.ground{fill:#fbf9f4}
@media (prefers-color-scheme:dark){
text{fill:#beb8ac}.strong,.ink{fill:#d8d3c8}.axis{stroke:#8f877b}.grid{stroke:#3a3733}
.a{fill:#8fb6d9}.b{fill:#e39a83}.c{fill:#9dc18d}.off{stroke:#5d574f}
.la{stroke:#8fb6d9}.lb{stroke:#e39a83}.lc{stroke:#9dc18d}.ground{fill:#1a1917}
}"""

Point = tuple[float, float]


class Sheet:
    """An SVG under construction. Lengths are in px; the origin is at the top left."""

    def __init__(self, width: int, height: int, title: str, *, opaque: bool = False) -> None:
        """Start an SVG image.

        title: text that a screen reader reads when the file is opened alone.

        opaque: draw a background, for images that are laid over each other.
        """
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE}\n</style>",
        ]
        if opaque:
            self.rect(0, 0, width, height, "ground")

    def rect(self, x: float, y: float, width: float, height: float, kind: str, opacity: float = 1) -> None:
        faint = f' opacity="{_n(opacity)}"' if opacity < 1 else ""
        size = f'width="{_n(width)}" height="{_n(height)}"'
        self._parts.append(f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" {size}{faint}/>')

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        self._parts.append(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')

    def line(self, start: Point, end: Point, kind: str) -> None:
        ends = f'x1="{_n(start[0])}" y1="{_n(start[1])}" x2="{_n(end[0])}" y2="{_n(end[1])}"'
        self._parts.append(f'<line class="{kind}" {ends}/>')

    def curve(self, points: Iterable[Point], kind: str) -> None:
        """Draw a line through the points.

        kind: class of the line, `la`, `lb` or `lc`, optionally with `dash`.
        """
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(f'<polyline class="curve {kind}" points="{path}"/>')

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Write text at a point.

        anchor: part of the text that is at x: `start`, `middle` or `end`.
        """
        self._parts.append(
            f'<text{_class(kind)} x="{_n(x)}" y="{_n(y)}"{_anchor(anchor)}>{escape(words)}</text>'
        )

    def upward(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Write text that runs upwards, centred at the point."""
        place = f'transform="translate({_n(x)} {_n(y)}) rotate(-90)"'
        self._parts.append(f'<text{_class(kind)} {place} text-anchor="middle">{escape(words)}</text>')

    def svg(self) -> str:
        return "\n".join([*self._parts, "</svg>\n"])


def matrix(sheet: Sheet, x: float, y: float, side: float, rows: Sequence[Sequence[float]]) -> None:
    """Draw squares of `side` px, as opaque as their entry between 0 and 1; an entry of 0 is an outline."""
    for i, row in enumerate(rows):
        for j, weight in enumerate(row):
            place = (x + j * side + 1, y + i * side + 1, side - 2, side - 2)
            sheet.rect(*place, "off")
            if weight > 0:
                sheet.rect(*place, "a", weight)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _anchor(anchor: str) -> str:
    return "" if anchor == "start" else f' text-anchor="{anchor}"'


def _n(value: float) -> str:
    """Format a number with one or two decimals, which hides rounding differences between machines."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.1f}".removesuffix(".0")
