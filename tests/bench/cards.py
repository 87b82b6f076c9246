"""CPU time for drawing a social card, and its size.

    python -m tests.bench.cards [--rounds N]

Titles have and have no formulas, in the style of the theme `paper`. The goal is at most 50 ms each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence

from blogsmith.model.social_cards import SocialCard
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.render.templates.theme import load_theme
from blogsmith.site.cards.drawing import draw_card
from blogsmith.site.cards.fonts import CardFonts
from blogsmith.tex.on_demand import convert_formula

TITLES = (
    "Softmax",
    "Many heads, three patterns",
    "A rather long title that says everything there is to say about a subject, and then a little more",
    r"Why attention divides by $\sqrt{d_k}$",
    r"An $O(n^2)$ bound for $\mathbb{E}[X] = \frac{1}{n}\sum_{i=1}^n x_i$",
)
"""Every second segment between dollars is TeX."""


def title_html(title: str) -> str:
    """Return the title with its formulas as MathML."""
    parts = title.split("$")
    return "".join(
        convert_formula(part, display=False, macros={}).mathml if number % 2 else part
        for number, part in enumerate(parts)
    )


def main(arguments: Sequence[str]) -> int:
    """Print CPU milliseconds and kilobytes for each title."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cards")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args(arguments).rounds
    folder = bundled_folder("themes")
    style = load_theme("paper", folder, folder).files.card
    fonts = CardFonts(style)
    for title in TITLES:
        card = SocialCard(title_html(title), "A site", "Its author · 3 March 2026")
        size = len(draw_card(card, style))
        times_ms = []
        for _ in range(rounds):
            start = time.process_time()
            draw_card(card, style, fonts)
            times_ms.append(1000 * (time.process_time() - start))
        print(f"{statistics.median(times_ms):6.1f} ms  {size / 1000:5.1f} kB  {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
