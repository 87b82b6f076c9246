"""No page contains an unclosed comment, or an element that swallows the rest.

HTML that never ends is put into every place of a post, of a site and of results of cells. Then a browser's
parser must find the footer and the navigation of the theme where they belong, and the text after the trigger
must be visible.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.model.names import name_set
from tests.check import render
from tests.rows import examples
from tests.site_files import build, printed, put

TRIGGERS = (
    *("<!-- x", "<!--", "<!-->", "<!--->", "<!-- a --!>", "<![CDATA[ x", "<?php x", "<!DOCTYPE x", "<!X y"),
    *("<details>", "<summary>", "<script>", "<style>", "<textarea>", "<textarea/>", "<title>", "<template>"),
    *("<select>", "<noscript>", "<iframe>", "<object>", "<dialog>", "<plaintext>", "<xmp>", "<noembed>"),
    *("<noframes>", "<video>", "<audio>", "<canvas>", "<svg>", "<math>", "<svg><title>", "<svg><style>"),
    *("<svg><foreignObject>", "<math><mtext>", "<script><!--", "<script><!-- <script>", "<DETAILS>"),
    *("<div>", "<div hidden>", '<div style="display:none">', "<span hidden>", "<table>", "<table><tr><td>"),
    *('<a href="x>', '<p title="x', "<b", "<b>", "<i><b>", "<a href='#'>", "<span>", "<font>", "<button>"),
    *("<form>", "<ul>", "<li>", "<aside>", "<footer>", "<section>", "<h2>", "<p>", "<pre>", "<blockquote>"),
    *("<figure>", "<dl>", "<tr>", "<col>", "<caption>", "<label>", "<center>", "<ruby>", "<option>"),
    *("</div>", "</article>", "</body>", "</html>", "</main>", "</section>", "</p>", "</td>", "</table>"),
    *("</li>", "</ul>", "</b>", "</span>", "</aside>", "</details>", "<frameset>", "<body>"),
    *("<html>", "<head>", "<input type=hidden>", "-->", "]]>", "<div><select></div>", "<ul><table></ul>"),
)
PLACES: Mapping[str, str] = MappingProxyType(
    {
        "paragraph": "{} word.",
        "line of a paragraph": "text\n{}\nword",
        "block": "{}",
        "block before text": "{}\n\nword",
        "heading": "## {} word",
        "list": "- {} word\n- second",
        "block in a list": "- a\n\n  {}\n",
        "quotation": "> {} word",
        "title of a callout": "> [!NOTE] {} t\n> body",
        "callout": "> [!NOTE]\n> {} word",
        "folded callout": "> [!NOTE]- T\n> {}",
        "cell": "| a | b |\n|---|---|\n| {} | word |",
        "header": "| {} | b |\n|---|---|\n| c | word |",
        "caption of a table": "| a |\n|---|\n| b |\n: {} caption",
        "caption of an image": "![a](a.png '{} caption')",
        "alternative text": "![{} alt](a.png)",
        "footnote": "x[^1]\n\n[^1]: {} word",
        "definition": "term\n: {} word",
        "term": "{}\n: word",
        "collapsible": '<div class="collapsible" data-label="L">\n{}\n</div>',
        "tab": '<div class="tabs">\n\n=== "A"\n\n    {}\n</div>',
        "strong": "**{} word**",
        "link": "[{} word](#last)",
        "margin": "a[{} w]{{.margin}}",
        "mark": "=={} w==",
        "abbreviation": "::{}|w::",
        "HTML block": "<div>\n{}\n</div>",
        "Markdown in HTML": '<div markdown="1">\n\n{} word\n\n</div>',
        "HTML paragraph": "<p>{} word</p>",
        "HTML in a line": "a <b>{} w</b> c",
        "HTML figure": "<figure>\n{}\n<figcaption>c</figcaption>\n</figure>",
        "beside a formula": "<div>\n$x$ {} $y$\n</div>",
        "shortcode": '{{% include img.html src="a.png" cap="{} c" %}}',
        "caption of code": '```python cap="{}"\nx\n```',
        "code": "```html\n{}\n```",
        "code span": "`` {} ``",
        "gallery": "<div class=\"gallery\" data-caption='{}'>\n![a](a.png)\n![b](b.png)\n</div>",
    }
)
"""Name of a place → Markdown with a trigger there."""
_UNSEEN = name_set(
    "script style template title textarea noscript iframe select object noembed noframes xmp plaintext "
    "dialog details canvas audio video datalist svg math"
)
_CONTENT = "html/body/main/article/div"


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"


def path_to(element: Element, parents: Mapping[Element, Element]) -> str:
    """Return the names of the elements from the root to `element`."""
    names = [_name(element)]
    while element in parents:
        element = parents[element]
        names.append(_name(element))
    return "/".join(reversed(names))


def visible_text(element: Element) -> str:
    """Return the text that readers see without a click."""
    hidden = "hidden" in element.attrib or "display:none" in element.get("style", "").replace(" ", "")
    if not isinstance(element.tag, str) or hidden or _name(element) in _UNSEEN:
        return ""
    return (element.text or "") + "".join(visible_text(child) + (child.tail or "") for child in element)


def landmark_faults(content: str) -> list[str]:
    """Return landmarks of a theme that are not where they belong after `content`, and text that is lost."""
    page = (
        "<!DOCTYPE html><html lang=en><head><title>t</title></head><body><header><nav>n</nav></header><main>"
        f'<article><div id="page-content">{content}</div></article><nav id="page-nav">x</nav></main>'
        '<footer id="page-footer">f</footer></body></html>'
    )
    tree = html5lib.parse(page, treebuilder="etree")
    parents = {child: parent for parent in tree.iter() for child in parent}
    found = {element.get("id"): element for element in tree.iter()}
    expected = {"page-content": _CONTENT, "page-nav": "html/body/main/nav", "page-footer": "html/body/footer"}
    faults = [
        f"{name} in {path_to(found[name], parents) if name in found else 'nothing'}"
        for name, path in expected.items()
        if name not in found or path_to(found[name], parents) != path
    ]
    text = visible_text(found["page-content"]) if "page-content" in found else ""
    return faults + ([] if "Last words" in text else ["the last words are hidden"])


def faults_of(place: str, triggers: list[str]) -> list[str]:
    text = PLACES[place].format(" ".join(triggers))
    rendered = render(f"---\ntitle: T\n---\nFirst words.\n\n{text}\n\nLast words.\n\n## Last\n")
    return landmark_faults(rendered.html)


@pytest.mark.parametrize("place", PLACES)
def test_a_fifth_of_the_triggers(place: str) -> None:
    first = sorted(PLACES).index(place) % 5
    assert [one for one in TRIGGERS[first::5] if faults_of(place, [one])] == []


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_each_trigger(place: str) -> None:
    assert [one for one in TRIGGERS if faults_of(place, [one])] == []


@given(st.sampled_from(sorted(PLACES)), st.lists(st.sampled_from(TRIGGERS), min_size=2, max_size=4))
@examples(400)
def test_several_triggers(place: str, triggers: list[str]) -> None:
    assert faults_of(place, triggers) == []


OUTPUTS = (
    *({"value": {"text/html": "<p>{}</p>"}}, {"value": {"text/html": "<table><tr><td>{}</td></tr></table>"}}),
    *({"display": {"text/markdown": "{} *word*"}}, {"display": {"text/latex": "$x$ {}"}}),
    *({"display": {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'>{}</svg>"}}, {"stdout": "{}"}),
    *({"stderr": "{}"}, {"value": {"text/plain": "{}"}}, {"error": {"name": "E", "message": "{}"}}),
)


@pytest.mark.parametrize("output", OUTPUTS, ids=str)
def test_results_of_cells(output: Mapping[str, object]) -> None:
    lost = []
    for trigger in TRIGGERS[::4]:
        filled = json.dumps(output).replace("{}", json.dumps(trigger)[1:-1])
        results = f'=== results\n{{"cells": [{{"outputs": [{filled}]}}]}}\n===\n'
        rendered = render(f"{results}First.\n\n```{{python}}\n1\n```\n\nLast words.\n")
        lost += [trigger] * bool(landmark_faults(rendered.html))
    assert lost == []


SITE = """\
title: {0}
description: {0}
base_url: https://example.org
author: {0}
menu: [{{title: {0}, url: /posts/}}]
"""
POST = """\
---
title: {0}
subtitle: {0}
description: {0}
date: 2026-03-01
tags: [{1}]
series: {1}
authors: [{0}]
references:
  - {{id: k, type: book, title: {0}, author: {0}, year: 2020, publisher: {0}}}
