"""Links to other hosts: detection, answers of hosts, and polite requests.

All servers are on this machine; addresses of names are passed in.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event

import msgspec
import pytest
from msgspec.structs import replace

from blogsmith.base.diagnostics.fixes import make_replacement
from blogsmith.base.diagnostics.model import Place
from blogsmith.build.snapshot import SiteSnapshot
from blogsmith.cli.main import main
from blogsmith.features.links import LinkOptions, check_links
from blogsmith.network import connection
from blogsmith.network.connection import USER_AGENT, Limits
from blogsmith.network.linkcheck.check import GateClock, LinkVerdict, is_due, read_verdicts, write_verdicts
from blogsmith.network.linkcheck.findings import archive_url, link_diagnostics
from blogsmith.network.linkcheck.link_uses import LinkUse, UrlIndex, find_urls, find_uses
from blogsmith.project.report import BuildLog, BuildReport
from tests.cached_rows import replace_data
from tests.site_files import build

NOW = int(dt.datetime(2026, 3, 1, tzinfo=dt.UTC).timestamp())
CONFIG = "title: T\n"
LINKS = "pause: 0, timeout: 2"


@dataclass
class Host:
    """A server on this machine: path → status and headers, with a page for `200`."""

    url: str = ""
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refuses_head: bool = False
    at_once: int = 0
    most_at_once: int = 0
    delay_s: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, path: str, status: int = 200, body: bytes = b"", **headers: str) -> str:
        """Set the answer at a path. Return its URL."""
        self.answers[path] = (status, {name.replace("_", "-"): text for name, text in headers.items()}, body)
        return self.url + path


def _handler(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(with_body=True)

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def answer(self, *, with_body: bool) -> None:
            with host.lock:
                host.asked.append((self.command, self.path))
                host.headers.append(dict(self.headers))
                host.at_once += 1
                host.most_at_once = max(host.most_at_once, host.at_once)
            time.sleep(host.delay_s)
            # before the answer: its receiver may send the next request while this thread still waits
            with host.lock:
                host.at_once -= 1
            status, headers, body = host.answers.get(self.path, (404, {}, b""))
            if self.command == "HEAD" and host.refuses_head:
                status, headers = 405, {}
            self.send_response(status)
            for name, text in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def host() -> Iterator[Host]:
    found = Host()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


OPTIONS = LinkOptions(NOW, limits=Limits(allow_private=True))


def check(
    root: Path, body: str, options: LinkOptions = OPTIONS, links: str = LINKS, more: str = "", head: str = ""
) -> BuildReport:
    """Return the report of a check of a site of one post, whose body starts on line 5."""
    (root / "content" / "posts").mkdir(parents=True, exist_ok=True)
    (root / "blogsmith.yaml").write_text(f"{CONFIG}{more}links: {{{links}}}\n", encoding="utf-8")
    (root / "content" / "posts" / "a.md").write_text(
        f"---\ntitle: A\n{head}---\n\n{body}\n", encoding="utf-8"
    )
    inspect = partial(_inspect, options)
    return build(root, write=False, use_cache=False, inspections=(inspect,))


def _inspect(options: LinkOptions, site: SiteSnapshot, log: BuildLog) -> str:
    return str(msgspec.structs.asdict(check_links(site, options, log)))


def shown(report: BuildReport) -> list[str]:
    """Return the underlined text, the code and the hint."""
    found = []
    for one in report.diagnostics:
        assert one.place and one.severity == "warning", one
        start = one.place.column - 1
        found.append(f"{one.place.line}: {one.source_line[start : start + one.place.length]} [{one.code}]")
    return found


def test_dead_links_are_told_at_their_places(tmp_path: Path, host: Host) -> None:
    host.put("/there")
    gone, kept = f"{host.url}/gone", f"{host.url}/there"
    body = f"[A]({gone}) and [B]({kept})\n\n<a href='{gone}'>c</a> <{gone}>, ({gone}).\n\n[d]\n\n[d]: {gone}"
    report = check(tmp_path, body, head="date: 2020-03-01\n")
    assert shown(report) == [
        f"6: {gone} [link-dead]",
        *[f"8: {gone} [link-dead]"] * 3,
        f"12: {gone} [link-dead]",
    ]
    (one, *_) = report.diagnostics
    assert one.message == f'"{gone}" is gone: the server answers 404 Not Found'
    assert one.hint == f"search for an archived copy: https://web.archive.org/web/20200301/{gone}"
    assert report.ok


def test_links_of_all_kinds_are_found(tmp_path: Path, host: Host) -> None:
    (tmp_path / "refs.bib").write_text(
        f"@article{{key,\n  title = {{T}},\n  url = {{{host.url}/paper}},\n  year = 2020\n}}\n",
        encoding="utf-8",
    )
    body = f"[@key] ![a]({host.url}/a.png) [$x$]({host.url}/x) [^1]\n\n[^1]: <{host.url}/note>\n"
    report = check(tmp_path, body, more="images: {remote: allow}\nbibliography: refs.bib\n")
    found = [
        (one.path, one.place and one.place.line, one.message.split()[0].strip('"'))
        for one in report.diagnostics
    ]
    names = [
        ("content/posts/a.md", 5, "a.png"),
        ("content/posts/a.md", 5, "x"),
        ("content/posts/a.md", 7, "note"),
    ]
    assert found == [
        *((path, line, f"{host.url}/{name}") for path, line, name in names),
        ("refs.bib", 3, f"{host.url}/paper"),
    ]


def test_the_menu_counts(tmp_path: Path, host: Host) -> None:
    report = check(tmp_path, "Text.", more=f"menu: [{{title: Far, url: '{host.url}/far'}}]\n")
    assert [(one.path, one.place and one.place.line) for one in report.diagnostics] == [("blogsmith.yaml", 2)]


@pytest.mark.parametrize(("status", "code"), [(301, "link-moved"), (308, "link-moved"), (302, ""), (307, "")])
def test_what_has_moved(status: int, code: str, tmp_path: Path, host: Host) -> None:
    host.put("/new")
    old = host.put("/old", status, Location="/new")
    report = check(tmp_path, f"[A]({old}#part)")
    assert [(one.code, one.hint) for one in report.diagnostics] == [
        (code, f"write `{host.url}/new#part`")
    ] * bool(code)


def test_the_new_address_is_a_fix(tmp_path: Path, host: Host) -> None:
    host.put("/new")
    old = host.put("/old", 301, Location="/new")
    report = check(tmp_path, f"[A]({old}#part)")
    assert [one.fix for one in report.diagnostics] == [
        make_replacement(5, 5, f"{old}#part", f"{host.url}/new#part")
    ]


def test_only_https_is_certain() -> None:
    line = "<http://a.example/b>"
    use = LinkUse("a.md", Place(1, 2, 18), line)
    verdict = LinkVerdict("moved", target="https://a.example/b")
    (found,) = link_diagnostics([("http://a.example/b", use)], {"http://a.example/b": verdict})
    assert found.fix == make_replacement(1, 2, "http://a.example/b", "https://a.example/b", is_safe=True)


def test_one_file_alone(tmp_path: Path, host: Host) -> None:
    check(tmp_path, f"<{host.url}/a>", links=f"{LINKS}, ignore: ['*']")
    (tmp_path / "content" / "b.md").write_text(f"---\ntitle: B\n---\n\n<{host.url}/b>\n")
    report = check(tmp_path, f"<{host.url}/a>", replace(OPTIONS, files=("content/b.md",)))
    assert [one.path for one in report.diagnostics] == ["content/b.md"]
    assert "/a" not in [path for _, path in host.asked]


def test_a_move_counts_as_far_as_it_is_for_good(tmp_path: Path, host: Host) -> None:
    host.put("/today")
    host.put("/new", 302, Location="/today")
    report = check(tmp_path, f"[A]({host.put('/old', 301, Location='/new')})")
    assert [one.hint for one in report.diagnostics] == [f"write `{host.url}/new`"]


def test_a_move_to_the_front_page(tmp_path: Path, host: Host) -> None:
    host.put("/")
    report = check(tmp_path, f"[A]({host.put('/old', 301, Location='/')})")
    (one,) = report.diagnostics
    assert one.message == f'"{host.url}/old" now redirects to the home page "{host.url}/"'
    assert "web.archive.org/web/2*/" in one.hint


def test_a_circle(tmp_path: Path, host: Host) -> None:
    report = check(tmp_path, f"[A]({host.put('/a', 302, Location='/a')})")
    assert [one.message for one in report.diagnostics] == [
        f'"{host.url}/a" cannot be reached: more than 5 redirects'
    ]


def test_a_server_that_knows_no_head(tmp_path: Path, host: Host) -> None:
    host.refuses_head = True
    assert check(tmp_path, f"[A]({host.put('/a')})").diagnostics == ()
    assert [method for method, path in host.asked if path == "/a"] == ["HEAD", "GET"]


@pytest.mark.parametrize("status", [401, 403, 429, 451, 999])
def test_hosts_that_keep_programs_out(status: int, tmp_path: Path, host: Host) -> None:
    report = check(tmp_path, f"[A]({host.put('/a', status, Retry_After='3600')})")
    assert report.diagnostics == ()
    assert "'unknown': 1" in report.notes[0]


def test_a_server_that_fails(tmp_path: Path, host: Host) -> None:
    report = check(tmp_path, f"[A]({host.put('/a', 500)})")
    assert shown(report) == [f"5: {host.url}/a [link-unreachable]"]


def test_nobody_listens(tmp_path: Path) -> None:
    report = check(tmp_path, "[A](http://127.0.0.1:1/a)")
    assert [one.message for one in report.diagnostics] == [
        '"http://127.0.0.1:1/a" cannot be reached: Connection refused'
    ]


def test_a_silent_host_is_given_up(tmp_path: Path) -> None:
    """Three URLs are enough."""
    asked: list[str] = []

    def lookup(name: str, port: int) -> list[str]:
        asked.append(name)
        raise OSError(None, "no such host")

    body = " ".join(f"<http://nowhere.example/{number}>" for number in range(20))
    options = replace(OPTIONS, limits=Limits(lookup=lookup))
    report = check(tmp_path, body, options)
    assert len(report.diagnostics) == 20
    assert len(asked) == 3


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/", "http://inside.example:{port}/"])
def test_no_private_machine_is_asked(address: str, tmp_path: Path, host: Host) -> None:
    body = f"<{address.format(port=host.url.rpartition(':')[2])}>"
    options = LinkOptions(NOW, limits=Limits(lookup=lambda name, port: ["127.0.0.1"]))
    for more in ("", ", private: true"):
        report = check(tmp_path, body, options, LINKS + more)
        assert [one.code for one in report.diagnostics] == ["link-unreachable"]
        assert "is in a private network" in report.diagnostics[0].message
    assert host.asked == []


def test_a_redirect_to_a_private_machine(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = host.put("/secret")
    outside = host.put("/out", 302, Location=inside)
    names = {"127.0.0.1": ["10.0.0.1"], "out.example": ["127.0.0.1"]}

    # the first host counts as public here
    def lookup(name: str, port: int) -> list[str]:
        return names[name]

    body = f"<{outside.replace('127.0.0.1', 'out.example')}>"
    monkeypatch.setattr(connection, "is_public", lambda address: address == "127.0.0.1")
    report = check(tmp_path, body, LinkOptions(NOW, limits=Limits(lookup=lookup)))
    assert [one.code for one in report.diagnostics] == ["link-unreachable"]
    assert ("HEAD", "/secret") not in host.asked
    assert ("GET", "/secret") not in host.asked


def test_robots_are_heard(tmp_path: Path, host: Host) -> None:
    host.put("/robots.txt", body=b"User-agent: *\nDisallow: /private/\n", Content_Type="text/plain")
    report = check(tmp_path, f"<{host.url}/private/a> <{host.url}/open>")
    assert [one.message.split()[0].strip('"') for one in report.diagnostics] == [f"{host.url}/open"]
    assert "/private/a" not in [path for _, path in host.asked]


def test_who_asks_says_so_and_keeps_nothing(tmp_path: Path, host: Host) -> None:
    host.put("/a", Set_Cookie="a=b")
    host.put("/b")
    check(tmp_path, f"<{host.url}/a> <{host.url}/b>")
    assert {headers["User-Agent"] for headers in host.headers} == {USER_AGENT}
    assert not any({"Cookie", "Authorization", "Referer"} & headers.keys() for headers in host.headers)


def test_one_question_at_a_time_with_pauses(tmp_path: Path, host: Host) -> None:
    host.delay_s = 0.01
    waited: list[float] = []

    def wait(stop: Event, seconds: float) -> None:
        waited.append(seconds)

    now = [0.0]
    clock = GateClock(lambda: now[0], wait)
    body = " ".join(f"<{host.put(f'/{number}')}>" for number in range(5))
    report = check(tmp_path, body, replace(OPTIONS, clock=clock), "pause: 3")
    assert report.diagnostics == ()
    assert host.most_at_once == 1
    # robots.txt is requested first
    assert waited == [3.0] * 5


def test_a_busy_host_is_let_alone(tmp_path: Path, host: Host) -> None:
    waited: list[float] = []

    def wait(stop: Event, seconds: float) -> None:
        waited.append(seconds)
        host.put("/a")

    clock = GateClock(lambda: 0.0, wait)
    report = check(tmp_path, f"<{host.put('/a', 429, Retry_After='7')}>", replace(OPTIONS, clock=clock))
    assert (report.diagnostics, waited) == ((), [7.0])


def test_fragments(tmp_path: Path, host: Host) -> None:
    host.put("/a", body=b"<h2 id='one'>1</h2><a name=two></a>", Content_Type="text/html; charset=utf-8")
    report = check(tmp_path, f"<{host.url}/a#one> <{host.url}/a#two> <{host.url}/a#three> <{host.url}/a#L10>")
    assert shown(report) == [f"5: {host.url}/a#three [link-fragment]"]


def test_what_is_ignored(tmp_path: Path, host: Host) -> None:
    report = check(tmp_path, f"<{host.url}/a/b> <{host.url}/c>", links=f"{LINKS}, ignore: ['*/a/*']")
    assert shown(report) == [f"5: {host.url}/c [link-dead]"]


def test_without_a_network_nothing_is_told(tmp_path: Path) -> None:
    def lookup(name: str, port: int) -> list[str]:
        raise OSError(None, "no such host")

    body = " ".join(f"<https://{name}.example/>" for name in "abc")
    report = check(tmp_path, body, replace(OPTIONS, limits=Limits(lookup=lookup)))
    assert report.diagnostics == ()
    assert "'is_offline': True" in report.notes[0]
    assert read_verdicts(tmp_path) == {}


class TestWhatIsKept:
    def test_an_answer_counts_for_some_days(self, tmp_path: Path, host: Host) -> None:
        host.put("/a")
        body = f"<{host.url}/a> <{host.url}/b>"
        first = check(tmp_path, body)
        host.asked.clear()
        second = check(tmp_path, body, replace(OPTIONS, now_s=NOW + 3600))
        assert second.diagnostics == first.diagnostics
        assert host.asked == []
        # a fragment for programs only is not a reason to request again
        check(tmp_path, f"<{host.url}/a#page=2> {body}", replace(OPTIONS, now_s=NOW + 3600))
        host.asked.clear()
        check(tmp_path, f"<{host.url}/a#page=2> {body}", replace(OPTIONS, now_s=NOW + 7200))
        assert host.asked == []
        check(tmp_path, body, replace(OPTIONS, now_s=NOW + 2 * 86_400))
        assert {path for _, path in host.asked} == {"/robots.txt", "/b"}
        host.asked.clear()
        check(tmp_path, body, replace(OPTIONS, now_s=NOW + 8 * 86_400))
        assert {path for _, path in host.asked} == {"/robots.txt", "/a", "/b"}

    def test_all_are_asked_again(self, tmp_path: Path, host: Host) -> None:
        body = f"<{host.put('/a')}>"
        check(tmp_path, body)
        host.asked.clear()
        check(tmp_path, body, replace(OPTIONS, recheck_all=True))
        assert ("HEAD", "/a") in host.asked

    @pytest.mark.parametrize(
        "data", [b"", b"\xc1", b"\x90", msgspec.msgpack.encode({"a": {"state": "odd"}}), b"\x91" * 100_000]
    )
    def test_a_record_that_is_none(self, data: bytes, tmp_path: Path, host: Host) -> None:
        write_verdicts(tmp_path, {}, NOW)
        replace_data(tmp_path, "links", "addresses", data)
        assert check(tmp_path, f"<{host.put('/a')}>").diagnostics == ()
        assert read_verdicts(tmp_path)[f"{host.url}/a"].state == "good"

    def test_a_check_that_is_broken_off(self, tmp_path: Path, host: Host) -> None:
        body = " ".join(f"<{host.put(f'/{number}')}>" for number in range(9))

        def inspect(site: SiteSnapshot, log: BuildLog) -> str:
            def stop(stage: str, done: int, total: int) -> None:
                if done == 2:
                    raise KeyboardInterrupt

            log.progress = stop
            return str(check_links(site, OPTIONS, log))

        check(tmp_path, body, links=f"{LINKS}, ignore: ['*']")
        with pytest.raises(KeyboardInterrupt):
            (tmp_path / "blogsmith.yaml").write_text(f"{CONFIG}links: {{{LINKS}}}\n")
            build(tmp_path, write=False, inspections=(inspect,))
        assert len(read_verdicts(tmp_path)) >= 2

    def test_a_mistake_of_ours_is_told(self, tmp_path: Path, host: Host) -> None:
        def lookup(name: str, port: int) -> list[str]:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            check(tmp_path, f"<{host.put('/a')}>", replace(OPTIONS, limits=Limits(lookup=lookup)))

    def test_what_is_old_goes(self, tmp_path: Path) -> None:
        write_verdicts(
            tmp_path, {"a": LinkVerdict("good", asked_s=NOW), "b": LinkVerdict("good", asked_s=1)}, NOW
        )
        assert set(read_verdicts(tmp_path)) == {"a"}

    def test_an_answer_of_tomorrow_counts_for_nothing(self) -> None:
        assert is_due(LinkVerdict("good", asked_s=NOW + 1), (), NOW, 7)


def test_the_archive_is_asked(tmp_path: Path, host: Host) -> None:
    copy = "http://web.archive.example/web/2020/x"
    reply = b'{"archived_snapshots": {"closest": {"url": "%s"}}}' % copy.encode()
    gone = f"{host.url}/gone"
    host.answers[f"/api?url={gone.replace(':', '%3A').replace('/', '%2F')}&timestamp=20200301"] = (
        200,
        {},
        reply,
    )
    options = replace(OPTIONS, archive_api=f"{host.url}/api")
    report = check(tmp_path, f"<{gone}>", options, f"{LINKS}, archive: ask", head="date: 2020-03-01\n")
    assert [one.hint for one in report.diagnostics] == [f"link to the archived copy: {copy}"]


def test_an_address_of_the_archive() -> None:
    assert archive_url("https://a.example/b", "") == "https://web.archive.org/web/2*/https://a.example/b"


def test_only_links_count() -> None:
    html = (
        '<!-- <a href="https://a.example/1">x</a> --><a href="https://a.example/2#f">x</a>'
        "<a title='>' href='//a.example/3'>x</a><a href=/own>x</a><a href='https://u:p@a.example/4'>x</a>"
        '<script>"<a href=https://a.example/5>"</script><code>&lt;a href="https://a.example/6"&gt;</code>'
        '<a href="ftp://a.example/7">x</a><a href="mailto:a@a.example">x</a>'
    )
    assert find_urls(html) == {"https://a.example/2": {"f"}, "https://a.example/3": {""}}


def test_signs_behind_an_address() -> None:
    text = "(https://a.example/x_(y)), <https://a.example/z>. doi 10.1000/182; **https://a.example/b**"
    named = {f"https://a.example/{name}": {""} for name in ("x_(y)", "z", "b")} | {
        "https://doi.org/10.1000/182": {""}
    }
    found = {
        address: use.place and use.place.column for address, use in find_uses(UrlIndex("a.md", text), named)
    }
    assert found == {
        "https://a.example/x_(y)": 2,
        "https://a.example/z": 29,
        "https://doi.org/10.1000/182": 55,
        "https://a.example/b": 70,
    }


@pytest.mark.parametrize(
    "text", ["https://a.example/" + ")" * 100_000, "https://" * 30_000, "<a " * 60_000, "10.1234/" * 20_000]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    UrlIndex("a.md", text)
    find_urls(text)
    assert time.process_time() - started < 4


def test_the_command(tmp_path: Path, host: Host) -> None:
    """Without trust no host is contacted."""
    (tmp_path / "content").mkdir()
    (tmp_path / "blogsmith.yaml").write_text("title: T\nlinks: {private: true, pause: 0}\n")
    (tmp_path / "content" / "a.md").write_text(f"---\ntitle: A\n---\n\n<{host.url}/a>\n")
    assert main(["check", "--links", "--site", str(tmp_path)]) == 0
    assert host.asked == []
    assert main(["check", "--renew", "--site", str(tmp_path)]) == 2
