"""Finding and reading the files of a site: which are read, ignored and rejected."""

from __future__ import annotations

import os
import unicodedata
from io import BufferedReader
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.file_names import is_temporary_name
from blogsmith.base.storage.folder import open_real_file
from blogsmith.config.schema import Config
from blogsmith.freeze.store import page_folder
from blogsmith.model.decode import decode
from blogsmith.model.documents import SiteFiles
from blogsmith.read import files, source_text
from blogsmith.read.files import read_site
from tests.rows import each_row


def write(root: Path, *paths: str) -> None:
    """Create files that contain their own path."""
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path, "utf-8")


def read(root: Path) -> SiteFiles:
    """Return the files of the site with default settings."""
    return read_site(root, Config())


def faults(found: SiteFiles) -> list[tuple[str, str, str]]:
    """Return (code, path, severity) of each diagnostic."""
    return [(d.code, d.path, d.severity) for d in found.diagnostics]


def test_files_are_sorted_into_sources_assets_and_static(tmp_path: Path) -> None:
    write(
        tmp_path,
        "content/b.md",
        "content/a/x.png",
        "content/a/index.MD",
        "content/c.markdown",
        "static/f/i.ico",
    )
    write(tmp_path, "themes/x/y.md", "blogsmith.yaml", "public/index.html")
    found = read(tmp_path)
    assert [str(source.path) for source in found.sources] == [
        "content/a/index.MD",
        "content/b.md",
        "content/c.markdown",
    ]
    assert found.sources[1].text == "content/b.md"
    assert len(found.sources[1].digest) == 64
    assert [(str(a.path), a.size) for a in found.assets] == [("content/a/x.png", 15)]
    assert [(str(a.path), a.file) for a in found.static] == [("static/f/i.ico", tmp_path / "static/f/i.ico")]
    assert found.diagnostics == ()


def test_an_empty_folder_is_an_empty_site(tmp_path: Path) -> None:
    assert read(tmp_path) == SiteFiles((), (), ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".hidden.md", True),
        (".git", True),
        ("a.md~", True),
        (".a.md.swp", True),
        ("a.swp", True),
        ("#a.md#", True),
        ("4913", True),
        ("Thumbs.db", True),
        ("__pycache__", True),
        ("a.md___jb_tmp___", True),
        ("a.md___jb_bak___", True),
        ("a.md.tmp", True),
        ("a.tmp.md", False),
        ("#a.md", False),
        ("#", False),
        ("4913.md", False),
        ("a~b.md", False),
    ],
)
def test_litter_is_passed_over(tmp_path: Path, name: str, expected: bool) -> None:
    write(tmp_path, f"content/{name}/a.md", f"static/{name}/b")
    found = read(tmp_path)
    assert is_temporary_name(name) is expected
    assert (not found.sources, not found.static) == (expected, expected)


def test_names_that_hosts_read_are_kept_in_static_only(tmp_path: Path) -> None:
    write(tmp_path, "static/.nojekyll", "static/.well-known/x.txt", "static/.env", "content/.well-known/a.md")
    found = read(tmp_path)
    assert [str(asset.path) for asset in found.static] == ["static/.nojekyll", "static/.well-known/x.txt"]
    assert found.sources == ()


@each_row(
    ("data", "text"),
    [
        (b"a\nb", "a\nb"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"\xef\xbb\xbfa", "a"),
        ("é😀".encode(), "é😀"),
        (b"", ""),
    ],
)
def test_text_has_one_form(data: bytes, text: str) -> None:
    assert decode(data, "a.md") == text


@each_row(
    ("data", "message", "place", "line"),
    [
        (b"ab\xffc\nd", "byte 0xff at byte offset 2 is not UTF-8", (1, 3), "ab�c"),
        (b"x\r\n\xc3\xa9\xc3", "byte 0xc3 at byte offset 5 is not UTF-8", (2, 2), "é�"),
        (b"\xef\xbb\xbf\xff", "byte 0xff at byte offset 3 is not UTF-8", (1, 1), "�"),
        (b"a\n\xed\xa0\x80", "byte 0xed at byte offset 2 is not UTF-8", (2, 1), "���"),
        (b"a\n\nb\0c", "NUL character at byte offset 4", (3, 2), "b\0c"),
        (b"\xff\xfea\0", "the file is UTF-16, not UTF-8 (byte order mark at byte offset 0)", None, ""),
        (b"\xfe\xff\0a", "the file is UTF-16, not UTF-8 (byte order mark at byte offset 0)", None, ""),
        (
            b"\xff\xfe\0\0a\0\0\0",
            "the file is UTF-32, not UTF-8 (byte order mark at byte offset 0)",
            None,
            "",
        ),
    ],
)
def test_what_is_not_utf8_is_named_by_its_byte(
    data: bytes, message: str, place: tuple[int, int] | None, line: str
) -> None:
    with pytest.raises(SiteError) as caught:
        decode(data, "content/a.md")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.path) == ("encoding", message, "content/a.md")
    assert (found.place and (found.place.line, found.place.column)) == place
    assert found.source_line == line


