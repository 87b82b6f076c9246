"""Comments, visit counts and share links in a browser: no request is made too early."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site_files import build, printed, put

from .accessibility import faults
from .conftest import Served
from .firefox import Firefox
from .reader import DESKTOP, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .test_pages import axe

__all__ = ["axe"]

SETTINGS = """\
title: Notes
lang: en
comments: {provider: giscus, repo: a/b, repo_id: R_abcd, category: General, category_id: DIC_abcd}
analytics: {provider: goatcounter, site: notes, consent: ask}
share: [mastodon, bluesky, email, link]
"""
POST = "---\ntitle: {}\ndate: 2026-01-0{}\n{}---\nText.\n"
FILES = {
    "blogsmith.yaml": SETTINGS,
    "content/posts/thread.md": POST.format("Thread", 1, "comments: https://social.example/@ada/12\n"),
    "content/posts/sky.md": POST.format("Sky", 2, "comments: https://bsky.app/profile/ada.example/post/3k\n"),
    "content/posts/frame.md": POST.format("Frame", 3, ""),
    "content/posts/none.md": POST.format("None", 4, "comments: false\n"),
}
EVIL = """<p onclick="slipped()">Hello <script>slipped()</script><img src=x onerror="slipped()">
<a href="javascript:slipped()">bad</a> <a href="https://ok.example/" style="position:fixed">good</a>
<svg><script>slipped()</script></svg><iframe src="https://evil.example/"></iframe></p>
<style>body{display:none}</style><form action="https://evil.example/"><input name=a></form>"""
PERSON = {"display_name": "<b>Eve</b>", "acct": "eve", "url": "javascript:slipped()"}
REPLIES = {
    "ancestors": [],
    "descendants": [
        {"id": "1", "in_reply_to_id": "12", "account": PERSON, "url": "https://social.example/1"},
        {
            "id": "2",
            "in_reply_to_id": "1",
            "account": {**PERSON, "display_name": "", "acct": "bo"},
            "url": "",
        },
    ],
}
for _number, _reply in enumerate(REPLIES["descendants"]):
    _reply |= {
        "created_at": "2026-03-04T10:00:00Z",
        "spoiler_text": "",
        "content": EVIL if not _number else "<p>So</p>",
    }
SKY = {
    "thread": {
        "replies": [
            {
                "post": {
                    "uri": "at://did:plc:x/app.bsky.feed.post/9",
                    "author": {"did": "did:plc:x", "handle": "bo.example", "displayName": "Bo"},
                    "record": {"text": "<b>One</b>\n\nTwo", "createdAt": "2026-03-04T10:00:00Z"},
                },
                "replies": [],
            }
        ]
    }
}
# Replaces the network in every page, before its own scripts run.
STAND_IN = """
window.asked = [];
window.slips = 0;
window.slipped = () => (window.slips += 1);
window.fetch = async (address, options) => {
  asked.push([String(address), options.credentials, options.method ?? "GET"]);
  if (%s === null) throw new TypeError("offline");
  return new Response(JSON.stringify(%s));
};
"""
IN_PLACE = "window.fetch = async () => new Response(JSON.stringify(%s))"
ASKED = "return asked"
NAMES = "return [...document.querySelectorAll('.comment-name')].map(name => name.textContent)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build the site for the origin that serves it, because visits are counted only there."""
    root = put(tmp_path_factory.mktemp("community") / "site", FILES)
    public = root / "public"
    public.mkdir()
    with served(public) as origin:
        report = build(root, base_url=origin)
        assert report.ok, printed(report)
        yield Served(public, origin)


class Visit:
    """A page with a stand-in for the network."""

    def __init__(self, reader: Reader, answer: object) -> None:
        text = json.dumps(answer)
        self.reader = reader
        made = reader.tell("Page.addScriptToEvaluateOnNewDocument", source=STAND_IN % (text, text))
        self.mark = made["identifier"]

    def end(self) -> None:
        self.reader.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=self.mark)


