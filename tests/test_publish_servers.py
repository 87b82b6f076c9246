"""nginx and Caddy with our settings, as on a server except for port and folders."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.publish_sites import ALIASES, Served, free_port, needs_program, publish_site, run, serving

BASES = ("", "/blog", "/a+b(c)$1")
"""Paths of sites: at the root, in a folder, and in one whose name has a meaning in patterns."""


@contextmanager
def nginx(root: Path, tmp_path: Path) -> Iterator[Served]:
    program = needs_program("nginx", "/usr/sbin", "/usr/local/sbin")
    port = free_port()
    server = (root / "publish/nginx.conf").read_text("utf-8")
    server = server.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("    listen [::]:80;\n", "")
    prefix = tmp_path / "nginx"
    prefix.mkdir()
    types = Path("/etc/nginx/mime.types").read_text("utf-8")
    folders = "".join(
        f"{name}_temp_path {prefix}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (prefix / "mime.types").write_text(types, "utf-8")
    (prefix / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {prefix}/pid; error_log {prefix}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\ninclude mime.types;\n"
        f"default_type application/octet-stream;\n{folders}{server}}}\n",
        "utf-8",
    )
    with serving(
        [program, "-p", str(prefix), "-c", str(prefix / "nginx.conf")], port, prefix / "log"
    ) as served:
        yield served
    assert "[warn]" not in (prefix / "error.log").read_text("utf-8")


@contextmanager
def caddy(root: Path, tmp_path: Path) -> Iterator[Served]:
    program = needs_program("caddy")
    port = free_port()
    text = (root / "publish/Caddyfile").read_text("utf-8")
    text = re.sub(r'^"(?:http://)?notes\.example\.org" \{', f"http://127.0.0.1:{port} {{", text, flags=re.M)
    file = tmp_path / "Caddyfile"
    file.write_text("{\n\tadmin off\n\tauto_https off\n}\n" + text, "utf-8")
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    command = [program, "run", "--config", str(file), "--adapter", "caddyfile"]
    with serving(command, port, tmp_path / "log", environment) as served:
        yield served


SERVERS = {"nginx": nginx, "caddy": caddy}


@pytest.fixture(scope="module", params=BASES, ids=("root", "folder", "signs"))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a built site with the settings of both servers, and its base path."""
    base = request.param
    root = publish_site(tmp_path_factory.mktemp("published"), f"base_url: 'http://notes.example.org{base}'\n")
    assert run("build", "--site", str(root)) == 0
    # as uploaded by a tool that skips nothing
    (root / "public/.env").write_text("secret", "utf-8")
    return root, base


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_with_our_settings(name: str, built: tuple[Path, str], tmp_path: Path) -> None:
    root, base = built
    setup = ("publish", "setup", name, "--site", str(root), "--destination", str(root / "public"), "--force")
    if name == "nginx" and "$" in base:
        # a variable cannot be escaped there, so it is rejected
        assert run(*setup) == 1
        return
    assert run(*setup) == 0
    with SERVERS[name](root, tmp_path) as served:
        _check_pages(served, base)
        _check_types(served, base)
        _check_caches(served, base, root)
        _check_errors(served, base)
        _check_redirects(served, base)


def _check_pages(served: Served, base: str) -> None:
    page = served.get(f"{base}/posts/first/", Accept_Encoding="gzip")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in page.headers["vary"].lower()
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["content-security-policy"] == "frame-ancestors 'self'"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "strict-origin-when-cross-origin"
    html = gzip.decompress(page.body).decode()
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'' in html
    again = served.get(f"{base}/posts/first/", If_None_Match=page.headers["etag"], Accept_Encoding="gzip")
    assert again.status == 304
    assert again.body == b""
    without_slash = served.get(f"{base}/posts/first")
    assert without_slash.status in (301, 308)
    assert without_slash.headers["location"].endswith(f"{base}/posts/first/")
    assert served.get(f"{base}/").status == 200
    if base:
        bare = served.get(base)
        assert (bare.status, bare.headers["location"]) == (301, f"{base}/")


def _check_types(served: Served, base: str) -> None:
    for path, kind in (
        ("/posts/first/index.md", "text/markdown; charset=utf-8"),
        ("/atom.xml", "application/atom+xml; charset=utf-8"),
        ("/tags/one/atom.xml", "application/atom+xml; charset=utf-8"),
        ("/llms.txt", "text/plain; charset=utf-8"),
    ):
        assert served.get(base + path).headers["content-type"] == kind, path
    assert served.get(f"{base}/sitemap.xml").headers["content-type"].partition(";")[0] in (
        "text/xml",
        "application/xml",
    )
    assert served.get(f"{base}/feed.json").headers["content-type"].startswith("application/json")
    assert served.get(f"{base}/posts/first/squares.svg").headers["content-type"] == "image/svg+xml"


def _check_caches(served: Served, base: str, root: Path) -> None:
    html = (root / "public/posts/first/index.html").read_text("utf-8")
    named = set(re.findall(r'(?:href|src)="([^"]*/assets/[^"]*)"', html))
    assert len(named) > 4
    for address in named:
        found = served.get(address)
        assert found.status == 200, address
        assert found.headers["cache-control"] == "public, max-age=31536000, immutable", address
        # these headers are not lost when another one is set
        assert found.headers["x-content-type-options"] == "nosniff"
    unversioned = next(address for address in named if "?v=" in address).partition("?")[0]
    for address in (unversioned, f"{base}/posts/first/squares.svg", f"{base}/posts/first/?v=01234567"):
        assert served.get(address).headers["cache-control"] == "no-cache", address
    assert served.get(f"{base}/assets/paper/none.js?v=01234567").headers["cache-control"] == "no-cache"


def _check_errors(served: Served, base: str) -> None:
    for path in (
        "/none/",
        "/none.html",
        "/assets/",
        "/data/",
        "/.env",
        "/.blogsmith-manifest.json",
        "/posts/.git/config",
        "/%2e%2e/blogsmith.yaml",
        "/..%2fblogsmith.yaml",
    ):
        found = served.get(base + path)
        assert found.status in (400, 404), path
        if found.status == 404:
            assert b"Page not found" in found.body, path
            assert found.headers["cache-control"] == "no-cache"
            assert found.headers["x-content-type-options"] == "nosniff"
    assert served.get(f"{base}/.well-known/security.txt").status == 200
    if base:
        assert served.get("/").status == 404


def _check_redirects(served: Served, base: str) -> None:
    for alias in ALIASES:
        for form in {alias, alias.rstrip("/")}:
            found = served.get(quote(base + form))
            assert found.status == 301, form
            assert found.headers["location"] == quote(f"{base}/posts/first/", safe="/-_.~")
