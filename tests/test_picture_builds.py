"""Copies of images in builds and previews: made once, only if pages use them, reproducible."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

import pytest
from PIL import Image

from blogsmith.build.incremental import UpdateRequest
from blogsmith.preview.pages.script_tag import ScriptTag
from blogsmith.preview.pages.site import ServedSite
from blogsmith.project.report import ExecutionOptions
from blogsmith.stages import pictures
from tests.build_scripts import compare
from tests.cached_rows import read_row, replace_data, row_names
from tests.photo_files import MARK, exif_data
from tests.picture_files import drawing, file_of, scene
from tests.preview_sites import built, new_line, outputs, settled
from tests.site_files import build, put

HEAD = "---\ntitle: {}\ndate: 2026-01-02\n{}---\n\n"
SCENE = file_of(scene(900, 600), compress_level=0)
OTHER = file_of(scene(900, 600).rotate(180))
CONFIG = "title: T\nbase_url: https://example.org/sub\nimages: {widths: [200, 400]}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Create two posts with the same image."""
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": CONFIG,
        "content/posts/a/index.md": HEAD.format("A", "image: scene.png\n") + "![A scene](scene.png)\n",
        "content/posts/a/scene.png": SCENE,
        "content/posts/b/index.md": HEAD.format("B", "") + "Words.\n",
        "content/posts/b/scene.png": SCENE,
        "content/posts/b/other.png": OTHER,
    }
    return put(tmp_path / "site", files)


def copies(root: Path) -> list[str]:
    return sorted(file.name for file in (root / "public/assets/pictures").glob("*"))


def widths(root: Path) -> list[str]:
    return [re.sub(r"-[0-9a-f]{12}-", "-", name) for name in copies(root)]


def page(root: Path, name: str) -> str:
    return (root / f"public/posts/{name}/index.html").read_text(encoding="utf-8")


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("a copy was made")


def test_a_site_has_the_copies_that_its_pages_name(root: Path) -> None:
    assert build(root).ok
    assert widths(root) == ["scene-200.webp", "scene-400.webp", "scene-900.jpg"]
    for name in copies(root):
        with Image.open(root / "public/assets/pictures" / name) as copy:
            assert f"-{copy.width}." in name
            assert len(SCENE) > (root / "public/assets/pictures" / name).stat().st_size
    html = page(root, "a")
    assert 'srcset="/sub/assets/pictures/scene-' in html
    assert 'width="900" height="600" loading="lazy" decoding="async" alt="A scene"' in html
    shared = next(name for name in copies(root) if name.endswith(".jpg"))
    assert f'<meta property="og:image" content="https://example.org/sub/assets/pictures/{shared}">' in html
    feed = (root / "public/atom.xml").read_text(encoding="utf-8")
    assert "srcset" not in feed
    assert re.search(r'src="https://example.org/sub/assets/pictures/scene-\w+-400.webp"', feed)


def test_a_second_build_makes_nothing(root: Path) -> None:
    build(root)
    first = built(root / "public")
    with patch.object(pictures, "encode_variants", _refuse):
        put(root, {"content/posts/b/index.md": HEAD.format("B", "") + "Other words.\n"})
        assert build(root).ok
        # neither does one that knows nothing but the copies
        assert build(root, output=root.with_name("else"), use_cache=False).ok
    again = built(root / "public")
    assert {name for name in first if first[name] != again[name]} <= {
        *("posts/b/index.html", "atom.xml", "feed.json", "index.html", "posts/index.html"),
        # its end shows the first words of the next post
        *("posts/a/index.html", "archive/index.html", ".blogsmith-manifest"),
    }


def test_a_check_makes_none(root: Path) -> None:
    with patch.object(pictures, "encode_variants", _refuse):
        assert build(root, write=False).ok
    assert build(root).ok
    with patch.object(pictures, "encode_variants", _refuse):
        assert build(root, write=False).ok
        assert build(root).written == 0


def test_edits(root: Path) -> None:
    compare(root)
    edits: list[dict[str, str | bytes]] = [
        {"content/posts/b/index.md": HEAD.format("B", "") + "![A scene](scene.png)\n"},
        {"content/posts/b/index.md": HEAD.format("B", "") + "![A scene](other.png)\n\n![](scene.png)\n"},
        {"content/posts/b/scene.png": OTHER},
        {"content/posts/a/scene.png": file_of(drawing(400, 300))},
        {"blogsmith.yaml": CONFIG.replace("200, 400", "300")},
        {"blogsmith.yaml": CONFIG.replace("200, 400]", "300], formats: [avif, webp]")},
        {"blogsmith.yaml": CONFIG.replace("widths: [200, 400]", "responsive: false")},
    ]
    for edit in edits:
        put(root, edit)
        assert compare(root).ok
    assert copies(root) == []


