"""Images on other hosts: the site's rule for them, downloads of copies, and security.

All servers are on this machine; addresses of names are passed in.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import pytest
from PIL import Image

from blogsmith.cli.main import main
from blogsmith.model.remote_images import (
    ImageCopy,
    format_record,
    is_remote,
    normalize_remote_url,
    read_record,
)
from blogsmith.network import connection
from blogsmith.network.connection import Downloaded, DownloadError, Limits, download, is_public
from blogsmith.network.images.copies import ImageRejectedError, copy_path, copy_state, image_suffix
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.trust.consent import trust
from tests.build_scripts import compare
from tests.rows import each_row
from tests.site_files import build, printed, put, put_bare

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><rect/></svg>'
HERE = Limits(allow_private=True, read_timeout_s=2.0, total_timeout_s=5.0)


def png(width: int = 4, height: int = 3, color: str = "red") -> bytes:
    """Return an image."""
    stream = io.BytesIO()
    Image.new("RGB", (width, height), color).save(stream, "PNG")
    return stream.getvalue()


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Host:
    """A server on this machine."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def put(self, path: str, data: bytes, media_type: str = "image/png", **headers: str) -> str:
        """Serve `data` at a path. Return its URL."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Content-Length", str(len(data)))
            for name, value in {"Content-Type": media_type, **headers}.items():
                request.send_header(name.replace("_", "-"), value)
            request.end_headers()
            request.wfile.write(data)

        self.answers[path] = answer
        return self.url + path

    def move(self, path: str, target: str) -> str:
        """Redirect from a path to a URL. Return the URL of the path."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(302)
            request.send_header("Location", target)
            request.end_headers()

        self.answers[path] = answer
        return self.url + path


@pytest.fixture
def host() -> Iterator[Host]:
    """Yield a server without any path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            answer = found.answers.get(self.path)
            if answer:
                # who asked may be gone
                with suppress(ConnectionError):
                    answer(self)
            else:
                self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Host(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


# addresses


@each_row(
    "written, address",
    [
        ("https://example.org/a.png", "https://example.org/a.png"),
        ("//example.org/a.png", "https://example.org/a.png"),
        (" HTTPS://Example.org:443/ä b.png?x=1#frame", "https://example.org:443/%C3%A4%20b.png?x=1"),
        ("http://[::1]:80/a.png", "http://[::1]:80/a.png"),
        ("https://bücher.example/a%20b.png", "https://xn--bcher-kva.example/a%20b.png"),
        ("https://example.org", "https://example.org/"),
        ("https://me:secret@example.org/a.png", ""),
        ("ftp://example.org/a.png", ""),
        ("file:///etc/passwd", ""),
        ("https://", ""),
        ("https://example.org:x/a.png", ""),
        ("https://a..b/a.png", ""),
    ],
)
def test_one_form_of_an_address(written: str, address: str) -> None:
    assert is_remote(written)
    assert normalize_remote_url(written) == address
    assert normalize_remote_url(address) == address


@each_row("written", ["a.png", "/img/a.png", "a.png?u=https://x", "b#https://x", "data:,x"])
def test_paths_of_the_site(written: str) -> None:
    assert not is_remote(written)


@each_row(
    "address, answer",
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::808:808", True),
        ("no address", False),
    ],
)
def test_addresses_of_private_networks(address: str, answer: bool) -> None:
    assert is_public(address) is answer


# downloading


def refusal(address: str, limits: Limits = HERE) -> str:
    """Return why a download is rejected."""
    with pytest.raises(DownloadError) as caught:
        download(address, limits)
    return str(caught.value)


def test_a_file_is_downloaded(host: Host) -> None:
    done: list[int] = []
    data = png(200, 200)
    address = host.put("/a.png?x=1", data, "Image/PNG; charset=binary")
    found = download(address, Limits(allow_private=True, watch=done.append))
    assert found == Downloaded(data, "image/png")
    assert done[-1] == len(data)


def test_redirects_are_followed_and_counted(host: Host) -> None:
    data = png()
    host.put("/a.png", data)
    assert download(host.move("/b", "a.png"), HERE).data == data
    assert refusal(host.move("/c", "/c")) == "more than 5 redirects"
    assert host.asked.count("/c") == 6


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "gopher://x"]
)
def test_redirects_lead_to_web_addresses_only(host: Host, target: str) -> None:
    assert refusal(host.move("/a", target)) == f'redirect to "{target}", which is not an https URL'


def test_private_hosts_are_not_asked(host: Host) -> None:
    address = host.put("/a.png", png())
    message = 'host "127.0.0.1" is in a private network (127.0.0.1), and this site is not trusted'
    assert refusal(address, Limits()) == message
    named = address.replace("127.0.0.1", "pictures.example")
    lookup = Limits(lookup=lambda host, port: ["8.8.8.8", "10.0.0.1"])
    assert "is in a private network (10.0.0.1)" in refusal(named, lookup)
    assert host.asked == []


def test_a_redirect_to_a_private_host_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first host counts as public here, the target of its redirect does not."""
    monkeypatch.setattr(connection, "is_public", lambda address: address == "127.0.0.1")
    port = host.url.rpartition(":")[2]
    limits = Limits(lookup=lambda name, port: ["169.254.169.254" if "metadata" in name else "127.0.0.1"])
    host.move("/a", f"http://metadata.example:{port}/token")
    said = refusal(f"http://pictures.example:{port}/a", limits)
    assert said.startswith('host "metadata.example" is in a private network (169.254.169.254)')
    assert host.asked == ["/a"]


