"""Environment and rows of a display, as seen by the numbering, and the anchors made from them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.config.load import parse_config
from blogsmith.config.schema import Config, MathSettings
from blogsmith.model.documents import Source
from blogsmith.read.front_matter import read_document
from blogsmith.tex.analysis.numbering import SourceRow, split_rows
from blogsmith.tex.parse.lexer import tokenize
from tests.check import render
from tests.rows import each_row
from tests.site_files import build


@each_row(
    ("tex", "environment", "count"),
    [
        ("x", "", 1),
        ("", "", 1),
        (r"a \\ b", "", 1),
        (r"\begin{equation}a\\b\end{equation}", "equation", 1),
        (r" \begin{align} a&=b \\ c&=d \end{align} ", "align", 2),
        (r"\begin{align*}a\\b\\\end{align*}", "align*", 2),
        (r"\begin{align}a\\ \\b\end{align}", "align", 3),
        (r"\begin{gather}a\\[5pt]b\end{gather}", "gather", 2),
        (r"\begin{alignat}{2}a&=b\\c&=d\end{alignat}", "alignat", 2),
        (r"\begin{multline}a\\b\end{multline}", "multline", 1),
        (r"\begin{aligned}a\\b\end{aligned}", "", 1),
        (r"\begin{align}\begin{cases}a\\b\end{cases}\\{c\\d}\end{align}", "align", 2),
        (r"\begin{align}a\end{align}+1", "", 1),
        (r"\begin{subequations}\begin{align}a\\b\end{align}\end{subequations}", "align", 2),
        (r"\begin{align}a\\b", "", 1),
        (r"\end{align}", "", 1),
        (r"\begin{flalign}a\cr b\end{flalign}", "flalign", 2),
        (r"\begin{eqnarray*}a&=&b\\c\end{eqnarray*}", "eqnarray*", 2),
        (r"\begin{equation}\begin{split}a\\b\end{split}\end{equation}", "equation", 1),
        (r"\begin{align}a\\\intertext{so \\ and}b\\\shortintertext{$x$}c\end{align}", "align", 3),
        ("\\begin{align}a% \\\\ \\label{x}\n\\\\b\\end{align}", "align", 2),
        (r"\begin{gather}a\\b\notag\\\end{gather}", "gather", 2),
        (r"\begin{gather}a\\\notag\end{gather}", "gather", 2),
    ],
)
def test_rows(tex: str, environment: str, count: int) -> None:
    found = split_rows(tex)
    assert (found.environment, len(found.rows)) == (environment, count)


def test_labels_tags_and_notag() -> None:
    tex = r"\begin{align}a\label{ eq:x }\\b\notag\\c\tag{$*$}\\d\tag*{A}\\e\nonumber\end{align}"
    rows = split_rows(tex).rows
    assert rows[0] == SourceRow("eq:x", tex.index("eq:x"), 4)
    assert [row.notag for row in rows] == [False, True, False, False, True]
    assert [row.tag for row in rows] == [None, None, "$*$", "A", None]
    assert [row.bare_tag for row in rows] == [False, False, False, True, False]


def test_a_label_inside_an_inner_alignment_names_the_display() -> None:
    found = split_rows(r"\begin{aligned}a\\b\label{eq:y}\end{aligned}")
    assert [row.label for row in found.rows] == ["eq:y"]


def test_what_a_row_says_twice_is_a_mistake() -> None:
    tex = r"\begin{align}a\label{x}\label{y}\\b\tag{A}\tag*{B}\label{}\end{align}"
    first, second = split_rows(tex).rows
    assert (first.label, second.tag, second.bare_tag, second.label) == ("x", "A", False, None)
    found = [(m.code, tex[m.offset : m.offset + m.length]) for row in (first, second) for m in row.mistakes]
    assert found == [("label-twice", "y"), ("math-syntax", "\\tag"), ("math-syntax", "\\label")]


def test_content_is_the_formula_without_its_number() -> None:
    tex = r"\begin{alignat}{2} a &= b \label{x} \\ a&=b\tag*{A} \\ a &= c \notag \end{alignat}"
    assert [row.content for row in split_rows(tex).rows] == ["a&=b", "a&=b", "a&=c"]
    assert split_rows("a &= b").rows[0].content == split_rows(r"a&=b\label{x}").rows[0].content


def test_macros_that_make_rows_and_labels_are_opened() -> None:
    macros = {r"\bal": r"\begin{align}", r"\eal": r"\end{align}", r"\eql": r"\label{eq:#1}", r"\nl": r"\nn\\"}
    tex = r"\newcommand{\nn}{\nonumber}\bal a \nl b \eql{c} \eal"
    found = split_rows(tex, macros)
    assert (found.environment, [row.notag for row in found.rows]) == ("align", [True, False])
    assert (found.rows[1].label, tex[found.rows[1].label_offset :][:6]) == ("eq:c", r"\eql{c")
    assert split_rows(r"a \nn", found.macros).rows[0].notag and found.macros.keys() > macros.keys()


@each_row(
    "definition",
    [
        r"\newcommand{\x}[2][eq]{\label{#1:#2}} \x{a}",
        r"\newcommand*\x[1]{\label{eq:#1}} \renewcommand\x[1]{\label{eq:#1}} \x a",
        r"\providecommand{\x}{\label{eq:a}} \providecommand{\x}{\label{eq:b}} \x",
        r"\def\x#1;{\label{eq:#1}} \x a;",
        r"\gdef\x#1#2{\label{#2:#1}} \x{a}{eq}",
        r"\let\x=\label \x{eq:a}",
        r"\def\y{\label} \let\x\y \x{eq:a}",
        r"\DeclareMathOperator{\y}{\label{eq:b}} \label{eq:a} \y",
    ],
)
def test_every_way_to_define_a_macro(definition: str) -> None:
    row = split_rows(definition).rows[0]
    assert (row.label, row.mistakes) == ("eq:a", ())
    call = definition[row.label_offset :][: row.label_length]
    assert call.startswith((r"\x", "eq:a")), "at the call, not in the definition"


@pytest.mark.parametrize("wrong", [r"\newcommand", r"\def\x", r"\newcommand{\x}[1]", r"\def\x{\x a}\x"])
def test_a_wrong_definition_is_left_to_who_typesets(wrong: str) -> None:
    assert split_rows(r"\label{eq:a} " + wrong).rows[0].label == "eq:a"


def test_a_label_in_a_definition_names_nothing() -> None:
    assert split_rows(r"\newcommand{\eql}{\label{eq:a}} x").rows[0].label is None
    assert split_rows(r"\def\loop{\loop\label{a}} \loop").rows[0].label == "a"


@given(st.text(alphabet=r"\{}&%[]* ab1", max_size=40), st.sampled_from(["align", "equation", "subequations"]))
def test_never_raises(text: str, name: str) -> None:
    words = re.sub("a", r"\\label{", re.sub("b", r"\\tag", text))
    for tex in (text, words, f"\\begin{{{name}}}{words}\\end{{{name}}}"):
        assert split_rows(tex, {r"\a": text}).rows
        render(f"$${tex}$$")


NUMBERED = r"""---
math: {numbering: all}
---
$$ a = b $$

