"""Rows 37, 39 and 42: code injected into a page, or in a file beside it, does not run.

`tests/test_page_policy.py` and `tests/test_active_svg.py` test single constructs, and
`tests/browser/test_policy.py` tests browsers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.render.policy.tags import page_tags
from tests.serve_process import running, write
from tests.site_files import build, printed

LAYOUT = (
    "<!DOCTYPE html><html><body><h1>{{ page.title }}</h1><a target=_blank href=/>home</a>"
    "{{ page.content }}<script>own()</script></body></html>\n"
)
POST = "---\ntitle: A\ndate: 2026-01-01\ntags: [one]\naliases: [/old/]\n"
RAW = (
    '<a href="https://example.org/" target="_blank" rel="nofollow">there</a>\n\n'
    "<div onclick='act()'>Text <script>act()</script></div>\n"
)
ACTIVE = (
    '<svg xmlns="http://www.w3.org/2000/svg">\n<script>document.documentElement.id = "ran"</script></svg>\n'
)


def built(root: Path, settings: str) -> dict[str, bytes]:
    """Build a site with a layout of its own and two posts; return all its pages."""
    files = {
        "blogsmith.yaml": f"title: Site\nbase_url: https://example.org/blog\n{settings}",
        "layouts/own.html": LAYOUT,
        "content/posts/a.md": f"{POST}---\n\n{RAW}",
        "content/posts/b.md": f"{POST.replace('/old/', '/older/')}template: own\n---\n\n{RAW}",
    }
    write(root, files)
    report = build(root)
    assert report.ok, printed(report)
    pages = sorted((root / "public").rglob("*.html"))
    names = {page.relative_to(root / "public").as_posix(): page.read_bytes() for page in pages}
    assert {
        "index.html",
        "404.html",
        "old/index.html",
        "tags/one/index.html",
        "posts/b/index.html",
    } <= names.keys()
    return names


def policies(html: bytes) -> list[dict[str, str]]:
    """Return each policy of a page: directive → sources."""
    texts = [tag.attributes["content"] for tag in page_tags(html) if "http-equiv" in tag.attributes]
    parts = [[part.partition(" ") for part in text.split("; ")] for text in texts if "-src" in text]
    return [{name: sources for name, _, sources in each} for each in parts]


@pytest.mark.parametrize("settings", ["", "markup: {untrusted: true}\n"], ids=["trusted", "untrusted"])
def test_row_37_every_page_has_a_policy_without_unsafe_inline_scripts(tmp_path: Path, settings: str) -> None:
    for name, html in built(tmp_path, settings).items():
        [policy] = policies(html)
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'", name
        assert "unsafe-inline" not in policy.get("script-src", ""), name
        assert not {"*", "https:", "http:", "'unsafe-eval'"} & set(" ".join(policy.values()).split()), name
        # On sites with posts by strangers, no script of a post may run.
        assert not settings or "sha256" not in policy.get("script-src", ""), name


def test_row_39_windows_that_are_opened_do_not_know_their_opener(tmp_path: Path) -> None:
    pages = built(tmp_path, "")
    opening = [
        tag for html in pages.values() for tag in page_tags(html) if tag.attributes.get("target") == "_blank"
    ]
    assert sorted(tag.attributes["rel"] for tag in opening) == [*["nofollow noopener"] * 2, "noopener"]


def test_row_42_pictures_with_scripts_are_reported_and_do_not_run_in_the_preview(tmp_path: Path) -> None:
    files = {
        "blogsmith.yaml": "title: Site\n",
        "static/s.svg": ACTIVE,
        "static/s.xml": ACTIVE,
        "content/posts/a/index.md": f"{POST}---\n\nText.\n",
        "content/posts/a/t.svg": ACTIVE,
    }
    write(tmp_path, files)
    report = build(tmp_path)
    assert report.ok, printed(report)
    found = [(one.code, one.severity, one.path, one.place and one.place.line) for one in report.diagnostics]
    assert found == [
        ("svg-active", "warning", "content/posts/a/t.svg", 2),
        ("svg-active", "warning", "static/s.svg", 2),
    ]
    with running(tmp_path) as serving:
        for path in ("/s.svg", "/s.xml", "/posts/a/t.svg"):
            got = serving.ask(path)
            assert got.status == 200
            directives = got.headers["content-security-policy"].split("; ")
            assert {"default-src 'none'", "sandbox"} <= set(directives), path
