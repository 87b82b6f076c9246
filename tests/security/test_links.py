"""Rows 28 and 29: symbolic links lead only into the site, and unrelated output folders are not overwritten.

`test_own_folders.py` tests links in blogsmith's own folders (`.blogsmith/`, the output).
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.importers.source_files import open_file, source_root
from blogsmith.preview.http.reply import open_part
from blogsmith.read.text_files import read_text_file
from blogsmith.render.images import ImageError, image_size
from blogsmith.write.output import clean, write_site
from tests.site_files import build, printed, put, put_bare
from tests.test_read_files import faults, read, write
from tests.test_sites import tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links as Linux and macOS have them")
SECRET = "the-secret-of-the-house"
POST = "---\ntitle: A\ndate: 2026-01-01\n---\nx\n"
SITE = {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST}

# -- 28: links in content and static --


def test_row_28_links_inside_the_site_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "shared/fig.png", "shared/more/b.md", "content/a.md")
    (tmp_path / "content/fig.png").symlink_to("../shared/fig.png")
    (tmp_path / "content/more").symlink_to("../shared/more")
    found = read(tmp_path)
    assert [str(source.path) for source in found.sources] == ["content/a.md", "content/more/b.md"]
    assert [(str(a.path), a.file) for a in found.assets] == [("content/fig.png", tmp_path / "shared/fig.png")]
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    ("link", "target", "severity", "words"),
    [
        ("content/x.md", "/etc/passwd", "error", "points outside the site"),
        ("content/x", "../..", "error", "points outside the site"),
        ("content/x.md", "../../site-secret/a.md", "error", "points outside the site"),
        ("content/x.md", "../.env", "error", "points to a hidden file"),
        ("content/x", "../public", "error", "points into the output folder"),
        ("content/x.md", "missing.md", "error", "broken symbolic link"),
        ("content/x", "x", "error", "broken symbolic link"),
        ("content/x", ".", "warning", "points to a folder that contains it"),
        ("content/posts/x", "..", "warning", "points to a folder that contains it"),
        ("content/posts/x", "../..", "warning", "points to a folder that contains it"),
        ("content", "../outside", "error", "points outside the site"),
        ("static", "/etc", "error", "points outside the site"),
    ],
)
def test_row_28_links_that_are_not_followed(
    tmp_path: Path, link: str, target: str, severity: str, words: str
) -> None:
    root = tmp_path / "site"
    write(tmp_path, "outside/a.md", "site-secret/a.md", "site/.env", "site/public/a.md")
    if link != "content":
        write(root, "content/posts/a.md")
    (root / link).symlink_to(target)
    found = read(root)
    assert faults(found) == [("symlink", link, severity)]
    assert words in found.diagnostics[0].message
    assert {source.path.name for source in found.sources} <= {"a.md"}
    assert not found.static


def test_row_28_a_folder_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path, "shared/a.md", "content/b.md")
    for name in ("one", "two"):
        (tmp_path / "content" / name).symlink_to("../shared")
    found = read(tmp_path)
    assert [str(source.path) for source in found.sources] == ["content/b.md", "content/one/a.md"]
    assert faults(found) == [("symlink", "content/two", "warning")]


def test_row_28_links_that_double_at_every_step_end(tmp_path: Path) -> None:
    for depth in range(30):
        folder = tmp_path / f"shared/{depth}"
        folder.mkdir(parents=True)
        for name in ("l", "r"):
            (folder / name).symlink_to(f"../{depth + 1}")
    write(tmp_path, "shared/30/a.md", "content/b.md")
    (tmp_path / "content/go").symlink_to("../shared/0")
    found = read(tmp_path)
    assert len(found.sources) == 2
    assert {severity for _, _, severity in faults(found)} == {"warning"}


PLACES = (
    "content/x.png",
    "content/posts/x.txt",
    "content/posts",
    "static/x.txt",
    "static/x",
    "static",
    "content/posts/bundle/x.bin",
    "themes/mine/static/x.css",
    "themes/mine/layouts/post.html",
    "layouts",
    "partials/site_footer.html",
    "shortcodes/x.html",
    "_freeze/posts",
    "_freeze",
    "static/.well-known",
)
TARGETS = ("outside", "outside/secret.txt", "s-secret/secret.txt", "s/.env")


@pytest.mark.parametrize("place", PLACES)
def test_row_28_nothing_from_outside_gets_into_the_site(place: str, tmp_path: Path) -> None:
    put(tmp_path, {"outside/secret.txt": SECRET, "s-secret/secret.txt": SECRET})
    before = tree(tmp_path)
    for number, target in enumerate(TARGETS):
        root = put_bare(tmp_path / "sites" / str(number) / "s", {**SITE, ".env": SECRET})
        if "mine" in place:
            put(root, {"blogsmith.yaml": "theme: mine\n", "themes/mine/theme.yaml": "extends: bare\n"})
        if (root / place).is_dir():
            (root / "content/posts/a.md").rename(root / "content/a.md")
            (root / place).rmdir()
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).symlink_to(root / ".env" if ".env" in target else tmp_path / target)
        report = build(root)
        assert not [path for path, data in tree(root / "public").items() if SECRET.encode() in data]
        assert SECRET not in printed(report)
        assert not (tmp_path / "outside/posts").exists()
    assert {path: data for path, data in tree(tmp_path).items() if not path.startswith("sites")} == before


@pytest.mark.parametrize("place", ["content/loop", "static/loop", "themes/mine/static/loop", "layouts/loop"])
@pytest.mark.parametrize("target", [".", "..", "loop", "../.."])
def test_row_28_loops_end(place: str, target: str, tmp_path: Path) -> None:
    root = put_bare(tmp_path, {**SITE, "themes/mine/theme.yaml": "extends: bare\n"})
    put(root, {"blogsmith.yaml": "title: T\ntheme: mine\n"})
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(target)
    report = build(root)
    assert report.ok or {found.code for found in report.diagnostics} <= {"symlink", "template"}
    assert len(tree(root / "public")) < 300


# -- 29: folders that are not an output folder --

REFUSED = {
    ".": "the site itself",
    "..": "what the site lies in",
    "../..": "what that lies in",
    "/": "everything",
    "content": "sources",
    "content/public": "among sources",
    "static": "copied as it is",
    "themes": "templates",
    "layouts/x": "among templates",
    "plugins": "code",
    "_freeze": "results",
    ".blogsmith": "our own notes",
    ".git": "history",
    "public/../static": "sources after a detour",
    "{home}": "the home folder",
    "mine": "somebody's files",
    "file": "no folder",
}


@pytest.mark.parametrize("output", REFUSED)
def test_row_29_no_folder_with_files_of_others_is_an_output(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = put(tmp_path / "home", {"thesis.txt": "precious"})
    monkeypatch.setenv("HOME", str(home))
    precious = {
        "mine/notes.txt": "precious",
        "file": "precious",
        "static/a.txt": "a",
        "plugins/p.py": "",
        ".git/x": "",
    }
    root = put(tmp_path / "home/s", {**SITE, **precious, "themes/mine/theme.yaml": ""})
    before = tree(tmp_path)
    target = root / output.format(home=home)
    for attempt in (
        lambda: build(root, output=target),
        lambda: write_site([], target, site_root=root),
        lambda: clean(target, root),
    ):
        try:
            report = attempt()
        except SiteError as error:
            (found,) = error.diagnostics
        else:
            diagnostics: tuple[Diagnostic, ...] = getattr(report, "diagnostics", ())
            (found,) = diagnostics
        assert found.code == "output-folder"
        left = {path: data for path, data in tree(tmp_path).items() if "/.blogsmith/" not in path}
        assert left == {path: data for path, data in before.items() if "/.blogsmith/" not in path}
    name = output.format(home=home)
    (root / "blogsmith.yaml").write_text(f"title: T\noutput: '{name}'\n")
    report = build(root)
    assert {found.code for found in report.diagnostics} <= {"config-value", "output-folder"}
    assert not report.ok
    assert (home / "thesis.txt").read_text() == "precious"


def test_row_29_an_output_of_an_earlier_build_is_taken_back(tmp_path: Path) -> None:
    root = put(tmp_path, SITE)
    assert build(root).ok and build(root).ok
    put(root, {"public/mine.txt": "mine"})
    clean(root / "public", root)
    assert tree(root / "public") == {"mine.txt": b"mine"}


SWAP = """
import sys
from blogsmith.base.storage.folder import open_folder
from blogsmith.write.stage import exchange
with open_folder(sys.argv[1]) as folder:
    print("ready", flush=True)
    while True:
        exchange(folder, "sub", "link")
