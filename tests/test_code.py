"""Highlighting: the source is unchanged, nothing in it becomes markup, nothing hangs."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable
from html import escape, unescape
from itertools import groupby

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.model.documents import Body
from blogsmith.render.code import FigureOptions, Highlighted, code_figure, highlight, is_known_language
from blogsmith.render.html import render_body
from blogsmith.render.lexing import Piece
from blogsmith.render.tools import SiteAccess
from blogsmith.syntax.code_languages import comment_delimiters
from blogsmith.syntax.parser import Parsed
from tests import check
from tests.rows import each_row, examples

LANGUAGES = ("python", "pycon", "console", "cuda", "c++", "html+jinja", "tex", "text", "", "pyton", "php")
SOURCES = (
    "",
    "\n",
    "\n\n  \n\n",
    "x = 1",
    "x = 1\n",
    "\n\ndef f():\n\treturn '''a\n  b\n'''   \n\n\n",
    "$ ls -la \n>>> x < 1 & y > 2\n",
    '<?php echo "&amp;"; ?>\n<b a="1">\'</b>\n',
    "← × \u2028 \u00a0 \ufeff \x0c \x0b é\n",
    "a\rb\r\nc\n",
    '\'unclosed\n"""also\n',
)
STUCK = "a" * 50_000 + "!"
PATIENCE_S = 60.0
"""Timeout where the deadline is not tested: a busy machine may delay a process."""


def shown(source: str, language: str = "python", max_line: int = 10_000) -> Highlighted:
    return highlight(source, language, deadline_s=PATIENCE_S, max_line=max_line)


def figure(source: str, language: str = "python", **look: object) -> str:
    return code_figure(shown(source, language).lines, language, FigureOptions(**look))  # type: ignore[arg-type]


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def in_thread(call: Callable[[], Highlighted]) -> Highlighted:
    found: list[Highlighted] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


COMMENTS = [
    *(("cuda", "// /*"), ("cpp", "// /*"), ("rust", "// /*"), ("haskell", "-- {-"), ("tex", "%")),
    *(
        ("lean", "-- /- #"),
        ("julia", "# #="),
        ("sql", "-- /*"),
        ("yaml", "#"),
        ("xml", "<!--"),
        ("ini", "# ; ;;"),
    ),
    *(
        ("html", "<!-- // /*"),
        ("matlab", "%"),
        ("scheme", ";; ;"),
        ("json", "// /* #"),
        ("text", "#"),
        ("", "#"),
    ),
    *(("jsonc", "// /* #"), ("no-such-language", "#"), ("markdown", ""), ("mcschema", "#")),
]


@each_row(("language", "signs"), COMMENTS)
def test_comments_are_those_of_the_lexer(language: str, signs: str) -> None:
    assert " ".join(begin for begin, _ in comment_delimiters(language)) == signs


@each_row("language", LANGUAGES)
@each_row("source", SOURCES)
def test_text_is_the_source(source: str, language: str) -> None:
    lines = shown(source, language).lines
    assert text_of("\n".join(lines)) == source
    assert len(lines) == source.count("\n") + 1


