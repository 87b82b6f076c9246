"""`import --against`: lost content is a difference; changes by the old system or its theme are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import ImportedPage, Notice
from blogsmith.importers.report import ImportResult, make_reports, published_line
from blogsmith.importers.text.segments import LineFinder
from blogsmith.importers.verify.facts import Facts, losses, normalize_tex, read_facts
from blogsmith.importers.verify.published_pages import extract_article, published_facts, published_losses
from blogsmith.project.report import no_progress
from tests.rows import each_row
from tests.site_files import NOW, put

POST = "---\ntitle: A post\ndate: 2024-01-01\n---\n\nLet $a_1 * b_1$ and $c'$ and $d<e$ be; H~2~O.\n"
SPHINX = """<div class="bd-article-container"><p>menu print download</p>
<article class="bd-article"><h1><span class="section-number">3. </span>Steps</h1>
<p>We go down <span class="math notranslate nohighlight">\\(x\\)</span> as in
<a class="reference internal" href="#equation-a">(3.1)</a> of <span class="bibtex-citation" id="id1">[<a
class="reference internal" href="z.html#id5">Noether <em>et al.</em>, 1918</a>]</span>.</p>
<div class="math notranslate nohighlight" id="equation-a">
<span class="eqno">(3.1)<a class="headerlink" href="#equation-a">#</a></span>\\[\\begin{split}a \\\\
b\\end{split}\\]</div>
<div class="citation" id="id5"><span class="label">[N18]</span><p>Emmy Noether. Invariants.</p></div>
</article></div>"""
MATERIAL = """<article class="md-content__inner"><p>The sign $ ends a word.
1. So does <span class="arithmatex">\\(y\\)</span>, it costs 5$.</p>
<div class="arithmatex">\\[
1. & a
\\]</div></article>"""


PAGE = ImportedPage(
    PurePosixPath("content/posts/a.md"),
    {"title": "The title", "date": "2024-03-05", "tags": ["numbers"]},
    "",
    "a.md",
    address="/a.html",
)


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
    assert b"`/gone/`" in make_reports(done)["import-report.md"]


@pytest.mark.parametrize(
    "tex",
    [
        r"\newcommand{\R}{\mathbb{R}}",
        r"\def\E#1{\mathbb{E}[#1]} \require{mhchem}",
        r"\let\a\b",
        "% shorter names\n\\let\\a=b % the first\n\\DeclareMathOperator*{\\argmax}{arg\\,max}\n",
    ],
)
def test_definitions_alone_show_nothing(tex: str) -> None:
    assert normalize_tex(tex) == ""
    assert normalize_tex(f"{tex} x^2")


def test_the_mark_of_a_box_is_no_word() -> None:
    assert read_facts("<blockquote><p>[!warning]+ Mind it</p></blockquote>").words == ("mind", "it")


def facts(tmp_path: Path, html: str) -> Facts:
    put(tmp_path / "old", {"a.html": html})
    return published_facts(tmp_path / "old", ["/a.html"])["/a.html"]


@pytest.mark.parametrize(
    ("html", "formulas", "words"),
    [
        (SPHINX, ["x", "ab"], "steps we go down as in of"),
        (MATERIAL, ["y", "1&a"], "the sign ends a word so does it costs 5"),
    ],
    ids=["sphinx", "material"],
)
def test_what_the_old_system_made_is_no_text(
    html: str, formulas: list[str], words: str, tmp_path: Path
) -> None:
    found = facts(tmp_path, html)
    assert sorted(found.counter("formulas")) == sorted(formulas)
    assert " ".join(found.words) == words


def test_a_lost_word_is_a_difference_unless_it_is_allowed(tmp_path: Path) -> None:
    old = facts(tmp_path, "<article class='post'><p>one two three</p></article>")
    new, allowed = read_facts("<p>one three</p>"), read_facts("<p>two</p>")
    assert [each.text for each in published_losses(PAGE, old, new, Facts())] == ["two"]
    assert not published_losses(PAGE, old, new, allowed)


def test_a_long_loss_is_quoted_in_part() -> None:
    old = read_facts(f"<p>{'word ' * 400}</p>")
    (found,) = losses("a.md", old, Facts(), Facts(), LineFinder(""))
    assert len(found.text) < 250
    assert found.count == 400


def test_what_a_layout_makes_of_the_front_matter_is_no_loss(tmp_path: Path) -> None:
    head = "<p>My site</p><h1>The title</h1><p>Mar 5th, 2024 · 5 min read · numbers</p>"
    old, new = facts(tmp_path, f"<article>{head}<p>one</p></article>"), read_facts("<p>one</p>")
    lost = published_losses(PAGE, old, new, Facts(), "My site")
    assert not lost
    assert [each.text for each in published_losses(PAGE, old, Facts(), Facts(), "My site")] == ["one"]


@pytest.mark.parametrize(
    "page",
    [
        replace(PAGE, notices=(Notice("dropped", "a list of posts", "a.md", 1, is_list=True),)),
        replace(PAGE, path=PurePosixPath("content/posts/_index.md")),
    ],
    ids=["notice", "section"],
)
def test_of_a_page_that_lists_others_formulas_are_compared(page: ImportedPage, tmp_path: Path) -> None:
    old = facts(tmp_path, "<article><p>Titles of others, and $x$</p></article>")
    assert [each.text for each in published_losses(page, old, Facts(), Facts())] == ["x"]


@each_row(
    ("page", "text"),
    [
        ('<body><main>Menu <article class="post">Text</article></main></body>', "text"),
        ("<body><main>Menu<div class=post-content>Text</div></main></body>", "text"),
        ('<body><div class="post-list">Menu</div><div id="content">Text</div></body>', "text"),
        ('<article><div class="toc">One</div>Text<nav>On</nav></article>', "text"),
        ('<article>Text<ul id="toc"><li>One <ul><li>Two</li></ul></li></ul> ends</article>', "text ends"),
        ("<body><nav>Menu</nav>Text<footer>Foot</footer></body>", "text"),
        ('<article><div class="toc">Never closed</article>', "never closed"),
    ],
)
def test_the_text_of_a_page_is_found(page: str, text: str) -> None:
    assert " ".join(read_facts(extract_article(page).html).words) == text


@each_row(
    ("old", "new"),
    [
        ("f’(x)", "f'(x)"),
        (r"\text{“a”}", r"\text{``a''}"),
        (r"\text{“a”}", '\\text{"a"}'),
        ("f’’’", "f'''"),
        ("f”’", "f'''"),
        ("a – b…", "a -- b..."),
        ("a &lt; b", "a < b"),
        (r"\begin{split}a\end{split}", "a"),
    ],
)
def test_a_formula_is_compared_as_it_was_written(old: str, new: str) -> None:
    assert normalize_tex(old) == normalize_tex(new)