"""


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[Path]:
    """Yield a site whose folder is exchanged for a link to a secret folder, and back, all the time."""
    for name in ("site/content/posts/sub", "secret"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("f.txt", "f.svg"):
        text = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="3"><!-- {} --></svg>'
        (tmp_path / "site/content/posts/sub" / name).write_text(text.format(4, "public"))
        (tmp_path / "secret" / name).write_text(text.format(999, "TOPSECRET"))
    (tmp_path / "site/content/posts/link").symlink_to(tmp_path / "secret")
    command = [sys.executable, "-c", SWAP, str(tmp_path / "site/content/posts")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        if process.stdout.readline() != b"ready\n":
            pytest.skip("this kernel cannot exchange two names")
        yield tmp_path / "site"
        process.kill()


def _served(site: Path, file: Path) -> bytes:
    part = open_part(file)
    with part.file if part else io.BytesIO() as stream:
        return stream.read()


def _imported(site: Path, file: Path) -> bytes:
    with open_file(source_root(site) / file.relative_to(site)) as stream:
        return stream.read()


def _measured(site: Path, file: Path) -> bytes:
    return str(image_size(file.with_suffix(".svg"))).replace("999", "TOPSECRET").encode()


def _edited(site: Path, file: Path) -> bytes:
    read = read_text_file(site, "public", PurePosixPath(file.relative_to(site)))
    return read.text.encode() if read else b""


@pytest.mark.skipif(sys.platform != "linux", reason="exchanges names with renameat2")
@pytest.mark.parametrize("read", [_served, _imported, _measured, _edited], ids=lambda one: one.__name__)
def test_row_28_no_reader_follows_a_link_that_is_swapped_in(
    read: Callable[[Path, Path], bytes], swapped: Path
) -> None:
    """5,000 requests; before, 6 of 469 requests to the preview leaked the file."""
    file = swapped / "content/posts/sub/f.txt"
    answers = Counter[bytes]()
    for _ in range(5000):
        with suppress(OSError, ImageError):
            answers[read(swapped, file)] += 1
    assert not [answer for answer in answers if b"TOPSECRET" in answer]
    assert sum(count for answer, count in answers.items() if answer) > 100