@each_row("language", LANGUAGES)
@each_row("source", SOURCES)
def test_browser_reads_the_source_back(source: str, language: str) -> None:
    """A browser's parser reports no error and returns the same characters."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    # U+000B and U+FEFF are parse errors in any HTML, regardless of what we do with them
    source = source.replace("\x0b", "").replace("\ufeff", "").replace("\r", "")
    fragment = parser.parseFragment(figure(source, language))
    code = fragment.find(".//code")
    assert code is not None
    assert "".join(code.itertext()) == source


@examples(60)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(LANGUAGES))
def test_any_text_survives(source: str, language: str) -> None:
    lines = shown(source, language).lines
    assert text_of("\n".join(lines)) == source
    assert all(line.count("<span") == line.count("</span>") for line in lines)


def test_spans_end_with_their_line() -> None:
    lines = shown('"""a\nb"""\n').lines
    assert lines == ('<span class="sd">"""a</span>', '<span class="sd">b"""</span>', "")


@pytest.mark.parametrize("source", ["x = 1\n", "x = '" + "a" * 500 + "'\n"], ids=["tame", "in a child"])
def test_other_threads_give_the_same(source: str) -> None:
    assert in_thread(lambda: shown(source)) == shown(source)
    assert "<span" in shown(source).lines[0]


@each_row(
    "language, problem",
    [
        ("python", ""),
        ("PYTHON", ""),
        ("jsonc", ""),
        ("text", ""),
        ("plain", ""),
        ("none", ""),
        ("", ""),
        ("mermaid", ""),
        ("pyton", 'unknown language "pyton" (did you mean `python`?)'),
        (
            "pyodide",
            'unknown language "pyodide" (write `#| run-in: browser` in a `python` fence)',
        ),
        ("zzqqxx", 'unknown language "zzqqxx"'),
    ],
)
def test_languages(language: str, problem: str) -> None:
    assert shown("x = 1\n", language).problem == problem
    assert is_known_language(language) == (not problem)


def test_php_needs_no_opening_tag() -> None:
    assert '<span class="nv">$x</span>' in shown("$x = 1;\n", "php").lines[0]


def test_long_line_is_plain() -> None:
    result = shown("x = 1\n" + "y" * 11 + "\n", max_line=10)
    assert result.lines == ("x = 1", "y" * 11, "")
    assert result.problem == "line 2 of the code is longer than 10 characters"


@pytest.mark.parametrize("run", [lambda call: call(), in_thread], ids=["main thread", "other thread"])
def test_deadline_ends_a_stuck_lexer(run: Callable[[Callable[[], Highlighted]], Highlighted]) -> None:
    """50 kB that keep the `console` lexer busy for more than 15 s in a single regular expression."""
    before = time.process_time()
    result = run(lambda: highlight(STUCK, "console", deadline_s=0.2, max_line=100_000))
    assert result == Highlighted((STUCK,), "highlighting takes longer than 0.2 s")
    # processor time, which does not increase on a busy machine
    assert time.process_time() - before < 5 * 0.2


def test_deadline_leaves_the_process_as_it_was() -> None:
    before = signal.getsignal(signal.SIGALRM)
    highlight(STUCK, "console", deadline_s=0.05, max_line=100_000)
    shown("x = 1\n")
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_figure_of_the_vocabulary() -> None:
    assert figure("x\ny\n", "python", title="model.py", highlighted=frozenset({2})) == (
        '<figure class="code" data-lang="python" aria-label="model.py"><figcaption class="code-header">'
        '<span class="code-lang">python</span> <span class="code-title">model.py</span></figcaption>'
        '<pre class="highlight" tabindex="0"><code class="language-python">'
        '<span class="line"><span class="n">x</span>\n</span>'
        '<span class="line hl"><span class="n">y</span>\n</span></code></pre></figure>'
    )


@each_row(
    "look, opening",
    [
        ({}, '<figure class="code"><pre class="highlight"'),
        (
            {"title": "a"},
            '<figure class="code" aria-label="a"><figcaption class="code-header"><span class="code',
        ),
        ({"numbered": True}, '<figure class="code numbered"><pre'),
        ({"numbered": True, "first_line": 41}, '<figure class="code numbered" style="--first-line:41"><pre'),
        ({"first_line": 41}, '<figure class="code"><pre'),
        ({"id": "a", "classes": ("wide",)}, '<figure id="a" class="code wide"><pre'),
        ({"fold": True}, '<details class="collapsible"><summary>Show code</summary><figure class="code">'),
        ({"fold": "A & B"}, '<details class="collapsible"><summary>A &amp; B</summary><figure class="code">'),
    ],
)
def test_figure_looks(look: dict[str, object], opening: str) -> None:
    html = figure("x\n", "", **look)
    assert html.startswith(opening)
    assert text_of(html).endswith("x\n")


def test_hostile_words_stay_text() -> None:
    hostile = 'py" onload=x><script>alert(1)</script>'
    html = figure("<script>\n", hostile, title=hostile, fold=hostile, id=hostile, classes=(hostile,))
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    assert tree.find(".//script") is None
    assert {name for node in tree.iter() for name in node.attrib} <= {
        *("aria-label", "class", "data-lang", "tabindex", "id")
    }


def test_whoever_renders_may_remember_pieces() -> None:
    asked: list[tuple[str, str, float]] = []

    def lex(source: str, alias: str, deadline_s: float) -> list[tuple[str, str]]:
        asked.append((source, alias, deadline_s))
        return [("k", source)]

    found = highlight("x = 1", "triton", deadline_s=2.0, max_line=100, lex=lex)
    assert found.lines == ('<span class="k">x = 1</span>',)
    assert (asked, found.problem) == ([("x = 1", "python", 2.0)], "")


def test_a_page_asks_the_highlighter_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(parsed: Parsed, tools: SiteAccess) -> Body:
        return render_body(parsed, replace(tools, lex_code=lambda source, alias, deadline_s: [("k", source)]))

    monkeypatch.setattr(check, "render_body", render)
    assert '<span class="k">x = 1</span>' in check.render("```python\nx = 1\n```\n").html


def lines_of_runs(pieces: list[Piece]) -> list[str]:
    """Reimplement `_lines` in a simple way: join neighbours of the same class, then split into lines."""
    lines = [""]
    for css, run in groupby(pieces, key=lambda piece: piece[0]):
        for number, part in enumerate("".join(text for _, text in run).split("\n")):
            html = escape(part, quote=False).replace("\r", "&#13;")
            if number:
                lines.append("")
            lines[-1] += f'<span class="{css}">{html}</span>' if css and html else html
    return lines


@given(st.lists(st.tuples(st.sampled_from(("", "k", "s")), st.text("a<&\n\r ", max_size=5)), max_size=8))
@examples(500)
def test_neighbours_of_one_class_share_a_span(pieces: list[Piece]) -> None:
    found = highlight("x", "python", deadline_s=1, max_line=9, lex=lambda *_: pieces)
    assert list(found.lines) == lines_of_runs(pieces)
