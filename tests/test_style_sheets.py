"""Stylesheets of pages: bundled into one file, minified, named by their content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tinycss2

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.render.templates.css_text import drop_overridden, statements
from blogsmith.render.templates.theme import Theme, load_theme
from blogsmith.render.templates.theme_options import KINDS
from tests.rows import each_row
from tests.site_files import build
from tests.test_theme import page, site, write

ROOT = Path(__file__).parent.parent
PAPER = sorted((ROOT / "themes" / "paper" / "static").glob("*.css"))


def meaning(css: str) -> list[str]:
    """Return a stylesheet as tokens of another CSS parser, without insignificant ones."""
    flat = [*_flat(tinycss2.parse_component_value_list(css, skip_comments=True)), "}"]
    kept: list[str] = []
    for token, behind in pairwise(flat):
        before = kept[-1] if kept else "}"
        if token == " " and (before[-1] in "{};,:>([" or behind in "{};,>)]"):
            continue
        if (token == ";" and behind == "}") or (token == ";" and before == "}"):
            continue
        kept.append(token)
    return [token for token, behind in pairwise([*kept, "}"]) if token != ";" or behind != "}"]


def _flat(tokens: list[Any]) -> Iterator[str]:
    for token in tokens:
        if token.type == "function":
            yield from (f"{token.name}(", *_flat(token.arguments), ")")
        elif token.type.endswith("block"):
            first, last = token.type[0], token.type[1]
            yield from (first, *_flat(token.content), last)
        else:
            yield " " if token.type == "whitespace" else token.serialize()


class TestStatements:
    @each_row(
        ("css", "expected"),
        [
            ("a > b , c :hover { color: red ; }", "a>b,c :hover{color:red}"),
            ("/* x */ a { /* y */ }", "a{}"),
            ("a/* no blank */b{}", "a/**/b{}"),
            ("a /* blank */ b{}", "a b{}"),
            ("p { margin: 0 auto; width: calc( 1px + 2px ) }", "p{margin:0 auto;width:calc(1px + 2px)}"),
            ("@media (min-width: 3em) and (x) { p { y: 1 } }", "@media (min-width:3em) and (x){p{y:1}}"),
            ('q::before { content: " /* ; */ } " }', 'q::before{content:" /* ; */ } "}'),
            ("a { b: url( x.png ) }", "a{b:url( x.png )}"),
            ('a { b: "\\"}" ; }', 'a{b:"\\"}"}'),
            ("a { --x: ; --y: { z: 1 } }", "a{--x:;--y:{z:1}}"),
            ("a{b:c", "a{b:c}"),
            ("a{b:(c", "a{b:(c)}"),
            ("a{b:'c", "a{b:'c'}"),
            ("a{b:c}} d{e:f}", "a{b:c} d{e:f}"),
            ("a{b:(c} d{e:f}", "a{b:(c)} d{e:f}"),
            ("/* open a{", ""),
            ("", ""),
        ],
    )
    def test_shorter(self, css: str, expected: str) -> None:
        assert " ".join(statements(css)) == expected

    @each_row(
        ("address", "expected"),
        [
            ("a.png", '"css/a.png"'),
            ("'../a.png'", "'a.png'"),
            ('"a b.png"', '"css/a b.png"'),
            ("/a.png", "/a.png"),
            ("#mark", "#mark"),
            ("https://x.org/a", "https://x.org/a"),
            ('"data:image/svg+xml,%3Csvg/%3E"', '"data:image/svg+xml,%3Csvg/%3E"'),
        ],
    )
    def test_addresses_follow_the_sheet(self, address: str, expected: str) -> None:
        assert statements(f"a{{b:url({address})}}", "css") == (f"a{{b:url({expected})}}",)

    @each_row("file", PAPER, ids=lambda file: file.name)
    def test_sheets_of_paper_mean_the_same(self, file: Path) -> None:
        css = file.read_text()
        short = "\n".join(statements(css))
        assert meaning(short) == meaning(css)
        assert len(short) < len(css)
        assert "\n".join(statements(short)) == short


@each_row(
    ("css", "expected"),
    [
        (":root{--a:1}:root{--a:2}", ":root{--a:2}"),
        (":root{--a:1;--b:1}p{c:d}:root{--a:2}", ":root{--b:1}p{c:d}:root{--a:2}"),
        # the same name in another case is a different property
        (":root{--a:1}:root{--A:2}", ":root{--a:1}:root{--A:2}"),
        # values that browsers may not support, that take precedence, or that apply elsewhere
        (":root{color:red}:root{color:oklch(1 2 3)}", ":root{color:red}:root{color:oklch(1 2 3)}"),
        (":root{--a:1!important}:root{--a:2}", ":root{--a:1!important}:root{--a:2}"),
        (":root{--a:1}@media print{:root{--a:2}}", ":root{--a:1}@media print{:root{--a:2}}"),
        (":root{--a:1}html{--a:2}", ":root{--a:1}html{--a:2}"),
        (":root{--a:1}:root{p{--a:2}}", ":root{--a:1}:root{p{--a:2}}"),
        (":root{--a:1}:root{--b:{--a:2}}", ":root{--a:1}:root{--b:{--a:2}}"),
        (":root{--a:';';--b:(1;2)}:root{--a:1}", ":root{--b:(1;2)}:root{--a:1}"),
    ],
)
def test_overridden_properties(css: str, expected: str) -> None:
    assert "".join(drop_overridden(statements(css))) == expected


PARENT = {
    "themes/parent/theme.yaml": """\
