"""Rows 11, 12 and 14: output depends only on the sources, not on clock, machine or cache."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from blogsmith.base.storage.cache_file import cache_path, remove_site_cache
from tests.faults.children import litter, public
from tests.faults.small_site import before, edit, post
from tests.serve_process import PROGRAM
from tests.site_files import build, put
from tests.test_sites import FOLDER, copied, tree

# -- 11: modification times --

DAYS_S = {"1970": 1, "a second ago": None, "2100": 4102444800}


@pytest.mark.parametrize("when", DAYS_S)
def test_row_11_contents_decide_not_times(when: str, tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    put(root, {"content/about.md": "---\ntitle: About\n---\nx\n"})
    assert build(root).ok
    # Same size and same modification time as before.
    day_s = DAYS_S[when]
    changes = {
        "content/posts/b.md": ("End", "Die"),
        "static/data.txt": ("1", "2"),
        "content/posts/c/one.svg": ("4", "8"),
    }
    for path, (old, new) in changes.items():
        file = root / path
        stamp = file.stat().st_mtime_ns if day_s is None else day_s * 10**9
        file.write_text(file.read_text().replace(old, new))
        os.utime(file, ns=(stamp, stamp))
    put(root, {"content/posts/a.md": post("A", 1, "See [B](b.md#die) and $x^2$.", "tags: [x, y]\n")})
    assert build(root).ok
    left = public(root)
    assert left["data.txt"] == b"2\n" and b'width="8"' in left["posts/c/index.html"]
    shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(tmp_path / "fresh").ok
    assert left == public(tmp_path / "fresh")


@pytest.mark.parametrize("stamp", [0, 1, 4102444800])
def test_row_11_times_alone_change_nothing(stamp: int, tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    assert build(root).ok
    old = public(root)
    for file in (file for file in root.rglob("*") if file.is_file() and "public" not in file.parts):
        os.utime(file, (stamp, stamp))
    report = build(root)
    assert (report.written, report.removed) == (0, 0)
    assert public(root) == old


# -- 12: other environments --

Built = dict[str, tuple[bytes, int]]
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "another zone": {"TZ": "Pacific/Kiritimati"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "LANGUAGE": "tr"},
    "no language": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
    "another hash": {"PYTHONHASHSEED": "4242", "COLUMNS": "20"},
    "another home": {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/dev/null", "USER": "x"},
}

AT_ONCE: Mapping[str, Mapping[str, str]] = {
    "Turkish, another home, another hash": {
        **ELSEWHERE["another zone"],
        **ELSEWHERE["Turkish"],
        **ELSEWHERE["another home"],
        **ELSEWHERE["another hash"],
    },
    "no language, another zone": {**ELSEWHERE["another zone"], **ELSEWHERE["no language"]},
}


def built(
    root: Path, environ: Mapping[str, str], umask: int = 0o022, *options: str
) -> dict[str, tuple[bytes, int]]:
    """Build the site in a separate process; return the bytes and mode of each file."""
    command = [str(PROGRAM), "build", "--future", *options]
    env = {**os.environ, "PYTHONHASHSEED": "0", **environ}
    done = subprocess.run(command, cwd=root, env=env, umask=umask, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {
        path: (data, (root / "public" / path).stat().st_mode) for path, data in tree(root / "public").items()
    }


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(copied(FOLDER / "blog", tmp_path_factory.mktemp("here") / "s"), {})


# If a build passes with several differences combined, it passes with each of them.
@pytest.mark.parametrize(
    "where", [*AT_ONCE, *(pytest.param(name, marks=pytest.mark.long) for name in ELSEWHERE)]
)
def test_row_12_the_same_bytes_elsewhere(where: str, here: Built, tmp_path: Path) -> None:
    umask = 0o077 if "home" in where else 0o022
    jobs = () if where == "another zone" else ("--jobs", str(len(where) % 7 + 1))
    assert (
        built(
            copied(FOLDER / "blog", tmp_path / f"ä {where}" / "s"),
            {**ELSEWHERE, **AT_ONCE}[where],
            umask,
            *jobs,
        )
        == here
    )


def test_row_12_files_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = before(tmp_path / "one"), before(tmp_path / "two")
    put(one, {"content/about.md": "x\n"})
    put(two, {"content/about.md": "x\n"})
    assert build(one).ok
    listed, scanned = os.listdir, os.scandir
    monkeypatch.setattr(os, "listdir", lambda *given: list(reversed(listed(*given))))

    class Reversed:
        def __init__(self, *given: object) -> None:
            with scanned(*given) as entries:  # type: ignore[call-overload]
                self._entries = reversed(list(entries))

        def __iter__(self) -> Reversed:
            return self

        def __next__(self) -> os.DirEntry[str]:
            return next(self._entries)

        def __enter__(self) -> Reversed:
            return self

        def __exit__(self, *_: object) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr(os, "scandir", Reversed)
    assert build(two).ok
    monkeypatch.undo()
    assert public(one) == public(two)


# -- 14: caches --


def damages(data: bytes, chance: random.Random) -> list[bytes]:
    """Return variants of a file that are damaged in different ways."""
    flipped = bytearray(data or b"x")
    for _ in range(8):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return [
        b"",
        data[:10],
        data[: len(data) // 2],
        bytes(flipped),
        b"\x00" * len(data),
        b"[" * 100_000,
        b"{}",
    ]


def test_row_14_a_cache_that_is_gone_or_damaged_changes_nothing(tmp_path: Path) -> None:
    root = copied(FOLDER / "everything", tmp_path / "s")
    assert build(root, use_cache=True).ok
    right = public(root)
    shutil.rmtree(root / ".blogsmith")
    remove_site_cache(root)
    report = build(root, use_cache=True)
    assert report.ok and public(root) == right
    chance = random.Random(14)
    folders = (root / ".blogsmith", cache_path(root).parent)
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert cache_path(root) in files
    whole = {file: file.read_bytes() for file in files}
    for number in range(3):
        for place, (file, data) in enumerate(whole.items()):
            broken = damages(data, chance)
            file.write_bytes(broken[(place + 3 * number) % len(broken)])
        assert build(root, use_cache=True).ok
        assert public(root) == right and litter(root) == set()


def test_row_14_files_of_another_version_are_no_cache(tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    put(root, {"content/about.md": "---\ntitle: About\n---\nx\n"})
    assert build(root).ok
    right = public(root)
    shutil.rmtree(root / ".blogsmith")
    names = ("site.db", "build.db", "preview.db", "fonts/x.woff2", "lock", "freeze.store", "unknown/x")
    put(root, {f".blogsmith/{name}": b"SQLite format 3\x00" + b"\x01" * 4000 for name in names})
    assert build(root).ok
    assert public(root) == right


@pytest.mark.parametrize("number", range(7))
def test_row_14_a_damaged_list_of_our_files_deletes_nothing(number: int, tmp_path: Path) -> None:
    root = before(tmp_path / "s")
    assert build(root).ok
    put(root, {"public/mine.txt": "mine"})
    manifest = root / "public/.blogsmith-manifest.json"
    manifest.write_bytes(damages(manifest.read_bytes(), random.Random(number))[number])
    damaged = public(root)
    edit(root)
    report = build(root)
    if report.ok:
        assert public(root)["mine.txt"] == b"mine"
    else:
        assert [found.code for found in report.diagnostics] == ["output-folder"]
        assert public(root) == damaged