\begin{align}
c &= d \label{eq:c} \\
e &= f
\end{align}

\begin{subequations}
\begin{equation} g \label{eq:g} \end{equation}
\begin{equation} h \end{equation}
\end{subequations}

$$ i $$ {#eq:i}
"""


def anchors(html: str) -> list[str]:
    """Return the ids of equations in a page."""
    return re.findall(r' id="(eq-[^"]*)"', html)


def test_anchors_stay_when_an_equation_is_put_in_above() -> None:
    before = anchors(render(NUMBERED).html)
    after = anchors(
        render(NUMBERED.replace("$$ a = b $$", "$$ z \\label{eq:z} $$\n\n$$ y $$\n\n$$ a = b $$")).html
    )
    assert len(before) == 6 and len(after) == 8
    assert [name for name in after if name in before] == before


def test_every_number_has_one_anchor_of_its_own() -> None:
    found = anchors(render(NUMBERED + "\n$$ a = b $$\n").html)
    assert len(found) == 7 and set(Counter(found).values()) == {1}


def test_two_posts_may_use_one_label(tmp_path: Path) -> None:
    (tmp_path / "content" / "posts").mkdir(parents=True)
    (tmp_path / "blogsmith.yaml").write_text("base_url: https://e.org\nmath: {numbering: all}\n", "utf-8")
    for name, other in (("one", "two"), ("two", "one")):
        text = f"---\ndate: 2026-01-02\n---\nBy {{@{other}#eq:x}}.\n\n$$ a $$\n\n$$ x \\label{{eq:x}} $$\n"
        (tmp_path / "content" / "posts" / f"{name}.md").write_text(text, "utf-8")
    report = build(tmp_path)
    assert report.diagnostics == ()
    pages = {p.relative_to(tmp_path / "public"): p.read_text("utf-8") for p in tmp_path.rglob("*.html")}
    found = {str(path.parent): anchors(html) for path, html in pages.items() if anchors(html)}
    assert sorted(found) == ["posts/one", "posts/two"]
    assert all(len(names) == 2 and "eq-x" in names for names in found.values())
    assert (
        '<a class="xref" href="/posts/two/#eq-x">Equation (2) of <em>Two</em></a>'
        in pages[Path("posts/one/index.html")]
    )


def test_a_page_may_ask_for_what_a_site_may_ask_for() -> None:
    values = get_args(get_type_hints(MathSettings)["numbering"])
    assert len(values) == 5
    for value in values:
        assert parse_config(f"math: {{numbering: {value}}}").config.math.numbering == value
        head = f"---\nmath: {{numbering: {value}}}\n---\n"
        document, found = read_document(Source(PurePosixPath("content/a.md"), head, ""), Config())
        assert (document.front.math.numbering, found) == (value, ())


@each_row(
    "tex",
    [
        "\\begin{pmatrix} a & 1.5 \\\\ b & .5 \\end{pmatrix} = x",
        "x = \\begin{cases} 1 & \\text{if } y \\\\\n 0 \\end{cases}",
        "a\\ \\begin{array}{c} b \\end{array}",
        "\\begin{aligned} a \\\\ b \\end{aligned}",
    ],
)
def test_the_content_of_a_formula_is_the_text_of_its_tokens(tex: str) -> None:
    expected = "".join(token.text for token in tokenize(tex) if token.text != " ")
    assert [row.content for row in split_rows(tex).rows] == [expected]
