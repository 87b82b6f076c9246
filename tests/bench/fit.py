"""`make bench-fit`: how many displays scroll on a phone, and how often a number is on a formula.

    python -m tests.bench.fit [--corpus FILE.JSONL …] [--width PX …] [--show N]

Builds this repository's site and a site of each corpus, and opens every page with a display in Chromium and
Firefox. A corpus has one formula a line: `{"tex": …, "display": true}`. Every third of its displays has a
number. Of more than 300 displays, 300 are taken, the same ones each time. The table also says how far
estimates of widths are from what browsers draw.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from blogsmith.tex.convert import convert_formula
from blogsmith.tex.errors import TexError
from blogsmith.tex.mathml.widths import measure
from tests.browser.firefox import Firefox, firefox
from tests.browser.reader import Reader, reading
from tests.browser.server import served
from tests.browser.two_browsers import take_on
from tests.browser.wide_displays import WideDisplay, build_displays, measure_displays
from tests.site_files import build, printed

ROOT = Path(__file__).parents[2]
GOALS = {"own": 0.03, "corpus": 0.05}
"""Maximum share of displays that scroll at `PHONE_PX`."""
PHONE_PX = 360
SAMPLE, PAGE = 300, 25
SEED = "fit"
NATURAL = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  .math-display { display: block !important; width: 30000px !important; max-width: none !important }
  .math-display > math { display: inline-block !important; width: max-content !important }
  .math-display mtable { width: auto !important }
  @supports (display: inline math) { .math-display > math { display: inline math !important } }
`);
document.adoptedStyleSheets = [sheet];
const formulas = [...document.querySelectorAll(".math-display > math:not(:has(.eq-cell))")];
const size = formula => parseFloat(getComputedStyle(formula).fontSize);
const width = formula => formula.getBoundingClientRect().width / size(formula);
const found = formulas.map(formula => [formula.innerHTML, width(formula)]);
document.adoptedStyleSheets = [];
return found;
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Displays in a built site."""

    name: str
    public: Path
    goal: float
    """Maximum share that scrolls at `PHONE_PX`."""


def read_displays(file: Path) -> list[str]:
    """Return the displays of a corpus that our converter accepts, at most `SAMPLE`."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    displays = [row["tex"] for row in rows if row.get("display", True) and "ref{" not in row["tex"]]
    random.Random(SEED).shuffle(displays)
    accepted = (tex for tex in displays if _is_accepted(tex))
    return [tex for tex, _ in zip(accepted, range(SAMPLE), strict=False)]


def _is_accepted(tex: str) -> bool:
    try:
        return bool(convert_formula(tex, display=True).mathml)
    except TexError:
        return False


def write_markdown(displays: Sequence[str]) -> Iterator[list[str]]:
    """Yield the displays of each page, every third with a number."""
    for start in range(0, len(displays), PAGE):
        page = []
        for number, tex in enumerate(displays[start : start + PAGE], start):
            lines = "\n".join(line for line in tex.split("\n") if line.strip())
            has_number = "\\tag" in tex or "\\label" in tex or tex.lstrip().startswith("\\begin{")
            may_have_label = number % 3 == 0 and not has_number
            page.append(f"$$\n{lines}\n$$" + (f" {{#eq:n{number}}}" if may_have_label else ""))
        yield page


def pages_with_displays(public: Path) -> list[str]:
    """Return the URLs of pages with displays, without those that only redirect."""
    files = sorted(public.rglob("*.html"))
    texts = {file: file.read_text("utf-8") for file in files}
    found = [
        file for file, text in texts.items() if "math-display" in text and 'http-equiv="refresh"' not in text
    ]
    return [f"/{file.relative_to(public).as_posix()}" for file in found]


def measure_site(
    browser: Reader | Firefox, public: Path, width_px: int
) -> tuple[list[WideDisplay], list[float]]:
    """Return the displays, and the ratios of estimated to drawn widths of those wider than 8 em."""
    displays: list[WideDisplay] = []
    ratios: list[float] = []
    with served(public) as origin:
        for page in pages_with_displays(public):
            browser.open(origin + page)
            take_on(browser, width_px, 2)
            browser.ask("document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)")
            displays += measure_displays(browser)
            ratios += [measure(markup) / ems for markup, ems in browser.ask(NATURAL) if ems > 8]
    return displays, ratios


def report(corpus: Corpus, browser: str, width_px: int, displays: Sequence[WideDisplay]) -> bool:
    """Print one row of the table. Return whether the goals are met."""
    scrolled = [one for one in displays if one.scroll > 0]
    covered = [one for one in displays if one.covered]
    share = len(scrolled) / max(1, len(displays))
    is_met = width_px != PHONE_PX or (share <= corpus.goal and not covered)
    shrunk = sum(one.scale < 0.995 for one in displays)
    print(
        f"{corpus.name:20} {browser:9} {width_px:5} {len(displays):5} {len(scrolled):7} {share:6.1%} "
        f"{shrunk:7} {len(covered):8}  {'met' if is_met else 'missed'}",
        flush=True,
    )
    return is_met


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="JSON lines with formulas")
    parser.add_argument("--width", type=int, nargs="*", default=[PHONE_PX], help="widths of the window")
    parser.add_argument("--show", type=int, default=0, help="number of displays to print that scroll")
    options = parser.parse_args(argv)
    is_met = True
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        own = build(ROOT, output=folder / "own", future=True)
        assert own.ok, printed(own)
        corpora = [Corpus("own", folder / "own", GOALS["own"])]
        for file in options.corpus:
            pages = list(write_markdown(read_displays(file)))
            corpora.append(Corpus(file.stem, build_displays(folder / file.stem, pages), GOALS["corpus"]))
        browsers: Mapping[str, Reader | Firefox] = {
            "chromium": stack.enter_context(reading(folder / "chromium")),
            "firefox": stack.enter_context(firefox(folder / "firefox")),
        }
        print(f"{'corpus':20} {'browser':9} width displays scroll  share  shrunk  covered  goal")
        for corpus in corpora:
            for browser_name, browser in browsers.items():
                for width_px in options.width:
                    displays, ratios = measure_site(browser, corpus.public, width_px)
                    is_met &= report(corpus, browser_name, width_px, displays)
                    for one in [one for one in displays if one.scroll > 0 or one.covered][: options.show]:
                        print(f"    {one.scroll:4.0f} px  {one.fit:10}  {' '.join(one.tex.split())[:150]}")
                if len(ratios) > 1:
                    cuts = quantiles(ratios, n=20)
                    print(
                        f"{'':20} {browser_name:9} estimate / drawn: {cuts[0]:.2f} to {cuts[-1]:.2f} (90 %)"
                    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