@pytest.fixture
def visit(reader: Reader, request: pytest.FixtureRequest) -> Iterator[Reader]:
    """Open pages with a stand-in for the network.

    param: the response to every request.
    """
    found = Visit(reader, getattr(request, "param", {}))
    yield reader
    found.end()


def answered(answer: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("visit", [answer], indirect=True, ids=["answer"])


def load(reader: Reader) -> None:
    reader.wait_for(lambda: reader.ask("return document.querySelector('.comments-load')?.hidden === false"))
    reader.find(".comments-load").click()


@answered(REPLIES)
def test_replies_come_on_a_click_and_are_made_anew(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/thread/"))
    assert visit.find(".comments-load").text == "Load comments from social.example"
    assert visit.ask(ASKED) == []
    load(visit)
    assert visit.wait_for(lambda: visit.ask(NAMES)) == ["<b>Eve</b>", "bo"]
    assert visit.ask(ASKED) == [["https://social.example/api/v1/statuses/12/context", "omit", "GET"]]
    html = visit.ask("return document.querySelector('.comment-list').outerHTML")
    assert all(
        one not in html for one in ("script", "iframe", "style", "onclick", "onerror", "<form", "<input")
    )
    assert '<a href="https://ok.example/" rel="nofollow noopener ugc">good</a>' in html
    assert visit.ask("return slips") == 0
    assert visit.ask("return document.querySelectorAll('.comment .comment').length") == 1


@answered(SKY)
def test_replies_of_bluesky(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/sky/"))
    load(visit)
    assert visit.wait_for(lambda: visit.ask(NAMES)) == ["Bo"]
    assert visit.ask("return [...document.querySelectorAll('.comment-text p')].map(p => p.textContent)") == [
        *("<b>One</b>", "Two")
    ]
    address = visit.ask(ASKED)[0][0]
    assert address.startswith("https://public.api.bsky.app/xrpc/app.bsky.feed.getPostThread?")
    assert "uri=at://ada.example/app.bsky.feed.post/3k" in address


@answered({"ancestors": [], "descendants": []})
def test_no_replies_yet(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/thread/"))
    load(visit)
    told = "return document.querySelector('.comments-status').textContent"
    assert visit.wait_for(lambda: visit.ask(told).startswith("No comments yet"))


@answered(None)
def test_replies_that_do_not_come(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/thread/"))
    load(visit)
    told = "return document.querySelector('.comments-status').textContent"
    assert visit.wait_for(lambda: "could not be loaded from social.example" in visit.ask(told))
    assert visit.find(".comments-load").is_enabled()


def test_a_frame_comes_on_a_click(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/frame/"))
    assert visit.ask("return document.querySelector('iframe')") is None
    # Its content belongs to the other host; only the request is tested.
    visit.ask("document.querySelector('.comments').dataset.frameUrl = location.origin + '/404.html?repo=a/b'")
    load(visit)
    address = visit.wait_for(lambda: visit.ask("return document.querySelector('.comments-frame')?.src"))
    assert "repo=a%2Fb" in address
    assert "theme=light" in address


def test_pages_name_the_hosts_they_need(site: Served) -> None:
    def policy(page: str) -> str:
        return (
            site.text(f"/posts/{page}/").partition('Content-Security-Policy" content="')[2].partition('"')[0]
        )

    assert "connect-src 'self' https://notes.goatcounter.com https://social.example;" in policy("thread")
    assert "frame-src https://giscus.app" in policy("frame")
    assert "giscus" not in policy("thread")
    assert "connect-src 'self' https://notes.goatcounter.com;" in policy("none")
    assert "comments" not in site.text("/posts/none/").partition("<body")[2]


def test_without_script_there_is_a_link(site: Served, reader: Reader) -> None:
    reader.open(site.url("/posts/thread/"), WITHOUT_SCRIPTS)
    assert not reader.find(".comments-load").is_displayed()
    assert reader.find(".comments-link").get_attribute("href") == "https://social.example/@ada/12"
    assert not reader.find(".counting").is_displayed()


def test_a_visit_is_counted_after_yes_and_not_before(site: Served, visit: Reader) -> None:
    visit.open(site.url("/posts/none/"))
    visit.wait_for(lambda: visit.find(".counting").is_displayed())
    assert visit.ask(ASKED) == []
    sizes = [visit.find(f".counting-{answer}").size for answer in ("yes", "no")]
    assert sizes[0] == sizes[1]
    visit.find(".counting-yes").click()
    [[address, credentials, method]] = visit.ask(ASKED)
    assert address.startswith("https://notes.goatcounter.com/count?p=%2Fposts%2Fnone%2F&t=None")
    assert (credentials, method) == ("omit", "GET")
    assert not visit.find(".counting").is_displayed()
    visit.open_again()
    assert len(visit.wait_for(lambda: visit.ask(ASKED))) == 1
    assert not visit.find(".counting").is_displayed()
    visit.find(".counting-again").click()
    assert visit.find(".counting").is_displayed()
    visit.find(".counting-no").click()
    visit.open_again()
    visit.wait_for(lambda: visit.find(".counting-again").is_displayed())
    assert visit.ask(ASKED) == []


@pytest.mark.parametrize("name", ["globalPrivacyControl", "doNotTrack"])
def test_who_asks_not_to_be_tracked_is_not_even_asked(name: str, site: Served, visit: Reader) -> None:
    value = "true" if name == "globalPrivacyControl" else '"1"'
    source = f"Object.defineProperty(navigator, '{name}', {{value: {value}}})"
    mark = visit.tell("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    visit.open(site.url("/posts/none/"))
    visit.wait_for(lambda: visit.ask("return document.readyState") == "complete")
    assert not visit.find(".counting").is_displayed()
    assert visit.ask(ASKED) == []
    visit.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=mark)


def test_the_link_is_copied(site: Served, reader: Reader) -> None:
    reader.open(site.url("/posts/none/"))
    reader.empty_clipboard()
    assert not reader.find(".share-link").is_displayed()
    reader.find(".share summary").click()
    reader.find(".share-link").click()
    assert reader.wait_for(lambda: reader.find(".share-link").text == "copied")
    assert reader.pasted() == site.url("/posts/none/")


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
@answered(REPLIES)
def test_axe_finds_nothing(site: Served, visit: Reader, axe: str, look: Look) -> None:
    visit.open(site.url("/posts/thread/"), look)
    load(visit)
    visit.wait_for(lambda: visit.ask(NAMES))
    found = faults(visit, axe)
    # The browser logs handlers and styles in text by strangers, which it does not apply.
    assert [one for one in found if "inline" not in str(one)] == []


def test_the_scripts_are_small() -> None:
    static = Path(__file__).parents[2] / "themes/paper/static"
    names = ("comments-frame", "comments-replies", "count", "share")
    sizes = {name: (static / f"{name}.js").stat().st_size for name in names}
    assert sizes["comments-frame"] < 4_000
    assert sizes["comments-replies"] < 6_500
    assert sizes["count"] < 3_600
    assert sizes["share"] < 1_000


def test_replies_in_firefox(site: Served, fox: Firefox) -> None:
    fox.open(site.url("/posts/thread/"))
    assert fox.ask("return document.querySelector('.comments-load').hidden") is False
    fox.ask(IN_PLACE % json.dumps(REPLIES))
    fox.ask("document.querySelector('.comments-load').click()")
    found = fox.ask(
        "return new Promise(done => { const look = () => document.querySelector('.comment .comment')"
        " ? done([...document.querySelectorAll('.comment-name')].map(one => one.textContent))"
        " : setTimeout(look, 50); look(); })"
    )
    assert found == ["<b>Eve</b>", "bo"]
    assert (
        fox.ask("return document.querySelectorAll('.comment-list :is(script, iframe, style, form)').length")
        == 0
    )
