"""The scanner of HTML: its tags and text, what it skips, and its time on hostile input."""

from __future__ import annotations

import re
import time

from blogsmith.base.html_tags import Tag, find_end_tag, find_visible, read_text, remove_tags, scan_html
from tests.rows import each_row


def shown(html: str, *text_only: str) -> list[object]:
    """Return the parts of HTML: tags as tuples, text as it is."""
    parts = list(scan_html(html, text_only) if text_only else scan_html(html))
    for part in parts:
        if isinstance(part, Tag):
            assert html[part.start] == "<"
            assert html[part.end - 1] == ">"
    return [
        part
        if isinstance(part, str)
        else f"/{part.name}"
        if part.is_end
        else (part.name, dict(part.attributes))
        for part in parts
    ]


@each_row(
    ("html", "parts"),
    [
        ("a &lt; b", ["a < b"]),
        ("a < b", ["a ", "<", " b"]),
        ("<p>a</p>", [("p", {}), "a", "/p"]),
        ("<A HREF='x>y' id=z z>", [("a", {"href": "x>y", "id": "z", "z": ""})]),
        ('<a b="1" B="2" c="&amp;"/>', [("a", {"b": "1", "c": "&"})]),
        ("a<!-- <b> -->c<!doctype x><?d?>e", ["a", "c", "e"]),
        ("<!-- <b>", []),
        ("<script>'<b>'</script >c", [("script", {}), "/script", "c"]),
        ("<style>a</p>", [("style", {})]),
        ("<title><b></title>", [("title", {}), ("b", {}), "/title"]),
        ('<b c="', ["<", 'b c="']),
        ("</b c>", ["/b"]),
    ],
)
def test_scan(html: str, parts: list[object]) -> None:
    assert shown(html) == parts


def test_content_that_is_text() -> None:
    assert shown("<title><b></title><script><b></script>", "title") == [
        ("title", {}),
        "/title",
        ("script", {}),
        ("b", {}),
        "/script",
    ]


def test_only_visible_tags_are_found() -> None:
    html = "<b1><!-- <b2> --><script src=<b3>><b4></script><b5><textarea><b6></textarea><b7><!--<b8>"
    assert [found[0] for found in find_visible(re.compile(r"<b\d"), html)] == ["<b1", "<b5", "<b7"]


def test_end_tags() -> None:
    html = "<p></pre></P >"
    assert (find_end_tag(html, "p", 0), find_end_tag(html, "b", 0)) == (9, len(html))


def test_text_of_html() -> None:
    assert remove_tags("<b>a</b> &lt; c") == "a &lt; c"
    assert read_text("<b>a</b> &lt; c") == "a < c"


@each_row("part", ["<a ", '<a "', "<a b='", "<!--", "</", "<script>", "<a b=c ", "&lt;", "<title/>"])
def test_hostile_html_takes_linear_time(part: str) -> None:
    started = time.process_time()
    list(scan_html(part * (200_000 // len(part))))
    assert time.process_time() - started < 2
