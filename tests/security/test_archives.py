"""Row 36: unpacking a stranger's archive of recorded results writes only recorded results.

No other archives are read: themes are folders.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.main import main
from blogsmith.freeze import archive
from blogsmith.freeze.archive import unpack
from blogsmith.freeze.record_json import to_json
from blogsmith.freeze.store import image_digests, read_page
from tests.recorded import POST, cell, digest, page, record
from tests.site_files import put
from tests.test_freeze_archive import FOLDER, gpu_box, home, packed
from tests.test_sites import tree

__all__ = ["gpu_box", "home"]

VALID = to_json(record(page(cell("x\n"))))
Member = tuple[str, bytes, bytes]


def archive_of(*members: Member) -> bytes:
    """Return a compressed tar archive.

    members: name, content and type of each member.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data, kind in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(plain.getvalue())


def plain_file(name: str, data: bytes = VALID) -> Member:
    return (name, data, tarfile.REGTYPE)


GOOD = plain_file("_freeze/a/outputs.json")
SVG = f"fig-1-{digest('<svg/>')[:8]}.svg"


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([plain_file("_freeze/../../x/outputs.json")], "unexpected file "),
        ([plain_file("/_freeze/a/outputs.json")], "unexpected file "),
        ([plain_file("content/posts/outputs.json")], "unexpected file "),
        ([plain_file("_freeze/outputs.json")], "unexpected file "),
        ([plain_file("_freeze/a/./outputs.json")], "unexpected file "),
        ([plain_file("_freeze/a\\..\\b/outputs.json")], "unexpected file "),
        ([plain_file("_freeze/c:/outputs.json")], "unexpected file "),
        ([GOOD, plain_file("_freeze/a/run.sh")], "unexpected file "),
        ([GOOD, plain_file("_freeze/a/.new-outputs.json")], "unexpected file "),
        ([GOOD, ("_freeze/b", b"", tarfile.DIRTYPE)], "unexpected file "),
        ([("_freeze/a/outputs.json", b"", tarfile.SYMTYPE)], "unexpected file "),
        ([("_freeze/a/outputs.json", b"", tarfile.LNKTYPE)], "unexpected file "),
        ([("_freeze/a/outputs.json", b"", tarfile.CHRTYPE)], "unexpected file "),
        ([GOOD, GOOD], "duplicate file _freeze/a/outputs.json"),
        ([plain_file("_freeze/a/outputs.json", b"{")], "the recorded results are not valid JSON"),
        (
            [GOOD, plain_file(f"_freeze/a/{SVG}", b"<svg/>")],
            "the images in _freeze/a do not match its outputs.json",
        ),
        ([plain_file(f"_freeze/a/{SVG}", b"<svg/>")], "missing file _freeze/a/outputs.json"),
    ],
)
def test_row_36_an_archive_with_anything_else_in_it_is_refused_whole(
    tmp_path: Path, members: list[Member], said: str
) -> None:
    file = tmp_path / "results.tar.gz"
    file.write_bytes(archive_of(plain_file("_freeze/good/outputs.json"), *members))
    with pytest.raises(SiteError) as caught:
        unpack(tmp_path, file)
    (told,) = caught.value.diagnostics
    assert told.code == "freeze-archive"
    assert said in told.message
    assert not (tmp_path / "_freeze").exists()


@pytest.mark.parametrize("picture", ["another", "none"])
def test_row_36_pictures_must_be_those_recorded(gpu_box: Path, home: Path, picture: str) -> None:
    found = read_page(gpu_box, POST).record
    assert found is not None
    names = list(image_digests(found)) if picture == "another" else []
    members = [plain_file(f"{FOLDER}/{name}", b"<svg>other</svg>") for name in names]
    file = home / "results.tar.gz"
    file.write_bytes(archive_of(plain_file(f"{FOLDER}/outputs.json", to_json(found)), *members))
    with pytest.raises(SiteError):
        unpack(home, file)


CUTS: list[Callable[[bytes], bytes]] = [
    lambda data: b"",
    lambda data: b"PK\x03\x04",
    lambda data: data[: len(data) // 2],
    lambda data: data[:20] + b"\xff" * 20 + data[40:],
    lambda data: gzip.compress(b"not a tar" * 1000),
]


@pytest.mark.parametrize("cut", CUTS)
def test_row_36_a_file_that_is_no_archive_is_refused(
    gpu_box: Path, home: Path, cut: Callable[[bytes], bytes]
) -> None:
    file = home / "results.tar.gz"
    file.write_bytes(cut(packed(gpu_box).read_bytes()))
    with pytest.raises(SiteError) as caught:
        unpack(home, file)
    assert caught.value.diagnostics[0].message.startswith('invalid archive "results.tar.gz": ')


def test_row_36_an_archive_that_is_not_there_is_said(home: Path) -> None:
    with pytest.raises(SiteError, match="No such file"):
        unpack(home, home / "none.tar.gz")


def test_row_36_a_bomb_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 100_000)
    file = home / "results.tar.gz"
    file.write_bytes(archive_of(plain_file("_freeze/a/outputs.json", b" " * 1_000_000)))
    with pytest.raises(SiteError, match="it is larger than"):
        unpack(home, file)