---

First words [@k].

Last words.
"""
_LANDMARKS = frozenset(("header", "nav", "main", "footer", "article"))


def built_pages(root: Path, texts: list[str]) -> dict[str, bytes]:
    """Return the files of a site with a post for each text, which is in all fields of its front matter."""
    put(root, {"blogsmith.yaml": SITE.format(json.dumps(" ".join(texts)))})
    for number, text in enumerate(texts):
        # two spellings of a term would be a warning, not a fault
        values = json.dumps(f"{text} title"), json.dumps(f"term {number} {text}")
        put(root, {f"content/posts/trigger-{number}.md": POST.format(*values)})
    report = build(root)
    assert report.ok, printed(report)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "public").rglob("*.*ml")}


def landmarks(page: bytes) -> set[str]:
    tree = html5lib.parse(page, treebuilder="etree")
    parents = {child: parent for parent in tree.iter() for child in parent}
    return {path_to(one, parents) for one in tree.iter() if _name(one) in _LANDMARKS}


def test_titles_settings_and_feeds(tmp_path: Path) -> None:
    """Lists, terms and feeds show the fields too."""
    plain = built_pages(tmp_path / "plain", ["x"] * len(TRIGGERS[::8]))
    found = built_pages(tmp_path / "found", list(TRIGGERS[::8]))
    expected = {
        path for data in plain.values() if data[:9].lower() == b"<!doctype" for path in landmarks(data)
    }
    for path, data in found.items():
        if path.endswith(".html") and data[:9].lower() == b"<!doctype":
            assert landmarks(data) <= expected, path
            assert "footer" in " ".join(landmarks(data)), path
        if path.startswith("public/posts/trigger-") and path.endswith("/index.html"):
            tree = html5lib.parse(data, treebuilder="etree")
            assert "Last words" in visible_text(tree), path
        elif path.endswith(".xml"):
            ElementTree.fromstring(data)
