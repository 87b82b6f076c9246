"""The policy of pages: only content of the page may load and run."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.config.schema import Config, Markup, Security
from blogsmith.render.policy.policy import add_sources, guard_page
from blogsmith.render.policy.sources import folder_of, source_of
from blogsmith.render.policy.tags import add_noopener, page_tags
from tests.rows import each_row
from tests.site_files import build, printed

HEAD = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
SHEET = '<link rel="stylesheet" href="/assets/a.css">\n'
BASE = {"default-src": "'none'", "form-action": "'none'", "base-uri": "'none'"}
WITH_SHEET = {**BASE, "style-src": "'self'", "img-src": "'self' data:", "font-src": "'self' data:"}


def page(body: str, head: str = "") -> bytes:
    return f"{HEAD}{head}<title>T</title>\n</head>\n<body>\n{body}\n</body>\n</html>\n".encode()


def policy_in(html: bytes) -> dict[str, str]:
    """Map directives to sources, for the first policy in a page."""
    tags = [tag for tag in page_tags(html) if "http-equiv" in tag.attributes]
    directives = tags[0].attributes["content"].split("; ")
    return dict(directive.split(" ", 1) for directive in directives)


def policy_for(body: str, head: str = "", config: Config | None = None) -> dict[str, str]:
    return policy_in(guard_page(page(body, head), config or Config()).html)


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_page_that_loads_nothing_may_load_nothing() -> None:
    assert policy_for("<p>Text with <code>onclick=&quot;x&quot;</code></p>") == BASE


def test_it_stands_right_behind_the_encoding() -> None:
    html = guard_page(page("<p>Text</p>", SHEET), Config()).html
    assert html.startswith(
        HEAD.encode() + b'<meta http-equiv="Content-Security-Policy" content="default-src '
    )
    assert html.count(b"Content-Security-Policy") == 1
    # the rest of the page has not changed
    lines = html.split(b"\n")
    assert b"\n".join(lines[:4] + lines[5:]) == page("<p>Text</p>", SHEET)


@each_row(
    ("html", "before"),
    [
        ("<!doctype html><html><head><script>x()</script></head>", "<!doctype html><html><head>"),
        ("<!doctype html><title>A</title><p>x", "<!doctype html>"),
        ("<p>only a piece</p>", ""),
        (
            "<html><head><meta name=viewport content=a><meta charset=utf-8><link rel=icon href=a>",
            "charset=utf-8>",
        ),
        ('<head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><p>', 'charset=utf-8">'),
        ("<head><link rel=stylesheet href=a.css><meta charset=utf-8>", "<head>"),
    ],
)
def test_it_stands_before_all_that_it_governs(html: str, before: str) -> None:
    made = guard_page(html.encode(), Config()).html.decode()
    front, found, _ = made.partition('<meta http-equiv="Content-Security-Policy"')
    assert found
    assert front.rstrip("\n").endswith(before)


@each_row(
    ("body", "directives"),
    [
        ('<img src="/a.png" alt="">', {"img-src": "'self'"}),
        ('<img src=data:image/png;base64,AA alt="">', {"img-src": "data:"}),
        ('<IMG SRC="HTTPS://Pics.Example.org:8443/a.png">', {"img-src": "https://pics.example.org:8443"}),
        ('<img srcset="/a.png 1x, https://b.example/b.png 2x">', {"img-src": "'self' https://b.example"}),
        ('<img src="//cdn.example/a.png">', {"img-src": "cdn.example"}),
        ('<video src="/a.mp4" poster="/p.png"></video>', {"media-src": "'self'", "img-src": "'self'"}),
        ('<iframe src="https://demo.example/x?y"></iframe>', {"frame-src": "https://demo.example"}),
        ('<iframe src="https://a.example/"allowfullscreen></iframe>', {"frame-src": "https://a.example"}),
        (
            '<figure data-embed-url="https://player.vimeo.com/video/1">',
            {"frame-src": "https://player.vimeo.com"},
        ),
        ('<object data="a.pdf"></object>', {"object-src": "'self'", "frame-src": "'self'"}),
        ('<form action="https://mail.example/add">', {"form-action": "https://mail.example"}),
        ('<form method="dialog">', {"form-action": "'self'"}),
        ('<p style="color: red">', {"style-src-attr": "'unsafe-inline'"}),
        (
            '<p style="background: url(https://b.example/b.png)">',
            {
                "style-src-attr": "'unsafe-inline'",
                "img-src": "https://b.example",
                "font-src": "https://b.example",
            },
        ),
        ('<script type="application/ld+json">{"a": 1}</script>', {}),
        ('<!-- <iframe src="https://no.example/"></iframe> -->', {}),
        ('<a href="https://elsewhere.example/">link</a>', {}),
        ("<pre>&lt;iframe src=https://no.example&gt;</pre>", {}),
    ],
)
def test_what_a_page_loads_is_in_its_policy(body: str, directives: dict[str, str]) -> None:
    assert policy_for(body) == {**BASE, **directives}


def test_a_style_sheet_brings_fonts_and_pictures() -> None:
    assert policy_for("", SHEET) == WITH_SHEET


def test_fonts_of_a_host_whose_style_sheets_have_them_elsewhere() -> None:
    sheet = '<link rel="stylesheet" href="https://fonts.googleapis.com/css2?family=Lora">'
    found = policy_for("", sheet)
    assert found["style-src"] == "https://fonts.googleapis.com"
    assert "https://fonts.gstatic.com" in found["font-src"]


class TestScripts:
    def test_of_the_site(self) -> None:
        found = policy_for("", '<script src="/a.js"></script>')
        assert found["script-src"] == "'self'"
        assert found["connect-src"] == "'self'"
        # a card may show a formula of another page
        assert found["style-src-attr"] == "'unsafe-inline'"

    def test_in_the_page_are_allowed_by_their_hash(self) -> None:
        text = "\n let a = '<p>' < \"</p>\";\n"
        assert policy_for(f"<script>{text}</script>")["script-src"] == hashed(text)

    def test_that_follow_a_comment_with_a_script_in_it(self) -> None:
        found = policy_for("<!-- <script> --><script>a()</script><textarea><script>b()</script></textarea>")
        assert found["script-src"] == hashed("a()")

    def test_of_another_host_may_load_from_their_folder(self) -> None:
        found = policy_for('<script src="https://cdn.example/npm/tool@3/dist/tool.js?x" async></script>')
        assert found["script-src"] == "https://cdn.example/npm/tool@3/dist/"
        assert found["connect-src"] == found["frame-src"] == "https://cdn.example"

    def test_that_import_from_another_host(self) -> None:
        text = 'import {a} from "https://cdn.example/npm/d3@7/+esm"; fetch("https://data.example/a.json");'
        found = policy_for(f'<script type="module">{text}</script>')
        assert set(found["script-src"].split()) == {hashed(text), "'self'", "https://cdn.example/npm/d3@7/"}
        assert "https://data.example" in found["connect-src"].split()

    @pytest.mark.parametrize(
        "attribute", ['onclick="a(&quot;b&quot;)"', "onclick='a(\"b\")'", '\nOnClick=a("b")']
    )
    def test_in_attributes_of_events(self, attribute: str) -> None:
        found = policy_for(f"<button {attribute}>B</button>")
        assert set(found["script-src"].split()) == {hashed('a("b")'), "'unsafe-hashes'"}

    def test_in_a_frame_that_the_page_holds(self) -> None:
        found = policy_for('<iframe srcdoc="<script>a()</script>"></iframe>')
        assert found["script-src"] == hashed("a()")

    def test_no_page_allows_every_script(self) -> None:
        for body in ("<script>a()</script>", '<b onclick="a()">', '<script src="/a.js"></script>'):
            assert "unsafe-inline" not in policy_for(body)["script-src"]


class TestUntrustedPosts:
    CONFIG = Config(markup=Markup(untrusted=True))

    def test_what_slipped_into_a_page_is_not_in_its_policy(self) -> None:
        body = (
            "<script>evil()</script><script src=https://evil.example/x.js></script><img src=x onerror=evil()>"
            "<iframe src=https://evil.example></iframe><base href=https://evil.example>"
            "<form action=https://evil.example></form><style>@import 'https://evil.example/a.css'</style>"
        )
        made = guard_page(page(body, SHEET), self.CONFIG)
        assert policy_in(made.html) == {**WITH_SHEET, "connect-src": "'self'"}
        assert {found.code for found in made.problems} == {"csp-stopped"}
        assert {found.severity for found in made.problems} == {"warning"}

    def test_videos_and_scripts_of_the_theme_are(self) -> None:
        embeds = "<figure data-embed-url='https://www.youtube-nocookie.com/embed/a'></figure>"
        made = guard_page(page(embeds, '<script type="module" src="/a.js"></script>'), self.CONFIG)
        found = policy_in(made.html)
        assert found["frame-src"] == "https://www.youtube-nocookie.com"
        assert found["script-src"] == "'self'"
        assert made.problems == ()

    def test_what_the_site_declares_is(self) -> None:
        config = msgspec.structs.replace(
            self.CONFIG,
            security=Security(csp={"script-src": (hashed("a()"),), "img-src": ("https://p.example",)}),
        )
        made = guard_page(page("<script>a()</script>"), config)
        assert policy_in(made.html)["script-src"] == hashed("a()")
        assert "https://p.example" in policy_in(made.html)["img-src"]


class TestSettings:
    def test_off_means_none(self) -> None:
        assert guard_page(page("", SHEET), Config(security=Security(csp="off"))).html == page("", SHEET)

    def test_declared_sources_are_added(self) -> None:
        config = Config(security=Security(csp={"connect-src": ("https://stats.example",)}))
        assert (
            policy_for("", '<script src="/a.js"></script>', config)["connect-src"]
            == "'self' https://stats.example"
        )
        assert policy_for("", "", config)["connect-src"] == "https://stats.example"

    def test_all_inline_styles(self) -> None:
        config = Config(security=Security(csp={"style-src": ("'unsafe-inline'",)}))
        assert policy_for("<style>p {}</style>", "", config)["style-src"] == "'unsafe-inline'"

    def test_a_layout_may_bring_its_own(self) -> None:
        own = '<meta http-equiv="content-security-policy" content="default-src https:">'
        assert guard_page(page("", own), Config()).html == page("", own)
        # browsers ignore it in the body
        assert policy_for(own) == BASE


@each_row(
    ("address", "source"),
    [
        ("a/b.png", "'self'"),
        ("/a:b", "'self'"),
        (" https://user:word@a.example/x", "https://a.example"),
        ("https:\\\\a.example\\x", "'self'"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("https://[::1]:80/", "https://[::1]:80"),
        ("https://a.example; script-src *", ""),
        ("https://a b/", ""),
        ("javascript:a()", ""),
        ("about:blank", ""),
        ("java\nscript:a()", ""),
        ("blob:x", "blob:"),
    ],
)
def test_addresses_as_sources(address: str, source: str) -> None:
    assert source_of(address) == source


def test_folders_as_sources() -> None:
    assert folder_of("https://a.example/x.js") == "https://a.example"
    assert folder_of("https://a.example/x/y;z/a.js") == "https://a.example"
    assert folder_of("x/y.js") == "'self'"


def test_more_sources_for_a_policy() -> None:
    html = guard_page(page("<p>Text</p>"), Config()).html
    wider = add_sources(html, {"script-src": ("'self'",), "base-uri": ("'self'",)})
    assert policy_in(wider) == {**BASE, "script-src": "'self'", "base-uri": "'self'"}
    assert add_sources(wider, {"script-src": ("'self'",)}) == wider
    assert add_sources(page(""), {"script-src": ("'self'",)}) == page("")


PIECES = [*"<>/=\"' -!\n&aonx;", "<script", "</script>", "style=", "<!--", "-->"]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_text_is_too_strange(text: str) -> None:
    html = text.encode()
    made = guard_page(html, Config()).html
    assert made.count(b"Content-Security-Policy") == 1
    assert policy_in(made)["default-src"] == "'none'"


@pytest.mark.parametrize(
    "piece", ['<a x="', " onclick=", "<script>", "<!--", "<b onclick=a ", "target", "<style"]
)
def test_the_time_grows_with_the_text_alone(piece: str) -> None:
    html = (piece * (1_000_000 // len(piece))).encode()
    started = time.process_time()
    guard_page(html, Config())
    assert time.process_time() - started < 20


class TestTagsThatStandOnManyPages:
    @each_row(
        ("tag", "behind", "attributes"),
        [
            ('<img alt="a" src="/b.png">', '" src="/c.png">', {"alt": "a", "src": "/b.png"}),
            ('<img alt="a>', 'b" src="/c.png">', {"alt": "a>b", "src": "/c.png"}),
            ("<img alt='a>", "b' src=/c.png>", {"alt": "a>b", "src": "/c.png"}),
            ("<img alt=a/>", " src=/c.png>", {"alt": "a/"}),
            ('<img alt= ">', '" src="/c.png">', {"alt": ">", "src": "/c.png"}),
            ('<img src=a">', '" alt="b">', {"src": 'a"'}),
            ('<IMG\tSRC="/B.png" srcset />', "", {"src": "/B.png", "srcset": ""}),
            ('<img alt="a" alt="b">', "", {"alt": "a"}),
            ('<img alt="&lt;&quot;">', "", {"alt": '<"'}),
        ],
    )
    def test_are_read_with_what_stands_behind(
        self, tag: str, behind: str, attributes: Mapping[str, str]
    ) -> None:
        # first alone, as it is cached
        tuple(page_tags(f"<p>{tag}".encode()))
        html = f"<h1>{tag}{behind}</h1>".encode()
        (found,) = page_tags(html)
        assert found.attributes == attributes
        for name, value in attributes.items():
            start, end = found.span(name) or (0, 0)
            written = unescape(html[start:end].decode())
            assert written in (value, f'"{value}"', f"'{value}'", name)


class TestNewWindows:
    @each_row(
        ("written", "made"),
        [
            ('<a href="/" target="_blank">', '<a href="/" target="_blank" rel="noopener">'),
            ("<a target=_blank href=/>", '<a target=_blank rel="noopener" href=/>'),
            ("<A TARGET='_BLANK'>", "<A TARGET='_BLANK' rel=\"noopener\">"),
            ('<a rel="nofollow me" target=_blank>', '<a rel="nofollow me noopener" target=_blank>'),
            ("<a rel=noreferrer target=_blank>", '<a rel="noreferrer noopener" target=_blank>'),
            ('<a rel="" target=_blank>', '<a rel="noopener" target=_blank>'),
            ("<a rel target=_blank>", '<a rel="noopener" target=_blank>'),
            ("<area target=_blank>", '<area target=_blank rel="noopener">'),
        ],
    )
    def test_get_noopener(self, written: str, made: str) -> None:
        assert add_noopener(f"<p>{written}x".encode()).decode() == f"<p>{made}x"

    @each_row(
        "written",
        [
            '<a rel="NoOpener" target=_blank>',
            # the author has set it on purpose
            '<a rel="opener" target=_blank>',
            "<a target=_self>",
            "<a target=other>",
            "<base target=_blank>",
            "<script>'<a target=_blank>'</script>",
            "<!-- <a target=_blank> -->",
            "&lt;a target=_blank>",
        ],
    )
    def test_or_stay_as_they_are(self, written: str) -> None:
        assert add_noopener(written.encode()).decode() == written


def test_every_page_of_a_site_has_one(tmp_path: Path) -> None:
    write(tmp_path, "blogsmith.yaml", "title: Site\nbase_url: https://a.example/b\n")
    write(
        tmp_path,
        "layouts/bare.html",
        "<html><body><a target=_blank href=/>{{ page.content }}</a></body></html>\n",
    )
    post = "---\ntitle: A\ndate: 2026-01-01\ntags: [x]\naliases: [/old/]\n---\n\n"
    write(tmp_path, "content/posts/a.md", f'{post}<a href="https://b.example" target="_blank">x</a>\n')
    write(tmp_path, "content/posts/b.md", "---\ntitle: B\ndate: 2026-01-01\ntemplate: bare\n---\n\nText.\n")
    report = build(tmp_path)
    assert report.ok, printed(report)
    pages = {file: file.read_bytes() for file in (tmp_path / "public").rglob("*.html")}
    assert {"old", "posts", "tags", "404.html"} <= {
        file.relative_to(tmp_path / "public").parts[0] for file in pages
    }
    for file, html in pages.items():
        assert policy_in(html)["default-src"] == "'none'", file
        for tag in page_tags(html):
            assert tag.attributes.get("target") != "_blank" or tag.attributes["rel"] == "noopener"
    feed = (tmp_path / "public/atom.xml").read_text()
    assert "noopener" in feed


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
