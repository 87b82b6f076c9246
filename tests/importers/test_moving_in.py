"""Imports of sites that strangers wrote: each row is a small copy of a site that was imported wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.importers.import_texts import PNG
from tests.importers.test_import_builds import NOTEBOOK
from tests.rows import each_row
from tests.site_files import NOW, build, put

JEKYLL = {"_config.yml": "title: T\n"}
POST = "_posts/2020-01-01-a.md"
BUILT_POST = "2020/01/01/a.html"


class Case(NamedTuple):
    """A source, and what its import must show."""

    files: Mapping[str, str | bytes]
    page: str = "index.html"
    """File of the new site that is searched."""
    shown: str = ""
    """Pattern that the file matches."""
    problems: tuple[str, ...] = ()
    """First lines of the summary."""


def post(text: str) -> dict[str, str]:
    """Return a Jekyll site with one post."""
    return {**JEKYLL, POST: f"---\ntitle: A\n---\n\n{text}\n"}


CASES = {
    "a bare bmatrix of MkDocs": Case(
        {
            "mkdocs.yml": "site_name: X\nmarkdown_extensions:\n  - pymdownx.arithmatex: {generic: true}\n",
            "docs/index.md": "# Home\n\nMatrix:\n\n\\begin{bmatrix}\nX_0 & X_1\n\\end{bmatrix}\n"
            "\\begin{bmatrix}\nY_0\\\\Y_1\n\\end{bmatrix}\n=\n\\begin{bmatrix}\nS_0\\\\S_1\n\\end{bmatrix}\n",
        },
        shown=r'(?s)<math[^>]*display="block".*Y_0.*S_0',
    ),
    "rows between dollars of Sphinx": Case(
        {
            "_toc.yml": "format: jb-book\nroot: index\n",
            "_config.yml": "title: B\n",
            "index.md": "# B\n\n$$\nu_0 &= 0 \\\\\nu_1 &= 1\n$$\n\n> $$\n> u_0 &= 0 \\\\\n> u_1 &= 1\n> $$\n",
        },
        shown=r"(?s)<mtable.*<mtable",
    ),
    "ids of Python-Markdown": Case(
        {
            "mkdocs.yml": "site_name: X\n",
            "docs/index.md": '# Setup\n\n## Setup\n\n##Pr\u00fcfer\u2013code\n\n<div id="x"></div>\n## A/B\n',
        },
        shown=r'(?s)<h2 id="setup_1".*<h2 id="prufercode".*<h2 id="ab"',
    ),
    "ids and indented rows of Hugo": Case(
        {
            "hugo.toml": "title = 'H'\n[params.utterances]\nowner = 'o'\nrepo = 'r'\n",
            "content/posts/a.md": "---\ntitle: A\ndescription: An <em>old</em> one<br/><img src='x'>\n---\n"
            "## [L](http://x.de/a)\n\n  Name | Age\n-----|---\n     Bob | 27\n",
        },
        "posts/a/index.html",
        r'(?s)>An old one</p>.*<h2 id="lhttpxdea".*<td>27</td>.*utteranc',
    ),
    "a reference in a note of Quarto": Case(
        {
            "_quarto.yml": "project: {type: website}\n",
            "index.qmd": "---\ntitle: Q\n---\n\n## A--B {#sec-a}\n\n## C--D\n\n"
            "Text^[See @sec-a, which is long.].\n",
        },
        shown=r'(?s)<h2 id="cd".*Text<sup.*See <a[^>]*>A',
    ),
    "a dollar in the text of a bare environment": Case(
        post("\\begin{align} a &= b && \\text{(by $c$)} \\end{align}"), BUILT_POST, "<mtable"
    ),
    "a bare cases environment": Case(
        post("Its derivative is\n\n\\begin{cases} a & x \\leq 1 \\\\\\\\ c & x > 1 \\end{cases}"),
        BUILT_POST,
        "<mtable",
    ),
    "escapes in a bare environment": Case(
        post("\\begin{align} D\\_{KL}(q \\|\\| p) &= \\exp\\\\{ -x \\\\} \\\\\\ &= \\theta^\\* \\end{align}"),
        BUILT_POST,
        r"D_\{KL\}\(q \|\| p\) &amp;= \\exp\\\{ -x \\\} \\\\ ",
    ),
    "an environment in an environment between dollars": Case(
        post("$$ \\begin{align*} a &= \\begin{bmatrix} b \\end{bmatrix} \\end{align*} $$"),
        BUILT_POST,
        "<mtable",
    ),
    "macros of another note": Case(
        {
            ".obsidian/app.json": "{}",
            "a.md": "Let $\\newcommand{\\Rr}{\\mathbb{R}}\\Rr$.",
            "index.md": "The $\\Rr$.",
        },
        shown="<mi>ℝ</mi>",
    ),
    "a link that looks like a citation": Case(
        {"hugo.toml": "title = 'X'\n", "content/_index.md": "By [@ab].\n\n[@ab]: https://x.org/ab\n"},
        shown=r'<a href="https://x.org/ab">@ab</a>',
    ),
    "images that differ in case": Case(
        {**post("![x](/assets/A.png) ![y](/assets/a.png)"), "assets/A.png": PNG, "assets/a.png": PNG},
        BUILT_POST,
        r"(?s)assets/A\.png.*assets/a-2\.png",
    ),
    "a page beside its folder in MyST": Case(
        {
            "myst.yml": "version: 1\nproject:\n  title: Book\n",
            "index.md": "# Book\n\nText.\n",
            "ode.md": "# ODE\n\nText $x$, see [](ode/euler.md).\n",
            "ode/euler.md": "# Euler\n\nBack to [](../ode.md).\n",
        },
        "ode/index.html",
        '(?s)<math.*<a href="/euler/">Euler',
    ),
    "a page beside its folder in Hugo": Case(
        {
            "hugo.toml": 'baseURL = "https://x.org/"\ntitle = "X"\n',
            "content/ode.md": "---\ntitle: ODE\n---\nThe text\n",
            "content/ode/euler.md": "---\ntitle: Euler\n---\nText\n",
        },
        "ode/index.html",
        "The text",
    ),
    "a file name in two chapters": Case(
        {
            "myst.yml": "version: 1\nproject:\n  title: B\n",
            "index.md": "# B\n\nText\n",
            "ch1/exercises.md": "# E1\n\nText one\n",
            "ch2/exercises.md": "# E2\n\nText two\n",
        },
        "exercises-1/index.html",
        "Text two",
    ),
    "links that the author broke": Case(
        {
            "_quarto.yml": "project:\n  type: website\nwebsite:\n  title: X\n",
            "index.qmd": "Text ([paper]([URL](https://x.org/a.pdf))), [b](javascript:f();).\n",
        },
        shown=r'\[paper\]\(<a href="https://x\.org/a\.pdf"[^>]*>URL</a>.*\[b\]\(javascript:f\(\);\)',
    ),
    "a graph in a notebook": Case(
        {"graph.ipynb": json.dumps(NOTEBOOK)}, "posts/graph/index.html", r'<img src="[^"]*\.svg"'
    ),
    "macros in a header file of any name": Case(
        {
            "_quarto.yml": "project:\n  type: book\nbook:\n  title: Book\n  chapters: [index.qmd]\n"
            "format:\n  html:\n    include-in-header:\n      - file: macros.jax\n",
            "macros.jax": '<script>\nwindow.MathJax = {tex: {macros: {E: "\\\\mathbb{E}"}}};\n</script>\n',
            "index.qmd": "# Preface {.unnumbered}\n\n$\\E[x]$.\n",
        },
        shown="<mi>𝔼</mi>",
    ),
    "a reference to a file with an underscore": Case(
        {
            "_quarto.yml": "project:\n  type: book\nbook:\n  title: Book\n  chapters: [index.qmd, a_b.qmd]\n",
            "index.qmd": "# Preface {.unnumbered}\n\nSee @sec-two.\n",
            "a_b.qmd": "# Two {#sec-two}\n\nText.\n",
        },
        shown='<a [^>]*href="/a_b.html#sec-two"[^>]*>',
    ),
    "a block of Liquid around paragraphs": Case(
        post("{% definition A group %}\nA set $x$.\n\nWith more.\n{% enddefinition %}"),
        BUILT_POST,
        r"(?s)\{% definition A group %\}.*<math.*<p>With more\..*\{% enddefinition %\}",
    ),
    "unknown commands": Case(
        post("$\\odd{x} + \\odd{y}$ and $\\strange$"),
        problems=("not typeset: 3 errors in formulas: \\odd (2), \\strange (1)",),
    ),
    "settings without effect": Case(
        {**JEKYLL, **post("Text."), "_config.yml": "title: T\nscholar: {style: apa}\nhooks: [a.py]\n"},
        problems=("without effect: 2 settings or data files",),
    ),
    "a data file that no page shows": Case(
        {
            "hugo.toml": "title = 'T'\n",
            "content/_index.md": "---\ntitle: T\n---\n\nHome\n",
            "data/people.yaml": "- name: Ada of the Engine\n",
        },
        problems=("without effect: 1 setting or data files",),
    ),
    "a cell that another page embeds": Case(
        {
            "myst.yml": "version: 1\nproject:\n  title: B\n",
            "index.md": "# B\n\n![](#plot)\n",
            "a.md": "# A\n\n(plot)=\n## The plot\n",
        },
        shown='<a [^>]*href="/a/#sec-plot"',
        problems=("held back: 1 part",),
    ),
    "a comment of several paragraphs in a box of MyST": Case(
        {
            "myst.yml": "version: 1\nproject:\n  title: B\n",
            "index.md": "# B\n\n:::{note}\nShown.\n\n% TODO\n% $$\n% a\n%\n% b\n:::\n\nLater.\n",
        },
        shown="(?s)Shown.*</div>.*Later",
    ),
    "a dollar in the text of display math": Case(
        post("$$\nN_k = \\{\\text{$k$-chains of arrows}\\}\n$$\n\nAnd $$x \\text{ in $C$}$$."),
        BUILT_POST,
        "<math",
    ),
    "an address that is lost": Case(
        {**JEKYLL, "a.md": "---\ntitle: A\npermalink: /con/\n---\n\nText.\n"},
        problems=("not answered: 1 URL of the old site",),
    ),
    "an image that a cell of knitr includes": Case(
        {
            "_quarto.yml": "project: {type: website}\nwebsite: {title: B}\n",
            "index.qmd": '---\ntitle: A\nhaiku: ["What is it?", b]\n---\n\nSee @fig-a.\n\n'
            "```{r}\n#| label: fig-a\n#| echo: false\n#| fig-cap: Shown\n"
            "knitr::include_graphics('images/a.png')\n```\n",
            "images/a.png": PNG,
        },
        shown=r'href="#fig-a".*\n<figure class="figure" id="fig-a"><img src="/images/a\.png"',
    ),
    "references in CSL-JSON": Case(
        {
            "_quarto.yml": "project: {type: website}\nwebsite: {title: B}\n",
            "index.qmd": "---\ntitle: A\nbibliography: refs.json\n---\n\n@ito:2020 writes.\n",
            "refs.json": '[{"id": "ito:2020", "type": "book", "title": "Sums", "author": [{"family": "I"}]}]',
        },
        shown=r'<li id="ref-ito:2020">I\. <cite>Sums',
    ),
    "formula shortcodes of Zola": Case(
        {
            "config.toml": 'base_url = "https://x.org"\ntitle = "X"\n[markdown]\n',
            "content/_index.md": '+++\ntitle = "H"\n+++\n',
            "content/a.md": '+++\ntitle = "A"\n+++\n{% katex(block=true) %}\nR_0\n=\n\nR_1\n{% end %}\n\n'
            'And {{ katex(body="R_2") }}.\n',
        },
        "a/index.html",
        r"(?s)R_0\s=\sR_1.*R_2",
    ),
    "a collection of Astro that a list reads too": Case(
        {
            "astro.config.mjs": 'export default { site: "https://x.org" };\n',
            "src/content/blog/a.md": "---\ntitle: A\n---\n\nText.\n",
            **dict.fromkeys(
                ("src/pages/posts/[slug]/index.astro", "src/pages/notes/[tag]/index.astro"),
                "---\nconst posts = await getCollection('blog');\n---\n",
            ),
        },
        "posts/a/index.html",
        "Text",
    ),
    "lines of display math in a vault": Case(
        {".obsidian/app.json": "{}", "A.md": "Text:\n$$\na\n=\n- b\n$$\n---\nMore.\n"},
        "a/index.html",
        "(?s)<math.*<hr.*More",
    ),
    "a link to a front page that is a list": Case(
        {
            **post("[home](/)"),
            "index.html": "---\nlayout: default\n---\n{% for p in site.posts %}{% endfor %}\n",
        },
        BUILT_POST,
        '<a href="/">home',
    ),
    "text that no build accepts": Case(
        post("<details><summary>A</summary>\n\nText."),
        BUILT_POST,
        r"(?s)<pre.*&lt;details",
        problems=("held back: 1 part",),
    ),
}


def run(files: Mapping[str, str | bytes], folder: Path) -> ImportResult:
    """Import a site, and build the result."""
    put(folder / "old", files)
    done = import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)
    assert build(folder / "new").ok
    return done


@each_row("name", CASES)
def test_strangers_sites(name: str) -> None:
    case = CASES[name]
    with TemporaryDirectory() as folder:
        done = run(case.files, Path(folder))
        html = (Path(folder) / "new/public" / case.page).read_text("utf-8")
        report = (Path(folder) / "new/import-report.md").read_text("utf-8")
    assert re.search(case.shown, html), html
    assert done.problems == case.problems
    assert done.ok == (not case.problems), done.check.differences
    assert ("Nothing is missing" in report) == done.ok


def test_what_is_held_back_is_named_with_its_line(tmp_path: Path) -> None:
    done = run(post("One.\n\n<details><summary>A</summary>\n\nText."), tmp_path)
    held = [(each.source, each.line) for each in done.site.all_notices if each.kind == "held"]
    assert held == [(POST, 7)]


def test_a_relative_target_shows_images_of_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "old", {"graph.ipynb": json.dumps(NOTEBOOK)})
    monkeypatch.chdir(tmp_path)
    assert import_site(Path("old"), Path("new"), ImportOptions(now=NOW), no_progress).problems == ()


def test_a_hostile_source_runs_nothing(tmp_path: Path) -> None:
    cell = "```{python}\nopen('ran', 'w')\n```\n"
    plugin = "open('ran', 'w')\ndef register(hooks): open('ran', 'w')\n"
    files = {
        "_quarto.yml": "project: {type: website}\nwebsite: {title: X}\nexecute: {freeze: false}\n",
        "index.qmd": f"---\ntitle: H\nplugins: [evil]\nexecute: {{python: ./evil}}\n---\n\n{cell}",
        "blogsmith.yaml": "plugins: [evil]\nexecute: {trust: true}\n",
        "plugins/evil.py": plugin,
        "evil": "#!/bin/sh\ntouch ran\n",
    }
    done = run(files, tmp_path)
    assert not list(tmp_path.rglob("ran")), done
    assert not (tmp_path / "new" / "plugins").exists()
    assert "plugins" not in done.site.settings
