"""An import always ends in a site that builds, and old addresses answer there or are named."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.importers.import_texts import FOLDER, PNG, read_import_text
from tests.rows import each_row
from tests.site_files import NOW, build, put

Files = dict[str, str | bytes]


class Layout:
    """How a system names the files of a site."""

    def __init__(
        self, settings: Mapping[str, str], folder: str, suffix: str = ".md", home: str = "index"
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.suffix = suffix
        self.home = home

    def page(self, path: str, text: str, front: str = "") -> Files:
        """Return a page."""
        return {f"{self.folder}{path}{self.suffix}": f"---\ntitle: {path}\n{front}---\n\n{text}\n"}


LAYOUTS = {
    "jekyll": Layout({"_config.yml": "title: X\nurl: https://x.org\n"}, ""),
    "hugo": Layout({"hugo.toml": "baseURL = 'https://x.org/'\ntitle = 'X'\n"}, "content/", home="_index"),
    "quarto": Layout({"_quarto.yml": "project: {type: website}\nwebsite: {title: X}\n"}, "", ".qmd"),
    "mkdocs": Layout({"mkdocs.yml": "site_name: X\n"}, "docs/"),
    "myst": Layout({"myst.yml": "version: 1\nproject: {title: X}\n"}, ""),
    "sphinx": Layout({"_toc.yml": "format: jb-book\nroot: index\n", "_config.yml": "title: X\n"}, ""),
    "obsidian": Layout({".obsidian/app.json": "{}"}, ""),
}


SVG = (
    '<svg width="62pt" height="44pt" viewBox="0 0 62 44" xmlns="http://www.w3.org/2000/svg"><g>'
    "<!-- a&#45;&gt;b --><title>a&#45;&gt;b</title><ellipse cx='27' cy='18' rx='27' ry='18'/></g></svg>"
)
NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 4,
    "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# Graph\n"},
        {
            **{"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "g"},
            "outputs": [
                {
                    **{"output_type": "execute_result", "execution_count": 1, "metadata": {}},
                    "data": {"image/svg+xml": SVG, "text/plain": "<graphviz>"},
                }
            ],
        },
    ],
}


def _pages(**pages: str) -> Callable[[Layout], Files]:
    def make(layout: Layout) -> Files:
        return {
            name: text
            for path, body in pages.items()
            for name, text in layout.page(path.replace("__", "/"), body).items()
        }

    return make


FAULTS: Mapping[str, Callable[[Layout], Files]] = {
    "page beside its folder": _pages(
        ode="About. ![](a.png) [Euler](ode/euler.md)", ode__euler="Back to [it](../ode.md)."
    ),
    "one name in two chapters": _pages(ch1__exercises="First.", ch2__exercises="Second."),
    "names that differ in case": lambda layout: {
        **layout.page("pictures", "![](A.png) ![](a.png)"),
        **{f"{layout.folder}{name}.png": PNG for name in "aA"},
    },
    "pages that differ in case": _pages(other__Note="Large.", other__note="Small."),
    "an alias that is its own address": lambda layout: layout.page(
        "alias", "Text.", "aliases: [alias.html, /alias/, /alias.html]\n"
    ),
    "an alias that is another page": lambda layout: {
        **layout.page("third", "Text.", "aliases: [/fourth/, /fourth.html]\nredirect_from: /fourth/\n"),
        **layout.page("fourth", "Text."),
    },
    "links that no browser may follow": _pages(
        links="([paper]([URL](https://x.org/a.pdf))) and [count](javascript:f();) [b](vbscript:x).\n\n"
        '<a href="javascript:f()">HTML</a>\n\n[ref]: javascript:g\n\nSee [ref].'
    ),
    "blocks of Liquid": _pages(
        liquid="{% definition A group %}\nA set.\n\nWith $x$.\n{% enddefinition %}\n\n{{ unknown }} {% odd"
    ),
    "shortcodes": _pages(codes="{{< odd >}}\n\nInside.\n\n{{< /odd >}}\n\n{{% odd a=1 %}}"),
    "pages and files at one URL": lambda layout: {
        **layout.page("same", "Text."),
        f"{layout.folder}same/index.html": "<p>Text.</p>",
        "static/same/index.html": "<p>Text.</p>",
    },
    "dates and titles that are none": lambda layout: {
        **layout.page("odd-date", "Text.", "date: someday\nupdated: 3 April 2024\n"),
        **layout.page("odd-title", "Text.", 'subtitle: "{% x %} <b> $a"\ntags: [1, "a/b", ""]\n'),
    },
    "HTML that loads or never ends": _pages(
        html="<details><summary>A</summary>\n\nText.\n\n<!-- never closed\n\nmore",
        frame='Text.\n\n<iframe src="https://x.org/"></iframe>\n\n<script src="https://x.org/a.js"></script>',
    ),
    "formulas that TeX rejects": _pages(
        formulas="$\\unknown{x}$, $\\frac{a$ and\n\n$$\n\\begin{align} a &= b\n$$\n\n$x_{1}_{2}$"
    ),
    "fences that run or draw": _pages(
        fences="```mermaid\nnot a diagram {{{\n```\n\n```{python}\n#| label: a b\n#| wrong: 1\n1/0\n```\n\n"
        "```dot\ndigraph {{{\n```"
    ),
    "notes and ids": _pages(notes="Text[^a] [^b].\n\n[^a]: One.\n[^a]: Two.\n\n## A {#x}\n\n## B {#x}"),
    "a notebook with a graph": lambda layout: {f"{layout.folder}graph.ipynb": json.dumps(NOTEBOOK)},
    "names that no URL may have": _pages(**{"a b __ü?#%": "Text.", "---": "Text.", "con": "Text."}),
}


def check(files: Mapping[str, str | bytes], folder: Path) -> ImportResult:
    """Import a site, build the result, and request every old address."""
    put(folder / "old", files)
    done = import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)
    report = build(folder / "new")
    wrong = [
        f"{each.path}: {each.code}: {each.message}" for each in report.diagnostics if each.severity == "error"
    ]
    assert report.ok, "\n".join(wrong)
    named = {each.text for each in done.check.differences if each.what == "addresses"}
    for page in done.site.pages:
        if page.address and str(page.path) not in report.left_out and page.address not in named:
            path = folder / "new" / "public" / page.address.strip("/")
            assert path.is_file() or (path / "index.html").is_file(), page.address
    return done


def with_faults(layout: Layout, *names: str) -> Files:
    """Return a site with these faults."""
    files: Files = {**layout.settings, **layout.page(layout.home, "Home.")}
    for name in names:
        files |= FAULTS[name](layout)
    return files


TEXTS = [
    path for path in sorted(FOLDER.glob("*/*.txt")) if path.parent.name not in ("jekyll", "second_brain")
]


@each_row("path", TEXTS)
def test_every_text_builds(path: Path) -> None:
    with TemporaryDirectory() as name:
        check(read_import_text(path).source, Path(name))


@pytest.mark.parametrize("system", LAYOUTS)
def test_all_faults_at_once(system: str, tmp_path: Path) -> None:
    check(with_faults(LAYOUTS[system], *FAULTS), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("system", LAYOUTS)
def test_pairs_of_faults(system: str) -> None:
    for names in [*combinations(FAULTS, 1), *combinations(FAULTS, 2)]:
        with TemporaryDirectory() as name:
            check(with_faults(LAYOUTS[system], *names), Path(name))