def test_the_address_that_was_judged_is_the_one_asked(host: Host) -> None:
    """A name is resolved only once: a later change of its address has no effect."""
    port = host.url.rpartition(":")[2]
    host.put("/a.png", png())
    answers = iter([["127.0.0.1"]])
    limits = Limits(allow_private=True, lookup=lambda name, port: next(answers))
    assert download(f"http://pictures.example:{port}/a.png", limits).data == png()


def test_what_is_too_large_is_not_read(host: Host) -> None:
    address = host.put("/a.png", b"x" * 3_000_000)
    small = Limits(allow_private=True, size=2_000_000)
    assert refusal(address, small) == "more than 2 MB"

    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b"x" * 100_000)

    host.answers["/endless"] = endless
    assert refusal(host.url + "/endless", small) == "more than 2 MB"


def test_a_server_that_draws_out_is_left(host: Host) -> None:
    stop = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not stop.wait(0.02):
            request.wfile.write(b"x")

    host.answers["/drip"] = drip
    started = time.monotonic()
    limits = Limits(allow_private=True, read_timeout_s=5.0, total_timeout_s=0.3)
    assert refusal(host.url + "/drip", limits) == "no complete response after 0.3 seconds"
    assert time.monotonic() - started < 3
    stop.set()


def test_a_silent_server_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        limits = Limits(allow_private=True, read_timeout_s=0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert refusal(address, limits) == "no data from the server for 0.2 seconds"


def test_what_breaks_off_is_refused(host: Host) -> None:
    def cut(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100")
        request.end_headers()
        request.wfile.write(b"x" * 10)

    host.answers["/cut"] = cut
    assert refusal(host.url + "/cut") == "the connection ended after 10 of 100 bytes"
    assert refusal(host.url + "/gone") == "the server answers 404 Not Found"
    assert refusal(host.put("/packed", png(), Content_Encoding="gzip")) == "the server sends compressed data"


# what came


@each_row(
    "data, media_type, suffix",
    [
        (png(), "image/png", ".png"),
        (png(), "application/octet-stream", ".png"),
        (png(), "", ".png"),
        (png(), "image/jpeg", ".png"),
        (SVG, "image/svg+xml", ".svg"),
        (SVG, "text/plain", ".svg"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n" + SVG, "image/svg+xml", ".svg"),
    ],
)
def test_pictures_are_known_by_their_bytes(data: bytes, media_type: str, suffix: str) -> None:
    assert image_suffix(Downloaded(data, media_type)) == suffix


@each_row(
    "data, media_type, reason",
    [
        (png(), "text/html", 'the server sends "text/html", not an image'),
        (b"<!doctype html><p>x", "image/png", "the file is not a valid SVG image"),
        (b"<html/>", "image/svg+xml", "the file is not an SVG image"),
        (b"GIF87", "image/gif", "the file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image"),
        (png()[:-20], "image/png", "it is truncated: its end is missing"),
        (b"", "image/png", "the file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image"),
        (SVG.replace(b"<rect/>", b"<script/>"), "image/svg+xml", 'this SVG contains "<script>", which runs'),
        (SVG.replace(b"<rect/>", b"<rect onload='x()'/>"), "image/svg+xml", 'attribute "onload"'),
        (SVG.replace(b"<rect/>", b"<a href='javascript:x()'/>"), "text/plain", "a URL that runs a script"),
        (SVG.replace(b"<rect/>", b"<foreignObject/>"), "image/svg+xml", "foreignObject"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]>" + SVG, "image/svg+xml", 'it declares the entity "a"'),
        (SVG.decode().encode("utf-16"), "image/svg+xml", "the file is not a PNG"),
        (SVG.replace(b"<rect/>", "<text>\u00e4</text>".encode("latin-1")), "image/svg+xml", "UTF-8"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, media_type: str, reason: str) -> None:
    with pytest.raises(ImageRejectedError) as caught:
        image_suffix(Downloaded(data, media_type))
    assert reason in str(caught.value)


# the record


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    copies = {
        "https://example.org/b.png": ImageCopy("static/remote/example.org/b-1.png", "b" * 64),
        "https://example.org/a.png": ImageCopy("static/remote/example.org/a-1.png", "a" * 64),
    }
    put(tmp_path, {"remote-images.txt": format_record(copies)})
    assert read_record(tmp_path) == (copies, ())
    lines = format_record(copies).decode().splitlines()
    assert lines[2] == f"{'a' * 64}  static/remote/example.org/a-1.png  https://example.org/a.png"
    assert read_record(tmp_path / "content") == ({}, ())


@pytest.mark.parametrize(
    "line, problem",
    [
        ("x", "invalid line: expected SHA-256, file and URL"),
        (
            f"{'a' * 64} static/remote/../../x.png https://x.org/a",
            '"static/remote/../../x.png" is not a file in',
        ),
        (f"{'a' * 64} /etc/passwd https://x.org/a", '"/etc/passwd" is not a file in static/remote/'),
        (f"{'a' * 64} content/x.png https://x.org/a", '"content/x.png" is not a file in static/remote/'),
        (f"{'a' * 64} static/remote//x.png https://x.org/a", '"static/remote//x.png" is not a file in'),
        (f"{'a' * 64} static/remote/x.png file:///etc", '"file:///etc" is not a URL of another host'),
        (f"{'a' * 63} static/remote/x.png https://x.org/a", "invalid line: expected SHA-256, file and URL"),
        (f"{'b' * 64} static/remote/y.png https://x.org/b", 'duplicate URL "https://x.org/b"'),
    ],
)
def test_a_hostile_record_leads_nowhere(tmp_path: Path, line: str, problem: str) -> None:
    good = f"{'b' * 64}  static/remote/x.png  https://x.org/b\n"
    put(tmp_path, {"remote-images.txt": f"{good}{line}\n"})
    copies, found = read_record(tmp_path)
    assert list(copies) == ["https://x.org/b"]
    (only,) = found
    assert (only.code, only.place and only.place.line) == ("image-record", 2)
    assert only.message.startswith(problem)


def test_names_of_copies() -> None:
    path = copy_path("https://example.org:8080/A%20b/%C3%9Cber..png?x=/../y", ".png")
    assert path.startswith("static/remote/example.org-8080/")
    assert path.endswith(".png")
    other = copy_path("https://example.org:8080/A%20b/%C3%9Cber..png?x=2", ".png")
    assert other != path
    assert copy_path("https://example.org/", ".gif").startswith("static/remote/example.org/image-")
    for hostile in (
        "https://x.org/..%2f..%2fetc%2fpasswd",
        "https://x.org/%00",
        f"https://x.org/{'a' * 5000}",
    ):
        name = copy_path(hostile, ".png").removeprefix("static/remote/x.org/")
        assert "/" not in name
        assert len(name) < 80


# the command and the build


@pytest.fixture
def site(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a trusted site with a post that uses two images of the host, one of them twice."""
    root = tmp_path / "site"
    host.put("/a.png", png(4, 3))
    host.put("/b.png", png(8, 3))
    text = f"![A]({host.url}/a.png)\n\nText <img src='{host.url}/b.png' width=4> ![A]({host.url}/a.png)\n"
    post = f"---\ntitle: A\ndate: 2026-03-01\n---\n\n{text}"
    put_bare(root, {"blogsmith.yaml": "images: {remote: fetch}\n", "content/posts/a.md": post})
    trust(root)
    monkeypatch.chdir(root)
    return root


def page_of(root: Path) -> str:
    """Return the page of the post."""
    return (root / "public/posts/a/index.html").read_text()


def copies_of(root: Path) -> list[Path]:
    """Return the files in the folder for copies."""
    return sorted(file for file in (root / "static/remote").rglob("*") if file.is_file())


def test_images_are_fetched_once_and_shown(
    site: Path, host: Host, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    post = (site / "content/posts/a.md").read_text()
    assert main(["images", "fetch"]) == 0
    printed_lines = capsys.readouterr().out.splitlines()
    assert printed_lines[-1].startswith("2 images downloaded (")
    assert printed_lines[-1].endswith("), 0 already present")
    assert sorted(host.asked) == ["/a.png", "/b.png"]
    assert [file.read_bytes() for file in copies_of(site)] == [png(4, 3), png(8, 3)]
    assert main(["images", "fetch"]) == 0
    assert capsys.readouterr().out == "0 images downloaded (0 bytes), 2 already present\n"
    assert len(host.asked) == 2

    def refuse(*arguments: object) -> NoReturn:
        raise AssertionError("a build asks the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    report = build(site)
    assert report.ok, printed(report)
    first, second = copies_of(site)
    html = page_of(site)
    assert html.count(f'src="/remote/{first.parent.name}/{first.name}" width="4" height="3"') == 2
    assert f'src="/remote/{second.parent.name}/{second.name}" width="4" height="2"' in html
    assert "http://" not in html.replace("http-equiv", "")
    assert (site / "content/posts/a.md").read_text() == post


def test_a_build_names_what_is_not_there(site: Path, host: Host) -> None:
    report = build(site)
    assert not report.ok
    assert f'missing copy of image "{host.url}/a.png": not downloaded [image-fetch]' in printed(report)
    assert "hint: run `blogsmith images fetch`" in printed(report)
    assert host.asked == []
    assert main(["images", "fetch"]) == 0
    first, second = copies_of(site)
    first.unlink()
    second.write_bytes(png(9, 9))
    said = printed(build(site))
    assert f': file not found: "{first.relative_to(site)}" [image-fetch]' in said
    assert f'differs from remote-images.txt: "{second.relative_to(site)}" was changed [image-fetch]' in said


def test_the_command_mends_what_it_can(site: Path, host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["images", "fetch"]) == 0
    record = (site / "remote-images.txt").read_bytes()
    first, second = copies_of(site)
    first.unlink()
    second.write_bytes(png(9, 9))
    capsys.readouterr()
    assert main(["images", "fetch"]) == 1
    said = capsys.readouterr()
    assert first.read_bytes() == png(4, 3)
    assert second.read_bytes() == png(9, 9)
    assert "content/posts/a.md:8:6: error: cannot copy image " in said.err
    assert "differs from the one in remote-images.txt [image-fetch]" in said.err
    assert "1 image downloaded" in said.out
    assert "1 failed" in said.out
    assert (site / "remote-images.txt").read_bytes() == record
    assert main(["images", "fetch", "--renew"]) == 0
    assert second.read_bytes() == png(8, 3)


def test_another_picture_is_not_taken_unasked(
    site: Path, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["images", "fetch"]) == 0
    first, _ = copies_of(site)
    first.unlink()
    host.put("/a.png", png(5, 5, "blue"))
    capsys.readouterr()
    assert main(["images", "fetch"]) == 1
    said = capsys.readouterr().err
    assert "the image differs from the one recorded in remote-images.txt" in said
    assert "inspect the image, then run `blogsmith images fetch --renew` to replace the copy" in said
    assert not first.exists()
    assert main(["images", "fetch", "--renew"]) == 0
    assert first.read_bytes() == png(5, 5, "blue")
    assert build(site).ok


def test_what_fails_stops_nothing_else(site: Path, host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    del host.answers["/a.png"]
    assert main(["images", "fetch"]) == 1
    said = capsys.readouterr()
    assert f'cannot copy image "{host.url}/a.png": the server answers 404 Not Found [image-fetch]' in said.err
    assert [file.read_bytes() for file in copies_of(site)] == [png(8, 3)]
    assert "1 image downloaded" in said.out


def test_a_dry_run_asks_nobody(site: Path, host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["images", "fetch", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{host.url}/a.png",
        f"{host.url}/b.png",
        "2 images would be downloaded, 0 already present",
    ]
    assert host.asked == []
    assert not (site / "remote-images.txt").exists()


def test_a_site_that_is_not_trusted_reaches_no_private_host(
    site: Path,
    host: Host,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
    assert main(["images", "fetch"]) == 1
    said = capsys.readouterr().err
    assert 'host "127.0.0.1" is in a private network (127.0.0.1), and this site is not trusted' in said
    assert "hint: run `blogsmith trust` if you know the site" in said
    assert host.asked == []


def test_nothing_is_written_through_a_link(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (site / "static").mkdir()
    (site / "static/remote").symlink_to(outside)
    assert main(["images", "fetch"]) == 1
    assert "a link is in the way" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


def test_the_front_matter_and_all_syntaxes_are_seen(
    site: Path, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    body = f'''---
title: B
date: 2026-03-01
image: {host.url}/head.png
---

<video poster="{host.url}/poster.png"></video>
<picture><source srcset="{host.url}/set.png 2x"><img src="/x.png"></picture>

{{% include img.html src="{host.url}/c.png" %}}
'''
    draft = "---\ntitle: A\ndraft: true\n---\n![x](//d.org/a)\n"
    put(site, {"blogsmith.yaml": "title: A\n", "content/posts/b.md": body, "content/posts/a.md": draft})
    assert main(["images", "fetch", "--dry-run"]) == 0
    said = capsys.readouterr()
    addresses = said.out.splitlines()[:-1]
    assert addresses == [f"{host.url}/{name}.png" for name in ("head", "poster", "set", "c")]


def test_what_no_page_names_is_told(site: Path, capsys: pytest.CaptureFixture[str], host: Host) -> None:
    assert main(["images", "fetch"]) == 0
    put(site, {"content/posts/a.md": "---\ntitle: A\ndate: 2026-03-01\n---\nText\n"})
    capsys.readouterr()
    assert main(["images", "fetch"]) == 0
    assert f"no longer used: {host.url}/a.png" in capsys.readouterr().out


def test_a_copy_that_changes_makes_its_page_anew(site: Path, host: Host) -> None:
    assert main(["images", "fetch"]) == 0
    assert compare(site).ok
    first, _ = copies_of(site)
    data = png(40, 30)
    first.write_bytes(data)
    assert not compare(site).ok
    record = (site / "remote-images.txt").read_text()
    old = hashlib.sha256(png(4, 3)).hexdigest()
    put(site, {"remote-images.txt": record.replace(old, hashlib.sha256(data).hexdigest())})
    assert compare(site).ok
    assert 'width="40" height="30"' in page_of(site)
    assert copy_state(site, read_record(site)[0][f"{host.url}/a.png"]) == "there"


# pictures from there


def with_rule(root: Path, rule: str, more: str = "") -> Path:
    """Create a site whose post uses an image on another host."""
    text = "![A](https://pictures.example/a.png)\n"
    post = f"---\ntitle: A\ndate: 2026-03-01\n---\n\n{text}"
    return put(root, {"blogsmith.yaml": f"images: {{remote: {rule}}}\n{more}", "content/posts/a.md": post})


@pytest.mark.parametrize("untrusted", [False, True])
@pytest.mark.parametrize("rule", ["warn", "allow"])
def test_a_picture_that_is_allowed_can_be_seen(tmp_path: Path, rule: str, untrusted: bool) -> None:
    more = "markup: {untrusted: true}\n" if untrusted else ""
    report = build(with_rule(tmp_path, rule, more))
    assert report.ok
    assert [found.code for found in report.diagnostics] == (["image-remote"] if rule == "warn" else [])
    html = page_of(tmp_path)
    assert '<img src="https://pictures.example/a.png" loading="lazy"' in html
    assert 'referrerpolicy="no-referrer"' in html
    policy = html.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    (images,) = [part for part in policy.split("; ") if part.startswith("img-src")]
    assert "https://pictures.example" in images.split()


def test_a_picture_elsewhere_is_an_error_by_default(tmp_path: Path) -> None:
    report = build(with_rule(tmp_path, "error"))
    assert not report.ok
    assert "write `images: {remote: fetch}` in blogsmith.yaml and run `blogsmith images fetch`" in printed(
        report
    )


# posters of videos

VIDEOS = """\
<div class="video-embed" data-src="https://youtu.be/abcdefghijk?t=30"></div>

<div class="video-embed" data-src="https://www.youtube.com/watch?v=abcdefghijk&list=PLx"></div>

{% video-embed src="https://vimeo.com/123456789" title="A talk" %}

<div class="video-embed" data-src="https://www.youtube.com/playlist?list=PLx" data-poster="own.png"></div>
"""
WATCH = "https://www.youtube.com/watch?v=abcdefghijk"
VIMEO = "https://vimeo.com/123456789"


def oembed(picture: str) -> bytes:
    """Return a host's metadata of a video."""
    return json.dumps({"type": "video", "title": "<b>x</b>", "thumbnail_url": picture}).encode()


@pytest.fixture
def videos(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site with videos; every host on the network is the one on this machine."""
    root = tmp_path / "site"
    post = f"---\ntitle: A\ndate: 2026-03-01\n---\n\n{VIDEOS}"
    config = "images: {remote: fetch}\n"
    template = bundled_folder("themes") / "paper/shortcodes/video-embed.html"
    put_bare(
        root,
        {
            "blogsmith.yaml": config,
            "content/posts/a.md": post,
            "content/posts/own.png": png(),
            "shortcodes/video-embed.html": template.read_bytes(),
        },
    )
    trust(root)
    monkeypatch.chdir(root)

    def download_here(address: str, limits: Limits) -> Downloaded:
        assert address.startswith("https://")
        return download(address.replace("https://", f"{host.url}/", 1), limits)

    monkeypatch.setattr("blogsmith.cli.image_fetch.download", download_here)
    host.put(
        f"/www.youtube.com/oembed?format=json&url={quote(WATCH, safe='')}",
        oembed("https://i.ytimg.com/vi/abcdefghijk/hqdefault.jpg"),
        "application/json",
    )
    host.put("/i.ytimg.com/vi/abcdefghijk/hqdefault.jpg", png(480, 360))
    host.put(
        f"/vimeo.com/api/oembed.json?width=1280&url={quote(VIMEO, safe='')}",
        oembed("https://i.vimeocdn.com/video/1-abc_1280"),
        "application/json",
    )
    host.put("/i.vimeocdn.com/video/1-abc_1280", png(1280, 720))
    return root


def test_posters_are_fetched_once_and_shown(
    videos: Path, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(videos).diagnostics == ()
    assert page_of(videos).count("embed-poster") == 1
    assert host.asked == [], "a build uses no network"
    assert main(["images", "fetch", "--dry-run"]) == 0
    assert capsys.readouterr().out == f"{WATCH}\n{VIMEO}\n2 images would be downloaded, 0 already present\n"
    assert host.asked == []
    assert main(["images", "fetch"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("2 images downloaded (")
    assert "/i.ytimg.com/vi/abcdefghijk/maxresdefault.jpg" in host.asked
    asked = len(host.asked)
    assert build(videos).diagnostics == ()
    page = page_of(videos)
    assert page.count('class="embed-poster"') == 4
    assert re.findall(r'src="(/remote/[\w./-]+)"', page) == [
        f"/{path.removeprefix('static/')}"
        for path in (copy_path(WATCH, ".png"), copy_path(WATCH, ".png"), copy_path(VIMEO, ".png"))
    ]
    assert "ytimg" not in page and "vimeocdn" not in page
    assert main(["images", "fetch"]) == 0
    assert len(host.asked) == asked, "nothing is requested twice"


def test_a_large_poster_is_taken_where_there_is_one(videos: Path, host: Host) -> None:
    host.put("/i.ytimg.com/vi/abcdefghijk/maxresdefault.jpg", png(1280, 720))
    assert main(["images", "fetch"]) == 0
    assert (videos / copy_path(WATCH, ".png")).read_bytes() == png(1280, 720)
    assert "/i.ytimg.com/vi/abcdefghijk/hqdefault.jpg" not in host.asked


@pytest.mark.parametrize("rule", ["error", "warn", "allow"])
def test_no_posters_without_the_setting(rule: str, videos: Path, host: Host) -> None:
    (videos / "blogsmith.yaml").write_text(f"theme: bare\nimages: {{remote: {rule}}}\n")
    assert main(["images", "fetch"]) == 0
    assert host.asked == []
    assert build(videos).diagnostics == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (oembed("https://evil.example/x.png"), "not on its own servers"),
        (oembed("https://i.ytimg.com.evil.example/x.png"), "not on its own servers"),
        (oembed("https://i.ytimg.com:8443/x.png"), "not on its own servers"),
        (oembed("http://i.ytimg.com/x.png"), "not on its own servers"),
        (oembed("file:///etc/passwd"), "not on its own servers"),
        (oembed("https://i.ytimg.com@evil.example/x.png"), "not on its own servers"),
        (b'{"thumbnail_url": 3}', "its host provides no poster image"),
        (b"<html>", "its host provides no poster image"),
        (b"\xff\xfe", "its host provides no poster image"),
        (b"{}", "its host provides no poster image"),
    ],
)
def test_a_poster_comes_from_the_host_of_its_video(
    videos: Path, host: Host, capsys: pytest.CaptureFixture[str], answer: bytes, reason: str
) -> None:
    host.put(f"/www.youtube.com/oembed?format=json&url={quote(WATCH, safe='')}", answer, "application/json")
    assert main(["images", "fetch"]) == 1
    problem = capsys.readouterr().err
    assert f'cannot copy poster "{WATCH}": ' in problem and reason in problem
    assert "content/posts/a.md:6:36" in problem
    assert not [path for path in host.asked if "evil" in path or "passwd" in path]


def test_a_poster_that_was_changed_is_not_shown(videos: Path, host: Host) -> None:
    assert main(["images", "fetch"]) == 0
    (videos / copy_path(VIMEO, ".png")).write_bytes(png(9, 9))
    assert [found.code for found in build(videos).diagnostics] == ["image-fetch"]
