"""The policy of pages in a browser: injected content has no effect, intended content works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page_checks import elements, parse
from tests.serve_process import running, write
from tests.site_files import build, printed

from .conftest import Served
from .preview_tab import Tab
from .reader import Reader
from .server import served

PAGE = "/posts/widgets/"
WATCH = """
window.stopped = [];
document.addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
"""
# An element created by the parser, because scripts inserted by innerHTML would never run.
SLIP_IN = """
const element = document.createElement(arguments[0]);
Object.assign(element, arguments[1]);
document.body.append(element);
"""
STOPPED = "return [...new Set(stopped)].sort()"
RAW = """---
title: By hand
date: 2026-01-01
---

<p id="one"></p>
<script>document.querySelector("#one").textContent = "ran";</script>

<button id="two" onclick="this.textContent = 'pressed'">Press</button>

<iframe srcdoc="<script>parent.document.title = 'framed'</script>"></iframe>

<style>#one { letter-spacing: 3px }</style>

<p id="three" style="letter-spacing: 5px">Text</p>
"""


@pytest.mark.parametrize(
    ("name", "properties", "directive"),
    [
        ("script", {"textContent": "window.slipped = true"}, "script-src-elem"),
        ("script", {"src": "https://evil.example/x.js"}, "script-src-elem"),
        ("iframe", {"src": "https://evil.example/"}, "frame-src"),
        ("img", {"src": "https://evil.example/x.png"}, "img-src"),
        ("style", {"textContent": "body { display: none }"}, "style-src-elem"),
        ("object", {"data": "https://evil.example/"}, "object-src"),
    ],
)
def test_what_slips_in_is_stopped(
    widgets: Served, reader: Reader, name: str, properties: dict[str, str], directive: str
) -> None:
    reader.open(widgets.url(PAGE))
    reader.ask(WATCH)
    reader.ask(SLIP_IN, name, properties)
    assert reader.wait_for(lambda: reader.ask(STOPPED)) == [directive]
    assert reader.ask("return window.slipped") is None


def test_an_event_attribute_that_slips_in_is_stopped(widgets: Served, reader: Reader) -> None:
    reader.open(widgets.url(PAGE))
    reader.ask(WATCH)
    reader.ask("document.body.innerHTML += '<img src=nowhere.png onerror=\"window.slipped = true\">'")
    assert reader.wait_for(lambda: reader.ask(STOPPED)) == ["script-src-attr"]
    assert reader.ask("return window.slipped") is None


def test_a_page_opened_from_the_disk_has_its_looks(tmp_path: Path, reader: Reader) -> None:
    write(
        tmp_path,
        {
            "blogsmith.yaml": "title: Site\n",
            "static/a.css": "body { letter-spacing: 3px }",
            "static/a.js": "document.documentElement.dataset.ran = 'yes'",
            "static/a.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
            "layouts/page.html": "<!DOCTYPE html><html><head><meta charset=utf-8>"
            "<link rel=stylesheet href=../a.css><script src=../a.js></script></head>"
            "<body><img src=../a.svg>{{ page.content }}</body></html>",
            "content/a.md": "---\ntitle: A\n---\n\nText.\n",
        },
    )
    report = build(tmp_path)
    assert report.ok, printed(report)
    # Problems of the page before.
    reader.problems()
    reader._driver.get((tmp_path / "public/a/index.html").as_uri())
    looks = "return [getComputedStyle(document.body).letterSpacing, document.documentElement.dataset.ran]"
    assert reader.ask(looks) == ["3px", "yes"]
    assert reader.wait_for(lambda: reader.ask("return document.images[0].naturalWidth")) == 9
    assert reader.problems() == []


def test_what_an_author_writes_by_hand_runs(tmp_path: Path, reader: Reader) -> None:
    write(tmp_path, {"blogsmith.yaml": "title: Site\n", "content/posts/a.md": RAW})
    report = build(tmp_path)
    assert report.ok, printed(report)
    with served(tmp_path / "public") as origin:
        reader.open(f"{origin}/posts/a/")
        reader.find("#two").click()
        assert reader.find("#one").text == "ran"
        assert reader.find("#two").text == "pressed"
        reader.wait_for(lambda: reader.ask("return document.title") == "framed")
        spacing = "return getComputedStyle(document.querySelector(arguments[0])).letterSpacing"
        assert [reader.ask(spacing, name) for name in ("#one", "#three")] == ["3px", "5px"]
        assert reader.problems() == []


def test_the_preview_runs_under_the_policy_of_its_pages(tmp_path: Path, reader: Reader) -> None:
    files = {
        "blogsmith.yaml": "title: Site\n",
        "content/posts/a.md": "---\ntitle: A\n---\n\nOne.\n",
        "static/a.svg": "<svg xmlns='http://www.w3.org/2000/svg'>"
        "<script>document.documentElement.id = 'ran'</script></svg>",
    }
    write(tmp_path, files)
    with running(tmp_path) as serving:
        tab = Tab(serving, reader)
        tab.open("/posts/a/")
        reader.ask(WATCH)
        # A formula adds style attributes, and arrives without a reload.
        tab.save({"content/posts/a.md": "---\ntitle: A\n---\n\nTwo $\\color{red} x$.\n"})
        tab.wait("return document.querySelector('main').textContent.includes('Two')")
        assert reader.ask("return window.kept") is True
        reader.ask(SLIP_IN, "script", {"textContent": "window.slipped = true"})
        assert reader.wait_for(lambda: reader.ask(STOPPED)) == ["script-src-elem"]
        reader._driver.get(f"http://127.0.0.1:{serving.port}/a.svg")
        assert reader._driver.page_source.count("<script")
        assert reader.ask("return document.documentElement.id") == ""


def test_pages_that_are_checked_hold_a_policy(own_site: Served) -> None:
    for page in own_site.pages():
        # In the body a policy would come too late.
        head = own_site.text(page).partition("</head>")[0]
        metas = [element for name, element in elements(parse(head)) if name == "meta"]
        found = [meta.get("content", "") for meta in metas if "http-equiv" in meta.attrib]
        assert [text.startswith("default-src 'none'; ") for text in found] == [True], page
