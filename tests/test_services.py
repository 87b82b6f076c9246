"""Services of other hosts: threads, frames, counters by their settings, and hosts in the policy."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from blogsmith.config.load import parse_config
from blogsmith.config.services import analytics_host, read_thread
from blogsmith.site.pages import page_comments
from tests.rows import each_row
from tests.site_files import build, printed, put

GISCUS = (
    "comments: {provider: giscus, repo: a/b, repo_id: R_abcd, category: General, category_id: DIC_abcd}\n"
)
POST = "---\ntitle: A\n{}---\nText.\n"


@pytest.mark.parametrize(
    ("address", "host", "request_path"),
    [
        ("https://m.example/@ada/12", "https://m.example", "/api/v1/statuses/12/context"),
        ("https://m.example/@ada@other.example/12/", "https://m.example", "/api/v1/statuses/12/context"),
        (
            "https://bsky.app/profile/ada.example/post/3k",
            "https://public.api.bsky.app",
            "/xrpc/app.bsky.feed.getPostThread?parentHeight=0&uri=at://ada.example/app.bsky.feed.post/3k",
        ),
    ],
)
def test_threads(address: str, host: str, request_path: str) -> None:
    found = read_thread(address)
    assert found is not None
    assert (found.url, found.host, found.request) == (address, host, request_path)


@each_row(
    "address",
    [
        "http://m.example/@ada/12",
        "https://m.example/@ada/12/edit",
        "https://m.example/@ada/12?x=1",
        "https://m.example@evil.example/@ada/12",
        "https://m.example/@ada/abc",
        "https://m.example/@ada/" + "1" * 40,
        'https://m.example/@a"da/12',
        "https://bsky.app/profile/ada/post/../../x",
        "https://bsky.app.evil.example/profile/ada/post/3k",
        "javascript://m.example/@ada/12",
        "https://" + "a" * 100_000,
    ],
)
def test_what_is_no_thread(address: str) -> None:
    assert read_thread(address) is None


@each_row(
    ("settings", "host"),
    [
        ("", ""),
        ("analytics: {provider: none}", ""),
        ("analytics: {provider: goatcounter, site: notes}", "https://notes.goatcounter.com"),
        ("analytics: {provider: plausible, site: example.org}", "https://plausible.io"),
        (
            "analytics: {provider: plausible, site: example.org, host: https://stats.example.org}",
            "https://stats.example.org",
        ),
    ],
)
def test_who_counts(settings: str, host: str) -> None:
    loaded = parse_config(f"title: T\n{settings}\n")
    assert loaded.diagnostics == ()
    assert analytics_host(loaded.config.analytics) == host


@each_row(
    ("lang", "theirs"),
    [("de", "de"), ("pt-BR", "pt"), ("zh", "zh-CN"), ("zh-TW", "zh-TW"), ("sw", "en"), ("ar", "ar")],
)
def test_the_frame_of_giscus(lang: str, theirs: str) -> None:
    config = parse_config(f"title: T\n{GISCUS}").config
    found = page_comments(None, config, is_post=True, url="/b/posts/a/", title="A", lang=lang)
    assert found is not None
    address = urlsplit(found.frame_url)
    assert (address.netloc, address.path) == ("giscus.app", f"/{theirs}/widget")
    asked = parse_qs(address.query)
    # giscus identifies a page by its path, or by its title
    config = parse_config(f"title: T\n{GISCUS.replace('{', '{mapping: title, ')}").config
    by_title = page_comments(None, config, is_post=True, url="/b/posts/a/", title="A & B", lang=lang)
    assert by_title is not None
    assert "term=A+%26+B&strict=0" in by_title.frame_url
    assert (asked["term"], asked["repo"], asked["categoryId"]) == (["b/posts/a/"], ["a/b"], ["DIC_abcd"])
    assert found.link_host == "github.com"


@each_row(
    ("asked", "is_post", "has"),
    [(None, True, True), (None, False, False), (False, True, False), (True, False, True), (True, True, True)],
)
def test_which_pages_have_comments(asked: bool | None, is_post: bool, has: bool) -> None:
    config = parse_config(f"title: T\n{GISCUS}").config
    assert (page_comments(asked, config, is_post=is_post, url="/a/", title="A", lang="en") is not None) is has


def policy(page: Path) -> str:
    return page.read_text("utf-8").partition('Policy" content="')[2].partition('"')[0]


@pytest.mark.parametrize("untrusted", ["true", "false"])
def test_the_policy_has_the_hosts_that_the_site_has_chosen(untrusted: str, tmp_path: Path) -> None:
    settings = f"title: T\nbase_url: https://example.org\nmarkup: {{untrusted: {untrusted}}}\n{GISCUS}"
    settings += "analytics: {provider: umami, site: 00000000-0000-0000-0000-000000000000}\n"
    root = put(tmp_path, {"blogsmith.yaml": settings, "content/posts/a.md": POST.format("")})
    report = build(root)
    assert report.diagnostics == (), printed(report)
    found = policy(root / "public/posts/a/index.html")
    assert "connect-src 'self' https://cloud.umami.is;" in found
    assert "frame-src https://giscus.app;" in found
    assert "script-src 'self';" in found
    assert "frame-src" not in policy(root / "public/index.html")


def test_a_stranger_s_post_does_not_choose_hosts(tmp_path: Path) -> None:
    files = {
        "blogsmith.yaml": "title: T\nmarkup: {untrusted: true}\n",
        "content/posts/a.md": POST.format("comments: https://evil.example/@a/1\n"),
    }
    report = build(put(tmp_path, files))
    assert [found.code for found in report.diagnostics] == ["csp-stopped"]
    assert "evil.example" not in policy(tmp_path / "public/posts/a/index.html")


def test_a_site_without_any_of_it_says_nothing_of_it(tmp_path: Path) -> None:
    files = {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST.format("comments: true\n")}
    assert build(put(tmp_path, files)).diagnostics == ()
    text = (tmp_path / "public/posts/a/index.html").read_text("utf-8")
    assert all(one not in text for one in ("comments", "counting", "share", "languages", "community"))
