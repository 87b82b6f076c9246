"""Work that is divided among processes: what fails there is done again here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.model.documents import Output
from blogsmith.pipeline.pools.fork_pool import can_fork
from blogsmith.pipeline.pools.part_pool import divide_work
from blogsmith.pipeline.rows.row_store import NoRows
from blogsmith.write.output import write_site

pytestmark = pytest.mark.skipif(not can_fork(), reason="no processes are forked here")
PATHS = [f"{folder}/{name}/index.html" for folder in "abc" for name in range(150)]


def output(path: str, make: Callable[[], bytes]) -> Output:
    return Output(PurePosixPath(path), make=make, digest="0" * 64)


def write(root: Path, outputs: list[Output]) -> int:
    divide = divide_work(2, NoRows())
    return write_site(outputs, root / "public", site_root=root, divide=divide, wait_s=0).written


def test_parts_that_fail_or_die_are_named() -> None:
    def work(part: int) -> None:
        if part == 1:
            raise OSError
        if part == 4:
            os._exit(1)

    failed = divide_work(2, NoRows())(5, work)
    assert {1, 4} <= set(failed) <= {0, 1, 2, 3, 4}
    assert list(divide_work(1, NoRows())(3, lambda part: None)) == []


def test_many_files_are_written_by_several_processes(tmp_path: Path) -> None:
    here = os.getpid()
    outputs = [output(path, lambda: str(os.getpid()).encode()) for path in PATHS]
    assert write(tmp_path, outputs) == len(PATHS)
    found = {int((tmp_path / "public" / path).read_bytes()) for path in PATHS}
    assert here not in found and len(found) <= 2
    modes = {(tmp_path / "public" / path).stat().st_mode & 0o777 for path in PATHS}
    assert modes == {0o644}


def test_many_folders_are_removed_by_several_processes(tmp_path: Path) -> None:
    assert write(tmp_path, [output(path, lambda: b"x") for path in PATHS]) == len(PATHS)
    (tmp_path / "public/a/0/own.txt").write_text("not ours")
    assert write(tmp_path, [Output(PurePosixPath(path), b"y") for path in PATHS[:-1]]) == len(PATHS) - 1
    found = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    pages = {tmp_path / "public" / path: b"y" for path in PATHS[:-1]}
    assert found.items() >= pages.items()
    assert (tmp_path / "public/a/0/own.txt").exists()
    assert not (tmp_path / "public" / PATHS[-1]).exists() and not [*tmp_path.glob(".public*")]


def test_a_file_that_only_this_process_can_make_is_made_here(tmp_path: Path) -> None:
    here = os.getpid()

    def make() -> bytes:
        if os.getpid() != here:
            raise OSError(5, "not there")
        return b"x"

    outputs = [output(path, make if path == PATHS[70] else lambda: b"y") for path in PATHS]
    assert write(tmp_path, outputs) == len(PATHS)
    assert {(tmp_path / "public" / path).read_bytes() for path in PATHS} == {b"x", b"y"}


def test_what_cannot_be_written_is_told_and_leaves_the_old_site(tmp_path: Path) -> None:
    def make() -> bytes:
        raise OSError(28, "No space left on device")

    outputs = [output(path, make) for path in PATHS]
    with pytest.raises(SiteError, match="No space left"):
        write(tmp_path, outputs)
    assert not (tmp_path / "public").exists() and not [*tmp_path.glob(".public*")]
