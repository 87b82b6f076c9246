"""A law: every construct between two things that may be refused, unclosed or dropped reaches the page.

Each inline construct is put between each pair of triggers. Its HTML must be on the page as it is without the
triggers, or a diagnostic must name the loss. `EXCEPTIONS` lists the triggers that take text by CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.check import render
from tests.rows import examples

FRONT = "---\ntitle: T\nreferences:\n  - {id: k, type: book, title: B}\n---\n$$x \\label{eq:x}$$\n\n"
NOTE = "\n\n[^1]: A note.\n"
CONSTRUCTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "bold": ("**bb**", "<strong>bb</strong>"),
        "link": ("[ll](https://a.b)", '<a href="https://a.b">ll</a>'),
        "code": ("`cc`", "<code>cc</code>"),
        "footnote": ("nn[^1]", 'class="footnote-ref"'),
        "HTML": ("<b>hh</b>", "<b>hh</b>"),
        "image": ("![ii](a.png)", "<img"),
        "formula": ("$m_1$", "<math"),
        "reference": ("{@eq:x}", 'class="xref"'),
        "entity": ("&copy;", "©"),
        "escape": ("\\*", "*"),
        "mark": ("==mm==", "<mark>mm</mark>"),
        "key": ("[[Ctrl]]", "<kbd>Ctrl</kbd>"),
        "citation": ("[@k]", "citation"),
        "abbreviation": ("::GG|hh::", '<abbr title="hh">GG</abbr>'),
        "shortcode": ('{% img src="a.png" cap="ss" %}', "<figcaption>ss"),
        "value": ("{= 1 + 1 =}", 'class="value'),
        "emphasis": ("*ee*", "<em>ee</em>"),
        "deleted": ("~~dd~~", "<del>dd</del>"),
        "URL in brackets": ("<https://x.y>", '<a href="https://x.y">'),
        "span": ("[ss]{.c}", '<span class="c">ss</span>'),
        "line break": ("a\\\nb", "<br>"),
    }
)
PAIRS = (
    # prices
    *(("$5 ", " x"), ("US$5 ", " US$6"), ("($5) ", " ($6)"), ("-$5 ", " -$6"), ("$5/", " /$6")),
    *(("≈$5 ", "≈$6"), ("#$5 ", " #$6"), ("5$ ", " 6$"), ("'$5' ", " '$6'"), ("$1 ", " $2")),
    *(("€5 ", " 6€"), ("5$-10$ ", " 3$"), ("\\$5 ", " \\$6"), ("$5\\$ ", " y"), ("#1 ", " #2")),
    # dollars that open or close nothing, variables of a shell
    *(("$x ", " y"), ("a$ ", " y"), ("x$", " $y"), ("$HOME ", " $PATH"), ("$_ ", " $_"), ("\\$ ", " $")),
    *(("${HOME} ", " ${PATH}"), ("$(ls) ", " $(pwd)"), ("$HOME/bin:$PATH ", " $?"), ("$@ ", " $#")),
    *(("\\(x ", " y"), ("\\[x ", " y"), ("$$x ", " y"), ("$a$ ", " $b$"), ("$a$1 ", " $b$2")),
    *(("`$x` ", " $y"), ("\\(x\\) ", " y"), ("\\[x\\] ", " y"), ("\\\\( ", " \\\\)"), ("«$x» ", " y")),
    # percent signs and comments
    *(("100% ", " 5%"), ("% ", " y"), ("a % ", " b"), ("\\% ", " y"), ("%% ", " %%"), ("{% ", " y")),
    *(("{# ", " #}"), ("{/* ", " */}"), ("<!-- ", " y"), ("a <!-- c --> ", " y"), ("a <!-- ", " y")),
    ("a <!-- c -- ", " y"),
    # braces
    *(("{= ", " y"), ("{=", " y"), ("{=x ", " =}"), ("=} ", " y"), ("{@ ", " y"), ("{@eq ", "}")),
    *(("{", " }"), ("{.a ", "}"), ("[x]{ ", " }"), ("{{ x }} ", " y"), ("{{< ", " >}}"), ("{: ", " }")),
    *(("{+ ", " +}"), ("{% raw ", " y")),
    # marks, keys, abbreviations
    *(("== ", " b"), ("= ", " ="), ("==> ", " <=="), ("=> ", " <="), ("~~ ", " b"), ("~ ", " ~")),
    *(("^ ", " ^"), ("H~2 ", " O~"), ("::a ", " b"), (":: ", " ::"), ("::: ", " :::"), ("++ ", " ++")),
    *((":smile: ", " y"), ("/ ", " /"), ("-- ", " --"), ("... ", " ..."), ("(c) ", " (r)")),
    # brackets
    *(("^[ ", " ]"), ("^[", " y"), ("( ", " )"), ('" ', ' "'), ("[a ", " b]"), ("[^1] ", " y")),
    *(("[^ ", " ]"), ("[@ ", " ]"), ("[@nobody ", " y"), ("![ ", " ]"), ("!( ", " )"), ("](x) ", " y")),
    *(("](", " )"), ("[x] ", " y"), ("[-] ", " y"), ("- [ ] ", " y")),
    # HTML and entities
    *(("<x ", " y"), ("a < b ", " c > d"), ("<b> ", " y"), ("</b> ", " y"), ("<3 ", " y"), ("<- ", " ->")),
    *(("<> ", " y"), ("<@ ", " >"), ("&", " ;"), ("&#x ", " y"), ("&lt; ", " &gt;")),
    # commands of LaTeX
    *(("\\begin{align} ", " y"), ("\\begin{foo} ", " \\end{foo}"), ("\\textbf{ ", " }")),
    *(("\\eqref ", " b"), ("\\ref{a} ", " b"), ("\\foo ", " y"), ("\\foo{ ", " }"), ("\\emph{ ", " }")),
    *(("\\begin{x} ", " y"), ("\\end{x} ", " y"), ("\\item ", " y"), ("\\cite{k} ", " y"), ("\\ ", " y")),
    *(("\\label{eq:q} ", " y"), ("\\\\ ", " y")),
    # delimiters of CommonMark and GFM
    *(("*a ", " y"), ("**a ", " y"), ("_a ", " y"), ("*** ", " y"), ("** ", " **"), ("_ ", " _")),
    *(("a_b ", " c_d"), ("a*b ", " c*d"), ("# ", " y"), (": ", " y"), ("> ", " y"), ("| ", " | y |")),
    *(("| ", " y"), ("a | b ", " c"), ("1) ", " y"), ("+++ ", " +++"), ("--- ", " ---"), ("@x ", " y")),
    *(("a@b.cd ", " y"), ("@a@b ", " y"), ("www.a.b ", " y"), ("\u00a0", " y"), ("\u200b", " y")),
)
EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("https://a.b/", " y"): "a bare link extends to the next space (GFM 6.9)",
        ("`` ` ", " ``x"): "code spans take precedence over other constructs (CommonMark 6.1)",
        ("<!-- x -->", " y"): "a line that starts with a comment is HTML (CommonMark 4.6)",
        ("\\ref{a ", " b}"): "the argument of a command is a label; `ref-undefined` names it",
        ("\\cite{k ", " }"): "the argument of a command is a list of keys; `citation-key` names them",
        ("“$x” ", " “$y”"): "two dollars around text are a formula (Pandoc); its error names the text",
        (
            "$x",
            " y$z",
        ): "two dollars around text are a formula (Pandoc); `dollar-doubtful` names Markdown in it",
        ("$$ ", " $$$"): "two dollars twice around text are a display; `math-in-sentence` names it",
        ("[[ ", " ]]"): "the text of a key is literal, as that of code (our syntax)",
        ("[[a|b ", " ]]"): "the text of a wiki link is a title; `foreign-syntax` names it",
        ("{% x ", " %}"): "the arguments of a shortcode are its own; `shortcode-unknown` names it",
        ("` ", " y"): "the first two runs of equal length delimit code (CommonMark 6.1)",
        ("``` ", " y"): "the line names the language of a fence (CommonMark 4.5); `fence-open` names it",
        ("<div> ", " y"): "a line that starts with a block element is HTML (CommonMark 4.6)",
        ("\t", " y"): "a line that starts with a tab is code (CommonMark 4.4)",
        ("!", " y"): "an exclamation mark before a link makes an image (CommonMark 6.4)",
    }
)
"""Pair that takes the text between its parts → the clause that requires it."""


def shown(before: str, construct: str, after: str) -> str:
    """Return the HTML of the paragraph with the construct, without the display and the notes."""
    html = render(f"{FRONT}{before}{construct}{after} zz{NOTE}", "").html
    return html.partition("</div>")[2].partition("<section")[0]


def lost_between(name: str, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    construct, expected = CONSTRUCTS[name]
    return [pair for pair in pairs if expected not in shown(pair[0], construct, pair[1])]


def pairs_around(name: str) -> list[tuple[str, str]]:
    """Return the pairs that the construct can be between."""
    if name == "shortcode":
        # an open call extends to the next `%}`, and is an error
        return [pair for pair in PAIRS if not pair[0].startswith("{%")]
    return [pair for pair in PAIRS if not (name == "line break" and pair[0] in LINES)]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_every_construct_reaches_the_page(name: str) -> None:
    assert lost_between(name, pairs_around(name)[list(CONSTRUCTS).index(name) % 4 :: 4]) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CONSTRUCTS)
def test_every_construct_between_every_pair(name: str) -> None:
    assert lost_between(name, pairs_around(name)) == []


@pytest.mark.parametrize("pair", EXCEPTIONS)
def test_exceptions_are_needed(pair: tuple[str, str]) -> None:
    lost = [
        name for name, (source, html) in CONSTRUCTS.items() if html not in shown(pair[0], source, pair[1])
    ]
    assert lost, "this pair is no exception any more"


LINES = frozenset(("# ",))
"""Triggers after which the text is one line: a line break ends it."""


_AMOUNTS = st.sampled_from(["$5", "US$5", "($12)", "~$6", "$1,000", "€3", "$2.50"])
_WORDS = st.sampled_from(["and", "to", "or", "– ", "plus (net)", "per unit:", "/"])


@given(
    st.lists(st.tuples(_AMOUNTS, _WORDS, st.sampled_from(sorted(CONSTRUCTS))), min_size=1, max_size=5),
    _AMOUNTS,
)
def test_any_row_of_prices(parts: list[tuple[str, str, str]], last: str) -> None:
    text = " ".join(f"{amount} {word} {CONSTRUCTS[name][0]}" for amount, word, name in parts)
    html = shown("", text, f" {last}")
    plain = re.sub(r"<math.*?</math>", "<math", html, flags=re.DOTALL)
    for amount, _, name in parts:
        assert amount in plain
        assert CONSTRUCTS[name][1] in html


UNRELATED = frozenset(("citation-unused", "footnote-unused", "label-unused", "image-remote"))
"""Codes that name nothing of the sentence."""
DELIMITERS = (
    *(("`", "`"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("{=", "=}"), ("<!--", "-->"), ("<x", ">")),
    ("[", "]("),
)
"""Delimiters that take the text between them, by another clause than that of a pair."""


@given(st.lists(st.sampled_from(PAIRS), min_size=2, max_size=3), st.sampled_from(sorted(CONSTRUCTS)))
@examples(1000)
def test_triggers_of_several_pairs(pairs: list[tuple[str, str]], name: str) -> None:
    """The text before is of one pair, the text after of another: they may open and close each other."""
    construct, expected = CONSTRUCTS[name]
    before, after = f"a {pairs[0][0]}", f"{pairs[-1][1]} {pairs[1][0]}"
    if any(first in before and last in after for first, last in DELIMITERS):
        return
    rendered, plain = (render(f"{FRONT}{before}{text}{after} zz{NOTE}", "") for text in (construct, "ww"))
    # a diagnostic about a trigger does not name the construct
    named = {one.code for one in rendered.diagnostics} - {one.code for one in plain.diagnostics} - UNRELATED
    assert expected in rendered.html or named, rendered.html


@pytest.mark.parametrize("name", sorted({*CONSTRUCTS} - {"abbreviation", "line break"}))
def test_cells_between_prices(name: str) -> None:
    construct, expected = CONSTRUCTS[name]
    html = render(f"{FRONT}| a | b | c |\n|---|---|---|\n| US$5 | {construct} | US$6 |{NOTE}", "").html
    assert html.count("<td>") == 3
    assert expected in html
