"""Theme paper: readable colours, consistent stylesheets, small scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blogsmith.render.templates.theme import load_theme
from tests.rows import each_row

from .theme_pages import ROOT

STATIC = ROOT / "themes" / "paper" / "static"
TERMINAL = ROOT / "themes" / "terminal" / "static"


FILES = sorted((*STATIC.glob("*.*"), *TERMINAL.glob("*.*")))
TONES = ("blue", "green", "amber", "red", "purple", "grey", "teal")
TINT = 0.09
"""The strongest tint of a callout's background, in callouts.css."""


NAMES = ("terminal", "distill", "scholar", "notebook")
THEMES = {
    "paper": (STATIC / "theme.css",),
    **{name: (STATIC / "theme.css", ROOT / f"themes/{name}/static/{name}.css") for name in NAMES},
}
"""Theme → the stylesheets with its colours, in order."""


def colours(scheme: str, theme: str = "paper") -> dict[str, str]:
    text = "".join(file.read_text() for file in THEMES[theme])
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", text)
    return {name: light if scheme == "light" else dark for name, light, dark in pairs}


def luminance(colour: str) -> float:
    """Return the relative luminance, WCAG 2.2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    """Compute CSS `color-mix(in srgb, one share, other)`."""
    pairs = [(int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(scheme: str, theme: str) -> None:
    found = colours(scheme, theme)
    named = load_theme(theme, ROOT, ROOT / "themes").files.contrast
    pairs = [(pair.text.lstrip("-"), pair.background.lstrip("-")) for pair in named]
    poor = {pair: round(contrast(found[pair[0]], found[pair[1]]), 2) for pair in pairs}
    # WCAG 2.2, 1.4.3: 4.5 : 1 for text
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}
    assert len(pairs) >= 40


@each_row("theme", THEMES)
@each_row("scheme", ["light", "dark"])
@each_row("tone", TONES)
def test_callouts_are_readable(scheme: str, tone: str, theme: str) -> None:
    found = colours(scheme, theme)
    ground = mixed(found[tone], found["paper"], TINT)
    assert f"var(--tone) {TINT:.0%}" in (STATIC / "callouts.css").read_text()
    assert min(contrast(found[name], ground) for name in (tone, "ink", "accent")) >= 4.5


@each_row("file", FILES, ids=lambda file: file.name)
def test_static_files_load_nothing_from_other_hosts(file: Path) -> None:
    # a namespace, and a link that readers may follow
    text = file.read_text().replace("http://www.w3.org/2000/svg", "")
    text = text.replace("`https://bsky.app/profile/", "")
    assert not re.search(r"https?://|@import|url\((?!\"(data:|fonts/))", text)
    assert text.count("{") == text.count("}")


def test_icons_that_plugins_and_cases_name_are_drawn() -> None:
    files = [*sorted((ROOT / "plugins").glob("*.py")), ROOT / "tests" / "cases" / "callouts.md"]
    named = set(re.findall(r"\bicon(?:=\"|: )([a-z]+)", "".join(file.read_text() for file in files)))
    drawn = set(re.findall(r"data-icon=\"([a-z]+)\"", (STATIC / "callouts.css").read_text()))
    assert {"bulb", "lens"} <= named <= drawn


class TestScripts:
    def test_switch_is_small(self) -> None:
        assert (STATIC / "switch.js").stat().st_size <= 1536

    def test_paper_is_light_whatever_the_switch_says(self) -> None:
        css = (STATIC / "theme.css").read_text()
        assert css.index('[data-theme="dark"]') > css.index("@media screen {")
        assert re.search(r"@media print \{\s+:root \{\s+color-scheme: light;", css)


class TestSidenotes:
    def test_every_note_hangs_below_the_one_above(self) -> None:
        css = (STATIC / "sidenotes.css").read_text()
        rows = re.findall(
            r"#fnref-(\d+) \{ anchor-name: --mark-(\d+); \} "
            r"#fn-(\d+) \{ anchor-name: --note-(\d+); --sign: --mark-(\d+); --above: --note-(\d+); \}",
            css,
        )
        assert [tuple(map(int, row)) for row in rows] == [(n, n, n, n, n, n - 1) for n in range(1, 61)]
        assert "#fn-61" in css
