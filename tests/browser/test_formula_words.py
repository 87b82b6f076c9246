"""Words and numbers in formulas have the font of the surrounding text, in both browsers and both themes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.site_files import SiteText, build, printed, write_site_files

from .firefox import Firefox
from .manual_screenshots import ALL_FONTS
from .reader import Reader
from .server import served
from .two_browsers import take_on

POST = r"""---
title: Words
date: 2026-01-01
---

The first of \eqref{eq:one} in $x_{\text{words of a script}}$ and $\text{words of a line}$.

\begin{align}
a &= b \label{eq:one} \\
c &= d \tag{words of a row} \\
e &= \text{words of a row}
\end{align}

$$f = g$$ {#eq:two}

$$h = i \tag{words of a tag}$$

$$j = \begin{cases} 1 & \text{words of a case, if $k$} \\ 0 & \text{otherwise} \end{cases}$$

$$\text{upright} + \textbf{bold words} + \textit{italic words}$$

$$\textsf{words without serifs} + \texttt{mono}$$

$$\underbrace{l}_{\text{words below}} \xrightarrow{\text{words above}} m$$

## A heading with $\text{words}$

> [!THEOREM]
> \begin{align}
> n &= o \label{eq:three} \\
> p &= \text{words of a theorem}
> \end{align}

> [!PROOF]
> Let $\text{words of a proof}$ be given.
>
> $$q = \text{words of a proof} \tag{words of a proof's number}$$
"""
THEMES = {
    "paper": "theme: paper",
    "paper, system": "theme: paper\ntheme_options: {font: system}",
    "terminal": "theme: terminal",
    "terminal, paper": "theme: terminal\ntheme_options: {font: paper}",
}
RATIO = 3.0
MOST = 0.02
"""Limit on the relative difference in width of words, because browsers round heights and widths of letters.
"""
# Each text in formulas: its words, their width there and their width in the surrounding text.
MEASURE = """
const found = [];
const width = (place, style, words, face) => {
  const span = document.createElement("span");
  span.textContent = words;
  const names = ["font-size", "font-style", "font-weight"];
  const kept = names.map(name => `${name}: ${style.getPropertyValue(name)}`);
  span.style.cssText = `display: inline-block; white-space: pre; line-height: 1; hyphens: none;
    font-variant-numeric: lining-nums; ${kept.join(";")}; ${face}`;
  place.append(span);
  const wide = span.getBoundingClientRect().width;
  span.remove();
  return wide;
};
for (const text of document.querySelectorAll("mtext, .eq-number")) {
  const place = text.closest("p, h2, .math-display");
  const around = place.matches(".math-display") ? place.parentElement : place;
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("mi, mn, mo")) continue;
    const face = parent.closest(".math-sans") ? arguments[0]
      : parent.closest("code") ? "font-family: var(--mono); font-size-adjust: none"
      : "font-family: var(--serif)";
    // the theme lets browsers round the widths of letters in text, not in formulas
    const precise = parent.closest("math, .eq-number") ? "text-rendering: geometricprecision" : "";
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(parent);
    const shown = range.getBoundingClientRect().width;
    found.push([node.data, shown, width(around, style, node.data, `${face}; ${precise}`)]);
  }
}
return found;
"""
# In paper, words are as high as letters of formulas. In terminal, text for reading is sans-serif.
SANS = {"paper": "font-family: var(--sans)", "terminal": "font-family: var(--humanist)"}
HEIGHT = "; font-size-adjust: var(--x-height)"
FONTS = "document.body.getBoundingClientRect(); return document.fonts.ready.then(() => true)"
PLANTED = {
    "the math font": "mtext, mtd .eq-number { font-family: var(--math) !important }",
    "letters of one width": "mtd .eq-number { font-family: monospace !important }",
    "another size": "mtext { font-size-adjust: 0.53 !important }",
}

Words = tuple[str, float, float]
"""Words, their width in a formula, and their width in the text."""


@pytest.fixture(scope="module", params=list(THEMES))
def theme(request: pytest.FixtureRequest) -> str:
    """Return the name of a theme, with its option."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def origin(theme: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post in this theme; yield the origin."""
    root = tmp_path_factory.mktemp("words")
    files = {
        "blogsmith.yaml": f"title: Words\n{THEMES[theme]}\n".encode(),
        "content/posts/words.md": POST.encode(),
    }
    write_site_files(SiteText(files, "", ""), root)
    report = build(root, output=root / "public")
    assert report.ok, printed(report)
    with served(root / "public") as address:
        yield address


@pytest.fixture
def browsers(origin: str, reader: Reader, fox: Firefox) -> Mapping[str, Reader | Firefox]:
    """Return both browsers with the post, opened twice, and with optional fonts, however late they are."""
    found: Mapping[str, Reader | Firefox] = {"chromium": reader, "firefox": fox}
    for browser in found.values():
        browser.open(f"{origin}/posts/words/")
        take_on(browser, 1280, RATIO)
        browser.open(f"{origin}/posts/words/")
        browser.ask(ALL_FONTS)
        browser.ask(FONTS)
    return found


def test_words_have_the_face_of_the_text(theme: str, browsers: Mapping[str, Reader | Firefox]) -> None:
    for name, browser in browsers.items():
        assert (name, strangers(browser, theme)) == (name, [])


def test_other_faces_are_noticed(theme: str, browsers: Mapping[str, Reader | Firefox]) -> None:
    for name, browser in browsers.items():
        for fault, rule in PLANTED.items():
            browser.ask("document.styleSheets[0].insertRule(arguments[0])", rule)
            assert strangers(browser, theme), (name, fault)
            browser.ask("document.styleSheets[0].deleteRule(0)")


def strangers(browser: Reader | Firefox, theme: str) -> list[Words]:
    """Return words in the wrong font or size."""
    found = browser.ask(MEASURE, SANS[theme.partition(",")[0]] + HEIGHT)
    # Numbers of rows and of displays, and words with a font of their own.
    words = [text.replace("\xa0", " ") for text, _, _ in found]
    assert {"(1)", "(2)", "(words of a row)", "words without serifs", "mono", "otherwise"} <= {*words}
    assert len(words) > 20
    return [(text, here, there) for text, here, there in found if abs(here - there) > MOST * there + 0.5]
