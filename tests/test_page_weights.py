"""Page weights: the files that a browser loads for a page, and reports above the budget."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

from blogsmith.features.weights import (
    Resource,
    find_file_resources,
    find_page_resources,
    local_path,
    measure_pages,
    remote_host,
)
from blogsmith.project.report import BuildReport
from tests.rows import each_row
from tests.site_files import build, put_bare

LAYOUT = """<!DOCTYPE html><html lang="en"><head><title>T</title>
<link rel="stylesheet" href="/a.css"><script type="module" src="/a.js"></script></head>
<body>{{ page.content }}</body></html>
"""
FILES = {
    "static/a.css": "@font-face { src: url(fonts/f.woff2) }\n" + "p { color: red }\n" * 100,
    "static/fonts/f.woff2": "f" * 5000,
    "static/a.js": 'import { b } from "./b.js?v=1";\n',
    "static/b.js": "export const b = 1;\n" * 50,
    "static/other.js": "unused",
}


def weighed(root: Path, posts: dict[str, str], budget: str) -> BuildReport:
    """Return the report of a check of a site with a theme that loads a stylesheet, a font and two modules."""
    put_bare(root, {**FILES, **posts})
    for layout in (root / "themes/bare/layouts").iterdir():
        layout.write_text(LAYOUT)
    with (root / "blogsmith.yaml").open("a") as settings:
        settings.write(f"budget: {budget}\nimages: {{remote: allow}}\n")
    return build(root, write=False, inspections=(measure_pages,))


def over(report: BuildReport) -> list[str]:
    """Return the diagnostics about the post."""
    return [one.message for one in report.diagnostics if one.path == "content/posts/a.md"]


POST = "---\ntitle: A\n---\n\nText.\n"


def test_what_a_page_loads_is_weighed_as_it_would_be_published(tmp_path: Path) -> None:
    report = weighed(tmp_path, {"content/posts/a.md": POST}, "{fonts: 1 kB, scripts: 0.05 kB, requests: 4}")
    scripts = sum(len(gzip.compress(FILES[f"static/{name}.js"].encode(), 6, mtime=0)) for name in "ab")
    assert over(report) == [
        '"/posts/a/" loads 5 files, but "budget.requests" allows 4',
        'the fonts of "/posts/a/": 5 kB, but "budget.fonts" allows 1 kB',
        f'the scripts of "/posts/a/": {scripts} bytes, but "budget.scripts" allows 50 bytes',
    ]
    hints = {one.hint for one in report.diagnostics}
    assert "reduce the largest file, /fonts/f.woff2 (5 kB)" in hints
    assert not (tmp_path / "public").exists()
    assert report.ok


def test_what_is_within_the_budget(tmp_path: Path) -> None:
    report = weighed(tmp_path, {"content/posts/a.md": POST}, "{}")
    assert report.diagnostics == ()
    (note,) = report.notes
    assert note.splitlines()[0].startswith("budget: ")
    assert any(line.endswith("/posts/a/") for line in note.splitlines())


def test_a_section_has_a_budget_of_its_own(tmp_path: Path) -> None:
    sections = "{posts: {fonts: 6 kB, scripts: 0.05 kB}, notes: {fonts: ''}}"
    budget = f"{{fonts: 1 kB, requests: 4, sections: {sections}}}"
    posts = {"content/posts/a.md": POST, "content/notes/b.md": POST, "content/notes/c/d.md": POST}
    report = weighed(tmp_path, posts, budget)
    scripts = sum(len(gzip.compress(FILES[f"static/{name}.js"].encode(), 6, mtime=0)) for name in "ab")
    assert over(report) == [
        '"/posts/a/" loads 5 files, but "budget.requests" allows 4',
        f'the scripts of "/posts/a/": {scripts} bytes, but "budget.sections.posts.scripts" allows 50 bytes',
    ]
    fonts = {one.path for one in report.diagnostics if "fonts" in one.message}
    # section lists have no source page
    assert fonts == {""}


def test_other_hosts_are_named(tmp_path: Path) -> None:
    post = f"{POST}\n![a](https://b.example/a.png) ![b](https://a.example/a.png)\n"
    report = weighed(tmp_path, {"content/posts/a.md": post}, "{}")
    assert over(report) == ['"/posts/a/" loads files from 2 other hosts, but "budget.hosts" allows 0']
    assert next(one.hint for one in report.diagnostics) == "load fewer files from a.example, b.example"


def test_no_limit(tmp_path: Path) -> None:
    assert over(weighed(tmp_path, {"content/posts/a.md": POST}, "{fonts: '', total: '', page: ''}")) == []


@each_row(
    ("html", "expected"),
    [
        ('<img src="/a.png">', [("pictures", ("/a.png",))]),
        (
            '<img src="/a.png" srcset="/a-1.webp 480w, /a-2.webp 800w">',
            [("pictures", ("/a-1.webp", "/a-2.webp"))],
        ),
        (
            '<picture><source srcset="/a.avif"><source srcset="/a.webp"><img src="/a.png"></picture>',
            [("pictures", ("/a.avif",))],
        ),
        ('<link rel="preload" as="font" href="/f.woff2">', [("fonts", ("/f.woff2",))]),
        ('<link rel="canonical" href="/"><link rel="alternate" href="/atom.xml">', []),
        ("<script>1</script><script type='application/ld+json'>{}</script>", []),
        ('<!-- <img src="/a.png"> -->', []),
        ('<video src="/a.mp4" poster="/a.png"></video>', [("pictures", ("/a.png",))]),
        ('<iframe src="https://a.example/"></iframe>', [("pictures", ("https://a.example/",))]),
    ],
)
def test_resources_of_a_page(html: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(one.kind, one.choices) for one in find_page_resources(html)] == expected


def test_resources_of_sheets_and_modules() -> None:
    sheet = "@import 'b.css'; a { background: url(a.png) } b { background: url(\"data:image/svg+xml,x\") }"
    assert list(find_file_resources("styles", sheet)) == [
        Resource("styles", ("b.css",)),
        Resource("pictures", ("a.png",)),
    ]
    module = 'import a from "./a.js";\nexport { b } from "./b.js";\nconst c = () => import("./later.js");\n'
    assert [one.choices for one in find_file_resources("scripts", module)] == [("./a.js",), ("./b.js",)]


def test_addresses() -> None:
    assert local_path("../b.css?v=1", "/a/c/d.css") == "/a/b.css"
    assert local_path("/x%20y.png", "/a/") == "/x y.png"
    assert local_path("https://a.example/x", "/") == ""
    assert (remote_host("//a.example/x"), remote_host("data:x"), remote_host("/x")) == ("a.example", "", "")


@each_row("text", ["<img ", "<picture><source srcset=a>", "import ", "@import '", "url(", "<!--"])
def test_hostile_files_take_no_time(text: str) -> None:
    started = time.process_time()
    list(find_page_resources(text * 20_000))
    for kind in ("styles", "scripts"):
        list(find_file_resources(kind, text * 20_000))
    assert time.process_time() - started < 4
