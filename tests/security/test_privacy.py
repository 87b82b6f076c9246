"""Row 40: nothing private leaves the machine: locations in photos, working files, secrets, folder names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.build.incremental import UpdateRequest
from tests.photo_files import KINDS, MARK, film, photo, pixels
from tests.preview_sites import built as written
from tests.preview_sites import new_line, outputs, settled
from tests.site_files import build, printed

POST = "---\ntitle: A\ndate: 2026-01-01\n---\n"
NOTEBOOK = json.dumps(
    {"cells": [{"outputs": [{"text": ["/home/eva/secret/data.csv\n"]}], "source": ["x = 'SECRET'"]}]}
)


def laid_out(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write a site with these files."""
    for name, content in {"blogsmith.yaml": "title: T\nbase_url: https://example.org/b\n", **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def holding(folder: Path, text: bytes) -> list[str]:
    """Return the files below `folder` that contain `text`."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file.relative_to(folder).as_posix() for file in files if text in file.read_bytes())


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    return [diagnostic.code for diagnostic in found]


@pytest.mark.parametrize("kind", KINDS)
def test_row_40_photos_are_published_without_their_metadata(kind: str, tmp_path: Path) -> None:
    data, name = photo(kind), f"p.{kind.lower()}"
    places = (
        f"content/posts/{name}",
        f"content/posts/b/{name}",
        f"static/{name}",
        f"themes/own/static/{name}",
    )
    theme = {"themes/own/theme.yaml": "extends: paper\n", "blogsmith.yaml": "title: T\ntheme: own\n"}
    pages = {"content/posts/a.md": f"{POST}![x]({name})\n", "content/posts/b/index.md": POST}
    root = laid_out(tmp_path, {**dict.fromkeys(places, data), **theme, **pages})
    report = build(root)
    assert report.ok and codes(report.diagnostics) == []
    assert holding(root / "public", MARK) == []
    published = [file.read_bytes() for file in (root / "public").rglob(name)]
    assert len(published) == 4
    for clean in published:
        assert pixels(clean) == pixels(data)
    # The author's own files are never changed.
    assert all((root / place).read_bytes() == data for place in places)


def test_row_40_the_preview_shows_the_cleaned_photo(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"static/p.{kind.lower()}": photo(kind) for kind in KINDS}
    root = laid_out(tmp_path, {**files, "content/posts/a.md": POST})
    assert build(root).ok
    assert outputs(settled(new_line(root))) == written(root / "public")


def test_row_40_metadata_stay_where_the_author_wants_them(tmp_path: Path) -> None:
    data = photo("JPEG")
    files: dict[str, str | bytes] = {"static/p.jpg": data, "content/posts/a.md": f"{POST}![x](/p.jpg)\n"}
    root = laid_out(tmp_path, {**files, "blogsmith.yaml": "title: T\nimages: {metadata: keep}\n"})
    report = build(root)
    assert report.ok and codes(report.diagnostics) == ["image-location"]
    assert (root / "public/p.jpg").read_bytes() == data


def test_row_40_changing_the_setting_changes_what_is_published(tmp_path: Path) -> None:
    root = laid_out(tmp_path, {"static/p.jpg": photo("JPEG"), "content/posts/a.md": POST})
    assert build(root).written > 0 and holding(root / "public", MARK) == []
    assert build(root).written == 0
    (root / "blogsmith.yaml").write_text("title: T\nimages: {metadata: keep}\n", "utf-8")
    assert build(root).ok and holding(root / "public", MARK) == ["p.jpg"]
    (root / "blogsmith.yaml").write_text("title: T\n", "utf-8")
    assert build(root).ok and holding(root / "public", MARK) == []


def test_row_40_what_stays_in_a_published_file_is_told(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "static/cut.png": photo("PNG")[:60],
        "static/clip.mp4": film(located=True),
        "static/quiet.mp4": film(located=False),
        "content/posts/a.md": POST,
    }
    root = laid_out(tmp_path, files)
    report = build(root)
    assert report.ok
    told = [(one.path, one.code, one.severity) for one in report.diagnostics]
    assert told == [(f"static/{name}", "image-metadata", "warning") for name in ("clip.mp4", "cut.png")]
    # A damaged file is published unchanged.
    assert (root / "public/cut.png").read_bytes() == photo("PNG")[:60]


def test_row_40_working_files_beside_posts_stay_at_home(tmp_path: Path) -> None:
    private = {
        f"content/posts/{name}": f"{NOTEBOOK if name.endswith('.ipynb') else 'SECRET'}\n"
        for name in ("n.ipynb", "helper.py", "sub/N.IPYNB", "a.md.orig", "prod.env", ".env", ".git/config")
    }
    draft = {
        "content/posts/d/index.md": POST.replace("title", "draft: true\ntitle") + "SECRET\n",
        "content/posts/d/plot.txt": "SECRET\n",
        "content/posts/a.md~": "SECRET\n",
    }
    pages = {"content/posts/a.md": f"{POST}[data](data.csv)\n", "content/posts/data.csv": "1,2\n"}
    root = laid_out(tmp_path, {**private, **draft, **pages})
    report = build(root)
    assert report.ok, printed(report)
    assert holding(root / "public", b"SECRET") == []
    assert (root / "public/posts/data.csv").read_bytes() == b"1,2\n"


def test_row_40_a_link_publishes_exactly_that_file(tmp_path: Path) -> None:
    files = {f"content/posts/{name}": "{}\n" for name in ("one.ipynb", "two.ipynb", "a b.py", "raw.jl")}
    text = 'See [it](one.ipynb#cell), [code](<a b.py>), <a href="raw.jl">this</a>.\n'
    root = laid_out(tmp_path, {**files, "content/posts/a.md": POST + text})
    report = build(root)
    assert report.ok, printed(report)
    published = {file.name for file in (root / "public/posts").iterdir() if file.is_file()}
    assert published - {"index.html"} == {"one.ipynb", "a b.py", "raw.jl"}


def test_row_40_the_menu_publishes_what_it_names(tmp_path: Path) -> None:
    config = "title: T\nmenu: [{title: N, url: /posts/n.ipynb}]\n"
    files = {"content/posts/n.ipynb": "{}\n", "content/posts/a.md": POST}
    root = laid_out(tmp_path, {**files, "blogsmith.yaml": config})
    assert build(root).ok
    assert (root / "public/posts/n.ipynb").is_file()


def test_row_40_the_preview_publishes_the_same_after_an_edit(tmp_path: Path) -> None:
    root = laid_out(tmp_path, {"content/posts/n.ipynb": NOTEBOOK, "content/posts/a.md": POST})
    line = new_line(root)
    present = settled(line)
    assert "posts/n.ipynb" not in outputs(present)
    (root / "content/posts/a.md").write_text(f"{POST}[n](n.ipynb)\n", "utf-8")
    present = settled(line, present, UpdateRequest(("content/posts/a.md",), everything=False))
    report = build(root)
    assert outputs(present) == written(root / "public")
    assert present.site_diagnostics == report.diagnostics and codes(report.diagnostics) == [
        "foreign-file",
        "private-file",
    ]


def test_row_40_secrets_under_static_are_told_of(tmp_path: Path) -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n"
    files = {"static/id": key, "static/talk.key": "PK", "static/x.env": "A=1\n", "static/n.ipynb": NOTEBOOK}
    hidden = {"static/.env": "SECRET\n", "static/.git/config": "SECRET\n", "static/.ssh/id_rsa": key}
    root = laid_out(tmp_path, {**files, **hidden, "content/posts/a.md": POST})
    report = build(root)
    told = [(one.path, one.code) for one in report.diagnostics]
    assert told == [(f"static/{name}", "private-file") for name in ("id", "n.ipynb", "x.env")]
    assert "/home/eva" in printed(report)
    published = {file.name for file in (root / "public").iterdir()}
    assert {"id", "x.env", "n.ipynb", "talk.key"} <= published
    assert published.isdisjoint({".env", ".git", ".ssh"})


def test_row_40_no_folder_of_this_machine_is_in_the_output(tmp_path: Path) -> None:
    text = """[a](b.md) ![x](p.jpg)

```python
#| eval: false
print("x")
```

$$x = 1$$ {#eq-x}
"""
    files: dict[str, str | bytes] = {
        "content/posts/a.md": POST + text,
        "content/posts/b.md": POST,
        "content/posts/p.jpg": photo("JPEG"),
    }
    root = laid_out(tmp_path, files)
    report = build(root)
    assert report.ok, printed(report)
    for folder in (tmp_path, Path.home(), Path(__file__).parents[2]):
        # A root of one letter would occur in any file.
        if len(folder.parts) > 2:
            assert holding(root / "public", str(folder).encode()) == []
    assert not re.search(rb"/(?:home|Users)/\w", (root / "public/posts/a/index.html").read_bytes())


@pytest.mark.parametrize("name", ["CNAME", ".nojekyll", ".domains", ".git", ".well-known"])
def test_a_first_build_into_the_folder_of_a_host(name: str, tmp_path: Path) -> None:
    root = laid_out(tmp_path, {"content/posts/a.md": POST})
    entry = root / "public" / name
    if name in (".git", ".well-known"):
        (entry / "sub").mkdir(parents=True)
    else:
        entry.parent.mkdir()
        entry.write_text("example.org\n", "utf-8")
    report = build(root)
    assert report.ok, printed(report)
    assert (root / "public/index.html").is_file() and entry.exists()


@pytest.mark.parametrize("name", ["CNAME", ".git"])
def test_other_files_beside_those_of_a_host_are_still_refused(name: str, tmp_path: Path) -> None:
    root = laid_out(tmp_path, {"content/posts/a.md": POST, f"public/{name}": "x", "public/thesis.tex": "x"})
    report = build(root)
    assert codes(report.diagnostics) == ["output-folder"]
    assert {file.name for file in (root / "public").iterdir()} == {name, "thesis.tex"}


@pytest.mark.parametrize("head", ["draft: true", "title: A\npublished: false"])
def test_html_that_says_it_is_a_draft_is_not_published(head: str, tmp_path: Path) -> None:
    page = "---\n{}\n---\n<p>Not yet</p>\n"
    files = {
        "content/posts/a.md": POST,
        "content/posts/draft.html": page.format(head),
        "static/done.html": page.format("published: true"),
    }
    root = laid_out(tmp_path, dict(files))
    assert build(root).ok
    assert holding(root / "public", b"Not yet") == ["done.html"]
