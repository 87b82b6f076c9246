"""Rows 1 to 5: whatever the request line is, the preview serves only files of the site."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.preview_client import SECURITY, Client, ask, serving, site
from tests.preview_files import picture, with_file
from tests.rows import each_row
from tests.serve_process import Serving, post, running, write

__all__ = ["picture"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
SECRET = "known to nobody but the author"
PAGE = "/posts/a/"

CLIMBING = [
    *("/../x", "/%2e%2e/x", "/..%2fx", "/%252e%252e/x", "/..\\x", "//host/x", "/a/../../x"),
    *("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/.%2e/secret.txt"),
    *("/..\\secret.txt", "/..%5csecret.txt", "//secret.txt", "/posts/../../secret.txt", "/./../secret.txt"),
    *("/posts/a/../../../secret.txt", "/static/../secret.txt", "/../site/blogsmith.yaml", "/%2fetc/passwd"),
    *("/etc/passwd", "//etc/passwd", "/%c0%ae%c0%ae/secret.txt", "/..;/secret.txt", "/..%00/secret.txt"),
    *("/_blogsmith/../secret.txt", "/_blogsmith/%2e%2e/answer.py", "/_blogsmith/vendor/../../answer.py"),
    *("file:///etc/passwd", "/data.txt/../../secret.txt", "/data.txt%00.html", "/....//secret.txt"),
]
BESIDE = [
    *("/public-secret/x", "/site-secret/x.txt", "/../site-secret/x.txt", "/%2e%2e/site-secret/x.txt"),
    *("/static-secret/x.txt", "/../static-secret/x.txt", "-secret/x.txt", "/-secret/x.txt"),
]
MALFORMED = [
    *(b"/a#b", b"/a?#b", b"/\x00", b"/a%00", b"/a%0d%0ab", b"/a\rb", b"/a\nb", b"/a\r\nb"),
    *(b"//host/x", b"/..%2fx", b"/..\\x", b"http://127.0.0.1/", b"*", b"x", b""),
    *(b"/" + b"a" * 100_000, b"/?" + b"a" * 100_000, b"/%ff", b"/%c3%28", b"/%zz", b"/%", b"/\xc3\xa9"),
    *(b"/%ed%a0%80", b"/%c0%af", b"/%f8%88%80%80%80"),
]
SOURCES = [
    *(
        "/.env",
        "/.git/config",
        "/.env/.",
        "/.env/",
        "/.env?raw??",
        "/.env?import&raw",
        "/.env?url",
    ),
    *(
        "/content/posts/a.md",
        "/content/posts/a.md?raw??",
        "/posts/a.md",
        "/posts/a/index.md",
        "/posts/draft/",
    ),
    *("/posts/a/a.md", "/posts/hidden/.secret.txt", "/posts/a/%2e", "/.blogsmith", "/.blogsmith/preview.db"),
    *(
        "/blogsmith.yaml",
        "/_freeze/",
        "/@fs/etc/passwd",
        "/@fs/.env",
        "/__file__/.env",
        "/themes/mine/theme.yaml",
    ),
    *("/plugins/mine.py", "/static/data.txt", "/_blogsmith/", "/_blogsmith/client_files.py"),
    *("/_blogsmith/README.md", "/_blogsmith/vendor/", "/_blogsmith/live.js/.", "/node_modules/x/index.js"),
]


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a preview of a site surrounded by files with a secret, none of which belongs to the site."""
    folder = tmp_path_factory.mktemp("requests")
    root = folder / "site"
    secrets = ["secret.txt", "site-secret/x.txt", "static-secret/x.txt"]
    hidden = [".env", ".git/config", "content/.secret.txt", "content/posts/hidden/.secret.txt", "notes.txt"]
    hidden += ["plugins/mine.py", "_freeze/x.json", "static-secret/x.txt", "node_modules/x/index.js"]
    write(folder, dict.fromkeys(secrets, SECRET))
    write(root, dict.fromkeys(hidden, SECRET))
    files = {
        "blogsmith.yaml": f"# {SECRET}\ntitle: Notes\n",
        "content/posts/a.md": post("First", "Some text.") + f"\n<!-- {SECRET} -->\n",
        "content/posts/draft.md": post("A draft", SECRET, draft="true"),
        "content/posts/hidden/index.md": post("Hidden", "Some text."),
        "themes/mine/theme.yaml": f"# {SECRET}\nname: mine\n",
        "static/data.txt": "some data",
    }
    write(root, files | {"content/posts/a.md": post("First", "Some text.")})
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


