"""Solutions of exercises: in place, folded, at the end, left out, and held back until a date."""

from __future__ import annotations

import datetime as dt
import json
import re
import zipfile
from collections import deque
from pathlib import Path

import pytest
from pypdf import PdfReader

from blogsmith.build.incremental import IncrementalPipeline, UpdateRequest
from blogsmith.build.site import build_site
from blogsmith.cli.main import main
from blogsmith.paper.site_latex import make_latex
from blogsmith.project.program import open_rows
from blogsmith.project.report import BuildOptions, BuildReport
from tests.build_scripts import compare
from tests.check import render
from tests.site_files import NOW, put

SECRET = "Geheimnis"
SITE = """\
title: Lectures
base_url: https://example.org
search: true
llms_txt: true
feeds: {entries: 50}
theorems: {map: true, used_in: true, exercises: true}
series: {Analysis: {numbering: by part, solutions: {show: end}}}
"""
POST = f"""\
---
title: Sets
date: 2026-01-01
series: {{name: Analysis, part: 1}}
---
Text.[^text]

> [!EXERCISE] Twice {{#exr:a}}
> Show $a = b$.
>
> > [!ANSWER]-
> > {SECRET} nested

> [!SOLUTION] {SECRET} title {{#sol:a}}
> ## {SECRET} heading
>
> {SECRET}[^s] [@{SECRET.lower()}] $$ \\text{{{SECRET}}} \\label{{eq:s}} $$
>
> - > > ```python
>   > > {SECRET} = 1
>   > > ```
>
> ![{SECRET}](a.svg "{SECRET}"){{#fig:s}}

> [!EXERCISE] Other {{#exr:b}}
> Show $b = c$, too.

$$ x = y \\label{{eq:last}} $$

> [!SOLUTION] {{for="exr:a"}}
> Other {SECRET}.

Then \\eqref{{eq:last}}[^end].

[^text]: First.
[^s]: {SECRET} in a note.[^deep]
[^deep]: {SECRET} in the note of a note.
[^end]: Last.
"""
BIB = f"@book{{{SECRET.lower()}, author = {{A. B.}}, title = {{{SECRET} of books}}, year = 2000}}\n"
FILES = {
    "blogsmith.yaml": SITE + "bibliography: refs.bib\n",
    "refs.bib": BIB,
    "content/posts/sets/index.md": POST,
    "content/posts/sets/a.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>',
}
DATED = POST.replace("series:", "solutions: {after: 2026-07-01}\nseries:")
HELD = {**FILES, "content/posts/sets/index.md": DATED}


def page(root: Path) -> str:
    return (root / "public/posts/sets/index.html").read_text("utf-8")


def labels(html: str) -> list[str]:
    """Return the label of each callout, with the name in parentheses."""
    titles = re.findall(r'class="callout-title">(.*?)</(?:p|summary)>', html)
    return [re.sub("<.*?>", "", title) for title in titles]


def files_with(root: Path, text: str) -> list[str]:
    """Return the files below `root` that contain a text, also as JSON escapes or in an archive."""
    found = []
    for file in sorted(root.rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as book:
                data = b"".join(book.read(name) for name in book.namelist())
        if text.casefold().encode() in data.lower():
            found.append(file.relative_to(root).as_posix())
    return found


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": DATED.replace("part: 1", "part: 2")},
        {"cell_type": "code", "metadata": {}, "source": "1", "outputs": [], "execution_count": None},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}


def at(root: Path, day: dt.datetime) -> BuildReport:
    return build_site(root, BuildOptions(now=day))


