"""Checks of stylesheets: their facts, the colours they give, and what a site reports about them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.base.storage.site_cache import NullCache
from blogsmith.cli.main import main
from blogsmith.project.context import open_site
from blogsmith.project.program import open_rows
from blogsmith.project.trust.consent import trust
from blogsmith.render.templates.color_contrast import Color, contrast, readable_color, resolve_color
from blogsmith.render.templates.stylesheet_facts import read_stylesheet
from blogsmith.stages.stylesheets import check_stylesheets
from tests.cached_rows import read_row
from tests.rows import each_row
from tests.site_files import build, put, put_bare
from tests.test_theme_look import THEMES
from tests.test_theme_look import contrast as expected_contrast

ROOT = Path(__file__).parent.parent
HEAD = "---\ntitle: A\ndate: 2026-01-01\n---\n"
FILES = {"content/posts/a.md": HEAD, "partials/extra.html": '<link href="{{ "/own.css" | url }}">'}
"""A post, and a template that loads a stylesheet."""


@each_row(
    ("css", "errors"),
    [
        ("a { color: red }", []),
        ("a { &:hover { color: red } .b:hover { x: y } }", []),
        ("@media print { a:hover { c: d } @page { size: A4 } }", []),
        ("@keyframes a { from { x: y } 50% { x: y } }", []),
        ("a { --x: {a:b}; --y:; }\n@layer one, two;", []),
        ("a { filter: progid:DX.Foo(a='b') }", []),
        ("@namespace svg url(http://www.w3.org/2000/svg);", []),
        ("a { b: c;; }", []),
        ("a { color red; b: c }", ['1:5 invalid declaration "color red": expected "property: value"']),
        ("a { b: c\n  d: e }", ['2:3 missing ";" before "d"']),
        ("a { b: c /* d: */\n  e: f }", ['2:3 missing ";" before "e"']),
        ("a { b: c", ['1:3 missing "}" for this "{"']),
        ("a { b: calc(1px }\nc { d: e }", ['1:12 missing ")" for this "("']),
        ("a { b: c } }", ['1:12 missing "{" for this "}"']),
        ("a } b { c: d }", ['1:3 missing "{" for this "}"']),
        ("a { b: 'c\n }", ["1:8 missing closing quote on this line"]),
        ("a { b: c } /* d", ['1:12 missing "*/" of this comment']),
        ("a { b: url(c d.png) }", ["1:8 invalid URL in url(…)"]),
        ("{ b: c }", ['1:1 missing selector before "{"']),
        ("a { b: c }; d { e: f }", ['1:11 unexpected ";"']),
        ("@media print { ; }", ['1:16 unexpected ";"']),
        ("b: c; a { d: e }", ['1:1 unexpected ";" before "{"']),
        ("// a\nb { c: d }", ['1:1 unsupported syntax: "//" does not begin a comment']),
        ("$a: 1;\nb { c: $a }", ['1:1 unsupported syntax: "$" does not begin a variable']),
        ("@import 'a.css'\nb { c: d }", ['1:1 missing ";" after @import']),
        ("a {\r\n b }", ['2:2 invalid declaration "b": expected "property: value"']),
        (f"a {'{' * 9000}", ["1:1 brackets are nested too deeply"]),
    ],
)
def test_syntax(css: str, errors: list[str]) -> None:
    found = read_stylesheet(css).errors
    assert [f"{one.place.line}:{one.place.column} {one.message}" for one in found] == errors


def test_urls_and_properties() -> None:
    facts = read_stylesheet(
        "@import 'a.css'; @import url(b.css) print; @font-face { src: url('c.woff2') }\n"
        "a { background: image-set('d.png' 1x type('image/png'), url(e.png) 2x); content: 'f.png' }\n"
        "@property --one { syntax: '*' } @function --six(--seven) { result: var(--seven) }\n"
        "a { --two: var(--three); b: var(--four, var(--five)) var(--six,) }"
    )
    assert [url.name for url in facts.urls] == ["a.css", "b.css", "c.woff2", "d.png", "e.png"]
    assert facts.defined == {"--one", "--two", "--seven"}
    assert [use.name for use in facts.used] == ["--seven", "--three", "--five"]


def test_properties_of_the_page() -> None:
    facts = read_stylesheet(
        ":root { --a: 1; & b { --a: 0 } } a { --a: 0 } :root, html { --a: 2 }\n"
        "[data-theme='dark'] { --a: 3 } @media (prefers-color-scheme: light) { html { --a: 4 } }\n"
        "@media (min-width: 9em) { :root { --a: 0 } } @media screen { :root { --a: 5 } }"
    )
    found = [(one.scheme, one.value) for one in facts.root]
    assert found == [("", "1"), ("", "2"), ("dark", "3"), ("light", "4"), ("", "5")]


@each_row(
    ("value", "light", "dark"),
    [
        ("#abc", "#aabbcc", "#aabbcc"),
        ("var(--pair)", "#ffffff", "#000000"),
        ("var(--missing, rebeccapurple)", "#663399", "#663399"),
        ("color-mix(in srgb, #000 25%, white)", "#bfbfbf", "#bfbfbf"),
        ("color-mix(in srgb, var(--pair), red 50%)", "#ff8080", "#800000"),
        # as Chromium and Firefox compute it
        ("oklch(0.5 0.1 20)", "#944a4b", "#944a4b"),
        ("hsl(120 50% 50%)", "#40bf40", "#40bf40"),
        ("var(--circle)", None, None),
        ("currentColor", None, None),
        ("color-mix(in oklab, red, blue)", None, None),
        ("1px solid", None, None),
    ],
)
def test_colors(value: str, light: str | None, dark: str | None) -> None:
    properties = {"--pair": "light-dark(#fff, #000)", "--circle": "var(--circle)"}
    for scheme, expected in (("light", light), ("dark", dark)):
        color = resolve_color(value, scheme, properties.get)
        assert (color.hex if color else None) == expected


def test_contrast_is_that_of_wcag() -> None:
    white, grey = Color(1, 1, 1), Color(0.6, 0.6, 0.6)
    assert contrast(white, Color(0, 0, 0)) == pytest.approx(21)
    assert contrast(grey, white) == pytest.approx(expected_contrast("#999999", "#ffffff"))
    assert contrast(readable_color(grey, white), white) >= 4.5
    # half-transparent black on white is grey
    assert contrast(Color(0, 0, 0, 0.5), white) == pytest.approx(contrast(Color(0.5, 0.5, 0.5), white))


def problems(root: Path, outputs: set[str] | None = None) -> list[Diagnostic]:
    """Check the stylesheets of the theme of a site."""
    context = open_site(root)
    files = {str(asset.path) for asset in context.theme.static_files()} | (outputs or set())
    return check_stylesheets(context, {}, files, (), NullCache())


def own_theme(root: Path, name: str) -> Path:
    """Copy a bundled theme into a site, so that its author may change it. Return its folder."""
    for theme in THEMES:
        shutil.copytree(ROOT / "themes" / theme, root / "themes" / theme)
    put(root, {"blogsmith.yaml": f"title: T\ntheme: {name}\n"})
    return root / "themes" / name


@pytest.mark.parametrize("name", THEMES)
def test_bundled_themes_have_no_problem(name: str, tmp_path: Path) -> None:
    folder = own_theme(tmp_path, name)
    assert problems(tmp_path) == []
    sheet = folder / "static" / f"{'theme' if name == 'paper' else name}.css"
    sheet.write_text(
        sheet.read_text() + ":root { --muted: var(--hairline); }\na { color: var(--nowhere); }\n"
    )
    found = {(one.code, one.path) for one in problems(tmp_path)}
    path = sheet.relative_to(tmp_path).as_posix()
    assert found == {("style-contrast", path), ("style-property", path)}


def test_a_fixed_scheme_needs_one_colour(tmp_path: Path) -> None:
    settings = 'title: T\ntheme_options: {{accent: "#1f5673", {}}}\n'
    for options, modes in (
        ("toc: left", {"dark"}),
        ("scheme: light", set()),
        ("scheme: dark", {"dark"}),
        ("scheme: light, switch: true", {"dark"}),
    ):
        put(tmp_path, {"blogsmith.yaml": settings.format(options)})
        found = {mode for one in problems(tmp_path) for mode in ("light", "dark") if mode in one.message}
        assert found == modes


def test_names_of_pairs_are_checked(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "blogsmith.yaml": "title: T\ntheme: mine\n",
            "themes/mine/theme.yaml": "extends: paper\ncontrast:\n  --paper: [--tint, --tnit]\n"
            "styles: [own.css]\n",
            "themes/mine/static/own.css": ":root { --tint: #eee; }\n",
        },
    )
    found = {(one.code, one.path, one.place and one.place.line) for one in problems(tmp_path)}
    assert found == {
        ("style-contrast", "themes/mine/static/own.css", 1),
        ("style-property", "themes/mine/theme.yaml", 3),
    }


def codes(root: Path) -> list[tuple[str, str]]:
    """Build a site. Return code and path of each diagnostic about a stylesheet."""
    found = [one for one in build(root, use_cache=True).diagnostics if one.code.startswith("style-")]
    return sorted((one.code, one.path) for one in found)


def test_only_stylesheets_that_pages_load_are_checked(tmp_path: Path) -> None:
    css = "a { color red; }\n"
    root = put_bare(tmp_path, {**FILES, "static/app/vendor.css": css, "static/own.css": css})
    assert codes(root) == [("style-syntax", "static/own.css")]


def test_urls_with_a_base_path(tmp_path: Path) -> None:
    css = (
        "a { b: url(/x.png) url(/blog/x.png) url(x.png) url(/other/y.png) url(../z.png) url(/blog/y.png); }\n"
    )
    settings = "title: T\nbase_url: https://example.org/blog\n"
    put_bare(tmp_path, {"blogsmith.yaml": settings, "static/own.css": css, "static/x.png": "", **FILES})
    found = [one for one in build(tmp_path).diagnostics if one.code == "style-file"]
    assert [(one.message, one.hint) for one in found] == [
        ('file not found: "/x.png"', "write `/blog/x.png`"),
        ('file not found: "/blog/y.png"', "add the file, or remove the URL"),
    ]


@pytest.mark.parametrize(("level", "severity"), [("error", "error"), ("warn", "warning"), ("allow", None)])
def test_remote_rule(level: str, severity: str | None, tmp_path: Path) -> None:
    settings = f"title: T\nembeds: {{remote: {level}}}\n"
    css = '@import "https://example.org/a.css";\n'
    put_bare(tmp_path, {"blogsmith.yaml": settings, "static/own.css": css, **FILES})
    found = [one.severity for one in build(tmp_path).diagnostics if one.code == "style-remote"]
    assert found == ([severity] if severity else [])


def test_stylesheets_of_plugins(tmp_path: Path) -> None:
    plugin = """
