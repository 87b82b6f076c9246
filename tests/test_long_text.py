"""Long runs of text: optimizations do not change the page."""

from __future__ import annotations

from tests.check import render
from tests.rows import each_row

LONG = "word " * 100


@each_row(
    ("source", "html"),
    [
        (f"{LONG}https://example.org/a_b_c end", '<a href="https://example.org/a_b_c">'),
        (f"{'x' * 300}. https://example.org/a", '<a href="https://example.org/a">'),
        (f"{LONG}*em* {LONG}nope://x {LONG}[t](https://example.org/b)", "nope://x word word"),
        (f"{LONG}[{LONG}https://example.org/c](https://example.org/d)", "https://example.org/c</a>"),
        (f"{LONG}www.example.org/a-b.", '<a href="http://www.example.org/a-b">www.example.org/a-b</a>.'),
        (f"[^{'n' * 200}]\n\n[^{'n' * 200}]: Text", '<li id="fn-1">'),
    ],
)
def test_addresses_and_notes_far_from_the_start(source: str, html: str) -> None:
    assert html in render(source).html


def test_no_word_is_lost_before_an_address() -> None:
    words = " ".join(f"w{number}" for number in range(200))
    html = render(f"{words} https://example.org/ {words}").html
    assert html.count("w199 ") == 1 and html.startswith(f"<p>{words} <a ") and html.endswith(f"{words}</p>\n")