def test_places(tmp_path: Path) -> None:
    shown = {}
    for show in ("inline", "folded", "end", "none"):
        root = put(tmp_path / show, {**FILES, "blogsmith.yaml": FILES["blogsmith.yaml"].replace("end", show)})
        assert not [one for one in compare(root).diagnostics if one.severity == "error"]
        shown[show] = page(root)
    own = f"Solution 1.1 ({SECRET} title)"
    assert labels(shown["inline"]) == [
        *("Exercise 1.1 (Twice)", "Answer", own, "Exercise 1.2 (Other)", "Solution (Exercise 1.1)")
    ]
    assert shown["folded"].count('<details class="callout') == 3
    assert shown["inline"].count('<details class="callout') == 1
    assert labels(shown["end"]) == [
        "Exercise 1.1 (Twice)",
        "Exercise 1.2 (Other)",
        "Answer (Exercise 1.1)",
        f"Solution 1.1 (Exercise 1.1, {SECRET} title)",
        "Solution (Exercise 1.1)",
    ]
    assert '<section class="solutions" aria-label="Solutions">\n<h2>Solutions</h2>' in shown["end"]
    # a link leads back, except from the title of a fold
    assert shown["end"].count('(<a class="xref" href="#exr-a">Exercise 1.1</a>') == 2
    assert labels(shown["none"]) == ["Exercise 1.1 (Twice)", "Exercise 1.2 (Other)"]
    # marks of notes are counted in the order of the page
    for html in shown.values():
        marks = re.findall(r'role="doc-noteref">(\d+)<', html)
        assert marks == sorted(marks)
        assert html.count('<li id="fn-') == len(set(marks))


def test_held_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = put(tmp_path / "site", HELD)
    report = compare(root)
    assert not report.diagnostics
    assert files_with(root / "public", SECRET) == []
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(NOW.timestamp())))
    book = root / "public/book.epub"
    assert main(["epub", "--site", str(root), "-o", str(book), "content/posts/sets/index.md"]) == 0
    assert files_with(root / "public", "Twice") and files_with(root / "public", SECRET) == []
    # all numbers are those of the page with its solutions
    before = re.findall(r'class="eq-number" href="#eq-last">(.*?)<', page(root))
    at(root, NOW.replace(month=7, day=2))
    assert {"posts/sets/index.html", "posts/sets/index.md", "atom.xml", "feed.json"} <= {
        *files_with(root / "public", SECRET)
    }
    assert re.findall(r'class="eq-number" href="#eq-last">(.*?)<', page(root)) == before
    at(root, NOW)
    assert files_with(root / "public", SECRET) == []


def test_held_back_from_downloads_and_caches(tmp_path: Path) -> None:
    """No PDF, notebook, version or LaTeX has a solution, also after a preview that showed and cached it."""
    changes = "changes: [{date: 2026-01-05, text: More}]\nseries:"
    root = put(
        tmp_path / "site",
        {
            **HELD,
            "blogsmith.yaml": HELD["blogsmith.yaml"] + "pdf: true\nnotebook: true\n",
            "content/posts/sets/index.md": DATED.replace("series:", changes),
            "content/posts/more.ipynb": json.dumps(NOTEBOOK).replace("a.svg", "sets/a.svg"),
        },
    )
    options = BuildOptions(now=NOW, use_cache=True)
    with open_rows(root) as rows:
        line = IncrementalPipeline(root, options, lambda: NOW, rows=rows)
        (shown,) = deque(line.update_site(None, UpdateRequest()), maxlen=1)
    assert shown is not None and SECRET in shown.views["/posts/sets/"].content
    for _ in range(2):
        assert build_site(root, options).ok
        assert files_with(root / "public", SECRET) == []
    papers = sorted((root / "public").rglob("*.pdf"))
    text = "".join(page.extract_text() for paper in papers for page in PdfReader(paper).pages)
    assert len(papers) == 2 and text.count("Twice") == 2 and SECRET not in text
    assert not list((root / "public").rglob("*.ipynb"))
    made = make_latex(root, ("content/posts/sets/index.md",), options).files.values()
    assert not any(SECRET.encode() in data for data in made)


def test_a_new_day_is_noticed(tmp_path: Path) -> None:
    """A build that finds no changed file still publishes solutions when their time has come."""
    root = put(tmp_path / "site", HELD)
    for day, is_shown in ((NOW, False), (NOW, False), (NOW.replace(month=7), True)):
        at(root, day)
        assert (SECRET in page(root)) == is_shown


def test_preview_shows_and_marks(tmp_path: Path) -> None:
    root = put(tmp_path / "site", HELD)
    line = IncrementalPipeline(root, BuildOptions(now=NOW), lambda: NOW)
    (site,) = deque(line.update_site(None, UpdateRequest()), maxlen=1)
    assert site is not None
    html = site.views["/posts/sets/"].content
    assert SECRET in html
    assert html.count('<span class="badge">not published before 1 July 2026</span>') == 3


