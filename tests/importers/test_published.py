"""`import --against`: what old systems do to formulas is no difference, what is lost is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult, published_line, reports_of
from blogsmith.importers.verify.facts import compared_tex
from blogsmith.importers.verify.html_facts import facts_of_html
from blogsmith.project.report import no_progress
from tests.site_files import NOW, put

POST = "---\ntitle: A post\ndate: 2024-01-01\n---\n\nLet $a_1 * b_1$ and $c'$ and $d<e$ be; H~2~O.\n"


def run(published: str, tmp_path: Path) -> ImportResult:
    page = f"<html><body><article><div class='post-content'>{published}</div></article></body></html>"
    files = {
        "old/hugo.toml": b'baseURL = "https://example.org/"\n',
        "old/content/posts/a.md": POST.encode(),
        "public/posts/a/index.html": page.encode(),
        "public/index.html": b"<main>Home</main>",
        "public/404.html": b"<main>Nothing</main>",
        "public/posts/page/2/index.html": b"<main>More</main>",
        "public/gone/index.html": b"<main>Gone</main>",
    }
    put(tmp_path, files)
    options = ImportOptions(now=NOW, against=tmp_path / "public")
    return import_site(tmp_path / "old", tmp_path / "new", options, no_progress)


@pytest.mark.parametrize(
    "text",
    [
        "<p>Let $a_1 * b_1$ and $c'$ and $d&lt;e$ be; H<del>2</del>O.</p>",
        "<p>Let $a<em>1 * b</em>1$ and $c’$ and $d<e$ be; H<del>2</del>O.</p>",
        "<p>Let \\(a_1 * b_1\\) and <span class='katex'><math><annotation encoding='application/x-tex'>c'"
        "</annotation></math></span> and $d<e$ be; H2O.</p>",
    ],
)
def test_what_the_old_system_did_to_formulas_is_no_difference(text: str, tmp_path: Path) -> None:
    assert run(text, tmp_path).check.differences == ()


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    done = run("<p>Let $a_1 * b_1$ and $x^9$ be; H2O. Never imported.</p>", tmp_path)
    told = {(each.what, each.text) for each in done.check.differences}
    assert told == {("published formulas", "x^9"), ("published words", "never imported")}


def test_what_was_compared_is_counted(tmp_path: Path) -> None:
    done = run("<p>Let $c'$ be.</p>", tmp_path)
    assert done.check.published is not None
    assert (
        published_line(done.check.published) == "compared with the published site: 1 page, 1 formula, 2 words"
    )
    assert done.check.published.unanswered == ("/gone/",)
    assert b"`/gone/`" in reports_of(done)["import-report.md"]


@pytest.mark.parametrize(
    "tex", [r"\newcommand{\R}{\mathbb{R}}", r"\def\E#1{\mathbb{E}[#1]} \require{mhchem}", r"\let\a\b"]
)
def test_definitions_alone_show_nothing(tex: str) -> None:
    assert compared_tex(tex) == ""
    assert compared_tex(f"{tex} x^2")


def test_the_mark_of_a_box_is_no_word() -> None:
    assert facts_of_html("<blockquote><p>[!warning]+ Mind it</p></blockquote>").words == ("mind", "it")
