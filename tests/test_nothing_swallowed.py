"""A law: every construct between two things that may be refused, unclosed or dropped reaches the page.

Each inline construct is put between each pair of triggers. Its HTML must be on the page as it is without the
triggers, or a diagnostic must name the loss. `EXCEPTIONS` lists the triggers that take text by CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.check import render

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
    }
)
PAIRS = (
    *(("$5 ", " x"), ("US$5 ", " US$6"), ("($5) ", " ($6)"), ("-$5 ", " -$6"), ("$5/", " /$6")),
    *(("≈$5 ", "≈$6"), ("#$5 ", " #$6"), ("5$ ", " 6$"), ("'$5' ", " '$6'"), ("$1 ", " $2")),
    *(("$x ", " y"), ("a$ ", " y"), ("$HOME ", " $PATH"), ("$_ ", " $_"), ("\\$ ", " $")),
    *(("\\(x ", " y"), ("\\[x ", " y"), ("$$x ", " y"), ("$a$ ", " $b$"), ("$a$1 ", " $b$2")),
    *(("{= ", " y"), ("{@ ", " y"), ("{@eq ", "}"), ("== ", " b"), ("~~ ", " b"), ("::a ", " b")),
    *(("{", " }"), ("{.a ", "}"), ("[x]{ ", " }"), ("<x ", " y"), ("a < b ", " c > d"), ("@x ", " y")),
    *(("\\begin{align} ", " y"), ("\\begin{foo} ", " \\end{foo}"), ("\\textbf{ ", " }"), ("\\eqref ", " b")),
    *(("\\ref{a} ", " b"), ("^[ ", " ]"), ("( ", " )"), ('" ', ' "'), ("[a ", " b]"), ("[^1] ", " y")),
    *(("*a ", " y"), ("**a ", " y"), ("_a ", " y"), ("# ", " y"), ("- [ ] ", " y"), (": ", " y")),
    *(("> ", " y"), ("| ", " | y |"), ("1) ", " y"), ("a@b.cd ", " y"), ("www.a.b ", " y")),
    *(
        (":smile: ", " y"),
        ("&", " ;"),
        ("{{ x }} ", " y"),
        ("%% ", " %%"),
        ("+++ ", " +++"),
        ("--- ", " ---"),
    ),
)
EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("https://a.b/", " y"): "a bare link extends to the next space (GFM 6.9)",
        ("`` ` ", " ``x"): "code spans take precedence over other constructs (CommonMark 6.1)",
        ("<!-- x -->", " y"): "a line that starts with a comment is HTML (CommonMark 4.6)",
        ("\\ref{a ", " b}"): "the argument of a command is a label; `ref-undefined` names it",
        ("\\cite{k ", " }"): "the argument of a command is a list of keys; `citation-key` names them",
        ("“$x” ", " “$y”"): "two dollars around text are a formula (Pandoc); its error names the text",
    }
)
"""Pair that takes the text between its parts → the clause that requires it."""


def shown(before: str, construct: str, after: str) -> str:
    """Return the HTML of the paragraph with the construct, without the display and the notes."""
    html = render(f"{FRONT}{before}{construct}{after} zz{NOTE}", "").html
    return html.partition("</div>")[2].partition("<section")[0]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_every_construct_reaches_the_page(name: str) -> None:
    construct, expected = CONSTRUCTS[name]
    assert [pair for pair in PAIRS if expected not in shown(pair[0], construct, pair[1])] == []


@pytest.mark.parametrize("pair", EXCEPTIONS)
def test_exceptions_are_needed(pair: tuple[str, str]) -> None:
    lost = [
        name for name, (source, html) in CONSTRUCTS.items() if html not in shown(pair[0], source, pair[1])
    ]
    assert lost, "this pair is no exception any more"


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


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_cells_between_prices(name: str) -> None:
    construct, expected = CONSTRUCTS[name]
    html = render(f"{FRONT}| a | b | c |\n|---|---|---|\n| US$5 | {construct} | US$6 |{NOTE}", "").html
    assert html.count("<td>") == 3
    assert expected in html
