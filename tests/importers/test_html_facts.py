"""Facts of HTML: markup that colors code and the formatting of the source make no difference."""

from __future__ import annotations

import pytest

from blogsmith.importers.verify.facts import read_facts, split_words

PLAIN = "<h2>A</h2><pre><code>import a\nb(1)</code></pre><p>see <code>a(b)</code> for $x$</p>"


@pytest.mark.parametrize(
    ("written", "colored"),
    [
        ("import a", '<span class="kn">import</span><span class="w"> </span><span class="nn">a</span>'),
        ("b(1)", '<span class="line"><span class="n">b</span><span class="p">(</span>1)</span>'),
        ("b(1)", '<span class="line"><span class="cl"><span class="nx">b</span>(1)</span></span>'),
        ("a(b)", '<span class="n">a</span><span class="p">(</span><span class="n">b</span>)'),
        ("import a", '<span class="gl">12</span>import a'),
        ("import a", '<span class="lineno">1 </span><span class="k">import</span> a'),
        (
            "import a",
            '<span class="a"><span class="b"><span class="c"><span>import</span> a</span></span></span>',
        ),
    ],
)
def test_colors_of_code_are_no_facts(written: str, colored: str) -> None:
    assert written in PLAIN
    assert read_facts(PLAIN.replace(written, colored)) == read_facts(PLAIN)


def test_brackets_in_two_colors_open_no_formula() -> None:
    html = r'<p><code><span class="o">\</span><span class="p">(</span>x\)</code></p>'
    assert read_facts(html).counter("formulas").total() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't, don’t; it's 3 o'clock_now '", "don't don't it's 3 o'clock now"),
        ("Straße ΣΊΣΥΦΟΣ e\u0301", "strasse σίσυφοσ é"),
        ("它是 2 次", "它 是 2 次"),
        ("a%20b", "a b"),
        ("K\N{KELVIN SIGN} x_1", "kk x 1"),
    ],
)
def test_words_are_letters_and_digits_without_case(text: str, words: str) -> None:
    assert split_words(text) == words.split()


def test_a_text_of_ascii_has_the_words_that_it_has_beside_others() -> None:
    text = "".join(map(chr, range(32, 127))) + " It's x_1, 'quoted' a''b -- 3.5%"
    assert split_words(f"{text} é") == [*split_words(text), "é"]
