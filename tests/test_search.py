"""Search: the records of pages, the index made of them, and the page that needs no script."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.site.search.index import IndexedPage, SearchIndex, count_files, page_row, term_file_number
from blogsmith.site.search.page_record import (
    count_chunks,
    encode_step,
    fold,
    make_record,
    read_excerpts,
    read_record,
    set_first_weight,
    split_terms,
)
from blogsmith.site.search.page_text import PageFormula, read_sections
from blogsmith.site.search.pagefind import PagefindError, is_installed, make_index, pagefind_page
from blogsmith.stages import pagefind
from blogsmith.tex.analysis.formula_tokens import MAX_TOKENS, formula_tokens
from tests.build_scripts import compare
from tests.preview_sites import new_line, outputs, settled
from tests.rows import each_row, examples
from tests.site_files import build, printed, put

POST = """\
---
title: Naïve sets
date: 2026-01-02
tags: [Logic]
---
A set is named here, and a *cat*alogue.

## The sum of $x_i$

$$ S = \\sum_{i=1}^n x_i \\label{eq:sum} $$

By {@eq:sum} all is said.

```python
print("quokka")
```
"""
SITE: Mapping[str, str | bytes] = {
    "blogsmith.yaml": "title: Notes\nbase_url: https://example.org/b\nsearch: true\n",
    "content/posts/sets.md": POST,
    "content/posts/draft.md": "---\ntitle: Secret\ndraft: true\n---\nunseen\n",
    "content/about.md": "---\ntitle: About\n---\n## Us\n\nWe write.\n",
}


# words


@each_row(
    ("text", "terms"),
    [
        ("Naïve Sets", ["naive", "sets"]),
        ("Straße, ΣΊΣΥΦΟΣ", ["strasse", "σισυφοσ"]),
        ("d_k and f(x) = 2", ["and"]),
        ("scaled_dot_product(4096)", ["scaled", "dot", "product", "4096"]),
        ("it’s 3.14159", ["it", "14159"]),
        ("注意力机制", ["注意", "意力", "力机", "机制"]),
        ("PyTorch入門", ["pytorch", "入門"]),
        ("字", ["字"]),
        ("हिन्दी", ["हिन्दी"]),
        ("x" * 41, []),
        ("", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert split_terms(text) == terms


@given(st.text())
def test_terms_of_any_text(text: str) -> None:
    for term in split_terms(text):
        assert split_terms(term) == [term]
        assert fold(term) == term


# formulas


@each_row(
    ("tex", "tokens"),
    [
        (r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)", "softmax Q K ^ T / √ d _ k"),
        (r"x^2_i", "x _ i ^ 2"),
        (r"x_i^2", "x _ i ^ 2"),
        (r"f'(x)", "f ′ x"),
        (r"\hat x_1", "hat x _ 1"),
        (r"\sqrt[3]{2}", "√ 3 2"),
        (r"\mathbb{E}[\mathbf X]", "E X"),
        (r"||x|| \leq \|y\|", "‖ x ‖ ≤ ‖ y ‖"),
        (r"\operatorname*{arg\,max}_\theta", "arg max _ θ"),
        (r"\text{if } x \ge 12", "if x ≥ 12"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a = b c = d"),
        (r"\begin{array}{cc} a & b \end{array}", "a b"),
        (r"a \cdot b * c", "a · b · c"),
        (r"1, \dots, n", "1 … n"),
        (r"\textcolor{red}{x} \label{eq:x} \tag{3}", "x"),
        (r"\foo{x}", "foo x"),
        ("}{", ""),
        ("", ""),
    ],
)
def test_tokens(tex: str, tokens: str) -> None:
    assert " ".join(formula_tokens(tex)) == tokens


@given(st.text(alphabet=r"\{}[]^_&$%'xfracsqrt 12", max_size=80))
def test_tokens_of_any_text(tex: str) -> None:
    tokens = formula_tokens(tex)
    assert all(token and not re.search(r"[\s{}]", token) for token in tokens)


@each_row("tex", ["x+" * 5000, "{" * 3000 + "}" * 3000, "_" * 9000, r"\frac" * 4000, r"\sqrt[" * 3000])
def test_tokens_of_much(tex: str) -> None:
    assert len(formula_tokens(tex)) <= MAX_TOKENS


# pages


def sections(html: str) -> list[tuple[str, str, str]]:
    return [(part.id, part.heading, part.text) for part in read_sections(html)]


def test_parts_of_a_page() -> None:
    html = (
        "<p>Be<em>fore</em> &amp; all</p><h2 id='no'>x</h2>"
        '<h2 id="one">One <math alttext="x_i"><mi>x</mi></math> <a class="heading-anchor"></a></h2>'
        "<table><tr><td>a</td><td>b</td></tr></table><script>no()</script><svg><text>no</text></svg>"
        '<p class="provenance" data-x>Recorded</p>'
        '<pre><code>print(<span class="mi">1</span>)\nnext</code></pre>'
    )
    assert sections(html) == [
        ("", "", "Before & all x"),
        ("one", "One x_i", "a b print(1) next"),
    ]


def test_formulas_of_a_page() -> None:
    html = (
        '<p><math alttext="a"><mi>a</mi></math></p>'
        '<div data-line="7" class="math-display" id="eq-x" data-wide="">'
        '<math display="block" alttext="\\R" data-tex="\\mathbb{R}">'
        '<mi>R</mi></math><span class="math-tail">.</span><a class="eq-number" href="#eq-x">(1)</a></div>'
        '<div class="math-display"><math alttext="rows"><mtable></mtable></math>'
        '<a class="eq-anchor" href="#eq-a" aria-label="Equation (2)"></a>'
        '<a class="eq-anchor" href="#eq-b" aria-label="Equation (3)"></a></div>'
    )
    (part,) = read_sections(html)
    assert [(one.index, one.tex, one.is_display) for one in part.formulas] == [
        (0, "a", False),
        (1, r"\mathbb{R}", True),
        (2, "rows", True),
    ]
    assert [[(row.id, row.number) for row in one.rows] for one in part.formulas] == [
        [],
        [("eq-x", "(1)")],
        [("eq-a", "(2)"), ("eq-b", "(3)")],
    ]
    # a number is not text
    assert part.text == ""


@pytest.mark.parametrize(
    "piece", ["<math", "<math>", "<svg>", '<h2 id="a">', "<", "&", '<div class="math-display">']
)
def test_much_of_anything_is_read_in_time(piece: str) -> None:
    read_sections(piece * 50_000)


@given(st.text(alphabet='<>/"= mathsvg h2id&;', max_size=60))
def test_any_page_has_a_record(html: str) -> None:
    assert read_record(make_record(html)) is not None


def test_bytes_that_are_no_record() -> None:
    assert read_record(b"") is None
    assert read_excerpts(b"") == []
    record = make_record("<p>x</p>")
    assert read_excerpts(record[:-3]) == []
    # the digest, the two numbers, and a byte of the record
    assert read_record(record[:21]) is None


# what results show

FIGURE = (
    '<figure class="code"><figcaption class="code-header"><span class="code-lang">{}</span>{}</figcaption>'
    '<pre class="highlight"><code>{}</code></pre></figure>'
)
EXAMPLE = '\n<!-- live -->\n<div class="example">Result.</div>'


@pytest.mark.parametrize(
    ("html", "shown", "words"),
    [
        ("<p>One\n <b>t</b>wo &lt;</p><p>3.</p>", "One two &lt; 3.", "One two < 3."),
        ('<p>x<sup class="footnote-ref"><a href="#f">1</a></sup>, y</p>', "x, y", "x, y"),
        ('<li>Note <a class="b" href="#a" role="doc-backlink">↩</a></li>', "Note", "Note"),
        ('<p>a <math alttext="x"><mi>x</mi></math>.</p>', 'a <math alttext="x"><mi>x</mi></math>.', "a ."),
        (
            FIGURE.format("python", ' <span class="code-title">a.py</span>', "<i>x</i> = 1\n y"),
            '<pre title="a.py">x = 1\n y</pre>',
            "python a.py x = 1 y",
        ),
        (FIGURE.format("markdown", "", "# x") + EXAMPLE, "Result.", "Result."),
        (FIGURE.format("python", "", "x") + EXAMPLE, '<pre title="">x</pre> Result.', "python x Result."),
        ('<h2 id="a">Head</h2><p>Text</p>', "Text", "Text"),
        ("<pre>" * 3 + "x", '<pre title=""></pre>' * 3 + "x", "x"),
    ],
)
def test_text_around_hits(html: str, shown: str, words: str) -> None:
    part = read_sections(html)[-1]
    assert " ".join(part.shown.split(" ")).replace("  ", " ").strip() == shown
    assert part.text == words


def test_long_pages_have_several_files() -> None:
    sections = "".join(f'<h2 id="s{n}">H</h2><p>{"word " * 1000}</p>' for n in range(5))
    record = make_record(f"<p>First.</p>{sections}")
    found = read_record(record)
    assert found is not None
    assert found.chunks == (0, 0, 0, 1, 1, 2)
    assert [list(part) for part in read_excerpts(record)] == [["0", "1", "2"], ["3", "4"], ["5"]]
    assert count_chunks(record) == 3
    page = IndexedPage("/a/", "A", (), record)
    row = page_row(page, found)
    assert row[2] == [["", ""], ["s0", "H"], ["s1", "H"], ["s2", "H", 1], ["s3", "H", 1], ["s4", "H", 2]]


def test_examples_of_queries() -> None:
    record = make_record(
        '<div class="math-display" id="e"><math alttext="\\sin (a+b) = c"></math>'
        '<a class="eq-number" href="#e">(1)</a></div>'
    )
    pages = [IndexedPage(f"/{n}/", "A", tags, record) for n, tags in enumerate([("X", "Y"), ("Y",), ("Z",)])]
    pages_json = json.loads(SearchIndex(pages, {}).files["pages"])
    assert pages_json["examples"] == ["Y", "X", "sin a+b=c"]
    assert json.loads(SearchIndex([], {}).files["pages"])["examples"] == []


# the index


def index_of(*pages: tuple[str, str], macros: Mapping[str, str] | None = None) -> SearchIndex:
    found = [
        IndexedPage(f"/{number}/", title, (), make_record(html)) for number, (title, html) in enumerate(pages)
    ]
    return SearchIndex(found, macros or {})


def places(index: SearchIndex) -> dict[str, str]:
    found = json.loads(index.files["terms-0"])
    return dict(zip(found["terms"].split(), found["places"].split(), strict=True))


def test_where_terms_stand() -> None:
    index = index_of(
        ("Zebra", '<p>owl owl</p><h2 id="a">Owl</h2><p>cat</p><h2 id="b">Last</h2><p>cat</p>'),
        ("Other", "<p>cat cat cat cat</p>"),
    )
    # on the first page once in the second and third section; often in the first section of the next page
    assert places(index)["cat"] == ".1AFC"
    assert places(index)["owl"] == "BI"
    assert places(index)["zebra"] == "E"
    assert places(index)["other"] == f"{encode_step(2)}E"


def test_a_title_counts_wherever_its_words_stand() -> None:
    headings = '<h2 id="a">y</h2>' * 40
    index = index_of(("Owl", f'<p>x</p>{headings}<h2 id="b">Z</h2>owl<h2 id="c">Z</h2>owl'))
    assert places(index)["owl"] == "E15FF"
    assert set_first_weight("B2FF", "D") == "D2FF"


def test_files_name_their_version() -> None:
    one, other = index_of(("A", "a"), ("B", "b")), index_of(("A", "a"))
    orders = [{json.loads(data)["order"] for data in index.files.values()} for index in (one, other)]
    assert [len(found) for found in orders] == [1, 1]
    assert orders[0] != orders[1]


@given(st.integers(min_value=0, max_value=10**6))
def test_steps_are_numbers_in_base_36(distance: int) -> None:
    assert int(encode_step(distance) or "1", 36) == distance


@examples(50)
@given(
    st.lists(st.text(alphabet="abcä字", min_size=1, max_size=3), min_size=1, max_size=9),
    st.sampled_from([1, 16, 64]),
)
def test_terms_that_begin_alike_are_in_one_file(terms: list[str], files: int) -> None:
    for term in terms:
        assert 0 <= term_file_number(term, files) < files
        if not term[0].isascii():
            assert term_file_number(term, files) == term_file_number(term[0], files)
    assert [count_files(pages) for pages in (1, 30, 31, 299, 300)] == [1, 1, 16, 16, 64]


def test_formulas_of_the_index() -> None:
    index = index_of(
        ("One", '<p><math alttext="a+b"></math> <math alttext="a+b"></math> <math alttext="x"></math></p>'),
        ("Two", '<h2 id="s">S</h2><p><math alttext="\\lambda+a"></math></p>'),
        macros={"\\R": "\\mathbb{R}"},
    )
    found = json.loads(index.files["formulas"])
    tokens = dict(zip(found["names"], found["tokens"].split(), strict=True))
    read = [
        (page, section, number, " ".join(tokens[sign] for sign in code))
        for page, rows in found["formulas"]
        for section, number, *_, code in rows
    ]
    # duplicates on a page are indexed once, and single letters are not
    assert read == [(0, 0, 0, "a + b"), (1, 1, 0, "λ + a")]
    assert found["macros"] == {"R": "\\mathbb{R}"}
    assert found["signs"]["lambda"] == "λ"


def test_a_formula_counts_at_its_best_place() -> None:
    html = (
        '<p><math alttext="a+b"></math></p><div class="math-display" id="eq-x"><math alttext="a+b"></math>'
        '<a class="eq-number" href="#eq-x">(1)</a></div>'
    )
    record = read_record(make_record(html))
    assert record is not None
    assert [(one.kind, one.id, one.number, one.index) for one in record.formulas] == [(2, "eq-x", "(1)", 1)]


def test_rows_of_a_display_are_found_one_by_one() -> None:
    html = (
        '<div class="math-display">'
        '<math alttext="\\begin{align} a &amp;= b \\\\ c &amp;= d \\end{align}"></math>'
        '<a class="eq-anchor" href="#eq-a" aria-label="Equation (1)"></a>'
        '<a class="eq-anchor" href="#eq-c" aria-label="Equation (2)"></a></div>'
    )
    record = read_record(make_record(html))
    assert record is not None
    assert [(one.id, one.tokens) for one in record.formulas] == [("eq-a", "a = b"), ("eq-c", "c = d")]


def test_a_formula_is_a_record() -> None:
    assert PageFormula(0, "x", ("x",), False).rows == ()


# sites


def put_site(root: Path, **changes: str | bytes) -> Path:
    return put(root, {**SITE, **{name.replace("__", "/"): text for name, text in changes.items()}})


def built_site(root: Path, **options: object) -> Path:
    report = build(root, **options)
    assert report.ok, printed(report)
    return root / "public"


def index_files(public: Path) -> dict[str, Any]:
    """Return name → content of the files of the index."""
    entry = json.loads((public / "search/index.json").read_text())
    return {name: json.loads((public / f"search/{name}.json").read_text()) for name in entry["files"]} | {
        "entry": entry
    }


def test_a_site_with_search(tmp_path: Path) -> None:
    public = built_site(put_site(tmp_path))
    files = index_files(public)
    assert files.keys() == {"entry", "pages", "formulas", "terms-0"}
    pages = files["pages"]["pages"]
    assert [page[:2] for page in pages] == [["/b/about/", "About"], ["/b/posts/sets/", "Naïve sets"]]
    assert pages[1][2] == [["", ""], ["the-sum-of-x-i", "The sum of x_i"]]
    terms = files["terms-0"]["terms"].split()
    assert {"naive", "sets", "logic", "catalogue", "sum", "quokka", "print"} <= set(terms)
    folder = public / "search/excerpts"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
    assert found == {"about/0.json", "posts/sets/0.json"}
    first, second = json.loads((folder / "posts/sets/0.json").read_text()).values()
    assert first == "A set is named here, and a catalogue."
    assert "<math" in second
    assert '<pre title="">print("quokka")' in second.replace("&quot;", '"')
    assert "/search/" not in (public / "sitemap.xml").read_text()
    page = (public / "search/index.html").read_text()
    assert '<meta name="robots" content="noindex">' in page
    listed = page.partition('class="search-pages"')[2]
    assert re.findall(r'<a href="(/b/(?:posts|about)[^"]*)"', listed) == [
        "/b/about/",
        "/b/about/#us",
        "/b/posts/sets/",
        "/b/posts/sets/#the-sum-of-x-i",
    ]


def test_drafts_are_never_found(tmp_path: Path) -> None:
    public = built_site(put_site(tmp_path), drafts=True)
    assert (public / "posts/draft/index.html").is_file()
    found = index_files(public)
    assert "unseen" not in found["terms-0"]["terms"]
    assert "Secret" not in json.dumps(found)
    assert "Secret" not in (public / "search/index.html").read_text()


def test_pages_that_are_kept_out(tmp_path: Path) -> None:
    root = put_site(tmp_path / "site", **{"content__own.md": "---\ntitle: Own\n---\nHidden platypus.\n"})
    compare(root)
    assert "platypus" in json.dumps(index_files(root / "public"))
    for value in ("false", "{exclude: true}"):
        put(root, {"content/own.md": f"---\ntitle: Own\nsearch: {value}\n---\nHidden platypus.\n"})
        report = compare(root)
        assert ('"search" must be true or false' in printed(report)) is (value != "false")
        assert "platypus" not in json.dumps(index_files(root / "public"))
        assert "/b/own/" not in (root / "public/search/index.html").read_text().partition("<main")[2]
    # it is published, and in lists as usual
    assert "/b/own/" in (root / "public/sitemap.xml").read_text()


def test_pages_load_one_small_script(tmp_path: Path) -> None:
    public = built_site(put_site(tmp_path))
    page = (public / "about/index.html").read_text()
    assert re.findall(r'<script type="module" src="([^"?]*)', page) == ["/b/assets/paper/search-key.js"]
    assert (
        '<a class="search-link" rel="search" href="/b/search/" aria-keyshortcuts="/ Control+K">Search</a>'
        in page
    )
    assert '<a class="search-link" href="/b/search/">' in (public / "404.html").read_text()


def test_without_the_dialog_there_is_a_link_and_no_script(tmp_path: Path) -> None:
    config = "title: Notes\nsearch: {dialog: false}\n"
    public = built_site(put_site(tmp_path, **{"blogsmith.yaml": config}))
    page = (public / "about/index.html").read_text()
    assert "<script" not in page
    assert '<a class="search-link" rel="search" href="/search/">' in page
    assert 'src="/assets/paper/search-page.js' in (public / "search/index.html").read_text()


def test_without_search_there_is_nothing_of_it(tmp_path: Path) -> None:
    public = built_site(put_site(tmp_path, **{"blogsmith.yaml": "title: Notes\n"}))
    assert not (public / "search").exists()
    assert "search" not in (public / "about/index.html").read_text()
    assert "<script" not in (public / "about/index.html").read_text()


@pytest.mark.parametrize("theme", ["paper", "terminal"])
def test_both_themes_have_it(theme: str, tmp_path: Path) -> None:
    config = f"title: Notes\nsearch: true\ntheme: {theme}\n"
    public = built_site(put_site(tmp_path, **{"blogsmith.yaml": config}))
    assert "data-search-page" in (public / "search/index.html").read_text()
    assert 'class="search-link"' in (public / "posts/sets/index.html").read_text()


def test_in_another_language(tmp_path: Path) -> None:
    config = "title: Notizen\nlang: de\nsearch: true\n"
    public = built_site(put_site(tmp_path, **{"blogsmith.yaml": config}))
    page = (public / "about/index.html").read_text()
    assert ">Suche</a>" in page
    words = json.loads(re.findall(r"<script type=\"application/json\" data-words>(.*?)</script>", page)[0])
    assert words["Words or a formula"] == "Wörter oder eine Formel"
    assert '<h1 class="page-title">Suche</h1>' in (public / "search/index.html").read_text()


def test_a_page_of_the_author_at_its_address(tmp_path: Path) -> None:
    report = build(put_site(tmp_path, **{"content__search.md": "---\ntitle: Mine\n---\nText.\n"}))
    assert '"content/search.md" has the same URL "/search/" as the search page' in printed(report)
    assert not report.ok


def test_an_own_theme_without_the_layout(tmp_path: Path) -> None:
    layouts = ("post", "page", "home", "section", "tag", "tags", "archive", "not_found")
    own = {f"themes/own/layouts/{name}.html": "<title>x</title>" for name in layouts}
    config = "title: Notes\nsearch: true\ntheme: own\n"
    put_site(tmp_path, **{"blogsmith.yaml": config})
    report = build(put(tmp_path, {**own, "themes/own/theme.yaml": "name: own\n"}))
    assert 'layout not found in theme "own": "search"' in printed(report)


# Pagefind


BIG = {**SITE, "blogsmith.yaml": "title: Notes\nlang: en-GB\nsearch: {engine: pagefind}\n"}


def test_pagefind_is_given_plain_pages(tmp_path: Path) -> None:
    seen: dict[str, str] = {}

    def run(command: list[str], *, cwd: Path, **options: object) -> None:
        seen.update(
            {file.name: file.read_text() for file in (cwd / "pages").iterdir()}, command=" ".join(command)
        )
        for name in ("pagefind.js", "pagefind-ui.js", "fragment/en_1.pf_fragment"):
            put(cwd / "index", {name: name})

    page = pagefind_page("A <b>", "/b/a/", read_sections('<p>x &lt;</p><h2 id="a&amp;b">Two</h2><p>y</p>'))
    assert sorted(make_index([page], "en-GB", run)) == ["fragment/en_1.pf_fragment", "pagefind.js"]
    body = '<h1>A &lt;b&gt;</h1>\n<p>x &lt;</p>\n<h2 id="a&amp;b">Two</h2>\n<p>y</p>'
    address = '<p data-pagefind-meta="at[data-at]" data-at="/b/a/"></p>'
    assert (
        seen["0.html"] == f"<!DOCTYPE html>\n<html><title>A &lt;b&gt;</title>\n<body>{address}{body}\n</html>"
    )
    assert seen["command"].endswith(
        "-m pagefind --site pages --output-path index --quiet --force-language en"
    )


def test_pagefind_fails() -> None:
    def run(command: list[str], **options: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr=b"one\nno such thing\n")

    with pytest.raises(PagefindError, match=r"^no such thing$"):
        make_index([], "en", run)


def test_pagefind_that_is_not_there(tmp_path: Path) -> None:
    with patch.object(pagefind, "is_installed", return_value=False):
        report = build(put(tmp_path, BIG))
    assert 'search engine "pagefind" is not installed [search-engine]' in printed(report)
    assert not (tmp_path / "public").exists()


def test_a_site_with_pagefind(tmp_path: Path) -> None:
    if not is_installed():
        pytest.skip("pagefind is not installed")
    root = put(tmp_path / "site", BIG)
    compare(root)
    public = root / "public"
    (folder,) = public.glob("search/*/pagefind")
    names = {file.name for file in folder.iterdir()}
    assert {"pagefind.js", "pagefind-entry.json"} <= names
    assert not any("ui" in name for name in names)
    assert json.loads((public / "search/index.json").read_text())["terms"] == 0
    assert not list(public.glob("search/**/terms-*.json"))
    page = (public / "about/index.html").read_text()
    assert "script-src 'self' 'wasm-unsafe-eval'" in page
    put(root, {"content/about.md": "---\ntitle: About\n---\nPlatypus.\n"})
    compare(root)
    assert compare(root).written == 0


def test_the_preview_searches_without_pagefind(tmp_path: Path) -> None:
    shown = outputs(settled(new_line(put(tmp_path, BIG))))
    assert json.loads(shown["search/index.json"])["terms"] == 1
    assert any(path.endswith("terms-0.json") for path in shown)


# one version after the other


def test_what_is_kept_gives_the_same(tmp_path: Path) -> None:
    root = put_site(tmp_path / "site")
    compare(root)
    for path, text in (
        ("content/posts/sets.md", POST.replace("quokka", "wombat")),
        ("content/posts/sets.md", POST.replace("Naïve", "Plain")),
        ("content/posts/draft.md", "---\ntitle: Open\n---\nseen\n"),
        ("blogsmith.yaml", "title: Notes\nsearch: {dialog: false}\n"),
        ("blogsmith.yaml", "title: Notes\n"),
        ("blogsmith.yaml", "title: Notes\nsearch: true\nmath: {macros: {\\R: x}}\n"),
    ):
        put(root, {path: text})
        compare(root)
    again = compare(root)
    assert (again.written, again.rebuilt) == (0, {})


def test_an_edit_of_one_text_reaches_the_index(tmp_path: Path) -> None:
    root = put_site(tmp_path / "site")
    compare(root)
    put(root, {"content/about.md": "---\ntitle: About\n---\n## Us\n\nWe write platypus.\n"})
    compare(root)
    assert "platypus" in json.dumps(index_files(root / "public"))


def test_the_preview_has_the_same_index(tmp_path: Path) -> None:
    root = put_site(tmp_path / "site")
    public = built_site(root)
    shown = outputs(settled(new_line(root)))
    files = {file.relative_to(public).as_posix() for file in (public / "search").rglob("*") if file.is_file()}
    assert {path for path in shown if path.startswith("search/")} == files
    assert all(shown[path] == (public / path).read_bytes() for path in files)


def test_hostile_titles_are_data(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    post = f"---\ntitle: '{evil}'\n---\n## {evil.replace('<', '&lt;')}\n\n`{evil}`\n"
    public = built_site(put_site(tmp_path, **{"content__evil.md": post}))
    pages = {url: (title, parts) for url, title, parts in index_files(public)["pages"]["pages"]}
    assert any(title == evil for title, _ in pages.values())
    page = (public / "search/index.html").read_text()
    assert "<img src=x" not in page