@given(st.binary(max_size=60))
def test_any_bytes_give_text_or_a_diagnostic(data: bytes) -> None:
    try:
        text = decode(data, "a.md")
    except SiteError as error:
        assert error.diagnostics[0].code == "encoding"
    else:
        assert "\r" not in text and "\0" not in text


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"content/{name}.md" for name in "abcde"))
    (tmp_path / "content/b.md").write_bytes(b"\xff")
    os.truncate(tmp_path / "content/c.md", source_text.MAX_TEXT_BYTES + 1)
    (tmp_path / "content/d.md").unlink()
    os.mkfifo(tmp_path / "content/d.md")

    def refuse(file: Path) -> BufferedReader:
        if file.name == "e.md":
            raise PermissionError(13, "Permission denied")
        return open_real_file(file)

    monkeypatch.setattr(files, "open_real_file", refuse)
    found = read(tmp_path)
    assert [str(source.path) for source in found.sources] == ["content/a.md"]
    assert sorted(faults(found)) == [
        ("encoding", "content/b.md", "error"),
        ("file-too-large", "content/c.md", "error"),
        ("unreadable", "content/d.md", "error"),
        ("unreadable", "content/e.md", "error"),
    ]


def test_content_must_be_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "content")
    assert [d.message for d in read(tmp_path).diagnostics] == ["this path is not a folder"]


def test_folders_nested_without_end_are_cut(tmp_path: Path) -> None:
    write(tmp_path, "content/" + "d/" * 60 + "a.md")
    found = read(tmp_path)
    assert [d.code for d in found.diagnostics] == ["unreadable"]
    assert found.sources == ()


E_COMPOSED, E_DECOMPOSED = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("content/A.md", "content/a.md", "case"),
        ("content/Posts", "content/posts", "case"),
        ("content/p/STRASSE.png", "content/p/straße.png", "case"),
        ("static/X", "static/x", "case"),
        (f"content/{E_DECOMPOSED}.md", f"content/{E_COMPOSED}.md", "Unicode form"),
    ],
)
def test_twins_are_named_both(tmp_path: Path, first: str, second: str, differ: str) -> None:
    for path in (first, second):
        write(tmp_path, path if "." in path else f"{path}/a.md")
    if len(list((tmp_path / first).parent.iterdir())) < 2:
        pytest.skip("this file system holds only one of the twins")
    (found,) = read(tmp_path).diagnostics
    assert (found.code, found.path) == ("twin-files", second)
    assert found.message == f'"{first}" and "{second}" differ only in {differ}'


def test_a_name_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "content/a.md")
    try:
        (tmp_path / "content" / os.fsdecode(b"\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = read(tmp_path)
    assert faults(found) == [("encoding", "content/�.md", "error")]
    assert len(found.sources) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("content/posts/p.markdown", "content/posts/p.md"),
        ("content/posts/P.markdown", "content/posts/p.md"),
        ("content/posts/e\u0301.markdown", "content/posts/\u00e9.md"),
        ("content/posts/p/index.markdown", "content/posts/p/index.md"),
        ("content/posts/p.md", "content/posts/p/outputs.json.md"),
    ],
)
def test_posts_that_would_share_recorded_results_are_refused(tmp_path: Path, first: str, second: str) -> None:
    """Both are reported, and only one is read, so that its results cannot be mixed up with the other's."""
    write(tmp_path, first, second)
    found = read(tmp_path)
    (fault,) = [d for d in found.diagnostics if d.code == "twin-posts"]
    assert (fault.severity, fault.path) == ("error", second)
    assert first in fault.message and second in fault.message
    assert [str(source.path) for source in found.sources] == [first]
    assert not any(str(asset.path).endswith((".md", ".markdown")) for asset in found.assets)


def test_posts_with_folders_of_their_own_are_kept_apart(tmp_path: Path) -> None:
    write(tmp_path, "content/p.md", "content/p/index.md", "content/p.v1.md", "content/posts/p.md")
    assert read(tmp_path).diagnostics == () and len(read(tmp_path).sources) == 4
    folders = {page_folder(source.path) for source in read(tmp_path).sources}
    assert len(folders) == 4