def is_refused(previewed: Serving, target: str | bytes, *statuses: int) -> None:
    """Assert that the request is rejected and that the server still works."""
    with Client(previewed.port) as client:
        got = client.ask(target)
    assert got.status in statuses, target
    assert SECRET.encode() not in got.body and b"root:" not in got.body
    assert got.headers.items() >= SECURITY.items()
    assert "Some text." in previewed.page(PAGE)


@linux
@each_row("target", CLIMBING)
def test_row_01_no_path_leads_out_of_the_site(previewed: Serving, target: str) -> None:
    is_refused(previewed, target, 400, 404)


@each_row("target", [*CLIMBING, *SOURCES])
def test_row_01_the_site_is_asked_for_a_path_as_it_stands(target: str) -> None:
    pages = site()
    with serving(pages) as server:
        assert ask(server, target).status in (400, 404)
    # If the request reached the site, its path was unchanged.
    assert pages.asked in ([], [target.partition("?")[0].replace("%25", "%")])


@linux
@pytest.mark.parametrize("folder", ["static", "content/posts/hidden"])
def test_row_02_a_link_that_leads_out_is_not_followed(previewed: Serving, folder: str) -> None:
    outside = previewed.root.parent / "secret.txt"
    path = f"/{folder.partition('/')[2] + '/' if folder != 'static' else ''}link.txt"
    link = previewed.root / folder / "link.txt"
    for target in (outside, "/etc/passwd", os.path.relpath(outside, link.parent), "../../secret.txt"):
        link.symlink_to(target)
        for _ in range(20):
            # The response must not depend on whether the preview has noticed the link.
            is_refused(previewed, path, 404)
        link.unlink()


def test_row_02_links_put_in_the_way_are_not_followed(picture: Path) -> None:
    secret = picture.parent.parent.parent / "site-secret"
    with serving(with_file(picture)) as server:
        picture.unlink()
        picture.symlink_to(secret / "a.png")
        assert ask(server, "/a.png").status == 404
        picture.unlink()
        picture.parent.rmdir()
        picture.parent.symlink_to(secret)
        assert ask(server, "/a.png").status == 404
        picture.parent.unlink()
        picture.parent.symlink_to("posts")  # A link to itself.
        assert ask(server, "/a.png").status == 404


def test_row_02_only_regular_files_are_opened(picture: Path) -> None:
    with serving(with_file(picture)) as server:
        picture.unlink()
        assert ask(server, "/a.png").status == 404
        picture.mkdir()
        assert ask(server, "/a.png").status == 404
        picture.rmdir()
        os.mkfifo(picture)
        assert ask(server, "/a.png").status == 404
    with serving(with_file(picture.parent / ".." / "posts" / "a.png")) as server:
        picture.unlink()
        picture.write_bytes(b"x")
        assert ask(server, "/a.png").status == 404


@linux
@each_row("target", BESIDE)
def test_row_03_a_folder_with_the_same_first_letters_is_another_one(previewed: Serving, target: str) -> None:
    is_refused(previewed, target, 400, 404)


@linux
@each_row("target", MALFORMED, ids=lambda target: repr(target[:20]))
def test_row_04_what_no_request_line_can_be_is_refused(previewed: Serving, target: bytes) -> None:
    is_refused(previewed, target, 400)


@each_row("target", MALFORMED, ids=lambda target: repr(target[:20]))
def test_row_04_the_site_is_not_asked(target: bytes) -> None:
    pages = site()
    with serving(pages) as server:
        got = ask(server, target)
        assert got.status == 400
        assert got.headers.items() >= SECURITY.items()
        assert pages.asked == []
        assert ask(server, "/posts/a/").status == 200


@linux
@each_row("target", SOURCES)
def test_row_05_sources_and_hidden_files_have_no_address(previewed: Serving, target: str) -> None:
    is_refused(previewed, target, 400, 404)