styles:
  - a.css
  - {file: paper.css, media: print}
  - {file: list.css, for: lists}
  - {file: rare/r.css, for: extras}
options:
  wide: {default: "", kind: length, property: --wide}
""",
    "themes/parent/static/a.css": "a { b: c }",
    "themes/parent/static/paper.css": ":root { --wide: 100% }",
    "themes/parent/static/list.css": "ol { b: c }",
    "themes/parent/static/rare/r.css": "i { b: url(r.png) }",
    "themes/parent/layouts/post.html": "{{ head.styles.posts }} {{ head.styles.extras }}",
}
CHILD = {
    **PARENT,
    "themes/child/theme.yaml": "extends: parent\nstyles: [own.css]\nscripts: [own.js]\n",
    "themes/child/static/own.css": "a { d: e }",
    "themes/child/static/own.js": "1",
}


def child(root: Path, files: dict[str, str] | None = None, **chosen: object) -> Theme:
    return load_theme("child", write(root, {**CHILD, **(files or {})}), ROOT / "themes", chosen=chosen)


class TestJoined:
    def test_order(self, tmp_path: Path) -> None:
        """Parents first, then the theme, then options, then rules for some media; groups as declared."""
        theme = child(tmp_path, wide="40rem")
        assert {group: sheet.text("@font-face{}") for group, sheet in theme.sheets.items()} == {
            "posts": (
                "@font-face{}\na{b:c}\na{d:e}\n:root{--wide:40rem}\n@media print{:root{--wide:100%}}\n"
            ),
            "lists": (
                "@font-face{}\na{b:c}\nol{b:c}\na{d:e}\n:root{--wide:40rem}\n"
                "@media print{:root{--wide:100%}}\n"
            ),
            "extras": 'i{b:url("rare/r.png")}\n',
        }

    def test_file_of_the_theme_shadows_its_parents(self, tmp_path: Path) -> None:
        theme = child(tmp_path, {"themes/child/static/a.css": "mine { b: c }"})
        assert theme.sheets["posts"].text().startswith("mine{b:c}\na{d:e}\n")

    def test_what_is_declared_again_counts_once(self, tmp_path: Path) -> None:
        styles = "extends: parent\nstyles: [{file: a.css, media: screen, for: [posts]}]\n"
        theme = child(tmp_path, {"themes/child/theme.yaml": styles})
        assert theme.sheets["posts"].text().count("a{b:c}") == 1
        assert "@media screen{a{b:c}}" in theme.sheets["posts"].text()
        assert "a{b:c}" not in theme.sheets["lists"].text()

    def test_sheets_for_some_options(self, tmp_path: Path) -> None:
        styles = "extends: parent\nstyles: [{file: own.css, when: {wide: [40rem, 50rem]}}]\n"
        files = {"themes/child/theme.yaml": styles}
        assert "a{d:e}" not in child(tmp_path, files).sheets["posts"].text()
        assert "a{d:e}" in child(tmp_path, files, wide="50rem").sheets["posts"].text()
        files["themes/child/theme.yaml"] += "options: {wide: 40rem}\n"
        assert "a{d:e}" in child(tmp_path, files).sheets["posts"].text()
        assert "a{d:e}" not in child(tmp_path, files, wide="60rem").sheets["posts"].text()

    def test_what_is_set_again_is_left_out(self, tmp_path: Path) -> None:
        files = {
            "themes/parent/static/a.css": ":root { --wide: 1rem; --x: 'a;b'; --y: f(1; 2) } a { b: c }",
            "themes/child/static/own.css": ":root { --x: 2 }",
        }
        text = child(tmp_path, files, wide="40rem").sheets["posts"].text()
        assert text == (
            ":root{--y:f(1;2)}\na{b:c}\n:root{--x:2}\n:root{--wide:40rem}\n@media print{:root{--wide:100%}}\n"
        )

    def test_imports_come_first(self, tmp_path: Path) -> None:
        files = {
            "themes/child/static/own.css": '@charset "utf-8"; @import "https://x.org/a.css"; a { d: e }',
            "themes/parent/static/paper.css": "@import 'p.css'; p { q: r }",
        }
        text = child(tmp_path, files).sheets["posts"].text()
        assert text.startswith("@import \"https://x.org/a.css\";\n@import 'p.css' print;\na{b:c}\n")
        assert text.endswith("@media print{p{q:r}}\n")

    def test_name_changes_with_all_it_is_made_of(self, tmp_path: Path) -> None:
        def names(theme: Theme, font: str = "/f/m-1") -> tuple[str, str]:
            return str(theme.sheets["posts"].path(font)), str(theme.sheets["extras"].path(font))

        first = names(child(tmp_path))
        assert first[0].startswith("assets/child/posts-") and first[1].startswith("assets/child/extras-")
        assert names(child(tmp_path)) == first
        others = [
            names(child(tmp_path, wide="40rem")),
            names(child(tmp_path), "/f/m-2"),
            names(child(tmp_path, {"themes/child/static/own.css": "a { d: f }"})),
            names(child(tmp_path, {"themes/child/theme.yaml": "extends: parent\nstyles: []\n"})),
        ]
        assert len({first[0], *(posts for posts, _ in others)}) == 5
        assert {extras for _, extras in others} == {first[1]}

    def test_layouts_have_the_addresses(self, tmp_path: Path) -> None:
        theme = child(tmp_path)
        shown = theme.render("post", page(math_font="/f/m-1"), site()).split()
        assert shown == [f"/{theme.sheets[name].path('/f/m-1')}" for name in ("posts", "extras")]

    def test_sheet_that_is_no_text(self, tmp_path: Path) -> None:
        theme = child(tmp_path)
        (tmp_path / "themes" / "child" / "static" / "own.css").write_bytes(b"a\xff")
        with pytest.raises(SiteError) as caught:
            theme.sheets["posts"].text()
        (found,) = caught.value.diagnostics
        assert (found.code, found.path) == ("encoding", "themes/child/static/own.css")


BAD_SETTINGS = [
    ("styles: [own.csss]", 'theme file not found: "static/own.csss"', "did you mean `own.css`?", (2, 10)),
    ("scripts: [ow.js]", 'theme file not found: "static/ow.js"', "did you mean `own.js`?", (2, 11)),
    ("styles: [{fil: own.css}]", 'unknown key "fil"', "did you mean `file`?", (2, 11)),
    ("styles: [3]", 'invalid entry of "styles": expected a stylesheet', "write `- own.css`", (2, 10)),
    (
        "styles: [{file: own.css, for: []}]",
        'invalid entry of "styles": expected a stylesheet',
        "write",
        (2, 10),
    ),
    ("scripts: [[]]", 'invalid entry of "scripts": expected a script file', "write `- own.js`", (2, 11)),
    ("scripts: [{for: posts}]", 'invalid entry of "scripts": expected a script file', "write", (2, 11)),
    ("scripts: [{file: a, for: 3}]", 'invalid entry of "scripts": expected a script file', "write", (2, 11)),
    ("scripts: [{file: own.js, fro: posts}]", 'unknown key "fro"', "did you mean `for`?", (2, 26)),
    ("scripts: [{file: ow.js, for: posts}]", 'theme file not found: "static/ow.js"', "`own.js`?", (2, 18)),
    ("styles: own.css", 'invalid "styles": expected a list of stylesheets', "", (2, 9)),
    (
        "styles: [{file: own.css, when: wide}]",
        'invalid entry of "styles": expected a stylesheet',
        "write",
        (2, 10),
    ),
    ("styles: [{file: own.css, when: {wdie: 1em}}]", 'unknown theme option "wdie"', "mean `wide`?", (2, 33)),
    (
        "styles: [{file: own.css, when: {wide: a}}]",
        f'invalid value of option "wide": expected {KINDS["length"]}',
        "",
        (2, 39),
    ),
    (
        "styles: [{file: own.css, when: {wide: 3}}]",
        'invalid entry of "styles": expected a stylesheet',
        "",
        (2, 10),
    ),
]


@pytest.mark.parametrize(("line", "message", "hint", "place"), BAD_SETTINGS)
def test_bad_settings(tmp_path: Path, line: str, message: str, hint: str, place: tuple[int, int]) -> None:
    with pytest.raises(SiteError) as caught:
        child(tmp_path, {"themes/child/theme.yaml": f"extends: parent\n{line}\n"})
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.path) == ("theme-value", message, "themes/child/theme.yaml")
    assert found.place is not None and (found.place.line, found.place.column) == place
    assert hint in found.hint


SITE = {
    "blogsmith.yaml": "title: Site\ntheme: mine\n",
    "themes/mine/theme.yaml": "extends: paper\nstyles: [brand.css]\nscripts: [brand.js]\n",
    "themes/mine/static/brand.css": ":root { --measure: 40rem }",
    "themes/mine/static/brand.js": "1",
    "content/posts/a.md": "---\ntitle: A\ndate: 2026-01-01\n---\n\nText with $x$.\n",
    "content/posts/b.md": "---\ntitle: B\ndate: 2026-01-02\n---\n\nText.\n",
}


class TestSites:
    def links(self, root: Path, path: str) -> list[str]:
        html = (root / "public" / path).read_text()
        return re.findall(r'<link rel="stylesheet" href="/([^"]+)">', html)

    def test_each_page_has_one_sheet(self, tmp_path: Path) -> None:
        root = write(tmp_path, SITE)
        assert build(root).ok
        (post,), (other,) = (self.links(root, f"posts/{name}/index.html") for name in "ab")
        (listing,) = self.links(root, "posts/index.html")
        assert post == other != listing
        text = (root / "public" / post).read_text()
        assert '@font-face{font-family:"Site Math";src:url("fonts/stix-two-math-' in text
        font = re.findall(r'url\("(fonts/stix[^"]+)"\)', text)[0]
        assert (root / "public" / "assets" / "mine" / font).is_file()
        assert ":root{--measure:40rem}" in text and ".toc" in text
        assert ":root{--measure:40rem}" in (root / "public" / listing).read_text()
        assert re.search(
            r'<script type="module" src="/assets/mine/brand.js\?v=',
            (root / "public" / "posts" / "a" / "index.html").read_text(),
        )

    def test_what_few_pages_have_is_a_second_sheet(self, tmp_path: Path) -> None:
        video = '<div class="video-embed" data-src="https://youtu.be/abcdefghijk"></div>\n'
        files = {**SITE, "content/posts/b.md": SITE["content/posts/b.md"] + "\n" + video}
        root = write(tmp_path, files)
        assert build(root).ok
        first, second = self.links(root, "posts/b/index.html")
        assert [first] == self.links(root, "posts/a/index.html")
        assert ".embed-link" in (root / "public" / second).read_text()
        assert ".embed-link{" not in (root / "public" / first).read_text()

    def test_incremental_builds_are_clean_builds(self, tmp_path: Path) -> None:
        """A saved stylesheet, a new symbol in a formula, an option: old stylesheets are removed, pages name
        the new ones.
        """
        root = write(tmp_path / "one", SITE)
        assert build(root).ok
        edits = [
            {"themes/mine/static/brand.css": ":root { --measure: 41rem }"},
            {"content/posts/a.md": SITE["content/posts/a.md"].replace("$x$", "$\\bigsqcup x$")},
            {"themes/mine/theme.yaml": "extends: paper\n"},
        ]
        files = dict(SITE)
        for number, edit in enumerate(edits):
            files |= edit
            write(root, edit)
            assert build(root).ok
            clean = write(tmp_path / f"clean-{number}", files)
            assert build(clean).ok
            assert _bytes(root / "public") == _bytes(clean / "public")

    def test_sheets_can_still_be_linked_one_by_one(self, tmp_path: Path) -> None:
        link = '<link rel="stylesheet" href="{{ asset(\'theme.css\') }}">'
        root = write(tmp_path, {**SITE, "partials/styles.html": link})
        assert build(root).ok
        (sheet,) = self.links(root, "posts/a/index.html")
        assert (root / "public" / sheet.partition("?")[0]).read_bytes() == PAPER[
            [file.name for file in PAPER].index("theme.css")
        ].read_bytes()


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
