"""Options of themes: declaration, valid values, and the variables that they set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Reporter, SiteError
from blogsmith.render.templates.theme import load_theme
from blogsmith.render.templates.theme_options import ThemeOption, merge_options, option_variables
from blogsmith.render.templates.theme_settings import read_settings
from tests.docs_theme import PAPER, options, variables
from tests.rows import each_row
from tests.site_files import build
from tests.test_theme import BUNDLED, write


@each_row(
    ("option", "right", "wrong"),
    [
        (ThemeOption(False, "flag"), [True, False], ["yes", 1, None, ""]),
        (ThemeOption("", "text"), ["a", "", None], [1, True, ["a"]]),
        (ThemeOption(1, "number"), [1, 1.5], ["1", True, ""]),
        (ThemeOption((), "list"), [["a"], []], ["a", [1]]),
        (ThemeOption("a", "text", ("a", "b")), ["a", "b"], ["c", "", 1]),
        (
            ThemeOption("", "color"),
            [
                "#1f5673",
                "#abc",
                "teal",
                "CurrentColor",
                "oklch(60% 0.1 200)",
                {"light": "#000", "dark": "white"},
                "var(--teal)",
            ],
            [
                "#12",
                "notacolor",
                "url(x)",
                "red;",
                "a b",
                {"light": "#000"},
                {"light": "x y", "dark": "z"},
                3,
            ],
        ),
        (ThemeOption("", "length"), ["34rem", "60ch", "12.5cm"], ["34", "rem", "calc(1px)", 34, "34rem;"]),
        (ThemeOption("", "file"), ["/a.png"], [" /a.png", 3, ["/a.png"]]),
        (ThemeOption([], "files"), [["/a.css", "/b.css"]], ["/a.css", [3]]),
    ],
    ids=lambda value: value.kind if isinstance(value, ThemeOption) else "",
)
def test_values(option: ThemeOption, right: list[object], wrong: list[object]) -> None:
    assert [value for value in right if option.problem(value)] == []
    assert [value for value in wrong if not option.problem(value)] == []


def read(text: str) -> tuple[dict[str, ThemeOption], list[tuple[int, str]]]:
    reporter = Reporter("theme.yaml", text.splitlines())
    found = read_settings(text, "x", reporter).options
    return dict(found), [(d.place.line if d.place else 0, d.message) for d in reporter.diagnostics]


class TestDeclared:
    def test_kind_is_that_of_the_default(self) -> None:
        found, problems = read("options: {a: true, b: x, c: 1.5, d: [], e: {x: y}, f: }\n")
        assert {name: option.kind for name, option in found.items()} == {
            "a": "flag",
            "b": "text",
            "c": "number",
            "d": "list",
            "e": "mapping",
            "f": "text",
        }
        assert problems == []

    @each_row(
        ("declared", "problem"),
        [
            ("{default: a, choice: [a]}", 'unknown key "choice"'),
            ("{default: a, kind: colour}", 'unknown kind "colour"'),
            ("{kind: color}", 'missing "default" of option "a"'),
            ("{default: a, choices: a}", 'invalid "choices": expected a list of strings'),
            ("{default: c, choices: [a, b]}", 'invalid default of option "a": expected one of a, b'),
            (
                "{default: '', kind: color, property: 'x;y'}",
                'invalid CSS property "x;y": expected a name such as `--accent`',
            ),
        ],
    )
    def test_what_is_wrong_is_told(self, declared: str, problem: str) -> None:
        assert read(f"options:\n  a: {declared}\n")[1] == [(2, problem)]

    def test_a_theme_changes_a_default_of_its_parent(self) -> None:
        parent = {
            "tint": ThemeOption("", "color", (), "--tint"),
            "side": ThemeOption("a", "text", ("a", "b")),
        }
        own, _ = read("options: {tint: {light: '#fff', dark: '#000'}, side: b, mine: 1}\n")
        merged = merge_options(parent, own)
        assert merged["tint"] == ThemeOption({"light": "#fff", "dark": "#000"}, "color", (), "--tint")
        assert merged["side"] == ThemeOption("b", "text", ("a", "b"))
        assert merged["mine"].kind == "number"
        assert option_variables({}, merged) == (("--tint", "light-dark(#fff, #000)"),)
        assert option_variables({"tint": "teal"}, merged) == (("--tint", "teal"),)
        assert option_variables({"tint": ""}, merged) == ()


def test_options_reach_pages_and_style_sheets(tmp_path: Path) -> None:
    chosen = "{accent: teal, width: 40rem, toc: right, header: bar, scheme: light}"
    files = {"blogsmith.yaml": f"title: S\ntheme_options: {chosen}\n", "content/a.md": "## A\n\n## B\n"}
    root = write(tmp_path, files)
    assert build(root).ok
    html = (root / "public/a/index.html").read_text()
    assert '<html lang="en" data-font="paper" data-scheme="light" data-header="bar" data-toc="right">' in html
    assert '<nav class="toc"' in html
    (sheet,) = (root / "public/assets/paper").glob("posts-*.css")
    css = sheet.read_text()
    assert ":root{--accent:teal;--measure:40rem}" in css
    # paper has its own width and ink, so its rules come last
    assert css.index("--measure:40rem") < css.index("--measure:100%")
    write(root, {"blogsmith.yaml": "title: S\ntheme_options: {toc: none}\n"})
    assert build(root).ok
    assert '<nav class="toc"' not in (root / "public/a/index.html").read_text()


def test_options_are_judged_by_the_theme_of_the_site(tmp_path: Path) -> None:
    files = {
        "blogsmith.yaml": "title: S\ntheme: mine\ntheme_options: {greeting: hi}\n",
        "themes/mine/theme.yaml": "extends: paper\noptions: {greeting: hello}\n",
    }
    root = write(tmp_path, files)
    assert build(root).diagnostics == ()
    write(root, {"themes/mine/theme.yaml": "extends: paper\n"})
    (found,) = build(root).diagnostics
    assert (found.code, found.message) == ("config-key", 'unknown option "greeting" of theme "mine"')


def test_the_manual_says_something_of_each() -> None:
    sheets = [file.read_text("utf-8") for file in (PAPER / "static").glob("*.css")]
    bodies = "".join(body for css in sheets for body in re.findall(r"^:root \{\n(.*?)^\}", css, re.M | re.S))
    assert {name for name, _, _ in variables()} == set(re.findall(r"^  (--[\w-]+):", bodies, re.M))
    assert [name for name, _, meaning in variables() if not meaning] == []
    assert [name for name, _, _, meaning in options() if not meaning] == []
    declared = load_theme("paper", Path(), BUNDLED).files.options
    assert [name for name, *_ in options()] == list(declared)


@pytest.mark.parametrize("settings", ["options: {a: {default: 1, kind: text}}"])
def test_a_theme_with_a_wrong_option_is_refused(tmp_path: Path, settings: str) -> None:
    write(tmp_path, {"themes/x/theme.yaml": settings})
    with pytest.raises(SiteError, match='invalid default of option "a": expected a string'):
        load_theme("x", tmp_path, BUNDLED)
