"""The Markdown versions of pages: their form, and that they give the same formulas and text when parsed."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.site.markdown.files import block_markdown
from blogsmith.site.markdown.inline import UrlBase, escape_start, escape_text
from blogsmith.site.markdown.tree import read_tree
from tests.cases_io import CONFIG, all_cases, split_config
from tests.check import render
from tests.rows import each_row
from tests.site_files import SiteText, build_text

ADDRESS = UrlBase("", "")
_MATH = re.compile(r"<math\b[^>]*>.*?</math>", re.DOTALL)
_OF_THE_PAGE = re.compile(
    r'<mtd class="eq-cell.*?</mtd>|<mtd style="width:50%"></mtd>|</?a\b[^>]*>'
    r'| (?:id|href|alttext|class|style|role|aria-label|data-[\w-]+)="[^"]*"',
    re.DOTALL,
)
"""Attributes of a formula that depend on its position: numbers, links, ids."""
_HEADER = re.compile(r'<figcaption class="code-header">.*?</figcaption>', re.DOTALL)
_SLIDERS = re.compile(r'<div class="sweep-controls" hidden>.*?</div>\n')
_ENDS = re.compile(r"(?=</(?:p|li|td|th|figcaption|caption|h\d|div|summary|pre|dt|dd)>)")


def markdown(html: str) -> str:
    return "\n\n".join(block_markdown(read_tree(html).children, ADDRESS))


def formulas(html: str) -> list[str]:
    return sorted(_OF_THE_PAGE.sub("", found) for found in _MATH.findall(html))


def words(page: str) -> list[str]:
    page = _SLIDERS.sub("", _HEADER.sub("", page))
    return re.findall(r"\w+", read_tree(_ENDS.sub(" ", _MATH.sub(" ", page))).text())


OTHERWISE = {
    "bibliographies:207-Publications": "links that filter the list lead around in the page",
    "drawings:43-The code of a drawing, if it is wanted": "options of the fence are not shown",
    "drawings:65-A drawing that is only shown as code": "as above",
    "tex-alignments:221-Cases with a number each": "the label is inside the formula",
    "tex-alignments:239-Rows in one delimiter, with a number each": "as above",
    "math-html:97-Never in code, scripts, attributes and comments": "a formula in a script is none",
    "math-wide:15-It may shrink only, break only, or neither": "the Markdown version lacks the attribute",
    "shortcodes:438-Raw inside raw in code can be shown": "tags for Jekyll vanish from code once more",
    "tex-definitions:15-Renewed and provided": "what TeX itself has is not known where macros are opened",
    "tex-definitions:52-Let": "a name of TeX that is redefined later",
    "tex-definitions:59-Expanded at once": "as above",
    "tex-hostile:76-Backslash alone": "ends the formula where it is read again",
    "tex-physics:77-Names that change with the package": "a package of the site",
    "math-html:54-Label and full stop behind it": "a number within a paragraph of HTML",
    "math-html:42-In a paragraph of HTML the display is phrasing content": "as above",
    "math-labels:594-A tag made from another number": "a number with a formula in it",
    "math-labels:399-Two tags at one row": "a mistake: its number is not in its source",
}
"""Case → why its Markdown differs."""


def test_read_again_it_is_the_same() -> None:
    """For the whole syntax, no formula changes and no text is lost."""
    found = []
    for case in all_cases():
        config, post = split_config(case.source)
        page = render(post, config).html
        again = render(markdown(page), config).html
        lost = Counter(words(page)) - Counter(words(again))
        if lost or formulas(page) != formulas(again):
            found.append(case.id)
    assert sorted(found) == sorted(OTHERWISE)


@each_row(
    ("page", "text"),
    [
        ("<p>a <em>b</em> <strong>c <em>d</em></strong> <del>e</del></p>", "a *b* **c _d_** ~~e~~"),
        (
            "<p>2 * 3 and a_b, `x`, $5, &lt;b&gt;, &amp;amp;</p>",
            "2 \\* 3 and a_b, \\`x\\`, \\$5, \\<b>, \\&amp;",
        ),
        ("<p># no</p><p>1. no</p><p>- no</p>", "\\# no\n\n1\\. no\n\n\\- no"),
        ("<p>[1], [^1], [a](b), [x</p>", "[1], &#91;^1], &#91;a](b), &#91;x"),
        ("<h2 id=x>A <a class=heading-anchor href=#x></a></h2>", "## A"),
        (
            '<p><a href="/b/#c">b</a> <a class="xref" href="#d">(1)</a></p>',
            "[b](https://example.org/b/#c) (1)",
        ),
        ('<p><a href="https://a.example/x (1)">b</a></p>', "[b](https://a.example/x%20%281%29)"),
        ('<p><math alttext="\\R" data-tex="\\mathbb{R}"></math>2</p>', "\\(\\mathbb{R}\\)2"),
        ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul>", "- a\n\n  - b\n\n- c"),
        ('<ol start="3"><li>a</li><li>b</li></ol>', "3. a\n4. b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<pre><code>a\n```\n</code></pre>", "````\na\n```\n````"),
        (
            "<table><tr><th>a<th class=align-right>b<tr><td>c|d<td>e</table>",
            "| a | b |\n|---|---:|\n| c\\|d | e |",
        ),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n: b\n\nc\n: d"),
        ("<p>x<script>alert(1)</script><style>p{}</style></p>", "x"),
        (
            "<details><summary>A</summary><aside><p class=callout-title>B</p>c</aside></details>",
            "> **A**\n>\n> > **B**\n> >\n> > c",
        ),
        (
            "<div class=tabs><div class=tab><input type=radio><label>A</label>"
            "<div class=tab-body><p>b</p></div></div></div>",
            "> **A**\n>\n> b",
        ),
        (
            '<figure class="code" data-lang="sql"><pre class="highlight"><code class="language-sql">'
            '<span class="line">a<a class="xref code-mark" href="#cn-1" data-mark="1"></a>\n</span>'
            '<span class="line">b</span></code></pre></figure>'
            '<ol><li>n <a class="code-backref" href="#x">↩</a></li></ol>',
            "```sql\na  -- (1)\nb\n```\n\n1. n",
        ),
        (
            '<figure class="code" data-lang="c"><pre class="highlight"><code class="language-c">'
            '<span class="line hl">a\n</span><del class="line">b\n</del><ins class="line">&lt;</ins></pre>',
            "```diff\n a\n-b\n+<\n```",
        ),
        (
            '<div class="sweep"><div class="sweep-controls" hidden><label>d<input></label>4</div>'
            '<details class="sweep-run"><summary>d = 4</summary>x</details></div>',
            "> **d = 4**\n>\n> x",
        ),
        (
            '<figure class="diagram"><svg aria-label="Flow"><text>A_b</text><text>B</text></svg></figure>',
            "Flow: A_b · B",
        ),
        ("<p>a <svg><style>b</style><title>c</title></svg>d</p>", "a d"),
        ("<div>" * 3000 + "x", "x"),
        ("</p></div>a<b", "a\\<b"),
    ],
)
def test_markdown(page: str, text: str) -> None:
    address = UrlBase("https://example.org/blog/posts/a/", "https://example.org")
    assert "\n\n".join(block_markdown(read_tree(page).children, address)) == text


@given(st.text(alphabet="ab1 *_`[]()<>$\\#-+.=~!{}%@&:^|\n", max_size=40))
def test_text_stays_text(text: str) -> None:
    written = escape_start(escape_text(" ".join(text.split())))
    assert words(render(written, CONFIG).html) == words(f"<p>{html.escape(' '.join(text.split()))}</p>")


def test_files_of_a_site(tmp_path: Path) -> None:
    config = (
        "title: Notes\ndescription: On attention.\nbase_url: https://example.org/blog\nllms_txt: true\n"
        "math:\n  macros:\n    \\R: \\mathbb{R}\n"
    )
    texts = {
        "blogsmith.yaml": config,
        "content/about.md": "---\ntitle: About\n---\n\n[Me](/llms.txt).\n",
        "content/notes/c.md": "---\ntitle: Three\npermalink: /2026/c.html\ndate: 2026-03-02\n---\n\nWords.\n",
        "content/posts/a.md": "---\ntitle: One [1] $\\R$\ndescription: First.\ndate: 2026-03-01\n---\n\n"
        "$$\n\\R \\label{eq:a}\n$$\n\n[Two](b/index.md) has {@eq:a}.\n",
        "content/posts/b/index.md": "---\ntitle: Two\ndate: 2026-03-02\n---\n\nOther words.\n",
        "content/posts/d.md": "---\ntitle: Four\ndate: 2026-03-02\ndraft: true\n---\n\nNot yet.\n",
    }
    report = build_text(SiteText({path: text.encode() for path, text in texts.items()}, "", ""), tmp_path)
    assert report.ok, report.diagnostics
    public = tmp_path / "public"
    assert (public / "llms.txt").read_text("utf-8") == (
        "# Notes\n\n> On attention.\n\n"
        "- [About](https://example.org/blog/about/index.md): Me.\n\n"
        "## Notes\n\n- [Three](https://example.org/blog/2026/c.md): Words.\n\n"
        "## Posts\n\n"
        "- [Two](https://example.org/blog/posts/b/index.md): Other words.\n"
        "- [One [1] the real numbers](https://example.org/blog/posts/a/index.md): First.\n"
    )
    assert (public / "posts/a/index.md").read_text("utf-8") == (
        "# One [1] $\\mathbb{R}$\n\n2026-03-01 · <https://example.org/blog/posts/a/>\n\n"
        "$$\n\\mathbb{R}\n$$\n\n(1)\n\n"
        "[Two](https://example.org/blog/posts/b/) has Equation (1).\n"
    )
    link = '<link rel="alternate" type="text/markdown" href="/blog/{}">'
    assert link.format("posts/a/index.md") in (public / "posts/a/index.html").read_text("utf-8")
    assert link.format("2026/c.md") in (public / "2026/c.html").read_text("utf-8")
    assert "text/markdown" not in (public / "posts/index.html").read_text("utf-8")
    assert not (public / "posts/d").exists()


def test_languages_of_a_site(tmp_path: Path) -> None:
    texts = {
        "blogsmith.yaml": "title: Notes\nllms_txt: true\nlang: en\nlanguages: {de: {}, ar: {}}\n",
        **{
            f"content/{name}{language}.md": f"---\ntitle: {name}{language}\n---\n\nWords.\n"
            for name in ("a", "posts/b")
            for language in ("", ".ar", ".de")
        },
    }
    report = build_text(SiteText({path: text.encode() for path, text in texts.items()}, "", ""), tmp_path)
    assert report.ok, report.diagnostics
    lines = (tmp_path / "public/llms.txt").read_text("utf-8").split("\n")
    names = "Notes a Posts posts/b Deutsch a.de Beiträge posts/b.de العربية a.ar المقالات posts/b.ar"
    assert " ".join(line.partition("]")[0].lstrip("-# [") for line in lines if line) == names


def test_none_unasked(tmp_path: Path) -> None:
    texts = {"blogsmith.yaml": b"title: T\n", "content/posts/a.md": b"---\ntitle: A\n---\nText.\n"}
    assert build_text(SiteText(texts, "", ""), tmp_path).ok
    assert not [*(tmp_path / "public").rglob("*.md")]
    assert "text/markdown" not in (tmp_path / "public/posts/a/index.html").read_text("utf-8")