@given(st.binary(max_size=600))
def test_row_36_any_bytes_are_refused_in_words(data: bytes) -> None:
    for zipped in (data, gzip.compress(data)):
        with pytest.raises(archive.ARCHIVE_ERRORS):
            archive.read_archive(io.BytesIO(zipped))


@given(st.integers(0, 1535), st.binary(min_size=1, max_size=12))
def test_row_36_damaged_headers_are_refused_or_harmless(at: int, damage: bytes) -> None:
    plain = bytearray(gzip.decompress(archive_of(GOOD)))
    plain[at : at + len(damage)] = damage
    # Recompute the checksum, so that the values of the header are used.
    plain[148:156] = b" " * 8
    plain[148:156] = b"%06o\0 " % sum(plain[:512])
    with suppress(*archive.ARCHIVE_ERRORS):
        assert all(
            name.startswith("_freeze/") for name in archive.read_archive(io.BytesIO(gzip.compress(plain)))
        )


def test_row_36_an_empty_archive_is_refused(home: Path) -> None:
    file = home / "results.tar.gz"
    file.write_bytes(archive_of())
    with pytest.raises(SiteError, match="the archive is empty"):
        unpack(home, file)


OUTSIDE = "/tmp/blogsmith-row-36"
NAMES = (
    "../x",
    "_freeze/../x",
    "_freeze/a/../../../x",
    OUTSIDE,
    "/_freeze/a/outputs.json",
    "_freeze//a/outputs.json",
    "_freeze/a/outputs.json/",
    "_freeze/.git/hooks/outputs.json",
    "_freeze/a/.hidden/outputs.json",
    "_freeze/a\x00/outputs.json",
    "_freeze/a\n/outputs.json",
    "_freeze/\u202ea/outputs.json",
    "_freeze/con/outputs.json",
    "_freeze/a./outputs.json",
    "_freeze/a/outputs.json ",
    "_FREEZE/a/outputs.json",
    "content/a.md",
    "blogsmith.yaml",
    "plugins/evil.py",
    "_freeze/a/evil.py",
    "_freeze/" + "a" * 300 + "/outputs.json",
    "~/x",
    "C:\\x",
    "",
)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_row_36_the_command_places_no_file_of_another_name(name: str, tmp_path: Path) -> None:
    root = put(tmp_path / "s", {"blogsmith.yaml": "title: T\n"})
    file = tmp_path / "results.tar.gz"
    file.write_bytes(archive_of(GOOD, plain_file(name)))
    before = tree(tmp_path)
    code = main(["freeze", "unpack", str(file), "--site", str(root)])
    after = {path: data for path, data in tree(tmp_path).items() if "/.blogsmith/" not in path}
    new = {path for path in after if path not in before}
    assert (code, new) == (1, set()) or all(
        path.startswith("s/_freeze/") and path.endswith(("outputs.json", ".gitattributes")) for path in new
    )
    assert not Path(OUTSIDE).exists()


def test_row_36_a_link_that_stands_there_is_not_written_through(tmp_path: Path) -> None:
    root = put(tmp_path / "s", {"blogsmith.yaml": "title: T\n", "_freeze/x": ""})
    put(tmp_path, {"outside/outputs.json": "mine", "results.tar.gz": archive_of(GOOD)})
    (root / "_freeze/a").symlink_to(tmp_path / "outside")
    assert main(["freeze", "unpack", str(tmp_path / "results.tar.gz"), "--site", str(root)]) == 1
    assert tree(tmp_path / "outside") == {"outputs.json": b"mine"}


def test_row_36_a_bomb_of_ten_gigabytes_is_refused_in_time(tmp_path: Path) -> None:
    """The file decompresses to ten megabytes; the header of its only member claims ten gigabytes."""
    root = put(tmp_path / "s", {"blogsmith.yaml": "title: T\n"})
    info = tarfile.TarInfo("_freeze/a/outputs.json")
    info.size = 10**10
    bomb = info.tobuf() + b" " * 10_000_000
    (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(bomb, 1))
    assert main(["freeze", "unpack", str(tmp_path / "bomb.tar.gz"), "--site", str(root)]) == 1
    assert not (root / "_freeze").exists()
    assert (tmp_path / "bomb.tar.gz").stat().st_size < 100_000


def test_row_36_a_theme_is_a_folder_and_no_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": "theme: mine.zip\n",
        "themes/mine.zip": b"PK\x03\x04",
        "content/a.md": "x\n",
    }
    assert main(["build", "--site", str(put(tmp_path, files))]) == 1
    assert "mine.zip" in capsys.readouterr().err