def register(hooks):
    @hooks.site_outputs
    def files(site):
        return {"made.css": "a { color red; b: url(none.png) url(own.css); }", "made.txt": "a { color red; }"}
"""
    files = {
        "blogsmith.yaml": "title: T\nplugins: [maker]\n",
        "plugins/maker.py": plugin,
        "static/own.css": "",
    }
    root = put_bare(tmp_path, {**files, **FILES})
    trust(root)
    assert codes(root) == [("style-file", "made.css"), ("style-syntax", "made.css")]


def test_incremental_checks_equal_full_ones(tmp_path: Path) -> None:
    css = "a { color: var(--mine); }\n"
    root = put_bare(tmp_path, {"static/own.css": css, **FILES})

    def change(path: str, text: str) -> Callable[[], object]:
        return lambda: put(root, {path: text})

    unknown = [("style-property", "static/own.css")]
    for edit, expected in (
        (change("static/own.css", css), unknown),
        (change("content/posts/b.md", f'{HEAD}\n<p style="--mine: red">x</p>\n'), []),
        (change("content/posts/b.md", HEAD), unknown),
        (
            change("static/own.css", f"{css}a {{ background: url(x.png); }}\n"),
            [("style-file", "static/own.css"), *unknown],
        ),
        (change("static/x.png", ""), unknown),
        (change("themes/bare/static/a.css", ":root { --mine: red; }\n"), []),
    ):
        edit()
        assert codes(root) == expected
        assert codes(root) == expected


def test_findings_are_cached_until_a_stylesheet_changes(tmp_path: Path) -> None:
    root = put_bare(tmp_path, {"static/own.css": "a { b c; }\n", **FILES})
    codes(root)
    first = read_row(root, "stylesheet checks", "all")
    put(root, {"content/posts/b.md": HEAD})
    codes(root)
    assert read_row(root, "stylesheet checks", "all") == first
    put(root, {"static/own.css": "a { b d; }\n"})
    codes(root)
    with open_rows(root) as rows:
        row = rows.get("stylesheet checks", "all")
    assert row and row.key != first.key


def test_fix_adds_and_removes_a_semicolon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    css = "a {\n  margin: 0\n  color: red;\n};\n"
    root = put_bare(tmp_path, {"static/own.css": css, **FILES})
    monkeypatch.chdir(root)
    assert main(["check", "--fix", "--yes"]) == 0
    assert (root / "static/own.css").read_text() == css.replace("0\n", "0;\n").replace("};", "}")


def test_colours_of_other_stylesheets_are_found(tmp_path: Path) -> None:
    theme = "extends: paper\nstyles: [palette.css, own.css]\n"
    static = tmp_path / "themes/mine/static"
    put(tmp_path, {"blogsmith.yaml": "title: T\ntheme: mine\n", "themes/mine/theme.yaml": theme})
    put(static, {"palette.css": ":root { --stone: #bbb; }\n", "own.css": ":root { --soft: var(--stone); }\n"})
    assert {(one.code, one.path) for one in problems(tmp_path)} == {
        ("style-contrast", "themes/mine/static/own.css")
    }