def test_two_pictures_of_one_name(root: Path) -> None:
    put(root, {"content/posts/b/index.md": HEAD.format("B", "") + "![A scene](scene.png)\n"})
    assert build(root).ok
    assert len(copies(root)) == 3
    put(root, {"content/posts/b/scene.png": OTHER})
    assert build(root).ok
    assert len(copies(root)) == 5


def test_a_preview_has_what_a_build_has(root: Path) -> None:
    present = settled(new_line(root))
    found = outputs(present)
    assert build(root).ok
    for name in copies(root):
        path = f"assets/pictures/{name}"
        assert found[path] == (root / "public" / path).read_bytes()


def test_a_preview_makes_copies_when_they_are_asked_for(root: Path) -> None:
    line = new_line(root)
    with patch.object(pictures, "encode_variants", _refuse):
        shown = ServedSite(line, ScriptTag("secret"))
        shown.snapshot = settled(line)
        html = shown.answer("/sub/posts/a/").body.decode()
        path = re.search(r"/sub/assets/pictures/scene-\w+-200.webp", html)
        assert path
        answer = shown.answer(path[0])
    assert (answer.status, answer.type, answer.body) == (200, "image/webp", b"")
    assert answer.make
    assert answer.make().startswith(b"RIFF")


def test_a_save_that_names_a_picture(root: Path) -> None:
    """The page and its image are shown before the whole site is updated."""
    line = new_line(root)
    present = settled(line)
    path = "content/posts/b/index.md"
    put(root, {path: HEAD.format("B", "") + "Words.\n\n![A scene](other.png)\n"})
    now = line.update_page(present, path, UpdateRequest((path,), everything=False))
    assert now
    shown = ServedSite(line, ScriptTag("secret"))
    shown.snapshot = now
    copy = re.search(r"/sub/assets/pictures/other-\w+-400.webp", shown.answer("/sub/posts/b/").body.decode())
    assert copy
    answer = shown.answer(copy[0])
    assert answer.make
    assert answer.make().startswith(b"RIFF")


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_pictures_by_several_processes(tmp_path: Path, jobs: int) -> None:
    files: dict[str, str | bytes] = {"blogsmith.yaml": "title: T\nimages: {widths: [60, 90]}\n"}
    for number in range(25):
        name = f"content/posts/p{number}"
        files[f"{name}/index.md"] = HEAD.format(number, "") + "![A scene](a.png)\n"
        files[f"{name}/a.png"] = file_of(scene(300, 200).rotate(number), compress_level=0)
    root = put(tmp_path / "site", files)
    assert build(root, execution=ExecutionOptions(jobs=jobs)).ok
    found = built(root / "public")
    assert len([name for name in found if name.startswith("assets/pictures/")]) == 50
    assert build(root, output=tmp_path / "other", use_cache=False).ok
    assert built(tmp_path / "other") == found


def test_what_a_camera_wrote_is_in_no_copy(root: Path) -> None:
    photo = file_of(scene(900, 600), "JPEG", quality=97, exif=exif_data(1), comment=MARK)
    put(root, {"content/posts/b/photo.jpg": photo})
    put(root, {"content/posts/b/index.md": HEAD.format("B", "") + "![A photo](photo.jpg)\n"})
    assert build(root).ok
    assert MARK in photo
    assert not [name for name, data in built(root / "public").items() if MARK in data]


def test_a_damaged_picture_is_published_as_it_is(root: Path) -> None:
    damaged = OTHER[:20_000] + bytes([255]) * 30_000 + OTHER[50_000:]
    put(root, {"content/posts/b/scene.png": damaged})
    put(root, {"content/posts/b/index.md": HEAD.format("B", "") + "![A scene](scene.png)\n"})
    assert build(root).ok
    found = built(root / "public")
    assert list(found.values()).count(found["posts/b/scene.png"]) == 3


def test_copies_that_are_gone_are_forgotten(root: Path) -> None:
    build(root)
    assert len(row_names(root, "pictures")) == 3
    with patch.object(pictures, "_SPARE", 0):
        put(root, {"blogsmith.yaml": CONFIG.replace("200, 400", "300")})
        build(root)
    names = row_names(root, "pictures")
    assert sorted(name.rpartition("-")[2] for name in names) == ["300.webp", "900.jpg"]


def test_what_is_kept_is_looked_at(root: Path) -> None:
    build(root)
    found = built(root / "public")
    for name in row_names(root, "pictures"):
        replace_data(root, "pictures", name, read_row(root, "pictures", name).data[:-1])
    build(root, output=root.with_name("else"), use_cache=False)
    assert built(root.with_name("else")) == found
