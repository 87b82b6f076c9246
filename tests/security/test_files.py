"""Rows 26 and 27: posts include only files of the site, and pages are written only to the output folder."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path

import pytest

from tests.site_files import build, printed, put, put_bare

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>'
PROMPT_S = 4.0
"""Limit in CPU seconds for a build, including imports. These files take less than a hundredth of it."""
MOST_BYTES = 300_000_000


def post(text: str) -> str:
    return f"---\ntitle: A\ndate: 2026-01-01\n---\n{text}\n"


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    "path",
    [
        *("layouts/post.html", "partials/a.html", "shortcodes/a.html", "languages/en.yaml", "layouts"),
        *("plugins/a.py", "themes/mine/static/a.css", "remote-images.txt"),
    ],
)
def test_row_26_pipes_and_sockets_where_templates_and_settings_belong(path: str, tmp_path: Path) -> None:
    put(tmp_path, {"blogsmith.yaml": "images: {remote: fetch}\n", "content/posts/a.md": post("Text")})
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / path)
    started = time.process_time()
    assert f"{path}: error: " in printed(build(tmp_path))
    (tmp_path / path).unlink()
    with socket.socket(socket.AF_UNIX) as server, chdir((tmp_path / path).parent):
        server.bind(Path(path).name)
    assert f"{path}: error: " in printed(build(tmp_path))
    assert time.process_time() - started < 2 * PROMPT_S


# -- 26: sources --


def fifo(file: Path) -> None:
    os.mkfifo(file)


def folder(file: Path) -> None:
    file.mkdir()


def empty(file: Path) -> None:
    file.touch()


def sparse(file: Path) -> None:
    """Write a sparse file of 5 GB, which takes no space on the disk."""
    file.touch()
    os.truncate(file, 5 * 10**9)


def device(file: Path) -> None:
    """Link to a device; creating a device node needs root."""
    file.symlink_to("/dev/zero")


def endless(file: Path) -> None:
    """Write the start of an SVG element that never ends."""
    file.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'" + b" " * 3_000_000)


def loop(file: Path) -> None:
    file.symlink_to(file.name)


def secret(file: Path) -> None:
    file.touch()
    file.chmod(0)


USES = (
    "![x](odd{0})",
    '{{% img src="odd{0}" %}}',
    '{{% include img.html src="odd{0}" %}}',
    '{{% image-compare before="odd{0}" after="fine.svg" %}}',
    "Text ![x](odd{0}) text.",
)


@pytest.mark.skipif(os.name != "posix", reason="such files are those of Linux and macOS")
@pytest.mark.parametrize(
    "kind", [fifo, folder, empty, sparse, device, endless, loop], ids=lambda made: made.__name__
)
@pytest.mark.parametrize("ending", [".png", ".svg", ".jpg"])
def test_row_26_a_picture_that_is_no_picture_is_an_error_at_once(
    kind: Callable[[Path], object], ending: str, tmp_path: Path
) -> None:
    text = "\n\n".join(use.format(ending) for use in USES)
    files = {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post(text), "content/posts/fine.svg": SVG}
    root = put_bare(tmp_path, files)
    kind(root / f"content/posts/odd{ending}")
    before, started = peak_bytes(), time.process_time()
    report = build(root)
    assert time.process_time() - started < PROMPT_S
    assert peak_bytes() - before < MOST_BYTES
    named = [found for found in report.diagnostics if found.path == "content/posts/a.md" and found.place]
    assert len(named) == len(USES), printed(report)
    assert {found.severity for found in named} == {"error"}
    assert not (root / "public").exists()


@pytest.mark.skipif(os.name != "posix", reason="such files are those of Linux and macOS")
@pytest.mark.parametrize("kind", [fifo, sparse, device, loop], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    "place", ["content/posts/b.md", "static/odd.txt", "content/posts/odd.csv", "layouts/post.html"]
)
def test_row_26_nor_does_any_other_file_hold_a_build_up(
    kind: Callable[[Path], object], place: str, tmp_path: Path
) -> None:
    if kind is sparse and place != "content/posts/b.md":
        pytest.skip("a file that is copied may be as large as its author likes")
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post("x")})
    (root / place).parent.mkdir(exist_ok=True, parents=True)
    kind(root / place)
    before, started = peak_bytes(), time.process_time()
    report = build(root)
    assert time.process_time() - started < PROMPT_S
    assert peak_bytes() - before < MOST_BYTES
    if place.startswith("layouts") and kind not in (device, fifo):
        assert report.ok, "what is no file is no layout; the theme's stands for it"
    else:
        assert place in {found.path for found in report.diagnostics}, printed(report)
        assert not report.ok


@pytest.mark.parametrize(
    "src",
    [
        "../../../x.svg",
        "/../x.svg",
        "..%2f..%2f..%2fx.svg",
        "....//....//x.svg",
        "..\\..\\x.svg",
        "C:\\x.svg",
        "//host/x.svg",
        "/etc/hostname",
        "./../../../x.svg",
        "posts/../../../x.svg",
        "~/x.svg",
        "$HOME/x.svg",
        ".",
        "..",
        "/",
        "x.svg\x7f",
        "*.svg",
        "?.svg",
        "[a-z].svg",
        "a" * 5000 + ".svg",
    ],
    ids=lambda src: src[:20],
)
def test_row_26_a_source_that_leaves_the_site_is_not_found(src: str, tmp_path: Path) -> None:
    put(tmp_path, {"x.svg": SVG})
    text = f'{{% img src="{src}" %}}'
    root = put_bare(tmp_path / "s", {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post(text)})
    report = build(root)
    errors = [found for found in report.diagnostics if found.severity == "error"]
    assert [found.path for found in errors] == ["content/posts/a.md"]
    assert not list(root.glob("public/**/*.svg"))


# -- 27: URLs --

SLUGS = (
    "../../x",
    "../x",
    "/x",
    "a/../b",
    "a/b",
    "..",
    ".",
    "./x",
    "x/.",
    "%2e%2e",
    "%2e%2e%2fx",
    "%2F",
    "x\\y",
    "..\\x",
    "C:x",
    "con",
    "CON",
    "nul",
    "aux",
    "com1",
    "lpt9",
    "prn",
    "x.",
    "x ",
    " x",
    "a" * 300,
    "é" * 200,
    "a\tb",
    "a\x7fb",
    "a?b",
    "a#b",
    "a*b",
    "a|b",
    'a"b',
    "a<b",
    "a:b",
    ".hidden",
    "~",
    "a\u202eb",
    "a\u200bb",
    "index.html",
    "...",
    "-",
)
LONG = "/" + "a" * 300 + "/:slug/"
PERMALINKS = (
    "%2e%2e/x",
    "/../:slug/",
    "/a/../../:slug/",
    "/..%2f:slug/",
    "/:slug/../../x/",
    "//evil.example/:slug/",
    "/a\\b/:slug/",
    "https://evil.example/:slug/",
    "/con/:slug/",
    "/x./:slug/",
    "/?a=:slug",
    "/#:slug",
    "/:nothing/",
    "/.blogsmith-new/:slug/",
    "/./:slug/",
    LONG,
    "",
)


def outside(root: Path) -> list[str]:
    """Return every file that a build left outside the output folder and our own folders."""
    kept = ("public", ".blogsmith", "content", "blogsmith.yaml", "themes")
    files = (file.relative_to(root.parent) for file in root.parent.rglob("*") if not file.is_dir())
    return sorted(str(file) for file in files if file.parts[0] != "s" or file.parts[1] not in kept)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def slugged(root: Path, key: str, slugs: Sequence[str]) -> Path:
    """Write a site with one post for each slug."""
    texts = {}
    for number, slug in enumerate(slugs):
        value = f"[{quoted(slug)}]" if key == "aliases" else quoted(slug)
        head = f"title: P{number}\ndate: 2026-01-01\n{key}: {value}"
        texts[f"content/posts/p{number:02}.md"] = f"---\n{head}\n---\nx\n"
    return put_bare(root, {"blogsmith.yaml": "title: T\n", **texts})


@pytest.mark.parametrize(
    ("key", "accepted"),
    [
        # Spaces around a value are ignored, so " x" is the same URL and reported as a duplicate.
        ("slug", ["x ", "index.html"]),
        ("aliases", ["/x"]),
        # `%2F` is the URL of the front page.
        ("permalink", ["/x", "a/b", "%2F"]),
        ("url", ["/x", "a/b", "%2F"]),
    ],
)
def test_row_27_a_slug_stays_where_it_belongs(key: str, accepted: list[str], tmp_path: Path) -> None:
    root = slugged(tmp_path / "s", key, SLUGS)
    report = build(root)
    assert outside(root) == []
    assert not list(root.glob("public/*"))
    told = {found.path for found in report.diagnostics if found.severity == "error" and found.place}
    fine = [slug for number, slug in enumerate(SLUGS) if f"content/posts/p{number:02}.md" not in told]
    assert fine == accepted


@pytest.mark.parametrize(("key", "slug"), [("slug", "x "), ("slug", " x"), ("aliases", "/x"), ("slug", "ok")])
def test_row_27_a_slug_that_will_do_is_a_folder_of_the_output(key: str, slug: str, tmp_path: Path) -> None:
    root = slugged(tmp_path / "s", key, [slug])
    assert build(root).ok
    assert outside(root) == []
    address = f"posts/{slug.strip()}" if key == "slug" else "x"
    assert (root / "public" / address / "index.html").is_file()


@pytest.mark.parametrize("pattern", PERMALINKS, ids=ascii)
def test_row_27_a_permalink_stays_in_the_output(pattern: str, tmp_path: Path) -> None:
    config = f"title: T\npermalinks:\n  posts: {quoted(pattern)}\n"
    root = put_bare(tmp_path / "s", {"blogsmith.yaml": config, "content/posts/a.md": post("x")})
    report = build(root)
    assert outside(root) == []
    assert not report.ok
    (found, *_) = report.diagnostics
    is_too_long = found.code == "output-write" and "name too long" in found.message
    assert is_too_long or (found.path == "blogsmith.yaml" and found.place and found.place.line == 3)


@pytest.mark.parametrize(
    "name", ["con.md", "a..md", "%2e%2e.md", "a\\b.md", "a:b.md", "-.md", "a\nb.md", "\u202e.md"]
)
def test_row_27_the_name_of_a_file_stays_where_it_belongs(name: str, tmp_path: Path) -> None:
    root = put_bare(tmp_path / "s", {"blogsmith.yaml": "title: T\n", f"content/posts/{name}": post("x")})
    report = build(root)
    assert outside(root) == []
    assert report.ok or report.diagnostics
    for file in root.glob("public/**/*"):
        assert not set(file.name) & set('\\:*?"<>|%\n\u202e')
