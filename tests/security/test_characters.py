"""Row 41: invisible characters are removed where HTML forbids them, and reported where they may mislead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.characters import find_forbidden, find_hidden, remove_forbidden
from blogsmith.base.diagnostics.format import format_diagnostic, printable
from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.config.load import parse_config
from blogsmith.preview.events.publisher import problems_event
from tests.check import page_results, render, render_with
from tests.preview_sites import built as written
from tests.preview_sites import new_line, outputs, problems, settled
from tests.rows import each_row
from tests.site_files import build, printed

FORBIDDEN = "\x01\x08\x0b\x0e\x1b\x1f\x7f\x80\x85\x9f\ufdd0\ufdef\ufffe\uffff\U0001fffe\U0010ffff"
"""The ends of each range that HTML forbids. NUL is absent because a file with NUL is rejected."""
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ZERO_WIDTH = "\u00ad\u200b\u2060\ufeff\u3164"
HEAD = "---\ntitle: T\ndate: 2026-01-01\n---\n"
LEGITIMATE = {
    "Hebrew with isolates": "שלום \u2067abc\u2069 עולם\u200f!",
    "Arabic with marks": "مرحبا\u061c (x)\u200e",
    "Persian with ZWNJ": "می\u200cخواهم کتاب\u200cها",
    "Hindi with ZWJ and ZWNJ": "क्\u200dष क्\u200cष",
    "emoji with ZWJ": "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 🏴\u200d☠\ufe0f",
    "a flag made of tags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
}


def hidden(found: tuple[Diagnostic, ...]) -> list[str]:
    """Return `line:column message` of each warning about hidden characters."""
    return [
        f"{one.place.line}:{one.place.column} {one.message}"
        for one in found
        if one.code == "hidden-character" and one.place and one.severity == "warning"
    ]


PLACES = {
    "text": "a{}b",
    "heading": "## a{}b",
    "emphasis": "*a{}b*",
    "code span": "`a{}b`",
    "fence": "```text\na{}b\n```",
    "caption of a fence": '```python title="a{}b"\nx\n```',
    "formula": "$x{}y$",
    "display": "$$\nx{}y\n$$",
    "link": "[a{}b](https://example.org/a{}b)",
    "image": "![a{}b](a.png)",
    "HTML": '<b title="a{}b">a{}b</b>',
    "shortcode": '{{% img src="a.png" cap="a{}b" %}}',
    "footnote": "a[^1]\n\n[^1]: a{}b",
    "callout": "> [!NOTE] a{}b\n> text",
    "table": "| a{}b |\n|---|\n| x |",
    "heading id": "## a {{#a{}b}}",
}


@each_row("place", PLACES)
def test_row_41_what_html_forbids_is_reported_and_left_out(place: str) -> None:
    plain = render(HEAD + PLACES[place].format(*["", ""]))
    for char in FORBIDDEN:
        rendered = render(HEAD + PLACES[place].format(char, char))
        assert rendered.html == plain.html
        assert any(
            f"U+{ord(char):04X} is not allowed in pages" in line for line in hidden(rendered.diagnostics)
        )


def test_row_41_the_report_names_the_place() -> None:
    found = render(f"{HEAD}one\n\ntwo\x1b[31m red\x7f\n").diagnostics
    assert hidden(found) == ["7:4 character U+001B is not allowed in pages and is removed"]
    text = format_diagnostic(found[0], color=False)
    assert "    7 | two<U+001B>[31m red<U+007F>" in text and "      |    ^^^^" in text


@each_row("key", ["title", "tags", "description", "authors", "slug"])
@each_row("char", ["\x1b", "\x7f", "\ufffe", "\x85"])
def test_row_41_front_matter_with_controls_is_refused(key: str, char: str) -> None:
    raw = render(f"---\n{key}: a{char}b\n---\ntext\n")
    escaped = render(f'---\n{key}: "a\\u{ord(char):04x}b"\n---\ntext\n')
    for rendered, code in ((raw, "yaml-syntax"), (escaped, "yaml-escape")):
        assert code in [one.code for one in rendered.diagnostics if one.severity == "error"]


OUTPUTS = {
    "stdout": {"stdout": FORBIDDEN},
    "error": {"error": f"ValueError: {FORBIDDEN}"},
    "HTML": {"value": {"text/html": f"<p title='{FORBIDDEN}'>a{FORBIDDEN}</p>"}},
    "LaTeX": {"value": {"text/latex": f"$x {FORBIDDEN}$"}},
    "text": {"value": {"text/plain": f"a{FORBIDDEN}\ud800"}},
}


@each_row("kind", OUTPUTS)
def test_row_41_outputs_of_cells(kind: str) -> None:
    results = page_results(json.dumps({"cells": [{"outputs": [OUTPUTS[kind]]}]}))
    shown = render_with(f"{HEAD}```{{python}}\n1\n```\n", results).html
    assert 'class="output' in shown
    assert find_forbidden(shown) is None


def site_with(root: Path, text: str) -> Path:
    """Write a site with one post and feeds."""
    (root / "content/posts").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: T\nbase_url: https://example.org\n", "utf-8")
    (root / "content/posts/a.md").write_text(text, "utf-8")
    return root


def test_row_41_pages_and_feeds_are_valid(tmp_path: Path) -> None:
    body = "\n\n".join(form.format(FORBIDDEN, FORBIDDEN) for name, form in PLACES.items() if name != "image")
    body = body.replace('{% img src="a.png"', '{% raw %}{% endraw %} {# img src="a.png"')
    root = site_with(tmp_path, HEAD + body + "\n")
    report = build(root)
    assert report.ok, printed(report)
    for file in (root / "public").rglob("*"):
        if file.suffix in (".html", ".json", ".xml"):
            assert find_forbidden(file.read_text("utf-8")) is None, file
        if file.suffix == ".html":
            html5lib.HTMLParser(strict=True).parse(file.read_text("utf-8"))
    feed = json.loads((root / "public/feed.json").read_bytes())
    assert find_forbidden(feed["items"][0]["content_html"]) is None
    ElementTree.fromstring((root / "public/atom.xml").read_bytes())


def test_row_41_the_preview_gives_the_same(tmp_path: Path) -> None:
    root = site_with(tmp_path, f"{HEAD}a\x1bb `c\u202ed` $e\u2066f$\n")
    report = build(root)
    present = settled(new_line(root))
    assert outputs(present) == written(root / "public")
    assert set(problems(present)) == set(report.diagnostics) and len(report.diagnostics) == 3


def test_row_41_a_title_made_from_a_file_name(tmp_path: Path) -> None:
    root = site_with(tmp_path, HEAD)
    (root / "content/posts/b\x1bc.md").write_text("---\nslug: x\n---\ntext\n", "utf-8")
    report = build(root)
    assert report.ok, printed(report)
    assert "Bc" in (root / "public/posts/x/index.html").read_text("utf-8")
    assert find_forbidden((root / "public/posts/x/index.html").read_text("utf-8")) is None


def test_row_41_names_of_files_are_told(tmp_path: Path) -> None:
    root = site_with(tmp_path, HEAD)
    for name in ("a\u202egnp.txt", "b\x1bc.txt", "می\u200cخواهم.txt", "שלום.txt"):
        (root / "content/posts" / name).write_text("x", "utf-8")
    report = build(root)
    told = [(one.path.rpartition("/")[2], one.code) for one in report.diagnostics]
    assert told == [("a\u202egnp.txt", "hidden-character"), ("b\x1bc.txt", "hidden-character")]
    assert r"a\u202egnp.txt: warning" in printed(report)


TRAPS = {
    "code": ("```python\nx = 1 {}\n```", "6:7"),
    "indented code": ("    x = 1 {}", "5:11"),
    "code in a list": ("- ```python\n  x = 1 {}\n  ```", "6:9"),
    "code span": ("see `x{}y`", "5:7"),
    "cell": ("```{{python}}\nx = 1 # {}\n```", "6:9"),
    "option of a cell": ("```{{python}}\n#| claim: a{}b\nTrue\n```", "6:12"),
    "formula": ("see $x{}y$", "5:7"),
    "formula in a table": ("| $x{}y$ |\n|---|\n| a |", "5:5"),
    "display": ("$$\nx{}y\n$$", "6:2"),
    "display in a list": ("- $$\n  x{}y\n  $$", "6:4"),
    "shortcode": ('{{% img src="a.png" cap="x{}y" %}}', "5:26"),
    "shortcode in a line": ('a {{% no-such x="x{}y" %}} b', "5:18"),
}


@each_row("trap", TRAPS)
@each_row("char", [*BIDI, *ZERO_WIDTH], ids=lambda char: f"U+{ord(char):04X}")
def test_row_41_traps_are_flagged(trap: str, char: str) -> None:
    form, place = TRAPS[trap]
    found = hidden(render(HEAD + form.format(char) + "\n").diagnostics)
    what = trap.split()[0].replace("display", "formula").replace("indented", "code")
    what = {"cell": "code", "option": "code"}.get(what, what)
    assert found == [f"{place} invisible character U+{ord(char):04X} in this {what}"]


def test_row_41_formulas_of_titles_and_macros() -> None:
    texts = "title: T $a\u202eb$\ndescription: D $c\u2066d$\n"
    others = "math: {macros: {'\\x': 'y\u200bz'}}\n# e\u2069\n"
    found = hidden(render(f"---\n{texts}{others}---\ntext $\\x$\n").diagnostics)
    assert sorted(line.split()[0] for line in found) == ["2:12", "3:18", "4:25", "5:4"]


@each_row("char", BIDI)
def test_row_41_settings(char: str) -> None:
    text = f"title: שלום{char}\nmath:\n  macros: {{'\\x': 'a{char}b'}} # x{char}\noutput: public # {char}\n"
    found = hidden(parse_config(text).diagnostics)
    assert [line.split()[0] for line in found] == ["3:20", "4:18"]


@each_row("words", LEGITIMATE)
def test_row_41_languages_are_left_alone(words: str) -> None:
    text = LEGITIMATE[words]
    rendered = render(
        f"---\ntitle: {text}\ntags: ['{text}']\n---\n{text} *{text}*\n\n## {text}\n\n> {text}\n"
    )
    assert hidden(rendered.diagnostics) == []
    assert text in rendered.html


@pytest.mark.parametrize("words", [name for name in LEGITIMATE if "ZW" in name or "tags" in name])
def test_row_41_words_and_emoji_may_stand_in_code(words: str) -> None:
    rendered = render(f"{HEAD}```python\nx = '{LEGITIMATE[words]}'\n```\n\n`{LEGITIMATE[words]}`\n")
    assert hidden(rendered.diagnostics) == []


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_row_41_a_joiner_in_a_name_is_flagged(joiner: str) -> None:
    found = render(f"{HEAD}```python\nis_ad{joiner}min = True\n```\n").diagnostics
    assert hidden(found) == [f"6:6 invisible character U+{ord(joiner):04X} in this code"]
    assert f"is_ad<U+{ord(joiner):04X}>min" in format_diagnostic(found[0], color=False)


@each_row("char", [*BIDI, *ZERO_WIDTH, *FORBIDDEN, "\u2028", "\x9b"])
def test_row_41_messages_show_what_is_there(char: str) -> None:
    line = f"x{char}y = 漢{char}z"
    found = Diagnostic("x", f"unknown {char}", f"content/a{char}.md", Place(1, 9), line, f"write {char}")
    text = format_diagnostic(found, color=False)
    assert char not in text
    _, quoted, caret, _ = text.split("\n")
    # The caret is below the z: 漢 takes two columns of a terminal.
    assert quoted.index("z") + 1 == caret.index("^")
    assert quoted.count(f"<U+{ord(char):04X}>") == 2
    event: Mapping[str, Any] = problems_event([found], [], None)
    (item,) = event["items"]
    assert all(char not in str(item[name]) for name in ("where", "message", "text"))


@given(st.text())
def test_nothing_printed_can_hide_or_reorder(text: str) -> None:
    shown = printable(text)
    assert find_forbidden(shown) is None and find_hidden(shown) is None
    assert not any(char in shown for char in BIDI)


@given(st.text(alphabet=st.characters() | st.sampled_from(FORBIDDEN + "\ud800ab")))
def test_nothing_forbidden_is_left(text: str) -> None:
    clean = remove_forbidden(text)
    assert find_forbidden(clean) is None
    assert (clean == text) is (find_forbidden(text) is None)


def test_each_forbidden_character_is_found_in_any_text() -> None:
    chars = [*range(0x09), 0x0B, *range(0x0E, 0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]
    chars += [
        *range(0xFDD0, 0xFDF0),
        *(plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)),
    ]
    for code in chars:
        for text in (f"a{chr(code)}b", f"é\u00bf{chr(code)}𝑥"):
            found = find_forbidden(text)
            assert found is not None and found[0] == chr(code)
            assert remove_forbidden(text) == text.replace(chr(code), "")
    for text in (
        "a\tb\n\r\x0c",
        "\u00a0\u00bf\u00ff",
        "\uff5e\ufdef"[:1],
        "\U0001f3f4\U0001ffbf",
        "\ufe0f\uffbf",
    ):
        assert find_forbidden(text) is None
