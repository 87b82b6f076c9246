"""`--against`: what an old page holds besides its text is no loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.importers.text.segments import Lines
from blogsmith.importers.verify.compare import losses
from blogsmith.importers.verify.facts import Facts
from blogsmith.importers.verify.html_facts import facts_of_html
from blogsmith.importers.verify.published import published_facts, published_losses
from tests.site_files import put

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
    assert sorted(found.of("formulas")) == sorted(formulas)
    assert " ".join(found.words) == words


def test_a_lost_word_is_a_difference_unless_it_is_allowed(tmp_path: Path) -> None:
    old = facts(tmp_path, "<article class='post'><p>one two three</p></article>")
    new, allowed = facts_of_html("<p>one three</p>"), facts_of_html("<p>two</p>")
    assert [each.text for each in published_losses("/a.html", old, new, Facts(), "a.md")] == ["two"]
    assert not published_losses("/a.html", old, new, allowed, "a.md")


def test_a_long_loss_is_quoted_in_part() -> None:
    old = facts_of_html(f"<p>{'word ' * 400}</p>")
    (found,) = losses("a.md", old, Facts(), Facts(), Lines(""))
    assert len(found.text) < 250
    assert found.count == 400