def test_sheets(tmp_path: Path) -> None:
    """Each list has all exercises of a series in order, with ids of its own and links to posts."""
    second = POST.replace("part: 1", "part: 2").replace("title: Sets", "title: More")
    second = second.replace("a.svg", "../sets/a.svg")
    last = "---\ntitle: None\ndate: 2026-01-02\nseries: {name: Analysis, part: 3}\n---\nNo exercise.\n"
    files = {"content/posts/more/index.md": second, "content/posts/c.md": last}
    root = put(tmp_path / "site", {**FILES, **files})
    assert not compare(root).diagnostics
    plain, solved = (
        (root / f"public/exercises/{path}index.html").read_text("utf-8").partition("<main")[2]
        for path in ("analysis/", "analysis/solutions/")
    )
    exercises = [f"Exercise {part}.{name}" for part in (1, 2) for name in ("1 (Twice)", "2 (Other)")]
    assert labels(plain) == exercises
    assert SECRET not in plain
    named = f"Solution 1.1 (Exercise 1.1, {SECRET} title)"
    of_first = ["Answer (Exercise 1.1)", named, "Solution (Exercise 1.1)"]
    assert labels(solved)[:5] == [exercises[0], *of_first, exercises[1]]
    assert '<span class="callout-label"><a href="/posts/sets/#exr-a">Exercise 1.1</a></span>' in plain
    assert '<h2><span class="heading-number">2</span> <a href="/posts/more/">More</a></h2>' in plain
    ids = re.findall(r' id="([^"]*)"', solved)
    assert len(ids) == len(set(ids)) and "posts-more-eq-s" in ids
    assert '<a href="/exercises/analysis/solutions/">Exercises and solutions: Analysis</a>' in plain
    overview = (root / "public/exercises/index.html").read_text("utf-8")
    assert 'href="/exercises/analysis/">Analysis</a> <span class="term-count">4</span>' in overview
    # a change on a page also changes the lists
    put(root, {"content/posts/more/index.md": second.replace("b = c", "b = d")})
    compare(root)
    assert 'alttext="b = d"' in (root / "public/exercises/analysis/index.html").read_text("utf-8")


def test_no_sheets_unasked(tmp_path: Path) -> None:
    root = put(tmp_path / "site", {**FILES, "blogsmith.yaml": "title: T\nbibliography: refs.bib\n"})
    compare(root)
    assert not (root / "public/exercises").exists()
    assert "data-exercise" not in page(root)


def test_references_to_what_is_left_out(tmp_path: Path) -> None:
    other = "---\ntitle: O\ndate: 2026-01-02\n---\nSee {@sets#sol:a}, \\eqref{sets#eq:s}, {@sets#exr:a}.\n"
    root = put(tmp_path / "site", {**HELD, "content/posts/other.md": other})
    report = compare(root)
    assert [(one.code, one.message) for one in report.diagnostics] == [
        ("ref-withheld", '"{@sets#sol:a}" has no effect because the solution is left out'),
        ("ref-withheld", '"\\eqref{sets#eq:s}" has no effect because the solution is left out'),
    ]
    html = (root / "public/posts/other/index.html").read_text("utf-8")
    assert "<p>See Solution 1.1 of <em>Sets</em>, (1.2) of <em>Sets</em>, <a" in html


def test_settings_of_post_series_and_site() -> None:
    source = "> [!EXERCISE] {#exr:a}\n> A\n\n> [!SOLUTION]\n> Secret\n"
    front = "---\ntitle: T\nseries: {name: S, part: 1}\nsolutions: {show: folded}\n---\n"
    without = front.replace("solutions: {show: folded}\n", "")
    for text, config, is_shown in (
        (source, "solutions: {show: none}\n", False),
        (front + source, "solutions: {show: none}\n", True),
        (front + source, "series: {S: {solutions: {show: none}}}\n", True),
        (without + source, "series: {S: {solutions: {show: none}}}\n", False),
    ):
        assert ("Secret" in render(text, config).html) == is_shown, config


@pytest.mark.parametrize("show", ["end", "none"])
def test_results_of_cells_stay_valid(show: str) -> None:
    """A cell in a solution runs, so that later cells have its values, and records stay when it is shown."""
    source = "> [!EXERCISE] {#exr:a}\n> A\n\n> [!SOLUTION]\n> ```python\n> #| eval: true\n> x = 1\n> ```\n"
    cells = render(source, f"solutions: {{show: {show}}}\n")
    assert ("cell" in cells.html) == (show == "end")
