"""Rows 15 and 16: text in front matter and settings stays text, wherever a site repeats it.

A site is built with harmless words and with hostile ones. All pages must have the same elements with the
same attributes, and all other files must still be valid in their format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from tests.page_checks import elements
from tests.site_files import build, put
from tests.test_sites import tree

PAYLOADS = (
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "</title></head><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '" onmouseover="alert(1)" x="',
    "]]></title><svg onload=alert(1)>",
    "--><!--<script>alert(1)</script>",
    "<!--<script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
)
FIELDS = (
    *("site title", "site description", "site author", "menu title"),
    *("title", "subtitle", "description", "author", "tag", "category", "series"),
    *(
        "caption",
        "alternative text",
        "heading",
        "link title",
        "callout title",
        "reference",
        "reference author",
    ),
)
PNG = (Path(__file__).parents[1] / "sites" / "blog" / "source/content/posts/bundle/red.png").read_bytes()


def quoted(text: str) -> str:
    """Quote the text as a YAML value."""
    return "'" + text.replace("'", "''") + "'"


def site(root: Path, field: str, words: str) -> Path:
    """Write a site with a post that has `words` in one field, or in all fields if `field` is empty."""

    def at(name: str) -> str:
        # Add the name of the field, because a header leaves out text that equals the page's title.
        return f"{words if field in (name, '') else 'harmless'} {name}"

    def markdown(name: str) -> str:
        # Escape punctuation: authors may write HTML in Markdown.
        return re.sub(r"[^\w\s]", lambda found: f"&#{ord(found[0])};", at(name))

    config = (
        f"title: {quoted(at('site title'))}\ndescription: {quoted(at('site description'))}\n"
        f"author: {quoted(at('site author'))}\nbase_url: https://example.org/b\n"
        f"menu:\n  - {{title: {quoted(at('menu title'))}, url: /posts/}}\n"
    )
    head = (
        f"---\ntitle: {quoted(at('title'))}\nsubtitle: {quoted(at('subtitle'))}\n"
        f"description: {quoted(at('description'))}\nauthor: {quoted(at('author'))}\ndate: 2026-01-01\n"
        f"tags: [{quoted(at('tag'))}]\ncategories: [{quoted(at('category'))}]\nslug: one\nimage: a.png\n"
        f"series: {quoted(at('series'))}\nreferences:\n"
        f"  - {{id: k, title: {quoted(at('reference'))}, author: {quoted(at('reference author'))}}}\n---\n"
    )
    body = (
        f'Text [@k].\n\n{{% img src="a.png" cap="{at("caption").replace(chr(34), chr(39))}" %}}\n\n'
        f"An ![{markdown('alternative text')}](a.png) inline.\n\n## {markdown('heading')} {{#here}}\n\n"
        f'A [link](other.md "{markdown("link title")}").\n\n> [!NOTE] {markdown("callout title")}\n> x\n'
    )
    other = "---\ntitle: Other\ndate: 2026-01-02\nseries: " + quoted(at("series")) + "\n---\n[one](one.md)\n"
    posts = {"content/posts/one.md": head + body, "content/posts/other.md": other}
    return put(root, {"blogsmith.yaml": config, "content/posts/a.png": PNG, **posts})


def shape(html: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return every element of a page with the names of its attributes. The pages have no formulas."""
    root = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    return [(tag, tuple(sorted(map(str, element.attrib)))) for tag, element in elements(root)]


def shapes(root: Path) -> Iterator[tuple[str, list[tuple[str, tuple[str, ...]]]]]:
    """Yield the path and shape of each page, with names of tags, categories and series replaced in paths."""
    for path, data in tree(root / "public", "*.html").items():
        depth = re.sub(r"^((?:tags|categories|series)/)[^/]+/index", r"\1*/index", path)
        yield depth, shape(data.decode())


def scripts(html: str) -> list[str]:
    """Return the JSON-LD data of the page's script elements."""
    return re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return the shapes of the pages of a harmless site."""
    root = site(tmp_path_factory.mktemp("harmless") / "s", "", "harmless")
    report = build(root)
    assert report.ok, report.diagnostics
    return dict(shapes(root))


def check(root: Path, words: str, harmless: dict[str, list[tuple[str, tuple[str, ...]]]]) -> None:
    """Assert that the pages have the same shape as on the harmless site, and that data files are valid."""
    report = build(root)
    assert report.ok, report.diagnostics
    found = dict(shapes(root))
    assert found == harmless
    for path, data in tree(root / "public").items():
        if path.endswith(".xml"):
            ElementTree.fromstring(data)
        if path.endswith(".json") and "manifest" not in path:
            json.loads(data)
        if path.endswith(".html"):
            for script in scripts(data.decode()):
                json.loads(script)
    assert "alert(1)" not in "".join(path for path in tree(root / "public"))


@pytest.mark.parametrize("words", PAYLOADS)
def test_row_15_markup_in_every_field_at_once_is_text(
    words: str, tmp_path: Path, harmless: dict[str, list[tuple[str, tuple[str, ...]]]]
) -> None:
    root = site(tmp_path / "s", "", words)
    check(root, words, harmless)
    page = (root / "public/posts/one/index.html").read_text("utf-8")
    title = html5lib.parse(page, namespaceHTMLElements=False).find("head/title")
    assert title is not None and title.text is not None
    assert words in title.text, "nothing of it is lost either"


@pytest.mark.long
@pytest.mark.parametrize("field", FIELDS)
def test_row_15_markup_in_one_field_is_text(
    field: str, tmp_path: Path, harmless: dict[str, list[tuple[str, tuple[str, ...]]]]
) -> None:
    check(site(tmp_path / "s", field, PAYLOADS[0]), PAYLOADS[0], harmless)


@pytest.mark.parametrize(
    "words", ["</script><script>alert(1)</script>", "</SCRIPT >x", "<!--<script>", "]]>"]
)
def test_row_16_data_cannot_end_its_script(words: str, tmp_path: Path) -> None:
    root = site(tmp_path / "s", "", words)
    assert build(root).ok
    page = (root / "public/posts/one/index.html").read_text("utf-8")
    found = scripts(page)
    assert found and not [script for script in found if "<" in script], "written as \\u003c"
    assert words in json.dumps(json.loads(found[0]), ensure_ascii=False)
    inside = [
        "".join(element.itertext())
        for tag, element in elements(html5lib.parse(page, namespaceHTMLElements=False))
        if tag == "script" and element.get("type") == "application/ld+json"
    ]
    assert inside == found, "a browser sees the script end where it was meant to"
